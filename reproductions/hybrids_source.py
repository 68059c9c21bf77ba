"""S4 figs. 2.6, 2.7, 2.12 to 2.14 in the source's setting: its k and α, sharp tangents, paths over all pairs.

TC-LEM(k, α) of the source is the hybrid with the Laplacian of k nearest neighbours, LEM(k) the Laplacian alone. Where
no k is given (teapots), the best of several is taken for each draw, by the scores themselves: the source chose, too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from reproductions.harness import Outcome
from reproductions.hybrid_pictures import FRESH, TEAPOT_STEP, Pictures, digits, teapots
from sidelight import HybridEmbedding, ReconstructionDistance, TangentDistance
from sidelight.neighbours.search import nearest
from sidelight.objectives.spectral import edge_weights, laplacian, neighbour_graph
from sidelight.solvers.spectral import SymmetricSum, leading_pairs

STEPS = (1, 3)  # pixels between places in figs. 2.6 and 2.7, which are not given; in fig. 2.12 it is one
BOTH = 0.9  # a draw shows thing and step if hit and order reach it
MEASURES = ("hit", "order", "order of each thing by itself")
ANY_K = (2, 3, 5, 8)
Scores = tuple[float, float, float]


@dataclass(frozen=True)
class Published:
    """A figure of the source: its pictures, its distance, its α and k (several: the best of them), and the k of LEM."""

    figure: str
    things: str
    draw: Callable[[int], Pictures]
    distance: Callable[[Pictures], Any]
    alpha: float
    n_neighbors: tuple[int, ...]
    plain: tuple[int, ...]

    @property
    def hybrid_name(self) -> str:
        given = f"{self.n_neighbors[0]}, " if len(self.n_neighbors) == 1 else ""
        return f"TC-LEM({given}{self.alpha:g})"

    @property
    def plain_name(self) -> str:
        return f"LEM({self.plain[0]})" if len(self.plain) == 1 else "LEM"

    @property
    def label(self) -> str:
        return f"source's setting, fig. {self.figure}, {self.things}"

    def hybrid(self, pictures: Pictures) -> Any:
        """The map of the source's hybrid."""
        D = self.distance(pictures)(pictures.X)
        fits = [
            HybridEmbedding(2, metric=D, alpha=self.alpha, n_neighbors=k, graph="union", negative="clip", n_jobs=1)
            for k in self.n_neighbors
        ]
        return _best([fit.fit_transform(pictures.X) for fit in fits], pictures)

    def eigenmap(self, pictures: Pictures) -> Any:
        """The map of the Laplacian alone."""
        return _best([_eigenmap(pictures.X, k) for k in self.plain], pictures)

    def measure(self) -> dict[str, list[Scores]]:
        """Hit, order and own order of both maps on each fresh draw."""
        found: dict[str, list[Scores]] = {self.hybrid_name: [], self.plain_name: []}
        for seed in FRESH:
            pictures = self.draw(seed)
            for name, Z in ((self.hybrid_name, self.hybrid(pictures)), (self.plain_name, self.eigenmap(pictures))):
                found[name].append((*pictures.scores(Z), pictures.own_order(Z)))
        return found


def _best(maps: list[Any], pictures: Pictures) -> Any:
    return max(maps, key=lambda Z: min(pictures.scores(Z)))


def _eigenmap(X: Any, k: int) -> Any:
    L = laplacian(edge_weights(neighbour_graph(X, nearest(X, k=k, n_jobs=1), kind="union")))[0]
    n = len(X)
    return leading_pairs(SymmetricSum(sparse=-L), 2, trivial=np.full(n, n**-0.5), above=0.0).vectors


def _angles(pictures: Pictures) -> TangentDistance:
    """Tangents of local filters of the pictures as they are, each pair by its own angle (section 2.5)."""
    return TangentDistance("local", image_shape=pictures.shape, smoothing=0, n_jobs=1)


def _errors(name: str, step: float) -> Callable[[Pictures], ReconstructionDistance]:
    """Shortest paths over the errors of all pairs (section 2.6)."""

    def of(pictures: Pictures) -> ReconstructionDistance:
        moves, every = (-step, step), len(pictures.X) - 1
        return ReconstructionDistance(name, image_shape=pictures.shape, parameters=moves, n_neighbors=every, n_jobs=1)

    return of


def published() -> list[Published]:
    """The figures of the source, in its order."""
    three, ten = (5, 6, 8), tuple(range(10))
    found = []
    for pixels in STEPS:
        few, many, apart = digits(three, 9, pixels), digits(ten, 9, pixels), f"{pixels} px apart, tangents"
        found += [
            Published("2.6", f"three digits {apart}", few, _angles, 0.45, (5,), (2,)),
            Published("2.7", f"ten digits {apart}", many, _angles, 0.45, (3,), (3,)),
            Published("2.7", f"ten digits {apart}", many, _angles, 0.65, (3,), (3,)),
        ]
    long = digits(ten, 20, 1)
    return [
        *found,
        Published("2.12", "ten digits 1 px apart, reconstruction", long, _errors("shift", 1.0), 0.62, (30,), (30,)),
        Published("2.13", "two teapots, tangents", teapots, _angles, 0.2, ANY_K, ANY_K),
        Published("2.14", "two teapots, reconstruction", teapots, _errors("rotate", TEAPOT_STEP), 0.15, ANY_K, ANY_K),
    ]


def compare(outcome: Outcome, settings: list[Published], found: list[dict[str, list[Scores]]]) -> None:
    """Add the median of hit and order over the draws, and the draws on which both are high."""
    said = set()
    for setting, scores in zip(settings, found, strict=True):
        for name, draws in scores.items():
            what = f"{setting.label}: {name}"
            if what in said:
                continue
            said.add(what)
            for measure, value in zip(MEASURES, np.median(draws, axis=0), strict=True):
                outcome.note(f"{what}, {measure}", value, "a picture")
            both = sum(min(one[:2]) >= BOTH for one in draws)
            outcome.note(f"{what}, draws of {len(draws)} with both ≥ {BOTH}", both, "the one shown")
    outcome.details["source's setting"] = [
        {"what": setting.label, "alpha": setting.alpha, **scores}
        for setting, scores in zip(settings, found, strict=True)
    ]

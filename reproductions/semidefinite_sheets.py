"""S4 section 1.7: semidefinite embedding unfolds a roll and counts dimensions, here at many sizes and on real pictures.

First the faces of fig. 1.8 in the source's setting; every other fit has the defaults. Bridges are edges between rows
twice as far apart along the sheet as straight.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.sparse import triu
from sklearn.linear_model import LinearRegression

from reproductions.figures import bare, house_style
from reproductions.harness import Outcome
from sidelight import SemidefiniteEmbedding
from sidelight.datasets import load_coil20, load_frey, load_isomap_faces, load_mnist, swiss_roll
from sidelight.evaluate import continuity, trustworthiness
from sidelight.neighbours.graph import joined_graph
from sidelight.neighbours.search import nearest
from sidelight.plot import spectrum
from sidelight.plot._spectrum import spectrum_of
from sidelight.unfolding._semidefinite_problem import near_graph

TITLE = "Semidefinite embedding: rolls of many sizes, dimensions of pictures"
SOURCE = "S4 (Ghodsi 2005), section 1.7; Weinberger and Saul 2004"
SIZES = {150: 3, 200: 6, 300: 6, 400: 3, 1000: 2}
FIRST = 100  # seeds from here on: the rule for bridges was chosen on seeds 0 to 7
BARRED = 300  # of fewer rows on this roll even the nearest neighbours may bridge its layers
NEIGHBOURS = SemidefiniteEmbedding().n_neighbors
PUBLISHED = "source's setting, faces"


def run() -> Outcome:
    maps = {(n, seed): _unrolled(n, FIRST + seed) for n, seeds in SIZES.items() for seed in range(seeds)}
    rolls = {n: [_measured(*maps[n, seed]) for seed in range(seeds)] for n, seeds in SIZES.items()}
    pictures = {name: _fitted(X) for name, X in _pictures().items()}
    pictures = {PUBLISHED: _fitted(pictures["faces"][0], graph="nearest", equality=True, n_neighbors=5), **pictures}
    sizes = ", ".join(f"{n:,} ({seeds})" for n, seeds in SIZES.items())
    outcome = Outcome(
        f"Swiss rolls of {sizes} rows (seeds, from {FIRST} on: not those that "
        f"the defaults were chosen on), defaults ({NEIGHBOURS} neighbours, distances not exceeded), linear R² "
        "of length and width from two dimensions. Faces: all 698, 32 × 32 (the source: 64 × 64); in the source's "
        "setting 5 neighbours, and rows that share one, distances kept. COIL: a car, 72 views. Frey: every third "
        "frame. Digits: 60 of each, MNIST.",
        _draw(maps, pictures),
        "Left: a roll of 200 rows, whose plain neighbours bridge its layers, and one of 1,000, coloured along it. "
        "Middle: the spectra of the faces (two angles of the head and one of the light) and of the digits. Right: the "
        "faces in two dimensions as in the source and by default, coloured by the turn of the head.",
    )
    _compare_pictures(outcome, pictures)
    for n, found in rolls.items():
        _compare_rolls(outcome, n, found)
    outcome.details["rolls"] = {str(n): found for n, found in rolls.items()}
    outcome.details["explained"] = {name: model.explained_[:8].tolist() for name, (_, model) in pictures.items()}
    outcome.notes += [
        "A ring (COIL) is no sheet: it is pulled flat into more dimensions than two, and digits are clusters on links.",
        "On 150 rows the roll's layers are no farther apart than neighbours on it, and on 200 here and there: some "
        "bridges are left, and one folds the roll.",
    ]
    return outcome


def _compare_pictures(outcome: Outcome, pictures: dict[str, Any]) -> None:
    for name, (X, model) in pictures.items():
        outcome.note(f"{name}: dimensions that hold 99 %", spectrum_of(model).n_dimensions, "-")
        outcome.note(f"{name}: first two eigenvalues", float(model.explained_[:2].sum()), "-")
        outcome.note(f"{name}: trustworthiness in two dimensions", trustworthiness(X, model.embedding_), "-")
        outcome.note(f"{name}: continuity in two dimensions", continuity(X, model.embedding_), "-")
        outcome.note(f"{name}: certified gap", abs(model.certificate_["gap"]), "-")


def _unrolled(n: int, seed: int) -> tuple[Any, SemidefiniteEmbedding]:
    data = swiss_roll(n, random_state=seed)
    return data, SemidefiniteEmbedding(n_jobs=1).fit(data.X)


def _measured(data: Any, model: SemidefiniteEmbedding) -> dict[str, float]:
    length, width = (_explained(model.embedding_, data.factors[name]) for name in ("arc", "height"))
    plain = joined_graph(data.X, nearest(data.X, k=NEIGHBOURS, n_jobs=1))
    kept = near_graph(data.X, NEIGHBOURS, precomputed=False, n_jobs=1)
    return {
        "length": length,
        "width": width,
        "two": float(model.explained_[:2].sum()),
        "gap": abs(model.certificate_["gap"]),
        "bridges before": _bridges(plain, data),
        "bridges": _bridges(kept, data),
    }


def _explained(Z: Any, t: Any) -> float:
    return float(LinearRegression().fit(Z, t).score(Z, t))


def _bridges(graph: Any, data: Any) -> int:
    sheet = np.column_stack([data.factors["arc"], data.factors["height"]])
    edges = triu(graph, k=1).tocoo()
    along, straight = (np.linalg.norm(Y[edges.row] - Y[edges.col], axis=1) for Y in (sheet, data.X))
    return int((along > 2 * straight).sum())


def _compare_rolls(outcome: Outcome, n: int, found: list[dict[str, float]]) -> None:
    def worst(name: str) -> float:
        return min(one[name] for one in found)

    if n >= BARRED:
        outcome.at_least(f"roll of {n:,}: first two eigenvalues, worst seed", worst("two"), 0.99, "all (picture)")
    else:
        outcome.note(f"roll of {n:,}: first two eigenvalues, worst seed", worst("two"), "-")
    outcome.note(f"roll of {n:,}: R² of the length, worst seed", worst("length"), "-")
    outcome.note(f"roll of {n:,}: R² of the width, worst seed", worst("width"), "-")
    outcome.note(
        f"roll of {n:,}: bridges among plain neighbours, all seeds", sum(one["bridges before"] for one in found)
    )
    outcome.note(f"roll of {n:,}: bridges left, all seeds", sum(one["bridges"] for one in found), "-")
    outcome.at_most(f"roll of {n:,}: certified gap, worst seed", max(one["gap"] for one in found), 0.01, "-")


def _pictures() -> dict[str, Any]:
    digits = load_mnist()
    label = digits.factors["label"]
    some = np.concatenate([np.flatnonzero(label == digit)[:60] for digit in range(10)])
    sets = {
        "faces": load_isomap_faces().X,
        "COIL car": load_coil20(32, [2]).X,
        "Frey": load_frey().X[::3],
        "digits": digits.X[some],
    }
    return {name: np.asarray(X, dtype=np.float64) for name, X in sets.items()}


def _fitted(X: Any, **options: Any) -> tuple[Any, SemidefiniteEmbedding]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the gap is reported
        return X, SemidefiniteEmbedding(n_jobs=1, max_iter=400, **options).fit(X)


def _draw(maps: dict[tuple[int, int], Any], pictures: dict[str, Any]) -> Any:
    with house_style() as plt:
        figure, axes = plt.subplots(2, 3, figsize=(10.6, 4.6), width_ratios=[1.4, 1, 1])
        for ax, n in zip(axes[:, 0], (200, 1000), strict=True):
            data, model = maps[n, 0]
            bare(ax, f"swiss roll, {n:,} rows")
            ax.scatter(*model.embedding_.T, c=data.factors["arc"], s=6 if n < 500 else 3, cmap="viridis", linewidths=0)
        for ax, name in zip(axes[:, 1], ("faces", "digits"), strict=True):
            spectrum(pictures[name][1], title=name, ax=ax)
        turn = load_isomap_faces().factors["light_pan_tilt"][:, 1]
        for ax, name in zip(axes[:, 2], (PUBLISHED, "faces"), strict=True):
            bare(ax, name)
            ax.scatter(*pictures[name][1].embedding_.T, c=turn, s=4, cmap="viridis", linewidths=0)
        return figure

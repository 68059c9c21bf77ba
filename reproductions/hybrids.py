"""S4 figs. 2.2, 2.6, 2.7, 2.12 to 2.14: Isomap and LLE in one; digits that are shifted and teapots that are turned."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from reproductions.figures import COLOURS, GREY, bare, house_style
from reproductions.harness import Outcome
from sidelight import HybridEmbedding, ReconstructionDistance, TangentDistance
from sidelight.datasets import load_mnist, shifted_digits, swiss_roll, turntable
from sidelight.evaluate import neighbour_hit, sheet_correlation
from sidelight.kernels.transformations import rotated

TITLE = "Hybrid embedding: distances, locality and known transformations"
SOURCE = "S4 (Ghodsi 2005), chapter 2, figs. 2.2, 2.6, 2.7, 2.12-2.14"
ALPHAS = (0.0, 0.9, 1 - 1e-5, 1 - 1e-6, 1 - 1e-7, 1.0)
BAR = 0.9
DRAWS, PLAIN = 6, (2, 3, 5, 8)
SIDE, TURNS, STEP = 40, 9, 20.0


@dataclass(frozen=True)
class Setting:
    """Pictures of several things, each moved in steps; and how the hybrid was set, chosen on the first draw."""

    name: str
    figure: str
    draw: Callable[[int], tuple[Any, Any, Any, tuple[int, int]]]
    distance: Callable[[tuple[int, int]], Any]
    n_neighbors: int
    alpha: float
    n_components: int = 2

    def hybrid(self, X: Any, shape: tuple[int, int]) -> Any:
        model = HybridEmbedding(
            self.n_components,
            distance=self.distance(shape),
            alpha=self.alpha,
            n_neighbors=self.n_neighbors,
            graph="union",
        )
        return model.fit_transform(X)


def run() -> Outcome:
    roll = swiss_roll(2000, random_state=0)
    sweep = [
        HybridEmbedding(distance="geodesic", locality="lle", alpha=alpha, n_neighbors=12).fit_transform(roll.X)
        for alpha in ALPHAS
    ]
    found = {setting.name: [_measure(setting, seed) for seed in range(DRAWS)] for setting in _settings()}
    outcome = Outcome(
        "Swiss roll: 2,000 rows, k = 12, Isomap and LLE. Digits: MNIST, one picture of each, moved sideways over an "
        "empty background (nine places two pixels apart; tangents: one pixel; fig. 2.12: 20 places one pixel apart). "
        f"Teapots: our turntable's, two views, each turned in the picture in nine steps of {STEP:.0f}°. k and α were "
        f"chosen on the first draw of the pictures; the numbers are medians over {DRAWS - 1} others. LEM, LLE and "
        f"Isomap have the best k of {PLAIN} for each draw. Bar: both at least {BAR}.",
        _draw(roll, sweep),
        "Above: the hybrids of Isomap and LLE on the swiss roll, columns brought to one size. Below, left of each pair "
        "the plain eigenmap (k = 5), right the hybrid with the distance of reconstruction: a colour for each thing "
        "(digit, or view of the teapot), larger points for later steps.",
    )
    for setting in _settings():
        _compare(outcome, setting, found[setting.name])
    isomap, ends = sheet_correlation(sweep[0], roll.factors), sheet_correlation(sweep[-1], roll.factors)
    outcome.note("swiss roll: sheet correlation at α = 0 (Isomap)", isomap, "a picture")
    outcome.note("swiss roll: sheet correlation at α = 1 (LLE)", ends, "a picture")
    outcome.notes += _NOTES
    outcome.details["draws"] = found
    return outcome


_NOTES = [
    "Hit: the nearest other point shows the same thing. Order: |Spearman| of the step along the direction of the map "
    "that tells it best. Plain methods are measured alike.",
    "M is scaled to the largest eigenvalue of L. LLE's smallest eigenvalues on the swiss roll are 1e-8 of its largest, "
    "so its hybrids with Isomap turn from one to the other only there: α = 0.9 is still Isomap.",
    "Ten digits differ in nine directions, and a plane that also shows the shift has one left for them: two dimensions "
    "do not hold both, in the source's figure either (it speaks of overlaps). In three they do.",
    "Tangents: two pictures of one digit a few pixels apart have tangents that overlap no more than those of two "
    "digits, so that the angle says little. On the draw that k and α were chosen on (one-pixel steps) hit and order "
    "were 1.00 and 0.96; on the others the hybrid is no better than plain methods. We do not reproduce figs. 2.6, 2.7 "
    "and 2.13 with this distance. Pictures blurred first by 3 pixels gave 0.96 and 0.94 (median of three draws, "
    "one-pixel steps), but at the best k and α of a sweep over the same draws.",
    "The teapots' setting was chosen on views 0° and 90°, 0° and 45°, 45° and 135°; only the first pair is a draw.",
]


def _digits(digits: tuple[int, ...], n_shifts: int, step: int) -> Callable[[int], Any]:
    def draw(seed: int) -> tuple[Any, Any, Any, tuple[int, int]]:
        data = load_mnist()
        label = data.factors["label"]
        rows = [int(np.flatnonzero(label == digit)[seed]) for digit in digits]
        moved = shifted_digits(digits, n_shifts=n_shifts, step=step, pictures=data.images[rows])
        assert moved.image_shape is not None
        return moved.X, moved.factors["digit"], moved.factors["shift"], moved.image_shape

    return draw


def _teapots(seed: int) -> tuple[Any, Any, Any, tuple[int, int]]:
    views = turntable(12, objects=["teapot"], size=SIDE).X
    pair = ((0, 3), (1, 4), (2, 5), (0, 2), (1, 6), (3, 8))[seed]
    angles = STEP * np.arange(TURNS)
    X = np.concatenate([rotated(views[[view]], angle, (SIDE, SIDE)) for view in pair for angle in angles])
    return X, np.repeat([0, 1], TURNS), np.tile(angles, 2), (SIDE, SIDE)


def _settings() -> list[Setting]:
    three, ten = (5, 6, 8), tuple(range(10))

    def shift(step: int) -> Callable[[Any], Any]:
        return lambda shape: ReconstructionDistance("shift", image_shape=shape, parameters=(-step, step))

    def turn(shape: Any) -> Any:
        return ReconstructionDistance("rotate", image_shape=shape, parameters=(-STEP, STEP))

    def tangent(shape: Any) -> Any:
        return TangentDistance("local", image_shape=shape)

    return [
        Setting("three digits, reconstruction", "2.6", _digits(three, 9, 2), shift(2), 5, 0.75),
        Setting("two teapots, reconstruction", "2.14", _teapots, turn, 3, 0.3),
        Setting("ten digits in 3-D, reconstruction", "2.12", _digits(ten, 20, 1), shift(1), 12, 0.85, 3),
        Setting("ten digits, reconstruction", "2.12", _digits(ten, 20, 1), shift(1), 30, 0.85),
        Setting("three digits, tangents", "2.6", _digits(three, 9, 1), tangent, 5, 0.85),
        Setting("ten digits, tangents", "2.7", _digits(ten, 9, 1), tangent, 5, 0.65),
        Setting("two teapots, tangents", "2.13", _teapots, tangent, 4, 0.3),
    ]


def _measure(setting: Setting, seed: int) -> dict[str, tuple[float, float]]:
    """Hit and order of the hybrid and of the plain methods, on one draw."""
    X, thing, step, shape = setting.draw(seed)
    q = setting.n_components
    plain = {
        "LEM": {"distance": "euclidean", "alpha": 1.0, "graph": "union"},
        "LLE": {"distance": "euclidean", "alpha": 1.0, "locality": "lle"},
        "Isomap": {"distance": "geodesic", "alpha": 0.0, "graph": "union"},
    }
    found = {"hybrid": _scores(setting.hybrid(X, shape), thing, step)}
    for name, settings in plain.items():
        maps = [HybridEmbedding(q, n_neighbors=k, **settings).fit_transform(X) for k in PLAIN]
        found[name] = max((_scores(Z, thing, step) for Z in maps), key=min)
    return found


def _scores(Z: Any, thing: Any, step: Any) -> tuple[float, float]:
    centred = Z - Z.mean(axis=0)
    direction = np.linalg.lstsq(centred, step - step.mean(), rcond=None)[0]
    return neighbour_hit(Z, thing, n_neighbors=1), float(abs(spearmanr(centred @ direction, step)[0]))


def _compare(outcome: Outcome, setting: Setting, draws: list[dict[str, tuple[float, float]]]) -> None:
    for name in draws[0]:
        hit, order = np.median([draw[name] for draw in draws[1:]], axis=0)
        for what, value in (("hit", hit), ("order", order)):
            label = f"fig. {setting.figure}, {setting.name}: {name}, {what}"
            if name == "hybrid":
                outcome.at_least(label, value, BAR, "a picture")
            else:
                outcome.note(label, value, "a picture")


def _draw(roll: Any, sweep: list[Any]) -> Any:
    shown = [_settings()[i] for i in (0, 1, 3)]
    with house_style() as plt:
        figure = plt.figure(figsize=(9.6, 4.6))
        upper, lower = figure.subfigures(2, 1, height_ratios=(1.0, 1.15))
        for ax, Z, alpha in zip(upper.subplots(1, len(sweep)), sweep, ALPHAS, strict=True):
            text = f"1 - {1 - alpha:.0e}".replace("e-0", "e-") if 0.99 < alpha < 1 else f"{alpha:g}"
            _filled(ax, f"α = {text}").scatter(*(Z / Z.std(axis=0)).T, c=roll.factors["arc"], s=2, linewidths=0)
        axes = lower.subplots(1, 2 * len(shown))
        for place, setting in enumerate(shown):
            X, thing, step, shape = setting.draw(1)
            plain = HybridEmbedding(alpha=1.0, n_neighbors=5, distance="euclidean", graph="union").fit_transform(X)
            for ax, Z, name in (
                (axes[2 * place], plain, "LEM"),
                (axes[2 * place + 1], setting.hybrid(X, shape), "hybrid"),
            ):
                hit, order = _scores(Z, thing, step)
                what = setting.name.split(",")[0]
                _things(
                    _filled(ax, f"{what}, {name}\nhit {hit:.2f}, order {order:.2f}"), Z / Z.std(axis=0), thing, step
                )
        return figure


def _filled(ax: Any, title: str) -> Any:
    """Axes of a map whose columns were brought to one size: the box is filled."""
    bare(ax, title).set_aspect("auto")
    return ax


def _things(ax: Any, Z: Any, thing: Any, step: Any) -> None:
    palette = COLOURS if len(np.unique(thing)) <= len(COLOURS) else None
    size = 4 + 22 * step / step.max()
    for i, one in enumerate(np.unique(thing)):
        rows = thing == one
        ax.plot(*Z[rows].T, color=GREY, lw=0.4, zorder=1)
        colour = (
            {"color": palette[i]} if palette else {"c": np.full(rows.sum(), i), "cmap": "tab10", "vmin": 0, "vmax": 9}
        )
        ax.scatter(*Z[rows].T, s=size[rows], linewidths=0, alpha=0.85, zorder=2, **colour)
    ax.margins(0.08)

"""S0 section 4.2, fig. 4.2: three toy cars on a turntable: an axis for which car it is, two for the turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import NearestNeighbors

from benchmarks.informed_protocols import CARS
from reproductions.figures import COLOURS, GREY, bare, house_style
from reproductions.harness import Outcome
from sidelight import MultipleRelationalEmbedding, Relation
from sidelight.datasets import load_coil20
from sidelight.evaluate import axis_recovery, leakage
from sidelight.plot import relation_weights
from sidelight.plot.placement import place_apart

TITLE = "Cars: which one on an axis, the turn in the others"
SOURCE = "S0 (Memisevic 2007), section 4.2, fig. 4.2"
VIEWS, TURN, SIDE = 30, 72, 32
SOURCE_SIDE, SIGMA2, ITERATIONS, SOURCE_SEEDS = 128, 5e7, 200, tuple(range(5))
STARTS = tuple(7 * k for k in range(10))
SEEDS = tuple(range(10))
SHARE, ADJACENT = 0.9, 0.9


@dataclass(frozen=True)
class Cars:
    """Pictures X (90, d), which car (90,), and which of the successive views (90,)."""

    X: Any
    car: Any
    step: Any

    def measures(self, Z: Any, axis: int) -> dict[str, float]:
        """What ``axis`` tells of the car, and what the other two tell of car and turn."""
        rest = np.delete(Z, axis, axis=1)
        table = axis_recovery(Z, {"car": self.car}, kinds="category")
        return {
            "car, told by the axis (chance 0.33)": table["car"].values[axis],
            "car, told by the other two (chance 0.33)": float(leakage(rest, self.car).value),
            **self.turn(rest),
        }

    def turn(self, rest: Any) -> dict[str, float]:
        """Whether views are in order, within cars and across them."""
        return {
            "nearest view of the same car is adjacent": self._adjacent(rest),
            "steps of 5° to the nearest view of another car": self._across(rest),
        }

    def class_axis(self, Z: Any) -> int:
        """The axis that tells the car best."""
        return int(axis_recovery(Z, {"car": self.car}, kinds="category")["car"].best)

    def _adjacent(self, rest: Any) -> float:
        hits = []
        for car in CARS:
            own = np.flatnonzero(self.car == car)
            near = NearestNeighbors(n_neighbors=1).fit(rest[own]).kneighbors(return_distance=False)[:, 0]
            hits.append(np.abs(self.step[own] - self.step[own][near]) == 1)
        return float(np.mean(hits))

    def _across(self, rest: Any) -> float:
        gaps = []
        for car in CARS:
            own, other = np.flatnonzero(self.car == car), np.flatnonzero(self.car != car)
            near = NearestNeighbors(n_neighbors=1).fit(rest[other]).kneighbors(rest[own], return_distance=False)[:, 0]
            gaps.append(np.abs(self.step[own] - self.step[other][near]))
        return float(np.median(gaps))


def cars(first: int, side: int = SIDE) -> Cars:
    """Thirty successive views of each car, from ``first`` on, around the circle."""
    data = load_coil20(side, objects=CARS)
    step = (data.factors["view"] - first) % TURN
    kept = np.flatnonzero(step < VIEWS)
    kept = kept[np.lexsort((step[kept], data.factors["object_index"][kept]))]
    return Cars(data.X[kept], data.factors["object_index"][kept], step[kept])


def fitted(rows: Cars, **choices: Any) -> Any:
    """Our model, told the car."""
    model = MultipleRelationalEmbedding(3, n_jobs=1, **choices)
    return model.fit(rows.X, relations={"class": Relation.from_labels(rows.car)})


def as_published(rows: Cars, seed: int, **relations: Relation) -> Any:
    """The source's model: one bandwidth for the data, noise as start, 200 iterations; SNE without other relations."""
    model = MultipleRelationalEmbedding(
        3, use_data=False, init="random", random_state=seed, max_iter=ITERATIONS, n_jobs=1
    )
    with catch_warnings():
        simplefilter("ignore", ConvergenceWarning)  # the source's number of iterations ends it
        return model.fit(rows.X, relations={"data": Relation.from_data(rows.X, bandwidth=SIGMA2), **relations})


def plain(rows: Cars) -> Any:
    """SNE: the same estimator, told nothing."""
    return MultipleRelationalEmbedding(3, transformation="identity", n_jobs=1).fit_transform(rows.X)


def shares(models: Sequence[Any]) -> Any:
    """Of what the class relation sees, the largest share on one axis; for each model."""
    return np.array([model.relation_shares_[model.relation_names_.index("class")].max() for model in models])


def run() -> Outcome:
    sets = [cars(first) for first in STARTS]
    models = [fitted(rows) for rows in sets]
    maps = [plain(rows) for rows in sets]
    lucky = [fitted(sets[0], init="random", random_state=seed) for seed in SEEDS]
    axes = [int(model.relation_shares_[1].argmax()) for model in models]
    found = {
        "ours": [r.measures(m.embedding_, a) for r, m, a in zip(sets, models, axes, strict=True)],
        "SNE": [r.measures(Z, r.class_axis(Z)) for r, Z in zip(sets, maps, strict=True)],
        "pixels": [r.turn(r.X) for r in sets],
        "random start": [sets[0].measures(m.embedding_, int(m.relation_shares_[1].argmax())) for m in lucky],
    }
    outcome = Outcome(
        f"COIL-20 objects {', '.join(map(str, CARS))} at {SIDE} × {SIDE}, {VIEWS} successive views each, 3-D, "
        "our defaults; relations: the data, and which car it is. Ten sets of views, which begin at view 0, 7, 14, ..., "
        "63 (the first is the source's). The start does not depend on a seed; beside it the first set from ten "
        "random starts. First, the source's setting: pictures of 128 × 128 with values 0 to 255, the first 30 views, "
        "σ² = 5·10⁷, Z and R begun with small noise, 200 iterations.",
        _draw(sets[0], models[0], maps[0]),
        "The first set. Left: SNE in its two widest axes. Middle: ours, the axis of the class against the wider of the "
        "others, and these two against each other; a colour for each car, successive views joined. Right: the share of "
        "what each relation sees that is on each axis.",
    )
    _compare_published(outcome)
    outcome.at_least(
        "share of the class on one axis, worst of ten sets", shares(models).min(), SHARE, "about 1 (a bar)"
    )
    _compare(outcome, found)
    outcome.note("random starts: share of the class on one axis, worst of ten", shares(lucky).min(), "-")
    outcome.note("random starts: share of the class on one axis, median", float(np.median(shares(lucky))), "-")
    best = min(model.history_[-1]["objective"] for model in lucky)
    outcome.note("objective, our start", models[0].history_[-1]["objective"], "-")
    outcome.note("objective, best of ten random starts", best, "-")
    outcome.note("objective, worst of ten random starts", max(m.history_[-1]["objective"] for m in lucky), "-")
    outcome.notes += _NOTES
    outcome.details["measures"] = found
    outcome.details["shares"] = {"ours": shares(models).tolist(), "random start": shares(lucky).tolist()}
    return outcome


def _compare_published(outcome: Outcome) -> None:
    """The source's setting, from five starts of noise; and SNE in the same setting."""
    rows = cars(0, SOURCE_SIDE)
    models = [as_published(rows, seed, **{"class": Relation.from_labels(rows.car)}) for seed in SOURCE_SEEDS]
    maps = [as_published(rows, seed).embedding_ for seed in SOURCE_SEEDS[:1]]
    told = [rows.measures(m.embedding_, int(m.relation_shares_[1].argmax())) for m in models]
    beside = [rows.measures(Z, rows.class_axis(Z)) for Z in maps]
    label = "source's setting"
    outcome.at_least(
        f"{label}: share of the class on one axis, worst of five starts", shares(models).min(), SHARE, "about 1 (a bar)"
    )
    least = min(float(model.relation_shares_[0].min()) for model in models)
    outcome.note(f"{label}: least share of an axis for the data", least, "all to some degree (bars)")
    for name in told[0]:
        values = [one[name] for one in told]
        worst = min(values) if "adjacent" in name or "by the axis" in name else max(values)
        outcome.note(f"{label}: {name}, worst of five starts", worst, "a picture")
        outcome.note(f"{label}, SNE: {name}", beside[0][name], "a picture")
    outcome.details[label] = {"MRE": told, "SNE": beside, "shares": [m.relation_shares_.tolist() for m in models]}


def _compare(outcome: Outcome, found: dict[str, list[dict[str, float]]]) -> None:
    for who, values in found.items():
        for name in values[0]:
            column = [one[name] for one in values]
            worst = min(column) if "adjacent" in name or "by the axis" in name else max(column)
            if who == "ours" and "adjacent" in name:
                outcome.at_least(f"{who}: {name}, median of ten sets", float(np.median(column)), ADJACENT, "a picture")
            else:
                outcome.note(f"{who}: {name}, median", float(np.median(column)), "a picture" if who == "ours" else "-")
            outcome.note(f"{who}: {name}, worst", worst, "-")


_NOTES = [
    "The source's claim holds in the source's setting, from each of five starts of noise (size 0.1, where the source "
    "says small; L-BFGS, where it has conjugate gradients): the class has one axis, the data uses all three, and the "
    "other two show the turn.",
    "Rotation in the other two axes: the nearest picture of the same car there is the view before or after (random "
    "points: about 0.1), and the nearest of another car is of the same view (random points: 11 steps). Both hold in "
    "the pixels already, where these cars look alike at the same angle, and in SNE: what the relation adds is the "
    "axis of the class, and that the other two keep the turn without it.",
    "The car told by the other two is below chance where views of the three cars fall on each other: left out, a row "
    "leaves its own car in the minority around it.",
    "SNE: the axis that tells the car best takes the place of the axis of the class.",
]


def _draw(rows: Cars, model: Any, Z_plain: Any) -> Any:
    axis = int(model.relation_shares_[1].argmax())
    first, second = (a for a in range(3) if a != axis)
    Z = model.embedding_
    with house_style() as plt:
        figure, axes = plt.subplots(1, 4, figsize=(13.2, 3.5), width_ratios=(1, 1, 1, 0.85))
        _map(axes[0], Z_plain[:, :2], rows, "SNE: two of its three axes")
        _map(axes[1], Z[:, [axis, first]], rows, "told the car")
        axes[1].set(xlabel=f"axis {axis + 1}: class", ylabel=f"axis {first + 1}")
        _map(axes[2], Z[:, [first, second]], rows, "told the car: the other two axes")
        axes[2].set(xlabel=f"axis {first + 1}", ylabel=f"axis {second + 1}")
        relation_weights(model, ax=axes[3], title="what each relation looks at")
    return figure


def _map(ax: Any, Z: Any, rows: Cars, title: str) -> None:
    """Views of each car in order, and some of the pictures."""
    bare(ax, title)
    ax.set_aspect("auto")
    for car, colour in zip(CARS, COLOURS, strict=False):
        own = Z[rows.car == car]
        ax.plot(*own.T, "-o", color=colour, linewidth=0.6, markersize=2.6)
    wide, high = 0.11 * np.ptp(Z, axis=0)
    for row in place_apart(Z, 1.5 * wide, 1.5 * high, 12):
        x, y = Z[row]
        box = (x - wide / 2, x + wide / 2, y - high / 2, y + high / 2)
        ax.imshow(rows.X[row].reshape(SIDE, SIDE), extent=box, cmap="gray", aspect="auto", zorder=3)
        corners = np.array(box)[[[0, 1, 1, 0, 0], [2, 2, 3, 3, 2]]]
        ax.plot(*corners, color=COLOURS[CARS.index(int(rows.car[row]))], linewidth=1.0, zorder=4)
    low, top = Z.min(axis=0), Z.max(axis=0)
    ax.set(xlim=(low[0] - wide, top[0] + wide), ylim=(low[1] - high, top[1] + high))
    ax.spines[:].set(color=GREY)

"""Faces by light and person, and oil flow by fractions and regime, a tenth of the rows labelled (S0 section 4.3.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy.stats import spearmanr
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors

from reproductions.figures import COLOURS, bare, house_style
from reproductions.harness import Outcome
from reproductions.relational_faces import Labelled, drawn, main_axes
from sidelight import MultipleRelationalEmbedding, Relation
from sidelight.datasets import load_oil_flow, load_yaleb
from sidelight.plot import relation_weights
from sidelight.plot.placement import place_apart

TITLE = "Faces by light and person, oil flow by fractions and regime"
SOURCE = "S0 (Memisevic 2007), section 4.3.2, on data sets of ours"
SHARE = 10
DIMENSIONS = {"38 people": 6, "8 people": 4, "oil flow": 4}
SEEDS = {"38 people": tuple(range(5)), "8 people": tuple(range(10)), "oil flow": tuple(range(10))}
BAR = 0.85


@dataclass(frozen=True)
class Table:
    """Rows, two numbers and a name of each."""

    X: Any
    numbers: dict[str, Any]
    word: str
    names: Any
    dimensions: int

    def labelled(self, seed: int) -> Labelled:
        rows = drawn(len(self.X), len(self.X) // SHARE, seed)
        return Labelled(self.X, np.column_stack(list(self.numbers.values())), tuple(self.numbers), rows)

    def fitted(self, seed: int, **choices: Any) -> Any:
        known = self.labelled(seed)
        who = Relation.from_labels(self.names[known.rows], known.rows, n_samples=len(self.X))
        model = MultipleRelationalEmbedding(self.dimensions, extend=False, n_jobs=1, **choices)
        return model.fit(self.X, relations=known.relations() | {self.word: who})

    def measures(self, seed: int, model: Any) -> dict[str, float]:
        """Spearman of the numbers, accuracy of the names, on rows without labels."""
        known = self.labelled(seed)
        told = known.told(model.embedding_, main_axes(model, known.names))
        R = model.transformations_[model.relation_names_.index(self.word)]
        right = self._right(model.embedding_ @ R.T, known)
        return {**dict(zip(known.names, map(float, told), strict=True)), self.word: right}

    def nearest_labelled(self, seed: int) -> dict[str, float]:
        """The same from the features alone: what the nearest labelled row says."""
        known = self.labelled(seed)
        near = NearestNeighbors(n_neighbors=1).fit(self.X[known.rows])
        place = known.rows[near.kneighbors(self.X[known.hidden], return_distance=False)[:, 0]]
        told = [abs(spearmanr(y[place], y[known.hidden])[0]) for y in known.A.T]
        return {**dict(zip(known.names, map(float, told), strict=True)), self.word: self._right(self.X, known)}

    def _right(self, Y: Any, known: Labelled) -> float:
        nearest = KNeighborsClassifier(1).fit(Y[known.rows], self.names[known.rows])
        return float(nearest.score(Y[known.hidden], self.names[known.hidden]))

    @property
    def chance(self) -> float:
        """The share of the commonest name."""
        return float(np.unique(self.names, return_counts=True)[1].max() / len(self.names))


@cache
def tables() -> dict[str, Table]:
    faces, oil = load_yaleb(), load_oil_flow()
    light, person = faces.factors["light_azimuth_elevation"], faces.factors["person"]

    def of(people: int) -> Table:
        own = person < people
        numbers = {"azimuth": light[own, 0], "elevation": light[own, 1]}
        return Table(faces.X[own], numbers, "person", person[own], DIMENSIONS[f"{people} people"])

    fractions = oil.factors["fractions"]
    numbers = {"oil": fractions[:, 0], "water": fractions[:, 1]}
    flow = Table(oil.X, numbers, "regime", oil.factors["label"], DIMENSIONS["oil flow"])
    return {"38 people": of(38), "8 people": of(8), "oil flow": flow}


def run() -> Outcome:
    models = {name: [table.fitted(seed) for seed in SEEDS[name]] for name, table in tables().items()}
    shown = {name: models[name][0] for name in ("38 people", "oil flow")}
    outcome = Outcome(
        "Extended Yale B at 32 × 32: all 38 people (2,414 pictures) and the first 8 (about 64 each); oil flow: 1,000 "
        "rows of 12 columns. A tenth of the rows, drawn at random, is labelled with two numbers and a name; 6-D for "
        "38 people, 4-D else, no extension of labels. Numbers: |Spearman| with the main axis of their relation. Names: "
        "those of the nearest labelled row in what their relation sees of the map. All on rows without labels; seeds 0 "
        "to 9 (0 to 4 for 38 people: time).",
        _draw(shown),
        "Draw 0, rows without labels. Left: faces along the axes of azimuth and elevation (every row a point). Middle: "
        "oil flow along the axes of the two fractions, coloured by the true regime. Right: the share of what each "
        "relation sees that is on each axis.",
    )
    for name, table in tables().items():
        _compare(outcome, name, table, models[name])
    outcome.notes += _NOTES
    return outcome


def _compare(outcome: Outcome, name: str, table: Table, models: Sequence[Any]) -> None:
    seeds = SEEDS[name]
    ours = [table.measures(seed, model) for seed, model in zip(seeds, models, strict=True)]
    nearest = [table.nearest_labelled(seed) for seed in seeds]
    for what in ours[0]:
        values, raw = [one[what] for one in ours], [one[what] for one in nearest]
        label = f"{name}: {what}" + ("" if what in table.numbers else f" (accuracy, chance {table.chance:.2f})")
        if what in table.numbers and name != "oil flow":
            outcome.at_least(f"{label}, worst of {len(seeds)}", min(values), BAR, "-")
        else:
            outcome.note(f"{label}, worst of {len(seeds)}", min(values), "-")
        outcome.note(f"{label}, median", float(np.median(values)), "-")
        outcome.note(f"{label}, nearest labelled row by features, median", float(np.median(raw)), "-")
    every = [*table.numbers, table.word]
    outcome.note(f"{name}: distinct main axes of 3, worst", min(len(set(main_axes(m, every))) for m in models), "-")
    outcome.details[name] = {"ours": ours, "nearest labelled row": nearest}


_NOTES = [
    "The bar is that of the Isomap faces, applied to the light. The start was looked at on Yale B with other draws "
    "(seeds 100 to 104) and not on oil flow.",
    "Names take one axis in our start, and more where there is room. Thirty-eight people do not lie on a line nor in a "
    "few dimensions, and their axes tell them worse than the pixels do; even the three regimes of oil flow are told "
    "worse than by the features. To classify, use a classifier; the map is for looking.",
    "38 people in 4-D, where names have one axis, miss the bar: elevation 0.75 (worst of five) and names 0.08. Six "
    "dimensions were chosen after that, on draw 100. Nothing else was: the bars are those of the first run.",
]


def _draw(shown: dict[str, Any]) -> Any:
    with house_style() as plt:
        figure = plt.figure(figsize=(12.6, 4.3))
        left, middle, right = figure.subfigures(1, 3, width_ratios=(1.25, 1.0, 0.95))
        table, model = tables()["38 people"], shown["38 people"]
        _faces(left.subplots(), table, model)
        _flow(middle.subplots(), tables()["oil flow"], shown["oil flow"])
        for ax, (name, one) in zip(right.subplots(2, 1), shown.items(), strict=True):
            relation_weights(one, ax=ax, title=name)
            ax.set_ylabel("")
    return figure


def _faces(ax: Any, table: Table, model: Any) -> None:
    known = table.labelled(0)
    axes = main_axes(model, known.names)
    Z, X = model.embedding_[known.hidden][:, axes], table.X[known.hidden]
    bare(ax, "38 people").set(xlabel=f"axis {axes[0] + 1}: azimuth", ylabel=f"axis {axes[1] + 1}: elevation")
    ax.set_aspect("auto")
    ax.scatter(*Z.T, s=3, color="#bbbbbb", linewidths=0)
    wide, high = 0.07 * float(np.ptp(Z[:, 0])), 0.085 * float(np.ptp(Z[:, 1]))
    for row in place_apart(Z, 1.25 * wide, 1.25 * high, 50):
        x, y = Z[row]
        box = (x - wide / 2, x + wide / 2, y - high / 2, y + high / 2)
        ax.imshow(X[row].reshape(32, 32), extent=box, cmap="gray", aspect="auto", zorder=3)
    low, top = Z.min(axis=0), Z.max(axis=0)
    ax.set(xlim=(low[0] - wide, top[0] + wide), ylim=(low[1] - high, top[1] + high))


def _flow(ax: Any, table: Table, model: Any) -> None:
    known = table.labelled(0)
    axes = main_axes(model, known.names)
    Z, names = model.embedding_[known.hidden][:, axes], table.names[known.hidden]
    bare(ax, "oil flow").set(xlabel=f"axis {axes[0] + 1}: oil", ylabel=f"axis {axes[1] + 1}: water")
    ax.set_aspect("auto")
    for code, colour in zip(np.unique(names), COLOURS, strict=False):
        ax.scatter(*Z[names == code].T, s=6, color=colour, linewidths=0, label=f"regime {code}")
    ax.legend(loc="best")

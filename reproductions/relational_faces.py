"""S0 section 4.3.2, fig. 4.4: faces, a hundred of which are labelled; an axis for each kind of label, for all faces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np
from scipy.stats import spearmanr
from sklearn.exceptions import ConvergenceWarning

from reproductions.figures import COLOURS, GREY, INK, bare, house_style
from reproductions.harness import Outcome
from sidelight import MultipleRelationalEmbedding, Relation
from sidelight.datasets import load_isomap_faces
from sidelight.evaluate import axis_recovery
from sidelight.kernels.relations import similarity
from sidelight.plot import relation_weights
from sidelight.plot.placement import place_apart

TITLE = "Faces by their labels: light, pan, tilt and ink"
SOURCE = "S0 (Memisevic 2007), section 4.3.2, fig. 4.4"
NAMES = ("light", "pan", "tilt", "ink")
SEEDS, RANDOM_SEEDS = tuple(range(10)), tuple(range(10))
LABELS = (100, 50, 20, 10)
SOURCE_SEEDS = tuple(range(3))
SIGMA2 = {"σ² = 100": 100.0, "σ² = 25": 25.0}  # the source's; and a quarter, for pictures with a quarter of the pixels
PROTOTYPE = (0, 1)  # draws that a first prototype was run on
BAR = 0.85


@dataclass(frozen=True)
class Labelled:
    """Rows X (n, d), attributes A (n, k), and which rows tell theirs."""

    X: Any
    A: Any
    names: Sequence[str]
    rows: Any

    @property
    def hidden(self) -> Any:
        """Rows whose label no model sees."""
        return np.setdiff1d(np.arange(len(self.X)), self.rows)

    def relations(self) -> dict[str, Relation]:
        n = len(self.X)
        return {
            name: Relation.from_values(values, self.rows, n_samples=n)
            for name, values in zip(self.names, self.A[self.rows].T, strict=True)
        }

    def told(self, Z: Any, axes: Sequence[int]) -> Any:
        """|Spearman| of each attribute and its axis of Z on the hidden rows (k,)."""
        hidden = self.hidden
        return np.array([abs(spearmanr(Z[hidden, a], y)[0]) for a, y in zip(axes, self.A[hidden].T, strict=True)])


def drawn(n: int, m: int, seed: int) -> Any:
    """Rows to be labelled, ``m`` of ``n``."""
    return np.sort(np.random.default_rng(seed).choice(n, m, replace=False))


def main_axes(model: Any, names: Sequence[str]) -> list[int]:
    """The axis of which each relation sees most."""
    return [int(model.relation_shares_[model.relation_names_.index(name)].argmax()) for name in names]


def faces(m: int, seed: int) -> Labelled:
    data = load_isomap_faces()
    A = np.column_stack([data.factors["light_pan_tilt"], data.X.mean(axis=1)])
    return Labelled(data.X, A, NAMES, drawn(len(A), m, seed))


def fitted(labelled: Labelled, **choices: Any) -> Any:
    """Our model with its defaults, and what else is chosen."""
    q = len(labelled.names)
    return MultipleRelationalEmbedding(q, extend=False, n_jobs=1, **choices).fit(
        labelled.X, relations=labelled.relations()
    )


def as_published(labelled: Labelled, sigma2: float, seed: int) -> Any:
    """The source's model: one bandwidth for the data, noise as start, 1,000 iterations."""
    data = Relation.from_data(labelled.X, bandwidth=sigma2)
    model = MultipleRelationalEmbedding(
        len(labelled.names), use_data=False, extend=False, init="random", random_state=seed, max_iter=1000, n_jobs=1
    )
    with catch_warnings():
        simplefilter("ignore", ConvergenceWarning)  # where the source's number of iterations ends it
        return model.fit(labelled.X, relations={"data": data, **labelled.relations()})


def regressed(labelled: Labelled) -> Any:
    """|Spearman| of the start alone: kernel ridge regression from the labelled pictures (k,)."""
    from sidelight.relational._relational_start import relational_start

    relations = [Relation.from_data(labelled.X), *labelled.relations().values()]
    q = len(labelled.names)
    start = relational_start(relations, [similarity(one, 1) for one in relations], len(labelled.X), q)
    return labelled.told(start.Z, range(q))


def run() -> Outcome:
    found: dict[str, Any] = {}
    distinct = []
    for m in LABELS:
        draws = [faces(m, seed) for seed in SEEDS]
        models = [fitted(one) for one in draws]
        found[f"{m} labels"] = [
            one.told(model.embedding_, main_axes(model, NAMES)) for one, model in zip(draws, models, strict=True)
        ]
        found[f"{m} labels, start alone"] = [regressed(one) for one in draws]
        distinct.append(min(len(set(main_axes(model, NAMES))) for model in models))
        if m == LABELS[0]:
            shown, model = draws[0], models[0]
            shares = [float(one.relation_shares_[1:].max(axis=1).min()) for one in models]
    lucky = [fitted(faces(LABELS[0], seed), init="random", random_state=seed) for seed in RANDOM_SEEDS]
    found["random start"] = [
        faces(LABELS[0], seed).told(one.embedding_, main_axes(one, NAMES))
        for seed, one in zip(RANDOM_SEEDS, lucky, strict=True)
    ]
    outcome = Outcome(
        "Isomap faces, 698 pictures of 32 × 32, 4-D; first in the source's setting, then our defaults without the "
        "extension of labels. "
        f"{LABELS[0]} pictures, drawn at random, are labelled with the light, two poses and ink (mean pixel value); "
        "the data relation knows all. |Spearman| of each attribute and the main axis of its relation on the "
        f"unlabelled pictures; {len(SEEDS)} draws, seeds 0 to 9 (0 to 2 in the source's setting). "
        "Our start was chosen on draws 100 to 104; a prototype with a random start had been run on draws 0 and 1 "
        "before.",
        _draw(shown, model, found),
        "Left: the faces that were not labelled, along the axes of the two poses, and of light and ink (draw 0). "
        "Right: the share of what each relation sees that is on each axis; and how the order on unlabelled faces falls "
        "with fewer labels (dots: ten draws; line: the median).",
    )
    _compare_published(outcome)
    _compare(outcome, found)
    outcome.at_least("distinct main axes of the four relations, worst draw", distinct[0], 4, "4")
    outcome.note("share of each relation on its main axis, worst draw", min(shares), "one axis each (a picture)")
    for m, count in zip(LABELS[1:], distinct[1:], strict=True):
        outcome.note(f"distinct main axes with {m} labels, worst draw", count, "-")
    unseen = float(np.min(found[f"{LABELS[0]} labels"][len(PROTOTYPE) :]))
    outcome.note(f"worst attribute of draws 2 to 9, which no prototype saw, {LABELS[0]} labels", unseen, "-")
    _compare_random(outcome, found["random start"], lucky)
    _compare_plain(outcome)
    outcome.notes += _NOTES
    outcome.details["spearman"] = {name: np.round(values, 4).tolist() for name, values in found.items()}
    return outcome


def _compare_published(outcome: Outcome) -> None:
    """The source's setting, with its bandwidth as printed and as it would be for pictures of this size."""
    for name, sigma2 in SIGMA2.items():
        draws = [faces(LABELS[0], seed) for seed in SOURCE_SEEDS]
        models = [as_published(one, sigma2, seed) for seed, one in zip(SOURCE_SEEDS, draws, strict=True)]
        axes = [main_axes(model, NAMES) for model in models]
        told = np.array([one.told(m.embedding_, a) for one, m, a in zip(draws, models, axes, strict=True)])
        label = f"source's setting, {name}"
        outcome.at_least(
            f"{label}: distinct main axes, worst of {len(draws)} draws", min(len(set(a)) for a in axes), 4, "4"
        )
        shares = min(float(model.relation_shares_[1:].max(axis=1).min()) for model in models)
        outcome.note(f"{label}: share of each relation on its main axis, worst", shares, "one axis each (a picture)")
        spread = min(float(model.relation_shares_[0].min()) for model in models)
        outcome.note(f"{label}: least share of an axis for the data", spread, "all dimensions (a picture)")
        for attribute, column in zip(NAMES, told.T, strict=True):
            outcome.note(f"{label}: {attribute}, worst", column.min(), "a picture")
        outcome.details[label] = np.round(told, 4).tolist()


def _compare(outcome: Outcome, found: dict[str, Any]) -> None:
    for m in LABELS:
        values = np.array(found[f"{m} labels"])
        worst, middle = values.min(axis=0), np.median(values, axis=0)
        for name, low, mid in zip(NAMES, worst, middle, strict=True):
            if m == LABELS[0]:
                outcome.at_least(f"{name}, {m} labels, worst of ten", low, BAR, "a picture")
            else:
                outcome.note(f"{name}, {m} labels, worst of ten", low, "-")
            outcome.note(f"{name}, {m} labels, median", mid, "-")
        start = np.array(found[f"{m} labels, start alone"])
        outcome.note(f"the start alone (kernel ridge), {m} labels: worst attribute of worst draw", start.min(), "-")
        outcome.note(f"the same, after the fit, {m} labels", values.min(), "-")


def _compare_random(outcome: Outcome, values: Any, models: Sequence[Any]) -> None:
    for name, by_seed in zip(NAMES, np.array(values).T, strict=True):
        outcome.note(f"our kernel from noise: {name}, worst of {len(models)}", by_seed.min(), "-")
    count = min(len(set(main_axes(model, NAMES))) for model in models)
    outcome.note("our kernel from noise: distinct main axes, worst", count, "4 (a picture)")


def _compare_plain(outcome: Outcome) -> None:
    """The best axis for each attribute of a map that is told nothing."""
    one = faces(LABELS[0], 0)
    Z = MultipleRelationalEmbedding(4, transformation="identity", n_jobs=1).fit_transform(one.X)
    table = axis_recovery(Z, dict(zip(NAMES, one.A.T, strict=True)), rows=one.hidden, kinds="number")
    for name, strengths in zip(NAMES, table.strengths, strict=True):
        outcome.note(f"no relations (SNE): {name}, best of four axes", strengths.max(), "-")


_NOTES = [
    "The source's claim holds in the source's setting: from noise, with one bandwidth for the data, every relation "
    "takes an axis of its own on every draw tried, the data uses all four, and the unlabelled pictures follow. So a "
    "random start as such does not fail. With our kernel (perplexity 10 along the graph) it loses an axis on one draw "
    "of ten; three draws and ten are too few to say that the kernel is why. From our start, with our kernel, light "
    "and poses of the unlabelled pictures are in better order than in the source's setting, and ink in slightly "
    "worse.",
    "Source's setting: Z and the weights begin as normal noise of size 0.1 (the source: small), the data relation has "
    "one σ², 1.0 for standardised labels, 1,000 iterations at most (L-BFGS; the source: conjugate gradients). The "
    "source does not say the size of its pictures: those published are of 64 × 64, ours of 32 × 32 with values 0 to "
    "1, where squared distances are about a quarter, hence both σ².",
    "Our start is the same for every seed: what each relation says of its rows, carried to the others by kernel ridge "
    "regression on the pictures. The draws of labels are what differs.",
    "Start alone: the order that this regression gives before anything is fitted. SNE: the same estimator without "
    "relations, told nothing; of its four axes the best for each attribute.",
    "Our kernel from noise: our defaults but the start, noise as in the source, on the same draws of labels.",
]


def _draw(labelled: Labelled, model: Any, found: dict[str, Any]) -> Any:
    Z, hidden = model.embedding_, labelled.hidden
    with house_style() as plt:
        figure = plt.figure(figsize=(10.6, 8.0))
        left, right = figure.subfigures(1, 2, width_ratios=(1.0, 0.82))
        for ax, (x, y) in zip(left.subplots(2, 1), ((1, 2), (0, 3)), strict=True):
            _pictures(ax, Z[hidden][:, [x, y]], labelled.X[hidden])
            ax.set(xlabel=f"axis {x + 1}: {NAMES[x]}", ylabel=f"axis {y + 1}: {NAMES[y]}")
        upper, lower = right.subplots(2, 1)
        relation_weights(model, ax=upper, title="what each relation looks at")
        _fall(lower, found)
    return figure


def _pictures(ax: Any, Z: Any, X: Any) -> None:
    """Points, and some of the pictures beside theirs (circled)."""
    bare(ax)
    ax.set_aspect("auto")
    wide, high = 0.068 * float(np.ptp(Z[:, 0])), 0.105 * float(np.ptp(Z[:, 1]))
    ax.scatter(*Z.T, s=5, color=GREY, linewidths=0)
    for row in place_apart(Z, 1.35 * wide, 1.35 * high, 34):
        x, y = Z[row]
        ax.imshow(X[row].reshape(32, 32), extent=(x, x + wide, y, y + high), cmap="gray", aspect="auto", zorder=3)
        ax.plot(x, y, "o", color=COLOURS[1], markersize=3.5, zorder=4)
    ax.set(xlim=(Z[:, 0].min() - 0.3 * wide, Z[:, 0].max() + 1.2 * wide))
    ax.set(ylim=(Z[:, 1].min() - 0.3 * high, Z[:, 1].max() + 1.2 * high))


def _fall(ax: Any, found: dict[str, Any]) -> None:
    """|Spearman| against the number of labels."""
    for k, (name, colour) in enumerate(zip(NAMES, COLOURS, strict=False)):
        at = np.log2(LABELS) + 0.07 * (k - 1.5)
        values = np.array([[draw[k] for draw in found[f"{m} labels"]] for m in LABELS])
        ax.plot(at, np.median(values, axis=1), color=colour, linewidth=1.2, label=name)
        for place, column in zip(at, values, strict=True):
            ax.plot(np.full(len(column), place), column, "o", color=colour, markersize=2.4, alpha=0.6)
    ax.axhline(BAR, color=INK, linewidth=0.6, linestyle=":")
    ax.set_xticks(np.log2(LABELS), [str(m) for m in LABELS])
    ax.set(xlabel="labelled faces, of 698", ylabel="|Spearman| on the others", ylim=(0, 1.02))
    ax.legend(loc="lower right", ncols=2)

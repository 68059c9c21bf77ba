"""S0 section 4.3.1, fig. 4.3: a turning object and a turning head in one map, from two pairs that correspond."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from reproductions.figures import COLOURS, GREY, bare, house_style
from reproductions.harness import Outcome
from sidelight import MultipleRelationalEmbedding, Relation
from sidelight.datasets import load_coil20, load_umist

TITLE = "Correspondences of objects and faces from two pairs"
SOURCE = "S0 (Memisevic 2007), section 4.3.1, fig. 4.3"
VIEWS, TURN, SIDE = 20, 72, 32
OBJECTS = (5, 2, 18, 1, 4, 8, 17, 9, 6, 0)
PEOPLE = (0, 2, 3, 4, 5, 7, 9, 10, 11, 12)
FRESH_PEOPLE = (14, 15, 16, 17, 18, 19, 0, 2, 3, 4)  # with the same objects, half a turn on
SHOWN = ((3, 12, 0), (18, 3, 14), (6, 11, 56))  # the source's cat, and two of the ten
BAR = 0.9
FRESH = "ten fresh combinations"
Combination = tuple[int, int, int]


@dataclass(frozen=True)
class Sets:
    """Views of an object (20, 1024), and a person's faces (m, 10304), both in order."""

    views: Any
    faces: Any

    @property
    def n(self) -> int:
        """Rows of both."""
        return len(self.views) + len(self.faces)

    def relations(self) -> dict[str, Relation]:
        seen, last = len(self.views), self.n - 1
        return {
            "class": Relation.from_labels(np.arange(self.n) >= seen),
            "coil": Relation.from_data(self.views, np.arange(seen), n_samples=self.n),
            "umist": Relation.from_data(self.faces, np.arange(seen, self.n), n_samples=self.n),
            "anchors": Relation.from_pairs([[0, seen], [seen - 1, last]], self.n),
        }

    def fitted(self, **choices: Any) -> Any:
        return MultipleRelationalEmbedding(2, n_jobs=1, **choices).fit(None, relations=self.relations())

    def on_the_map(self, model: Any) -> Any:
        """For each view the nearest face, the axis of the class aside (20,)."""
        kept = 1.0 - model.relation_shares_[model.relation_names_.index("class")]
        Z = model.embedding_ * kept
        views, faces = Z[: len(self.views)], Z[len(self.views) :]
        return ((views[:, None] - faces[None]) ** 2).sum(axis=2).argmin(axis=1)

    def pictures(self, model: Any) -> Any:
        """For each view the picture of a face (20, 10304)."""
        Z = model.embedding_[: len(self.views)]
        return model.inverse_transform(Z, relation="umist", ignore="class")

    def by_picture(self, model: Any) -> Any:
        """For each view the face that its picture is most like (20,)."""
        made = self.pictures(model)
        return np.array([((self.faces - one) ** 2).sum(axis=1).argmin() for one in made])


@cache
def _coil() -> Any:
    return load_coil20(SIDE)


@cache
def _umist() -> Any:
    return load_umist()


def sets(thing: int, person: int, first: int) -> Sets:
    """Successive views of an object from ``first`` on, and the whole sweep of a person."""
    coil, umist = _coil(), _umist()
    step = (coil.factors["view"] - first) % TURN
    views = np.flatnonzero((coil.factors["object_index"] == thing) & (step < VIEWS))
    faces = np.flatnonzero(umist.factors["person"] == person)
    views, faces = views[np.argsort(step[views])], faces[np.argsort(umist.factors["frame"][faces])]
    return Sets(coil.X[views], umist.X[faces])


def order(matched: Any) -> float:
    """Spearman between the angle of a view and the place of its face in the sweep (0 where all faces are one)."""
    return float(spearmanr(np.arange(len(matched)), matched)[0]) if np.ptp(matched) else 0.0


def combinations() -> list[Combination]:
    """Ten, fixed before anything was fitted."""
    return [(thing, person, 7 * k) for k, (thing, person) in enumerate(zip(OBJECTS, PEOPLE, strict=True))]


def fresh() -> list[Combination]:
    """Ten others, first fitted when nothing was changed any more."""
    pairs = enumerate(zip(OBJECTS, FRESH_PEOPLE, strict=True))
    return [(thing, person, (7 * k + TURN // 2) % TURN) for k, (thing, person) in pairs]


def run() -> Outcome:
    ten = [sets(*one) for one in combinations()]
    ways = {
        "ours": [one.fitted() for one in ten],
        "random start": [one.fitted(init="random", random_state=k) for k, one in enumerate(ten)],
    }
    outcome = Outcome(
        f"{VIEWS} successive views (95°) of a COIL-20 object at {SIDE} × {SIDE}, and the sweep of a UMIST person "
        "from profile to front (22 to 38 pictures of 112 × 92); 2-D, defaults, no common data: relations within "
        "each set, which set, and two pairs (first with first, last with last). Ten combinations, fixed before the "
        "first fit: the ten objects that vary most over a turn, with the first ten people who turn once only, from "
        "view 0, 7, ..., 63.",
        _draw([sets(*one) for one in SHOWN]),
        "Pictures of faces made from the places of object views on the map, the axis of the class ignored (every "
        "second view; the ends were said to correspond). Left: the map; views and faces, each joined in order, the "
        "two pairs dashed. The cat is the source's object; the others are two of the ten.",
    )
    for way, models in ways.items():
        _compare(outcome, way, ten, models)
    others = [sets(*one) for one in fresh()]
    _compare(outcome, FRESH, others, [one.fitted() for one in others])
    cat = sets(*SHOWN[0])
    outcome.note(
        "the source's cat (object 3, person 12): nearest on the map", order(cat.on_the_map(cat.fitted())), "a picture"
    )
    outcome.notes += _NOTES
    outcome.details["combinations (object, person, first view)"] = combinations()
    return outcome


def _compare(outcome: Outcome, way: str, ten: Sequence[Sets], models: Sequence[Any]) -> None:
    measured = {
        "nearest face on the map": [order(one.on_the_map(m)) for one, m in zip(ten, models, strict=True)],
        "nearest face to the picture made": [order(one.by_picture(m)) for one, m in zip(ten, models, strict=True)],
    }
    for name, values in measured.items():
        if way == "ours":
            outcome.at_least(
                f"{name}: Spearman with the angle, median of ten", float(np.median(values)), BAR, "a picture"
            )
        else:
            outcome.note(f"{way}: {name}, median", float(np.median(values)), "-")
        outcome.note(f"{way}: {name}, worst", min(values), "-")
    outcome.details[way] = measured


_NOTES = [
    "The ten were fixed before the first fit, and measured several times while the method was being finished: "
    "median 0.92, then 0.88, then the first line above, after perplexity and neighbours of small sets had been held "
    "to a fifth and a quarter of their rows. Hence the ten fresh ones: other people, the objects half a turn on, "
    "run only after that.",
    "People 1, 6, 8 and 13 of UMIST turn more than once and were left out (by looking at the pictures). Objects that "
    "look the same from all sides have no angle to find; the ten are those with the largest variance about their mean "
    "picture.",
    "The ends of a set are not always the ends of its line on the map: some lines bend back there, and the pictures "
    "made from the last views are blurs of several faces, or the same one.",
]


def _draw(shown: Sequence[Sets]) -> Any:
    with house_style() as plt:
        figure = plt.figure(figsize=(9.8, 2.08 * len(shown)))
        for part, one in zip(figure.subfigures(len(shown), 1), shown, strict=True):
            model = one.fitted()
            left, right = part.subplots(1, 2, width_ratios=(1.0, 4.1))
            _map(left, one, model)
            chosen = np.arange(0, VIEWS, 2)
            _sheet(right, one.views[chosen].reshape(-1, SIDE, SIDE), one.pictures(model)[chosen].reshape(-1, 112, 92))
            right.set_title(f"Spearman {order(one.on_the_map(model)):.2f}")
    return figure


def _map(ax: Any, one: Sets, model: Any) -> None:
    bare(ax)
    ax.set_aspect("auto")
    Z, m = model.embedding_, len(one.views)
    ax.plot(*Z[:m].T, "-o", color=COLOURS[0], markersize=2.4, linewidth=0.7, label="object")
    ax.plot(*Z[m:].T, "-s", color=COLOURS[1], markersize=2.4, linewidth=0.7, label="face")
    for pair in ((0, m), (m - 1, one.n - 1)):
        ax.plot(*Z[list(pair)].T, "--", color=GREY, linewidth=0.8)
    ax.legend(loc="best")


def _sheet(ax: Any, views: Any, faces: Any) -> None:
    """Views above, the faces made from their places below."""
    wide = faces.shape[2]
    grown = np.stack([_fitted_to(view, wide) for view in views])
    rows = [np.hstack(list(np.pad(part, ((0, 0), (2, 2), (2, 2)), constant_values=255))) for part in (grown, faces)]
    ax.imshow(np.vstack(rows), cmap="gray", vmin=0, vmax=255, interpolation="nearest")
    ax.axis("off")


def _fitted_to(view: Any, wide: int) -> Any:
    """A square picture, its pixels repeated to another size."""
    place = np.arange(wide) * len(view) // wide
    return view[np.ix_(place, place)]

"""S0 section 4.3.1, fig. 4.3: a turning object and a turning head in one map, from two pairs that correspond."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np
from scipy.stats import spearmanr
from sklearn.exceptions import ConvergenceWarning

from reproductions.figures import COLOURS, GREY, bare, house_style
from reproductions.harness import Outcome
from sidelight import MultipleRelationalEmbedding, Relation
from sidelight.datasets import load_coil20, load_umist

TITLE = "Correspondences of objects and faces from two pairs"
SOURCE = "S0 (Memisevic 2007), section 4.3.1, fig. 4.3"
VIEWS, TURN, SIDE = 20, 72, 32
SOURCE_SIDE, SIGMA2, ITERATIONS, STARTS = 128, 5e7, 500, tuple(range(10))
OBJECTS = (5, 2, 18, 1, 4, 8, 17, 9, 6, 0)
PEOPLE = (0, 2, 3, 4, 5, 7, 9, 10, 11, 12)
FRESH_PEOPLE = (14, 15, 16, 17, 18, 19, 0, 2, 3, 4)  # with the same objects, half a turn on
SHOWN = ((3, 12, 0), (18, 3, 14), (6, 11, 56))  # the source's cat, and two of the ten
BAR = 0.9
FRESH = "ten fresh combinations"
Combination = tuple[int, int, int]


@dataclass(frozen=True)
class Sets:
    """Views of an object (20, pixels), and a person's faces (m, 10304), both in order."""

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

    @property
    def ends(self) -> tuple[list[int], list[int]]:
        """Rows of the two pairs: first with first, last with last."""
        return [0, len(self.views)], [len(self.views) - 1, self.n - 1]

    def fitted(self, **choices: Any) -> Any:
        return MultipleRelationalEmbedding(2, n_jobs=1, **choices).fit(None, relations=self.relations())

    def fitted_to_single_pairs(self) -> Any:
        """Our defaults with a relation for each pair, where ``fitted`` has one for both."""
        relations = self.relations()
        del relations["anchors"]
        return MultipleRelationalEmbedding(2, n_jobs=1).fit(None, relations=relations | self._tied())

    def as_published(self, seed: int, pairs: str) -> Any:
        """The source's model from noise; ``pairs``: "learned" (the source's), "tied" (``from_pairs``) or "none"."""
        relations = {name: one for name, one in self.relations().items() if name == "class"}
        for name, X, rows in (
            ("coil", self.views, np.arange(len(self.views))),
            ("umist", self.faces, np.arange(len(self.views), self.n)),
        ):
            relations[name] = Relation.from_data(X, rows, n_samples=self.n, bandwidth=SIGMA2)
        relations |= {"learned": self._learned, "tied": self._tied, "none": dict}[pairs]()
        model = MultipleRelationalEmbedding(2, init="random", random_state=seed, max_iter=ITERATIONS, n_jobs=1)
        with catch_warnings():
            simplefilter("ignore", ConvergenceWarning)  # where the source's number of iterations ends it
            simplefilter("ignore", UserWarning)  # in Relation.from_matrix every row is alike, as in the source
            return model.fit(None, relations=relations)

    def _learned(self) -> dict[str, Relation]:
        """P¹ and P²: 2 × 2 matrices of ½, each with a learned R."""
        half = np.full((2, 2), 0.5)
        return {f"pair {k}": Relation.from_matrix(half, rows, n_samples=self.n) for k, rows in enumerate(self.ends)}

    def _tied(self) -> dict[str, Relation]:
        return {f"pair {k}": Relation.from_pairs([rows], self.n) for k, rows in enumerate(self.ends)}

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
def _coil(side: int) -> Any:
    return load_coil20(side)


@cache
def _umist() -> Any:
    return load_umist()


def sets(thing: int, person: int, first: int, side: int = SIDE) -> Sets:
    """Successive views of an object from ``first`` on, and the whole sweep of a person."""
    coil, umist = _coil(side), _umist()
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
        "from profile to front (22 to 38 pictures of 112 × 92); 2-D, our defaults, no common data: relations within "
        "each set, which set, and two pairs (first with first, last with last). Ten combinations, fixed before the "
        "first fit: the ten objects that vary most over a turn, with the first ten people who turn once only, from "
        "view 0, 7, ..., 63. First, the source's setting: views of 128 × 128, σ² = 5·10⁷ for both sets, two relations "
        "of one pair (2 × 2 matrices of ½, R learned), Z and R begun with small noise, 500 iterations; on the cat from "
        "ten starts, and on the ten combinations.",
        _draw([sets(*one) for one in SHOWN]),
        "Pictures of faces made from the places of object views on the map, the axis of the class ignored (every "
        "second view; the ends were said to correspond). Left: the map; views and faces, each joined in order, the "
        "two pairs dashed. The cat is the source's object; the others are two of the ten.",
    )
    _compare_published(outcome)
    for way, models in ways.items():
        _compare(outcome, way, ten, models)
    _compare(outcome, "ours, a relation for each pair", ten, [one.fitted_to_single_pairs() for one in ten])
    others = [sets(*one) for one in fresh()]
    _compare(outcome, FRESH, others, [one.fitted() for one in others])
    cat = sets(*SHOWN[0])
    outcome.note(
        "the source's cat (object 3, person 12): nearest on the map", order(cat.on_the_map(cat.fitted())), "a picture"
    )
    outcome.notes += _NOTES
    outcome.details["combinations (object, person, first view)"] = combinations()
    return outcome


def _compare_published(outcome: Outcome) -> None:
    """The source's setting: the cat from ten starts, and our ten combinations from one each."""
    cat = sets(*SHOWN[0], SOURCE_SIDE)
    ten = [sets(*one, SOURCE_SIDE) for one in combinations()]
    for label, pairs in (
        ("source's setting", "learned"),
        ("the same, pairs seen through the other R (`from_pairs`)", "tied"),
        ("the same, no pairs", "none"),
    ):
        found = {
            "the cat, ten starts": [order(cat.on_the_map(cat.as_published(seed, pairs))) for seed in STARTS],
            "ten combinations": [order(one.on_the_map(one.as_published(k, pairs))) for k, one in enumerate(ten)],
        }
        for name, values in found.items():
            source = "a picture" if pairs == "learned" else "-"
            outcome.note(f"{label}: {name}: Spearman with the angle, median", float(np.median(values)), source)
            outcome.note(f"{label}: {name}: worst", min(values), "-")
            outcome.note(f"{label}: {name}: share above 0.5", float(np.mean(np.array(values) > 0.5)), "-")
        outcome.details[label] = found


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
    "In the source's setting the claim holds with luck: the cat is matched in order (above 0.5) from six starts of "
    "ten, our ten combinations from five (without the pairs: two and one, so that the pairs do matter). A relation of "
    "one pair with an R of its own is satisfied by R = 0, wherever the two pictures are, and its R only shrinks. With "
    "`Relation.from_pairs` the pair sees the map through the R of the other relations, and from the same noise the "
    "cat is matched from ten starts of ten, the combinations from nine: it is not the random start that is to blame. "
    "Our defaults, with another kernel and another start, do better still; σ² = 5·10⁷ is more than the largest "
    "squared distance between two pictures of most people, so that all are nearly alike.",
    "Source's setting: which person, views and pictures the source took is not said. Noise of size 0.1 (the source: "
    "small); L-BFGS (the source: conjugate gradients). On the map, the axis of the class is ignored by its share, "
    "where the source multiplies by the inverse of R of the class: to the same effect where the class has one axis.",
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

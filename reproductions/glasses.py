"""S0 fig. 3.10: people who never wear glasses, rendered with glasses.

Two questions are asked of a rendering: does it show glasses, and does it still show the same person? The source's is
the forward map at the person's place, with the variable "has glasses" at a positive value: a convex combination

    x' = Σ_j k(z, z_j) k(g, g_j) x_j / Σ_j k(z, z_j) k(g, g_j)

of pictures, near that value the picture itself, and far above it a mixture of the people who wear glasses. The smallest
change keeps the picture and borrows the glasses alone,

    x' = x + (mean with - mean without) + Σ_j w_j(z) (x̃_j - P x̃_j)

over the wearers j near the person's place z. x̃ is the residual of the model (the row less the mean of its group), w the
latent kernel, and P projects on the span of the residuals of all who do not wear glasses: what is left of a wearer is
what nobody without glasses can show.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist
from sklearn.model_selection import LeaveOneGroupOut, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from reproductions.figures import COLOURS, GREY, house_style
from reproductions.harness import Outcome
from sidelight import Annealing, Conditioning, KernelInformationEmbedding
from sidelight.datasets import Dataset, load_olivetti
from sidelight.maps.kernel_map import KernelMap
from sidelight.maps.weights import FixedWeights

TITLE = "Giving people glasses"
SOURCE = "S0 (Memisevic 2007), section 3.2, fig. 3.10"
DIMENSIONS, SHOWN, EYES = 20, 8, slice(6, 34)
PICTURES = 10
FIRST = "the smallest change"


@dataclass(frozen=True)
class Verdict:
    """What the classifiers say of renderings: wears glasses (m,), is still the same person (m,)."""

    glasses: Any
    person: Any

    @property
    def shares(self) -> tuple[float, float, float]:
        """Of the renderings with glasses, of the same person, of both."""
        both = self.glasses & self.person
        return float(self.glasses.mean()), float(self.person.mean()), float(both.mean())


def run() -> Outcome:
    data = load_olivetti()
    faces, rows = data.X, without(data)
    source = source_renderings(data, rows)
    model = KernelInformationEmbedding(DIMENSIONS).fit(faces, given=data.factors["glasses"])
    product = KernelInformationEmbedding(DIMENSIONS, conditioning="product").fit(faces, given=data.factors["glasses"])
    asked, as_it_is = np.ones(len(rows), dtype=bool), np.zeros(len(rows), dtype=bool)
    place = model.transform(faces[rows], given=as_it_is)
    change = model.inverse_transform(place, given=asked) - model.inverse_transform(place, given=as_it_is)
    borrow = partial(smallest_change, data, model.embedding_, faces[rows], place)
    around = {h: faces[rows] + difference(data, model.embedding_, place, h) for h in (2, 4, 8)}
    renderings = {
        **source,
        FIRST: borrow(),
        "the smallest change, half the bandwidth": borrow(0.5),
        "counterfactual, our defaults": model.counterfactual(faces[rows], given=asked),
        "counterfactual, the product of kernels, otherwise our defaults": product.counterfactual(
            faces[rows], given=asked
        ),
        "x + m(z, glasses) - m(z, none)": faces[rows] + change,
        **{f"x + difference of the groups around z, bandwidth {h}": made for h, made in around.items()},
        "x + the mean difference of the groups": faces[rows] + _difference_of_means(data),
        "denoise, nothing changed": model.denoise(faces[rows], given=as_it_is),
        "the pictures as they are": faces[rows],
    }
    ask = Judges.taught(data)
    verdicts = {name: ask(rows, pictures) for name, pictures in renderings.items()}
    outcome = Outcome(
        "Olivetti, 400 pictures at 64 × 64, given = glasses (119 pictures; 7 people with and without), 20 latent "
        "dimensions; rendered are all 250 pictures of the 25 people who never wear them. Source's setting: raw "
        "pixels, has glasses as a number (1 or 0) under a Gaussian of variance 1, the product of kernels both ways, "
        "second-power penalty, small random start; not given, and chosen here: h (0.3 of the median squared "
        "distance; by leave-one-out, the source's rule, it is 851, where no two pictures are neighbours), λ (0.6 "
        "without annealing, as in fig. 3.8, and 0.01 annealed from 1 by 0.8), and the positive value (1, 4 and 8). "
        "Ours: defaults. Glasses: a linear SVM on edges around the eyes, trained on real pictures of the other "
        "people; person: a linear SVM on the pixels, trained on nine real pictures of each of the 40 people, not on "
        "the one that is rendered.",
        _draw(data, rows, renderings, verdicts),
        "The first picture of the first eight people who never wear glasses (first line), rendered with glasses. "
        "Second and third line: source's setting (λ = 0.6) with the variable at 1 and at 4. Fourth: the smallest "
        "change, the glasses of the wearers nearest in the latent space, without what the faces of others can show. "
        "Fifth: counterfactual with our defaults, a mixture of wearers. Sixth: the mean difference of the groups added "
        "to the picture. Dots: the classifiers see glasses (left) and the same person (right).",
    )
    _compare(outcome, data, verdicts)
    return outcome


def source_renderings(data: Dataset, rows: Any) -> dict[str, Any]:
    """Renderings in the source's setting, by the λ and the positive value of the variable, which are not given."""
    far = pdist(data.X, "sqeuclidean")
    schedules = {"λ = 0.6": Annealing(0.6, start=0.6), "λ annealed to 0.01": Annealing(0.01, start=1.0, decay=0.8)}
    made = {}
    for name, schedule in schedules.items():
        model = KernelInformationEmbedding(
            DIMENSIONS,
            bandwidth=0.3 * float(np.median(far)),
            latent_kernel="gaussian",
            penalty="l2",
            regularization=schedule,
            init="random",
            random_state=0,
            conditioning=Conditioning("product", types="number", bandwidth=np.sqrt(2.0)),  # exp(-|a - b|² / 2)
        ).fit(data.X, given=data.factors["glasses"].astype(float))
        for value in (1.0, 4.0, 8.0):
            found = model.counterfactual(data.X[rows], given=value)
            made[f"source's setting, {name}, glasses = {value:g}"] = found
    return made


def without(data: Dataset) -> Any:
    """Rows of the people who never wear glasses."""
    glasses, person = data.factors["glasses"], data.factors["person"]
    return np.flatnonzero(~np.isin(person, person[glasses]))


def smallest_change(data: Dataset, Z: Any, pictures: Any, place: Any, bandwidth: float = 1.0) -> Any:
    """Pictures (m, d) of people without glasses whose latent points are ``place``, with borrowed glasses.

    ``Z`` are the latent points of the rows of ``data``; 1 is the bandwidth of the latent kernel.
    """
    glasses = data.factors["glasses"]
    rest = {worn: data.X[glasses == worn] - data.X[glasses == worn].mean(axis=0) for worn in (True, False)}
    own = _not_shown(rest[True], rest[False])
    return pictures + _difference_of_means(data) + _smoothed(Z[glasses], own, place, bandwidth)


def borrowed_glasses(data: Dataset, model: KernelInformationEmbedding, pictures: Any, place: Any) -> Any:
    """The smallest change, kept to the pixels that it is about, as ``counterfactual(..., residual="row")`` has it."""
    del data, place
    return model.counterfactual(pictures, given=True, given_now=False, residual="row")


def _borrowed_from_many(data: Dataset, model: KernelInformationEmbedding, pictures: Any, place: Any) -> Any:
    return smallest_change(data, model.embedding_, pictures, place)


def _not_shown(rows: Any, others: Any) -> Any:
    """What is left of rows (m, d) without the span of others."""
    span = np.linalg.svd(others, full_matrices=False)[2][:-1]
    return rows - rows @ span.T @ span


def difference(data: Dataset, Z: Any, place: Any, bandwidth: float) -> Any:
    """The mean row with glasses around each place, less the mean row without (m, d)."""
    groups = (data.factors["glasses"] == worn for worn in (True, False))
    worn, not_worn = (_smoothed(Z[rows], data.X[rows], place, bandwidth) for rows in groups)
    return worn - not_worn


def _smoothed(Z: Any, rows: Any, place: Any, bandwidth: float) -> Any:
    return KernelMap(FixedWeights(Z, bandwidth, "gaussian"), rows)(place)


def _difference_of_means(data: Dataset) -> Any:
    glasses = data.factors["glasses"]
    return data.X[glasses].mean(axis=0) - data.X[~glasses].mean(axis=0)


@dataclass(frozen=True)
class Judges:
    """Classifiers taught on real rows: of glasses, by the person who is rendered; of people, by the picture that is."""

    data: Dataset
    of_glasses: Mapping[int, Any]
    of_people: Sequence[Any]

    @classmethod
    def taught(cls, data: Dataset, teachers: Any = None) -> Judges:
        """Judges for people who never wear glasses; ``teachers``: rows that may teach what glasses are."""
        glasses, person = data.factors["glasses"], data.factors["person"]
        teachers = np.arange(len(data.X)) if teachers is None else teachers
        edges, number = edge_strength(data.X), np.arange(len(data.X)) % PICTURES
        of_glasses = {}
        for who in np.unique(person[without(data)]):
            others = teachers[person[teachers] != who]
            of_glasses[int(who)] = _spectacles().fit(edges[others], glasses[others])
        rest = [np.flatnonzero(number != left_out) for left_out in range(PICTURES)]
        return cls(data, of_glasses, [SVC(kernel="linear").fit(data.X[some], person[some]) for some in rest])

    def __call__(self, rows: Any, renderings: Any) -> Verdict:
        """What they say of renderings of ``rows``."""
        person, number, edges = self.data.factors["person"][rows], rows % PICTURES, edge_strength(renderings)
        seen, same = np.zeros(len(rows), dtype=bool), np.zeros(len(rows), dtype=bool)
        for who in np.unique(person):
            seen[person == who] = self.of_glasses[int(who)].predict(edges[person == who])
        for left_out in np.unique(number):
            mine = number == left_out
            same[mine] = self.of_people[left_out].predict(renderings[mine]) == person[mine]
        return Verdict(seen, same)


def edge_strength(pictures: Any) -> Any:
    """Mean absolute differences across and down in cells of two by two pixels around the eyes, contrast removed."""
    eyes = pictures.reshape(-1, 64, 64)[:, EYES]
    eyes = eyes / eyes.std(axis=(1, 2), keepdims=True)
    across, down = np.abs(np.diff(eyes, axis=2))[:, :, :62], np.abs(np.diff(eyes, axis=1))[:, :26]
    cells = [part.reshape(len(eyes), part.shape[1] // 2, 2, -1, 2).mean(axis=(2, 4)) for part in (across, down)]
    return np.hstack([part.reshape(len(eyes), -1) for part in cells])


def _spectacles() -> Any:
    return make_pipeline(StandardScaler(), SVC(kernel="linear", C=1e-3, class_weight="balanced"))


def strangers(
    data: Dataset, change: Any = _borrowed_from_many, halves: Sequence[int] = (0, 1)
) -> tuple[Verdict, float]:
    """Nobody knows too much: the embedding has not seen the people it renders, nor the classifier those who lend.

    The people, sorted by how often they wear glasses, are dealt into two halves. One half makes the embedding and lends
    its glasses to the people of the other who never wear them; the others there teach what glasses are. Returned too:
    how often those classifiers are right about real pictures of unseen people.
    """
    glasses, person = data.factors["glasses"], data.factors["person"]
    order = np.argsort(-np.bincount(person, weights=glasses), kind="stable")
    seen, same, right = [], [], []
    for half in halves:
        lenders, others = (np.flatnonzero(np.isin(person, order[part::2])) for part in (half, 1 - half))
        lending = data.take(lenders)
        model = KernelInformationEmbedding(DIMENSIONS).fit(lending.X, given=lending.factors["glasses"])
        rows = np.intersect1d(without(data), others)
        place = model.transform(data.X[rows], given=np.zeros(len(rows), dtype=bool))
        renderings = change(lending, model, data.X[rows], place)
        verdict = Judges.taught(data, others)(rows, renderings)
        seen.append(verdict.glasses)
        same.append(verdict.person)
        right.append(_real_accuracy(data.take(others)))
    return Verdict(np.concatenate(seen), np.concatenate(same)), float(np.mean(right))


def _real_accuracy(data: Dataset) -> float:
    glasses, person = data.factors["glasses"], data.factors["person"]
    told = cross_val_predict(_spectacles(), edge_strength(data.X), glasses, groups=person, cv=LeaveOneGroupOut())
    return float(np.mean(told == glasses))


def _compare(outcome: Outcome, data: Dataset, verdicts: dict[str, Verdict]) -> None:
    strange, accuracy = strangers(data)
    picture = "eight pictures"
    for name, verdict in verdicts.items():
        if name.startswith("source"):
            for what, share in zip(("glasses", "same person", "both"), verdict.shares, strict=True):
                outcome.note(f"{name}: {what}", share, "-" if what == "both" else picture)
    outcome.at_least(f"{FIRST}: glasses", verdicts[FIRST].shares[0], 0.8, picture)
    outcome.at_least(f"{FIRST}: same person", verdicts[FIRST].shares[1], 0.8, picture)
    for name, verdict in verdicts.items():
        for what, share in zip(("glasses", "same person", "both"), verdict.shares, strict=True):
            if not name.startswith("source") and (name != FIRST or what == "both"):
                outcome.note(f"{name}: {what}", share, "-")
    for what, share in zip(("glasses", "same person", "both"), strange.shares, strict=True):
        outcome.note(f"{FIRST}, people and lenders unseen: {what}", share, "-")
    for half, used in ((0, "chosen on"), (1, "not used for any choice")):
        shares = strangers(data, borrowed_glasses, (half,))[0].shares
        for what, share in zip(("glasses", "same person", "both"), shares, strict=True):
            outcome.note(f"kept to its pixels, people and lenders unseen, half {half} ({used}): {what}", share, "-")
    outcome.note("the glasses classifier on real pictures of unseen people", _real_accuracy(data), "-")
    outcome.note("the same, of half the people", accuracy, "-")
    outcome.details["shares"] = {name: verdict.shares for name, verdict in verdicts.items()}
    outcome.notes += _NOTES


_NOTES = [
    "Source's setting: the figure does not come out. With the variable at 1 the person's own picture keeps most of "
    "the weight (the kernel of the variable is 0.6 between 0 and 1), and nobody gets glasses; at 4 the wearers alone "
    "count, so many of them that their mean has faint glasses, which the classifier does not see, and another face. "
    "Where the map is wider (λ annealed to 0.01), the person's own picture keeps its weight at 4, too. The source "
    "shows eight pictures and no number, and gives neither h nor λ nor the value.",
    "counterfactual with our defaults gives glasses, but not to that person: a mixture of the 15 people who wear them "
    "is recognised as one of them.",
    "x + m(z, glasses) - m(z, none) is no way out: where the kernel is narrow, the difference of the two means is that "
    "of two faces; where it is wide, the glasses of many are a grey haze.",
    "The smallest change has nothing to choose: the latent bandwidth is that of the model and the projection is "
    "complete. The bars (0.8) were set after a first look with another classifier of people. It is made here of the "
    "model's places and the rows; it is not what counterfactual does, because it keeps all of a row that it can: where "
    "the whole row changes with what is given, as a car does, keeping is wrong (see the turntable objects).",
    "People and lenders unseen: the embedding is fitted on half the people, whose glasses are borrowed by those of the "
    "other half, which alone teach the classifier of glasses.",
]


def _draw(data: Dataset, rows: Any, renderings: dict[str, Any], verdicts: dict[str, Verdict]) -> Any:
    lines = {
        "as they are": "the pictures as they are",
        "source's\nsetting, 1": "source's setting, λ = 0.6, glasses = 1",
        "source's\nsetting, 4": "source's setting, λ = 0.6, glasses = 4",
        "smallest\nchange": FIRST,
        "counter-\nfactual": "counterfactual, our defaults",
        "mean\ndifference": "x + the mean difference of the groups",
    }
    chosen = np.unique(data.factors["person"][rows], return_index=True)[1][:SHOWN]
    with house_style() as plt:
        figure, axes = plt.subplots(len(lines), SHOWN, figsize=(7.6, 6.0))
        figure.get_layout_engine().set(w_pad=0.01, h_pad=0.01, wspace=0.02, hspace=0.01)
        for line, (label, name) in zip(axes, lines.items(), strict=True):
            line[0].set_ylabel(label, rotation=0, ha="right", va="center")
            for ax, k in zip(line, chosen, strict=True):
                ax.imshow(renderings[name][k].reshape(data.image_shape), cmap="gray", vmin=0, vmax=255)
                ax.set(xticks=[], yticks=[])
                ax.spines[:].set_visible(False)
                _dots(ax, verdicts[name].glasses[k], verdicts[name].person[k])
        return figure


def _dots(ax: Any, *told: bool) -> None:
    for place, (yes, colour) in enumerate(zip(told, COLOURS, strict=False)):
        ax.plot(
            0.42 + 0.16 * place,
            -0.07,
            "o",
            transform=ax.transAxes,
            clip_on=False,
            markersize=4,
            color=colour if yes else "none",
            markeredgecolor=colour if yes else GREY,
            markeredgewidth=0.7,
        )

"""S4 chapter 3: a metric learned from hints goes before an embedding, which then shows the attribute.

Hints: all pairs (labels), four same pairs and one different, or thirty distances of the metric of all pairs. The
embedding is told nothing. Its neighbour hit of the attribute is compared with that of the embedding of the data.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.manifold import Isomap, LocallyLinearEmbedding, SpectralEmbedding

from reproductions.figures import COLOURS, GREY, INK, bare, house_style
from reproductions.harness import Outcome
from sidelight import DistanceMetric, EquivalenceMetric, MultiAttributeMetric, SemidefiniteEmbedding
from sidelight.datasets import load_olivetti, load_yaleb
from sidelight.evaluate import neighbour_hit

TITLE = "Attributes of faces from a few hints"
SOURCE = "S4 (Ghodsi 2005), chapter 3, figs. 3.1 to 3.8 and 3.11 to 3.15"
DRAWS, SAME, DIFFERENT, DISTANCES, RANK = 20, 4, 1, 30, 2
WEIGHT = 30  # of the prior, in pairs: hints are taken at their word, where the default may leave the metric alone
CONDITIONS = ("plain", "all pairs", "4 + 1 pairs", "30 distances")
EMBEDDINGS: dict[str, Callable[[], Any]] = {
    "MDS": lambda: PCA(2),  # classical scaling of straight distances
    "Isomap": lambda: Isomap(n_neighbors=10, eigen_solver="dense"),
    "LEM": lambda: SpectralEmbedding(n_neighbors=10, affinity="nearest_neighbors", random_state=0),
    "LLE": lambda: LocallyLinearEmbedding(n_neighbors=10, eigen_solver="dense"),
    "SDE": lambda: SemidefiniteEmbedding(n_neighbors=10, max_iter=200, n_jobs=1),
}


@dataclass(frozen=True)
class Attribute:
    """Pictures X (n, d) and what is to be seen of them (n,)."""

    name: str
    X: Any
    labels: Any


def run() -> Outcome:
    attributes = faces()
    hits = {attribute.name: measured(attribute) for attribute in attributes}
    outcome = Outcome(
        "Olivetti, every second picture (200): glasses. Extended Yale B, four people under 64 lights at 32 × 32 (256): "
        "the person; the side of the light (left, front, right). EquivalenceMetric, rank "
        f"{RANK} for all pairs and of full rank for 4 + 1, DistanceMetric of rank {RANK}; a prior "
        f"of {WEIGHT} pairs, that of the smallest trace for distances; 2-D "
        "embeddings of scikit-learn and our SDE, 10 neighbours; hit of 10 neighbours. Mean over 20 draws of the pairs; "
        "the 30 distances are those of the metric of all pairs, as in the source.",
        _draw(attributes, hits),
        "Isomap of the data, and of the data under a metric learned from hints (first draw), coloured by the "
        "attribute; right: neighbour hit of the attribute, five embeddings, mean and standard deviation over 20 draws. "
        "Large dots: all pairs; the plain embedding is the grey bar.",
    )
    _compare(outcome, attributes, hits)
    return outcome


def faces() -> list[Attribute]:
    olivetti, yale = load_olivetti(), load_yaleb()
    some = yale.factors["person"] < 4
    azimuth = yale.factors["light_azimuth_elevation"][some, 0]
    return [
        Attribute("glasses", olivetti.X[::2], olivetti.factors["glasses"][::2].astype(int)),
        Attribute("person", yale.X[some], yale.factors["person"][some]),
        Attribute("light", yale.X[some], np.digitize(azimuth, [-30, 30])),
    ]


def informed(attribute: Attribute, condition: str, draw: int) -> Any:
    """The pictures under the metric of a condition."""
    X, labels = attribute.X, attribute.labels
    if condition == "plain":
        return X
    everything = EquivalenceMetric(RANK, regularization=WEIGHT).fit(X, labels)
    if condition == "all pairs":
        return everything.transform(X)
    rng = np.random.default_rng(draw)
    if condition == "4 + 1 pairs":
        same, different = hints(labels, SAME, DIFFERENT, rng)
        return EquivalenceMetric(regularization=WEIGHT).fit(X, same=same, different=different).transform(X)
    pairs = np.array([rng.choice(len(X), 2, replace=False) for _ in range(DISTANCES)])
    known = everything.pair_distance(X, pairs=pairs)
    return DistanceMetric(RANK, prior="trace").fit(X, pairs=pairs, distances=known).transform(X)


def hints(labels: Any, same: int, different: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """Random pairs of equal and of unequal labels, none twice."""
    found: dict[bool, set[tuple[int, int]]] = {True: set(), False: set()}
    wanted = {True: same, False: different}
    while any(len(found[kind]) < wanted[kind] for kind in found):
        i, j = sorted(rng.choice(len(labels), 2, replace=False).tolist())
        kind = bool(labels[i] == labels[j])
        if len(found[kind]) < wanted[kind]:
            found[kind].add((i, j))
    return np.array(sorted(found[True])), np.array(sorted(found[False]))


def measured(attribute: Attribute) -> dict[str, dict[str, Any]]:
    """Neighbour hits (draws,) by embedding and condition."""
    hits: dict[str, dict[str, list[float]]] = {name: {c: [] for c in CONDITIONS} for name in EMBEDDINGS}
    for condition in CONDITIONS:
        for draw in range(DRAWS if condition in CONDITIONS[2:] else 1):
            points = informed(attribute, condition, draw)
            for name in EMBEDDINGS:
                hits[name][condition].append(neighbour_hit(embedded(name, points), attribute.labels))
    return {name: {c: np.array(values) for c, values in by.items()} for name, by in hits.items()}


def embedded(name: str, points: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # classes far apart make graphs of several pieces
        return EMBEDDINGS[name]().fit_transform(points)


def _compare(outcome: Outcome, attributes: list[Attribute], hits: dict[str, Any]) -> None:
    for attribute in attributes:
        for name, by in hits[attribute.name].items():
            plain = float(by["plain"][0])
            source = "a picture" if attribute.name == "glasses" else "-"
            what = f"{attribute.name}, {name}"
            outcome.note(f"{what}: hit without hints", plain, source)
            outcome.at_least(f"{what}: hit with all pairs", float(by["all pairs"][0]), round(plain, 4), source)
            for condition in CONDITIONS[2:]:
                outcome.note(f"{what}: hit with {condition}, mean of {DRAWS}", float(by[condition].mean()), source)
    for attribute in attributes:
        outcome.note(f"{attribute.name}: hit of the larger class alone", _largest(attribute.labels), "-")
        outcome.note(f"{attribute.name}: rows held out, metric of all pairs of the other half", _held_out(attribute))
    outcome.note("person and light together: hit of both, MDS, MultiAttributeMetric", _both(attributes), "a picture")
    outcome.details["hits"] = {
        a: {n: {c: v.tolist() for c, v in by.items()} for n, by in hits[a].items()} for a in hits
    }
    outcome.notes += list(_where_it_does_not_help(hits))


def _where_it_does_not_help(hits: dict[str, Any]) -> Iterator[str]:
    """Say for which attributes and embeddings few hints gain less than two standard errors, or lose."""
    for condition in CONDITIONS[2:]:
        gains, losses = [], []
        for attribute, by_name in hits.items():
            for name, by in by_name.items():
                change = by[condition] - by["plain"][0]
                error = float(change.std(ddof=1)) / np.sqrt(len(change))
                shown = f"{attribute} with {name} ({change.mean():+.2f})"
                (gains if change.mean() > 2 * error else losses).append(shown)
        yield f"{condition} help for: {'; '.join(gains) or 'none'}."
        yield f"{condition} do not help (mean change of the hit) for: {'; '.join(losses) or 'none'}."


def _largest(labels: Any) -> float:
    return float(np.bincount(labels).max() / len(labels))


def _held_out(attribute: Attribute) -> float:
    """Neighbour hit of rows that the metric has not seen, over five halves."""
    found = []
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(len(attribute.X))
        first, second = order[: len(order) // 2], order[len(order) // 2 :]
        model = EquivalenceMetric(RANK, regularization=WEIGHT).fit(attribute.X[first], attribute.labels[first])
        found.append(neighbour_hit(model.transform(attribute.X[second]), attribute.labels[second]))
    return float(np.mean(found))


def _both(attributes: list[Attribute]) -> float:
    """Hit of person and light at once, MDS of a MultiAttributeMetric told both."""
    person, light = attributes[1], attributes[2]
    labels = np.column_stack([person.labels, light.labels])
    points = MultiAttributeMetric(RANK).fit(person.X, labels).transform(person.X)
    return neighbour_hit(embedded("MDS", points), labels @ [3, 1])


def _draw(attributes: list[Attribute], hits: dict[str, Any]) -> Any:
    with house_style() as plt:
        figure, axes = plt.subplots(3, 5, figsize=(10.5, 6.4), width_ratios=[1, 1, 1, 1, 1.5])
        for row, attribute in zip(axes, attributes, strict=True):
            for ax, condition in zip(row, CONDITIONS, strict=False):
                _map(ax, attribute, condition)
            row[0].set_ylabel(attribute.name)
            _chart(row[4], hits[attribute.name])
        axes[0, 4].legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    return figure


def _map(ax: Any, attribute: Attribute, condition: str) -> None:
    Z = embedded("Isomap", informed(attribute, condition, 0))
    Z = (Z - Z.mean(axis=0)) / Z.std(axis=0)
    colours = [COLOURS[k] for k in attribute.labels]
    ax.scatter(*Z.T, c=colours, s=7, linewidths=0, alpha=0.8)
    hit = neighbour_hit(Z, attribute.labels)
    bare(ax, f"{condition}, hit {hit:.2f}")
    ax.set_aspect("auto")


def _chart(ax: Any, by_name: dict[str, Any]) -> None:
    places = np.arange(len(by_name))
    plain = [by["plain"][0] for by in by_name.values()]
    ax.barh(places, plain, height=0.7, color="#dddddd", label="plain")
    ax.scatter([by["all pairs"][0] for by in by_name.values()], places, color=INK, s=26, zorder=3, label="all pairs")
    for shift, condition, colour in ((-0.16, CONDITIONS[2], COLOURS[1]), (0.16, CONDITIONS[3], COLOURS[0])):
        means = [by[condition].mean() for by in by_name.values()]
        spreads = [by[condition].std() for by in by_name.values()]
        ax.errorbar(means, places + shift, xerr=spreads, fmt="o", ms=3.5, lw=1, color=colour, label=condition)
    ax.set(yticks=places, yticklabels=list(by_name), xlim=(0, 1.02), xlabel="neighbour hit")
    ax.invert_yaxis()
    ax.tick_params(length=2, color=GREY)

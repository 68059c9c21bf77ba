r"""The examples of LOO-map and scDEED, made again: which score finds the rows that a t-SNE map shows wrongly.

Sets and settings are those of the authors' scripts (``Example2GMM.R``, ``Comparison.R``, ``SimulatedStudy.R`` and the
README of neMDBD, for LOO-map; the section on *ifnb* of the README of scDEED), drawn anew: their draws, and the means
of the mixtures of five and eight components, are stored in files that are not to be had here. t-SNE runs as theirs do:
from the principal components, 1,000 steps, without early exaggeration.

A row is wrong, by one of three definitions, the first two of which are theirs or follow theirs:

    overconfident   the entropy of its component falls from the data to the map by more than log(2) / 2 nats
                    (mixtures; normal components with the means and variances of the columns, as in their script)
    torn            of the 10 rows truly nearest to it, one lies on the map farther away than a quarter of the map's
                    radius (root mean squared distance from its centre): a jump between nearby rows
    not right       as everywhere in this benchmark (``reliability_sets.right_rows``)

LOO-map's perturbation is asked with two lengths, 0.5 and 2, which they use; the better one counts, on each map.

    python -m benchmarks reliability_examples
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from scipy.stats import entropy, norm
from sklearn.metrics import roc_auc_score

from benchmarks.harness import Report
from benchmarks.reliability_rivals import perturbation, scdeed, singularity
from benchmarks.reliability_sets import MOST, NEIGHBOURS, Truth, right_rows
from sidelight.datasets import data_home
from sidelight.explain._calibration import calibrated
from sidelight.explain._row_parts import MappedRows, row_parts, surroundings

TITLE = "reliability of rows on the examples of LOO-map and scDEED"
RIVALS = ("openTSNE",)
SCORES = ("ours", "scDEED", "LOO-map, perturbation", "LOO-map, singularity")
LENGTHS = (0.5, 2.0)
NEAREST = 10
SCORED = 150  # wrong rows, and as many others, that LOO-map's scores are asked for
_RARE = 5  # wrong rows, below which an area under the curve says nothing
_COMPONENTS = 12  # of cells, as scDEED's authors chose for this set

Array = Any


@dataclass(frozen=True)
class Example:
    """Rows, a map with this perplexity, and which rows are wrong by each definition that the set allows."""

    name: str
    perplexity: float
    X: Array
    Z: Array
    wrong: dict[str, Array]


def run(*, quick: bool) -> Report:
    report, found = Report(), []
    for name, (make, perplexities) in EXAMPLES.items():
        for seed in range(1 if quick else 2):
            X, truth = make(seed)
            for perplexity in perplexities:
                example = _mapped(name, X, truth, perplexity)
                found.append((example, _areas(example)))
                print(f"  {name}, perplexity {perplexity:g}: {_shares(example)}", flush=True)
        if quick:
            break
    _table(report, found)
    if not quick:
        _fractures(report, found)
    _cells(report, (30.0,) if quick else (20.0, 80.0, 200.0))
    return report


def tsne(X: Array, perplexity: float, start: Array, **more: Any) -> Array:
    """A map as Rtsne makes it from a start of one's own: 1,000 steps at the same rate, no early exaggeration."""
    from openTSNE import TSNE

    logging.getLogger("openTSNE").setLevel(logging.ERROR)
    as_rtsne = {"early_exaggeration_iter": 0, "n_iter": 1000, "learning_rate": 200, "initialization": start.copy()}
    settings = {**as_rtsne, "negative_gradient_method": "bh", "theta": 0.1, "n_jobs": 1, "neighbors": "exact", **more}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.asarray(TSNE(perplexity=perplexity, **settings).fit(X))


def reliability_of(X: Array, Z: Array) -> Array:
    """Our number (n,) of the rows of any map."""
    parts = row_parts(surroundings(MappedRows(X, Z), None, 1), np.random.RandomState(0), 1)
    return calibrated(parts.kept, parts.true)


# Sets -----------------------------------------------------------------------------------------------------------------


def _mixture(sizes: list[int], means: Array, seed: int) -> tuple[Array, Truth]:
    """Normal components of unit variance; in the plane the rows themselves are the truth, with the component."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(len(sizes)), sizes)
    X = rng.normal(size=(len(labels), means.shape[1])) + means[labels]
    return X, Truth(labels=labels, coordinates=X if means.shape[1] == 2 else None)


def _five(seed: int) -> tuple[Array, Truth]:
    """Means at the corners of a pentagon with sides of 4 standard deviations, as far as two components are above."""
    angle = 2 * np.pi * np.arange(5) / 5
    radius = 2.0 / np.sin(np.pi / 5)
    return _mixture([100] * 5, radius * np.column_stack([np.cos(angle), np.sin(angle)]), seed)


def _eight(seed: int) -> tuple[Array, Truth]:
    return _mixture([100] * 8, np.random.default_rng(100 + seed).normal(size=(8, 10)) * 6.0 / np.sqrt(20), seed)


def _roll(n: int, seed: int) -> tuple[Array, Truth]:
    """Their roll: 2.5 turns from the centre on, two wide; true coordinates are the length of the arc and the height."""
    rng = np.random.default_rng(seed)
    t, height = rng.uniform(0, 5 * np.pi, n), rng.uniform(-1, 1, n)
    X = np.column_stack([t * np.cos(t), t * np.sin(t), height]) + 0.05 * rng.normal(size=(n, 3))
    arc = 0.5 * (t * np.sqrt(1 + t**2) + np.arcsinh(t))
    return X, Truth(coordinates=np.column_stack([arc, height]))


EXAMPLES: dict[str, tuple[Callable[[int], tuple[Array, Truth]], tuple[float, ...]]] = {
    "two components": (lambda s: _mixture([250] * 2, np.array([[2.0, 0.0], [-2.0, 0.0]]), s), (50, 5)),
    "three components": (lambda s: _mixture([100] * 3, np.array([[2.0, 0], [-2.0, 0], [0, -4.0]]), s), (75,)),
    "five components": (_five, (60,)),
    "eight components": (_eight, (50, 5)),
    "roll of 1,000": (lambda s: _roll(1000, s), (150,)),
    "roll of 800": (lambda s: _roll(800, s), (40, 5)),
}


# Which rows are wrong -------------------------------------------------------------------------------------------------


def _mapped(name: str, X: Array, truth: Truth, perplexity: float) -> Example:
    centred = X - X.mean(axis=0)
    start = centred @ np.linalg.svd(centred, full_matrices=False)[2][:2].T
    Z = tsne(X, perplexity, start)
    wrong = {}
    if truth.labels is not None:
        wrong["overconfident"] = _entropies(X, truth.labels) - _entropies(Z, truth.labels) > 0.5 * np.log(2)
    if truth.coordinates is not None:
        wrong["torn"] = _torn(truth.coordinates, Z)
        wrong["not right"] = ~right_rows(Z, Truth(coordinates=truth.coordinates))
    else:
        wrong["not right"] = ~right_rows(Z, truth)
    return Example(name, perplexity, X, Z, wrong)


def _entropies(V: Array, labels: Array) -> Array:
    """Entropy (n,) of the component of each row, for normal components with the variances of their columns."""
    logs = [
        norm.logpdf(V, V[labels == k].mean(axis=0), V[labels == k].std(axis=0)).sum(axis=1) for k in np.unique(labels)
    ]
    weights = np.exp(np.array(logs) - np.max(logs, axis=0))
    return entropy(weights, axis=0)


def _torn(T: Array, Z: Array) -> Array:
    near = np.argsort(cdist(T, T), axis=1)[:, 1 : NEAREST + 1]
    farthest = np.linalg.norm(Z[near] - Z[:, None, :], axis=2).max(axis=1)
    return farthest > 0.25 * np.sqrt(((Z - Z.mean(axis=0)) ** 2).sum(axis=1).mean())


def _shares(example: Example) -> str:
    return ", ".join(f"{name} {wrong.mean():.2f}" for name, wrong in example.wrong.items())


# Scores ---------------------------------------------------------------------------------------------------------------


def _areas(example: Example) -> dict[str, dict[str, float]]:
    """Areas under the curve of wrong rows, by definition and score, where there are enough wrong rows."""
    X, Z, perplexity = example.X, example.Z, example.perplexity
    everywhere = {"ours": reliability_of(X, Z), "scDEED": scdeed(X, Z)}
    areas: dict[str, dict[str, float]] = {}
    for name, wrong in example.wrong.items():
        if not _RARE <= wrong.sum() <= len(wrong) - _RARE:
            continue
        some = _some_of_both(wrong)
        moved = [perturbation(X, Z, some, length, perplexity) for length in LENGTHS]
        areas[name] = {
            **{score: float(roc_auc_score(~wrong, values)) for score, values in everywhere.items()},
            SCORES[2]: max(float(roc_auc_score(~wrong[some], values)) for values in moved),
            SCORES[3]: float(roc_auc_score(~wrong[some], singularity(X, Z, some, perplexity))),
        }
    return areas


def _some_of_both(wrong: Array) -> Array:
    rng = np.random.default_rng(0)
    return np.concatenate([rng.permutation(np.flatnonzero(wrong == k))[:SCORED] for k in (True, False)])


def _table(report: Report, found: list[tuple[Example, dict[str, dict[str, float]]]]) -> None:
    """For each map and definition the share of wrong rows, and ours beside each rival; means over maps."""
    every: dict[str, list[dict[str, float]]] = {}
    for name, perplexity in dict.fromkeys((e.name, e.perplexity) for e, _ in found):
        draws = [(e, areas) for e, areas in found if (e.name, e.perplexity) == (name, perplexity)]
        for definition in ("overconfident", "torn", "not right"):
            some = [areas[definition] for _, areas in draws if definition in areas]
            if not some:
                continue
            means = {score: float(np.mean([one[score] for one in some])) for score in SCORES}
            share = float(np.mean([e.wrong[definition].mean() for e, _ in draws]))
            every.setdefault(definition, []).append(means)
            what = f"{name}, perplexity {perplexity:g}, {definition}"
            report.note(f"{what}: share of rows", share)
            _beside_rivals(report, what, means)
    for definition, rows in every.items():
        report.note(f"{definition}: maps", len(rows))
        _beside_rivals(report, definition, {score: float(np.mean([r[score] for r in rows])) for score in SCORES})


def _beside_rivals(report: Report, what: str, areas: dict[str, float]) -> None:
    for score in SCORES[1:]:
        report.note(f"{what}: area under the curve", areas["ours"], rival=areas[score], rival_name=score)


def _fractures(report: Report, found: list[tuple[Example, dict[str, dict[str, float]]]]) -> None:
    """Maps fractured by a small perplexity beside the other map of the same rows: what is said of the whole map."""
    for name in [name for name, (_, perplexities) in EXAMPLES.items() if len(perplexities) > 1]:
        for perplexity in EXAMPLES[name][1]:
            maps = [e for e, _ in found if (e.name, e.perplexity) == (name, perplexity)]
            said = np.concatenate([reliability_of(e.X, e.Z) for e in maps])
            top = [np.sort(-singularity(e.X, e.Z, np.arange(len(e.X)), e.perplexity)) for e in maps]
            sharpest = float(np.mean([values[-(len(values) // 20) :].mean() for values in top]))
            right = float(np.mean([1 - e.wrong["not right"].mean() for e in maps]))
            report.note(f"{name}, perplexity {perplexity:g}: mean reliability", float(said.mean()))
            report.note(f"{name}, perplexity {perplexity:g}: right", right)
            report.note(f"{name}, perplexity {perplexity:g}: singularity, mean of the top 5 %", sharpest)


def _cells(report: Report, perplexities: tuple[float, ...]) -> None:
    """Cells of scDEED's example ifnb, 2,000 of them; wrong cells by type and stimulation, which no score knows."""
    from openTSNE import initialization

    from benchmarks.cell_sets import from_file

    cells = from_file("ifnb", "kang_ifnb.h5ad")
    X = np.asarray(cells.X, dtype=float)[:, :_COMPONENTS]
    rng = np.random.default_rng(0)
    permuted = np.column_stack([rng.permutation(column) for column in X.T])
    areas: list[tuple[float, float]] = []
    labels = np.unique(np.char.add(cells.label.astype(str), cells.batch.astype(str)), return_inverse=True)[1]
    for perplexity in perplexities:
        usual = {"early_exaggeration_iter": 250, "n_iter": 500, "learning_rate": "auto", "theta": 0.5}
        usual["negative_gradient_method"] = "fft"
        Z, null = (tsne(V, perplexity, initialization.pca(V, random_state=0), **usual) for V in (X, permuted))
        wrong = ~right_rows(Z, Truth(labels=labels))
        said, score = reliability_of(X, Z), scdeed(X, Z)
        dubious = score < np.quantile(scdeed(permuted, null), 0.05)
        what = f"ifnb, perplexity {perplexity:g}"
        more = {"rival": float(roc_auc_score(~wrong, score)), "rival_name": "scDEED"}
        areas.append((float(roc_auc_score(~wrong, said)), more["rival"]))
        report.note(f"{what}: share of cells not right", float(wrong.mean()))
        report.note(f"{what}: area under the curve", areas[-1][0], **more)
        report.note(f"{what}: called dubious by scDEED", float(dubious.mean()))
        report.note(f"{what}: called below 0.5 by ours", float((said < 0.5).mean()))
        report.note(
            f"{what}: not right among those below 0.5",
            float(wrong[said < 0.5].mean()) if (said < 0.5).any() else np.nan,
        )
        report.note(f"{what}: not right among the dubious", float(wrong[dubious].mean()) if dubious.any() else np.nan)
        report.note(
            f"{what}: permuted cells called below 0.5 by ours", float((reliability_of(permuted, null) < 0.5).mean())
        )
        print(f"  {what} done", flush=True)
    ours, theirs = (float(np.mean(found)) for found in zip(*areas, strict=True))
    report.note("ifnb, area under the curve, mean over maps", ours, rival=theirs, rival_name="scDEED")
    _null(report, X, permuted, perplexities[len(perplexities) // 2])


def _null(report: Report, X: Array, permuted: Array, perplexity: float) -> None:
    """What is kept of cells without structure: permuted components, the same of equal variance, and permuted genes.

    Kept: two thirds of the 15 nearest rows of the map are among the nearest twentieth in the data, and the reverse.
    Maps of genes are t-SNE of their components, as usual, and are judged by these and by the genes.
    """
    from openTSNE import initialization

    def mapped(V: Array) -> Array:
        usual = {"early_exaggeration_iter": 250, "n_iter": 500, "learning_rate": "auto", "theta": 0.5}
        start = initialization.pca(V, random_state=0)
        return tsne(V, perplexity, start, negative_gradient_method="fft", **usual)

    def judged(what: str, V: Array, Z: Array) -> None:
        said, kept = reliability_of(V, Z), _kept_both_ways(V, Z)
        report.note(f"{what}: called below 0.5", float((said < 0.5).mean()))
        report.note(f"{what}: called 0.8 or more", float((said >= 0.8).mean()))
        report.note(f"{what}: kept both ways", float(kept.mean()))
        if (said >= 0.8).any():
            report.note(f"{what}: kept both ways among those called 0.8 or more", float(kept[said >= 0.8].mean()))

    equal = permuted / permuted.std(axis=0)
    for what, V in (("permuted components", permuted), ("the same, equal variance", equal)):
        judged(what, V, mapped(V))
    for what, V in (("cells", X), ("permuted components", permuted)):
        odd, even = (_nearest(half, count) for half, count in ((V[:, ::2], NEIGHBOURS), (V[:, 1::2], len(V) // 20)))
        report.note(f"{what}: neighbours by every other column near by the others", float(_share_in(odd, even).mean()))
    genes = _genes("kang_ifnb.h5ad")
    rng = np.random.default_rng(2)
    for what, G in (("genes", genes), ("permuted genes", np.column_stack([rng.permutation(g) for g in genes.T]))):
        V = _components(G)
        Z = mapped(V)
        judged(f"{what}, by their components", V, Z)
        judged(f"{what}, by the genes", G, Z)
        print(f"  {what} done", flush=True)


def _kept_both_ways(V: Array, Z: Array) -> Array:
    wide = len(V) // 20
    there, back = (_share_in(_nearest(a, NEIGHBOURS), _nearest(b, wide)) for a, b in ((Z, V), (V, Z)))
    return np.minimum(there, back) >= MOST


def _nearest(V: Array, k: int) -> Array:
    D = cdist(V, V)
    np.fill_diagonal(D, np.inf)
    return np.argsort(D, axis=1)[:, :k]


def _share_in(some: Array, others: Array) -> Array:
    """Share (n,) of the rows ``some`` (n, k) that are among ``others`` (n, l)."""
    return np.array([np.isin(a, b).mean() for a, b in zip(some, others, strict=True)])


def _genes(file: str) -> Array:
    """Logarithms of normalised counts (n, 2,000) of the genes that vary most."""
    import anndata

    counts = anndata.read_h5ad(Path(data_home() or ".") / "scrna" / file).X.toarray().astype(float)
    logs = np.log1p(1e4 * counts / counts.sum(axis=1, keepdims=True))
    return logs[:, np.argsort(-logs.var(axis=0))[:2000]]


def _components(G: Array) -> Array:
    U, S, _ = np.linalg.svd(G - G.mean(axis=0), full_matrices=False)
    return np.asarray(U[:, :_COMPONENTS] * S[:_COMPONENTS])

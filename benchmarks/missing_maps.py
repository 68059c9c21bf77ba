"""Maps of tables with gaps: how much of the map of the complete table is left, by each way to treat missing entries.

Entries of standardised columns are removed at random (10, 30 and 50 %), or not at random: large ones more often, with
a probability that is logistic in the entry (slope 2), to the same shares. Of each map: the share of a row's 15 nearest
rows in the complete table that are among its 15 nearest on the map ("neighbours kept"), and the label hit of the ten
nearest. The ways:

    expected             KernelInformationEmbedding(missing="expected"): the expected kernel
    means                the same fill without the variances
    expected distances   the same fill, with E|x_i - x_j|² = |m_i - m_j|² + v_i + v_j as squared distances
    impute               KernelInformationEmbedding(missing="impute")
    column means, KNNImputer    filled so, then KernelInformationEmbedding
    UMAP                 on the fill of IterativeImputer

The kernel, the model of entries and what ``--missing keep`` does were chosen on wine and oil flow; the other sets are
reported only.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.experimental import enable_iterative_imputer  # noqa: F401  (it makes the next import possible)
from sklearn.impute import IterativeImputer, KNNImputer
from sklearn.neighbors import NearestNeighbors

from benchmarks.harness import Report
from sidelight import KernelInformationEmbedding
from sidelight.datasets import load_oil_flow

TITLE = "maps of tables with gaps beside UMAP on IterativeImputer's fill: wine, oil flow; breast cancer, digits"
RIVALS = ("scikit-learn", "umap-learn")
CHOSEN_ON = ("wine", "oil flow")
_SHARES = (0.1, 0.3, 0.5)
_MASKS = (0,)
_ROWS = 200
_NEAR, _HIT = 15, 10
_STEEP = 2.0
_MEASURES = ("neighbours kept", "label hit")


def run(*, quick: bool) -> Report:
    report = Report()
    found: dict[str, dict[str, dict[str, list[float]]]] = {}
    for name, (X, labels) in _sets(quick).items():
        print(f"  {name} ...", flush=True)
        found[name] = {}
        for how in ("at random", "large ones"):
            for share in (0.3,) if quick else _SHARES:
                cell = _cell(X, labels, how, share, _MASKS[:1] if quick else _MASKS)
                found[name][f"{how}, {share:.0%}"] = cell
                print(f"    {how}, {share:.0%}: " + ", ".join(f"{k} {v[0]:.3f}" for k, v in cell.items()), flush=True)
                _note(report, f"{name}, {how}, {share:.0%}", cell)
    for sets, label in ((CHOSEN_ON, "chosen on"), ([name for name in found if name not in CHOSEN_ON], "reported")):
        _summary(report, label, [cell for name in sets for cell in found.get(name, {}).values()])
    for name, cells in found.items():
        for number, measure in enumerate(_MEASURES):
            for way in next(iter(cells.values())):
                report.note(f"{name}, mean {measure}: {way}", float(np.mean([c[way][number] for c in cells.values()])))
    report.details = found
    return report


def _sets(quick: bool) -> dict[str, tuple[Any, Any]]:
    """Standardised rows and labels; at most 200 rows each."""
    oil = load_oil_flow()
    sets = {
        "wine": (load_wine().data, load_wine().target),
        "oil flow": (oil.X, oil.factors["label"]),
        "breast cancer": (load_breast_cancer().data, load_breast_cancer().target),
        "digits": (load_digits().data, load_digits().target),
    }
    out = {}
    for name, (X, labels) in list(sets.items())[: 1 if quick else None]:
        rows = np.sort(np.random.default_rng(0).permutation(len(X))[:_ROWS])
        X = np.asarray(X, dtype=np.float64)[rows]
        X = X[:, (X[0] == X).mean(axis=0) < 0.95]
        out[name] = (X - X.mean(axis=0)) / X.std(axis=0), np.asarray(labels)[rows]
    return out


def _gaps(X: Any, how: str, share: float, seed: int) -> Any:
    """The rows with entries removed; every row keeps one and every column three."""
    rng = np.random.default_rng(seed)
    chance = np.full(X.shape, share)
    if how == "large ones":
        shift = brentq(lambda b: float(expit(_STEEP * X + b).mean()) - share, -20, 20)
        chance = expit(_STEEP * X + shift)
    gone = rng.random(X.shape) < chance
    for row in np.flatnonzero(gone.all(axis=1)):
        gone[row, rng.integers(X.shape[1])] = False
    gone[:3, (~gone).sum(axis=0) < 3] = False
    return np.where(gone, np.nan, X)


def _maps(X: Any, gaps: Any) -> dict[str, Callable[[], Any]]:
    """The embedding by each way."""
    how: dict[str, Any] = {"tol": 1e-4}
    expected = KernelInformationEmbedding(missing="expected", **how).fit(gaps)
    v = expected.impute_variance(gaps).sum(axis=1)
    filled = expected.filled_

    def distances() -> Any:
        D2 = ((filled[:, None, :] - filled) ** 2).sum(axis=2) + v[:, None] + v
        np.fill_diagonal(D2, 0.0)
        return KernelInformationEmbedding(metric="precomputed", **how).fit_transform(np.sqrt(D2))

    def umap() -> Any:
        from umap import UMAP

        return UMAP(random_state=0, n_jobs=1).fit_transform(IterativeImputer(random_state=0).fit_transform(gaps))

    column_means = np.where(np.isnan(gaps), np.nanmean(gaps, axis=0), gaps)
    return {
        "complete": lambda: KernelInformationEmbedding(**how).fit_transform(X),
        "expected": lambda: expected.embedding_,
        "means": lambda: KernelInformationEmbedding(**how).fit_transform(filled),
        "expected distances": distances,
        "impute": lambda: KernelInformationEmbedding(missing="impute", **how).fit_transform(gaps),
        "column means": lambda: KernelInformationEmbedding(**how).fit_transform(column_means),
        "KNNImputer": lambda: KernelInformationEmbedding(**how).fit_transform(KNNImputer().fit_transform(gaps)),
        "UMAP": umap,
    }


def _cell(X: Any, labels: Any, how: str, share: float, masks: tuple[int, ...]) -> dict[str, list[float]]:
    """Neighbours kept and label hit of each way, mean over masks."""
    found: dict[str, list[list[float]]] = {}
    for seed in masks:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for way, embed in _maps(X, _gaps(X, how, share, seed)).items():
                found.setdefault(way, []).append(_measured(X, labels, embed()))
    return {way: np.mean(each, axis=0).tolist() for way, each in found.items()}


def _measured(X: Any, labels: Any, Z: Any) -> list[float]:
    true, near = (_nearest(rows) for rows in (X, Z))
    kept = np.mean([len(np.intersect1d(a, b)) / _NEAR for a, b in zip(true, near, strict=True)])
    return [float(kept), float((labels[near[:, :_HIT]] == labels[:, None]).mean())]


def _nearest(rows: Any) -> Any:
    return NearestNeighbors(n_neighbors=_NEAR).fit(rows).kneighbors(return_distance=False)


def _note(report: Report, label: str, cell: dict[str, list[float]]) -> None:
    report.note(f"{label}: neighbours kept", cell["expected"][0], rival=cell["UMAP"][0], rival_name="UMAP")


def _summary(report: Report, label: str, cells: list[dict[str, list[float]]]) -> None:
    """Mean of each way over the cells; bars: not below the other ways to treat gaps on the sets it was chosen on."""
    if not cells:
        return
    for number, measure in enumerate(_MEASURES):
        mean = {way: float(np.mean([cell[way][number] for cell in cells])) for way in cells[0]}
        beside: dict[str, Any] = {"rival": mean["UMAP"], "rival_name": "UMAP"}
        report.at_least(f"{label}, mean {measure}: expected", mean["expected"], round(mean["UMAP"], 4), **beside)
        for way in mean:
            if way not in ("expected", "UMAP"):
                wins = sum(cell["expected"][number] > cell[way][number] for cell in cells)
                report.note(f"{label}, mean {measure}: {way} (expected better in {wins} of {len(cells)})", mean[way])

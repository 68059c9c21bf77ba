"""How many dimensions ProbabilisticPCA finds by itself, of planted ones; beside scikit-learn's ``PCA("mle")``.

500 rows, 20 columns, five planted dimensions of one variance, noise of variance 1. The variance of a dimension is given
in units of √(d / n), below which no method sees it. Twenty seeds each; entries missing at random (at least one is left
of a row); and noise that differs from column to column, which is not what the model believes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.decomposition import PCA

from benchmarks.harness import Report
from sidelight import ProbabilisticPCA

TITLE = "planted dimensions found by ProbabilisticPCA, beside PCA('mle')"
RIVALS = ("scikit-learn",)
ROWS, COLUMNS, PLANTED = 500, 20, 5


def run(*, quick: bool) -> Report:
    report = Report()
    seeds = range(3 if quick else 20)
    for strength in (2.0, 4.0, 8.0):
        _compare(report, f"{strength:g} √(d/n)", strength, 0.0, seeds)
    for share in (0.1, 0.3, 0.5, 0.7):
        _compare(report, f"8 √(d/n), {share:.0%} missing", 8.0, share, seeds)
    _compare(report, "8 √(d/n), noise differs by column up to twofold", 8.0, 0.0, seeds, uneven=True)
    return report


def planted(strength: float, share: float, seed: int, *, uneven: bool = False) -> Any:
    """Rows with five dimensions in them, some entries missing."""
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(rng.normal(size=(COLUMNS, PLANTED)))[0]
    width = np.sqrt(strength * np.sqrt(COLUMNS / ROWS))
    noise = rng.uniform(1.0, 2.0, COLUMNS) if uneven else 1.0
    X = rng.normal(size=(ROWS, PLANTED)) @ axes.T * width + noise * rng.normal(size=(ROWS, COLUMNS))
    gone = rng.random(X.shape) < share
    gone[gone.all(axis=1), 0] = False
    return np.where(gone, np.nan, X)


def _compare(report: Report, label: str, strength: float, share: float, seeds: range, *, uneven: bool = False) -> None:
    rows = [planted(strength, share, seed, uneven=uneven) for seed in seeds]
    ours = [ProbabilisticPCA().fit(X).n_components_ for X in rows]
    report.note(f"{label}: share of seeds with exactly {PLANTED}", float(np.mean(np.array(ours) == PLANTED)))
    beside = {} if share else {"rival": _rival(rows), "rival_name": "PCA('mle')"}
    report.note(f"{label}: mean number found", float(np.mean(ours)), **beside)
    report.details[label] = [int(found) for found in ours]


def _rival(rows: list[Any]) -> float:
    return float(np.mean([PCA("mle", svd_solver="full").fit(X).n_components_ for X in rows]))

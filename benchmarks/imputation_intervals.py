"""Coverage of ``Imputer.interval``, and of means by Rubin's rules from ``Imputer.draws``, on small and large tables.

Entries are removed at random, and 90 % intervals should hold 90 % of them. Of a column with 40 % of its entries
missing, 95 % intervals of the mean by Rubin's rules from ten draws should hold the true mean in 95 % of the tables; the
rival fills once and forgets that it did. The standard error of a share of k entries is at most 0.5 / sqrt(k).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import t
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine

from benchmarks.harness import Check, Report
from sidelight import Imputer

TITLE = "coverage of intervals of missing entries, and of means by multiple imputation"
RIVALS: tuple[str, ...] = ()

Array = npt.NDArray[Any]
_LEVEL, _MISSING, _DRAWS = 0.9, 0.2, 10
_ENTRIES = 1000  # to be asked for, at least, at each size
_TABLES = {"breast cancer": load_breast_cancer, "wine": load_wine, "iris": load_iris, "diabetes": load_diabetes}


def run(*, quick: bool) -> Report:
    """Measure every case; nothing has a bar (tests/tables/test_imputer_uncertainty.py has)."""
    report = Report()
    report.checks += [_gaussian(n) for n in ((25, 200) if quick else (15, 25, 50, 100, 400, 1600))]
    for name, read in _TABLES.items():
        X = read().data[:, :10]
        report.checks += [_real(name, X, n) for n in ((30,) if quick else (30, 60, len(X)))]
    report.checks += [_mean(n, 40 if quick else 200) for n in ((100,) if quick else (30, 100, 400))]
    return report


def _gaussian(n: int) -> Check:
    def rows(rng: np.random.Generator) -> Array:
        return rng.normal(size=(n, 1)) + 0.5 * rng.normal(size=(n, 5))

    return _covered(f"Gaussian, {n} rows of 5 columns", rows)


def _real(name: str, X: Array, n: int) -> Check:
    return _covered(f"{name}, {n} rows of {X.shape[1]} columns", lambda rng: X[rng.permutation(len(X))[:n]])


def _covered(what: str, rows: Any) -> Check:
    """Share of missing entries within their intervals, over as many tables as it takes."""
    inside: list[bool] = []
    seed = 0
    while len(inside) < _ENTRIES or seed < 3:
        rng = np.random.default_rng(seed)
        X = rows(rng)
        G = np.where(rng.random(X.shape) < _MISSING, np.nan, X)
        found = Imputer("gaussian", random_state=seed).fit(G).interval(G, _LEVEL)
        inside += ((found.lower <= X) & (found.upper >= X))[np.isnan(G)].tolist()
        seed += 1
    return Check(f"{what}: 90 % intervals hold ({len(inside)} entries)", float(np.mean(inside)))


def _mean(n: int, n_tables: int) -> Check:
    """Share of tables in which the interval of a mean holds the true mean, 0."""
    ours = once = 0
    for seed in range(n_tables):
        rng = np.random.default_rng(seed)
        G = rng.multivariate_normal(np.zeros(3), 0.4 * np.eye(3) + 0.6, size=n)
        G[rng.random(n) < 0.4, 0] = np.nan
        model = Imputer("gaussian", random_state=seed).fit(G)
        drawn = np.array([table[:, 0] for table in model.draws(G, _DRAWS)])
        within = drawn.var(axis=1, ddof=1).mean() / n
        between = drawn.mean(axis=1).var(ddof=1) * (1 + 1 / _DRAWS)
        share = between / (within + between)
        freedom = 1 / (share**2 / (_DRAWS - 1) + (n + 2) / (n * (n - 1) * (1 - share)))  # Barnard and Rubin 1999
        ours += abs(drawn.mean()) < t.ppf(0.975, freedom) * np.sqrt(within + between)
        filled = model.transform(G)[:, 0]
        once += abs(filled.mean()) < t.ppf(0.975, n - 1) * filled.std(ddof=1) / np.sqrt(n)
    what = f"mean of a column, {n} rows: 95 % intervals hold ({n_tables} tables)"
    return Check(what, ours / n_tables, rival=once / n_tables, rival_name="filled once")

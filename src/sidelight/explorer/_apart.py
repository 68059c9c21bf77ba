"""What sets rows apart from others: features by the size of the effect, with intervals and false discovery rates.

With means x̄, ȳ, variances s², t² and numbers n, m of the entries of a feature in the two selections, and the pooled
variance v = ((n - 1) s² + (m - 1) t²) / (n + m - 2),

    effect     g = (x̄ - ȳ) / √v
    interval   g ± 1.96 √((s²/n + t²/m) / v + g² / (2 (n + m)))

by the normal approximation (Hedges and Olkin, 1985) with the variance of each of the two, as Welch's test has it, so
that a small selection that varies more is not sure of more. One entry has no variance of its own: v stands for it, and
for two such entries the variance of all rows. ``web/src/apart.ts`` computes the same in a page that is a file.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from sidelight.explain._statistics import false_discovery_rates

__all__ = ["WARNING_FILTERS", "features_apart", "moments"]

Array = NDArray[Any]
WARNING_FILTERS = threading.RLock()
"""Held while a request changes the filters of warnings: they are of the process, and requests run in threads."""
_LISTED = 60  # features of a summary
_QUANTILE = 1.959963984540054
_LARGEST = 99.0  # effect of a column that is constant in both selections, and another constant in each


def features_apart(numbers: Array, names: Sequence[str], rows: Array, rest: Array) -> list[dict[str, Any]]:
    """Features of ``numbers`` (n, d) that tell ``rows`` from ``rest``, largest effect first; NaN: missing."""
    (n, first, s), (m, second, t) = (moments(numbers[at]) for at in (rows, rest))
    moved, few, alone = first - second, np.minimum(n, m) < 2, np.maximum(n, m) < 2
    pooled = ((n - 1) * s + (m - 1) * t) / np.maximum(n + m - 2, 1)
    freedom_alone = np.ones(len(n))
    if alone.any():
        count, _, whole = moments(numbers[:, alone])
        pooled[alone], freedom_alone[alone] = whole, np.maximum(count - 1, 1)
    a, b = np.where(few, pooled, s) / n, np.where(few, pooled, t) / m
    varies, error = pooled > 0, a + b
    effect = np.divide(moved, np.sqrt(pooled), out=_LARGEST * np.sign(moved), where=varies)
    of_means = np.divide(error, pooled, out=1 / n + 1 / m, where=varies)
    spread = _QUANTILE * np.sqrt(of_means + effect**2 / (2 * (n + m)))
    parts = a**2 / np.maximum(n - 1, 1) + b**2 / np.maximum(m - 1, 1)
    freedom = np.divide(error**2, parts, out=np.ones(len(n)), where=parts > 0)
    freedom = np.where(alone, freedom_alone, np.where(few, np.maximum(n + m - 2, 1), freedom))
    safe = np.sqrt(np.where(error > 0, error, 1.0))
    p = np.where(error > 0, 2.0 * stdtr(freedom, -np.abs(moved) / safe), np.where(few | (moved == 0), 1.0, 0.0))
    rates = false_discovery_rates(np.nan_to_num(np.minimum(p, 1.0), nan=1.0))
    order = np.argsort(-np.nan_to_num(np.abs(effect)), kind="stable")[:_LISTED]
    return [
        {
            "name": names[k], "here": first[k], "there": second[k], "effect": effect[k],
            "low": effect[k] - spread[k], "high": effect[k] + spread[k], "fdr": rates[k],
        }
        for k in order
        if np.isfinite(effect[k])
    ]  # fmt: skip


def moments(rows: Array) -> tuple[Array, Array, Array]:
    """Counts of entries (at least 1), means and variances (d,) of some rows; 0 is the variance of fewer than two."""
    there = np.isfinite(rows).sum(axis=0)
    with WARNING_FILTERS, warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # columns without any entry: NaN, which the page shows as such
        mean, variance = np.nanmean(rows, axis=0), np.nanvar(rows, axis=0, ddof=1)
    return np.maximum(there, 1), mean, np.where(there > 1, variance, 0.0)

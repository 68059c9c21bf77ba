"""Missing entries of rows in temporal order: a Brownian bridge between the frames in which an entry is observed.

Within a trajectory, column c is taken for a random walk with variance v_c per step. Let x⁻ be its last observed value,
a steps before a row, and x⁺ its next one, b steps after it:

    mean      (b x⁻ + a x⁺) / (a + b)                         linear interpolation in time
    variance  v_c · a b / (a + b)

and, before the first or after the last observed value, that value and v_c times the steps from it. v_c is the mean of
(x - mean)² (a + b) / (a b) over the observed entries, each predicted from the ones before and after it, times one
factor for all columns: the factor for which 95 % of these entries lie within two standard deviations.

Another prediction m with variance s, made from the other entries of the row, errs for other reasons. The two are
combined as independent ones, by precision:

    mean      (u m + s l) / (s + u),     variance  s u / (s + u),      l and u the mean and variance of the bridge.

Cost: O(n d).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["TimeBridge", "fit_bridge", "nearest_in_time", "variance_factor"]

Array = npt.NDArray[Any]
_PRIOR = 3.0  # observed steps that the ratio of all columns counts as, in the variance of a column's steps


@dataclass(frozen=True)
class TimeBridge:
    """Means and variances (n, d) of every entry given the same column before and after it; the variance may be inf."""

    mean: Array
    variance: Array

    def combined(self, mean: Array, variance: Array) -> tuple[Array, Array]:
        """Combine with independent predictions ``mean`` (n, d) of ``variance`` (n, d); return both again."""
        total = variance + self.variance
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.where(np.isinf(total), 0.0, np.where(total > 0, variance / total, 0.5))  # of the bridge
        return mean + share * (np.where(share > 0, self.mean, mean) - mean), variance * (1.0 - share)


def fit_bridge(X: Array, trajectory: Array) -> TimeBridge:
    """Fit the bridge to rows ``X`` (n, d) with missing entries (NaN), numbered by ``trajectory`` (n,)."""
    order = np.argsort(trajectory, kind="stable")
    rows, number = X[order].astype(np.float64), trajectory[order]
    observed = ~np.isnan(rows)
    before, after = _observed_before(observed, number), _observed_after(observed, number)
    mean, shape = _bridge(rows, before, after)
    error = np.where(observed & (before >= 0) & (after >= 0), (rows - mean) ** 2 / shape, np.nan)
    steps = _step_variance(rows, error)
    variance = np.empty_like(rows)
    variance[order] = steps * variance_factor(error / steps) * shape
    means = np.empty_like(rows)
    means[order] = mean
    return TimeBridge(means, variance)


def nearest_in_time(X: Array, trajectory: Array) -> Array:
    """Fill missing entries of ``X`` (n, d) from the nearest row of the trajectory that has the entry (S0 3.1.5).

    The earlier one of two; the mean of the column where no row of the trajectory has the entry.
    """
    order = np.argsort(trajectory, kind="stable")
    rows, number = X[order], trajectory[order]
    observed, here = ~np.isnan(rows), np.arange(len(rows))[:, None]
    before, after = _observed_before(observed, number), _observed_after(observed, number)
    earlier = (before >= 0) & ((after < 0) | (here - before <= after - here))
    source = np.where(earlier, before, after)
    found = np.where(source >= 0, np.take_along_axis(rows, np.maximum(source, 0), axis=0), np.nanmean(rows, axis=0))
    filled = np.empty_like(rows)
    filled[order] = np.where(observed, rows, found)
    return filled


def variance_factor(ratio: Array) -> float:
    """Factor of variances for which 95.4 % of the squared errors lie within two standard deviations.

    ``ratio``: squared error over variance of each entry, NaN for entries that do not count.
    """
    ratio = ratio[np.isfinite(ratio)]
    return float(np.quantile(ratio, 0.954)) / 4.0 if len(ratio) else 1.0


def _observed_before(observed: Array, number: Array) -> Array:
    """Index (n, d) of the last row before each that has the entry, in the same trajectory; -1 where none has."""
    n = len(observed)
    index = np.where(observed, np.arange(n)[:, None], -1)
    before = np.full(observed.shape, -1)
    before[1:] = np.maximum.accumulate(index, axis=0)[:-1]
    first = np.searchsorted(number, number)  # sorted: the first row of each trajectory
    return np.where(before >= first[:, None], before, -1)


def _observed_after(observed: Array, number: Array) -> Array:
    """Index (n, d) of the next row after each that has the entry, in the same trajectory; -1 where none has."""
    n = len(observed)
    mirrored = _observed_before(observed[::-1], (number[-1] - number)[::-1])[::-1]
    return np.where(mirrored >= 0, n - 1 - mirrored, -1)


def _bridge(rows: Array, before: Array, after: Array) -> tuple[Array, Array]:
    """Mean of the bridge at each entry (n, d), and its variance for a step of variance 1."""
    here = np.arange(len(rows))[:, None]
    left, right = (np.take_along_axis(rows, np.maximum(index, 0), axis=0) for index in (before, after))
    a, b = (np.where(index >= 0, np.abs(here - index), np.inf) for index in (before, after))
    with np.errstate(divide="ignore"):
        precision = 1.0 / a + 1.0 / b  # 1 / inf = 0: that side has none
        shape = 1.0 / precision
    neither = precision == 0
    weighted = np.where(before >= 0, left, 0.0) / a + np.where(after >= 0, right, 0.0) / b
    return weighted / np.where(neither, 1.0, precision), shape


def _step_variance(rows: Array, error: Array) -> Array:
    """Variance of one step in each column (d,).

    Few observed steps are drawn towards the column's own variance times the mean ratio of the two over all columns.
    """
    counted = np.isfinite(error)
    own = np.nanvar(rows, axis=0)
    own = np.maximum(own, 1e-12 * float(own.max()) + 1e-300)
    ratio = float((error / own)[counted].mean()) if counted.any() else 1.0
    total = np.where(counted, error, 0.0).sum(axis=0) + _PRIOR * ratio * own
    return np.asarray(np.maximum(total / (counted.sum(axis=0) + _PRIOR), 1e-12 * own))

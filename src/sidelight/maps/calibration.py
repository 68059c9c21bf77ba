r"""Intervals from the errors of left-out rows: conformal prediction with a local scale.

m training rows were left out, placed at z_i (m, q) and predicted with errors e_i (m, d). Errors near a place z have the
scale

.. math::

    s_c(z)^2 = \frac{\sum_{j\, near\, z} e_{jc}^2 + κ v_c}{K + κ},     v_c = \tfrac1m \sum_j e_{jc}^2

over the K = 30 rows whose places are nearest to z. A new row is as likely to have the largest scaled error as any of
the m rows, t_{ic} = |e_{ic}| / s_c(z_i) without row i among its own neighbours, so that a share a of new entries lies
within

.. math::

    \hat x_c(z) ± q_c(a)\, s_c(z),     q_c(a) = \frac{m\, t_{c(k)} + ν\, t_{(K)}}{m + ν}

with the k-th smallest of column c, k = a (m + 1), drawn towards that of all columns together, t_{(K)}, as if by ν = 50
rows: with few rows the quantile of a single column is noise. Beyond the largest t the tail is taken as normal. Columns
without errors have intervals of width 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from sidelight.neighbours.search import nearest

from .weights import list_weighted_mean

__all__ = ["FEWEST", "FOLDS", "Calibration", "calibrated_rows", "fold_numbers", "half_widths"]

Array = npt.NDArray[Any]
FEWEST = 20
"""Training rows below which there are no intervals: nothing is known of the tails of their errors."""
_MOST, _ENTRIES = 2_000, 4_000_000  # rows that are left out; entries of them
_NEAR, _PRIOR = 30, 15.0  # K and κ
_POOLED = 50.0  # ν
FOLDS = 20
"""Folds of all rows, one of which is left out at a time."""


@dataclass(frozen=True)
class Calibration:
    """Errors of left-out rows, by their places.

    Parameters
    ----------
    places : array of shape (m, q)
    errors : array of shape (m, d)
        In any unit: intervals have the same.
    """

    places: Array
    errors: Array

    def half_widths(self, Z: Array, level: float, n_jobs: int | None = None) -> Array:
        """Half the widths (k, d) of intervals at places ``Z`` (k, q), each place by itself."""
        return np.asarray(half_widths(self._scaled, level) * self._scale(Z, n_jobs))

    @cached_property
    def _scaled(self) -> Array:
        """``t`` (m, d); NaN in columns without errors."""
        scale = self._scale(None, 1)
        return np.asarray(np.divide(np.abs(self.errors), scale, out=np.full(scale.shape, np.nan), where=scale > 0))

    def _scale(self, Z: Array | None, n_jobs: int | None) -> Array:
        """``s`` (k, d) at places; None: at those of the rows themselves, each left out of its own."""
        squares = np.square(self.errors)
        pooled = squares.mean(axis=0)
        count = min(_NEAR, len(squares) - 1)
        near = nearest(self.places, Z, k=count, n_jobs=n_jobs).index
        local = list_weighted_mean(np.full(near.shape, 1.0), squares, near)
        return np.asarray(np.sqrt((local + _PRIOR * pooled) / (count + _PRIOR)))


def half_widths(scaled: Array, level: float) -> Array:
    """Half widths q (d,) that hold a share ``level`` of further entries, from absolute scaled errors (m, d).

    NaN entries are left out: of a column without any, the width is 0.

    Examples
    --------
    >>> half_widths(np.tile(np.arange(1.0, 100.0)[:, None], 2), 0.9)
    array([90., 90.])
    """
    pooled = scaled[~np.isnan(scaled)]
    if not pooled.size:
        return np.zeros(scaled.shape[1])
    together, ordered = _quantile(np.sort(pooled), level), np.sort(scaled, axis=0)  # NaN come last
    counts = np.sum(~np.isnan(scaled), axis=0)
    own = [_quantile(ordered[:count, c], level) if count else 0.0 for c, count in enumerate(counts)]
    found = (counts * np.array(own) + _POOLED * together) / (counts + _POOLED)
    return np.asarray(np.where(counts > 0, found, 0.0))


def _quantile(ordered: Array, level: float) -> float:
    """The value that a share ``level`` of further values is below; beyond the largest, a normal tail."""
    m = len(ordered)
    rank = level * (m + 1) - 1.0
    if rank <= m - 1:
        below = max(int(np.floor(rank)), 0)
        share = max(rank, 0.0) - below
        return float((1.0 - share) * ordered[below] + share * ordered[min(below + 1, m - 1)])
    return float(ordered[-1] * _normal(level) / _normal(m / (m + 1)))


def _normal(level: float) -> float:
    """Half the width of the interval of a standard normal variable."""
    return float(ndtri((1.0 + level) / 2.0))


def calibrated_rows(n: int, d: int) -> Array:
    """Numbers of the rows that are left out of n rows of d columns, in random order: all, or at most 2,000."""
    most = min(_MOST, max(200, _ENTRIES // max(d, 1)))
    return np.random.default_rng(0).permutation(n)[:most]


def fold_numbers(n: int, rows: Array, n_folds: int = FOLDS) -> Array:
    """Fold (m,) of each of ``rows`` (m,), so that no fold is more than about ``1 / n_folds`` of the n rows."""
    return np.arange(len(rows)) % max(1, min(len(rows), -(-n_folds * len(rows) // n)))

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
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from sidelight.neighbours.search import nearest

from .weights import list_weighted_mean

__all__ = [
    "FEWEST",
    "FOLDS",
    "PRIOR",
    "Calibration",
    "calibrated_rows",
    "fold_numbers",
    "half_widths",
    "local_squares",
    "normal_half_width",
    "width_table",
]

Array = npt.NDArray[Any]
FEWEST = 20
"""Training rows below which there are no intervals: nothing is known of the tails of their errors."""
_MOST, _ENTRIES = 2_000, 4_000_000  # rows that are left out; entries of them
_NEAR = 30  # K
PRIOR = 15.0
"""κ, the number of rows that the errors of all rows count for."""
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
        """Half-widths (k, d) of intervals at latent points ``Z`` (k, q)."""
        return np.asarray(half_widths(self._scaled, level) * self.scale(Z, n_jobs))

    @cached_property
    def _scaled(self) -> Array:
        """``t`` (m, d); NaN in columns without errors."""
        scale = self.scale(None, 1)
        return np.asarray(np.divide(np.abs(self.errors), scale, out=np.full(scale.shape, np.nan), where=scale > 0))

    def scale(self, Z: Array | None, n_jobs: int | None) -> Array:
        """``s`` (k, d) at places; None: at those of the rows themselves, each left out of its own."""
        return np.sqrt(local_squares(self.errors, self.near(Z, n_jobs)))

    def near(self, Z: Array | None, n_jobs: int | None) -> Array:
        """The K nearest rows (k, K) of places; None: of the rows themselves, each without itself."""
        return nearest(self.places, Z, k=min(_NEAR, len(self.errors) - 1), n_jobs=n_jobs).index


def local_squares(errors: Array, near: Array) -> Array:
    """``s²`` (k, d) from errors (m, d) and the rows (k, K) that are near."""
    squares = np.square(errors)
    local = list_weighted_mean(np.full(near.shape, 1.0), squares, near)
    return np.asarray((local + PRIOR * squares.mean(axis=0)) / (near.shape[1] + PRIOR))


def half_widths(scaled: Array, level: float) -> Array:
    """Half widths q (d,) that hold a share ``level`` of further entries, from absolute scaled errors (m, d).

    NaN entries are left out: of a column without any, the width is 0.

    Examples
    --------
    >>> half_widths(np.tile(np.arange(1.0, 100.0)[:, None], 2), 0.9)
    array([90., 90.])
    """
    return np.asarray(width_table(scaled, np.array([level]), np.arange(scaled.shape[1]))[0])


def width_table(scaled: Array, levels: Array, blocks: Array) -> Array:
    """Half widths (k, b) at levels (k,), of blocks of the columns of absolute scaled errors (m, d).

    Parameters
    ----------
    scaled : array of shape (m, d)
        NaN entries are left out: of a block without any, widths are 0.
    levels : array of shape (k,)
    blocks : array of shape (d,)
        Block of each column, in increasing order from 0.
    """
    pooled = scaled[~np.isnan(scaled)]
    found = np.zeros((len(levels), int(blocks[-1]) + 1))
    if not pooled.size:
        return found
    together = _quantiles(np.sort(pooled), levels)
    edges = np.searchsorted(blocks, np.arange(found.shape[1] + 1))
    for block, (first, end) in enumerate(pairwise(edges)):
        own = scaled[:, first:end]
        own = np.sort(own[~np.isnan(own)])
        if own.size:
            found[:, block] = (len(own) * _quantiles(own, levels) + _POOLED * together) / (len(own) + _POOLED)
    return found


def _quantiles(ordered: Array, levels: Array) -> Array:
    """The values (k,) that shares ``levels`` of further values are below; beyond the largest, a normal tail."""
    m = len(ordered)
    rank = np.clip(levels * (m + 1) - 1.0, 0.0, m - 1.0)
    below = np.floor(rank).astype(np.int64)
    share = rank - below
    inside = (1.0 - share) * ordered[below] + share * ordered[np.minimum(below + 1, m - 1)]
    beyond = ordered[-1] * normal_half_width(levels) / normal_half_width(m / (m + 1))
    return np.asarray(np.where(levels * (m + 1) > m, beyond, inside))


def normal_half_width(level: Array | float) -> Any:
    """Half the width of the interval of a standard normal variable."""
    return ndtri((1.0 + np.asarray(level)) / 2.0)


def calibrated_rows(n: int, d: int) -> Array:
    """Numbers of the rows that are left out of n rows of d columns, in random order: all, or at most 2,000."""
    most = min(_MOST, max(200, _ENTRIES // max(d, 1)))
    return np.random.default_rng(0).permutation(n)[:most]


def fold_numbers(n: int, rows: Array, n_folds: int = FOLDS) -> Array:
    """Fold (m,) of each of ``rows`` (m,), so that no fold is more than about ``1 / n_folds`` of the n rows."""
    return np.arange(len(rows)) % max(1, min(len(rows), -(-n_folds * len(rows) // n)))

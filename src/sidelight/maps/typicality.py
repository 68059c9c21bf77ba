r"""How usual rows are among the training rows, by a density that has a likelihood for every set of observed entries.

Log densities of rows that miss different entries cannot be compared: fewer entries have a larger density. So each is
standardised by what rows of the density itself have in the same entries,

    s(x) = (log p(x_O) - E[log p(X_O)]) / Sd[log p(X_O)]        O: observed entries of x,  X drawn from the density

with mean and deviation over 200 rows drawn with a fixed seed. For complete rows s is the log density in other units.
The typicality of a row is the share of training rows whose s is not larger. Ties count, so that where many training
rows are equal (binary columns) each of them is usual.

For independent views each of which has seen a row or not (``view_shares``), a row is compared with the training rows
that were seen by the same views.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.base.tiles import run_tiles, spans

from .truncated import is_sparse

__all__ = [
    "COMPARED",
    "DRAWN",
    "StandardizedDensity",
    "lower_share",
    "p_value",
    "p_values_among",
    "view_p_values",
    "view_shares",
]

Array = npt.NDArray[Any]
COMPARED = 2_000
"""Training rows that a row is compared with."""
DRAWN = 200
"""Rows drawn from the density for each set of observed entries."""
_TOGETHER = 20_000  # rows whose density is computed in one tile
_FLAT = 1e-3  # least standard deviation of a log density: of almost constant binary columns it is 0
_ROUNDING = 1e-7  # relative difference below which two log densities are equal
_FEWEST = 10  # training rows seen by the same views, below which the views are compared one by one


@dataclass(frozen=True)
class StandardizedDensity:
    """Standardised log densities s(x) of rows.

    Parameters
    ----------
    log_density : callable
        Rows (m, d), NaN where an entry is missing, to the log density (m,) of their observed entries.
    drawn : array of shape (r, d)
        Rows of the density itself.
    """

    log_density: Callable[[Array], Array]
    drawn: Array

    def __call__(self, X: Array, n_jobs: int | None = None) -> Array:
        """Standardised log densities (m,) of rows (m, d), each row by itself; sparse rows are complete."""
        if is_sparse(X):
            mean, deviation = self._moments(np.zeros((1, X.shape[1]), dtype=bool), n_jobs)
            return np.asarray((np.asarray(self.log_density(X), dtype=np.float64) - mean) / deviation)
        X = np.asarray(X, dtype=np.float64)
        gaps, kind = _patterns(np.isnan(X))
        logs = self._log_densities(X, n_jobs)
        mean, deviation = self._moments(gaps, n_jobs)
        return np.asarray((logs - mean[kind]) / deviation[kind])

    def _log_densities(self, X: Array, n_jobs: int | None) -> Array:
        parts = run_tiles(lambda part: self.log_density(X[part]), spans(len(X), _TOGETHER), n_jobs)
        return np.concatenate(parts).astype(np.float64, copy=False)

    def _moments(self, gaps: Array, n_jobs: int | None) -> tuple[Array, Array]:
        """Mean and deviation (p,) of the log density of drawn rows that miss the entries ``gaps`` (p, d)."""
        r = len(self.drawn)

        def one(part: slice) -> Array:
            rows = np.where(gaps[part, None, :], np.nan, self.drawn)
            return np.asarray(self.log_density(rows.reshape(-1, gaps.shape[1])), dtype=np.float64).reshape(-1, r)

        logs = np.concatenate(run_tiles(one, spans(len(gaps), max(1, _TOGETHER // r)), n_jobs))
        return logs.mean(axis=1), np.maximum(logs.std(axis=1), _FLAT)


def _patterns(gaps: Array) -> tuple[Array, Array]:
    """Distinct rows (p, d) of a mask, and the pattern of each row (n,); bytes are sorted faster than single bits."""
    if not gaps.any():
        return gaps[:1], np.zeros(len(gaps), dtype=np.intp)
    _, first, kind = np.unique(np.packbits(gaps, axis=1), axis=0, return_index=True, return_inverse=True)
    return gaps[first], kind.reshape(-1)


def lower_share(own: Array, values: Array) -> Array:
    """Share (m,) of the sorted numbers ``own`` (n,) that are not larger than each value.

    Examples
    --------
    >>> lower_share(np.array([-3.0, -1.0, -1.0, 0.0]), np.array([-5.0, -1.0, 2.0]))
    array([0.  , 0.75, 1.  ])
    """
    values = np.maximum(values, -1e300)
    margin = _ROUNDING * (1.0 + np.abs(values))  # the same row in another block differs in its last bits
    return np.asarray(np.searchsorted(own, values + margin, side="right") / len(own))


def p_value(own: Array, values: Array) -> Array:
    """Conformal p-value (m,) of each value: the share of ``own`` (n,), sorted, and itself that is not larger.

    Examples
    --------
    >>> p_value(np.array([-3.0, -1.0, 0.0]), np.array([-5.0, -1.0, 2.0]))
    array([0.25, 0.75, 1.  ])
    """
    return np.asarray((1.0 + lower_share(own, values) * len(own)) / (1.0 + len(own)))


def p_values_among(own: Array, values: Array, known: Array) -> Array:
    """P-values (m,) of values, of which those that are ``known`` (m,) are among ``own`` (n,) already.

    Examples
    --------
    >>> p_values_among(np.array([-3.0, -1.0, 0.0]), np.array([-3.0, -3.0]), np.array([False, True]))
    array([0.5       , 0.33333333])
    """
    counted = np.maximum(np.round(lower_share(own, values) * len(own)), 1.0)
    return np.asarray(np.where(known, counted / len(own), p_value(own, values)))


def view_p_values(own: Array, logs: Array) -> Array:
    """P-values (m,) of rows in views, as ``view_shares``; if views are compared one by one, by Bonferroni's rule."""
    found = _by_views(own, logs, p_value)
    return np.asarray(np.minimum(found, 1.0))


def view_shares(own: Array, logs: Array) -> Array:
    """Typicality (m,) by log densities (m, v) of rows in views, NaN where a view has not seen the row.

    Parameters
    ----------
    own : array of shape (n, v)
        Log densities of training rows.
    logs : array of shape (m, v)

    Returns
    -------
    shares : array of shape (m,)
        Among the training rows that all views of the row have seen. If these are fewer than ten, the least share over
        its views.
    """
    return _by_views(own, logs, lower_share)


def _by_views(own: Array, logs: Array, compared: Callable[[Array, Array], Array]) -> Array:
    """``compared(training rows, rows)`` among the training rows that the same views have seen."""
    out = np.empty(len(logs))
    seen = ~np.isnan(logs)
    known = ~np.isnan(own)
    patterns, kind = np.unique(seen, axis=0, return_inverse=True)
    for number, views in enumerate(patterns):
        rows = np.flatnonzero(kind.reshape(-1) == number)
        same = known[:, views].all(axis=1)
        if same.sum() >= _FEWEST or views.sum() == 1:
            out[rows] = compared(np.sort(own[same][:, views].sum(axis=1)), logs[rows][:, views].sum(axis=1))
        else:
            each = [compared(np.sort(own[known[:, v], v]), logs[rows, v]) for v in np.flatnonzero(views)]
            out[rows] = np.min(each, axis=0) * (len(each) if compared is p_value else 1)
    return out

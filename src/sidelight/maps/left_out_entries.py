r"""Errors of entries that were hidden in left-out rows, as multiples of their standard deviations.

A row that is left out misses the entries that another training row misses (rows without gaps: a tenth at random), so
that widths hold for gaps like those of the training rows. With x̂ and v the mean and variance of the hidden entries by a
model without the row, t = |x - x̂| / √v goes into ``maps.calibration.half_widths``.

The model is fitted again without each fold of the rows, a twentieth of them where that is cheap. Without a fifth, rows
that lie on neighbouring turns of a roll are told apart less often: v is larger, t too small, and 90 % intervals held
87 % (decision 0039).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from .left_out_rows import in_folds
from .missing import LocalFill, fit_fill

__all__ = ["fill_without", "fold_count", "hidden_errors", "hide_like_others"]

Array = npt.NDArray[Any]
_FEWEST_FOLDS, _MOST_FOLDS = 5, 20
_REFITTED = 50_000  # entries of all these fits together, at most, beyond the fewest folds
_SHARE = 0.1  # entries that are hidden where no row has a gap


def hide_like_others(observed: Array) -> Array:
    """Which entries (n, d) of rows are hidden besides those that are missing; at least one stays.

    Examples
    --------
    >>> observed = np.ones((4, 3), dtype=bool)
    >>> observed[0, 1] = False
    >>> hide_like_others(observed)[1:, 1].all()
    np.True_
    """
    rng = np.random.default_rng(0)
    donors = np.flatnonzero(~observed.all(axis=1))
    if len(donors):
        hidden = observed & ~observed[donors[rng.integers(len(donors), size=len(observed))]]
    else:
        hidden = observed & (rng.random(observed.shape) < _SHARE)
    left = np.asarray((observed & ~hidden).any(axis=1, keepdims=True))
    return np.asarray(hidden & left)


def hidden_errors(X: Array, observed: Array, predict: Callable[[Array, Array, Array], tuple[Array, Array]]) -> Array:
    """``t`` (m, d) of left-out rows of X (n, d); NaN where nothing was hidden.

    Parameters
    ----------
    X : array of shape (n, d)
    observed : boolean array of shape (n, d)
    predict : callable
        ``(kept, rows, queries) -> mean, variance`` of the queries (k, d), which are ``rows`` with NaN where entries are
        missing or hidden, by a model of the rows ``kept``.
    """
    hidden = hide_like_others(observed)

    def answer(kept: Array, rows: Array) -> tuple[Array, ...]:
        queries = np.where(observed[rows] & ~hidden[rows], X[rows], np.nan)
        mean, variance = predict(kept, rows, queries)
        known = hidden[rows] & (variance > 0)
        out = np.full(mean.shape, np.nan)
        out[known] = np.abs(X[rows] - mean)[known] / np.sqrt(variance[known])
        return (out,)

    return in_folds(len(X), X.shape[1], answer, fold_count(X.size))[0]


def fold_count(entries: int) -> int:
    """Number of folds for rows of so many entries.

    Examples
    --------
    >>> fold_count(1_200), fold_count(5_000), fold_count(10**6)
    (20, 10, 5)
    """
    return int(np.clip(_REFITTED // max(entries, 1), _FEWEST_FOLDS, _MOST_FOLDS))


def fill_without(fill: LocalFill, kept: Array, n_jobs: int | None = None) -> LocalFill:
    """The imputation fitted to the training rows ``kept`` (k,) alone, with the same settings.

    Their own gaps are filled again: filled with the help of a row, they would tell of it (90 % intervals held 84 to
    88 % of new entries so). Where none of them has a column, they stay as they are.
    """
    observed = fill.observed[kept]
    if not observed.any(axis=0).all():
        return replace(fill, rows=fill.rows[kept], observed=observed)
    rows = fill.rows[kept] * fill.scale + fill.centre
    return fit_fill(np.where(observed, rows, np.nan), n_jobs, like=fill)

r"""Errors of entries that were hidden in left-out rows, as multiples of their standard deviations.

With x̂ and v the mean and variance of the hidden entries by a model without the row, t = |x - x̂| / √v goes into
``maps.calibration.half_widths``. t depends on how much else the row misses, so that rows with hidden entries must miss
as much as new rows do. If entries are missing independently, a row that misses entry c misses another one c' as often
as a row that has c does: one entry is hidden at a time, and the row keeps its own gaps. Where entries are missing
together, the hidden entry has company, as far as the gaps of the training rows say so:

    hidden beside c, in a row that misses what another row j misses:   c' of j's gaps, with probability h / p₁
    p₁ = P(c' missing | c missing),   p₀ = P(c' missing | c observed),   h = (p₁ - p₀) / (1 - p₀),   0 if within noise

so that c' is missing with probability 1 - (1 - p₀)(1 - h) = p₁. (Once, all gaps of another row were hidden beside the
row's own. With a fifth of ten columns missing, rows then missed 3.6 entries and more, new ones 2.8; v grows faster with
the gaps than errors do, and 90 % intervals held 88 %: decision 0039.)

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

from .calibration import calibrated_rows
from .left_out_rows import in_folds
from .missing import LocalFill, fit_fill

__all__ = ["fill_without", "fold_count", "hidden_errors", "hide_in_turns", "hide_like_others"]

Array = npt.NDArray[Any]
_FEWEST_FOLDS, _MOST_FOLDS = 5, 20
_REFITTED = 50_000  # entries of all these fits together, at most, beyond the fewest folds
_SHARE = 0.1  # entries that are hidden where no row has a gap
_TURNS = 4  # times that entries of a row are hidden: predicting is cheap beside the fits
_COLUMNS = 40  # of so many one is hidden at a time, at least one
_RARE = 0.5  # gaps that are added to each column: a column without any can have one in a new row
_NOISE = 2.0  # standard errors up to which columns count as missing independently


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


def hide_in_turns(observed: Array, rows: Array, turns: int = _TURNS) -> Array:
    """Entries (turns, m, d) that are hidden in ``rows`` (m,): few beside the gaps of the row, and at least one stays.

    Examples
    --------
    >>> observed = np.ones((6, 3), dtype=bool)
    >>> observed[:2, 1:] = False  # missing together
    >>> hidden = hide_in_turns(observed, np.arange(6))
    >>> hidden.shape, bool((hidden & ~observed).any())
    ((4, 6, 3), False)
    """
    rng = np.random.default_rng(0)
    gaps, asked = np.logical_not(observed), np.tile(observed[rows], (turns, 1))
    if not gaps.any():
        hidden = _keep_one_observed(asked, rng.random(asked.shape) < _SHARE)
        return hidden.reshape(turns, len(rows), -1)
    drawn = np.log(gaps.sum(axis=0) + _RARE) + rng.gumbel(size=asked.shape)  # weighted, without replacement
    chosen = np.argsort(-drawn, axis=1)[:, : 1 + asked.shape[1] // _COLUMNS]  # if the row has it
    alone = np.zeros(asked.shape, dtype=bool)
    np.put_along_axis(alone, chosen, values=True, axis=1)
    alone &= asked
    hidden = alone.copy()
    for column in np.flatnonzero(alone.any(axis=0) & gaps.any(axis=0)).tolist():
        at, others = np.flatnonzero(alone[:, column]), np.flatnonzero(gaps[:, column])
        other = others[rng.integers(len(others), size=len(at))]
        hidden[at] |= gaps[other] & (rng.random((len(at), len(hidden[0]))) < _missing_together(gaps, column))
    whole = _keep_one_observed(asked, hidden)
    found = np.where(whole.any(axis=1, keepdims=True), whole, _keep_one_observed(asked, alone))
    return found.reshape(turns, len(rows), -1)


def _keep_one_observed(observed: Array, hidden: Array) -> Array:
    """Observed entries to hide, without rows that would lose all entries."""
    hidden = observed & hidden
    return np.asarray(hidden & (observed & ~hidden).any(axis=1, keepdims=True))


def _missing_together(gaps: Array, column: int) -> Array:
    """``h / p₁`` (d,) of the module docstring: columns missing more often together with a column than without it."""
    lacks = gaps[:, column]
    first, other = (max(int(side.sum()), 1) for side in (lacks, ~lacks))
    p1, p0 = gaps[lacks].sum(axis=0) / first, gaps[~lacks].sum(axis=0) / other
    noise = np.sqrt(p1 * (1.0 - p1) / first + p0 * (1.0 - p0) / other)
    share = np.where(p1 - p0 > _NOISE * noise, (p1 - p0) / np.maximum(1.0 - p0, 1e-9), 0.0)
    return np.asarray(share / np.maximum(p1, 1e-9))


def hidden_errors(X: Array, observed: Array, predict: Callable[[Array, Array], tuple[Array, Array]]) -> Array:
    """``t`` (turns * m, d) of left-out rows of X (n, d); NaN where nothing was hidden.

    Parameters
    ----------
    X : array of shape (n, d)
    observed : boolean array of shape (n, d)
    predict : callable
        ``(kept, queries) -> mean, variance`` of the queries (k, d), rows with NaN where entries are missing or hidden,
        by a model of the rows ``kept``.
    """
    chosen = np.sort(calibrated_rows(*X.shape))
    hidden = hide_in_turns(observed, chosen)

    def answer(kept: Array, rows: Array) -> tuple[Array, ...]:
        asked = hidden[:, np.searchsorted(chosen, rows)]
        truth = np.broadcast_to(X[rows], asked.shape)
        queries = np.where(observed[rows] & ~asked, truth, np.nan)
        mean, variance = (part.reshape(asked.shape) for part in predict(kept, queries.reshape(-1, X.shape[1])))
        known = asked & (variance > 0)
        out = np.full(asked.shape, np.nan)
        out[known] = np.abs(truth - mean)[known] / np.sqrt(variance[known])
        return tuple(out)

    return np.concatenate(in_folds(len(X), X.shape[1], answer, fold_count(X.size)))


def fold_count(entries: int) -> int:
    """Number of folds for a given number of entries.

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

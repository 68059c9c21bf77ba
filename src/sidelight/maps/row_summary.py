"""Summary statistics of rows before a density is fitted: number, mean, variance, missing entries, and a sample."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.base.messages import error_message
from sidelight.base.warnings import warn
from sidelight.rows import Rows, Sums

from .frames import Frame
from .truncated import is_sparse

__all__ = ["RowSummary", "summarise_rows"]

Array = npt.NDArray[Any]
_CONSTANT = 1e-13  # spread of a column, in units of the widest, below which it is rounding
_SAMPLE = 5_000  # least size of the sample; it has at least a hundred rows per chart


@dataclass(frozen=True)
class RowSummary:
    """Summary of rows; everything but ``n`` is in the scaled units of ``frame``.

    Parameters
    ----------
    frame : Frame
    n : int
        Number of rows.
    mean, variance : arrays of shape (d,)
        Of the observed entries of each column.
    missing : bool
        Whether any entry is missing (NaN).
    sample : array of shape (m, d)
        Rows from which the fit is initialised.
    """

    frame: Frame
    n: int
    mean: Array
    variance: Array
    missing: bool
    sample: Array

    def inside(self, X: Array) -> Array:
        """Rows in the frame; sparse rows, whose frame is the identity, as they are."""
        return X if is_sparse(X) else self.frame.inside(X)


def summarise_rows(
    owner: str,
    rows: Rows,
    n_charts: int,
    seed: int,
    *,
    framed: bool = True,
    by_column: bool = False,
    frame: Frame | None = None,
) -> RowSummary:
    """Summarise rows in one pass; raise an error if no density of ``n_charts`` charts can be fitted to them.

    Parameters
    ----------
    owner : str
        Class name of the estimator, for messages.
    rows : Rows
    n_charts : int
        Number of charts of the mixture to be fitted; 1 for a single Gaussian.
    seed : int
        For the sample.
    framed : bool
        Whether rows are centred and scaled; False: the frame is the identity, and rows may be sparse.
    by_column : bool
        Whether each column is scaled by its own standard deviation in the sample.
    frame : Frame or None
        The frame, if it is known; None: as the sample says.
    """
    raw = rows.sample(max(_SAMPLE, 100 * n_charts), seed)
    frame = _chosen_frame(raw, framed, by_column) if frame is None else frame

    def statistic(X: Array) -> Sums:
        if is_sparse(X):
            return _of_sparse(X)
        seen = ~np.isnan(X)
        inside = np.where(seen, frame.inside(X), 0.0)
        empty = np.flatnonzero(~seen.any(axis=1))
        return {
            "n": np.array(len(X)),
            "seen": seen.sum(axis=0),
            "x": inside.sum(axis=0),
            "xx": (inside**2).sum(axis=0),
            "empty": np.array(len(empty)),
        }

    found = rows.total(statistic)
    n, seen = int(found["n"]), found["seen"]
    _refuse(owner, n, n_charts, seen, int(found["empty"]))
    mean = found["x"] / seen
    variance = np.maximum(found["xx"] / seen - mean**2, 0.0)
    return RowSummary(frame, n, mean, variance, bool((seen < n).any()), frame.inside(raw))


def _chosen_frame(X: Array, framed: bool, by_column: bool) -> Frame:
    frame = _frame_of(X) if framed else Frame(np.zeros(X.shape[1]), 1.0)
    return replace(frame, columns=_spreads(frame.inside(X))) if by_column else frame


def _of_sparse(X: Any) -> Sums:
    """The same sums of sparse rows, in which no entry is missing, without a frame."""
    n, d = X.shape
    squares = X.power(2).sum(axis=0)
    return {"n": np.array(n), "seen": np.full(d, n), "x": X.sum(axis=0), "xx": squares, "empty": np.array(0)}


def _refuse(owner: str, n: int, n_charts: int, seen: Array, empty: int) -> None:
    if n < 2:
        raise ValueError(f"{owner}: n_samples={n} while a minimum of 2 is required. Give more rows.")
    if n_charts > n:
        rule = f"is more than the {n} rows of X"
        raise ValueError(error_message(owner, "n_charts", n_charts, rule, f"Give at most {n}, or more rows"))
    if empty:
        rule = f"{'has' if empty == 1 else 'have'} no observed entry"
        message = error_message(owner, "X", f"{empty} rows", rule, "Leave them out of the fit")
        warn(message, UserWarning)
    if (seen == 0).any():
        column = int(np.flatnonzero(seen == 0)[0])
        rule = "has no observed entry in any row"
        raise ValueError(error_message(owner, "X", f"column {column}", rule, "Leave the column out"))


def _frame_of(X: Array) -> Frame:
    """Frame (centre and scale) of rows with missing entries."""
    seen = ~np.isnan(X)
    size = float(np.abs(X[seen]).max(initial=0.0)) or 1.0
    centre = np.where(seen, X / size, 0.0).sum(axis=0) / np.maximum(seen.sum(axis=0), 1) * size
    return Frame(centre, float(np.abs((X - centre)[seen]).max(initial=0.0)) or 1.0)


def _spreads(X: Array) -> Array:
    """Standard deviations (d,) of the observed entries of scaled rows; 1 where a column is constant."""
    seen = ~np.isnan(X)
    count = np.maximum(seen.sum(axis=0), 1)
    filled = np.where(seen, X, 0.0)
    mean = filled.sum(axis=0) / count
    spread = np.sqrt((np.where(seen, filled - mean, 0.0) ** 2).sum(axis=0) / count)
    return np.where(spread > _CONSTANT, spread, 1.0)

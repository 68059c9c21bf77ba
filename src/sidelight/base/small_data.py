"""Warn where a fit succeeds but little can be read from it: few different rows, or many columns of noise.

The rows are counted until ten different ones are found, so that large data costs nothing.
"""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
import numpy.typing as npt

from .messages import error_message
from .warnings import SmallDataWarning, warn

__all__ = ["count_different", "distance_variation", "warn_if_small", "warn_of_spare_dimensions"]

Array = npt.NDArray[Any]
ENOUGH = 10
"""Different rows from which on neighbourhoods can be spoken of."""
_PROBED = 64  # rows looked at first, and rows whose distances are compared
_ALIKE = 0.05  # standard deviation / mean of distances: 0.01 for noise in 5,000 columns, 0.05 in 200


def warn_if_small(owner: object, X: Any, *, distances: bool = False) -> None:
    """Warn (``SmallDataWarning``) of rows ``X`` (n, d) that allow a fit but few conclusions.

    ``distances``: X holds distances between rows, so that its columns are rows, too.
    """
    if not isinstance(X, np.ndarray) or X.ndim != 2 or X.dtype.kind != "f":
        return
    n, d = X.shape
    different = count_different(X, ENOUGH)
    if different < ENOUGH:
        warn(_few_rows(owner, n, different), SmallDataWarning)
    elif d > n and not distances:
        variation = distance_variation(X)
        if variation < _ALIKE:
            seen = f"{n} rows of {d} columns"
            rule = f"are all about equally far apart (distances vary by {variation:.1%}), as rows of noise are:"
            rule = f"{rule} groups and directions in the result may be chance"
            remedy = "Select columns or reduce them first, and compare with a fit to shuffled columns"
            warn(error_message(owner, "X", seen, rule, remedy), SmallDataWarning)


def warn_of_spare_dimensions(owner: object, n_components: object, d: int) -> None:
    """Warn (``SmallDataWarning``) of a map with more dimensions than the data has columns, of which a plane has two."""
    if isinstance(n_components, numbers.Integral) and int(n_components) > max(d, 2):
        rule = f"is more than the {d} columns of X, so the map has more dimensions than the data"
        warn(error_message(owner, "n_components", n_components, rule, f"Ask for at most {d}"), SmallDataWarning)


def _few_rows(owner: object, n: int, different: int) -> str:
    if different == 1:
        rule = "have no structure: they share one latent point"
        return error_message(owner, "X", f"{n} equal rows", rule, "Give rows that differ")
    seen = f"{different} different rows" + (f" among {n}" if n > different else "")
    if different == 2:
        rule = "only show that rows differ: their distance on the map depends on the method"
        return error_message(owner, "X", seen, rule, f"Give {ENOUGH} or more")
    rule = "are too few for neighbourhoods, groups or densities: interpret only which rows are closest"
    return error_message(owner, "X", seen, rule, f"Give {ENOUGH} or more")


def count_different(X: Array, enough: int) -> int:
    """Number of different rows of ``X`` (n, d), at most ``enough``; missing entries (NaN) count as equal.

    Examples
    --------
    >>> count_different(np.array([[1.0], [2.0], [1.0]]), 10)
    2
    """
    n = len(X)
    if n > _PROBED:
        probe = np.unique(np.linspace(0, n - 1, _PROBED).astype(np.int64))
        if _count(X[probe], enough) == enough:
            return enough
    return _count(X, enough)


def _count(X: Array, enough: int) -> int:
    left, found = X, 0
    while len(left) and found < enough:
        same = (left == left[0]) | (np.isnan(left) & np.isnan(left[0]))
        left = left[~same.all(axis=1)]
        found += 1
    return found


def distance_variation(X: Array) -> float:
    """Standard deviation over mean of the distances between rows (up to 64 of them); infinite if unknown."""
    rows = np.asarray(X[np.unique(np.linspace(0, len(X) - 1, _PROBED).astype(np.int64))], dtype=np.float64)
    if not np.isfinite(rows).all():
        return float("inf")
    rows = rows - rows.mean(axis=0)
    size = float(np.abs(rows).max())
    if size == 0:
        return float("inf")
    G = (rows / size) @ (rows / size).T
    squares = np.diag(G)[:, None] + np.diag(G) - 2 * G
    distances = np.sqrt(np.maximum(squares[np.triu_indices(len(rows), 1)], 0.0))
    mean = float(distances.mean())
    return float(distances.std()) / mean if mean > 0 else float("inf")

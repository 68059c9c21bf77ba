"""Validation and slicing of pairs of row numbers, shared by ``Pairs`` and ``Actions``."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.base.messages import error_message

__all__ = ["check_made_for", "checked_index", "renumbered"]

Array = npt.NDArray[Any]


def checked_index(owner: str, argument: str, index: Any, n: int) -> Array:
    """Return row numbers (m, 2), each from 0 to n - 1, as a read-only array of integers.

    Parameters
    ----------
    owner, argument : str
        Class and argument that messages name.
    index : array-like of shape (m, 2), or empty
    n : int
        Rows of the data that they refer to.
    """
    found: Array = np.asarray(index)
    if found.size == 0:
        found = np.empty((0, 2), dtype=np.int64)
    if found.ndim != 2 or found.shape[1] != 2 or found.dtype.kind not in "iu":
        seen, rule = f"array of shape {found.shape} and type {found.dtype}", "does not hold two row numbers a line"
        raise ValueError(error_message(owner, argument, seen, rule, "Give integers of shape (m, 2)"))
    outside = (found < 0) | (found >= n)
    if outside.any():
        rule = f"points outside the {n} rows"
        raise ValueError(error_message(owner, argument, int(found[outside][0]), rule, "Number the rows from 0"))
    found = found.astype(np.int64)  # a copy: the user's array stays writeable
    found.setflags(write=False)
    return found


def renumbered(index: Array, rows: Any, n: int) -> tuple[Array, Array, int]:
    """Restrict pairs of row numbers to those whose two rows are both among ``rows``.

    Parameters
    ----------
    index : array of shape (m, 2)
    rows : row numbers, mask or slice
        If a row is taken more than once, pairs refer to its last position.
    n : int
        Rows before slicing.

    Returns
    -------
    index : array of shape (k, 2)
        The pairs that are left, renumbered.
    kept : array of bool, of shape (m,)
        Which pairs these are.
    n_rows : int
        Rows after slicing.
    """
    taken = np.atleast_1d(np.arange(n)[rows])
    position = np.full(n, -1, dtype=np.int64)
    position[taken] = np.arange(len(taken))
    index = position[index]
    kept = np.asarray((index >= 0).all(axis=1))
    return index[kept], kept, len(taken)


def check_made_for(owner: str, n_samples: int, n: int, remedy: str) -> None:
    """Raise if side information was made for another number of rows than ``n``."""
    if n_samples != n:
        rule = f"does not match the {n} rows of X"
        raise ValueError(error_message(owner, "n_samples", n_samples, rule, remedy))

"""What a column of ``given`` is by its entries alone: a category or a quantity.

Text, truth values and whole numbers with at most 50 different values (and no more than one in five rows) are
categories; other numbers are quantities. The entries cannot tell the numbers of 79 schools from those of 79 ages, so
whole numbers that repeat as labels do are named in a warning.
"""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.base.warnings import DesignWarning, warn

__all__ = ["labels_in_words", "natural_kind", "warn_of_labels"]

Array = npt.NDArray[Any]
_FEW = 50  # integers with no more distinct values than this are categories
_OFTEN = 10  # rows of each whole number, on average, from which it may be a label


def natural_kind(entries: Array) -> str:
    """Return "category" or "number" for entries (n,) without gaps.

    >>> natural_kind(np.repeat([7, 8, 9], 10)), natural_kind(np.arange(30)), natural_kind(np.array([0.5, 1.0]))
    ('category', 'number', 'number')
    """
    if entries.dtype.kind == "O" and all(isinstance(e, numbers.Real) and not isinstance(e, bool) for e in entries):
        entries = entries.astype(np.int64 if _are_whole(entries) else np.float64)
    if entries.dtype.kind == "f":
        return "number"
    if entries.dtype.kind in "iu":
        return "category" if len(np.unique(entries)) <= min(_FEW, max(2, len(entries) // 5)) else "number"
    return "category"


def labels_in_words(entries: Array) -> str:
    """Say that whole numbers that repeat as the labels of groups do are a quantity; "" if they do not repeat so.

    >>> labels_in_words(np.repeat(np.arange(60), 20))
    '60 whole numbers, each on 20 rows on average: taken as a quantity'
    """
    levels = len(np.unique(entries))
    if levels <= _FEW or len(entries) < _OFTEN * levels:
        return ""
    return f"{levels} whole numbers, each on {len(entries) / levels:.0f} rows on average: taken as a quantity"


def warn_of_labels(owner: object, column: str, entries: Array, kind: str, labels: str, otherwise: str) -> None:
    """Warn (``DesignWarning``) of whole numbers taken as a quantity that repeat as the labels of groups do.

    ``labels`` and ``otherwise`` say what to do if they are labels, and if they are not.
    """
    words = labels_in_words(entries) if kind == "number" and _are_whole(entries) else ""
    if words:
        who = owner if isinstance(owner, str) else type(owner).__name__
        says = f"{who}: {column} has {words}; {labels} if these are labels, or {otherwise} if they are not."
        warn(says, DesignWarning)


def _are_whole(entries: Array) -> bool:
    """Whether entries are whole numbers by their type; 1.0 is none."""
    if entries.dtype.kind == "O":
        return all(isinstance(entry, numbers.Integral) for entry in entries)
    return entries.dtype.kind in "iu"

"""Entries of text tables and spreadsheets that are read as missing.

pandas has "None" among them, too. In a column of words that is a level as often as not (the airbags of a car, the
exercise of a student), so here it is missing only beside numbers or truth values.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

__all__ = ["MISSING_TEXTS", "numbers_beside_none"]

MISSING_TEXTS = (
    "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA",
    "NULL", "NaN", "n/a", "nan", "null",
)  # fmt: skip
_NONE = "None"
_TRUTH = {"True": True, "true": True, "False": False, "false": False}


def numbers_beside_none(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the table with "None" read as missing in columns whose other entries are numbers or truth values."""
    found = frame.copy(deep=False)
    for place in range(frame.shape[1]):
        column = frame.iloc[:, place]
        if pd.api.types.is_numeric_dtype(column):
            continue
        none = (column == _NONE).to_numpy(dtype=bool, na_value=False)
        typed = _typed(column.mask(none)) if none.any() else None
        if typed is not None:
            found.isetitem(place, typed.array)
    return found


def _typed(column: pd.Series[Any]) -> pd.Series[Any] | None:
    """Entries as truth values or numbers; None where they are neither, or where there is none."""
    present = column.dropna()
    if not len(present):
        return None
    if present.isin(list(_TRUTH)).all():
        return column.astype(object).map(_TRUTH).astype(object)
    try:
        return column.astype(np.float64)
    except (ValueError, TypeError):
        return None

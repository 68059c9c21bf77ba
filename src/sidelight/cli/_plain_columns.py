"""Make the columns of any table plain: names that differ, and entries that are numbers, text, dates or categories."""

from __future__ import annotations

import json
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

from sidelight.base.messages import count_of

__all__ = ["plain_columns", "unique_names"]

_MOST_COLUMNS = 10_000


def unique_names(names: Sequence[Any]) -> list[str]:
    """Return the names as text, with a number where one is missing or there twice, as pandas does.

    Examples
    --------
    >>> unique_names(["a", "", "a"])
    ['a', 'Unnamed: 1', 'a.1']
    """
    own = [str(name) or f"Unnamed: {place}" for place, name in enumerate(names)]
    taken: set[str] = set()
    for place, name in enumerate(own):
        number = 0
        while own[place] in taken:
            number += 1
            own[place] = f"{name}.{number}"
        taken.add(own[place])
    return own


def plain_columns(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Return the table with plain columns only, and remarks about the changes.

    Decimals become floats; a column of equally long lists of numbers becomes a column for each; other lists and
    objects become text; binary data is left out.
    """
    frame = frame.set_axis(unique_names(list(frame.columns)), axis=1)
    remarks: list[str] = []
    parts: list[Any] = []
    for name in frame.columns:
        column, remark = _plain(frame[name])
        parts.append(column)
        remarks += [remark] if remark else []
    if not remarks and all(part is not None and part.ndim == 1 for part in parts):
        same = all(part is frame[name] for part, name in zip(parts, frame.columns, strict=True))
        if same:
            return frame, []
    kept = [part for part in parts if part is not None]
    whole = pd.concat(kept, axis=1) if kept else frame.iloc[:, :0]
    return whole.set_axis(unique_names(list(whole.columns)), axis=1), remarks


def _plain(column: pd.Series[Any]) -> tuple[Any, str]:
    """Return a plain column, several, or None, and a remark or "" if nothing need be said."""
    if column.dtype != object:
        return column, ""
    filled = column.dropna()
    kinds = {type(entry) for entry in filled}
    if kinds and kinds <= {Decimal, int, float}:
        return column.astype(np.float64), ""
    if kinds & {bytes, bytearray, memoryview}:
        return None, f"{column.name} holds binary data and is left out."
    if not kinds & {list, tuple, dict, np.ndarray}:
        return column, ""
    wide = _spread(column)
    if wide is not None:
        become = f"they become the columns {wide.columns[0]} to {wide.columns[-1]}"
        what = f"lists of {count_of(wide.shape[1], 'number')}; {become}"
        return wide, f"{column.name} holds {what}."
    text = column.map(lambda entry: json.dumps(entry, default=_as_list) if not _missing(entry) else None)
    return text, f"{column.name} holds lists or objects, which are taken as text."


def _missing(entry: Any) -> bool:
    return entry is None or (isinstance(entry, float) and np.isnan(entry))


def _as_list(entry: Any) -> Any:
    return entry.tolist() if isinstance(entry, np.ndarray | np.generic) else str(entry)


def _spread(column: pd.Series[Any]) -> pd.DataFrame | None:
    """Return a column for each number of equally long lists, NaN where there is no list; None if they are not such."""
    there = ~column.isna().to_numpy()
    try:
        values = np.array([np.asarray(entry, dtype=np.float64) for entry in column[there]])
    except (ValueError, TypeError):
        return None
    if values.ndim != 2 or not 1 <= values.shape[1] <= _MOST_COLUMNS:
        return None
    if any(isinstance(entry, str) for entry in column[there].iloc[0]):
        return None  # digits in text are codes
    whole = np.full((len(column), values.shape[1]), np.nan)
    whole[there] = values
    names = [f"{column.name}_{k + 1}" for k in range(values.shape[1])]
    return pd.DataFrame(whole, columns=names, index=column.index)

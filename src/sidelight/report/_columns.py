"""The columns of a report: those of the rows as the user knows them, and those that come back from the map.

A column is stored once: other sections refer to it by its number. Categories are stored under all their names, also
those that share a colour, because the tooltip names them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.plot._colouring import Categories, Numbers, column_names, column_of
from sidelight.plot._plane import Floats

from ._section import pack, pack_numbers

__all__ = [
    "MOST_OFFERED",
    "MOST_TOLD",
    "Column",
    "DataRows",
    "column_data",
    "data_rows",
    "features_of",
    "names_of_rows",
    "numbers_of",
    "table_columns",
]

Column = Categories | Numbers

MOST_OFFERED, MOST_TOLD = 30, 12
"""Tables with at most so many columns offer each as a colour; of wider ones, the first few are stored."""
LONGEST_NAME = 80
"""Letters of a category or of a row's name that the page shows."""


@dataclass(frozen=True)
class DataRows:
    """Rows in the units of the data: ``numbers`` (m, p) of the columns ``names``, and their ``categories``.

    ``dates`` are the names of those columns whose numbers are days since 1 January 1970.
    """

    names: tuple[str, ...]
    numbers: Floats
    categories: tuple[Categories, ...] = ()
    dates: frozenset[str] = frozenset()


def data_rows(rows: Any, to_data: Callable[[Any], Any] | None, names: Sequence[str]) -> DataRows:
    """Return rows that a model made in the units of the data; ``names`` are those of columns without one."""
    found = rows if to_data is None else to_data(rows)
    if not column_names(found):
        return DataRows(tuple(names), np.asarray(found, dtype=np.float64))
    columns = table_columns(found, len(rows), merge_integers=False)
    numbers = [column for column in columns if isinstance(column, Numbers)]
    values = np.column_stack([column.values for column in numbers]) if numbers else np.empty((len(rows), 0))
    categories = tuple(column for column in columns if isinstance(column, Categories))
    dates = frozenset(column.name for column in numbers if column.is_date)
    return DataRows(tuple(column.name for column in numbers), values, categories, dates)


def table_columns(table: Any, n: int, *, merge_integers: bool = True) -> tuple[Column, ...]:
    """Return the columns of a data frame or mapping of n rows; whole numbers are categories only if few of them occur.

    Without ``merge_integers`` whole numbers are always numbers.
    """
    found = []
    for name in column_names(table):
        values = table[name]
        kind = getattr(getattr(values, "dtype", None), "kind", "")
        number = not merge_integers and kind in ("i", "u")
        found.append(column_of(values, n, name=str(name), categorical=False if number else None))
    return tuple(found)


def features_of(
    table: tuple[Column, ...] | None, X: NDArray[Any] | None, names: Sequence[str], taken: Sequence[str]
) -> tuple[tuple[Column, ...], int]:
    """Return the columns that are stored beside those that are ``taken`` already, and how many more there are.

    They are columns of the ``table`` of the user, otherwise those of the numbers ``X``.
    """
    if table is not None:
        free = [column for column in table if column.name not in set(taken)]
        shown = free if len(free) <= MOST_OFFERED else free[:MOST_TOLD]
        return tuple(shown), len(free) - len(shown)
    if X is None:
        return (), 0
    count = len(names) if len(names) <= MOST_OFFERED else MOST_TOLD
    found = tuple(Numbers(name, np.array(X[:, k], dtype=np.float64)) for k, name in enumerate(names[:count]))
    return found, len(names) - count


def numbers_of(table: tuple[Column, ...] | None, X: NDArray[Any] | None, names: Sequence[str]) -> DataRows | None:
    """Return the numerical columns of the rows in the units of the data; None without rows."""
    if table is None:
        return None if X is None else DataRows(tuple(names), np.asarray(X, dtype=np.float64))
    found = [column for column in table if isinstance(column, Numbers) and not column.is_date]
    return DataRows(tuple(c.name for c in found), np.column_stack([c.values for c in found])) if found else None


def column_data(column: Column, kept: NDArray[np.intp], group: str) -> dict[str, Any]:
    """Return a column as the script reads it, for the ``kept`` rows."""
    named: dict[str, Any] = {"name": column.name, "group": group}
    if isinstance(column, Numbers):
        low, high = column.colour_limits
        values = pack_numbers(column.values[kept], exact=column.is_date)
        told: dict[str, Any] = {"low": low, "high": high, "period": column.period, "values": values}
        n_beyond = sum(column.beyond_colours(column.values[kept]))
        if n_beyond:
            told["beyond"] = {"rows": n_beyond, "least": column.limits[0], "most": column.limits[1]}
        return named | {"kind": "numbers", **told} | ({"date": True} if column.is_date else {})
    named |= {"kind": "categories", "levels": [_shortened(level) for level in column.levels]}
    if column.entry_codes is None:
        return named | {"codes": pack(column.codes[kept], "int8")}
    # Where rare categories share a level, the script finds the level of an entry in `shared`.
    shared = np.zeros(len(column.entries), dtype=np.int64)
    known = column.entry_codes >= 0
    shared[column.entry_codes[known]] = column.codes[known]
    used, codes = np.unique(column.entry_codes[kept], return_inverse=True)
    entries = [None if k < 0 else _shortened(column.entries[k]) for k in used]
    return named | {
        "count": column.n_categories,
        "entries": entries,
        "shared": [-1 if k < 0 else int(shared[k]) for k in used],
        "codes": pack(codes, "uint8" if len(used) <= 2**8 else "int32"),
    }


def names_of_rows(row_names: Any, X: Any, n: int) -> tuple[str, ...]:
    """Return the names of the rows: as given, or the index of a frame that has one of its own; empty without names."""
    if row_names is None and hasattr(X, "index") and hasattr(X, "columns") and not _counts_rows(X.index):
        row_names = X.index
    if row_names is None:
        return ()
    return tuple(str(name) for name in np.asarray(row_names, dtype=object).tolist())


def _counts_rows(index: Any) -> bool:
    """Whether the index of a frame only counts its rows, so that it names none."""
    values = np.asarray(index)
    return values.dtype.kind in "iu" and bool(np.array_equal(values, np.arange(len(values))))


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_NAME else text[: LONGEST_NAME - 1] + "…"

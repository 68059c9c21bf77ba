"""Known variables of the rows: categories or numbers, from lists, NumPy, pandas or polars, with missing values.

The rule is that of ``given`` (:mod:`sidelight.side.natural_kind`): text, booleans, pandas categories and whole numbers
with at most 50 different values, and no more than one in five rows, are categories; other numbers are numbers. Every
function that uses it takes ``kind=`` to say otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sidelight.base.messages import error_message
from sidelight.side.columns import is_missing
from sidelight.side.natural_kind import natural_kind, warn_of_labels

from ._ranks import Array, Index

__all__ = ["KnownColumns", "codes_of", "known_columns"]


@dataclass(frozen=True, eq=False)
class KnownColumns:
    """Columns without gaps: ``kind`` "category" (integer codes) or "number"; ``kept`` says which rows remain."""

    kind: str
    columns: NDArray[Any]
    kept: NDArray[np.bool_]

    def only(self, rows: NDArray[np.bool_]) -> KnownColumns:
        """Keep only rows that are in the mask as well."""
        return KnownColumns(self.kind, self.columns[rows[self.kept]], self.kept & rows)


def known_columns(owner: str, argument: str, values: ArrayLike, n: int, kind: str | None = None) -> KnownColumns:
    """Read (n,) or (n, g) known values; rows with a missing value are left out."""
    if kind not in (None, "category", "number"):
        remedy = "Give 'category', 'number' or None (decide by type)"
        raise ValueError(error_message(owner, "kind", kind, "is not known", remedy))
    table = _table(owner, argument, values, n)
    kept = ~np.logical_or.reduce([_gaps(column) for column in table])
    if not kept.any():
        raise ValueError(error_message(owner, argument, "all missing", "leaves no row", "Give at least some values"))
    kinds = {kind or natural_kind(column[kept]) for column in table}
    if len(kinds) > 1:
        rule, remedy = "mixes numbers and categories", "Call once per column, or give kind="
        raise ValueError(error_message(owner, argument, "table", rule, remedy))
    (only,) = kinds
    for column in table if kind is None else []:
        warn_of_labels(owner, argument, column[kept], only, "pass kind='category'", "kind='number'")
    read = _numbers if only == "number" else _codes
    return KnownColumns(only, np.stack([read(owner, argument, column[kept]) for column in table], axis=1), kept)


def codes_of(owner: str, argument: str, labels: ArrayLike, n: int) -> tuple[Index, NDArray[np.bool_]]:
    """Read one column of labels of any type as integer codes, and which rows have one."""
    known = known_columns(owner, argument, labels, n, kind="category")
    if known.columns.shape[1] != 1:
        seen = f"{known.columns.shape[1]} columns"
        raise ValueError(error_message(owner, argument, seen, "is not one label per row", "Give one column"))
    return known.columns[:, 0], known.kept


def _table(owner: str, argument: str, values: Any, n: int) -> list[NDArray[Any]]:
    """The columns, each as an array of objects or of its own NumPy type."""
    if hasattr(values, "iloc") and getattr(values, "ndim", 1) == 2:
        columns = [_column(values.iloc[:, i]) for i in range(values.shape[1])]
    else:
        array = _column(values)
        columns = list(np.moveaxis(array, -1, 0)) if array.ndim == 2 else [array]
    if not columns or columns[0].shape != (n,):
        seen = f"array of shape {np.shape(columns[0]) if columns else (n, 0)}"
        raise ValueError(
            error_message(owner, argument, seen, f"does not have one entry per row ({n})", "Match the rows")
        )
    return columns


def _column(values: Any) -> NDArray[Any]:
    """Plain NumPy types stay; everything else becomes objects, in which pandas' missing values survive."""
    dtype = getattr(values, "dtype", None)
    array = np.asarray(values, dtype=None if isinstance(dtype, np.dtype) else object)
    if str(dtype) == "category":
        # Categories that happen to be floating-point numbers are categories still.
        return np.array([None if is_missing(value) else repr(value) for value in array], dtype=object)
    return array


def _gaps(column: NDArray[Any]) -> NDArray[np.bool_]:
    if column.dtype.kind == "f":
        return np.asarray(np.isnan(column))
    if column.dtype.kind in "mM":
        return np.asarray(np.isnat(column))
    if column.dtype.kind != "O":
        return np.zeros(column.shape, dtype=bool)
    return np.array([is_missing(value) for value in column], dtype=bool)


def _numbers(owner: str, argument: str, column: NDArray[Any]) -> Array:
    try:
        numbers = column.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            error_message(owner, argument, "text", "cannot be read as numbers", "Use kind='category'")
        ) from error
    if not np.isfinite(numbers).all():
        raise ValueError(error_message(owner, argument, "inf", "is not finite", "Leave such rows missing (NaN)"))
    return numbers


def _codes(owner: str, argument: str, column: NDArray[Any]) -> Index:
    seen: dict[Any, int] = {}
    try:
        return np.array([seen.setdefault(value, len(seen)) for value in column.tolist()], dtype=np.intp)
    except TypeError as error:
        rule = "holds values that cannot be compared as labels"
        raise ValueError(
            error_message(owner, argument, "list of lists", rule, "Give one plain label per row")
        ) from error

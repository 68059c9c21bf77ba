"""The rows of an explorer: features as the model takes them, and the columns beside them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from sidelight.base.capabilities import feature_names_of, given_of
from sidelight.base.messages import error_message
from sidelight.plot._colouring import Numbers, column_names
from sidelight.report._columns import Column, DataRows, data_rows, names_of_rows, table_columns
from sidelight.side.columns import is_missing

from .statement import Statement

__all__ = [
    "MOST_COUNTED", "Column", "Table", "digest_of", "given_columns", "labelled", "numbers_of", "plain_entries",
    "rows_without", "shown_columns", "table_of",
]  # fmt: skip

Array = NDArray[Any]
MOST_COUNTED = 50
"""Different values of a column that are counted one by one; integers of more have a range."""
_MOST_FEATURES = 60  # features that are offered as colours


@dataclass(frozen=True)
class Table:
    """Rows and what is known about them.

    Parameters
    ----------
    X : array or data frame of shape (n, d)
        As the model takes it.
    columns : dict of str to array of shape (n,)
        What is known beside the features.
    features : tuple of str
        Names of the d columns of X.
    row_names : tuple of str
        Empty without names.
    image_shape : tuple (height, width) or None
    to_data : callable or None
        Rows of X in the units of the user's data.
    """

    X: Any
    columns: Mapping[str, Array] = field(default_factory=dict)
    features: tuple[str, ...] = ()
    row_names: tuple[str, ...] = ()
    image_shape: tuple[int, int] | None = None
    to_data: Callable[[Any], Any] | None = None

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    def take(self, rows: Array) -> Any:
        """Some rows of X, of the same type."""
        return self.X.iloc[rows] if hasattr(self.X, "iloc") else self.X[rows]

    @cached_property
    def colours(self) -> tuple[Column, ...]:
        """The features as colours, in the units of the data; none of pictures and of tables with very many."""
        if self.image_shape is not None or len(self.features) > _MOST_FEATURES:
            return ()
        data = self.in_units(self.X)
        numbers = tuple(
            Numbers(name, data.numbers[:, k], is_date=name in data.dates) for k, name in enumerate(data.names)
        )
        found: tuple[Column, ...] = (*numbers, *data.categories)
        return tuple(one for one in found if one.name not in self.columns)

    @cached_property
    def texts(self) -> tuple[Column, ...]:
        """The features that are categories, where they are not offered as colours."""
        if self.to_data is None or len(self.features) <= _MOST_FEATURES:
            return ()
        return self.in_units(self.X).categories

    @cached_property
    def folded_names(self) -> tuple[str, ...]:
        """The names of the rows without the difference of upper and lower case, to search in."""
        return tuple(name.casefold() for name in self.row_names)

    @cached_property
    def value_range(self) -> tuple[float, float]:
        """The smallest and the largest value, between which pictures go from black to white."""
        X = np.asarray(self.X)
        return float(np.nanmin(X)), float(np.nanmax(X))

    def in_units(self, rows: Any) -> DataRows:
        """Rows of X, or rows that a model returned, in the units of the data: numbers and categories."""
        return data_rows(np.asarray(rows), self.to_data, self.features)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of X and of the columns beside it."""
        found = hashlib.sha256(digest_of(np.asarray(self.X, dtype=np.float64)).encode())
        for name in sorted(self.columns):
            found.update(repr((name, [_text(value) for value in self.columns[name].tolist()])).encode())
        return found.hexdigest()


def digest_of(values: Array) -> str:
    """SHA-256 of an array: shape, type and bytes."""
    values = np.ascontiguousarray(values)
    found = hashlib.sha256(f"{values.shape}{values.dtype.str}".encode())
    found.update(values.tobytes())
    return found.hexdigest()


def table_of(
    model: Any,
    X: Any,
    columns: Any = None,
    given: Any = None,
    *,
    row_names: Sequence[str] | None = None,
    image_shape: tuple[int, int] | None = None,
    to_data: Callable[[Any], Any] | None = None,
) -> Table:
    """The rows that :func:`sidelight.explore` is about."""
    if issparse(X):
        rule = "are sparse, and the page shows every entry of a row"
        raise TypeError(error_message("explore", "X", "rows", rule, "Fit dense rows, such as some of the columns"))
    rows = X if hasattr(X, "iloc") else np.asarray(X)
    if rows.ndim != 2 or np.asarray(rows).dtype.kind not in "biuf":
        seen = f"array of shape {rows.shape}, type {np.asarray(rows).dtype}"
        raise ValueError(error_message("explore", "X", seen, "is no table of numbers", "Give the rows of the fit"))
    n = len(rows)
    names = column_names(X) or feature_names_of(model) or [f"x{k + 1}" for k in range(rows.shape[1])]
    if len(set(names)) < len(names):
        twice = next(name for name in names if list(names).count(name) > 1)
        rule = "is the name of two columns, which a page could not tell apart"
        raise ValueError(error_message("explore", "X", repr(twice), rule, "Rename one"))
    found = _columns(columns, n) | given_columns(model, given, n)
    if image_shape is not None and image_shape[0] * image_shape[1] != rows.shape[1]:
        rule = f"does not fit {rows.shape[1]} columns"
        raise ValueError(error_message("explore", "image_shape", image_shape, rule, "Give (height, width) of a row"))
    return Table(rows, found, tuple(map(str, names)), names_of_rows(row_names, X, n), image_shape, to_data)


def given_columns(model: Any, given: Any, n: int) -> dict[str, Array]:
    """``given`` of the rows as columns, under the names that the model has for them."""
    known = given_of(model)
    if known is None or given is None:
        if known is None and given is not None:
            raise ValueError(
                error_message("explore", "given", "something", "is not known to the model", "Leave it out")
            )
        if known is not None:
            lacking = ", ".join(column.name for column in known.columns)
            raise ValueError(error_message("explore", "given", None, f"lacks {lacking}", "Give it as in fit"))
        return {}
    names = [column.name for column in known.columns]
    if column_names(given):
        return {name: _without_na(np.asarray(given[name], dtype=object)) for name in names}
    values = _without_na(np.asarray(given, dtype=object)).reshape(n, len(names))
    return {name: values[:, k] for k, name in enumerate(names)}


def rows_without(n: int, rows: Any) -> Array:
    """The numbers 0 to n - 1 without some; NumPy's ``setdiff1d`` sorts and hashes them all, a second for a million."""
    there = np.ones(n, dtype=bool)
    there[np.asarray(rows, dtype=np.int64)] = False
    return np.flatnonzero(there)


def labelled(table: Table, statements: Sequence[Statement]) -> dict[str, Array]:
    """The columns of the table and those that statements "label" make; rows without a label are missing there."""
    found = dict(table.columns)
    for one in statements:
        if one.kind == "label" and one.on:
            own = found.get(one.column)
            column = np.full(table.n, None, dtype=object) if own is None else np.array(own, dtype=object)
            column[list(one.rows)] = one.value
            found[one.column] = column
    return found


def numbers_of(values: Array) -> Array | None:
    """A column as numbers (n,), dates as days since 1970; None where it has categories, or few different integers."""
    kind = values.dtype.kind
    if kind == "M":
        seconds = values.astype("datetime64[s]")
        return np.where(np.isnat(seconds), np.nan, seconds.astype(np.int64) / 86400)
    if kind in "iu":
        return values.astype(np.float64) if len(np.unique(values)) > MOST_COUNTED else None
    if kind == "O":
        there = [value for value in values.tolist() if value is not None and value == value]
        if not there or not all(isinstance(value, float | np.floating) for value in there):
            return None
        return np.array([np.nan if value is None else float(value) for value in values.tolist()])
    return values if kind == "f" else None


def plain_entries(values: Array) -> list[Any]:
    """Entries as Python has them; dates as text, without a time of the day where it is midnight."""
    if values.dtype.kind != "M":
        return list(values.tolist())
    texts = values.astype("datetime64[s]").astype(str).tolist()
    return [None if text == "NaT" else text.removesuffix("T00:00:00").replace("T", " ") for text in texts]


def _columns(columns: Any, n: int) -> dict[str, Array]:
    if columns is None or (isinstance(columns, Mapping) and not columns):
        return {}
    if not column_names(columns):
        remedy = "Give a dict or a data frame of columns"
        raise TypeError(error_message("explore", "columns", type(columns).__name__, "has no names", remedy))
    found = {str(name): _entries_of(columns[name]) for name in column_names(columns)}
    for name, values in found.items():
        if values.shape != (n,):
            rule = f"does not match the {n} rows"
            raise ValueError(error_message("explore", "columns", f"{name} of {values.shape}", rule, "Give one per row"))
    return found


def _entries_of(values: Any) -> Array:
    """A column as an array: times with a zone in UTC, spans of time in days, None for missing entries of pandas."""
    dtype = getattr(values, "dtype", None)
    if getattr(dtype, "kind", "") == "M" and not isinstance(dtype, np.dtype):
        return np.asarray(values, dtype="datetime64[ns]")
    array = np.asarray(values)
    if array.dtype.kind == "m":
        return np.where(np.isnat(array), np.nan, array / np.timedelta64(1, "D"))
    return _without_na(array)


def _without_na(array: Array) -> Array:
    """Objects with None in place of ``pandas.NA``, which equals nothing and is not even unequal to itself."""
    if array.dtype != object:
        return array
    out = array.copy()
    out.ravel()[:] = [None if is_missing(value) else value for value in array.ravel().tolist()]
    return out


def shown_columns(columns: Mapping[str, Array], n: int) -> tuple[Column, ...]:
    """Columns as categories or numbers with their colours' limits."""
    return table_columns(dict(columns), n) if columns else ()


def _text(value: Any) -> Any:
    return None if value is None or value != value else value if isinstance(value, str | int | float) else str(value)

"""Entries put into a table of any library; every other entry stays the very same."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt

from ._table_columns import Table
from ._table_layout import ColumnLayout, native_column

__all__ = ["Entries", "frame_of", "with_entries"]

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Entries:
    """New entries of one column.

    Parameters
    ----------
    layout : ColumnLayout
        Type and notation of the column.
    rows : int array of shape (m,)
    values : list of length m
        Python objects of the column.
    """

    layout: ColumnLayout
    rows: Array
    values: list[Any]


def with_entries(X: Any, table: Table, labels: Sequence[Any], entries: Mapping[Any, Entries]) -> Any:
    """Return a table of the same library and types, with new entries.

    Parameters
    ----------
    X : table of any library, array, or list of rows
    table : Table
        ``X`` as it was read.
    labels : sequence
        Columns of the result, in this order; of an array these are all columns.
    entries : dict
        Label -> Entries.
    """
    if table.library == "array":
        return _array_with(X, labels, entries)
    if table.library == "pandas":
        frame = X[list(labels)].copy()
        for label, new in entries.items():
            frame[label] = _pandas_with(frame[label], new)
        return frame
    frame = nw.from_native(X, eager_only=True).select(list(labels))
    columns = [_series_with(frame[label], new, table.library) for label, new in entries.items()]
    return frame.with_columns(*columns).to_native()


def frame_of(library: str, columns: Mapping[str, Array], index: Any) -> Any:
    """Return columns of numbers as a table of a library, of arrays as a dictionary."""
    if library == "array":
        return dict(columns)
    if library == "pandas":
        return importlib.import_module("pandas").DataFrame(dict(columns), index=index)
    backend: Any = library
    return nw.from_dict({name: values.tolist() for name, values in columns.items()}, backend=backend).to_native()


def _array_with(X: Any, labels: Sequence[Any], entries: Mapping[Any, Entries]) -> Array:
    rows = np.array(X)
    if rows.dtype.kind == "U":  # texts of a fixed length would be cut
        return np.asarray(_array_with(rows.astype(object), labels, entries)).astype(str)
    places = {label: j for j, label in enumerate(labels)}
    for label, new in entries.items():
        rows[new.rows, places[label]] = new.values
    return rows


def _pandas_with(column: Any, new: Entries) -> Any:
    pandas = importlib.import_module("pandas")
    if new.layout.levels is not None:
        unknown = [level for level in dict.fromkeys(new.values) if level not in set(new.layout.levels)]
        column = column.cat.add_categories(unknown) if unknown else column
        held = column.array.copy()
        held[new.rows] = new.values
    else:
        held = column.array.copy()
        held[new.rows] = native_column(new.layout, new.values, "pandas").array
    kept = {"dtype": object} if column.dtype == object else {}  # pandas 3 would make a column of strings of it
    return pandas.Series(held, index=column.index, name=column.name, **kept)


def _series_with(column: Any, new: Entries, library: str) -> Any:
    """A series of polars, pyarrow or another library of narwhals."""
    values: list[Any] = [None] * len(column)
    kept = [True] * len(column)
    for row, value in zip(new.rows.tolist(), new.values, strict=True):
        values[row], kept[row] = value, False
    backend: Any = library
    mask = nw.new_series("kept", kept, nw.Boolean, backend=backend)
    found = column.zip_with(mask, native_column(new.layout, values, library))
    return _typed_as(found, column) if library == "pyarrow" else found


def _typed_as(found: Any, column: Any) -> Any:
    """A pyarrow series with the type of another; a choice between dictionaries is one of texts."""
    native, wanted = found.to_native(), column.to_native().type
    if native.type == wanted:
        return found
    pa = importlib.import_module("pyarrow")
    if pa.types.is_dictionary(wanted):
        native = native.cast(wanted.value_type).dictionary_encode()
    return nw.from_native(native.cast(wanted), series_only=True).alias(column.name)

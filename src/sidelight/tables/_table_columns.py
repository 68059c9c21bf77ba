"""Tables of any library as plain columns: NumPy arrays with a mask of missing entries.

Frames of pandas, polars, pyarrow and others are read through narwhals; arrays and lists of rows are accepted too. What
a column *means* is decided in ``_column_kinds.py``; here only its type is looked at.
"""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, time, timedelta
from decimal import Decimal
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
from scipy import sparse

from sidelight.base.array_api import as_numpy
from sidelight.base.messages import error_message
from sidelight.base.validation import checked_array

from ._date_text import microseconds
from ._missing_marks import MARKS, has_sign_levels

__all__ = ["STORED", "Table", "TableColumn", "read_table", "without_marks"]

Array = npt.NDArray[Any]
_OWNER = "TableEncoder"

STORED = ("number", "integer", "boolean", "text", "category", "ordered", "date", "duration", "time")
"""What the type of a column can say."""


@dataclass(frozen=True)
class TableColumn:
    """One column of a table.

    Parameters
    ----------
    name : str
    stored : str
        What its type says, one of ``STORED``.
    values : array of shape (n,)
        Floats for numbers, booleans, dates (microseconds since 1970), durations and times (microseconds); else objects.
    missing : bool array of shape (n,)
    levels : tuple
        Categories of a categorical type, in its order.
    dtype : str
        The type as its library writes it.
    marks : tuple of str
        Entries that were read as missing, such as "?".
    """

    name: str
    stored: str
    values: Array
    missing: Array
    levels: tuple[Any, ...] = ()
    dtype: str = ""
    marks: tuple[str, ...] = ()

    @property
    def present(self) -> Array:
        """The entries that are not missing."""
        return np.asarray(self.values[~self.missing])

    @property
    def is_text(self) -> bool:
        """Whether entries are objects, mostly text."""
        return self.stored in ("text", "category", "ordered")


@dataclass(frozen=True)
class Table:
    """The columns of a table, and where it came from.

    Parameters
    ----------
    library : str
        "pandas", "polars", "pyarrow", ...; "array" for anything without columns of its own.
    columns : tuple of TableColumn
    labels : tuple
        Names of the columns as they were, which need not be text.
    n_rows : int
    named : bool
        Whether the names are the user's.
    """

    library: str
    columns: tuple[TableColumn, ...]
    labels: tuple[Any, ...]
    n_rows: int
    named: bool

    def by_name(self) -> dict[str, TableColumn]:
        """Return the columns by their names."""
        return {column.name: column for column in self.columns}


def read_table(X: Any) -> Table:
    """Return the columns of a frame, an array or a list of rows."""
    if sparse.issparse(X):
        # scikit-learn looks for the word "sparse" and the class of the remedy
        raise TypeError(
            error_message(_OWNER, "X", "sparse matrix", "is not a table; dense data is required", "Use X.toarray()")
        )
    if isinstance(X, Mapping):
        X = {str(name): np.asarray(values, dtype=object) for name, values in X.items()}
        rule, remedy = "is a dictionary and not a table", "Make a frame of it: pandas.DataFrame(X)"
        raise TypeError(error_message(_OWNER, "X", "dict", rule, remedy))
    if nw.dependencies.is_into_series(X):
        rule = "is one row or column, and not a table"
        remedy = "Give table.loc[[label]] for one row, and series.to_frame() for one column"
        raise ValueError(error_message(_OWNER, "X", f"a {type(X).__name__}", rule, remedy))
    native = nw.from_native(_text_labels(X), eager_only=True, pass_through=True)
    return _from_frame(native, X) if isinstance(native, nw.DataFrame) else _from_array(X)


def _text_labels(X: Any) -> Any:
    """A pandas frame with column names that are text; narwhals wants no others."""
    if not nw.dependencies.is_pandas_dataframe(X):
        return X
    names = [str(label) for label in X.columns]
    twice = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
    if twice:
        rule = "is the name of more than one column"
        raise ValueError(error_message(_OWNER, "X", f"column {twice[0]!r}", rule, "Rename or drop the others"))
    return X if all(isinstance(label, str) for label in X.columns) else X.set_axis(names, axis=1)


def _from_frame(frame: Any, X: Any) -> Table:
    labels = tuple(X.columns) if nw.dependencies.is_pandas_dataframe(X) else tuple(frame.columns)
    native = frame.to_native()
    is_pandas = nw.dependencies.is_pandas_dataframe(native)
    columns = []
    for series in frame.iter_columns():
        dtype = str(native[series.name].dtype) if is_pandas else str(series.dtype)
        columns.append(_from_series(series, dtype))
    _refuse_no_rows(len(frame), len(columns))
    return Table(frame.implementation.value, tuple(columns), _plain_labels(labels), len(frame), True)


def _plain_labels(labels: tuple[Any, ...]) -> tuple[Any, ...]:
    """Column labels as text or whole numbers, which a model file can hold."""
    return tuple(int(one) if isinstance(one, numbers.Integral) else str(one) for one in labels)


def _from_series(series: nw.Series[Any], dtype: str) -> TableColumn:
    name, kind = series.name, series.dtype
    missing = np.asarray(series.is_null().to_numpy(), dtype=bool)
    if kind.is_integer():
        return _numeric(name, "integer", series, missing, dtype)
    if kind.is_numeric():
        return _numeric(name, "number", series, missing, dtype)
    if isinstance(kind, nw.Boolean):
        return TableColumn(name, "boolean", _floats(series.to_list(), missing), missing, dtype=dtype)
    if isinstance(kind, nw.Categorical | nw.Enum):
        levels, ordered = _levels(series)
        return TableColumn(name, ordered, _objects(series.to_list()), missing, levels, dtype)
    if isinstance(kind, nw.Date | nw.Datetime):
        return TableColumn(name, "date", _floats(series.dt.timestamp("us").to_list(), missing), missing, dtype=dtype)
    if isinstance(kind, nw.Duration):
        return TableColumn(
            name, "duration", _floats(series.dt.total_microseconds().to_list(), missing), missing, dtype=dtype
        )
    if isinstance(kind, nw.List | nw.Array | nw.Struct | nw.Binary):
        raise _nested(name, str(kind))
    return _from_objects(name, series.to_list(), missing, dtype)


def _numeric(name: str, stored: str, series: nw.Series[Any], missing: Array, dtype: str) -> TableColumn:
    values = series.to_numpy()
    values = _floats(series.to_list(), missing) if values.dtype.kind not in "iuf" else values.astype(np.float64)
    _refuse_infinity(name, values)
    return TableColumn(name, stored, values, missing | np.isnan(values), dtype=dtype)


def _levels(series: nw.Series[Any]) -> tuple[tuple[Any, ...], str]:
    """Categories of a categorical column in its order, and whether they are ordered."""
    native = series.to_native()
    if nw.dependencies.is_pandas_series(native):
        return tuple(map(_plain, native.cat.categories)), "ordered" if native.cat.ordered else "category"
    if isinstance(series.dtype, nw.Enum):
        return tuple(series.dtype.categories), "category"
    return tuple(sorted({value for value in series.to_list() if value is not None})), "category"


def _from_objects(name: str, values: list[Any], missing: Array, dtype: str) -> TableColumn:
    """A column of Python objects: by the classes of its entries."""
    entries = _objects([None if gone else _plain(value) for value, gone in zip(values, missing, strict=True)])
    missing = missing | np.array([_is_blank(value) for value in entries], dtype=bool)
    entries[missing] = None
    kinds = {type(value) for value in entries[~missing]}
    if kinds and kinds <= {bool}:
        return TableColumn(name, "boolean", _floats(entries, missing), missing, dtype=dtype)
    if kinds and all(issubclass(kind, numbers.Real | Decimal) for kind in kinds):
        numeric = _floats(entries, missing)
        _refuse_infinity(name, numeric)
        stored = "integer" if kinds <= {int} else "number"
        return TableColumn(name, stored, numeric, missing | np.isnan(numeric), dtype=dtype)
    if kinds and all(issubclass(kind, date) for kind in kinds):
        moments = [np.nan if value is None else microseconds(value) for value in entries]
        return TableColumn(name, "date", np.array(moments), missing, dtype=dtype)
    if kinds and kinds <= {time, timedelta}:
        spans = [np.nan if value is None else _span(value) for value in entries]
        return TableColumn(name, "time" if kinds == {time} else "duration", np.array(spans), missing, dtype=dtype)
    odd = next((kind for kind in kinds if kind.__hash__ is None or issubclass(kind, bytes | tuple)), None)
    if odd is not None:
        raise _nested(name, odd.__name__)
    return TableColumn(name, "text", entries, missing, dtype=dtype)


def without_marks(column: TableColumn, sign_levels: bool | None = None) -> TableColumn:
    """Return a column of words with "?" and other marks read as missing.

    Parameters
    ----------
    column : TableColumn
    sign_levels : bool, optional
        Whether signs are levels, so that there are no marks; by default the entries of the column say so.
    """
    if not column.is_text:
        return column
    texts = {value for value in column.present.tolist() if isinstance(value, str)}
    marks = {text for text in texts if text.strip() in MARKS}
    if not marks or (has_sign_levels(texts) if sign_levels is None else sign_levels):
        return column
    values, gone = column.values.copy(), np.array([value in marks for value in column.values], dtype=bool)
    values[gone] = None
    return replace(column, values=values, missing=column.missing | gone, marks=tuple(sorted(marks)))


def _from_array(X: Any) -> Table:
    """A NumPy array, or a list of rows; columns are called x0, x1, ... as scikit-learn does."""
    X = as_numpy(_OWNER, "X", X)
    X = X if isinstance(X, np.ndarray) else np.asarray(X)
    if X.dtype.kind in "biuf" or X.ndim != 2 or X.dtype.kind == "c":
        X = np.asarray(checked_array(_OWNER, X, dtype="numeric", ensure_all_finite="allow-nan"))
    names = tuple(f"x{j}" for j in range(X.shape[1]))
    _refuse_no_rows(*X.shape)
    columns = tuple(_from_vector(name, X[:, j]) for j, name in enumerate(names))
    return Table("array", columns, names, len(X), False)


def _from_vector(name: str, x: Array) -> TableColumn:
    if x.dtype.kind == "b":
        return TableColumn(name, "boolean", x.astype(np.float64), np.zeros(len(x), dtype=bool), dtype="bool")
    if x.dtype.kind in "iuf":
        values = x.astype(np.float64)
        # an array says nothing of its columns: whole numbers are numbers, too
        return TableColumn(name, "number", values, np.isnan(values), dtype=str(x.dtype))
    if x.dtype.kind == "M":
        moments = x.astype("datetime64[us]").astype(np.int64).astype(np.float64)
        missing = np.isnat(x)
        return TableColumn(name, "date", np.where(missing, np.nan, moments), missing, dtype=str(x.dtype))
    return _from_objects(name, x.tolist(), np.zeros(len(x), dtype=bool), str(x.dtype))


def _plain(value: Any) -> Any:
    """NumPy scalars and strange objects as Python's own."""
    if isinstance(value, np.generic):
        return value.item()
    known = (str, bool, numbers.Real, Decimal, date, time, timedelta, bytes, list, dict, tuple, set, np.ndarray)
    return value if value is None or isinstance(value, known) else str(value)


def _is_blank(value: Any) -> bool:
    return value is None or value != value or (isinstance(value, str) and not value.strip())


def _span(value: time | timedelta) -> float:
    if isinstance(value, time):
        value = timedelta(hours=value.hour, minutes=value.minute, seconds=value.second, microseconds=value.microsecond)
    return float(value // timedelta(microseconds=1))


def _objects(values: list[Any]) -> Array:
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found


def _floats(values: Any, missing: Array) -> Array:
    return np.array([np.nan if gone else float(value) for value, gone in zip(values, missing, strict=True)])


def _refuse_infinity(name: str, values: Array) -> None:
    if np.isinf(values).any():
        row = int(np.flatnonzero(np.isinf(values))[0])
        seen = f"{values[row]} in row {row} of column {name!r}"
        raise ValueError(error_message(_OWNER, "X", seen, "is infinity", "Leave the entry empty, or correct it"))


def _refuse_no_rows(n: int, d: int) -> None:
    if not n or not d:
        rule = f"has {n} sample(s) and {d} feature(s)"
        raise ValueError(error_message(_OWNER, "X", "table", rule, "Give a table with rows and columns"))


def _nested(name: str, kind: str) -> TypeError:
    rule = f"holds entries of type {kind}, which are not numbers, text or dates"
    return TypeError(error_message(_OWNER, "X", f"column {name!r}", rule, "Drop the column, or make columns of it"))

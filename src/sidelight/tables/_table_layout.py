"""Layout of a table, to write decoded columns in the same form."""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import time, timedelta
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt

from ._column_kinds import ColumnUse
from ._date_text import DAY, from_microseconds, written_date
from ._number_text import decimals_in, written_number
from ._table_columns import Table, TableColumn

__all__ = ["ColumnLayout", "TableLayout", "layout_of", "native_column"]

Array = npt.NDArray[Any]
_ZONE = re.compile(r"time_zone='([^']+)'|, ([\w/+\-:]+)\]")
_UNIT = re.compile(r"time_unit='(\w+)'")


@dataclass(frozen=True)
class ColumnLayout:
    """Type and notation of one column.

    Parameters
    ----------
    name : str
    label : str or int
        Its name as the table had it.
    kind, stored, dtype : str
        What it means, what its type says, and the type as its library writes it.
    number_format, date_format : str
        Notation of numbers or dates in text.
    decimals : int
        Digits after the decimal mark in text.
    fixed : object
        The value of a column that has one only.
    levels : list
        Categories of a categorical type.
    whole : bool
        Whether numbers are whole although their type has fractions, which in pandas gaps force on them.
    """

    name: str
    label: Any
    kind: str
    stored: str
    dtype: str
    number_format: str = ""
    date_format: str = ""
    decimals: int = 0
    fixed: Any = None
    levels: Any = None
    whole: bool = False

    def plain(self, values: Array) -> list[Any]:
        """Return decoded values as Python objects of the column, None where missing."""
        if self.kind in ("number", "angle"):
            return [None if np.isnan(value) else self._number(float(value)) for value in values]
        if self.kind == "date":
            return [None if np.isnan(value) else self._date(float(value)) for value in values]
        return list(values)

    def _number(self, value: float) -> Any:
        if self.stored in ("text", "category", "ordered"):
            return written_number(value, self.number_format, self.decimals)
        if self.stored == "duration":
            return timedelta(microseconds=round(value))
        if self.stored == "time":
            return _clock(value)
        if self.whole:
            return float(round(value))
        return round(value) if self.stored in ("integer", "boolean") else value

    def _date(self, value: float) -> Any:
        if self.stored == "date":
            moment = from_microseconds(value)
            return (
                moment.date()
                if self.dtype in ("Date", "object", "date32[day][pyarrow]") and not value % DAY
                else moment
            )
        text = written_date(value, self.date_format)
        return text if self.stored == "text" else float(text) if self.stored == "number" else int(text)


@dataclass(frozen=True)
class TableLayout:
    """Library and columns of a table."""

    library: str
    columns: tuple[ColumnLayout, ...]

    def build(self, decoded: Mapping[str, Array], n: int, extra: Mapping[str, Array], index: Any = None) -> Any:
        """Return a table of the same library.

        Parameters
        ----------
        decoded : dict
            Column name -> decoded values (n,); columns that it lacks are constant or missing.
        n : int
            Rows.
        extra : dict
            Further columns of numbers, each behind the column with whose name its own begins.
        index : index of pandas, optional
        """
        plain = {
            one.name: one.plain(decoded[one.name]) if one.name in decoded else [one.fixed] * n for one in self.columns
        }
        if self.library == "array":
            return _array(self.columns, plain, n)
        native: dict[Any, Any] = {}
        for one in self.columns:
            native[one.label] = native_column(one, plain[one.name], self.library)
            for name, values in extra.items():
                if name.partition("\0")[0] == one.name:
                    native[name.partition("\0")[2]] = native_column(_FLOAT, values.tolist(), self.library)
        if self.library == "pandas":
            pandas = importlib.import_module("pandas")
            frame = pandas.DataFrame(native, columns=list(native))
            return frame if index is None else frame.set_axis(index, axis=0)
        library: Any = self.library
        return nw.from_dict(native, backend=library).to_native()


_FLOAT = ColumnLayout("", "", "category", "number", "float64")


def layout_of(table: Table, uses: Sequence[ColumnUse]) -> TableLayout:
    """Return the layout of a table whose columns have been understood."""
    columns = zip(table.columns, uses, table.labels, strict=True)
    pandas = table.library == "pandas"
    found = (_column(column, use, label, gaps_make_floats=pandas) for column, use, label in columns)
    return TableLayout(table.library, tuple(found))


def _column(column: TableColumn, use: ColumnUse, label: Any, *, gaps_make_floats: bool) -> ColumnLayout:
    texts = (
        {str(value) for value in column.present.tolist()} - {*use.marks}
        if use.kind in ("number", "angle") and column.is_text
        else ()
    )
    return ColumnLayout(
        name=column.name,
        label=label,
        kind=use.kind,
        stored=column.stored,
        dtype=column.dtype,
        number_format=use.number_format,
        date_format=use.date_format,
        decimals=decimals_in(texts, use.number_format) if texts else 0,
        fixed=_fixed(column) if use.kind == "constant" else None,
        levels=list(column.levels) or None,
        whole=gaps_make_floats and use.kind == "number" and _is_whole_with_gaps(column),
    )


def _is_whole_with_gaps(column: TableColumn) -> bool:
    """Whether a column of floats has gaps, and whole numbers everywhere else."""
    if column.stored != "number" or not column.missing.any():
        return False
    return bool((column.present == np.rint(column.present)).all())


def _fixed(column: TableColumn) -> Any:
    value = column.present[0]
    if column.stored in ("integer", "boolean"):
        return int(value) if column.stored == "integer" else bool(value)
    return value if column.is_text else float(value)


def _clock(value: float) -> time:
    moment = from_microseconds(value % DAY)
    return moment.time()


def _array(columns: Sequence[ColumnLayout], plain: Mapping[str, list[Any]], n: int) -> Array:
    """Columns side by side: numbers where all are, else objects."""
    dtypes = {one.dtype for one in columns}
    if all(one.stored in ("number", "boolean") for one in columns):
        dtype = np.float32 if dtypes == {"float32"} else np.float64
        rows = [[np.nan if value is None else value for value in plain[one.name]] for one in columns]
        return np.array(rows, dtype=dtype).T.copy()
    found = np.empty((n, len(columns)), dtype=object)
    for j, one in enumerate(columns):
        found[:, j] = plain[one.name]
    return found


def native_column(layout: ColumnLayout, values: list[Any], library: str) -> Any:
    """Return values as a Series of pandas, or of narwhals for another library, with the type of the layout."""
    return (_pandas_column if library == "pandas" else _narwhals_column)(layout, values, library)


def _pandas_column(layout: ColumnLayout, values: list[Any], library: str) -> Any:
    """A pandas Series of the type of the column; whole numbers with gaps become ``Int64``."""
    pandas, dtype = importlib.import_module("pandas"), layout.dtype
    if layout.levels is not None:
        return pandas.Series(pandas.Categorical(values, categories=layout.levels, ordered=layout.stored == "ordered"))
    if layout.stored == "date" and dtype.startswith("datetime64"):
        return _pandas_dates(pandas, layout, values)
    if dtype == "object":
        return pandas.Series(values, dtype=object)
    gaps = any(value is None for value in values)
    if gaps and re.fullmatch(r"u?int\d+", dtype):
        dtype = dtype.replace("int", "Int").replace("uI", "UI")
    if gaps and dtype == "bool":
        dtype = "boolean"
    if layout.stored == "number" or (layout.stored == "duration" and layout.kind != "number"):
        values = [np.nan if value is None else value for value in values]
    return pandas.Series(values, dtype=dtype if layout.stored != "duration" else None).astype(dtype)


def _pandas_dates(pandas: Any, layout: ColumnLayout, values: list[Any]) -> Any:
    moments = [from_microseconds(value) if isinstance(value, float) else value for value in values]
    found = pandas.Series(np.array(moments, dtype="datetime64[us]"))
    zone = _zone(layout.dtype)
    return (found.dt.tz_localize("UTC").dt.tz_convert(zone) if zone else found).astype(layout.dtype)


def _narwhals_column(layout: ColumnLayout, values: list[Any], library: Any) -> Any:
    """A series of polars, pyarrow or another library of narwhals."""
    dtype = _narwhals_type(layout)
    if layout.stored == "date" and any(isinstance(value, float) for value in values):
        values = [from_microseconds(value) for value in values]
    zone = _zone(layout.dtype) if layout.stored == "date" else None
    if zone is None and dtype == nw.Categorical and library == "pyarrow":  # 16 cannot make one of texts at once
        return nw.new_series(layout.name, values, nw.String, backend=library).cast(nw.Categorical)
    if zone is None:
        return nw.new_series(layout.name, values, dtype, backend=library)
    unit: Any = found[1] if (found := _UNIT.search(layout.dtype)) else "us"
    bare = nw.new_series(layout.name, values, nw.Datetime(unit), backend=library)
    return bare.dt.replace_time_zone("UTC").dt.convert_time_zone(zone)


def _narwhals_type(layout: ColumnLayout) -> Any:
    word = layout.dtype.partition("(")[0]
    unit: Any = found[1] if (found := _UNIT.search(layout.dtype)) else "us"
    if word == "Enum":
        return nw.Enum(layout.levels or [])
    if word in ("Datetime", "Duration"):
        return getattr(nw, word)(unit)
    if word == "Decimal":
        return nw.Float64
    return getattr(nw, word) if word in _TYPES else (nw.Float64 if layout.stored == "number" else nw.String)


_TYPES = frozenset({
    "Int8", "Int16", "Int32", "Int64", "Int128", "UInt8", "UInt16", "UInt32", "UInt64", "UInt128", "Float32", "Float64",
    "String", "Boolean", "Categorical", "Date", "Time",
})  # fmt: skip


def _zone(dtype: str) -> str | None:
    found = _ZONE.search(dtype)
    return (found[1] or found[2]) if found else None

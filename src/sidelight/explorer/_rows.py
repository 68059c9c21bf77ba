"""Rows of an explorer as a table: pages, ranks to sort by, search, and files of a selection."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.base.messages import error_message, require_extra
from sidelight.plot._colouring import Numbers

from ._table import Column, Table

__all__ = ["EXPORTS", "LONGEST_SEARCH", "exported", "found_rows", "heads_of", "page_of_rows", "ranks_of", "values_of"]

Array = NDArray[Any]
_OWNER = "explore"
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_PAGE = 500  # rows of one answer
_LISTED = 250  # categories that can be filtered one by one; beyond, rare ones are one
LONGEST_SEARCH = 200
EXPORTS = {
    "csv": "text/csv; charset=utf-8",
    "numbers": "text/plain; charset=utf-8",
    "parquet": "application/octet-stream",
}
"""Formats of an export and their media types."""


def heads_of(columns: Iterable[Column], known: Collection[str], periods: Mapping[str, float]) -> list[dict[str, Any]]:
    """What the page knows of each column: categories with their levels, or numbers with their ends."""
    out: list[dict[str, Any]] = []
    for column in columns:
        one: dict[str, Any] = {"name": column.name, "feature": column.name not in known}
        if isinstance(column, Numbers):
            low, high = column.limits
            ends = {"low": low, "high": high, "period": periods.get(column.name), "date": column.is_date}
            out.append(one | {"kind": "numbers"} | ends)
        else:
            levels, _ = _listed(column)
            out.append(one | {"kind": "categories", "levels": list(levels)} | _colours_of(column, levels))
    return out


def values_of(column: Column) -> Array:
    """Values of a column (n,) as float32: numbers, or codes of categories (-1: missing)."""
    return np.asarray(column.values if isinstance(column, Numbers) else _listed(column)[1], dtype="<f4")


def _listed(column: Any) -> tuple[tuple[str, ...], Array]:
    """The categories that the page lists, and the codes of the rows: all of them, or the common ones and the others."""
    few = column.entry_codes is not None and len(column.entries) <= _LISTED
    return (column.entries, column.entry_codes) if few else (column.levels, column.codes)


def _colours_of(column: Any, levels: Sequence[str]) -> dict[str, Any]:
    """Where rare categories share a colour: the number of each category's colour, and the names in the legend."""
    if len(levels) == len(column.levels):
        return {}
    place, last = {name: k for k, name in enumerate(column.levels)}, len(column.levels) - 1
    return {"colours": [place.get(name, last) for name in levels], "legend": list(column.levels)}


def page_of_rows(table: Table, columns: Sequence[Column], rows: Array) -> list[dict[str, Any]]:
    """Some rows: number, name and a cell for each of the columns, in their order."""
    if len(rows) > _PAGE:
        rule = f"are more than the {_PAGE} of a page"
        raise ValueError(error_message(_OWNER, "rows", len(rows), rule, "Ask for fewer rows at once"))
    cells = [_cells(column, rows) for column in columns]
    names = table.row_names
    return [
        {"row": int(row), "name": names[row] if names else "", "cells": [column[k] for column in cells]}
        for k, row in enumerate(rows)
    ]


def _cells(column: Column, rows: Array) -> list[Any]:
    if isinstance(column, Numbers):
        return list(column.values[rows].tolist())
    levels, codes = _entries(column)
    return [None if code < 0 else levels[code] for code in codes[rows].tolist()]


def _entries(column: Any) -> tuple[tuple[str, ...], Array]:
    """The categories of a column, those that share a colour too, and the codes of the rows."""
    if column.entry_codes is None:
        return column.levels, column.codes
    return column.entries, column.entry_codes


def ranks_of(values: Column | Sequence[str]) -> Array:
    """Dense ranks (n,) of the rows by a column, or by their names, as float32; NaN where missing.

    Ranks and not values: they keep the order of numbers that differ by less than float32 can tell. More than 2**24
    different values cannot all be told apart; rows keep their order then.
    """
    found: Array
    if isinstance(values, Numbers):
        found, there = values.values, np.isfinite(values.values)
    elif isinstance(values, Sequence):
        found, there = np.asarray(values, dtype=str), np.ones(len(values), dtype=bool)
    else:
        levels, codes = _entries(values)
        place = np.argsort(np.argsort(np.array(levels, dtype=str), kind="stable"), kind="stable")
        there = codes >= 0
        found = place[np.where(there, codes, 0)] if len(levels) else codes
    ranks = np.full(len(found), np.nan, dtype="<f4")
    ranks[there] = np.unique(found[there], return_inverse=True)[1]
    return ranks


def found_rows(text: str, table: Table, columns: Iterable[Column]) -> Array:
    """Numbers of the rows (m,) that a search finds, as float32: by row number, by name, by a category they have."""
    wanted = text.strip().casefold()
    hit = np.zeros(table.n, dtype=bool)
    if not wanted or len(text) > LONGEST_SEARCH:
        rule = f"is not between 1 and {LONGEST_SEARCH} letters"
        raise ValueError(error_message(_OWNER, "search", text[:40], rule, "Search for a part of a name or value"))
    number = wanted.removeprefix("row").strip()
    if number.isascii() and number.isdigit() and int(number) < table.n:
        hit[int(number)] = True
    if table.row_names:
        hit |= np.fromiter((wanted in name for name in table.folded_names), dtype=bool, count=table.n)
    for column in columns:
        if not isinstance(column, Numbers):
            levels, codes = _entries(column)
            matching = np.array([wanted in level.casefold() for level in levels] + [False], dtype=bool)
            hit |= matching[codes]  # -1, which is missing, is the last entry
    return np.flatnonzero(hit).astype("<f4")


def exported(kind: str, values: Mapping[str, Sequence[Any]]) -> str | bytes:
    """Columns as a file: CSV without cells that a spreadsheet would run, Parquet, or the numbers of the rows."""
    if kind == "numbers":
        return "".join(f"{row}\n" for row in values["row"])
    if kind == "parquet":
        return _parquet(values)
    if kind != "csv":
        raise ValueError(error_message(_OWNER, "format", kind, "is not written here", f"Choose {', '.join(EXPORTS)}"))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([_harmless(name) for name in values])
    writer.writerows([_harmless(value) for value in line] for line in zip(*values.values(), strict=True))
    return out.getvalue()


def _parquet(values: Mapping[str, Sequence[Any]]) -> bytes:
    pyarrow: Any = require_extra("pyarrow", "explore: an export as Parquet", "cli")
    parquet: Any = require_extra("pyarrow.parquet", "explore: an export as Parquet", "cli")
    columns = {}
    for name, column in values.items():
        try:
            columns[name] = pyarrow.array(column, from_pandas=True)
        except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError):  # a column of numbers and words, as labels can make one
            columns[name] = pyarrow.array([None if value is None else str(value) for value in column])
    out = io.BytesIO()
    parquet.write_table(pyarrow.table(columns), out)
    return out.getvalue()


def _harmless(value: Any) -> Any:
    """A cell that no spreadsheet takes for a formula."""
    text = isinstance(value, str) and value.startswith(_FORMULA)
    return f"'{value}" if text else "" if value is None or value != value else value

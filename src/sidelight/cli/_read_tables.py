"""Read Parquet, Arrow and Feather, JSON, and spreadsheets."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from sidelight.base.messages import require_extra

from ._columns import suggestion
from ._missing_texts import MISSING_TEXTS, numbers_beside_none
from ._output import CommandError
from ._source import Source

__all__ = ["read_arrow", "read_json", "read_parquet", "read_sheet"]

_TITLE_WIDTH = 0.5


def read_parquet(source: Source) -> tuple[pd.DataFrame, str, list[str]]:
    """Return the table of a Parquet file, its description and remarks."""
    return _with_index(_as_pandas(lambda: pd.read_parquet(source.for_reader()))), "Parquet", []


def read_arrow(source: Source) -> tuple[pd.DataFrame, str, list[str]]:
    """Return the table of an Arrow IPC file or stream, or of a Feather file, its description and remarks."""
    import pyarrow as pa
    from pyarrow import ipc

    content = source.read_bytes()
    if content.startswith(b"FEA1"):
        raise ValueError("it is Feather of version 1, which is no longer read; write it again as version 2")
    is_file = content.startswith(b"ARROW1")
    opened = (ipc.open_file if is_file else ipc.open_stream)(pa.BufferReader(content))
    frame = _as_pandas(lambda: opened.read_all().to_pandas())
    return _with_index(frame), "Arrow file (Feather)" if is_file else "Arrow stream", []


def _as_pandas(convert: Callable[[], pd.DataFrame]) -> pd.DataFrame:
    """Return the converted table; ValueError where its description of types and index cannot be used."""
    try:
        return convert()
    except (TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"its description of the columns is broken: {error}") from error


def _with_index(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the table with the names of its rows, which pandas keeps apart, as columns; plain numbers are dropped."""
    index = frame.index
    plain = index.nlevels == 1 and index.name is None and pd.api.types.is_integer_dtype(index.dtype)
    return frame.reset_index(drop=True) if plain else frame.reset_index()


def read_json(source: Source) -> tuple[pd.DataFrame, str, list[str]]:
    """Return the table of JSON lines or of JSON records, its description and remarks."""
    text = source.read_bytes().decode("utf-8-sig")
    try:
        whole = json.loads(text)
    except json.JSONDecodeError:
        return _records(_lines(text)), "JSON lines", []
    if isinstance(whole, dict) and source.suffix in (".jsonl", ".ndjson"):
        return _records([whole]), "JSON lines", []
    return _records(_rows(whole)), "JSON records", []


def _lines(text: str) -> list[Any]:
    rows = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            rows += [json.loads(line)] if line.strip() else []
        except json.JSONDecodeError as error:
            raise ValueError(f"line {number} is no JSON object: {error.msg} at character {error.pos + 1}") from error
    return rows


def _rows(whole: Any) -> list[Any]:
    """Return the rows of a JSON document: a list of rows, columns by name, or one of these under a single name."""
    if isinstance(whole, list):
        return whole
    lists = {name: part for name, part in whole.items() if isinstance(part, list)} if isinstance(whole, dict) else {}
    records = [part for part in lists.values() if part and isinstance(part[0], dict)]
    if len(records) == 1:
        return list(records[0])
    if lists and len(lists) == len(whole) and len({len(part) for part in lists.values()}) == 1:
        return [dict(zip(lists, entries, strict=True)) for entries in zip(*lists.values(), strict=True)]
    raise ValueError("it needs a list of objects, one for each row: [{...}, {...}]")


def _records(rows: list[Any]) -> pd.DataFrame:
    if rows and all(isinstance(row, dict) for row in rows):
        return pd.json_normalize(rows)
    if rows and all(isinstance(row, list) and len(row) == len(rows[0]) for row in rows):
        return pd.DataFrame(rows, columns=[f"x{i + 1}" for i in range(len(rows[0]))])
    raise ValueError("it needs one object for each row: {...}")


def read_sheet(source: Source, wanted: str | None) -> tuple[pd.DataFrame, str, list[str]]:
    """Return one sheet of an Excel or ODS file, its description and remarks."""
    require_extra("python_calamine", "Reading spreadsheets", "cli")
    try:
        with pd.ExcelFile(source.for_reader(), engine="calamine") as book:
            sheets = {str(name): _cells(book, name) for name in book.sheet_names}
    except Exception as error:  # calamine has its own kinds for a file that is not a spreadsheet
        if "assword" in str(error) or "EncryptedPackage" in str(error):
            raise CommandError(f"{source.title}: is protected by a password; save it without one") from error
        raise ValueError(str(error)) from error
    name = _choose_sheet(sheets, wanted, source)
    others = [other for other, cells in sheets.items() if other != name and not cells.empty]
    remarks = [f"The sheet {name} is read; --sheet takes another: {', '.join(others)}."] if others else []
    frame, skipped = _with_heading(sheets[name])
    if skipped:
        remarks.append(f"{skipped} {'row' if skipped == 1 else 'rows'} above the heading {_verb(skipped)} left out.")
    return frame, f"sheet {name} of a spreadsheet ({source.suffix[1:]})", remarks


def _verb(n: int) -> str:
    return "is" if n == 1 else "are"


def _cells(book: Any, name: Any) -> pd.DataFrame:
    """Return the cells of a sheet as they are (a text 007 stays text), without its empty rows and columns."""
    how: dict[str, Any] = {"keep_default_na": False, "na_values": list(MISSING_TEXTS)}
    cells: pd.DataFrame = pd.read_excel(book, sheet_name=name, header=None, dtype=object, **how)
    return cells.dropna(how="all").dropna(how="all", axis=1)


def _choose_sheet(sheets: dict[str, pd.DataFrame], wanted: str | None, source: Source) -> str:
    names = list(sheets)
    if wanted is None:
        found = next((name for name in names if not sheets[name].empty), None)
        if found is None:
            raise CommandError(f"{source.title}: every sheet is empty")
        return found
    if wanted not in names and wanted.isdecimal() and 1 <= int(wanted) <= len(names):
        wanted = names[int(wanted) - 1]
    if wanted not in names:
        has = f"it has {', '.join(names)}{suggestion(wanted, names)}"
        raise CommandError(f"--sheet {wanted}: {source.path.name} has no such sheet; {has}")
    if sheets[wanted].empty:
        raise CommandError(f"--sheet {wanted}: the sheet is empty")
    return wanted


def _with_heading(cells: pd.DataFrame) -> tuple[pd.DataFrame, int]:
    """Return the table below its heading, and how many rows stand above it (titles, remarks).

    The heading is the first row that fills more than half of the columns; numbers alone are no heading.
    """
    filled = cells.notna().sum(axis=1).to_numpy()
    first = int(np.argmax(filled > _TITLE_WIDTH * cells.shape[1]))
    heading = list(cells.iloc[first])
    if all(isinstance(entry, int | float) and not isinstance(entry, bool) for entry in heading):
        names, body = [f"x{i + 1}" for i in range(len(heading))], cells.iloc[first:]
    else:
        names, body = [_name(entry, k) for k, entry in enumerate(heading)], cells.iloc[first + 1 :]
    body = body.set_axis(names, axis=1).reset_index(drop=True)
    return numbers_beside_none(body.infer_objects()), first


def _name(entry: Any, place: int) -> str:
    if entry is None or (isinstance(entry, float) and np.isnan(entry)):
        return f"Unnamed: {place}"
    return str(entry).strip()

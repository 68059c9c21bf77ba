"""Read CSV, TSV and other text tables of any dialect; what is not plainly a number stays text."""

from __future__ import annotations

import csv
import io
import re
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd

from sidelight.base.messages import count_of

from ._dialect import Dialect, as_text, find_dialect, numbered_rows
from ._missing_texts import MISSING_TEXTS, numbers_beside_none
from ._source import Source

__all__ = ["read_text", "read_written_text"]

_PANDAS = tuple(int(part) for part in pd.__version__.split(".")[:2])
# The parser of CSV files may be off by the last bit before pandas 3.1, and is exact, without the option, from there on.
_EXACT_NUMBERS: dict[str, Any] = {"float_precision": "round_trip"} if _PANDAS < (3, 1) else {}
_SEPARATOR_LINE = re.compile(r"sep=(.)\r?\n")
_DECIMAL_COMMA = r"[+-]?(\d+|\d{1,3}(\.\d{3})+),\d+\s?%?"
_THOUSANDS_POINT = r"[+-]?\d{1,3}(\.\d{3})*"
_LOOKED_AT = 1000
_BEGINNING = 1_000_000
_UNCLOSED = "EOF inside string"
_KINDS = {",": "CSV", ";": "CSV", "\t": "TSV"}


def read_text(source: Source) -> tuple[pd.DataFrame, str, list[str]]:
    """Return the table, a description of how it is written, and remarks; ValueError if it cannot be read.

    Numbers with a point are read as pandas reads them. Codes with zeros in front (007), numbers with a decimal comma,
    and numbers with a point for thousands in a table of decimal commas stay text: what they mean is decided later.
    """
    text, encoding = as_text(source.read_bytes())
    remarks = [] if encoding in ("UTF-8", "UTF-16") else [_encoding_remark(encoding)]
    text, dialect, n_comments = _understood(text, source)
    _check_width(text, dialect)
    frame = _restore_text(_parse(text, dialect), text, dialect)
    if n_comments:
        remarks.append(f"{n_comments} comment {'line is' if n_comments == 1 else 'lines are'} left out.")
    remarks += [f"{name} is the name of several columns: the second is called {name}.1." for name in dialect.repeated]
    remarks += _short_lines(frame, text, dialect)
    frame = frame.drop(columns=[name for name in frame.columns if _is_trailing(frame, name)])
    return frame, f"{_KINDS.get(dialect.delimiter, 'text')} {dialect.words}, {encoding}", remarks


def read_written_text(source: Source) -> tuple[pd.DataFrame, str]:
    """Return the entries of a text table as they are written, all as text, and its delimiter."""
    text, dialect, _ = _understood(as_text(source.read_bytes())[0], source)
    frame = pd.read_csv(io.StringIO(text), **{**_options(dialect), "na_values": []}, dtype=str)
    return frame.fillna(""), dialect.delimiter


def _understood(text: str, source: Source) -> tuple[str, Dialect, int]:
    """Return the text without comments and Excel's line, its dialect, and how many comments there are."""
    text, delimiter = _without_separator_line(text)
    text, comment, n_comments = _without_comments(text)
    text_begins = text.lstrip("\r\n")
    if not text_begins.strip():
        raise ValueError("its first line is empty, and so are all others")
    wanted = delimiter or ("\t" if source.suffix in (".tsv", ".tab") and "\t" in text else None)
    return text, find_dialect(text_begins, source.suffix, comment, wanted), n_comments


def _encoding_remark(encoding: str) -> str:
    return f"The file is not UTF-8 and was read as {encoding}; if letters look wrong, save it as UTF-8."


def _without_separator_line(text: str) -> tuple[str, str | None]:
    """Return the text with an empty line in place of Excel's ``sep=;``, and the delimiter that it names."""
    found = _SEPARATOR_LINE.match(text)
    return (text, None) if found is None else ("\n" + text[found.end() :], found[1])


def _without_comments(text: str) -> tuple[str, str, int]:
    """Return the text with empty lines in place of comments, the last comment above the table, and how many there are.

    Lines that begin with ``#`` are comments if the first line is one: elsewhere they may be colours. Empty lines keep
    the numbers of the others.
    """
    if not text.lstrip().startswith("#"):
        return text, "", 0
    lines = text.splitlines(keepends=True)
    comments = [line.lstrip().startswith("#") for line in lines]
    first = next((n for n, line in enumerate(lines) if line.strip() and not comments[n]), len(lines))
    last = max(n for n in range(first) if comments[n])
    kept = ["\n" if comment else line for line, comment in zip(lines, comments, strict=True)]
    return "".join(kept), lines[last].lstrip()[1:].strip(" \r\n"), sum(comments)


def _options(dialect: Dialect) -> dict[str, Any]:
    return {
        "sep": dialect.delimiter,
        "quotechar": dialect.quote,
        "header": 0 if dialect.has_heading else None,
        "names": list(dialect.names),
        "index_col": False,
        "skipinitialspace": True,
        "low_memory": False,
        "keep_default_na": False,
        "na_values": list(MISSING_TEXTS),
    }


def _parse(text: str, dialect: Dialect) -> pd.DataFrame:
    try:
        frame: pd.DataFrame = pd.read_csv(io.StringIO(text), **_options(dialect), **_EXACT_NUMBERS)
    except pd.errors.ParserError as error:
        if _UNCLOSED in str(error):
            raise ValueError(f"a quotation mark ({dialect.quote}) is opened and never closed") from error
        raise ValueError(_long_line(text, dialect) or str(error)) from error
    return numbers_beside_none(frame)


def _check_width(text: str, dialect: Dialect) -> None:
    """Refuse a first row that is longer than the heading, which pandas would cut without an error."""
    rows = numbered_rows(text[:_BEGINNING], dialect.delimiter, dialect.quote)
    try:
        first = [row for _, row in islice(rows, 2)]
    except csv.Error:
        return
    if len(first[-1]) > len(dialect.names):
        raise ValueError(_long_line(text, dialect))


def _long_line(text: str, dialect: Dialect) -> str:
    """Say which line is the first with more entries than there are columns; "" if there is none."""
    wanted = len(dialect.names)
    rows = numbered_rows(text, dialect.delimiter, dialect.quote)
    try:
        line, seen = next(((line, len(row)) for line, row in rows if len(row) > wanted), (0, 0))
    except csv.Error:
        return ""
    columns = count_of(wanted, "column")
    rule = "put entries that hold the separator between quotation marks"
    return f"line {line} has {seen} entries, and the table has {columns}; {rule}" if line else ""


def _short_lines(frame: pd.DataFrame, text: str, dialect: Dialect) -> list[str]:
    """Return a remark on the lines with fewer entries than columns."""
    # The last column is missing in such lines, so most tables need no second look.
    if len(frame.columns) < 2 or not frame.iloc[:, -1].isna().any():
        return []
    rows = islice(numbered_rows(text, dialect.delimiter, dialect.quote), int(dialect.has_heading), None)
    try:
        short = [line for line, row in rows if len(row) < len(dialect.names)]
    except csv.Error:
        return []
    if not short or len(short) == len(frame):  # all are short where the heading alone ends with a delimiter
        return []
    one = len(short) == 1
    which = f"Line {short[0]} has" if one else f"{len(short)} lines (the first is line {short[0]}) have"
    return [f"{which} fewer entries than there are columns; the rest of {'it' if one else 'them'} is missing."]


def _restore_text(frame: pd.DataFrame, text: str, dialect: Dialect) -> pd.DataFrame:
    """Return the table with columns as text that a number would change: 007, 1.234 for 1234, codes of 20 digits."""
    numeric = [name for name in frame.columns if pd.api.types.is_numeric_dtype(frame[name])]
    codes = [name for name in numeric if _is_whole(frame[name])]
    codes = codes if codes and _zeros_in_front(text, dialect) else []
    commas = dialect.delimiter != "," and any(_has_decimal_commas(frame[name]) for name in frame.columns)
    points = [name for name in numeric if pd.api.types.is_float_dtype(frame[name])] if commas else []
    long = [name for name in frame.columns if _is_beyond_integers(frame[name])]
    wanted = list(dict.fromkeys([*codes, *points, *long]))
    if not wanted:
        return frame
    written = pd.read_csv(io.StringIO(text), **_options(dialect), usecols=wanted, dtype=str)
    for name in wanted:
        entries = written[name].dropna()
        is_code = name in codes and entries.str.fullmatch(r"\d+").all() and entries.str.match(r"0\d").any()
        is_point = name in points and entries.str.fullmatch(_THOUSANDS_POINT).all()
        is_long = name in long and entries.str.fullmatch(r"[+-]?\d+").all()
        if is_code or is_long or (is_point and entries.str.contains(".", regex=False).any()):
            frame[name] = written[name]
    return frame


def _is_whole(column: pd.Series[Any]) -> bool:
    """Whether numbers are whole and not negative, as codes are."""
    values = column.dropna().to_numpy()
    return bool(values.size) and bool((values >= 0).all()) and bool((values == np.rint(values)).all())


def _is_beyond_integers(column: pd.Series[Any]) -> bool:
    """Whether numbers are whole and one is beyond 64 bits: pandas 3.1 makes integers of Python or floats of these."""
    entries = column.dropna()
    if pd.api.types.is_float_dtype(entries):
        return bool((entries.abs() >= 2.0**63).any()) and bool((entries % 1 == 0).all())
    return entries.dtype == object and any(type(entry) is int for entry in entries)


def _zeros_in_front(text: str, dialect: Dialect) -> bool:
    """Whether an entry begins with 0 and another digit; arrays are faster here than a pattern."""
    letters = np.frombuffer(text.encode("utf-8") + b"\n", dtype=np.uint8)
    zeros = np.flatnonzero(letters[:-1] == ord("0"))
    after = letters[zeros + 1]
    zeros = zeros[(after >= ord("0")) & (after <= ord("9"))]
    before = letters[zeros - 1]  # of the first letter the last one, which ends a line
    marks = "\r\n \t" + dialect.quote + ("" if len(dialect.delimiter) > 1 else dialect.delimiter)
    return bool(np.isin(before, np.frombuffer(marks.encode("utf-8"), dtype=np.uint8)).any())


def _has_decimal_commas(column: pd.Series[Any]) -> bool:
    """Whether most entries of a text column are numbers such as 1,5 or 1.234,5."""
    entries = column.dropna().head(_LOOKED_AT)
    if not len(entries) or pd.api.types.is_numeric_dtype(entries) or pd.api.types.is_bool_dtype(entries):
        return False
    return float(entries.astype(str).str.fullmatch(_DECIMAL_COMMA).mean()) > 0.5


def _is_trailing(frame: pd.DataFrame, name: str) -> bool:
    """Whether a column is there only because every line ends with a delimiter."""
    last = name == frame.columns[-1] and len(frame.columns) > 1
    return last and name.startswith("Unnamed: ") and bool(frame[name].isna().all())

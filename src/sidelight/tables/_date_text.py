"""Dates that were written as text, and microseconds since 1970 (UTC), which is how dates are computed with."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.base.messages import error_message

from ._number_text import is_missing_mark

__all__ = [
    "DAY",
    "date_format_of",
    "from_microseconds",
    "microseconds",
    "microseconds_of_texts",
    "resolution",
    "written_date",
]

DAY = 86_400_000_000
_SECOND = 1_000_000
_EPOCH = datetime(1970, 1, 1)
_CLOCKS = (
    "",
    " %H:%M",
    " %H:%M:%S",
    " %H:%M:%S.%f",
    "T%H:%M",
    "T%H:%M:%S",
    "T%H:%M:%S.%f",
    "T%H:%M:%SZ",
    "T%H:%M:%S.%fZ",
)
_DAYS = ("%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%d.%m.%y", "%m/%d/%Y", "%d/%m/%Y", "%m/%d/%y", "%d/%m/%y", "%d-%m-%Y")
_NAMED = ("%b %d %Y", "%b %d, %Y", "%B %d %Y", "%B %d, %Y", "%d %b %Y", "%d %B %Y", "%d-%b-%Y", "%d-%b-%y", "%b %Y")
_NUMERIC = tuple(day + clock for day in _DAYS for clock in _CLOCKS)


def date_format_of(texts: Iterable[str]) -> str | None:
    """Return the format that reads every text, or None: as ``strptime`` writes it, or "iso" for a mixture.

    Where day and month cannot be told apart, the month is read first.

    Examples
    --------
    >>> date_format_of(["2024-01-31", "2023-12-01"])
    '%Y-%m-%d'
    >>> date_format_of(["31/01/2024", "01/02/2024"])
    '%d/%m/%Y'
    >>> date_format_of(["spring", "autumn"]) is None
    True
    """
    entries = [text.strip() for text in texts if not is_missing_mark(text)]
    if not entries or not all(6 <= len(entry) <= 35 and any(map(str.isdigit, entry)) for entry in entries):
        return None
    # the first use of a format costs milliseconds, so those with other punctuation are not tried
    marks = _punctuation(entries[0])
    formats = (*(form for form in _NUMERIC if _punctuation(re.sub("%.", "", form)) == marks), *_NAMED, "%Y-%m", "iso")
    fitting = [form for form in formats if _parsed(entries[0], form) is not None]
    found = next((form for form in fitting if all(_parsed(entry, form) is not None for entry in entries)), None)
    return None if found is None else _as_padded(found, entries)


def microseconds_of_texts(values: Sequence[Any], date_format: str, *, column: str = "") -> npt.NDArray[np.float64]:
    """Return dates written as text in microseconds (n,), NaN where one is missing.

    Raises
    ------
    ValueError
        For an entry that is no date in this format; entries in ISO notation are always read.
    """
    known: dict[Any, float] = {}
    found = np.empty(len(values))
    for row, value in enumerate(values):
        if value not in known:
            known[value] = _microseconds_of_text(value, date_format, column, row)
        found[row] = known[value]
    return found


def microseconds(value: date | datetime) -> float:
    """Return a date or a time in microseconds since 1970 (UTC; times without a zone are taken as they are)."""
    if not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    if value.tzinfo is not None:
        value = value.astimezone(UTC).replace(tzinfo=None)
    return float((value - _EPOCH) // timedelta(microseconds=1))


def from_microseconds(value: float) -> datetime:
    """Return the time (without a zone) at so many microseconds since 1970."""
    return _EPOCH + timedelta(microseconds=round(value))


def written_date(value: float, date_format: str) -> str:
    """Return microseconds since 1970 as text in a date format."""
    moment = from_microseconds(value)
    if date_format == "iso":
        return moment.isoformat(sep=" ")
    # strftime has %-d on some systems only
    bare = {"%-d": moment.day, "%-m": moment.month, "%-H": moment.hour}
    for part, number in bare.items():
        date_format = date_format.replace(part, str(number))
    return moment.strftime(date_format)


def resolution(moments: npt.NDArray[np.float64]) -> float:
    """Return the unit of which all moments are multiples: a day, a second or a microsecond."""
    for unit in (DAY, _SECOND):
        if not np.fmod(moments, unit).any():
            return float(unit)
    return 1.0


def _microseconds_of_text(value: Any, date_format: str, column: str, row: int) -> float:
    if value is None or (isinstance(value, str) and is_missing_mark(value)):
        return np.nan
    if isinstance(value, date):
        return microseconds(value)
    moment = _parsed(str(value).strip(), date_format) or _parsed(str(value).strip(), "iso")
    if moment is None:
        where, seen = f"column {column!r}" if column else "values", f"{value!r} in row {row}"
        remedy = 'Correct the entry, or give the column another kind, such as "category"'
        raise ValueError(error_message("TableEncoder", where, seen, "cannot be read as a date", remedy))
    return microseconds(moment)


def _punctuation(text: str) -> str:
    return "".join(letter for letter in text if not letter.isalnum() and not letter.isspace())


def _as_padded(form: str, entries: list[str]) -> str:
    """The format with ``%-d`` for ``%d`` where days and months are written without a leading zero."""
    bare = form.replace("%d", "%-d").replace("%m", "%-m").replace("%H", "%-H")
    one_digit = [entry for entry in entries if any(len(part) == 1 for part in re.findall(r"\d+", entry))]
    return bare if one_digit and form != "iso" else form


def _parsed(entry: str, form: str) -> datetime | None:
    try:
        return datetime.fromisoformat(entry) if form == "iso" else datetime.strptime(entry, form.replace("%-", "%"))
    except ValueError:
        return None

"""Parse the command line options about ``given``: columns, types, and values."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sidelight.tables._date_text import DAY, date_format_of, microseconds_of_texts

from ._columns import suggestion
from ._output import CommandError

__all__ = [
    "TYPES",
    "entry_of",
    "kind_or_period",
    "parse_entries",
    "parse_periods",
    "parse_types",
    "repeated",
]

_FAR = 30.0  # standard deviations
TYPES = ("category", "number", "ordinal", "angle")


def parse_types(texts: Sequence[str], given: Sequence[str]) -> dict[str, str | float]:
    """Read ``TYPE`` (of the only given column) or ``COLUMN=TYPE``; a number is a period.

    Examples
    --------
    >>> parse_types(["hour=24", "site=category"], ["hour", "site"])
    {'hour': 24.0, 'site': 'category'}
    """
    if texts and not given:
        raise CommandError(f"--given-type {texts[0]}: needs a --given column")
    found: dict[str, str | float] = {}
    for text in texts:
        column, equals, kind = text.rpartition("=")
        if not equals and len(given) > 1:
            raise CommandError(f"--given-type {text}: name its column, for example {given[0]}={text}")
        if equals and column not in given:
            near = suggestion(column, given)
            raise CommandError(f"--given-type {text}: {column} is not among the --given columns{near}")
        found[column if equals else given[0]] = kind_or_period(f"--given-type {text}", kind, TYPES, "type")
    return found


def kind_or_period(asked: str, kind: str, kinds: Sequence[str], word: str) -> str | float:
    """Return ``kind`` if it is one of ``kinds``, or as a number (a period); else raise an error about ``asked``."""
    if kind in kinds:
        return kind
    try:
        period = float(kind)
    except ValueError:
        period = -1.0
    if 0.0 < period < np.inf:
        return period
    offered = f"{', '.join(kinds)} (in degrees), or a period as a number, for example 24"
    raise CommandError(f"{asked}: no such {word}; choose {offered}{suggestion(kind, kinds)}")


def parse_periods(texts: Sequence[str]) -> dict[str, float]:
    """Read ``COLUMN=NUMBER``: the column is periodic with that period.

    Examples
    --------
    >>> parse_periods(["hour=24"])
    {'hour': 24.0}
    """
    found = {}
    for text in texts:
        column, equals, number = text.rpartition("=")
        try:
            period = float(number) if equals else -1.0
        except ValueError:
            period = -1.0
        if not 0.0 < period < np.inf:
            raise CommandError(f"--period {text}: write it as COLUMN=NUMBER, for example angle=360")
        found[column] = period
    return found


def parse_entries(
    texts: Sequence[str], columns: Sequence[Any], option: str = "--given", command: str = ""
) -> dict[str, Any]:
    """Read ``COLUMN=VALUE`` pairs of an option as entries of the columns that a model was given.

    ``command`` fitted the model; the message about a column that was not given says how to fit one with it.
    """
    known = {column.name: column for column in columns}
    found = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            example = columns[0].name if columns else "batch"
            raise CommandError(f"{option} {text}: write it as COLUMN=VALUE, for example {example}=...")
        if not known:
            raise CommandError(f"{option} {text}: the model was fitted without --given{_fit_again(command, name)}")
        if name not in known:
            given = f"; it was given {', '.join(known)}{_fit_again(command, name)}"
            near = suggestion(name, list(known)) or given
            raise CommandError(f"{option} {text}: the model was not given a column {name}{near}")
        found[name] = entry_of(known[name], value, text, option)
    return found


def _fit_again(command: str, name: str) -> str:
    """How to fit a model that is given ``name``, too, by the command that fitted this one; "" if that is not known.

    Examples
    --------
    >>> _fit_again("sidelight embed cars.csv --given price --out cars", "type")
    '. Fit a second model: sidelight embed cars.csv --given price --out cars_type --given type'
    """
    words = shlex.split(command)
    if words[:2] != ["sidelight", "embed"]:
        return ""
    if "--out" in words[:-1]:
        at = words.index("--out") + 1
        words[at] = f"{words[at].rstrip('/')}_{''.join(filter(str.isalnum, name))}"
    return f". Fit a second model: {shlex.join([*words, '--given', name])}"


def entry_of(column: Any, value: str, text: str, option: str = "--given") -> Any:
    """Return ``value`` as an entry of a given column: the category that is written so, or the number."""
    if column.kind == "category":
        named = {str(category): category for category in column.categories}
        if value not in named:
            some = ", ".join(list(named)[:8]) + (f" and {len(named) - 8} more" if len(named) > 8 else "")
            near = suggestion(value, list(named))
            raise CommandError(f"{option} {text}: {column.name} has no category {value}; it has {some}{near}")
        return named[value]
    try:
        number = float(value)
    except ValueError:
        number = _days(value)
        # the column does not say whether it holds dates: one that is far from all its numbers is none of them
        if not abs(number - column.centre) <= _FAR * column.scale:
            raise CommandError(f"{option} {text}: {column.name} is a number, and {value} is none") from None
    if not np.isfinite(number):
        raise CommandError(f"{option} {text}: {column.name} is a number, and {value} is not finite")
    return number


def _days(value: str) -> float:
    """Return a date as days since 1970, the unit of given dates; NaN for text that is not a date."""
    form = date_format_of([value])
    return float(microseconds_of_texts([value], form)[0]) / DAY if form else np.nan


def repeated(entries: Mapping[str, Any], columns: Sequence[Any], n: int) -> dict[str, list[Any]]:
    """The same entries for ``n`` rows, in the order of the columns."""
    return {column.name: [entries[column.name]] * n for column in columns}

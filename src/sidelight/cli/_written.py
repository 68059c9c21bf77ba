"""Entries of a text table as they are written in its file, and new ones in the same notation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
from numpy.typing import NDArray

from sidelight.tables._number_text import decimals_in, is_missing_mark, number_format_of, written_number

__all__ = ["Notation", "notation_of"]

_PLAIN = ""  # format of numbers with a point


@dataclass(frozen=True)
class Notation:
    """How the entries of one column are written.

    Parameters
    ----------
    decimals : int or None
        Digits after the point of a column that was read as numbers, -1 for exponents; None for other columns.
    words : dict
        Entry -> how it is written, for entries that are not text.
    spaced_percent : bool
        Whether a space stands before percent signs.
    """

    decimals: int | None
    words: dict[Any, str] = field(default_factory=dict)
    spaced_percent: bool = False

    def write(self, values: Sequence[Any]) -> list[str]:
        """Return entries as text; what is missing is empty."""
        return ["" if _is_missing(value) else self._write_one(value) for value in values]

    def _write_one(self, value: Any) -> str:
        if self.decimals is not None and not isinstance(value, str | bool):
            return written_number(float(value), _PLAIN, self.decimals)
        if self.spaced_percent and isinstance(value, str) and value.endswith("%"):
            return f"{value[:-1].rstrip()} %"
        return value if isinstance(value, str) else self.words.get(value, str(value))


def notation_of(raw: pd.Series[Any], parsed: pd.Series[Any]) -> Notation:
    """Return the notation of a column.

    Parameters
    ----------
    raw : Series of str
        As the file has it.
    parsed : Series
        As it was read.
    """
    if pd.api.types.is_numeric_dtype(parsed) and not pd.api.types.is_bool_dtype(parsed):
        texts = {text.strip() for text in raw if not is_missing_mark(text)}
        plain = number_format_of(sorted(texts)) == _PLAIN
        return Notation(decimals_in(texts, _PLAIN) if plain else -1)
    there: NDArray[Any] = parsed.notna().to_numpy()
    pairs = zip(parsed[there], raw[there], strict=True)
    words = {entry: text for entry, text in pairs if not isinstance(entry, str)}
    return Notation(None, words, spaced_percent=bool(raw.str.endswith(" %").any()))


def _is_missing(value: Any) -> bool:
    return bool(pd.isna(value)) if pd.api.types.is_scalar(value) else False

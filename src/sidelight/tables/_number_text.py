"""Numbers that were written as text: ``1.234,5``, ``$1,234.50``, ``12.3%``, ``(12)``, ``1 234``.

A *number format* is a text of parts, joined by ", ": how the entries were read, and how numbers are written back.

    currency $  currency € behind  percent  unit kg                       what stands before or after the digits
    decimal comma  thousands comma  thousands dot  thousands space        marks between the digits

The format is decided for a whole column: ``1,234`` alone may be both, beside ``0,5`` it has a decimal comma.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.base.messages import error_message

__all__ = [
    "as_numbers",
    "decimals_in",
    "has_decimal_comma",
    "is_missing_mark",
    "number_format_of",
    "number_in_words",
    "without_bound",
    "written_number",
]

_MISSING_MARKS = frozenset({
    "", "na", "n/a", "nan", "nat", "null", "none", "-", "--", "---", ".", "..", "?", "*", "missing", "unknown", "#n/a",
    "<na>",
})  # fmt: skip
_CURRENCIES = "$€£¥₹₽₩₪₺฿"
_SPACES = str.maketrans({"\u00a0": " ", "\u202f": " ", "\u2009": " ", "\u2212": "-", "\u2019": "'"})
_UNIT = re.compile(r"(?P<digits>.*?[\d.,])\s*(?P<unit>[^\W\d_][^\d\s]*|°[CF]?|%)")
_BOUND = re.compile(r"(?:[<>]=?|[≤≥])\s*(?=\S*\d)")
_THOUSANDS = {",": "thousands comma", ".": "thousands dot", " ": "thousands space", "'": "thousands apostrophe"}
_MARKS = (("", "."), (",", "."), ("", ","), (".", ","), (" ", "."), (" ", ","), ("'", "."), ("'", ","))
"""Marks of thousands and of decimals, the usual first: the first that reads a whole column is its format."""


@dataclass(frozen=True)
class _Style:
    """A number format taken apart."""

    affix: str = ""
    behind: bool = False
    thousands: str = ""
    decimal: str = "."

    @classmethod
    def of(cls, number_format: str) -> _Style:
        """Return the style that a number format describes."""
        affix, behind, thousands, decimal = "", False, "", "."
        for part in number_format.split(", ") if number_format else ():
            word, _, what = part.partition(" ")
            if word == "currency":
                affix, _, place = what.partition(" ")
                behind = place == "behind"
            elif word in ("percent", "unit"):
                affix, behind = (what or "%"), True
            elif word == "thousands":
                thousands = next(mark for mark, name in _THOUSANDS.items() if name == part)
            elif part == "decimal comma":
                decimal = ","
            else:
                raise ValueError(error_message("as_numbers", "number_format", number_format, "is not known", _FORMATS))
        return cls(affix, behind, thousands, decimal)

    @property
    def words(self) -> str:
        """The number format."""
        parts = []
        if self.affix == "%":
            parts.append("percent")
        elif self.affix and self.affix in _CURRENCIES:
            parts.append(f"currency {self.affix}{' behind' if self.behind else ''}")
        elif self.affix:
            parts.append(f"unit {self.affix}")
        if self.decimal == ",":
            parts.append("decimal comma")
        if self.thousands:
            parts.append(_THOUSANDS[self.thousands])
        return ", ".join(parts)

    @property
    def pattern(self) -> re.Pattern[str]:
        """What digits with these marks look like."""
        whole = r"\d+"
        if self.thousands:
            whole = rf"[1-9]\d{{0,2}}(?:{re.escape(self.thousands)}\d{{3}})+|\d+"
        decimal = re.escape(self.decimal)
        return re.compile(rf"[+-]?(?:(?:{whole})(?:{decimal}\d*)?|{decimal}\d+)(?:[eE][+-]?\d+)?")

    def plain(self, digits: str) -> str:
        """Return digits in the notation of Python."""
        return (
            digits.replace(self.thousands, "").replace(self.decimal, ".")
            if self.thousands
            else digits.replace(self.decimal, ".")
        )


_FORMATS = "Give '' or parts such as 'decimal comma', 'thousands comma', 'percent', 'currency $', 'unit kg'"


def is_missing_mark(text: str) -> bool:
    """Whether an entry of a column of numbers says that there is none: "", "NA", "?", "-" and the like."""
    return text.strip().lower() in _MISSING_MARKS


def without_bound(text: str) -> str:
    """Return the number of a bound (``<0.5``), and any other text as it is, without spaces around it.

    Examples
    --------
    >>> without_bound("< 0.5"), without_bound("≥ 100 kg"), without_bound("<5>")
    ('0.5', '100 kg', '5>')
    """
    return _BOUND.sub("", text.strip(), count=1) if _BOUND.match(text.strip()) else text.strip()


def has_decimal_comma(columns: Iterable[Sequence[str]]) -> bool:
    """Whether numbers of a table, in columns of texts, have decimal commas: some must, and none may have a point.

    Examples
    --------
    >>> has_decimal_comma([["1,5", "2"], ["1.234", "999"]])
    True
    >>> has_decimal_comma([["1,5", "2"], ["1.25", "999"]])
    False
    """
    some = False
    for texts in columns:
        usual, other = number_format_of(texts), number_format_of(texts, decimal_comma=True)
        if other is not None and "decimal comma" not in other and any("." in text for text in texts):
            return False
        some = some or (usual is not None and "decimal comma" in usual)
    return some


def number_format_of(texts: Iterable[str], *, decimal_comma: bool = False) -> str | None:
    """Return the number format that reads every text, or None where there is none.

    Marks of missing entries are passed over. Digits with leading zeros (``00501``) are codes and not numbers.
    ``decimal_comma``: other columns have decimal commas, so ``1.234`` is a thousand and more.

    Examples
    --------
    >>> number_format_of(["1.234,5", "12,25"])
    'decimal comma, thousands dot'
    >>> number_format_of(["$1,200", "$85.50"])
    'currency $, thousands comma'
    >>> number_format_of(["1.234", "999"], decimal_comma=True)
    'decimal comma, thousands dot'
    >>> number_format_of(["12", "about 12"]) is None
    True
    """
    entries = [_cleaned(text) for text in texts if not is_missing_mark(text)]
    if not entries or not all(any(letter.isdigit() for letter in entry) for entry in entries):
        return None
    affix, behind = _common_affix(entries)
    digits = [_without(entry, affix) for entry in entries]
    if any(re.fullmatch(r"0\d+", entry) for entry in digits):
        return None
    for thousands, decimal in sorted(_MARKS, key=lambda marks: marks[1] == ".") if decimal_comma else _MARKS:
        style = _Style(affix, behind, thousands, decimal)
        if all(style.pattern.fullmatch(entry) for entry in digits):
            return style.words
    return None


def as_numbers(
    values: Sequence[Any] | npt.NDArray[Any], number_format: str = "", *, column: str = "", marks: Collection[str] = ()
) -> Any:
    """Return the entries of a column as floats (n,), NaN where one is missing; a bound (``<0.5``) is its number.

    Parameters
    ----------
    values : sequence of str, numbers or None
    number_format : str
        How text was read (:func:`number_format_of`).
    column : str
        Name of the column, for messages.
    marks : collection of str
        Further entries that are read as missing.

    Raises
    ------
    ValueError
        For an entry that is no number in this format.

    Examples
    --------
    >>> as_numbers(["1.234,5", None, "2,5"], "decimal comma, thousands dot")
    array([1234.5,    nan,    2.5])
    """
    style = _Style.of(number_format)
    pattern = style.pattern
    known: dict[Any, float] = {}
    found = np.empty(len(values))
    for row, value in enumerate(values):
        if value not in known:
            known[value] = np.nan if value in marks else _parsed(value, style, pattern, column, row)
        found[row] = known[value]
    return found


def number_in_words(number_format: str, example: str) -> str:
    """Return how an entry was read: ``read as $1,234.50 with thousands comma``."""
    style = _Style.of(number_format)
    marks = ("decimal comma" if style.decimal == "," else "", _THOUSANDS.get(style.thousands, ""))
    named = " and ".join(name for name in marks if name)
    if style.affix and not named:
        return f"read from {example.strip()}"
    return f"read as {example.strip()} with {named}" if named else "numbers written as text"


def decimals_in(texts: Iterable[str], number_format: str) -> int:
    """Return the most digits after the decimal mark; -1 where an entry has an exponent."""
    style = _Style.of(number_format)
    most = 0
    for text in texts:
        if is_missing_mark(text):
            continue
        digits = _without(_cleaned(text), style.affix)
        if "e" in digits.lower():
            return -1
        most = max(most, len(digits.partition(style.decimal)[2]))
    return most


def written_number(value: float, number_format: str, decimals: int) -> str:
    """Return a number as text in a number format.

    Examples
    --------
    >>> written_number(1234.5, "currency $, thousands comma", 2)
    '$1,234.50'
    """
    style = _Style.of(number_format)
    if decimals < 0:
        text = repr(float(value)).replace(".", style.decimal)
    else:
        marks = str.maketrans({",": style.thousands, ".": style.decimal})
        text = f"{value:,.{decimals}f}".translate(marks)
    if not style.affix:
        return text
    if style.behind:
        return f"{text}{style.affix}" if style.affix == "%" else f"{text} {style.affix}"
    return f"-{style.affix}{text[1:]}" if text.startswith("-") else f"{style.affix}{text}"


def _parsed(value: Any, style: _Style, pattern: re.Pattern[str], column: str, row: int) -> float:
    if value is None:
        return np.nan
    if not isinstance(value, str):
        return float(value)
    if is_missing_mark(value):
        return np.nan
    digits = _without(_cleaned(without_bound(value)), style.affix)
    if not pattern.fullmatch(digits):
        seen = f"{value!r} in row {row}"
        where = f"column {column!r}" if column else "values"
        read = f" ({style.words})" if style.words else ""
        remedy = 'Correct the entry, or give the column another kind, such as "category"'
        raise ValueError(error_message("TableEncoder", where, seen, f"cannot be read as a number{read}", remedy))
    return float(style.plain(digits))


def _cleaned(text: str) -> str:
    """Text without odd spaces and minus signs; ``(12)`` is -12."""
    entry = text.translate(_SPACES).strip()
    if len(entry) > 2 and entry[0] == "(" and entry[-1] == ")" and any(letter.isdigit() for letter in entry):
        return f"-{entry[1:-1].strip()}"
    return entry


def _common_affix(entries: Sequence[str]) -> tuple[str, bool]:
    """A currency sign, a percent sign or a unit that entries share, and whether it stands behind the digits."""
    signs = {letter for entry in entries for letter in entry if letter in _CURRENCIES}
    if len(signs) == 1:
        sign = signs.pop()
        return sign, any(entry.endswith(sign) for entry in entries)
    if any(entry.endswith("%") for entry in entries):
        return "%", True
    units = {found["unit"] if (found := _UNIT.fullmatch(entry)) else "" for entry in entries}
    return (units.pop(), True) if len(units) == 1 and "" not in units else ("", False)


def _without(entry: str, affix: str) -> str:
    """The digits with their sign."""
    if not affix:
        return entry
    bare = entry.removesuffix(affix).strip()
    sign = bare[:1] if bare[:1] in ("-", "+") else ""
    return sign + bare[len(sign) :].strip().removeprefix(affix).strip()

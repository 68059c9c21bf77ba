"""Infer the kind of each column of a table: number, category, date, identifier ...

Nothing is changed here; :class:`~sidelight.TableEncoder` encodes columns by what is decided here, and
``sidelight look`` prints it. Every decision comes with a reason in plain words, and can be overruled by ``kinds``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.base.messages import error_message
from sidelight.side.natural_kind import labels_in_words

from ._date_text import date_format_of
from ._identifiers import looks_like_key, says_identifier, why_identifier
from ._missing_marks import has_sign_levels
from ._nearly_numbers import nearly_numbers
from ._number_text import as_numbers, has_decimal_comma, is_missing_mark, number_format_of, number_in_words
from ._scales import TRUTH, order_of
from ._table_columns import Table, TableColumn, read_table, without_marks

__all__ = ["KINDS", "LEFT_OUT", "ColumnUse", "read_by", "understand", "understand_table", "understood_columns"]

KINDS = ("number", "category", "ordinal", "boolean", "date", "angle", "text", "identifier")
"""Kinds that a user may give a column; "drop" leaves it out."""

LEFT_OUT = ("identifier", "constant", "empty")
"""Kinds that are not embedded."""

_OWNER = "TableEncoder"
_FEW_LEVELS = 12
_LONG_TEXT = 60
_ANGLE = re.compile(r"angle|direction|heading|bearing|azimuth|phase", re.IGNORECASE)


@dataclass(frozen=True)
class ColumnUse:
    """Inferred kind of one column.

    Parameters
    ----------
    name : str
    kind : str
        "number", "category", "ordinal", "boolean", "date", "angle", "text", "identifier", "constant" or "empty".
    reason : str
        Why, in plain words.
    used : bool
        Whether the column is embedded.
    number_format : str
        How text was read as numbers: "", "decimal comma", "thousands comma", "percent", "currency $", "unit kg", or
        several of them, joined by ", ".
    n_missing : int
        Entries that are missing.
    date_format : str
        How text was read as dates, as ``strptime`` writes it.
    marks : tuple of str
        Entries that were read as missing, such as "?".
    sign_levels : bool
        Whether signs such as "-" are levels, and not marks of missing entries.
    """

    name: str
    kind: str
    reason: str
    used: bool
    number_format: str = ""
    n_missing: int = 0
    date_format: str = ""
    marks: tuple[str, ...] = ()
    sign_levels: bool = False

    def sentence(self) -> str:
        """Return name, kind and reason in one line.

        Examples
        --------
        >>> ColumnUse("wage", "number", "read as 1,234.50 with thousands comma", True, "thousands comma").sentence()
        'wage: number (read as 1,234.50 with thousands comma)'
        >>> ColumnUse("id", "identifier", "it counts the rows", False, n_missing=2).sentence()
        'id: identifier, left out (it counts the rows; 2 missing)'
        """
        out = "" if self.used else ", left out"
        gaps = f"; {self.n_missing:,} missing" if self.n_missing and self.kind != "empty" else ""
        return f"{self.name}: {self.kind}{out} ({self.reason}{gaps})"


def understand(frame: Any, kinds: Mapping[str, str] | None = None) -> tuple[ColumnUse, ...]:
    """Return the inferred kind of each column of a table.

    Parameters
    ----------
    frame : table of pandas, polars, pyarrow or another library that narwhals knows, or array
    kinds : dict, optional
        Column -> kind, for columns that are to be understood otherwise; "drop" leaves one out.

    Returns
    -------
    tuple of ColumnUse

    Examples
    --------
    >>> import pandas as pd
    >>> prices = ["1,5", "2", "3,25", "4", "7", "9,1"]
    >>> table = pd.DataFrame({"id": [1, 2, 3, 4, 5, 6], "price": prices, "ok": list("ynyyny")})
    >>> for column in understand(table):
    ...     print(column.sentence())
    id: identifier, left out (it counts the rows)
    price: number (read as 1,5 with decimal comma)
    ok: boolean (y and n)
    """
    return understand_table(read_table(frame), kinds)


def understand_table(table: Table, kinds: Mapping[str, str] | None = None) -> tuple[ColumnUse, ...]:
    """Return the inferred kind of each column of a parsed table."""
    wanted = dict(kinds or {})
    _check_kinds(wanted, [column.name for column in table.columns])
    found = []
    comma = has_decimal_comma([_texts(column) for column in table.columns if column.is_text])
    for column in map(without_marks, table.columns):
        kind = wanted.get(column.name)
        if kind is None or kind == "drop":
            use = _understood(column, named=table.named, decimal_comma=comma)
            found.append(use if kind is None else replace(use, used=False, reason="left out as you asked"))
        else:
            found.append(_as_wanted(column, kind, decimal_comma=comma))
    return tuple(found)


def read_by(columns: Mapping[str, TableColumn], uses: Iterable[ColumnUse]) -> dict[str, TableColumn]:
    """Return the columns of a table by name, marks such as "?" read as missing, by what they were understood as."""
    return {use.name: without_marks(columns[use.name], use.sign_levels) for use in uses if use.name in columns}


def understood_columns(table: Table, kinds: Mapping[str, str] | None) -> tuple[Table, tuple[ColumnUse, ...]]:
    """Return a table with its marks read as missing, and the inferred kind of each column."""
    uses = understand_table(table, kinds)
    return replace(table, columns=tuple(read_by(table.by_name(), uses).values())), uses


def _texts(column: TableColumn) -> list[str]:
    """The different entries of a column of text."""
    return [str(value) for value in dict.fromkeys(column.present.tolist())]


def _check_kinds(kinds: Mapping[str, str], names: list[str]) -> None:
    for name, kind in kinds.items():
        if name not in names:
            near = get_close_matches(str(name), names, n=1)
            remedy = f"Did you mean {near[0]!r}" if near else f"The table has {', '.join(map(repr, names[:8]))}"
            raise ValueError(error_message(_OWNER, "kinds", repr(name), "is not a column of the table", remedy))
        if kind not in (*KINDS, "drop"):
            remedy = f"Choose one of {', '.join(map(repr, (*KINDS, 'drop')))}"
            raise ValueError(error_message(_OWNER, "kinds", f"{name}: {kind!r}", "is not a kind of column", remedy))


def _use(column: TableColumn, kind: str, reason: str, **more: Any) -> ColumnUse:
    missing = more.pop("n_missing", int(column.missing.sum()))
    more["marks"] = marks = tuple(sorted({*column.marks, *more.get("marks", ())}))
    noted = f"; {', '.join(map(repr, marks))} read as missing" if marks else ""
    more["sign_levels"] = column.is_text and has_sign_levels(_texts(column))
    return ColumnUse(column.name, kind, reason + noted, kind not in LEFT_OUT, n_missing=missing, **more)


def _understood(column: TableColumn, *, named: bool, decimal_comma: bool) -> ColumnUse:
    """Infer the kind of a column from its type, its entries and its name."""
    present = column.present
    if not len(present):
        return _use(column, "empty", "it has no entry")
    if column.is_text:
        return _understood_words(column, decimal_comma=decimal_comma)
    if present.min() == present.max():
        return _use(column, "constant", "the same value in every row")
    if column.stored == "boolean":
        return _use(column, "boolean", "true and false")
    if column.stored == "date":
        return _use(column, "date", "its type is a date")
    if column.stored == "time":
        return _use(column, "angle", "time of day")
    if column.stored == "duration":
        return _use(column, "number", "durations")
    return _understood_numbers(column, present) if named else _use(column, "number", _range(present))


def _understood_numbers(column: TableColumn, present: npt.NDArray[Any], **how: Any) -> ColumnUse:
    """Numbers that may be a key, a truth value or an angle."""
    whole = bool((present == np.round(present)).all())
    if whole and set(np.unique(present[:1000])) <= {0.0, 1.0} and np.isin(present, (0.0, 1.0)).all():
        return _use(column, "boolean", "only 0 and 1", **how)
    why = why_identifier(column.name, present) if whole else ""
    if why:
        return _use(column, "identifier", why, **how)
    if whole and says_identifier(column.name) and _repeats_key(column.name, present):
        levels = len(np.unique(present))
        if levels <= min(50, len(present) / 3):
            return _use(column, "category", f"{levels} different keys in {len(present):,} rows, by its name", **how)
        return _use(column, "identifier", f"{levels:,} different keys, by its name", **how)
    if whole and _are_days(column.name, present):
        return _use(column, "date", f"read as dates such as {present[0]:.0f}", date_format="%Y%m%d", **how)
    if _ANGLE.search(column.name) and present.min() >= 0 and 180 < present.max() <= 360:
        return _use(column, "angle", "degrees, by its name", **how)
    labels = labels_in_words(present) if whole else ""
    hint = f"; {labels}; kind 'category' if these are labels" if labels else ""
    return _use(column, "number", _range(present) + hint, **how)


def _are_days(name: str, present: npt.NDArray[Any]) -> bool:
    """Whether whole numbers such as 20240131, in a column called a date, are days."""
    if "date" not in name.lower() or present.min() < 1000_01_01 or present.max() > 2999_12_31:
        return False
    return (
        date_format_of([f"{day[:4]}-{day[4:6]}-{day[6:]}" for day in {f"{one:.0f}" for one in present}]) == "%Y-%m-%d"
    )


def _repeats_key(name: str, present: npt.NDArray[Any]) -> bool:
    """Whether whole numbers under a strong name (``id``, not ``number``) are keys of groups of rows."""
    return bool(re.search(r"id$|index$|uuid$|rownames$", name.strip(), re.IGNORECASE)) and len(
        np.unique(present)
    ) < len(present)


def _understood_words(column: TableColumn, *, decimal_comma: bool) -> ColumnUse:
    """Text: numbers, dates, truth values, ordered words, keys, categories, or free text."""
    counts = Counter(column.present.tolist())
    texts = [str(value) for value in counts]
    if len(counts) == 1:
        return _use(column, "constant", f"{_short(texts[0])} in every row")
    if column.stored == "ordered":
        return _use(column, "ordinal", f"its type has {len(column.levels)} ordered categories")
    if column.stored == "category":
        return _use(column, "category", f"its type is categorical, {len(counts)} values")
    as_number = _numbers_in_text(column, counts, decimal_comma=decimal_comma)
    if as_number is not None:
        return as_number
    date_format = date_format_of(texts)
    if date_format is not None:
        return _use(column, "date", f"read as dates such as {texts[0].strip()}", date_format=date_format)
    lowered = {text.strip().lower() for text in texts}
    if lowered <= TRUTH.keys() and len({TRUTH[word] for word in lowered}) == 2:
        return _use(column, "boolean", " and ".join(texts[:2]) if len(texts) == 2 else ", ".join(sorted(texts)))
    if all(isinstance(value, str) for value in counts) and order_of(texts) is not None:
        return _use(column, "ordinal", f"words in a known order: {_listed(order_of(texts) or ())}")
    return _understood_text(column, counts, texts)


def _numbers_in_text(column: TableColumn, counts: Counter[Any], *, decimal_comma: bool) -> ColumnUse | None:
    """A column of numbers that were written as text, all or nearly all of them, or None."""
    texts = [str(value) for value in counts]
    number_format = number_format_of(texts, decimal_comma=decimal_comma)
    words: tuple[str, ...] = ()
    reason = ""
    if number_format is None:
        nearly = nearly_numbers(Counter(map(str, counts.elements())), decimal_comma=decimal_comma)
        if nearly is None:
            return None
        number_format, words, reason = nearly.number_format, nearly.words, nearly.reason
    numbers = as_numbers(column.values, number_format, column=column.name, marks=words)
    present = numbers[~np.isnan(numbers)]
    how = {
        "number_format": number_format,
        "n_missing": int(np.isnan(numbers).sum()),
        "marks": [*words, *(text for text in texts if is_missing_mark(text))],
    }
    if present.min() == present.max():
        return _use(column, "constant", "the same number in every row", **how)
    use = _understood_numbers(column, present, **how)
    if use.kind != "number":
        return use
    example = max(
        (text for text in texts if text not in words and not is_missing_mark(text)),
        key=lambda text: sum(map(text.count, ",.' $%")),
    )
    return _use(column, "number", number_in_words(number_format, example) + reason, **how)


def _understood_text(column: TableColumn, counts: Counter[Any], texts: list[str]) -> ColumnUse:
    """Words without a meaning of their own: by how often they repeat and how long they are."""
    n, k = sum(counts.values()), len(counts)
    length = sum(len(str(value)) * times for value, times in counts.items()) / n
    words = sum(len(text.split()) for text in texts) / k
    spoilt = _spoilt(texts)
    if n > 5 and k > 0.95 * n and (words < 4 or looks_like_key(texts)) and length <= _LONG_TEXT:
        return _use(
            column,
            "identifier",
            f"every row has another value{spoilt}" if k == n else f"{k:,} different values in {n:,} rows",
        )
    if says_identifier(column.name) and k > n / 2 and n > 5:
        return _use(column, "identifier", f"{k:,} different keys in {n:,} rows, by its name")
    if length > _LONG_TEXT or (k > _FEW_LEVELS and k > n / 3):
        return _use(column, "text", f"{k:,} different texts in {n:,} rows{spoilt}")
    return _use(column, "category", f"{k:,} different words in {n:,} rows{spoilt}")


def _spoilt(texts: list[str]) -> str:
    """Name an entry that makes text of a column of numbers, where most entries are numbers."""
    formats = {text: number_format_of([text]) for text in texts}
    numbers = [text for text, form in formats.items() if form is not None and "unit" not in form]  # 1st is no number
    others = [text for text in texts if text not in numbers and not is_missing_mark(text)]
    if 0 < len(others) <= len(numbers):
        return f"; text because of {_short(others[0])}"
    return ""


def _as_wanted(column: TableColumn, kind: str, *, decimal_comma: bool) -> ColumnUse:
    """A column as the user wants it understood; whether its entries can be read so is seen when they are."""
    reason = "as you said"
    if not len(column.present) or kind in ("identifier", "text", "category", "boolean", "ordinal"):
        return _use(
            column, kind if len(column.present) else "empty", reason if len(column.present) else "it has no entry"
        )
    if not column.is_text:
        return _use(column, kind, reason)
    texts = _texts(column)
    if kind == "date":
        form = date_format_of(texts)
        return _use(column, kind, reason, date_format=form if form is not None else "iso")
    entries = [str(value) if value is not None else None for value in column.values]
    form = number_format_of(texts, decimal_comma=decimal_comma)
    words: tuple[str, ...] = ()
    if form is None and (nearly := nearly_numbers(Counter(map(str, column.present)), asked=True)) is not None:
        form, words, reason = nearly.number_format, nearly.words, reason + nearly.reason
    numbers = as_numbers(entries, form or "", column=column.name, marks=words)
    return _use(column, kind, reason, number_format=form or "", n_missing=int(np.isnan(numbers).sum()), marks=words)


def _range(present: npt.NDArray[Any]) -> str:
    return f"from {present.min():.6g} to {present.max():.6g}"


def _listed(levels: Sequence[str]) -> str:
    """Levels in their order; of many only the first and the last."""
    if len(levels) <= _FEW_LEVELS:
        return ", ".join(levels)
    return f"{', '.join(levels[:5])}, ..., {levels[-1]} ({len(levels)} levels)"


def _short(text: str) -> str:
    return repr(text if len(text) <= 30 else text[:27] + "...")

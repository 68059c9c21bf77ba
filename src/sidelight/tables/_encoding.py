"""Encoding and decoding of columns by kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.base.messages import error_message
from sidelight.base.warnings import warn

from ._category_code import CategoryCode, OrdinalCode, fit_boolean, fit_category, fit_ordinal
from ._column_kinds import ColumnUse
from ._date_code import DateCode, fit_date
from ._date_text import DAY, microseconds_of_texts
from ._number_code import AngleCode, NumberCode, fit_angle, fit_number
from ._number_text import as_numbers
from ._scales import TRUTH, order_of
from ._table_columns import Table, TableColumn
from ._text_code import TextCode, fit_text

__all__ = [
    "Code",
    "ColumnBlock",
    "EncoderSettings",
    "blocks_of",
    "decode_columns",
    "encode_columns",
    "fit_codes",
    "numbers_of_column",
]

Array = npt.NDArray[Any]
Code = NumberCode | AngleCode | CategoryCode | OrdinalCode | DateCode | TextCode
_OWNER = "TableEncoder"
_UNSEEN_ARE = "taken as missing"
_LISTED = 3  # columns, and categories of one column, that a warning names


@dataclass(frozen=True)
class EncoderSettings:
    """Parameters of the encoder that codes depend on."""

    scaling: str
    tails: str
    min_frequency: float
    n_text: int
    random: np.random.RandomState


@dataclass(frozen=True)
class ColumnBlock:
    """The columns ``start`` to ``stop`` of the code, which belong to one column of the table."""

    name: str
    start: int
    stop: int

    @property
    def columns(self) -> slice:
        """The columns of the code, as a slice."""
        return slice(self.start, self.stop)


def fit_codes(table: Table, uses: Sequence[ColumnUse], settings: EncoderSettings) -> tuple[Code, ...]:
    """Return the code of each used column; dates last, since their cycles are judged by the others."""
    pairs = [(column, use) for column, use in zip(table.columns, uses, strict=True) if use.used]
    codes: list[Code | None] = [None if use.kind == "date" else _fit(column, use, settings) for column, use in pairs]
    beside = [
        encode_column(column, use, code)
        for (column, use), code in zip(pairs, codes, strict=True)
        if code is not None and use.kind != "text"
    ]
    others = np.hstack(beside) if beside else np.empty((table.n_rows, 0))
    found = [
        fit_date(numbers_of_column(*pair), others) if code is None else code
        for pair, code in zip(pairs, codes, strict=True)
    ]
    return tuple(found)


def blocks_of(names: Sequence[str], codes: Sequence[Code]) -> tuple[ColumnBlock, ...]:
    """Return the block of each used column, side by side in their order."""
    ends = np.cumsum([code.width for code in codes]).tolist()
    starts = [0, *ends][:-1]
    return tuple(ColumnBlock(name, start, end) for name, start, end in zip(names, starts, ends, strict=True))


def encode_columns(
    columns: Mapping[str, TableColumn],
    uses: Sequence[ColumnUse],
    codes: Sequence[Code],
    *,
    owner: str = _OWNER,
    unseen_are: str = _UNSEEN_ARE,
) -> Array:
    """Return the code (n, p) of the used columns, found by name.

    Parameters
    ----------
    columns : dict
        Name -> column.
    uses, codes : sequences
        Of the used columns.
    owner, unseen_are : str
        Whom a warning of unseen categories names, and what it says becomes of them.
    """
    unseen: dict[str, list[Any]] = {}
    pairs = zip(uses, codes, strict=True)
    A = np.hstack([encode_column(columns[use.name], use, code, unseen) for use, code in pairs])
    if unseen:
        _warn_of_unseen(owner, unseen, unseen_are)
    return A


def _warn_of_unseen(owner: str, unseen: Mapping[str, list[Any]], unseen_are: str) -> None:
    """One warning for all columns with entries that the fit has not seen."""
    levels = [_first_of([*map(repr, entries)]) for entries in unseen.values()]
    names, rule = [repr(name) for name in unseen], "entries that fit has not seen"
    if len(names) == 1:
        seen, rule = f"column {names[0]}", f"has {rule} ({levels[0]}), which are {unseen_are}"
    else:
        listed = [f"{name} ({entries})" for name, entries in zip(names, levels, strict=True)]
        seen, rule = f"{len(names)} columns", f"have {rule}, which are {unseen_are}: {_first_of(listed)}"
    warn(error_message(owner, "X", seen, rule, "Fit again with them to use them"), UserWarning)


def _first_of(texts: list[str]) -> str:
    """The first few of some texts, and how many more there are."""
    more = f" and {len(texts) - _LISTED} more" if len(texts) > _LISTED else ""
    return ", ".join(texts[:_LISTED]) + more


def decode_columns(A: Array, blocks: Sequence[ColumnBlock], codes: Sequence[Code]) -> dict[str, Array]:
    """Return the decoded values (n,) of each used column."""
    return {block.name: code.decode(A[:, block.columns]) for block, code in zip(blocks, codes, strict=True)}


def encode_column(column: TableColumn, use: ColumnUse, code: Code, unseen: dict[str, list[Any]] | None = None) -> Array:
    """Return the code (n, width) of one column; NaN where an entry is missing or a category is unseen.

    ``unseen``: takes the categories that the fit has not seen, by the name of the column.
    """
    if isinstance(code, NumberCode | AngleCode | DateCode):
        return code.encode(numbers_of_column(column, use))
    values = _objects(column)
    if isinstance(code, TextCode):
        return code.encode(values, column.missing)
    if isinstance(code, CategoryCode) and code.is_boolean:
        values = _truths(column, code)
    codes, others = code.codes(values, column.missing)
    if others and unseen is not None:
        unseen[use.name] = others
    return code.encode(codes)


def _fit(column: TableColumn, use: ColumnUse, settings: EncoderSettings) -> Code:
    """The code of a column of any kind but dates."""
    if use.kind in ("number", "angle"):
        numbers = numbers_of_column(column, use)
        present = numbers[~np.isnan(numbers)]
        if use.kind == "number":
            return fit_number(present, settings.scaling, settings.tails)
        return fit_angle(present, float(DAY) if column.stored == "time" else None)
    values = _objects(column)[~column.missing].tolist()
    if use.kind == "text":
        return fit_text([str(value) for value in values], settings.n_text, settings.random)
    if use.kind == "boolean":
        return _fit_boolean(column, values)
    if use.kind == "ordinal":
        levels = _ordered_levels(column, values)
        ranks = {level: rank for rank, level in enumerate(levels)}
        return fit_ordinal(levels, np.array([ranks[value] for value in values]))
    return fit_category(values, column.levels, settings.min_frequency)


def _fit_boolean(column: TableColumn, values: list[Any]) -> CategoryCode:
    """Truth values by what words mean; two other words in alphabetical order."""
    distinct = sorted(set(values), key=lambda value: (-values.count(value), str(value)))
    meant = {value: TRUTH.get(str(value).strip().lower()) for value in distinct}
    if any(truth is None for truth in meant.values()):
        if len(distinct) > 2:
            rule, remedy = f"has {len(distinct)} values and is no truth value", 'Give it the kind "category"'
            raise ValueError(error_message(_OWNER, "kinds", f"column {column.name!r}", rule, remedy))
        meant = {value: value == max(distinct, key=str) for value in distinct}
    no, yes = (next((value for value in distinct if meant[value] == truth), truth) for truth in (False, True))
    return fit_boolean(no, yes, np.array([bool(meant[value]) for value in values]))


def _truths(column: TableColumn, code: CategoryCode) -> Array:
    """Entries as the two levels of the code, by their meaning where they are written otherwise."""
    meant = {TRUTH.get(str(level).strip().lower()): level for level in code.levels}
    if None in meant:
        return _objects(column)
    levels = set(map(str, code.levels))
    found = _objects(column)
    found[:] = [
        value if gone or str(value) in levels else meant.get(TRUTH.get(str(value).strip().lower()), value)
        for value, gone in zip(found, column.missing, strict=True)
    ]
    return found


def _ordered_levels(column: TableColumn, values: list[Any]) -> list[Any]:
    """Levels of an ordered type, of a known scale, of numbers, or in alphabetical order."""
    if column.levels:
        return list(column.levels)
    distinct = list(dict.fromkeys(values))
    if all(isinstance(value, str) for value in distinct):
        return order_of(distinct) or sorted(distinct)
    return sorted(
        distinct, key=lambda value: (isinstance(value, str), value if not isinstance(value, str) else 0, str(value))
    )


def numbers_of_column(column: TableColumn, use: ColumnUse) -> Array:
    """A column as numbers, or as dates in microseconds, NaN where missing."""
    wants_date = use.kind == "date"
    if column.is_text:
        if wants_date:
            return microseconds_of_texts(column.values.tolist(), use.date_format, column=column.name)
        return np.asarray(as_numbers(column.values.tolist(), use.number_format, column=column.name, marks=use.marks))
    if wants_date and use.date_format == "%Y%m%d" and column.stored in ("integer", "number"):
        texts = [None if gone else f"{one:.0f}" for one, gone in zip(column.values, column.missing, strict=True)]
        return microseconds_of_texts(texts, use.date_format, column=column.name)
    if wants_date != (column.stored == "date") and len(column.present):
        was, seen = ("dates", "numbers") if wants_date else ("numbers", "dates")
        remedy = "Give the column as it was at fit"
        raise ValueError(error_message(_OWNER, "X", f"column {column.name!r}", f"holds {seen} and not {was}", remedy))
    return np.where(column.missing, np.nan, column.values)


def _objects(column: TableColumn) -> Array:
    """A column as Python objects: whole numbers as int, truth values as bool."""
    if column.is_text:
        return column.values.copy()
    found = np.empty(len(column.values), dtype=object)
    cast: Any = {"boolean": bool, "integer": int}.get(column.stored, _whole_or_float)
    found[:] = [
        None if gone else cast(value) for value, gone in zip(column.values.tolist(), column.missing, strict=True)
    ]
    return found


def _whole_or_float(value: float) -> int | float:
    return int(value) if value.is_integer() else value

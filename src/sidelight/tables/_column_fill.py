"""How the missing entries of one column are filled: by the model, by the only value that it has, or not at all.

Numbers come back as the column could have them: whole where all observed entries of a table are whole, never beyond 0
where no observed entry is, and within 0 and 1 where all are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ._category_code import CategoryCode, OrdinalCode
from ._column_kinds import ColumnUse
from ._encoding import Code, numbers_of_column
from ._number_code import AngleCode, NumberCode
from ._table_columns import Table, TableColumn
from ._table_layout import ColumnLayout

__all__ = ["SOURCES", "ColumnFill", "bound_values", "column_fills", "filled_values", "gaps_of_column", "has_interval"]

Array = npt.NDArray[Any]

SOURCES = ("model", "constant", "nothing")
"""Where the entries for gaps come from."""


@dataclass(frozen=True)
class ColumnFill:
    """How the gaps of one column are filled.

    Parameters
    ----------
    name : str
    source : str
        One of ``SOURCES``.
    whole : bool
        Whether filled numbers are whole.
    low, high : float or None
        Bounds of filled numbers.
    decimals : int
        Digits after the decimal mark of numbers that are written as text.
    fixed : object
        The value of a column that has one only.
    """

    name: str
    source: str
    whole: bool = False
    low: float | None = None
    high: float | None = None
    decimals: int = 0
    fixed: Any = None


def column_fills(table: Table, uses: Sequence[ColumnUse], layouts: Sequence[ColumnLayout]) -> tuple[ColumnFill, ...]:
    """Return how each column of the table of a fit is filled."""
    parts = zip(table.columns, uses, layouts, strict=True)
    return tuple(_fill(column, use, layout, named=table.named) for column, use, layout in parts)


def _fill(column: TableColumn, use: ColumnUse, layout: ColumnLayout, *, named: bool) -> ColumnFill:
    if not use.used:
        source = "constant" if use.kind == "constant" else "nothing"
        return ColumnFill(use.name, source, fixed=layout.fixed if source == "constant" else None)
    if use.kind != "number":
        return ColumnFill(use.name, "model", decimals=layout.decimals)
    numbers = numbers_of_column(column, use)
    present = numbers[~np.isnan(numbers)]
    whole = bool((present == np.rint(present)).all())
    low, high = float(present.min()), float(present.max())
    # an array says nothing of its columns: its whole numbers may be measurements
    return ColumnFill(
        use.name,
        "model",
        whole=whole and (named or column.stored == "integer"),
        low=0.0 if low >= 0 else None,
        high=1.0 if low >= 0 and high <= 1 and not whole else 0.0 if high <= 0 else None,
        decimals=layout.decimals,
    )


def gaps_of_column(column: TableColumn, code: Code, A: Array) -> Array:
    """Return the rows (n,) in which a column has gaps: entries that are missing, and not merely unseen categories.

    Parameters
    ----------
    column : TableColumn
    code : Code
    A : array of shape (n, width)
        The code of the column.
    """
    gone: Array = np.asarray(np.isnan(A[:, 0]))
    return gone & column.missing if isinstance(code, CategoryCode | OrdinalCode) else gone


def filled_values(fill: ColumnFill, code: Code, A: Array) -> Array:
    """Return the entries (m,) of codes (m, width), as the column could have them."""
    found = code.decode(A)
    if not isinstance(code, NumberCode):
        return found
    return _bounded(fill, np.rint(found) if fill.whole else found)


def has_interval(code: Code) -> bool:
    """Whether entries of a column have a lower and an upper bound: numbers, dates, ordered categories."""
    return not isinstance(code, CategoryCode | AngleCode)


def bound_values(fill: ColumnFill, code: Code, A: Array, side: int) -> Array:
    """Return lower (``side=-1``) or upper (1) bounds (m,) of entries; whole numbers and ranks are rounded outwards."""
    outwards = np.floor if side < 0 else np.ceil
    if isinstance(code, OrdinalCode):
        ranks = outwards(np.round(A[:, :1] * code.scale + code.centre, 9))
        return code.decode((ranks - code.centre) / code.scale)
    found = code.decode(A)
    if not isinstance(code, NumberCode):
        return found
    return _bounded(fill, outwards(found) if fill.whole else found)


def _bounded(fill: ColumnFill, values: Array) -> Array:
    return values if fill.low is None and fill.high is None else np.clip(values, fill.low, fill.high)

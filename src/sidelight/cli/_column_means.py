"""Means of columns as ``sidelight explain`` prints them: numbers and dates in their units, categories as shares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sidelight.explain._compared import Compared
from sidelight.tables._category_code import CategoryCode

from ._encoded_table import EncodedTable

__all__ = ["Means", "ShownColumn", "Sides", "columns_of_code", "told_apart"]

Rows = NDArray[Any]
Sides = Mapping[str, tuple[Rows, Rows]]
_MOST_DIGITS = 12


@dataclass(frozen=True)
class ShownColumn:
    """Entries (n,) of a column of the code, NaN or NaT where missing, as the data has them."""

    entries: pd.Series
    kind: Literal["number", "date", "share"]

    def means(self, first: Rows, second: Rows) -> list[str]:
        """Means over two selections in words; "" where none of the rows has an entry, "missing" of a single one."""
        found: list[Any] = [self.entries.iloc[rows].mean() for rows in (first, second)]
        if self.kind == "number" and not any(map(pd.isna, found)):
            return told_apart(*map(float, found))
        return [self._in_words(mean, len(rows)) for mean, rows in zip(found, (first, second), strict=True)]

    def _in_words(self, mean: Any, count: int) -> str:
        if pd.isna(mean):
            return "missing" if count == 1 else ""
        if self.kind == "date":
            return f"{mean:%Y-%m-%d}"
        if self.kind == "number":
            return f"{mean:.4g}"
        return f"{max(100 * mean, 0.0):.0f} %" if count > 1 else "yes" if mean > 0.5 else "no"


def told_apart(first: float, second: float) -> list[str]:
    """Two numbers with four digits, or as many more as show two digits of their difference.

    >>> told_apart(-118.2837, -118.2712), told_apart(2.5, 1234.5678), told_apart(3.0, 3.0)
    (['-118.284', '-118.271'], ['2.5', '1235'], ['3', '3'])
    """
    apart, size = abs(first - second), max(abs(first), abs(second))
    digits = 4
    if 0.0 < apart < size:
        digits = min(max(4, int(np.floor(np.log10(size)) - np.floor(np.log10(apart))) + 2), _MOST_DIGITS)
    return [f"{value:.{digits}g}" for value in (first, second)]


def columns_of_code(table: EncodedTable) -> dict[str, ShownColumn]:
    """The columns of the code of a table that have a mean: numbers, dates, and the share of each category.

    Parts of cycles, angles and texts have none.
    """
    X, shown = table.numbers(), table.shown()
    found: dict[str, ShownColumn] = {}
    for block, code in zip(table.encoder.blocks_, table.encoder.codes_, strict=True):
        names = code.names(block.name)
        if isinstance(code, CategoryCode):
            shares = code.shares[1:] if code.is_boolean else code.shares
            indicators = X[:, block.columns] / code.weight + shares
            found |= {name: ShownColumn(pd.Series(indicators[:, k]), "share") for k, name in enumerate(names)}
        elif names[0] == block.name and block.name in shown.columns:
            entries = shown[block.name].reset_index(drop=True)
            if pd.api.types.is_datetime64_any_dtype(entries):
                found[names[0]] = ShownColumn(entries, "date")
            elif pd.api.types.is_numeric_dtype(entries):
                found[names[0]] = ShownColumn(entries, "number")
    return found


@dataclass(frozen=True)
class Means:
    """Means of the columns of two selections, in the units of the data."""

    columns: Mapping[str, ShownColumn] | None
    """Those of a table where the model sees a code of it; None: the model sees the data."""
    sides: Sides
    """Rows of each selection and of what it is compared with, by name."""

    @property
    def known(self) -> bool:
        """Whether there is something to print."""
        return self.columns is None or bool(self.columns)

    def of(self, one: Compared, k: int) -> list[str]:
        """Means of feature k in both selections; empty where the column has none."""
        if self.columns is None:
            return told_apart(float(one.first[k]), float(one.second[k]))
        column = self.columns.get(str(one.feature[k]))
        return ["", ""] if column is None else column.means(*self.sides[one.name])

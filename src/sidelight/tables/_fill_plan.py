"""Fitted description of the columns of a table, to find missing entries of new tables and fill them from codes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ._category_code import CategoryCode
from ._column_fill import ColumnFill, bound_values, column_fills, filled_values, gaps_of_column, has_interval
from ._column_kinds import ColumnUse, read_by, understood_columns
from ._encoding import Code, ColumnBlock, EncoderSettings, blocks_of, encode_columns, fit_codes
from ._matching import matched_columns
from ._table_columns import Table, TableColumn, read_table
from ._table_entries import Entries, frame_of, with_entries
from ._table_layout import ColumnLayout, layout_of

__all__ = ["FillPlan", "GappedTable", "fit_plan", "read_gaps"]

Array = npt.NDArray[Any]
_UNSEEN_ARE = "left as they are, and taken as unknown where they would help to fill others"


@dataclass(frozen=True)
class FillPlan:
    """The columns of the table of a fit.

    Parameters
    ----------
    columns : tuple of ColumnUse
        What each was understood as; ``used``: its gaps are filled by the model, and it helps to fill others.
    fills : tuple of ColumnFill
        How the gaps of each are filled.
    codes : tuple of Code
        Of the used columns.
    blocks : tuple of ColumnBlock
        Of the used columns.
    named : bool
        Whether the columns had names of their own.
    """

    columns: tuple[ColumnUse, ...]
    fills: tuple[ColumnFill, ...]
    codes: tuple[Code, ...]
    blocks: tuple[ColumnBlock, ...]
    named: bool

    @property
    def width(self) -> int:
        """Columns of the code."""
        return self.blocks[-1].stop if self.blocks else 0

    @property
    def used(self) -> tuple[tuple[ColumnBlock, Code, ColumnFill], ...]:
        """Block, code and way of filling of each used column."""
        fills = [fill for fill in self.fills if fill.source == "model"]
        return tuple(zip(self.blocks, self.codes, fills, strict=True))


@dataclass(frozen=True)
class GappedTable:
    """A table, its code, and where its gaps are.

    Parameters
    ----------
    given : object
        The table of the user.
    table : Table
        As it was read.
    plan : FillPlan
    layouts : dict
        Column -> type and notation in this table.
    code : array of shape (n, p)
        NaN where an entry is missing or a category is unseen.
    gaps : dict
        Column -> rows in which an entry is missing, for columns that can be filled.
    """

    given: Any
    table: Table
    plan: FillPlan
    layouts: Mapping[str, ColumnLayout]
    code: Array
    gaps: Mapping[str, Array]

    @property
    def rows(self) -> Array:
        """Rows in which the model has something to fill."""
        some = [self.gaps[block.name] for block in self.plan.blocks]
        return np.unique(np.concatenate(some)) if some else np.empty(0, dtype=np.int64)

    def filled(self, A: Array) -> Any:
        """Return the table with its gaps filled from codes (n, p)."""
        return self._with(lambda block, code, fill, rows: filled_values(fill, code, A[rows, block.columns]))

    def bounds(self, A: Array, side: int) -> Any:
        """Return the table with lower (``side=-1``) or upper bounds from codes; gaps without bounds stay."""

        def bound(block: ColumnBlock, code: Code, fill: ColumnFill, rows: Array) -> Array | None:
            return bound_values(fill, code, A[rows, block.columns], side) if has_interval(code) else None

        return self._with(bound)

    def probabilities(self, A: Array) -> dict[str, Any]:
        """Return the probability of each level by column, for categories with gaps: a table of the same library.

        The level of an observed entry has probability 1; an unseen one has none, and its row is NaN.
        """
        found = {}
        index = self.given.index if self.table.library == "pandas" else None
        for block, code, _ in self.plan.used:
            if not isinstance(code, CategoryCode) or not len(self.gaps[block.name]):
                continue
            P = code.probabilities(A[:, block.columns])
            levels = {str(level): P[:, k] for k, level in enumerate(code.levels)}
            found[block.name] = frame_of(self.table.library, levels, index)
        return found

    def _with(self, values_of: Callable[[ColumnBlock, Code, ColumnFill, Array], Array | None]) -> Any:
        """The table with entries by column, ``values_of(block, code, fill, rows)``, and constants."""
        entries = {}
        for block, code, fill in self.plan.used:
            rows = self.gaps[block.name]
            values = values_of(block, code, fill, rows) if len(rows) else None
            if values is not None:
                layout = self.layouts[block.name]
                entries[layout.label] = Entries(layout, rows, layout.plain(values))
        for fill in self.plan.fills:
            if fill.source == "constant" and len(self.gaps[fill.name]):
                layout, rows = self.layouts[fill.name], self.gaps[fill.name]
                entries[layout.label] = Entries(layout, rows, [fill.fixed] * len(rows))
        labels = [self.layouts[fill.name].label for fill in self.plan.fills]
        return with_entries(self.given, self.table, labels, entries)


def fit_plan(table: Table, kinds: Mapping[str, str] | None, settings: EncoderSettings) -> FillPlan:
    """Understand the columns of a table and learn their codes; free text is left out."""
    table, understood = understood_columns(table, kinds)
    uses = tuple(map(_without_text, understood))
    codes = fit_codes(table, uses, settings)
    layouts = layout_of(table, uses).columns
    blocks = blocks_of([use.name for use in uses if use.used], codes)
    fills = column_fills(table, uses, layouts)
    return FillPlan(uses, fills, codes, blocks, table.named)


def _without_text(use: ColumnUse) -> ColumnUse:
    return replace(use, used=False) if use.kind == "text" else use


def read_gaps(X: Any, plan: FillPlan, owner: str) -> GappedTable:
    """Find the gaps of a table; its columns are matched by name.

    Parameters
    ----------
    X : table of any library, array, or list of rows
    plan : FillPlan
    owner : str
        Whom messages name.
    """
    table = read_table(X)
    names = [use.name for use in plan.columns]
    matched = matched_columns(table, names, needed=names, named=plan.named, owner=owner)
    columns = read_by(matched, plan.columns)
    used = [use for use in plan.columns if use.used]
    code = np.empty((table.n_rows, 0))
    if used:
        code = encode_columns(columns, used, plan.codes, owner=owner, unseen_are=_UNSEEN_ARE)
    gaps = {
        block.name: np.flatnonzero(gaps_of_column(columns[block.name], one, code[:, block.columns]))
        for block, one, _ in plan.used
    }
    gaps |= {fill.name: np.flatnonzero(columns[fill.name].missing) for fill in plan.fills if fill.source == "constant"}
    return GappedTable(X, table, plan, _layouts(table, matched, plan), code, gaps)


def _layouts(table: Table, columns: Mapping[str, TableColumn], plan: FillPlan) -> dict[str, ColumnLayout]:
    """Type and notation of each column of the plan in a new table, with as many decimals as at the fit."""
    labels = {id(column): label for column, label in zip(table.columns, table.labels, strict=True)}
    ordered = replace(
        table,
        columns=tuple(columns[use.name] for use in plan.columns),
        labels=tuple(labels[id(columns[use.name])] for use in plan.columns),
    )
    # the value of a constant column is known from the fit, and need not be here
    uses = [replace(use, kind="empty") if use.kind == "constant" else use for use in plan.columns]
    found = layout_of(ordered, uses).columns
    return {
        fill.name: replace(layout, decimals=max(layout.decimals, fill.decimals))
        if layout.decimals >= 0 <= fill.decimals
        else replace(layout, decimals=-1)
        for layout, fill in zip(found, plan.fills, strict=True)
    }

"""Answers about the rows of the current map: columns, pages of the table, search, reliability, files."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from numpy.typing import NDArray

from sidelight.base.messages import error_message
from sidelight.plot._colouring import Numbers

from ._questions import Map
from ._reliable import Reliable
from ._rows import exported, found_rows, heads_of, page_of_rows, ranks_of, values_of
from ._table import Column, Table, labelled, plain_entries, shown_columns
from .session import Session
from .statement import Statement

__all__ = ["RowAnswers"]

Array = NDArray[Any]
_OWNER = "explore"


class RowAnswers(ABC):
    """What an explorer answers about rows; it needs a table, a session and the maps of the session."""

    table: Table
    _lock: threading.RLock
    _shown: tuple[tuple[Statement, ...], tuple[Column, ...]] | None = None

    @property
    @abstractmethod
    def session(self) -> Session:
        """What was said, and the maps that were made of it."""

    @abstractmethod
    def map(self, at: int | None = None) -> Map:
        """A map of the history; None: the current one."""

    @cached_property
    def _reliable(self) -> dict[int, Reliable]:
        """Reliability of the maps that it was asked for, by the maps' numbers."""
        return {}

    @property
    def columns(self) -> dict[str, Array]:
        """The columns beside the features, with the labels of all statements that are on."""
        return labelled(self.table, self.session.statements)

    def heads(self, periods: Mapping[str, float]) -> list[dict[str, Any]]:
        """What the page knows of each column."""
        return heads_of(self._colours(), set(self.columns), periods)

    def _colours(self) -> tuple[Column, ...]:
        """The columns that the page offers as colours: those beside the features, then the features."""
        labels = tuple(one for one in self.session.statements if one.kind == "label" and one.on)
        if self._shown is None or self._shown[0] != labels:  # reading the columns of many rows takes its time
            self._shown = labels, (*shown_columns(self.columns, self.table.n), *self.table.colours)
        judged = self._reliable.get(self.session.maps[self.session.current].number)
        own = () if judged is None or judged.values is None else (Numbers(self._reliable_name, judged.values),)
        return (*self._shown[1], *own)

    @property
    def _reliable_name(self) -> str:
        """What the column of reliability is called beside the user's own columns."""
        taken = {*self.columns, *self.table.features}
        return next(name for name in ("reliability", "reliability of the map", "∗reliability") if name not in taken)

    def _column(self, at: int) -> Column:
        found = self._colours()
        if not 0 <= at < len(found):
            raise ValueError(error_message(_OWNER, "column", at, "is not there", "Count columns from 0"))
        return found[at]

    def column(self, at: int) -> Array:
        """Values of a column (n,) as float32: numbers, or codes of categories (-1: missing)."""
        return values_of(self._column(at))

    def ranks(self, at: int | None) -> Array:
        """Ranks of the rows (n,) by a column, or by their names (None), as float32; NaN where missing."""
        return ranks_of(self.table.row_names if at is None else self._column(at))

    def page(self, rows: Array) -> dict[str, Any]:
        """Some rows of the table: number, name and a cell for each column of ``state``."""
        return {"rows": page_of_rows(self.table, self._colours(), rows)}

    def search(self, text: str) -> Array:
        """Rows that have a text in their name or in a category, or this number."""
        return found_rows(text, self.table, (*self._colours(), *self.table.texts))

    def reliable(self, *, start: bool = False) -> dict[str, Any]:
        """How far the reliability of the rows of this map is computed; ``start`` begins with it."""
        with self._lock:
            number = self.session.maps[self.session.current].number
            if start and (number not in self._reliable or self._reliable[number].state == "failed"):
                self._reliable[number] = Reliable(self.map())
            found = self._reliable.get(number)
        return {"column": self._reliable_name} | ({"state": "none"} if found is None else found.told())

    def layer(self, kind: str, extent: Sequence[float], axes: tuple[int, ...], chosen: Any) -> dict[str, Any]:
        """A grid over a window of the map: what the model says there, or the reliability of the rows around."""
        judged = self._reliable.get(self.session.maps[self.session.current].number)
        values = None if judged is None else judged.values
        return self.map().layer(kind, extent, axes, chosen, values)

    def export(self, rows: Array, kind: str = "csv") -> str | bytes:
        """Rows as a file: number, name, places, columns and features."""
        shown, data = self.map(), self.table.in_units(self.table.take(rows))
        names = {"name": [self.table.row_names[row] for row in rows]} if self.table.row_names else {}
        places = {f"z{k + 1}": shown.fitted.embedding[rows, k].tolist() for k in range(shown.fitted.embedding.shape[1])}
        known = {name: plain_entries(values[rows]) for name, values in self.columns.items()}
        numbers = {name: data.numbers[:, k].tolist() for k, name in enumerate(data.names)}
        return exported(kind, {"row": rows.tolist(), **names, **places, **known, **numbers})

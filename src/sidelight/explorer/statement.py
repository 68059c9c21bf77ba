"""One thing that the user said about the rows: these are the same, take this out, leave these out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.base.messages import error_message

__all__ = ["KINDS", "Statement"]

KINDS = ("same", "different", "label", "factor_out", "bring_out", "axis", "pin", "move", "drop")
_MOST_PAIRS = 2000
_LARGEST = 1e100  # of a place
_NEEDS = {
    "same": ("rows",),
    "different": ("rows", "others"),
    "label": ("rows", "column", "value"),
    "factor_out": ("column",),
    "bring_out": ("column",),
    "axis": ("column",),
    "pin": ("rows",),
    "move": ("rows", "places"),
    "drop": ("rows",),
}
_PLACED = ("pin", "move")


@dataclass(frozen=True)
class Statement:
    """What was said about some rows or about a column.

    Parameters
    ----------
    kind : {"same", "different", "label", "factor_out", "bring_out", "axis", "pin", "move", "drop"}
        "same": the ``rows`` show the same, or each of them the same as its counterpart among ``others``. "different":
        ``rows`` differ from ``others``. "label": ``rows`` have ``value`` in a ``column`` of that name. "factor_out": a
        ``column`` is known, show the rest. "bring_out": rows that are equal in a ``column`` should be near. "axis": an
        axis of the map shows a ``column``. "pin": these ``rows`` stay where they are: they are held at their
        ``places``, or without ``places`` the next map is aligned by them. "move": ``rows`` are held at other
        ``places``. "drop": fit without these ``rows``.
    rows, others : sequence of int
        Row numbers, counted from 0.
    column, value : str
    places : sequence of q numbers each
        Of "pin" and "move": places of the ``rows``, then of the ``others``, which are rows that say what the places
        refer to (a map has no scale or direction of its own).
    period : float
        Of "axis", if the column holds angles: their period, 360 for degrees; such a column takes two axes.
    on : bool
        Whether the next fit listens to it.

    See Also
    --------
    Session : The statements of an exploration.
    replay : Does them again.

    Examples
    --------
    >>> from sidelight.explorer import Statement
    >>> Statement("same", rows=[4, 9, 1]).pairs().tolist()
    [[4, 9], [9, 1], [1, 4]]
    """

    kind: str
    rows: Sequence[int] = ()
    others: Sequence[int] = ()
    column: str = ""
    value: str = ""
    on: bool = True
    places: Sequence[Sequence[float]] = ()
    period: float = 0.0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(error_message(self, "kind", self.kind, "is none of the kinds", f"Use {', '.join(KINDS)}"))
        for name in ("rows", "others"):
            object.__setattr__(self, name, _row_numbers(name, getattr(self, name)))
        object.__setattr__(self, "places", _numbers("places", self.places))
        object.__setattr__(self, "period", _numbers("period", [[self.period]])[0][0])
        for name in ("column", "value"):
            if not isinstance(getattr(self, name), str):
                raise TypeError(error_message(self, name, getattr(self, name), "is no text", "Give a name"))
        for name in _NEEDS[self.kind]:
            if not getattr(self, name):
                rule = f"is empty, and a statement {self.kind!r} needs it"
                raise ValueError(error_message(self, name, getattr(self, name), rule, "Select rows or name a column"))
        if self.kind == "same" and not self.others and len(set(self.rows)) < 2:
            raise ValueError(error_message(self, "rows", "one row", "is the same as itself", "Select two or more"))
        if self.places and (self.kind not in _PLACED or len(self.places) != len(self.rows) + len(self.others)):
            rule = "are not one for each row, of rows that are pinned or moved"
            raise ValueError(error_message(self, "places", f"{len(self.places)} places", rule, "Give one per row"))
        if set(self.rows) & set(self.others):
            rule = "shares rows with others"
            raise ValueError(error_message(self, "rows", "a selection", rule, "Select rows that are in one of them"))

    def check_rows(self, n: int) -> None:
        """Raise if a row number is not one of n rows."""
        largest = max((*self.rows, *self.others), default=-1)
        if largest >= n:
            rule = f"points past the last row ({n - 1})"
            raise ValueError(error_message(self, "rows", largest, rule, "Count rows from 0"))

    def pairs(self) -> NDArray[np.int64]:
        """Pairs of rows (m, 2) that the statement is about, at most 2,000.

        Of two selections: row k with its counterpart k, the shorter one being repeated. Of one: every row with those 1,
        2, 4, ... places further in the selection, which then begins anew.
        """
        one, other = np.array(self.rows, dtype=np.int64), np.array(self.others, dtype=np.int64)
        if len(other):
            k = np.arange(max(len(one), len(other)))
            found = np.column_stack([one[k % len(one)], other[k % len(other)]])
        else:
            n, at = len(one), np.arange(len(one))
            steps = [step for step in (2 ** np.arange(11)).tolist() if step <= max(n // 2, 1)]
            found = np.concatenate([np.column_stack([one, one[(at + step) % n]]) for step in steps])
            first = np.unique(np.sort(found, axis=1), axis=0, return_index=True)[1]
            found = found[np.sort(first)]  # a step of half the selection meets every pair twice
        chosen = np.unique(np.linspace(0, len(found) - 1, min(len(found), _MOST_PAIRS)).astype(np.int64))
        return np.asarray(found[chosen])

    def words(self) -> str:
        """The statement in words."""
        count = f"{len(self.rows):,} row{'s' if len(self.rows) != 1 else ''}"
        return {
            "same": f"{count} the same as {len(self.others):,} others" if self.others else f"{count} are the same",
            "different": f"{count} differ from {len(self.others):,} others",
            "label": f"{count}: {self.column} is {self.value}",
            "factor_out": f"factor out {self.column}",
            "bring_out": f"bring out {self.column}",
            "axis": f"an axis shows {self.column}",
            "pin": f"{count} stay where they are" + ("" if self.places else " (aligned by them)"),
            "move": f"{count} moved",
            "drop": f"fit without {count}",
        }[self.kind]

    def to_json(self) -> dict[str, Any]:
        """Plain values, without those that are empty."""
        out: dict[str, Any] = {"kind": self.kind, "on": self.on}
        for name in ("rows", "others"):
            if getattr(self, name):
                out[name] = list(getattr(self, name))
        if self.places:
            out["places"] = [list(place) for place in self.places]
        return out | {name: getattr(self, name) for name in ("column", "value", "period") if getattr(self, name)}

    @classmethod
    def from_json(cls, said: Any) -> Statement:
        """The statement that ``to_json`` wrote; anything else raises."""
        names = {field.name for field in fields(cls)}
        if not isinstance(said, Mapping) or not set(said) <= names or not isinstance(said.get("on", True), bool):
            rule = f"is no statement of {', '.join(sorted(names))}"
            raise ValueError(
                error_message("Statement", "statement", repr(said), rule, "Give a kind and rows or a column")
            )
        return cls(**{"kind": "", **said})


def _row_numbers(name: str, rows: Any) -> tuple[int, ...]:
    """Distinct row numbers, in the order in which they were given."""
    try:
        found = np.asarray(list(rows))
        whole = found.ndim == 1 and (not len(found) or (found.dtype.kind in "iu" and int(found.min()) >= 0))
    except (TypeError, ValueError, OverflowError):
        whole = False
    if not whole:
        raise ValueError(error_message("Statement", name, repr(rows), "are no row numbers", "Count rows from 0"))
    return tuple(int(row) for row in dict.fromkeys(found.tolist()))


def _numbers(name: str, values: Any) -> tuple[tuple[float, ...], ...]:
    """Finite numbers in lines of equal length."""
    try:
        found = np.array([list(line) for line in values], dtype=np.float64)
        good = not found.size or (found.ndim == 2 and bool((np.abs(found) < _LARGEST).all()))
    except (TypeError, ValueError, OverflowError):
        good = False
    if not good:
        raise ValueError(error_message("Statement", name, repr(values)[:40], "are no numbers", "Give finite numbers"))
    return tuple(tuple(line) for line in found.tolist())

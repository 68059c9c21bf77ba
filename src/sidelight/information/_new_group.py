"""Checks for adding a new category of ``given``: which columns allow it, and parsing of the user's value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sidelight.base.messages import error_message
from sidelight.base.types import Array
from sidelight.maps.effect import Effect
from sidelight.side.columns import Entries, read_table
from sidelight.side.given import Given
from sidelight.side.one_value import for_all_rows, is_one_value

__all__ = ["NewGroup", "read_new_group", "refuse_unadaptable"]


@dataclass(frozen=True)
class NewGroup:
    """A category that was not in the fit.

    Parameters
    ----------
    given : Given
        The columns, with the category.
    place : int
        Which of the columns is that of the categories.
    value : scalar
        The category.
    features : array of shape (m, f + 1)
        Encoded ``given`` of its rows.
    """

    given: Given
    place: int
    value: object
    features: Array

    @property
    def at(self) -> int:
        """Position of the feature of the category among all features: the last one of its column."""
        return sum(column.width for column in self.given.columns[: self.place + 1]) - 1

    @property
    def others(self) -> tuple[str, ...]:
        """Names of the other columns of categories."""
        columns = enumerate(self.given.columns)
        return tuple(c.name for place, c in columns if place != self.place and c.kind == "category")

    @property
    def of_others(self) -> Array:
        """Whether each feature (f + 1,) is one of the other columns of categories."""
        widths = [column.width for column in self.given.columns]
        return np.repeat([column.name in self.others for column in self.given.columns], widths)


def refuse_unadaptable(owner: str, given: Given, effect: Effect, *, constant: bool) -> tuple[int, ...]:
    """Return the columns of ``given`` to which a category can be added; raise if there is none.

    ``constant``: ``given`` was the same for all rows of the fit.
    """
    names = ", ".join(repr(column.name) for column in given.columns)
    places = tuple(place for place, column in enumerate(given.columns) if column.kind == "category")

    def refuse(seen: str, rule: str, remedy: str) -> ValueError:
        return ValueError(error_message(owner, "given", seen, f"cannot be adapted: {rule}", remedy))

    if not places:
        raise refuse(names, "it is a number, and only categories can be added", "Use the model as is")
    open_ones = tuple(place for place in places if given.columns[place].matrix is None)
    if not open_ones:
        rule = "the kernel between its categories has no row for a new one"
        raise refuse(names, rule, "Fit with Conditioning(kernel=...) of all categories")
    if constant:
        raise refuse(names, "it was constant in the fit", "Fit with two groups or more")
    if effect.bandwidth != 0:
        rule = "its groups could not be compared in the fit, so that categories have no offsets"
        raise refuse(names, rule, "Fit again with the new rows")
    return open_ones


def read_new_group(owner: str, given: Given, places: tuple[int, ...], asked: object, n: int) -> NewGroup:
    """Read the category and the numbers of its ``n`` rows; raise unless it is one new category.

    Parameters
    ----------
    owner : str
        For messages.
    given : Given
        The columns of the fit.
    places : tuple of int
        Those of them that a category can be added to.
    asked : scalar, table or dict
        The category; with further columns, all of them.
    n : int
    """
    names = tuple(column.name for column in given.columns)
    table = isinstance(asked, Mapping) or hasattr(asked, "columns")
    if not table and not is_one_value(asked):
        remedy = "Give the name of the new category" if len(names) == 1 else f"Give {', '.join(names)} by name"
        raise ValueError(error_message(owner, "given", type(asked).__name__, "is not one category", remedy))
    columns = read_table(owner, for_all_rows(owner, asked, n, names), n).in_order_of(owner, names, given.named)
    place = places[0] if len(places) == 1 else _new_column(owner, given, places, columns)
    entries, distinct = columns[place], _distinct(columns[place])
    if len(distinct) != 1 or entries.missing.any():
        seen = f"{len(distinct)} categories of {names[place]!r}" if len(distinct) != 1 else "a missing entry"
        raise ValueError(error_message(owner, "given", seen, "is not one category", "Add one category after the other"))
    value, column = distinct.pop(), given.columns[place]
    if value in column.categories:
        raise ValueError(error_message(owner, "given", value, "was in the fit", "Use the model as it is"))
    if isinstance(value, str) != isinstance(column.categories[0], str):
        remedy = f"Give it as the others are, such as {column.categories[0]!r}"
        raise ValueError(error_message(owner, "given", value, "is not of the type of the known ones", remedy))
    longer = replace(column, categories=(*column.categories, value))
    wider = replace(given, columns=(*given.columns[:place], longer, *given.columns[place + 1 :]))
    known = wider.encode(owner, asked, n)
    if not known.complete.all():
        remedy = "Leave rows with a missing entry out"
        raise ValueError(error_message(owner, "given", "a missing entry", "does not say which effect", remedy))
    return NewGroup(wider, place, value, known.features)


def _distinct(entries: Entries) -> set[object]:
    """The entries that are there, each once."""
    return {entry.item() if isinstance(entry, np.generic) else entry for entry in entries.here}


def _new_column(owner: str, given: Given, places: tuple[int, ...], columns: Sequence[Entries]) -> int:
    """The one of several columns that has a category which was not in the fit."""
    new = [place for place in places if _distinct(columns[place]) - set(given.columns[place].categories)]
    if len(new) == 1:
        return new[0]
    names = ", ".join(repr(given.columns[place].name) for place in new or places)
    if new:
        rule, remedy = "are all new, so that their effects cannot be told apart", "Give rows that are new in one column"
    else:
        rule, remedy = "were all in the fit", "Use the model as it is"
    raise ValueError(error_message(owner, "given", names, rule, remedy))

"""The columns of ``given`` of a model, described in words."""

from __future__ import annotations

from typing import Any

from sidelight.base.capabilities import given_of
from sidelight.base.messages import count_of
from sidelight.base.model import FittedModel

__all__ = ["column_in_words", "understood"]


def column_in_words(column: Any) -> str:
    """Return a given column with its type.

    Examples
    --------
    >>> from sidelight.side.given import Column
    >>> column_in_words(Column("batch", "category", ("a", "b", "c")))
    'batch (3 categories)'
    >>> column_in_words(Column("hour", "angle", period=24.0))
    'hour (period 24)'
    """
    if column.kind == "category":
        kind = count_of(len(column.categories), "category")
    elif column.kind == "angle":
        kind = "angle in degrees" if column.period == 360.0 else f"period {column.period:g}"
    else:
        kind = count_of(len(column.categories), "ordered value") if column.categories else "number"
    return f"{column.name} ({kind})"


def understood(model: FittedModel) -> str:
    """Describe ``given``, the variance it explains, and whether it is confounded; empty without ``given``."""
    given = given_of(model)
    if given is None:
        return ""
    names = [column_in_words(column) for column in given.columns]
    verb = "explains" if len(names) == 1 else "explain"
    share = f"{100 * model.explained_:.0f} %" if model.explained_ > 0 else "nothing"  # held out: it may be below 0
    words = f"given: {', '.join(names)}, {verb} {share} of the variance"
    if model.confounded_:
        words += "; the groups also differ otherwise, so the effect was estimated from matched rows"
    return "; ".join([words, *model.only_here_, *model.no_shift_])

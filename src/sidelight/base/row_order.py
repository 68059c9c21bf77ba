"""Tables whose index says that their rows are in different orders."""

from __future__ import annotations

from typing import Any

from .messages import error_message
from .warnings import warn

__all__ = ["warn_of_row_order"]


def warn_of_row_order(owner: object, X: object, given: object, name: str = "given") -> None:
    """Warn where ``X`` and ``given`` have the same labels in different orders, because rows are matched by position.

    Other labels (a fresh index after a merge) say nothing. Containers without an index neither.
    """
    tables: tuple[Any, Any] = (X, given)
    first, second = (getattr(table, "index", None) for table in tables)
    if first is None or second is None or not (hasattr(first, "equals") and hasattr(second, "equals")):
        return
    if len(first) == len(second) and not first.equals(second) and set(first) == set(second):
        seen, rule = "a table", "has the labels of X in another order, and rows are matched by position"
        warn(error_message(owner, name, seen, rule, f"Give {name}.loc[X.index], or drop the index"), UserWarning)

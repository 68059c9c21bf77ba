"""Tables whose index says that their rows are in different orders."""

from __future__ import annotations

from .messages import error_message
from .warnings import warn

__all__ = ["warn_of_row_order"]


def warn_of_row_order(owner: object, X: object, given: object, name: str = "given") -> None:
    """Warn where ``X`` and ``given`` have the same labels in different orders, because rows are matched by position.

    Other labels (a fresh index after a merge) say nothing. Containers without an index neither.
    """
    first, second = (getattr(table, "index", None) for table in (X, given))
    if not (hasattr(first, "equals") and hasattr(second, "equals")) or len(first) != len(second):
        return
    if not first.equals(second) and set(first) == set(second):
        seen, rule = "a table", "has the labels of X in another order, and rows are matched by position"
        warn(error_message(owner, name, seen, rule, f"Give {name}.loc[X.index], or drop the index"), UserWarning)

"""A warning for side information whose index says that its rows are in another order than those of X."""

from __future__ import annotations

from typing import Any

from .messages import error_message
from .warnings import warn

__all__ = ["warn_of_other_order"]


def warn_of_other_order(owner: object, X: Any, given: Any) -> None:
    """Warn if ``given`` has the index of X in another order: rows are matched by position, as in scikit-learn.

    Other indices, repeated labels and anything that is not of pandas are no reason to warn.
    """
    if not (hasattr(X, "iloc") and hasattr(given, "iloc")) or len(X) != len(given) or X.index.equals(given.index):
        return
    if X.index.is_unique and given.index.is_unique and X.index.isin(given.index).all():
        rule = "has the rows of X in another order by its index, and rows are matched by position"
        warn(error_message(owner, "given", "table", rule, "Give given.loc[X.index]"), UserWarning)

"""Repeat one value of ``given`` for all rows: ``counterfactual(X, given="treated")``.

A scalar stands for the only column; a dict or a pandas Series has one scalar for each column, by name. Anything else is
one entry per row and is returned unchanged.
"""

from __future__ import annotations

import datetime as dt
import numbers
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.base.messages import error_message

from .columns import is_missing

__all__ = ["for_all_rows", "is_one_value", "with_columns_of"]

Array = npt.NDArray[Any]


def for_all_rows(owner: object, given: Any, n: int, names: tuple[str, ...]) -> Any:
    """Return ``given`` with one entry per row.

    Parameters
    ----------
    owner : object
        Estimator or name for messages.
    given : scalar, dict or Series of scalars by column, or one entry per row
    n : int
        Number of rows.
    names : tuple of str
        The columns that the model was given.

    Examples
    --------
    >>> for_all_rows("Model", "treated", 2, ("group",))
    ['treated', 'treated']
    >>> for_all_rows("Model", {"group": "treated", "dose": [1.0, 2.0]}, 2, ("group", "dose"))
    {'group': ['treated', 'treated'], 'dose': [1.0, 2.0]}
    """
    if is_one_value(given):
        if len(names) > 1:
            rule = f"is one value, and the model was given {len(names)} columns ({', '.join(map(repr, names))})"
            example = ", ".join(f"{name!r}: ..." for name in names[:3])
            raise ValueError(error_message(owner, "given", given, rule, f"Say which is which: {{{example}}}"))
        return _repeated(given, n)
    if _is_by_column(given, names):
        given = {str(name): given[name] for name in given.index}
    if isinstance(given, Mapping):
        return {name: _repeated(entry, n) if is_one_value(entry) else entry for name, entry in given.items()}
    return given


def with_columns_of(given: Any, now: Any, names: tuple[str, ...]) -> Any:
    """Return ``given`` with those of the columns ``names`` that it lacks as they are in ``now``, if that has them.

    Examples
    --------
    >>> with_columns_of({"group": "treated"}, {"group": ["control"], "dose": [2.0]}, ("group", "dose"))
    {'group': 'treated', 'dose': [2.0]}
    """
    asked, known = _by_name(given), _by_name(now)
    lacking = [name for name in names if name not in asked]
    if not asked or not lacking or not set(asked) < set(names) or any(name not in known for name in lacking):
        return given
    return {name: asked[name] if name in asked else known[name] for name in names}


def _by_name(given: Any) -> dict[str, Any]:
    """The columns of a dict or a table by name; empty for anything else, whose columns have none."""
    if isinstance(given, Mapping):
        return {str(name): given[name] for name in given}
    if hasattr(given, "columns") and len(getattr(given, "shape", ())) == 2:
        return {str(name): given[name] for name in given.columns}
    return {}


def is_one_value(value: Any) -> bool:
    """Whether a value is a scalar: text, number, truth value, date, or a missing one other than None."""
    if isinstance(value, np.ndarray):
        return value.ndim == 0
    plain = (str, bytes, numbers.Number, np.generic, dt.date, dt.timedelta)
    return isinstance(value, plain) or (value is not None and is_missing(value))


def _is_by_column(given: Any, names: tuple[str, ...]) -> bool:
    """Whether a Series is labelled by the columns of the model, and not by rows."""
    index = getattr(given, "index", None)
    if getattr(given, "ndim", 0) != 1 or index is None or callable(index):  # polars and lists have a method index
        return False
    return len(index) == len(names) and {str(label) for label in index} == set(names)


def _repeated(value: Any, n: int) -> list[Any] | Array:
    """One value for ``n`` rows; dates as NumPy's, which are read as days."""
    value = value.item() if isinstance(value, np.ndarray) else value
    if isinstance(value, dt.datetime) and value.tzinfo is not None:
        value = value.astimezone(dt.UTC).replace(tzinfo=None)
    if isinstance(value, np.datetime64 | dt.date) and not is_missing(value):
        return np.full(n, np.datetime64(value))
    return [value] * n

"""Columns that a user asks for, by name or by number."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .messages import error_message

__all__ = ["chosen_columns"]

Array = npt.NDArray[Any]


def chosen_columns(owner: object, columns: Any, n_features: int, names: Any = None, argument: str = "columns") -> Array:
    """Return column numbers (c,), in the order asked for.

    Parameters
    ----------
    owner : estimator or str
        Whom messages name.
    columns : one name or number, sequence of these, or mask of shape (n_features,)
    n_features : int
        Columns of the data.
    names : sequence of str or None
        Their names; None: they have none, and numbers are needed.
    argument : str
        Argument that messages name.

    Examples
    --------
    >>> chosen_columns("Model", ["b", "a"], 3, ["a", "b", "c"]).tolist(), chosen_columns("Model", [2, -1], 3).tolist()
    ([1, 0], [2, 2])
    """
    asked: list[Any] = [columns] if isinstance(columns, str | int | np.integer) else list(columns)
    if not asked:
        raise ValueError(error_message(owner, argument, "nothing", "names no column", "Name one, or leave it out"))
    if all(isinstance(one, bool | np.bool_) for one in asked):
        if len(asked) != n_features:
            rule = f"does not match the {n_features} columns of the data"
            raise ValueError(error_message(owner, argument, f"mask of {len(asked)}", rule, "Give one entry per column"))
        return np.flatnonzero(asked)
    if all(isinstance(one, int | np.integer) for one in asked):
        numbers = np.array(asked, dtype=np.intp)
        outside = numbers[(numbers < -n_features) | (numbers >= n_features)]
        if len(outside):
            rule = f"is outside the {n_features} columns of the data"
            raise ValueError(error_message(owner, argument, int(outside[0]), rule, "Count columns from 0"))
        return np.asarray(numbers % n_features)
    return _by_name(owner, asked, names, argument)


def _by_name(owner: object, asked: list[Any], names: Any, argument: str) -> Array:
    if names is None:
        remedy = "Give column numbers, or fit the model to a table with names"
        raise ValueError(error_message(owner, argument, str(asked[0]), "is a name, and the columns have none", remedy))
    at: dict[str, int] = {}
    for place, name in enumerate(names):
        at.setdefault(str(name), place)
    unknown = [one for one in asked if str(one) not in at]
    if unknown:
        rule = f"is not among the {len(names)} columns of the model"
        remedy = f"There is: {', '.join(map(repr, map(str, names[:5])))}{', ...' if len(names) > 5 else ''}"
        raise ValueError(error_message(owner, argument, str(unknown[0]), rule, remedy))
    return np.array([at[str(one)] for one in asked], dtype=np.intp)

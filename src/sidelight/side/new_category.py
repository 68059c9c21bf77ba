"""Find the rows of a table whose category was not in the fit, for ``adapt``."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.base.messages import error_message

from .columns import read_table
from .given import Given

__all__ = ["new_category_rows"]

Array = npt.NDArray[Any]


def new_category_rows(owner: str, argument: str, seen: str, table: Any, n: int, given: Given) -> Array:
    """Mask (n,) of the rows of the one category that was not in the fit; raises where there is none, or more.

    Parameters
    ----------
    owner, argument, seen : str
        For messages: ``<owner>: <argument>=<seen> has ...``.
    table : table or dict
        Columns of ``given`` by name.
    n : int
        Rows.
    given : Given
        The columns of the fit.
    """
    columns = read_table(owner, table, n).in_order_of(owner, tuple(c.name for c in given.columns), given.named)
    new, names = np.zeros(n, dtype=bool), set()
    for column, entries in zip(given.columns, columns, strict=True):
        if column.kind != "category":
            continue
        known = set(column.categories)
        plain = [entry.item() if isinstance(entry, np.generic) else entry for entry in entries.values]
        strange = np.array([not gone and one not in known for one, gone in zip(plain, entries.missing, strict=True)])
        names |= {f"{column.name} = {plain[row]!r}" for row in np.flatnonzero(strange)}
        new |= strange
    if len(names) == 1:
        return new
    if not names:
        rule, remedy = "has no category that the model does not know", "Use the model as it is"
        raise ValueError(error_message(owner, argument, seen, rule, remedy))
    rule = f"has several that the model does not know: {', '.join(sorted(names)[:4])}"
    raise ValueError(error_message(owner, argument, seen, rule, "Adapt to the rows of one after the other"))

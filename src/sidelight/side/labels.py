"""Integer codes of class labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.multiclass import type_of_target

from sidelight.base.messages import error_message
from sidelight.base.validation import check_rows

from .columns import Entries, read_table

__all__ = ["label_codes"]

Array = npt.NDArray[Any]


def label_codes(owner: object, labels: Any, n: int) -> dict[str, Array]:
    """Codes (n,) from 0 of every column of labels, by column name; -1 where a label is missing.

    Parameters
    ----------
    owner : object
        Estimator or name for messages.
    labels : array of shape (n,) or (n, attributes), or a table
    n : int
        Rows of the data.

    >>> label_codes("Metric", ["b", "a", None, "b"], 4)
    {'y': array([ 1,  0, -1,  1])}
    """
    if not hasattr(labels, "__len__"):
        labels = np.asarray(labels)
    ndim = getattr(labels, "ndim", 1)
    if ndim > 2:
        seen, rule = f"array of {ndim} dimensions", "is neither one label per row nor a table of them"
        raise ValueError(error_message(owner, "y", seen, rule, "Give shape (n,) or (n, attributes)"))
    check_rows(owner, "y", labels, n)
    table = read_table(owner, labels, n)
    names = [name if table.named else _place(name, len(table.columns)) for name in table.columns]
    return {name: _codes(owner, name, entries) for name, entries in zip(names, table.columns.values(), strict=True)}


def _place(name: str, count: int) -> str:
    """Display name of a column without a name of its own."""
    return "y" if count == 1 else name.replace("given", "y")


def _codes(owner: object, name: str, entries: Entries) -> Array:
    """Codes (n,) of one column of labels; raises for continuous numbers."""
    here = entries.here
    if here.dtype.kind == "f" and type_of_target(here) == "continuous":
        rule = f"holds quantities in {name!r}, and labels are names"
        raise ValueError(error_message(owner, "y", "numbers", rule, "Give classes, or pairs of rows"))
    codes = np.full(len(entries.values), -1, dtype=np.int64)
    try:
        codes[~entries.missing] = np.unique(here, return_inverse=True)[1]
    except TypeError:  # entries of several types have no order among them
        position: dict[Any, int] = {}
        codes[~entries.missing] = [position.setdefault(entry, len(position)) for entry in here]
    return codes

"""Read the user's ``given`` into one-dimensional columns with names; missing entries are kept as missing.

Accepted are lists, arrays, dicts of columns, pandas and polars tables and series. Only what the container itself says
is used here: a categorical type holds categories whatever they look like, an ordered one has their order, dates become
days.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.base.array_api import as_numpy
from sidelight.base.messages import error_message

__all__ = ["Entries", "Table", "is_missing", "read_table"]

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Entries:
    """One column of ``given``.

    Parameters
    ----------
    values : array of shape (n,)
    missing : array of bool, of shape (n,)
    order : tuple
        The categories of an ordered type, lowest first.
    names : bool
        Whether the type is categorical.
    """

    values: Array
    missing: Array
    order: tuple[Any, ...] = ()
    names: bool = False

    @property
    def here(self) -> Array:
        """The entries that are not missing."""
        return np.asarray(self.values[~self.missing])


@dataclass(frozen=True)
class Table:
    """Columns by name, in order; ``named``: whether the names are the user's."""

    columns: dict[str, Entries]
    named: bool

    def in_order_of(self, owner: object, names: tuple[str, ...], named: bool) -> list[Entries]:
        """The columns in the order of ``fit``: matched by name where both tables have names, else by position."""
        if len(self.columns) != len(names):
            seen = "1 column" if len(self.columns) == 1 else f"{len(self.columns)} columns"
            rule = f"does not match the {len(names)} columns of fit ({', '.join(map(repr, names[:8]))})"
            remedy = "Give the same columns; counterfactual takes those that stay as they are from given_now"
            raise ValueError(error_message(owner, "given", seen, rule, remedy))
        if not (named and self.named):
            return list(self.columns.values())
        unknown = [name for name in self.columns if name not in names]
        if unknown:
            rule = f"is not among the columns of fit ({', '.join(map(repr, names))})"
            raise ValueError(error_message(owner, "given", f"column {unknown[0]!r}", rule, "Give the same columns"))
        return [self.columns[name] for name in names]


def read_table(owner: object, given: Any, n: int) -> Table:
    """Read the columns of ``given``.

    Parameters
    ----------
    owner : object
        Estimator or name for messages.
    given : list, array, dict of columns, pandas or polars table or series
    n : int
        Entries that every column must have.

    Returns
    -------
    Table
    """
    table = _table(owner, given)
    if not table.columns:
        raise ValueError(error_message(owner, "given", "no columns", "says nothing", "Leave it out, or give a column"))
    for name, entries in table.columns.items():
        if entries.values.shape != (n,):
            seen, rule = f"{len(entries.values)} entries in {name!r}", f"does not match the {n} rows of X"
            remedy = "Give one per row, missing where unknown" + _hint_of_names(entries.values)
            raise ValueError(error_message(owner, "given", seen, rule, remedy))
    return table


def _table(owner: object, given: Any) -> Table:
    """The columns of any accepted container."""
    if isinstance(given, str):
        rule = "is one text, not one entry per row"
        remedy = f"If it is a column of the table X, give the column: given=X[{given!r}]"
        raise ValueError(error_message(owner, "given", repr(given), rule, remedy))
    given = as_numpy(owner, "given", given)
    if isinstance(given, Mapping):
        return Table({str(name): _entries(owner, entries) for name, entries in given.items()}, True)
    if hasattr(given, "columns") and hasattr(given, "shape") and len(given.shape) == 2:
        names = [str(name) for name in given.columns]
        if len(set(names)) < len(names):
            repeated = next(name for name in names if names.count(name) > 1)
            rule = "occurs more than once"
            raise ValueError(
                error_message(owner, "given", f"column {repeated!r}", rule, "Give each column its own name")
            )
        return Table({str(name): _entries(owner, given[name]) for name in given.columns}, True)
    if getattr(given, "ndim", 1) == 1 and hasattr(given, "dtype"):
        return Table({str(getattr(given, "name", None) or "given"): _entries(owner, given)}, False)
    array = _array(given)
    if array.ndim == 1:
        return Table({"given": _entries(owner, array)}, False)
    if array.ndim != 2 or array.shape[1] == 0:
        raise ValueError(_not_columns(owner, array))
    return Table({f"given{c}": _entries(owner, array[:, c]) for c in range(array.shape[1])}, False)


def _hint_of_names(entries: Array) -> str:
    """What to do if a few texts were meant as names of columns; empty for anything else."""
    if not 0 < len(entries) <= 8 or not all(isinstance(entry, str) for entry in entries.tolist()):
        return ""
    return f". If these are columns of the table X, give the columns: given=X[{entries.tolist()!r}]"


def _not_columns(owner: object, array: Array) -> str:
    seen, rule = f"array of shape {array.shape}", "is neither one column nor a table of columns"
    return error_message(owner, "given", seen, rule, "Give one entry per row, or one row of entries per row")


def _array(entries: Any) -> Array:
    """An array of plain type, or of objects where a list holds text: NumPy would turn its numbers and NaN into text."""
    array = np.asarray(entries)
    if array.dtype.kind in "US" and not hasattr(entries, "dtype"):
        array = np.array(entries, dtype=object)
    return array


def _entries(owner: object, entries: Any) -> Entries:
    """One column as an array: dates become days, categorical types keep their order."""
    dtype = getattr(entries, "dtype", None)
    names, order = _categories(entries, dtype)
    array = _array(_unwrapped(entries, dtype))
    if array.ndim != 1:
        raise ValueError(_not_columns(owner, array))
    if array.dtype.kind == "M":
        array = np.where(np.isnat(array), np.nan, (array - np.datetime64(0, "D")) / np.timedelta64(1, "D"))
    elif array.dtype.kind == "m":
        array = array / np.timedelta64(1, "D")
    elif array.dtype.kind not in "biufUSO":
        array = array.astype(object)
    return Entries(array, _missing(array), order, names)


def _unwrapped(entries: Any, dtype: Any) -> Any:
    """The array of a series; of objects if integers have gaps, which would otherwise become floating-point numbers."""
    if getattr(dtype, "tz", None) is not None:
        return np.asarray(entries, dtype="M8[ns]")
    if hasattr(entries, "null_count") and entries.null_count() and dtype.is_integer():
        return np.array(entries.to_list(), dtype=object)
    if not isinstance(dtype, np.dtype) and getattr(entries, "hasnans", False):
        return np.asarray(entries, dtype=object)
    return entries.to_numpy() if hasattr(entries, "to_numpy") else entries


def _categories(entries: Any, dtype: Any) -> tuple[bool, tuple[Any, ...]]:
    """Whether the type is a categorical one, and its categories in order if it has one."""
    if hasattr(dtype, "ordered") and hasattr(dtype, "categories"):  # pandas
        return True, tuple(np.asarray(dtype.categories).tolist()) if dtype.ordered else ()
    if type(dtype).__name__ == "Enum":  # polars: its categories are listed in an order
        return True, tuple(dtype.categories.to_list())
    return type(dtype).__name__ == "Categorical", ()


def _missing(entries: Array) -> Array:
    """Where a column has no entry: None, NaN, NaT or pandas' NA."""
    if entries.dtype.kind == "f":
        return np.asarray(np.isnan(entries))
    if entries.dtype.kind != "O":
        return np.zeros(len(entries), dtype=bool)
    return np.array([is_missing(entry) for entry in entries], dtype=bool)


def is_missing(entry: Any) -> bool:
    """Whether an entry is missing: None, NaN, NaT or pandas' NA."""
    if entry is None or type(entry).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(entry, (float, np.floating)) and bool(np.isnan(entry))

"""Side information from columns of ``obs``: for a fit, for new cells, and with some columns changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from sidelight.base.messages import count_of, error_message
from sidelight.base.warnings import warn
from sidelight.side.design import warn_of_kept
from sidelight.side.given import Column, Given
from sidelight.side.one_value import for_all_rows

__all__ = ["changed_columns", "check_kept", "columns_to_fit", "known_columns", "own_columns", "warn_of_missing"]


def columns_to_fit(
    owner: str, obs: pd.DataFrame, given: str | Sequence[str] | None, argument: str = "given"
) -> pd.DataFrame | None:
    """Return the named columns of ``obs``; None without names."""
    names = [] if given is None else [given] if isinstance(given, str) else list(given)
    for name in names:
        if name not in obs.columns:
            there = ", ".join(map(repr, obs.columns[:12])) or "none"
            raise ValueError(error_message(owner, argument, name, "is not a column of adata.obs", f"There is: {there}"))
    return obs[names].reset_index(drop=True) if names else None


def warn_of_missing(owner: str, given: pd.DataFrame | None) -> None:
    """Warn of columns of ``given`` without a value in some cells, which a forgotten label is more often than a wish."""
    if given is None:
        return
    for name, count in given.isna().sum().to_dict().items():
        if count:
            rule = f"is missing in {count} of {count_of(len(given), 'cell')}"
            remedy = (
                "They are placed by the average over all its values, and corrected refuses them; fill it in if you can"
            )
            warn(error_message(owner, "given", f"obs[{name!r}]", rule, remedy), UserWarning)


def check_kept(
    owner: str, obs: pd.DataFrame, given: pd.DataFrame | None, keep: str | Sequence[str] | None, types: Any = None
) -> None:
    """Warn if factoring out the columns ``given`` removes those of ``obs`` that ``keep`` names, too.

    ``types``: those of the columns of ``given``, as ``Conditioning`` takes them.
    """
    kept = columns_to_fit(owner, obs, keep, "keep")
    if kept is None or given is None:
        return
    for name in kept.columns:
        if name in given.columns:
            rule = "is factored out by given, and cannot be kept"
            raise ValueError(error_message(owner, "keep", str(name), rule, "Name it in one of the two"))
    read: list[Any] = []
    for table, kinds in ((given, types), (kept, None)):
        columns = Given.learn(owner, table, len(table), kinds)
        read += [columns, columns.encode(owner, table, len(table))]
    warn_of_kept(owner, *read)


def known_columns(owner: str, obs: pd.DataFrame, given: Given) -> pd.DataFrame | None:
    """Return the columns of ``given`` for new cells.

    Unknown categories become missing, with a warning: the model places such cells by the map that averages over
    ``given``. Returns None, with a warning, if ``obs`` lacks a column.
    """
    absent = [column.name for column in given.columns if column.name not in obs.columns]
    if absent:
        rule = f"lacks {', '.join(map(repr, absent))}, which the model was given"
        remedy = "The cells are placed by the average over all its values; add the column to place them by their own"
        warn(error_message(owner, "adata", "obs", rule, remedy), UserWarning)
        return None
    found = {column.name: _entries(obs[column.name], column) for column in given.columns}
    for column in given.columns:
        strange = obs[column.name].notna().to_numpy() & pd.isna(found[column.name]).to_numpy()
        if strange.any():
            named = ", ".join(sorted({repr(str(value)) for value in obs[column.name][strange]})[:3])
            rule = f"has {named}, which the model was not fitted with, in {int(strange.sum())} of {len(obs)} cells"
            remedy = (
                "These are placed by the average over all values that it knows; adapt(adata, model) adds a category"
            )
            warn(error_message(owner, "adata", f"obs[{column.name!r}]", rule, remedy), UserWarning)
    return pd.DataFrame(found)


def own_columns(owner: str, obs: pd.DataFrame, given: Given) -> pd.DataFrame:
    """Return the columns of ``given`` as ``obs`` has them; raises where a cell has no value that the model knows."""
    rest = "Leave these cells out, or add their category to the model: adapt(adata, model)"
    return pd.DataFrame({column.name: _own_entries(owner, obs, column, "Add it", rest) for column in given.columns})


def changed_columns(owner: str, obs: pd.DataFrame, given: Given, to: Mapping[str, Any]) -> dict[str, Any]:
    """Return all columns of ``given`` by name: those in ``to`` with its value, the others as in ``obs``.

    Raises
    ------
    ValueError
        If ``to`` names a column that the model was not given, or a cell has no known value in one of the others.
    """
    names = tuple(column.name for column in given.columns)
    for name in to:
        if name not in names:
            remedy = f"It was given {', '.join(map(repr, names))}"
            raise ValueError(error_message(owner, "to", str(name), "is no column that the model was given", remedy))
    if not to:
        remedy = f"Name a column and its value, such as {{{names[0]!r}: ...}}"
        raise ValueError(error_message(owner, "to", "nothing", "does not say what is to be different", remedy))
    remedies = ("Add it, or give a value for it in to={...}", "Leave these cells out, or name the column in to={...}")
    others = [column for column in given.columns if column.name not in to]
    kept = {column.name: _own_entries(owner, obs, column, *remedies) for column in others}
    changed: dict[str, Any] = for_all_rows(owner, dict(to), len(obs), names)
    return {name: changed[name] if name in changed else kept[name] for name in names}


def _own_entries(owner: str, obs: pd.DataFrame, column: Column, add: str, remedy: str) -> pd.Series[Any]:
    """Entries of a column that all cells have; what to do if there is no such column, or if cells have no value."""
    if column.name not in obs.columns:
        rule = f"has no column {column.name!r}, which the model was given"
        raise ValueError(error_message(owner, "adata", "obs", rule, add))
    found = _entries(obs[column.name], column)
    missing = int(obs[column.name].isna().sum())
    if missing:
        rule = f"is missing in {missing} of {count_of(len(obs), 'cell')}"
        remedy = remedy.replace("or add their category to the model: adapt(adata, model)", "or fill it in")
        raise ValueError(error_message(owner, "adata", f"obs[{column.name!r}]", rule, remedy))
    unknown = int(pd.isna(found).sum())
    if unknown:
        rule = f"has no value that the model knows in {count_of(unknown, 'cell')}"
        raise ValueError(error_message(owner, "adata", f"obs[{column.name!r}]", rule, remedy))
    return found


def _entries(values: pd.Series[Any], column: Column) -> pd.Series[Any]:
    """Entries of a column; unknown categories become None."""
    values = values.reset_index(drop=True)
    if not column.categories:
        return values
    plain = values.astype(object)
    known = np.array([not pd.isna(value) and _plain(value) in column.categories for value in plain])
    return plain.where(known, None)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value

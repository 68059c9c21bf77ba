"""The labels and values that relations are based on: as columns, and which rows were held out from the model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.base.capabilities import capabilities
from sidelight.base.messages import error_message
from sidelight.base.model import FittedModel
from sidelight.evaluate import AttributeRecovery, axis_recovery
from sidelight.plot._colouring import Categories, Numbers, column_names
from sidelight.side.columns import read_table

__all__ = ["Attribute", "attributes_of", "column_values", "recovered", "unseen_rows"]

FEWEST_ROWS = 12
"""Rows that are needed to say what an axis tells."""
_ABOUT_ENTRIES = ("labels", "values")


@dataclass(frozen=True)
class Attribute:
    """Entries of all rows (n,), what ``kind`` they are, the ``relation`` that was told some, and their ``column``."""

    name: str
    values: Any
    kind: Any
    relation: str = ""
    column: str = ""


def attributes_of(model: FittedModel, attributes: Any, colours: Any, n: int) -> tuple[Attribute, ...]:
    """The labels or values behind each relation: as the user passed them, or from colours of the same names."""
    if not capabilities(model).has_relations:
        return ()
    named = {name: one for name, one in model.relations_.items() if one.kind in _ABOUT_ENTRIES}
    if attributes is None:
        attributes = {name: colours[name] for name in column_names(colours) if name in named}
    unknown = [name for name in attributes if name not in named]
    if unknown:
        rule = f"is not a relation of labels or values (there are: {', '.join(named) or 'none'})"
        raise ValueError(error_message("report", "attributes", unknown[0], rule, "Use the names of the relations"))
    return tuple(one for name, values in attributes.items() for one in _columns(name, named[name], values, n))


def _columns(name: str, relation: Any, values: Any, n: int) -> list[Attribute]:
    """One attribute for every column of what a relation is about."""
    kind = "category" if relation.kind == "labels" else relation.period or "number"
    columns = read_table("report", values, n).columns
    several = len(columns) > 1
    return [
        Attribute(f"{name}: {column}" if several else name, entries.values, kind, name, column)
        for column, entries in columns.items()
    ]


def unseen_rows(model: FittedModel, n: int, relation: str = "") -> NDArray[np.bool_]:
    """Return which of ``n`` rows a relation was told nothing of; without one, no relation of labels or values.

    Rows of another number than those of the fit are new, so the model has seen nothing of them.
    """
    unseen = np.ones(n, dtype=bool)
    if model.relations_.n_samples != n:
        return unseen
    for name, one in model.relations_.items():
        if one.kind in _ABOUT_ENTRIES and name in (relation or name,):
            unseen[one.index] = False
    return unseen


def column_values(column: Categories | Numbers) -> NDArray[Any]:
    """Return a column as the measures read it: names or numbers, None or NaN where missing."""
    if isinstance(column, Numbers):
        return column.values
    return np.array([None if code < 0 else column.levels[code] for code in column.codes], dtype=object)


def recovered(
    model: FittedModel, Z: NDArray[Any], attributes: tuple[Attribute, ...], others: list[Categories | Numbers]
) -> tuple[list[AttributeRecovery], list[AttributeRecovery]]:
    """How well each axis predicts the labels or values behind the relations, and other columns.

    The former is measured on rows whose entry was held out; the latter on rows that are in no relation, if there are
    any. Columns with too few such rows are left out.
    """
    own = [_measured(Z, one, unseen_rows(model, len(Z), one.relation)) for one in attributes]
    free = unseen_rows(model, len(Z))
    rest = []
    for column in others:
        kind = "category" if isinstance(column, Categories) else column.period or "number"
        one = Attribute(column.name, column_values(column), kind)
        rest.append(_measured(Z, one, free) or _measured(Z, one, np.ones(len(Z), dtype=bool)))
    return [one for one in own if one is not None], [one for one in rest if one is not None]


def _measured(Z: NDArray[Any], one: Attribute, rows: NDArray[np.bool_]) -> AttributeRecovery | None:
    entries = read_table("report", {one.name: one.values}, len(Z)).columns[one.name]
    known = rows & ~entries.missing
    if int(known.sum()) < FEWEST_ROWS:
        return None
    return axis_recovery(Z, {one.name: one.values}, known, kinds=one.kind).attributes[0]

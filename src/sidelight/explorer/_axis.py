"""An axis of the map shows a column: the column becomes a relation of a :class:`MultipleRelationalEmbedding`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from sidelight.plot._colouring import Numbers
from sidelight.relational.multiple_relational_embedding import MultipleRelationalEmbedding
from sidelight.side.relation import Relation

from ._table import shown_columns

__all__ = ["AxisColumn", "axis_column", "axis_names_of", "relational_model"]

Array = NDArray[Any]
_WEIGHT = 5.0  # of a column against the data, as of relations that are extended; with 1, 1,000 digits had no such axis


@dataclass(frozen=True)
class AxisColumn:
    """A column (n,) that an axis is to show: numbers (NaN where missing) or labels; ``period`` of angles, or 0."""

    name: str
    values: Array
    is_number: bool
    period: float = 0.0
    is_date: bool = False

    @property
    def count(self) -> int:
        """Axes that it takes: a circle needs two."""
        return 2 if self.is_number and self.period else 1

    def relation(self) -> Relation:
        """Rows of like values, or of the same label, are alike."""
        if not self.is_number:
            return Relation.from_labels(self.values)
        return Relation.from_values(self.values, period=self.period or None)

    def code(self, kept: str) -> str:
        """The relation in Python, of ``columns``; ``kept`` is an index or empty."""
        own = f"columns[{self.name!r}]{kept}"
        if not self.is_number:
            return f"Relation.from_labels({own})"
        period = f", period={self.period!r}" if self.period else ""
        numbers = f"np.array({own}, dtype=float)"
        if self.is_date:  # in days
            numbers = f"np.array({own}, dtype='datetime64[ns]').astype(float) / 864e11"
        return f"Relation.from_values({numbers}{period})"


def axis_column(name: str, values: Array, kept: Array, period: float) -> AxisColumn:
    """A column of the table as the page reads it: text and whole numbers of few values are labels, dates are days."""
    (shown,) = shown_columns({name: values}, len(values))
    if not isinstance(shown, Numbers):
        return AxisColumn(name, values[kept], is_number=False)
    return AxisColumn(name, shown.values[kept], True, period, shown.is_date)


def relational_model(last: Any, axes: Mapping[str, AxisColumn]) -> tuple[Any, dict[str, Any]]:
    """The model that is fitted in the place of ``last`` (its dimensions and seed), and the arguments of its fit."""
    own = last.get_params(deep=False)
    shared = {name: own[name] for name in ("random_state", "n_jobs") if name in own}
    weights = dict.fromkeys(axes, _WEIGHT)
    model = MultipleRelationalEmbedding(own["n_components"], weights=weights, **shared)
    return model, {"relations": {name: column.relation() for name, column in axes.items()}}


def axis_names_of(model: Any) -> tuple[str, ...]:
    """What each axis of a fitted model shows; empty for axes without a name, () for models without named axes."""
    return tuple("" if name == "data" else name for name in getattr(model, "axis_names_", ()))

r"""Predictability from the map: leakage of factors that were removed, recovery of the others.

Both predict each row from its k nearest neighbours on the map, leaving the row (or its whole group) out:

.. math::

    \text{numbers:} \quad R^2 = 1 - \frac{\sum_i (y_i - \hat y_i)^2}{\sum_i (y_i - \bar y)^2}, \quad
        \hat y_i = \tfrac1k \sum_{j \in N(i)} y_j
    \qquad
    \text{categories:} \quad \text{accuracy of the majority of } N(i)

    \text{angles:} \quad 1 - \frac{\sum_i (1 - \cos(y_i - \hat y_i))}{\min_c \sum_i (1 - \cos(y_i - c))}, \quad
        \hat y_i = \arg \sum_{j \in N(i)} e^{\mathrm{i} y_j}

The last is R² on the circle: 1 for perfect prediction, 0 for the best constant guess.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from sidelight.base.messages import error_message

from ._known_columns import KnownColumns, codes_of, known_columns
from ._neighbourhoods import majority
from ._ranks import Array, Index, check_neighbours, nearest, nearest_among, rows_of, unit_scale

__all__ = ["Leakage", "leakage", "recovery"]


@dataclass(frozen=True)
class Leakage:
    """How well known values can be predicted from the map.

    Parameters
    ----------
    kind : str
        "category" (``value`` is an accuracy) or "number" (``value`` is an R²).
    value : float
        Accuracy or R² of the prediction from the map.
    chance : float
        Chance level: the rate of the most frequent category, or 0.

    See Also
    --------
    leakage : Makes it.
    """

    kind: str
    value: float
    chance: float

    @property
    def excess(self) -> float:
        """Value above chance."""
        return self.value - self.chance


def leakage(Z: ArrayLike, given: ArrayLike, *, n_neighbors: int = 10, kind: str | None = None) -> Leakage:
    """Measure how well ``given`` can be predicted from the map; near chance if it was factored out.

    Parameters
    ----------
    Z : array-like of shape (n, q)
        Embedding.
    given : array-like of shape (n,) or (n, g)
        Known values: text, booleans and whole numbers with at most 50 different values (and no more than one in five
        rows) are categories, other numbers are numbers, as for ``given`` of a fit. Several columns are averaged.
        Rows with a missing value are left out.
    n_neighbors : int
        Number of neighbours that predict a row.
    kind : {"category", "number"}, optional
        Overrides the inferred kind of ``given``, for example for many whole numbers that are labels.

    See Also
    --------
    recovery : The same question of a factor that should be there.
    compare : Several measures of several maps.

    Examples
    --------
    >>> leakage([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]], list("aaabbb"), n_neighbors=1)
    Leakage(kind='category', value=1.0, chance=0.5)
    """
    rows = rows_of("leakage", "Z", Z)
    known = known_columns("leakage", "given", given, len(rows), kind)
    rows = rows[known.kept]
    check_neighbours("leakage", n_neighbors, len(rows) - 1, f"{len(rows)} rows with known values")
    value = _readability(known, nearest(rows, n_neighbors))
    if known.kind == "number":
        return Leakage("number", value, 0.0)
    chance = [np.bincount(column).max() / len(column) for column in known.columns.T]
    return Leakage("category", value, float(np.mean(chance)))


def recovery(
    Z: ArrayLike,
    factor: ArrayLike,
    *,
    n_neighbors: int = 5,
    groups: ArrayLike | None = None,
    period: float | None = None,
    kind: str | None = None,
) -> float:
    """Measure how well a true factor can be predicted from the map (1 is best).

    Parameters
    ----------
    Z : array-like of shape (n, q)
        Embedding.
    factor : array-like of shape (n,) or (n, g)
        The factor, read as ``given`` of :func:`leakage`: numbers (R²) or categories (accuracy). Several columns are
        averaged.
        A constant column counts as 0. Rows with a missing value are left out.
    n_neighbors : int
        Number of neighbours that predict a row.
    groups : array-like of shape (n,), optional
        Predict each row from rows of other groups only, for example across people.
    period : float, optional
        The factor is an angle with this period (360 for degrees); the value is R² on the circle.
    kind : {"category", "number"}, optional
        Overrides the inferred kind of ``factor``.

    See Also
    --------
    leakage : The same question of a factor that should be gone.
    axis_recovery : Axis by axis.

    Examples
    --------
    >>> import numpy as np
    >>> angle = np.arange(0.0, 360.0, 5.0)
    >>> circle = np.column_stack([np.cos(np.deg2rad(angle)), np.sin(np.deg2rad(angle))])
    >>> round(recovery(circle, angle, n_neighbors=2, period=360.0), 3)
    1.0
    """
    rows = rows_of("recovery", "Z", Z)
    if period is not None and not 0.0 < period < np.inf:
        raise ValueError(error_message("recovery", "period", period, "is not a number > 0", "Give 360 for degrees"))
    known = known_columns("recovery", "factor", factor, len(rows), kind if period is None else "number")
    if groups is None:
        check_neighbours("recovery", n_neighbors, len(known.columns) - 1, f"{len(known.columns)} known rows")
        neighbours = nearest(rows[known.kept], n_neighbors)
    else:
        codes, grouped = codes_of("recovery", "groups", groups, len(rows))
        codes = codes[known.kept[grouped]]
        known = known.only(grouped)
        neighbours = _nearest_in_other_groups(rows[known.kept], codes, n_neighbors)
    return _readability(known, neighbours, period)


def _nearest_in_other_groups(rows: Array, codes: Index, n_neighbors: int) -> Index:
    """Indices (n, k) of the nearest rows that belong to another group."""
    neighbours = np.empty((len(rows), n_neighbors), dtype=np.intp)
    fewest = len(rows) - int(np.bincount(codes).max(initial=0))
    check_neighbours("recovery", n_neighbors, fewest, f"{fewest} rows outside the largest group")
    for group in np.unique(codes):
        own, others = np.flatnonzero(codes == group), np.flatnonzero(codes != group)
        neighbours[own] = others[nearest_among(rows[others], rows[own], n_neighbors)]
    return neighbours


def _readability(known: KnownColumns, neighbours: Index, period: float | None = None) -> float:
    """Mean over the columns of accuracy (categories), R² (numbers) or R² on the circle (angles)."""
    if known.kind == "category":
        return float(np.mean([np.mean(majority(codes[neighbours]) == codes) for codes in known.columns.T]))
    columns = known.columns.T
    if period is None:
        return float(np.mean([_r_squared(column, neighbours) for column in columns]))
    return float(np.mean([_circular_r_squared(column / period % 1.0, neighbours) for column in columns]))


def _r_squared(column: Array, neighbours: Index) -> float:
    scaled = unit_scale(column)
    centred = unit_scale(scaled - scaled.mean())
    spread = float(np.square(centred).sum())
    error = float(np.square(centred - centred[neighbours].mean(axis=1)).sum())
    constant = np.ptp(scaled) == 0.0
    return 0.0 if constant else 1.0 - error / spread


def _circular_r_squared(turns: Array, neighbours: Index) -> float:
    points = np.exp(2j * np.pi * turns)
    spread = 1.0 - abs(points.mean())
    guess = np.angle(points[neighbours].sum(axis=1))
    error = float(np.mean(1.0 - np.cos(np.angle(points) - guess)))
    constant = np.ptp(turns) == 0.0
    return 0.0 if constant else 1.0 - error / spread

r"""How well each axis of a map predicts each attribute, on held-out rows.

With :math:`r` the ranks of the rows along an axis:

.. math::

    \text{numbers:} \quad \rho = \text{Spearman}(z_k, y) \in [-1, 1]
    \qquad
    \text{angles:} \quad R = \max_{a, b} \operatorname{corr}(r,\; a \cos y + b \sin y) \in [0, 1]

    \text{categories:} \quad \text{accuracy of the nearest neighbours along the axis, chance beside it}

The second is Mardia's correlation of a line with a circle (1976), on ranks. It is large already where an axis shows one
coordinate of the circle, from which a turn and its mirror image cannot be told apart: a circle takes two axes, so the
pair that tells the angle best is named too, with its R² on the circle (:func:`recovery`).
Strengths are comparable: :math:`|\rho|`, :math:`R`, and (accuracy - chance) / (1 - chance).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata

from sidelight.base.messages import error_message
from sidelight.side.given import Column, Given

from ._prediction import leakage, recovery
from ._ranks import Array, Index, rows_of
from ._sheet import correlation

__all__ = ["AttributeRecovery", "AxisRecovery", "axis_recovery"]

_FEWEST_ROWS = 3
_WORDS = {"number": "Spearman", "angle": "correlation", "category": "accuracy"}


@dataclass(frozen=True)
class AttributeRecovery:
    """How well each axis predicts one attribute.

    Parameters
    ----------
    name, kind : str
        The attribute; "number", "angle" or "category".
    n_rows : int
        Number of rows it was measured on.
    values : tuple of float
        For each axis: Spearman's correlation with its sign, correlation with the circle, or accuracy.
    chance : float
        Chance level: the rate of the most frequent category, or 0.
    pair : tuple of two int, or None
        For an angle, the pair of axes that predicts it best.
    pair_value : float or None
        R² on the circle, predicted from this pair.

    See Also
    --------
    axis_recovery : Makes it.
    """

    name: str
    kind: str
    n_rows: int
    values: tuple[float, ...]
    chance: float = 0.0
    pair: tuple[int, int] | None = None
    pair_value: float | None = None

    @property
    def strengths(self) -> tuple[float, ...]:
        """For each axis, from 0 (chance level; categories may fall below it) to 1 (perfect prediction)."""
        room = 1.0 - self.chance
        return tuple((abs(value) - self.chance) / room if room > 0.0 else 0.0 for value in self.values)

    @property
    def best(self) -> int:
        """The axis with the largest strength, counted from 0."""
        return int(np.argmax(self.strengths))


@dataclass(frozen=True, repr=False)
class AxisRecovery:
    """Attributes by axes, as :func:`axis_recovery` measures them; ``table["light"]`` is one attribute.

    See Also
    --------
    axis_recovery : Makes it.
    """

    attributes: tuple[AttributeRecovery, ...]

    def __getitem__(self, name: str) -> AttributeRecovery:
        found = {attribute.name: attribute for attribute in self.attributes}
        return found[name]

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes, in their order."""
        return tuple(attribute.name for attribute in self.attributes)

    @property
    def strengths(self) -> Array:
        """Strengths, shape (attributes, axes)."""
        return np.array([attribute.strengths for attribute in self.attributes])

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """Return plain numbers by the name of the attribute."""
        return {
            attribute.name: asdict(attribute) | {"strengths": attribute.strengths, "best": attribute.best}
            for attribute in self.attributes
        }

    def rows(self) -> list[tuple[str, ...]]:
        """Return a line of text for each attribute: name, measure, axis by axis, chance, rows."""
        return [
            (
                one.name,
                _WORDS[one.kind],
                *(f"{value:.2f}" for value in one.values),
                f"{one.chance:.2f}",
                f"{one.n_rows}",
            )
            for one in self.attributes
        ]

    def __repr__(self) -> str:
        n_axes = len(self.attributes[0].values) if self.attributes else 0
        head = ("", "measure", *(f"axis {k + 1}" for k in range(n_axes)), "chance", "rows")
        lines = [head, *self.rows()]
        widths = [max(len(line[c]) for line in lines) for c in range(len(head))]
        written = []
        for line in lines:
            first, second, *rest = (
                cell.ljust(w) if c < 2 else cell.rjust(w) for c, (cell, w) in enumerate(zip(line, widths, strict=True))
            )
            written.append("  ".join((first, second, *rest)).rstrip())
        pairs = [
            f"{one.name}: axes {one.pair[0] + 1} and {one.pair[1] + 1} together, R² {one.pair_value:.2f}"
            for one in self.attributes
            if one.pair is not None
        ]
        return "\n".join([*written, *pairs])


def axis_recovery(
    Z: ArrayLike,
    attributes: Any,
    rows: ArrayLike | Mapping[str, ArrayLike] | None = None,
    *,
    kinds: Any = None,
    n_neighbors: int = 5,
) -> AxisRecovery:
    """Measure how well each axis of a map predicts each attribute.

    Parameters
    ----------
    Z : array-like of shape (n, q)
        Embedding.
    attributes : mapping of name to array-like of shape (n,), or table of n rows
        True attributes of the rows. Text and integers with few distinct values are categories, other numbers are
        numbers, as for ``given``. Rows with a missing value are left out, attribute by attribute.
    rows : array-like of row numbers or of n booleans, or a mapping of names to such, optional
        The rows to measure on, for example those whose labels were not used in the fit. Attributes missing in a mapping
        are measured on all rows.
    kinds : str, float, sequence or mapping, optional
        Overrides the inferred kind of an attribute: "category", "number", "ordinal", "angle" (in degrees) or the period
        as a number; by name, one for each, or one for all.
    n_neighbors : int
        Number of neighbours along the axis (or on the pair of axes) that predict a category (or an angle); fewer if
        there are not enough rows.

    Returns
    -------
    AxisRecovery

    See Also
    --------
    recovery : Of the whole map instead of single axes.
    sidelight.MultipleRelationalEmbedding : Maps whose axes mean something.

    Examples
    --------
    >>> import numpy as np
    >>> light, person = np.arange(40.0), np.repeat(["ann", "bob"], 20)
    >>> Z = np.column_stack([-light, (person == "ann") + 0.01 * light % 0.1])
    >>> axis_recovery(Z, {"light": light, "person": person}, rows=np.arange(10, 40))
            measure   axis 1  axis 2  chance  rows
    light   Spearman   -1.00   -0.49    0.00    30
    person  accuracy    0.97    1.00    0.67    30
    """
    embedding = rows_of("axis_recovery", "Z", Z)
    given = _learned(attributes, len(embedding), kinds)
    values = given.encode("axis_recovery", attributes, len(embedding)).values
    asked = _rows_of_each(rows, [column.name for column in given.columns], len(embedding))
    found = []
    for c, column in enumerate(given.columns):
        chosen = asked[c][np.isfinite(values[asked[c], c])]
        _check_enough(column.name, len(chosen))
        found.append(_measured(embedding[chosen], column, values[chosen, c], n_neighbors))
    return AxisRecovery(tuple(found))


def _learned(attributes: Any, n: int, kinds: Any) -> Given:
    """The attributes' kinds; error messages about ``given`` are reworded for ``attributes``."""
    try:
        return Given.learn("axis_recovery", attributes, n, kinds)
    except ValueError as error:
        words = str(error).replace("conditioning.types=", "kinds=").replace("given=", "attributes=")
        raise ValueError(words.replace("columns of given", "attributes")) from None


def _check_enough(name: str, count: int) -> None:
    if count < _FEWEST_ROWS:
        seen, rule = f"{count} rows of {name!r}", f"is fewer than {_FEWEST_ROWS} rows with a value"
        raise ValueError(
            error_message("axis_recovery", "rows", seen, rule, "Give more rows, or leave the attribute out")
        )


def _rows_of_each(rows: Any, names: list[str], n: int) -> list[Index]:
    if not isinstance(rows, Mapping):
        return [_chosen(rows, n)] * len(names)
    unknown = [name for name in rows if name not in names]
    if unknown:
        rule = f"is not among the attributes ({', '.join(map(repr, names))})"
        raise ValueError(error_message("axis_recovery", "rows", f"entry for {unknown[0]!r}", rule, "Use their names"))
    return [_chosen(rows.get(name), n) for name in names]


def _chosen(rows: Any, n: int) -> Index:
    """Row numbers, each once and in order, from numbers or a mask."""
    if rows is None:
        return np.arange(n)
    array: NDArray[Any] = np.asarray(rows)
    if array.dtype == bool and array.shape == (n,):
        return np.flatnonzero(array)
    whole = array.ndim == 1 and (array.dtype.kind in "iu" or array.size == 0)
    if not whole or (array.size and not (array.min() >= 0 and array.max() < n)):
        seen, rule = f"array of shape {array.shape} and type {array.dtype}", f"does not choose among {n} rows"
        remedy = f"Give row numbers from 0 to {n - 1}, or {n} booleans"
        raise ValueError(error_message("axis_recovery", "rows", seen, rule, remedy))
    return np.unique(array).astype(np.intp)


def _measured(Z: Array, column: Column, y: Array, n_neighbors: int) -> AttributeRecovery:
    k = min(n_neighbors, len(y) - 1)
    if column.kind == "category":
        told = [leakage(axis[:, None], y.astype(np.intp), n_neighbors=k, kind="category") for axis in Z.T]
        return AttributeRecovery(column.name, "category", len(y), tuple(t.value for t in told), told[0].chance)
    ranks = [rankdata(axis) for axis in Z.T]
    if column.kind == "number":
        ordered = rankdata(y)
        return AttributeRecovery(column.name, "number", len(y), tuple(correlation(r, ordered) for r in ranks))
    values = tuple(_with_the_circle(r, 2 * np.pi * (y / column.period % 1.0)) for r in ranks)
    together = {
        pair: recovery(Z[:, pair], y, n_neighbors=k, period=column.period)
        for pair in combinations(range(len(ranks)), 2)
    }
    pair = max(together, key=lambda p: together[p]) if together else None
    return AttributeRecovery(column.name, "angle", len(y), values, 0.0, pair, together[pair] if pair else None)


def _with_the_circle(ranks: Array, turn: Array) -> float:
    """Largest correlation of ``ranks`` with a combination of cos and sin of ``turn``: the regression's R."""
    basis = np.column_stack([np.cos(turn), np.sin(turn)])
    basis -= basis.mean(axis=0)
    centred = ranks - ranks.mean()
    fit = basis @ np.linalg.lstsq(basis, centred, rcond=None)[0]
    return max(0.0, correlation(centred, fit))

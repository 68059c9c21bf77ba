"""Tables of differences summed up over the axes of the map: what sets each selection apart, the largest moves first.

    move_f = |c_f|,      Σ_f c_f = D      c (features, axes) the contributions, D (axes,) the way between mean places

The move of a feature is the length of its arrow on the map. It is not a share of |D|: a selection in the middle of the
others has hardly any way to them, and long arrows that cancel each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["RATE", "Compared", "compared", "compared_in_words", "signed"]

Floats = NDArray[np.float64]
RATE = 0.05
"""False discovery rate up to which a feature is said to differ."""
_NAMED = 3  # features that a sentence names


@dataclass(frozen=True)
class Compared:
    """One selection against another: features (d,) by how far they move it on the map, most first."""

    name: str
    feature: NDArray[Any]
    first: Floats
    second: Floats
    """Means of the features in the selection and in the other rows, after the effect of ``given``."""
    effect: Floats
    """Difference of means in standard deviations, with its interval ``low`` to ``high``.

    The interval of a single row is NaN, and all three for two single rows.
    """
    low: Floats
    high: Floats
    fdr: Floats
    move: Floats
    """How far each feature moves the selection on the map: the length of its contributions over the axes."""
    way: float = 0.0
    """Distance of the mean places."""

    @property
    def differ(self) -> NDArray[np.intp]:
        """Features that differ at a false discovery rate of 0.05."""
        return np.flatnonzero(self.fdr <= RATE)

    def interval(self, k: int) -> str:
        """The effect of feature k with its interval, in words."""
        if np.isnan(self.effect[k]):
            return "–"
        if np.isnan(self.low[k]):
            return signed(self.effect[k])
        return f"{signed(self.effect[k])} ({signed(self.low[k])} to {signed(self.high[k])})"


def signed(value: float) -> str:
    """A number with its sign and one decimal.

    Examples
    --------
    >>> signed(-1.26), signed(0.5)
    ('−1.3', '+0.5')
    """
    return f"{value:+.1f}".replace("-", "−")


def compared(table: Any, names: list[str] | None = None) -> list[Compared]:
    """The parts of a table of ``difference``, ``selection`` or ``groups``, as columns or as a data frame.

    Groups come in the order of ``names``, by default as in the table.
    """
    keys = table.columns if hasattr(table, "columns") else table
    columns = {str(name): np.asarray(table[name]) for name in keys}
    if "group" not in columns:
        return [_compared("", columns)]
    groups = [str(name) for name in columns["group"]]
    found = list(dict.fromkeys(groups))
    order = found if names is None else [name for name in names if name in set(found)]
    at = np.array(groups, dtype=object)
    return [_compared(name, {key: values[at == name] for key, values in columns.items()}) for name in order]


def _compared(name: str, own: dict[str, NDArray[Any]]) -> Compared:
    axes = list(dict.fromkeys(own["axis"].tolist()))
    real = ~np.isnan(own["difference"].astype(np.float64))
    first = np.flatnonzero(real & (own["axis"] == axes[0]))
    features = own["feature"][first]
    effect = own["standardised"][first].astype(np.float64)
    move, steepest = np.zeros(len(features)), np.zeros(len(features))
    low, high = np.full(len(features), np.nan), np.full(len(features), np.nan)
    moved = np.array([np.nansum(own["contribution"][own["axis"] == axis]) for axis in axes])
    for axis in axes:
        at = np.flatnonzero(real & (own["axis"] == axis))
        place = {feature: row for row, feature in zip(at, own["feature"][at], strict=True)}
        rows = np.array([place[feature] for feature in features])
        contribution, slope = own["contribution"][rows], np.abs(own["slope"][rows])
        move = np.hypot(move, contribution)
        # The interval of a contribution is that of the difference of means times the slope, which is held.
        better = (slope > steepest) & (contribution != 0)
        scale = np.divide(effect, contribution, out=np.zeros(len(features)), where=better)
        ends = np.sort([own["low"][rows] * scale, own["high"][rows] * scale], axis=0)
        low, high = np.where(better, ends[0], low), np.where(better, ends[1], high)
        steepest = np.maximum(steepest, slope)
    order = np.argsort(-move, kind="stable")
    means = {key: own[key][first][order] for key in ("first", "second")}
    fdr, way = own["fdr"][first], float(np.linalg.norm(moved))
    return Compared(
        name,
        features[order],
        means["first"],
        means["second"],
        effect[order],
        low[order],
        high[order],
        fdr[order],
        move[order],
        way,
    )


def compared_in_words(one: Compared) -> str:
    """What sets a selection apart: the features that move it most on the map, of those that differ.

    Examples
    --------
    >>> a, b = np.array, np.ones(2)
    >>> one = Compared("", a(["x", "y"]), b, b, a([2.0, -1.0]), b, b, a([0.001, 0.01]), a([0.7, 0.3]))
    >>> compared_in_words(one)
    'more x (+2.0 SD); less y (−1.0 SD)'
    """
    chosen = one.differ[:_NAMED]
    if not len(chosen):
        return f"no column differs at a false discovery rate of {RATE}"
    left = len(one.differ) - _NAMED
    more = f" and {left:,} more column{'s' if left > 1 else ''}" if left > 0 else ""
    words = ["more" if one.effect[k] > 0 else "less" for k in chosen]
    named = (f"{word} {one.feature[k]} ({signed(one.effect[k])} SD)" for word, k in zip(words, chosen, strict=True))
    return "; ".join(named) + more

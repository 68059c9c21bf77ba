r"""Means of a column over the rows around places of a map.

With the distances :math:`r_1 \le \dots \le r_{k+1}` of a place to the nearest rows, the weight of the j-th is
:math:`1 - (r_j / r_{k+1})^2` (Epanechnikov's kernel, as wide as the rows there are near).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

__all__ = ["local_mean", "near_number", "same_category", "shown_around"]

Array = NDArray[Any]
_NEIGHBOURS = 40
_WIDTH = 0.15  # of the kernel that says how alike two numbers are, in standard deviations


def local_mean(places: Array, values: Array, at: Array) -> Array:
    """Mean (m,) of values (n,) over the rows at places (n, q) that are around the points ``at`` (m, q)."""
    return _around(places, values, at)[0]


def shown_around(places: Array, values: Array, at: Array) -> tuple[Array, Array]:
    """Means as of :func:`local_mean`, and weights (m,) between 0 and 1 that fade where no rows are near.

    They fade with the distance of the nearest row, in units of a fiftieth of the width of the map.
    """
    means, nearest = _around(places, values, at)
    there = np.isfinite(places).all(axis=1)
    width = float(np.ptp(places[there], axis=0).max()) / 50 if there.any() else 1.0
    return means, np.exp(-0.5 * (nearest / max(width, np.finfo(float).tiny)) ** 2)


def _around(places: Array, values: Array, at: Array) -> tuple[Array, Array]:
    known = np.isfinite(places).all(axis=1) & np.isfinite(values)
    count = min(_NEIGHBOURS + 1, int(known.sum()))
    if count < 2:
        return np.full(len(at), np.nan), np.full(len(at), np.inf)
    found = cKDTree(places[known]).query(at, k=count)
    apart, rows = np.asarray(found[0]), np.asarray(found[1])
    widest = apart[:, -1:]
    weights = np.where(widest > 0, 1 - (apart / np.where(widest > 0, widest, 1.0)) ** 2, 1.0)
    weights[:, 0] = np.maximum(weights[:, 0], 1e-9)  # where all of them are as far
    return np.asarray((weights * values[known][rows]).sum(axis=1) / weights.sum(axis=1)), np.asarray(apart[:, 0])


def same_category(column: Array, value: Any) -> Array:
    """1 for the entries of a column (n,) that are the category, 0 for others and for missing ones."""
    return np.array([one == value for one in column.tolist()], dtype=np.float64)


def near_number(column: Array, value: float, period: float) -> Array:
    """How near the entries of a column (n,) are to a number: a Gaussian of the difference; 0 for missing entries.

    With a ``period`` that is not 0, differences go around.
    """
    numbers = np.array([np.nan if one is None else one for one in column.tolist()], dtype=np.float64)
    apart = numbers - value
    if period:
        apart = (apart + period / 2) % period - period / 2
    spread = period / np.sqrt(12) if period else float(np.nanstd(numbers)) or 1.0
    return np.nan_to_num(np.exp(-0.5 * (apart / (_WIDTH * spread)) ** 2))

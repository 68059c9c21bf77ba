"""The nearest of a list of candidates, when the list comes with rounded squared distances.

A matrix product in float32 gives ``D_il ≈ |q_i - x_l|²`` to within an error bound ``e_i``. A few more candidates than
wanted are measured again from differences. Where a candidate not measured could still be nearer
(``D_il - e_i ≤`` the last distance kept, squared), all candidates of that query are measured. So the result is that of
the measured distances, ties by row number. It does not depend on how the product was rounded, hence not on the other
rows of the product either.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sidelight.base.types import Array

__all__ = ["ABSENT", "closest", "collected", "product_error"]


Measure = Callable[[Array, Array], Array]
"""``measure(rows, index)``: distances from the queries ``rows`` (m,) to the rows ``index`` (m, w) of the data."""

ABSENT = np.iinfo(np.int64).max
"""Row number that pads lists of unequal length to a matrix."""
_SPARE = 4
_BUDGET = 1_000_000  # numbers in the full lists that are measured at one time


def product_error(reach: Array, columns: int) -> Array:
    """Bound of the rounding of ``|a|² + |b|² - 2 a·b`` in float32, where ``|a| + |b| ≤ reach``."""
    return np.asarray((columns + 8) * np.finfo(np.float32).eps * np.square(reach, dtype=np.float64))


def closest(D: Array, index: Array, k: int, error: Array, measure: Measure) -> tuple[Array, Array]:
    """The ``k`` nearest candidates of each query, nearest first.

    Parameters
    ----------
    D : array of shape (m, w)
        Squared distances, each within ``error`` of the measured one squared; infinite where there is no candidate.
    index : array of shape (m, w)
        The candidates' row numbers, ``ABSENT`` where there is none. Each row has at least ``k``.
    k : int
    error : array of shape (m,)
        Error bound of ``D``.
    measure : callable
        ``measure(rows, index)``: accurate distances.

    Returns
    -------
    index, distance : arrays of shape (m, k)
    """
    few = min(D.shape[1], k + _SPARE)
    chosen = np.argpartition(D, few - 1, axis=1)[:, :few]
    rows = np.arange(len(D))
    kept, distance = _measured(rows, np.take_along_axis(index, chosen, axis=1), k, measure)
    if few < D.shape[1]:
        passed_over = np.take_along_axis(D, chosen[:, -1:], axis=1)[:, 0] - error
        doubtful = np.flatnonzero(np.square(distance[:, -1]) >= passed_over)
        for part in np.array_split(doubtful, 1 + doubtful.size * D.shape[1] // _BUDGET):
            kept[part], distance[part] = _measured(part, index[part], k, measure)
    return kept, distance


def collected(row: Array, index: Array, value: Array, m: int) -> tuple[Array, Array]:
    """Triples (sorted by row) as padded matrices (m, w) of values and of indices, ``w`` the largest count of a row.

    Examples
    --------
    >>> values, index = collected(np.array([0, 1, 1]), np.array([7, 8, 9]), np.array([0.25, 0.5, 2.0]), 2)
    >>> values
    array([[0.25,  inf],
           [0.5 , 2.  ]], dtype=float32)
    """
    count = np.bincount(row, minlength=m)
    width = max(1, int(count.max(initial=0)))
    flat = np.arange(len(row)) + np.repeat(width * np.arange(m) - (np.cumsum(count) - count), count)
    D = np.full((m, width), np.inf, dtype=np.float32)
    found = np.full((m, width), ABSENT)
    D.ravel()[flat] = value
    found.ravel()[flat] = index
    return D, found


def _measured(rows: Array, index: Array, k: int, measure: Measure) -> tuple[Array, Array]:
    """The ``k`` nearest of the candidates by ``measure``, ties by row number."""
    index = np.sort(index, axis=1)
    absent = index == ABSENT
    distance = measure(rows, np.where(absent, 0, index))
    distance[absent] = np.inf
    order = np.argsort(distance, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(index, order, axis=1), np.take_along_axis(distance, order, axis=1)

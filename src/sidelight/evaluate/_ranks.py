r"""Nearest neighbours and neighbour ranks, in tiles of query rows.

.. math::

    r(i, j) = 1 + \#\{l \ne i : |x_i - x_l| < |x_i - x_j|\}

Equally distant rows share the smaller rank, so that the order of the rows does not matter. Distances come from
differences where that is cheap (up to 32 columns), and otherwise from :math:`|a|^2 - 2 a^\top b + |b|^2` around the
column medians, which an outlier does not move. Everything is scaled to [-1, 1] first, so that no square overflows,
and BLAS runs on one thread, because its last bits depend on their number.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist
from sklearn.utils import check_array
from threadpoolctl import threadpool_limits

from sidelight.base.messages import error_message
from sidelight.neighbours import search

__all__ = [
    "check_neighbours",
    "check_same_rows",
    "nearest",
    "nearest_among",
    "neighbour_ranks",
    "rows_of",
    "unit_scale",
]

Array = NDArray[np.float64]
Index = NDArray[np.intp]

_TILE_ELEMENTS = 2**22
_COLUMNS_FOR_DIFFERENCES = 32
_COLUMNS_FOR_TREES = 15


def rows_of(owner: str, argument: str, values: ArrayLike) -> Array:
    """Validate a matrix (n, d) of finite numbers, centre it at its medians and scale it to [-1, 1]."""
    matrix = unit_scale(check_array(values, dtype=np.float64, input_name=argument, estimator=owner))
    # In place and column by column: a large X is copied once, not three times.
    for column in matrix.T:
        column -= np.median(column)
    return np.ldexp(matrix, -_exponent(matrix), out=matrix)


def unit_scale(matrix: Array) -> Array:
    """Divide by the largest absolute value (a power of two near it, so that no bit is lost)."""
    return np.ldexp(matrix, -_exponent(matrix))


def _exponent(matrix: Array) -> int:
    largest = max(float(matrix.max(initial=0.0)), -float(matrix.min(initial=0.0)))
    return int(np.frexp(largest)[1])


def check_same_rows(owner: str, **matrices: Array) -> None:
    """Refuse matrices with different numbers of rows."""
    (first, reference), *others = matrices.items()
    for name, matrix in others:
        if len(matrix) != len(reference):
            rule = f"does not have as many rows as {first} ({len(reference)})"
            raise ValueError(error_message(owner, name, f"array of {len(matrix)} rows", rule, "Match the rows"))


def check_neighbours(owner: str, n_neighbors: int, limit: float, why: str) -> None:
    """Refuse a number of neighbours that is no whole number from 1 to ``limit``."""
    whole = isinstance(n_neighbors, (int, np.integer)) and not isinstance(n_neighbors, bool)
    if not whole or not 1 <= n_neighbors <= limit:
        rule = f"is not a whole number from 1 to {int(limit)} ({why})"
        raise ValueError(
            error_message(owner, "n_neighbors", n_neighbors, rule, "Ask for fewer neighbours or give more rows")
        )


def nearest(rows: Array, n_neighbors: int, queries: Index | None = None) -> Index:
    """Indices (m, k) of the nearest other rows of the query rows (all by default), nearest first, ties by number."""
    if queries is None:
        return _search(rows, None, n_neighbors)
    return _without_self(_search(rows, rows[queries], n_neighbors + 1), queries)


def nearest_among(rows: Array, targets: Array, n_neighbors: int) -> Index:
    """Indices (m, k) of the rows nearest to each target, nearest first, ties by number."""
    return _search(rows, targets, n_neighbors)


def _search(rows: Array, targets: Array | None, n_neighbors: int) -> Index:
    with threadpool_limits(limits=1):
        if rows.shape[1] <= _COLUMNS_FOR_TREES:
            return search.nearest_by_tree(rows, targets, k=n_neighbors).index
        return search.nearest(rows, targets, k=n_neighbors, exact=True).index


def neighbour_ranks(rows: Array, queries: Index, neighbours: Index) -> NDArray[np.int64]:
    """Ranks r(i, j), shape (m, k), of the given neighbours (m, k) of the query rows."""
    ranks = np.empty(neighbours.shape, dtype=np.int64)
    for part, squared in _tiles(rows, queries):
        threshold = np.take_along_axis(squared, neighbours[part], axis=1)
        for k in range(neighbours.shape[1]):
            ranks[part, k] = 1 + np.count_nonzero(squared < threshold[:, k, None], axis=1)
    return ranks


def _tiles(rows: Array, queries: Index) -> Iterator[tuple[slice, Array]]:
    """Yield (which queries, their squared distances to all rows), with infinity at the query itself."""
    by_difference = rows.shape[1] <= _COLUMNS_FOR_DIFFERENCES
    squares = np.einsum("ij,ij->i", rows, rows)
    step = max(1, _TILE_ELEMENTS // len(rows))
    for start in range(0, len(queries), step):
        part = slice(start, min(start + step, len(queries)))
        chosen = queries[part]
        if by_difference:
            squared = cdist(rows[chosen], rows, "sqeuclidean")
        else:
            with threadpool_limits(limits=1, user_api="blas"):
                squared = rows[chosen] @ rows.T
            squared *= -2.0
            squared += squares
            squared += squares[chosen, None]
        squared[np.arange(len(chosen)), chosen] = np.inf
        yield part, squared


def _without_self(found: Index, queries: Index) -> Index:
    """Drop the query from its own neighbours; where duplicates crowded it out, drop the farthest."""
    itself = found == queries[:, None]
    itself[~itself.any(axis=1), -1] = True
    others: Index = found[~itself].reshape(len(found), -1)
    return others

"""Partly known precomputed distances: a sparse matrix whose stored entries are distances.

Pairs that are not stored are farther apart than those that are. A stored zero is a distance of zero (duplicates).
Between the rows of one data set (n, n) the diagonal is ignored, and a pair is known if it is stored in either
direction:

    d_ij = the mean of the stored ones of D_ij and D_ji

Rows may store any number of entries from 1 on. Neighbour lists are padded to equal length with infinite distances,
which kernels give no weight (``kernels.bandwidths``).
Cost: O(nnz log nnz) time, O(nnz) memory, whatever the number of pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy.sparse import csr_array, issparse
from scipy.sparse.csgraph import connected_components

from sidelight.base.messages import error_message
from sidelight.base.types import Array, DType, Slice, SparseMatrix, Untyped

from .search import Neighbours, nearest_precomputed

__all__ = [
    "Points",
    "SparseDistances",
    "dense_points",
    "nearest_known",
    "reach",
    "refuse_negative",
    "submatrix",
    "zero_distance_groups",
]


_FILLED = ("bsr", "dia")  # these formats pad with zeros, which are not distances


@dataclass(frozen=True)
class SparseDistances:
    """Known distances from m rows to n: ``stored`` (m, n), sorted by column, each pair once.

    Examples
    --------
    >>> D = csr_array((np.array([2.0, 0.0, 2.0, 1.0, 1.0]), ([0, 0, 1, 1, 2], [1, 2, 0, 2, 1])), shape=(3, 3))
    >>> SparseDistances.between_rows(D).nearest(1).index.ravel()
    array([2, 2, 0])
    """

    stored: SparseMatrix

    @classmethod
    def between_rows(cls, D: object, *, owner: object = "SparseDistances") -> SparseDistances:
        """The distances between the rows of a data set (n, n), validated and made symmetric."""
        graph = _checked(D, owner)
        n = graph.shape[0]
        if n != graph.shape[1] or n < 2:
            rule, remedy = "is not square with two rows or more", "Give the distances between all rows, as (n, n)"
            raise ValueError(error_message(owner, "X", f"sparse array of shape {graph.shape}", rule, remedy))
        row, column, distance = _entries(graph)
        other = row != column
        row, column, distance = row[other], column[other], distance[other]
        both = np.r_[row, column], np.r_[column, row], np.r_[distance, distance]
        return cls(_averaged(*both, n)).without_empty_rows(owner)

    @classmethod
    def of_queries(cls, D: object, *, owner: object = "SparseDistances") -> SparseDistances:
        """Validate the distances from queries to the rows of a data set (m, n)."""
        return cls(_checked(D, owner)).without_empty_rows(owner)

    def __len__(self) -> int:
        return int(self.stored.shape[0])

    def __getitem__(self, rows: Slice | Array) -> SparseDistances:
        return SparseDistances(csr_array(self.stored[rows]))

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns, (m, n)."""
        return int(self.stored.shape[0]), int(self.stored.shape[1])

    @property
    def dtype(self) -> DType:
        """Of the distances."""
        return np.dtype(self.stored.dtype)

    @property
    def counts(self) -> Array:
        """Number of stored distances of each row (m,)."""
        return np.diff(self.stored.indptr)

    @property
    def width(self) -> int:
        """Mean number of stored distances of a row, rounded up."""
        return -(-self.stored.nnz // len(self))

    def max(self) -> float:
        """The longest distance."""
        return float(self.stored.data.max(initial=0))

    def scaled(self, unit: float) -> SparseDistances:
        """The distances divided by ``unit``, in float64."""
        graph = self.stored
        data = np.asarray(graph.data, dtype=np.float64) / unit
        return SparseDistances(csr_array((data, graph.indices, graph.indptr), shape=graph.shape))

    def among(self, rows: Array, columns: Array) -> SparseDistances:
        """The submatrix of the given rows and columns."""
        return SparseDistances(csr_array(csr_array(self.stored[rows])[:, columns]))

    def merged(self, ancestor: Array, n: int) -> SparseDistances:
        """Mean known distances between members of ``n`` groups of rows; ``ancestor`` (m,) is the group of each row."""
        row, column, distance = _entries(self.stored)
        row, column = ancestor[row], ancestor[column]
        other = row != column
        return SparseDistances(_averaged(row[other], column[other], distance[other], n))

    def nearest(self, k: int) -> Neighbours:
        """The ``k`` nearest of each row, ties by column; padded with infinite distances where a row has fewer.

        Lists are no longer than the longest row. The padding repeats the row number of the first neighbour.
        """
        graph, counts = self.stored, self.counts
        width = max(1, min(k, int(counts.max(initial=0))))
        if not graph.nnz:
            return Neighbours(np.zeros((len(self), width), dtype=np.int64), np.full((len(self), width), np.inf))
        order = np.lexsort((graph.data, np.repeat(np.arange(len(self)), counts)))
        held = np.arange(width) < counts[:, None]
        place = np.minimum(graph.indptr[:-1, None] + np.where(held, np.arange(width), 0), graph.nnz - 1)
        chosen = order[place]
        distance = np.where(held, graph.data[chosen].astype(np.float64), np.inf)
        return Neighbours(graph.indices[chosen].astype(np.int64), distance)

    def without_empty_rows(self, owner: object) -> SparseDistances:
        """Itself; raises if a row has no stored distance."""
        empty = np.flatnonzero(self.counts == 0)
        if len(empty):
            rule = "has no distance to another row, so that it can be anywhere"
            remedy = "Store more distances (n_neighbors or radius of the graph), or leave the row out"
            raise ValueError(error_message(owner, "X", f"row {empty[0]} of a sparse array", rule, remedy))
        return self


Points: TypeAlias = Array | SparseDistances
"""Rows (n, d), or precomputed distances between them, dense or sparse."""


def dense_points(points: Points) -> Array:
    """Return dense points (rows, or a matrix of all distances); raise for sparse distances."""
    assert not isinstance(points, SparseDistances)
    return points


def nearest_known(D: Points, *, k: int, own: bool) -> Neighbours:
    """The ``k`` smallest distances of each row of a dense or sparse distance matrix; ``own``: without the diagonal."""
    return D.nearest(k) if isinstance(D, SparseDistances) else nearest_precomputed(D, k=k, own=own)


def zero_distance_groups(D: Points) -> Array | None:
    """Groups of rows at distance 0 (n,): the number of the first row of each group. None if there is no such pair."""
    if isinstance(D, SparseDistances):
        row, column, distance = _entries(D.stored)
        row, column = row[distance == 0], column[distance == 0]
    else:
        row, column = np.nonzero(np.asarray(D) == 0)
    apart = row != column
    if not apart.any():
        return None
    links = csr_array((np.ones(int(apart.sum())), (row[apart], column[apart])), shape=(len(D), len(D)))
    _, component = connected_components(links, directed=False)
    return np.asarray(np.unique(component, return_index=True)[1][component])


def submatrix(D: Points, rows: Array, columns: Array, owner: object) -> Points:
    """The distances of the given rows and columns; raises, naming ``owner``, if a row has no known distance left."""
    if isinstance(D, SparseDistances):
        return D.among(rows, columns).without_empty_rows(owner)
    return np.asarray(D[np.ix_(rows, columns)])


def refuse_negative(owner: object, lowest: float) -> None:
    """Raise if the smallest distance is negative. scikit-learn's checks expect some words of the message."""
    if lowest < 0:
        rule, remedy = "is a negative distance", "Negative values in data may be similarities: give distances"
        raise ValueError(error_message(owner, "X", float(lowest), rule, remedy))


def reach(near: Neighbours) -> Array:
    """The largest finite distance in the neighbour list of each row (m,)."""
    return np.asarray(np.where(np.isfinite(near.distance), near.distance, 0.0).max(axis=1))


def _entries(graph: SparseMatrix) -> tuple[Array, Array, Array]:
    """Row, column and distance of each stored pair."""
    row = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    return row, np.asarray(graph.indices, dtype=np.int64), graph.data


def _averaged(row: Array, column: Array, distance: Array, n: int) -> SparseMatrix:
    """The mean of the distances of each pair; scipy's own sums would lose the stored zeros."""
    if not len(row):
        return csr_array((n, n), dtype=distance.dtype)
    key = row * n + column
    order = np.argsort(key, kind="stable")
    key = key[order]
    first = np.flatnonzero(np.r_[True, key[1:] != key[:-1]])
    count = np.diff(np.r_[first, len(key)])
    mean = np.add.reduceat(distance[order], first) / count.astype(distance.dtype)
    row, column = np.divmod(key[first], n)
    starts = np.r_[0, np.cumsum(np.bincount(row, minlength=n))]
    return csr_array((mean, column, starts), shape=(n, n))


def _checked(D: object, owner: object) -> SparseMatrix:
    """The distances as a CSR array of floats; raises a message that names what is wrong."""
    if not issparse(D):
        raise TypeError(
            error_message(owner, "X", type(D).__name__, "is not a sparse matrix", "Give one of scipy.sparse")
        )
    graph: Untyped = D
    if graph.ndim != 2 or not all(graph.shape):
        rule, remedy = "is no sparse matrix of distances", "Give one row for each row of the data"
        raise ValueError(error_message(owner, "X", f"array of shape {graph.shape}", rule, remedy))
    if graph.dtype.kind not in "fiu":
        rule = "does not hold real numbers"
        raise TypeError(error_message(owner, "X", f"sparse array of {graph.dtype}", rule, "Give distances"))
    stored, filled, graph = graph.nnz, graph.format in _FILLED, csr_array(graph.tocsr())
    if not graph.has_canonical_format or filled:
        graph = graph.copy()
        graph.sum_duplicates()
        if filled:
            graph.eliminate_zeros()
    if graph.nnz < stored and not filled:
        raise ValueError(error_message(owner, "X", "a pair of rows", "is stored twice", "Store each distance once"))
    if not np.isfinite(graph.data).all():
        remedy = "Leave out pairs whose distance is not known"
        raise ValueError(error_message(owner, "X", "NaN or infinity", "is not a distance", remedy))
    refuse_negative(owner, graph.data.min(initial=0))
    return graph if graph.dtype in (np.float32, np.float64) else csr_array(graph.astype(np.float64))

"""A connected graph from lists of edges: each edge both ways, pieces joined by their shortest links."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from sidelight.base.tiles import spans
from sidelight.base.types import Array, Slice, SparseMatrix
from sidelight.neighbours.search import Neighbours

__all__ = ["connected_graph"]


_BUDGET = 4_000_000  # numbers in the temporaries of one tile
_TINY = 1e-300  # csgraph reads a stored 0 as "no edge"


def connected_graph(edges: Neighbours, lengths: Callable[[Slice], Array]) -> SparseMatrix:
    """Return a connected symmetric graph (n, n) of the listed edges, each at its smaller length.

    Parameters
    ----------
    edges : Neighbours
        Edges of each of n rows, index and length (n, k).
    lengths : callable
        Lengths (m, n) from the rows of a slice to all rows, to link pieces that the edges leave unconnected.
    """
    n, width = edges.index.shape
    rows, columns, values = np.repeat(np.arange(n), width), edges.index.ravel(), edges.distance.ravel()
    while True:
        graph = _symmetric(n, rows, columns, values)
        n_pieces, piece = connected_components(graph, directed=False)
        if n_pieces == 1:
            return graph
        start, end, length = _shortest_links(piece, lengths)
        rows, columns, values = np.r_[rows, start], np.r_[columns, end], np.r_[values, length]


def _shortest_links(piece: Array, lengths: Callable[[Slice], Array]) -> tuple[Array, Array, Array]:
    """For each piece its shortest link to any other piece (one round of Borůvka's algorithm)."""
    n = len(piece)
    best, target = np.empty(n), np.empty(n, dtype=np.int64)
    for rows in spans(n, max(1, _BUDGET // n)):
        outside = np.where(piece[rows][:, None] == piece, np.inf, lengths(rows))
        target[rows] = outside.argmin(axis=1)
        best[rows] = outside.min(axis=1)
    order = np.lexsort((np.arange(n), best, piece))
    start = order[np.r_[True, np.diff(piece[order]) > 0]]
    return start, target[start], best[start]


def _symmetric(n: int, rows: Array, columns: Array, lengths: Array) -> SparseMatrix:
    """Each edge both ways at its smallest length, edges from a row to itself left out."""
    apart = rows != columns
    low, high = np.minimum(rows, columns)[apart], np.maximum(rows, columns)[apart]
    order = np.lexsort((lengths[apart], low * n + high))
    low, high, lengths = low[order], high[order], np.maximum(lengths[apart][order], _TINY)
    first = np.r_[True, np.diff(low * n + high) > 0] if len(low) else np.zeros(0, dtype=bool)
    low, high, lengths = low[first], high[first], lengths[first]
    ends = np.r_[low, high].astype(np.int32), np.r_[high, low].astype(np.int32)
    return csr_array(coo_array((np.r_[lengths, lengths], ends), shape=(n, n)))

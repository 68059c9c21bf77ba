"""Neighbour graphs without shortcut edges: an edge is rejected if it shortcuts a long path of a sparser graph.

Where a sheet is thinly sampled, the tenth neighbour of a row may lie on another layer, and the two rows may list each
other. One such shortcut ("bridge") folds any embedding that follows the graph. The graph of the first few neighbours
has no bridges, but has cracks. So the graph starts with the ``core`` nearest neighbours, and an edge of the ``k``
nearest is added as soon as

    path(i, j) ≤ max(stretch · |x_i - x_j|, share · diameter)

with the path length in the graph built so far. Cracks close from their ends. A bridge would shortcut a good part of
the whole diameter, and is rejected. Both graphs are of mutual neighbours, their components joined by the shortest
links (``neighbours.graph``). Measured on swiss rolls of 200 to 1,000 rows, ten neighbours, eight seeds: all of up to 14
bridges rejected, and all but at most 6 of the true edges kept.
Cost: a shortest-path search from each row, limited to ``stretch`` times its edge length, and long searches from the
ends of the few edges left.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array, csr_array, triu
from scipy.sparse.csgraph import dijkstra

from sidelight.base.tiles import run_tiles, spans
from sidelight.base.types import Array, Slice, SparseMatrix

from .graph import joined_graph
from .search import Neighbours

__all__ = ["graph_without_shortcuts", "long_detours"]


_TILE, _LANDMARKS = 128, 32
_STRETCH, _SHARE = 3.0, 0.3


def graph_without_shortcuts(
    X: Array,
    neighbours: Neighbours,
    *,
    core: int,
    stretch: float = _STRETCH,
    share: float = _SHARE,
    precomputed: bool = False,
    n_jobs: int | None = None,
) -> SparseMatrix:
    """Graph of mutual neighbours, joined into one component, without shortcut edges.

    Parameters
    ----------
    X : array of shape (n, d), or distances (n, n)
    neighbours : Neighbours
        The ``k`` nearest rows of each row, (n, k).
    core : int
        Neighbours of the initial graph. With ``core`` ≥ k the graph is not filtered.
    stretch : float
        An edge is accepted if the path between its ends is at most this many times its length.
    share : float
        An edge is also accepted if that path is at most this share of the graph's diameter.
    precomputed : bool
        Whether ``X`` holds distances.
    n_jobs : int or None
        Threads.

    Returns
    -------
    csr_array of shape (n, n)
        Edge lengths, symmetric.
    """
    whole = joined_graph(X, neighbours, precomputed=precomputed)
    if core >= neighbours.index.shape[1]:
        return whole
    few = Neighbours(neighbours.index[:, :core], neighbours.distance[:, :core])
    graph = joined_graph(X, few, precomputed=precomputed)
    edges = triu(whole, k=1).tocoo()
    low, high, length = edges.row, edges.col, edges.data
    limit, reach = stretch * length, share * _diameter(graph)
    left = np.arange(len(low))
    while len(left):
        near = _within(graph, low[left], high[left], limit[left], n_jobs)
        if not near.any() and limit.min() >= reach:
            return graph
        taken = left[near]
        graph = _with_edges(graph, low[taken], high[taken], length[taken])
        left, limit = left[~near], np.maximum(limit, reach)
    return graph


def long_detours(graph: SparseMatrix, low: Array, high: Array, length: Array, *, n_jobs: int | None = None) -> Array:
    """Which edges (m,) of another graph shortcut paths of this one: longer than ``max(3 · length, 0.3 · diameter)``.

    Parameters
    ----------
    graph : csr_array of shape (n, n)
        Connected.
    low, high, length : arrays of shape (m,)
        Ends and lengths of the edges.
    n_jobs : int or None
        Threads.

    Returns
    -------
    array of shape (m,)
        Booleans.
    """
    far = np.ones(len(low), dtype=bool)
    for limit in (_STRETCH * length, np.maximum(_STRETCH * length, _SHARE * _diameter(graph))):
        left = np.flatnonzero(far)  # few are left to the long search
        far[left] = ~_within(graph, low[left], high[left], limit[left], n_jobs)
    return far


def _diameter(graph: SparseMatrix) -> float:
    """Longest shortest path from 32 evenly spread rows: at least half of the diameter of the graph."""
    rows = np.unique(np.linspace(0, graph.shape[0] - 1, _LANDMARKS).astype(np.int64))
    return float(dijkstra(graph, indices=rows).max())


def _within(graph: SparseMatrix, low: Array, high: Array, limit: Array, n_jobs: int | None) -> Array:
    """Whether the path between the ends of each pair is at most ``limit`` long, (m,) booleans."""
    sources, which = np.unique(low, return_inverse=True)
    farthest = np.zeros(len(sources))
    np.maximum.at(farthest, which, limit)
    near = np.zeros(len(low), dtype=bool)

    def one(part: Slice) -> tuple[Array, Array]:
        paths = dijkstra(graph, indices=sources[part], limit=float(farthest[part].max()))
        pairs = np.flatnonzero((which >= part.start) & (which < part.stop))
        return pairs, paths[which[pairs] - part.start, high[pairs]] <= limit[pairs]

    for pairs, found in run_tiles(one, spans(len(sources), _TILE), n_jobs):
        near[pairs] = found
    return near


def _with_edges(graph: SparseMatrix, low: Array, high: Array, length: Array) -> SparseMatrix:
    """Add edges to the graph, in both directions, with the given lengths."""
    ends = np.r_[low, high], np.r_[high, low]
    added = csr_array(coo_array((np.r_[length, length], ends), shape=graph.shape))
    both = csr_array(graph.maximum(added))
    both.indices, both.indptr = both.indices.astype(np.int32), both.indptr.astype(np.int32)
    return both

"""Neighbour graphs without false bridges: an edge must not save a long way along the graph of the nearest half.

Where a sheet is thinly sampled, the tenth neighbour of a row may lie on another layer, mutually so, and one such bridge
folds whatever is pulled along the graph. The first few neighbours do not reach so far, but leave cracks. So the graph
begins with the ``core`` nearest, and takes an edge of the ``k`` nearest as soon as

    path(i, j) ≤ max(stretch · |x_i - x_j|, share · diameter)

along what it has so far: cracks close from their ends like zips, a bridge would save a good part of the whole way
through the data and stays out. Both graphs are of mutual neighbours, pieces joined by their shortest links
(``neighbours.graph``). Swiss rolls of 200 to 1,000 rows, ten neighbours, eight seeds: all of up to 14 bridges left out,
and all but at most 6 of the true edges kept.
Cost: walks that stop at ``stretch`` times an edge from each row, and long ones from the ends of the few edges left.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array, csr_array, triu
from scipy.sparse.csgraph import dijkstra

from sidelight.base.tiles import run_tiles, spans

from .graph import joined_graph
from .search import Neighbours

__all__ = ["confirmed_graph"]

Array = npt.NDArray[Any]
_TILE, _LANDMARKS = 128, 32


def confirmed_graph(
    X: Array,
    neighbours: Neighbours,
    *,
    core: int,
    stretch: float = 3.0,
    share: float = 0.3,
    precomputed: bool = False,
    n_jobs: int | None = None,
) -> csr_array:
    """The joined graph of mutual neighbours (n, k) less the bridges that the graph of its ``core`` nearest shows."""
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


def _diameter(graph: csr_array) -> float:
    """The longest way from some rows, spread evenly: at least half of the longest of all."""
    rows = np.unique(np.linspace(0, graph.shape[0] - 1, _LANDMARKS).astype(np.int64))
    return float(dijkstra(graph, indices=rows).max())


def _within(graph: csr_array, low: Array, high: Array, limit: Array, n_jobs: int | None) -> Array:
    """Which pairs are at most ``limit`` apart along the graph."""
    sources, which = np.unique(low, return_inverse=True)
    farthest = np.zeros(len(sources))
    np.maximum.at(farthest, which, limit)
    near = np.zeros(len(low), dtype=bool)

    def one(part: slice) -> tuple[Array, Array]:
        paths = dijkstra(graph, indices=sources[part], limit=float(farthest[part].max()))
        pairs = np.flatnonzero((which >= part.start) & (which < part.stop))
        return pairs, paths[which[pairs] - part.start, high[pairs]] <= limit[pairs]

    for pairs, found in run_tiles(one, spans(len(sources), _TILE), n_jobs):
        near[pairs] = found
    return near


def _with_edges(graph: csr_array, low: Array, high: Array, length: Array) -> csr_array:
    """The graph and some edges more, both ways, at their lengths."""
    ends = np.r_[low, high], np.r_[high, low]
    added = csr_array(coo_array((np.r_[length, length], ends), shape=graph.shape))
    both = csr_array(graph.maximum(added))
    both.indices, both.indptr = both.indices.astype(np.int32), both.indptr.astype(np.int32)
    return both

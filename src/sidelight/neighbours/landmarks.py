"""Distances from a few landmark rows to all rows: along the neighbour graph if there is one, else Euclidean.

Cost: O(L n log n) along the graph, O(L n d) Euclidean; memory L · n.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse.csgraph import dijkstra

from sidelight.base.tiles import run_tiles, spans
from sidelight.base.types import Array, SparseMatrix

from .sparse_distances import Points, dense_points

__all__ = ["landmark_distances", "spread_rows"]


def spread_rows(n: int, count: int) -> Array:
    """At most ``count`` row numbers spread evenly over ``range(n)``.

    >>> spread_rows(10, 4)
    array([0, 3, 6, 9])
    """
    return np.unique(np.linspace(0, n - 1, min(n, count)).astype(np.int64))


def landmark_distances(
    points: Points,
    graph: SparseMatrix | None,
    *,
    n_landmarks: int = 128,
    precomputed: bool = False,
    n_jobs: int | None = None,
) -> tuple[Array, Array]:
    """Evenly spread landmark rows and their distances to every row.

    Parameters
    ----------
    points : array of shape (n, d), or distances (n, n), with a graph also sparse
    graph : csr_array of shape (n, n) or None
        Take path lengths in this graph. None: the distances themselves.
    n_landmarks : int
        At most.
    precomputed : bool
        Whether ``points`` are distances.
    n_jobs : int or None
        Threads.

    Returns
    -------
    rows : array of shape (L,)
    distances : array of shape (L, n)
    """
    rows = spread_rows(len(points), n_landmarks)
    if graph is not None:
        paths = run_tiles(lambda part: dijkstra(graph, indices=rows[part]), spans(len(rows), 32), n_jobs)
        return rows, np.concatenate(paths)
    if precomputed:
        return rows, np.asarray(dense_points(points)[rows], dtype=np.float64)
    X = dense_points(points)
    centred = X - X.mean(axis=0)
    norms = np.einsum("ij,ij->i", centred, centred)
    squares = norms[rows, None] + norms - 2 * (centred[rows] @ centred.T)
    return rows, np.sqrt(np.maximum(squares, 0.0))

"""Geodesic distances: shortest paths in the neighbour graph, kept for the nearest rows of each row only.

Two rows on neighbouring layers of a rolled sheet are close in a straight line and far along the sheet, and a kernel of
straight distances connects the layers. So shortest paths (Dijkstra) are taken in the graph of *mutual* neighbours (each
among the ``n_neighbors`` nearest of the other), and each row keeps its ``k`` nearest rows *along the graph*. Why
mutual: a row in a thinly sampled region may list a row across a gap, which itself has nearer ones. Every false bridge
measured on swiss rolls was one-sided like that, and one is enough to fold a sheet.

Connected components are joined by their shortest links. If not all distances are known (``sparse_distances``), by the
shortest known ones. Components with no known distance between them are joined as if they touched: from the centre of
each, the row with the most neighbours, to that of the largest component.
Cost: O(n k log k) for the paths (each search stops at a radius), O(n² d) for the neighbours, O(n k) memory and 256 rows
of n distances per thread.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components, dijkstra

from sidelight.base.tiles import run_tiles, spans
from sidelight.base.types import Array, SparseMatrix

from .search import Neighbours, distances_to_listed, smallest
from .sparse_distances import SparseDistances

__all__ = ["along_graph", "joined_graph", "joined_links", "mutual"]


_TINY = 1e-300  # csgraph reads a stored 0 as "no edge": duplicates are joined by a length that adds nothing


def joined_graph(X: Array | SparseDistances, neighbours: Neighbours, *, precomputed: bool = False) -> SparseMatrix:
    """Graph of mutual neighbours, weighted by distance, its components joined by their shortest links.

    Parameters
    ----------
    X : array of shape (n, d), distances (n, n), or SparseDistances
    neighbours : Neighbours
        Neighbour lists (n, k).
    precomputed : bool
        Whether ``X`` holds distances.

    Returns
    -------
    csr_array of shape (n, n)
        Symmetric and connected.
    """
    n, k = neighbours.index.shape
    rows, cols = np.repeat(np.arange(n), k), neighbours.index.ravel()
    lengths = neighbours.distance.ravel()
    both = mutual(rows, cols, n) & np.isfinite(lengths)
    return joined_links(X, rows[both], cols[both], lengths[both], precomputed=precomputed)


def joined_links(
    X: Array | SparseDistances, rows: Array, cols: Array, lengths: Array, *, precomputed: bool = False
) -> SparseMatrix:
    """Graph of the given edges between rows of ``X``, its components joined by their shortest links.

    Parameters
    ----------
    X : array of shape (n, d), distances (n, n), or SparseDistances
    rows, cols, lengths : arrays of shape (m,)
        The edges.
    precomputed : bool
        Whether ``X`` holds distances.

    Returns
    -------
    csr_array of shape (n, n)
        Symmetric and connected.
    """
    n, edges = len(X), [(rows, cols, lengths)]
    graph = _symmetric(edges, n)
    while True:
        n_pieces, piece = connected_components(graph, directed=False)
        if n_pieces == 1:
            return graph
        if isinstance(X, SparseDistances):
            edges.append(_known_links(X, piece) or _touching_links(X, graph, piece))
        else:
            edges.append(_shortest_links(X, piece, precomputed))
        graph = _symmetric(edges, n)


def mutual(rows: Array, cols: Array, n: int) -> Array:
    """Which of the directed links (rows, cols) between n rows exist in the other direction too, (m,) booleans."""
    back = cols * n + rows
    known = np.sort(rows * n + cols)
    return np.asarray(known[np.minimum(np.searchsorted(known, back), len(known) - 1)] == back)


def along_graph(graph: SparseMatrix, *, k: int, start_radius: Array, n_jobs: int | None = None) -> Neighbours:
    """The ``k`` nearest other rows of each row by path length in the graph.

    Parameters
    ----------
    graph : csr_array of shape (n, n)
        Connected, with edge lengths.
    k : int
    start_radius : array of shape (n,)
        First guess of the path length of the k-th nearest row. Searches that find fewer rows repeat with a larger
        radius.
    n_jobs : int or None
        Threads.

    Returns
    -------
    Neighbours
        Row numbers and path lengths (n, k).
    """
    n = graph.shape[0]
    k = min(k, n - 1)
    index, distance = np.empty((n, k), dtype=np.int64), np.empty((n, k))
    todo, radius = np.argsort(start_radius, kind="stable"), np.maximum(start_radius, _TINY)
    typical = float(np.median(graph.data))

    def one(rows: Array) -> tuple[Array, Array, Array, Array]:
        paths = dijkstra(graph, indices=rows, limit=float(radius[rows].max()))
        paths[np.arange(len(rows)), rows] = np.inf
        found, kept = smallest(paths, k)
        done = np.isfinite(kept[:, -1])
        return rows, done, found, kept

    while len(todo):
        again = []
        for rows, done, found, kept in run_tiles(one, [todo[s] for s in spans(len(todo), 256)], n_jobs):
            index[rows[done]], distance[rows[done]] = found[done], kept[done]
            again.append(rows[~done])
        todo = np.concatenate(again)
        # small steps, because a search costs as much as it covers; a row of duplicates has no radius to start from
        radius[todo] = np.where(radius[todo] < 1e-6 * typical, typical, 1.4 * radius[todo])
    distance[distance <= k * _TINY * 1e3] = 0.0
    return Neighbours(index, distance)


def _symmetric(edges: list[tuple[Array, Array, Array]], n: int) -> SparseMatrix:
    """Graph that holds each edge in both directions; of repeated edges the first counts."""
    rows, cols, lengths = (np.concatenate([e[i] for e in edges]) for i in range(3))
    low, high = np.minimum(rows, cols), np.maximum(rows, cols)
    _, first = np.unique(low * n + high, return_index=True)
    low, high, lengths = low[first], high[first], np.maximum(lengths[first], _TINY)
    ends = np.r_[low, high].astype(np.int32), np.r_[high, low].astype(np.int32)  # csgraph of SciPy 1.13 takes no other
    return csr_array(coo_array((np.r_[lengths, lengths], ends), shape=(n, n)))


def _shortest_links(X: Array, piece: Array, precomputed: bool) -> tuple[Array, Array, Array]:
    """For each component its shortest link to any other one (one round of Borůvka's algorithm).

    Rows of the largest component are not searched from: its shortest link is the shortest of those that lead to it.
    """
    n, largest = len(piece), int(np.bincount(piece).argmax())
    inside, outside = np.flatnonzero(piece == largest), np.flatnonzero(piece != largest)
    A = X if precomputed else X - X.mean(axis=0)
    norms = None if precomputed else np.einsum("ij,ij->i", A, A)
    found = []
    for part in spans(len(outside), max(8, 4_000_000 // n)):
        rows = outside[part]
        D = np.array(A[rows], dtype=np.float64) if norms is None else norms - 2 * (A[rows] @ A.T)
        if norms is not None:
            D += norms[rows, None]
        D[piece[rows][:, None] == piece[None, :]] = np.inf
        target, near = D.argmin(axis=1), inside[D[:, inside].argmin(axis=1)]
        here = np.arange(len(rows))
        found.append((rows, target, D[here, target], near, rows, D[here, near]))
    one, other, length, near, back, far = (np.concatenate(part) for part in zip(*found, strict=True))
    sources, ends, lengths = np.r_[one, near], np.r_[other, back], np.r_[length, far]
    order = np.lexsort((ends, sources, lengths, piece[sources]))
    first = order[np.r_[True, np.diff(piece[sources[order]]) > 0]]
    sources, ends = sources[first], ends[first]
    lengths = X[sources, ends] if precomputed else distances_to_listed(X[sources], X, ends[:, None])[:, 0]
    return sources, ends, lengths


def _known_links(D: SparseDistances, piece: Array) -> tuple[Array, Array, Array] | None:
    """For each component its shortest known link to another one, if there is one; None where no component has any."""
    rows, cols = np.repeat(np.arange(len(D)), D.counts), D.stored.indices
    across = np.flatnonzero(piece[rows] != piece[cols])
    if not len(across):
        return None
    lengths = np.asarray(D.stored.data, dtype=np.float64)
    across = across[np.lexsort((lengths[across], piece[rows[across]]))]
    shortest = across[np.r_[True, np.diff(piece[rows[across]]) > 0]]
    return rows[shortest], cols[shortest].astype(np.int64), lengths[shortest]


def _touching_links(D: SparseDistances, graph: SparseMatrix, piece: Array) -> tuple[Array, Array, Array]:
    """Links from the centre of each component to that of the largest, as long as the sum of both radii."""
    order = np.lexsort((-D.counts, piece))
    middle = order[np.r_[True, np.diff(piece[order]) > 0]]
    width = np.zeros(len(middle))
    np.maximum.at(width, piece, dijkstra(graph, indices=middle, min_only=True))
    largest = int(np.bincount(piece).argmax())
    others = np.flatnonzero(np.arange(len(middle)) != largest)
    return middle[others], np.full(len(others), middle[largest]), width[others] + width[largest]

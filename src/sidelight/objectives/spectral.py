"""Matrices of spectral embeddings: MDS, Isomap, LLE, Laplacian eigenmaps and kernel PCA (S4 chapter 1).

With n rows, H = I - eeᵀ/n (S4 1.8 and 1.9 drop the 1/n) and D² the *squared* distances, for Isomap too:

    M = -½ H D² H                         distances: Euclidean (MDS) or geodesic (Isomap)               (S4 1.5, 1.6)
    L = R - W,  R_ii = Σ_j W_ij           Laplacian: W_ij = exp(-d²_ij / s) on edges, or 1 (S4 1.4)
    L = (I - W)ᵀ(I - W)                   LLE: min_W Σ_i |x_i - Σ_j W_ij x_j|², rows of W sum to 1      (S4 1.3)

Each method takes the top eigenvectors of a Mercer kernel (S4 1.8), the constant one left out:

    MDS, Isomap  M                        kernel PCA  H K H
    LLE, LEM     λ_max I - L, or the pseudo-inverse L⁺

Everything works on sparse graphs: O(n k) numbers for L, O(n · landmarks) for M. The dense kernels at the end are for
small n and for illustration.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import coo_array, csr_array, diags_array, eye_array
from scipy.sparse.csgraph import connected_components, dijkstra

from sidelight.base.eigenvalues import selected_eigenvalues
from sidelight.base.tiles import run_tiles, spans
from sidelight.base.types import Array, Slice, SparseMatrix
from sidelight.neighbours.graph import joined_graph
from sidelight.neighbours.search import Neighbours

__all__ = [
    "centred_kernel",
    "edge_weights",
    "geodesic_squares",
    "inverse_kernel",
    "laplacian",
    "lle_matrix",
    "local_squares",
    "neighbour_graph",
    "padded_lists",
    "radius_graph",
    "reconstruction_slopes",
    "reconstruction_weights",
    "shifted_kernel",
]


_BUDGET = 4_000_000  # numbers in the temporaries of one tile
_TINY = 1e-300  # csgraph reads a stored 0 as "no edge"


def neighbour_graph(
    points: Array, neighbours: Neighbours, *, kind: str = "mutual", precomputed: bool = False
) -> SparseMatrix:
    """Connected nearest-neighbour graph (n, n) with edge lengths.

    Connected components are joined by their shortest links: otherwise there were no geodesic distances between them,
    and the smoothest eigenvectors would only indicate the components.

    Parameters
    ----------
    points : array of shape (n, d), or distances (n, n)
    neighbours : Neighbours
        Neighbour lists (n, k) with distances.
    kind : "mutual" or "union"
        Keep an edge if each row is a neighbour of the other, or if one is (as in scikit-learn).
    precomputed : bool
        Whether ``points`` are distances.
    """
    if kind == "mutual":
        return joined_graph(points, neighbours, precomputed=precomputed)
    n, k = neighbours.index.shape
    ends = np.repeat(np.arange(n), k), neighbours.index.ravel()
    lengths = np.maximum(neighbours.distance.ravel(), _TINY)
    graph = _either_way(csr_array(coo_array((lengths, ends), shape=(n, n))))
    if connected_components(graph, directed=False)[0] > 1:
        graph = _either_way(graph.maximum(joined_graph(points, neighbours, precomputed=precomputed)))
    return graph


def radius_graph(points: Array, radius: float, *, precomputed: bool = False, n_jobs: int | None = None) -> SparseMatrix:
    """Connected graph (n, n) of all pairs at most ``radius`` apart, with edge lengths.

    Connected components are joined by their shortest links.

    Parameters
    ----------
    points : array of shape (n, d), or distances (n, n)
    radius : float
    precomputed : bool
        Whether ``points`` are distances.
    n_jobs : int or None
        Threads.

    Notes
    -----
    Time O(n² d); memory O(edges).
    """
    n = len(points)
    limit = radius * (1 + 1e-12)  # rounding of scaled rows must not lose a pair exactly at the radius
    centred = points if precomputed else points - points.mean(axis=0)
    norms = np.zeros(0) if precomputed else np.einsum("ij,ij->i", centred, centred)
    # rounding error of the product below; candidates within it are then measured exactly, from differences
    error = 0.0 if precomputed else 4 * (points.shape[1] + 8) * np.finfo(np.float64).eps * float(norms.max())

    def one(rows: Slice) -> tuple[Array, Array, Array]:
        if precomputed:
            start, end = np.nonzero(points[rows] <= limit)
            return start + rows.start, end, np.asarray(points[rows][start, end])
        squares = norms[rows, None] + norms - 2 * (centred[rows] @ centred.T)
        start, end = np.nonzero(squares <= limit**2 + error)
        start += rows.start
        lengths = _lengths(points, start, end)
        return start[lengths <= limit], end[lengths <= limit], lengths[lengths <= limit]

    found = run_tiles(one, spans(n, max(8, _BUDGET // n)), n_jobs)
    start, end, lengths = (np.concatenate([part[i] for part in found]) for i in range(3))
    apart = start != end
    edges = start[apart], end[apart]
    graph = _either_way(csr_array(coo_array((np.maximum(lengths[apart], _TINY), edges), shape=(n, n))))
    if connected_components(graph, directed=False)[0] == 1:
        return graph
    lists = padded_lists(graph)
    near = Neighbours(np.where(lists < 0, np.arange(n)[:, None], lists), np.zeros(lists.shape))
    near.distance[lists >= 0] = graph.data
    joined = coo_array(joined_graph(points, near, precomputed=precomputed))
    apart = joined.coords[0] != joined.coords[1]  # padding of the lists: links of a row to itself
    ends = joined.coords[0][apart], joined.coords[1][apart]
    return csr_array(coo_array((joined.data[apart], ends), shape=(n, n)))


def padded_lists(graph: SparseMatrix) -> Array:
    """Neighbour lists of a graph (n, largest degree), padded with -1."""
    degree = np.diff(graph.indptr)
    lists = np.full((len(degree), int(degree.max(initial=1))), -1, dtype=np.int64)
    lists[np.arange(lists.shape[1]) < degree[:, None]] = graph.indices
    return lists


def geodesic_squares(graph: SparseMatrix, rows: Array | None = None, *, n_jobs: int | None = None) -> Array:
    """Squared geodesic (shortest-path) distances (L, n) from the given rows (default: all) to every row."""
    chosen = np.arange(graph.shape[0]) if rows is None else rows
    paths = run_tiles(lambda part: dijkstra(graph, indices=chosen[part]) ** 2, spans(len(chosen), 32), n_jobs)
    return np.concatenate(paths)


def edge_weights(graph: SparseMatrix, heat: float | None = None) -> SparseMatrix:
    """Edge weights of a graph with edge lengths: ``exp(-length² / heat)``, or 1 if ``heat`` is None."""
    lengths = np.asarray(graph.data)
    values = np.ones_like(lengths) if heat is None else np.exp(-(lengths**2) / heat)
    return csr_array((values, graph.indices, graph.indptr), shape=graph.shape)


def laplacian(weights: SparseMatrix, *, normalised: bool = False) -> tuple[SparseMatrix, Array]:
    """Graph Laplacian ``R - W``, or normalised ``I - R^(-1/2) W R^(-1/2)``, and its unit null vector (constant or √R).

    The normalised eigenmap ``L y = λ R y`` is ``R^(-1/2)`` times an eigenvector of the second form.
    """
    n = weights.shape[0]
    degree = np.asarray(weights.sum(axis=1)).ravel()
    if not normalised:
        return csr_array(diags_array(degree) - weights), np.full(n, n**-0.5)
    root = np.sqrt(np.where(degree > 0, degree, 1.0))
    scaled = diags_array(1 / root) @ weights @ diags_array(1 / root)
    return csr_array(eye_array(n) - scaled), root / np.linalg.norm(root)


def reconstruction_weights(
    points: Array, index: Array, queries: Array | None = None, *, regularization: float = 1e-3
) -> Array:
    """LLE weights (m, k), summing to 1, that best reconstruct each query from its neighbours.

    ``G w = 1`` with ``G_jl = (x_j - q)·(x_l - q)``. ``regularization · tr G`` is added to the diagonal, as G is
    singular with more neighbours than dimensions.

    Parameters
    ----------
    points : array of shape (n, d)
    index : array of shape (m, k)
        Neighbours of each query; -1: none, with weight 0.
    queries : array of shape (m, d) or None
        None: the points themselves.
    regularization : float
    """
    Q = points if queries is None else queries
    W = np.empty(index.shape)
    for rows in spans(len(index), max(1, _BUDGET // max(1, index.shape[1] * max(points.shape[1], index.shape[1])))):
        difference = points[index[rows]] - Q[rows, None, :]
        W[rows] = _solved(difference @ difference.transpose(0, 2, 1), index[rows] >= 0, regularization)
    return W


def reconstruction_slopes(
    points: Array, index: Array, queries: Array, values: Array, *, regularization: float = 1e-3
) -> Array:
    """Derivatives (m, q, d) by the queries (m, d) of ``Σ_j w_j v_j``, w the LLE weights, v rows of ``values`` (n, q).

    With D_j = x_j - x, A = D Dᵀ + ρ tr(D Dᵀ) I and ``A w ∝ 1``:  ``∂w = (I - w 1ᵀ) A⁻¹ (D + 2ρ w (1ᵀD))``.
    """
    there = index >= 0
    D = np.where(there[:, :, None], points[index] - queries[:, None, :], 0.0)
    A = D @ D.transpose(0, 2, 1)
    trace = np.trace(A, axis1=1, axis2=2)
    diagonal = np.arange(A.shape[1])
    A[:, diagonal, diagonal] += (regularization * np.where(trace > 0, trace, 1.0))[:, None]
    w = np.linalg.solve(A, there[:, :, None].astype(np.float64))[:, :, 0]
    w /= w.sum(axis=1, keepdims=True)
    moving = np.where(trace > 0, 2.0 * regularization, 0.0)[:, None, None]
    B = np.linalg.solve(A, D + moving * w[:, :, None] * D.sum(axis=1)[:, None, :])
    B -= w[:, :, None] * B.sum(axis=1, keepdims=True)
    return np.asarray(np.einsum("mkd,mkq->mqd", B, values[np.where(there, index, 0)], optimize=True))


def local_squares(squares: Array, index: Array, *, regularization: float = 1e-3) -> Array:
    """LLE weights (n, k) from squared distances (n, n) alone: ``G_jl = ½(d²_ij + d²_il - d²_jl)``."""
    W = np.empty(index.shape)
    for rows in spans(len(index), max(1, _BUDGET // max(1, index.shape[1] ** 2))):
        near = index[rows]
        to = np.take_along_axis(squares[rows], near, axis=1)
        among = squares[near[:, :, None], near[:, None, :]]
        W[rows] = _solved(0.5 * (to[:, :, None] + to[:, None, :] - among), near >= 0, regularization)
    return W


def lle_matrix(weights: Array, index: Array) -> SparseMatrix:
    """LLE matrix ``(I - W)ᵀ(I - W)`` (n, n) for weights (n, k) on neighbours (-1: none); it sends constants to 0."""
    n, k = index.shape
    there = index.ravel() >= 0
    ends = np.repeat(np.arange(n), k)[there], index.ravel()[there]
    W = csr_array(coo_array((weights.ravel()[there], ends), shape=(n, n)))
    residual = csr_array(eye_array(n) - W)
    return csr_array(residual.T @ residual)


def centred_kernel(squares: Array) -> Array:
    """``-½ H D² H`` (n, n): the kernel of MDS for Euclidean distances, of Isomap for geodesic ones."""
    columns = squares.mean(axis=0)
    return np.asarray(-0.5 * (squares - columns - squares.mean(axis=1, keepdims=True) + columns.mean()))


def shifted_kernel(L: SparseMatrix) -> Array:
    """``λ_max I - L`` (n, n): the kernel of LLE and of Laplacian eigenmaps (S4 1.5); the constant comes first."""
    dense = L.toarray()
    return np.asarray(
        float(selected_eigenvalues(dense, len(dense) - 1, len(dense) - 1)[0]) * np.eye(len(dense)) - dense
    )


def inverse_kernel(L: SparseMatrix) -> Array:
    """``L⁺`` (n, n), the other kernel of LLE and Laplacian eigenmaps (S4 1.6, 1.7); for the latter, commute times."""
    values, vectors = eigh(L.toarray())
    kept = values > 1e-12 * max(float(values[-1]), _TINY)
    return np.asarray((vectors[:, kept] / values[kept]) @ vectors[:, kept].T)


def _solved(G: Array, there: Array, regularization: float) -> Array:
    """Solve ``G w = 1`` for each matrix of a stack (m, k, k), on the neighbours that exist (``there``); ``Σ w = 1``."""
    G = np.where(there[:, :, None] & there[:, None, :], G, 0.0)
    trace = np.trace(G, axis1=1, axis2=2)
    diagonal = np.arange(G.shape[1])
    G[:, diagonal, diagonal] += (regularization * np.where(trace > 0, trace, 1.0))[:, None]
    w = np.linalg.solve(G, there[:, :, None].astype(np.float64))[:, :, 0]
    return np.asarray(w / w.sum(axis=1, keepdims=True))


def _lengths(points: Array, start: Array, end: Array) -> Array:
    """``|x_start - x_end|`` of each edge, from differences."""
    out = np.empty(len(start))
    for part in spans(len(start), max(1, _BUDGET // points.shape[1])):
        out[part] = np.linalg.norm(points[start[part]] - points[end[part]], axis=1)
    return out


def _either_way(graph: SparseMatrix) -> SparseMatrix:
    """Symmetrised graph: each edge in both directions."""
    both = csr_array(graph.maximum(graph.T))
    both.indices, both.indptr = both.indices.astype(np.int32), both.indptr.astype(np.int32)
    return both

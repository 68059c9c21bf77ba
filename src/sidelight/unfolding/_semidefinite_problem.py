"""The Gram program of semidefinite embedding: constrained pairs, initial points, and rows that are no landmarks.

Constrained pairs are mutual neighbours and rows that share a neighbour, without shortcuts between layers
(``neighbours.bridges``); unconnected pieces are joined by their shortest links. Or, as published (S4 table 1.3), with
η_ij = 1 where row j is among the k nearest of row i, all pairs with

    η_ij > 0, η_ji > 0 or [ηᵀη]_ij > 0

so that a row and its k nearest rows keep their shape; nothing is left out or joined. With landmarks the program is over
the landmark rows only, with distances measured along the graph of all rows. Every other row is then placed so that its
neighbours reconstruct it with the same weights as in the data (Weinberger, Packer and Saul 2005):

    minimise Σ_i |z_i - Σ_j W_ij z_j|²    over all rows but the landmarks
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csc_array, csr_array, eye_array, triu
from scipy.sparse.csgraph import connected_components

from sidelight.base.types import Array, SparseMatrix
from sidelight.neighbours.bridges import graph_without_shortcuts
from sidelight.neighbours.graph import joined_links
from sidelight.neighbours.landmarks import landmark_distances
from sidelight.neighbours.search import Neighbours, distances_to_listed, nearest, nearest_precomputed
from sidelight.objectives.gram import GramProgram, gram_program
from sidelight.objectives.spectral import lle_matrix, local_squares, reconstruction_weights
from sidelight.solvers.eigen import landmark_scaling
from sidelight.solvers.factor import factored

from ._gram_start import START_RANK, with_spare_columns
from ._rigidity import is_rigid

__all__ = [
    "SemidefiniteProblem",
    "UnconnectedError",
    "distinct",
    "near_graph",
    "placed_by_neighbours",
    "semidefinite_problem",
]


_START_LANDMARKS = 256
_CORE = 5  # at least so many nearest neighbours form the graph that confirms the other edges


@dataclass(frozen=True)
class SemidefiniteProblem:
    """A semidefinite program over all points or landmarks, and the initial points of its solver.

    Parameters
    ----------
    program : GramProgram
    start : array of shape (m, r)
        Initial points.
    rows : array of shape (m,)
        Indices of the points that the program is over.
    rigid : bool, default=False
        True: the centred points themselves are the start and the only solution.
    """

    program: GramProgram
    start: Array
    rows: Array
    rigid: bool = False


def distinct(points: Array) -> tuple[Array, Array]:
    """Return the first row of each set of equal rows, in order, and the set of every row (n,)."""
    _, first, which = np.unique(points, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return np.asarray(first[order]), np.asarray(place[which.ravel()])


def semidefinite_problem(
    points: Array,
    n_neighbors: int,
    n_landmarks: int | None,
    *,
    equality: bool,
    published_graph: bool = False,
    precomputed: bool = False,
    n_jobs: int | None,
) -> SemidefiniteProblem:
    """Return the program of distinct rows; raises UnconnectedError where it has no largest trace.

    Parameters
    ----------
    points : array of shape (n, d), or if ``precomputed`` distances (n, n)
    n_neighbors : int
    n_landmarks : int or None
        Number of rows that the program is over; None: all.
    equality : bool
        True: distances of neighbours are preserved; False: they are upper bounds.
    published_graph : bool, default=False
        True: all k nearest neighbours (S4 table 1.3); False: mutual ones without shortcuts.
    precomputed : bool, default=False
    n_jobs : int or None
        Threads.
    """
    n = len(points)
    graph_of = _nearest_graph if published_graph else _mutual_graph
    near = graph_of(points, n_neighbors, precomputed=precomputed, n_jobs=n_jobs)
    graph = near.along
    if n_landmarks is None or n_landmarks >= n:
        pairs = near.pairs
        i, j = pairs.T
        lengths = points[i, j] if precomputed else distances_to_listed(points[i], points, j[:, None])[:, 0]
        program = gram_program(pairs, lengths**2, n, equal=equality)
        if equality and not precomputed and is_rigid(points, near.bodies):
            return SemidefiniteProblem(program, points - points.mean(axis=0), np.arange(n), rigid=True)
        rows, D = landmark_distances(points, graph, n_landmarks=_START_LANDMARKS, n_jobs=n_jobs)
        start = landmark_scaling(D, rows, START_RANK)
        return SemidefiniteProblem(program, with_spare_columns(start), np.arange(n))
    rows, D = landmark_distances(points, graph, n_landmarks=n_landmarks, n_jobs=n_jobs)
    among = np.minimum(D[:, rows], D[:, rows].T)
    pairs = graph_of(among, n_neighbors, precomputed=True, n_jobs=n_jobs).pairs
    program = gram_program(pairs, among[pairs[:, 0], pairs[:, 1]] ** 2, len(rows), equal=equality)
    start = landmark_scaling(among, np.arange(len(rows)), START_RANK)
    return SemidefiniteProblem(program, with_spare_columns(start), rows)


class UnconnectedError(ValueError):
    """The neighbourhood graph has unconnected pieces, which may be any distance apart."""

    def __init__(self, n_pieces: int) -> None:
        super().__init__(f"{n_pieces} unconnected pieces")
        self.n_pieces = n_pieces


@dataclass(frozen=True)
class _NearGraph:
    """A connected neighbourhood graph.

    Parameters
    ----------
    along : sparse array of shape (n, n)
        Symmetric, with edge lengths.
    pairs : array of shape (p, 2)
        Constrained pairs of rows.
    bodies : sparse array of shape (n, n)
        Row i has entries at rows whose distances to i and to each other are all constrained.
    """

    along: SparseMatrix
    pairs: Array
    bodies: SparseMatrix


def _mutual_graph(points: Array, n_neighbors: int, *, precomputed: bool, n_jobs: int | None) -> _NearGraph:
    """Mutual neighbours without shortcuts, in one piece; pairs are neighbours, and rows that share one."""
    graph = near_graph(points, n_neighbors, precomputed=precomputed, n_jobs=n_jobs)
    near = _ones(graph)
    return _NearGraph(graph, _upper(near + near @ near), graph)


def _nearest_graph(points: Array, n_neighbors: int, *, precomputed: bool, n_jobs: int | None) -> _NearGraph:
    """All k nearest neighbours η; pairs are those of η, and of ηᵀη: rows among the nearest of a third."""
    near = _neighbours(points, n_neighbors, precomputed=precomputed, n_jobs=n_jobs)
    n, k = near.index.shape
    rows, cols = np.repeat(np.arange(n), k), near.index.ravel()
    listed = csr_array((np.ones(n * k), (rows, cols)), shape=(n, n))
    pieces = int(connected_components(listed, directed=False)[0])
    if pieces > 1:
        raise UnconnectedError(pieces)
    along = joined_links(points, rows, cols, near.distance.ravel(), precomputed=precomputed)
    return _NearGraph(along, _upper(listed + listed.T + listed.T @ listed), listed)


def near_graph(points: Array, n_neighbors: int, *, precomputed: bool, n_jobs: int | None) -> SparseMatrix:
    """The connected graph of mutual neighbours, without shortcuts between layers."""
    near = _neighbours(points, n_neighbors, precomputed=precomputed, n_jobs=n_jobs)
    core = max(_CORE, (near.index.shape[1] + 1) // 2)
    return graph_without_shortcuts(points, near, core=core, precomputed=precomputed, n_jobs=n_jobs)


def placed_by_neighbours(
    points: Array, rows: Array, V: Array, *, n_neighbors: int, precomputed: bool = False, n_jobs: int | None = None
) -> Array:
    """Coordinates of all rows from those of the landmarks: neighbours reconstruct each row with the data's weights.

    Parameters
    ----------
    points : array of shape (n, d), or if ``precomputed`` distances (n, n)
    rows : array of shape (m,)
        The landmarks.
    V : array of shape (m, r)
        Their coordinates.
    n_neighbors : int
    precomputed : bool, default=False
    n_jobs : int or None, default=None
        Threads.

    Returns
    -------
    places : array of shape (n, r), centred
    """
    near = _neighbours(points, n_neighbors, precomputed=precomputed, n_jobs=n_jobs)
    weights = local_squares(points**2, near.index) if precomputed else reconstruction_weights(points, near.index)
    M = csc_array(lle_matrix(weights, near.index))
    others = np.setdiff1d(np.arange(len(points)), rows)
    known = csr_array(M[others])[:, rows] @ V
    inner = csc_array(csc_array(M[others])[:, others])
    solve = factored(csc_array(inner + 1e-9 * float(inner.diagonal().mean()) * eye_array(len(others))))
    whole = np.empty((len(points), V.shape[1]))
    whole[rows], whole[others] = V, solve(-known)
    return np.asarray(whole - whole.mean(axis=0))


def _neighbours(points: Array, k: int, *, precomputed: bool, n_jobs: int | None) -> Neighbours:
    k = min(k, len(points) - 1)
    return nearest_precomputed(points, k=k, own=True) if precomputed else nearest(points, k=k, n_jobs=n_jobs)


def _ones(graph: SparseMatrix) -> SparseMatrix:
    """The edges of a graph, with weight 1."""
    return csr_array((np.ones(graph.nnz), graph.indices, graph.indptr), shape=graph.shape)


def _upper(linked: SparseMatrix) -> Array:
    """Pairs (p, 2) of different rows with an entry, the smaller first."""
    both = triu(linked, k=1).tocoo()
    return np.column_stack([both.row, both.col])

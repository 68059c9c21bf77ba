"""The eigenproblem of a hybrid embedding: distances M and local structure L in one matrix.

    B = (1-α) s M - (α/2) L        s = |L| / |M| (largest eigenvalues), so that both have the same scale    (S4 2.3)

M is stored in the smallest form: the rows themselves (Euclidean distances: M = X Xᵀ), landmarks (M = F Fᵀ with F their
landmark scaling of all rows), or a dense matrix. F keeps the landmark dimensions with at least a hundredth of the first
one's variance: in the others landmark scaling divides noise by a small number.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import csr_array

from sidelight.base.types import Array, SparseMatrix
from sidelight.objectives.spectral import (
    centred_kernel,
    edge_weights,
    geodesic_squares,
    laplacian,
    lle_matrix,
    local_squares,
    reconstruction_weights,
)
from sidelight.solvers.spectral import Eigenpairs, SymmetricSum, leading_pairs

__all__ = ["Distances", "Hybrid", "from_graph", "from_rows", "from_squares", "locality_matrix", "solve_hybrid"]


_SHARE = 0.01


@dataclass(frozen=True)
class Distances:
    """The matrix M, with the terms of its Nyström formula: ``M v = (d² - offset) axes (Fᵀv)`` for new rows.

    Parameters
    ----------
    matrix : SymmetricSum
        M, as a dense matrix or a factor F.
    paths : array of shape (L, n)
        Distances from L landmarks along the graph; (0, n) without a graph.
    axes : array of shape (L, k)
        Scaled eigenvectors of the landmarks; for Euclidean distances the identity of the columns.
    offset : array
        Mean squared distances (or the mean row) to subtract.
    centre : array of shape (k,)
        Mean of F.
    """

    matrix: SymmetricSum
    paths: Array
    axes: Array
    offset: Array
    centre: Array

    def gain(self, V: Array) -> tuple[Array, Array]:
        """``G`` and ``c`` of the Nyström formula for vectors (n, q)."""
        if self.matrix.factor is None:
            return V, np.zeros(V.shape[1])
        loading = self.matrix.factor.T @ V
        return self.axes @ loading, self.centre @ loading


@dataclass(frozen=True)
class Hybrid:
    """Eigenpairs of B, the ``scale`` s of M in it, the ``norm`` |L|, and how many eigenvalues of M are positive."""

    pairs: Eigenpairs
    scale: float
    norm: float
    n_positive: int


def from_rows(points: Array) -> Distances:
    """M of Euclidean distances: ``M = (X - mean)(X - mean)ᵀ``."""
    offset = points.mean(axis=0)
    d = points.shape[1]
    return Distances(SymmetricSum(factor=points - offset), np.zeros((0, len(points))), np.eye(d), offset, np.zeros(d))


def from_squares(squares: Array, *, keep_paths: bool = False) -> Distances:
    """M of a full matrix of squared distances (n, n); ``keep_paths``: keep them for Nyström along a graph."""
    n = len(squares)
    paths = np.sqrt(squares) if keep_paths else np.zeros((0, n))
    return Distances(
        SymmetricSum(dense=centred_kernel(squares)), paths, np.zeros((0, 0)), squares.mean(axis=0), np.zeros(0)
    )


def from_graph(graph: SparseMatrix, landmarks: int | None, n_components: int, n_jobs: int | None) -> Distances:
    """M of distances along a graph: between all rows, or from evenly spaced landmark rows.

    Parameters
    ----------
    graph : sparse array of shape (n, n)
        Lengths of its edges.
    landmarks : int or None
        How many; None: all rows.
    n_components : int
        Minimum number of landmark dimensions to keep.
    n_jobs : int or None
        Threads.
    """
    n = graph.shape[0]
    if landmarks is None or landmarks >= n:
        return from_squares(geodesic_squares(graph, n_jobs=n_jobs), keep_paths=True)
    rows = np.unique(np.linspace(0, n - 1, landmarks).astype(np.int64))
    squares = geodesic_squares(graph, rows, n_jobs=n_jobs)
    values, vectors = eigh(centred_kernel(0.5 * (squares[:, rows] + squares[:, rows].T)))
    values, vectors = values[::-1], vectors[:, ::-1]
    kept = values > _SHARE * max(float(values[0]), 1e-300)
    kept[: min(n_components, len(rows))] |= values[: min(n_components, len(rows))] > 1e-9 * values[0]
    axes = vectors[:, kept] / np.sqrt(np.maximum(values[kept], 1e-300))
    offset = squares[:, rows].mean(axis=1)
    F = -0.5 * (squares - offset[:, None]).T @ axes
    centre = F.mean(axis=0)
    return Distances(SymmetricSum(factor=F - centre), np.sqrt(squares), axes, offset, centre)


def locality_matrix(
    kind: str, points: Array, index: Array, graph: SparseMatrix, heat: float | None, *, precomputed: bool
) -> SparseMatrix:
    """The matrix L: the Laplacian of ``graph``, or LLE's matrix for the neighbour lists ``index`` (n, k; -1: none)."""
    if kind == "laplacian":
        return laplacian(edge_weights(graph, heat))[0]
    weights = local_squares(points**2, index) if precomputed else reconstruction_weights(points, index)
    return lle_matrix(weights, index)


def solve_hybrid(M: SymmetricSum, L: SparseMatrix, alpha: float, k: int) -> Hybrid:
    """Return the top ``k`` eigenpairs of ``(1-α) s M - (α/2) L``, without the constant vector."""
    constant = np.full(M.n, M.n**-0.5)
    alone = leading_pairs(M, k, trivial=constant, tolerance=1e-8 if alpha else 1e-10)
    top = float(alone.values.max(initial=0.0))
    n_positive = int((alone.values > 1e-9 * max(top, 1e-300)).sum())
    bound = float(abs(L).sum(axis=1).max())  # Gershgorin's
    norm = float(leading_pairs(SymmetricSum(sparse=L), 1, above=bound, tolerance=1e-8).values[0])
    scale = norm / top if top > 0 and norm > 0 else 1.0
    if alpha == 0:
        return Hybrid(Eigenpairs(scale * alone.values, alone.vectors, alone.converged), scale, norm, n_positive)
    weight = (1 - alpha) * scale
    both = SymmetricSum(
        dense=None if M.dense is None else weight * M.dense,
        sparse=csr_array(-0.5 * alpha * L),
        factor=None if M.factor is None else np.sqrt(weight) * M.factor,
    )
    pairs = leading_pairs(both, k, trivial=constant, above=weight * top)
    return Hybrid(pairs, scale, norm, n_positive)

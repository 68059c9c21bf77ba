"""The eigenproblem of a hybrid embedding: what is far apart by a distance, and what is local, in one matrix.

    B = (1-α) s M - (α/2) L        s = |L| / |M| (largest eigenvalues), so that α weighs like against like    (S4 2.3)

M is kept by whatever is smallest: the rows themselves (straight distances: M = X Xᵀ), landmarks (M = F Fᵀ with F their
scaling of all rows), or a matrix. F keeps the landmark dimensions with at least a hundredth of the first one's
variance: in the others scaling divides noise by a small number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import eigh
from scipy.sparse import csr_array

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

Array = npt.NDArray[Any]
_SHARE = 0.01


@dataclass(frozen=True)
class Distances:
    """M by its parts, and for new rows ``M v = (their d² - offset) axes (Fᵀv)``, with the paths they come by."""

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
    """The eigenpairs of B, the scale s of M in it, |L|, and how many positive eigenvalues M alone has."""

    pairs: Eigenpairs
    scale: float
    norm: float
    n_positive: int


def from_rows(points: Array) -> Distances:
    """Straight distances: ``M = (X - mean)(X - mean)ᵀ``."""
    offset = points.mean(axis=0)
    d = points.shape[1]
    return Distances(SymmetricSum(factor=points - offset), np.zeros((0, len(points))), np.eye(d), offset, np.zeros(d))


def from_squares(squares: Array, *, keep_paths: bool = False) -> Distances:
    """A whole matrix of squared distances (n, n)."""
    n = len(squares)
    paths = np.sqrt(squares) if keep_paths else np.zeros((0, n))
    return Distances(
        SymmetricSum(dense=centred_kernel(squares)), paths, np.zeros((0, 0)), squares.mean(axis=0), np.zeros(0)
    )


def from_graph(graph: csr_array, landmarks: int | None, n_components: int, n_jobs: int | None) -> Distances:
    """Distances along a graph: all of them, or those of landmark rows spread evenly."""
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
    kind: str, points: Array, index: Array, graph: csr_array, heat: float | None, *, precomputed: bool
) -> csr_array:
    """L of the Laplacian of the graph, or of LLE's weights on the listed neighbours (n, k; -1: none)."""
    if kind == "laplacian":
        return laplacian(edge_weights(graph, heat))[0]
    weights = local_squares(points**2, index) if precomputed else reconstruction_weights(points, index)
    return lle_matrix(weights, index)


def solve_hybrid(M: SymmetricSum, L: csr_array, alpha: float, k: int) -> Hybrid:
    """The top ``k`` eigenpairs of ``(1-α) s M - (α/2) L`` beside the constant."""
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

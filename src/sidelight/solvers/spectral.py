"""Eigensolver of the spectral methods: the largest eigenpairs of a symmetric matrix given as a sum of parts.

    B = dense + sparse + F Fᵀ          any part may be missing; F (n, r) of low rank

on the orthogonal complement of one trivial vector (the constant, the first eigenvector of local methods). Four ways:

    dense            n ≤ 600: LAPACK
    thin             F alone, with few columns: LAPACK on Fᵀ F
    Lanczos          matrix products only: good if the wanted eigenvalues are well separated
    shift-invert     Lanczos on (σI - B)⁻¹, σ above all eigenvalues: one sparse factorisation, and Woodbury's formula
                     for F Fᵀ. For clustered eigenvalues, where plain Lanczos would need thousands of products

Plain Lanczos is tried first, with a fixed number of restarts. It fails on graphs of low intrinsic dimension (a sheet:
eigenvalues ~ 1/n), where a sparse factorisation is cheap. It succeeds on graphs of high dimension, where a
factorisation would fill in. The initial vector is fixed, eigenvalues are in descending order and signs follow
``fix_signs``, so results are reproducible to the byte.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import lu_factor, lu_solve
from scipy.sparse import csc_array, csr_array, eye_array
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh, splu

from sidelight.base.eigenvalues import fixed_restarts, selected_pairs
from sidelight.base.types import Array, SparseMatrix

from .eigen import fix_signs

__all__ = ["Eigenpairs", "SymmetricSum", "leading_pairs"]


_DENSE, _THIN, _RESTARTS, _BASIS = 600, 2000, 30, 40
_WHOLE, _PATIENCE = 5000, 1000  # above so many rows, Lanczos gets 1000 restarts before a dense solver is used


@dataclass(frozen=True)
class Eigenpairs:
    """Eigenvalues (k,), largest first, unit eigenvectors (n, k), and whether they converged."""

    values: Array
    vectors: Array
    converged: bool


@dataclass(frozen=True)
class SymmetricSum:
    """Symmetric matrix ``dense + sparse + factor factorᵀ`` (n, n); any part may be None."""

    dense: Array | None = None
    sparse: SparseMatrix | None = None
    factor: Array | None = None

    @property
    def n(self) -> int:
        """Number of rows."""
        part = next(p for p in (self.dense, self.sparse, self.factor) if p is not None)
        return int(part.shape[0])

    def apply(self, V: Array) -> Array:
        """The product with columns (n, m)."""
        out = np.zeros(V.shape)
        if self.dense is not None:
            out += self.dense @ V
        if self.sparse is not None:
            out += self.sparse @ V
        if self.factor is not None:
            out += self.factor @ (self.factor.T @ V)
        return out

    def inverse(self, shift: float) -> Callable[[Array], Array]:
        """``V -> (shift I - B)⁻¹ V``, for a shift above every eigenvalue of a sum without a dense part."""
        assert self.dense is None
        S = csr_array((self.n, self.n)) if self.sparse is None else self.sparse
        factored = splu(csc_array(shift * eye_array(self.n) - S), permc_spec="MMD_AT_PLUS_A")
        if self.factor is None:
            return lambda V: np.asarray(factored.solve(V))
        F = self.factor
        inner = factored.solve(np.ascontiguousarray(F))
        core = lu_factor(np.eye(F.shape[1]) - F.T @ inner)

        def solve(V: Array) -> Array:
            half = factored.solve(V)
            return np.asarray(half + inner @ lu_solve(core, F.T @ half))

        return solve


def leading_pairs(
    matrix: SymmetricSum, k: int, *, trivial: Array | None = None, above: float | None = None, tolerance: float = 1e-10
) -> Eigenpairs:
    """The ``k`` largest eigenpairs of a symmetric matrix, at most as many as there are.

    Parameters
    ----------
    matrix : SymmetricSum
    k : int
        Eigenpairs wanted.
    trivial : array of shape (n,) or None
        Unit vector to which the eigenvectors must be orthogonal.
    above : float or None
        An upper bound of all eigenvalues, as tight as is known. With it, clustered eigenvalues are found by
        shift-invert Lanczos (only without a dense part).
    tolerance : float
        Of Lanczos.

    Returns
    -------
    Eigenpairs
    """
    n = matrix.n
    k = min(k, n - (trivial is not None))

    def projected(V: Array) -> Array:
        return V if trivial is None else V - trivial[:, None] * (trivial @ V)

    def apply(V: Array) -> Array:
        return projected(matrix.apply(projected(np.asarray(V, dtype=np.float64).reshape(n, -1))))

    if n <= _DENSE or k >= n // 4:
        return _sharp(apply, *_whole(apply, n, k, trivial), tolerance)
    found = None
    if matrix.factor is not None and matrix.dense is None and matrix.sparse is None:
        found = _thin(projected(matrix.factor), k)
    if found is not None:
        return _sharp(apply, *found, tolerance)
    size = _size(apply, n)

    def lowered(V: Array) -> Array:  # rounding brings the trivial vector back; its eigenvalue 0 may be the largest
        out = apply(V)
        return out if trivial is None else out - 2 * size * trivial[:, None] * (trivial @ np.asarray(V).reshape(n, -1))

    found = _lanczos(lowered, n, k, tolerance)
    if found is not None:
        return _sharp(apply, *found, tolerance)
    if matrix.dense is None and above is not None and size > 0:
        shift = above + 1e-9 * (abs(above) + size)
        solve = matrix.inverse(shift)
        found = _lanczos(lambda V: projected(solve(projected(np.asarray(V).reshape(n, -1)))), n, k, tolerance)
        found = None if found is None else (shift - 1.0 / found[0], found[1])
    if found is None and n > _WHOLE:
        found = _lanczos(lowered, n, k, tolerance, restarts=_PATIENCE)
    values, vectors = _whole(apply, n, k, trivial) if found is None else found
    return _sharp(apply, values, vectors, tolerance)


def _thin(F: Array, k: int) -> tuple[Array, Array] | None:
    """Eigenpairs of ``F Fᵀ`` from the small matrix ``Fᵀ F``; None if that is not small or has fewer than ``k``."""
    if not k <= F.shape[1] <= min(_THIN, len(F)):
        return None
    values, vectors = selected_pairs(F.T @ F, F.shape[1] - k, F.shape[1] - 1)
    if values[0] <= 1e-9 * values[-1]:
        return None
    return np.asarray(values), np.asarray(F @ vectors / np.sqrt(values))


def _lanczos(
    apply: Callable[[Array], Array], n: int, k: int, tolerance: float, restarts: int = _RESTARTS
) -> tuple[Array, Array] | None:
    """The k largest eigenpairs by ARPACK; None if they do not converge within ``restarts``."""
    operator = LinearOperator((n, n), matvec=lambda v: apply(v)[:, 0], matmat=apply, dtype=np.float64)
    start = apply(np.cos(np.arange(n) * 0.7 + 0.3)[:, None])[:, 0]  # fixed, and orthogonal to nothing in particular
    if not start.any():
        return None
    try:
        size = min(n - 1, k + _BASIS)
        found = eigsh(
            operator, k=k, which="LA", v0=start, tol=tolerance, ncv=size, maxiter=restarts, **fixed_restarts()
        )
    except ArpackNoConvergence:
        return None
    return np.asarray(found[0]), np.asarray(found[1])


def _whole(apply: Callable[[Array], Array], n: int, k: int, trivial: Array | None) -> tuple[Array, Array]:
    """Eigenpairs by a dense solver, with the trivial vector shifted to the smallest eigenvalue."""
    matrix = apply(np.eye(n))
    matrix = 0.5 * (matrix + matrix.T)
    if trivial is not None:
        lowest = 2.0 * float(np.abs(matrix).sum(axis=0).max()) + 1.0
        matrix -= lowest * np.outer(trivial, trivial)
    return selected_pairs(matrix, n - k, n - 1)


def _size(apply: Callable[[Array], Array], n: int) -> float:
    """Rough spectral norm, by eight power iterations."""
    V = np.cos(np.arange(n) * 0.7 + 0.3)[:, None]
    for _ in range(8):
        V = apply(V / (np.linalg.norm(V) or 1.0))
    return float(np.linalg.norm(V))


def _sharp(apply: Callable[[Array], Array], values: Array, vectors: Array, tolerance: float) -> Eigenpairs:
    """Sort eigenpairs, fix signs, and check the residuals for convergence."""
    order = np.argsort(-values, kind="stable")
    values, vectors = values[order], fix_signs(vectors[:, order])
    left = np.linalg.norm(apply(vectors) - values * vectors, axis=0)
    scale = max(float(np.abs(values).max(initial=0.0)), _size(apply, len(vectors)))
    return Eigenpairs(values, vectors, bool((left <= max(1e-7, 100 * tolerance) * max(scale, 1e-300)).all()))

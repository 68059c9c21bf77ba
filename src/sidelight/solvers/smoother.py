"""Eigenvectors for spectral coordinates that kernel smoothing over neighbours changes least.

For a symmetric kernel K with degrees D, ``B = D^(-1) K`` averages over neighbours. With Z of orthonormal columns

    minimise |Z - B Z|² = tr Zᵀ M Z,        M = (I - B)ᵀ (I - B)        (S0 2.24 to 2.27)

so Z holds the eigenvectors of M with the *smallest* eigenvalues (S0 2.3.2 swaps smallest and largest), except for the
constant vector, which B does not change. M squares the spectrum of I - B, so its smallest eigenvalues are clustered,
and Lanczos would need thousands of products. So larger problems use LOBPCG, initialised with the eigenvectors of the
normalised Laplacian L and preconditioned by its inverse: ``M^(-1) = D^(-1/2) L^(-1) D L^(-1) D^(-1/2)``. If all degrees
are equal, L and M have the same eigenvectors (perplexity kernels come close).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse.linalg import LinearOperator, lobpcg

from sidelight.base.eigenvalues import selected_pairs
from sidelight.base.types import Array, Untyped

from .eigen import GraphSpectrum, fix_signs

__all__ = ["Smoothest", "smoother_vectors"]


_DENSE, _EXTRA = 600, 4  # rows up to which a dense solver is used; extra vectors in the block of LOBPCG


@dataclass(frozen=True)
class Smoothest:
    """Smallest eigenvalues (k,) of M without the constant's, unit eigenvectors (n, k), and whether they converged."""

    values: Array
    vectors: Array
    converged: bool


def smoother_vectors(K: Untyped, k: int, spectrum: GraphSpectrum) -> Smoothest:
    """The ``k`` smallest non-trivial eigenpairs of M (at most n - 1).

    Parameters
    ----------
    K : matrix of shape (n, n)
        Symmetric kernel.
    k : int
        Eigenpairs wanted.
    spectrum : GraphSpectrum
        Of the same kernel, from ``solvers.eigen.graph_spectrum``: initialisation and preconditioner.

    Returns
    -------
    Smoothest
    """
    n = len(spectrum.root)
    degree = np.asarray(K @ np.ones(n), dtype=np.float64)[:, None]
    degree[degree == 0] = 1.0  # a row without neighbours
    k = min(k, n - 1)

    def apply(V: Array) -> Array:
        V = np.asarray(V, dtype=np.float64).reshape(n, -1)
        residual = V - np.asarray(K @ V) / degree
        return np.asarray(residual - np.asarray(K @ (residual / degree)))

    if n <= _DENSE or k + _EXTRA > len(spectrum.values):
        values, vectors = _whole(apply, n, k)
    else:
        values, vectors = _preconditioned(apply, k, spectrum)
    left = np.linalg.norm(apply(vectors) - values * vectors, axis=0)
    converged = bool((left <= np.maximum(0.1 * values, 1e-10)).all())
    return Smoothest(np.maximum(values, 0.0), fix_signs(vectors), converged)


def _whole(apply: Callable[[Array], Array], n: int, k: int) -> tuple[Array, Array]:
    """Eigenpairs by a dense solver, with the constant vector shifted to the largest eigenvalue."""
    matrix = apply(np.eye(n))
    highest = 2.0 * float(np.abs(matrix).sum(axis=0).max())
    matrix = 0.5 * (matrix + matrix.T) + highest / n
    return selected_pairs(matrix, 0, k - 1)


def _preconditioned(apply: Callable[[Array], Array], k: int, spectrum: GraphSpectrum) -> tuple[Array, Array]:
    """Eigenpairs by LOBPCG from the Laplacian eigenvectors, orthogonal to the constant vector."""
    n, degree = len(spectrum.root), spectrum.root[:, None] ** 2
    start = spectrum.vectors[:, : k + _EXTRA] / spectrum.root[:, None]
    start = np.linalg.qr(start - start.mean(axis=0))[0]
    smallest = float(np.einsum("ij,ij->j", start, apply(start)).min())

    def invert(G: Array) -> Array:
        G = np.asarray(G).reshape(n, -1)
        return spectrum.precondition(degree**2 * spectrum.precondition(G))

    matrix, inverse = (LinearOperator((n, n), matvec=f, matmat=f, dtype=np.float64) for f in (apply, invert))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # warns about the extra vectors too; we check only those kept
        values, vectors = lobpcg(
            matrix,
            start,
            M=inverse,
            Y=np.full((n, 1), n**-0.5),
            tol=max(1e-3 * smallest, 1e-13),
            maxiter=300,
            largest=False,
        )
    order = np.argsort(values, kind="stable")[:k]
    return np.asarray(values[order]), np.asarray(vectors[:, order])

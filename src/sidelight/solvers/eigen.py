"""Leading eigenvectors of a symmetric kernel graph, with fixed order and sign.

For a kernel K with degrees D the vectors are those of ``D^(-1/2) K D^(-1/2)`` with the largest eigenvalues, the trivial
one (√D) projected out, divided by √D: the Laplacian eigenmap ``L y = λ D y``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import eigh
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

__all__ = ["fix_signs", "graph_eigenvectors"]

Array = npt.NDArray[Any]


def graph_eigenvectors(K: Any, k: int, *, tolerance: float = 1e-5) -> Array:
    """The first ``k`` non-trivial eigenmap coordinates (n, min(k, n - 1)), each of unit standard deviation."""
    n = K.shape[0] if hasattr(K, "shape") else K.n
    k = min(k, n - 1)
    root = np.sqrt(np.maximum(np.asarray(K @ np.ones(n), dtype=np.float64), 1e-300))
    trivial = root / np.linalg.norm(root)

    def apply(v: Array) -> Array:
        v = np.asarray(v, dtype=np.float64).reshape(n, -1)
        v = v - trivial[:, None] * (trivial @ v)
        out = np.asarray(K @ (v / root[:, None])) / root[:, None] + v  # shifted: the spectrum is in [0, 2]
        return np.asarray(out - trivial[:, None] * (trivial @ out))

    vectors = _leading(apply, n, k, tolerance) / root[:, None]
    vectors -= vectors.mean(axis=0)
    spread = vectors.std(axis=0)
    return fix_signs(vectors / np.where(spread > 0, spread, 1.0))


def _leading(apply: Any, n: int, k: int, tolerance: float) -> Array:
    if n <= 200 or k >= n // 2:
        matrix = apply(np.eye(n))
        _, vectors = eigh(0.5 * (matrix + matrix.T), subset_by_index=[n - k, n - 1])
        return np.asarray(vectors[:, ::-1])
    operator = LinearOperator((n, n), matvec=lambda v: apply(v)[:, 0], matmat=apply, dtype=np.float64)
    start = np.cos(np.arange(n) * 0.7 + 0.3)  # fixed, and not orthogonal to anything in particular
    try:
        values, vectors = eigsh(
            operator, k=k, which="LA", v0=start, tol=tolerance, ncv=min(n - 1, max(40, 4 * k)), maxiter=500
        )
    except ArpackNoConvergence as partial:  # a start only: what converged is used, the rest is filled
        values, vectors = partial.eigenvalues, partial.eigenvectors
        missing = k - vectors.shape[1]
        filler = np.cos(np.outer(np.arange(n), np.arange(1, missing + 1)))
        values, vectors = np.r_[values, np.zeros(missing)], np.column_stack([vectors, filler])
    return np.asarray(vectors[:, np.argsort(-values, kind="stable")])


def fix_signs(vectors: Array) -> Array:
    """Turn each column so that its entry of largest size is positive."""
    largest = np.abs(vectors).argmax(axis=0)
    signs = np.sign(vectors[largest, np.arange(vectors.shape[1])])
    turned: Array = vectors * np.where(signs == 0, 1.0, signs)
    return turned

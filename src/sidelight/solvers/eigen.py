"""Laplacian eigenvectors of a kernel graph, landmark multidimensional scaling, and sign conventions.

For a symmetric kernel K with degrees D, the normalised Laplacian ``I - D^(-1/2) K D^(-1/2) = V w Vᵀ`` has its smoothest
vectors at the smallest w. The trivial one (√D, w = 0) is projected out.

    coordinates    D^(-1/2) v, the Laplacian eigenmap ``L y = w D y``
    preconditioner D^(-1/2) (V (w + δ)^(-1) Vᵀ + (I - V Vᵀ)/(w_k + δ)) D^(-1/2), the inverse of the Laplacian + δ
                   where every eigenvalue beyond the last computed one, w_k, is taken to be w_k

The Hessian of the attraction between neighbours is about this Laplacian, so its first eigenvectors are the slowly
converging, global modes of an embedding (the *spectral direction* of Vladymyrov and Carreira-Perpiñán 2012, in low
rank).

Landmark MDS (de Silva and Tenenbaum 2004): classical scaling of L landmarks, ``-½ J D² J = U s Uᵀ``. Every row then
gets coordinates from its squared distances to them, ``y = -½ s^(-1/2) Uᵀ (d² - mean d²)``. With all rows as landmarks
this is PCA for Euclidean distances and Isomap for geodesic ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from sidelight.base.eigenvalues import fixed_restarts, selected_pairs
from sidelight.base.types import Array, Untyped

__all__ = ["GraphSpectrum", "factor_spectrum", "fix_signs", "graph_spectrum", "landmark_scaling", "steady_signs"]


_TIED = 1e-6  # relative difference below which two entries count as equally large
_SHIFT = 1e-2  # δ: eigenvalues below it are not scaled up further (1e-3 to 1e-2 took the fewest evaluations)


@dataclass(frozen=True)
class GraphSpectrum:
    """Smallest non-trivial eigenvalues (k,) and eigenvectors (n, k) of the normalised Laplacian, and √D (n,)."""

    values: Array
    vectors: Array
    root: Array

    def coordinates(self, k: int) -> Array:
        """The first ``k`` Laplacian eigenmap coordinates (n, k), of unit standard deviation; fewer if not computed."""
        Y = self.vectors[:, :k] / self.root[:, None]
        Y = Y - Y.mean(axis=0)
        spread = Y.std(axis=0)
        return fix_signs(Y / np.where(spread > 0, spread, 1.0))

    def precondition(self, G: Array) -> Array:
        """Apply the preconditioner, an approximate inverse of the Laplacian, to a gradient (n, q)."""
        if not len(self.values):
            return G
        scaled = G / self.root[:, None]
        rest = 1.0 / (self.values[-1] + _SHIFT)
        gain = 1.0 / (self.values + _SHIFT) - rest
        smooth = self.vectors @ (gain[:, None] * (self.vectors.T @ scaled))
        return np.asarray((smooth + rest * scaled) / self.root[:, None])


def graph_spectrum(K: Untyped, k: int, *, tolerance: float = 1e-4) -> GraphSpectrum:
    """The ``k`` smallest non-trivial eigenpairs of the normalised Laplacian of a kernel graph.

    Parameters
    ----------
    K : matrix of shape (n, n), or anything with ``@`` and ``n``
        Symmetric kernel: dense, sparse or of low rank.
    k : int
        Eigenpairs wanted, at most n - 1.
    tolerance : float
        Of Lanczos (ARPACK). Up to 300 rows, or for k ≥ n // 4, a dense solver is used.

    Returns
    -------
    GraphSpectrum
        With fewer pairs if fewer converged.
    """
    n = K.shape[0] if hasattr(K, "shape") else K.n
    k = min(k, n - 1)
    root = np.sqrt(np.maximum(np.asarray(K @ np.ones(n), dtype=np.float64), 0.0))  # low rank: may be below 0
    trivial = root / (np.linalg.norm(root) or 1.0)
    root[root == 0] = 1.0  # a row without neighbours

    def apply(v: Array) -> Array:
        v = np.asarray(v, dtype=np.float64).reshape(n, -1)
        v = v - trivial[:, None] * (trivial @ v)
        out = np.asarray(K @ (v / root[:, None])) / root[:, None] + v  # shifted: the spectrum is in [0, 2]
        return np.asarray(out - trivial[:, None] * (trivial @ out))

    values, vectors = _leading(apply, n, k, tolerance)
    return GraphSpectrum(np.maximum(2.0 - values, 0.0), vectors, root)


def _leading(apply: Callable[[Array], Array], n: int, k: int, tolerance: float) -> tuple[Array, Array]:
    """The k largest eigenpairs of the operator ``apply``, largest first."""
    if n <= 300 or k >= n // 4:
        matrix = apply(np.eye(n))
        values, vectors = selected_pairs(0.5 * (matrix + matrix.T), n - k, n - 1)
    else:
        operator = LinearOperator((n, n), matvec=lambda v: apply(v)[:, 0], matmat=apply, dtype=np.float64)
        start = np.cos(np.arange(n) * 0.7 + 0.3)  # fixed, and not orthogonal to anything in particular
        try:
            values, vectors = eigsh(
                operator,
                k=k,
                which="LA",
                v0=start,
                tol=tolerance,
                ncv=min(n - 1, 2 * k + 20),
                maxiter=300,
                **fixed_restarts(),
            )
        except ArpackNoConvergence as partial:  # fewer pairs still do for an initialisation or preconditioner
            values, vectors = partial.eigenvalues, partial.eigenvectors
    order = np.argsort(-values, kind="stable")
    return np.asarray(values[order]), np.asarray(vectors[:, order])


def landmark_scaling(D: Array, landmarks: Array, k: int) -> Array:
    """Landmark MDS: coordinates (n, at most k) of all rows, widest axis first.

    ``D`` (L, n) are the distances from the L rows ``landmarks`` to all rows.
    """
    squares = D**2
    among = squares[:, landmarks]
    centred = among - among.mean(axis=0) - among.mean(axis=1, keepdims=True) + among.mean()
    values, vectors = eigh(-0.25 * (centred + centred.T))
    values, vectors = values[::-1][:k], vectors[:, ::-1][:, :k]
    used = values > 1e-9 * max(float(values[0]), 1e-300)
    if not used.any():
        return np.zeros((D.shape[1], 0))
    axes = vectors[:, used] / np.sqrt(values[used])
    Y = -0.5 * (squares - among.mean(axis=1, keepdims=True)).T @ axes
    return fix_signs(Y - Y.mean(axis=0))


def factor_spectrum(V: Array) -> tuple[Array, Array]:
    """PCA of V (n, r): eigenvalues (r,) of its centred Gram matrix, largest first, and principal coordinates (n, r)."""
    centred = V - V.mean(axis=0)
    values, axes = np.linalg.eigh(centred.T @ centred)
    return np.maximum(values[::-1], 0.0), centred @ axes[:, ::-1]


def fix_signs(vectors: Array) -> Array:
    """Flip the sign of each column so that its largest entry in absolute value is positive; of ties, the first.

    Ties are taken up to a tolerance: on symmetric data the two ends differ by rounding only, which must not decide.
    """
    size = np.abs(vectors)
    largest = (size >= (1 - _TIED) * size.max(axis=0)).argmax(axis=0)
    signs = np.sign(vectors[largest, np.arange(vectors.shape[1])])
    turned: Array = vectors * np.where(signs == 0, 1.0, signs)
    return turned


def steady_signs(Z: Array) -> Array:
    """Flip the sign of each column so that a fixed weighted sum over its rows is not negative.

    More stable than the largest entry: the two ends of an unfolded sheet are often equally far out.
    """
    return np.asarray(Z * np.where(np.cos(np.arange(len(Z)) * 0.7 + 0.3) @ Z < 0, -1.0, 1.0))

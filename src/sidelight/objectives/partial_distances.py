r"""Metric learning from distances known for some pairs (S4, section 3.5, with the target squared).

    f(A) = Σ_e (δ_eᵀ A δ_e - d_e²)² / Σ_e d_e⁴ + λ prior(A),      A = W Wᵀ ⪰ 0,  W (p, r)

    prior "trace"      tr A · (mean |δ|² / p) / mean d²             prefers few and short directions (low rank)
    prior "identity"   |A / c - I|² / p                             prefers the Euclidean metric at scale c

c is the scale at which c|δ|² fits the known d² best. Directions orthogonal to all pairs are not determined by the
distances: the first prior removes them, the second leaves them unchanged. The optimisation is over F,
``W = diag(scale) F``, so that the problem is well conditioned for any units of the data.

With P = T W (n, r), value and gradient take O((n + m) p r) time and O((n + m + p) r) memory. Neither the p² x p² matrix
of the source's program nor a list of differences is formed.
"""

from __future__ import annotations

from contextlib import suppress

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from sidelight.base.eigenvalues import fixed_restarts
from sidelight.base.types import Array

__all__ = ["PartialDistances"]


_DENSE = 400  # coordinates up to which the start is found by a dense solver


class PartialDistances:
    """f as a function of the factor F (p, r), with its gradient.

    Parameters
    ----------
    T : array of shape (n, p)
        Coordinates of the rows.
    index : array of shape (m, 2)
        Pairs with known distances.
    squares : array of shape (m,)
        Their squared distances.
    prior : "trace" or "identity"
    scale : array of shape (p,)
        Scaling of the coordinates in the optimisation.
    """

    def __init__(self, T: Array, index: Array, squares: Array, *, prior: str, scale: Array) -> None:
        m, n = len(index), len(T)
        ends = (np.repeat(np.arange(m), 2), index.ravel())
        self._differences = csr_array((np.tile([1.0, -1.0], m), ends), shape=(m, n))
        self._T, self._squares, self._prior, self._scale = T, squares, prior, scale[:, None]
        lengths = self._lengths(T)
        self._total = float(squares @ squares) or float(lengths @ lengths) or 1.0
        self.unit = self._unit(lengths)
        size = float(lengths.mean()) / (T.shape[1] * float(squares.mean())) if squares.any() else 1.0
        self._trace = size or 1.0

    def _lengths(self, P: Array) -> Array:
        D = self._differences @ P
        return np.asarray(np.einsum("er,er->e", D, D))

    def _unit(self, lengths: Array) -> float:
        """c, the least-squares scale of the Euclidean squared distances (m,); 1 if all distances are 0."""
        norm = float(lengths @ lengths)
        return float(lengths @ self._squares) / norm if norm and self._squares.any() else 1.0

    def factor(self, F: Array) -> Array:
        """W = diag(scale) F (p, r)."""
        return np.asarray(self._scale * F)

    def point(self, W: Array) -> Array:
        """Inverse of :meth:`factor`: F from W."""
        return np.asarray(W / self._scale)

    def value_and_grad(self, F: Array, strength: float) -> tuple[float, Array, dict[str, float]]:
        """f, its gradient (p, r), and its terms; ``strength`` is λ."""
        W = self._scale * F
        D = self._differences @ (self._T @ W)
        rest = np.einsum("er,er->e", D, D) - self._squares
        misfit = float(rest @ rest) / self._total
        slope = self._T.T @ (self._differences.T @ (rest[:, None] * D)) * (4.0 / self._total)
        prior, prior_slope = self._prior_of(W)
        gradient = self._scale * (slope + strength * prior_slope)
        return misfit + strength * prior, gradient, {"misfit": misfit, "prior": prior}

    def _prior_of(self, W: Array) -> tuple[float, Array]:
        if self._prior == "trace":
            return self._trace * float(np.vdot(W, W)), 2.0 * self._trace * W
        p, c = len(W), self.unit
        inner = W.T @ W
        value = float(np.vdot(inner, inner)) / c**2 - 2.0 * float(np.trace(inner)) / c + p
        return value / p, (4.0 / (c * p)) * (W @ inner / c - W)

    def start(self, r: int) -> Array:
        """Initial F (p, r): leading eigenvectors of Σ d² δδᵀ in scaled coordinates, at the best-fitting scale."""
        p = len(self._scale)
        if r >= p:
            return self.point(np.sqrt(self.unit) * np.eye(p, r))
        values, vectors = self._leading(r)
        F = vectors * np.sqrt(np.maximum(values - 0.9 * values.min(), 1e-3 * max(float(values.max()), 1e-300)))
        lengths = self._lengths(self._T @ self.factor(F))
        norm = float(lengths @ lengths)
        fit = float(lengths @ self._squares) / norm if norm else 1.0
        return np.asarray(F * np.sqrt(fit or 1.0))

    def _leading(self, r: int) -> tuple[Array, Array]:
        def apply(V: Array) -> Array:
            D = self._differences @ (self._T @ (self._scale * V.reshape(len(self._scale), -1)))
            weighted = self._differences.T @ (self._squares[:, None] * D)
            return np.asarray(self._scale * (self._T.T @ weighted))

        p = len(self._scale)
        if p > _DENSE and r <= p // 3:
            operator = LinearOperator((p, p), matvec=lambda v: apply(v)[:, 0], matmat=apply, dtype=np.float64)
            start = np.cos(np.arange(p) * 0.7 + 0.3)  # fixed, and not orthogonal to anything in particular
            with suppress(ArpackNoConvergence):
                values, vectors = eigsh(operator, k=r, v0=start, tol=1e-6, **fixed_restarts())
                return values[::-1], vectors[:, ::-1]
        matrix = apply(np.eye(p))
        values, vectors = np.linalg.eigh(0.5 * (matrix + matrix.T))
        return values[::-1][:r], vectors[:, ::-1][:, :r]

"""Leave-one-out likelihood of the data given the latent points, with the data bandwidth learned too.

The objective of kernel information embedding is a log-likelihood, H(Z) - H(X,Z) = mean log p(x_i | z_i) + a constant
(S0 3.1.4). With every density a leave-one-out estimate (S0 3.3) a row cannot explain itself, the normaliser stays, and
the bandwidth h of the data can be learned with Z:

    J(Z, u) = -(1/n) Σ_i log Σ_{j≠i} q_ij exp(-R_ij/h) + (r/2) log(πh),      h = exp(u)
    q_ij    = exp(-|z_i - z_j|²) / Σ_{l≠i} exp(-|z_i - z_l|²),               R_ij = |x_i - x_j|²

Z (n, q), r the rank of the centred X. With the posterior p_ij ∝ q_ij exp(-R_ij/h), rows summing to 1, and
G = (P - Q + Pᵀ - Qᵀ)/n

    ∂J/∂Z = 2 (diag(G1) - G) Z,        ∂J/∂u = r/2 - (1/n) Σ_ij p_ij R_ij / h

Weights are taken relative to the largest of their row, so nothing underflows, whatever h is.
Cost: O(n² q) time in row tiles, one n × n matrix of distances in ``dtype``.

Leaving a row out of its own prediction prevents overfitting of its noise. But nothing bounds the scale of Z: as it
grows, q concentrates on each row's nearest latent neighbour, and J falls towards its value for the best graph of
nearest neighbours that q dimensions can represent. So the penalty is still needed.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sidelight.base.tiles import run_tiles, spans, sum_in_order
from sidelight.base.types import Array, Slice

from .evaluation import Evaluation, Objective

__all__ = ["LatentRows", "LeaveOneOutLikelihood", "pack", "unpack"]


_BUDGET = 2_000_000  # numbers in the temporaries of one tile


class LeaveOneOutLikelihood:
    """``J`` with its derivatives with respect to the latent points and the log bandwidth, for rows X (n, d)."""

    def __init__(self, X: Array, *, dtype: npt.DTypeLike = np.float32, n_jobs: int | None = None) -> None:
        A = np.asarray(X, dtype=np.float64) - X.mean(axis=0)
        self.rank = max(1, int(np.linalg.matrix_rank(A)))
        self.dtype, self.n_jobs = np.dtype(dtype), n_jobs
        self.parts = spans(len(A), max(8, _BUDGET // len(A)))
        norms = np.einsum("ij,ij->i", A, A)
        self.R = np.empty((len(A), len(A)), dtype=self.dtype)
        for rows in self.parts:
            self.R[rows] = np.maximum(norms[rows, None] + norms - 2 * (A[rows] @ A.T), 0.0)
        typical = float(norms.mean()) / self.rank
        self.least = float(np.log(typical)) - 20.0 if typical > 0 else 0.0  # lower bound: equal rows drive it to 0

    def value_and_grad(self, point: Array) -> Evaluation:
        """``J`` at a packed point (n + 1, q), with the gradient packed likewise."""
        Z, u = unpack(point)
        value, gradient, slope = self.evaluate(Z, u)
        return Evaluation(value, pack(gradient, slope), {"log bandwidth": u})

    def evaluate(self, Z: Array, u: float) -> tuple[float, Array, float]:
        """``J``, its gradient with respect to Z (n, q), and its derivative with respect to u."""
        n, h = len(Z), float(np.exp(max(u, self.least)))
        Zc = np.ascontiguousarray(Z - Z.mean(axis=0), dtype=self.dtype)
        squares = np.einsum("ij,ij->i", Zc, Zc)
        extended = np.column_stack([Zc, np.ones(n, dtype=self.dtype)])

        def one(rows: Slice) -> tuple[float, float, Array]:
            D = squares[rows, None] + squares - 2 * (Zc[rows] @ Zc.T)
            np.maximum(D, 0, out=D)
            D[np.arange(len(D)), np.arange(rows.start, rows.stop)] = np.inf
            energy = self.R[rows] / h
            Q, log_q = _softmax(-D)
            P, log_p = _softmax(-D - energy)
            fit, spread = float((log_p - log_q).sum()), float(np.vdot(P, energy))
            P -= Q
            out = P.T @ extended[rows].astype(np.float64)
            out[rows] += P @ extended
            return fit, spread, out

        made = run_tiles(one, self.parts, self.n_jobs)
        fit, spread = sum(part[0] for part in made) / n, sum(part[1] for part in made) / n
        summed = sum_in_order([part[2] for part in made])
        gradient = (2.0 / n) * (summed[:, -1:] * Zc - summed[:, :-1])
        value = 0.5 * self.rank * (float(np.log(np.pi)) + max(u, self.least)) - fit
        return value, gradient, 0.5 * self.rank - spread if u > self.least else 0.0


class LatentRows:
    """Adapter: an objective of Z (a penalty) as a function of the packed point (n + 1, q); it ignores the bandwidth."""

    def __init__(self, objective: Objective) -> None:
        self.objective = objective

    def value_and_grad(self, point: Array) -> Evaluation:
        """Value at the latent points, and gradient (n + 1, q) with 0 for the bandwidth."""
        found = self.objective.value_and_grad(unpack(point)[0])
        return Evaluation(found.value, pack(found.gradient, 0.0), found.terms)


def pack(Z: Array, u: float) -> Array:
    """Latent points (n, q) and a number as one array (n + 1, q), the number first in the last row.

    >>> pack(np.ones((2, 2)), 7.0)[-1]
    array([7., 0.])
    """
    last = np.zeros((1, Z.shape[1]))
    last[0, 0] = u
    return np.concatenate([Z, last])


def unpack(point: Array) -> tuple[Array, float]:
    """Inverse of ``pack``: latent points (n, q) and the number."""
    return point[:-1], float(point[-1, 0])


def _softmax(logs: Array) -> tuple[Array, Array]:
    """Softmax of each row, and the log of its normaliser (logsumexp) in float64."""
    top = logs.max(axis=1, keepdims=True)
    W = np.exp(logs - top)
    total = W.sum(axis=1, dtype=np.float64)
    W /= total[:, None].astype(W.dtype)
    return W, np.log(total) + top[:, 0]

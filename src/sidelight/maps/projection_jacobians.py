"""Jacobians of the maps of kernel PCA and Isomap (``maps.kernel_projection``).

    z(x) = (k(x) - k̄(x) - m + m̄) A,      J = (A - Ā)ᵀ ∂k(x) / ∂x                     A (n, q), Ā its mean row

    rbf      ∂k_i = -2γ k_i (x - x_i)                 linear   x_i
    poly     γ p (γ x·x_i + c)^(p-1) x_i              sigmoid  γ (1 - k_i²) x_i
    cosine   (u_i - (u·u_i) u) / |x|, u = x / |x|     paths    -g_i (x - x_b) / |x - x_b|, b the first row of the path

The paths of Isomap have kinks where another row begins the shortest one: there J is the derivative on one side.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import cdist

from sidelight.base.tiles import run_tiles, spans
from sidelight.neighbours.distances import padded_product

from .kernel_projection import KernelProjection

__all__ = ["projection_jacobian"]

Array = npt.NDArray[Any]
_BUDGET = 4_000_000  # numbers in the temporaries of one tile
_TIED = 1e-10


def projection_jacobian(projection: KernelProjection, X: Array, n_jobs: int | None) -> Array:
    """Jacobians (m, q, d) of ``KernelProjection.embed`` at rows (m, d)."""
    n, q = projection.vectors.shape
    centred = projection.vectors - projection.vectors.mean(axis=0)

    def one(rows: slice) -> Array:
        Q = np.asarray(X[rows], dtype=np.float64)
        if projection.paths is not None:
            return _of_paths(projection, centred, Q)
        if projection.kernel == "cosine":
            return _of_cosine(projection, centred, Q)
        slope, towards = _slopes(projection, Q)
        C = slope[:, None, :] * centred.T  # (m, q, n)
        J = padded_product(C.reshape(-1, n), projection.rows).reshape(len(Q), q, -1)
        return np.asarray(J - C.sum(axis=2)[:, :, None] * Q[:, None, :] if towards else J)

    tile = max(1, _BUDGET // max(n * max(q, 1 + projection.n_neighbors), q * X.shape[1]))
    return np.concatenate(run_tiles(one, spans(len(X), tile), n_jobs))


def _slopes(projection: KernelProjection, Q: Array) -> tuple[Array, bool]:
    """Coefficients (m, n) of x_i in ``∂k_i``, or of x_i - x (True)."""
    gamma = projection.gamma
    if projection.kernel == "rbf":
        return 2.0 * gamma * np.exp(-gamma * cdist(Q, projection.rows, "sqeuclidean")), True
    product = padded_product(Q, projection.rows.T)
    if projection.kernel == "linear":
        return np.ones_like(product), False
    inner = gamma * product + projection.coef0
    if projection.kernel == "poly":
        return gamma * projection.degree * inner ** (projection.degree - 1.0), False
    return gamma * (1.0 - np.tanh(inner) ** 2), False


def _of_cosine(projection: KernelProjection, centred: Array, Q: Array) -> Array:
    norms = np.linalg.norm(projection.rows, axis=1, keepdims=True)
    length = np.linalg.norm(Q, axis=1)[:, None, None]
    u = Q[:, None, :] / np.where(length > 0, length, 1.0)
    J = np.repeat((centred.T @ (projection.rows / np.where(norms > 0, norms, 1.0)))[None], len(Q), axis=0)
    J = J - np.einsum("mqd,mld->mq", J, u)[:, :, None] * u
    return np.asarray(np.where(length > 0, J / np.where(length > 0, length, 1.0), 0.0))


def _of_paths(projection: KernelProjection, centred: Array, Q: Array) -> Array:
    """``Σ_i A_i (-g_i) (x - x_b(i)) / |x - x_b(i)|`` (m, q, d)."""
    assert projection.paths is not None
    D, k, n = cdist(Q, projection.rows), projection.n_neighbors, len(projection.rows)
    near = np.argpartition(D, k - 1, axis=1)[:, :k] if k < n else np.tile(np.arange(n), (len(D), 1))
    lengths = np.take_along_axis(D, near, axis=1)
    whole = lengths[:, :, None] + projection.paths[near]
    shortest = whole.min(axis=1)  # (m, n)
    # at a training row paths through it tie with those past it, which are no longer on any side: these have the slope
    whole[np.arange(len(Q)), lengths.argmin(axis=1)] *= 1.0 + _TIED
    first = whole.argmin(axis=1)
    C = np.zeros((len(Q), near.shape[1], centred.shape[1]))  # summed over the rows that begin with each neighbour
    for b in range(near.shape[1]):
        C[:, b] = np.where(first == b, -shortest, 0.0) @ centred
    C = np.divide(C, lengths[:, :, None], out=np.zeros_like(C), where=lengths[:, :, None] > 0)
    return np.asarray(C.sum(axis=1)[:, :, None] * Q[:, None] - np.einsum("mkq,mkd->mqd", C, projection.rows[near]))

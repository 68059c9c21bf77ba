"""Projection of new rows onto the eigenvectors of a centred kernel matrix.

    z(x) = (k(x) - k̄(x) - m + m̄) A        k(x)_i = k(x, x_i),   i = 1..n rows of the fit

with k̄(x) the mean of k(x), m (n,) the column means of the kernel matrix of the fit, m̄ their mean, and A (n, q) its
eigenvectors divided by the square roots of their eigenvalues. It is what kernel PCA computes for new rows, and Isomap:
there k(x, x_i) = -½ g(x, x_i)², with g the shortest path through one of the nearest rows of x.

Cost: O(n (d + q)) per row, and O(n · n_neighbors) for paths.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import cdist

from sidelight.base.tiles import by_block
from sidelight.neighbours.distances import padded_product

__all__ = ["KERNELS", "KernelProjection"]

Array = npt.NDArray[Any]
KERNELS = ("linear", "rbf", "poly", "sigmoid", "cosine")
_BUDGET = 4_000_000  # numbers in the temporaries of one block


@dataclass(frozen=True)
class KernelProjection:
    """The map of kernel PCA or Isomap from rows to latent points.

    Parameters
    ----------
    rows : array of shape (n, d)
        Of the fit.
    vectors : array of shape (n, q)
        A above.
    means : array of shape (n,)
        Column means m of the kernel matrix of the fit.
    mean : float
        m̄ above.
    kernel : str
        One of ``KERNELS`` with its parameters ``gamma``, ``degree``, ``coef0``; or "paths".
    paths : array of shape (n, n) or None
        Lengths of the shortest paths between the rows of the fit, for "paths".
    n_neighbors : int
        Rows of the fit through which the path from a new row begins.
    """

    rows: Array
    vectors: Array
    means: Array
    mean: float
    kernel: str
    gamma: float = 1.0
    degree: float = 3.0
    coef0: float = 1.0
    paths: Array | None = None
    n_neighbors: int = 0

    def embed(self, X: Array, n_jobs: int | None) -> Array:
        """Latent points (m, q) of rows (m, d)."""
        width = len(self.rows) * (1 + self.n_neighbors)
        return by_block(self._embed, X, n_jobs, block=max(1, _BUDGET // width), dtype=np.float64)

    def _embed(self, Q: Array) -> Array:
        K = self._kernel(Q)
        centred = K - self.means - K.mean(axis=1, keepdims=True) + self.mean
        return padded_product(centred, self.vectors)

    def _kernel(self, Q: Array) -> Array:
        """``k(x, x_i)`` (m, n)."""
        if self.paths is not None:
            return np.asarray(-0.5 * _shortest(cdist(Q, self.rows), self.paths, self.n_neighbors) ** 2)
        if self.kernel == "rbf":
            return np.asarray(np.exp(-self.gamma * cdist(Q, self.rows, "sqeuclidean")))
        rows = self.rows
        if self.kernel == "cosine":
            Q, rows = _unit(Q), _unit(rows)
        product = padded_product(Q, rows.T)
        if self.kernel in ("linear", "cosine"):
            return product
        inner = self.gamma * product + self.coef0
        return np.asarray(inner**self.degree if self.kernel == "poly" else np.tanh(inner))


def _shortest(D: Array, paths: Array, k: int) -> Array:
    """Lengths (m, n) of shortest paths to all rows, through one of the k nearest, from distances D (m, n)."""
    near = np.argpartition(D, k - 1, axis=1)[:, :k] if k < D.shape[1] else np.tile(np.arange(D.shape[1]), (len(D), 1))
    return np.asarray((np.take_along_axis(D, near, axis=1)[:, :, None] + paths[near]).min(axis=1))


def _unit(X: Array) -> Array:
    length = np.sqrt(np.square(X).sum(axis=1, keepdims=True))
    return np.asarray(X / np.where(length > 0, length, 1.0))

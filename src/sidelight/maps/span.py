r"""Coordinates of rows along all principal axes of the data: PCA, or kernel PCA.

    linear   t(x) = Vᵀ (x - μ) / scale           X - μ = U s Vᵀ, the p directions in which the data varies at all
    kernel   t(x) = Λ^(-1/2) Uᵀ k̃(x)              K̃ = U Λ Uᵀ, the centred kernel matrix; k̃ centred with it
    columns  t(x) = Vᵀ (k(x) - mean k)           PCA of the kernel columns k(x) = [K(x_1, x), ..., K(x_n, x)]

so that ``t_i · t_j`` is the (centred) inner product of two rows (of two kernel columns), and the scatter of the
coordinates is diagonal, largest first. No d x d matrix is formed: p ≤ min(n, d).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import eigh, qr, svd

from sidelight.base.tiles import spans
from sidelight.solvers.eigen import fix_signs

__all__ = ["KernelColumns", "KernelSpan", "LinearSpan", "column_span", "kernel_span", "linear_span"]

Array = npt.NDArray[Any]
Kernel = str | Callable[[Array, Array], Any]


@dataclass(frozen=True)
class LinearSpan:
    """PCA coordinates: orthonormal ``axes`` (p, d) of rows scaled as ``(x - centre) / scale``."""

    centre: Array
    scale: float
    axes: Array

    def __call__(self, X: Array) -> Array:
        """Coordinates (m, p) of rows (m, d)."""
        return np.asarray(((np.asarray(X, dtype=np.float64) - self.centre) / self.scale) @ self.axes.T)

    @property
    def width(self) -> int:
        """Number of coordinates p."""
        return len(self.axes)


@dataclass(frozen=True)
class _KernelCoordinates:
    """Coordinates from the kernel between new rows and training rows; the fields are those of ``KernelSpan``."""

    centre: Array
    scale: float
    rows: Array
    axes: Array
    means: Array
    kernel: Kernel
    gamma: float
    degree: int

    def __call__(self, X: Array) -> Array:
        """Coordinates (m, p) of rows (m, d), a tile of rows at a time."""
        X = np.asarray(X, dtype=np.float64)
        parts = [self._centred(self._kernel(X[part])) @ self.axes for part in spans(len(X))]
        return np.concatenate(parts) if parts else np.empty((0, self.width))

    @property
    def width(self) -> int:
        """Number of coordinates p."""
        return int(self.axes.shape[1])

    def _kernel(self, X: Array) -> Array:
        inside = (X - self.centre) / self.scale
        return kernel_matrix(inside, self.rows, self.kernel, self.gamma, self.degree, self.scale, self.centre)

    def _centred(self, K: Array) -> Array:
        """Kernel values (m, n) less those of the mean training row: here, less the mean kernel column."""
        return np.asarray(K - self.means)


@dataclass(frozen=True)
class KernelSpan(_KernelCoordinates):
    """Kernel PCA coordinates.

    Parameters
    ----------
    centre, scale : array of shape (d,) and float
        Rows are scaled as ``(x - centre) / scale``.
    rows : array of shape (n, d)
        Training rows, scaled.
    axes : array of shape (n, p)
        U Λ^(-1/2).
    means : array of shape (n,)
        Column means of the training kernel matrix, for centring.
    kernel : "rbf", "poly" or callable
    gamma, degree : float, int
        Of the kernel, for scaled rows.
    """

    def _centred(self, K: Array) -> Array:
        return np.asarray(K - K.mean(axis=1, keepdims=True) - self.means + self.means.mean())


@dataclass(frozen=True)
class KernelColumns(_KernelCoordinates):
    """PCA coordinates of kernel columns.

    Parameters
    ----------
    centre, scale, rows, kernel, gamma, degree
        As in ``KernelSpan``.
    axes : array of shape (n, p)
        Orthonormal columns.
    means : array of shape (n,)
        Mean kernel column of the training rows.
    """


def linear_span(X: Array, centre: Array, scale: float) -> tuple[LinearSpan, Array]:
    """PCA of rows (n, d) with all axes of non-zero variance: the fitted map, and the coordinates (n, p)."""
    inside = (np.asarray(X, dtype=np.float64) - centre) / scale
    if len(inside) > inside.shape[1]:
        _, sizes, axes = svd(qr(inside, mode="r")[0][: inside.shape[1]])
    else:
        Q, R = qr(inside.T, mode="economic")
        turn, sizes, _ = svd(R)
        axes = (Q @ turn[:, : len(sizes)]).T
    used = sizes > max(inside.shape) * np.finfo(np.float64).eps * sizes.max(initial=0.0)
    span = LinearSpan(centre, scale, fix_signs(axes[: len(sizes)][used].T).T)
    return span, inside @ span.axes.T


def kernel_span(
    X: Array, centre: Array, scale: float, *, kernel: Kernel, gamma: float, degree: int
) -> tuple[KernelSpan, Array]:
    """Kernel PCA of rows with all axes of non-zero variance.

    Parameters
    ----------
    X : array of shape (n, d)
    centre, scale : array of shape (d,) and float
        Rows are scaled as ``(x - centre) / scale``.
    kernel : "rbf", "poly" or callable
    gamma, degree : float, int
        Of the kernel, for scaled rows.

    Returns
    -------
    span : KernelSpan
    coordinates : array of shape (n, p)
    """
    rows = (np.asarray(X, dtype=np.float64) - centre) / scale
    K = kernel_matrix(rows, rows, kernel, gamma, degree, scale, centre)
    means = K.mean(axis=0)
    values, vectors = eigh(K - means - means[:, None] + means.mean())
    used = values > 1e-10 * max(float(np.abs(K).max()), 1e-300)  # K: centring constant rows leaves rounding errors
    values, vectors = values[used][::-1], fix_signs(vectors[:, used][:, ::-1])
    span = KernelSpan(centre, scale, rows, vectors / np.sqrt(values), means, kernel, gamma, degree)
    return span, vectors * np.sqrt(values)


def column_span(
    X: Array, centre: Array, scale: float, *, kernel: Kernel, gamma: float, degree: int
) -> tuple[KernelColumns, Array]:
    """PCA of the kernel columns of rows, with all axes of non-zero variance; arguments as in ``kernel_span``.

    Returns
    -------
    span : KernelColumns
    coordinates : array of shape (n, p)
    """
    rows = (np.asarray(X, dtype=np.float64) - centre) / scale
    K = kernel_matrix(rows, rows, kernel, gamma, degree, scale, centre)
    means = K.mean(axis=0)
    _, sizes, axes = svd(K - means)
    used = sizes > 1e-10 * max(float(np.abs(K).max()), 1e-300)  # as in kernel_span: below are rounding errors
    axes = fix_signs(axes[used].T)
    return KernelColumns(centre, scale, rows, axes, means, kernel, gamma, degree), (K - means) @ axes


def kernel_matrix(
    A: Array, B: Array, kernel: Kernel, gamma: float, degree: int, scale: float = 1.0, centre: Any = 0.0
) -> Array:
    """Kernel matrix (m, n) between scaled rows A (m, d) and B (n, d); a callable gets them in the user's units.

    rbf ``exp(-γ|a-b|²)``, poly ``(γ a·b + 1)^degree``.
    """
    if callable(kernel):
        return np.asarray(kernel(A * scale + centre, B * scale + centre), dtype=np.float64)
    products = A @ B.T
    if kernel == "poly":
        return np.asarray((gamma * products + 1.0) ** degree)
    norms = (np.einsum("ij,ij->i", part, part) for part in (A, B))
    squares = np.add.outer(*norms) - 2.0 * products
    return np.asarray(np.exp(-gamma * np.maximum(squares, 0.0)))

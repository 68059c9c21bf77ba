r"""Kernel ridge regression from some columns to others, with everything chosen by leave-one-out errors.

    x̂(u) = ȳ + Σ_i a_i exp(-γ |w - w_i|² / p),      w = (u - ū) / s (p,),      a = (K + λ I)⁻¹ (y - ȳ)

s is one unit for all columns, or one for each; γ, λ and s are those of the least leave-one-out error on at most 500
rows, ``e_i = a_i / ((K + λI)⁻¹)_ii``. λ belongs to a kernel of height 1: it is the ratio of noise and signal, and does
not depend on the number of rows. With more rows than centres w_i (m of them, a sample) the sums over all rows are
enough: ``a = A⁻¹ K_mn (y - ȳ)``, ``A = K_mn K_nm + λ K_mm``; the leverage of row n is then ``k_nᵀ A⁻¹ k_n``.
Cost: O(500³) for each of six kernels, O(m³) for the coefficients, O(n m²) for the sums.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.lapack import dpotri

from sidelight.neighbours.distances import squared_distances
from sidelight.rows import Sums

__all__ = ["KernelRegression", "KernelShape", "best_shape", "fit_centres", "fit_sums", "kernel_sums"]

Array = npt.NDArray[Any]
_CHOSEN_ON = 500  # rows on which the kernel is chosen
_WIDTH, _TIMES = 1.0, (1 / 64, 1 / 16, 1 / 4, 4.0)  # γ with which units are chosen, and times which it is tried then
_PENALTIES = np.logspace(-5, 1, 13)  # λ
_TARGETS = 30  # principal components of y that errors are measured on
_NARROW = 1e-3  # least unit of a column, as a share of the root mean variance
_JITTER = 1e-9


@dataclass(frozen=True)
class KernelShape:
    """The selected parameters: origin ū (p,), units s √p (p,), γ and λ."""

    origin: Array
    units: Array
    gamma: float
    penalty: float

    def inside(self, U: Array) -> Array:
        """Rows (m, p) in units of the kernel."""
        return np.asarray((np.asarray(U, dtype=np.float64) - self.origin) / self.units)

    def kernel(self, W: Array, centres: Array) -> Array:
        """Kernel (m, k) between rows in units of the kernel."""
        return np.asarray(np.exp(-self.gamma * squared_distances(W, centres)))


@dataclass(frozen=True)
class KernelRegression:
    """Fitted regression of one view.

    Parameters
    ----------
    view : int
        Number of the view that is predicted.
    shape : KernelShape
    centres : array of shape (m, p)
        In units of the kernel.
    coefficients : array of shape (m, e)
    mean : array of shape (e,)
    error : float
        Squared leave-one-out error, as a share of the variance.
    left_out : array of shape (r, e) or None
        Leave-one-out errors of the first rows of the fit; None: dropped, once intervals are calibrated by them.
    """

    view: int
    shape: KernelShape
    centres: Array
    coefficients: Array
    mean: Array
    error: float
    left_out: Array | None = None

    def predict(self, U: Array) -> Array:
        """Predicted rows (m, e) at rows U (m, p)."""
        K = self.shape.kernel(self.shape.inside(U), self.centres)
        return np.asarray(self.mean + K @ self.coefficients)


def best_shape(U: Array, Y: Array) -> KernelShape | None:
    """The kernel with the least leave-one-out error, of rows U (n, p) and Y (n, e) in random order.

    None where one of both is constant, or there are fewer than three rows.
    """
    if len(U) < 3:
        return None
    U, Y = np.asarray(U[:_CHOSEN_ON], dtype=np.float64), np.asarray(Y[:_CHOSEN_ON], dtype=np.float64)
    origin, deviation = U.mean(axis=0), U.std(axis=0)
    T = _compressed(Y - Y.mean(axis=0))
    common, total = float(np.sqrt(np.mean(deviation**2))), float((T**2).sum())
    if not common > 0.0 or not total > 0.0:
        return None
    root = np.sqrt(U.shape[1])

    def tried(units: Array, gamma: float) -> tuple[float, KernelShape]:
        W = (U - origin) / units
        errors = _left_out(np.exp(-gamma * squared_distances(W, W)), T)
        best = len(errors) - 1 - int(np.argmin(errors[::-1]))  # the largest penalty of ties
        return float(errors[best]), KernelShape(origin, units, gamma, float(_PENALTIES[best]))

    kinds = (np.full(len(origin), common), np.maximum(deviation, _NARROW * common))
    first = min((tried(units * root, _WIDTH) for units in kinds), key=lambda one: one[0])
    others = (tried(first[1].units, _WIDTH * times) for times in _TIMES)
    return min((first, *others), key=lambda one: one[0])[1]


def fit_centres(view: int, shape: KernelShape, U: Array, Y: Array) -> KernelRegression:
    """Regression on all rows U (n, p), Y (n, e), each of them a centre."""
    W, mean = shape.inside(U), Y.mean(axis=0)
    K = shape.kernel(W, W)
    K[np.diag_indices_from(K)] += shape.penalty
    inverse = dpotri(cho_factor(K, lower=True)[0], lower=1)[0]
    inverse = np.tril(inverse) + np.tril(inverse, -1).T
    a = inverse @ (Y - mean)
    left = a / np.diag(inverse)[:, None]
    return KernelRegression(view, shape, W, a, mean, _share(left, Y), left)


def kernel_sums(shape: KernelShape, centres: Array, U: Array, Y: Array) -> Sums:
    """Sums over a block of rows U (n, p), Y (n, e) for :func:`fit_sums`; centres (m, p) in units of the kernel."""
    K = shape.kernel(shape.inside(U), centres)
    return {"products": K.T @ K, "first": K.sum(axis=0), "shared": K.T @ Y, "targets": Y.sum(axis=0), "n": _count(Y)}


def fit_sums(view: int, shape: KernelShape, centres: Array, sums: Sums, U: Array, Y: Array) -> KernelRegression:
    """Regression from the sums of :func:`kernel_sums` over all rows; its error is that of some of them, U and Y."""
    mean = sums["targets"] / max(float(sums["n"]), 1.0)
    A = sums["products"] + shape.penalty * shape.kernel(centres, centres)
    A[np.diag_indices_from(A)] += _JITTER * float(np.trace(A)) / len(A)
    factor = cho_factor(A, lower=True)
    a = cho_solve(factor, sums["shared"] - np.outer(sums["first"], mean))
    K = shape.kernel(shape.inside(U), centres)
    leverage = np.einsum("nm,mn->n", K, cho_solve(factor, K.T))
    left = (Y - mean - K @ a) / np.maximum(1.0 - leverage, 1e-6)[:, None]
    return KernelRegression(view, shape, centres, a, mean, _share(left, Y), left)


def _share(left: Array, Y: Array) -> float:
    """Squared errors (n, e), as a share of the variance of rows (n, e)."""
    return float((left**2).sum() / max(float(((Y - Y.mean(axis=0)) ** 2).sum()), 1e-300))


def _count(Y: Array) -> Array:
    return np.array(float(len(Y)))


def _compressed(Y: Array) -> Array:
    """Principal components (n, at most 30) of centred rows (n, e): errors of them are those of the rows."""
    if Y.shape[1] <= _TARGETS:
        return Y
    U, lengths, _ = np.linalg.svd(Y, full_matrices=False)
    return np.asarray(U[:, :_TARGETS] * lengths[:_TARGETS])


def _left_out(K: Array, T: Array) -> Array:
    """Sum of squared leave-one-out errors for each of the penalties."""
    values, vectors = np.linalg.eigh(K)
    values, along, squares = np.maximum(values, 0.0), vectors.T @ T, vectors**2
    errors = []
    for penalty in _PENALTIES:
        inverse = 1.0 / (values + penalty)
        left = (vectors @ (inverse[:, None] * along)) / (squares @ inverse)[:, None]
        errors.append(float((left**2).sum()))
    return np.array(errors)

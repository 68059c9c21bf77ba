"""The obvious implementation of the plain objective: what one would write from the paper, in NumPy.

    -I = -(1/n) Σ_i log Σ_j kx_ij kz_ij + (1/n) Σ_i log Σ_j kz_ij,     gradient by W_ij = (1/s_i + 1/s_j) m_ij kz_ij

Broadcasting differences, whole n × n arrays, float64. It is the measure of ``exact_gradient`` and an oracle of tests.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

__all__ = ["gaussian_kernel", "negative_information"]


def gaussian_kernel(A: Array, bandwidth: float = 1.0) -> Array:
    """``exp(-|a_i - a_j|² / bandwidth)`` (n, n)."""
    differences = A[:, None, :] - A[None, :, :]
    kernel: Array = np.exp(-(differences**2).sum(axis=-1) / bandwidth)
    return kernel


def negative_information(K: Array, Z: Array) -> tuple[float, Array]:
    """``H(X,Z) - H(Z)`` and its gradient (n, q), for the data kernel ``K`` (n, n)."""
    n = len(Z)
    differences = Z[:, None, :] - Z[None, :, :]
    latent = np.exp(-(differences**2).sum(axis=-1))
    value, gradient = 0.0, np.zeros(Z.shape)
    for coefficient, product in ((-1.0, latent), (1.0, K * latent)):
        sums = product.sum(axis=1)
        value -= coefficient * float(np.mean(np.log(sums)))
        W = (1 / sums[:, None] + 1 / sums[None, :]) * product
        gradient += coefficient * (2 / n) * (W[:, :, None] * differences).sum(axis=1)
    return value, gradient

"""Penalties that bound the scale of an embedding: power, box and stretch.

    power    (1/n) Σ_ik |z_ik|^p                              p = 2, or 4 to align with the axes (S0 3.1.1)
    box      (1/n) Σ_ik max(|z_ik| - 1, 0)²                   free inside the unit box
    stretch  (1/n) Σ_ij p_ij |z_i - z_j|² + ε (1/n) Σ_i |z_i|²

Power and box penalise the *position* of a point: a long sheet is squeezed into a disc (under a power penalty a
direction of spread σ grows like σ^(1/2) at most: docs/decisions/0001). Stretch penalises the distance between
*neighbours*, with p the data kernel scaled to unit mean row sum. It is the same in every direction, so sheets keep
their shape. Its small power term (ε) keeps disconnected components from drifting apart. All are means over samples.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from sidelight.base.types import Array, SparseMatrix
from sidelight.kernels.low_rank import LowRankKernel
from sidelight.kernels.matrices import SymmetricTiles, matrix_rows

from .evaluation import Evaluation, Objective

__all__ = ["PENALTIES", "Box", "Power", "Stretch", "penalty_named"]


PENALTIES = ("stretch", "l2", "l4", "box")


class Power:
    """Power penalty ``(1/n) Σ |z|^p``."""

    def __init__(self, exponent: int) -> None:
        self.exponent = exponent

    def value_and_grad(self, Z: Array) -> Evaluation:
        """Its value and gradient ``(p/n) sign(z) |z|^(p-1)``."""
        n, p = len(Z), self.exponent
        size = np.abs(Z)
        inner = size ** (p - 1)
        return Evaluation(float((inner * size).sum()) / n, (p / n) * np.sign(Z) * inner, {})


class Box:
    """Box penalty ``(1/n) Σ max(|z| - 1, 0)²``."""

    def value_and_grad(self, Z: Array) -> Evaluation:
        """Its value and gradient ``(2/n) sign(z) max(|z| - 1, 0)``."""
        outside = np.maximum(np.abs(Z) - 1.0, 0.0)
        return Evaluation(float((outside**2).sum()) / len(Z), (2.0 / len(Z)) * np.sign(Z) * outside, {})


class Stretch:
    """Stretch penalty ``(1/n) Σ p_ij |z_i - z_j|² + ε (1/n) Σ |z_i|²`` (a Laplacian form); ε is ``background``."""

    def __init__(self, K: SymmetricTiles | SparseMatrix | LowRankKernel, *, background: float = 1e-3) -> None:
        n = matrix_rows(K)
        degree = np.asarray(K @ np.ones(n), dtype=np.float64)
        self.scale = n / float(degree.sum())
        self.degree = degree * self.scale
        self.K = K
        self.background = background

    def value_and_grad(self, Z: Array) -> Evaluation:
        """``(2/n) tr ZᵀLZ + (ε/n) |Z|²`` with ``L = diag(p1) - p``, and its gradient."""
        n = len(Z)
        LZ = self.degree[:, None] * Z - self.scale * self._product(Z)
        value = 2.0 * float(np.vdot(Z, LZ)) + self.background * float(np.vdot(Z, Z))
        return Evaluation(value / n, (4.0 * LZ + 2.0 * self.background * Z) / n, {})

    def _product(self, Z: Array) -> Array:
        """``K Z``: of a sparse kernel a column at a time, which takes SciPy a third of the time, with the same bits."""
        if isinstance(self.K, csr_array):
            return np.stack([np.asarray(self.K @ column) for column in np.ascontiguousarray(Z.T)], axis=1)
        return np.asarray(self.K @ Z)


def penalty_named(name: str, kernel: SymmetricTiles | SparseMatrix | LowRankKernel) -> Objective:
    """The penalty of this name (one of ``PENALTIES``); ``kernel`` (n, n) is the data kernel, for "stretch"."""
    if name == "stretch":
        return Stretch(kernel)
    return Box() if name == "box" else Power(2 if name == "l2" else 4)

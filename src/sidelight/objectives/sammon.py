"""Sammon's stress: relative errors of distances between latent points (Sammon 1969; S0 section 2.3.1).

    E(Z) = 1/c Σ_{i<j} (d_ij - δ_ij)² / d_ij        δ_ij = |z_i - z_j|,   c = Σ_{i<j} d_ij
    ∂E/∂z_i = -2/c Σ_j (d_ij - δ_ij) / (d_ij δ_ij) (z_i - z_j)

d (n, n) are the distances to keep. Division by d_ij makes small distances count more than in the stress of SMACOF.
Pairs at distance 0 have no relative error and must not occur.
Cost: O(n² q) time, O(n²) memory.
"""

from __future__ import annotations

import numpy as np

from sidelight.base.types import Array

from .evaluation import Evaluation

__all__ = ["SammonStress"]


_TOUCHING = 1e-12  # of the mean distance: latent points nearer than this have no direction from each other


class SammonStress:
    """``E(Z)`` of distances (n, n), symmetric and positive off the diagonal, with its gradient."""

    def __init__(self, distances: Array) -> None:
        self.distances = np.array(distances, dtype=np.float64)
        self.total = 0.5 * float(self.distances.sum())
        self.touching = _TOUCHING * float(self.distances.mean())
        np.fill_diagonal(self.distances, 1.0)

    def value_and_grad(self, Z: Array) -> Evaluation:
        """Value and gradient (n, q) at latent points Z (n, q)."""
        apart = np.sqrt(sum((column[:, None] - column) ** 2 for column in Z.T))
        error = (self.distances - apart) / self.distances
        np.fill_diagonal(error, 0.0)
        value = 0.5 * float((error**2 * self.distances).sum()) / self.total
        weights = error / np.maximum(apart, self.touching)
        gradient = (-2.0 / self.total) * (weights.sum(axis=1)[:, None] * Z - weights @ Z)
        return Evaluation(value, gradient, {})

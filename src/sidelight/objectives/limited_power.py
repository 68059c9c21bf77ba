"""An objective under the constraint tr C ≤ r on the power of the latent points (S0 3.21, S1 section 2).

    minimise f(Z)    with tr C = |Z|² / n ≤ r,    C = Zᵀ Z / n

For the mutual information the constraint is active: I grows when all points move apart. So f is minimised on the
sphere |Z|² = r n, as a function of free points W (n, q), centred to W' = W - mean:

    Z = W' √(r n) / |W'|        ∂f/∂W = √(r n) / |W'| · (G - Z ⟨G, Z⟩ / |Z|²),    G = ∂f/∂Z

f must not depend on the mean of Z, as the mutual information does not. At the minimum G is parallel to Z, and the
Lagrange multiplier is the weight λ with which the penalty λ |Z|² / n has the same minimum: ``λ = -⟨G, Z⟩ / (2 r)``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sidelight.base.types import Array

from .evaluation import Evaluation, Objective

__all__ = ["LimitedPower", "power"]


def power(Z: Array) -> float:
    """``tr C = |Z - mean|² / n`` of points (n, q)."""
    return float(((Z - Z.mean(axis=0)) ** 2).sum()) / len(Z)


@dataclass(frozen=True)
class LimitedPower:
    """``f(Z(W))`` of an ``objective`` f, with Z(W) of power ``limit``."""

    objective: Objective
    limit: float

    def points(self, W: Array) -> Array:
        """The centred points Z (n, q) of power ``limit``; W must not be all equal."""
        centred = W - W.mean(axis=0)
        return np.asarray(centred * np.sqrt(self.limit / power(W)))

    def value_and_grad(self, W: Array) -> Evaluation:
        """Value, gradient in W, and the terms of f with the Lagrange multiplier."""
        Z = self.points(W)
        found = self.objective.value_and_grad(Z)
        along = float(np.vdot(found.gradient, Z)) / float(np.vdot(Z, Z))
        across = found.gradient - along * Z
        multiplier = -0.5 * len(Z) * along
        terms = {**found.terms, "multiplier": multiplier}
        return Evaluation(found.value, np.sqrt(self.limit / power(W)) * (across - across.mean(axis=0)), terms)

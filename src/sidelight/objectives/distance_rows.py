r"""Base class of Gram programs, independent of how rows are stored (``objectives.gram``, ``objectives.action_gram``).

    maximise  tr K - ½ Σ_r σ_r s_r²     A d²(K) - s {=, ≤} b

A program implements its residual ``A d²(V) - b``. Violations, primal and dual objective and the multipliers of the
augmented Lagrangian follow from that.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from sidelight.base.types import Array

__all__ = ["DistanceRows", "Multipliers", "count_pieces", "mean_size", "row_sizes"]


class Multipliers(NamedTuple):
    """Augmented Lagrangian: next multipliers t (R,), stiffness ρκ of the active rows (R,), and its value."""

    next: Array
    stiffness: Array
    value: float


class DistanceRows(ABC):
    """Linear constraints on squared distances: bounds b (R,), ``equal`` or ≤ (R,), weights σ (R,) of their slack."""

    bounds: Array
    equal: Array
    weights: Array

    @abstractmethod
    def residual(self, V: Array) -> Array:
        """``A d²(V) - b`` (R,)."""

    def violation(self, V: Array) -> Array:
        """Violation of each constraint (R,), 0 where it holds."""
        c = self.residual(V)
        return np.where(self.equal, np.abs(c), np.maximum(c, 0.0))

    def dual_value(self, y: Array, weights: Array | None = None) -> float:
        """Dual objective ``bᵀy + Σ y²/(2σ)``."""
        weights = self.weights if weights is None else weights
        return float(self.bounds @ y + (y**2 / (2 * weights)).sum())

    def value(self, V: Array, weights: Array | None = None) -> float:
        """Primal objective: ``tr V Vᵀ`` less the cost of the slack of soft rows."""
        weights = self.weights if weights is None else weights
        soft = np.isfinite(weights)
        broken = self.violation(V)[soft]
        return float((V**2).sum() - 0.5 * (weights[soft] * broken**2).sum())

    def multipliers(self, V: Array, residual: Array, y: Array, rho: Array, weights: Array | None) -> Multipliers:
        """The augmented Lagrangian with penalties ρ (R,) at a centred V (n, r) of this residual (R,).

        ``f(V) = -|V|² + Σ_r (κ t̂² - y²)/(2ρ)``, ``t̂ = y + ρ (A d² - b)``, its positive part in ≤ rows, and t = κ t̂.
        """
        weights = self.weights if weights is None else weights
        kappa = np.where(np.isfinite(weights), weights / (rho + np.where(np.isfinite(weights), weights, 1.0)), 1.0)
        raw = y + rho * residual
        active = self.equal | (raw > 0)
        raw = np.where(active, raw, 0.0)
        value = -float((V**2).sum()) + float(((kappa * raw**2 - y**2) / (2 * rho)).sum())
        return Multipliers(kappa * raw, rho * kappa * active, value)


def count_pieces(pairs: Array, n: int) -> int:
    """Number of connected components of n points linked by pairs (p, 2)."""
    ends = pairs.astype(np.int32)
    graph = csr_array(coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(n, n)))
    return int(connected_components(graph, directed=False)[0])


def mean_size(bounds: Array) -> float:
    """Mean absolute value of the non-zero bounds: the unit of a program."""
    sized = np.abs(bounds[bounds != 0])
    return float(sized.mean()) if len(sized) else 1.0


def row_sizes(bounds: Array) -> Array:
    """Typical squared distance of each row (R,), by which penalties are divided."""
    return np.where(np.abs(bounds) > 1e-3, np.abs(bounds), np.where(bounds == 0, 1.0, 1e-3))

r"""Divergence of a relation of one pair, whose transformation is that of the other relations.

A relation of one pair has P = ½ in all four entries (S0 4.3.1). With r = |R_c(z_i - z_j)|² and k = k(r),

    E_c(r) = -log 2 - ½ log k + log (1 + k),        dE_c/dr = (-d log k/dr) (1 - k) / (2 (1 + k)) ≥ 0

which is 0 if the two rows coincide *or* R_c = 0: there is no third row to keep apart from. A learned R_c shrinks to 0
(its gradient, 4.7, has its own sign), and a constant one is undone by shrinking Z while the other R_c grow. So the pair
is seen through the transformations of the others, whatever their units,

    r = δᵀ M δ,    M = D (D + L)⁻¹ D,    δ = z_i - z_j,    D = mean of R_cᵀR_c over the relations that are not labels
                                                           L = mean of R_cᵀR_c over those that are

M is D on axes that labels do not use, and near 0 where they use an axis more than the others do: rows that correspond
may have different labels. With u = (D + L)⁻¹ D δ:

    ∂r/∂δ = 2 D u,    ∂r/∂D = u δᵀ + δ uᵀ - u uᵀ,    ∂r/∂L = -u uᵀ
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sidelight.base.types import Array
from sidelight.kernels.profiles import Profile

__all__ = ["PairEvaluation", "pair_divergence", "shared_metric"]


@dataclass(frozen=True)
class PairEvaluation:
    """Value of ``E_c`` and its gradients with respect to δ (q,), D (q, q) and L (q, q)."""

    value: float
    gap: Array
    metric: Array
    labels: Array


def pair_divergence(gap: Array, D: Array, L: Array, profile: Profile) -> PairEvaluation:
    """Divergence of one pair at the difference ``gap`` (q,) of its latent points, with its gradients.

    Parameters
    ----------
    gap : array of shape (q,)
        δ.
    D, L : arrays of shape (q, q)
        Mean R_cᵀR_c of the relations that are not labels, and of those that are.
    profile : Profile
        Latent kernel, with k(0) = 1.
    """
    u = np.linalg.pinv(D + L, hermitian=True) @ D @ gap
    r = np.array([max(float(gap @ D @ u), 0.0)])
    log_k = float(profile.log_value(r.copy())[0])
    k = np.maximum(profile.value(r.copy()), 1e-300)
    slope = float((profile.slope(k) / k * (1.0 - k) / (2.0 * (1.0 + k)))[0])
    value = -np.log(2.0) - 0.5 * log_k + np.log1p(np.exp(log_k))
    both, own = np.outer(u, gap), np.outer(u, u)
    return PairEvaluation(float(value), 2.0 * slope * (D @ u), slope * (both + both.T - own), -slope * own)


def shared_metric(D: Array, L: Array) -> Array:
    """A symmetric R (q, q) with RᵀR = M."""
    values, vectors = np.linalg.eigh(D @ np.linalg.pinv(D + L, hermitian=True) @ D)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)

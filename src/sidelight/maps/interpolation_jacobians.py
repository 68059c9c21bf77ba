"""Jacobian of the interpolating map of ``maps.interpolation``, in closed form.

    g(x) = Σ_a α_a u_a,    u_a = f_a + φ_a r_a
    J(x) = Σ_a α_a (J_a + r_a ∂φ_aᵀ) + Σ_a u_a ∂α_aᵀ

    ∂φ_a = -2 φ_a (x - x_a) / ℓ_a²
    α_a = s_a / Σ_b s_b,   s_a = max(R - |x - x_a|, 0),   ∂|x - x_a| = (x - x_a) / |x - x_a|

J_a is the Jacobian of the regression f_a (``maps.kernel_jacobians``). g is continuous, with kinks where R = |x - x_a|,
where the nearest or the fifth nearest row changes, and where R changes from 1.1 |x - x_1| to |x - x_5|; there J is the
derivative on one side. Near a training row α is 1 and g is smooth. Beyond ``nearby.MANY`` rows of more than 8 columns g
has small jumps besides (decision 0018), which no derivative shows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.base.tiles import run_tiles, spans
from sidelight.neighbours.distances import bounded
from sidelight.neighbours.search import distances_to_listed, nearest

from .interpolation import MARGIN, BackwardMap, Correction, InterpolatingMap, anchor_shares, first_few
from .kernel_jacobians import BUDGET, adaptive_slopes, fixed_slopes, kernel_jacobian, pulled, weighted_rows
from .nearby import is_many, row_search
from .weights import AdaptiveWeights, FixedWeights

__all__ = ["backward_jacobian", "correction_jacobian"]

Array = npt.NDArray[Any]
_NEAR = 5  # rows that shares depend on


def backward_jacobian(backward: BackwardMap, Q: Array, n_jobs: int | None = None, columns: int | None = None) -> Array:
    """Jacobians (m, r, p) of a backward map at queries (m, p), or by their first ``columns`` columns."""
    if not isinstance(backward, InterpolatingMap):
        return kernel_jacobian(backward, Q, n_jobs, columns)
    weights, V = backward.mean.weights, backward.outputs
    if not isinstance(weights, FixedWeights | AdaptiveWeights):
        raise TypeError("a map from distances has no columns to differentiate by")
    p = weights.inputs.shape[1] if columns is None else columns
    inputs = weights.inputs[:, :p]

    def one(rows: slice) -> Array:
        part = bounded(np.asarray(Q[rows], dtype=np.float64))
        near, distance = _near(weights, part)
        share, moves = _shares(distance)
        if isinstance(weights, AdaptiveWeights):
            J, means = _on_lists(weights, V, part, near, share, inputs)
        else:
            C, f = pulled(found := fixed_slopes(weights, part), V)
            J, means = weighted_rows(C, found.index, inputs, part[:, :p]), np.repeat(f[:, None], share.shape[1], axis=1)
        return J + _of_shares(backward.correction, means, part[:, :p], inputs, near, distance, share, moves)

    listed = isinstance(weights, AdaptiveWeights) or is_many(weights.inputs)
    wide = max((60 if listed else len(V)) * V.shape[1], V.shape[1] * p, 60 * p, len(V))
    parts = run_tiles(one, spans(len(Q), max(1, min(512, BUDGET // wide))), n_jobs)
    return np.concatenate(parts) if parts else np.empty((0, V.shape[1], p))


def correction_jacobian(correction: Correction, inputs: Array, Q: Array) -> Array:
    """Jacobians (m, r, p) of a correction ``Σ_a α_a φ_a r_a`` at queries (m, p), from rows ``inputs`` (n, p)."""
    near, distance = _nearest_few(inputs, bounded(Q))
    share, moves = _shares(distance)
    none = np.zeros((len(Q), share.shape[1], correction.residuals.shape[1]))
    return _of_shares(correction, none, Q, inputs, near, distance, share, moves)


def _on_lists(
    weights: AdaptiveWeights, V: Array, Q: Array, near: Array, share: Array, inputs: Array
) -> tuple[Array, Array]:
    """``Σ_a α_a J_a`` (m, r, p), and f_a (m, K, r) of the anchors with a share."""
    p, K = inputs.shape[1], share.shape[1]
    J, means = np.zeros((len(Q), V.shape[1], p)), np.zeros((len(Q), K, V.shape[1]))
    for a in range(K):
        at = np.flatnonzero(share[:, a])
        if at.size:
            found = adaptive_slopes(weights, Q[at], near[at, a])
            C, means[at, a] = pulled(found, V)
            J[at] += share[at, a, None, None] * weighted_rows(C, found.index, inputs, Q[at, :p])
    return J, means


def _of_shares(
    correction: Correction,
    means: Array,
    Q: Array,
    inputs: Array,
    near: Array,
    distance: Array,
    share: Array,
    moves: Array,
) -> Array:
    """``Σ_a α_a r_a ∂φ_aᵀ + u_a ∂α_aᵀ`` (m, r, p), from f_a ``means`` (m, K, r)."""
    K = share.shape[1]
    anchors = near[:, :K]
    falloff, residuals = correction.falloff[anchors], correction.residuals[anchors]
    held = np.exp(-falloff * np.where(share > 0, distance[:, :K], 0.0) ** 2)
    G = np.einsum("mab,mar->mbr", moves, means + held[:, :, None] * residuals)
    G[:, :K] -= (2.0 * share * falloff * held)[:, :, None] * residuals
    return -weighted_rows(G, near, inputs, Q)


def _shares(distance: Array) -> tuple[Array, Array]:
    """Shares α (m, K), and M (m, K, L) with ``∂α_a = Σ_b M_ab (x - x_b)`` over the L nearest rows."""
    share = anchor_shares(distance)
    m, K = share.shape
    L = distance.shape[1]
    slopes = np.zeros((m, K, L))  # of s_a along ∂|x - x_b|
    reach = np.zeros((m, L))  # of R
    by_fifth = (distance[:, -1] < (1 + MARGIN) * distance[:, 0]) if L == _NEAR else np.zeros(m, dtype=bool)
    reach[~by_fifth, 0], reach[by_fifth, -1] = 1 + MARGIN, 1.0
    active = share > 0
    slopes[:, np.arange(K), np.arange(K)] = -1.0
    slopes += reach[:, None, :]
    slopes *= active[:, :, None]
    within = np.where(by_fifth, distance[:, -1], (1 + MARGIN) * distance[:, 0])
    total = (active * np.maximum(within[:, None] - distance[:, :K], 0.0)).sum(axis=1)
    moves = slopes - share[:, :, None] * slopes.sum(axis=1, keepdims=True)
    scale = np.divide(1.0, total[:, None] * distance, out=np.zeros_like(distance), where=total[:, None] * distance > 0)
    return share, moves * scale[:, None, :]


def _near(weights: FixedWeights | AdaptiveWeights, Q: Array) -> tuple[Array, Array]:
    """The five nearest rows (m, L) of each query as the map finds them, nearest first, and their distances."""
    if isinstance(weights, AdaptiveWeights) and is_many(weights.inputs) and not weights.search.is_exact:
        Q = weights.search.within(Q)
        return first_few(*weights.nearest_lists(Q, weights.near(Q, n_jobs=1)))
    return _nearest_few(weights.inputs, Q)


def _nearest_few(inputs: Array, Q: Array) -> tuple[Array, Array]:
    if is_many(inputs):
        near = row_search(inputs).nearest(Q, _NEAR, 1).index
    else:
        near = nearest(inputs, Q, k=min(_NEAR, len(inputs)), n_jobs=1).index
    return near, distances_to_listed(Q, inputs, near)

"""Jacobians of kernel regressions, in closed form.

    f(x) = Σ_j w_j(x) v_j,      J(x) = Σ_j v_j (∂w_j / ∂x)ᵀ                          v (n, r), x (p,), J (r, p)

    fixed     ∂ log k_j / ∂x = κ_j (x_j - x),    κ_j = 2 s_j / h,    s = -d log k / d r²
              J = Σ_j w_j κ_j (v_j - f) (x_j - x)ᵀ
    adaptive  the entropy of w stays as it is, so that β moves with x: ∂β = -β cov_w(e, ∂e) / var_w(e), e_j = |x - x_j|²
              J = 2β cov_w(v - e cov_w(v, e) / var_w(e), x_j)

These are the derivatives of what ``maps.kernel_map`` computes. The weights are smooth while the rows that have one stay
the same. They change where another row becomes the nearest (adaptive weights), or, beyond ``nearby.MANY`` rows, one of
the 60 nearest (fixed weights), and where a quartic kernel ends: there J is the derivative on the side of x.

Cost: as the map, times the smaller one of r and p. Each query by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from sidelight.base.tiles import run_tiles, spans
from sidelight.kernels.bandwidths import quick_rows
from sidelight.neighbours.distances import bounded, padded_product, squared_distances
from sidelight.neighbours.search import squares_to_listed

from .kernel_map import KernelMap
from .nearby import is_many
from .weights import AdaptiveWeights, FixedWeights

__all__ = ["BUDGET", "LogSlopes", "adaptive_slopes", "fixed_slopes", "kernel_jacobian", "pulled", "weighted_rows"]

Array = npt.NDArray[Any]
BUDGET = 2_000_000
"""Numbers in the temporaries of one tile."""
_STILL = 1e-12  # variance of the energies below which weights are all on rows that tie, and do not move


@dataclass(frozen=True)
class LogSlopes:
    """Weights of training rows at queries, and how their logarithms change: ``∂ log w_j = κ_j (x_j - x) - ...``.

    Parameters
    ----------
    index : array of shape (m, k) or None
        Rows that have weights; None: all n.
    weights : array of shape (m, k)
    pull : array of shape (m, k)
        κ above.
    energy : array of shape (m, k) or None
        Of adaptive weights: (e_j - mean) / standard deviation under the weights; directions along it do not count.
    """

    index: Array | None
    weights: Array
    pull: Array
    energy: Array | None = None


def kernel_jacobian(mapped: KernelMap, Q: Array, n_jobs: int | None = None, columns: int | None = None) -> Array:
    """Jacobians (m, r, p) of a kernel regression at queries (m, p), or by their first ``columns`` columns.

    Examples
    --------
    >>> line = KernelMap(FixedWeights(np.array([[0.0], [1.0]]), 1.0), np.array([[0.0], [2.0]]))
    >>> kernel_jacobian(line, np.array([[0.5]])).round(6)  # 2 cov(v, x) / h, both of variance 1/4 and 1
    array([[[1.]]])
    """
    weights, V = mapped.weights, mapped.outputs
    if not isinstance(weights, FixedWeights | AdaptiveWeights):
        raise TypeError("a map from distances has no columns to differentiate by")
    p = weights.inputs.shape[1] if columns is None else columns
    inputs = weights.inputs[:, :p]

    def one(rows: slice) -> Array:
        part = bounded(np.asarray(Q[rows], dtype=np.float64))
        found = adaptive_slopes(weights, part) if isinstance(weights, AdaptiveWeights) else fixed_slopes(weights, part)
        if V.shape[1] <= p:
            return weighted_rows(pulled(found, V)[0], found.index, inputs, part[:, :p])
        return _by_inputs(found, part[:, :p], inputs, V)

    listed = isinstance(weights, AdaptiveWeights) or is_many(weights.inputs)
    wide = max((60 if listed else len(V)) * min(V.shape[1], p), V.shape[1] * p, len(V))
    tile = max(1, min(512, BUDGET // wide))
    parts = run_tiles(one, spans(len(Q), tile), n_jobs)
    return np.concatenate(parts) if parts else np.empty((0, V.shape[1], p))


def fixed_slopes(weights: FixedWeights, Q: Array) -> LogSlopes:
    """Weights with one bandwidth at queries (m, p), and their slopes."""
    if is_many(weights.inputs):
        index = weights.near(Q, n_jobs=1)
        index, W = weights.listed(Q, index)
        R = squares_to_listed(weights.search.within(Q), weights.inputs, index).astype(np.float64)
    else:
        p = weights.inputs.shape[1] - (0 if weights.side is None else len(weights.side.scales))
        index, W = None, weights.matrix(Q)
        R = squared_distances(Q[:, :p], weights.inputs[:, :p])
    bandwidth, own = weights.bandwidths_of(index), weights.shape
    R /= bandwidth
    with np.errstate(invalid="ignore"):  # infinity less infinity where a quartic kernel has ended
        slope = np.exp(own.log_slope(R) - own.log_value(R))
    slope = np.where(np.isfinite(slope) & (W > 0), slope, 0.0)
    return LogSlopes(index, np.asarray(W, dtype=np.float64), slope * (2.0 / bandwidth))


def adaptive_slopes(weights: AdaptiveWeights, Q: Array, anchor: Array | None = None) -> LogSlopes:
    """Adaptive weights at queries (m, p), on the lists of the rows ``anchor`` (m,) or of the nearest, and slopes."""
    if anchor is None:
        candidates, E = weights.nearest_lists(Q, weights.near(Q, n_jobs=1))
    else:
        candidates = np.column_stack([anchor, weights.lists[anchor]])
        E = squares_to_listed(Q, weights.inputs, candidates)
    E = E.astype(np.float64, copy=False)
    W = quick_rows(E, weights.perplexity)  # as the map's own, in a fifth of the time
    away = E - np.einsum("mk,mk->m", W, E)[:, None]
    variance = np.einsum("mk,mk,mk->m", W, away, away)
    logs = np.log(np.where(W > 0, W, 1.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        beta = -np.einsum("mk,mk,mk->m", W, logs, away) / variance  # log w = -β e + constant: its slope along e
        still = ~(beta**2 * variance > _STILL)
        energy = away / np.sqrt(variance)[:, None]
    beta[still], energy[still] = 0.0, 0.0
    return LogSlopes(candidates, W, np.broadcast_to(2.0 * beta[:, None], W.shape), energy)


def pulled(slopes: LogSlopes, V: Array) -> tuple[Array, Array]:
    """Coefficients C (m, k, r) with ``J = Σ_j C_j (x_j - x)ᵀ``, and the regression f (m, r) of outputs V (n, r)."""
    W, index = slopes.weights, slopes.index
    B = np.asarray(V, dtype=np.float64) if index is None else V[index].astype(np.float64, copy=False)
    f = padded_product(W, B) if index is None else np.einsum("mk,mkr->mr", W, B)
    C = B - f[:, None, :]
    if slopes.energy is not None:
        along = np.einsum("mk,mk,mkr->mr", W, slopes.energy, C)
        C -= slopes.energy[:, :, None] * along[:, None, :]
    C *= (W * slopes.pull)[:, :, None]
    return C, f


def weighted_rows(C: Array, index: Array | None, inputs: Array, Q: Array) -> Array:
    """``Σ_j C_jr (x_j - x)`` (m, r, p) of coefficients C (m, k, r), rows x_j of ``inputs`` (n, p) and queries x (m, p).

    ``index`` (m, k): the numbers of the rows; None: all.
    """
    m, k, r = C.shape
    by_row = np.ascontiguousarray(C.transpose(0, 2, 1)).reshape(m * r, k)
    total = by_row.sum(axis=1).reshape(m, r)
    found = _products(by_row, None if index is None else np.repeat(index, r, axis=0), inputs).reshape(m, r, -1)
    return np.asarray(found - total[:, :, None] * Q[:, None, :])


def _by_inputs(slopes: LogSlopes, Q: Array, inputs: Array, V: Array) -> Array:
    """The Jacobian (m, r, p) by way of ``∂w_j`` (m, k, p), for few columns and many outputs."""
    W, index = slopes.weights, slopes.index
    G = (inputs[None] if index is None else inputs[index]) - Q[:, None, :]
    G = slopes.pull[:, :, None] * G
    G -= np.einsum("mk,mkp->mp", W, G)[:, None, :]
    if slopes.energy is not None:
        along = np.einsum("mk,mk,mkp->mp", W, slopes.energy, G)
        G -= slopes.energy[:, :, None] * along[:, None, :]
    G *= W[:, :, None]
    m, k, p = G.shape
    by_row = np.ascontiguousarray(G.transpose(0, 2, 1)).reshape(m * p, k)
    found = _products(by_row, None if index is None else np.repeat(index, p, axis=0), V)
    return np.asarray(found.reshape(m, p, -1).transpose(0, 2, 1))


def _products(C: Array, index: Array | None, A: Array) -> Array:
    """``Σ_j C[i, j] A[index[i, j]]`` in float64; each row by itself."""
    if index is None:
        return padded_product(C, A)
    m, k = C.shape
    matrix = csr_array((C.ravel().astype(A.dtype, copy=False), index.ravel(), np.arange(0, m * k + 1, k)), (m, len(A)))
    return np.asarray(matrix @ A, dtype=np.float64)

r"""Coordination of charts: charts should map shared rows to the same latent point (Verbeek et al. 2003, eqs. 8-15).

    Φ(L) = ½ Σ_st w_st Σ_n q_ns q_nt |L_sᵀ z_ns - L_tᵀ z_nt|²  =  tr Lᵀ B L,      z_ns = [f_s(x_n), 1] (p_s,)

q_ns (n, k) are the responsibilities, f_s the local features of chart s, L_s (p_s, q) its map into the latent space.
With w = 1 this is the source's objective and B = D - UᵀU, U the rows [q_n1 z_n1, ..., q_nk z_nk], D the blocks below.
The eigenvalues of interest are 1e-5 to 1e-13 of those of D, so B is not computed as that difference, but from sums
without cancellation:

    T_st = Σ_n q_ns q_nt z_ns z_nsᵀ,      B_ss = Σ_{t≠s} w_st T_st,      B_st = -w_st U_sᵀU_t,      D_s = Σ_t T_st

**Balance.** In the source a pair of charts is weighted by the rows it shares, m_st = Σ_n q_ns q_nt. A chart that shares
few rows is nearly unconstrained, and a latent axis may then describe this chart alone. Weighting by rows is right if
the disagreement of a pair is noise. If it is curvature, which does not average out, pairs should have equal weights.
Between the two,

    w_st = (1 + ε) / (m_st / √(n_s n_t) + ε),      n_s = Σ_n q_ns,      ε = ∞: the source's objective.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sidelight.base.types import Array, Slice
from sidelight.rows import Sums

__all__ = [
    "Overlaps",
    "bridging",
    "covariance",
    "distortion",
    "off_plane_share",
    "overlap_sums",
    "overlaps_of",
    "unfolded",
]


_BRIDGE = 0.1, 6.0  # thresholds of the off-plane share of a chart's variance: absolute, and relative to the median


@dataclass(frozen=True)
class Overlaps:
    """Sums over rows shared by charts.

    Parameters
    ----------
    products : array of shape (p, p)
        UᵀU.
    shared : tuple of k arrays of shape (k, p_s, p_s)
        T_st of each chart s.
    n : float
        Number of rows.
    """

    products: Array
    shared: tuple[Array, ...]
    n: float

    @property
    def blocks(self) -> tuple[Slice, ...]:
        """Slice of each chart in ``products``."""
        ends = np.cumsum([0, *(T.shape[1] for T in self.shared)])
        return tuple(slice(int(a), int(b)) for a, b in pairwise(ends))

    @property
    def moments(self) -> tuple[Array, ...]:
        """``D_s = Σ_n q_ns z_ns z_nsᵀ`` of each chart."""
        return tuple(T.sum(axis=0) for T in self.shared)

    @property
    def rows(self) -> Array:
        """``n_s`` (k,): number of rows of each chart."""
        return np.array([D[-1, -1] for D in self.moments])

    def disagreement(self, balance: float = np.inf) -> Array:
        """``B`` (p, p), positive semidefinite; ``balance`` is ε."""
        W = self._weights(balance)
        sizes = [T.shape[1] for T in self.shared]
        B = -self.products * np.repeat(np.repeat(W, sizes, axis=0), sizes, axis=1)
        for s, (block, T) in enumerate(zip(self.blocks, self.shared, strict=True)):
            others = np.where(np.arange(len(W)) == s, 0.0, W[s])
            B[block, block] = np.tensordot(others, T, axes=1)
        return np.asarray(0.5 * (B + B.T))

    def along(self, axes: Sequence[Array]) -> Array:
        """Variance of each chart within its plane, ``tr W_s C_s W_sᵀ`` (k,); ``axes`` are W_s (d, q_s) in the data."""
        found = np.zeros(len(axes))
        for s, (D, W) in enumerate(zip(self.moments, axes, strict=True)):
            if W.shape[1]:
                C = covariance(D)[1]
                found[s] = np.einsum("ij,di,dj->", C, W, W)
        return found

    def constant(self) -> Array:
        """The trivial solution (p,), which maps every row to 1."""
        v = np.zeros(len(self.products))
        v[[block.stop - 1 for block in self.blocks]] = 1.0
        return v

    def _weights(self, balance: float) -> Array:
        k = len(self.shared)
        if not np.isfinite(balance):
            return np.ones((k, k))
        mass = np.stack([T[:, -1, -1] for T in self.shared])
        size = np.sqrt(np.maximum(self.rows, 1e-300))
        share = 0.5 * (mass + mass.T) / np.outer(size, size)
        return np.asarray((1.0 + balance) / (share + balance))


def covariance(D: Array) -> tuple[Array, Array]:
    """Mean (p - 1,) and covariance (p - 1, p - 1) of the local features of a chart, from its ``D_s`` (p, p)."""
    rows = max(float(D[-1, -1]), 1e-300)
    mean = D[:-1, -1] / rows
    return mean, np.asarray(D[:-1, :-1] / rows - np.outer(mean, mean))


def unfolded(Q: Array, features: Sequence[Array]) -> Array:
    """``U`` (m, p), whose rows are [q_n1 z_n1, ..., q_nk z_nk], so that latent points are U L."""
    return np.concatenate(
        [Q[:, s : s + 1] * np.column_stack([F, np.ones(len(Q))]) for s, F in enumerate(features)], axis=1
    )


def overlap_sums(Q: Array, features: Sequence[Array]) -> Sums:
    """Overlap sums of a block of rows, from responsibilities ``Q`` (m, k) and local features f_s (m, p_s - 1)."""
    Z = [np.column_stack([F, np.ones(len(Q))]) for F in features]
    U = unfolded(Q, features)
    T = [_outer(own).T @ (Q[:, s : s + 1] * Q) for s, own in enumerate(Z)]
    return {"products": U.T @ U, "shared": np.concatenate(T), "n": np.array(float(len(Q)))}


def _outer(Z: Array) -> Array:
    return np.asarray((Z[:, :, None] * Z[:, None, :]).reshape(len(Z), -1))


def overlaps_of(sums: Sums, n_local: Sequence[int]) -> Overlaps:
    """Overlaps from the sums over all rows; ``n_local`` are the local coordinates of each chart."""
    sizes = [q + 1 for q in n_local]
    ends = np.cumsum([0, *(p * p for p in sizes)])
    parts = (sums["shared"][a:b].T for a, b in pairwise(ends))
    shared = tuple(part.reshape(-1, p, p) for part, p in zip(parts, sizes, strict=True))
    return Overlaps(sums["products"], shared, float(sums["n"]))


def distortion(slopes: Sequence[Array], axes: Sequence[Array], rows: Array) -> float:
    r"""Distortion of the coordinated charts: 0 if the embedding is an isometry up to one common linear map.

        M_s = J_s J_sᵀ,  J_s = A_sᵀ (W_sᵀW_s)^(-1/2),      mean_s |M̄^(-1/2) M_s M̄^(-1/2) - I|² / q

    A_s (q_s, q) are the slopes of L_s and W_s (d, q_s) the axes of the chart in the data, so that J_s takes a step
    along the chart, in units of the data, to a step in the latent space. Weighted by ``rows``.
    """
    metrics = np.stack([_metric(A, W) for A, W in zip(slopes, axes, strict=True)])
    share = rows / max(float(rows.sum()), 1e-300)
    values, vectors = np.linalg.eigh(np.tensordot(share, metrics, axes=1))
    if not values[0] > 1e-12 * values[-1]:
        return np.inf
    root = vectors / np.sqrt(values)
    away = root.T @ metrics @ root - np.eye(len(values))
    return float(share @ (away**2).sum(axis=(1, 2))) / len(values)


def _metric(A: Array, W: Array) -> Array:
    if A.shape[0] == 0:
        return np.zeros((A.shape[1], A.shape[1]))
    values, vectors = np.linalg.eigh(W.T @ W)
    J = A.T @ (vectors / np.sqrt(np.maximum(values, max(1e-12 * values[-1], 1e-300))))
    return np.asarray(J @ J.T)


def off_plane_share(off: Array, along: Array) -> Array:
    """Share (k,) of each chart's variance ``off`` its plane, from the variances (k,) off and along it."""
    total = off + along
    return np.where(total > 0, off / np.where(total > 0, total, 1.0), 0.0)


def bridging(shares: Array) -> Array:
    """Which charts (k,) cut across the manifold: their off-plane share of variance is far above that of the others.

    >>> bridging(np.array([0.01, 0.02, 0.01, 0.4]))
    array([False, False, False,  True])
    """
    share, times = _BRIDGE
    return np.asarray((shares > share) & (shares > times * np.median(shares)))

"""Weighted sums of a latent kernel over all pairs: by FFT where that is cheaper, otherwise pair by pair.

    sums   (K w)_i = Σ_j w_j k(|z_i - z_j|²)          pulls  (P w)_i = Σ_j w_j g(|z_i - z_j|²) (z_i - z_j)

Pulls are gradients of sums, up to a factor. Cost of the pairs: O(n² (q + c)) time, O(tile · n) memory.
``kernels.gauss_transform`` has the FFT.

A second kernel m_ij = a_i·a_j with few factors A (n, r) can multiply k: (K m w)_i = Σ_r A_ir (K (w A_r))_i.
"""

from __future__ import annotations

import numpy as np

from sidelight.base.tiles import run_tiles, spans, sum_in_order
from sidelight.base.types import Array, Slice
from sidelight.neighbours.distances import squared_distances

from .gauss_transform import FastSums, fast_sums
from .profiles import Profile
from .transform_plans import Plans

__all__ = ["PairSums", "factored_pulls", "factored_sums", "latent_sums", "sum_error"]


_BUDGET = 1_000_000  # numbers in one tile
_KEPT = 3000  # points up to which the kernel of the sums is cached for the pulls
_SINGLE = 1e-4  # tolerance from which on float32 is precise enough
_COLUMNS = 32  # of factors whose sums are in memory together
_CHECKED = 64  # rows a transform is checked on


def latent_sums(
    Z: Array,
    profile: Profile,
    *,
    tolerance: float | None = None,
    n_jobs: int | None = None,
    plans: Plans | None = None,
) -> FastSums | PairSums:
    """The cheaper of ``FastSums`` and ``PairSums`` for latent points ``Z`` (n, q).

    Parameters
    ----------
    Z : array of shape (n, q)
    profile : Profile
    tolerance : float or None
        Relative error allowed in a row sum. None: as exact as the method is.
    n_jobs : int or None
        Threads.
    plans : Plans or None
        Of transforms of other points.

    Returns
    -------
    FastSums or PairSums
    """
    found = fast_sums(Z, profile, n_jobs, tolerance=tolerance, plans=plans)
    return found or PairSums(Z, profile, n_jobs, single=tolerance is not None and tolerance >= _SINGLE)


def sum_error(sums: FastSums | PairSums, Z: Array, profile: Profile, *, seed: int = 0) -> float:
    """The largest relative error of a row sum on 64 random rows (0 for sums over pairs, which are exact)."""
    if isinstance(sums, PairSums):
        return 0.0
    n = len(Z)
    rows = np.sort(np.random.default_rng(seed).choice(n, min(n, _CHECKED), replace=False))
    exact = profile.value(squared_distances(Z[rows], Z)).sum(axis=1)
    return float(np.abs(sums.sums(np.ones((n, 1)))[rows, 0] / exact - 1).max())


def factored_sums(sums: FastSums | PairSums, A: Array, w: Array | None = None) -> Array:
    """``s_i = Σ_j w_j (a_i·a_j) k_ij`` (n,), for factors ``A`` (n, r); without ``w`` (n,) every weight is 1."""
    weight = 1.0 if w is None else w[:, None]
    some = (A[:, columns] for columns in spans(A.shape[1], _COLUMNS))
    return sum_in_order([np.einsum("ir,ir->i", part, sums.sums(weight * part)) for part in some])


def factored_pulls(sums: FastSums | PairSums, A: Array, v: Array, w: Array | None = None) -> Array:
    """``Σ_j w_j (a_i·a_j) g_ij (z_i - z_j) (v_i + v_j)`` (n, q), for factors ``A`` (n, r) and ``v`` (n,)."""
    weight = 1.0 if w is None else w[:, None]

    def some(part: Array) -> Array:
        own, others = np.split(sums.pulls(np.hstack([weight * part, weight * part * v[:, None]])), 2, axis=2)
        return np.asarray(np.einsum("ir,qir->iq", part, own * v[:, None] + others))

    return sum_in_order([some(A[:, columns]) for columns in spans(A.shape[1], _COLUMNS)])


class PairSums:
    """Sums and pulls of the kernel of the latent points ``Z`` (n, q), over all pairs; ``single``: in float32.

    Examples
    --------
    >>> from sidelight.kernels.profiles import STUDENT
    >>> PairSums(np.array([[0.0], [1.0]]), STUDENT).sums(np.ones((2, 1))).ravel()
    array([1.5, 1.5])
    """

    def __init__(self, Z: Array, profile: Profile, n_jobs: int | None = None, *, single: bool = False) -> None:
        self.Z, self.profile, self.n_jobs = np.asarray(Z, dtype=np.float64), profile, n_jobs
        self.columns = np.ascontiguousarray(self.Z.T, dtype=np.float32 if single else np.float64)
        self.parts = spans(len(Z), max(8, _BUDGET // len(Z)))
        self.kept: dict[int, Array] = {}

    def sums(self, W: Array) -> Array:
        """``Σ_j W_jc k_ij`` (n, c), for weights (n, c)."""
        W = W.astype(self.columns.dtype)
        return np.concatenate(run_tiles(lambda part: self._kernel(part) @ W, self.parts, self.n_jobs))

    def pulls(self, W: Array) -> Array:
        """``Σ_j W_jc g_ij (z_i - z_j)`` (q, n, c), for weights (n, c)."""
        q = self.Z.shape[1]
        moments = np.hstack([W, *(W * self.Z[:, k : k + 1] for k in range(q))]).astype(self.columns.dtype)

        def one(part: Slice) -> Array:
            summed = self.profile.slope(self._kernel(part)) @ moments
            own, *far = np.split(summed.astype(np.float64), q + 1, axis=1)
            return np.stack([self.Z[part, k : k + 1] * own - far[k] for k in range(q)])

        return np.concatenate(run_tiles(one, self.parts, self.n_jobs), axis=1)

    def _kernel(self, part: Slice) -> Array:
        """Kernel values of some rows (m, n); cached if there are few points."""
        if part.start in self.kept:
            return self.kept[part.start]
        R = sum_in_order([np.square(column[part, None] - column) for column in self.columns])
        K = self.profile.value(R)
        if len(self.Z) <= _KEPT:
            self.kept[part.start] = K
        return K

"""Low-rank approximation of a data kernel, corrected for near pairs: the broad part in factors, the near pairs exact.

    K  ≈  F Fᵀ + N        F (n, r),    N sparse:  n_ij = k_ij - f_i·f_j  for near pairs and the diagonal, else 0

A Gaussian or Student kernel is positive semidefinite. Of m landmarks, evenly spread rows, pivoted Cholesky (the largest
residual first) drops those that are linear combinations of others; with K_mm = L Lᵀ, the Nyström kernel of all rows is
C K_mm⁻¹ Cᵀ, C = k(rows, landmarks), and a sixth as many of its eigenvectors are nearly as good:

    F = C L⁻ᵀ V,      V the leading eigenvectors of L⁻¹ CᵀC L⁻ᵀ

The residual is positive semidefinite, so that |k_ij - f_i·f_j|² ≤ e_i e_j with e_i = 1 - |f_i|². But with many columns
every row has a part of its own, e_i is large for any r, and the *near* pairs are wrong. So these are stored: they, and
k_ii = 1, are exact. The error of the rest is measured on some rows, and r is the smallest rank that keeps it below a
tolerance (decision 0016).

Shapes: rows (n, d), m = 6 r_max. Cost: O(n m (d + m)), and the neighbours; memory O(n r) and O(tile · m).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpstrf
from scipy.sparse import csr_array, eye_array

from sidelight.base.eigenvalues import selected_pairs
from sidelight.base.tiles import TILE, run_tiles, spans, sum_in_order
from sidelight.base.types import Array, DType, Slice, SparseMatrix
from sidelight.neighbours.distances import squared_distances
from sidelight.neighbours.landmarks import spread_rows
from sidelight.neighbours.search import nearest

from .profiles import Profile

__all__ = ["CHECKED", "MOST_FACTORS", "KernelError", "LowRankKernel", "low_rank_kernel", "residual_row_moments"]


Key = tuple[int, int]
MOST_FACTORS = 200
"""Columns of F at the most: each costs q + 2 transforms of an evaluation."""
_NEAR = 60  # neighbours of a row whose pairs are stored
_LANDMARKS = 6  # for each column at the most
_LEAST = 1e-5  # smallest residual of a landmark: less is rounding
CHECKED = 256
"""Rows that errors are measured on."""
_STEP = 10  # columns between two ranks that are considered
_ROWS, _COLUMNS = 1024, 4096  # of a tile of C, and of the rows that errors are measured on
_FEW_ROWS = 128  # whose near pairs have their factors side by side


@dataclass(frozen=True)
class KernelError:
    """Approximation error of a kernel, measured on evenly spread rows.

    The objective sees a kernel through sums over the rows near a row. So errors of either sign may cancel, but only
    among rows at about the same distance: ``|Σ_j e_ij k_ij^p| / Σ_j k_ij^(p+1)`` for p = 0, 1 and 3, which is a row sum
    weighted by a kernel of the whole, half and a quarter of the bandwidth.
    """

    row_sum: float
    """The largest of the three means over rows: the rank is chosen by this one."""
    worst_row_sum: float
    """The plain one (p = 0) of the worst row."""
    entry: float
    """The largest ``|e_ij|``."""
    trace: float = 0.0
    """The mean of ``1 - |f_i|²``: error of the diagonal before it is corrected."""

    @classmethod
    def of(cls, sums: Array, largest: float, trace: float = 0.0) -> KernelError:
        """From the relative errors of the weighted sums (3, rows), and the largest error of an entry."""
        sizes = np.abs(sums)
        return cls(float(sizes.mean(axis=1).max()), float(sizes[0].max()), float(largest), float(trace))


@dataclass(frozen=True)
class LowRankKernel:
    """``F Fᵀ + N``: ``factors`` F (n, r), and ``near`` N (n, n), the sparse correction of near pairs and diagonal."""

    factors: Array
    near: SparseMatrix

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.factors), len(self.factors)

    def __matmul__(self, V: Array) -> Array:
        return np.asarray(self.factors @ (self.factors.T @ V) + self.near @ V)

    def __getitem__(self, key: Key) -> Array:
        """The tile of this key, on or above the diagonal, computed in the precision of F."""
        rows, cols = (slice(k * TILE, min((k + 1) * TILE, len(self.factors))) for k in key)
        tile = self.factors[rows] @ self.factors[cols].T
        at = slice(*np.searchsorted(self._stored[0], [key[0] * self._width + key[1] + step for step in (0, 1)]))
        _, i, j, values = self._stored
        tile[i[at], j[at]] += values[at]
        return np.asarray(tile)

    def astype(self, dtype: DType) -> LowRankKernel:
        """The same kernel in another precision."""
        return LowRankKernel(self.factors.astype(dtype), self.near.astype(dtype))

    def to_dense(self) -> Array:
        """The square array."""
        return np.asarray(self.factors @ self.factors.T + self.near.toarray())

    @cached_property
    def _width(self) -> int:
        return -(-len(self.factors) // TILE)

    @cached_property
    def _stored(self) -> tuple[Array, Array, Array, Array]:
        """Near pairs sorted by tile: number of the tile, row and column within it, value."""
        pairs = self.near.tocoo()
        tile = (pairs.row // TILE).astype(np.int64) * self._width + pairs.col // TILE
        order = np.argsort(tile, kind="stable")
        return tile[order], (pairs.row % TILE)[order], (pairs.col % TILE)[order], pairs.data[order]


def low_rank_kernel(
    X: Array,
    bandwidth: float,
    profile: Profile,
    *,
    most: int = MOST_FACTORS,
    tolerance: float = 0.01,
    n_jobs: int | None = None,
) -> tuple[LowRankKernel, KernelError]:
    """Low-rank kernel with as few factors as keep the error ``row_sum`` within ``tolerance``, or ``most`` of them.

    Parameters
    ----------
    X : array of shape (n, d)
    bandwidth : float
        Of squared distances.
    profile : Profile
        Positive semidefinite: Gaussian or Student.
    most : int
        Largest rank.
    tolerance : float
        Of ``KernelError.row_sum``.
    n_jobs : int or None
        Threads.

    Returns
    -------
    kernel : LowRankKernel
    error : KernelError

    Examples
    --------
    >>> from sidelight.kernels.profiles import GAUSSIAN
    >>> X = np.linspace(0, 1, 100)[:, None]
    >>> K, error = low_rank_kernel(X, 1.0, GAUSSIAN)
    >>> K.factors.shape[1] < 10, error.row_sum < 0.01
    (True, True)
    """
    A = (X - X.mean(axis=0)) / np.sqrt(bandwidth)
    most = max(1, min(most, len(A) - 1))
    near = _near_pairs(A, profile, n_jobs)
    F = _factors(A, profile, most, n_jobs)
    errors = _errors_by_rank(A, F, near, profile, n_jobs)
    enough = [rank for rank, error in errors.items() if error.row_sum <= tolerance]
    rank = min(enough, default=F.shape[1])
    F = np.ascontiguousarray(F[:, :rank])
    return LowRankKernel(F, _less_factors(near, F, n_jobs)), errors[rank]


def _near_pairs(A: Array, profile: Profile, n_jobs: int | None) -> SparseMatrix:
    """Kernel values of each row with its neighbours (symmetric), and the unit diagonal."""
    n = len(A)
    found = nearest(A, k=min(_NEAR, n - 1), n_jobs=n_jobs)
    k = found.index.shape[1]
    values = profile.value(found.distance.ravel() ** 2)
    index = found.index.astype(np.int32)
    one_way = csr_array((values, index.ravel(), np.arange(0, n * k + 1, k, dtype=np.int32)), shape=(n, n))
    near = csr_array(one_way.maximum(one_way.T)) + eye_array(n, format="csr")
    near.sort_indices()
    return csr_array(near)


def _factors(A: Array, profile: Profile, most: int, n_jobs: int | None) -> Array:
    """``C L⁻ᵀ V`` (n, r), columns in order of falling eigenvalues."""
    landmarks, L = _independent(A[spread_rows(len(A), _LANDMARKS * most)], profile)
    parts = spans(len(A), _ROWS)

    def columns(rows: Slice) -> Array:
        return profile.value(squared_distances(A[rows], landmarks))

    def squares(rows: Slice) -> Array:
        C = columns(rows)
        return np.asarray(C.T @ C)

    total: list[Array] = []
    for some in spans(len(parts), 4):  # at most four squares in memory at the same time
        total = [sum_in_order([*total, *run_tiles(squares, parts[some], n_jobs)])]
    S = solve_triangular(L, solve_triangular(L, total[0], lower=True).T, lower=True)
    m = len(L)
    _, V = selected_pairs(0.5 * (S + S.T), max(0, m - most), m - 1)
    B = solve_triangular(L, V[:, ::-1], lower=True, trans="T")
    return np.concatenate(run_tiles(lambda rows: columns(rows) @ B, parts, n_jobs))


def _independent(A: Array, profile: Profile) -> tuple[Array, Array]:
    """Linearly independent landmarks (m, d) by pivoted Cholesky, and their factor L (m, m)."""
    A = np.asarray(A, dtype=np.float64)
    factor, order, rank, _ = dpstrf(profile.value(squared_distances(A, A)), tol=_LEAST, lower=1)
    return A[order[:rank] - 1], np.tril(factor[:rank, :rank])


def _errors_by_rank(
    A: Array, F: Array, near: SparseMatrix, profile: Profile, n_jobs: int | None
) -> dict[int, KernelError]:
    """Approximation error, on some rows, of the first columns of F with the near pairs, for every tenth rank."""
    rows = spread_rows(len(A), CHECKED)
    steps = spans(F.shape[1], _STEP)
    stored = csr_array(near[rows]).tocsc()

    def tile(cols: Slice) -> tuple[Array, Array, Array]:
        K = profile.value(squared_distances(A[rows], A[cols]))
        R, cubes = K.copy(), K * K * K
        total, sums, largest = residual_row_moments(K, K, cubes), [], []
        near_here = stored[:, cols].nonzero()
        for step in steps:
            R -= F[rows, step] @ F[cols, step].T
            R[near_here] = 0.0  # near pairs are stored, hence exact
            sums.append(residual_row_moments(R, K, cubes))
            largest.append(np.abs(R).max())
        return total, np.array(sums), np.array(largest)

    made = run_tiles(tile, spans(len(A), _COLUMNS), n_jobs)
    total, sums = (sum_in_order([part[k] for part in made]) for k in (0, 1))
    largest = np.max([part[2] for part in made], axis=0)
    kept = np.square(F[rows]).mean(axis=0)
    return {
        step.stop: KernelError.of(sums[k] / total, largest[k], 1.0 - kept[: step.stop].sum())
        for k, step in enumerate(steps)
    }


def residual_row_moments(R: Array, K: Array, cubes: Array) -> Array:
    """``Σ_j r_ij k_ij^p`` for p = 0, 1 and 3 (3, rows): effect of residuals ``R`` on the objective."""
    return np.stack([R.sum(axis=1), np.einsum("ij,ij->i", R, K), np.einsum("ij,ij->i", R, cubes)])


def _less_factors(near: SparseMatrix, F: Array, n_jobs: int | None) -> SparseMatrix:
    """N: ``k_ij - f_i·f_j`` of the stored pairs."""

    def some(rows: Slice) -> Array:
        stored = slice(near.indptr[rows.start], near.indptr[rows.stop])
        own = np.repeat(F[rows], np.diff(near.indptr[rows.start : rows.stop + 1]), axis=0)
        return np.asarray(near.data[stored] - np.einsum("ij,ij->i", own, F[near.indices[stored]]))

    data = np.concatenate(run_tiles(some, spans(len(F), _FEW_ROWS), n_jobs))
    return csr_array((data, near.indices, near.indptr), shape=near.shape)

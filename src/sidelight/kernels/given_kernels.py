"""Kernel, low-rank factors and strata of the side information ``given``.

    g_ij = exp(-|f_i - f_j|² / h)      f_i the features of row i (``side.given``), h ≥ 1

h divides only the squares of features without a bandwidth chosen by the user: a user's bandwidth is never widened here.

Two rows of one category, or with similar numbers, are similar. The strata are the categories, each partitioned into
cells of the numbers: the balanced kernel (``kernels.balanced``) looks for neighbours in each of them.

For many rows a matrix of pairs is too large, so G ≈ A Aᵀ with A (n, r): from the eigenvectors over the distinct
feature rows if these are at most 64, otherwise from 64 landmarks (Nyström),

    A = G_nm G_mm^{-1/2} V,     V the leading eigenvectors of its own AᵀA, the rest ≤ 1e-3 of the trace

The residual is positive semidefinite, so its diagonal e_i = 1 - |a_i|² bounds it: |g_ij - a_i·a_j|² ≤ e_i e_j.
Cost: O(n m²); memory O(n m).
"""

from __future__ import annotations

import numpy as np

from sidelight.base.types import Array
from sidelight.neighbours.distances import squared_distances
from sidelight.neighbours.strata import MOST_STRATA, cells, centres, codes_of, merged
from sidelight.side.given import EncodedGiven, Given

from .matrices import SymmetricTiles, dense_kernel
from .profiles import GAUSSIAN
from .side_kernel import SideKernel

__all__ = [
    "MOST_FACTORS",
    "factor_error",
    "gaussian_factors",
    "given_bandwidth",
    "given_factors",
    "given_kernel",
    "side_kernel",
    "strata_of",
    "stratum_factors",
    "widened",
    "widened_factors",
    "widening_of",
]


_LEAST_MEAN = 0.07  # mean of the kernel of ``given``: with less, rows have no neighbours in its Parzen density
MOST_FACTORS = 64
"""Distinct rows up to which the kernel is factored exactly, and the number of landmarks beyond."""
_ROUNDING = 1e-6  # share of the largest eigenvalue: smaller ones are dropped
_LEFT_OUT = 1e-3  # share of the trace that landmarks may leave out
_TOO_MUCH = 0.02  # share of the kernel of ``given`` that factors may not leave out
_SPREAD = 20_000  # distinct rows that landmarks are chosen among


def strata_of(given: Given, known: EncodedGiven) -> tuple[Array, Array]:
    """Category of each row (n,), and its stratum (n,): category combined with the k-means cell of the numbers."""
    names = [c for c, column in enumerate(given.columns) if column.kind == "category"]
    n = len(known.values)
    categories = codes_of(known.values[:, names]) if names else np.zeros(n, dtype=np.int64)
    if len(names) == len(given.columns):
        return categories, codes_of(merged(categories)[:, None])
    coarse = merged(categories)
    cell = cells(known.features[:, ~given.of_categories], max(1, MOST_STRATA // (int(coarse.max()) + 1)))
    return categories, codes_of(np.column_stack([coarse, cell]))


def given_kernel(features: Array, n_jobs: int | None = None, *, chosen: Array | None = None) -> SymmetricTiles:
    """The Gaussian kernel of ``given``, dense (n, n); widened where many columns would make all rows dissimilar.

    Parameters
    ----------
    features : array of shape (n, f)
    n_jobs : int or None
        Threads.
    chosen : array of bool, of shape (f,), or None
        Features with a bandwidth of the user's, which is not widened; None: none of them.
    """
    bandwidth = given_bandwidth(features, chosen)
    if chosen is None or not chosen.any():
        return dense_kernel(features, bandwidth, GAUSSIAN, n_jobs=n_jobs)
    return dense_kernel(widened(features, bandwidth, chosen), 1.0, GAUSSIAN, n_jobs=n_jobs)


def given_bandwidth(features: Array, chosen: Array | None = None) -> float:
    """Bandwidth h of the kernel of ``given``: 1, widened in steps of 1.2 until the mean kernel value is 0.07 or more.

    It holds for the features that are not ``chosen`` (f,). With chosen features, the mean must reach 0.07 of the mean
    kernel of those alone.
    """
    fixed = np.zeros(features.shape[1], dtype=bool) if chosen is None else chosen
    rows = np.unique(np.linspace(0, len(features) - 1, min(500, len(features))).astype(np.int64))
    D, own = (squared_distances(features[rows][:, part], features[rows][:, part]) for part in (~fixed, fixed))
    least = _LEAST_MEAN * float(np.exp(-own).mean())
    bandwidth = 1.0
    while np.exp(-D / bandwidth - own).mean() < least:
        bandwidth *= 1.2
    return bandwidth


def widening_of(given: Given, features: Array) -> float:
    """``given_bandwidth`` of the features that have a Gaussian kernel: all but those with a kernel matrix."""
    gaussian = np.ones(features.shape[1], dtype=bool)
    for start, K in given.matrices:
        gaussian[start : start + len(K)] = False
    return given_bandwidth(features[:, gaussian], given.chosen[gaussian])


def side_kernel(given: Given, features: Array) -> SideKernel:
    """The kernel of ``given`` with features (n, f), with the bandwidths that a fit uses."""
    scales = widened(np.ones((1, features.shape[1])), widening_of(given, features), given.chosen)[0]
    for start, K in given.matrices:
        scales[start : start + len(K)] = 0.0
    return SideKernel(scales, [start for start, _ in given.matrices], [K for _, K in given.matrices])


def widened(features: Array, bandwidth: float, chosen: Array) -> Array:
    """The features (n, f), those that are not ``chosen`` divided by √bandwidth."""
    return np.asarray(features / np.where(chosen, 1.0, np.sqrt(bandwidth)))


def given_factors(features: Array, most: int = MOST_FACTORS) -> Array:
    """``A`` (n, r), r ≤ ``most``, with ``A Aᵀ`` ≈ the kernel of ``given`` (``given_kernel``), or a wider one."""
    return widened_factors(features, given_bandwidth(features), most)[0]


def widened_factors(features: Array, bandwidth: float, most: int = MOST_FACTORS) -> tuple[Array, float]:
    """Low-rank factors of a Gaussian kernel of the features, widened if it is too narrow for so few factors.

    Parameters
    ----------
    features : array of shape (n, f)
    bandwidth : float
        Of squared distances, to start from.
    most : int
        Largest rank.

    Returns
    -------
    A : array of shape (n, r)
        ``A Aᵀ`` ≈ the kernel; rows have length 1.
    bandwidth : float
        Of that kernel: widened in steps of 1.3 until the factors leave out at most 0.02 of it.
    """
    A = gaussian_factors(features, bandwidth, most)
    while factor_error(A) > _TOO_MUCH:
        bandwidth *= 1.3
        A = gaussian_factors(features, bandwidth, most)
    return np.asarray(A / np.linalg.norm(A, axis=1, keepdims=True)), bandwidth


def gaussian_factors(features: Array, bandwidth: float, most: int = MOST_FACTORS) -> Array:
    """``A`` (n, r), r ≤ ``most``, with ``a_i·a_j ≈ exp(-|f_i - f_j|² / bandwidth)``.

    Examples
    --------
    >>> A = gaussian_factors(np.array([[0.0], [1.0], [0.0]]), 1.0)
    >>> A.shape, round(float(A[0] @ A[1]), 6)
    ((3, 2), 0.367879)
    """
    distinct, back, count = np.unique(features, axis=0, return_inverse=True, return_counts=True)
    back = back.reshape(-1)
    if len(distinct) <= most:
        return _root(distinct, bandwidth)[back]
    some = np.unique(np.linspace(0, len(distinct) - 1, min(len(distinct), _SPREAD)).astype(np.int64))
    landmarks = centres(distinct[some], count[some], most)[0]
    W, U = np.linalg.eigh(np.exp(-squared_distances(landmarks, landmarks) / bandwidth))
    kept = 1e-10 * W[-1] < W
    A = np.exp(-squared_distances(distinct, landmarks) / bandwidth) @ (U[:, kept] / np.sqrt(W[kept]))
    S, V = np.linalg.eigh((A * count[:, None]).T @ A)
    left_out = np.searchsorted(np.cumsum(S), _LEFT_OUT * S.sum())
    return np.asarray((A @ V[:, int(left_out) :][:, ::-1])[back])


def stratum_factors(strata: Array) -> Array:
    """``A`` (n, S) with ``A Aᵀ`` the kernel of categories: 1 within a stratum, e^-2 between two."""
    return _root(np.eye(int(strata.max()) + 1), 1.0)[strata]


def factor_error(A: Array) -> float:
    """Approximation error: the mean of ``1 - |a_i|²``, which bounds the mean error of an entry."""
    return float(np.mean(1.0 - np.einsum("ij,ij->i", A, A)))


def _root(rows: Array, bandwidth: float) -> Array:
    """A square root (m, r) of the kernel of a few rows, without eigenvalues at the level of rounding."""
    S, U = np.linalg.eigh(np.exp(-squared_distances(rows, rows) / bandwidth))
    kept = _ROUNDING * S[-1] < S
    return np.asarray((U[:, kept] * np.sqrt(S[kept]))[:, ::-1])

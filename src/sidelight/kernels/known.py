"""What is known as a kernel and as strata: who is alike in ``given``, and who is the same.

    g_ij = exp(-|f_i - f_j|² / h)      f_i the features of row i (``side.given``), h ≥ 1

h divides only the squares of features whose bandwidth nobody has chosen: a user's own bandwidth is never widened here.

Two rows of one category, or with numbers near each other, are alike. The strata are the categories, each cut into
cells of the numbers: the rows among which the balanced kernel looks for neighbours.

Many rows cannot have a matrix of pairs, so for them G ≈ A Aᵀ with A (n, r): from the eigenvectors over the distinct
feature rows where these are 64 at the most, otherwise from 64 landmarks (Nyström),

    A = G_nm G_mm^{-1/2} V,     V the leading eigenvectors of its own AᵀA, the rest ≤ 1e-3 of the trace

What is left out is positive semidefinite, so its diagonal e_i = 1 - |a_i|² bounds it: |g_ij - a_i·a_j|² ≤ e_i e_j.
Cost: O(n m²); memory O(n m).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.neighbours.distances import squared_distances
from sidelight.neighbours.strata import MOST_STRATA, cells, centres, codes_of, merged
from sidelight.side.given import EncodedGiven, Given

from .matrices import SymmetricTiles, dense_kernel
from .profiles import GAUSSIAN

__all__ = [
    "MOST_FACTORS",
    "factor_error",
    "fitting_factors",
    "gaussian_factors",
    "given_bandwidth",
    "given_factors",
    "given_kernel",
    "strata_of",
    "stratum_factors",
    "widened",
]

Array = npt.NDArray[Any]
_LEAST_MEAN = 0.07  # of the kernel of ``given`` over all pairs: with less, its Parzen density has no neighbours
MOST_FACTORS = 64
"""Distinct rows whose kernel is factored as it is, and landmarks of more."""
_ROUNDING = 1e-6  # of the largest eigenvalue: what is less is dropped
_LEFT_OUT = 1e-3  # of the trace of a kernel by landmarks
_TOO_MUCH = 0.02  # to be left out of the kernel of ``given``
_SPREAD = 20_000  # distinct rows that landmarks are chosen among


def strata_of(given: Given, known: EncodedGiven) -> tuple[Array, Array]:
    """Categories of the rows (n,), and their strata: categories and cells of the numbers together (n,)."""
    names = [c for c, column in enumerate(given.columns) if column.kind == "category"]
    n = len(known.values)
    categories = codes_of(known.values[:, names]) if names else np.zeros(n, dtype=np.int64)
    if len(names) == len(given.columns):
        return categories, codes_of(merged(categories)[:, None])
    coarse = merged(categories)
    edges = np.cumsum([0, *(column.width for column in given.columns)])
    numeric = np.concatenate([np.arange(*edges[c : c + 2]) for c in range(len(given.columns)) if c not in names])
    cell = cells(known.features[:, numeric], max(1, MOST_STRATA // (int(coarse.max()) + 1)))
    return categories, codes_of(np.column_stack([coarse, cell]))


def given_kernel(features: Array, n_jobs: int | None = None, *, chosen: Array | None = None) -> SymmetricTiles:
    """The Gaussian kernel of ``given``: widened, where many columns would leave a row alone with itself.

    ``chosen`` (f,) says which features have a bandwidth of the user's, which is not widened; None: none of them.
    """
    bandwidth = given_bandwidth(features, chosen)
    if chosen is None or not chosen.any():
        return dense_kernel(features, bandwidth, GAUSSIAN, n_jobs=n_jobs)
    return dense_kernel(widened(features, bandwidth, chosen), 1.0, GAUSSIAN, n_jobs=n_jobs)


def given_bandwidth(features: Array, chosen: Array | None = None) -> float:
    """The bandwidth of the kernel of ``given``: 1, or as much more as leaves 0.07 of the kernel to an average pair.

    It is for the features that are not ``chosen``, and they leave 0.07 of what the chosen ones leave.
    """
    fixed = np.zeros(features.shape[1], dtype=bool) if chosen is None else chosen
    rows = np.unique(np.linspace(0, len(features) - 1, min(500, len(features))).astype(np.int64))
    D, own = (squared_distances(features[rows][:, part], features[rows][:, part]) for part in (~fixed, fixed))
    least = _LEAST_MEAN * float(np.exp(-own).mean())
    bandwidth = 1.0
    while np.exp(-D / bandwidth - own).mean() < least:
        bandwidth *= 1.2
    return bandwidth


def widened(features: Array, bandwidth: float, chosen: Array) -> Array:
    """The features (n, f) under a bandwidth of those that are not ``chosen``."""
    return np.asarray(features / np.where(chosen, 1.0, np.sqrt(bandwidth)))


def given_factors(features: Array, most: int = MOST_FACTORS) -> Array:
    """``A`` (n, r), r ≤ ``most``, with ``A Aᵀ`` the kernel of ``given`` (``given_kernel``), or a wider one."""
    return fitting_factors(features, given_bandwidth(features), most)[0]


def fitting_factors(features: Array, bandwidth: float, most: int = MOST_FACTORS) -> tuple[Array, float]:
    """``A`` (n, r), r ≤ ``most``, with ``A Aᵀ`` a kernel of the features (n, f), and its bandwidth.

    Where so few columns leave out more than 0.02 of it, the kernel is widened until they do not. Rows have length 1.
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
    """``A`` (n, S) with ``A Aᵀ`` the kernel of categories: 1 for two rows of a stratum, e^-2 for any others."""
    return _root(np.eye(int(strata.max()) + 1), 1.0)[strata]


def factor_error(A: Array) -> float:
    """How much of the kernel is left out: the mean of ``1 - |a_i|²``, which no entry exceeds on average."""
    return float(np.mean(1.0 - np.einsum("ij,ij->i", A, A)))


def _root(rows: Array, bandwidth: float) -> Array:
    """The square root of the kernel of a few rows, without what is rounding (m, r)."""
    S, U = np.linalg.eigh(np.exp(-squared_distances(rows, rows) / bandwidth))
    kept = _ROUNDING * S[-1] < S
    return np.asarray((U[:, kept] * np.sqrt(S[kept]))[:, ::-1])

"""Randomised PCA from a sample of rows: spaces of fewer columns, in which neighbours are searched.

    X - 1 mᵀ ≈ P Vᵀ,   V (d, r) orthonormal: range of (AᵀA)² Aᵀ G for a Gaussian G, A the centred sample

``reduction`` is for a search whose candidates are ranked again in all columns: r is the smallest number that keeps 90 %
of the sample's variance, within 32 to 128.

``neighbour_space`` is for neighbours *in* the reduced space. Along a direction c that tells where a row lies, its
nearest rows differ from it less than random rows do; along noise they differ as much, and only blur who is near:

    ratio_c = E_neighbours (x_c - y_c)² / (2 var_c)

Directions count up to the first whose ratio (the mean of five in sequence) reaches 0.6: about 60 for pictures of
digits, objects and faces; for components far apart, the dimensions that their centres span.
Cost: O(s d r) for a sample of s rows, O(p s d) for the neighbours of p probes, then O(n d r).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sidelight.base.tiles import one_blas_thread, run_tiles, spans, sum_in_order
from sidelight.base.types import Array, Slice

from .search import nearest

__all__ = ["Reduction", "neighbour_space", "reduction"]


_SAMPLE = 8192
_MOST, _LEAST = 128, 32
_KEPT = 0.9
_FULL = 64  # up to this many columns the search uses them all
_PROBES, _NEAR = 512, 15  # rows whose nearest rows are compared with random ones, and how many of them
_TELLS = (
    0.6  # of the mean squared difference of random rows: a direction with less between neighbours tells who is near
)
_RUN = 5  # ratios of single directions are averaged over so many
_WORTH = 0.75  # of the columns: a space of more directions is hardly less noisy, or faster
_TILE = 1024


@dataclass(frozen=True)
class Reduction:
    """``x -> (x - centre) V / scale`` in float32; ``V`` is None where all columns are kept."""

    centre: Array
    scale: float
    V: Array | None

    def __call__(self, X: Array, n_jobs: int | None = None) -> Array:
        """Project rows to the search space (n, r) float32.

        Products are taken in float64 and then rounded, so that a row's result does not depend on the rows beside it.
        """
        columns = X.shape[1] if self.V is None else self.V.shape[1]
        P = np.empty((len(X), columns), dtype=np.float32)

        def one(rows: Slice) -> None:
            A = (np.asarray(X[rows], dtype=np.float64) - self.centre) / self.scale
            P[rows] = A if self.V is None else A @ self.V

        run_tiles(one, spans(len(X), _TILE), n_jobs)
        return P


def reduction(X: Array, *, seed: int = 0, n_jobs: int | None = None) -> Reduction:
    """Centre, scale and, beyond 64 columns, the principal directions of the rows of ``X``."""
    rng = np.random.default_rng(seed)
    A, centre, scale = _sample(X, rng, n_jobs)
    if A.shape[1] <= _FULL:
        return Reduction(centre, scale, None)
    V, variances = _directions(A, rng, n_jobs)
    kept = np.cumsum(variances) / max(float(np.vdot(A, A)) / len(A), np.finfo(np.float64).tiny)
    return Reduction(centre, scale, V[:, : int(np.clip(np.searchsorted(kept, _KEPT) + 1, _LEAST, _MOST))])


@one_blas_thread
def neighbour_space(X: Array, *, seed: int = 0, n_jobs: int | None = None) -> Reduction | None:
    """The principal directions along which neighbours differ less than random rows, 32 at least.

    None where all columns should be used: there are at most 64, more than three quarters of them tell neighbours from
    random rows, the sample's 128 leading directions all do, or none does (noise).
    """
    if X.shape[1] <= _FULL or len(X) <= _MOST:
        return None
    rng = np.random.default_rng(seed)
    A, centre, scale = _sample(X, rng, n_jobs)
    V, variances = _directions(A, rng, n_jobs)
    probes = np.sort(rng.choice(len(A), min(len(A), _PROBES), replace=False))
    near = nearest(A, A[probes], k=_NEAR + 1, n_jobs=n_jobs).index
    projected = A @ V
    squares = (projected[probes][:, None] - projected[near]) ** 2  # a probe is among its own nearest, and adds nothing
    ratio = squares.sum(axis=(0, 1)) / (_NEAR * len(probes)) / np.maximum(2 * variances, np.finfo(np.float64).tiny)
    blurred = np.convolve(ratio, np.full(_RUN, 1 / _RUN), mode="valid") >= _TELLS
    if blurred[0] or not blurred.any():
        return None
    r = max(int(np.argmax(blurred)) + _RUN // 2, _LEAST)
    return Reduction(centre, scale, V[:, :r]) if r <= _WORTH * X.shape[1] else None


def _sample(X: Array, rng: np.random.Generator, n_jobs: int | None) -> tuple[Array, Array, float]:
    """Rows of ``X`` drawn at random, centred and scaled; the centre, and the scale, a power of 2."""
    rows = np.sort(rng.choice(len(X), min(len(X), _SAMPLE), replace=False))
    A = np.asarray(X[rows], dtype=np.float64)
    centre = A.mean(axis=0)
    tiles = spans(len(X), _TILE)
    widest = max(run_tiles(lambda part: float(np.max(np.abs(X[part] - centre), initial=0.0)), tiles, n_jobs))
    scale = float(2.0 ** np.ceil(np.log2(widest))) if widest > 0 else 1.0  # exact to divide and multiply by
    return (A - centre) / scale, centre, scale


def _directions(A: Array, rng: np.random.Generator, n_jobs: int | None) -> tuple[Array, Array]:
    """The leading principal directions (d, r) of the centred sample ``A`` and the variances along them.

    By randomised subspace iteration; r is 128, or less where there are fewer rows or columns. The sample is multiplied
    in single precision: directions of a variance 1e-12 times the largest are not told from rounding.
    """
    count, single = min(*A.shape, _MOST + 8), A.astype(np.float32)
    tiles = spans(len(A), _TILE)

    def total(product: Callable[[Slice], Array]) -> Array:
        return sum_in_order(run_tiles(product, tiles, n_jobs))

    def image(Q: Array) -> Array:
        return total(lambda rows: single[rows].T @ (single[rows] @ Q))

    G = rng.standard_normal((len(A), count)).astype(np.float32)
    Q = _orthonormal(total(lambda rows: single[rows].T @ G[rows]))
    for _ in range(2):
        Q = _orthonormal(image(Q.astype(np.float32)))
    projected = (single @ Q.astype(np.float32)).astype(np.float64)
    values, vectors = np.linalg.eigh(projected.T @ projected)
    r = min(count, _MOST)
    return np.asarray(Q @ vectors[:, : -r - 1 : -1]), np.maximum(values[: -r - 1 : -1], 0.0) / len(A)


def _orthonormal(A: Array) -> Array:
    """An orthonormal basis (m, r) of the columns of A (m, r)."""
    return np.asarray(np.linalg.qr(A.astype(np.float64))[0])

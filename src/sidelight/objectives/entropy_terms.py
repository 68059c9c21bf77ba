"""Terms of an entropy sum by the storage of their data kernel: dense, sparse, or low rank plus sparse.

    s_i = Σ_j m_ij k(|z_i - z_j|²),       (diag(W1) - W) Z  with  W_ij = (1/s_i + 1/s_j) m_ij g(|z_i - z_j|²)

For m = F Fᵀ + N (``kernels.low_rank``) both are fast transforms of r weighted columns, plus sums over the stored pairs
of N. The diagonal of m is 1, so a row sum below a half is an approximation error, and is set to a half.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from sidelight.base.tiles import run_tiles, spans, sum_in_order, tile_buffer
from sidelight.base.types import Array, DType, Slice, SparseMatrix
from sidelight.kernels.gauss_transform import FastSums
from sidelight.kernels.low_rank import LowRankKernel
from sidelight.kernels.pair_sums import factored_pulls, factored_sums
from sidelight.kernels.profiles import Profile

__all__ = ["DenseTerm", "LowRankTerm", "SparseTerm", "inverse_of", "mean_entropy"]


Key = tuple[int, int]
_FLOOR = float(np.finfo(np.float32).tiny) * 1e4
"""Floor of row sums, in either precision: below it, weights in float32 have underflowed."""
_THREADED = 400_000  # stored pairs from which on another thread is worth its start
_OWN = 0.5  # floor of row sums of low-rank kernels, whose approximation error may be negative


class Tiles(Protocol):
    """Tiles on and above the diagonal of a dense matrix, stored or computed on demand."""

    def __getitem__(self, key: Key) -> Array: ...


class DenseTerm:
    """One term whose data kernels are dense (or absent)."""

    floor = _FLOOR

    def __init__(self, name: str, coefficient: float, tiles: list[Tiles]) -> None:
        self.name, self.coefficient, self.tiles = name, coefficient, tiles

    def product(self, key: Key, K: Array, spare: Array) -> Array:
        """One tile of ``m_ij k_ij`` from the latent tile ``K``; ``K`` itself if there are no data kernels."""
        if not self.tiles:
            return K
        out = tile_buffer(spare, K)
        np.multiply(K, self.tiles[0][key], out=out)
        for tiles in self.tiles[1:]:
            out *= tiles[key]
        return out


class SparseTerm:
    """One term whose product of data kernels is sparse: only its stored pairs are visited."""

    floor = _FLOOR

    def __init__(self, name: str, coefficient: float, matrix: SparseMatrix, dtype: DType) -> None:
        self.name, self.coefficient = name, coefficient
        self.matrix = matrix.astype(dtype, copy=False)
        self.counts = np.diff(self.matrix.indptr)
        self.threaded = self.matrix.nnz >= _THREADED

    def evaluate(
        self, Z: Array, profile: Profile, n_jobs: int | None, *, beside: Array | None = None, floor: float = _FLOOR
    ) -> tuple[Array, Array]:
        """Row sums (n,) and ``(diag(W1) - W) Z`` (n, q).

        ``beside`` (n,) are sums over pairs that are not stored, added to the row sums; ``floor`` is their least value.
        """
        parts, n_jobs = spans(len(Z), 1024), n_jobs if self.threaded else 1
        columns = [np.ascontiguousarray(Z[:, k]) for k in range(Z.shape[1])]
        held: dict[int, tuple[Array, list[Array]]] = {}

        def first(part: Slice) -> Array:
            stored = self._stored(part)
            differences = [self._difference(part, column) for column in columns]
            K = profile.value(sum_in_order([difference * difference for difference in differences]))
            sums = self._row_totals(part, self.matrix.data[stored] * K)
            held[part.start] = self.matrix.data[stored] * profile.slope(K), differences
            return sums

        sums = np.concatenate(run_tiles(first, parts, n_jobs)).astype(np.float64)
        if beside is not None:
            sums += beside
        inverse = inverse_of(sums, Z.dtype, floor)

        def second(part: Slice) -> Array:
            W, differences = held.pop(part.start)
            W *= np.take(inverse, self.matrix.indices[self._stored(part)]) + np.repeat(inverse[part], self.counts[part])
            return np.column_stack([self._row_totals(part, W * difference) for difference in differences])

        return sums, np.concatenate(run_tiles(second, parts, n_jobs))

    def _stored(self, part: Slice) -> Slice:
        """Slice of the stored pairs of a slice of rows."""
        return slice(self.matrix.indptr[part.start], self.matrix.indptr[part.stop])

    def _difference(self, part: Slice, column: Array) -> Array:
        """``z_i - z_j`` of one latent dimension for the stored pairs of some rows."""
        own = np.repeat(column[part], self.counts[part])
        own -= np.take(column, self.matrix.indices[self._stored(part)])
        return np.asarray(own)

    def _row_totals(self, part: Slice, values: Array) -> Array:
        """Sum the values of each row (a row without pairs sums to 0)."""
        held = self.counts[part] > 0
        starts = (self.matrix.indptr[part.start : part.stop] - self.matrix.indptr[part.start])[held]
        totals = np.zeros(len(held), dtype=values.dtype)
        totals[held] = np.add.reduceat(values, starts) if len(starts) else 0
        return totals


class LowRankTerm(DenseTerm):
    """One term whose data kernel is of low rank: by a fast transform, or without one as dense tiles."""

    floor = _OWN

    def __init__(self, name: str, coefficient: float, kernel: LowRankKernel, dtype: DType) -> None:
        rounded = kernel.astype(dtype)
        super().__init__(name, coefficient, [rounded])
        self.factors = kernel.factors
        self.near = SparseTerm(name, coefficient, rounded.near, dtype)

    def evaluate(self, transform: FastSums, Z: Array, profile: Profile, n_jobs: int | None) -> tuple[Array, Array]:
        """Row sums (n,) and ``(diag(W1) - W) Z`` (n, q)."""
        far = factored_sums(transform, self.factors)
        sums, moved = self.near.evaluate(Z, profile, n_jobs, beside=far, floor=self.floor)
        return sums, moved + factored_pulls(transform, self.factors, inverse_of(sums, np.float64, self.floor))


def mean_entropy(sums: Array, floor: float = _FLOOR) -> float:
    """Entropy ``-(1/n) Σ log s_i`` from row sums (n,), which are at least ``floor``."""
    return -float(np.mean(np.log(np.maximum(sums, floor))))


def inverse_of(sums: Array, dtype: npt.DTypeLike, floor: float | Array = _FLOOR) -> Array:
    """``1/s_i``, and 0 at or below the floor, where the gradient is 0: only the penalty moves such a row."""
    return np.asarray(np.divide(1.0, sums, out=np.zeros_like(sums), where=sums > floor).astype(dtype))

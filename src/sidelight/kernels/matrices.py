"""Kernel matrices of the data: sparse (adaptive or compact), and dense ones stored as upper tiles.

Every kernel matrix here is symmetric with one value per pair, so a dense one keeps only the tiles on and above its
diagonal: half the memory of the square array.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array, csr_array

from sidelight.base.tiles import TILE, run_tiles, spans, sum_in_order
from sidelight.base.types import Array, Slice, SparseMatrix
from sidelight.neighbours.distances import squared_distances
from sidelight.neighbours.landmarks import spread_rows
from sidelight.neighbours.search import Neighbours, distances_to_listed

from .bandwidths import perplexity_by_tiles
from .profiles import DELTA, Profile

__all__ = [
    "SymmetricTiles",
    "adaptive_kernel",
    "compact_kernel",
    "dense_kernel",
    "left_out",
    "matrix_rows",
    "multiply",
    "share_of_near_pairs",
]


_PROBED, _ROWS = 64, 4096  # rows on which the share outside the lists is measured, and rows of one block
_SUMMED = 16_384  # rows of two sparse matrices that one task adds


class SymmetricTiles:
    """A dense symmetric (n, n) matrix as its tiles on and above the diagonal."""

    def __init__(self, n: int, tiles: dict[tuple[int, int], Array]) -> None:
        self.n = n
        self.spans = spans(n)
        self.tiles = tiles

    @classmethod
    def build(cls, n: int, tile: Callable[[Slice, Slice], Array], *, n_jobs: int | None = None) -> SymmetricTiles:
        """Compute each tile as ``tile(rows, columns)``, on threads."""
        parts = spans(n)
        keys = [(i, j) for i in range(len(parts)) for j in range(i, len(parts))]
        made = run_tiles(lambda key: tile(parts[key[0]], parts[key[1]]), keys, n_jobs)
        return cls(n, dict(zip(keys, made, strict=True)))

    @classmethod
    def from_dense(cls, K: Array, dtype: npt.DTypeLike = np.float32) -> SymmetricTiles:
        """Cut a square symmetric array into tiles."""
        return cls.build(len(K), lambda rows, cols: np.ascontiguousarray(K[rows, cols], dtype=dtype))

    def to_dense(self) -> Array:
        """The square array."""
        K = np.empty((self.n, self.n), dtype=self.tiles[0, 0].dtype)
        for (i, j), tile in self.tiles.items():
            K[self.spans[i], self.spans[j]] = tile
            K[self.spans[j], self.spans[i]] = tile.T
        return K

    def entries(self, rows: Array, cols: Array) -> Array:
        """The values at these pairs (m,)."""
        low, high = np.minimum(rows, cols), np.maximum(rows, cols)
        key = (low // TILE) * len(self.spans) + high // TILE
        order = np.argsort(key, kind="stable")
        out = np.empty(len(rows), dtype=self.tiles[0, 0].dtype)
        for part in np.split(order, np.flatnonzero(np.diff(key[order])) + 1):
            if len(part):
                i, j = divmod(int(key[part[0]]), len(self.spans))
                out[part] = self.tiles[i, j][low[part] - i * TILE, high[part] - j * TILE]
        return out

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return sum(tile.nbytes for tile in self.tiles.values())

    def __matmul__(self, V: Array) -> Array:
        out = np.zeros((self.n, *V.shape[1:]))
        for (i, j), tile in self.tiles.items():
            out[self.spans[i]] += tile @ V[self.spans[j]].astype(tile.dtype)
            if i != j:
                out[self.spans[j]] += tile.T @ V[self.spans[i]].astype(tile.dtype)
        return out


def multiply(A: SymmetricTiles | SparseMatrix, B: SymmetricTiles | SparseMatrix) -> SymmetricTiles | SparseMatrix:
    """The element-wise product of two kernel matrices, sparse if either is."""
    if isinstance(A, SymmetricTiles) and isinstance(B, SymmetricTiles):
        return SymmetricTiles(A.n, {key: tile * B.tiles[key] for key, tile in A.tiles.items()})
    if isinstance(A, SymmetricTiles):
        return multiply(B, A)
    if isinstance(B, SymmetricTiles):
        pairs = A.tocoo()
        return csr_array((A.data * B.entries(pairs.row, pairs.col), A.indices, A.indptr), shape=A.shape)
    return csr_array(A.multiply(B))


class _Shaped(Protocol):
    @property
    def shape(self) -> tuple[int, ...]: ...


def matrix_rows(K: SymmetricTiles | _Shaped) -> int:
    """Number of rows of a kernel matrix of any form."""
    return K.n if isinstance(K, SymmetricTiles) else int(K.shape[0])


def adaptive_kernel(neighbours: Neighbours, perplexity: float, n_jobs: int | None = 1) -> tuple[SparseMatrix, Array]:
    """The perplexity kernel ``(p_ij + p_ji)/2`` on neighbour lists, without self-weight, and its bandwidths (n,)."""
    n, k = neighbours.index.shape
    W, bandwidth = perplexity_by_tiles(neighbours.distance, perplexity, n_jobs)
    held = np.flatnonzero(np.isfinite(neighbours.distance))
    ends = np.repeat(np.arange(n), k)[held], neighbours.index.ravel()[held]
    halves = 0.5 * W.ravel()[held]

    def one_way(way: int) -> SparseMatrix:
        A = csr_array(coo_array((halves, (ends[way], ends[1 - way])), shape=(n, n)))
        A.sort_indices()
        return A

    there, back = run_tiles(one_way, (0, 1), n_jobs)
    return _sum_by_rows(there, back, n_jobs), bandwidth


def _sum_by_rows(A: SparseMatrix, B: SparseMatrix, n_jobs: int | None) -> SparseMatrix:
    """``A + B`` of matrices with sorted indices, by blocks of rows on threads."""

    def added(part: Slice) -> SparseMatrix:
        return csr_array(_rows_of(A, part) + _rows_of(B, part))

    parts = run_tiles(added, spans(A.shape[0], _SUMMED), n_jobs)
    starts = np.cumsum([0, *(part.nnz for part in parts)])
    indptr = np.concatenate([[0], *(part.indptr[1:] + start for part, start in zip(parts, starts, strict=False))])
    K = csr_array(
        (
            np.concatenate([part.data for part in parts]),
            np.concatenate([part.indices for part in parts]),
            indptr.astype(parts[0].indptr.dtype if starts[-1] < 2**31 else np.int64),
        ),
        shape=A.shape,
    )
    K.has_canonical_format = True
    return K


def _rows_of(A: SparseMatrix, part: Slice) -> SparseMatrix:
    """Some consecutive rows of a CSR matrix with sorted indices."""
    stop = min(part.stop, A.shape[0])
    stored = slice(A.indptr[part.start], A.indptr[stop])
    starts = A.indptr[part.start : stop + 1] - A.indptr[part.start]
    out = csr_array((A.data[stored], A.indices[stored], starts), shape=(stop - part.start, A.shape[1]))
    out.has_canonical_format = True
    return out


def left_out(X: Array, lists: Array, bandwidth: Array, n_jobs: int | None = None) -> float:
    """Mean share of a row's weights ``exp(-d²/h)`` that lies outside its neighbour list.

    Parameters
    ----------
    X : array of shape (n, d)
    lists : array of shape (n, k)
    bandwidth : array of shape (n,)
    n_jobs : int or None
        Threads.

    Returns
    -------
    float
        In [0, 1], the mean over 64 evenly spread rows.
    """
    rows = spread_rows(len(X), _PROBED)
    h = np.maximum(bandwidth[rows], 1e-290)[:, None]  # duplicates have bandwidth 0
    Q, near = X[rows].astype(np.float64), distances_to_listed(X[rows], X, lists[rows]) ** 2
    least = near.min(axis=1, keepdims=True)

    def total(part: Slice) -> Array:
        R = squared_distances(Q, np.asarray(X[part], dtype=np.float64))
        inside = np.flatnonzero((rows >= part.start) & (rows < part.stop))
        R[inside, rows[inside] - part.start] = np.inf
        return np.asarray(np.exp(np.minimum(least - R, 0.0) / h).sum(axis=1))  # rounding may make a row nearer

    listed = np.exp((least - near) / h).sum(axis=1)
    everything = sum_in_order(run_tiles(total, spans(len(X), _ROWS), n_jobs))
    return float(np.mean(np.clip(1.0 - listed / everything, 0.0, 1.0)))


def dense_kernel(
    X: Array,
    bandwidth: float,
    profile: Profile,
    *,
    dtype: npt.DTypeLike = np.float32,
    n_jobs: int | None = None,
) -> SymmetricTiles:
    """``profile(|x_i - x_j|² / bandwidth)`` for every pair.

    Parameters
    ----------
    X : array of shape (n, d)
    bandwidth : float
        Of squared distances.
    profile : Profile
    dtype : data type
        Of the entries.
    n_jobs : int or None
        Threads.

    Returns
    -------
    SymmetricTiles
        (n, n); 2 n² bytes in float32.
    """
    if profile is DELTA:  # the product below rounds, and a delta kernel needs exact equality
        codes = np.unique(X, axis=0, return_inverse=True)[1].ravel()
        return SymmetricTiles.build(len(X), lambda rows, cols: (codes[rows, None] == codes[cols]).astype(dtype))
    values = _pair_values(X, bandwidth, profile)
    return SymmetricTiles.build(len(X), lambda rows, cols: values(rows, cols).astype(dtype), n_jobs=n_jobs)


def compact_kernel(
    X: Array,
    bandwidth: float,
    profile: Profile,
    *,
    least: float = 0.0,
    dtype: npt.DTypeLike = np.float32,
    n_jobs: int | None = None,
) -> SparseMatrix:
    """``profile(|x_i - x_j|² / bandwidth)`` as a sparse matrix, for kernels that are 0 for most pairs.

    Parameters
    ----------
    X : array of shape (n, d)
    bandwidth : float
        Of squared distances.
    profile : Profile
    least : float
        Entries below it are not stored. 0: all that are not 0 are stored.
    dtype : data type
    n_jobs : int or None
        Threads.

    Returns
    -------
    csr_array of shape (n, n)
    """
    parts, values = spans(len(X)), _pair_values(X, bandwidth, profile)

    def tile(key: tuple[int, int]) -> tuple[Array, Array, Array]:
        rows, cols = parts[key[0]], parts[key[1]]
        K = values(rows, cols).astype(dtype)
        i, j = np.nonzero(K if least == 0 else least <= K)
        found = K[i, j]
        i, j = (i + rows.start).astype(np.int32), (j + cols.start).astype(np.int32)
        if rows == cols:
            return i, j, found
        return np.concatenate([i, j]), np.concatenate([j, i]), np.concatenate([found, found])

    keys = [(i, j) for i in range(len(parts)) for j in range(i, len(parts))]
    made = run_tiles(tile, keys, n_jobs)
    rows, cols, data = (np.concatenate([part[c] for part in made]) for c in range(3))
    K = csr_array(coo_array((data, (rows, cols)), shape=(len(X), len(X))))
    K.sort_indices()
    return K


def share_of_near_pairs(X: Array, bandwidth: float) -> float:
    """The share of pairs nearer than √bandwidth, from at most 256 evenly spread rows."""
    rows = spread_rows(len(X), 256)
    A = (X - X.mean(axis=0)) / np.sqrt(bandwidth)
    norms = np.einsum("ij,ij->i", A, A)
    parts = [rows[part] for part in spans(len(rows), 64)]
    near = [np.count_nonzero(norms[part, None] + norms - 2 * (A[part] @ A.T) < 1.0) for part in parts]
    return float(sum(near)) / (len(rows) * len(X))


def _pair_values(X: Array, bandwidth: float, profile: Profile) -> Callable[[Slice, Slice], Array]:
    """A function that computes ``profile(|x_i - x_j|² / bandwidth)`` of a tile, by one matrix product."""
    A = (X - X.mean(axis=0)) / np.sqrt(bandwidth)
    norms = np.einsum("ij,ij->i", A, A)

    def values(rows: Slice, cols: Slice) -> Array:
        R = norms[rows, None] + norms[cols] - 2 * (A[rows] @ A[cols].T)
        np.maximum(R, 0, out=R)
        if rows == cols:
            np.fill_diagonal(R, 0)
        return profile.value(R)

    return values

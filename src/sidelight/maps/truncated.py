"""Truncated decomposition of a large matrix that is sparse but for a few dense products: no dense copy is made.

    A = S - L Rᵀ          S (n, d) sparse, L (n, r) and R (d, r) few columns
    A - 1 mᵀ ≈ T Vᵀ       m (d,) column means, V (d, k) orthonormal, T = (A - 1 mᵀ) V (n, k) scores

Centring adds one column to L and R, so that C = A - 1 mᵀ is of the same form. V is found by subspace iteration
(Halko, Martinsson and Tropp, SIAM Review 2011, algorithm 4.4) from a fixed seed, with ten columns more than asked for:

    Y ← orthonormal basis of C Ω,   Ω ← orthonormal basis of Cᵀ Y,   repeated;   V from the decomposition of Yᵀ C

Products run over fixed tiles of rows, and their sums in fixed order, so that the result does not depend on the number
of threads. The sign of a column of V is that of its largest entry.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from sidelight.base.tiles import one_blas_thread, run_tiles, spans, sum_in_order

from .frames import AnyFrame, Frame

__all__ = [
    "RANK",
    "TruncatedBasis",
    "TruncatedFrame",
    "as_rows_of",
    "dense_columns",
    "dense_rows",
    "is_sparse",
    "outside_in_columns",
    "truncated_basis",
    "variance_in_columns",
]

Array = npt.NDArray[Any]

RANK = 50
"""Columns that sparse rows are reduced to (docs/decisions/0027-sparse-counts.md)."""
_EXTRA = 10
_ROUNDS = 5  # a sixth adds 0.05 to 0.3 % of the explained variance (decision 0027)
_TILES = 16  # of rows: partial sums of (d, k + 10) numbers are held for each
_LEAST = 2048  # rows of a tile


@dataclass(frozen=True)
class TruncatedBasis:
    """Column means ``mean`` (d,) and orthonormal directions ``basis`` (d, k) of rows."""

    mean: Array
    basis: Array

    def scores(self, X: Any) -> Array:
        """Coordinates (m, k) of rows (m, d), dense or sparse: ``(X - mean) basis``."""
        return np.asarray(X @ self.basis - self.mean @ self.basis)

    def of_columns(self, columns: Array) -> TruncatedBasis:
        """The basis of some columns of the rows, with which ``rows`` returns these only; it has no ``scores``."""
        return TruncatedBasis(self.mean[columns], self.basis[columns])

    def rows(self, T: Array) -> Array:
        """Dense rows (m, d) of coordinates (m, k): ``T basisᵀ + mean``."""
        return np.asarray(T @ self.basis.T.astype(T.dtype, copy=False) + self.mean.astype(T.dtype, copy=False))


@dataclass(frozen=True)
class TruncatedFrame:
    """A frame of coordinates in a truncated basis; only ``outside`` returns to the columns of the data.

    ``inside`` and ``points`` take coordinates (m, k), which ``reduced`` makes of rows (m, d).
    """

    inner: Frame
    reduction: TruncatedBasis

    @property
    def scale(self) -> float:
        """Length in the units of the data that is 1 inside the frame."""
        return self.inner.scale

    def reduced(self, X: Any) -> Array:
        """Coordinates (m, k) of rows (m, d), dense or sparse, in their precision."""
        return self.reduction.scores(X).astype(X.dtype, copy=False)

    def inside(self, X: Array) -> Array:
        """Scale coordinates (m, k)."""
        return self.inner.inside(X)

    def points(self, X: Array) -> Array:
        """Scaled coordinates (m, k)."""
        return np.asarray(self.inner.points(X))

    def outside(self, Y: Array) -> Array:
        """Dense rows (m, d) of scaled coordinates (m, k)."""
        return self.reduction.rows(self.inner.outside(Y))

    def outside_variance(self, V: Array) -> Array:
        """Variances (m, d) of the columns of the data, for independent coordinates with variances ``V`` (m, k)."""
        return np.asarray((V * self.inner.scale**2) @ np.square(self.reduction.basis).T)


def outside_in_columns(frame: AnyFrame, Y: Array, columns: Array | None) -> Array:
    """Rows (m, c) of scaled ``Y`` in some columns of the data; None: in all. A truncated frame computes no others."""
    if columns is None:
        return frame.outside(Y)
    if isinstance(frame, TruncatedFrame):
        return frame.reduction.of_columns(columns).rows(frame.inner.outside(Y))
    return np.asarray(frame.outside(Y)[:, columns])


def variance_in_columns(frame: AnyFrame, V: Array, columns: Array | None) -> Array:
    """Variances (m, c) of some columns of the data, from those inside the frame; None: of all columns."""
    if columns is None:
        return frame.outside_variance(V)
    if isinstance(frame, TruncatedFrame):
        return np.asarray((V * frame.scale**2) @ np.square(frame.reduction.basis[columns]).T)
    return np.asarray(frame.outside_variance(V)[:, columns])


def is_sparse(X: object) -> bool:
    """Whether rows are a sparse matrix; unlike ``issparse``, it leaves their type as it is."""
    return bool(sparse.issparse(X))


def as_rows_of(X: Any, dtype: Any) -> Any:
    """Rows (m, d) as an array or a sparse matrix of a data type, whichever they are."""
    return X.astype(dtype, copy=False) if is_sparse(X) else np.asarray(X, dtype=dtype)


def dense_rows(X: Any, dtype: Any) -> Array:
    """Rows (m, d), dense or sparse, as a dense array."""
    found = X
    if sparse.issparse(X):
        found = found.toarray()
    return np.asarray(found, dtype=dtype)


def dense_columns(X: Any, columns: Array | None, dtype: Any) -> Array:
    """Some columns of rows (m, d), dense or sparse, as a dense array (m, c); None: all."""
    if columns is None:
        return dense_rows(X, dtype)
    return dense_rows(X.tocsc()[:, columns] if is_sparse(X) else np.asarray(X)[:, columns], dtype)


@dataclass(frozen=True)
class _Product:
    """``S - L Rᵀ``, in tiles of rows of S (views, not copies)."""

    tiles: list[tuple[slice, Any]]
    left: Array
    right: Array
    n_jobs: int | None

    def times(self, W: Array) -> Array:
        """The product with W (d, l), shape (n, l)."""
        few = self.right.T @ W
        parts = run_tiles(lambda tile: np.asarray(tile[1] @ W) - self.left[tile[0]] @ few, self.tiles, self.n_jobs)
        return np.concatenate(parts)

    def transposed_times(self, Y: Array) -> Array:
        """The product of the transpose with Y (n, l), shape (d, l)."""
        total = sum_in_order(run_tiles(lambda tile: np.asarray(tile[1].T @ Y[tile[0]]), self.tiles, self.n_jobs))
        return np.asarray(total - self.right @ (self.left.T @ Y))


@one_blas_thread
def truncated_basis(
    S: Any, rank: int = RANK, *, left: Array | None = None, right: Array | None = None, n_jobs: int | None = None
) -> TruncatedBasis:
    """Find the column means and the leading directions of ``S - left rightᵀ``.

    Parameters
    ----------
    S : sparse matrix of shape (n, d)
    rank : int
        Directions; no more than rows or columns are found.
    left, right : arrays of shape (n, r) and (d, r), or None
        The dense part.
    n_jobs : int or None
        Threads; the result does not depend on it.

    Examples
    --------
    >>> X = sparse.random(200, 30, density=0.1, format="csr", random_state=0)
    >>> found = truncated_basis(X, 30)
    >>> bool(np.allclose(found.rows(found.scores(X)), X.toarray()))
    True
    """
    S = sparse.csr_array(S)
    n, d = S.shape
    L = np.zeros((n, 0)) if left is None else np.asarray(left, dtype=np.float64)
    R = np.zeros((d, 0)) if right is None else np.asarray(right, dtype=np.float64)
    tiles = _row_tiles(S)
    sums = sum_in_order([np.asarray(tile.sum(axis=0, dtype=np.float64)).ravel() for _, tile in tiles])
    mean = (sums - R @ L.sum(axis=0)) / n
    C = _Product(tiles, np.column_stack([L, np.ones(n)]), np.column_stack([R, mean]), n_jobs)
    width = min(rank + _EXTRA, n, d)
    W = np.random.default_rng(0).normal(size=(d, width))
    for _ in range(_ROUNDS):
        Y = np.linalg.qr(C.times(W))[0]
        W = np.linalg.qr(C.transposed_times(Y))[0]
    Y = np.linalg.qr(C.times(W))[0]
    V = np.linalg.svd(C.transposed_times(Y), full_matrices=False)[0][:, : min(rank, n, d)]
    largest = V[np.abs(V).argmax(axis=0), np.arange(V.shape[1])]
    return TruncatedBasis(mean, np.asarray(V * np.where(largest < 0, -1.0, 1.0)))


def _row_tiles(S: Any) -> list[tuple[slice, Any]]:
    """Tiles of the rows of a CSR array that share its memory; they depend on its size only."""
    n, d = S.shape
    tiles = []
    for rows in spans(n, max(_LEAST, -(-n // _TILES))):
        start, stop = S.indptr[rows.start], S.indptr[rows.stop]
        parts = (S.data[start:stop], S.indices[start:stop], S.indptr[rows.start : rows.stop + 1] - start)
        tiles.append((rows, sparse.csr_array(parts, shape=(rows.stop - rows.start, d), copy=False)))
    return tiles

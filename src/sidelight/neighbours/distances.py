"""Squared Euclidean distances: from queries to rows, and between the rows of one tile.

    |a - b|² = Σ_k (a_k - b_k)²  in few dimensions,      |a|² + |b|² - 2 a·b  in many

The second form is one matrix product. It cancels, and the bits of a row's result could depend on the other rows of the
product; each function below says how it deals with this.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sidelight.base.tiles import tile_buffer
from sidelight.base.types import Array, Slice

__all__ = ["PairDistances", "bounded", "padded_product", "squared_distances"]


def squared_distances(Q: Array, A: Array, squares: Array | None = None) -> Array:
    """``|q_i - a_j|²`` (m, n): from differences in up to eight dimensions, else by a product of padded rows.

    The padding makes a row's result independent of the other rows, bit by bit. ``squares`` (n,): ``|a_j|²``, if known.
    """
    Q = bounded(Q)
    if A.shape[1] <= 8:
        R = np.zeros((len(Q), len(A)))
        difference = np.empty_like(R)
        for q, a in zip(Q.T, A.T, strict=True):
            np.subtract(q[:, None], a, out=difference)
            np.multiply(difference, difference, out=difference)
            R += difference
        return R
    if squares is None:
        squares = np.einsum("ij,ij->i", A, A)
    R = np.einsum("ij,ij->i", Q, Q)[:, None] + squares - 2 * padded_product(Q, A.T)
    return np.asarray(np.maximum(R, 0.0, out=R))


def bounded(Q: Array) -> Array:
    """Clip queries to ±1e120, where squares do not overflow: at that distance all training rows are equally far."""
    return Q if Q.dtype == np.float32 else np.clip(Q, -1e120, 1e120)  # which float32 does not reach


def padded_product(Q: Array, V: Array, dtype: npt.DTypeLike = np.float64) -> Array:
    """``Q @ V`` with rows padded to a multiple of 8, so that the bits of a row do not depend on the other rows.

    ``dtype`` of the product; one that is not that of ``V`` copies all of ``V`` first.
    """
    padded = np.zeros((-(-len(Q) // 8) * 8, Q.shape[1]), dtype=dtype)
    padded[: len(Q)] = Q
    product: Array = (padded @ V)[: len(Q)]
    return product


class PairDistances:
    """Squared distances of a tile of pairs: from differences in up to three dimensions, else by one matrix product.

    Differences do not cancel: an embedding of 10,000 rows is 100 units wide, and there ``|a|² + |b|² - 2 a·b`` has an
    error of 1e-3 in float32.
    """

    def __init__(self, Z: Array) -> None:
        self.columns = [np.ascontiguousarray(Z[:, k]) for k in range(Z.shape[1])]
        if len(self.columns) <= 3:
            return
        squares = np.einsum("ij,ij->i", Z, Z)
        self.left = np.column_stack([-2 * Z, squares, np.ones_like(squares)])
        self.right = np.ascontiguousarray(np.column_stack([Z, np.ones_like(squares), squares]).T)

    def fill(self, K: Array, rows: Slice, cols: Slice, spare: Array) -> Array:
        """Write ``|z_i - z_j|²`` of the tile into ``K``; ``spare`` is a buffer of at least that shape."""
        if len(self.columns) > 3:
            np.maximum(np.matmul(self.left[rows], self.right[:, cols], out=K), 0, out=K)
            if rows == cols:
                np.fill_diagonal(K, 0)
            return K
        for k, column in enumerate(self.columns):
            out = tile_buffer(spare, K) if k else K
            np.subtract(column[rows, None], column[None, cols], out=out)
            out *= out
            if k:
                K += out
        return K

"""Symmetric matrices by their upper triangles: half of the memory, and of the products."""

from __future__ import annotations

import functools

import numpy as np

from sidelight.base.types import Array

__all__ = ["column_products", "unpacked", "upper_triangle"]


_GATHERED = 8  # latent dimensions up to which one gather of columns takes less time than a loop over them
_KEPT = 64  # places in triangles of matrices up to this size are kept: finding them takes as long as small E steps


def column_products(W: Array) -> Array:
    """Products ``w_ja w_jb``, a ≤ b, of the columns of W (d, q), shape (d, q (q + 1) / 2)."""
    d, q = W.shape
    if q <= _GATHERED:
        rows, columns = upper_triangle(q)
        return np.asarray(W[:, rows] * W[:, columns])
    columns, products, start = np.ascontiguousarray(W.T), np.empty((q * (q + 1) // 2, d)), 0
    for a in range(q):
        np.multiply(columns[a], columns[a:], out=products[start : start + q - a])
        start += q - a
    return products.T


def unpacked(upper: Array, size: int) -> Array:
    """Symmetric matrices (k, size, size) from their upper triangles (k, size (size + 1) / 2)."""
    places = _kept(size)[2] if size <= _KEPT else _places(size)
    return np.take(upper, places, axis=1).reshape(len(upper), size, size)


def upper_triangle(size: int) -> tuple[Array, Array]:
    """Rows and columns of the upper triangle of a matrix (size, size), as ``np.triu_indices``; not to be changed."""
    return _kept(size)[:2] if size <= _KEPT else np.triu_indices(size)


def _places(size: int) -> Array:
    """Where each entry of a symmetric matrix (size, size) stands in its upper triangle."""
    place = np.zeros((size, size), dtype=np.intp)
    rows, columns = np.triu_indices(size)
    place[rows, columns] = place[columns, rows] = np.arange(len(rows))
    return place.reshape(-1)


@functools.lru_cache(maxsize=_KEPT)
def _kept(size: int) -> tuple[Array, Array, Array]:
    """Rows and columns of the upper triangle, and :func:`_places`."""
    rows, columns = np.triu_indices(size)
    found = (rows, columns, _places(size))
    for part in found:
        part.setflags(write=False)
    return found

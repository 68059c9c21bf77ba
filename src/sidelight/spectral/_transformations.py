"""Known transformations of rows, their tangents, and the distances based on them (S4 2.4 to 2.6).

A row is a vector or an image of ``shape`` (height, width); a transformation T(x, θ) changes it:

    shift     θ pixels along the width, with wrap-around      rotate   θ degrees about the centre
    local     each pixel from the size² pixels around it: T(x, θ)_i = θ · x_N(i), a filter fitted to the data

Tangents are T's derivatives by θ, by central differences; the local filter's is ``T(x, θ) - x`` with θ fitted to the
nearest other row (S4 2.4.1). Two tangent spaces with orthonormal bases P and Q (p, d) have

    mean sin² of the principal angles = 1 - |P Qᵀ|²_F / p                                      (S4 2.5: p = 1)

and a row is reconstructed from another with error ``min_θ |T(x_i, θ) - x_j|`` (S4 2.6). Tangents of two sharp images
are orthogonal as soon as a line has moved by its own width, so images are smoothed first. All passes work in tiles.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.ndimage import gaussian_filter
from scipy.sparse import coo_array, csr_array

from sidelight.base.tiles import run_tiles, spans
from sidelight.base.types import Array, Slice
from sidelight.neighbours.search import Neighbours, nearest, smallest

__all__ = [
    "Transformation",
    "filter_neighbours",
    "filtered",
    "orthonormal",
    "rotated",
    "shifted",
    "side_by_side",
    "sine_neighbours",
    "smoothed",
    "squared_sines",
    "tangents",
    "transformed_neighbours",
]


Parameter = float | Array
"""Of a transformation: a number, or an array of several."""
Transformation = Callable[[Array, Parameter], Array]
_BUDGET = 4_000_000  # numbers in the temporaries of one tile
_RIDGE = 1e-8  # of a filter's normal equations, which are singular for a blank image


def shifted(X: Array, pixels: float, shape: tuple[int, int]) -> Array:
    """Rows shifted to the right by ``pixels``, with wrap-around; fractions of pixels by linear interpolation.

    Examples
    --------
    >>> shifted(np.array([[1.0, 2.0, 3.0]]), 1, (1, 3))
    array([[3., 1., 2.]])
    """
    images = X.reshape(-1, *shape)
    whole = int(np.floor(pixels))
    part = pixels - whole
    moved = np.roll(images, whole, axis=2)
    if part:
        moved = (1 - part) * moved + part * np.roll(images, whole + 1, axis=2)
    return np.asarray(moved.reshape(X.shape))


def rotated(X: Array, degrees: float, shape: tuple[int, int]) -> Array:
    """Rows rotated counter-clockwise about the centre of the image, bilinear; pixels from outside the image are 0."""
    height, width = shape
    turn = np.deg2rad(degrees)
    y, x = np.indices(shape) - np.array([(height - 1) / 2, (width - 1) / 2])[:, None, None]
    from_x = np.cos(turn) * x - np.sin(turn) * y + (width - 1) / 2
    from_y = np.sin(turn) * x + np.cos(turn) * y + (height - 1) / 2
    left, top = np.floor(from_x).astype(int), np.floor(from_y).astype(int)
    right, low = from_x - left, from_y - top
    target = np.arange(height * width).reshape(shape)
    entries = []
    for dy, dx in ((0, 0), (0, 1), (1, 0), (1, 1)):
        weight = (low if dy else 1 - low) * (right if dx else 1 - right)
        inside = (top + dy >= 0) & (top + dy < height) & (left + dx >= 0) & (left + dx < width) & (weight > 1e-12)
        source = (top + dy) * width + left + dx
        entries.append((weight[inside], target[inside], source[inside]))
    weight, row, column = (np.concatenate([entry[i] for entry in entries]) for i in range(3))
    sampling = csr_array(coo_array((weight, (row, column)), shape=(height * width, height * width)))
    return np.asarray((sampling @ X.T).T)


def smoothed(X: Array, pixels: float, shape: tuple[int, int]) -> Array:
    """Rows smoothed by a Gaussian of standard deviation ``pixels``; images are extended by their edge pixels."""
    images = gaussian_filter(X.reshape(-1, *shape), (0.0, pixels, pixels), mode="nearest")
    return np.asarray(images.reshape(X.shape))


def tangents(X: Array, transformation: Transformation, steps: Sequence[float]) -> Array:
    """Central differences of ``transformation(X, θ)`` at θ = 0, one for each parameter: (n, p, d).

    With one parameter θ is a number, with several an array (p,).
    """
    found = []
    for a, step in enumerate(steps):
        there: Parameter = step if len(steps) == 1 else step * np.eye(len(steps))[a]
        found.append((transformation(X, there) - transformation(X, -there)) / (2 * step))
    return np.stack(found, axis=1)


def filtered(X: Array, shape: tuple[int, int], size: int, *, n_jobs: int | None = None) -> Array:
    """Each row (n, d) filtered by the local filter that fits it best to its nearest other row."""
    target = nearest(X, k=1, n_jobs=n_jobs).index[:, 0]
    out = np.empty(X.shape)
    for rows in spans(len(X), max(1, _BUDGET // (X.shape[1] * size * size))):
        A = _surroundings(X[rows], shape, size)
        G = A @ A.transpose(0, 2, 1)
        right = np.einsum("npd,nd->np", A, X[target[rows]])
        theta = np.linalg.solve(_ridged(G), right[:, :, None])
        out[rows] = (A * theta).sum(axis=1)
    return out


def orthonormal(T: Array) -> Array:
    """An orthonormal basis of each of n spans, (n, p, d), padded with rows of 0 if the rank is below p."""
    values, vectors = np.linalg.eigh(T @ T.transpose(0, 2, 1))
    kept = values > 1e-12 * np.maximum(values[:, -1:], 1e-300)
    scale = np.where(kept, 1 / np.sqrt(np.where(kept, values, 1.0)), 0.0)
    return np.asarray((vectors * scale[:, None, :]).transpose(0, 2, 1) @ T)


def squared_sines(P: Array, Q: Array, *, n_jobs: int | None = None) -> Array:
    """Mean sin² of the angles between each span of ``P`` (n, p, d) and each of ``Q`` (m, p, d): (n, m) in [0, 1]."""
    n, p, d = P.shape
    flat = Q.reshape(-1, d).T

    def one(rows: Slice) -> Array:
        cosines = (P[rows].reshape(-1, d) @ flat).reshape(rows.stop - rows.start, p, len(Q), p)
        return np.asarray(1.0 - np.einsum("ipjr,ipjr->ij", cosines, cosines) / p)

    parts = run_tiles(one, spans(n, max(1, _BUDGET // (p * p * len(Q)))), n_jobs)
    return np.asarray(np.clip(np.concatenate(parts), 0.0, 1.0))


def sine_neighbours(P: Array, Q: Array, *, k: int, n_jobs: int | None = None) -> Neighbours:
    """For each span of ``P`` (n, p, d) the ``k`` others of ``Q`` (n, p, d) at the smallest mean sin²: both (n, k)."""
    n = len(P)
    k = min(k, n - 1)
    found = []
    for rows in spans(n, max(1, _BUDGET // n)):
        squares = squared_sines(P[rows], Q, n_jobs=n_jobs)
        squares[np.arange(len(squares)), np.arange(rows.start, rows.stop)] = np.inf
        found.append(smallest(squares, k))
    return Neighbours(np.concatenate([f[0] for f in found]), np.concatenate([f[1] for f in found]))


def transformed_neighbours(
    X: Array, transformation: Transformation, parameters: Sequence[Parameter], *, k: int, n_jobs: int | None = None
) -> Neighbours:
    """For each row and each θ the ``k`` rows nearest to T(x, θ), concatenated: index and error (n, k · |θ|)."""
    found = [nearest(X, np.asarray(transformation(X, theta)), k=k, n_jobs=n_jobs) for theta in parameters]
    return side_by_side(found)


def side_by_side(found: Sequence[Neighbours]) -> Neighbours:
    """Concatenate several neighbour lists of the same rows, (n, sum of widths)."""
    return Neighbours(np.concatenate([f.index for f in found], 1), np.concatenate([f.distance for f in found], 1))


def filter_neighbours(X: Array, shape: tuple[int, int], size: int, *, k: int, n_jobs: int | None = None) -> Neighbours:
    """For each row the ``k`` others that a local filter of it reconstructs best: index and error (n, k)."""
    n = len(X)
    k = min(k, n - 1)
    norms = np.einsum("ij,ij->i", X, X)

    def one(rows: Slice) -> tuple[Array, Array]:
        basis = orthonormal(_surroundings(X[rows], shape, size))
        m, p, d = basis.shape
        explained = (basis.reshape(-1, d) @ X.T).reshape(m, p, n)
        left = np.sqrt(np.maximum(norms - np.einsum("mpn,mpn->mn", explained, explained), 0.0))
        left[np.arange(m), np.arange(rows.start, rows.stop)] = np.inf
        return smallest(left, k)

    parts = run_tiles(one, spans(n, max(1, _BUDGET // (size * size * max(n, X.shape[1])))), n_jobs)
    return Neighbours(np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts]))


def _surroundings(X: Array, shape: tuple[int, int], size: int) -> Array:
    """The images shifted by every offset of a ``size`` x ``size`` filter, with wrap-around: (n, size², d)."""
    images = X.reshape(-1, *shape)
    reach = range(-(size // 2), size - size // 2)
    moved = [np.roll(images, (dy, dx), axis=(1, 2)) for dy in reach for dx in reach]
    return np.stack(moved, axis=1).reshape(len(X), size * size, -1)


def _ridged(G: Array) -> Array:
    trace = np.trace(G, axis1=1, axis2=2)
    return G + (_RIDGE * np.where(trace > 0, trace, 1.0))[:, None, None] * np.eye(G.shape[1])

"""A bandwidth for each latent point, for kernel regression from the map to the data.

    h_j = max(C d_K(j)², LEAST),    w_j(z) ∝ (1 + |z - z_j|² / h_j)^(-(q+2)/2)

with d_K(j) the distance of latent point j to its K-th nearest one. Of several K, and one bandwidth for all rows, the
one is taken with which rows that are left out come back best: row i is mapped without itself,
z'_i = Σ_{j≠i} v_j(x_i) z_j, and back without itself,

    E = Σ_i |x_i - Σ_{j≠i} w_j(z'_i) x_j|²

which ranks K as new rows do. Leaving row i out on the way back alone does not: its place z_i was found with the row,
and prefers too small a K (``docs/decisions/0047``).

Cost: O(n log n) for up to 8 latent dimensions, and some hundred rows for each K.
"""

from __future__ import annotations

import numpy as np

from sidelight.base.tiles import run_tiles, spans
from sidelight.base.types import Array, Slice
from sidelight.neighbours.distances import squared_distances
from sidelight.neighbours.landmarks import spread_rows
from sidelight.neighbours.search import nearest, nearest_by_tree

from .kernel_map import KernelMap
from .nearby import is_many, row_search
from .weights import NEAREST, FixedWeights, PrecomputedWeights, list_weighted_mean

__all__ = ["local_weights"]

_NEIGHBOURS = (3, 5, 8, 12, 20, 32, 60)  # the K that are tried
_SHARE = 0.5  # C
_LEAST = 1e-3  # in units of the latent kernel of the fit: duplicates have no distance
_TRIED, _COLUMNS = 400, 200  # rows that are left out, and columns that errors are taken of
_FLAT = 8  # latent dimensions up to which a tree is faster
_TILE = 50  # of those rows


def local_weights(
    Z: Array, rows: Array, backward: KernelMap, latent_kernel: str, n_jobs: int | None = None
) -> FixedWeights:
    """Weights of the latent points with a bandwidth for each, or with one where that predicts better.

    Parameters
    ----------
    Z : array of shape (n, q)
        Latent points.
    rows : array of shape (n, d)
        Their rows of data.
    backward : KernelMap
        Kernel regression from the data to Z.
    latent_kernel : str
        Profile of the weights with one bandwidth, which is 1.
    n_jobs : int or None
        Threads.
    """
    tried = [FixedWeights(Z, 1.0, latent_kernel)]
    most = min(_NEIGHBOURS[-1], len(Z) - 1)
    if is_many(Z):
        near = row_search(Z).others(np.arange(len(Z)), most, n_jobs).distance
    elif Z.shape[1] <= _FLAT:
        near = nearest_by_tree(Z, k=most).distance
    else:
        near = nearest(Z, k=most, n_jobs=n_jobs).distance
    for k in sorted({min(k, most) for k in _NEIGHBOURS}):
        bandwidths = np.maximum(_SHARE * near[:, k - 1].astype(np.float64) ** 2, _LEAST)
        tried.append(FixedWeights(Z, bandwidths, "student"))
    errors = _errors_of_left_out_rows(rows, backward, tried, n_jobs)
    return tried[int(np.argmin(errors))]


def _errors_of_left_out_rows(
    rows: Array, backward: KernelMap, tried: list[FixedWeights], n_jobs: int | None
) -> list[float]:
    """E of each way to weigh the latent points, on evenly spaced rows and columns."""
    assert not isinstance(backward.weights, PrecomputedWeights)
    n, d = rows.shape
    some = spread_rows(n, _TRIED)
    V = rows[:, np.unique(np.linspace(0, d - 1, min(d, _COLUMNS)).astype(np.int64))]
    places = backward.weights.leave_one_out(backward.outputs, some, n_jobs)
    means_of = _means_near if is_many(rows) else _means_of_all
    errors = np.zeros(len(tried))
    for means, part in means_of(tried, V, places, some, n_jobs):
        residuals = (V[some[part]] - means).astype(np.float64)
        errors += np.einsum("tmr,tmr->t", residuals, residuals)
    return [float(error) for error in errors]


def _means_of_all(
    tried: list[FixedWeights], V: Array, places: Array, some: Array, n_jobs: int | None
) -> list[tuple[Array, Slice]]:
    """Weighted means (t, m, r) of V (n, r) at the places (m, q), each without the row ``some`` (m,), by tiles of them.

    In single precision, as the errors only have to tell bandwidths apart.
    """
    single = V.astype(np.float32)

    def one(part: Slice) -> tuple[Array, Slice]:
        R = squared_distances(places[part], tried[0].inputs).astype(np.float32)
        R[np.arange(len(R)), some[part]] = np.inf
        weights = [way.weigh_squares(R).astype(np.float32, copy=False) @ single for way in tried]
        return np.array(weights), part

    return run_tiles(one, spans(len(some), _TILE), n_jobs)


def _means_near(
    tried: list[FixedWeights], V: Array, places: Array, some: Array, n_jobs: int | None
) -> list[tuple[Array, Slice]]:
    """The same for many rows, of which the nearest to a place count."""
    near = tried[0].search.nearest(places, NEAREST + 1, n_jobs).index
    found = []
    for weights in tried:
        index, W = weights.listed(places, near)
        W[index == some[:, None]] = 0.0
        W /= W.sum(axis=1, keepdims=True)
        found.append(list_weighted_mean(W, V, index))
    return [(np.array(found), slice(0, len(some)))]

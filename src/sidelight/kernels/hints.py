"""Correspondences between groups as harmonic coordinates: where a row lies between rows said to correspond.

Pairs of rows across groups that the user said correspond (hints) form classes c = 1..C. Within each group the
coordinate φ_c is the harmonic function on the group's neighbour graph that is 1 at the hinted rows of class c and 0 at
the other hinted rows,

    Σ_j w_ij (φ_c(i) - φ_c(j)) = 0      for every row i without a hint

(a random walk from i meets class c first with probability φ_c(i)). Between two hints on a curve it runs from 0 to 1
along the curve, whatever the group looks like: so dissimilar groups are compared by *where between the hints* a row
lies. Rows not connected to a hint, such as those of groups without hints, take a weighted mean of the coordinates of
their nearest rows that are. Cost: one sparse solve per group.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array, csr_array, diags_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu

from sidelight.base.types import Array
from sidelight.neighbours.distances import squared_distances
from sidelight.neighbours.search import Neighbours, nearest, nearest_precomputed

from .bandwidths import perplexity_rows
from .matrices import adaptive_kernel

__all__ = ["harmonic_coordinates", "hint_classes", "with_hints"]


_PERPLEXITY = 3.0
_HINT_WEIGHT = 10.0  # of squared distance between hint coordinates against the mean square of the residual


def hint_classes(index: Array, n: int) -> Array:
    """Class of each row (n,), numbered from 0, by the connected components of the pairs; -1 for rows without a hint."""
    links = coo_array((np.ones(len(index)), (index[:, 0], index[:, 1])), shape=(n, n))
    _, piece = connected_components(links, directed=False)
    hinted = np.zeros(n, dtype=bool)
    hinted[index] = True
    classes = np.full(n, -1)
    classes[hinted] = np.unique(piece[hinted], return_inverse=True)[1]
    return classes


def harmonic_coordinates(
    points: Array, codes: Array, classes: Array, *, precomputed: bool = False, n_jobs: int | None = None
) -> Array:
    """Harmonic coordinates φ (n, C) of every row, from the neighbour graph of its own group.

    Parameters
    ----------
    points : array of shape (n, d), or distances (n, n)
    codes : array of shape (n,)
        Group of each row.
    classes : array of shape (n,)
        As ``hint_classes`` returns them.
    precomputed : bool
        Whether ``points`` are distances.
    n_jobs : int or None
        Threads.
    """
    n, count = len(points), int(classes.max()) + 1
    phi = np.zeros((n, count))
    reached = np.zeros(n, dtype=bool)
    for code in np.unique(codes[classes >= 0]):
        rows = np.flatnonzero(codes == code)
        phi[rows] = _harmonic(_neighbours(points, rows, precomputed, n_jobs), classes[rows], count)
        reached[rows] = phi[rows].sum(axis=1) > 1e-6
    if not reached.all():
        lost, near = np.flatnonzero(~reached), np.flatnonzero(reached)
        k = min(5, len(near))
        if precomputed:
            found = nearest_precomputed(points[np.ix_(lost, near)], k=k, own=False)
        else:
            found = nearest(points[near], points[lost], k=k, n_jobs=n_jobs)
        W = perplexity_rows(found.distance**2, 0.6 * found.index.shape[1] + 0.4)[0]
        phi[lost] = np.einsum("ik,ikc->ic", W, phi[reached][found.index])
    return phi


def with_hints(
    points: Array, rest: Array, codes: Array, index: Array, *, precomputed: bool = False, n_jobs: int | None = None
) -> Array:
    """Append the harmonic coordinates of the hints to the residual rows.

    Parameters
    ----------
    points : array of shape (n, d), or distances (n, n)
        The neighbour graphs of the coordinates φ are computed from these.
    rest : array of shape (n, d)
        Residual rows, after the effect of ``given``.
    codes : array of shape (n,)
        Group of each row.
    index : array of shape (m, 2)
        Rows that correspond.
    precomputed : bool
        Whether ``points`` are distances.
    n_jobs : int or None
        Threads.

    Returns
    -------
    array of shape (n, d + C), or (n, n)
        ``[rest, √(10 · mean |rest|²) φ]``. With precomputed distances: these, with the squared distances of the scaled
        coordinates added under the root.
    """
    classes = hint_classes(index, len(points))
    phi = harmonic_coordinates(points, codes, classes, precomputed=precomputed, n_jobs=n_jobs)
    if precomputed:
        size = 0.5 * float(np.mean(points**2)) or 1.0
        return np.asarray(np.sqrt(points**2 + _HINT_WEIGHT * size * squared_distances(phi, phi)))
    size = float(np.mean(np.einsum("ij,ij->i", rest, rest))) or 1.0
    return np.column_stack([rest, np.sqrt(_HINT_WEIGHT * size) * phi])


def _neighbours(points: Array, rows: Array, precomputed: bool, n_jobs: int | None) -> Neighbours:
    """The nearest rows within one group."""
    k = min(len(rows) - 1, round(3 * _PERPLEXITY))
    if precomputed:
        return nearest_precomputed(points[np.ix_(rows, rows)], k=k, own=True)
    return nearest(points[rows], k=k, n_jobs=n_jobs)


def _harmonic(neighbours: Neighbours, classes: Array, count: int) -> Array:
    """``φ`` of one group (m, C); zeros for rows not connected to a hint."""
    phi = np.zeros((len(classes), count))
    hinted = np.flatnonzero(classes >= 0)
    phi[hinted, classes[hinted]] = 1.0
    free = np.flatnonzero(classes < 0)
    if len(free) == 0:
        return phi
    W, _ = adaptive_kernel(neighbours, min(_PERPLEXITY, 0.8 * neighbours.index.shape[1]))
    degree = np.asarray(W.sum(axis=1)).ravel()
    L = csr_array(diags_array(degree + 1e-9 * (degree.mean() or 1.0)) - W)
    inner = L[free][:, free].tocsc()
    phi[free] = splu(inner).solve(np.ascontiguousarray(-(L[free][:, hinted] @ phi[hinted])))
    return np.asarray(np.clip(phi, 0.0, 1.0))

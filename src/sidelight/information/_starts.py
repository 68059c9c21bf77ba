"""Initial latent points: the options of the parameter ``init``."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.decomposition import PCA

from sidelight.base.random import random_numbers
from sidelight.base.types import Array, RandomState, SparseMatrix
from sidelight.neighbours.graph import joined_graph
from sidelight.neighbours.landmarks import landmark_distances
from sidelight.neighbours.sparse_distances import Points, SparseDistances, dense_points
from sidelight.solvers.eigen import GraphSpectrum, landmark_scaling

from ._settings import LatentSettings

__all__ = ["LINKS", "initial_points", "noise", "padded"]


LINKS = 15
"""Neighbours in the graph along which a start measures distances, if the kernel has no graph of its own."""
_NOISE = 0.1  # standard deviation of a random start, in bandwidths of the latent kernel


def noise(random_state: RandomState, n: int, q: int) -> Array:
    """A small random start (n, q)."""
    return np.asarray(_NOISE * random_numbers(random_state).standard_normal((n, q)))


def padded(found: Array, n: int, q: int) -> Array:
    """The first ``q`` columns of ``found``, padded with columns of zeros to shape (n, q)."""
    start = np.zeros((n, q))
    start[:, : found.shape[1]] = found[:, :q]
    return start


def initial_points(
    points: Points,
    graph: SparseMatrix | None,
    spectrum: Callable[[], GraphSpectrum],
    latent: LatentSettings,
    *,
    precomputed: bool,
    n_jobs: int | None,
) -> Array:
    """Initial latent points (n, q), as the name ``latent.init`` says.

    Parameters
    ----------
    points : array of shape (n, d), or distances
    graph : csr_array or None
        Neighbourhood graph along which "mds" measures distances; None: straight-line distances.
    spectrum : callable
        Computes the smoothest eigenvectors of the kernel graph, for "spectral".
    latent : LatentSettings
    precomputed : bool
        Whether the points are distances; "pca" is then replaced by landmark scaling of them.
    n_jobs : int or None
    """
    n, q = len(points), latent.n_components
    if latent.init == "random":
        return noise(latent.random_state, n, q)
    if latent.init == "spectral":
        found = spectrum().coordinates(q)
    elif latent.init == "pca" and not precomputed:
        with np.errstate(invalid="ignore"):  # identical rows: PCA divides 0 by 0 for a share that we do not use
            found = PCA(min(q, *points.shape), svd_solver="full").fit_transform(dense_points(points))
    else:
        along = graph if latent.init == "mds" else None
        if along is None and isinstance(points, SparseDistances):  # most straight-line distances are unknown
            along = joined_graph(points, points.nearest(LINKS))
        rows, D = landmark_distances(points, along, precomputed=precomputed, n_jobs=n_jobs)
        found = landmark_scaling(D, rows, q)
    return padded(found, n, q)

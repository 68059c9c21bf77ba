"""Where the latent points of rows begin: what ``init`` says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from sklearn.decomposition import PCA

from sidelight.base.random import random_numbers
from sidelight.neighbours.graph import joined_graph
from sidelight.neighbours.landmarks import landmark_distances
from sidelight.neighbours.sparse_distances import SparseDistances
from sidelight.solvers.eigen import GraphSpectrum, landmark_scaling

from ._settings import LatentSettings

__all__ = ["LINKS", "noise", "padded", "start_places"]

Array = npt.NDArray[Any]
LINKS = 15
"""Neighbours in the graph that a start is measured along, where the kernel has none of its own."""
_NOISE = 0.1  # standard deviation of a random start, in widths of the latent kernel


def noise(random_state: Any, n: int, q: int) -> Array:
    """A small random start (n, q)."""
    return np.asarray(_NOISE * random_numbers(random_state).standard_normal((n, q)))


def padded(found: Array, n: int, q: int) -> Array:
    """The first ``q`` columns of ``found``, with columns of zeros where there are fewer."""
    start = np.zeros((n, q))
    start[:, : found.shape[1]] = found[:, :q]
    return start


def start_places(
    points: Any,
    graph: csr_array | None,
    spectrum: Callable[[], GraphSpectrum],
    latent: LatentSettings,
    *,
    precomputed: bool,
    n_jobs: int | None,
) -> Array:
    """Latent points (n, q) by the name in ``latent.init``.

    Parameters
    ----------
    points : array of shape (n, d), or distances
    graph : csr_array or None
        Along which "mds" measures distances; None: in straight lines.
    spectrum : callable
        Makes the smooth vectors of the kernel graph, for "spectral".
    """
    n, q = len(points), latent.n_components
    if latent.init == "random":
        return noise(latent.random_state, n, q)
    if latent.init == "spectral":
        found = spectrum().coordinates(q)
    elif latent.init == "pca" and not precomputed:
        with np.errstate(invalid="ignore"):  # rows that are all the same: it divides 0 by 0 for a share we do not use
            found = PCA(min(q, *points.shape), svd_solver="full").fit_transform(points)
    else:
        along = graph if latent.init == "mds" else None
        if along is None and isinstance(points, SparseDistances):  # in straight lines there is next to nothing
            along = joined_graph(points, points.nearest(LINKS))
        rows, D = landmark_distances(points, along, precomputed=precomputed, n_jobs=n_jobs)
        found = landmark_scaling(D, rows, q)
    return padded(found, n, q)

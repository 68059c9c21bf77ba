"""Initial latent points: the options of the parameter ``init``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sidelight.base.messages import error_message
from sidelight.base.random import random_numbers
from sidelight.base.types import Array, RandomState, SparseMatrix
from sidelight.base.validation import checked_start
from sidelight.neighbours.graph import joined_graph
from sidelight.neighbours.landmarks import landmark_distances
from sidelight.neighbours.sparse_distances import Points, SparseDistances, dense_points
from sidelight.solvers.eigen import GraphSpectrum, landmark_scaling

from ._settings import LatentSettings

__all__ = ["LINKS", "ChosenStart", "chosen_start", "initial_points", "noise", "padded"]


LINKS = 15
"""Neighbours in the graph along which a start measures distances, if the kernel has no graph of its own."""
_NOISE = 0.1  # standard deviation of a random start, in bandwidths of the latent kernel


@dataclass(frozen=True)
class ChosenStart:
    """Initial points (n, q) that the user chose (None: a name says which), and a mask (n,) of rows held there."""

    points: Array | None = None
    held: Array | None = None

    def take(self, rows: Array) -> ChosenStart:
        """The start of some rows."""
        return ChosenStart(*(None if part is None else part[rows] for part in (self.points, self.held)))


def chosen_start(owner: object, init: object, held: object, shape: tuple[int, int]) -> ChosenStart:
    """Validate ``init`` and ``held`` of n rows and q dimensions; ``held`` is a mask (n,) or row numbers."""
    points = None if isinstance(init, str) else checked_start(owner, init, shape)
    if held is None:
        return ChosenStart(points)
    if points is None:
        rule = f"needs the positions of the held rows, and init is {init!r}"
        raise ValueError(error_message(owner, "held", "some rows", rule, "Give init as an array, or leave held out"))
    found, n = np.asarray(held), shape[0]
    if found.dtype.kind in "iu" and found.ndim == 1 and (not len(found) or (found.min() >= 0 and found.max() < n)):
        found = np.isin(np.arange(n), found)
    if found.dtype != bool or found.shape != (n,):
        rule = f"is neither a mask of the {n} rows nor row numbers"
        seen = f"array of shape {found.shape}, type {found.dtype}"
        raise ValueError(error_message(owner, "held", seen, rule, "Give True for the rows that stay"))
    return ChosenStart(points, found if found.any() else None)


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
        from sklearn.decomposition import PCA  # here, because its import takes a tenth of a second

        with np.errstate(invalid="ignore"):  # identical rows: PCA divides 0 by 0 for a share that we do not use
            found = PCA(min(q, *points.shape), svd_solver="full").fit_transform(dense_points(points))
    else:
        along = graph if latent.init == "mds" else None
        if along is None and isinstance(points, SparseDistances):  # most straight-line distances are unknown
            along = joined_graph(points, points.nearest(LINKS))
        rows, D = landmark_distances(points, along, precomputed=precomputed, n_jobs=n_jobs)
        found = landmark_scaling(D, rows, q)
    return padded(found, n, q)

"""Latent points to place charts at, where gluing by shared rows is not good enough, and how to judge a map.

    geodesic   y_n: landmark scaling of distances along the neighbourhood graph of a sample (Isomap), then steps that
               lower the Sammon stress of these distances
    linear     y_n: principal components of the sample

A glued map follows them by least squares (``_coordination_fit.placed``). Maps are compared by how much of a row the
rows beside it on the map tell: ``1 - Σ_n |x_n - mean of its neighbours on the map|² / Σ_n |x_n - mean|²``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sidelight.base.types import Array
from sidelight.maps.frames import Frame
from sidelight.maps.weights import list_weighted_mean
from sidelight.neighbours.graph import joined_links
from sidelight.neighbours.landmarks import landmark_distances
from sidelight.neighbours.search import nearest
from sidelight.solvers.eigen import fix_signs, landmark_scaling
from sidelight.solvers.landmark_stress import lower_stress

__all__ = ["GLUED", "GRAPHS", "Placement", "explained_by_neighbours", "target"]


GRAPHS = (5, 8, 12)
"""Neighbours of a row in the graphs that are tried: few keep layers and clusters apart, many are steady with noise."""

_LANDMARKS = 100  # rows from which distances along the graph are measured
_NEIGHBOURS = 8  # neighbours on the map that a row is told from


@dataclass(frozen=True)
class Placement:
    """How charts are placed: the ``alignment``, and for "geodesic" the neighbours of a row in the graph."""

    alignment: str
    n_neighbors: int = 0


GLUED = Placement("coordination")
"""Charts agree about the rows they share."""


def target(sample: Array, placement: Placement, n_components: int, n_jobs: int | None) -> Array:
    """Latent points (m, q) of sampled rows (m, d), centred; columns of 0 where there are fewer dimensions."""
    Y = Frame.of(sample).inside(sample)
    found = _principal(Y, n_components)
    if placement.alignment == "geodesic":
        found = _along_graph(Y, placement.n_neighbors, n_components, n_jobs)
    missing = n_components - found.shape[1]
    return np.concatenate([found, np.zeros((len(Y), missing))], axis=1) if missing else found


def _along_graph(Y: Array, n_neighbors: int, n_components: int, n_jobs: int | None) -> Array:
    near = nearest(Y, k=min(n_neighbors, len(Y) - 1), n_jobs=n_jobs)
    rows = np.repeat(np.arange(len(Y)), near.index.shape[1])
    graph = joined_links(Y, rows, near.index.ravel(), near.distance.ravel())
    landmarks, D = landmark_distances(Y, graph, n_landmarks=_LANDMARKS, n_jobs=n_jobs)
    return lower_stress(D, landmarks, landmark_scaling(D, landmarks, n_components))


def _principal(Y: Array, n_components: int) -> Array:
    centred = Y - Y.mean(axis=0)
    U, lengths, _ = np.linalg.svd(centred, full_matrices=False)
    return np.asarray(fix_signs(U[:, :n_components] * lengths[:n_components]))


def explained_by_neighbours(
    Y: Array, Z: Array, n_jobs: int | None, new: Array | None = None, new_latent: Array | None = None
) -> float:
    """Share of the variance of rows that their neighbours on the map tell; at least 0.

    Parameters
    ----------
    Y, Z : arrays of shape (m, d) and (m, q)
        Rows and their latent points.
    n_jobs : int or None
        Threads.
    new, new_latent : arrays of shape (l, d) and (l, q), or None
        Other rows, told from neighbours among the first; None: the first are told from each other.
    """
    told = Y if new is None else new
    spread = float(((told - Y.mean(axis=0)) ** 2).sum())
    if len(Y) < 2 or not spread > 0.0 or not np.isfinite(Z).all():
        return 0.0
    lists = nearest(Z, new_latent, k=min(_NEIGHBOURS, len(Z) - 1), n_jobs=n_jobs).index
    means = list_weighted_mean(np.full(lists.shape, 1.0 / lists.shape[1]), Y, lists)
    return max(0.0, 1.0 - float(((told - means) ** 2).sum()) / spread)

"""Latent points to place charts at, where gluing by shared rows is not good enough, and how to judge a map.

    geodesic   y_n: landmark scaling of distances along the neighbourhood graph of a sample (Isomap), then steps that
               lower the Sammon stress of these distances. The distances are means over graphs with several numbers of
               neighbours, or those of one of these graphs
    linear     y_n: principal components of the sample

A glued map follows them by least squares (``_coordination_fit.placed``). Maps are compared by how much of a row the
rows beside it on the map tell: ``1 - Σ_n |x_n - mean of its neighbours on the map|² / Σ_n |x_n - mean|²``.
"""

from __future__ import annotations

from collections.abc import Sequence
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

__all__ = ["GLUED", "Placement", "along_graphs", "explained_by_neighbours", "target"]


_GRAPHS = (5, 8, 12)  # neighbours of a row: few keep layers and clusters apart, many are steady with noise
_LANDMARKS = 100  # rows from which distances along the graph are measured
_NEIGHBOURS = 8  # neighbours on the map that a row is told from


@dataclass(frozen=True)
class Placement:
    """How charts are placed: the ``alignment``, and for "geodesic" the neighbours of a row in the graph.

    With 0 neighbours distances are means over all the graphs.
    """

    alignment: str
    n_neighbors: int = 0


GLUED = Placement("coordination")
"""Charts agree about the rows they share."""


def target(sample: Array, placement: Placement, n_components: int, n_jobs: int | None) -> Array:
    """Latent points (m, q) of sampled rows (m, d), centred; columns of 0 where there are fewer dimensions."""
    Y = Frame.of(sample).inside(sample)
    if placement.alignment != "geodesic":
        return _filled(_principal(Y, n_components), n_components)
    graphs = (placement.n_neighbors,) if placement.n_neighbors else _GRAPHS
    landmarks, paths = _paths(Y, graphs, n_jobs)
    return _scaled(np.mean(paths, axis=0), landmarks, n_components)


def along_graphs(sample: Array, n_components: int, n_jobs: int | None) -> dict[Placement, Array]:
    """``target`` of every "geodesic" placement that is tried: means over the graphs first, then each graph by itself.

    A choice between graphs by a few left-out rows is mostly noise, which a mean is not; but a mean has the bridges of
    the worst graph.
    """
    Y = Frame.of(sample).inside(sample)
    landmarks, paths = _paths(Y, _GRAPHS, n_jobs)
    lengths = dict(zip((0, *_GRAPHS), (np.mean(paths, axis=0), *paths), strict=True))
    return {Placement("geodesic", k): _scaled(D, landmarks, n_components) for k, D in lengths.items()}


def _paths(Y: Array, graphs: Sequence[int], n_jobs: int | None) -> tuple[Array, list[Array]]:
    """Landmarks (L,), and their distances to all rows (L, m) along the graph of each number of neighbours."""
    near, found = nearest(Y, k=min(max(graphs), len(Y) - 1), n_jobs=n_jobs), list[Array]()
    for number in graphs:
        index, distance = near.index[:, :number], near.distance[:, :number]
        rows = np.repeat(np.arange(len(Y)), index.shape[1])
        graph = joined_links(Y, rows, index.ravel(), distance.ravel())
        landmarks, D = landmark_distances(Y, graph, n_landmarks=_LANDMARKS, n_jobs=n_jobs)
        found.append(D)
    return landmarks, found


def _scaled(D: Array, landmarks: Array, n_components: int) -> Array:
    """Latent points (m, q) that keep distances to landmarks (L, m), the short ones as well as the long ones."""
    return _filled(lower_stress(D, landmarks, landmark_scaling(D, landmarks, n_components)), n_components)


def _filled(Z: Array, n_components: int) -> Array:
    """Latent points with columns of 0 where there are fewer dimensions."""
    missing = n_components - Z.shape[1]
    return np.concatenate([Z, np.zeros((len(Z), missing))], axis=1) if missing else Z


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

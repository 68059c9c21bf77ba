"""Latent points to place charts at, where gluing by shared rows is not good enough, and how to judge a map.

    geodesic   y_n: landmark scaling of path lengths in neighbourhood graphs of a sample (Isomap), then steps that lower
               the Sammon stress. Lengths are means over graphs with several numbers of neighbours, or those of one.
               Steps count with their length, or with its square: then paths keep to where rows are dense, and gaps
               between clusters are wide (Hwang, Damelin and Hero 2016)
    linear     y_n: principal components of the sample

A glued map follows them by least squares (``_coordination_fit.placed``). Maps are compared by how much of a row the
rows beside it on the map tell: ``1 - Σ_n |x_n - mean of its neighbours on the map|² / Σ_n |x_n - mean|²``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sidelight.base.types import Array, SparseMatrix
from sidelight.maps.frames import Frame
from sidelight.maps.weights import list_weighted_mean
from sidelight.neighbours.graph import joined_links
from sidelight.neighbours.landmarks import landmark_distances, spread_rows
from sidelight.neighbours.search import nearest
from sidelight.solvers.eigen import fix_signs, landmark_scaling
from sidelight.solvers.landmark_stress import lower_stress

__all__ = ["GLUED", "Placement", "along_graphs", "explained_by_neighbours", "target"]


_GRAPHS = (5, 8, 12)  # neighbours of a row: few keep layers and clusters apart, many are steady with noise
_DENSE = 2.0  # power of the length of a step with which paths keep to dense regions
_LANDMARKS = 100  # rows from which distances along the graph are measured
_NEIGHBOURS = 8  # neighbours on the map that a row is told from


@dataclass(frozen=True)
class Placement:
    """How charts are placed: the ``alignment``; for "geodesic" neighbours of a row in the graph, and power of steps.

    With 0 neighbours path lengths are means over all the graphs.
    """

    alignment: str
    n_neighbors: int = 0
    power: float = 1.0


GLUED = Placement("coordination")
"""Charts agree about the rows they share."""


def target(sample: Array, placement: Placement, n_components: int, n_jobs: int | None) -> Array:
    """Latent points (m, q) of sampled rows (m, d), centred; columns of 0 where there are fewer dimensions."""
    Y = Frame.of(sample).inside(sample)
    if placement.alignment != "geodesic":
        return _filled(_principal(Y, n_components), n_components)
    numbers = (placement.n_neighbors,) if placement.n_neighbors else _GRAPHS
    paths = _path_lengths(Y, _graphs(Y, numbers, n_jobs), placement.power, n_jobs)
    return _scaled(np.mean(paths, axis=0), n_components)


def along_graphs(sample: Array, n_components: int, n_jobs: int | None) -> dict[Placement, Array]:
    """``target`` of every "geodesic" placement that is tried, those that are preferred first.

    A choice between graphs by a few left-out rows is mostly noise, which a mean over graphs is not; but a mean has the
    bridges of the worst graph, so each is tried by itself, too.
    """
    Y = Frame.of(sample).inside(sample)
    graphs = _graphs(Y, _GRAPHS, n_jobs)
    dense, plain = (_path_lengths(Y, graphs, power, n_jobs) for power in (_DENSE, 1.0))
    lengths = {Placement("geodesic", 0, _DENSE): np.mean(dense, axis=0), Placement("geodesic"): np.mean(plain, axis=0)}
    lengths |= {Placement("geodesic", number): D for number, D in zip(_GRAPHS, plain, strict=True)}
    return {placement: _scaled(D, n_components) for placement, D in lengths.items()}


def _graphs(Y: Array, numbers: Sequence[int], n_jobs: int | None) -> list[SparseMatrix]:
    """A graph of one piece for each number of neighbours."""
    near, found = nearest(Y, k=min(max(numbers), len(Y) - 1), n_jobs=n_jobs), list[SparseMatrix]()
    for number in numbers:
        index, distance = near.index[:, :number], near.distance[:, :number]
        rows = np.repeat(np.arange(len(Y)), index.shape[1])
        found.append(joined_links(Y, rows, index.ravel(), distance.ravel()))
    return found


def _path_lengths(Y: Array, graphs: Sequence[SparseMatrix], power: float, n_jobs: int | None) -> list[Array]:
    """Lengths of the shortest paths from landmarks to all rows (L, m) in each graph, with a power of each step."""
    found = []
    for graph in graphs:
        weighed = graph.copy()
        weighed.data = weighed.data**power
        found.append(landmark_distances(Y, weighed, n_landmarks=_LANDMARKS, n_jobs=n_jobs)[1])
    return found


def _scaled(D: Array, n_components: int) -> Array:
    """Latent points (m, q) that keep distances to landmarks (L, m), the short ones as well as the long ones."""
    landmarks = spread_rows(D.shape[1], _LANDMARKS)
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

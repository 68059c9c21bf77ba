"""The maps of a hybrid embedding: kernel regression both ways, and the Nyström formula for some distances.

The Nyström formula reproduces the embedding of training rows only if M and L are exact there (not with LLE, nor for
equal rows). The residual at the training rows is added back, and fades with distance
(``maps.interpolation.Correction``).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sidelight.base.tiles import spans
from sidelight.base.types import Array, SparseMatrix
from sidelight.maps.frames import AnyFrame, Frame
from sidelight.maps.interpolation import Correction, correction_at_rows, interpolate, nearest_anchors
from sidelight.maps.interpolation_jacobians import correction_jacobian
from sidelight.maps.kernel_map import KernelMap, adaptive_map
from sidelight.maps.nystrom import NystromMap
from sidelight.maps.nystrom_jacobians import nystrom_jacobian
from sidelight.maps.parzen import neighbourhood_density
from sidelight.maps.two_way import LISTED, TwoWayMaps
from sidelight.maps.weights import PrecomputedWeights
from sidelight.neighbours.search import Neighbours, nearest
from sidelight.objectives.spectral import padded_lists

from ._hybrid_problem import Distances, Hybrid

__all__ = ["NystromPlaces", "hybrid_maps", "nystrom_map", "nystrom_places", "places_jacobian"]


_BUDGET = 2_000_000  # numbers in the temporaries of one tile of Jacobians
_FADE = 1.0  # range of the correction of Nyström's residual at training rows


@dataclass(frozen=True)
class NystromPlaces:
    """The backward map by the Nyström formula, with a correction that makes it exact at training rows."""

    nystrom: NystromMap
    correction: Correction | None
    n_components: int

    def __call__(self, points: Array, n_jobs: int | None) -> Array:
        """Latent points (m, n_components) of rows in units of the frame."""
        Z = np.zeros((len(points), self.n_components))
        Z[:, : self.nystrom.vectors.shape[1]] = self.nystrom(points, n_jobs)
        if self.correction is None:
            return Z
        return np.asarray(Z + self.correction(*nearest_anchors(self.nystrom.points, points, n_jobs)))


def places_jacobian(places: NystromPlaces, points: Array, n_jobs: int | None) -> Array:
    """Jacobians (m, q, d) of the Nyström map with its correction, by rows in units of the frame."""
    J = np.zeros((len(points), places.n_components, points.shape[1]))
    J[:, : places.nystrom.vectors.shape[1]] = nystrom_jacobian(places.nystrom, points, n_jobs)
    if places.correction is not None:
        for rows in spans(len(points), max(1, _BUDGET // (places.n_components * points.shape[1]))):
            J[rows] += correction_jacobian(places.correction, places.nystrom.points, points[rows])
    return J


def nystrom_places(nystrom: NystromMap, Z: Array, n_jobs: int | None) -> NystromPlaces:
    """Correct the Nyström map by its residual from the embedding ``Z`` (n, q) at the training rows."""
    plain = NystromPlaces(nystrom, None, Z.shape[1])
    correction = correction_at_rows(nystrom.points, Z - plain(nystrom.points, n_jobs), _FADE, n_jobs)
    return NystromPlaces(nystrom, correction, Z.shape[1])


def nystrom_map(
    points: Array,
    M: Distances,
    found: Hybrid,
    factor: Array,
    edges: SparseMatrix,
    *,
    alpha: float,
    locality: str,
    heat: float | None,
    n_neighbors: int,
) -> NystromMap:
    """The Nyström formula of a solved eigenproblem.

    Parameters
    ----------
    points : array of shape (n, d)
        Training rows in units of the frame.
    M : Distances
        Euclidean distances, or those along a graph.
    found : Hybrid
        Eigenpairs of the problem.
    factor : array of shape (q,)
        Factor of each eigenvector in the embedding.
    edges : sparse array of shape (n, n)
        The neighbourhood graph.
    alpha, locality, heat
        Parameters of the estimator; ``heat`` in units of the frame.
    n_neighbors : int
        Neighbours of a new row; 0: those of its nearest training row in the graph.
    """
    V = found.pairs.vectors
    gain, constant = M.gain(V)
    weight = (1 - alpha) * found.scale
    return NystromMap(
        points, V, found.pairs.values, factor, weight * gain, M.offset, M.paths, weight * constant,
        0.5 * alpha, locality, heat or 0.0, padded_lists(edges), n_neighbors,
    )  # fmt: skip


def hybrid_maps(
    frame: AnyFrame, points: Array, Z: Array, near: Neighbours, *, precomputed: bool, n_jobs: int | None
) -> TwoWayMaps:
    """Kernel regression maps and densities of an embedding.

    Parameters
    ----------
    frame : AnyFrame
        Of the data.
    points : array of shape (n, d)
        The rows in units of the frame, or if ``precomputed`` their distances (n, n).
    Z : array of shape (n, q)
        Latent points; equal rows have equal ones.
    near : Neighbours
        ``LISTED`` or more neighbours of each row.
    precomputed : bool
        If True, there is no data space, and so no forward map.
    n_jobs : int or None
        Threads.
    """
    latent_frame = Frame.of(Z)
    latent = latent_frame.inside(Z)
    near_latent = nearest(latent, k=LISTED, n_jobs=n_jobs)
    latent_density = neighbourhood_density(latent, near_latent.distance)
    if precomputed:
        weights = PrecomputedWeights.of_few(len(Z))
        return TwoWayMaps(frame, latent_frame, interpolate(KernelMap(weights, latent), near, n_jobs), latent_density)
    return TwoWayMaps(
        frame,
        latent_frame,
        interpolate(adaptive_map(points, latent, lists=near.index[:, :LISTED]), n_jobs=n_jobs),
        latent_density,
        adaptive_map(latent, points, lists=near_latent.index),
        neighbourhood_density(points, near.distance[:, :LISTED]),
    )

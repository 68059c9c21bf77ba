"""Distances other than Euclidean for the unfolding methods: precomputed, or by any metric of scikit-learn.

A ``MeasuredFrame`` is a frame whose ``points`` are distances to the training rows. Its backward map is that of
precomputed distances; its forward map to the data is as for any rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.metrics import pairwise_distances
from sklearn.metrics.pairwise import PAIRWISE_DISTANCE_FUNCTIONS

from sidelight.base.messages import error_message
from sidelight.base.types import Array
from sidelight.base.validation import refuse_too_large
from sidelight.maps.frames import AnyFrame, Frame
from sidelight.maps.interpolation import BackwardMap, interpolate
from sidelight.maps.kernel_map import KernelMap
from sidelight.maps.parzen import neighbourhood_density
from sidelight.maps.two_way import LISTED, TwoWayMaps, adaptive_maps
from sidelight.maps.weights import PrecomputedWeights
from sidelight.neighbours.distances import squared_distances
from sidelight.neighbours.equal_rows import group_means
from sidelight.neighbours.search import nearest
from sidelight.neighbours.sparse_distances import nearest_known, zero_distance_groups

__all__ = [
    "METRICS",
    "MeasuredFrame",
    "check_metric",
    "checked_distances",
    "distances_to_rows",
    "frame_of",
    "is_precomputed",
    "is_rows_or_distances",
    "squares_to_rows",
    "unfolded_maps",
]


_OTHERS = ("braycurtis", "canberra", "chebyshev", "correlation", "hamming", "minkowski", "sqeuclidean")
METRICS = tuple(sorted({"euclidean", *PAIRWISE_DISTANCE_FUNCTIONS, *_OTHERS} - {"nan_euclidean", "haversine"}))
"""Names of metrics between rows that the unfolding methods take."""


@dataclass(frozen=True)
class MeasuredFrame:
    """A frame of the data whose ``points`` are distances to ``rows`` (n, d) by ``metric``, divided by ``unit``."""

    data: Frame
    rows: Array
    metric: object
    unit: float

    @property
    def scale(self) -> float:
        """Scale of the data frame."""
        return self.data.scale

    def inside(self, X: Array) -> Array:
        """Data to frame."""
        return self.data.inside(X)

    def outside(self, Y: Array) -> Array:
        """Frame to data."""
        return self.data.outside(Y)

    def outside_variance(self, V: Array) -> Array:
        """Variances of the data."""
        return self.data.outside_variance(V)

    def points(self, X: Array) -> Array:
        """Distances to the training rows (m, n)."""
        X = np.asarray(X, dtype=np.float64)
        return np.asarray(pairwise_distances(X, self.rows, metric=self.metric)) / self.unit


def is_rows_or_distances(metric: object) -> bool:
    """Whether the methods work on distances: for any metric but "euclidean"."""
    return not (isinstance(metric, str) and metric == "euclidean")


def is_precomputed(metric: object) -> bool:
    """Whether X holds distances, so that there is no data space for an inverse map."""
    return isinstance(metric, str) and metric == "precomputed"


def check_metric(owner: str, metric: object) -> None:
    """``metric`` must be one of ``METRICS``, "precomputed", or a function of two rows."""
    if not (callable(metric) or (isinstance(metric, str) and metric in (*METRICS, "precomputed"))):
        rule = "is not the name of a metric"
        remedy = f'Give "precomputed", a function of two rows, or one of {", ".join(METRICS)}'
        raise ValueError(error_message(owner, "metric", metric, rule, remedy))


def frame_of(owner: str, X: Array, metric: object) -> tuple[Frame | MeasuredFrame, float]:
    """Return the frame of rows under a metric, and the unit of its distances.

    Parameters
    ----------
    owner : str
        Class that a message names.
    X : array of shape (n, d), or (n, n) of precomputed distances
    metric : str or callable
    """
    if isinstance(metric, str) and metric in ("euclidean", "precomputed"):
        size = np.abs(X) if metric == "precomputed" else X  # a negative distance stays one, to be refused
        frame = Frame.of(size, metric)
        return frame, frame.scale
    rows = np.asarray(X, dtype=np.float64)
    D = np.abs(pairwise_distances(rows, metric=metric))
    refuse_too_large(owner, "largest distance", D)
    unit = Frame.of(D, "precomputed").scale  # the same unit as if these distances had been passed as "precomputed"
    return MeasuredFrame(Frame.of(rows), rows, metric, unit), unit


def checked_distances(owner: str, points: Array, metric: object) -> Array:
    """Distances (n, n) between all rows by a metric, checked and made symmetric."""
    if points.shape[0] != points.shape[1]:
        raise ValueError(
            error_message(owner, "X", f"array of shape {points.shape}", "is not square", "Give all distances")
        )
    if not np.isfinite(points).all() or (points < 0).any():
        rule = "returns a value that is not a finite distance of 0 or more"
        raise ValueError(error_message(owner, "metric", metric, rule, "Give distances"))
    D = np.sqrt(0.5 * (points**2 + points.T**2))
    np.fill_diagonal(D, 0.0)
    return np.asarray(D)


def unfolded_maps(
    frame: Frame | MeasuredFrame, X: Array, Z: Array, points: Array, metric: object, *, n_jobs: int | None
) -> TwoWayMaps:
    """Fit the maps of an embedding.

    Parameters
    ----------
    frame : Frame or MeasuredFrame
        As ``frame_of`` returns it.
    X : array of shape (n, d)
        The rows.
    Z : array of shape (n, q)
        Their latent points.
    points : array of shape (n, d) or (n, n)
        The rows in units of the frame, or their distances if the metric is not Euclidean.
    metric : str or callable
    n_jobs : int or None
        Threads.
    """
    if not is_rows_or_distances(metric):
        return adaptive_maps(frame, points, Z, n_jobs=n_jobs)
    weights = PrecomputedWeights.of_few(len(Z))
    latent_frame = Frame.of(Z)
    latent = latent_frame.points(Z)
    one_place = group_means(latent, zero_distance_groups(points))
    near = nearest_known(points, k=weights.n_candidates - 1, own=True)
    backward = interpolate(KernelMap(weights, one_place), near, n_jobs)
    if is_precomputed(metric):
        near = nearest(latent, k=min(LISTED, len(Z) - 1), n_jobs=n_jobs)
        return TwoWayMaps(frame, latent_frame, backward, neighbourhood_density(latent, near.distance))
    return replace(adaptive_maps(frame, frame.inside(X), Z, n_jobs=n_jobs), backward=backward)


def distances_to_rows(frame: AnyFrame, backward: BackwardMap, X: Array) -> Array:
    """Distances (m, n) of rows to the training rows, in units of the frame."""
    points, weights = frame.points(X), backward.weights
    return np.asarray(points if isinstance(weights, PrecomputedWeights) else cdist(points, weights.inputs))


def squares_to_rows(frame: AnyFrame, backward: BackwardMap, X: Array) -> Array:
    """Squared distances (m, n) of rows to the training rows, in units of the data."""
    points, weights = frame.points(X), backward.weights
    if isinstance(weights, PrecomputedWeights):
        return np.asarray((points * (frame.unit if isinstance(frame, MeasuredFrame) else frame.scale)) ** 2)
    return np.asarray(squared_distances(points, weights.inputs) * frame.scale**2)

"""Rows that are known by their distances: precomputed, or by any metric that scikit-learn has.

A ``MeasuredFrame`` is a frame whose ``points`` are distances to the training rows; the maps from there are those of
precomputed distances, and the way back to the data is as for any rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.metrics import pairwise_distances
from sklearn.metrics.pairwise import PAIRWISE_DISTANCE_FUNCTIONS

from sidelight.base.messages import complain
from sidelight.base.validation import refuse_too_large
from sidelight.maps.frames import Frame
from sidelight.maps.interpolation import interpolate
from sidelight.maps.kernel_map import KernelMap
from sidelight.maps.parzen import neighbourhood_density
from sidelight.maps.two_way import LISTED, TwoWayMaps, adaptive_maps
from sidelight.maps.weights import PrecomputedWeights
from sidelight.neighbours.equal_rows import group_means
from sidelight.neighbours.search import nearest
from sidelight.neighbours.sparse_distances import nearest_known, zero_distance_groups

__all__ = ["METRICS", "MeasuredFrame", "check_metric", "distances_of", "frame_of", "measured_maps"]

Array = npt.NDArray[Any]
_CANDIDATES, _PERPLEXITY = 15, 5.0  # training rows that place a new one
_OTHERS = ("braycurtis", "canberra", "chebyshev", "correlation", "hamming", "minkowski", "sqeuclidean")
METRICS = tuple(sorted({"euclidean", *PAIRWISE_DISTANCE_FUNCTIONS, *_OTHERS} - {"nan_euclidean", "haversine"}))


@dataclass(frozen=True)
class MeasuredFrame:
    """The frame of the data, and as ``points`` distances to ``rows`` (n, d) by ``metric``, in units of the largest."""

    data: Frame
    rows: Array
    metric: Any
    unit: float

    @property
    def scale(self) -> float:
        """Of the data."""
        return self.data.scale

    def inside(self, X: Array) -> Array:
        """Data to frame."""
        return self.data.inside(X)

    def outside(self, Y: Array) -> Array:
        """Frame to data."""
        return self.data.outside(Y)

    def points(self, X: Array) -> Array:
        """Distances to the training rows (m, n)."""
        X = np.asarray(X, dtype=np.float64)
        return np.asarray(pairwise_distances(X, self.rows, metric=self.metric)) / self.unit


def check_metric(model: Any) -> None:
    """Whether ``metric`` is one of the names, or a function of two rows."""
    if not (callable(model.metric) or (isinstance(model.metric, str) and model.metric in (*METRICS, "precomputed"))):
        rule = "is not a distance that is known here"
        remedy = f'Give "precomputed", a function of two rows, or one of {", ".join(METRICS)}'
        raise ValueError(complain(model, "metric", model.metric, rule, remedy))


def frame_of(X: Array, metric: Any, owner: object = "metric") -> tuple[Any, float]:
    """The frame of rows under a metric, and the unit of its distances."""
    if isinstance(metric, str) and metric in ("euclidean", "precomputed"):
        size = np.abs(X) if metric == "precomputed" else X  # a negative distance stays one, to be refused
        frame = Frame.of(size, metric)
        return frame, frame.scale
    rows = np.asarray(X, dtype=np.float64)
    D = np.abs(pairwise_distances(rows, metric=metric))
    refuse_too_large(owner, "largest distance", D)
    unit = Frame.of(D, "precomputed").scale  # as if they had been given
    return MeasuredFrame(Frame.of(rows), rows, metric, unit), unit


def distances_of(model: Any, points: Array) -> Array:
    """Points that are distances between all rows, checked and made symmetric (n, n)."""
    if points.shape[0] != points.shape[1]:
        raise ValueError(complain(model, "X", f"array of shape {points.shape}", "is not square", "Give all distances"))
    if not np.isfinite(points).all() or (points < 0).any():
        rule = "gives what is no finite distance of 0 or more"
        raise ValueError(complain(model, "metric", model.metric, rule, "Give distances"))
    D = np.sqrt(0.5 * (points**2 + points.T**2))
    np.fill_diagonal(D, 0.0)
    return np.asarray(D)


def measured_maps(frame: Any, X: Array, Z: Array, D: Array, metric: Any, *, n_jobs: int | None) -> TwoWayMaps:
    """Maps of an embedding ``Z`` (n, q) of rows ``X`` known by their distances ``D`` (n, n), inside ``frame``."""
    weights = PrecomputedWeights(min(_CANDIDATES, len(Z)), min(_PERPLEXITY, len(Z) / 2))
    latent_frame = Frame.of(Z)
    latent = latent_frame.points(Z)
    one_place = group_means(latent, zero_distance_groups(D))
    backward = interpolate(
        KernelMap(weights, one_place), nearest_known(D, k=weights.n_candidates - 1, own=True), n_jobs
    )
    if isinstance(metric, str) and metric == "precomputed":
        near = nearest(latent, k=min(LISTED, len(Z) - 1), n_jobs=n_jobs)
        return TwoWayMaps(frame, latent_frame, backward, neighbourhood_density(latent, near.distance))
    return replace(adaptive_maps(frame, frame.inside(X), Z, n_jobs=n_jobs), backward=backward)

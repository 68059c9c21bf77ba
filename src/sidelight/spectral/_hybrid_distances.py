"""The distances of a hybrid embedding: the options of ``metric=``, and the matrix M that each gives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from sidelight.base.messages import error_message
from sidelight.base.types import Array, SparseMatrix, Untyped
from sidelight.base.validation import refuse_too_large
from sidelight.maps.frames import AnyFrame, Frame

from ._hybrid_problem import Distances, from_graph, from_rows, from_squares

__all__ = ["DataView", "check_square", "distance_kind", "hybrid_distances"]


@dataclass(frozen=True)
class DataView:
    """The rows of a fit, in the forms that the kinds of distances need.

    Parameters
    ----------
    X : array of shape (n, d)
    table : array or data frame of shape (n, d)
        As the user passed it, with column names, which a learned metric may need.
    points : array of shape (n, d)
        X in units of its frame.
    frame : AnyFrame
    """

    X: Array
    table: object
    points: Array
    frame: AnyFrame


def distance_kind(metric: Untyped) -> str:
    """The kind of distance that the parameter ``metric`` asks for.

    Returns
    -------
    kind : str
        The name itself; for objects "graph" (a callable with a method ``graph``, whose shortest paths are the
        distances), "callable", "transformer", "matrix" or "unknown".
    """
    if isinstance(metric, str):
        return metric
    if callable(metric):
        return "graph" if hasattr(metric, "graph") else "callable"  # TangentDistance has one only with paths=True
    if hasattr(metric, "transform"):
        return "transformer"
    return "matrix" if np.ndim(metric) == 2 else "unknown"


def check_square(owner: str, X: Array) -> None:
    """Precomputed distances must be a square matrix of numbers of 0 or more."""
    if X.shape[0] != X.shape[1]:
        raise ValueError(error_message(owner, "X", f"array of shape {X.shape}", "is not square", "Give all distances"))
    if (X < 0).any():
        raise ValueError(error_message(owner, "X", float(X.min()), "is a negative distance", "Give distances"))


def hybrid_distances(
    owner: str,
    metric: Untyped,
    data: DataView,
    edges: SparseMatrix,
    *,
    n_landmarks: int | None,
    n_components: int,
    n_jobs: int | None,
) -> tuple[Distances, float]:
    """Return M, and the length of one of its units in units of the distance.

    Parameters
    ----------
    owner : str
        Class that a message names.
    metric : str, array or object
        The parameter of the estimator.
    data : DataView
    edges : sparse array of shape (n, n)
        The neighbourhood graph, with lengths in units of the frame, for "geodesic".
    n_landmarks : int or None
        Number of rows from which distances along a graph are computed; None: all.
    n_components : int
        Minimum number of dimensions that the landmark approximation keeps.
    n_jobs : int or None
        Threads.
    """
    kind, points, scale = distance_kind(metric), data.points, data.frame.scale
    if kind == "euclidean":
        return from_rows(points), scale
    if kind == "geodesic":
        return from_graph(edges, n_landmarks, n_components, n_jobs), scale
    if kind == "graph":
        graph = metric.graph(data.X)
        unit = float(graph.data.max()) or 1.0
        graph = csr_array((graph.data / unit, graph.indices, graph.indptr), shape=graph.shape)
        return from_graph(graph, n_landmarks, n_components, n_jobs), unit
    if kind == "precomputed":
        return from_squares(0.5 * (points**2 + points.T**2)), scale
    if kind == "transformer":
        made = np.asarray(metric.transform(data.table), dtype=np.float64)
        frame = Frame.of(made)
        return from_rows(frame.inside(made)), frame.scale
    D = _checked_matrix(owner, metric(data.X) if kind == "callable" else metric, len(points))
    unit = float(D.max()) or 1.0
    D = D / unit
    return from_squares(0.5 * (D**2 + D.T**2)), unit


def _checked_matrix(owner: str, distances: object, n: int) -> Array:
    """Finite distances (n, n) of 0 or more."""
    D = np.asarray(distances, dtype=np.float64)
    if D.shape != (n, n) or not np.isfinite(D).all() or (D < 0).any():
        rule = f"does not give finite distances, 0 or more, of shape ({n}, {n})"
        seen = f"array of shape {D.shape}"
        raise ValueError(error_message(owner, "metric", seen, rule, "Give the distances between the rows of X"))
    refuse_too_large(owner, "metric", D)
    return D

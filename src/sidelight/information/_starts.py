"""Where the places of rows begin: what ``init`` says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from sklearn.decomposition import PCA

from sidelight.base.messages import complain
from sidelight.base.random import random_numbers
from sidelight.base.validation import check_rows, refuse_far_start
from sidelight.neighbours.graph import joined_graph
from sidelight.neighbours.landmarks import landmark_distances
from sidelight.neighbours.sparse_distances import SparseDistances
from sidelight.solvers.eigen import GraphSpectrum, landmark_scaling

__all__ = ["LINKS", "first_places", "own_start"]

Array = npt.NDArray[Any]
LINKS = 15
"""Neighbours in the graph that a start is measured along, where the kernel has none of its own."""


def own_start(model: Any, rows: Array, n_rows: int) -> Array | None:
    """The places of the fitted ``rows``, of ``n_rows``, that somebody chose; None if nobody did."""
    if isinstance(model.init, str):
        return None
    shape = (n_rows, model.n_components)
    start = np.array(model.init, dtype=np.float64)
    check_rows(model, "init", start, n_rows)
    if start.shape != shape or not np.isfinite(start).all():
        rule = f"is not a finite array of shape {shape}"
        raise ValueError(complain(model, "init", f"array of shape {start.shape}", rule, "Give one row per row"))
    refuse_far_start(model, start)
    return start[rows]


def first_places(model: Any, points: Any, graph: csr_array | None, spectrum: Callable[[], GraphSpectrum]) -> Array:
    """Places (n, q) of ``points`` by noise, the smoothest vectors, principal axes, or scaling along the ``graph``."""
    n, q = len(points), model.n_components
    if model.init == "random":
        return np.asarray(0.1 * random_numbers(model.random_state).standard_normal((n, q)))
    precomputed = model.metric == "precomputed"
    if model.init == "spectral":
        found = spectrum().coordinates(q)
    elif model.init == "pca" and not precomputed:
        with np.errstate(
            invalid="ignore"
        ):  # of rows that are all the same it divides 0 by 0, for a share we do not use
            found = PCA(min(q, *points.shape), svd_solver="full").fit_transform(points)
    else:
        along = graph if model.init == "mds" else None
        if along is None and isinstance(points, SparseDistances):  # in straight lines there is next to nothing
            along = joined_graph(points, points.nearest(LINKS))
        rows, D = landmark_distances(points, along, precomputed=precomputed, n_jobs=model.n_jobs)
        found = landmark_scaling(D, rows, q)
    start = np.zeros((n, q))
    start[:, : found.shape[1]] = found[:, :q]
    return start

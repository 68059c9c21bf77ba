"""Jacobians of the two-way maps of ``maps.two_way``, in units of the data and of the latent points."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .frame_jacobians import has_columns, of_coordinates, outside_slopes
from .interpolation_jacobians import backward_jacobian
from .kernel_jacobians import kernel_jacobian
from .linear import LinearMaps
from .projection_jacobians import projection_jacobian
from .truncated import TruncatedFrame
from .two_way import TwoWayMaps
from .weights import PrecomputedWeights

__all__ = ["embed_jacobian", "reason_without_jacobian", "reconstruct_jacobian"]

Array = npt.NDArray[Any]


def embed_jacobian(maps: TwoWayMaps, C: Array, n_jobs: int | None) -> Array:
    """Jacobians (m, q, k) of ``TwoWayMaps.embed`` by its coordinates (m, k)."""
    if maps.linear is not None:
        return np.repeat(maps.linear.to_latent.T[None], len(C), axis=0)
    if maps.projection is not None:
        return projection_jacobian(maps.projection, C, n_jobs)
    J = backward_jacobian(maps.backward, maps.frame.points(C), n_jobs)
    J *= maps.latent_frame.scale
    return of_coordinates(maps.frame, C, J)


def reconstruct_jacobian(maps: TwoWayMaps, Z: Array, n_jobs: int | None, columns: Array | None = None) -> Array:
    """Jacobians (m, d, q) of ``TwoWayMaps.reconstruct`` at latent points (m, q), or (m, c, q) of some columns."""
    if maps.linear is not None:
        return np.repeat(_linear_back(maps, maps.linear, columns)[None], len(Z), axis=0)
    assert maps.forward is not None  # estimators offer no way back otherwise
    J = kernel_jacobian(maps.forward, maps.latent_frame.inside(Z), n_jobs)
    J /= maps.latent_frame.scale
    return outside_slopes(maps.frame, J, columns)


def reason_without_jacobian(maps: TwoWayMaps) -> str | None:
    """Why the map to latent points has no derivative in closed form; None: it has one."""
    if maps.linear is not None or maps.projection is not None:
        return None
    if isinstance(maps.backward.weights, PrecomputedWeights) or not has_columns(maps.frame):
        return "are known to the map by their distances, and these are not a function of columns that it could move"
    return None


def _linear_back(maps: TwoWayMaps, linear: LinearMaps, columns: Array | None) -> Array:
    if isinstance(maps.frame, TruncatedFrame):
        basis = maps.frame.reduction.basis
        return np.asarray((basis if columns is None else basis[columns]) @ linear.to_data.T)
    return np.asarray(linear.to_data.T if columns is None else linear.to_data.T[columns])

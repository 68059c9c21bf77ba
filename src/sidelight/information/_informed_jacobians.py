"""Jacobians of the maps of a KernelInformationEmbedding, with ``given`` held (``_informed_maps`` has the maps).

backward  z(x, g) = m(x - E(x, g), g):      ∂z/∂x = ∂m (I - ∂E/∂x)
forward   x(z, g) = y + E(y, g), y = f(z, g):      ∂x/∂z = (I + ∂E/∂y) ∂f
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from sidelight.base.tiles import spans
from sidelight.base.types import Array
from sidelight.maps.frame_jacobians import less_effect, of_coordinates, outside_slopes, plus_effect
from sidelight.maps.frames import Frame
from sidelight.maps.interpolation_jacobians import backward_jacobian
from sidelight.maps.kernel_jacobians import kernel_jacobian
from sidelight.maps.kernel_map import KernelMap
from sidelight.maps.smooth_map import SmoothMap
from sidelight.maps.truncated import TruncatedFrame
from sidelight.maps.two_way_jacobians import embed_jacobian
from sidelight.side.given import EncodedGiven

from ._informed_maps import GivenMaps, InformedMaps

__all__ = ["adjusted_map", "informed_inverse_jacobian", "informed_jacobian"]

_TILE = 256  # rows whose effect of ``given`` is differentiated together


def informed_jacobian(maps: InformedMaps, C: Array, known: EncodedGiven | None, n_jobs: int | None) -> Array:
    """Jacobians (m, q, k) of ``InformedMaps.backward`` by the coordinates C (m, k), in units of the data."""
    plain, given = maps.plain, maps.given
    points = plain.frame.points(C)
    if given is None or (given.effect is None and given.product is None):
        J = backward_jacobian(plain.backward, points, n_jobs)
    else:
        averaged = plain.backward if given.product is not None else given.marginal
        J = _by_knowledge(
            known,
            points,
            lambda rows: backward_jacobian(averaged, rows, n_jobs),
            lambda rows, features: _informed(maps, given, rows, features, n_jobs),
        )
    J *= plain.latent_frame.scale
    return of_coordinates(plain.frame, C, J)


def informed_inverse_jacobian(
    maps: InformedMaps, Z: Array, known: EncodedGiven | None, n_jobs: int | None, columns: Array | None
) -> Array:
    """Jacobians (m, d, q) of ``InformedMaps.forward`` at latent points Z (m, q), in units of the data."""
    plain, given = maps.plain, maps.given
    assert plain.forward is not None  # estimators offer no way back otherwise
    forward, q = plain.forward, Z.shape[1]
    inside = plain.latent_frame.inside(Z)
    if given is None:
        J = kernel_jacobian(forward, inside, n_jobs)
    else:
        J = _by_knowledge(
            known,
            inside,
            lambda Z: kernel_jacobian(given.marginal_forward, Z, n_jobs),
            lambda Z, features: _informed_back(given, forward, np.column_stack([Z, given.scale * features]), features),
        )
    J /= plain.latent_frame.scale
    assert J.shape[2] == q
    return outside_slopes(plain.frame, J, columns)


def adjusted_map(
    maps: InformedMaps, coordinates: Callable[[object], Array], known: EncodedGiven, n_jobs: int | None
) -> SmoothMap | None:
    """The map of rows less the effect of their ``given``; None where none is subtracted.

    With the cosine metric, coordinates are rows of unit length.
    """
    effect, frame, plain = None if maps.given is None else maps.given.effect, maps.plain.frame, maps.plain
    if effect is None:
        return None
    inner = frame.inner if isinstance(frame, TruncatedFrame) else frame
    assert isinstance(inner, Frame)
    scale, read = inner.scale, coordinates
    if inner.metric == "cosine":
        scale, plain = 1.0, replace(plain, frame=Frame(np.zeros(len(inner.centre)), 1.0))

        def read(X: object) -> Array:
            return np.asarray(inner.points(coordinates(X)))

    def shift(C: Array) -> Array:
        return np.asarray(effect.at_rows(plain.frame.points(C), known.features) * scale)

    return SmoothMap(
        read,
        lambda C, which: plain.embed(C, n_jobs),
        lambda C, which: embed_jacobian(plain, C, n_jobs),
        shift=shift,
    )


def _informed(maps: InformedMaps, given: GivenMaps, rows: Array, features: Array, n_jobs: int | None) -> Array:
    """Jacobians (m, q, p) by points of rows whose ``given`` is known."""
    if given.product is not None:
        inputs = np.column_stack([rows, given.product.scale * features])
        return backward_jacobian(given.product.backward, inputs, n_jobs, rows.shape[1])
    effect = given.effect
    assert effect is not None
    J = backward_jacobian(maps.plain.backward, rows - effect.at_rows(rows, features), n_jobs)
    for part in spans(len(rows), _TILE):
        J[part] = less_effect(effect, rows[part], features[part], J[part])
    return J


def _informed_back(given: GivenMaps, forward: KernelMap, inputs: Array, features: Array) -> Array:
    """Jacobians (m, p, q) of the forward map by the latent part of its inputs (z, scale · features)."""
    J = kernel_jacobian(forward, inputs, columns=inputs.shape[1] - features.shape[1])
    if given.forward_effect is not None and given.forward_effect.local is not None:
        rest = forward(inputs)
        for part in spans(len(J), _TILE):
            J[part] = plus_effect(given.forward_effect, rest[part], features[part], J[part])
    return J


def _by_knowledge(
    known: EncodedGiven | None,
    rows: Array,
    averaged: Callable[[Array], Array],
    informed: Callable[[Array, Array], Array],
) -> Array:
    """Jacobians of rows with complete ``given`` by ``informed(rows, features)``, of the others by ``averaged``."""
    if known is None or not known.complete.any():
        return averaged(rows)
    at = known.complete
    first = informed(rows[at], known.features[at])
    if at.all():
        return first
    out = np.empty((len(rows), *first.shape[1:]))
    out[at], out[~at] = first, averaged(rows[~at])
    return out

"""Jacobians of the maps of a KernelInformationEmbedding by the numbers that were given, the row or place being held.

backward  z(x, g) = m(x - E(x, g)):      ∂z/∂g = -∂z/∂x E'(g) φ'(g)
          z(x, g) = m(x, s φ(g)):        ∂z/∂g = s ∂m/∂φ φ'(g)                     with conditioning="product"
forward   x(z, g) = y + E(y, g), y = f(z, s φ(g)):      ∂x/∂g = ((I + ∂E/∂y) s ∂f/∂φ + E'(g)) φ'(g)

φ are the features of ``given``, E' the derivative of the effect of numbers. Where categories are given, too, they are
held; their own effect on a row depends on x less the effect of the numbers, so that both have the factor ∂z/∂x.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sidelight.base.messages import error_message
from sidelight.base.tiles import spans
from sidelight.base.types import Array
from sidelight.maps.frame_jacobians import effect_slopes, less_effect, outside_slopes, plus_effect
from sidelight.maps.interpolation import BackwardMap, InterpolatingMap
from sidelight.maps.interpolation_jacobians import backward_jacobian
from sidelight.maps.kernel_jacobians import kernel_jacobian
from sidelight.maps.kernel_map import KernelMap
from sidelight.maps.weights import FixedWeights
from sidelight.side.given import Column, EncodedGiven

from ._informed_maps import InformedMaps

__all__ = ["given_slopes", "inverse_given_slopes", "moves_given", "require_numbers"]

_TILE = 256  # rows whose effect of ``given`` is differentiated together


def moves_given(owner: object, wrt: str) -> bool:
    """Whether ``given`` is moved, and not the row or place; other words are refused."""
    if wrt not in ("X", "given"):
        raise ValueError(error_message(owner, "wrt", wrt, "is not 'X' or 'given'", "Choose one of them"))
    return wrt == "given"


def require_numbers(owner: object, columns: Sequence[Column] | None, known: EncodedGiven | None) -> EncodedGiven:
    """``given`` of the rows, if the model was given numbers and all rows have their entries."""
    if columns is None:
        raise ValueError(
            error_message(owner, "wrt", "given", "needs a model that was fitted with given", "Use wrt='X'")
        )
    if not any(column.has_slopes for column in columns):
        names = ", ".join(column.name for column in columns)
        rule = f"has no slope by categories ({names}): there is nothing between two of them"
        raise ValueError(error_message(owner, "wrt", "given", rule, "Compare two with counterfactual(X, given=...)"))
    if known is None or not known.complete.all():
        missing = "None" if known is None else f"NaN in {int((~known.complete).sum())} rows"
        rule = "is missing, so there is no value to differentiate at"
        raise ValueError(error_message(owner, "given", missing, rule, "Give all of them"))
    return known


def given_slopes(
    owner: object, maps: InformedMaps, columns: Sequence[Column], C: Array, known: EncodedGiven, n_jobs: int | None
) -> Array:
    """Jacobians (m, q, g) of ``InformedMaps.backward`` at coordinates C (m, k) by the g numbers of ``given``."""
    plain, given = maps.plain, maps.given
    q, by = plain.latent_frame.centre.shape[-1], _feature_slopes(columns, known)
    if given is None or (given.effect is None and given.product is None):
        return np.zeros((len(C), q, by.shape[2]))
    points, features = plain.frame.points(C), known.features
    if given.product is not None:
        _require_plain_weights(owner, given.product.backward)
        inputs = np.column_stack([points, given.product.scale * features])
        J = backward_jacobian(given.product.backward, inputs, n_jobs)[:, :, points.shape[1] :] * given.product.scale
    else:
        effect = given.effect
        assert effect is not None
        slopes = backward_jacobian(plain.backward, points - effect.at_rows(points, features), n_jobs)
        J = np.empty((len(points), slopes.shape[1], features.shape[1]))
        for part in spans(len(points), _TILE):
            by_row = less_effect(effect, points[part], features[part], slopes[part])
            J[part] = -by_row @ effect_slopes(effect, features[part])
    return np.asarray(plain.latent_frame.scale * (J @ by))


def inverse_given_slopes(
    owner: object,
    maps: InformedMaps,
    columns: Sequence[Column],
    Z: Array,
    known: EncodedGiven,
    n_jobs: int | None,
    chosen: Array | None,
) -> Array:
    """Jacobians (m, d, g) of ``InformedMaps.forward`` at latent points Z (m, q), in units of the data."""
    plain, given, by = maps.plain, maps.given, _feature_slopes(columns, known)
    assert plain.forward is not None  # estimators offer no way back otherwise
    forward, features = plain.forward, known.features
    if given is None:
        return outside_slopes(plain.frame, np.zeros((len(Z), forward.outputs.shape[1], by.shape[2])), chosen)
    _require_plain_weights(owner, forward)
    inputs = np.column_stack([plain.latent_frame.inside(Z), given.scale * features])
    J = kernel_jacobian(forward, inputs, n_jobs)[:, :, Z.shape[1] :] * given.scale
    effect = given.forward_effect
    if effect is not None:
        rest = forward(inputs)
        for part in spans(len(J), _TILE):
            J[part] = plus_effect(effect, rest[part], features[part], J[part])
            J[part] += effect_slopes(effect, features[part])
    return outside_slopes(plain.frame, J @ by, chosen)


def _feature_slopes(columns: Sequence[Column], known: EncodedGiven) -> Array:
    """Derivatives (m, f, g) of the features of ``given`` by its g numbers."""
    out = np.zeros((len(known.values), known.features.shape[1], sum(column.has_slopes for column in columns)))
    at = number = 0
    for k, column in enumerate(columns):
        if column.has_slopes:
            out[:, at : at + column.width, number] = column.slopes(known.values[:, k])
            number += 1
        at += column.width
    return out


def _require_plain_weights(owner: object, mapped: BackwardMap | KernelMap) -> None:
    """Refuse products with a kernel of ``given`` that is not the Gaussian of its features."""
    weights = mapped.mean.weights if isinstance(mapped, InterpolatingMap) else mapped.weights
    if isinstance(weights, FixedWeights) and weights.side is not None:
        rule = "has no derivative in closed form with this product of kernels"
        raise ValueError(error_message(owner, "wrt", "given", rule, "Compare values with counterfactual(X, given=...)"))

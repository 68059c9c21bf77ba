"""Chain rule through frames and effects of ``given``.

    backward  J_x = J_c ∂c/∂x        c = (x - centre) / scale; cosine: u = x / |x|, ∂u/∂x = (I - u uᵀ) / |x|
    effect    y = x - E(x, g):       ∂E/∂x = (2/h) Σ_l b_l R_l (c_l - c̄)ᵀ     parts l, with weights R_l
    forward   x = y + E(y, g):       the same with weights that depend on y

E(g) alone, an effect that does not depend on the row, drops out.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.neighbours.distances import squared_distances

from .effect import Effect
from .frames import AnyFrame, Frame
from .truncated import TruncatedFrame

__all__ = ["effect_slopes", "has_columns", "less_effect", "of_coordinates", "outside_slopes", "plus_effect"]

Array = npt.NDArray[Any]


def has_columns(frame: AnyFrame) -> bool:
    """Whether distances are between points that are a smooth function of the columns of the data."""
    inner = frame.inner if isinstance(frame, TruncatedFrame) else frame
    return isinstance(inner, Frame) and inner.metric != "precomputed"


def of_coordinates(frame: AnyFrame, C: Array, J: Array) -> Array:
    """Jacobians (m, r, k) by coordinates C (m, k), from those by the points of the frame; J may be changed."""
    inner = frame.inner if isinstance(frame, TruncatedFrame) else frame
    assert isinstance(inner, Frame)
    if inner.metric != "cosine":
        return np.asarray(J / inner.scale)
    u = inner.points(C)
    length = np.linalg.norm(np.asarray(C, dtype=np.float64), axis=1)
    length = np.where(length > 0, length, np.inf)  # a zero row has no direction: taken as not moving
    return np.asarray((J - np.einsum("mrk,mk->mr", J, u)[:, :, None] * u[:, None, :]) / length[:, None, None])


def outside_slopes(frame: AnyFrame, J: Array, columns: Array | None) -> Array:
    """Jacobians (m, d, q) of rows in units of the data, or (m, c, q) of some columns, from those inside the frame."""
    if isinstance(frame, TruncatedFrame):
        basis = frame.reduction.basis if columns is None else frame.reduction.basis[columns]
        return np.asarray(np.einsum("dk,mkq->mdq", basis, J * frame.inner.scale, optimize=True))
    return np.asarray((J if columns is None else J[:, columns]) * frame.scale)


def effect_slopes(effect: Effect, features: Array) -> Array:
    """Derivatives (m, d, f) of the effect of whole groups by features (m, f); groups do not change in between.

    ``E = Σ_l A_l exp(-|f - f_l|² / h)``:  ``∂E/∂f = -(2/h) Σ_l A_l k_l (f - f_l)ᵀ``.
    """
    out = np.zeros((len(features), effect.coefficients.shape[1], features.shape[1]))
    if effect.bandwidth > 0:
        columns = np.arange(features.shape[1]) if effect.columns is None else np.asarray(effect.columns)
        own = features[:, columns]
        K = effect.members(features)[:, :-1]  # without the constant
        A = effect.coefficients[:-1]
        away = np.einsum("ml,mlf->mlf", K, own[:, None] - effect.landmarks[None])
        out[:, :, columns] = (-2.0 / effect.bandwidth) * np.einsum("mlf,ld->mdf", away, A, optimize=True)
    return out if effect.further is None else out + effect_slopes(effect.further, features)


def less_effect(effect: Effect, rows: Array, features: Array, J: Array) -> Array:
    """Jacobians (m, r, d) by rows (m, d), from those by rows less their effect at features (m, f)."""
    if effect.local is None:
        return J
    member = effect.members(features)
    offsets = np.stack([member @ of_part for of_part in effect.local.offsets], axis=1)  # (m, parts, d)
    centres = offsets + (member @ effect.coefficients)[:, None] + effect.local.centres
    own = rows if effect.further is None else rows - effect.further(features)
    squares = np.square(own[:, None] - centres).sum(axis=2)
    moves = _moves(squares, effect.local.width, centres)
    return np.asarray(J - np.einsum("mrd,mld,mle->mre", J, offsets, moves, optimize=True))


def plus_effect(effect: Effect, rest: Array, features: Array, J: Array) -> Array:
    """Jacobians (m, d, q) of rows, from those of rows without their effect, ``rest`` (m, d)."""
    if effect.local is None:
        return J
    member = effect.members(features)
    offsets = np.stack([member @ of_part for of_part in effect.local.offsets], axis=1)
    centres = effect.local.centres
    moves = _moves(squared_distances(rest, centres), effect.local.width, np.broadcast_to(centres, offsets.shape))
    return np.asarray(J + np.einsum("mld,mle,meq->mdq", offsets, moves, J, optimize=True))


def _moves(squares: Array, width: float, centres: Array) -> Array:
    """``∂R_l = (2/h) R_l (c_l - c̄)`` (m, parts, d), of weights ``R_l ∝ exp(-squares / h)``."""
    weights = np.exp(-(squares - squares.min(axis=1, keepdims=True)) / width)
    weights /= weights.sum(axis=1, keepdims=True)
    away = centres - np.einsum("ml,mld->md", weights, centres)[:, None]
    return np.asarray((2.0 / width) * weights[:, :, None] * away)

"""How usual a point is among the training rows with a given value: the basis of warnings about extrapolation.

    p(a | g) = Σ_j w_j(g) k_j(a) / Σ_j w_j(g)            w_j(g): 1 for rows of the same category (0 for others),
                                                         exp(-|g - g_j|²) for numbers and angles
    overlap(a, g) = Σ_j w_j [p_-j(a_j | g) < p(a | g)] / Σ_j w_j

k_j is the kernel of training row j and p_-j leaves row j out, so that the rows of the group are treated as new ones.
The overlap is the share of the group's own rows that are less usual in it than the point: 0 for a point farther out
than all of them, about uniform on [0, 1] for points of the group.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp

from sidelight.neighbours.distances import squared_distances
from sidelight.neighbours.landmarks import spread_rows

from .parzen import ParzenDensity

__all__ = ["UNUSUAL", "extrapolates", "group_overlap", "group_weights"]

Array = npt.NDArray[Any]
UNUSUAL = 0.01
"""Overlap below which a row is unlike the training rows of a group."""
_TOLERATED = 0.1  # share of rows that may be so: some rows of every group are at its edge
_LEAST = 1e-3  # rows of less weight do not belong to the group
_FEWEST = 10  # rows of a group from which on it can be told what is usual in it
_MOST = 1000  # rows of a group that are compared; evenly spaced ones of larger groups


def extrapolates(overlap: Array) -> bool:
    """Whether more than a tenth of the rows, of known ``overlap`` (m,), are unlike the training rows of the group."""
    return bool((overlap < UNUSUAL).sum() > _TOLERATED * len(overlap))


def group_weights(target: Array, features: Array, categories: Array) -> Array:
    """Weights (n,) of training rows with encoded ``given`` (n, f) for one ``target`` value (f,).

    ``categories`` (f,): whether each feature belongs to a categorical column, which must be equal.
    """
    squares = np.square(features - target)
    same = (squares[:, categories] == 0).all(axis=1)
    return np.asarray(np.where(same, np.exp(-squares[:, ~categories].sum(axis=1)), 0.0))


def group_overlap(density: ParzenDensity, Q: Array, targets: Array, features: Array, categories: Array) -> Array:
    """Overlap (m,) of points with the training rows of their target values.

    It is 0 where there are no such rows, and NaN where there are fewer than ten, too few to tell.

    Parameters
    ----------
    density : ParzenDensity
        Of the n training rows, in the space of the points.
    Q : array of shape (m, p)
        Points.
    targets : array of shape (m, f)
        The value of ``given`` asked for each point, encoded.
    features : array of shape (n, f)
        ``given`` of the training rows, encoded.
    categories : array of bool, of shape (f,)
        Which features belong to categorical columns.
    """
    values, member = np.unique(targets, axis=0, return_inverse=True)
    member = member.reshape(-1)
    out = np.zeros(len(Q))
    for number, value in enumerate(values):
        rows = np.flatnonzero(member == number)
        out[rows] = _of_one_group(density, Q[rows], group_weights(value, features, categories))
    return out


def _of_one_group(density: ParzenDensity, Q: Array, weights: Array) -> Array:
    kept = np.flatnonzero(weights > _LEAST)
    if len(kept) < _FEWEST:
        return np.full(len(Q), np.nan if len(kept) else 0.0)
    kept = kept[spread_rows(len(kept), min(len(kept), _MOST))]
    weights, points, widths = weights[kept], density.points[kept], density.bandwidths[kept]
    shift = np.log(weights) - 0.5 * points.shape[1] * np.log(widths)
    own = density.profile.log_value(squared_distances(points, points) / widths) + shift
    np.fill_diagonal(own, -np.inf)
    total = float(weights.sum())
    of_rows = logsumexp(own, axis=1) - np.log(total - weights)
    order = np.argsort(of_rows, kind="stable")
    below = np.concatenate([[0.0], np.cumsum(weights[order])]) / total
    logs = density.profile.log_value(squared_distances(Q, points) / widths) + shift
    # equal rows differ in last bits only, and are as usual as each other
    found = logsumexp(logs, axis=1) - np.log(total)
    return np.asarray(below[np.searchsorted(of_rows[order], found + 1e-9 * np.abs(found), side="right")])

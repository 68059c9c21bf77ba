"""Maps from data to latent points for rows with uncertain entries, given by mean and variance.

    g(m, v) = Σ_a α_a f_a(m; v) + Σ_a α_a φ_a r_a        r_a = v_a's own residual: z_a - f_a(m_a; v_a)

is ``maps.interpolation`` with the weights of the expected kernel (``kernels.expected``) under the variances v of the
query: columns that are not known count less when its neighbours are weighed. Anchors are those of the mean. A training
row with its own variances is mapped to its place exactly. Variances of the training rows do not enter the weights: they
would favour complete rows, wherever the query lies. Only adaptive weights (perplexity) have this form; with one
bandwidth for all rows, and for maps that do not interpolate, the means are mapped.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.base.tiles import run_tiles, spans
from sidelight.kernels.expected import expected_squares
from sidelight.neighbours.distances import bounded

from .interpolation import BackwardMap, InterpolatingMap, nearest_anchors
from .weights import AdaptiveWeights, list_weighted_mean

__all__ = ["map_uncertain", "with_uncertain_rows"]

Array = npt.NDArray[Any]
_BUDGET = 2_000_000  # numbers in the temporaries of one tile


def map_uncertain(backward: BackwardMap, Q: Array, variance: Array | None, n_jobs: int | None = None) -> Array:
    """Map rows (m, d) of means with variances (m, d) of their entries; None: all are certain.

    Columns of ``Q`` beyond those of ``variance`` are certain.
    """
    if variance is None or not isinstance(backward, InterpolatingMap):
        return backward(Q, n_jobs)
    if not isinstance(backward.weights, AdaptiveWeights):
        return backward(Q, n_jobs)
    unsure = np.flatnonzero(variance.any(axis=1))
    if len(unsure) == 0:
        return backward(Q, n_jobs)
    out = np.empty((len(Q), backward.outputs.shape[1]))
    sure = np.setdiff1d(np.arange(len(Q)), unsure)
    if len(sure):
        out[sure] = backward(Q[sure], n_jobs)
    out[unsure] = _interpolated(backward, bounded(Q[unsure]), _padded(variance[unsure], Q.shape[1]), n_jobs)
    return out


def with_uncertain_rows(backward: BackwardMap, variance: Array | None) -> BackwardMap:
    """The map with the residuals of training rows under their own variances (n, d)."""
    if variance is None or not isinstance(backward, InterpolatingMap):
        return backward
    weights, unsure = backward.weights, np.flatnonzero(variance.any(axis=1))
    if not isinstance(weights, AdaptiveWeights):
        return backward
    inputs = weights.inputs
    found = _means(backward, inputs[unsure], _padded(variance[unsure], inputs.shape[1]), unsure)
    residuals = backward.correction.residuals.copy()
    residuals[unsure] = backward.outputs[unsure] - found
    return replace(backward, correction=replace(backward.correction, residuals=residuals))


def _padded(variance: Array, width: int) -> Array:
    """Variances (m, width), 0 in the columns that are added."""
    return np.pad(variance, ((0, 0), (0, width - variance.shape[1])))


def _interpolated(backward: InterpolatingMap, Q: Array, variance: Array, n_jobs: int | None) -> Array:
    """``g(m, v)`` (m, q)."""
    weights = backward.weights
    assert isinstance(weights, AdaptiveWeights)

    def one(rows: slice) -> Array:
        part, v = Q[rows], variance[rows]
        anchors, distance, share = nearest_anchors(weights.inputs, part, 1)
        out = backward.correction(anchors, distance, share)
        for k in range(share.shape[1]):
            at = np.flatnonzero(share[:, k])
            if at.size:
                out[at] += share[at, k, None] * _means(backward, part[at], v[at], anchors[at, k])
        return out

    tile = max(1, min(512, _BUDGET // (weights.lists.shape[1] * Q.shape[1])))
    return np.concatenate(run_tiles(one, spans(len(Q), tile), n_jobs))


def _means(backward: InterpolatingMap, Q: Array, variance: Array, anchor: Array) -> Array:
    """``f_a(m; v)`` (m, q) over the lists of the rows ``anchor`` (m,)."""
    weights = backward.weights
    assert isinstance(weights, AdaptiveWeights)
    out = np.empty((len(Q), backward.outputs.shape[1]))
    for rows in spans(len(Q), max(1, _BUDGET // (weights.lists.shape[1] * Q.shape[1]))):
        candidates = np.column_stack([anchor[rows], weights.lists[anchor[rows]]])
        squares = expected_squares(weights.inputs, Q[rows], variance[rows], candidates, weights.perplexity)
        out[rows] = list_weighted_mean(weights.weigh_squares(squares), backward.outputs, candidates)
    return out

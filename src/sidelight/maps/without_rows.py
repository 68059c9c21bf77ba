r"""Kernel maps without some of their training rows, so that these can be mapped as if they were new.

The inputs, outputs and neighbour lists of the rows are dropped; bandwidths and perplexities stay. Of an interpolating
map ``g = f + Σ_a α_a φ_a r_a`` the residuals ``r_a = v_a - f_a(x_a)`` of the rows near those that are left out are
computed anew, because they contain the outputs of these rows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.neighbours.distances import bounded
from sidelight.neighbours.search import nearest, squares_to_listed

from .interpolation import BackwardMap, Correction, InterpolatingMap, nearest_anchors
from .kernel_map import KernelMap
from .weights import AdaptiveWeights, FixedWeights, PrecomputedWeights, list_weighted_mean

__all__ = ["backward_without", "inputs_of", "kernel_map_without"]

Array = npt.NDArray[Any]


def inputs_of(mapped: BackwardMap) -> Array:
    """The inputs (n, d) of the training rows of a map; rows of precomputed distances have none."""
    weights = mapped.weights
    if isinstance(weights, PrecomputedWeights):
        raise TypeError("rows of precomputed distances have no inputs of their own")
    return weights.inputs


def kernel_map_without(mapped: KernelMap, kept: Array) -> KernelMap:
    """The regression on the rows ``kept`` (k,) alone, in increasing order."""
    weights = mapped.weights
    if isinstance(weights, PrecomputedWeights):
        raise TypeError("rows of precomputed distances have no inputs of their own")
    inputs = weights.inputs[kept]
    if isinstance(weights, FixedWeights):
        own = replace(weights, inputs=inputs, bandwidth=weights.bandwidths_of(kept))
        return KernelMap(own, mapped.outputs[kept])
    lists = _lists_without(weights, inputs, kept)
    return KernelMap(AdaptiveWeights(inputs, lists, weights.perplexity), mapped.outputs[kept])


def backward_without(mapped: BackwardMap, kept: Array, Q: Array) -> BackwardMap:
    """The backward map on the rows ``kept`` (k,) alone, for queries ``Q`` (m, d)."""
    if isinstance(mapped, KernelMap):
        return kernel_map_without(mapped, kept)
    mean = kernel_map_without(mapped.mean, kept)
    weights, V = mean.weights, mean.outputs
    assert not isinstance(weights, PrecomputedWeights)
    anchors, _, share = nearest_anchors(weights.inputs, bounded(Q), 1)
    rows = np.unique(anchors[share > 0])
    residuals = mapped.correction.residuals[kept].copy()
    residuals[rows] = V[rows] - _at_rows(mean, rows)
    return InterpolatingMap(mean, Correction(residuals, mapped.correction.falloff[kept]))


def _at_rows(mean: KernelMap, rows: Array) -> Array:
    """``f_a(x_a)`` (k, r) of some training rows."""
    weights = mean.weights
    if isinstance(weights, AdaptiveWeights):
        candidates = np.column_stack([rows, weights.lists[rows]])
        D2 = squares_to_listed(weights.inputs[rows], weights.inputs, candidates)
        return list_weighted_mean(weights.weigh_squares(D2), mean.outputs, candidates)
    assert isinstance(weights, FixedWeights)
    return mean(weights.inputs[rows], 1)


def _lists_without(weights: AdaptiveWeights, inputs: Array, kept: Array) -> Array:
    """Neighbour lists (k, l) of the rows that are kept, nearest first, renumbered.

    Lists that lost more entries than others end with their last entry repeated.
    """
    place = np.full(len(weights.inputs), -1, dtype=np.int64)
    place[kept] = np.arange(len(kept))
    lists = place[weights.lists[kept]]
    gone = lists < 0
    n_left = (~gone).sum(axis=1)
    fewest = min(lists.shape[1], max(2, int(np.ceil(2 * weights.perplexity))))
    if int(n_left.min(initial=0)) < min(2, fewest):
        return nearest(inputs, k=min(lists.shape[1], len(inputs) - 1), n_jobs=1).index
    order = np.argsort(gone, axis=1, kind="stable")
    width = max(int(n_left.min()), fewest)
    last = np.minimum(np.arange(width), n_left[:, None] - 1)
    return np.take_along_axis(lists, np.take_along_axis(order, last, axis=1), axis=1)

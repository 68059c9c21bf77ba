"""Kernel regression: the conditional mean and variance of one space given a point of the other (S0 3.22, 3.23).

f(a)   = Σ_j w_j(a) b_j                          w from ``maps.weights``
var(a) = Σ_j w_j(a) (b_j - f(a))² + v            v the variance of the output kernel
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.kernels.bandwidths import perplexity_rows, quick_rows_of_each
from sidelight.neighbours.landmarks import spread_rows
from sidelight.neighbours.search import Neighbours, distances_to_listed, nearest
from sidelight.neighbours.sparse_distances import Points, dense_points

from .nearby import is_many
from .weights import (
    AdaptiveWeights,
    FixedWeights,
    PrecomputedWeights,
    answers_by_map_tile,
    kept_lists,
    list_weighted_mean,
)

__all__ = ["KernelMap", "adaptive_map", "adaptive_weights", "best_perplexity", "precomputed_weights"]

Array = npt.NDArray[Any]
PERPLEXITIES = (2.0, 3.0, 5.0, 8.0, 12.0, 20.0, 30.0)
_TRIED = 5_000  # sample size of leave-one-out errors, where there are many rows
_BUDGET = 1_000_000  # numbers in the temporaries of one tile


@dataclass(frozen=True)
class KernelMap:
    """Kernel regression ``a -> Σ_j w_j(a) outputs_j``; ``outputs`` (n, r)."""

    weights: FixedWeights | AdaptiveWeights | PrecomputedWeights
    outputs: Array

    @cached_property
    def memo(self) -> dict[str, Any]:
        """Cache of values computed from this map, by name; not saved."""
        return {}

    def __call__(self, Q: Points, n_jobs: int | None = None) -> Array:
        """Conditional mean (m, r) at each query; queries of precomputed weights are distances to the training rows."""
        if isinstance(self.weights, PrecomputedWeights):
            return self.weights.average(Q, self.outputs, n_jobs)
        return self.weights.average(dense_points(Q), self.outputs, n_jobs)

    def variance(self, Q: Array, n_jobs: int | None = None) -> Array:
        """Variance of the outputs around the conditional mean (m, r), without the variance v of the output kernel."""
        if not isinstance(self.weights, PrecomputedWeights) and is_many(self.weights.inputs):
            return self._spread_nearby(self.weights, Q, n_jobs)
        mean = self.weights.average(Q, self.outputs, n_jobs)
        second = self.weights.average(Q, self.outputs**2, n_jobs)
        return np.asarray(np.maximum(second - mean**2, 0.0))

    def _spread_nearby(self, weights: FixedWeights | AdaptiveWeights, Q: Array, n_jobs: int | None) -> Array:
        """The variance for many rows: squares are formed only of the outputs near a tile of queries, to save memory."""
        V = self.outputs

        def spread(Q: Array, near: Array) -> Array:
            index, W = weights.listed(Q, near)
            rows, listed = np.unique(index, return_inverse=True)
            B = V[rows].astype(np.float64, copy=False)
            listed = listed.reshape(index.shape)
            mean, second = list_weighted_mean(W, B, listed), list_weighted_mean(W, B**2, listed)
            return np.asarray(np.maximum(second - mean**2, 0.0))

        out = np.empty((len(Q), V.shape[1]))
        return answers_by_map_tile(weights, Q, out, spread, min(512, _BUDGET // (60 * V.shape[1])), n_jobs)

    def leave_one_out_error(self, rows: Array | None = None, n_jobs: int | None = 1) -> float:
        """Relative leave-one-out error: rms of ``b_i - f_{-i}(a_i)`` over that of ``b_i - mean``.

        Of ``rows`` (m,), or of all; where there are many, of 5,000 evenly spaced ones.
        """
        assert not isinstance(self.weights, PrecomputedWeights)
        if rows is None and is_many(self.outputs):
            rows = spread_rows(len(self.outputs), _TRIED)
        truth = self.outputs if rows is None else self.outputs[rows]
        return _relative_error(truth, self.weights.leave_one_out(self.outputs, rows, n_jobs))


def best_perplexity(
    inputs: Array,
    outputs: Array,
    lists: Array,
    grid: Sequence[float] = PERPLEXITIES,
    squares: Array | None = None,
) -> float:
    """Perplexity with the least leave-one-out error.

    Parameters
    ----------
    inputs : array of shape (n, d)
    outputs : array of shape (n, r)
    lists : array of shape (n, k)
        Neighbour lists of the inputs.
    grid : sequence of float
        Perplexities to try; those above k / 2 are skipped.
    squares : array of shape (n, k) or None
        Squared distances to the listed rows, if known.

    Notes
    -----
    With many rows the error is computed on 5,000 evenly spaced ones.
    """
    some: Any = spread_rows(len(inputs), _TRIED) if is_many(inputs) else slice(None)
    if squares is None:
        near = Neighbours(lists[some], distances_to_listed(inputs[some], inputs, lists[some]))
    else:
        near = Neighbours(lists[some], np.sqrt(squares[some]).astype(np.float64))
    return _least_error(near, outputs, outputs[some], grid)


def precomputed_weights(near: Neighbours, outputs: Array, n_candidates: int) -> PrecomputedWeights:
    """Weights for precomputed distances, with the perplexity of least leave-one-out error.

    Parameters
    ----------
    near : Neighbours
        Nearest neighbours (n, k) of the training rows.
    outputs : array of shape (n, r)
    n_candidates : int
        Neighbours of a query that get a weight.
    """
    some: Any = spread_rows(len(outputs), _TRIED) if is_many(outputs) else slice(None)
    tried = Neighbours(near.index[some], near.distance[some])
    return PrecomputedWeights(n_candidates, _least_error(tried, outputs, outputs[some], PERPLEXITIES))


def _least_error(near: Neighbours, outputs: Array, truth: Array, grid: Sequence[float]) -> float:
    """Perplexity with which the neighbours' (m, k) ``outputs`` (n, r) predict ``truth`` (m, r) with the least error."""
    allowed = [p for p in grid if p <= max(2.0, 0.5 * near.index.shape[1])] or [grid[0]]
    whole = bool(np.isfinite(near.distance).all())
    D2 = near.distance**2
    weights = quick_rows_of_each(D2, allowed) if whole else [perplexity_rows(D2, p)[0] for p in allowed]
    rows = [list_weighted_mean(W, outputs, near.index) for W in weights]
    return allowed[int(np.argmin([_relative_error(truth, predicted) for predicted in rows]))]


def adaptive_weights(inputs: Array, outputs: Array, lists: Array, squares: Array | None = None) -> AdaptiveWeights:
    """Adaptive weights with the perplexity of least leave-one-out error.

    With many rows the neighbour lists (n, k) are cut to the length that this perplexity needs. ``squares`` (n, k) are
    the squared distances to the listed rows, if known.
    """
    perplexity = best_perplexity(inputs, outputs, lists, squares=squares)
    return AdaptiveWeights(inputs, kept_lists(lists, perplexity) if is_many(inputs) else lists, perplexity)


def _relative_error(truth: Array, predicted: Array) -> float:
    residual, spread = truth - predicted, truth - truth.mean(axis=0)
    total = float(np.vdot(spread, spread))
    return float(np.sqrt(float(np.vdot(residual, residual)) / total)) if total > 0 else 0.0


def adaptive_map(inputs: Array, outputs: Array, *, lists: Array | None = None, n_jobs: int | None = None) -> KernelMap:
    """Kernel regression with adaptive weights, perplexity chosen by leave-one-out error.

    Parameters
    ----------
    inputs : array of shape (n, d)
    outputs : array of shape (n, r)
    lists : array of shape (n, k) or None
        Neighbour lists of the inputs; None: the 60 nearest rows are searched.
    n_jobs : int or None
        Threads.
    """
    if lists is None:
        lists = nearest(inputs, k=min(60, len(inputs) - 1), n_jobs=n_jobs).index
    return KernelMap(adaptive_weights(inputs, outputs, lists), outputs)

r"""Where ``transform`` would put each training row, had it not been among the rows of the map.

    g_{-i}(x_i) = Σ_{a ≠ i} α_a(x_i) [ f_{a,-i}(x_i) + φ_a(x_i) (v_a - f_{a,-i}(x_a)) ]

The interpolating map ``g`` of ``interpolation``, whose rows a are the nearest on the neighbour list of row i, and whose
regressions f_a are on the list of row a without row i. The other rows stay where they are: the embedding is not fitted
again, and neither perplexity nor fade is chosen again.

Cost: the distances to a row's list and to those of its 1 to 4 nearest rows, O(n k d) for lists of k.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sidelight.base.tiles import run_tiles, spans
from sidelight.kernels.bandwidths import perplexity_rows, quick_rows
from sidelight.neighbours.search import squares_to_listed

from .interpolation import BackwardMap, InterpolatingMap, anchor_shares
from .weights import AdaptiveWeights, list_weighted_mean

__all__ = ["left_out_places"]

Array = npt.NDArray[Any]
_NEAREST = 5  # the four rows at most that are blended, and the one beyond them
_TILE = 1024
_EXACT = 2_000  # rows up to which weights are those of ``transform`` to the last digits; in float32 beyond
_STEPS = 8  # towards bandwidths that others are begun at
_COARSE = 1e-3  # nearest rows, in units of the largest number, from which on float32 tells their distances well
_LOST = 1e-7  # a share of a residual that is smaller changes no place


def left_out_places(mapped: BackwardMap, n_jobs: int | None = None) -> Array | None:
    """``g_{-i}(x_i)`` (n, r) of every training row; None for other maps than interpolating ones on neighbour lists.

    With more than 2,000 rows the weights are computed in float32, from squared distances in the precision of the rows:
    a third of the time, places are the same to some 1e-6 of the map.
    """
    weights = mapped.weights
    if not (isinstance(mapped, InterpolatingMap) and isinstance(weights, AdaptiveWeights)):
        return None
    X, lists = weights.inputs, np.asarray(weights.lists, dtype=np.int64)
    tiles = spans(len(X), _TILE)

    def known(part: slice) -> tuple[Array, Array]:
        squares = squares_to_listed(X[part], X, lists[part])
        whole = np.pad(squares, ((0, 0), (1, 0)))
        if len(X) <= _EXACT:  # nothing begins there
            return squares, np.zeros(len(whole))
        ratio, top = _in_units_of_the_largest(whole)
        return squares, top[:, 0] * perplexity_rows(ratio, weights.perplexity, n_steps=_STEPS)[1]

    squares, bandwidth = (np.concatenate(parts) for parts in zip(*run_tiles(known, tiles, n_jobs), strict=True))
    whole = Whole(squares, bandwidth, _in_single(X, squares) if len(X) > _EXACT else X)

    def one(part: slice) -> Array:
        return _places(mapped, lists, whole, np.arange(part.start, part.stop))

    return np.concatenate(run_tiles(one, tiles, n_jobs))


class Whole(NamedTuple):
    """Of each row: squared distances (n, k) to its list, and the bandwidth (n,) of the map at the row itself.

    ``inputs`` (n, d): the rows, moved and scaled, whose distances to lists of other rows are taken.
    """

    squares: Array
    bandwidth: Array
    inputs: Array


def _places(mapped: InterpolatingMap, lists: Array, whole: Whole, rows: Array) -> Array:
    """The places (m, r) of some ``rows``."""
    weights, V, own = mapped.mean.weights, mapped.outputs, whole.squares
    assert isinstance(weights, AdaptiveWeights)
    X = whole.inputs
    order = np.argsort(own[rows], axis=1, kind="stable")[:, :_NEAREST]
    near = np.take_along_axis(lists[rows], order, axis=1)
    distance = np.sqrt(np.take_along_axis(own[rows], order, axis=1)).astype(np.float64)
    share = anchor_shares(distance)
    at, number = np.nonzero(share > 0)  # one entry for each row and each of its nearest rows a
    a, alpha, away = near[at, number], share[at, number], distance[at, number]
    kept = _others(lists[a], rows[at])
    candidates = np.column_stack([a, lists[a][kept].reshape(len(a), -1)])
    terms = _mean_over(weights, squares_to_listed(X[rows[at]], X, candidates), V, candidates)
    held = np.exp(-mapped.correction.falloff[a] * away**2)
    counts = held > _LOST
    from_a = np.pad(own[a][kept].reshape(len(a), -1)[counts], ((0, 0), (1, 0)))
    residual = V[a[counts]] - _mean_over(weights, from_a, V, candidates[counts], whole.bandwidth[a[counts]])
    terms[counts] += held[counts, None] * residual
    return np.add.reduceat(alpha[:, None] * terms, np.searchsorted(at, np.arange(len(rows))))


def _mean_over(
    weights: AdaptiveWeights, squares: Array, V: Array, candidates: Array, begin: Array | None = None
) -> Array:
    """Regressions (p, r) on candidates (p, k) at these squared distances; ``begin`` (p,) are bandwidths close by."""
    if len(V) <= _EXACT:
        return list_weighted_mean(weights.weigh_squares(squares), V, candidates)
    ratio, top = _in_units_of_the_largest(squares)
    begin = None if begin is None else begin / top[:, 0]
    return list_weighted_mean(quick_rows(ratio, weights.perplexity, begin=begin), V, candidates)


def _in_units_of_the_largest(squares: Array) -> tuple[Array, Array]:
    """Squared distances (p, k) over the largest of each row (p, 1), in float32, which rows of any size fit so."""
    top = squares.max(axis=1, keepdims=True)
    top[top <= 0] = 1.0
    return np.asarray((squares / top).astype(np.float32)), np.asarray(top)


def _in_single(X: Array, squares: Array) -> Array:
    """The rows in float32, about their mean and at most 1; as they are where near rows could not be told apart so."""
    centred = X - X.mean(axis=0)
    top = float(np.abs(centred).max())
    near = float(np.sqrt(np.quantile(squares.min(axis=1), 0.05)))
    return np.asarray((centred / top).astype(np.float32)) if near > _COARSE * top else X


def _others(listed: Array, row: Array) -> Array:
    """Which entries of lists (p, k) are kept, k - 1 of each: not the ``row`` (p,), or not the last if it is absent."""
    kept = np.asarray(listed != row[:, None])
    kept[kept.all(axis=1), -1] = False
    return kept

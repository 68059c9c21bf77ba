r"""Where ``transform`` would put each training row, had it not been among the rows of the map.

    g_{-i}(x_i) = Σ_{a ≠ i} α_a(x_i) [ f_{a,-i}(x_i) + φ_a(x_i) (v_a - f_{a,-i}(x_a)) ]

The interpolating map ``g`` of ``interpolation``, whose rows a are the nearest on the neighbour list of row i, and whose
regressions f_a are on the list of row a without row i. The other rows stay where they are: the embedding is not fitted
again, and neither perplexity nor fade is chosen again.

Cost: the distances to a row's list and to those of its 1 to 4 nearest rows, O(n k d) for lists of k.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.base.tiles import run_tiles, spans
from sidelight.neighbours.search import squares_to_listed

from .interpolation import BackwardMap, InterpolatingMap, anchor_shares
from .weights import AdaptiveWeights, list_weighted_mean

__all__ = ["left_out_places"]

Array = npt.NDArray[Any]
_NEAREST = 5  # the four rows at most that are blended, and the one beyond them
_TILE = 512


def left_out_places(mapped: BackwardMap, n_jobs: int | None = None) -> Array | None:
    """``g_{-i}(x_i)`` (n, r) of every training row; None for other maps than interpolating ones on neighbour lists."""
    weights = mapped.weights
    if not (isinstance(mapped, InterpolatingMap) and isinstance(weights, AdaptiveWeights)):
        return None
    X, lists = weights.inputs, np.asarray(weights.lists, dtype=np.int64)
    tiles = spans(len(X), _TILE)
    own = np.concatenate(run_tiles(lambda part: squares_to_listed(X[part], X, lists[part]), tiles, n_jobs))

    def one(part: slice) -> Array:
        return _places(mapped, X, lists, own, np.arange(part.start, part.stop))

    return np.concatenate(run_tiles(one, tiles, n_jobs))


def _places(mapped: InterpolatingMap, X: Array, lists: Array, own: Array, rows: Array) -> Array:
    """The places (m, r) of some ``rows``; ``own`` (n, k) are squared distances of each row to its list."""
    weights, V = mapped.mean.weights, mapped.outputs
    assert isinstance(weights, AdaptiveWeights)
    order = np.argsort(own[rows], axis=1, kind="stable")[:, :_NEAREST]
    near = np.take_along_axis(lists[rows], order, axis=1)
    distance = np.sqrt(np.take_along_axis(own[rows], order, axis=1)).astype(np.float64)
    share = anchor_shares(distance)
    at, number = np.nonzero(share > 0)  # one entry for each row and each of its nearest rows a
    a, alpha, away = near[at, number], share[at, number], distance[at, number]
    kept = _without(lists[a], rows[at])
    others = np.take_along_axis(lists[a], kept, axis=1)
    candidates = np.column_stack([a, others])
    there = weights.weigh_squares(squares_to_listed(X[rows[at]], X, candidates))
    from_a = np.column_stack([np.zeros(len(a), dtype=own.dtype), np.take_along_axis(own[a], kept, axis=1)])
    residual = V[a] - list_weighted_mean(weights.weigh_squares(from_a), V, candidates)
    held = np.exp(-mapped.correction.falloff[a] * away**2)[:, None]
    terms = alpha[:, None] * (list_weighted_mean(there, V, candidates) + held * residual)
    out = np.zeros((len(rows), V.shape[1]))
    np.add.at(out, at, terms)
    return out


def _without(listed: Array, row: Array) -> Array:
    """Columns (p, k - 1) of lists (p, k) that leave out the ``row`` (p,) of each, or the last entry if it is absent."""
    drop = listed == row[:, None]
    drop[~drop.any(axis=1), -1] = True
    return np.argsort(drop, axis=1, kind="stable")[:, :-1]

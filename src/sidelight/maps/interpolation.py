"""Interpolating kernel regression: a training row is mapped exactly to its own output.

    g(x) = Σ_a α_a(x) [ f_a(x) + φ_a(x) r_a ]            r_a = v_a - f_a(x_a)

    f_a(x)   the kernel regression of ``maps.kernel_map``; with adaptive weights, on the neighbour list of row a
    r_a      its residual at the training row a
    α_a(x)   ∝ max(R - |x - x_a|, 0) over the 4 nearest rows at most, R = min(1.1 |x - x_1|, |x - x_5|), x_1 the nearest
    φ_a(x)   exp(-|x - x_a|² / ℓ_a²), ℓ_a = fade times the distance from row a to the nearest other row

At a training row α and φ of that row are 1, so g(x_a) = v_a. α_a is 0 where row a enters or leaves the sum, so g is
continuous: it also removes the jump that f alone makes where another row, with another list, becomes the nearest. With
more than ``nearby.MANY`` rows of more than 8 columns, x_2 to x_5 are the nearest rows on the list of x_1, which misses
some: there g is continuous between most neighbours, not all (decision 0018).

``fade`` is chosen from 0.25 (residuals count only very near their row: elsewhere g is f) to infinity (they count
everywhere) by the leave-one-out error. Where outputs are noise around f, the smallest wins; on eighteen data sets it
was 1 once, 2 once and else infinity (decision 0018).

Cost: as f, once for each row a with α_a > 0: 1.1 (sheets) to 2.3 (images) on average. Each query by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sidelight.base.tiles import run_tiles, spans
from sidelight.neighbours.distances import bounded, padded_product
from sidelight.neighbours.landmarks import spread_rows
from sidelight.neighbours.prepared_rows import PreparedRows
from sidelight.neighbours.search import Neighbours, distances_to_listed, nearest, squares_to_listed

from .kernel_map import KernelMap
from .nearby import RowSearch, Searched, is_many, row_search
from .weights import SHARED, AdaptiveWeights, FixedWeights, PrecomputedWeights, answers_by_map_tile, list_weighted_mean

__all__ = [
    "MARGIN",
    "BackwardMap",
    "Correction",
    "InterpolatingMap",
    "anchor_shares",
    "correction_at_rows",
    "first_few",
    "interpolate",
    "nearest_anchors",
    "smooth_part",
]

Array = npt.NDArray[Any]
_ANCHORS = 4  # rows whose regressions are blended, at most
MARGIN = 0.1
"""How much farther than the nearest row another one may be and still count."""
_FADES = (0.25, 0.5, 1.0, 2.0, np.inf)
_TRIED = 2_000  # rows that are left out, one at a time, to choose the fade
_BUDGET = 2_000_000  # numbers in the temporaries of one tile
_SORTED = 2**25  # numbers in a sorted copy of rows and lists, at most: 128 MiB
_LEAST = 1e-300  # squares below are zero


@dataclass(frozen=True)
class Correction:
    """Correction ``Σ_a α_a φ_a r_a``: the residuals (n, r) at the training rows, decaying with distance."""

    residuals: Array
    falloff: Array
    """``1 / ℓ²`` of each row (n,); 0: its residual counts at any distance."""

    def __call__(self, anchors: Array, distance: Array, share: Array) -> Array:
        """The correction (m, r) from the nearest rows ``anchors`` (m, K), their distances and their shares α (m, K)."""
        held = share * np.exp(-self.falloff[anchors] * np.where(share > 0, distance, 0.0) ** 2)
        return np.asarray(np.einsum("mk,mkr->mr", held, self.residuals[anchors]))


@dataclass(frozen=True)
class InterpolatingMap(Searched):
    """The interpolating map ``g``: the kernel regression ``mean`` plus its ``correction``."""

    mean: KernelMap
    correction: Correction

    @property
    def weights(self) -> FixedWeights | AdaptiveWeights | PrecomputedWeights:
        """The weights of the regression."""
        return self.mean.weights

    @property
    def outputs(self) -> Array:
        """Outputs of the training rows (n, r)."""
        return self.mean.outputs

    def __call__(self, Q: Any, n_jobs: int | None = None) -> Array:
        """``g`` at each query (m, r)."""
        weights = self.mean.weights
        if isinstance(weights, AdaptiveWeights):
            return self._on_lists(weights, Q, n_jobs)
        if isinstance(weights, FixedWeights):
            return self.mean(Q, n_jobs) + self.correction(
                *nearest_anchors(weights.inputs, Q, n_jobs, None if is_many(weights.inputs) else weights.prepared)
            )
        near = weights.near(Q)
        mean = list_weighted_mean(weights.weigh_squares(near.distance**2), self.mean.outputs, near.index)
        return mean + self.correction(*_anchors(near.index, near.distance))

    def _answer(self, Q: Array, near: Array) -> Array:
        """``g`` (m, r) at queries with known nearest rows (m, 1 or more), with adaptive weights."""
        weights, V = self.mean.weights, self.mean.outputs
        assert isinstance(weights, AdaptiveWeights)
        candidates, D2 = weights.nearest_lists(Q, near[:, :1])
        if near.shape[1] > 1:
            anchors, distance, share = _anchors(near, distances_to_listed(Q, weights.inputs, near))
        else:
            anchors, distance, share = _anchors(*first_few(candidates, D2))
        out = share[:, :1] * list_weighted_mean(weights.weigh_squares(D2), V, candidates)
        number, at = np.nonzero(share[:, 1:].T)  # one pass for all further rows: a call costs as much as many rows
        if at.size:
            further = share[at, number + 1, None] * weights.average_from(Q[at], anchors[at, number + 1], V)
            for k in range(share.shape[1] - 1):  # in this order, each query at most once
                out[at[number == k]] += further[number == k]
        return np.asarray(out + self.correction(anchors, distance, share))

    @cached_property
    def _sorted(self) -> InterpolatingMap | None:
        """The same map of the training rows in the order of the search, so that rows of a list are close in memory.

        The same answers to the bit. None where the copy would take much memory.
        """
        weights = self.mean.weights
        assert isinstance(weights, AdaptiveWeights)
        if weights.inputs.size + weights.lists.size > _SORTED:
            return None
        place = weights.search.place
        order = np.argsort(place)
        lists = place.astype(weights.lists.dtype)[weights.lists[order]]
        mean = KernelMap(AdaptiveWeights(weights.inputs[order], lists, weights.perplexity), self.mean.outputs[order])
        return InterpolatingMap(mean, Correction(self.correction.residuals[order], self.correction.falloff[order]))

    def _on_lists(self, weights: AdaptiveWeights, Q: Array, n_jobs: int | None) -> Array:
        V = self.mean.outputs
        if is_many(weights.inputs):
            search, sorted_map = weights.search, self._sorted
            Q, out = search.within(Q), np.empty((len(Q), V.shape[1]), dtype=V.dtype)
            find = partial(_find, search) if search.is_exact else None
            if sorted_map is None:
                return answers_by_map_tile(weights, Q, out, self._answer, SHARED, n_jobs, find)
            place = search.place
            return answers_by_map_tile(
                weights, Q, out, lambda Q, near: sorted_map._answer(Q, place[near]), SHARED, n_jobs, find
            )

        def one(rows: slice) -> Array:
            part = bounded(Q[rows])
            return self._answer(part, weights.nearest_of_few(part, _ANCHORS + 1, n_jobs=1).index)

        wide = max(weights.lists.shape[1] * max(V.shape[1], weights.inputs.shape[1]), len(weights.inputs))
        tile = max(1, min(512, _BUDGET // max(wide, 1)))
        return np.concatenate(run_tiles(one, spans(len(Q), tile), n_jobs))


BackwardMap = InterpolatingMap | KernelMap
"""Map from data to latent points; models saved before interpolation existed have a plain ``KernelMap``."""


def smooth_part(backward: BackwardMap) -> KernelMap:
    """The kernel regression of a backward map, as published (S0 3.23)."""
    return backward.mean if isinstance(backward, InterpolatingMap) else backward


def interpolate(
    mean: KernelMap, near: Neighbours | None = None, n_jobs: int | None = None, squares: Array | None = None
) -> InterpolatingMap:
    """Make a kernel map exact at its training rows.

    Parameters
    ----------
    mean : KernelMap
        Equal training rows must have equal outputs (``neighbours.equal_rows``).
    near : Neighbours or None
        Neighbours (n, k) of the training rows; needed for precomputed distances only.
    n_jobs : int or None
        Threads.
    squares : array of shape (n, k) or None
        With adaptive weights: squared distances to the rows of the lists (before they were cut), if known.

    Returns
    -------
    InterpolatingMap
        Its ``fade`` is chosen by leave-one-out error.
    """
    weights, V = mean.weights, mean.outputs
    if isinstance(weights, AdaptiveWeights):
        if squares is None:
            tiles = spans(len(V), SHARED)
            found = run_tiles(lambda some: _own_squares(weights, np.arange(len(V))[some]), tiles, n_jobs)
            squares = np.concatenate(found)
        squares = squares[:, : weights.lists.shape[1]]
        at_rows, gap = _at_own_lists(weights, V, squares, n_jobs)
        tried = _left_out_of_lists(weights, V, squares, spread_rows(len(V), _TRIED))
    elif isinstance(weights, FixedWeights):
        near = nearest(weights.inputs, k=min(_ANCHORS, len(V) - 1), n_jobs=n_jobs)
        at_rows, gap = mean(weights.inputs, n_jobs), _gap(near.distance**2)
        tried = _left_out_of_all(weights, V, near)
    else:
        assert near is not None
        near = Neighbours(near.index[:, : weights.n_candidates - 1], near.distance[:, : weights.n_candidates - 1])
        index, D2 = _with_self(near)
        at_rows, gap = list_weighted_mean(weights.weigh_squares(D2), V, index), _gap(near.distance**2)
        tried = _left_out_of_near(weights, V, near)
    fade = _best_fade(tried)
    return InterpolatingMap(mean, Correction(np.asarray(V - at_rows, dtype=np.float64), _falloff(gap, fade)))


def correction_at_rows(inputs: Array, residuals: Array, fade: float, n_jobs: int | None = None) -> Correction:
    """Correction of any map from ``inputs`` (n, d), from its ``residuals`` (n, r) there and a given ``fade``."""
    near = nearest(inputs, k=min(_ANCHORS, len(inputs) - 1), n_jobs=n_jobs)
    return Correction(residuals, _falloff(_gap(near.distance**2), fade))


def anchor_shares(distance: Array) -> Array:
    """Blending weights ``α`` (m, K) from the distances (m, K + 1 or fewer) of the nearest rows, nearest first.

    Examples
    --------
    >>> anchor_shares(np.array([[0.0, 1.0, 2.0, 3.0, 4.0], [1.0, 1.0, 1.2, 1.3, 1.4]]))
    array([[1. , 0. , 0. , 0. ],
           [0.5, 0.5, 0. , 0. ]])
    """
    within = (1 + MARGIN) * distance[:, :1]
    if distance.shape[1] > _ANCHORS:
        within = np.minimum(within, distance[:, _ANCHORS : _ANCHORS + 1])
    share = np.maximum(within - distance[:, :_ANCHORS], 0.0)
    total = share.sum(axis=1, keepdims=True)
    share[total[:, 0] <= 0, 0] = 1.0
    return np.asarray(share / np.where(total > 0, total, 1.0))


def _find(search: RowSearch, Q: Array, n_jobs: int | None) -> Array:
    return search.nearest(Q, _ANCHORS + 1, n_jobs).index


def _anchors(index: Array, distance: Array) -> tuple[Array, Array, Array]:
    """Anchors (m, K), their distances and their shares, from the nearest rows, nearest first."""
    share = anchor_shares(distance[:, : _ANCHORS + 1])
    return index[:, :_ANCHORS], distance[:, :_ANCHORS], share


def first_few(candidates: Array, D2: Array) -> tuple[Array, Array]:
    """The first candidate (the nearest row) and the four nearest of the others, nearest first, with distances."""
    others = D2[:, 1:]
    if others.shape[1] > _ANCHORS:
        chosen = np.argpartition(others, _ANCHORS - 1, axis=1)[:, :_ANCHORS]
    else:
        chosen = np.broadcast_to(np.arange(others.shape[1]), others.shape)
    squares = np.take_along_axis(others, chosen, axis=1)
    order = np.lexsort((chosen, squares))
    chosen = np.column_stack([np.zeros(len(D2), dtype=np.int64), 1 + np.take_along_axis(chosen, order, axis=1)])
    distance = np.sqrt(np.take_along_axis(D2, chosen, axis=1)).astype(np.float64, copy=False)
    return np.take_along_axis(candidates, chosen, axis=1), distance


def nearest_anchors(
    inputs: Array, Q: Array, n_jobs: int | None = None, prepared: PreparedRows | None = None
) -> tuple[Array, Array, Array]:
    """The rows of ``inputs`` (n, d) nearest to each query (m, K), their distances and their shares α (m, K)."""
    if is_many(inputs):
        near = row_search(inputs).nearest(Q, _ANCHORS + 1, n_jobs)
    else:
        near = nearest(inputs, bounded(Q), k=min(_ANCHORS + 1, len(inputs)), n_jobs=n_jobs, prepared=prepared)
    return _anchors(near.index, near.distance)


def _own_squares(weights: AdaptiveWeights, rows: Array) -> Array:
    """Squared distances (m, k) of training rows (m,) to the rows of their lists."""
    return squares_to_listed(weights.inputs[rows], weights.inputs, weights.lists[rows])


def _at_own_lists(weights: AdaptiveWeights, V: Array, squares: Array, n_jobs: int | None) -> tuple[Array, Array]:
    """``f_a(x_a)`` of every training row (n, r), and the squared distance to the nearest other row (n,)."""
    n = len(V)
    at_rows, gap = np.empty(V.shape, dtype=np.float64), np.empty(n)

    def one(rows: slice) -> None:
        candidates = np.column_stack([np.arange(rows.start, rows.stop), weights.lists[rows]])
        D2 = np.pad(squares[rows], ((0, 0), (1, 0)))
        at_rows[rows] = list_weighted_mean(weights.weigh_squares(D2), V, candidates)
        gap[rows] = _gap(squares[rows])

    tile = max(1, min(SHARED, _BUDGET // (weights.lists.shape[1] + 1)))
    run_tiles(one, spans(n, tile), n_jobs)
    return at_rows, gap


def _with_self(near: Neighbours) -> tuple[Array, Array]:
    """Row numbers and squared distances of each row itself and of its neighbours (n, k + 1)."""
    n = len(near.index)
    return np.column_stack([np.arange(n), near.index]), np.column_stack([np.zeros(n), near.distance**2])


def _gap(D2: Array) -> Array:
    """Smallest positive squared distance of each row (m,); inf if there is none."""
    return np.asarray(np.where(D2 > 0, D2, np.inf).min(axis=1, initial=np.inf).astype(np.float64))


def _falloff(gap: Array, fade: float) -> Array:
    """``1 / ℓ²`` from squared distances to the nearest other row."""
    with np.errstate(divide="ignore"):
        return np.asarray(1.0 / np.maximum(fade**2 * gap, _LEAST))


class _LeftOut(NamedTuple):
    """Leave-one-out predictions of m rows, from which ``fade`` is chosen."""

    truth: Array
    """Their outputs (m, r)."""
    mean: Array
    """The regression without the row (m, r)."""
    residual: Array
    """Residual of the nearest other row (m, r)."""
    square: Array
    """Squared distance to that row (m,)."""
    gap: Array
    """Squared distance from that row to the nearest third one (m,)."""


def _best_fade(tried: _LeftOut) -> float:
    """The fade with the least leave-one-out error."""

    def error(fade: float) -> float:
        held = np.exp(-_falloff(tried.gap, fade) * tried.square)[:, None]
        missed = tried.truth - tried.mean - held * tried.residual
        return float(np.vdot(missed, missed))

    return min(_FADES, key=error)


def _left_out_of_lists(weights: AdaptiveWeights, V: Array, squares: Array, rows: Array) -> _LeftOut:
    """Leave-one-out predictions with adaptive weights; ``squares`` (n, k) are squared distances to the listed rows."""
    lists, D2 = weights.lists, squares[rows]
    other = lists[rows, D2.argmin(axis=1)].astype(np.int64)
    candidates, E2 = np.column_stack([other, lists[other]]), np.pad(squares[other], ((0, 0), (1, 0)))
    return _left_out(weights, V, rows, lists[rows], D2, candidates, E2)


def _left_out_of_near(weights: PrecomputedWeights, V: Array, near: Neighbours) -> _LeftOut:
    """Leave-one-out predictions with precomputed distances to neighbours."""
    rows = spread_rows(len(V), _TRIED)
    index, D2 = _with_self(near)
    other = near.index[rows, 0]
    return _left_out(weights, V, rows, near.index[rows], near.distance[rows] ** 2, index[other], D2[other])


def _left_out(
    weights: AdaptiveWeights | PrecomputedWeights,
    V: Array,
    rows: Array,
    lists: Array,
    D2: Array,
    candidates: Array,
    E2: Array,
) -> _LeftOut:
    """Leave-one-out predictions of ``rows`` (m,) from neighbour lists.

    ``lists`` (m, k) with squared distances D2 are those of the rows; ``candidates`` with E2 are the nearest other row
    of each and its list.
    """
    mean = list_weighted_mean(weights.weigh_squares(D2), V, lists)
    others = candidates != rows[:, None]
    W = np.where(others, weights.weigh_squares(E2), 0.0)
    W /= W.sum(axis=1, keepdims=True)
    residual = V[candidates[:, 0]] - list_weighted_mean(W, V, candidates)
    return _LeftOut(V[rows], mean, residual, D2.min(axis=1), _gap(np.where(others, E2, np.inf)[:, 1:]))


def _left_out_of_all(weights: FixedWeights, V: Array, near: Neighbours) -> _LeftOut:
    """Leave-one-out predictions with a fixed bandwidth."""
    rows = spread_rows(len(V), _TRIED)
    other = near.index[rows, 0]
    mean = weights.leave_one_out(V, rows)
    residual = np.empty((len(rows), V.shape[1]))
    for part in spans(len(rows), max(8, _BUDGET // len(V))):
        W = weights.matrix(weights.inputs[other[part]])
        W[np.arange(len(W)), rows[part]] = 0.0
        total = W.sum(axis=1, keepdims=True)
        residual[part] = V[other[part]] - padded_product(W / np.where(total > 0, total, 1.0), V)
    third = np.where(near.index[other] == rows[:, None], np.inf, near.distance[other] ** 2)
    return _LeftOut(V[rows], mean, residual, near.distance[rows, 0] ** 2, _gap(third))

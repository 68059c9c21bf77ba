"""Weights of the training rows at a query, for kernel regression (``maps.kernel_map``).

    fixed     w_j(a) ∝ k(|a - a_j|² / h) over all training rows, with one h or one h_j for each training row; of a with
              side information g, times k_G(g, g_j)
    adaptive  w_j(a) ∝ exp(-β(a) |a - a_j|²) over rows near the query, β(a) such that the perplexity is as given

Adaptive weights are on the query's nearest training row and on that row's neighbour list. With geodesic neighbour lists
(``neighbours.graph``), a query on one layer of a rolled sheet never uses rows of the next layer. Queries are
independent: a result does not depend on the other rows of the call.

With more than ``nearby.MANY`` training rows only those near a query are used (found by ``maps.nearby``):

    fixed     the ``NEAREST`` nearest rows; all others get weight 0
    adaptive  the nearest row may be missed (1 query of 1,000), and its list is cut to ``kept_lists``

This also improves accuracy: the tails of a Student kernel over all rows pull every result to the mean. The error of new
rows is 2.6 times as large with them (``python -m benchmarks maps``). On 2,000 digits (MNIST in 50 columns) it is 0.669
with all of 68,000 rows and 0.617 with the nearest (20,000 rows: 0.681 and 0.650; Gaussian, without tails: 0.678 both).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from sidelight.base.tiles import run_tiles, spans
from sidelight.kernels.bandwidths import perplexity_rows, quick_rows
from sidelight.kernels.profiles import Profile, Student, StudentDensity, profile
from sidelight.kernels.side_kernel import SideKernel
from sidelight.neighbours.distances import bounded, padded_product, squared_distances
from sidelight.neighbours.prepared_rows import PreparedRows, kept_rows
from sidelight.neighbours.search import Neighbours, distances_to_listed, nearest, squares_to_listed
from sidelight.neighbours.sparse_distances import SparseDistances, nearest_known

from .nearby import RowSearch, Searched, is_many, row_search

__all__ = [
    "NEAREST",
    "SHARED",
    "AdaptiveWeights",
    "FixedWeights",
    "PrecomputedWeights",
    "answers_by_map_tile",
    "kept_lists",
    "list_weighted_mean",
]

Array = npt.NDArray[Any]
_LEAST = 1e-200  # weights whose sum is larger are not about to vanish
_BUDGET = 2_000_000  # numbers in the temporaries of one tile
NEAREST = 60
"""Nearest rows used with a fixed bandwidth if there are many rows (error with 30: 0.624, with 90: 0.616)."""
_CHUNK = 65_536  # queries searched together
SHARED = 2048
"""Queries per tile."""
_FEWEST = 30  # least length of a cut neighbour list
_FEW_CANDIDATES, _FEW_PERPLEXITY = 15, 5.0
_HOPS = 8  # most moves to a nearer row on a list; at most three were observed


@dataclass(frozen=True)
class FixedWeights(Searched):
    """Weights whose bandwidths do not depend on the query: ``w_j(a) ∝ k(|a - a_j|² / h_j)``.

    ``bandwidth`` is one number, or an array (n,) with one for each training row; k is then Student's density with two
    degrees of freedom (``maps.local_bandwidths``), and ``kernel`` is "student". With many rows only the nearest to the
    query get weight.

    With a ``side`` kernel the last columns of the inputs and of queries are features of ``given``, and its values
    multiply the weights. It is for up to ``nearby.MANY`` rows.
    """

    inputs: Array
    bandwidth: float | Array
    kernel: str = "gaussian"
    side: SideKernel | None = None

    @property
    def shape(self) -> Profile:
        """The profile k."""
        one = not isinstance(self.bandwidth, np.ndarray)
        return profile(self.kernel) if one else StudentDensity(self.inputs.shape[1], 2.0)

    def bandwidths_of(self, index: Array | None) -> float | Array:
        """The bandwidths of the rows ``index`` (m, k), or of all rows (None)."""
        h = self.bandwidth
        return h[index] if isinstance(h, np.ndarray) and index is not None else h

    @cached_property
    def search(self) -> RowSearch:
        """Nearest-neighbour index of the inputs."""
        return row_search(self.inputs)

    @cached_property
    def prepared(self) -> PreparedRows | None:
        """The inputs as the exact search needs them, for few rows."""
        return kept_rows(self.inputs)

    def near(self, Q: Array, n_jobs: int | None = None) -> Array:
        """The nearest rows (m, k) of each query, which get weights if there are many rows."""
        return self.search.nearest(Q, NEAREST, n_jobs).index

    def listed(self, Q: Array, index: Array) -> tuple[Array, Array]:
        """Rows ``index`` (m, k) of each query, and their weights (m, k)."""
        R = distances_to_listed(self.search.within(Q), self.inputs, index) ** 2
        return index, self._weights(R / self.bandwidths_of(index))

    def average(self, Q: Array, V: Array, n_jobs: int | None = None) -> Array:
        """Weighted means ``Σ_j w_j(q) V_j`` (m, r) of V (n, r) at each query."""
        if is_many(self.inputs):
            return _average_nearby(self, Q, V, n_jobs)

        def one(rows: slice) -> Array:
            return padded_product(self.matrix(Q[rows]), V, V.dtype)  # outputs in float32 are not copied for one row

        tile = max(8, _BUDGET // max(len(self.inputs), 1))
        return np.concatenate(run_tiles(one, spans(len(Q), tile), n_jobs))

    def matrix(self, Q: Array) -> Array:
        """Dense weights (m, n) of all training rows; the caller passes few queries at a time to save memory."""
        if is_many(self.inputs):
            index, W = self.listed(Q, self.near(Q, n_jobs=1))
            return _scattered(W, index, len(self.inputs))
        return self.weights_at(Q)

    def leave_one_out(self, V: Array, rows: Array | None = None, n_jobs: int | None = 1) -> Array:
        """Leave-one-out means ``Σ_{j≠i} w_j(a_i) V_j`` of the training rows (n, r), or of ``rows`` only."""
        some = np.arange(len(self.inputs)) if rows is None else rows
        if is_many(self.inputs):
            near = self.search.others(some, NEAREST)
            W = self._weights(near.distance**2 / self.bandwidths_of(near.index))
            return list_weighted_mean(W, V, near.index)

        def one(part: slice) -> Array:
            return np.asarray(self.weights_at(self.inputs[some[part]], some[part]) @ V, dtype=np.float64)

        return np.concatenate(run_tiles(one, spans(len(some), max(8, _BUDGET // len(self.inputs))), n_jobs))

    def weigh_squares(self, R: Array) -> Array:
        """Weights (m, n) of all training rows from squared distances, in their precision; infinite ones have none."""
        return self._weights(R / np.asarray(self.bandwidth, dtype=R.dtype))

    def weights_at(self, Q: Array, left_out: Array | None = None) -> Array:
        """Weights (m, n) of all training rows at each query, without the row ``left_out`` (m,) of each."""
        if self.side is None:
            R, factor = squared_distances(Q, self.inputs), None
        else:
            p = self.inputs.shape[1] - len(self.side.scales)
            R = squared_distances(Q[:, :p], self.inputs[:, :p])
            factor = self.side.log_values(Q[:, p:], self.inputs[:, p:])
        if left_out is not None:
            R[np.arange(len(R)), left_out] = np.inf
        return self._weights(R / self.bandwidth, factor)

    def _weights(self, R: Array, factor: Array | None = None) -> Array:
        """Normalised weights from squared distances over bandwidths R (m, k) and the logarithms of a ``factor`` (m, k).

        All on the nearest row (of positive factor, if there is one) if every weight vanishes.
        """
        shape = self.shape
        if not isinstance(shape, Student | StudentDensity) or factor is not None:
            return self._weights_by_logarithms(R, factor)
        W = shape.value(R.copy())  # its tails hardly ever vanish: no logarithms, a third of the time
        total = W.sum(axis=1, keepdims=True)
        faint = total[:, 0] <= _LEAST
        total[faint] = 1.0
        W /= total
        if faint.any():  # row by row: a far query changes no bit of another one's weights
            W[faint] = self._weights_by_logarithms(R[faint])
        return W

    def _weights_by_logarithms(self, R: Array, factor: Array | None = None) -> Array:
        logs = self.shape.log_value(R)
        if factor is not None:
            logs = logs + factor
            apart = np.where(np.isfinite(factor), R, np.inf)
            R = np.where(np.isfinite(apart).any(axis=1, keepdims=True), apart, R)
        top = logs.max(axis=1, keepdims=True)
        lost = ~np.isfinite(top[:, 0])
        if lost.any():
            logs[lost] = np.where(R[lost] == R[lost].min(axis=1, keepdims=True), 0.0, -np.inf)
            top[lost] = 0.0
        W = np.exp(logs - top)
        return np.asarray(W / W.sum(axis=1, keepdims=True))


@dataclass(frozen=True)
class AdaptiveWeights(Searched):
    """Weights with one bandwidth per query, of the given ``perplexity``.

    They are on the query's nearest training row and its neighbour list, a row of ``lists`` (n, k).
    """

    inputs: Array
    lists: Array
    perplexity: float

    @cached_property
    def search(self) -> RowSearch:
        """Nearest-neighbour index of the inputs."""
        return row_search(self.inputs)

    @cached_property
    def prepared(self) -> PreparedRows | None:
        """The inputs as the exact search needs them, for few rows."""
        return kept_rows(self.inputs)

    def near(self, Q: Array, n_jobs: int | None = None) -> Array:
        """The nearest training row (m, 1) of each query; approximate if there are many rows."""
        if is_many(self.inputs):
            return self.search.anchors(Q, n_jobs)[:, None]
        return self.nearest_of_few(bounded(Q), 1, n_jobs).index

    def nearest_of_few(self, Q: Array, k: int, n_jobs: int | None = None) -> Neighbours:
        """The ``k`` nearest training rows (m, k) of each query, exactly; for few training rows."""
        return nearest(self.inputs, Q, k=min(k, len(self.inputs)), n_jobs=n_jobs, prepared=self.prepared)

    def listed(self, Q: Array, anchor: Array) -> tuple[Array, Array]:
        """Rows with weight for each query, and their weights (m, k + 1), given its nearest row ``anchor`` (m, 1)."""
        candidates, D2 = self.nearest_lists(self.search.within(Q), anchor)
        return candidates, quick_rows(D2, self.perplexity)

    def average_from(self, Q: Array, anchor: Array, V: Array) -> Array:
        """Weighted means (m, r) over the neighbour lists of the rows ``anchor`` (m,), be these nearest or not."""
        candidates = np.column_stack([anchor, self.lists[anchor]])
        return list_weighted_mean(self.weigh_squares(squares_to_listed(Q, self.inputs, candidates)), V, candidates)

    def weigh_squares(self, D2: Array) -> Array:
        """Weights (m, k) from squared distances."""
        if is_many(self.inputs):
            return quick_rows(D2, self.perplexity)
        return perplexity_rows(D2.astype(np.float64, copy=False), self.perplexity)[0]

    def nearest_lists(self, Q: Array, anchor: Array) -> tuple[Array, Array]:
        """Nearest row and its list for each query (m, k + 1), and their squared distances.

        If a row of the list is nearer than the row whose list it is, the search moves on to that row's list.
        """
        candidates = np.column_stack([anchor, self.lists[anchor[:, 0]]])
        D2 = squares_to_listed(Q, self.inputs, candidates)
        column = D2.argmin(axis=1)
        wrong = np.flatnonzero(column)
        for _ in range(_HOPS):
            if not wrong.size:
                break
            nearer = candidates[wrong, column[wrong]]
            candidates[wrong, 0], candidates[wrong, 1:] = nearer, self.lists[nearer]
            D2[wrong] = squares_to_listed(Q[wrong], self.inputs, candidates[wrong])
            column[wrong] = D2[wrong].argmin(axis=1)
            wrong = np.flatnonzero(column)
        return candidates, D2

    def weights_and_bandwidths(self, Q: Array, n_jobs: int | None = None) -> tuple[Array, Array, Array]:
        """Candidates (m, k + 1), their weights, and the bandwidths (m,)."""
        Q = bounded(Q)
        candidates, D2 = self.nearest_lists(Q, self.near(Q, n_jobs))
        return candidates, *perplexity_rows(D2.astype(np.float64, copy=False), self.perplexity)

    def average(self, Q: Array, V: Array, n_jobs: int | None = None) -> Array:
        """Weighted means ``Σ_j w_j(q) V_j`` (m, r) of V (n, r) at each query."""
        if is_many(self.inputs):
            return _average_nearby(self, Q, V, n_jobs)

        def one(rows: slice) -> Array:
            candidates, W, _ = self.weights_and_bandwidths(Q[rows], n_jobs=1)
            return list_weighted_mean(W, V, candidates)

        wide = max(self.lists.shape[1] * max(V.shape[1], self.inputs.shape[1]), len(self.inputs))
        tile = max(1, min(512, _BUDGET // max(wide, 1)))
        return np.concatenate(run_tiles(one, spans(len(Q), tile), n_jobs))

    def matrix(self, Q: Array) -> Array:
        """Dense weights (m, n) of all training rows; the caller passes few queries at a time to save memory."""
        candidates, W, _ = self.weights_and_bandwidths(Q, n_jobs=1)
        return _scattered(W, candidates, len(self.inputs))

    def leave_one_out(self, V: Array, rows: Array | None = None, n_jobs: int | None = 1) -> Array:
        """Leave-one-out means ``Σ_{j≠i} w_j(a_i) V_j`` of the training rows (n, r), or of ``rows`` only."""
        del n_jobs  # lists are short
        inputs, lists = (self.inputs, self.lists) if rows is None else (self.inputs[rows], self.lists[rows])
        D = distances_to_listed(inputs, self.inputs, lists)
        return list_weighted_mean(perplexity_rows(D**2, self.perplexity)[0], V, lists)


@dataclass(frozen=True)
class PrecomputedWeights:
    """Adaptive weights for precomputed distances: a query is a row of distances to all or to some training rows."""

    n_candidates: int
    perplexity: float

    @classmethod
    def of_few(cls, n: int) -> PrecomputedWeights:
        """Default weights: the 15 nearest of n training rows at perplexity 5, less with few rows; not tuned."""
        return cls(min(_FEW_CANDIDATES, n), min(_FEW_PERPLEXITY, n / 2))

    def average(self, Q: Array | SparseDistances, V: Array, n_jobs: int | None = None) -> Array:
        """Weighted means ``Σ_j w_j(q) V_j`` (m, r) for rows of distances."""
        del n_jobs
        found = self.near(Q)
        return list_weighted_mean(self.weigh_squares(found.distance**2), V, found.index)

    def matrix(self, Q: Array | SparseDistances) -> Array:
        """Dense weights (m, n) of all training rows; the caller passes few queries at a time to save memory."""
        found = self.near(Q)
        return _scattered(self.weigh_squares(found.distance**2), found.index, Q.shape[1])

    def near(self, Q: Array | SparseDistances) -> Neighbours:
        """The nearest training rows of each query, nearest first."""
        return nearest_known(Q, k=self.n_candidates, own=False)

    def weigh_squares(self, D2: Array) -> Array:
        """Weights (m, k) from squared distances."""
        return perplexity_rows(D2, self.perplexity)[0]


def kept_lists(lists: Array, perplexity: float) -> Array:
    """Neighbour lists (n, k) cut to 3 times the perplexity (at least 30), as int32, to save memory."""
    return np.ascontiguousarray(lists[:, : max(_FEWEST, round(3 * perplexity))], dtype=np.int32)


Answer = Callable[[Array, Array], Array]
"""Function ``answer(Q, near)`` -> (m, r) for m queries and their nearest rows, as found by the weights."""


def answers_by_map_tile(
    weights: FixedWeights | AdaptiveWeights,
    Q: Array,
    out: Array,
    answer: Answer,
    tile: int,
    n_jobs: int | None,
    find: Callable[[Array, int | None], Array] | None = None,
) -> Array:
    """Evaluate ``answer`` on tiles of queries, sorted so that a tile has nearby queries (cache locality).

    Parameters
    ----------
    weights : FixedWeights or AdaptiveWeights
    Q : array of shape (m, d)
        Queries.
    out : array of shape (m, r)
        Filled with the results.
    answer : callable
        ``(queries, nearest rows) -> results``.
    tile : int
        Queries per tile.
    n_jobs : int or None
        Threads.
    find : callable or None
        ``(Q, n_jobs) -> `` nearest rows of each query, nearest first; None: ``weights.near``.

    Returns
    -------
    out
    """
    place, find = weights.search.place, find or weights.near
    for chunk in spans(len(Q), _CHUNK):
        near = find(Q[chunk], n_jobs)
        order = np.argsort(place[near[:, 0]], kind="stable")

        def one(rows: slice, near: Array = near, order: Array = order, first: int = chunk.start) -> None:
            at = order[rows]
            out[first + at] = answer(Q[first + at], near[at])

        run_tiles(one, spans(len(near), max(1, tile)), n_jobs)
    return out


def _average_nearby(weights: FixedWeights | AdaptiveWeights, Q: Array, V: Array, n_jobs: int | None) -> Array:
    """Weighted means ``Σ_j w_j(q) V_j`` (m, r) over the rows near each query, in the dtype of ``V``."""
    out = np.empty((len(Q), V.shape[1]), dtype=V.dtype)

    def answer(Q: Array, near: Array) -> Array:
        index, W = weights.listed(Q, near)
        return list_weighted_mean(W, V, index)

    return answers_by_map_tile(weights, Q, out, answer, SHARED, n_jobs)


def list_weighted_mean(W: Array, V: Array, lists: Array) -> Array:
    """Weighted means over neighbour lists, ``Σ_l W[i, l] V[lists[i, l]]`` (m, r), in the dtype of ``V``."""
    W = W.astype(V.dtype, copy=False)  # else a product with float32 outputs would copy all of them
    return np.asarray(_by_rows(W, lists, len(V)) @ V)


def _scattered(W: Array, lists: Array, n: int) -> Array:
    """Weights on lists (m, k) as a dense matrix (m, n)."""
    return np.asarray(_by_rows(W, lists, n).toarray())  # duplicates in a list are summed


def _by_rows(W: Array, lists: Array, n: int) -> csr_array:
    m, k = W.shape
    return csr_array((W.ravel(), lists.ravel(), np.arange(0, m * k + 1, k)), shape=(m, n))

"""Weights of the training rows for a query: what every kernel map is made of.

    fixed     w_j(a) ∝ k(|a - a_j|² / h) over every training row
    adaptive  w_j(a) ∝ exp(-β(a) |a - a_j|²) over the rows near the query, β(a) such that the perplexity is as asked

Adaptive weights look at the query's nearest training row and then at that row's neighbour list. With lists taken
along the data (``kernels.graph``) a query on one layer of a rolled sheet never sees the layer beside it.
A row's answer does not depend on the other rows of the call.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from sidelight.kernels.bandwidths import perplexity_rows
from sidelight.kernels.distances import bounded, padded_product, squared_distances
from sidelight.kernels.neighbours import listed_distances, nearest, nearest_precomputed
from sidelight.kernels.profiles import profile
from sidelight.kernels.tiles import run_tiles, spans

__all__ = ["AdaptiveWeights", "FixedWeights", "PrecomputedWeights", "listed_average"]

Array = npt.NDArray[Any]
_BUDGET = 2_000_000  # numbers in the temporaries of one tile


@dataclass(frozen=True)
class FixedWeights:
    """One bandwidth for all: ``w_j(a) ∝ k(|a - a_j|² / bandwidth)``."""

    inputs: Array
    bandwidth: float
    kernel: str = "gaussian"

    def average(self, Q: Array, V: Array, n_jobs: int | None = None) -> Array:
        """``Σ_j w_j(q) V_j`` for each query (m, r)."""

        def one(rows: slice) -> Array:
            return padded_product(self.matrix(Q[rows]), V)

        tile = max(8, _BUDGET // max(len(self.inputs), 1))
        return np.concatenate(run_tiles(one, spans(len(Q), tile), n_jobs))

    def matrix(self, Q: Array) -> Array:
        """The weights of every training row (m, n), for queries that the caller cuts into tiles."""
        return self._weights(squared_distances(Q, self.inputs))

    def leave_one_out(self, V: Array) -> Array:
        """``Σ_{j≠i} w_j(a_i) V_j`` for the training rows (n, r)."""
        n = len(self.inputs)
        out = np.empty((n, V.shape[1]))
        for rows in spans(n, max(8, _BUDGET // n)):
            R = squared_distances(self.inputs[rows], self.inputs)
            R[np.arange(len(R)), np.arange(rows.start, rows.stop)] = np.inf
            out[rows] = self._weights(R) @ V
        return out

    def _weights(self, R: Array) -> Array:
        """Rows that sum to 1; where every kernel value vanishes the nearest row answers."""
        logs = profile(self.kernel).log_value(R / self.bandwidth)
        top = logs.max(axis=1, keepdims=True)
        lost = ~np.isfinite(top[:, 0])
        if lost.any():
            logs[lost] = np.where(R[lost] == R[lost].min(axis=1, keepdims=True), 0.0, -np.inf)
            top[lost] = 0.0
        W = np.exp(logs - top)
        return np.asarray(W / W.sum(axis=1, keepdims=True))


@dataclass(frozen=True)
class AdaptiveWeights:
    """Each query its own bandwidth: ``perplexity`` of its weights on the list of its nearest training row."""

    inputs: Array
    lists: Array
    perplexity: float

    def weigh(self, Q: Array, n_jobs: int | None = None) -> tuple[Array, Array, Array]:
        """Candidates (m, k + 1), their weights, and the bandwidths (m,)."""
        Q = bounded(Q)
        anchor = nearest(self.inputs, Q, k=1, n_jobs=n_jobs).index
        candidates = np.column_stack([anchor, self.lists[anchor[:, 0]]])
        W, bandwidth = perplexity_rows(listed_distances(Q, self.inputs, candidates) ** 2, self.perplexity)
        return candidates, W, bandwidth

    def average(self, Q: Array, V: Array, n_jobs: int | None = None) -> Array:
        """``Σ_j w_j(q) V_j`` for each query (m, r)."""

        def one(rows: slice) -> Array:
            candidates, W, _ = self.weigh(Q[rows], n_jobs=1)
            return listed_average(W, V, candidates)

        wide = max(self.lists.shape[1] * max(V.shape[1], self.inputs.shape[1]), len(self.inputs))
        tile = max(1, min(512, _BUDGET // max(wide, 1)))
        return np.concatenate(run_tiles(one, spans(len(Q), tile), n_jobs))

    def matrix(self, Q: Array) -> Array:
        """The weights of every training row (m, n), for queries that the caller cuts into tiles."""
        candidates, W, _ = self.weigh(Q, n_jobs=1)
        return _scattered(W, candidates, len(self.inputs))

    def leave_one_out(self, V: Array) -> Array:
        """``Σ_{j≠i} w_j(a_i) V_j`` for the training rows (n, r)."""
        D = listed_distances(self.inputs, self.inputs, self.lists)
        return listed_average(perplexity_rows(D**2, self.perplexity)[0], V, self.lists)


@dataclass(frozen=True)
class PrecomputedWeights:
    """Adaptive weights where a query *is* its row of distances to the training rows."""

    n_candidates: int
    perplexity: float

    def average(self, Q: Array, V: Array, n_jobs: int | None = None) -> Array:
        """``Σ_j w_j(q) V_j`` for each row of distances (m, r)."""
        del n_jobs
        W, candidates = self._weigh(Q)
        return listed_average(W, V, candidates)

    def matrix(self, Q: Array) -> Array:
        """The weights of every training row (m, n), for queries that the caller cuts into tiles."""
        W, candidates = self._weigh(Q)
        return _scattered(W, candidates, Q.shape[1])

    def _weigh(self, Q: Array) -> tuple[Array, Array]:
        found = nearest_precomputed(Q, k=self.n_candidates, own=False)
        return perplexity_rows(found.distance**2, self.perplexity)[0], found.index


def listed_average(W: Array, V: Array, lists: Array) -> Array:
    """``Σ_l W[i, l] V[lists[i, l]]`` (m, r), each row by itself."""
    m, k = W.shape
    rows = csr_array((W.ravel(), lists.ravel(), np.arange(0, m * k + 1, k)), shape=(m, len(V)))
    return np.asarray(rows @ V)


def _scattered(W: Array, lists: Array, n: int) -> Array:
    """Weights on lists (m, k) as rows of length n."""
    out = np.zeros((len(W), n))
    np.put_along_axis(out, lists, W, axis=1)
    return out

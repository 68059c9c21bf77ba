r"""Embed new rows into a fitted embedding (multilevel solver): minimise the objective over the new latent point only.

A new row, with weights p_j on its neighbours among the fitted rows (Σ_j p_j = 1), adds to N times ``objectives.bound``

    f(z) = 2a Σ_j p_j (-log k(|z - z_j|²)) + φ(z),       φ(z) = log(1 + s(z)) + Σ_j k(|z - z_j|²) / s(z_j)

p_j as in the fit: the perplexity of the data kernel on neighbour lists of the same length. The 2 is there because the
fit counts a pair in both directions; φ is in ``kernels.repulsion``. The fitted latent points are fixed, so f is a
function of q numbers for each row, and rows are independent: a row's result does not depend on its batch.

f has a local minimum for each group among the neighbours, and the mean of the neighbours may lie between them. So the
initial point is the best of the mean and the latent points of the nearest rows. A step is z - t ∇f / c, with

    c = 4a Σ_j p_j u_j,     u = -d log k / d(r²)         (t = 1: attraction alone reaches its minimum, or nears it)

and a step length t for each row, which grows after a success and shrinks after a failure. New points stay within the
bounding box of the fitted ones. Pairs are computed in float32, as in the fit. Cost: O(k q) per row and step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.base.tiles import run_tiles, spans, sum_in_order
from sidelight.kernels.bandwidths import quick_rows
from sidelight.kernels.profiles import GAUSSIAN, Profile
from sidelight.kernels.repulsion import Table
from sidelight.neighbours.distances import bounded
from sidelight.neighbours.prepared_rows import PreparedRows, kept_rows
from sidelight.neighbours.search import Neighbours, nearest

from .nearby import RowSearch, is_many, row_search

__all__ = ["NewPointEmbedder"]

Array = npt.NDArray[Any]
Share = Callable[[Array], tuple[Array, Array, Array]]
_ROWS = 2048  # rows per tile
_STARTS = 3  # nearest rows tried as initial points, besides the mean
_STEPS = 8
_LONGER, _SHORTER, _LONGEST = 1.5, 0.4, 2.0


@dataclass(frozen=True)
class NewPointEmbedder:
    """Map from new rows (m, d) to latent points (m, q).

    Parameters
    ----------
    inputs : array of shape (n, d)
        Fitted rows.
    places : array of shape (n, q)
        Their latent points.
    table : Table
        The repulsion φ, tabulated.
    profile : Profile
        Of the latent kernel.
    n_neighbors : int
        Length of neighbour lists.
    perplexity : float
        Of the weights p_j.
    attraction : float
        The weight a.
    """

    inputs: Array
    places: Array
    table: Table
    profile: Profile
    n_neighbors: int
    perplexity: float
    attraction: float

    @cached_property
    def search(self) -> RowSearch:
        """Nearest-neighbour index of the inputs, for many rows."""
        return row_search(self.inputs)

    @cached_property
    def prepared(self) -> PreparedRows | None:
        """The inputs as the exact search needs them, for few rows."""
        return kept_rows(self.inputs)

    def __call__(self, Q: Array, n_jobs: int | None = None) -> Array:
        """Latent points (m, q) of rows (m, d), each row independently."""
        near = self._near(Q, n_jobs)

        def one(part: slice) -> Array:
            P = quick_rows(near.distance[part] ** 2, self.perplexity)
            return self._settled(P.astype(np.float32), self.places[near.index[part]].astype(np.float32))

        return np.concatenate(run_tiles(one, spans(len(Q), _ROWS), n_jobs))

    def share(self, Z: Array, P: Array, L: Array) -> tuple[Array, Array, Array]:
        """``f`` (m,), its gradient (m, q) and ``c`` (m,) at Z (m, q).

        P (m, k) are the weights of the neighbours, L (m, k, q) their latent points.
        """
        apart = [Z[:, d, None].astype(L.dtype) - L[:, :, d] for d in range(Z.shape[1])]
        R = sum_in_order([difference * difference for difference in apart])
        value, grad = self.table.value_and_grad(Z)
        value -= 2 * self.attraction * (P * self.profile.log_value(R)).sum(axis=1)
        W = P if self.profile is GAUSSIAN else P * self.profile.value(R)
        pulled = np.column_stack([(W * difference).sum(axis=1) for difference in apart])
        return value, grad + 4 * self.attraction * pulled, 4 * self.attraction * W.sum(axis=1)

    def _near(self, Q: Array, n_jobs: int | None) -> Neighbours:
        if is_many(self.inputs):
            return self.search.nearest(Q, self.n_neighbors, n_jobs)
        return nearest(self.inputs, bounded(Q), k=self.n_neighbors, n_jobs=n_jobs, prepared=self.prepared)

    def _settled(self, P: Array, L: Array) -> Array:
        mean = np.column_stack([(P * L[:, :, d]).sum(axis=1) for d in range(L.shape[2])])
        starts = [self._within(Z) for Z in (mean, *(L[:, k] for k in range(min(_STARTS, L.shape[1]))))]
        best = np.argmin([self.share(Z, P, L)[0] for Z in starts], axis=0)
        return _descended(lambda Z: self.share(Z, P, L), np.stack(starts)[best, np.arange(len(P))], self._within)

    def _within(self, Z: Array) -> Array:
        return np.asarray(np.clip(Z, self.table.low, self.table.high))


def _descended(share: Share, Z: Array, within: Callable[[Array], Array]) -> Array:
    """Eight gradient steps with a step length per row; a row keeps a step only if its value decreases."""
    value, grad, curvature = share(Z)
    length = np.ones(len(Z))
    for _ in range(_STEPS):
        tried = within(Z - (length / np.maximum(curvature, 1e-12))[:, None] * grad)
        found = share(tried)
        better = found[0] < value
        value, curvature = np.where(better, found[0], value), np.where(better, found[2], curvature)
        Z, grad = np.where(better[:, None], tried, Z), np.where(better[:, None], found[1], grad)
        length = np.where(better, np.minimum(_LONGER * length, _LONGEST), _SHORTER * length)
    return Z

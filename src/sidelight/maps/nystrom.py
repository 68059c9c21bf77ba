"""Nyström extension: coordinates of new rows in a hybrid spectral embedding, by its eigenvector equation.

At a training row i the eigenvector v of ``(1-α) s M - (α/2) L`` with eigenvalue μ obeys

    Laplacian  μ v_i = (1-α) s Σ_j M_ij v_j - (α/2) (r_i v_i - Σ_j w_ij v_j)        r_i = Σ_j w_ij
    LLE        the same with r_i = 1 and the weights that reconstruct row i (rows that i reconstructs left out)

For a new row x, with its row of M and its weights w, this is solved for ``v(x)``:

    v(x) = ((1-α) s m(x)·v + (α/2) Σ_j w_j(x) v_j) / (μ + (α/2) r(x))
    m(x)·v = x·G                            Euclidean distances
             -½ (d²(x) - mean d²)·G - c     geodesic distances to L landmark rows

The neighbours of x are its nearest training row and the graph neighbours of that row, so that training rows are mapped
to their own coordinates. α = 0 is the projection of PCA or Isomap; α → 1 is that of LLE.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.base.tiles import run_tiles, spans
from sidelight.neighbours.distances import padded_product
from sidelight.neighbours.search import distances_to_listed, nearest
from sidelight.objectives.spectral import reconstruction_weights

from .weights import list_weighted_mean

__all__ = ["NystromMap"]

Array = npt.NDArray[Any]
_BUDGET = 4_000_000
_FAR = 1e120


@dataclass(frozen=True)
class NystromMap:
    """Map from rows (m, d) to coordinates ``scale · v(x)`` (m, q); v are the eigenvectors at ``points`` (n, d)."""

    points: Array
    vectors: Array
    values: Array
    scale: Array
    gain: Array
    offset: Array
    paths: Array
    """Geodesic distances (L, n) from L landmark rows to all rows; (0, n) for Euclidean distances."""
    constant: Array
    pull: float
    """α/2."""
    locality: str
    heat: float
    """Bandwidth of the Laplacian's edge weights; 0: all weights are 1."""
    lists: Array
    """Neighbours (n, k) of each row in the graph, -1 where it has fewer."""
    n_neighbors: int
    """Neighbours of a query in LLE; 0: the nearest row and its graph neighbours."""

    def __call__(self, Q: Array, n_jobs: int | None = None) -> Array:
        """Coordinates (m, q) of rows (m, d), each row independently."""
        wide = max(len(self.points), self.lists.shape[1] * self.points.shape[1], len(self.paths), 1)
        tiles = [Q[rows] for rows in spans(len(Q), max(1, min(512, _BUDGET // wide)))]
        return np.concatenate(run_tiles(self._one, tiles, n_jobs))

    def _one(self, Q: Array) -> Array:
        Q = np.clip(Q, -_FAR, _FAR)
        index, distance, there = self._candidates(Q)
        if self.locality == "lle":
            near, listed = index, np.where(there, index, -1)
            if self.n_neighbors:
                near = listed = nearest(self.points, Q, k=self.n_neighbors, n_jobs=1).index
            degree, pulled = 1.0, list_weighted_mean(reconstruction_weights(self.points, listed, Q), self.vectors, near)
        else:
            W = np.where(there, np.exp(-(distance**2) / self.heat) if self.heat else 1.0, 0.0)
            degree, pulled = W.sum(axis=1, keepdims=True), list_weighted_mean(W, self.vectors, index)
        told = self._distances(Q, index, np.where(there, distance, np.inf)) + self.pull * pulled
        below = self.values + self.pull * degree
        fine = below > 1e-9 * np.abs(self.values).max(initial=1e-300)
        return np.asarray(np.where(fine, told / np.where(fine, below, 1.0), 0.0) * self.scale)

    def _candidates(self, Q: Array) -> tuple[Array, Array, Array]:
        """Candidates (m, k + 1): the nearest row and its graph neighbours; their distances, and which exist.

        The query's own nearest rows are not used: they could lie on the next layer of a rolled sheet, to which the
        graph has no edge.
        """
        anchor = nearest(self.points, Q, k=1, n_jobs=1).index
        listed = self.lists[anchor[:, 0]]
        there = np.column_stack([np.ones(len(Q), dtype=bool), listed >= 0])
        index = np.column_stack([anchor, np.where(listed >= 0, listed, anchor)])
        return index, distances_to_listed(Q, self.points, index), there

    def _distances(self, Q: Array, index: Array, distance: Array) -> Array:
        """``(1-α) s m(x)·v`` for each query (m, q)."""
        if not len(self.paths):
            return padded_product(Q - self.offset, self.gain)
        reach = np.full((len(Q), len(self.paths)), np.inf)
        for column in range(index.shape[1]):
            np.minimum(reach, self.paths[:, index[:, column]].T + distance[:, column, None], out=reach)
        return np.asarray(-0.5 * padded_product(reach**2 - self.offset, self.gain) - self.constant)

"""Graph coarsening for the multilevel solver: a hierarchy of ever smaller kernel graphs.

A coarser level merges every row with the *seed* it is most strongly linked to. Seeds are a maximal independent set of
the graph of strongest links, so every row is linked to a seed and no two seeds are linked. A merged row has the summed
weight of its members, and the kernel between merged rows is the sum over members, R' K R. Minimising an objective over
merged rows is thus minimising it over all rows with the members of each merged row at the same latent point.

The independent set is found in rounds from random priorities drawn once: a row with the highest priority among its
undecided neighbours becomes a seed, and its neighbours do not (Luby 1986). A round takes O(links); about log n rounds.
Cost: O(nnz log n) time and O(nnz) memory for all levels together, as each level has a fraction of the previous rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array, csr_array

from sidelight.base.types import Array, SparseMatrix

__all__ = ["Level", "coarsened", "levels_of", "merged", "prolonged"]


_STRONGEST = 8  # links per row in the graph of strongest links: levels shrink by a factor of about five
_SEED = 0
_STUCK = 0.8  # stop coarsening if a level would keep more than this share of the rows


@dataclass(frozen=True)
class Level:
    """One level of the hierarchy.

    Parameters
    ----------
    kernel : sparse array of shape (m, m)
    weights : array of shape (m,)
        Number of original rows in each merged row.
    parent : array of shape (m,) or None
        Row of the next coarser level that each row is merged into; None at the coarsest level.
    """

    kernel: SparseMatrix
    weights: Array
    parent: Array | None = None

    @property
    def n(self) -> int:
        """Number of rows m of this level."""
        return len(self.weights)


def levels_of(K: SparseMatrix, smallest: int) -> list[Level]:
    """Coarsen a symmetric kernel graph (n, n), finest level first.

    It ends at ``smallest`` rows or fewer, or where a further level would hardly have fewer rows.
    """
    levels, weights = [], np.ones(K.shape[0])
    while K.shape[0] > smallest and K.nnz:
        parent = coarsened(K)
        if parent.max() + 1 > _STUCK * K.shape[0]:
            break
        levels.append(Level(K, weights, parent))
        K, weights = merged(K, parent), np.asarray(np.bincount(parent, weights=weights), dtype=np.float64)
    return [*levels, Level(K, weights)]


def coarsened(K: SparseMatrix) -> Array:
    """One coarsening step: the merged row (n,) of each row of K (n, n), numbered in the order of the seeds."""
    seeds = _seeds(_strong_links(K))
    parent = np.where(seeds, np.cumsum(seeds) - 1, -1)
    rows = np.repeat(np.arange(K.shape[0]), np.diff(K.indptr))
    while (parent < 0).any():
        useful = (parent[rows] < 0) & (parent[K.indices] >= 0)
        best = _row_argmax(np.where(useful, K.data, -1.0), K.indptr)
        found = best >= 0
        if not found.any():  # rows without a path to a seed are not merged
            alone = np.flatnonzero(parent < 0)
            parent[alone] = parent.max() + 1 + np.arange(len(alone))
            break
        parent[found] = parent[K.indices[best[found]]]
    return parent


def merged(K: SparseMatrix, parent: Array) -> SparseMatrix:
    """Coarse kernel ``R' K R`` (m, m) without its diagonal, as distances within a merged row are 0."""
    n, m = len(parent), int(parent.max()) + 1
    R = csr_array((np.ones(n, dtype=K.data.dtype), parent, np.arange(n + 1)), shape=(n, m))
    small = csr_array(R.T @ (K @ R)).tocoo()
    off = small.row != small.col
    out = csr_array(coo_array((small.data[off], (small.row[off], small.col[off])), shape=(m, m)))
    out.sort_indices()
    return out


def prolonged(level: Level, Z: Array) -> Array:
    """Prolongation: latent coordinates (n, q) on a level from those of its merged rows (m, q).

    Each row takes half the coordinates of its merged row and half the kernel-weighted mean over its neighbours.
    """
    assert level.parent is not None
    own = Z[level.parent]
    degree = level.kernel @ np.ones(level.n)
    near = np.where(degree[:, None] > 0, (level.kernel @ own) / np.where(degree > 0, degree, 1.0)[:, None], own)
    return np.asarray(0.5 * own + 0.5 * near)


def _strong_links(K: SparseMatrix) -> SparseMatrix:
    """Graph of the 8 strongest links of each row, symmetrised."""
    n, rows = K.shape[0], np.repeat(np.arange(K.shape[0]), np.diff(K.indptr))
    left, found = K.data.copy(), []
    for _ in range(_STRONGEST):  # as many maxima of each row: a sort of its links takes several times as long
        best = _row_argmax(left, K.indptr)
        found.append(best[best >= 0])
        left[found[-1]] = -1.0
    kept = np.concatenate(found)
    one, other = rows[kept], np.asarray(K.indices[kept], dtype=np.int64)
    ends = np.concatenate([one, other]), np.concatenate([other, one])
    return csr_array(coo_array((np.ones(len(ends[0]), dtype=np.int32), ends), shape=(n, n)))


def _seeds(graph: SparseMatrix) -> Array:
    """Maximal independent set (n,) of the graph as booleans; priorities come from a fixed random seed."""
    n = graph.shape[0]
    priority = np.random.default_rng(_SEED).permutation(n) + 1
    undecided, seeds = np.ones(n, dtype=bool), np.zeros(n, dtype=bool)
    while undecided.any():
        alive = np.where(undecided, priority, 0)
        chosen = undecided & (priority > _row_max(alive[graph.indices], graph.indptr))
        seeds |= chosen
        undecided &= ~chosen & ~(_row_max(chosen[graph.indices].astype(np.int8), graph.indptr) > 0)
    return seeds


def _row_max(values: Array, indptr: Array) -> Array:
    """Largest stored value of each row of a CSR matrix; -1 for an empty row."""
    held = np.diff(indptr) > 0
    out = np.full(len(held), -1, dtype=values.dtype)
    if held.any():
        out[held] = np.maximum.reduceat(values, indptr[:-1][held])
    return out


def _row_argmax(values: Array, indptr: Array) -> Array:
    """Position of the largest stored value of each row of a CSR matrix, the first of ties; -1 if none is above -1."""
    counts, top = np.diff(indptr), _row_max(values, indptr)
    places = np.flatnonzero((values == np.repeat(top, counts)) & (values > -1))
    rows = np.repeat(np.arange(len(counts)), counts)[places]
    first = np.flatnonzero(np.r_[True, rows[1:] != rows[:-1]]) if len(rows) else rows
    out = np.full(len(counts), -1, dtype=np.int64)
    out[rows[first]] = places[first]
    return out

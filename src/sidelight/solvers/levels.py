"""From coarse to fine: rows of a kernel graph merged with their neighbours, again and again.

A level merges every row with the *seed* nearest to it in the graph. Seeds are an independent set of the graph of the
strongest links (no two of them linked) that cannot be enlarged, so each row is linked to one. Merged rows have the
weight of their members, and the kernel between them is the sum over members, R' K R: minimising an objective over
merged rows is minimising it over all rows with the members of each at one place.

Who is a seed is decided by priorities drawn once, in rounds: the undecided row whose priority is the highest among its
undecided neighbours becomes one, and its neighbours do not (Luby 1986). A round takes O(links), and about log n do.
Cost: O(nnz log n) time, O(nnz) memory for all levels together, as each has a fraction of the rows of the one before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array, csr_array

__all__ = ["Level", "coarsened", "levels_of", "merged", "prolonged"]

Array = npt.NDArray[Any]
_STRONGEST = 8  # links of a row that decide with whom it may merge: levels shrink by about five
_SEED = 0
_STUCK = 0.8  # a level that keeps more than this share of the rows is not worth it


@dataclass(frozen=True)
class Level:
    """A kernel (m, m), the weight of each merged row (m,), and the row (m,) of the next coarser level it becomes."""

    kernel: csr_array
    weights: Array
    parent: Array | None = None

    @property
    def n(self) -> int:
        """Rows."""
        return len(self.weights)


def levels_of(K: csr_array, smallest: int) -> list[Level]:
    """The levels of a symmetric kernel graph, finest first, down to at most ``smallest`` merged rows."""
    levels, weights = [], np.ones(K.shape[0])
    while K.shape[0] > smallest and K.nnz:
        parent = coarsened(K)
        if parent.max() + 1 > _STUCK * K.shape[0]:
            break
        levels.append(Level(K, weights, parent))
        K, weights = merged(K, parent), np.asarray(np.bincount(parent, weights=weights), dtype=np.float64)
    return [*levels, Level(K, weights)]


def coarsened(K: csr_array) -> Array:
    """The merged row (n,) of each row, numbered in the order of their seeds."""
    seeds = _seeds(_strong_links(K))
    parent = np.where(seeds, np.cumsum(seeds) - 1, -1)
    rows = np.repeat(np.arange(K.shape[0]), np.diff(K.indptr))
    while (parent < 0).any():
        useful = (parent[rows] < 0) & (parent[K.indices] >= 0)
        best = _row_argmax(np.where(useful, K.data, -1.0), K.indptr)
        found = best >= 0
        if not found.any():  # rows without links stay as they are
            alone = np.flatnonzero(parent < 0)
            parent[alone] = parent.max() + 1 + np.arange(len(alone))
            break
        parent[found] = parent[K.indices[best[found]]]
    return parent


def merged(K: csr_array, parent: Array) -> csr_array:
    """``R' K R`` without its diagonal: a merged row has no distance to itself."""
    n, m = len(parent), int(parent.max()) + 1
    R = csr_array((np.ones(n, dtype=K.data.dtype), parent, np.arange(n + 1)), shape=(n, m))
    small = csr_array(R.T @ (K @ R)).tocoo()
    off = small.row != small.col
    out = csr_array(coo_array((small.data[off], (small.row[off], small.col[off])), shape=(m, m)))
    out.sort_indices()
    return out


def prolonged(level: Level, Z: Array) -> Array:
    """Places (n, q) of the rows of a level from those of its merged rows: half their own, half their neighbours'."""
    assert level.parent is not None
    own = Z[level.parent]
    degree = level.kernel @ np.ones(level.n)
    near = np.where(degree[:, None] > 0, (level.kernel @ own) / np.where(degree > 0, degree, 1.0)[:, None], own)
    return np.asarray(0.5 * own + 0.5 * near)


def _strong_links(K: csr_array) -> csr_array:
    """The graph of each row's strongest links, both ways."""
    n, counts = K.shape[0], np.diff(K.indptr)
    rows = np.repeat(np.arange(n), counts)
    order = np.lexsort((-K.data, rows))
    kept = order[np.arange(K.nnz) - np.repeat(K.indptr[:-1], counts) < _STRONGEST]
    one, other = rows[kept], np.asarray(K.indices[kept], dtype=np.int64)
    ends = np.concatenate([one, other]), np.concatenate([other, one])
    return csr_array(coo_array((np.ones(len(ends[0]), dtype=np.int32), ends), shape=(n, n)))


def _seeds(graph: csr_array) -> Array:
    """A maximal independent set (n,), by the same priorities every time."""
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
    """The largest value of each row, and -1 of a row that has none."""
    held = np.diff(indptr) > 0
    out = np.full(len(held), -1, dtype=values.dtype)
    if held.any():
        out[held] = np.maximum.reduceat(values, indptr[:-1][held])
    return out


def _row_argmax(values: Array, indptr: Array) -> Array:
    """Where the largest value of each row is stored, the first if several; -1 where no value is above -1."""
    counts, top = np.diff(indptr), _row_max(values, indptr)
    places = np.flatnonzero((values == np.repeat(top, counts)) & (values > -1))
    rows, first = np.unique(np.repeat(np.arange(len(counts)), counts)[places], return_index=True)
    out = np.full(len(counts), -1, dtype=np.int64)
    out[rows] = places[first]
    return out

"""Approximate nearest neighbours: rows in cells, and each query searched in the cells that lie nearest to it.

    home     the cell whose mean is nearest, and the cells around it: one product gives a bound, the distance of the
             k-th nearest row there
    probes   the ``n_probes`` further cells with the smallest |q - mean|² - spread²/4: a wide cell reaches further, and
             without this the probes of rows around a dense lump all end in the lump. Queries that probe the same cell
             share a product, and only rows nearer than the bound are looked at
    measure  what is left, from differences, in all columns

Beyond 64 columns the search is in the leading principal components (``reduction``) and half as many rows again
are measured. The answer is a function of the query, the rows and the seed: it does not depend on the number of
threads, nor on the other queries (``candidates``). Found are exactly the nearest rows of the cells searched
(up to 64 columns); ties go to the lower row number among them. Queries from very far are looked up nearer
(``neighbours.reach``); their distances are their own.
Cost: O(n (c + n_probes · s) r) for c cells of s rows, r columns; memory O(n r) and a block of queries.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.base.tiles import one_blas_thread, run_tiles, spans

from .candidates import product_error
from .cell_anchors import Anchors
from .cell_search import Block, prepared, relative, squared_norms
from .cells import Cells, cell_size, cells_of
from .distances import bounded
from .reach import Reach
from .reduction import Reduction, reduction
from .search import Neighbours, listed_distances

__all__ = ["CellIndex"]

Array = npt.NDArray[Any]

_BLOCK = 4096  # queries that are searched together
_LIST = 192  # cells around a cell among which its rows choose their probes
_WIDEST = 1e6  # squared radius of a cell, times that of most, beyond which float32 would lose the narrow ones
_PROBES = 20


class CellIndex:
    """The rows of ``X`` sorted into cells, ready to be searched.

    Parameters
    ----------
    X : array of shape (n, d)
        Rows; kept as they are (no copy of a float array is made), because distances are measured in them.
    n_probes : int
        Cells searched for each query, besides those around its home.
    size : int or None
        Rows of a cell, on average.
    seed : int
        Of the sample that cells and components are found from.
    n_jobs : int or None
        Threads of the building; the index does not depend on it.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(1000, 3))
    >>> found = CellIndex(X).nearest(X[:2] + 1e-3, k=1)
    >>> found.index.ravel()
    array([0, 1])
    """

    @one_blas_thread
    def __init__(
        self,
        X: Array,
        *,
        n_probes: int = _PROBES,
        size: int | None = None,
        seed: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.X = X if X.dtype in (np.float32, np.float64) else np.asarray(X, dtype=np.float64)
        self.n_probes = n_probes
        self.reach = Reach(self.X)
        self.reduction: Reduction = reduction(self.X, seed=seed)
        P = self.reduction(self.X, n_jobs)
        cells: Cells = cells_of(P, size=size or cell_size(len(P)), seed=seed, n_jobs=n_jobs)
        self.order, self.start, self.means = cells.order, cells.start, cells.means
        self.rank = np.argsort(self.order)
        self.P = P[self.order]
        self.scale = self.reduction.scale
        self.widest = float(np.sqrt(squared_norms(self.P).max()))
        self.spread = self._spread()
        self.beacons = self._beacons()
        self.around = self._lists(n_jobs)

    @property
    def reduced(self) -> bool:
        """Whether the search is in fewer columns than the data has."""
        return self.reduction.V is not None

    @one_blas_thread
    def nearest(self, queries: Array | None = None, *, k: int, n_jobs: int | None = None) -> Neighbours:
        """The ``k`` rows nearest to each query; without queries, to each row but itself. Nearly always all of them."""
        own = queries is None
        k = min(k, len(self.X) - own)
        if queries is None:
            Q, P, sorting = self.X, self.P, self.order
            home = np.repeat(np.arange(len(self.means)), np.diff(self.start))
        else:
            Q = self.reach.within(queries)
            P = self.reduction(Q, n_jobs)
            home = self.home(P, n_jobs)
            sorting = np.argsort(home, kind="stable")
            P, home = P[sorting], home[sorting]
        index = np.empty((len(Q), k), dtype=np.int64)
        distance = np.empty((len(Q), k))

        def one(rows: slice) -> None:
            block = Block(self, P[rows], home[rows], Q[sorting[rows]], rows.start if own else None)
            index[sorting[rows]], distance[sorting[rows]] = block.nearest(k)

        run_tiles(one, spans(len(Q) if k else 0, _BLOCK), n_jobs)
        if queries is not None:
            far = self.reach.beyond(queries)
            own_distance = listed_distances(bounded(queries[far].astype(np.float64)), self.X, index[far])
            distance[far] = np.maximum.accumulate(own_distance, axis=1)  # rounded, it may lose its order
        return Neighbours(index, distance)

    @one_blas_thread
    def anchors(self, queries: Array, *, n_jobs: int | None = None) -> Array:
        """The row nearest to each query (m,), more often missed than by ``nearest`` and in a third of the time.

        It is meant for a walk through neighbour lists, which mends most of what is missed. Of more than 64 columns,
        where cells are searched in fewer, it is what ``nearest`` finds.
        """
        if self.reduced:
            return self.nearest(queries, k=1, n_jobs=n_jobs).index[:, 0]
        Q = self.reach.within(queries)
        return Anchors(self, Q, self.reduction(Q, n_jobs), n_jobs).rows()

    def _spread(self) -> Array:
        """The mean squared radius of each cell (c,)."""
        squares = [squared_norms(self.P[self.start[c] : self.start[c + 1]] - mean) for c, mean in enumerate(self.means)]
        spread = np.array([square.mean() for square in squares])
        return np.asarray(np.minimum(spread, _WIDEST * np.median(spread)))

    def _beacons(self) -> Array:
        """The means with one more column (c, r + 1), zero for queries, such that squared distances are lower by a
        quarter of the cell's spread (up to a constant).
        """
        return np.asarray(np.c_[self.means, 0.5 * np.sqrt(self.spread.max() - self.spread)], dtype=np.float32)

    def _lists(self, n_jobs: int | None) -> Array:
        """For each cell itself and then the cells that are to be probed first from its mean (c, l)."""
        norms = squared_norms(self.beacons)
        width = min(len(norms), max(_LIST, 8 * self.n_probes))

        def one(rows: slice) -> Array:
            D = norms - 2 * (self.means[rows] @ self.means.T)
            D[np.arange(len(D)), np.arange(rows.start, rows.stop)] = -np.inf
            near = np.argpartition(D, width - 1, axis=1)[:, :width]
            order = np.argsort(np.take_along_axis(D, near, axis=1), axis=1, kind="stable")
            return np.take_along_axis(near, order, axis=1)

        return np.concatenate(run_tiles(one, spans(len(norms), 512), n_jobs))

    def home(self, P: Array, n_jobs: int | None = None) -> Array:
        """The cell with the mean nearest to each query (m,)."""
        home = np.empty(len(P), dtype=np.int64)
        run_tiles(lambda rows: self._home(P[rows], home[rows]), spans(len(P), _BLOCK), n_jobs)
        return home

    def _home(self, P: Array, home: Array) -> None:
        """Write the cell with the nearest mean; by differences where the product cannot tell."""
        right = prepared(self.means)
        D = relative(P) @ right.T
        here, home[:] = np.arange(len(P)), D.argmin(axis=1)
        least = D[here, home]
        level = least + 2 * product_error(np.sqrt(squared_norms(P)) + np.sqrt(right[:, -2].max()), P.shape[1])
        D[here, home] = np.inf
        for i in np.flatnonzero(D.min(axis=1) <= level):
            cells = np.union1d(np.flatnonzero(D[i] <= level[i]), home[i])
            home[i] = cells[np.argmin(squared_norms(self.means[cells] - P[i]))]

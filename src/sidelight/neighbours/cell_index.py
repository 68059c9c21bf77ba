"""Approximate nearest neighbours by an inverted file: rows in k-means cells, each query searched in the nearest cells.

    home     the cell whose mean is nearest, and the cells around it: one product gives a bound, the distance of the
             k-th nearest row there
    probes   the ``n_probes`` further cells with the smallest |q - mean|² - ρ²/4, ρ² the cell's mean squared radius:
             a wide cell reaches further, and without this term the probes of rows around a dense cluster all end in
             the cluster. Queries that probe the same cell share a product, and only rows nearer than the bound are
             candidates
    measure  distances of the candidates from differences, in all columns

Beyond 64 columns the search uses the leading principal components (``reduction``), and half as many candidates again
are measured. The result depends on the query, the rows and the seed only: not on the number of threads, nor on the
other queries (``candidates``). Up to 64 columns it is exact among the rows of the cells searched; ties go to the lower
row number among them. Queries far outside the data are moved closer for the search (``neighbours.reach``); their
distances are the true ones.
Cost: O(n (c + n_probes · s) r) for c cells of s rows, r columns; memory O(n r) and a block of queries.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from sidelight.base.tiles import one_blas_thread, run_tiles, spans
from sidelight.base.types import Array, Slice

from .candidates import product_error
from .cell_anchors import Anchors
from .cell_search import Block, prepared, relative, squared_norms
from .cells import Cells, cell_size, cells_of
from .distances import bounded
from .reach import Reach
from .reduction import Reduction, reduction
from .search import Neighbours, distances_to_listed

__all__ = ["CellIndex"]


_BLOCK = 4096  # queries that are searched together
_LIST = 192  # cells around a cell among which its rows choose their probes
_WIDEST = 1e6  # squared radius of a cell, times that of most, beyond which float32 would lose the narrow ones
_PROBES = 20
_NEXT = 191  # cells around a cell that a search for one nearest row considers
_KEPT = 2**25  # numbers in the rows of all cells that are kept prepared, at most: 128 MiB


class CellIndex:
    """Index for approximate nearest neighbours: the rows of ``X`` sorted into cells.

    Parameters
    ----------
    X : array of shape (n, d)
        Rows; kept as they are (a float array is not copied), because distances are measured in them.
    n_probes : int
        Cells searched for each query, besides those around its home cell.
    size : int or None
        Rows of a cell, on average.
    seed : int
        Of the sample from which cells and principal components are computed.
    n_jobs : int or None
        Threads for building; the index does not depend on it.

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
        self.reduction: Reduction = reduction(self.X, seed=seed, n_jobs=n_jobs)
        P = self.reduction(self.X, n_jobs)
        cells: Cells = cells_of(P, size=size or cell_size(len(P)), seed=seed, n_jobs=n_jobs)
        self.order, self.start, self.means = cells.order, cells.start, cells.means
        self.rank = np.argsort(self.order)
        self.P = P[self.order]
        self.scale = self.reduction.scale
        self.widest = float(np.sqrt(squared_norms(self.P).max()))
        self.spread = self._spread()
        self.probe_centres = self._probe_centres()
        self.around = self._lists(n_jobs)

    @property
    def reduced(self) -> bool:
        """Whether the search is in fewer columns than the data has."""
        return self.reduction.V is not None

    @one_blas_thread
    def nearest(self, queries: Array | None = None, *, k: int, n_jobs: int | None = None) -> Neighbours:
        """The ``k`` nearest rows of each query; without queries, of each row but itself. Recall is nearly 1.

        Parameters
        ----------
        queries : array of shape (m, d) or None
        k : int
        n_jobs : int or None
            Threads; the result does not depend on it.

        Returns
        -------
        Neighbours
            Row numbers and distances (m, k), nearest first.
        """
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

        def one(rows: Slice) -> None:
            block = Block(self, P[rows], home[rows], Q[sorting[rows]], rows.start if own else None)
            index[sorting[rows]], distance[sorting[rows]] = block.nearest(k)

        run_tiles(one, spans(len(Q) if k else 0, _BLOCK), n_jobs)
        if queries is not None:
            far = self.reach.beyond(queries)
            own_distance = distances_to_listed(bounded(queries[far].astype(np.float64)), self.X, index[far])
            distance[far] = np.maximum.accumulate(own_distance, axis=1)  # rounding may break the order
        return Neighbours(index, distance)

    @one_blas_thread
    def anchors(self, queries: Array, *, n_jobs: int | None = None) -> Array:
        """The nearest row of each query (m,), with lower recall than ``nearest`` and in a third of the time.

        It is the start of a walk through neighbour lists, which corrects most of the misses. With more than 64 columns,
        where cells are searched in fewer, it is the result of ``nearest``.
        """
        if self.reduced:
            return self.nearest(queries, k=1, n_jobs=n_jobs).index[:, 0]
        Q = self.reach.within(queries)
        return Anchors(self, Q, self.reduction(Q, n_jobs), n_jobs).rows()

    @cached_property
    def centres(self) -> Array:
        """For each cell, the means of the cells around it that its rows may search next (c, l, r + 2), ``prepared``.

        Relative to its own mean, in the order of ``around`` and without the cell itself.
        """
        near = self.around[:, 1 : 1 + _NEXT]
        return np.stack([prepared(self.means[some] - mean) for some, mean in zip(near, self.means, strict=True)])

    def panel(self, cell: int) -> Array:
        """The rows of a cell relative to its mean (w, r + 2), ``prepared``; kept if all together are not too large."""
        slab = slice(self.start[cell], self.start[cell + 1])
        if self.P.size <= _KEPT:
            return np.asarray(self._panels[slab])
        return prepared(self.P[slab] - self.means[cell])

    @cached_property
    def _panels(self) -> Array:
        """The panels of all cells, one after the other (n, r + 2)."""
        return prepared(self.P - np.repeat(self.means, np.diff(self.start), axis=0))

    def _spread(self) -> Array:
        """The mean squared radius of each cell (c,)."""
        squares = [squared_norms(self.P[self.start[c] : self.start[c + 1]] - mean) for c, mean in enumerate(self.means)]
        spread = np.array([square.mean() for square in squares])
        return np.asarray(np.minimum(spread, _WIDEST * np.median(spread)))

    def _probe_centres(self) -> Array:
        """The cell means with one more column (c, r + 1), which is zero for queries.

        The column lowers squared distances to a cell by a quarter of its mean squared radius (up to a constant).
        """
        return np.asarray(np.c_[self.means, 0.5 * np.sqrt(self.spread.max() - self.spread)], dtype=np.float32)

    def _lists(self, n_jobs: int | None) -> Array:
        """For each cell, itself and then the cells to probe first from its mean (c, l)."""
        norms = squared_norms(self.probe_centres)
        width = min(len(norms), max(_LIST, 8 * self.n_probes))

        def one(rows: Slice) -> Array:
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
        """Write the cell with the nearest mean into ``home``; from differences where the product is too coarse."""
        right = prepared(self.means)
        D = relative(P) @ right.T
        here, home[:] = np.arange(len(P)), D.argmin(axis=1)
        least = D[here, home]
        level = least + 2 * product_error(np.sqrt(squared_norms(P)) + np.sqrt(right[:, -2].max()), P.shape[1])
        D[here, home] = np.inf
        for i in np.flatnonzero(D.min(axis=1) <= level):
            cells = np.union1d(np.flatnonzero(D[i] <= level[i]), home[i])
            home[i] = cells[np.argmin(squared_norms(self.means[cells] - P[i]))]

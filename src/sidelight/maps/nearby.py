"""The training rows near a query, found without looking at all of them.

Up to ``MANY`` training rows every map and density looks at all of them. Beyond, at the nearest only: of inputs with at
most 8 columns (latent points) they are found in a tree, exactly; of others in cells (``neighbours.cell_index``), nearly
always exactly. Ties go to the lower row number, and a query's answer does not depend on the other queries.

A search is built when it is first needed, is shared by all who search the same array, lives as long as one of them and
is not saved with a model: it can be built again.
Cost: O(n log n) to build; a query O(k log n) in a tree.
"""

from __future__ import annotations

import dataclasses
import weakref
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from sidelight.base.tiles import run_tiles, spans
from sidelight.neighbours.cell_index import CellIndex
from sidelight.neighbours.cells import cell_size
from sidelight.neighbours.reach import Reach
from sidelight.neighbours.search import Neighbours

__all__ = ["MANY", "Searched", "is_many", "row_search"]

Array = npt.NDArray[Any]

MANY = 10_000
"""Training rows up to which every map and density looks at all of them."""
_TREE = 8  # columns up to which a tree is faster than cells
_TILE = 1024  # queries that a thread looks up at one time
_PROBES = 10  # cells searched, of twice the usual size: 0.9995 of the nearest rows are found (MNIST, 50 columns)
_SPARE = 2  # rows beyond those wanted: whether the last one ties with the next
_BUDGET = 1_000_000  # numbers in the lists of rows that tie
_STRIPS = 64


def is_many(rows: Array) -> bool:
    """Whether there are too many training rows to look at all of them."""
    return len(rows) > MANY


class RowSearch:
    """The nearest rows of ``X`` (n, p), which is kept as it is."""

    def __init__(self, X: Array) -> None:
        self.X = X
        self.tree: Any = cKDTree(X, balanced_tree=False) if X.shape[1] <= _TREE else None
        self.cells = None if self.tree is not None else CellIndex(X, n_probes=_PROBES, size=2 * cell_size(len(X)))
        self.reach = Reach(X) if self.cells is None else self.cells.reach

    @property
    def is_exact(self) -> bool:
        """Whether the nearest rows are always found, and several as quickly as one."""
        return self.cells is None

    @cached_property
    def place(self) -> Array:
        """Rows that are near each other have places near each other (n,)."""
        order = self.tree.indices if self.cells is None else self.cells.order
        place = np.empty(len(self.X), dtype=np.int64)
        place[order] = np.arange(len(order))
        return place

    def within(self, Q: Array) -> Array:
        """Queries whose squares single precision can hold."""
        return self.reach.within(Q)

    def nearest(self, Q: Array, k: int, n_jobs: int | None = None) -> Neighbours:
        """The ``k`` rows nearest to each query, nearest first."""
        k = min(k, len(self.X))
        if self.cells is not None:
            return self.cells.nearest(self.within(Q), k=k, n_jobs=n_jobs)
        Q = self.within(np.asarray(Q, dtype=np.float64))
        index, distance = np.empty((len(Q), k), dtype=np.int64), np.empty((len(Q), k))
        order = self._strips(Q)

        def one(rows: slice) -> None:
            at = order[rows]
            index[at], distance[at] = self._in_tree(Q[at], k, k + _SPARE)

        run_tiles(one, spans(len(Q), _TILE), n_jobs)
        return Neighbours(index, distance)

    def anchors(self, Q: Array, n_jobs: int | None = None) -> Array:
        """The row nearest to each query (m,), of cells (up to 64 columns) more often missed than by ``nearest``."""
        if self.cells is None:
            return self.nearest(Q, 1, n_jobs).index[:, 0]
        return self.cells.anchors(Q, n_jobs=n_jobs)

    def others(self, rows: Array, k: int, n_jobs: int | None = None) -> Neighbours:
        """The ``k`` rows nearest to each of the ``rows`` (m,) of ``X`` but itself."""
        found = self.nearest(self.X[rows], k + 1, n_jobs)
        kept = found.index != rows[:, None]
        kept[kept.all(axis=1), -1] = False  # among many duplicates a row may not find itself
        shape = (len(rows), found.index.shape[1] - 1)
        return Neighbours(found.index[kept].reshape(shape), found.distance[kept].reshape(shape))

    def _strips(self, Q: Array) -> Array:
        """An order of the queries in which neighbours in space follow each other: it saves the cache."""
        strip = np.floor((Q[:, 0] - self.reach.centre[0]) * (_STRIPS / (self.reach.width or 1.0)))
        return np.lexsort((Q[:, -1], strip))

    def _in_tree(self, Q: Array, k: int, more: int) -> tuple[Array, Array]:
        """Row numbers and distances (m, k), from the ``more`` nearest; of more still where the last ones tie."""
        more = min(more, len(self.X))
        distance, index = self.tree.query(Q, k=np.arange(1, more + 1))
        tied = np.flatnonzero((distance[:, 1:] == distance[:, :-1]).any(axis=1))
        if tied.size:
            order = np.lexsort((index[tied], distance[tied]))
            index[tied] = np.take_along_axis(index[tied], order, axis=1)
        index, crowded = index[:, :k], np.flatnonzero(distance[:, k - 1] == distance[:, -1])
        distance = distance[:, :k]
        if more < len(self.X):
            for rows in spans(len(crowded), max(1, _BUDGET // (4 * more))):
                at = crowded[rows]
                index[at], distance[at] = self._in_tree(Q[at], k, 4 * more)
        return index, distance


_SEARCHES: weakref.WeakValueDictionary[int, RowSearch] = weakref.WeakValueDictionary()


def row_search(X: Array) -> RowSearch:
    """The search of this array: the one there is, or a new one."""
    found = _SEARCHES.get(id(X))
    if found is None or found.X is not X:  # a search holds its array, so that no other can have its number
        found = _SEARCHES[id(X)] = RowSearch(X)
    return found


class Searched:
    """A record that keeps its search while it lives; neither a file nor a pickle of it has one."""

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}  # type: ignore[arg-type]

"""Nearest-neighbour search among many training rows.

Up to ``MANY`` training rows, maps and densities use all of them. With more, they use only the nearest. With at most 8
columns (latent points) these are found exactly, in a k-d tree; with more columns in an index of cells
(``neighbours.cell_index``), nearly always exactly. Ties go to the lower row number. Queries are independent.

A search index is built when first needed and shared by all users of the same array. It lives as long as one of them,
and is not pickled with a model, since it can be rebuilt.
Cost: O(n log n) to build; O(k log n) per query in a tree.
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
"""Number of training rows up to which maps and densities use all of them."""
_TREE = 8  # columns up to which a tree is faster than cells
_TILE = 1024  # queries per task of a thread
_PROBES = 10  # cells searched (``_rows_of_a_cell``): 0.9995 of the nearest rows are found (MNIST, 50 columns)
_SPARE = 2  # extra neighbours searched, to detect ties at the last one
_BUDGET = 1_000_000  # numbers in the temporaries of a search for tied rows
_STRIPS = 64


def is_many(rows: Array) -> bool:
    """Whether there are more than ``MANY`` training rows, so that only the nearest are used."""
    return len(rows) > MANY


class RowSearch:
    """Nearest-neighbour index of ``X`` (n, p), which is not copied."""

    def __init__(self, X: Array) -> None:
        self.X = X
        self.tree: Any = cKDTree(X, balanced_tree=False) if X.shape[1] <= _TREE else None
        self.cells = None if self.tree is not None else CellIndex(X, n_probes=_PROBES, size=_rows_of_a_cell(len(X)))
        self.reach = Reach(X) if self.cells is None else self.cells.reach

    @property
    def is_exact(self) -> bool:
        """Whether the search is exact (a tree); several neighbours then take as long as one."""
        return self.cells is None

    @cached_property
    def place(self) -> Array:
        """Position (n,) of each row in an order where nearby rows are close to each other (for cache locality)."""
        order = self.tree.indices if self.cells is None else self.cells.order
        place = np.empty(len(self.X), dtype=np.int64)
        place[order] = np.arange(len(order))
        return place

    def within(self, Q: Array) -> Array:
        """Queries, with those too far for squared distances in float32 moved nearer along their ray."""
        return self.reach.within(Q)

    def nearest(self, Q: Array, k: int, n_jobs: int | None = None) -> Neighbours:
        """The ``k`` nearest rows (m, k) of each query (m, p), nearest first."""
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
        """Approximate nearest row (m,) of each query; with cells (up to 64 columns) less accurate than ``nearest``."""
        if self.cells is None:
            return self.nearest(Q, 1, n_jobs).index[:, 0]
        return self.cells.anchors(Q, n_jobs=n_jobs)

    def others(self, rows: Array, k: int, n_jobs: int | None = None) -> Neighbours:
        """The ``k`` nearest neighbours (m, k) of the ``rows`` (m,) of ``X``, each row itself excluded."""
        found = self.nearest(self.X[rows], k + 1, n_jobs)
        kept = found.index != rows[:, None]
        kept[kept.all(axis=1), -1] = False  # among many duplicates a row may not find itself
        shape = (len(rows), found.index.shape[1] - 1)
        return Neighbours(found.index[kept].reshape(shape), found.distance[kept].reshape(shape))

    def _strips(self, Q: Array) -> Array:
        """Order of the queries in which nearby queries follow each other, for cache locality."""
        strip = np.floor((Q[:, 0] - self.reach.centre[0]) * (_STRIPS / (self.reach.width or 1.0)))
        return np.lexsort((Q[:, -1], strip))

    def _in_tree(self, Q: Array, k: int, more: int) -> tuple[Array, Array]:
        """Row numbers and distances (m, k) by the tree, from the ``more`` nearest; recursively more if the last tie."""
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


def _rows_of_a_cell(n: int) -> int:
    """Rows per cell: twice the default and at least √n, so that queries share cells as rows do."""
    return max(2 * cell_size(n), int(np.sqrt(n)))


_SEARCHES: weakref.WeakValueDictionary[int, RowSearch] = weakref.WeakValueDictionary()


def row_search(X: Array) -> RowSearch:
    """The search index of this array: the existing one, or a new one."""
    found = _SEARCHES.get(id(X))
    if found is None or found.X is not X:  # an index holds its array, so its id is not reused
        found = _SEARCHES[id(X)] = RowSearch(X)
    return found


class Searched:
    """Base of dataclasses that cache a search index: cached attributes are not pickled."""

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}  # type: ignore[arg-type]

"""Approximate single nearest row of each query: searches fewer cells than ``cell_search`` and keeps no candidate lists.

    home     the cell whose mean is nearest: d, the distance of the nearest row there
    further  the cells around it that may hold a nearer one, with mean μ and mean squared radius ρ²:
             |q - x|² = |q - μ|² + ρ² - 2 |q - μ| ρ cos θ < d²  with  cos θ ≤ ``_COSINE``, θ between q - μ and x - μ;
             of these at most ``_MOST``, those with the smallest |q - μ|² - ρ²/4
    measure  from differences, where rounding leaves more than one row

A query on a sheet needs one further cell, a digit (MNIST, 50 columns) a dozen. A missed nearest row is mostly across
the border of a cell, so the row found instead is close to it: a walk through the neighbour lists corrects it
(``maps.weights``). Queries that search the same cell share a matrix product. Which cells are searched follows from
products of rows padded to a multiple of 8 (``distances``), so that a query's result does not depend on the other
queries. The nearest row of the searched cells is exact (ties: the lower row number).
Cost: O(m (c + p s) r) for m queries, c cells of s rows, p of them searched; memory O(m) and a tile for each thread.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

import numpy as np

from sidelight.base.tiles import run_tiles, spans
from sidelight.base.types import Array

from .candidates import product_error
from .cell_search import Index, relative, runs
from .search import distances_to_listed

__all__ = ["Anchors", "SpreadIndex"]


Result = TypeVar("Result")

_MOST = 20
_COSINE = 0.92  # with 0.85 a walk through lists of 30 rows ends beside the nearest row of a sheet in 1 of 150 queries
_TILE = 1024  # queries that share a product
_BUDGET = 1_000_000  # numbers in the rows whose distances are computed together
_EPS = float(np.finfo(np.float32).eps)


class SpreadIndex(Index, Protocol):
    """An index (``cell_index.CellIndex``) with ``spread`` (c,), the mean squared radius of each cell.

    ``centres`` (c, l, r + 2) are the cells that may be searched from each cell, as right sides of a product.
    """

    spread: Array

    @property
    def centres(self) -> Array:
        """Means of the first cells of ``around``, relative to that of each cell, as right sides of a product."""
        ...

    def panel(self, cell: int) -> Array:
        """The rows of a cell relative to its mean, as the right side of a product (w, r + 2)."""
        ...

    def home(self, P: Array, n_jobs: int | None) -> Array:
        """The cell with the mean nearest to each query (m,)."""
        ...


Found = tuple[Array, Array, Array, Array]
"""Queries, position of the nearest row of a cell in the sorted rows, its squared distance, and its error bound."""


class Anchors:
    """Nearest-row search for a batch of queries, used by ``CellIndex.anchors``.

    Parameters
    ----------
    index : SpreadIndex
        Without reduction: the search uses all columns.
    Q : array of shape (m, d)
        Queries.
    P : array of shape (m, r)
        Queries as the search uses them: all columns, centred and scaled, in float32.
    n_jobs : int or None
        Threads.
    """

    def __init__(self, index: SpreadIndex, Q: Array, P: Array, n_jobs: int | None) -> None:
        self.index, self.Q, self.P, self.n_jobs = index, Q, P, n_jobs
        self.upper = np.full(len(P), np.inf)  # upper bound of the squared distance to the nearest row

    def rows(self) -> Array:
        """The row number nearest to each query (m,)."""
        if not len(self.P):
            return np.empty(0, dtype=np.int64)
        _ = self.index.centres, self.index.panel(0)  # computed before threads ask for them
        found = self._by_cell(self.index.home(self.P, self.n_jobs), np.arange(len(self.P)), self._at_home)
        row, cells = (np.concatenate(part) for part in zip(*(pairs for _, pairs in found), strict=True))
        return self._decided([nearest for nearest, _ in found] + self._by_cell(cells, row, self._in_cell))

    def _by_cell(self, cells: Array, items: Array, work: Callable[[int, Array], Result]) -> list[Result]:
        """``work(cell, some of the items)`` for the ``items`` (w,) of each of the ``cells`` (w,), in tiles."""
        order = np.argsort(cells.astype(np.uint16) if len(self.index.means) < 2**16 else cells, kind="stable")
        items = items[order]
        tiles = [
            (cell, items[run][part]) for cell, run in runs(cells[order]) for part in spans(run.stop - run.start, _TILE)
        ]
        return run_tiles(lambda tile: work(*tile), tiles, self.n_jobs)

    def _at_home(self, cell: int, rows: Array) -> tuple[Found, tuple[Array, Array]]:
        """Nearest row in the home cell, and pairs (query, cell) of further cells to search."""
        places = np.arange(self.index.start[cell], self.index.start[cell + 1])
        centres = self.index.centres[cell]
        further = self.index.around[cell, 1 : 1 + len(centres)]
        spread = self.index.spread[further]
        left, size = _padded(self.P[rows] - self.index.means[cell])
        D = (left @ centres.T)[: len(rows)]
        found = self._least(rows, places, size, (left @ self.index.panel(cell).T)[: len(rows)])
        self.upper[rows] = found[2] + found[3]
        row, column = _likely(D, spread, found[2])
        return found, (rows[row], further[column])

    def _in_cell(self, cell: int, rows: Array) -> Found:
        """The nearest row of a cell to each of the queries ``rows``."""
        places = np.arange(self.index.start[cell], self.index.start[cell + 1])
        left, size = _padded(self.P[rows] - self.index.means[cell])
        return self._least(rows, places, size, (left @ self.index.panel(cell).T)[: len(rows)])

    def _least(self, rows: Array, places: Array, size: Array, D: Array) -> Found:
        """The nearest of the rows at ``places`` by ``D`` (m, w), measured from differences where several are close.

        Only queries are returned for which it may be nearer than the row found in the home cell. ``D`` is overwritten.
        """
        here, column = np.arange(len(D)), D.argmin(axis=1)
        nearest, least = places[column], np.maximum(D[here, column], 0.0)
        error = self._rounding(size, least)
        wins = least - error <= self.upper[rows]
        D[here, column] = np.inf
        close = np.flatnonzero(wins & (D.min(axis=1) <= least + 2 * error))
        if close.size:
            D[close, column[close]] = least[close]
            near, among = np.nonzero(D[close] <= (least + 2 * error)[close, None])
            first, chosen = self._nearest(near, rows[close[near]], places[among])
            nearest[close[first]] = chosen
        return rows[wins], nearest[wins], least[wins], error[wins]

    def _rounding(self, size: Array, square: Array) -> Array:
        """Error bound of a squared distance: rounding of the product (``cell_search``) and of the rows to float32."""
        moved = 2 * _EPS * self.index.widest
        return 2 * product_error(2 * size + np.sqrt(square), self.P.shape[1]) + 2 * np.sqrt(square) * moved + moved**2

    def _decided(self, found: list[Found]) -> Array:
        """The nearest row number of each query (m,), among the rows found in all searched cells."""
        row, place, square, error = (np.concatenate(part) for part in zip(*found, strict=True))
        np.minimum.at(self.upper, row, square + error)
        close = np.flatnonzero(square - error <= self.upper[row])
        row, place = row[close], place[close]
        nearest = np.empty(len(self.P), dtype=np.int64)
        nearest[row] = place
        several = np.flatnonzero(np.bincount(row, minlength=len(nearest))[row] > 1)
        first, chosen = self._nearest(row[several], row[several], place[several])
        nearest[first] = chosen
        return np.asarray(self.index.order[nearest])

    def _nearest(self, group: Array, rows: Array, place: Array) -> tuple[Array, Array]:
        """For each group of candidates its number and the candidate nearest to the query, ties by row number."""
        number = self.index.order[place]
        distance = np.empty(len(rows))
        for part in spans(len(rows), max(1, _BUDGET // self.Q.shape[1])):  # duplicates may be very many
            distance[part] = distances_to_listed(self.Q[rows[part]], self.index.X, number[part, None])[:, 0]
        order = np.lexsort((number, distance, group))
        first = np.flatnonzero(np.diff(group[order], prepend=-1))
        return group[order[first]], place[order[first]]


def _padded(A: Array) -> tuple[Array, Array]:
    """The left side of a product that gives ``|a_i - x|²`` (rows are a multiple of 8), and ``|a_i|`` (m,)."""
    left = relative(A, multiple=8)
    return left, np.sqrt(left[: len(A), -1])


def _likely(D: Array, spread: Array, square: Array) -> tuple[Array, Array]:
    """Pairs (query, cell) where the cell may hold a row nearer than ``square`` (m,).

    ``D`` (m, l) are squared distances to the cell means, ``spread`` (l,) the mean squared radii ρ².
    With c the cosine, ``D + ρ² - 2 c ρ √D < d²`` is ``(√D - c ρ)² + (1 - c²) ρ² < d²``.
    """
    R = np.sqrt(np.maximum(D, 0.0))
    R -= _COSINE * np.sqrt(spread)
    R *= R
    R += (1 - _COSINE**2) * spread
    row, column = np.divmod(np.flatnonzero(square[:, None] > R), D.shape[1])
    crowded = np.flatnonzero(np.bincount(row, minlength=len(D)) > _MOST)
    if crowded.size:
        rank = np.where(square[crowded, None] > R[crowded], D[crowded] - 0.25 * spread, np.inf)
        kept, alone = np.argpartition(rank, _MOST, axis=1)[:, :_MOST], ~np.isin(row, crowded)
        row, column = np.r_[row[alone], np.repeat(crowded, _MOST)], np.r_[column[alone], kept.ravel()]
    return row, column

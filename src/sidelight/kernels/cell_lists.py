"""Which pairs ``kernels.cell_sums`` visits one by one: a partition of latent points into cells, and near cells of each.

The points are partitioned into m cells (k-means), and each cell lists the p cells nearest to it, itself included. Pairs
of a row and a member of a listed cell are visited one by one. So are *links*, pairs of rows that are neighbours in the
data: they are near on the map, and where they are not in listed cells they would be most of the error.

Everything here depends on the points at which the lists are made, and then stays as it is while points move. Work is
cut into fixed tiles of consecutive cells, each with the places that it reads and writes.

Cost: O(n m q) for k-means and O(m² log m) for the lists; O(n p + links) memory.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sidelight.base.tiles import spans
from sidelight.base.types import Array, Slice, SparseMatrix
from sidelight.neighbours.cells import cells_of
from sidelight.neighbours.distances import squared_distances

__all__ = ["CellLists", "Links", "TileLists", "cell_lists"]


_TILES = 32  # at most, whatever the number of threads, and of 256 rows or more
_GROUP = 256  # rows whose far cells are summed together: 256 x 1,000 numbers of 4 bytes fit the second-level cache


@dataclass(frozen=True)
class Links:
    """Pairs of rows in cells that do not list each other, sorted by their first row.

    Parameters
    ----------
    one, other : arrays of shape (l,)
        Places of the two rows in ``CellLists.order``.
    hole : array of shape (l,)
        Number of the pair (row, cell of the other row) among ``rows`` and ``cells``: what the link adds by itself is
        taken out of the sum over that cell.
    rows, cells : arrays of shape (h,)
        The distinct pairs of a row, as its place, and a cell.
    places : array of shape (l,)
        Of the other rows in ``TileLists.listed``.
    """

    one: Array
    other: Array
    hole: Array
    rows: Array
    cells: Array
    places: Array


@dataclass(frozen=True)
class TileLists:
    """Consecutive cells, and the rows they have to do with; rows are places in ``CellLists.order``.

    Parameters
    ----------
    groups : tuple of slices
        The cells, in groups of about 256 rows.
    first : int
        Number of the first cell.
    members : tuple of arrays
        For each cell the rows of its listed cells, in ascending order.
    listed : array
        The rows in ``members`` and ``links.other``, each once.
    places : tuple of arrays
        Places of ``members`` in ``listed``.
    links : Links
    """

    groups: tuple[Slice, ...]
    first: int
    members: tuple[Array, ...]
    listed: Array
    places: tuple[Array, ...]
    links: Links


@dataclass(frozen=True)
class CellLists:
    """A partition of n points into m cells, and the cells that are near each of them.

    Parameters
    ----------
    order : array of shape (n,)
        Row numbers, cell by cell: cell a is ``order[start[a] : start[a + 1]]``.
    start : array of shape (m + 1,)
    near : array of shape (m, p)
        Cells whose members are visited one by one, itself included.
    tiles : tuple of TileLists
    """

    order: Array
    start: Array
    near: Array
    tiles: tuple[TileLists, ...]

    @property
    def n_cells(self) -> int:
        """Number of cells m."""
        return len(self.start) - 1

    @property
    def cell(self) -> Array:
        """Cell of each place of ``order`` (n,)."""
        return np.repeat(np.arange(self.n_cells), np.diff(self.start))


def cell_lists(Z: Array, *, listed: int, links: SparseMatrix | None = None, n_jobs: int | None = None) -> CellLists:
    """Partition points into cells of about √(n / p) rows and list the p nearest cells of each, by their means.

    Parameters
    ----------
    Z : array of shape (n, q)
    listed : int
        Cells that each cell lists, p. With as many as there are, every pair is visited.
    links : sparse array of shape (n, n) or None
        Its stored pairs are visited one by one, too.
    n_jobs : int or None
        Threads; the result does not depend on it.

    Returns
    -------
    CellLists

    Examples
    --------
    >>> lists = cell_lists(np.arange(32.0)[:, None], listed=2)
    >>> lists.n_cells, lists.near.shape
    (8, (8, 2))
    """
    P = np.asarray(Z - Z.mean(axis=0), dtype=np.float32)
    cells = cells_of(P, size=max(1, round((len(Z) / listed) ** 0.5)), n_jobs=n_jobs)
    start = cells.start
    means = np.add.reduceat(P[cells.order].astype(np.float64), start[:-1], axis=0) / cells.sizes[:, None]
    R = squared_distances(means, means)
    np.fill_diagonal(R, -1.0)
    near = np.argsort(R, axis=1, kind="stable")[:, :listed]
    one, other = _unlisted(links, cells.order, start, near)
    m = len(start) - 1
    parts = spans(m, -(-m // min(_TILES, -(-len(Z) // _GROUP))))
    bounds = np.searchsorted(one, start[[part.start for part in parts] + [m]])
    tiles = [
        _tile(part, start, near, one[a:b], other[a:b])
        for part, a, b in zip(parts, bounds[:-1], bounds[1:], strict=True)
    ]
    return CellLists(cells.order, start, near, tuple(tiles))


def _unlisted(links: SparseMatrix | None, order: Array, start: Array, near: Array) -> tuple[Array, Array]:
    """Both ends of the links whose second row is in no cell listed by that of the first, as places in ``order``."""
    if links is None:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    m = len(start) - 1
    cell, place = np.empty(len(order), dtype=np.int64), np.empty(len(order), dtype=np.int64)
    cell[order], place[order] = np.repeat(np.arange(m), np.diff(start)), np.arange(len(order))
    rows, columns = np.repeat(np.arange(len(order)), np.diff(links.indptr)), links.indices
    listed = np.zeros((m, m), dtype=bool)
    np.put_along_axis(listed, near, True, axis=1)
    left = np.flatnonzero(~listed[cell[rows], cell[columns]])
    one, other = place[rows[left]], place[columns[left]]
    by_row = np.lexsort((other, one))
    return one[by_row], other[by_row]


def _tile(part: Slice, start: Array, near: Array, one: Array, other: Array) -> TileLists:
    """The lists of some consecutive cells; ``one`` and ``other`` are the links of their rows."""
    members = [
        np.concatenate([np.arange(start[b], start[b + 1]) for b in np.sort(near[a])])
        for a in range(part.start, part.stop)
    ]
    listed = np.unique(np.concatenate([*members, other]))
    places = tuple(np.searchsorted(listed, rows).astype(np.int32) for rows in members)
    m = len(start) - 1
    cell = np.searchsorted(start, other, side="right") - 1
    holes, hole = np.unique(one * m + cell, return_inverse=True)
    links = Links(one, other, hole, holes // m, holes % m, np.searchsorted(listed, other))
    groups, first = [], part.start
    for a in range(part.start, part.stop):
        if start[a + 1] - start[first] >= _GROUP or a + 1 == part.stop:
            groups.append(slice(first, a + 1))
            first = a + 1
    return TileLists(tuple(groups), part.start, tuple(rows.astype(np.int32) for rows in members), listed, places, links)

"""Search of one block of queries in the cells of an index: home cell, then further cells (probes), then re-ranking.

With rows and queries relative to a cell's mean, ``[-2a, 1, |a|² - b] · [x, |x|², 1] = |a - x|² - b``: one product, and
its sign says which rows are nearer than the bound ``b``. Such a row has ``|x| ≤ |a| + √b``, which bounds the rounding
of its product by ``2|a| + √b``, however far out other rows of the cell are.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np

from sidelight.base.tiles import spans
from sidelight.base.types import Array, Slice

from .candidates import closest, collected, product_error
from .search import distances_to_listed

__all__ = ["Block", "Index", "prepared", "relative", "runs", "squared_norms"]


Triples = tuple[Array, Array, Array]
"""Candidates: query (row of the block), position among the sorted rows of the index, squared distance."""

_AROUND = 512  # rows in and around the home cell, at least, from which the bound is computed
_SHARED = 512  # queries whose candidates share a matrix
_EPS = float(np.finfo(np.float32).eps)


class Index(Protocol):
    """The attributes of an index (``cell_index.CellIndex``) that the search uses."""

    X: Array
    P: Array
    order: Array
    rank: Array
    start: Array
    means: Array
    probe_centres: Array
    around: Array
    n_probes: int
    scale: float
    widest: float

    @property
    def reduced(self) -> bool:
        """Whether ``P`` has fewer columns than ``X``."""
        ...

    def panel(self, cell: int) -> Array:
        """The rows of a cell relative to its mean (w, r + 2), ``prepared``."""
        ...


class Block:
    """A block of queries, searched together.

    Parameters
    ----------
    index : Index
    P : array of shape (m, r)
        The queries in the search space, sorted by ``home``.
    home : array of shape (m,)
        The cell of each query.
    Q : array of shape (m, d)
        The queries in all columns.
    first : int or None
        If the queries are rows of the index: the position of the first among its sorted rows. A row is then no
        neighbour of itself.
    """

    def __init__(self, index: Index, P: Array, home: Array, Q: Array, first: int | None) -> None:
        self.index, self.P, self.home, self.Q, self.first = index, P, home, Q, first
        self.extended = np.pad(P, ((0, 0), (0, 1)))
        self.bound = np.empty(len(P))
        self.error = np.empty(len(P))
        self.probes: list[tuple[Array, Array]] = []

    def nearest(self, k: int) -> tuple[Array, Array]:
        """Row numbers and distances (m, k)."""
        wanted = k
        if self.index.reduced:
            wanted = min(len(self.index.X) - (self.first is not None), k + k // 2 + 10)
        found = [self._at_home(cell, rows, wanted) for cell, rows in runs(self.home)]
        found += [self._in_probe(cell, rows) for cell, rows in self._by_probe()]
        row, place, value = (np.concatenate(parts) for parts in zip(*found, strict=True))
        order = np.argsort(row, kind="stable")
        row, place, value = row[order], place[order], value[order]
        parts = []
        for rows in spans(len(self.P), _SHARED):
            own = slice(*np.searchsorted(row, [rows.start, rows.stop]))
            D, index = collected(
                row[own] - row.dtype.type(rows.start), self.index.order[place[own]], value[own], rows.stop - rows.start
            )
            parts.append(self._measured(rows, D, index, k, wanted))
        return np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])

    def _at_home(self, cell: int, rows: Slice, wanted: int) -> Triples:
        """Candidates in and around the home cell, within the bound that these rows give; also chooses the probes."""
        places, further = self._around(cell, wanted + (self.first is not None))
        A = self.P[rows] - self.index.means[cell]
        left = relative(A)
        D = left @ prepared(self.index.P[places] - self.index.means[cell]).T
        if self.first is not None:
            here = np.arange(rows.start, rows.stop)
            D[here - rows.start, here + self.first - self.index.start[cell]] = np.inf
        level = np.maximum(np.partition(D, wanted - 1, axis=1)[:, wanted - 1], 0.0).astype(np.float64)
        size = np.sqrt(squared_norms(A))
        furthest = np.maximum(size, self._choose_probes(cell, rows, further, left, size))
        self._set_bounds(rows, level, furthest)
        flat = np.flatnonzero(self.bound[rows, None].astype(np.float32) >= D)
        row, column = np.divmod(flat, D.shape[1])
        return (row + rows.start).astype(np.uint16), places[column], D.ravel()[flat]

    def _around(self, cell: int, least: int) -> tuple[Array, Array]:
        """Positions of at least ``least`` rows in and around a cell, its own first; and the remaining cells."""
        near = self.index.around[cell]
        count = np.cumsum(self.index.start[near + 1] - self.index.start[near])
        if count[-1] < least:  # tiny cells, and many neighbours wanted
            near = np.r_[near, np.setdiff1d(np.arange(len(self.index.means)), near)]
            count = np.cumsum(self.index.start[near + 1] - self.index.start[near])
        taken = int(np.searchsorted(count, max(_AROUND, 2 * least))) + 1
        slabs = [np.arange(self.index.start[c], self.index.start[c + 1]) for c in near[:taken]]
        return np.concatenate(slabs), near[taken:]

    def _choose_probes(self, cell: int, rows: Slice, cells: Array, left: Array, size: Array) -> Array:
        """Append the nearest cells of each query to ``probes``; return the distance of the farthest (m,), or 0."""
        count = min(self.index.n_probes, len(cells))
        if not count:
            return np.zeros(len(size))
        M = self.index.means[cells] - self.index.means[cell]
        probe_centres = prepared(M, np.square(self.index.probe_centres[cells, -1]))
        error = 2 * product_error(size + np.sqrt(probe_centres[:, -2].max()), M.shape[1])
        P = self.extended[rows]
        chosen, distance = closest(
            left @ probe_centres.T,
            np.broadcast_to(cells, (len(size), len(cells))),
            count,
            error,
            lambda some, listed: distances_to_listed(P[some], self.index.probe_centres, listed),
        )
        self.probes.append((np.repeat(np.arange(rows.start, rows.stop), count), chosen.ravel()))
        return distance[:, -1]

    def _set_bounds(self, rows: Slice, level: Array, furthest: Array) -> None:
        """Set the squared distance that a candidate must not exceed, with a margin for rounding."""
        error = 2 * product_error(2 * furthest + np.sqrt(level), self.P.shape[1])
        if not self.index.reduced:
            moved = 2 * _EPS * self.index.widest  # distances are of the rows themselves, the search sees rounded ones
            error += 2 * np.sqrt(level) * moved + moved**2
        self.error[rows] = error
        self.bound[rows] = level + 2 * error

    def _by_probe(self) -> Iterator[tuple[int, Array]]:
        """Iterate over the probed cells, each with its queries."""
        if not self.probes:
            return
        row, cells = (np.concatenate(parts) for parts in zip(*self.probes, strict=True))
        order = np.argsort(cells.astype(np.uint16) if len(self.index.means) < 2**16 else cells, kind="stable")
        for cell, run in runs(cells[order]):
            yield cell, row[order[run]]

    def _in_probe(self, cell: int, rows: Array) -> Triples:
        """Candidates in a probed cell: the rows within the bounds of its queries."""
        slab = slice(self.index.start[cell], self.index.start[cell + 1])
        mean, bound = self.index.means[cell], self.bound[rows]
        D = relative(self.P[rows] - mean, bound) @ self.index.panel(cell).T
        flat = np.flatnonzero(D <= 0)
        row, column = np.divmod(flat, D.shape[1])
        return rows[row].astype(np.uint16), column + slab.start, D.ravel()[flat] + bound[row].astype(np.float32)

    def _measured(self, rows: Slice, D: Array, index: Array, k: int, wanted: int) -> tuple[Array, Array]:
        """The ``k`` nearest of the candidates, by distances in all columns."""
        X, Q, P, scale = self.index.X, self.Q[rows], self.P[rows], self.index.scale
        if not self.index.reduced:
            found, distance = closest(
                D, index, k, self.error[rows], lambda some, listed: distances_to_listed(Q[some], X, listed) / scale
            )
            return found, distance * scale

        def coarse(some: Array, listed: Array) -> Array:
            return distances_to_listed(P[some], self.index.P, self.index.rank[listed])

        found, _ = closest(D, index, wanted, self.error[rows], coarse)
        found.sort(axis=1)
        distance = distances_to_listed(Q, X, found)
        order = np.argsort(distance, axis=1, kind="stable")[:, :k]
        return np.take_along_axis(found, order, axis=1), np.take_along_axis(distance, order, axis=1)


def squared_norms(A: Array) -> Array:
    """``|a_i|²`` (m,)."""
    return np.asarray(np.einsum("ij,ij->i", A, A))


def relative(A: Array, bound: Array | float = 0.0, *, multiple: int = 1) -> Array:
    """``[-2a, 1, |a|² - b]`` (m, r + 2), padded with zero rows to a ``multiple``."""
    m = len(A)
    out = np.empty((-(-m // multiple) * multiple, A.shape[1] + 2), dtype=np.float32)
    np.multiply(A, -2.0, out=out[:m, :-2])
    out[:m, -2] = 1.0
    out[:m, -1] = squared_norms(A) - bound
    out[m:] = 0.0
    return out


def prepared(B: Array, more: Array | float = 0.0) -> Array:
    """``[x, |x|² + more, 1]`` (w, r + 2)."""
    out = np.empty((len(B), B.shape[1] + 2), dtype=np.float32)
    out[:, :-2] = B
    out[:, -2] = squared_norms(B) + more
    out[:, -1] = 1.0
    return out


def runs(values: Array) -> Iterator[tuple[int, Slice]]:
    """Runs of equal consecutive values: the value and its slice."""
    edges = np.r_[0, np.flatnonzero(np.diff(values)) + 1, len(values)] if len(values) else np.zeros(1, dtype=np.int64)
    for start, stop in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        yield int(values[start]), slice(start, stop)

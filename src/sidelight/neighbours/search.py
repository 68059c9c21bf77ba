"""Nearest neighbours: exact by tiles of all pairs, or approximate by a cell index where that would take long.

``|a - b|² = |a|² + |b|² - 2 a·b`` finds the candidates with one float32 matrix product per tile: the rows within the
distance of the k-th nearest of a sample, plus the error bound of the rounding. The distances of the candidates are then
computed from differences. Where float32 is not precise enough (duplicates, ties, clusters far tighter than the data is
wide) the product is taken again in float64, and every row within its error bound is a candidate. So the result is
exact, ties are broken by row number, and a row's result does not depend on the rows beside it.
Cost: O(m n d) time, O(tile · n) memory.

Neighbours of the rows themselves are searched in cells (``cell_index``) once the exact search would take more than
``EXACT_SECONDS`` of one processor, as estimated by ``exact_seconds`` from the shape of the data alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from sidelight.base.tiles import run_tiles, spans
from sidelight.base.types import Array, Slice, SparseMatrix

from .candidates import closest, collected, product_error
from .prepared_rows import PreparedRows, squared_lengths

__all__ = [
    "EXACT_SECONDS",
    "Neighbours",
    "distances_to_listed",
    "edge_lengths",
    "exact_seconds",
    "nearest",
    "nearest_by_tree",
    "nearest_precomputed",
    "neighbour_seconds",
    "smallest",
    "squares_to_listed",
]


_BUDGET = 4_000_000  # numbers in the temporaries of one tile
_FEW_SMALLEST = 12  # from about 20 on a partition of the row is faster
_PANEL = 2048  # columns of a product: with the rows of a tile they fit the second-level cache
_SAMPLED = 4  # one row in four bounds the distance of the k-th nearest
EXACT_SECONDS = 2.5
"""Processor time that exact neighbours of the rows may take: 9,000 rows of 784 columns, 30,000 of 50."""
_MANY = 1024  # rows from which on float32 products with a bound are worth their overhead
_FAR = 1e6  # times as far as the rows are wide, float32 sees no difference between them
_ROUNDING = 1e-12  # relative: distances that differ by less may be ties
_LISTED = 250_000  # numbers in the differences taken at one time: they fit the second-level cache


@dataclass(frozen=True)
class Neighbours:
    """The ``k`` nearest rows of each query: ``index`` (m, k) and ``distance`` (m, k), nearest first."""

    index: Array
    distance: Array


def exact_seconds(n: int, d: int) -> float:
    """Estimated processor time of the exact neighbours of ``n`` rows of ``d`` columns."""
    return 1e-9 * n**2 * (0.7 + d / 32) + 1e-6 * n * (12 + d / 20)


def neighbour_seconds(n: int, d: int) -> float:
    """Estimated processor time of the neighbours of ``n`` rows of ``d`` columns: exact ones, or those of cells.

    >>> [round(neighbour_seconds(n, 784), 1) for n in (1000, 8000, 70_000)]
    [0.1, 2.0, 9.7]
    """
    exact = exact_seconds(n, d)
    return exact if exact <= EXACT_SECONDS else 1e-6 * n * (40 + d / 8)


def nearest(
    X: Array,
    queries: Array | None = None,
    *,
    k: int,
    n_jobs: int | None = None,
    exact: bool | None = None,
    prepared: PreparedRows | None = None,
) -> Neighbours:
    """The ``k`` rows of ``X`` nearest to each query; without queries, to each row of ``X`` but itself.

    Parameters
    ----------
    X : array of shape (n, d)
    queries : array of shape (m, d) or None
        None: the rows of ``X``, each without itself.
    k : int
        Neighbours; at most as many as there are rows.
    n_jobs : int or None
        Threads; the result does not depend on it.
    exact : bool or None
        Whether every neighbour is found. None: always for queries (for many batches of queries, keep a ``CellIndex``),
        and for the rows themselves if that takes no longer than ``EXACT_SECONDS``.
    prepared : PreparedRows or None
        Of ``X``, for the exact search, if they have been kept (``prepared_rows.kept_rows``).

    Returns
    -------
    Neighbours
        Row numbers and distances (m, k), nearest first.

    Notes
    -----
    Exact: O(m n d) time, O(tile · n) memory. Otherwise see ``cell_index``.
    """
    if exact is None:
        exact = queries is not None or exact_seconds(*X.shape) <= EXACT_SECONDS
    if not exact:
        from .cell_index import CellIndex  # here, because the index is built on this module

        return CellIndex(X, n_jobs=n_jobs).nearest(queries, k=k, n_jobs=n_jobs)
    search = _Tiles(prepared or PreparedRows(X), queries, k)
    tile = max(8, min(512, _BUDGET // max(len(X), 1)))
    work = search.nearest if len(X) >= _MANY else search.careful
    parts = run_tiles(lambda rows: work(np.arange(rows.start, rows.stop)), spans(len(search.Q), tile), n_jobs)
    return Neighbours(np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts]))


def nearest_by_tree(X: Array, queries: Array | None = None, *, k: int) -> Neighbours:
    """Exact nearest neighbours by a k-d tree, as ``nearest`` returns them: faster for many rows of few columns.

    The tree lists one row more than is asked for. Where that one is not clearly farther than the last one kept, rows
    beyond the list may be tied with it, and the exact search by tiles decides: ties are broken by row number here as
    well.

    Parameters
    ----------
    X : array of shape (n, d)
    queries : array of shape (m, d) or None
        None: the rows of ``X``, each without itself.
    k : int

    Returns
    -------
    Neighbours
        Row numbers and distances (m, k), nearest first.
    """
    own = queries is None
    Q = X if queries is None else queries
    k = min(k, len(X) - own)
    listed = min(len(X), k + own + 1)
    far, index = (np.asarray(part).reshape(len(Q), listed) for part in cKDTree(X).query(Q, listed))
    index, distance = _in_order(index, distances_to_listed(Q, X, index), k, own=own)
    tied = np.flatnonzero(distance[:, -1] >= far[:, -1] * (1 - _ROUNDING)) if listed < len(X) else np.empty(0, int)
    if tied.size:
        search = _Tiles(PreparedRows(X), queries, k)
        for rows in spans(tied.size, max(8, min(512, _BUDGET // len(X)))):
            index[tied[rows]], distance[tied[rows]] = search.careful(tied[rows])
    return Neighbours(index, distance)


def _in_order(index: Array, distance: Array, k: int, *, own: bool) -> tuple[Array, Array]:
    """The ``k`` nearest of each list (m, w), ties by row number; with ``own`` without the row itself.

    Most lists are in this order already, with the row itself first.
    """
    sorted_already = (distance[:, 1:] > distance[:, :-1]).all(axis=1)
    if own:
        rows = np.arange(len(index))
        sorted_already &= index[:, 0] == rows
    some = np.flatnonzero(~sorted_already)
    found = np.array(index[:, own : k + own]), np.array(distance[:, own : k + own])
    if some.size:
        index, distance = index[some], distance[some]
        if own:
            distance[index == rows[some, None]] = np.inf
        order = np.lexsort((index, distance), axis=-1)[:, :k]
        for out, values in zip(found, (index, distance), strict=True):
            out[some] = np.take_along_axis(values, order, axis=1)
    return found


class _Tiles:
    """The exact search: the prepared rows, which all tiles share, and the queries."""

    def __init__(self, rows: PreparedRows, queries: Array | None, k: int) -> None:
        self.own = queries is None
        self.rows, self.X, self.centre, self.norms = rows, rows.X, rows.centre, rows.norms
        self.widest, self.scale = rows.widest, rows.scale
        self.Q = self.X if queries is None else queries
        self.k = min(k, len(self.X) - self.own)
        self.stride = max(1, min(_SAMPLED, len(self.X) // (4 * self.k + 8)))
        if len(self.X) >= _MANY:
            self.panel = rows.panel  # before threads ask for it

    def nearest(self, rows: Array) -> tuple[Array, Array]:
        """Row numbers and distances (m, k) for the queries ``rows``: float32, or float64 where that is too coarse."""
        far = np.abs(self.Q[rows] - self.centre).max(axis=1) > _FAR * self.scale
        if far.any():
            index, distance = np.empty((len(rows), self.k), dtype=np.int64), np.empty((len(rows), self.k))
            index[far], distance[far] = self.careful(rows[far])
            if not far.all():
                index[~far], distance[~far] = self.nearest(rows[~far])
            return index, distance
        error, row, index, value = self._within(rows)
        count = np.bincount(row, minlength=len(rows))
        crowded = count > 4 * self.k * self.stride + 64
        found, distance = np.empty((len(rows), self.k), dtype=np.int64), np.empty((len(rows), self.k))
        clear = np.flatnonzero(~crowded)
        if clear.size:
            kept = ~crowded[row]
            D, listed = collected(np.repeat(np.arange(clear.size), count[clear]), index[kept], value[kept], clear.size)
            Q = self.Q[rows[clear]]
            found[clear], distance[clear] = closest(
                D,
                listed,
                self.k,
                error[clear],
                lambda some, near: distances_to_listed(Q[some], self.X, near) / self.scale,
            )
            distance[clear] *= self.scale
        if crowded.any():
            found[crowded], distance[crowded] = self.careful(rows[crowded])
        return found, distance

    def _within(self, rows: Array) -> tuple[Array, Array, Array, Array]:
        """Candidates of each query: all rows within an upper bound of its k-th smallest distance.

        Returns the error bound of each query's squared distances (m,), and for each candidate the query, the row number
        and the squared distance.
        """
        B = (self.Q[rows] - self.centre) / self.scale
        squares = squared_lengths(B)
        short = np.c_[-2 * B, np.ones(len(B)), squares].astype(np.float32)
        last = self.k - 1 + self.own  # a row may be in the sample itself
        level = np.partition(short @ self.panel[:: self.stride].T, last, axis=1)[:, last].astype(np.float64)
        level = np.maximum(level, 0.0)
        size = np.sqrt(squares)
        moved = float(np.finfo(np.float32).eps) * (size + self.widest / self.scale)  # by rounding to float32
        error = 2 * product_error(2 * size + np.sqrt(level), B.shape[1]) + 2 * np.sqrt(level) * moved + moved**2
        bound = level + 2 * error
        short[:, -1] = squares - bound
        parts = [self._panel(short, rows, columns) for columns in spans(len(self.X), _PANEL)]
        row, index, value = (np.concatenate(part) for part in zip(*parts, strict=True))
        order = np.argsort(row, kind="stable")
        row = row[order]
        return error, row, index[order], value[order] + bound[row]

    def _panel(self, short: Array, rows: Array, columns: Slice) -> tuple[Array, Array, Array]:
        """Candidates among some of the columns: query, row number, and squared distance less the query's bound."""
        D = short @ self.panel[columns].T
        if self.own:
            here = np.flatnonzero((rows >= columns.start) & (rows < columns.stop))
            D[here, rows[here] - columns.start] = np.inf
        flat = np.flatnonzero(D <= 0)
        row, column = np.divmod(flat, D.shape[1])
        return row.astype(np.uint16), column + columns.start, D.ravel()[flat]

    def careful(self, rows: Array) -> tuple[Array, Array]:
        """Row numbers and distances (m, k) by float64 products.

        Four rows more than wanted are measured from differences; where rounding may hide a nearer row, all rows within
        the error bound are.
        """
        k, others = self.k, len(self.X) - self.own
        extra = min(others, k + 4)
        Q = self.Q[rows]
        B = Q - self.centre
        D = self.norms - 2 * (B @ (self.rows.centred if len(self.X) < _MANY else self.X - self.centre).T)
        if self.own:
            D[np.arange(len(B)), rows] = np.inf
        candidates = np.argpartition(D, extra - 1, axis=1)[:, :extra]
        index, distance = _sorted_exact(Q, self.X, candidates, k)
        if extra < others:
            size = squared_lengths(B)
            error = (B.shape[1] + 8) * np.finfo(self.X.dtype).eps * (np.sqrt(size) + self.widest) ** 2
            passed_over = np.take_along_axis(D, candidates[:, -1:], axis=1)[:, 0] + size - error
            for i in np.flatnonzero(distance[:, -1] ** 2 >= passed_over):
                cut = np.partition(D[i], k - 1)[k - 1] + 2 * error[i]
                near = np.flatnonzero(D[i] <= cut)[None, :]
                index[i], distance[i] = _sorted_exact(Q[i : i + 1], self.X, near, k)
        return index, distance


def nearest_precomputed(D: Array, *, k: int, own: bool) -> Neighbours:
    """The ``k`` smallest entries of each row of a distance matrix.

    Parameters
    ----------
    D : array of shape (m, n)
    k : int
    own : bool
        Whether the diagonal (a row's distance to itself) is left out.

    Returns
    -------
    Neighbours
        Column numbers and distances (m, k), nearest first.
    """
    k = min(k, D.shape[1] - own)
    parts = []
    for rows in spans(len(D), max(8, _BUDGET // D.shape[1])):
        part = np.array(D[rows], dtype=np.float64)
        if own:
            part[np.arange(len(part)), np.arange(rows.start, rows.stop)] = np.inf
        parts.append(smallest(part, k))
    return Neighbours(np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts]))


def smallest(D: Array, k: int) -> tuple[Array, Array]:
    """Columns and values of the ``k`` smallest entries of each row, smallest first, ties by column.

    Examples
    --------
    >>> smallest(np.array([[2.0, 1.0, 2.0, 0.0, 2.0]]), 3)[0]
    array([[3, 1, 0]])
    """
    if k <= _FEW_SMALLEST:
        found = _few_smallest(D, k)
        if np.isfinite(found[1]).all():
            return found
    chosen = np.argpartition(D, k - 1, axis=1)[:, :k]
    cut = np.take_along_axis(D, chosen[:, -1:], axis=1)
    crowded = ((cut >= D).sum(axis=1) > k) & np.isfinite(cut[:, 0])
    for i in np.flatnonzero(crowded):
        below, level = np.flatnonzero(D[i] < cut[i]), np.flatnonzero(D[i] == cut[i])
        chosen[i] = np.r_[below, level[: k - len(below)]]
    chosen.sort(axis=1)
    values = np.take_along_axis(D, chosen, axis=1)
    order = np.argsort(values, axis=1, kind="stable")
    return np.take_along_axis(chosen, order, axis=1), np.take_along_axis(values, order, axis=1)


def _few_smallest(D: Array, k: int) -> tuple[Array, Array]:
    """As ``smallest``, by ``k`` minima in turn: 20 times as fast for three, if they are finite."""
    rows, left = np.arange(len(D)), np.array(D, order="C")
    columns, values = np.empty((len(D), k), dtype=np.int64), np.empty((len(D), k), dtype=D.dtype)
    for number in range(k):
        column = left.argmin(axis=1)
        columns[:, number], values[:, number] = column, left[rows, column]
        left[rows, column] = np.inf
    return columns, values


def distances_to_listed(queries: Array, X: Array, index: Array) -> Array:
    """``|q_i - x_index[i, l]|`` (m, k) of queries (m, d) and their listed rows (m, k), computed from differences."""
    return np.sqrt(squares_to_listed(queries, X, index)).astype(np.float64, copy=False)


def squares_to_listed(queries: Array, X: Array, index: Array) -> Array:
    """``|q_i - x_index[i, l]|²`` (m, k), computed from differences, in the precision of the inputs."""
    m, k = index.shape
    kind = np.result_type(X, queries)
    out = np.empty((m, k), dtype=kind)
    step = max(1, _LISTED // max(1, k * X.shape[1]))
    buffer = np.empty((min(m, step), k, X.shape[1]), dtype=X.dtype)
    for rows in spans(m, step):
        taken = buffer[: rows.stop - rows.start]
        np.take(X, index[rows], axis=0, out=taken, mode="clip")  # mode="raise" would copy the buffer first
        difference = np.subtract(taken, queries[rows, None, :], out=taken if taken.dtype == kind else None)
        np.einsum("ikd,ikd->ik", difference, difference, out=out[rows])
    return out


def edge_lengths(X: Array, graph: SparseMatrix) -> Array:
    """``|x_i - x_j|`` of the stored pairs of a graph (nnz,), computed from differences."""
    one, out = np.repeat(np.arange(len(X)), np.diff(graph.indptr)), np.empty(graph.nnz)
    for part in spans(graph.nnz, max(1, _LISTED // X.shape[1])):
        out[part] = distances_to_listed(X[one[part]], X, graph.indices[part, None])[:, 0]
    return out


def _sorted_exact(Q: Array, X: Array, candidates: Array, k: int) -> tuple[Array, Array]:
    """The ``k`` nearest of the candidates (m, w), by distances from differences: row numbers and distances (m, k)."""
    candidates = np.sort(candidates, axis=1)
    distance = distances_to_listed(Q, X, candidates)
    order = np.argsort(distance, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(candidates, order, axis=1), np.take_along_axis(distance, order, axis=1)

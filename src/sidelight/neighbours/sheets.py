"""Neighbour graphs of folded sheets, without the bridges between their layers.

Where a sheet is thinly sampled or noisy, mutual neighbours may lie on different layers, and one such edge (a bridge)
folds every map that follows the graph. ``neighbours.bridges`` finds edges that shortcut long paths. But edges that
close a loop, or join two clusters, are shortcuts of that kind too, and must stay. So edges are left out, at most 8 % of
them, only if two things show that the rows are a folded sheet:

misfit   The path lengths fit into the plane without them, and did not with them. With d the path lengths between 128
         landmark rows and d₂ the distances in their classical scaling in two dimensions,

             misfit = 1 - corr(d, d₂)²

         has to fall to at most a quarter, and to at most 0.015.
share    They leave the sheet. The share of the squared length of an edge i → j that lies in the plane of the neighbours
         of row i is, on average, at most 0.6 times that of other edges. A bridge is about orthogonal to the sheet;
         an edge that closes a ring or a tube continues it. Where most columns are noise, shares are those in the
         principal components above it: in 50 noisy columns most of every edge is noise.

Everything else keeps the graph of all mutual neighbours, to the bit. Chosen on swiss rolls of 200 to 600 rows with
noise up to 1, and on rings, tubes, spheres and tables that have to stay as they are (decision 0034).
Cost: where the misfit of the whole graph is not small already, one search for shortcuts; up to three more on sheets,
and for up to 1,000 rows with a local dimension of at most 3.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import triu
from scipy.spatial.distance import pdist, squareform

from sidelight.base.eigenvalues import selected_pairs
from sidelight.base.types import Array, SparseMatrix

from .bridges import graph_without_shortcuts, long_detours
from .dimension import local_dimension
from .distances import squared_distances
from .graph import joined_graph, joined_links
from .landmarks import landmark_distances, spread_rows
from .search import Neighbours
from .sparse_distances import Points, SparseDistances

__all__ = ["SheetGraph", "planar_misfit", "sheet_graph", "unfolded_graph"]


@dataclass(frozen=True)
class Edges:
    """Edges of a graph, each once: ends ``row`` and ``col`` (m,), lengths ``data`` (m,)."""

    row: Array
    col: Array
    data: Array

    @classmethod
    def of(cls, graph: SparseMatrix) -> Edges:
        upper = triu(graph, k=1).tocoo()
        return cls(upper.row.astype(np.int64), upper.col.astype(np.int64), upper.data)


_FLAT = 0.005  # misfit of a graph that needs no improvement: unfolded sheets have 0.001 to 0.004
_BETTER = 0.25  # of the misfit with all edges: sheets come below 0.1, most tables and pictures stay above 0.45
_SHEET = 0.015  # misfit of an unfolded sheet at the most; tables and pictures that pass the others have 0.02 to 0.08
_MOST = 0.08  # of the edges may be bridges; rolls of 200 rows have 0.05, loops through three clusters lost 0.15
_WORTH = 0.5  # of it, in the first search: else the rows are no sheet, and no other search is made,
_FEW, _THIN = 1000, 3.0  # unless they are few, with so few dimensions: noisy rolls need all searches
_INSIDE = 0.6  # of the share of usual edges: bridges have 0.1 to 0.59, edges that close a ring 0.65 and more
_PARTS = (0.8, 1.0, 2 / 3, 8 / 15)  # of the neighbours, that the searches for shortcuts look at
_FEWEST = 6  # rows for each neighbour, below which no sheet can be told
_LANDMARKS, _COMPARED, _SURROUNDINGS = 128, 40, 8
_MANY, _ABOVE = 6, 2.5  # columns beyond which the median variance is that of noise, and times it that of a signal
_MOST_COLUMNS = 200  # up to which these components are also looked at to see whether all searches are worth it


@dataclass(frozen=True)
class SheetGraph:
    """Edge lengths (n, n), symmetric and connected; whether bridges were left out, so that the rows are a sheet."""

    graph: SparseMatrix
    is_unfolded: bool


def sheet_graph(
    X: Points, neighbours: Neighbours, *, precomputed: bool = False, n_jobs: int | None = None
) -> SparseMatrix:
    """The graph of ``unfolded_graph`` alone."""
    return unfolded_graph(X, neighbours, precomputed=precomputed, n_jobs=n_jobs).graph


def unfolded_graph(
    X: Points, neighbours: Neighbours, *, precomputed: bool = False, n_jobs: int | None = None
) -> SheetGraph:
    """Graph of mutual neighbours in one piece (``joined_graph``); if the rows are a folded sheet, without bridges.

    Parameters
    ----------
    X : array of shape (n, d), distances (n, n), or SparseDistances, whose graph is never changed
    neighbours : Neighbours
        Neighbour lists (n, k).
    precomputed : bool
        Whether ``X`` holds distances.
    n_jobs : int or None
        Threads.

    Returns
    -------
    SheetGraph
    """
    whole = joined_graph(X, neighbours, precomputed=precomputed)
    n, k = neighbours.index.shape
    if isinstance(X, SparseDistances) or n < _FEWEST * k:
        return SheetGraph(whole, False)
    misfit = planar_misfit(whole, n_jobs=n_jobs)
    if misfit <= _FLAT:
        return SheetGraph(whole, False)
    rows, edges = _Rows(X, precomputed, n_jobs), Edges.of(whole)
    clear: _Rows | None = None
    best, least, usual = whole, min(_SHEET, _BETTER * misfit), 0.0
    tried: set[bytes] = set()
    hasty = n > _FEW or (local_dimension(neighbours.distance) > _THIN and not rows.is_thin_above_noise())
    for part in _PARTS:
        sparse = rows.without_shortcuts(neighbours, part)
        if hasty and not tried and planar_misfit(sparse, n_jobs=n_jobs) > _WORTH * misfit:
            return SheetGraph(whole, False)
        far = long_detours(sparse, edges.row, edges.col, edges.data, n_jobs=n_jobs)
        if far.tobytes() in tried:
            continue
        tried.add(far.tobytes())
        if not 0 < far.sum() <= _MOST * len(far):
            continue
        graph = rows.left(edges, far)
        found = planar_misfit(graph, n_jobs=n_jobs)
        if found <= least:
            clear = clear or rows.above_noise()
            usual = usual or clear.share_inside(whole, edges, np.flatnonzero(edges.data > 0))
            if clear.share_inside(graph, edges, np.flatnonzero(far)) <= _INSIDE * usual:
                best, least = graph, found
        if least <= _FLAT:
            break
    return SheetGraph(best, best is not whole)


def planar_misfit(graph: SparseMatrix, *, n_jobs: int | None = None) -> float:
    """``1 - corr(d, d₂)²`` of path lengths d between landmarks and distances d₂ in their scaling in the plane.

    Examples
    --------
    >>> from scipy.sparse import diags_array
    >>> chain = diags_array([np.ones(9), np.ones(9)], offsets=[-1, 1]).tocsr()
    >>> planar_misfit(chain) < 1e-12
    True
    """
    n = graph.shape[0]
    rows, D = landmark_distances(np.empty((n, 0)), graph, n_landmarks=_LANDMARKS, n_jobs=n_jobs)
    among = D[:, rows]
    if len(rows) < 3:
        return 0.0
    squares = 0.5 * (among**2 + among.T**2)
    means = squares.mean(axis=0)
    centred = means[:, None] + means - squares - means.mean()
    values, vectors = selected_pairs(0.5 * centred, len(rows) - 2, len(rows) - 1)
    plane = pdist(vectors * np.sqrt(np.maximum(values, 0.0)))
    paths = squareform(np.sqrt(squares), checks=False)
    paths, plane = paths - paths.mean(), plane - plane.mean()
    power = float(paths @ paths) * float(plane @ plane)
    return 1.0 - float(paths @ plane) ** 2 / power if power > 0 else 0.0


@dataclass(frozen=True)
class _Rows:
    """Rows (n, d) or all distances (n, n) between them."""

    X: Array
    precomputed: bool
    n_jobs: int | None

    def without_shortcuts(self, neighbours: Neighbours, part: float) -> SparseMatrix:
        """Graph of ``part`` of the neighbours without shortcuts, confirmed by the nearer half of them."""
        k = max(2, round(part * neighbours.index.shape[1]))
        near = Neighbours(neighbours.index[:, :k], neighbours.distance[:, :k])
        core = (k + 1) // 2
        return graph_without_shortcuts(self.X, near, core=core, precomputed=self.precomputed, n_jobs=self.n_jobs)

    def left(self, edges: Edges, far: Array) -> SparseMatrix:
        """The graph of the edges that are not ``far`` (m,), in one piece."""
        left = edges.row[~far], edges.col[~far], edges.data[~far]
        return joined_links(self.X, *left, precomputed=self.precomputed)

    def above_noise(self) -> _Rows:
        """The rows in the principal components whose variance is well above the median one; all, if fewer than 3 are.

        Without many columns, or with distances only, all are kept.
        """
        if self.precomputed or self.X.shape[1] <= _MANY:
            return self
        centred = np.asarray(self.X, dtype=np.float64) - self.X.mean(axis=0)
        wide = centred.shape[1] > centred.shape[0]
        values, vectors = np.linalg.eigh(centred @ centred.T if wide else centred.T @ centred)
        kept = values > _ABOVE * np.median(values)
        if kept.sum() < 3 or kept.all():
            return self
        scores = vectors[:, kept] * np.sqrt(values[kept]) if wide else centred @ vectors[:, kept]
        return replace(self, X=scores)

    def is_thin_above_noise(self) -> bool:
        """Whether so few components are above the noise that the rows can be a sheet in it."""
        return bool(self.X.shape[1] <= _MOST_COLUMNS and self.above_noise().X.shape[1] <= _THIN)

    def share_inside(self, graph: SparseMatrix, edges: Edges, which: Array) -> float:
        """Mean share of the squared lengths of edges in the planes of the neighbours of their ends, of at most 40."""
        which = which[spread_rows(len(which), _COMPARED)]
        ends = zip(edges.row[which].tolist(), edges.col[which].tolist(), strict=True)
        return float(np.mean([0.5 * (self._inside(graph, i, j) + self._inside(graph, j, i)) for i, j in ends]))

    def _inside(self, graph: SparseMatrix, i: int, j: int) -> float:
        """Share of the squared length of i → j within the local plane of row i, estimated without j.

        Coordinates are those of classical scaling of the neighbours, from squared distances only: with B = U Λ Uᵀ their
        centred Gram matrix, row j is at Λ^(-1/2) Uᵀ (mean squares - squares of j) / 2.
        """
        near = _around(graph, i)
        near = near[(near != j) & (near != i)]
        squares = self._squares(np.r_[j, i, near])
        m, length = len(near) + 1, float(squares[0, 1])
        if m < 3 or length <= 0:
            return 1.0
        among = squares[1:, 1:]
        means = among.mean(axis=0)
        values, vectors = selected_pairs(0.5 * (means[:, None] + means - among - means.mean()), m - 2, m - 1)
        used = values > 1e-9 * max(float(values[-1]), 1e-300)
        step = 0.5 * (squares[1, 1:] - squares[0, 1:]) @ vectors[:, used] / np.sqrt(values[used])
        return min(1.0, float(step @ step) / length)

    def _squares(self, rows: Array) -> Array:
        """Squared distances (m, m) among some rows."""
        if self.precomputed:
            return np.asarray(self.X[np.ix_(rows, rows)], dtype=np.float64) ** 2
        near = self.X[rows] - self.X[rows[0]]  # differences of large numbers lose digits
        return np.asarray(squared_distances(near, near))


def _around(graph: SparseMatrix, i: int) -> Array:
    """Row i and its neighbours in the graph; also their neighbours, if it has few."""
    near = np.r_[i, graph.indices[graph.indptr[i] : graph.indptr[i + 1]]]
    if len(near) <= _SURROUNDINGS:
        near = np.concatenate([near, *(graph.indices[graph.indptr[a] : graph.indptr[a + 1]] for a in near)])
    return np.unique(near)

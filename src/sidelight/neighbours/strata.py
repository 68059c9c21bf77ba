"""Strata: groups of rows with the same (or nearly the same) side information, and the nearest rows within each.

An embedding that is to be independent of the side information needs a kernel with neighbours under every value of it.
Categories are strata as they are. Numbers and angles are partitioned into a few cells by k-means, independently of the
row order.

One pass over all pairs finds the nearest rows of every stratum exactly. Where ``search.exact_seconds`` estimates more
than ``search.EXACT_SECONDS`` for this, each stratum gets a cell index of its own (``cell_index``), in which all rows
search. Beyond 64 columns that search is in 64 principal components, and a few more candidates than wanted are
re-ranked in all columns. Cost: O(n² d), or O(n √n r) for each stratum; memory O(n Σk).
If not all distances are known (``sparse_distances``), a row has the nearest known rows of a stratum, and none where no
distance is known.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from sidelight.base.tiles import run_tiles, spans
from sidelight.base.types import Array, Slice

from .reduction import reduction
from .search import EXACT_SECONDS, Neighbours, distances_to_listed, exact_seconds, smallest
from .sparse_distances import SparseDistances

__all__ = ["FEW_STRATA", "MOST_STRATA", "InStratum", "cells", "centres", "codes_of", "merged", "nearest_in_strata"]


MOST_STRATA = 48
"""Categories that are kept apart."""
FEW_STRATA = 12
"""Strata that more categories are merged to: a stratum of few rows has none near most rows."""
_CELLS, _ROWS_PER_CELL = 9, 20
_BUDGET = 1_000_000  # numbers in the temporaries of one tile
_COMPONENTS = 64  # the most columns that an index searches without a reduction of its own
_PROBES = 8  # cells searched besides the home cell: a few rows per stratum are wanted, and the recall is 0.99
_MEASURED = 2048  # rows whose lists are re-ranked at a time


def codes_of(values: Array) -> Array:
    """Integer codes 0, 1, ... (n,), equal for rows with equal values."""
    return np.asarray(np.unique(values, axis=0, return_inverse=True)[1].reshape(-1))


def cells(features: Array, most: int) -> Array:
    """k-means cells of numeric features (n,): at most ``most``, at most nine, and at least 20 rows each on average."""
    count = max(1, min(_CELLS, most, len(features) // _ROWS_PER_CELL))
    distinct, back, weight = np.unique(features, axis=0, return_inverse=True, return_counts=True)
    if len(distinct) <= count:
        return np.asarray(back.reshape(-1))
    found = centres(distinct, weight, count, n_init=4)[1]
    return np.asarray(codes_of(found[:, None])[back.reshape(-1)])


def centres(distinct: Array, weight: Array, count: int, *, n_init: int = 1) -> tuple[Array, Array]:
    """k-means of distinct sorted rows with their counts as weights, independent of the row order of the data.

    Parameters
    ----------
    distinct : array of shape (m, f)
    weight : array of shape (m,)
    count : int
        Number of clusters.
    n_init : int
        Restarts.

    Returns
    -------
    centres : array of shape (count, f)
    labels : array of shape (m,)
    """
    from sklearn.cluster import KMeans  # here, because it would slow down the import of the library

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = KMeans(count, n_init=n_init, random_state=0).fit(distinct, sample_weight=weight)
    return np.asarray(found.cluster_centers_), np.asarray(found.labels_)


def merged(codes: Array, most: int = MOST_STRATA) -> Array:
    """Reduce more than ``most`` codes (n,) to twelve strata: codes equal modulo twelve are merged.

    A row then searches several categories at once, and no category is favoured.

    Examples
    --------
    >>> merged(np.arange(50))[[0, 11, 12, 49]], merged(np.arange(48))[47]
    (array([ 0, 11,  0,  1]), np.int64(47))
    """
    return np.asarray(codes % FEW_STRATA if codes.max() >= most else codes)


@dataclass(frozen=True)
class InStratum:
    """Nearest rows within one stratum: ``rows`` (m,) are those that have any, ``neighbours`` their lists (m, k)."""

    rows: Array
    neighbours: Neighbours


def nearest_in_strata(
    points: Array | SparseDistances,
    codes: Array,
    k: int | Array,
    *,
    precomputed: bool = False,
    n_jobs: int | None = None,
    exact: bool | None = None,
) -> list[InStratum]:
    """For each stratum, its ``k`` rows (or ``k[s]``) nearest to each row of the data, a row itself left out.

    Parameters
    ----------
    points : array of shape (n, d), distances (n, n), or SparseDistances
    codes : array of shape (n,)
        Stratum of each row, numbered from 0.
    k : int or array of shape (S,)
        Neighbours per stratum.
    precomputed : bool
        Whether ``points`` are distances.
    n_jobs : int or None
        Threads.
    exact : bool or None
        Whether every neighbour is found; always so for precomputed distances. None: by the size of the data, see above.

    Returns
    -------
    list of InStratum
        One per stratum.
    """
    inside = [np.flatnonzero(codes == code) for code in range(int(codes.max()) + 1)]
    widths = [
        min(int(most), max(1, len(rows) - 1))
        for most, rows in zip(np.broadcast_to(k, len(inside)), inside, strict=True)
    ]
    if isinstance(points, SparseDistances):
        return _among_known(points, inside, widths)
    if exact is None:
        exact = exact_seconds(*points.shape) <= EXACT_SECONDS
    if exact or precomputed:
        return _in_one_pass(points, inside, widths, precomputed, n_jobs)
    return _in_cells(points, inside, widths, n_jobs)


def _among_known(points: SparseDistances, inside: list[Array], widths: list[int]) -> list[InStratum]:
    """Nearest known rows of each stratum; lists are padded with infinite distances."""
    found = []
    for members, width in zip(inside, widths, strict=True):
        part = points.among(np.arange(len(points)), members)
        rows = np.flatnonzero(part.counts)
        near = part[rows].nearest(width)
        found.append(InStratum(rows, Neighbours(members[near.index], near.distance)))
    return found


def _in_one_pass(
    points: Array, inside: list[Array], widths: list[int], precomputed: bool, n_jobs: int | None
) -> list[InStratum]:
    """Exact search of all strata in one pass over the pairs.

    A squared distance below the rounding error of its matrix product counts as 0.
    """
    squares = _Squares(points, precomputed)

    def one(rows: Slice) -> list[tuple[Array, Array]]:
        D = squares(rows)
        D[np.arange(len(D)), np.arange(rows.start, rows.stop)] = np.inf
        return [smallest(np.take(D, members, axis=1), width) for members, width in zip(inside, widths, strict=True)]

    parts = run_tiles(one, spans(len(points), max(8, min(512, _BUDGET // len(points)))), n_jobs)
    found = []
    for s, members in enumerate(inside):
        place, distance = (np.concatenate([part[s][which] for part in parts]) for which in (0, 1))
        rows = np.flatnonzero(np.isfinite(distance[:, -1]))  # all but the only row of its stratum
        found.append(InStratum(rows, Neighbours(members[place[rows]], np.sqrt(distance[rows]))))
    return found


def _in_cells(points: Array, inside: list[Array], widths: list[int], n_jobs: int | None) -> list[InStratum]:
    """Search each stratum by its own cell index; ties go to the lower row number among the rows searched."""
    reduced = points.shape[1] > _COMPONENTS
    projected = reduction(points)(points, n_jobs)[:, :_COMPONENTS] if reduced else points
    found = []
    for members, width in zip(inside, widths, strict=True):
        wanted = min(width + width // 4 + 2, max(1, len(members) - 1)) if reduced else width
        stratum = _listed(projected, members, wanted, n_jobs)
        found.append(_measured(points, stratum, width, n_jobs) if reduced else stratum)
    return found


def _listed(projected: Array, members: Array, k: int, n_jobs: int | None) -> InStratum:
    """The ``k`` nearest members of the stratum to each row, a row itself left out."""
    from .cell_index import CellIndex  # here, as in ``search.nearest``

    search = CellIndex(projected[members], n_probes=_PROBES, n_jobs=n_jobs)
    own = np.zeros(len(projected), dtype=bool)
    own[members] = True
    rows = np.flatnonzero(~own | (len(members) > 1))  # the only row of its stratum has no list in it
    index, distance = np.empty((len(rows), k), dtype=np.int64), np.empty((len(rows), k))
    inside = own[rows]
    if not inside.all():
        near = search.nearest(projected[rows[~inside]], k=k, n_jobs=n_jobs)
        index[~inside], distance[~inside] = members[near.index], near.distance
    if inside.any():
        near = search.nearest(k=k, n_jobs=n_jobs)
        index[inside], distance[inside] = members[near.index], near.distance
    return InStratum(rows, Neighbours(index, distance))


def _measured(points: Array, stratum: InStratum, k: int, n_jobs: int | None) -> InStratum:
    """Re-rank the candidate lists by distances in all columns, and keep the ``k`` nearest."""

    def one(part: Slice) -> tuple[Array, Array]:
        candidates = np.sort(stratum.neighbours.index[part], axis=1)
        distance = distances_to_listed(points[stratum.rows[part]], points, candidates)
        order = np.argsort(distance, axis=1, kind="stable")[:, :k]
        return np.take_along_axis(candidates, order, axis=1), np.take_along_axis(distance, order, axis=1)

    parts = run_tiles(one, spans(len(stratum.rows), _MEASURED), n_jobs)
    return InStratum(stratum.rows, Neighbours(*(np.concatenate(part) for part in zip(*parts, strict=True))))


class _Squares:
    """Squared distances (m, n) from some rows to all, of points or of a distance matrix."""

    def __init__(self, points: Array, precomputed: bool) -> None:
        self.precomputed = precomputed
        self.points = points if precomputed else points - points.mean(axis=0)
        self.norms = np.zeros(len(points)) if precomputed else np.einsum("ij,ij->i", self.points, self.points)
        self.rounding = (points.shape[1] + 8) * np.finfo(np.float64).eps

    def __call__(self, rows: Slice) -> Array:
        if self.precomputed:
            return np.asarray(self.points[rows], dtype=np.float64) ** 2
        D = self.points[rows] @ self.points.T
        D *= -2.0
        D += self.norms[rows, None]
        D += self.norms
        D[self.rounding * (self.norms[rows, None] + self.norms.max()) >= D] = 0.0
        return np.asarray(D)

r"""How well a map keeps the surroundings of each row, from rows and their places alone, each row by itself.

Rows y (n, d) as the model sees them (after the effect of ``given``), places z (n, q), K = 15 neighbours. Rows of many
columns are compared along the directions that tell neighbours from random rows (``neighbour_space``), as the multilevel
solver compares them:

    kept      Σ_j s(r_Y(i, j)) ℓ(r_Z(i, j))      j: neighbours of row i in the data, r_Z their ranks on the map
    true      Σ_j s(r_Z(i, j)) ℓ(r_Y(i, j))      the same with data and map exchanged
    returns   (g_i² - |y_i - ŷ_i|²) / (g_i² - |y_i - ỹ_i|²)      ŷ_i, ỹ_i: y from its neighbours on the map, in the data
    stays     1 - |z_i - ẑ_i| / δ                ẑ_i: z by the map without row i; δ: median distance on the map

The weights s (sum 1) fall from rank K/2 to 0 at rank 3K/2, and ℓ falls with the logarithm of the rank from 1 at 3K/2
(with more than 600 rows: at the same share of the rows, 3.75 %) to 0 at n/2, so that one rank more or less never
matters, and more rows of the same kind have the same parts. Ranks beyond the lists of 2K neighbours are estimated by a
sample of rows. g_i² is half of the mean squared distance from row i to all rows.
ŷ and ỹ are kernel regressions without the row itself: ŷ is what ``inverse_transform`` would make of its place. ẑ is
where ``transform`` would put it, had it not been among the rows of the map (``maps.left_out_places``), or, where that
is not known, a kernel regression of z from its neighbours in the data.

Cost: neighbours in the data and on the map, and O(n (2K + sample) (r + q)) in r directions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.base.tiles import run_tiles, spans
from sidelight.kernels.bandwidths import quick_rows
from sidelight.maps.weights import list_weighted_mean
from sidelight.neighbours.distances import squared_distances
from sidelight.neighbours.reduction import neighbour_space
from sidelight.neighbours.search import Neighbours, distances_to_listed, nearest, nearest_by_tree

__all__ = ["NEIGHBOURS", "MappedRows", "Parts", "row_parts", "surroundings", "typical_distance"]

Array = npt.NDArray[Any]
NEIGHBOURS = 15
"""K above."""
_SAMPLED = 200  # rows that ranks beyond the lists, and distances between random rows, are estimated by
_FEW_ROWS = 600  # rows up to which near means among so many neighbours, and not a share of the rows
_TREE = 8  # columns up to which a k-d tree finds neighbours faster
_TILE = 1024
_ROUNDING = 1e-12


@dataclass(frozen=True)
class MappedRows:
    """Rows ``data`` (n, d) and their ``places`` (n, q).

    ``lists`` (n, w) are neighbours of each row in the data, if the model knows them; used if nearest come first.
    ``all_columns``: whether rows are compared in all columns, however many. ``left_out`` (n, q): where each row would
    be placed by the map without it, if known.
    """

    data: Array
    places: Array
    lists: Array | None = None
    all_columns: bool = False
    left_out: Array | None = None

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.data)


@dataclass(frozen=True)
class Surroundings:
    """Neighbours (m, w) of some rows among the ``rows`` of a map, in the data and on the map, nearest first.

    ``itself`` (m,): which of the ``rows`` each is, or -1.
    """

    rows: MappedRows
    asked: MappedRows
    in_data: Neighbours
    on_map: Neighbours
    itself: Array


@dataclass(frozen=True)
class Parts:
    """The four parts (m,) of each row, between 0 and 1, and how it ``moved`` (m, q) when left out, in map units."""

    kept: Array
    true: Array
    returns: Array
    stays: Array
    moved: Array


def surroundings(rows: MappedRows, asked: MappedRows | None, n_jobs: int | None) -> Surroundings:
    """Neighbours of the rows themselves, or of the rows ``asked`` for, a row that is among ``rows`` without itself."""
    width = 2 * _neighbours(len(rows))
    rows, asked = _in_neighbour_space(rows, asked, n_jobs)
    if asked is None:
        in_data = _listed(rows, width) or _search(rows.data, None, width, n_jobs)
        return Surroundings(rows, rows, in_data, _search(rows.places, None, width, n_jobs), np.arange(len(rows)))
    near = _search(rows.data, asked.data, width + 1, n_jobs)
    scale = np.median(near.distance[:, -1]) if len(near.distance) else 0.0
    same = 1e-9 if rows.data.dtype == np.float64 else 1e-6
    itself = np.where(near.distance[:, 0] <= same * scale, near.index[:, 0], -1)
    on_map = _search(rows.places, asked.places, width + 1, n_jobs)
    return Surroundings(rows, asked, _without(near, itself), _without(on_map, itself), itself)


def row_parts(around: Surroundings, rng: np.random.RandomState, n_jobs: int | None) -> Parts:
    """The parts of each row, from its surroundings; ``rng`` draws the sample that long ranks are estimated by."""
    sample = _sample(len(around.rows), rng)
    typical, spread = (float(np.median(_pair_distances(V[sample]))) for V in (around.rows.places, around.rows.data))
    if not typical * spread > 0:  # all rows equal, or at one place: nothing is a neighbourhood
        none = np.zeros(len(around.asked))
        return Parts(none, none, none, none, np.zeros(around.asked.places.shape))
    tiles = run_tiles(lambda part: _parts_of(around, part, sample, typical), spans(len(around.asked), _TILE), n_jobs)
    return Parts(*(np.concatenate([tile[number] for tile in tiles]) for number in range(5)))


def typical_distance(points: Array, rng: np.random.RandomState) -> float:
    """Median distance between two points, by a sample."""
    return float(np.median(_pair_distances(points[_sample(len(points), rng)])))


def _sample(n: int, rng: np.random.RandomState) -> Array:
    return np.asarray(np.sort(rng.choice(n, size=min(n, _SAMPLED), replace=False)))


def _parts_of(around: Surroundings, part: slice, sample: Array, typical: float) -> tuple[Array, ...]:
    rows, asked = around.rows, around.asked
    n, k = len(rows), _neighbours(len(rows))
    Y, Z, itself = asked.data[part], asked.places[part], around.itself[part]
    near, near_map = (Neighbours(found.index[part], found.distance[part]) for found in (around.in_data, around.on_map))
    to_sample = squared_distances(Y, rows.data[sample])
    to_sample_map = squared_distances(Z, rows.places[sample])
    share = _soft_shares(near.index.shape[1], k)
    used = len(share)
    on_map = distances_to_listed(Z, rows.places, near.index[:, :used])
    in_data = distances_to_listed(Y, rows.data, near_map.index[:, :used])
    kept = _closeness(_ranks(on_map, near_map.distance, to_sample_map, n), n, k) @ share
    true = _closeness(_ranks(in_data, near.distance, to_sample, n), n, k) @ share
    lists = min(2 * k, near.index.shape[1])
    weights, weights_map = (_weights(found.distance[:, :lists], k / 2) for found in (near, near_map))
    place = list_weighted_mean(weights, rows.places, near.index[:, :lists])
    best = list_weighted_mean(weights, rows.data, near.index[:, :lists])
    back = list_weighted_mean(weights_map, rows.data, near_map.index[:, :lists])
    if rows.left_out is not None:
        place = np.where(itself[:, None] >= 0, rows.left_out[itself], place)
    moved = place - Z
    own = np.maximum(0.5 * to_sample.mean(axis=1), 1e-300)
    lost, least = (((Y - guess) ** 2).sum(axis=1) / own for guess in (back, best))
    returns = np.clip((1.0 - lost) / np.maximum(1.0 - np.minimum(least, 0.99), 0.01), 0.0, 1.0)
    stays = np.clip(1.0 - np.sqrt((moved**2).sum(axis=1)) / typical, 0.0, 1.0)
    return kept, true, returns, stays, moved


def _weights(distance: Array, perplexity: float) -> Array:
    """Weights (m, k) of neighbours, nearest first; float32 is enough, in units of the farthest, which fits it."""
    top = np.where(distance[:, -1:] > 0, distance[:, -1:], 1.0)
    return quick_rows(((distance / top) ** 2).astype(np.float32), perplexity)


def _neighbours(n: int) -> int:
    return min(NEIGHBOURS, max(2, (n - 1) // 6))


def _soft_shares(width: int, k: int) -> Array:
    """Weights s above, for ranks from 1; zeros at the end are left out."""
    s = np.clip((1.5 * k - np.arange(1, width + 1)) / k, 0.0, 1.0)
    s = s[s > 0]
    return np.asarray(s / s.sum())


def _closeness(ranks: Array, n: int, k: int) -> Array:
    """Values ℓ above."""
    near = 1.5 * k * max(1.0, n / _FEW_ROWS)
    fallen = np.log(np.maximum(ranks / near, 1.0)) / np.log(max(0.5 * n / near, 1.1))
    return np.asarray(np.clip(1.0 - fallen, 0.0, 1.0))


def _ranks(distance: Array, listed: Array, sampled: Array, n: int) -> Array:
    """Ranks (m, u) of distances (m, u): exact within the lists (m, w), estimated beyond by a sample of rows.

    ``sampled`` (m, s): *squared* distances to these.
    """
    m, u = distance.shape
    rank = 1.0 + _counts_below(listed, distance.ravel(), np.repeat(np.arange(m), u)).reshape(m, u)
    row, column = np.nonzero(rank > listed.shape[1])
    beyond = _counts_below(np.sort(sampled, axis=1), distance[row, column] ** 2, row) * (n / sampled.shape[1])
    rank[row, column] = np.maximum(rank[row, column], beyond)
    return rank


def _counts_below(ordered: Array, values: Array, row: Array) -> Array:
    """How many entries of its sorted ``row`` of (m, w) numbers are below each value (p,): all by bisection at once.

    Entries that are equal up to rounding, as are distances to the same row that were computed in two ways, are not.
    """
    width, entries = ordered.shape[1], ordered.ravel()
    values = (1.0 - _ROUNDING) * values
    at = row * width  # the first entry that may not be below
    while width > 1:
        half = width // 2
        at += half * (entries[at + (half - 1)] < values)
        width -= half
    return np.asarray(at + (entries[at] < values) - row * ordered.shape[1])


def _in_neighbour_space(
    rows: MappedRows, asked: MappedRows | None, n_jobs: int | None
) -> tuple[MappedRows, MappedRows | None]:
    """The rows along the directions that tell neighbours, in float32; as they are where all columns should be used."""
    space = None if rows.all_columns else neighbour_space(rows.data)
    if space is None:
        return rows, asked
    seen = None if asked is None else replace(asked, data=space(asked.data, n_jobs))
    return replace(rows, data=space(rows.data, n_jobs)), seen


def _search(points: Array, queries: Array | None, k: int, n_jobs: int | None) -> Neighbours:
    if points.shape[1] <= _TREE:
        return nearest_by_tree(points, queries, k=k)
    return nearest(points, queries, k=k, n_jobs=n_jobs)


def _listed(rows: MappedRows, width: int) -> Neighbours | None:
    """The model's own neighbour lists with their distances; None if they are short, or not in the order of these."""
    if rows.lists is None or rows.lists.shape[1] < width:
        return None
    index = np.asarray(rows.lists[:, :width], dtype=np.int64)
    distance = distances_to_listed(rows.data, rows.data, index)
    if (np.diff(distance, axis=1) < -1e-6 * distance[:, -1:]).any():
        return None
    return Neighbours(index, np.maximum.accumulate(distance, axis=1))


def _without(found: Neighbours, itself: Array) -> Neighbours:
    """Leave the row ``itself`` (m,) out of each list, or the last one where it is not among them."""
    drop = found.index == itself[:, None]
    drop[~drop.any(axis=1), -1] = True
    shape = (len(drop), drop.shape[1] - 1)
    return Neighbours(found.index[~drop].reshape(shape), found.distance[~drop].reshape(shape))


def _pair_distances(points: Array) -> Array:
    """Distances between all pairs of some points."""
    return np.asarray(np.sqrt(squared_distances(points, points)[np.triu_indices(len(points), 1)]))

"""Which rows have counterparts in which groups: mutual neighbours, with a null from within the group.

Row i of group a, group s, both with their shared effects subtracted. N_s(i) are the k = 5 rows of s nearest to i, and
D_a(j) is the squared distance from j to its 2k-th nearest row of a (of a larger group a: its (2k n_a / n_s)-th; twice,
because kinds may be twice as frequent in a). Two mean log ratios,

    rivalry   t_is = mean_j∈N_s(i)  log |x_i - x_j|² / D_a(j)         has what lies nearest in s better matches than i?
    distance  e_is = log  mean_j∈N_s(i) |x_i - x_j|²  /  mean_j∈N_a(i) |x_i - x_j|²       is s farther than a?

each averaged over i and its ten nearest rows of its own group. A type that is missing in s is nearest to another type
of s, which has better matches in a: t > 0, even where an effect of the groups is left, which is in both distances. Two
types of which each is missing in the other's group may be each other's best matches: e > 0.

The null is what these ratios are within group a, of which nothing is missing: t of its rows towards itself, by the k-th
nearest, and for e the log ratio of the squared distances of the second five neighbours to those of the first five, as
if s had half the density of a. With their 95 % quantiles τ_a, ε_a and the median of e among the rows with t below τ_a
as what is left of the effect, e⁰_as ≥ 0,

    r_is = exp(-(max(0, t_is - τ_a) + max(0, e_is - e⁰_as - ε_a)) / 0.04)

is near 1 where row i has counterparts in s and near 0 where it has none. Nothing depends on the order of the rows.

Repeated measurements (visits of one patient, frames of one film) lie nearer to each other than any row of another group
can, without anything missing there. So the nearest rows of a row's own group are skipped in all of the above, as many
as a row usually has repeats (``repeats``).

What is left of the effect between two groups is the mean of both medians, max(0, (med e_as + med e_sa) / 2): a group of
more rows is nearer from one side and farther from the other, after an offset or another spread both are farther.
Cost: that of ``nearest_in_strata``; memory O(n C).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sidelight.base.types import Array

from .repeats import MOST_REPEATS, usual_repeats
from .strata import InStratum, nearest_in_strata

__all__ = ["FEWEST", "TOGETHER", "Counterparts", "counterparts", "rows_alone"]


FEWEST = 10
"""Rows of a group below which nothing can be said of its counterparts."""
TOGETHER = 0.35
"""Separation up to which groups lie in each other: decision 0026."""
_NEAR = 5  # neighbours in another group
_POOLED = 10  # neighbours in the own group whose ratios are averaged
_MOST = 60  # longest list of a large group
_USUAL = 0.95  # quantile of the null
_SOFT = 0.04  # excess over the null at which the representation is 1/e
_HARDLY = 0.1  # representation in a group below which a row has no counterparts there


@dataclass(frozen=True)
class Counterparts:
    """How far each row is represented in each group.

    Parameters
    ----------
    share : array of shape (n, C)
        r above, in [0, 1]; 1 in the own group, and where a group has too few rows to tell.
    separation : float
        Median of e over rows and other groups: how far apart groups are, near 0 where they lie in each other.
    separation_of_matches : float
        The same over rows and groups with t < 0, mutual neighbours: rows without counterparts do not count in it.
    effect_left : array of shape (C, C)
        What is left of the effect between two groups, as above; 0 where too few rows can tell.
    """

    share: Array
    separation: float
    separation_of_matches: float
    effect_left: Array


def counterparts(points: Array, codes: Array, *, effect_left: bool = True, n_jobs: int | None = None) -> Counterparts:
    """Representation of each row in each group, of ``points`` (n, d) in groups ``codes`` (n,), 0 to C - 1.

    Without ``effect_left``, e⁰ is 0: only rows that lie in the other group as they are have counterparts there.
    """
    counts = np.bincount(codes)
    told = [group for group, count in enumerate(counts.tolist()) if count >= FEWEST]
    share = np.ones((len(points), len(counts)))
    if len(told) < 2:
        return Counterparts(share, 0.0, 0.0, np.zeros((len(counts), len(counts))))
    smallest = int(counts[told].min())
    widths = np.clip(np.ceil(2 * _NEAR * counts / smallest), _POOLED + MOST_REPEATS, _MOST).astype(int)
    lists = _Lists.of(nearest_in_strata(points, codes, widths, n_jobs=n_jobs), len(points))
    distances, of_matches = [], []
    medians = np.full((len(counts), len(counts)), -np.inf)  # of both directions, else nothing is told
    for a in told:
        rows = np.flatnonzero(codes == a)
        repeats = usual_repeats(points[rows])
        rivalry_bar, distance_bar = _null(lists, rows, a, repeats)
        for s in told:
            if s == a:
                continue
            rivalry, distance = _ratios(lists, rows, a, s, _reach(counts, a, s), repeats)
            left = distance[rivalry < rivalry_bar]
            if len(left) >= FEWEST:
                medians[a, s] = float(np.median(left))
            left_of_effect = max(0.0, float(medians[a, s])) if effect_left else 0.0
            excess = np.maximum(rivalry - rivalry_bar, 0.0)
            excess += np.maximum(distance - left_of_effect - distance_bar, 0.0)
            share[rows, s] = np.exp(-excess / _SOFT)
            distances.append(distance)
            of_matches.append(distance[rivalry < 0])
    matches = np.concatenate(of_matches)
    apart = float(np.median(np.concatenate(distances)))
    between = np.maximum(0.0, 0.5 * (medians + medians.T))
    return Counterparts(share, apart, float(np.median(matches)) if len(matches) else apart, between)


def _reach(counts: Array, a: int, s: int) -> int:
    """How many rows of ``a`` may correspond to five of ``s``, by the sizes of the groups."""
    return int(min(_MOST, np.ceil(2 * _NEAR * max(1.0, counts[a] / counts[s]))))


def _null(lists: _Lists, rows: Array, a: int, repeats: int) -> tuple[float, float]:
    """Quantiles of both ratios within one group."""
    squares = lists.squares[a][rows, repeats : repeats + 2 * _NEAR]
    wider = squares[:, _NEAR : 2 * _NEAR] if squares.shape[1] > _NEAR else squares
    ratio = np.log(wider.mean(axis=1) / squares[:, :_NEAR].mean(axis=1))
    rivalry = _ratios(lists, rows, a, a, _NEAR, repeats)[0]
    distance = _pooled(lists, rows, a, ratio[:, None])[:, 0]
    return float(np.quantile(rivalry, _USUAL)), float(np.quantile(distance, _USUAL))


@dataclass(frozen=True)
class _Lists:
    """Nearest rows of each row in each group, and their squared distances: two lists (C) of arrays (n, k)."""

    index: list[Array]
    squares: list[Array]

    @classmethod
    def of(cls, strata: list[InStratum], n: int) -> _Lists:
        index, squares = [], []
        for stratum in strata:
            width = stratum.neighbours.index.shape[1]
            numbers, lengths = np.zeros((n, width), dtype=np.int64), np.zeros((n, width))
            numbers[stratum.rows] = stratum.neighbours.index
            lengths[stratum.rows] = stratum.neighbours.distance**2
            index.append(numbers)
            squares.append(lengths)
        tiny = 1e-12 * max(1e-280, float(np.mean([part.mean() for part in squares])))
        return cls(index, [np.maximum(part, tiny) for part in squares])  # equal rows are at distance 0


def _ratios(lists: _Lists, rows: Array, a: int, s: int, reach: int, repeats: int) -> tuple[Array, Array]:
    """Rivalry and distance (m,) of the rows of group ``a`` towards group ``s``, averaged over their own neighbours."""
    skipped = repeats if s == a else 0  # no row has repeats in another group
    chosen = slice(skipped, skipped + _NEAR)
    across, near = lists.squares[s][rows, chosen], lists.index[s][rows, chosen]
    back = lists.squares[a]
    bar = back[near, min(reach + skipped, back.shape[1]) - 1]
    own = back[rows, repeats : repeats + _NEAR].mean(axis=1)
    both = np.column_stack([np.log(across / bar).mean(axis=1), np.log(across.mean(axis=1) / own)])
    mean = _pooled(lists, rows, a, both)
    return mean[:, 0], mean[:, 1]


def _pooled(lists: _Lists, rows: Array, a: int, values: Array) -> Array:
    """Values (m, v) of the rows of group ``a``, averaged over each row and its nearest rows of the group."""
    place = np.empty(int(rows.max()) + 1, dtype=np.int64)
    place[rows] = np.arange(len(rows))
    near = place[lists.index[a][rows, :_POOLED]]
    return np.asarray((values + values[near].sum(axis=1)) / (1 + near.shape[1]))


def rows_alone(share: Array, codes: Array) -> Array:
    """Which rows (n,) have no counterparts in any group (n, C) but their own (n,).

    Examples
    --------
    >>> rows_alone(np.array([[1.0, 0.05], [1.0, 0.8]]), np.array([0, 0]))
    array([ True, False])
    """
    other = share.copy()
    other[np.arange(len(other)), codes] = 0.0
    return np.asarray(other.max(axis=1) < _HARDLY)

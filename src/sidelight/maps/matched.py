"""Offsets of groups by matched rows, and whether these say more than the means of the groups.

    minimise Σ_(i,j) w_ij |(x_i - b_{c_i}) - (x_j - b_{c_j})|²          over offsets b (C, d)

over mutual nearest neighbours (i, j) of different groups, matched anew after each step (iterated closest points). w
falls with the distance, so that few false matches have little influence. Found from two starts, offsets 0 and the means
of the groups.

Rows without counterparts have false matches only. So once the offsets are found, w_ij is multiplied by how far i is
represented in the group of j and j in that of i (``neighbours.counterparts``), and they are found again, three times,
with ten neighbours that may match instead of three, because then more matches are better.

**No effect at all** is the first answer considered: kinds that live in one group only differ from the others by
themselves, and neither means nor matches could tell. The offsets are 0 if

* more than a tenth of the rows have no counterparts, with the means of the groups subtracted, too,
* these rows are apart from the others of their group: pairs of neighbours within a group of which one row has
  counterparts and the other has none are at most 0.16 of what chance would give (below 0.13 where groups have kinds of
  their own, above 0.2 where one cloud sticks out of the other),
* all groups are linked by rows that lie in each other as they are (a seventh of both groups), and these do not differ:
  the mean over links and columns of z² = m mean(δ)² / var(δ), of the m differences δ of matched rows, is at most 5 (1
  to 4 without an effect, because a row is in several matches, and above 15 with one).

An alignment is judged by how near groups come to each other: with d_s(i) the distance of row i to its five nearest rows
of group s,

    g_as = median_i∈a log d_s(i) / d_a(i),        score = mean_a min_s≠a min(g_as, g_sa)

The smaller of both directions counts, because a group may hold a part only of the other's kinds, and the median,
because it may hold kinds of its own. Of the two starts the better one is taken, or if they differ by less than 0.25 the
one with the smaller effect: where two alignments are as good, the simpler explanation. Matched offsets are used instead
of means

* if rows come nearer to the best other group by them, ``mean_i log min_s d_s(i) / d_a(i)`` smaller by 0.05, or
* if found on one half of the rows they have the better score on the other half, over three splits, both ways, by three
  standard errors and by 0.01; by 0.004 where the groups lie in each other, so that matches can be trusted.

**Shares.** Means also differ where groups hold the same kinds in unequal shares, and then move every kind alike: some
onto others, some away. Where that moves rows by less than their noise, neither rule above sees it, but kinds disagree:
the *local* z² of matched rows (``maps.matched_differences``, of rows that lie in each other) is then larger with means
than with the right offsets. So means are refused if they have 0.35 more than offsets of matched rows or than no offsets
at all, which may have 2.5 at most and a fifth as many matches as there are rows. With few matches or columns the 0.35
is twice the standard deviation of chance, and means that differ by chance are not asked. No offsets are taken if they
are within 0.35 of matched ones, which are fitted to these matches: without an effect nothing should be moved.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from sidelight.base.tiles import one_thread, run_tiles
from sidelight.kernels.balanced import NEAREST, stratum_distances
from sidelight.neighbours.counterparts import TOGETHER, counterparts
from sidelight.neighbours.graph import mutual
from sidelight.neighbours.search import nearest
from sidelight.neighbours.strata import nearest_in_strata

from .matched_differences import chance_of_local, local_differences, means_apart, overall_differences

__all__ = ["alignment_score", "group_gaps", "group_means", "iterated_offsets", "matched_offsets", "mismatch"]

Array = npt.NDArray[Any]
_MARGIN, _MARGIN_TOGETHER = 0.01, 0.004  # by which matched offsets must be better on held-out rows
_MUCH = 0.05  # by which they must be better on the rows themselves, else
_SPLITS, _SURELY = 3, 3.0  # splits, and standard errors of the mean gain above 0
_AS_GOOD = 0.25  # difference of scores up to which the smaller effect is taken
_APART = 0.16  # of neighbours within a group with and without counterparts, over chance, below which these are kinds
_LINKED = 1 / 7  # share of both groups that must lie in each other, for a link
_IN_IT = 0.5  # representation from which on a row lies in a group
_ALONE = 0.1  # share of rows without counterparts above which groups have kinds of their own
_AGREE = 2.5  # local z² up to which kinds agree on an offset (1 to 2.2 for the right one, above 3.9 in pictures)
_LOCALLY = 0.35  # by which it must be smaller than with means, and by which less than without an effect
_DIFFERENT = 3.0  # standard deviations of chance, below which means of groups do not differ
_ENOUGH = 0.2  # matches over rows, below which they are not asked
_SAME = 5.0  # largest mean z² of matched rows without an effect
_ROUNDS = 20
_NO_MATCH = 1e-12  # weight below which two rows are no match: their inverse would overflow
_LOOKS = 3
_FEW, _MANY = 3, 10  # nearest neighbours that may match: few at first, more once rows without counterparts are known
_FEWEST = 40  # rows of the smallest group from which on halves say enough


def group_means(points: Array, codes: Array) -> Array:
    """Mean (C, d) of each group."""
    sums = coo_array((np.ones(len(codes)), (codes, np.arange(len(codes))))).tocsr() @ points
    return np.asarray(sums / np.bincount(codes)[:, None])


def _predicts_better(projected: Array, codes: Array, there: Array, from_means: bool, n_jobs: int | None) -> bool:
    """Whether offsets by matched rows, from the start 0 or means, align held-out rows better than means do."""
    splits = range(_SPLITS if np.bincount(codes).min() >= _FEWEST else 0)
    parts = [half == part for half in (_halves(projected, codes, split) for split in splits) for part in (0, 1)]
    gains = run_tiles(lambda part: _gain(projected, codes, there, from_means, part), parts, n_jobs)
    if not gains or np.mean(gains) <= _SURELY * np.std(gains) / np.sqrt(len(gains)):
        return False
    by_means = projected - group_means(projected, codes)[codes]
    together = counterparts(by_means, codes, n_jobs=n_jobs).separation <= TOGETHER
    return bool(np.mean(gains) > (_MARGIN_TOGETHER if together else _MARGIN))


def _halves(points: Array, codes: Array, column: int) -> Array:
    """Half 0 or 1 of each row (n,), even within groups: every other row by the size of a column of ``points`` (n, d).

    So the halves do not depend on the order of the rows.
    """
    d = points.shape[1]
    order = np.lexsort((points[:, (column + 1) % d], points[:, column % d], codes))
    counts = np.bincount(codes)
    number = np.empty(len(codes), dtype=np.int64)
    number[order] = np.arange(len(codes)) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.asarray(number % 2)


@one_thread()
def _gain(projected: Array, codes: Array, there: Array, from_means: bool, part: Array) -> float:
    """How much better the offsets of matched rows in ``part`` (n,) are than its means, by the score of the others.

    On one thread: parts are computed side by side.
    """
    rows, groups = projected[part], codes[part]
    held, of = projected[~part], codes[~part]
    means = group_means(rows, groups)
    first = iterated_offsets(rows, groups, means if from_means else np.zeros_like(means), None)(rows)
    found = iterated_offsets(rows, groups, first, None, there[part])(rows)
    by_means, by_matches = (alignment_score(held - b[of], of) for b in (means, found))
    return by_means - by_matches


def alignment_score(points: Array, codes: Array, n_jobs: int | None = None) -> float:
    """How far apart the groups ``codes`` (n,) of ``points`` (n, d) are, as above: about 0 where they are mixed."""
    gaps = group_gaps(points, codes, n_jobs)
    nearest_group = np.minimum(gaps, gaps.T).min(axis=1)
    return float(np.mean(nearest_group[np.isfinite(nearest_group)])) if np.isfinite(nearest_group).any() else 0.0


def group_gaps(points: Array, codes: Array, n_jobs: int | None = None) -> Array:
    """Gaps g (C, C) above, of each group towards every other one; infinite on the diagonal or if unknown."""
    n, n_codes = np.arange(len(points)), int(codes.max()) + 1
    D = stratum_distances(nearest_in_strata(points, codes, NEAREST, n_jobs=n_jobs), len(points))
    own, gaps = D[n, codes], np.full((n_codes, n_codes), np.inf)
    fine = np.isfinite(own) & (own > 0)
    tiny = 1e-12 * float(own[fine].mean()) if fine.any() else 1.0
    for a in range(n_codes):
        rows = np.flatnonzero((codes == a) & fine)
        if len(rows):
            gaps[a] = 0.5 * np.median(np.log(np.maximum(D[rows], tiny) / own[rows, None]), axis=0)
    np.fill_diagonal(gaps, np.inf)
    return gaps


def mismatch(points: Array, codes: Array, n_jobs: int | None = None) -> float:
    """Mean log ratio of each row's distance to its nearest neighbours in the closest other group and in its own.

    0 if the groups are mixed, larger if they are separated: a nearest-neighbour two-sample statistic, of ``points``
    (n, d) with groups ``codes`` (n,).
    """
    n = np.arange(len(points))
    D = stratum_distances(nearest_in_strata(points, codes, NEAREST, n_jobs=n_jobs), len(points))
    own = D[n, codes].copy()
    D[n, codes] = np.inf
    best = D.min(axis=1)
    fine = np.isfinite(own) & np.isfinite(best) & (own > 0)
    tiny = 1e-12 * float(own[fine].mean()) if fine.any() else 1.0
    return float(0.5 * np.mean(np.log(np.maximum(best[fine], tiny) / own[fine]))) if fine.any() else 0.0


def matched_offsets(points: Array, projected: Array, codes: Array, n_jobs: int | None = None) -> Array | None:
    """Offsets (C, d) of the groups by matched rows; None where the means of the groups are as good.

    Parameters
    ----------
    points : array of shape (n, d)
    projected : array of shape (n, r)
        Their projection to the principal directions, in which matches are found.
    codes : array of shape (n,)
        Group of each row, 0 to C - 1.
    n_jobs : int or None
        Threads.
    """
    if _kinds_without_effect(projected, codes, n_jobs):
        return np.zeros((int(codes.max()) + 1, points.shape[1]))
    means = group_means(projected, codes)

    @one_thread()  # the two starts run side by side
    def from_start(start: Array) -> Callable[[Array], Array]:
        return iterated_offsets(projected, codes, start, None)

    solvers = run_tiles(from_start, [np.zeros_like(means), means], n_jobs)
    offsets = [solve(projected) for solve in solvers]
    best = _simpler(projected, codes, offsets, n_jobs)
    by_means, by_matches = (mismatch(projected - b[codes], codes, n_jobs) for b in (means, offsets[best]))
    much_better = by_matches < by_means - _MUCH
    solve, there = _without_lonely_rows(projected, codes, offsets[best], solvers[best], n_jobs)
    if much_better or _predicts_better(projected, codes, there, best == 1, n_jobs):
        return solve(points)
    other = _instead_of_means(projected, codes, means, solve(projected), n_jobs)
    return None if other is None else solve(points) if other.any() else np.zeros((len(means), points.shape[1]))


def _instead_of_means(projected: Array, codes: Array, means: Array, matched: Array, n_jobs: int | None) -> Array | None:
    """Offsets (C, r), 0 or ``matched``, if means leave local differences that these do not; None: means are right."""
    if means_apart(projected, codes) < _DIFFERENT:  # then there is nothing to lose
        return None
    none = np.zeros_like(means)
    (without, rows), (by_means, _), (by_matches, enough) = (
        _local_differences(projected - b[codes], codes, n_jobs) for b in (none, means, matched)
    )
    right = min(_AGREE, by_means - max(_LOCALLY, 2.0 * chance_of_local(enough, projected.shape[1])))
    if rows >= _ENOUGH * len(codes) and without <= min(right, by_matches + _LOCALLY):
        return none
    return matched if enough >= _ENOUGH * len(codes) and by_matches <= right else None


def _local_differences(points: Array, codes: Array, n_jobs: int | None) -> tuple[float, int]:
    """Local z² of the matches of rows that lie in each other's groups as they are, and how many these are."""
    i, j, _ = _matches(points, codes, _FEW, n_jobs)
    there = _lies_in(points, codes, n_jobs)
    fine = there[i, codes[j]] & there[j, codes[i]] & (codes[i] < codes[j])
    links = codes[i[fine]] * there.shape[1] + codes[j[fine]]
    return local_differences(points[i[fine]], points[j[fine]], links, n_jobs)


def _kinds_without_effect(projected: Array, codes: Array, n_jobs: int | None) -> bool:
    """Whether the groups differ by kinds that some of them lack, and not by an effect: see above."""
    there = _lies_in(projected, codes, n_jobs)
    by_means = _lies_in(projected - group_means(projected, codes)[codes], codes, n_jobs)
    if min(np.mean(lies_in.sum(axis=1) < 2) for lies_in in (there, by_means)) <= _ALONE:
        return False
    if _crossing(projected, codes, there.sum(axis=1) < 2, n_jobs) > _APART:
        return False
    shares = np.array([there[codes == a].mean(axis=0) for a in range(there.shape[1])])
    if connected_components(np.minimum(shares, shares.T) >= _LINKED, directed=False)[0] > 1:
        return False
    i, j, _ = _matches(projected, codes, _FEW, n_jobs)
    fine = there[i, codes[j]] & there[j, codes[i]] & (codes[i] < codes[j])
    found = overall_differences(
        projected[i[fine]] - projected[j[fine]], codes[i[fine]] * there.shape[1] + codes[j[fine]]
    )
    return bool(found) and float(np.mean(found)) <= _SAME


def _crossing(points: Array, codes: Array, alone: Array, n_jobs: int | None) -> float:
    """Share of neighbours within groups of which one is ``alone`` (n,) and the other is not, over that of chance."""
    seen = expected = 0.0
    for group in range(int(codes.max()) + 1):
        rows = np.flatnonzero(codes == group)
        k = min(len(rows) - 1, max(5, len(rows) // 16))  # a share of the rows: a boundary has the same part of them
        near = nearest(points[rows], k=k, n_jobs=n_jobs).index if k > 0 else np.zeros((len(rows), 0), dtype=np.int64)
        part = float(alone[rows].mean())
        seen += float(np.sum(alone[rows][near] != alone[rows][:, None])) / max(k, 1)
        expected += 2.0 * part * (1.0 - part) * len(rows)
    return seen / expected if expected else 0.0


def _lies_in(points: Array, codes: Array, n_jobs: int | None) -> Array:
    """Which groups each row lies in as it is (n, C), its own among them."""
    return np.asarray(counterparts(points, codes, effect_left=False, n_jobs=n_jobs).share > _IN_IT)


def _simpler(projected: Array, codes: Array, offsets: list[Array], n_jobs: int | None) -> int:
    """Which of two offsets (C, r) has the better score; if they are as good, which has the smaller effect."""
    scores = [alignment_score(projected - b[codes], codes, n_jobs) for b in offsets]
    if abs(scores[0] - scores[1]) >= _AS_GOOD:
        return int(np.argmin(scores))
    sizes = [float(np.sum(np.square(b[codes] - b[codes].mean(axis=0)))) for b in offsets]
    return 1 if sizes[1] < (1 - 1e-6) * sizes[0] else 0


def _without_lonely_rows(
    projected: Array, codes: Array, offsets: Array, solve: Callable[[Array], Array], n_jobs: int | None
) -> tuple[Callable[[Array], Array], Array]:
    """The solver of offsets with matches that count as far as their rows have counterparts, and how far (n, C)."""
    there = np.ones((len(codes), len(offsets)))
    for _ in range(_LOOKS):
        there = counterparts(projected - offsets[codes], codes, n_jobs=n_jobs).share
        solve = iterated_offsets(projected, codes, offsets, n_jobs, there)
        before, offsets = offsets, solve(projected)
        if np.linalg.norm(offsets - before) <= 1e-2 * np.linalg.norm(offsets):
            break
    return solve, there


def iterated_offsets(
    projected: Array, codes: Array, start: Array, n_jobs: int | None, there: Array | None = None
) -> Callable[[Array], Array]:
    """Function from rows (n, d) to offsets (C, d), with matches iterated from initial offsets ``start`` (C, r).

    ``there`` (n, C): how far each row is represented in each group.
    """
    moved, n_codes = projected - start[codes], len(start)
    before = solve = None
    for _ in range(_ROUNDS):
        i, j, weight = _matches(moved, codes, _FEW if there is None else _MANY, n_jobs)
        if there is not None:
            weight = weight * there[i, codes[j]] * there[j, codes[i]]
        if len(i) == 0 or weight.max() < _NO_MATCH:
            break
        solve = _offset_solver(codes, n_codes, i, j, weight)
        found = solve(projected)
        moved = projected - found[codes]
        if before is not None and np.linalg.norm(found - before) <= 1e-3 * np.linalg.norm(found):
            break
        before = found
    return (lambda rows: np.zeros((n_codes, rows.shape[1]))) if solve is None else solve


def _offset_solver(codes: Array, n_codes: int, i: Array, j: Array, weight: Array) -> Callable[[Array], Array]:
    """Function from rows (n, r) to their least-squares offsets (C, r), for the matches (i, j) with weights."""
    pairs = coo_array((weight, (codes[i], codes[j])), shape=(n_codes, n_codes)).toarray()
    inverse = np.linalg.pinv(np.diag(pairs.sum(axis=1)) - pairs, rcond=1e-9, hermitian=True)
    sides = np.concatenate([codes[i], codes[i]]), np.concatenate([i, j])
    incidence = coo_array((np.concatenate([weight, -weight]), sides), shape=(n_codes, len(codes))).tocsr()
    return lambda rows: np.asarray(inverse @ (incidence @ rows))


def _matches(points: Array, codes: Array, k: int, n_jobs: int | None) -> tuple[Array, Array, Array]:
    """Mutual ``k`` nearest neighbours (i, j) of different groups, each pair in both orders, and their weights."""
    n = len(points)
    sources, targets, lengths, scale = [], [], [], np.full(n, np.inf)
    for code, stratum in enumerate(nearest_in_strata(points, codes, k, n_jobs=n_jobs)):
        other = codes[stratum.rows] != code
        scale[stratum.rows[~other]] = stratum.neighbours.distance[~other, 0]
        width = stratum.neighbours.index.shape[1]
        sources.append(np.repeat(stratum.rows[other], width))
        targets.append(stratum.neighbours.index[other].ravel())
        lengths.append(stratum.neighbours.distance[other].ravel())
    i, j, length = (np.concatenate(part) for part in (sources, targets, lengths))
    both = mutual(i, j, n)
    i, j, length = i[both], j[both], length[both]
    near = scale[i] + scale[j]
    weight = 1.0 / (1.0 + (length / np.where(near > 0, near, 1.0)) ** 2) ** 2
    return i, j, weight

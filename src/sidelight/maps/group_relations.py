"""Whether two groups are related by something that no offset can undo: an inverted contrast, a factor, a mirror.

Rows less the means of their groups are compared with those of the largest group, as they are and after a change f of
one group: -x, x / g and -x / g with g the ratio of the groups' spreads (where it is at least 1.8), -x_j or x_j / g_j in
one of up to 30 columns j, and for square pictures left and right or up and down exchanged. With g_ab of
``maps.matched``, how much farther rows of group a are from group b than from their own (median log ratio; about 0 where
the groups are mixed), and S the smaller of both directions, because a group may lack kinds of the other one, f is
reported if

    S(f) ≤ 0.05 and S(1) - S(f) ≥ 0.1, or for a factor the same of the larger of both directions, with 0.1 and 0.2

because of a cloud in a larger one half of the rows are near. For a single column the gain must be twice that. S(1) is
the smaller one of those with means and with the effect that was found subtracted, S(f) that with means or with offsets
of matched rows. Where groups look unlike altogether (views of a duck and of a mug), no f brings them together. An
inverted group that looks the same (a cloud that is symmetric about its mean) cannot be told without pairs. At most 500
rows of each group are compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sidelight.base.types import Array

from .effect import principal_axes, spread_evenly
from .matched import group_gaps, group_means, iterated_offsets

__all__ = ["GroupRelation", "group_relations"]

_MATCH, _NEARLY = 0.05, 0.5  # score up to which rows lie among each other; up to which offsets are found anew
_BETTER = 0.1
_MATCH_SCALED, _BETTER_SCALED = 0.1, 0.2  # the same for a factor, of the larger of both directions
_AS_GOOD = 0.05
_FACTOR = 1.8  # ratio of spreads from which on a factor is tried
_FEWEST, _MOST = 30, 500  # rows of a group
_MOST_COLUMNS, _SMALLEST_PICTURE = 30, 7


@dataclass(frozen=True)
class GroupRelation:
    """What turns rows of ``reference`` into rows like those of ``group``, up to a shift.

    Parameters
    ----------
    group, reference : int
    what : str
        "inverted", "scaled", "inverted and scaled", "mirrored" or "upside down".
    factor : float
        Of the spread; 1 but for "scaled".
    column : int or None
        The column that it is about; None: all.
    before, after : float
        S(1) and S(f), for a factor those of the larger of both directions.
    """

    group: int
    reference: int
    what: str
    factor: float
    column: int | None
    before: float
    after: float


def group_relations(rows: Array, rest: Array, codes: Array, n_jobs: int | None = None) -> list[GroupRelation]:
    """Relations of groups to the largest one that are no shift, the best of each group.

    Parameters
    ----------
    rows : array of shape (n, d)
    rest : array of shape (n, d)
        Rows less the effect that was found.
    codes : array of shape (n,)
        Group of each row, 0 to C - 1.
    n_jobs : int or None
        Threads.
    """
    counts, means = np.bincount(codes), group_means(rows, codes)
    reference = int(counts.argmax())
    kept = np.sort(np.concatenate([_some(codes, group) for group in range(len(counts))]))
    codes, rest = codes[kept], rest[kept]
    centred = rows[kept] - means[codes]
    axes, found = principal_axes(centred), []
    for group in np.flatnonzero(counts >= _FEWEST).tolist():
        if group == reference:
            continue
        own, other = (np.flatnonzero(codes == each) for each in (group, reference))
        there = centred[other] @ axes
        before = np.minimum(
            _apart(centred[own] @ axes, there, n_jobs), _apart(rest[own] @ axes, rest[other] @ axes, n_jobs)
        )
        if before[0] < _BETTER and before[1] < _BETTER_SCALED:
            continue
        tried = []
        for what, factor, column, changed in _changes(centred[own], centred[other]):
            larger = int(factor != 1.0)
            after = _matched(changed @ axes, there, n_jobs)[larger]
            needed = (_BETTER, _BETTER_SCALED)[larger] * (1 if column is None else 2)
            if after <= (_MATCH, _MATCH_SCALED)[larger] and before[larger] - after >= needed:
                tried.append(GroupRelation(group, reference, what, factor, column, float(before[larger]), float(after)))
        if tried:
            found.append(_simplest(tried))
    return found


def _simplest(tried: list[GroupRelation]) -> GroupRelation:
    """The first that is nearly as good as the best: the inverse of a symmetric cloud fits as well as the cloud."""
    best = max(one.before - one.after for one in tried)
    return next(one for one in tried if one.before - one.after >= best - _AS_GOOD)


def _some(codes: Array, group: int) -> Array:
    rows = np.flatnonzero(codes == group)
    return np.asarray(rows[spread_evenly(len(rows), _MOST)])


def _apart(own: Array, other: Array, n_jobs: int | None) -> Array:
    """The smaller and the larger of both directions (2,)."""
    return _of_two(np.concatenate([own, other]), np.repeat([0, 1], [len(own), len(other)]), n_jobs)


def _of_two(rows: Array, codes: Array, n_jobs: int | None) -> Array:
    gaps = group_gaps(rows, codes, n_jobs)[[0, 1], [1, 0]]
    return np.sort(np.where(np.isfinite(gaps), gaps, 0.0))


def _matched(own: Array, other: Array, n_jobs: int | None) -> Array:
    """The same with means subtracted or, where that is nearly small, with offsets of matched rows: means err, too."""
    apart = _apart(own, other, n_jobs)
    if not _MATCH < apart[0] <= _NEARLY:
        return apart
    rows, codes = np.concatenate([own, other]), np.repeat([0, 1], [len(own), len(other)])
    offsets = iterated_offsets(rows, codes, np.zeros((2, rows.shape[1])), n_jobs)(rows)
    return np.minimum(apart, _of_two(rows - offsets[codes], codes, n_jobs))


def _changes(own: Array, other: Array) -> Iterator[tuple[str, float, int | None, Array]]:
    """Name, factor, column, and the rows ``own`` (m, d) with it undone."""
    yield "inverted", 1.0, None, -own
    factor = _ratio(own, other)
    if abs(np.log(factor)) >= np.log(_FACTOR):
        yield "scaled", factor, None, own / factor
        yield "inverted and scaled", factor, None, -own / factor
    d = own.shape[1]
    for column in range(d if 1 < d <= _MOST_COLUMNS else 0):
        factor = _ratio(own[:, column], other[:, column])
        for what, by in (("inverted", -1.0), ("scaled", factor)):
            if by == -1.0 or abs(np.log(by)) >= np.log(_FACTOR):
                changed = own.copy()
                changed[:, column] /= by
                yield what, max(by, 1.0) if by == -1.0 else by, column, changed
    side = round(np.sqrt(d))
    if side**2 == d and side >= _SMALLEST_PICTURE:
        pictures = own.reshape(-1, side, side)
        yield "mirrored", 1.0, None, pictures[:, :, ::-1].reshape(own.shape)
        yield "upside down", 1.0, None, pictures[:, ::-1].reshape(own.shape)


def _ratio(own: Array, other: Array) -> float:
    """Spread of one group over that of the other; 1 where one of them does not vary."""
    spreads = [float(np.sqrt(np.mean(np.square(rows)))) for rows in (own, other)]
    return spreads[0] / spreads[1] if min(spreads) > 1e-9 * max(spreads) else 1.0

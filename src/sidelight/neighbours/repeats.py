"""Repeated measurements of the same individuals, found where the distances to the nearest rows jump.

Visits of one patient lie nearer to each other than rows of two patients do. With |x_i - x_(k)| the distance from row i
to its k-th nearest row and

    v_k = mean_i  min(3, log |x_i - x_(k+1)|² / |x_i - x_(k)|²),

k v_k is about 2 / dimension for every k if the density is smooth; between the last repeat of a row and the nearest row
of another individual it jumps. The usual number of repeats c is the largest k ≤ 9 at which k v_k exceeds 2.5 times its
median over k = 10 to 19, and half of its maximum (repeats of the next individual jump, too, but less); 0 if there is
none.

Evenly spaced rows along a curve, such as views of a turning object, jump too, between pairs of rows at equal distances
on both sides. Their c nearest rows are as far from each other as from the next row. So of repeats it is asked that the
largest squared distance among them is below half of that to the next row, in a tenth of the rows at least (with
different numbers of visits, c is wrong for most rows). Decision 0026 has these numbers for sets with and without
repeats.
"""

from __future__ import annotations

import numpy as np

from sidelight.base.tiles import spans
from sidelight.base.types import Array

from .distances import squared_distances
from .landmarks import spread_rows
from .search import smallest

__all__ = ["MOST_REPEATS", "usual_repeats"]

MOST_REPEATS = 9
"""The most repeats of a row that are seen."""
_LISTED = 20  # nearest rows that are looked at
_JUMP = 2.5  # of k v_k over its median beyond the repeats
_CLIPPED = 3.0  # the largest log ratio that counts: equal rows have an infinite one
_PROBED, _FEWEST = 200, 20  # rows whose neighbours are looked at, and the fewest that tell
_SPARE = 40  # further neighbours, because equal rows are not counted
_EQUAL = 1e-12  # of the largest squared distance in a list
_TOGETHER, _DECILE = 0.5, 0.1  # largest width of repeats over the distance to the next row, in this share of the rows
_TILE = 20  # rows whose distances to all rows are held at a time


def usual_repeats(points: Array) -> int:
    """Usual number of repeats of a row among ``points`` (n, d), from 200 rows and without equal rows.

    Equal rows are left out because rows of whole numbers may be equal by chance.

    Examples
    --------
    >>> people = np.random.default_rng(0).normal(size=(100, 4))
    >>> visits = np.repeat(people, 3, axis=0) + 0.05 * np.random.default_rng(1).normal(size=(300, 4))
    >>> usual_repeats(people), usual_repeats(visits)
    (0, 2)
    """
    ranks = np.lexsort(points.T[:2])  # so that the order of the rows does not matter
    rows, squares = ranks[spread_rows(len(points), _PROBED)], np.einsum("ij,ij->i", points, points)
    index, lists = [], []
    for part in spans(len(rows), _TILE):
        distances = squared_distances(points[rows[part]], points, squares)
        for near, lengths in zip(*smallest(distances, min(len(points), _LISTED + _SPARE)), strict=True):
            apart = np.flatnonzero(lengths > _EQUAL * lengths[-1])[:_LISTED]
            if len(apart) == _LISTED:
                index.append(near[apart])
                lists.append(lengths[apart])
    if len(lists) < _FEWEST:
        return 0
    repeats = _jump(np.array(lists))
    if repeats > 1 and _width(points, np.array(index)[:, :repeats], np.array(lists)[:, repeats]) > _TOGETHER:
        return 0
    return repeats


def _jump(squares: Array) -> int:
    """The c of the module, from squared distances (m, 20) to the nearest rows, in order.

    Examples
    --------
    >>> smooth = np.arange(1.0, 21.0)[None, :]  # as of a density in two dimensions
    >>> repeated = np.concatenate([[0.01, 0.02], np.arange(3.0, 21.0)])[None, :]
    >>> _jump(smooth), _jump(repeated)
    (0, 2)
    """
    k = np.arange(1, _LISTED)
    jumps = k * np.minimum(np.diff(np.log(squares), axis=1), _CLIPPED).mean(axis=0)
    bar = max(_JUMP * float(np.median(jumps[MOST_REPEATS:])), 0.5 * float(jumps.max()))
    large = np.flatnonzero(jumps[:MOST_REPEATS] > bar)
    return int(large[-1]) + 1 if len(large) else 0


def _width(points: Array, near: Array, beyond: Array) -> float:
    """Largest squared distance among the rows ``near`` (m, c) over that to the next row, ``beyond`` (m,): a decile."""
    P = points[near]
    widest = np.zeros(len(near))
    for b in range(near.shape[1]):
        np.maximum(widest, np.square(P - P[:, [b]]).sum(axis=2).max(axis=1), out=widest)
    return float(np.quantile(widest / beyond, _DECILE))

"""Offsets of groups that differ between parts of the data: a treatment that changes one kind of rows more than others.

Rows less the offsets of their groups (``maps.matched``) are split into two halves (2-means), and within a half the
groups are matched anew. The further offsets δ (C, d) of a half are taken if rows of different groups come nearer to
each other by them (``mismatch`` smaller by 0.1), and if they are a difference of effects and not of kinds:

    max_a,s |δ_a - δ_s|  <  0.8 |μ_1 - μ_2|            μ_1, μ_2: the centres of the halves

Rows of two groups that are farther from each other than from other kinds of their own group may as well be two kinds of
which each group has one. Then the halves are split again, three times at most.

The effect of a part l on a row depends on the part smoothly. With offsets b_la of part l and group a, and centres μ_l
of the rows less their offsets,

    rows as they are      E(x, a) = Σ_l R_l b_la,      R_l ∝ exp(-|x - b_la - μ_l|² / h)
    rows without effect   E(y, a) = Σ_l R_l b_la,      R_l ∝ exp(-|y - μ_l|² / h)

with h a tenth of the smallest squared distance of two centres.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sidelight.base.types import Array
from sidelight.neighbours.counterparts import FEWEST
from sidelight.neighbours.distances import squared_distances

from .matched import iterated_offsets, mismatch

__all__ = ["LocalOffsets", "local_offsets"]

_NEARER = 0.1  # by which the mean log ratio of distances must fall
_OF_GAP = 0.8  # of the distance between the halves, which further offsets must stay below
_DEPTH = 3
_FEWEST_ROWS = 60  # of a half
_ROUNDS = 30  # of 2-means
_SOFT = 0.1


@dataclass(frozen=True)
class LocalOffsets:
    """Further offsets of groups by part of the data.

    Parameters
    ----------
    centres : array of shape (parts, d)
        Of the rows of each part, less their offsets.
    offsets : array of shape (parts, C, d)
        Of each part and group, on top of those of the whole group; 0 for a group with few rows in the part.
    width : float
        h above.
    """

    centres: Array
    offsets: Array
    width: float

    def at_rows(self, rows: Array, offsets: Array, member: Array) -> Array:
        """Further effect (n, d) on rows (n, d) as they are.

        ``offsets`` (C, d) are those of the whole groups, ``member`` (n, C) the weights of a row's groups.
        """
        squares = np.stack(
            [
                np.square(rows - member @ (offsets + of_part) - centre).sum(axis=1)
                for centre, of_part in zip(self.centres, self.offsets, strict=True)
            ],
            axis=1,
        )
        return self._weighted(squares, member)

    def at_rest(self, rest: Array, member: Array) -> Array:
        """Further effect (n, d) on rows without the effect, ``rest`` (n, d); ``member`` (n, C) as above."""
        return self._weighted(squared_distances(rest, self.centres), member)

    def _weighted(self, squares: Array, member: Array) -> Array:
        weights = np.exp(-(squares - squares.min(axis=1, keepdims=True)) / self.width)
        weights /= weights.sum(axis=1, keepdims=True)
        return np.asarray(sum(w[:, None] * (member @ b) for w, b in zip(weights.T, self.offsets, strict=True)))


@dataclass(frozen=True)
class _Part:
    """Numbers of the rows of a part, and its further offsets (C, d)."""

    rows: Array
    offsets: Array


def local_offsets(rest: Array, axes: Array, codes: Array, n_jobs: int | None = None) -> LocalOffsets | None:
    """Further offsets of groups in parts of the data; None where one offset for each group is enough.

    Parameters
    ----------
    rest : array of shape (n, d)
        Rows less the offsets of their groups.
    axes : array of shape (d, r)
        Directions in which matches are found.
    codes : array of shape (n,)
        Group of each row, 0 to C - 1.
    n_jobs : int or None
        Threads.
    """
    none = np.zeros((int(codes.max()) + 1, rest.shape[1]))
    parts = _refined(rest, axes, codes, _Part(np.arange(len(rest)), none), _DEPTH, n_jobs)
    if len(parts) == 1:
        return None
    offsets = np.stack([part.offsets for part in parts])
    centres = np.stack([(rest[p.rows] - p.offsets[codes[p.rows]]).mean(axis=0) for p in parts])
    apart = squared_distances(centres, centres)[np.triu_indices(len(centres), 1)]
    return LocalOffsets(centres, offsets, _SOFT * float(apart.min()))


def _refined(rest: Array, axes: Array, codes: Array, part: _Part, depth: int, n_jobs: int | None) -> list[_Part]:
    """The part itself if no half of it has further offsets, else its halves, refined."""
    rows = rest[part.rows] - part.offsets[codes[part.rows]]
    if depth == 0 or len(rows) < 2 * _FEWEST_ROWS:
        return [part]
    half = _halves(rows @ axes)
    if min(half.sum(), (~half).sum()) < _FEWEST_ROWS:
        return [part]
    gap = float(np.linalg.norm(rows[half].mean(axis=0) - rows[~half].mean(axis=0)))
    found, better = [], False
    for these in (half, ~half):
        further = _further_offsets(rows[these], axes, codes[part.rows[these]], len(part.offsets), gap, n_jobs)
        better |= further is not None
        offsets = part.offsets if further is None else part.offsets + further
        pieces = _refined(rest, axes, codes, _Part(part.rows[these], offsets), depth - 1, n_jobs)
        better |= len(pieces) > 1
        found += pieces
    return found if better else [part]


def _further_offsets(
    rows: Array, axes: Array, codes: Array, n_codes: int, gap: float, n_jobs: int | None
) -> Array | None:
    """Offsets (C, d) of the groups within a half, with mean 0 over its rows; None if they are not taken."""
    counts = np.bincount(codes, minlength=n_codes)
    present = np.flatnonzero(counts >= FEWEST)
    if len(present) < 2:
        return None
    kept = np.isin(codes, present)
    members = np.searchsorted(present, codes[kept])
    low = rows[kept] @ axes
    found = iterated_offsets(low, members, np.zeros((len(present), low.shape[1])), n_jobs)(rows[kept])
    found = found - np.average(found, axis=0, weights=counts[present])
    size = float(np.sqrt(squared_distances(found, found).max()))
    before, after = (mismatch(part, members, n_jobs) for part in (low, low - (found @ axes)[members]))
    if size >= _OF_GAP * gap or after > before - _NEARER:
        return None
    out = np.zeros((n_codes, rows.shape[1]))
    out[present] = found
    return out


def _halves(points: Array) -> Array:
    """Which rows (n,) are in the first of two clusters: 2-means, begun along the longest principal axis."""
    centred = points - points.mean(axis=0)
    longest = np.linalg.eigh(centred.T @ centred)[1][:, -1]
    half = centred @ longest > 0
    for _ in range(_ROUNDS):
        if not half.any() or half.all():
            break
        centres = np.stack([points[half].mean(axis=0), points[~half].mean(axis=0)])
        squares = squared_distances(points, centres)
        again = squares[:, 0] < squares[:, 1]
        if (again == half).all():
            break
        half = again
    return np.asarray(half)

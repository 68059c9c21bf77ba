r"""The smallest change that gives a row what another group has: the row itself is kept.

For a row x at place z, of a group with rows A (a, d), that is to be shown as one of the group with rows B (b, d),

.. math::

    x' = x + s\,(\bar B - \bar A) + \sqrt{m}\; (b_j - \bar B)(I - P_A),        j the row of B that is nearest to z

P_A projects on the span of the rows of A around their mean, so that what is borrowed is what no row of the present
group can show. It is borrowed from one row: a mean over several is a haze. Both parts are kept to the columns that
they are about, by regions of the map (k-means), which stand for kinds of rows that nobody named:

* s = max(0, 1 - 1 / t²), t Welch's statistic of the difference of the groups over the means of regions;
* m = max(0, 1 - v_A / v_B), v_B the variance of what is left of rows of B without P_A, v_A of rows of A from a region
  that was left out of P_A. √m is the share of the standard deviation that is not noise.

With more rows in A than columns there is nothing that its rows cannot show, and x' = x + s (B̄ - Ā).

Intervals have two parts, whose squares are added. What is borrowed: rows i of B are left out, and the row j of B
nearest to them in *another region* lends to them, so that with o = (b - B̄)(I - P_A) their errors are

.. math::

    e_i = o_i - \sqrt{m}\, o_j,      half the width  q(|e| / \sqrt{v_e})\, \sqrt{\max(0, v_e - v_A) + m v_B h / (1 - h)}

with v_e the mean of e² and q the quantile of ``maps.calibration``. o_i has what is row i's own and has nothing to do
with the group, of variance v_A; a row that is kept keeps its own, so that this is no error of it. h is the diagonal of
P_A: this share of what the new group has lies in the span of the present one by chance, and is not borrowed. Where the
change depends on the row within this span, intervals do not know it: with as many rows as columns, h = 1, they are
those of the difference alone. The difference of the
groups: Student's quantile times the standard error of the difference, times √max(s, s̄), s̄ the share of signal in the
differences of all columns together (the standard deviation that shrinking leaves).
Cost: O(R a² d) for a rows (at most 1,000) and R regions; decision 0029 has what was compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

from sidelight.neighbours.landmarks import spread_rows
from sidelight.neighbours.search import nearest

from .calibration import half_widths

__all__ = ["SmallestChange", "smallest_change"]

Array = npt.NDArray[Any]
_REGIONS, _FEWEST = 16, 8  # regions of the map, and rows of all groups that each has on average, at least
_MOST = 1000  # rows of the present group whose span is taken
_RANK = 1e-9  # singular values below this share of the largest are none


@dataclass(frozen=True)
class SmallestChange:
    """From one group to another.

    Parameters
    ----------
    difference : array of shape (d,)
        s times the difference of the means.
    places : array of shape (b, q)
        Of the rows of the new group.
    borrowed : array of shape (b, d)
        What each of them lends.
    errors : array of shape (b, d)
        |e| / √v_e of left-out lenders; NaN in columns without errors.
    borrowed_deviation : array of shape (d,)
        What q is multiplied with.
    difference_deviation : array of shape (d,)
        Standard error of ``difference``.
    freedom : float
        Its degrees of freedom.
    """

    difference: Array
    places: Array
    borrowed: Array
    errors: Array
    borrowed_deviation: Array
    difference_deviation: Array
    freedom: float

    def __call__(self, rows: Array, Z: Array, n_jobs: int | None = None) -> Array:
        """Rows (m, d) with places ``Z`` (m, q) as rows of the new group, each row by itself."""
        lender = nearest(self.places, Z, k=1, n_jobs=n_jobs).index[:, 0]
        return np.asarray(rows + self.difference + self.borrowed[lender])

    def half_widths(self, level: float) -> Array:
        """Half the widths (d,) of intervals around rows that were changed: the same for every row."""
        borrowed = half_widths(self.errors, level) * self.borrowed_deviation
        shifted = stdtrit(self.freedom, (1.0 + level) / 2.0) * self.difference_deviation
        return np.asarray(np.hypot(borrowed, shifted))


def smallest_change(now: Array, now_places: Array, new: Array, new_places: Array) -> SmallestChange:
    """Learn the change from the rows (a, d) of the present group and (b, d) of the new one, and their places.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> Z, X = rng.normal(size=(60, 2)), rng.normal(size=(60, 3)) @ rng.normal(size=(3, 100))
    >>> X[30:, 7] += 5.0
    >>> change = smallest_change(X[:30], Z[:30], X[30:], Z[30:])
    >>> int(np.abs(change(X[:30], Z[:30]) - X[:30]).mean(axis=0).argmax())
    7
    """
    some = spread_rows(len(now), min(_MOST, len(now)))
    now, now_places = now[some], now_places[some]
    region = _regions(np.concatenate([now_places, new_places]))
    before, after = region[: len(now)], region[len(now) :]
    bare, rest = now - now.mean(axis=0), new - new.mean(axis=0)
    span = _span(bare)
    own = _without(rest, span)
    parts = np.unique(before)
    left = [_without(bare[before == p], _span(bare[before != p])) for p in parts] if len(parts) > 1 else [bare]
    noise, total = np.concatenate(left).var(axis=0), own.var(axis=0)
    mask = _signal(noise, total)
    borrowed = own * np.sqrt(mask)
    errors = own - _lent_from_elsewhere(borrowed, new_places, after)
    square = np.square(errors).mean(axis=0)
    size = np.sqrt(square)
    scaled = np.divide(np.abs(errors), size, out=np.full(errors.shape, np.nan), where=size > 0)
    unseen = mask * total * _odds(np.square(span).sum(axis=0))
    shift = _shrunk_difference(now, before, new, after)
    return SmallestChange(
        shift.mean,
        new_places,
        borrowed,
        scaled,
        np.sqrt(square * _signal(noise, square) + unseen),
        shift.deviation,
        shift.freedom,
    )


def _odds(share: Array) -> Array:
    """H / (1 - h) of shares (d,); 0 where h is 1, since nothing is left to tell by."""
    left = 1.0 - share
    return np.divide(share, left, out=np.zeros_like(share), where=left > _RANK)


def _signal(noise: Array, total: Array) -> Array:
    """Share (d,) of a variance ``total`` that is not ``noise``, at least 0."""
    return np.clip(1.0 - np.divide(noise, total, out=np.ones_like(total), where=total > 0), 0.0, 1.0)


def _lent_from_elsewhere(borrowed: Array, places: Array, region: Array) -> Array:
    """What (b, d) the nearest lender of another region lends to each lender; 0 if all are in one region."""
    out = np.zeros_like(borrowed)
    for part in np.unique(region):
        mine, others = np.flatnonzero(region == part), np.flatnonzero(region != part)
        if len(others):
            out[mine] = borrowed[others[nearest(places[others], places[mine], k=1).index[:, 0]]]
    return out


def _regions(places: Array) -> Array:
    """Region (n,) of each place, by k-means with a fixed seed."""
    from sklearn.cluster import KMeans  # here, because it would slow down the import of the library

    count = int(np.clip(len(places) // _FEWEST, 1, _REGIONS))
    return np.asarray(KMeans(count, n_init=4, random_state=0).fit(places).labels_)


@dataclass(frozen=True)
class _Shift:
    """Shrunken difference (d,) of two groups, its standard error (d,) and degrees of freedom."""

    mean: Array
    deviation: Array
    freedom: float


def _shrunk_difference(now: Array, before: Array, new: Array, after: Array) -> _Shift:
    """Difference of the means over regions, times max(0, 1 - 1 / t²); 0 where a group is in one region only."""
    sides = [_region_means(rows, part) for rows, part in ((new, after), (now, before))]
    if min(len(side) for side in sides) < 2:
        whole = np.abs(new.mean(axis=0) - now.mean(axis=0))  # nothing tells it from what one region happens to be
        return _Shift(np.zeros_like(whole), whole, 1.0)
    difference = sides[0].mean(axis=0) - sides[1].mean(axis=0)
    error = np.asarray(sum(side.var(axis=0, ddof=1) / len(side) for side in sides))
    share = _signal(error, difference**2)  # 1 / t² = error / difference²
    together = _signal(error.sum(keepdims=True), np.square(difference).sum(keepdims=True))
    freedom = float(min(len(side) for side in sides) - 1)
    return _Shift(difference * share, np.sqrt(error * np.maximum(share, together)), freedom)


def _region_means(rows: Array, region: Array) -> Array:
    return np.array([rows[region == part].mean(axis=0) for part in np.unique(region)])


def _span(rows: Array) -> Array:
    """Orthonormal directions (r, d) of the span of rows (k, d)."""
    _, values, directions = np.linalg.svd(rows, full_matrices=False)
    return np.asarray(directions[values > _RANK * values[0]])


def _without(rows: Array, span: Array) -> Array:
    """What is left of rows (m, d) without a span (r, d)."""
    return np.asarray(rows - (rows @ span.T) @ span)

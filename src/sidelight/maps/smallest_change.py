r"""Counterfactuals that keep the row and add the smallest change towards another group.

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
Cost: O(R a² d) for a rows (at most 1,000) and R regions; decision 0029 has what was compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.neighbours.landmarks import spread_rows
from sidelight.neighbours.search import nearest

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
    """

    difference: Array
    places: Array
    borrowed: Array

    def __call__(self, rows: Array, Z: Array, n_jobs: int | None = None) -> Array:
        """Rows (m, d) with latent points ``Z`` (m, q) changed to the new group, row by row."""
        lender = nearest(self.places, Z, k=1, n_jobs=n_jobs).index[:, 0]
        return np.asarray(rows + self.difference + self.borrowed[lender])


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
    own = _not_shown(rest, bare)
    parts = np.unique(before)
    left = [_not_shown(bare[before == part], bare[before != part]) for part in parts] if len(parts) > 1 else [bare]
    noise, total = np.concatenate(left).var(axis=0), own.var(axis=0)
    mask = np.clip(1.0 - np.divide(noise, total, out=np.ones_like(total), where=total > 0), 0.0, 1.0)
    return SmallestChange(_shrunk_difference(now, before, new, after), new_places, own * np.sqrt(mask))


def _regions(places: Array) -> Array:
    """Region (n,) of each place, by k-means with a fixed seed."""
    from sklearn.cluster import KMeans  # here, because it would slow down the import of the library

    count = int(np.clip(len(places) // _FEWEST, 1, _REGIONS))
    return np.asarray(KMeans(count, n_init=4, random_state=0).fit(places).labels_)


def _shrunk_difference(now: Array, before: Array, new: Array, after: Array) -> Array:
    """Difference (d,) of the means over regions, times max(0, 1 - 1 / t²); 0 where a group is in one region only."""
    sides = [_region_means(rows, part) for rows, part in ((new, after), (now, before))]
    if min(len(side) for side in sides) < 2:
        return np.zeros(now.shape[1])
    difference = sides[0].mean(axis=0) - sides[1].mean(axis=0)
    error = sum(side.var(axis=0, ddof=1) / len(side) for side in sides)  # 1 / t² = error / difference²
    noise = np.divide(error, difference**2, out=np.ones_like(difference), where=difference != 0)
    return np.asarray(difference * np.maximum(0.0, 1.0 - noise))


def _region_means(rows: Array, region: Array) -> Array:
    return np.array([rows[region == part].mean(axis=0) for part in np.unique(region)])


def _not_shown(rows: Array, others: Array) -> Array:
    """Component of rows (m, d) orthogonal to the span of others (k, d)."""
    _, values, span = np.linalg.svd(others, full_matrices=False)
    span = span[values > _RANK * values[0]]
    return np.asarray(rows - (rows @ span.T) @ span)

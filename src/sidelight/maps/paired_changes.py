r"""Intervals of rows that keep what they are, from individuals that were seen in both groups.

What a row would look like in another group cannot be learned from groups of different individuals: the same two groups
are those of rows that keep everything and of rows that change at random (decision 0029). Where some individuals i = 1
... K have rows in both groups, each is left out of both, its rows of the one group are changed by
``maps.smallest_change`` of all others, and compared with its rows of the other group: errors e_ip (d,) of its pairs p.
With their mean squares v_i (d,),

.. math::

    s^2 = \frac{\sum_i v_i + κ\, r\, b}{K + κ},      r = \frac{\sum_{ic} v_{ic}}{K \sum_c b_c},
    t_{ipc} = |e_{ipc}| / s^{(i)}_c

b is the variance of the columns in the new group, and s^(i) is s without individual i. The half-width is

.. math::

    q\, s,        q = \text{quantile of all t, each individual with the same weight, at } a (1 + ρ / K)

A new individual is as likely as any of the K to be the one that is farthest off. With one entry each this is conformal
prediction, ρ = 1. Of many entries a share F_i of each individual is within, and ρ = var(F_i) / (a (1 - a)) says how far
individuals are off as wholes. A level a needs K >= a / (1 - a) individuals whatever ρ is: nine for 0.9.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.neighbours.landmarks import spread_rows

from .smallest_change import smallest_change

__all__ = ["PairedErrors", "individuals_needed", "paired_errors"]

Array = npt.NDArray[Any]
_PRIOR = 5.0  # κ, the number of individuals that the variance of the columns counts for
_FOLDS = 10  # parts of the individuals, one of which is left out at a time
_PAIRS = 25  # of an individual, at most
_MOST = 200  # individuals


def individuals_needed(level: float) -> int:
    """Individuals in both groups that intervals with this level need, at least.

    >>> individuals_needed(0.9), individuals_needed(0.8), individuals_needed(0.95)
    (9, 4, 19)
    """
    return max(2, int(np.ceil(level / (1.0 - level) - 1e-9)))


@dataclass(frozen=True)
class PairedErrors:
    """Errors of left-out individuals.

    Parameters
    ----------
    errors : array of shape (p, d)
        Absolute errors of pairs of rows.
    owner : array of shape (p,)
        Number of the individual of each pair, from 0.
    spread : array of shape (d,)
        Variance of the columns in the new group.
    """

    errors: Array
    owner: Array
    spread: Array

    @property
    def n_individuals(self) -> int:
        """K."""
        return int(self.owner.max()) + 1 if len(self.owner) else 0

    def half_widths(self, level: float) -> Array:
        """Half-widths (d,) that hold a share ``level`` of the entries of a new individual."""
        K, squares = self.n_individuals, self._mean_squares()
        prior = self.spread * (squares.sum() / (K * max(float(self.spread.sum()), 1e-300)))
        total = squares.sum(axis=0) + _PRIOR * prior
        without = np.sqrt(np.maximum(total - squares, 0.0) / (K - 1 + _PRIOR))[self.owner]
        at = without > 0
        scaled = np.divide(self.errors, without, out=np.zeros_like(self.errors), where=at)
        weight = at / (np.bincount(self.owner)[self.owner] * np.maximum(at.sum(axis=1), 1))[:, None]
        width = _quantile(scaled[at], weight[at], level)
        shares = np.bincount(self.owner, weights=(weight * (scaled <= width)).sum(axis=1))
        apart = min(float(shares.var(ddof=1)) / (level * (1.0 - level)), 1.0) if K > 1 else 1.0
        width = _quantile(scaled[at], weight[at], level * (1.0 + apart / K))
        return np.asarray(width * np.sqrt(total / (K + _PRIOR)))

    def _mean_squares(self) -> Array:
        own = (self.owner[None, :] == np.arange(self.n_individuals)[:, None]).astype(np.float64)
        return np.asarray((own / own.sum(axis=1, keepdims=True)) @ np.square(self.errors))


def _quantile(values: Array, weights: Array, share: float) -> float:
    """The smallest of the values that a share of the weights is at or below; 0 of none."""
    if not len(values):
        return 0.0
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weights[order])
    at = np.searchsorted(below, min(share, 1.0) * below[-1] * (1.0 - 1e-12))
    return float(values[order[min(at, len(order) - 1)]])


def paired_errors(
    rows: Array, places: Array, individuals: Array, now: Array, new: Array, n_jobs: int | None = None
) -> PairedErrors:
    """Errors of individuals that have rows in both groups, each left out of the change.

    Parameters
    ----------
    rows : array of shape (n, d)
        Rows of the fit.
    places : array of shape (n, q)
    individuals : array of shape (n,)
        The individual of each row, by whole numbers.
    now, new : array of shape (n,)
        Which rows are of the present group, and of the new one.
    """
    both = np.intersect1d(individuals[now], individuals[new])
    both = both[np.random.default_rng(0).permutation(len(both))[:_MOST]]
    errors, owner = [], []
    for part in range(min(_FOLDS, len(both))):
        left = both[part::_FOLDS]
        first, second = (which & ~np.isin(individuals, left) for which in (now, new))
        if not first.any() or not second.any():
            continue
        change = smallest_change(rows[first], places[first], rows[second], places[second])
        for one in left:
            own = individuals == one
            before, after = np.array(list(_pairs(np.flatnonzero(own & now), np.flatnonzero(own & new)))).T
            errors.append(np.abs(rows[after] - change(rows[before], places[before], n_jobs)))
            owner.append(np.full(len(before), len(errors) - 1))
    spread = rows[new].var(axis=0) if new.any() else np.zeros(rows.shape[1])
    if not errors:
        return PairedErrors(np.zeros((0, rows.shape[1])), np.zeros(0, dtype=np.int64), spread)
    return PairedErrors(np.concatenate(errors), np.concatenate(owner), spread)


def _pairs(before: Array, after: Array) -> Iterator[tuple[int, int]]:
    """Pairs of an individual's rows of the two groups, at most 25 of them."""
    every = [(int(i), int(j)) for i in before for j in after]
    for k in spread_rows(len(every), min(_PAIRS, len(every))):
        yield every[int(k)]

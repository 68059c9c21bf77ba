"""How far the rows of a fit are represented in the groups of ``given``, and what that changes.

    w_i = Σ_s≠c_i n_s r_is / Σ_s≠c_i n_s           the mean representation of row i in the other groups

r_is is that of ``neighbours.counterparts``. It is used where rows of different groups can be compared: where matched
rows decided on the effect of ``given``, or where the groups lie in each other after it was subtracted. Groups that look
unlike (views of a duck and of a mug) are compared by their order only, and there every row counts as represented.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sidelight.base.types import Array
from sidelight.maps.effect import principal_axes
from sidelight.neighbours.counterparts import FEWEST, TOGETHER, counterparts, rows_alone
from sidelight.neighbours.strata import MOST_STRATA
from sidelight.side.given import EncodedGiven, Given

__all__ = ["Representation", "described", "group_name", "representation_of"]


_PRICE = 0.25  # of the distance of a code of ``given`` from the middle; with all of it groups mix more than at random
_TOO_MANY = 0.8  # share of rows without counterparts beyond which the groups cannot be compared


@dataclass(frozen=True)
class Representation:
    """How far each row is represented in each group (n, C), in [0, 1], and the group of each row (n,).

    ``effect_left`` (C, C): what is left of the effect between two groups (``neighbours.counterparts``); 0 for cells of
    numbers, between which distances are those of the kinds that they hold.
    """

    share: Array
    codes: Array
    effect_left: Array

    @property
    def of_rows(self) -> Array:
        """The mean representation (n,) of each row in the groups that are not its own, by their sizes."""
        counts = np.bincount(self.codes, minlength=self.share.shape[1])
        own = counts[self.codes]
        return np.asarray((self.share @ counts - own) / (len(self.codes) - own))

    def of_strata(self, strata: Array) -> Array:
        """Representation (n, S) in strata, each a part of one group."""
        return np.asarray(self.share[:, self._group_of(strata)])

    def left_between_strata(self, strata: Array) -> Array:
        """Remaining effect between the groups of two strata (S, S)."""
        group = self._group_of(strata)
        return np.asarray(self.effect_left[np.ix_(group, group)])

    def _group_of(self, strata: Array) -> Array:
        """Group (S,) of each stratum."""
        return np.asarray(self.codes[np.unique(strata, return_index=True)[1]])

    def moved_to_middle(self, rows: Array) -> Array:
        """Codes ``rows`` (n, f) of ``given``, moved to the middle of all values; all the way if not represented."""
        middle, weight = np.unique(rows, axis=0).mean(axis=0), _PRICE * self.of_rows[:, None]
        return np.asarray(weight * rows + (1.0 - weight) * middle)

    @property
    def alone(self) -> Array:
        """Which rows (n,) have no counterparts in any other group."""
        return rows_alone(self.share, self.codes)

    def only_here(self, given: Given, known: EncodedGiven) -> list[str]:
        """One sentence for each group with rows that have no counterparts in any other group."""
        found, alone = [], self.alone
        for group in range(self.share.shape[1]):
            rows = np.flatnonzero(self.codes == group)
            count = int(alone[rows].sum())
            if count:
                name = group_name(given, known.values[rows[0]])
                found.append(f"{count} of {len(rows)} rows with {name} have no counterparts in another group")
        return found


def described(
    there: Representation | None, given: Given | None, known: EncodedGiven | None, fitted: Array
) -> tuple[Array | None, list[str]]:
    """Representation (n, C) of all rows, NaN for rows not in ``fitted`` (m,), and its description in words.

    None where there are no categories: the groups are then cells of numbers, which have no names.
    """
    if there is None or given is None or known is None or not given.of_categories.any():
        return None, []
    share = np.full((len(known.values), there.share.shape[1]), np.nan)
    share[fitted] = there.share
    return share, there.only_here(given, known.take(fitted))


def group_name(given: Given, values: Array) -> str:
    """The categories of one row in words: ``batch = 'b1', donor = 3``."""
    named = zip(given.columns, values, strict=True)
    return ", ".join(f"{c.name} = {c.categories[int(value)]!r}" for c, value in named if c.kind == "category")


def representation_of(
    points: Array, codes: Array, *, matched: bool = False, numbers: bool = False, n_jobs: int | None = None
) -> Representation | None:
    """The representation of rows whose effect of ``given`` is subtracted; None where groups cannot be compared.

    Parameters
    ----------
    points : array of shape (n, d)
    codes : array of shape (n,)
        Group of each row, 0 to C - 1.
    matched : bool
        Whether matched rows decided on the effect.
    numbers : bool
        Whether the groups are cells of numbers. Most rows may then lack counterparts in most of them (cells far off),
        and groups count as lying in each other if those do that have.
    n_jobs : int or None
        Threads.
    """
    counts = np.bincount(codes)
    if not 1 < len(counts) <= MOST_STRATA or np.sort(counts)[-2] < FEWEST or not points.any():
        return None
    found = counterparts(points @ principal_axes(points), codes, n_jobs=n_jobs)
    there = Representation(found.share, codes, np.zeros_like(found.effect_left) if numbers else found.effect_left)
    apart = found.separation_of_matches if numbers else found.separation
    if (not matched and apart > TOGETHER) or there.alone.mean() > _TOO_MANY:
        return None
    return there

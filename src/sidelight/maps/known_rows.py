r"""Training rows among queries, so that a row that is passed again is not compared with itself.

A density of the training rows is high at each of them, because each has its own kernel there. A query that equals a
training row is taken for that row, and its own kernel is left out. Where training rows repeat (counts, categories), a
new row may equal one by chance: by Good and Turing the share of new rows that equal a row seen once is about the share
of rows seen twice. Leaving out a row would then call too many of the new rows unusual, so with more than one row in
twenty seen more than once, no query is taken for a training row.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.neighbours.distances import bounded

__all__ = ["KnownRows", "compared_logs"]

Array = npt.NDArray[Any]
_EQUAL = 1e-9  # largest difference of entries, relative to the largest entry of all, between copies of one row
_REPEATED = 0.05  # share of rows with an equal one from which on new rows may be equal by chance


class KnownRows:
    """Training rows ``points`` (n, p), found again by a random projection; they are not copied."""

    def __init__(self, points: Array) -> None:
        self.points = points
        self.within = _EQUAL * max(float(np.abs(points).max(initial=0.0)), 1e-300)
        self.direction = np.random.default_rng(0).normal(size=points.shape[1])
        self.margin = self.within * float(np.abs(self.direction).sum())
        keys = self._keys(points)
        self.order = np.argsort(keys, kind="stable")
        self.keys = keys[self.order]

    def find(self, Q: Array) -> Array:
        """The training row (m,) that each query (m, p) equals, the first of several, or -1."""
        found = np.full(len(Q), -1)
        if self.share_repeated > _REPEATED:
            return found
        keys = self._keys(Q)
        first = np.searchsorted(self.keys, keys - self.margin)
        last = np.searchsorted(self.keys, keys + self.margin, side="right")
        for i in np.flatnonzero(first < last):
            candidates = np.sort(self.order[first[i] : last[i]])
            equal = candidates[self._equal(self.points[candidates], Q[i])]
            if len(equal):
                found[i] = equal[0]
        return found

    @cached_property
    def share_repeated(self) -> float:
        """Share of the training rows that equal another one."""
        near = np.flatnonzero(np.diff(self.keys) <= self.margin)
        pairs = self.order[near], self.order[near + 1]
        same = near[self._equal(self.points[pairs[0]], self.points[pairs[1]])]
        return len(np.union1d(same, same + 1)) / len(self.points)

    def _keys(self, X: Array) -> Array:
        return np.asarray((bounded(np.asarray(X, dtype=np.float64)) * self.direction).sum(axis=1))

    def _equal(self, A: Array, b: Array) -> Array:
        """Whether each row of ``A`` (k, p) equals that of ``b``, (p,) or (k, p)."""
        return np.asarray((np.abs(A - b) <= self.within).all(axis=1))


def compared_logs(Q: Array, rows: Array, of_new: Callable[[Array], Array], of_known: Callable[[Array], Array]) -> Array:
    """Log densities (m,) of queries (m, p): ``of_new`` queries, and ``of_known`` training rows, left out of their own.

    ``rows`` (m,): the training row that each query equals, or -1, as ``KnownRows.find`` returns it.
    """
    logs, known = np.empty(len(Q)), rows >= 0
    if not known.all():
        logs[~known] = of_new(Q[~known])
    if known.any():
        logs[known] = of_known(rows[known])
    return logs

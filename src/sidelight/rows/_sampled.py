"""A random sample of rows with their row numbers, in memory that does not depend on the number of rows.

Every row has a random key (``row_keys``), and the sample is the rows with the smallest keys. So it is the same whether
rows are read from a file by number or met in one pass over all of them.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from sidelight.base.tiles import spans
from sidelight.base.types import Array

from ._keys import BLOCK, row_keys

__all__ = ["sampled_numbers", "sampled_rows"]


class _Smallest:
    """The ``m`` smallest keys so far, with the arrays that belong to them."""

    def __init__(self, m: int) -> None:
        self.m, self.limit, self.held = m, np.inf, 0
        self.parts: list[tuple[Array, ...]] = []

    def meet(self, keys: Array, *others: Array) -> None:
        """Add keys below the current limit; the limit falls whenever twice as many as wanted are held."""
        at = np.flatnonzero(keys < self.limit)
        if len(at):
            self.parts.append(tuple(part[at] for part in (keys, *others)))
            self.held += len(at)
        if self.held >= 2 * self.m:
            self._shrink()

    def found(self) -> tuple[Array, ...]:
        """The arrays that belong to the smallest keys, in the order in which they were added."""
        self._shrink()
        return self.parts[0][1:]

    def _shrink(self) -> None:
        joined = tuple(np.concatenate(columns) for columns in zip(*self.parts, strict=True))
        if self.held > self.m:
            chosen = np.sort(np.argpartition(joined[0], self.m)[: self.m])
            joined = tuple(part[chosen] for part in joined)
            self.limit = float(joined[0].max())
        self.parts, self.held = [joined], len(joined[0])


def sampled_numbers(n: int, m: int, seed: int) -> Array:
    """The numbers of at most m of n rows, drawn without replacement, in order.

    >>> sampled_numbers(3, 5, 0)
    array([0, 1, 2])
    """
    smallest = _Smallest(m)
    for part in spans(n, 8 * BLOCK):
        smallest.meet(row_keys(seed, part.start, part.stop - part.start), np.arange(part.start, part.stop))
    return smallest.found()[0]


def sampled_rows(blocks: Iterable[Array], m: int, seed: int) -> tuple[Array, Array]:
    """At most m rows and their numbers, in one pass: those of ``sampled_numbers``, without knowing n in advance."""
    smallest, start = _Smallest(m), 0
    for block in blocks:
        smallest.meet(row_keys(seed, start, len(block)), np.arange(start, start + len(block)), block)
        start += len(block)
    numbers, found = smallest.found()
    return found, numbers

r"""The interface of a data set for models that need only sums over rows, a sample, and rows in batches.

    total(f) = Σ_b f(X_b),      X_1, X_2, ... the blocks, in their order

A statistic f takes a block (m, d) and returns arrays by name. The arrays are added block by block in one fixed order,
so that the result does not depend on threads or workers.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np

from sidelight.base.messages import error_message
from sidelight.base.types import Array, DType

from ._keys import BLOCK, drawn, row_keys
from ._known import known_rows, taken
from ._sampled import sampled_rows

__all__ = ["BLOCK", "Rows", "Sample", "Statistic", "Sums", "drawn", "row_keys", "summed"]


Sums = dict[str, Array]
Statistic = Callable[[Array], Sums]
BatchFunction = Callable[[Array, object], Array]
"""``function(X, given)``: m rows of results of a batch (m, d) and what is known of its rows (None: nothing)."""


@dataclass(frozen=True)
class Sample:
    """Rows that were drawn without replacement, in row order.

    Parameters
    ----------
    X : array of shape (m, d)
    numbers : array of shape (m,)
        Their row numbers.
    given : list, array, table or None
        Known variables of these rows.
    """

    X: Array
    numbers: Array
    given: object


class Rows(ABC):
    """A data set (n, d) that can be read more than once; ``n_features`` is d."""

    n_features: int
    dtype: DType = np.dtype(np.float64)
    """The precision of what is computed from the rows, which are read as float64."""
    given: object = None
    """What is known of the rows (``with_given``)."""

    @abstractmethod
    def blocks(self) -> Iterator[Array]:
        """Iterate over blocks (m, d) of float64; every call yields the same blocks."""

    def total(self, statistic: Statistic) -> Sums:
        """The sum of a statistic over all blocks."""
        return summed(statistic(block) for block in self.blocks())

    def count(self) -> int:
        """Number of rows."""
        return int(self.total(lambda block: {"n": np.array(len(block))})["n"])

    def sample(self, m: int, seed: int) -> Array:
        """At most m rows, drawn without replacement, in row order: the same rows for any source and block size."""
        kept, keys, start = np.empty((0, self.n_features)), np.empty(0), 0
        for block in self.blocks():
            kept, keys = drawn(m, np.concatenate([kept, block]), np.append(keys, row_keys(seed, start, len(block))))
            start += len(block)
        return kept

    def with_given(self, given: object) -> Self:
        """The same rows with ``given``: a list, array or table of n rows in memory."""
        informed = copy.copy(self)
        informed.given = given
        return informed

    def sampled(self, m: int, seed: int) -> Sample:
        """The rows of ``sample`` with their row numbers and their ``given``, read in one pass."""
        X, numbers = sampled_rows(self.blocks(), m, seed)
        return Sample(X, numbers, None if self.given is None else taken(self.given, numbers))

    def batches(self, size: int) -> Iterator[Array]:
        """Iterate over batches of ``size`` rows (the last may be smaller), re-cut from the blocks."""
        held: list[Array] = []
        for block in self.blocks():
            while sum(map(len, held)) + len(block) >= size:
                part = size - sum(map(len, held))
                yield np.concatenate([*held, block[:part]])
                held, block = [], block[part:]
            held.append(block)
        if sum(map(len, held)):
            yield np.concatenate(held)

    def mapped(self, function: BatchFunction, size: int) -> Iterator[Array]:
        """Iterate over the results of ``function`` of all rows, in row order.

        It is called with rows ``size * k`` to ``size * (k + 1)`` by row number, whatever the blocks are, so that
        results do not depend on them bit by bit.
        """
        start = 0
        for X in self.batches(size):
            stop = start + len(X)
            yield function(X, None if self.given is None else taken(self.given, slice(start, stop)))
            start = stop
        if self.given is not None and known_rows(self.given) != start:
            rule = f"does not match the {start} rows of the source"
            raise ValueError(error_message(self, "given", f"{known_rows(self.given)} rows", rule, "Give one per row"))


def summed(parts: Iterable[Sums]) -> Sums:
    """The sum of the parts, array by array, in their order.

    >>> summed([{"n": np.array(2)}, {"n": np.array(3)}])["n"]
    np.int64(5)
    """
    total: Sums = {}
    for part in parts:
        total = {name: total[name] + value for name, value in part.items()} if total else dict(part)
    return total

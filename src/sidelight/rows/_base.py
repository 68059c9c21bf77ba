r"""The interface of a data set for models that need only sums over rows, and a sample for initialisation.

    total(f) = Σ_b f(X_b),      X_1, X_2, ... the blocks, in their order

A statistic f takes a block (m, d) and returns arrays by name. The arrays are added block by block in one fixed order,
so that the result does not depend on threads or workers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from sidelight.base.types import Array

__all__ = ["BLOCK", "Rows", "Statistic", "Sums", "drawn", "row_keys", "summed"]


Sums = dict[str, Array]
Statistic = Callable[[Array], Sums]

BLOCK = 8192
"""Rows of a block: large enough for matrix products, small enough for a core's cache at twenty columns."""


class Rows(ABC):
    """A data set (n, d) that can be read more than once; ``n_features`` is d."""

    n_features: int

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


def row_keys(seed: int, start: int, n: int) -> Array:
    """Random numbers (n,) of rows ``start``, ``start + 1``, ..., independent of how the rows are cut into blocks.

    >>> bool((row_keys(0, 0, 5)[2:] == row_keys(0, 2, 3)).all())
    True
    """
    return np.random.Generator(np.random.PCG64(seed).advance(start)).random(n)


def drawn(m: int, rows: Array, keys: Array) -> tuple[Array, Array]:
    """The m rows with the smallest keys, in row order, and these keys."""
    if len(keys) <= m:
        return rows, keys
    chosen = np.sort(np.argpartition(keys, m)[:m])
    return rows[chosen], keys[chosen]


def summed(parts: Iterable[Sums]) -> Sums:
    """The sum of the parts, array by array, in their order.

    >>> summed([{"n": np.array(2)}, {"n": np.array(3)}])["n"]
    np.int64(5)
    """
    total: Sums = {}
    for part in parts:
        total = {name: total[name] + value for name, value in part.items()} if total else dict(part)
    return total

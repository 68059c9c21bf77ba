r"""What a model asks of rows: sums over them, and a sample to start from.

    total(f) = Σ_b f(X_b),      X_1, X_2, ... the blocks, in their order

A statistic f takes a block (m, d) and returns arrays by name; sums of arrays are added block by block in one fixed
order, so that the result does not depend on threads or workers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["BLOCK", "Rows", "Statistic", "Sums", "added"]

Array = npt.NDArray[Any]
Sums = dict[str, Array]
Statistic = Callable[[Array], Sums]

BLOCK = 8192
"""Rows of a block: large enough for matrix products, small enough for a core's cache at twenty columns."""


class Rows(ABC):
    """Rows (n, d) that can be walked more than once; ``n_features`` is d."""

    n_features: int

    @abstractmethod
    def blocks(self) -> Iterator[Array]:
        """Blocks (m, d) of float64, one after the other, always the same ones."""

    def total(self, statistic: Statistic) -> Sums:
        """The sum of a statistic over all blocks."""
        return added(statistic(block) for block in self.blocks())

    def count(self) -> int:
        """How many rows there are."""
        return int(self.total(lambda block: {"n": np.array(len(block))})["n"])

    def sample(self, m: int, seed: int) -> Array:
        """At most m rows, drawn without replacement, in their order; all of them where there are no more."""
        rng = np.random.default_rng(seed)
        kept, keys = np.empty((0, self.n_features)), np.empty(0)
        for block in self.blocks():
            kept, keys = np.concatenate([kept, block]), np.concatenate([keys, rng.random(len(block))])
            if len(keys) > m:
                chosen = np.sort(np.argpartition(keys, m)[:m])
                kept, keys = kept[chosen], keys[chosen]
        return kept


def added(parts: Iterable[Sums]) -> Sums:
    """The sum of parts, in their order.

    >>> added([{"n": np.array(2)}, {"n": np.array(3)}])["n"]
    np.int64(5)
    """
    total: Sums = {}
    for part in parts:
        total = {name: total[name] + value for name, value in part.items()} if total else dict(part)
    return total

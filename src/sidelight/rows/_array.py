"""Rows in memory, processed in fixed blocks on threads and summed in a fixed order."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sidelight.base.tiles import run_tiles, spans
from sidelight.base.types import Array, Slice

from ._base import BLOCK, Rows, Statistic, Sums, drawn, row_keys, summed

__all__ = ["ArrayRows"]


class ArrayRows(Rows):
    """An array (n, d), possibly memory-mapped: a block is read only when it is processed.

    >>> rows = ArrayRows(np.arange(6.0).reshape(3, 2))
    >>> rows.total(lambda block: {"sum": block.sum(axis=0)})["sum"]
    array([6., 9.])
    """

    def __init__(self, X: Array, *, n_jobs: int | None = None, block: int = BLOCK) -> None:
        self._X, self._n_jobs = X, n_jobs
        self._spans = spans(len(X), block)
        self.n_features = int(X.shape[1])

    def blocks(self) -> Iterator[Array]:
        """Iterate over blocks (m, d) of consecutive rows."""
        return (self._block(part) for part in self._spans)

    def total(self, statistic: Statistic) -> Sums:
        """The sum of a statistic over blocks, on threads; the caller limits BLAS to one (``one_blas_thread``)."""
        return summed(run_tiles(lambda part: statistic(self._block(part)), self._spans, self._n_jobs))

    def count(self) -> int:
        """Number of rows."""
        return len(self._X)

    def sample(self, m: int, seed: int) -> Array:
        """At most m rows, drawn without replacement, in row order."""
        chosen, _ = drawn(m, np.arange(len(self._X)), row_keys(seed, 0, len(self._X)))
        return np.array(self._X[chosen], dtype=np.float64)

    def _block(self, part: Slice) -> Array:
        return np.asarray(self._X[part], dtype=np.float64)

"""Sparse rows in memory, for statistics that take blocks of a CSR array."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sidelight.base.tiles import run_tiles, spans
from sidelight.base.types import Array, Untyped

from ._base import BLOCK, Rows, Statistic, Sums, drawn, row_keys, summed

__all__ = ["SparseRows"]


_ROOM = 2**22  # numbers of a sample, which is dense
_LEAST = 500  # rows of a sample, whatever their width
_SHARE = 20  # and this part of the rows asked for, which grow with the number of charts


class SparseRows(Rows):
    """A CSR array (n, d) without missing entries: blocks are CSR arrays of float64, a sample is dense.

    >>> from scipy import sparse
    >>> rows = SparseRows(sparse.csr_array(np.eye(3)))
    >>> rows.total(lambda block: {"sum": block.sum(axis=0)})["sum"]
    array([1., 1., 1.])
    """

    def __init__(self, X: Untyped, *, n_jobs: int | None = None, block: int = BLOCK) -> None:
        self._X, self._n_jobs = X, n_jobs
        self._spans = spans(X.shape[0], block)
        self.n_features = int(X.shape[1])

    def blocks(self) -> Iterator[Array]:
        """Iterate over blocks (m, d) of consecutive rows."""
        return (self._X[part].astype(np.float64) for part in self._spans)

    def total(self, statistic: Statistic) -> Sums:
        """The sum of a statistic over blocks, on threads."""
        return summed(run_tiles(lambda part: statistic(self._X[part].astype(np.float64)), self._spans, self._n_jobs))

    def count(self) -> int:
        """Number of rows."""
        return int(self._X.shape[0])

    def sample(self, m: int, seed: int) -> Array:
        """At most m rows as a dense array, drawn without replacement, in row order; fewer of wide rows."""
        m = min(m, max(_LEAST, m // _SHARE, _ROOM // self.n_features))
        chosen, _ = drawn(m, np.arange(self.count()), row_keys(seed, 0, self.count()))
        return np.asarray(self._X[chosen].toarray(), dtype=np.float64)

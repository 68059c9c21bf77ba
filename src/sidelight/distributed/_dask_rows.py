"""Rows of a Dask array or data frame."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import dask as _dask
import numpy as np
import numpy.typing as npt

from sidelight.base.messages import error_message
from sidelight.base.tiles import one_blas_thread, spans
from sidelight.rows import BLOCK, Rows, Statistic, Sums, check_batch, drawn, row_keys, summed

__all__ = ["DaskRows"]

Array = npt.NDArray[Any]
dask: Any = _dask  # it has no types


class DaskRows(Rows):
    """Rows of a Dask array (n, d), cut along the rows only, or of a Dask data frame of numbers.

    Sums are computed by whatever scheduler Dask uses: that of ``distributed.Client`` once there is one, else threads.
    A partition whose worker dies is computed again elsewhere; the order of the sums is fixed, so that the result
    does not depend on who computed what.

    Parameters
    ----------
    source : dask.array.Array or dask.dataframe.DataFrame
    missing : bool, default=False
        Whether NaN stands for a missing value; else it is an error.

    Examples
    --------
    >>> import dask.array
    >>> rows = DaskRows(dask.array.ones((1000, 3), chunks=(100, 3)))
    >>> rows.count(), rows.n_features
    (1000, 3)
    """

    def __init__(self, source: Any, *, missing: bool = False) -> None:
        if not hasattr(source, "to_delayed") or getattr(source, "ndim", 0) != 2:
            rule, remedy = (
                "is no Dask array or data frame of rows and columns",
                "Give one, or fit_batches(source) itself",
            )
            raise TypeError(error_message("DaskRows", "source", type(source).__name__, rule, remedy))
        if hasattr(source, "numblocks") and source.numblocks[1] > 1:
            rule = f"is cut into {source.numblocks[1]} parts along the columns"
            remedy = "Give source.rechunk({1: -1})"
            raise ValueError(error_message("DaskRows", "source", f"array of chunks {source.chunksize}", rule, remedy))
        self.n_features = int(source.shape[1])
        self._missing = missing
        self._source = source  # what was persisted on a cluster is let go with its last reference
        self._parts = list(np.ravel(source.to_delayed()))
        self._lengths: list[int] | None = None

    def blocks(self) -> Iterator[Array]:
        """The partitions, computed one after the other, cut into blocks."""
        for part in self._parts:
            yield from _cut(part.compute(), self.n_features, self._missing)

    def total(self, statistic: Statistic) -> Sums:
        """The sum over blocks, as one graph."""
        once = dask.delayed(statistic, pure=False, traverse=False)  # sent once, not with every partition
        level = [_of_partition(once, part, self.n_features, self._missing) for part in self._parts]
        while len(level) > 1:
            level = [_pair(level[i : i + 2]) for i in range(0, len(level), 2)]
        found: Sums = level[0].compute()
        return found

    def count(self) -> int:
        """How many rows there are."""
        return sum(self._known_lengths())

    def sample(self, m: int, seed: int) -> Array:
        """At most m rows, drawn without replacement, in their order: the same as from any other Rows."""
        starts = np.cumsum([0, *self._known_lengths()])[:-1].tolist()
        parts = [_drawn(part, m, seed, start) for part, start in zip(self._parts, starts, strict=True)]
        found = dask.compute(*parts)
        rows = check_batch("DaskRows", np.concatenate([r for r, _ in found]), self.n_features, missing=self._missing)
        return drawn(m, rows, np.concatenate([k for _, k in found]))[0]

    def _known_lengths(self) -> list[int]:
        if self._lengths is None:
            self._lengths = [int(n) for n in dask.compute(*(dask.delayed(len)(part) for part in self._parts))]
            if not sum(self._lengths):
                raise ValueError(error_message("DaskRows", "source", "no row", "has nothing to fit", "Give some rows"))
        return self._lengths


def _cut(part: Any, n_features: int, missing: bool) -> list[Array]:
    X = check_batch("DaskRows", part, n_features, missing=missing)
    return [X[rows] for rows in spans(len(X), BLOCK)] or [X]


@dask.delayed(pure=False)
@one_blas_thread
def _of_partition(statistic: Statistic, part: Any, n_features: int, missing: bool) -> Sums:
    return summed(statistic(block) for block in _cut(part, n_features, missing))


@dask.delayed(pure=False)
def _pair(parts: list[Sums]) -> Sums:
    return summed(parts)


@dask.delayed(pure=False)
def _drawn(part: Any, m: int, seed: int, start: int) -> tuple[Array, Array]:
    rows = np.asarray(part, dtype=np.float64)
    return drawn(m, rows, row_keys(seed, start, len(rows)))

"""Rows of a Dask array or data frame."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from sidelight.base.messages import error_message
from sidelight.base.tiles import one_blas_thread, spans
from sidelight.rows import BLOCK, Rows, Sample, Statistic, Sums, joined, known_rows, sampled_numbers, summed, taken

from ._columns import column_names, is_names
from ._dask import dask
from ._in_order import in_order
from ._row_batches import Form, row_batches
from ._sent import send

__all__ = ["DaskRows"]

Array = npt.NDArray[Any]


class DaskRows(Rows):
    """Rows of a Dask array (n, d), cut along the rows only, or of a Dask data frame of numbers.

    Everything is computed by the current Dask scheduler: that of ``distributed.Client`` if there is one, else threads.
    A partition whose worker dies is computed again elsewhere. The order of sums is fixed, and rows are embedded in
    batches by row number, so that the result does not depend on the scheduling.

    Parameters
    ----------
    source : dask.array.Array or dask.dataframe.DataFrame
        For example ``dask.dataframe.read_parquet("s3://bucket/table/")``. Columns that are not numeric are allowed if
        they are named in ``given`` (of ``embed_rows`` and ``fit``).
    missing : bool, default=False
        Whether NaN stands for a missing value; else it is an error.

    See Also
    --------
    sidelight.embed_rows : Embeds them by a sample.
    transform : Places partitions lazily.

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
        if hasattr(source, "numblocks"):  # columns of a data frame have a type each
            self.dtype = np.result_type(source.dtype, np.float32)
        self._missing = missing
        self._source = source  # what was persisted on a cluster is let go with its last reference
        self._parts = list(np.ravel(source.to_delayed()))
        self._lengths: list[int] | None = None

    def blocks(self) -> Iterator[Array]:
        """The partitions, computed one after the other, cut into blocks."""
        for part in self._parts:
            yield from _cut(part.compute(), self._form)

    def total(self, statistic: Statistic) -> Sums:
        """The sum over blocks, as one graph."""
        once = send(statistic)
        level = [_of_partition(once, part, self._form) for part in self._parts]
        while len(level) > 1:
            level = [_pair(level[i : i + 2]) for i in range(0, len(level), 2)]
        found: Sums = level[0].compute()
        return found

    def count(self) -> int:
        """Number of rows."""
        return sum(self._known_lengths())

    def sample(self, m: int, seed: int) -> Array:
        """At most m rows, drawn without replacement, in their order: the same as from any other Rows."""
        return self.sampled(m, seed).X

    def sampled(self, m: int, seed: int) -> Sample:
        """The rows of ``sample`` with their row numbers and their ``given``; workers send these rows only."""
        numbers = sampled_numbers(self.count(), m, seed)
        starts = np.cumsum([0, *self._known_lengths()])
        bounds = np.searchsorted(numbers, starts)
        picked = [
            _picked(part, given, numbers[a:b] - start, self._form)
            for part, given, a, b, start in zip(
                self._parts, self._known_parts(), bounds[:-1], bounds[1:], starts[:-1], strict=True
            )
            if b > a
        ]
        found = dask.compute(*picked)
        return Sample(np.concatenate([X for X, _ in found]), numbers, joined([given for _, given in found]))

    def with_given(self, given: Any) -> Self:
        """The same rows with their ``given``.

        Parameters
        ----------
        given : name or list of names, Dask array or data frame, or array or table in memory
            Names are columns of the data frame, which then are no columns of the rows. A Dask array or data frame has
            the partitions of the source. Data in memory has n rows, and is sent to the workers in pieces.
        """
        names = _given_names(self._source, given)
        if names is None:
            informed = copy.copy(self)
            informed.given = _aligned(self._source, given) if hasattr(given, "to_delayed") else given
            return informed
        others = [name for name in self._source.columns if name not in names]
        if not others:
            rule, remedy = "leaves no column to embed", "Give other columns"
            raise ValueError(error_message("DaskRows", "given", repr(given), rule, remedy))
        rows = type(self)(self._source[others], missing=self._missing)
        rows.given, rows._lengths = self._source[names], self._lengths
        return rows

    def mapped(self, function: Any, size: int) -> Iterator[Array]:
        """Iterate over the results of ``function`` of all rows, in row order, computed on the workers.

        It is called with rows ``size * k`` to ``size * (k + 1)`` by row number, whatever the partitions are, so that
        results do not depend on them bit by bit.
        """
        lengths = self._known_lengths()
        return in_order(row_batches(function, self._parts, self._known_parts(), lengths, size, self._form))

    @property
    def _form(self) -> Form:
        return Form(self.n_features, self._missing)

    def _known_parts(self) -> Sequence[Any]:
        """``given`` of the rows of each partition, as delayed."""
        given = self.given
        if given is None:
            return [None] * len(self._parts)
        if hasattr(given, "to_delayed"):
            return list(np.ravel(given.to_delayed()))
        if known_rows(given) != self.count():
            rule, remedy = f"does not match the {self.count()} rows of the source", "Give one per row"
            raise ValueError(error_message("DaskRows", "given", f"{known_rows(given)} rows", rule, remedy))
        starts = np.cumsum([0, *self._known_lengths()])
        pieces = (taken(given, slice(a, b)) for a, b in pairwise(starts))
        return [dask.delayed(piece, pure=False, traverse=False) for piece in pieces]

    def _known_lengths(self) -> list[int]:
        if self._lengths is None:
            self._lengths = _lengths(self._source, self._parts)
            if not sum(self._lengths):
                raise ValueError(error_message("DaskRows", "source", "no row", "has nothing to fit", "Give some rows"))
        return self._lengths


def _lengths(source: Any, parts: Sequence[Any]) -> list[int]:
    """Number of rows of each partition: from the chunks of an array, or by reading one column of a data frame."""
    if hasattr(source, "numblocks"):
        if not np.isnan(source.shape[0]):
            return [int(n) for n in source.chunks[0]]
    else:
        parts = list(np.ravel(source[[source.columns[0]]].to_delayed()))
    return [int(n) for n in dask.compute(*(dask.delayed(len)(part) for part in parts))]


def _given_names(source: Any, given: Any) -> list[str] | None:
    """The columns that ``given`` names; None if it is data."""
    names = column_names(source, given)
    if names is None and is_names(given) and (isinstance(given, str) or known_rows(given) != len(source)):
        columns = [repr(name) for name in getattr(source, "columns", ())]
        unknown = given if isinstance(given, str) else next(name for name in given if repr(name) not in columns)
        rule = f"is not among the columns of the data frame ({', '.join(columns)})" if columns else (
            "is a name, and the columns of a Dask array have none"
        )  # fmt: skip
        remedy = "Give names of columns, or the values"
        raise ValueError(error_message("DaskRows", "given", f"column {unknown!r}", rule, remedy))
    return names


def _aligned(source: Any, given: Any) -> Any:
    """A Dask array or data frame with the partitions of the source; an array of known chunks is cut like it."""
    chunks = getattr(source, "chunks", None)
    if chunks is not None and hasattr(given, "rechunk") and len(given) == len(source):
        given = given.rechunk({0: chunks[0], **dict.fromkeys(range(1, given.ndim), -1)})
    n, m = source.to_delayed().size if chunks is not None else source.npartitions, _partitions(given)
    if n != m:
        rule, remedy = f"does not have the {n} partitions of the source", "Cut both alike (repartition, rechunk)"
        raise ValueError(error_message("DaskRows", "given", f"data in {m} partitions", rule, remedy))
    return given


def _partitions(given: Any) -> int:
    return int(np.size(given.to_delayed()))


def _cut(part: Any, form: Form) -> list[Array]:
    X = form.checked(part)
    return [X[rows] for rows in spans(len(X), BLOCK)] or [X]


@dask.delayed(pure=False)
@one_blas_thread
def _of_partition(sent: Any, part: Any, form: Form) -> Sums:
    return summed(sent.value(block) for block in _cut(part, form))


@dask.delayed(pure=False)
def _pair(parts: list[Sums]) -> Sums:
    return summed(parts)


@dask.delayed(pure=False)
def _picked(part: Any, given: Any, numbers: Array, form: Form) -> tuple[Array, Any]:
    """Rows of a partition by their number in it, as float64, with their ``given``."""
    rows = part.iloc[numbers] if hasattr(part, "iloc") else np.asarray(part)[numbers]
    return form.checked(rows), None if given is None else taken(given, numbers)

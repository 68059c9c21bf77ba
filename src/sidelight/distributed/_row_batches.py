"""Batches of rows by row number, from partitions that are cut elsewhere.

    partitions   |.....p0.....|..p1..|......p2......|           batches of ``size`` rows: 0, 1, 2, ...
    batches      |..0..|..1..|..2..|..3..|..4..|..5|

A partition places the batches that lie within it and hands on its ends, less than ``size`` rows each, which are joined
with those of the partitions beside it. So a batch has the same rows however the data is cut, and only ends cross the
network.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sidelight.base.messages import error_message
from sidelight.base.tiles import one_blas_thread, one_thread, spans
from sidelight.base.types import Array
from sidelight.rows import check_batch, joined, known_rows, taken

from ._dask import dask
from ._sent import Sent, send

__all__ = ["Cut", "Form", "cuts", "row_batches"]


@dataclass(frozen=True)
class Cut:
    """Rows ``[0, first)`` of a partition end a batch, ``[first, last)`` are whole ones, ``[last, n)`` begin one.

    ``ends``: whether the batch of the first rows ends with them.
    """

    first: int
    last: int
    n: int
    ends: bool


@dataclass(frozen=True)
class Form:
    """Expected form of a partition: its columns, and whether NaN is allowed."""

    n_features: int
    missing: bool

    def checked(self, part: object) -> Array:
        """A partition as float64 (m, d)."""
        return check_batch("DaskRows", part, self.n_features, missing=self.missing)


def cuts(lengths: Sequence[int], size: int) -> list[Cut]:
    """Where the boundaries of batches cut each partition.

    >>> cuts([5, 4], 3)
    [Cut(first=0, last=3, n=5, ends=False), Cut(first=1, last=4, n=4, ends=True)]
    """
    found, start, total = [], 0, sum(lengths)
    for n in lengths:
        stop = start + n
        first = min(-(-start // size) * size, total)
        last = total if stop == total else stop // size * size
        if first > stop:  # within one batch
            found.append(Cut(n, n, n, False))
        else:
            found.append(Cut(first - start, max(first, last) - start, n, first > start))
        start = stop
    return found


def row_batches(
    function: Callable[..., Array],
    parts: Sequence[Any],
    known: Sequence[Any],
    lengths: Sequence[int],
    size: int,
    form: Form,
) -> list[Any]:
    """Results of ``function(X, given)`` of all batches, in row order, as delayed arrays.

    Parameters
    ----------
    function : callable
    parts, known : lists of delayed
        The partitions, and what is known of their rows (None: nothing).
    lengths : list of int
        Rows of each partition.
    size : int
        Rows of a batch.
    form : Form
    """
    sent, found, ends = send(function), [], list[Any]()
    for part, given, cut in zip(parts, known, cuts(lengths, size), strict=True):
        if cut.n == 0:
            continue
        placed = place_partition(sent, part, given, cut, size, form)
        if cut.first:
            ends.append(placed[0])
        if cut.ends:
            found.append(place_ends(sent, ends, form))
            ends = []
        if cut.last > cut.first:
            found.append(placed[1])
        if cut.n > cut.last:
            ends = [placed[2]]
    return found


@dask.delayed(pure=False, nout=3)
@one_blas_thread
def place_partition(
    sent: Sent, part: Any, given: object, cut: Cut, size: int, form: Form
) -> tuple[Any, Array | None, Any]:
    """The first rows of a partition, the results of its whole batches, and its last rows; named for the dashboard."""
    part = part.to_numpy() if hasattr(part, "to_numpy") else np.asarray(part)
    X = form.checked(part)
    if len(X) != cut.n or (given is not None and known_rows(given) != cut.n):
        seen = len(X) if len(X) != cut.n else known_rows(given)
        rule = f"does not have the {cut.n} rows it had" if len(X) != cut.n else f"does not match its {cut.n} rows"
        name = "source" if len(X) != cut.n else "given"
        remedy = "Give data that is the same whenever it is read, and given in the same partitions"
        raise ValueError(error_message("DaskRows", name, f"partition of {seen} rows", rule, remedy))
    found = [_applied(sent, X[s], _known(given, s)) for s in _shifted(cut, size)]
    return (
        _end(part, given, slice(0, cut.first)),
        np.concatenate(found) if found else None,
        _end(part, given, slice(cut.last, cut.n)),
    )


@dask.delayed(pure=False)
@one_blas_thread
def place_ends(sent: Sent, ends: list[tuple[Array, Any]], form: Form) -> Array:
    """The results of a batch that several partitions have rows of."""
    X = form.checked(np.concatenate([rows for rows, _ in ends]))
    return _applied(sent, X, joined([given for _, given in ends]))


def _applied(sent: Sent, X: Array, given: object) -> Array:
    with one_thread():  # Dask runs as many tasks as a worker has threads
        return np.asarray(sent.value(X, given))


def _shifted(cut: Cut, size: int) -> list[slice]:
    return [slice(cut.first + s.start, cut.first + s.stop) for s in spans(cut.last - cut.first, size)]


def _known(given: object, rows: slice) -> Any:
    return None if given is None else taken(given, rows)


def _end(part: Array, given: object, rows: slice) -> tuple[Array, Any] | None:
    """Some rows in their own precision, as a copy, so that they do not keep the whole partition in memory."""
    return None if rows.start == rows.stop else (part[rows].copy(), _known(given, rows))

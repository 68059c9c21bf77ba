"""Minibatches: from arrays in an order that a seed fixes, from an iterable, or made on the fly.

A batch is a tuple of tensors with as many rows each. Arrays are walked again and again, in a new order each time.
Where several processes train together (``torch.distributed``), each takes its share of every batch, so that the mean
of their gradients is that of the whole batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, distributed

from sidelight.base.messages import complain

__all__ = ["Batch", "Place", "array_batches", "as_batches", "first_of", "in_order", "share", "tensor"]

Batch = tuple[Tensor, ...]
Place = tuple[torch.device, torch.dtype]


def array_batches(arrays: tuple[Any, ...], size: int, seed: int, place: Place, *, done: int = 0) -> Iterator[Batch]:
    """Endless batches of ``size`` rows; ``done`` of them are passed over, as when a fit is taken up again.

    Rows that do not fill a batch wait for the next order. Integers (row numbers) stay integers.
    """
    n = len(arrays[0])
    rows = min(size, n)
    per_epoch = n // rows
    for epoch in range(done // per_epoch, 1 << 62):
        order = np.random.default_rng((seed, epoch)).permutation(n)
        for batch in range(done % per_epoch if epoch == done // per_epoch else 0, per_epoch):
            chosen = np.sort(order[batch * rows : (batch + 1) * rows])
            yield tuple(_rows(array[chosen], place) for array in arrays)


def in_order(arrays: Iterable[Any], size: int, place: Place) -> Iterator[Batch]:
    """Batches of ``size`` rows as they come, once; the last one is what is left."""
    parts = list(arrays)
    for begin in range(0, len(parts[0]), size):
        yield tuple(tensor(part[begin : begin + size], place) for part in parts)


def as_batches(
    source: Any, owner: object, *, width: int, columns: tuple[int, ...] = (), name: str = "source"
) -> Iterator[list[npt.NDArray[Any]]]:
    """Batches of ``width`` arrays from an iterable of them; all have the ``columns`` of the first."""
    for batch in source:
        parts = _parts(batch, owner, width, name)
        found = tuple(part.shape[1] for part in parts)
        columns = columns or found
        if found != columns:
            rule = f"does not have the columns of the first batch {columns}"
            raise ValueError(complain(owner, name, f"batch of {found} columns", rule, "Give the same columns"))
        yield parts


def _parts(batch: Any, owner: object, width: int, name: str) -> list[npt.NDArray[Any]]:
    """The arrays of a batch, or a sentence about what is wrong with it."""
    listed = batch if isinstance(batch, tuple | list) else (batch,)
    if len(listed) != width:
        rule = f"does not have the {width} arrays of a batch"
        raise ValueError(complain(owner, name, f"batch of {len(listed)}", rule, "Yield tuples of arrays"))
    parts = [np.asarray(part) for part in listed]
    shapes = [part.shape for part in parts]
    if {len(shape) for shape in shapes} != {2} or len({shape[0] for shape in shapes}) > 1:
        rule = "is not made of matrices with as many rows each"
        raise ValueError(complain(owner, name, f"batch of shapes {shapes}", rule, "Pair the rows"))
    if shapes[0][0] == 0:
        raise ValueError(complain(owner, name, f"batch of shapes {shapes}", "has no rows", "Leave it out"))
    kinds = {part.dtype.kind for part in parts}
    if not kinds <= set("fiub"):
        rule = "is not made of numbers"
        raise ValueError(complain(owner, name, f"batch of {parts[0].dtype}", rule, "Give arrays of numbers"))
    if not all(np.isfinite(part).all() for part in parts):
        raise ValueError(complain(owner, name, "batch", "contains NaN or infinity", "Leave these rows out"))
    return parts


def first_of(source: Any, owner: object = "fit_batches") -> tuple[Any, Iterator[Any]]:
    """The first batch, and an iterator that gives it again and goes on.

    A callable is called for every batch; it may end with ``StopIteration``, as an iterator does.
    """
    if not (callable(source) or isinstance(source, Iterable)):
        rule = "is neither an iterable of batches nor a callable that makes one"
        raise TypeError(complain(owner, "source", type(source).__name__, rule, "Give a generator or a function"))
    batches = _called(source) if callable(source) else iter(source)
    for first in batches:
        return first, chain([first], batches)
    raise ValueError(complain(owner, "source", "<empty>", "has no batches", "Yield at least one"))


def _called(make: Callable[[], Any]) -> Iterator[Any]:
    while True:
        try:
            batch = make()
        except StopIteration:
            return
        yield batch


def share(batch: Batch) -> Batch:
    """The rows of a batch that are for this process, as many for each; all of them where there is one."""
    if not (distributed.is_available() and distributed.is_initialized()):
        return batch
    rank, world = distributed.get_rank(), distributed.get_world_size()
    rows = len(batch[0]) - len(batch[0]) % world
    if rows == 0:
        rule = f"has fewer rows than there are processes ({world})"
        raise ValueError(complain("train", "batch", f"{len(batch[0])} rows", rule, "Give larger batches"))
    return tuple(part[rank:rows:world] for part in batch)


def tensor(array: Any, place: Place) -> Tensor:
    """Rows as a tensor that does not complain where they are read-only."""
    device, dtype = place
    return torch.from_numpy(np.require(np.asarray(array), requirements=["C", "W"])).to(device=device, dtype=dtype)


def _rows(array: Any, place: Place) -> Tensor:
    return torch.from_numpy(array).to(place[0]) if array.dtype.kind == "i" else tensor(array, place)

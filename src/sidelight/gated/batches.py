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
import torch
from torch import Tensor, distributed

from sidelight._messages import complain

__all__ = ["Batch", "array_batches", "as_batches", "first_of", "share"]

Batch = tuple[Tensor, ...]
Place = tuple[torch.device, torch.dtype]


def array_batches(arrays: tuple[Any, ...], size: int, seed: int, place: Place, *, done: int = 0) -> Iterator[Batch]:
    """Endless batches of ``size`` rows; ``done`` of them are passed over, as when a fit is taken up again."""
    n = len(arrays[0])
    rows = min(size, n)
    per_epoch = n // rows
    for epoch in range(done // per_epoch, 1 << 62):
        order = np.random.default_rng((seed, epoch)).permutation(n)
        for batch in range(done % per_epoch if epoch == done // per_epoch else 0, per_epoch):
            chosen = np.sort(order[batch * rows : (batch + 1) * rows])
            yield tuple(_tensor(array[chosen], place) for array in arrays)


def as_batches(source: Any, owner: object, place: Place, *, width: int) -> Iterator[Batch]:
    """Batches of ``width`` arrays from an iterable of them, or from a callable that makes the next one."""
    if not (callable(source) or isinstance(source, Iterable)):
        rule = "is neither an iterable of batches nor a callable that makes one"
        raise TypeError(complain(owner, "source", type(source).__name__, rule, "Give a generator or a function"))
    made: Iterable[Any] = _called(source) if callable(source) else source
    for batch in made:
        parts = batch if isinstance(batch, tuple | list) else (batch,)
        if len(parts) != width:
            rule = f"does not have the {width} arrays of a batch"
            raise ValueError(complain(owner, "source", f"batch of {len(parts)}", rule, "Yield tuples of arrays"))
        if len({len(part) for part in parts}) > 1:
            sizes = [len(part) for part in parts]
            raise ValueError(complain(owner, "source", f"batch of {sizes} rows", "differs in rows", "Pair the rows"))
        yield tuple(_tensor(part, place) for part in parts)


def first_of(source: Any) -> tuple[Any, Any]:
    """The first batch, and a source that gives it again."""
    if callable(source):
        first = source()
        return first, chain([first], _called(source))
    batches = iter(source)
    try:
        first = next(batches)
    except StopIteration:
        raise ValueError(complain("fit_batches", "source", "<empty>", "has no batches", "Yield at least one")) from None
    return first, chain([first], batches)


def _called(make: Callable[[], Any]) -> Iterator[Any]:
    while True:
        yield make()


def share(batch: Batch) -> Batch:
    """The rows of a batch that are for this process; all of them where there is one."""
    if not (distributed.is_available() and distributed.is_initialized()):
        return batch
    rank, world = distributed.get_rank(), distributed.get_world_size()
    return tuple(part[rank::world] for part in batch)


def _tensor(array: Any, place: Place) -> Tensor:
    device, dtype = place
    return torch.as_tensor(np.asarray(array)).to(device=device, dtype=dtype)

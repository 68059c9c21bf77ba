"""Torch modules of fitted models: rebuilt from an architecture and arrays, and applied to rows in blocks.

A fitted model holds NumPy arrays; the module is rebuilt whenever a method needs it. So models are cloned, pickled,
saved and loaded like all other estimators, independently of devices.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from sidelight.base.types import Array, Function

from ._architecture import Architecture
from ._batches import tensor

__all__ = ["BLOCK", "as_rows", "by_block", "load_module", "one_thread"]


Module = TypeVar("Module", bound=nn.Module)
BLOCK = 4096
"""Rows in a block."""


@contextmanager
def one_thread() -> Iterator[None]:
    """Context in which torch uses one thread, because the last bits of a product depend on the number of threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def load_module(
    architecture: Architecture[Module],
    sizes: tuple[int, int],
    parameters: Mapping[str, Array],
    device: str,
    dtype: npt.DTypeLike = np.float32,
    *,
    trainable: bool = False,
) -> Module:
    """The fitted module, for rows of type ``dtype``; ``sizes``: numbers of input and output columns.

    ``trainable``: to go on training; parameters that a module of the user's has fixed stay so.
    """
    with torch.random.fork_rng(devices=[]):
        module = architecture.build(*sizes)
    module.load_state_dict({name: torch.tensor(value) for name, value in parameters.items()})
    kind = torch.float64 if np.dtype(dtype) == np.float64 else torch.float32
    module.to(torch.device(device), kind)
    if not trainable:
        module.requires_grad_(False).eval()
    return module


def as_rows(rows: Array, device: str) -> Tensor:
    """Rows as a tensor of the same dtype."""
    return tensor(rows, (torch.device(device), torch.float64 if rows.dtype == np.float64 else torch.float32))


def by_block(function: Function[Tensor], arrays: tuple[Array, ...], device: str, rows: int = BLOCK) -> Array:
    """Apply a function to the ``arrays`` in blocks of ``rows``; the result has the dtype of the first array."""
    with one_thread():
        parts = [
            function(*(as_rows(array[begin : begin + rows], device) for array in arrays)).cpu().numpy()
            for begin in range(0, max(1, len(arrays[0])), rows)
        ]
    return np.asarray(np.concatenate(parts).astype(arrays[0].dtype, copy=False))

"""Torch modules of fitted models: rebuilt from an architecture and arrays, and applied to rows a block at a time.

A fitted model holds arrays; the module is made of these whenever a method needs it. So models are cloned, pickled,
saved and loaded like all others, and know nothing of devices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from ._architecture import Architecture
from ._batches import tensor

__all__ = ["BLOCK", "as_rows", "by_block", "load_module", "one_thread"]

Array = npt.NDArray[Any]
Module = TypeVar("Module", bound=nn.Module)
BLOCK = 4096
"""Rows of a block in the maps."""


@contextmanager
def one_thread() -> Iterator[None]:
    """Torch with one thread inside: more of them change the last bits of a product."""
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
) -> Module:
    """The fitted module for rows of a type; ``sizes``: columns of its inputs and outputs."""
    with torch.random.fork_rng(devices=[]):
        module = architecture.build(*sizes)
    module.load_state_dict({name: torch.tensor(value) for name, value in parameters.items()})
    kind = torch.float64 if np.dtype(dtype) == np.float64 else torch.float32
    module.to(torch.device(device), kind).requires_grad_(False).eval()
    return module


def as_rows(rows: Array, device: str) -> Tensor:
    """Rows as a tensor of their type."""
    return tensor(rows, (torch.device(device), torch.float64 if rows.dtype == np.float64 else torch.float32))


def by_block(function: Callable[..., Tensor], arrays: tuple[Array, ...], device: str, rows: int = BLOCK) -> Array:
    """A function of rows of ``arrays``, so many at a time, back as an array of the type of the first."""
    with one_thread():
        parts = [
            function(*(as_rows(array[begin : begin + rows], device) for array in arrays)).cpu().numpy()
            for begin in range(0, max(1, len(arrays[0])), rows)
        ]
    return np.asarray(np.concatenate(parts).astype(arrays[0].dtype, copy=False))

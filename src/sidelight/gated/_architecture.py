"""What a network is made of, as a frozen value: the torch module is built from it, and a fitted model keeps it.

An architecture is made of checked constructor parameters (``checked``). It knows nothing of the number of columns: the
same one is built for rows, and for the patches of a field.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

import numpy.typing as npt
from torch import nn

from ._values import ValueKind

__all__ = ["Architecture", "Layers"]

Array = npt.NDArray[Any]
Layers = int | tuple[int, ...] | None
"""Sizes of layers as a constructor takes them."""
Module = TypeVar("Module", bound=nn.Module, covariant=True)


class Architecture(Protocol[Module]):
    """A network for any number of columns."""

    @property
    def values(self) -> ValueKind:
        """What is modelled: rows, or outputs given inputs."""
        ...

    def scales_inputs(self, X: Array) -> bool:
        """Whether inputs ``X`` (n, i) are moved and scaled before the network sees them."""
        ...

    def build(self, n_inputs: int, n_outputs: int) -> Module:
        """The module, with random first weights."""
        ...

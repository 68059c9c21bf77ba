"""What a network is made of, as a frozen value: the torch module is built from it, and a fitted model keeps it.

An architecture is made of checked constructor parameters (``checked``). It knows nothing of the number of columns: the
same one is built for rows, and for the patches of a field.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
from torch import nn

from ._values import ValueKind

__all__ = ["Architecture", "own_fields"]

Array = npt.NDArray[Any]
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


def own_fields(kind: type[Any], parameters: Mapping[str, Any], **changed: Any) -> dict[str, Any]:
    """Those of an estimator's ``parameters`` that are fields of a dataclass; NumPy's integers as Python's own."""
    found = {field.name: parameters[field.name] for field in fields(kind)} | changed
    wholes = {name: int(value) for name, value in found.items() if isinstance(value, np.integer)}
    return found | wholes

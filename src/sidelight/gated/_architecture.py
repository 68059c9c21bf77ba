"""Network architectures as frozen values: the torch module is built from one, and a fitted model keeps it.

An architecture holds validated constructor parameters (``checked``). It does not depend on the number of columns: the
same one is used for rows and for the patches of a field.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Protocol, TypeVar

import numpy as np
from torch import nn

from sidelight.base.types import Array, NamedValues, Parameters

from ._values import ValueKind

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = ["Architecture", "own_fields"]


Module = TypeVar("Module", bound=nn.Module, covariant=True)


class Architecture(Protocol[Module]):
    """A network architecture for any number of columns."""

    @property
    def values(self) -> ValueKind:
        """The kind of values that is modelled (of rows, or of outputs given inputs)."""
        ...

    def scales_inputs(self, X: Array) -> bool:
        """Whether inputs ``X`` (n, i) are centred and scaled before the network."""
        ...

    def build(self, n_inputs: int, n_outputs: int) -> Module:
        """The torch module, with random initial weights."""
        ...


def own_fields(kind: type[DataclassInstance], parameters: Parameters, **changed: object) -> NamedValues:
    """The ``parameters`` of an estimator that are fields of a dataclass, with NumPy integers converted to int."""
    found = {field.name: parameters[field.name] for field in fields(kind)} | changed
    wholes = {name: int(value) for name, value in found.items() if isinstance(value, np.integer)}
    return found | wholes

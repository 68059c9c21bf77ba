"""Names of types: the only place that says ``Any`` for the families, each with its reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

__all__ = [
    "Array",
    "Function",
    "NamedValues",
    "Parameters",
    "RandomState",
    "Slice",
    "SparseMatrix",
    "Untyped",
    "UserInput",
]

Result = TypeVar("Result")

Array: TypeAlias = npt.NDArray[Any]
"""An array of whatever precision the user chose: float32 in, float32 out. Docstrings give the shape."""

Function: TypeAlias = Callable[..., Result]
"""A function whose arguments depend on the model (numbers of tensors or arrays)."""

NamedValues: TypeAlias = dict[str, Any]
"""A record of ``history_`` or of a file: numbers, texts and nested records by name."""

Parameters: TypeAlias = Mapping[str, Any]
"""Constructor parameters by name, before they are checked."""

RandomState: TypeAlias = int | np.random.RandomState | np.random.Generator | None
"""What ``random_state`` may be."""

# Python 3.11 cannot subscript these two at run time, when persistence reads the annotations of values.
if TYPE_CHECKING:
    Slice: TypeAlias = slice[int, int, None]
    SparseMatrix: TypeAlias = csr_array[Any, tuple[int, int]]
else:
    Slice = slice
    SparseMatrix = csr_array

Untyped: TypeAlias = Any
"""A value of a library without types (scikit-learn, torch), or one whose type depends on the user's input."""

UserInput: TypeAlias = Any
"""What a user gives, before it is checked: arrays, lists, pandas and polars tables, names, numbers."""

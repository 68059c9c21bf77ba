"""Names of types: the only place that says ``Any`` for the families, each with its reason."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
from scipy.sparse import csc_array, csr_array

__all__ = [
    "Array",
    "ColumnSelector",
    "DType",
    "Function",
    "NamedValues",
    "Parameters",
    "RandomState",
    "Slice",
    "SparseColumns",
    "SparseMatrix",
    "Untyped",
]

Result = TypeVar("Result")

Array: TypeAlias = npt.NDArray[Any]
"""An array of whatever precision the user chose: float32 in, float32 out. Docstrings give the shape."""

DType: TypeAlias = np.dtype[Any]
"""A precision."""

Function: TypeAlias = Callable[..., Result]
"""A function whose arguments depend on the model (numbers of tensors or arrays)."""

NamedValues: TypeAlias = dict[str, Any]
"""A record of ``history_`` or of a file: numbers, texts and nested records by name."""

Parameters: TypeAlias = Mapping[str, Any]
"""Constructor parameters by name, before they are checked."""

RandomState: TypeAlias = int | np.random.RandomState | None
"""What ``random_state`` may be."""

# Python 3.11 cannot subscript these at run time, when persistence reads the annotations of values.
if TYPE_CHECKING:
    Slice: TypeAlias = slice[int, int, None]
    """Consecutive rows."""

    ColumnSelector: TypeAlias = slice[int | None, int | None, int | None] | Iterable[int | str]
    """Some columns: a slice, or their numbers or names."""

    SparseMatrix: TypeAlias = csr_array[Any, tuple[int, int]]
    """A sparse matrix of whatever precision."""

    SparseColumns: TypeAlias = csc_array[Any]
    """The same, stored by columns, as sparse solvers take it."""
else:
    Slice, ColumnSelector, SparseMatrix, SparseColumns = slice, object, csr_array, csc_array

Untyped: TypeAlias = Any
"""No type: ``tests/common/test_types.py`` counts the lines that use it. The reasons so far:

- an object that is recognised by its methods (the ``metric`` of a hybrid embedding: array, transformer or function; a
  batch of rows; a sparse matrix of any format);
- rows that may be dense or sparse (mixtures, ``corrected``): the types of NumPy and SciPy share no indexing, so a union
  of them would be narrowed at every line;
- a matrix that is only multiplied: those of NumPy, SciPy and ``kernels`` have no type in common (``solvers.eigen``);
- a library that may be missing (finufft);
- what is known of rows, of which some are taken or parts are joined (``rows``): lists, arrays, tables of two libraries;
- an estimator of any library, or a Pipeline of them, that ``embed_rows`` fits and calls;
- the parameter of a generic bound, where Python has no "some type" (``Family[Untyped]``);
- a member of a union that belongs to a member of another union (the architecture of a Manifield's patch model).
"""

"""Kernel matrices between the values of a column of ``given``: any symmetric table of similarities (S0 3.2.1).

An array (c, c) is the kernel between the values 0 to c - 1; a mapping of mappings (or a pandas table with the values as
index and columns) that between the values it names. The delta kernel (S0 3.25) is the identity.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.base.messages import error_message

__all__ = ["ValueKernel", "as_plain_kernel", "is_one_kernel", "read_value_kernel"]

Array = npt.NDArray[Any]
_ARGUMENT = "conditioning.kernel"
_ASYMMETRY = 1e-8  # relative difference of two entries that are the same but for rounding


@dataclass(frozen=True)
class ValueKernel:
    """The values of a column (c of them), and the kernel ``matrix`` (c, c) between them."""

    values: tuple[Any, ...]
    matrix: Array


def as_plain_kernel(kernel: Any) -> Any:
    """A pandas table as a mapping of mappings, which can be compared and saved; lists entry by entry."""
    if isinstance(kernel, (list, tuple)):
        return [as_plain_kernel(one) for one in kernel]
    if hasattr(kernel, "index") and hasattr(kernel, "columns") and hasattr(kernel, "to_dict"):
        return {_plain(a): {_plain(b): float(k) for b, k in row.items()} for a, row in kernel.to_dict("index").items()}
    return kernel


def is_one_kernel(kernel: Any) -> bool:
    """Whether this is the kernel of one column, and not a list with one for each column."""
    return isinstance(kernel, (np.ndarray, Mapping))


def read_value_kernel(owner: object, kernel: Any) -> ValueKernel:
    """Read and check the kernel matrix of one column.

    Raises ValueError unless it is a square, symmetric matrix of finite numbers from 0 on, with a positive diagonal.
    """
    if isinstance(kernel, Mapping):
        values, matrix = _from_mapping(owner, kernel)
    elif isinstance(kernel, np.ndarray) and kernel.dtype.kind in "biuf":
        values, matrix = tuple(range(len(kernel))) if kernel.ndim else (), kernel.astype(np.float64)
    else:
        remedy = "Give an array (values 0, 1, ...), a mapping of mappings, or a pandas table"
        raise ValueError(error_message(owner, _ARGUMENT, type(kernel).__name__, "is not a kernel matrix", remedy))
    _check(owner, matrix)
    return ValueKernel(values, np.asarray(0.5 * (matrix + matrix.T)))


def _from_mapping(owner: object, kernel: Mapping[Any, Any]) -> tuple[tuple[Any, ...], Array]:
    values = tuple(_plain(value) for value in kernel)
    rows = [dict(row) if isinstance(row, Mapping) else None for row in kernel.values()]
    if any(row is None or {_plain(value) for value in row} != set(values) for row in rows):
        rule = "does not have the same values along both sides"
        raise ValueError(error_message(owner, _ARGUMENT, f"{len(values)} rows", rule, "Give a square table"))
    by_value = [{_plain(value): entry for value, entry in row.items()} for row in rows if row is not None]
    try:
        return values, np.array([[float(row[value]) for value in values] for row in by_value]).reshape(len(values), -1)
    except (TypeError, ValueError):
        rule = "holds entries that are not numbers"
        raise ValueError(error_message(owner, _ARGUMENT, "a table", rule, "Give numbers")) from None


def _check(owner: object, matrix: Array) -> None:
    """Raise ValueError for a matrix that is not a valid kernel."""
    seen = f"array of shape {matrix.shape}"
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.size:
        rule, remedy = "is not square", "Give the kernel between all pairs of values"
    elif not np.isfinite(matrix).all() or (matrix < 0).any():
        rule, remedy = "holds entries that are negative or not finite", "Give similarities from 0 on"
    elif (np.diag(matrix) <= 0).any():
        rule, remedy = "has a zero on its diagonal", "Give each value a similarity to itself"
    elif (np.abs(matrix - matrix.T) > _ASYMMETRY * matrix.max()).any():
        rule, remedy = "is not symmetric", "Average it with its transpose"
    else:
        return
    raise ValueError(error_message(owner, _ARGUMENT, seen, rule, remedy))


def _plain(value: Any) -> Any:
    """A NumPy scalar as a Python scalar."""
    return value.item() if isinstance(value, np.generic) else value

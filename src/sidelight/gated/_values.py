"""Which values an output may have, by what it is said to be."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.base.messages import complain

__all__ = ["check_values"]

Array = npt.NDArray[Any]
_RANGES = {
    "binary": (0.0, 1.0),
    "cross-entropy": (0.0, 1.0),
    "multinomial": (0.0, 1.0),
    "poisson": (0.0, np.inf),
}


def check_values(owner: object, name: str, Y: Array, said: tuple[str, str, str], levels: int | None) -> None:
    """Rows must suit what was ``said``: an option's name, its value, and the value that takes any numbers.

    Multinomial rows must add up to 1 in each group of ``levels`` columns (None: all are one group).
    """
    option, kind, anything = said
    low, high = _RANGES.get(kind, (-np.inf, np.inf))
    if Y.min() < low or Y.max() > high:
        seen = f"values from {Y.min():g} to {Y.max():g}"
        remedy = f"Scale them, or use {option}={anything!r}"
        raise ValueError(complain(owner, name, seen, f"does not suit {option}={kind!r}", remedy))
    if kind == "multinomial":
        _check_one_hot(owner, name, Y, Y.shape[1] if levels is None else levels)


def _check_one_hot(owner: object, name: str, Y: Array, levels: int) -> None:
    if Y.shape[1] % levels:
        rule = f"does not divide the {Y.shape[1]} columns of {name}"
        raise ValueError(complain(owner, "levels", levels, rule, "Give the columns of one group"))
    if not np.allclose(Y.reshape(len(Y), -1, levels).sum(axis=2), 1.0, atol=1e-4):
        rule = f"does not add up to 1 in each group of {levels} columns"
        raise ValueError(complain(owner, name, "rows", rule, "Give one-hot rows, and levels="))

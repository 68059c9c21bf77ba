"""Parameter checks with one message shape."""

from __future__ import annotations

import numbers
from collections.abc import Collection
from typing import Any

import numpy as np
import numpy.typing as npt

from ._messages import complain

__all__ = ["check_choice", "check_integer", "check_number", "check_rows"]


def check_choice(owner: object, argument: str, value: object, options: Collection[str]) -> None:
    """``value`` must be one of ``options``."""
    if not (isinstance(value, str) and value in options):
        listed = ", ".join(repr(option) for option in options)
        raise ValueError(complain(owner, argument, value, "is not an option", f"Choose one of {listed}"))


def check_integer(owner: object, argument: str, value: object, low: int) -> None:
    """``value`` must be an integer of at least ``low``."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or int(value) < low:
        raise ValueError(
            complain(owner, argument, value, "is not an integer in range", f"Give an integer of at least {low}")
        )


def check_number(owner: object, argument: str, value: object, low: float, high: float = np.inf) -> None:
    """``value`` must be a finite number with ``low < value < high``."""
    fine = not isinstance(value, bool) and isinstance(value, numbers.Real) and low < float(value) < high
    if not fine:
        bounds = f"above {low:g}" if high == np.inf else f"between {low:g} and {high:g}"
        raise ValueError(complain(owner, argument, value, "is not a number in range", f"Give a number {bounds}"))


def check_rows(owner: object, argument: str, value: npt.NDArray[Any], n: int) -> None:
    """``value`` must have ``n`` rows."""
    if len(value) != n:
        seen = f"array of {len(value)} rows"
        raise ValueError(complain(owner, argument, seen, f"does not match the {n} rows of X", "Give one per row"))

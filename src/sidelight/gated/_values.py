"""Kinds of modelled values: real numbers, probabilities, counts or one-hot rows; and their validation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sidelight.base.messages import error_message
from sidelight.base.types import Array

__all__ = ["ValueKind"]


_RANGES = {
    "binary": (0.0, 1.0),
    "cross-entropy": (0.0, 1.0),
    "multinomial": (0.0, 1.0),
    "poisson": (0.0, np.inf),
}
_ANY_NUMBERS = {"loss": "squared", "visible": "gaussian"}


@dataclass(frozen=True)
class ValueKind:
    """A kind of values by the estimator's ``option`` ("loss" or "visible") and its value ``kind``.

    ``levels``: columns of one group of multinomial values; None: all are one group.
    """

    option: str
    kind: str
    levels: int | None = None

    @property
    def is_real(self) -> bool:
        """Whether values are real numbers of any scale, so that rows are centred and scaled first.

        >>> ValueKind("visible", "gaussian-learned").is_real, ValueKind("loss", "cross-entropy").is_real
        (True, False)
        """
        return self.kind.startswith(("squared", "gaussian"))

    def check(self, owner: str, name: str, Y: Array) -> None:
        """Raise ValueError if the argument ``name`` holds values that are not of this kind."""
        low, high = _RANGES.get(self.kind, (-np.inf, np.inf))
        if Y.min() < low or Y.max() > high:
            seen = f"values from {Y.min():g} to {Y.max():g}"
            remedy = f"Scale them, or use {self.option}={_ANY_NUMBERS[self.option]!r}"
            raise ValueError(error_message(owner, name, seen, f"does not suit {self.option}={self.kind!r}", remedy))
        if self.kind == "multinomial":
            _check_one_hot(owner, name, Y, Y.shape[1] if self.levels is None else self.levels)


def _check_one_hot(owner: str, name: str, Y: Array, levels: int) -> None:
    if Y.shape[1] % levels:
        rule = f"does not divide the {Y.shape[1]} columns of {name}"
        raise ValueError(error_message(owner, "levels", levels, rule, "Give the columns of one group"))
    if not np.allclose(Y.reshape(len(Y), -1, levels).sum(axis=2), 1.0, atol=1e-4):
        rule = f"does not add up to 1 in each group of {levels} columns"
        raise ValueError(error_message(owner, name, "rows", rule, "Give one-hot rows, and levels="))

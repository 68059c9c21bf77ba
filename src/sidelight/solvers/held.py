"""Keep some rows fixed at their start while the others are optimised.

Of an objective f(Z) with Z (n, q) and M the diagonal matrix with 0 for held rows and 1 for the others, the function of
the rows that move has the gradient M ∇f, and M P M is an approximate inverse Hessian of it if P is one of f. Steps of a
solver that is handed these two are then exactly zero in the held rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sidelight.base.types import Array

from .anneal import ValueAndGrad

__all__ = ["HeldRows"]


@dataclass(frozen=True)
class HeldRows:
    """Which rows are held: ``moves`` (n, 1) is 0 for them and 1 for the others."""

    moves: Array

    @classmethod
    def of(cls, held: Array | None) -> HeldRows | None:
        """Of a mask (n,), True for held rows; None where no row is held."""
        return None if held is None or not held.any() else cls((~held).astype(np.float64)[:, None])

    def objective(self, value_and_grad: ValueAndGrad) -> ValueAndGrad:
        """The objective as a function of the rows that move: its value, its gradient there, and 0 for held rows."""

        def restricted(Z: Array) -> tuple[float, Array, dict[str, float]]:
            value, gradient, terms = value_and_grad(Z)
            return value, self.moves * gradient, terms

        return restricted

    def inverse(self, apply: Callable[[Array], Array]) -> Callable[[Array], Array]:
        """An approximate inverse Hessian (n, q) to (n, q), of the rows that move."""
        return lambda G: np.asarray(self.moves * apply(self.moves * G))

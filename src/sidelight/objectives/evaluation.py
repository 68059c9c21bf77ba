"""Interface of objectives: ``value_and_grad(Z) -> Evaluation``, to be minimised."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol

import numpy as np

from sidelight.base.types import Array

__all__ = ["Evaluation", "Objective", "WeightedSum", "penalised"]


class Evaluation(NamedTuple):
    """Value, gradient (n, q), and named parts of an objective."""

    value: float
    gradient: Array
    terms: dict[str, float]


class Objective(Protocol):
    """Protocol of an objective that a solver minimises."""

    def value_and_grad(self, Z: Array) -> Evaluation:
        """Evaluate at ``Z`` (n, q)."""
        ...  # pragma: no cover - interface


class WeightedSum:
    """``Σ_k weight_k · objective_k``."""

    def __init__(self, parts: Mapping[str, tuple[float, Objective]]) -> None:
        self.parts = dict(parts)

    def value_and_grad(self, Z: Array) -> Evaluation:
        """The weighted sum; the terms are those of the parts, and each part's unweighted value by name."""
        value, gradient, terms = 0.0, np.zeros(Z.shape), {}
        for name, (weight, objective) in self.parts.items():
            part = objective.value_and_grad(Z)
            value += weight * part.value
            gradient += weight * part.gradient
            terms.update(part.terms)
            terms[name] = part.value
        return Evaluation(value, gradient, terms)


def penalised(
    parts: Mapping[str, tuple[float, Objective]], penalty: Objective
) -> Callable[[float], Callable[[Array], Evaluation]]:
    """``λ -> value_and_grad`` of the weighted parts plus λ times the penalty, in the form ``solvers.anneal`` takes."""
    return lambda weight: WeightedSum({**parts, "penalty": (weight, penalty)}).value_and_grad

"""Intervals of numbers that a model predicts: what every method whose name ends with ``_interval`` returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .messages import count_of

__all__ = ["Intervals"]


@dataclass(frozen=True, repr=False)
class Intervals:
    """Prediction intervals with coverage ``level``.

    Parameters
    ----------
    lower, upper : arrays or tables of the shape of the prediction
        The ends. Where an entry is known (an observed entry of a row that was filled), both are that entry. Of
        ``Imputer.interval``: tables, in which missing categories, truth values and angles stay missing.
    probabilities : dict
        Of ``Imputer.interval`` only: column -> table (n, levels) of probabilities, for categories and truth values with
        missing entries. The level of an observed entry has probability 1.
    level : float
        Share of the entries that the intervals should hold.

    Examples
    --------
    >>> import numpy as np
    >>> found = Intervals(np.zeros(3), np.ones(3), level=0.9)
    >>> found.holds([0.5, 2.0, 1.0])
    array([ True, False,  True])
    >>> found
    Intervals(level=0.9, lower and upper: (3,))
    """

    lower: Any
    upper: Any
    probabilities: Mapping[str, Any] = field(default_factory=dict)
    level: float = 0.9

    def holds(self, values: Any) -> Any:
        """Which values lie within, ends included: a boolean array of their shape."""
        return (self.lower <= values) & (values <= self.upper)

    def __repr__(self) -> str:
        """Coverage and shapes: the entries of a wide table would fill pages."""
        levels = f", probabilities: {count_of(len(self.probabilities), 'column')}" if self.probabilities else ""
        return f"Intervals(level={self.level}, lower and upper: {getattr(self.lower, 'shape', ())}{levels})"

"""The frame a model works in: data moved to its mean and scaled to unit size, whatever its units.

Distances are squared and exponentiated inside, so rows in units of 1e-150 or 1e150 would under- or overflow; in the
frame they do not, and every bandwidth is relative to the data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Frame"]

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Frame:
    """``inside = (X - centre) / scale``; for the cosine metric, ``points`` has rows of length 1 instead."""

    centre: Array
    scale: float
    metric: str = "euclidean"

    @classmethod
    def of(cls, X: Array, metric: str = "euclidean") -> Frame:
        """The frame of a data set: its mean, and its largest deviation from it."""
        if metric == "precomputed":
            return cls(np.zeros(1), float(X.max()) or 1.0, metric)
        size = float(np.abs(X).max()) or 1.0
        centre = (X / size).mean(axis=0) * size  # a sum of huge numbers would overflow
        return cls(centre, float(np.abs(X - centre).max()) or 1.0, metric)

    def inside(self, X: Array) -> Array:
        """Data to frame."""
        return np.asarray((np.asarray(X, dtype=np.float64) - self.centre) / self.scale)

    def outside(self, Y: Array) -> Array:
        """Frame to data."""
        return np.asarray(Y * self.scale + self.centre)

    def points(self, X: Array) -> Array:
        """What distances are measured between."""
        if self.metric == "cosine":
            X = np.asarray(X, dtype=np.float64)
            size = np.abs(X).max(axis=1, keepdims=True)
            unit = X / np.where(size > 0, size, 1.0)
            length = np.linalg.norm(unit, axis=1, keepdims=True)
            return np.asarray(unit / np.where(length > 0, length, 1.0))
        return self.inside(X)

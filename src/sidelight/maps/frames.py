"""The frame a model works in: data moved to its mean and scaled to unit size, whatever its units.

Distances are squared and exponentiated inside, so rows in units of 1e-150 or 1e150 would under- or overflow; in the
frame they do not, and every bandwidth is relative to the data.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from sidelight.base.tiles import added, spans
from sidelight.neighbours.sparse_distances import SparseDistances

from .nearby import is_many

__all__ = ["AnyFrame", "Frame"]

Array = npt.NDArray[Any]
_TILE = 1024  # rows in double numbers at one time
_WIDEST = 1e38  # that a single number can hold


class AnyFrame(Protocol):
    """What a map asks of the frame of the data."""

    @property
    def scale(self) -> float:
        """The unit of length inside, in units of the data."""

    def inside(self, X: Array) -> Array:
        """Data to frame."""

    def outside(self, Y: Array) -> Array:
        """Frame to data."""

    def points(self, X: Any) -> Any:
        """What distances are measured between."""


@dataclass(frozen=True)
class Frame:
    """``inside = (X - centre) / scale``; for the cosine metric, ``points`` has rows of length 1 instead."""

    centre: Array
    scale: float
    metric: str = "euclidean"
    single: bool = False
    """Whether rows inside have 4 bytes a number (and 8 digits) instead of 8."""

    @classmethod
    def of(cls, X: Any, metric: str = "euclidean", *, lean: bool = False) -> Frame:
        """The frame of a data set: its mean, and its largest deviation from it.

        ``lean``: more than ``nearby.MANY`` rows of single numbers stay single inside, and no copy of them is made.
        """
        if metric == "precomputed":
            # a power of two rounds nothing: the same distances are the same inside, whatever others there are
            return cls(np.zeros(1), float(np.ldexp(1.0, np.frexp(float(X.max()) or 1.0)[1] - 1)), metric)
        if lean and X.dtype == np.float32 and is_many(X):
            parts = spans(len(X), _TILE)
            centre = added([X[rows].sum(axis=0, dtype=np.float64) for rows in parts]) / len(X)
            return cls(centre, max(float(np.abs(X[rows] - centre).max()) for rows in parts) or 1.0, metric, True)
        size = float(np.abs(X).max()) or 1.0
        centre = (X / size).mean(axis=0) * size  # a sum of huge numbers would overflow
        return cls(centre, float(np.abs(X - centre).max()) or 1.0, metric)

    def inside(self, X: Array) -> Array:
        """Data to frame."""
        return self._rounded(X, lambda rows: (np.asarray(rows, dtype=np.float64) - self.centre) / self.scale)

    def outside(self, Y: Array) -> Array:
        """Frame to data."""
        return np.asarray(Y * self.scale + (self.centre.astype(Y.dtype) if self.single else self.centre))

    def points(self, X: Any) -> Any:
        """What distances are measured between, or precomputed ones."""
        if isinstance(X, SparseDistances):
            return X.scaled(self.scale)
        return self._rounded(X, _of_unit_length) if self.metric == "cosine" else self.inside(X)

    def _rounded(self, X: Array, work: Callable[[Array], Array]) -> Array:
        """``work`` of rows in double numbers; where single ones are kept, rounded in tiles."""
        if not self.single:
            return np.asarray(work(X))
        out = np.empty(X.shape, dtype=np.float32)
        for rows in spans(len(X), _TILE):
            out[rows] = np.clip(work(X[rows]), -_WIDEST, _WIDEST)
        return out


def _of_unit_length(X: Array) -> Array:
    X = np.asarray(X, dtype=np.float64)
    size = np.abs(X).max(axis=1, keepdims=True)
    unit = X / np.where(size > 0, size, 1.0)
    length = np.linalg.norm(unit, axis=1, keepdims=True)
    return np.asarray(unit / np.where(length > 0, length, 1.0))

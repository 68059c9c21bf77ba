"""Frames: centring and scaling of the data before a fit ("inside" is scaled, "outside" is the user's units).

Models square and exponentiate distances, so rows in units of 1e-150 or 1e150 would under- or overflow. Scaled rows do
not, and every bandwidth is relative to the data.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from sidelight.base.tiles import spans, sum_in_order
from sidelight.neighbours.sparse_distances import SparseDistances

from .nearby import is_many

__all__ = ["AnyFrame", "Frame"]

Array = npt.NDArray[Any]
_TILE = 1024  # rows converted to float64 at a time
_WIDEST = 1e38  # about the largest float32


class AnyFrame(Protocol):
    """Interface of the frame of the data, as maps use it."""

    @property
    def scale(self) -> float:
        """Length in the units of the data that is 1 inside the frame."""

    def inside(self, X: Array) -> Array:
        """Scale rows (n, d)."""

    def outside(self, Y: Array) -> Array:
        """Undo the scaling of rows (n, d)."""

    def points(self, X: Any) -> Any:
        """Scaled points between which distances are measured."""

    def outside_variance(self, V: Array) -> Array:
        """Variances of the columns of the data (n, d) that are ``V`` inside the frame."""


@dataclass(frozen=True)
class Frame:
    """``inside = (X - centre) / scale / columns``; for the cosine metric, ``points`` has rows of length 1 instead."""

    centre: Array
    scale: float
    metric: str = "euclidean"
    single: bool = False
    """Whether scaled rows are float32 instead of float64."""
    columns: Array | None = None
    """Spread of each column (d,) in units of ``scale``, where every column is scaled by its own; None: 1."""

    @classmethod
    def of(cls, X: Any, metric: str = "euclidean", *, lean: bool = False) -> Frame:
        """Fit a frame: centre = mean of the rows, scale = largest absolute deviation from it.

        For precomputed distances, the centre is 0 and the scale a power of two. ``lean=True``: more than
        ``nearby.MANY`` float32 rows stay float32 inside, without a float64 copy of all of them.
        """
        if metric == "precomputed":
            # dividing by a power of two is exact: a distance is the same inside, whatever the other distances are
            return cls(np.zeros(1), float(np.ldexp(1.0, np.frexp(float(X.max()) or 1.0)[1] - 1)), metric)
        if lean and X.dtype == np.float32 and is_many(X):
            parts = spans(len(X), _TILE)
            centre = sum_in_order([X[rows].sum(axis=0, dtype=np.float64) for rows in parts]) / len(X)
            return cls(centre, max(float(np.abs(X[rows] - centre).max()) for rows in parts) or 1.0, metric, True)
        size = float(np.abs(X).max()) or 1.0
        centre = (X / size).mean(axis=0) * size  # a sum of huge numbers would overflow
        return cls(centre, float(np.abs(X - centre).max()) or 1.0, metric)

    def inside(self, X: Array) -> Array:
        """Scale rows: ``(X - centre) / scale``, and by column where each has its own spread."""
        rows = self._rounded(X, lambda rows: (np.asarray(rows, dtype=np.float64) - self.centre) / self.scale)
        return rows if self.columns is None else np.asarray(rows / self.columns)

    def outside(self, Y: Array) -> Array:
        """Undo the scaling: ``Y · scale + centre``."""
        Y = Y if self.columns is None else Y * self.columns
        return np.asarray(Y * self.scale + (self.centre.astype(Y.dtype) if self.single else self.centre))

    def outside_variance(self, V: Array) -> Array:
        """Undo the scaling of variances: ``V · scale²``."""
        V = V if self.columns is None else V * self.columns**2
        return np.asarray(V * self.scale**2)

    def points(self, X: Any) -> Any:
        """Points between which distances are measured: scaled rows, rows of unit length (cosine), or distances."""
        if isinstance(X, SparseDistances):
            return X.scaled(self.scale)
        return self._rounded(X, _of_unit_length) if self.metric == "cosine" else self.inside(X)

    def _rounded(self, X: Array, work: Callable[[Array], Array]) -> Array:
        """Apply ``work`` in float64; for a float32 frame, tile by tile with rounding."""
        if not self.single:
            return np.asarray(work(X))
        out = np.empty(X.shape, dtype=np.float32)
        for rows in spans(len(X), _TILE):
            out[rows] = np.clip(work(X[rows]), -_WIDEST, _WIDEST)
        return out


def _of_unit_length(X: Array) -> Array:
    """Rows divided by their Euclidean norm, without overflow; zero rows stay 0."""
    X = np.asarray(X, dtype=np.float64)
    size = np.abs(X).max(axis=1, keepdims=True)
    unit = X / np.where(size > 0, size, 1.0)
    length = np.linalg.norm(unit, axis=1, keepdims=True)
    return np.asarray(unit / np.where(length > 0, length, 1.0))

"""Queries far outside the data are moved to a fixed distance from it, in the same direction, before a search.

    q -> c + 100 w (q - c) / max|q - c|        c the centre of the bounding box of the rows, w its longest side

At that distance float32 squares do not overflow, and the order of the rows is nearly that seen from further away.
"""

from __future__ import annotations

import numpy as np

from sidelight.base.types import Array

__all__ = ["Reach"]


_FAR = 100.0  # times the width of the data


class Reach:
    """The bounding box of the rows of ``X`` (n, p), and how far around it queries are left unchanged."""

    def __init__(self, X: Array) -> None:
        low, high = X.min(axis=0).astype(np.float64), X.max(axis=0).astype(np.float64)
        self.centre, self.width = 0.5 * (low + high), float((high - low).max())
        self.lowest, self.highest = float(low.min()), float(high.max())
        self.distance = _FAR * (self.width or 1.0)

    def beyond(self, Q: Array) -> Array:
        """Indices of the queries that are too far away."""
        high, low = self.distance + self.lowest, self.highest - self.distance
        if not Q.size or (Q.max() <= high and Q.min() >= low):
            return np.empty(0, dtype=np.int64)
        return np.flatnonzero((Q.max(axis=1) > high) | (Q.min(axis=1) < low))

    def within(self, Q: Array) -> Array:
        """The queries (m, p), those too far away moved closer along the ray from the centre."""
        far = self.beyond(Q)
        if far.size:
            ray = np.asarray(Q[far], dtype=np.float64) - self.centre
            Q = np.array(Q, dtype=np.result_type(Q, np.float32))
            Q[far] = self.centre + ray / np.abs(ray).max(axis=1, keepdims=True) * self.distance
        return Q

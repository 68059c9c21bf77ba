"""Precomputed quantities of the rows for exact neighbour search, reused between queries.

Centre, squared norms, and a float32 copy of the rows with two more columns (``search`` says what these are for). For a
single query among 8,000 rows of 50 columns they take ten times as long as the search itself.
Cost: O(n d) time and memory.
"""

from __future__ import annotations

import weakref
from functools import cached_property

import numpy as np

from sidelight.base.tiles import spans
from sidelight.base.types import Array

__all__ = ["PreparedRows", "kept_rows", "squared_lengths"]


_KEPT = 2**24  # numbers in the copy of the rows, at most: 64 MiB; more are computed again for each batch of queries


class PreparedRows:
    """The rows ``X`` (n, d) with precomputed quantities for the exact search."""

    def __init__(self, X: Array) -> None:
        self.X = X if X.dtype in (np.float32, np.float64) else np.asarray(X, dtype=np.float64)
        self.centre = self.X.mean(axis=0, dtype=np.float64)
        self.norms = np.concatenate([squared_lengths(self.X[rows] - self.centre) for rows in spans(len(X))])
        self.widest = float(np.sqrt(self.norms.max()))
        self.scale = float(2.0 ** np.ceil(np.log2(self.widest))) if self.widest > 0 else 1.0

    @cached_property
    def panel(self) -> Array:
        """``[(x - centre) / scale, |x - centre|² / scale², 1]`` (n, d + 2) in float32."""
        panel = np.ones((len(self.X), self.X.shape[1] + 2), dtype=np.float32)
        for rows in spans(len(self.X)):
            panel[rows, :-2] = (self.X[rows] - self.centre) / self.scale
        panel[:, -2] = self.norms / self.scale**2
        return panel

    @cached_property
    def centred(self) -> Array:
        """``x - centre`` (n, d) in float64."""
        return np.asarray(self.X - self.centre)


_PREPARED: weakref.WeakValueDictionary[int, PreparedRows] = weakref.WeakValueDictionary()


def kept_rows(X: Array) -> PreparedRows | None:
    """The prepared rows of this array, for its users to hold and share; None if they would take much memory."""
    if X.size > _KEPT:
        return None
    found = _PREPARED.get(id(X))
    if found is None or found.X is not X:  # they hold their array, so its id is not used again
        found = _PREPARED[id(X)] = PreparedRows(X)
    return found


def squared_lengths(A: Array) -> Array:
    """``|a_i|²`` (m,)."""
    return np.asarray(np.einsum("ij,ij->i", A, A))

"""Initial points for the solver of a Gram program."""

from __future__ import annotations

import numpy as np

from sidelight.base.types import Array

__all__ = ["START_RANK", "with_spare_columns"]


START_RANK = 8
"""Number of columns (rank) that the solver starts with."""
_SMALL = 1e-3  # of the spread of the start


def with_spare_columns(start: Array) -> Array:
    """Add small smooth columns to a start (n, r): two at least, up to ``START_RANK`` in all.

    The gradient of a column that is exactly 0 is 0, so the solver could never use more dimensions than the start has.
    """
    n, r = start.shape
    spread = float(np.sqrt((start**2).sum() / n)) or 1.0
    waves = np.arange(1, max(2, min(START_RANK, n - 1) - r) + 1)
    return np.hstack([start, _SMALL * spread * np.cos(np.pi * np.outer(np.arange(n) + 0.5, waves) / n)])

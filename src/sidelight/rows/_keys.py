"""Random keys of rows, by row number: whoever meets a row draws the same number for it."""

from __future__ import annotations

import numpy as np

from sidelight.base.types import Array

__all__ = ["BLOCK", "drawn", "row_keys"]

BLOCK = 8192
"""Rows of a block: large enough for matrix products, small enough for a core's cache at twenty columns."""


def row_keys(seed: int, start: int, n: int) -> Array:
    """Random numbers (n,) of rows ``start``, ``start + 1``, ..., independent of how the rows are cut into blocks.

    >>> bool((row_keys(0, 0, 5)[2:] == row_keys(0, 2, 3)).all())
    True
    """
    return np.random.Generator(np.random.PCG64(seed).advance(start)).random(n)


def drawn(m: int, rows: Array, keys: Array) -> tuple[Array, Array]:
    """The m rows with the smallest keys, in row order, and these keys."""
    if len(keys) <= m:
        return rows, keys
    chosen = np.sort(np.argpartition(keys, m)[:m])
    return rows[chosen], keys[chosen]

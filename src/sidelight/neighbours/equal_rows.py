"""Groups of identical rows, found by hashing.

    key_i = Σ_c m_c · (b_ic xor b_ic >> 32)  mod 2⁶⁴        b_ic the bits of x_ic, m_c odd constants

Integer sums do not depend on their order, so equal rows have equal keys on every processor. Rows that share a key are
then compared. Cost: O(n d + n log n).
"""

from __future__ import annotations

import numpy as np

from sidelight.base.tiles import spans
from sidelight.base.types import Array

__all__ = ["equal_row_groups", "group_means"]


_BUDGET = 1_000_000  # numbers in the temporaries of one tile


def equal_row_groups(X: Array) -> Array | None:
    """The group of each row (n,): the number of the first row that equals it. None where no two rows are equal.

    Examples
    --------
    >>> equal_row_groups(np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]]))
    array([0, 1, 0])
    """
    keys = _row_keys(X)
    _, first, counts = np.unique(keys, return_inverse=True, return_counts=True)
    shared = np.flatnonzero(counts[first] > 1)
    if not shared.size:
        return None
    _, leader, group = np.unique(X[shared], axis=0, return_index=True, return_inverse=True)
    groups = np.arange(len(X))
    groups[shared] = shared[leader][group.reshape(-1)]  # return_index gives the first of each group
    return None if (groups == np.arange(len(X))).all() else groups


def group_means(V: Array, groups: Array | None) -> Array:
    """``V`` (n, r) with every row replaced by the mean of its group; ``V`` itself where there are no groups."""
    if groups is None:
        return V
    shared = np.flatnonzero(np.bincount(groups, minlength=len(V))[groups] > 1)
    leader, member = np.unique(groups[shared], return_inverse=True)
    sums = np.zeros((len(leader), V.shape[1]))
    np.add.at(sums, member, V[shared])
    out = np.array(V)
    out[shared] = (sums / np.bincount(member)[:, None])[member]
    return out


def _row_keys(X: Array) -> Array:
    """A 64-bit key of each row (n,), the same for equal rows."""
    n, d = X.shape
    multipliers = np.random.default_rng(0).integers(0, 2**63, size=d, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    keys = np.empty(n, dtype=np.uint64)
    for rows in spans(n, max(1, _BUDGET // max(1, d))):
        bits = (np.asarray(X[rows], dtype=np.float64) + 0.0).view(np.uint64)  # -0.0 equals 0.0
        bits ^= bits >> np.uint64(32)  # numbers with few digits have only zeros in the low half
        bits *= multipliers
        keys[rows] = bits.sum(axis=1, dtype=np.uint64)
    return keys

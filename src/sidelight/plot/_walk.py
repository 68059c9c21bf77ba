"""Places on a map, in the order of a short walk.

The places are rows: of k means of the rows, the rows nearest to them. The walk begins at one end of the widest
direction, goes to the nearest place not yet seen, and is then shortened by turning pieces of it round (2-opt) while
that helps.
Round a ring it goes round; along a line it goes along.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from ._plane import REFERENCE_ROWS, Floats

__all__ = ["walk"]


def walk(Z: Floats, n: int) -> NDArray[np.intp]:
    """Return at most ``n`` row numbers of ``Z`` (m, q), spread over the rows, in the order of a short walk.

    Examples
    --------
    >>> turn = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    >>> rows = walk(np.column_stack([np.cos(turn), np.sin(turn)]), 6)
    >>> steps = (np.diff(rows) + 30) % 60 - 30
    >>> len(rows), len(set(np.sign(steps)))
    (6, 1)
    """
    every = -(-len(Z) // REFERENCE_ROWS)
    some = Z[::every]
    n = min(n, len(np.unique(some, axis=0)))
    if n < 2:
        return np.zeros(n, dtype=np.intp)
    with threadpool_limits(limits=1):  # sums over threads would change the last bits, and so the file
        centres = KMeans(n, n_init=1, random_state=0).fit(some).cluster_centers_
    rows = np.unique(cKDTree(some).query(centres)[1]).astype(np.intp)
    found: NDArray[np.intp] = rows[_short(some[rows])] * every
    return found


def _short(P: Floats) -> NDArray[np.intp]:
    """Order of a short open walk through the points ``P`` (m, q)."""
    D = cdist(P, P)
    widest = np.linalg.svd(P - P.mean(axis=0), full_matrices=False)[2][0]
    order = _by_the_nearest(D, int(np.argmin((P - P.mean(axis=0)) @ widest)))
    shorter = True
    while shorter:
        order, shorter = _turned_round(D, order)
    return np.array(order, dtype=np.intp)


def _by_the_nearest(D: Floats, start: int) -> list[int]:
    order, left = [start], set(range(len(D))) - {start}
    while left:
        order.append(min(left, key=lambda k: (float(D[order[-1], k]), k)))
        left.remove(order[-1])
    return order


def _turned_round(D: Floats, order: list[int]) -> tuple[list[int], bool]:
    """The walk with the piece turned round that shortens it most, and whether there was one."""
    m, best, piece = len(order), 1e-12, None
    for i in range(m):
        for j in range(i + 1, m):
            before, after = order[i - 1] if i else None, order[j + 1] if j + 1 < m else None
            gain = 0.0
            if before is not None:
                gain += D[before, order[i]] - D[before, order[j]]
            if after is not None:
                gain += D[order[j], after] - D[order[i], after]
            if gain > best:
                best, piece = gain, (i, j)
    if piece is None:
        return order, False
    i, j = piece
    return order[:i] + order[i : j + 1][::-1] + order[j + 1 :], True

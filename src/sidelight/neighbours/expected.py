"""Nearest rows by expected squared distance, for rows of which some entries are known only by mean and variance.

    E|x_i - x_j|² = |m_i - m_j|² + v_i + v_j        m (n, d) means, v (n,) sums of the variances of a row's entries

For a fixed row i, v_i is the same for all j. So the nearest are found among the points (m_j, √v_j) by the query
(m_i, 0).
"""

from __future__ import annotations

import numpy as np

from sidelight.base.types import Array

from .search import Neighbours, nearest

__all__ = ["nearest_expected"]


def nearest_expected(means: Array, variance: Array, *, k: int, n_jobs: int | None = None) -> Neighbours:
    """The ``k`` rows nearest to each row, itself excluded: row numbers and root expected squared distances (n, k).

    Parameters
    ----------
    means : array of shape (n, d)
    variance : array of shape (n,)
        0 for rows that are known completely.
    k : int
    n_jobs : int or None
        Threads.
    """
    n = len(means)
    k = min(k, n - 1)
    points = np.column_stack([means, np.sqrt(variance).astype(means.dtype)])
    queries = np.column_stack([means, np.zeros(n, dtype=means.dtype)])
    found = nearest(points, queries, k=k + 1, n_jobs=n_jobs)
    own = found.index == np.arange(n)[:, None]  # at distance √v_i, so not first, and perhaps not listed
    order = np.argsort(own, axis=1, kind="stable")[:, :k]
    squares = np.take_along_axis(found.distance, order, axis=1) ** 2 + np.asarray(variance)[:, None]
    return Neighbours(np.take_along_axis(found.index, order, axis=1), np.sqrt(squares))

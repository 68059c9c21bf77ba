"""k-means for rows with missing values, to initialise mixtures: k-means++ and eight Lloyd iterations."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sidelight.base.types import Array

__all__ = ["partition"]


_LLOYD = 8


def partition(X: Array, k: int, rng: np.random.RandomState) -> tuple[Array, Array]:
    """Cluster rows by k-means++ and a few Lloyd iterations.

    Distances use the observed entries of a row, scaled up to d columns.

    Parameters
    ----------
    X : array of shape (n, d)
        Rows; NaN where an entry is missing.
    k : int
        Number of clusters.
    rng : RandomState

    Returns
    -------
    centres : array of shape (k, d)
    labels : array of shape (n,)
        Cluster of each row.
    """
    seen = (~np.isnan(X)).astype(np.float64)
    filled = np.where(seen > 0, X, 0.0)
    stretch = X.shape[1] / np.maximum(seen.sum(axis=1), 1.0)
    squares = (filled**2).sum(axis=1)

    def distances(C: Array) -> Array:
        D = squares[:, None] - 2.0 * filled @ C.T + seen @ (C**2).T
        return np.asarray(np.maximum(D, 0.0) * stretch[:, None])

    overall = filled.sum(axis=0) / np.maximum(seen.sum(axis=0), 1.0)
    centres = _spread_out(np.where(seen > 0, X, overall), k, distances, rng)
    labels = distances(centres).argmin(axis=1)
    for _ in range(_LLOYD):
        own = (labels[:, None] == np.arange(k)).astype(np.float64)
        shares = own.T @ seen
        centres = np.where(shares > 0, own.T @ filled / np.maximum(shares, 1.0), centres)
        labels = distances(centres).argmin(axis=1)
    return centres, labels


def _spread_out(X: Array, k: int, distances: Callable[[Array], Array], rng: np.random.RandomState) -> Array:
    """k-means++: each centre is a row drawn with probability proportional to its squared distance to those before."""
    chosen = [int(rng.randint(len(X)))]
    nearest = distances(X[chosen])[:, 0]
    for _ in range(1, k):
        total = nearest.sum()
        chance = nearest / total if total > 0 else np.full(len(X), 1.0 / len(X))
        chosen.append(int(np.searchsorted(np.cumsum(chance), rng.uniform() * (1.0 - 1e-12))))
        nearest = np.minimum(nearest, distances(X[chosen[-1:]])[:, 0])
    return np.asarray(X[chosen])

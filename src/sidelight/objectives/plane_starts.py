"""Initialisation of a mixture of probabilistic PCA from a partition of the rows: approximate PCA of each cluster."""

from __future__ import annotations

import numpy as np

from sidelight.base.types import Array

from .linear_gaussian import LinearGaussian
from .mixtures import MixtureParameters

__all__ = ["planes"]


_PRODUCTS = 4  # subspace iterations for the leading axes; rough is enough, as EM follows


def planes(
    X: Array, centres: Array, labels: Array, q: int, floor: float, rng: np.random.RandomState
) -> MixtureParameters:
    """Initial mixture with one plane per cluster; a cluster with fewer than two rows gets the mean width of clusters.

    Parameters
    ----------
    X : array of shape (n, d)
        Rows; NaN where an entry is missing.
    centres : array of shape (k, d)
    labels : array of shape (n,)
        Cluster of each row.
    q : int
        Local dimensions.
    floor : float
        Lower bound of the noise variances.
    rng : RandomState

    Returns
    -------
    MixtureParameters
    """
    k = len(centres)
    residual = np.where(np.isnan(X), 0.0, X - centres[labels])
    width = max(float((residual**2).mean()), 10.0 * floor)
    shares = np.bincount(labels, minlength=k) + 1.0
    charts = tuple(_plane(centres[s], residual[labels == s], q, width, rng) for s in range(k))
    return MixtureParameters(shares / shares.sum(), charts)


def _plane(centre: Array, residual: Array, q: int, width: float, rng: np.random.RandomState) -> LinearGaussian:
    """Plane along the leading axes of residuals (n, d); all variances are at least a tenth of ``width``."""
    d, least = len(centre), 0.1 * width
    axes = np.linalg.qr(rng.standard_normal((d, q)))[0]
    if len(residual) < 2:
        return LinearGaussian(centre, axes * np.sqrt(least), width)
    for _ in range(_PRODUCTS):
        axes = np.linalg.qr(residual.T @ (residual @ axes) + 1e-3 * width * axes)[0]
    along = ((residual @ axes) ** 2).mean(axis=0)
    noise = max(float(((residual**2).sum(axis=1).mean() - along.sum()) / (d - q)), least)
    return LinearGaussian(centre, axes * np.sqrt(np.maximum(along - noise, least)), noise)

"""Where a mixture of planes starts: a plane for each part of rows, roughly along its leading axes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .linear_gaussian import LinearGaussian
from .mixtures import MixtureParameters

__all__ = ["planes"]

Array = npt.NDArray[Any]
_PRODUCTS = 4  # with random vectors, for leading axes: EM finds the rest of the way


def planes(
    X: Array, centres: Array, labels: Array, q: int, floor: float, rng: np.random.RandomState
) -> MixtureParameters:
    """A plane for each part of rows; a part with few rows gets the width that parts have on average."""
    k = len(centres)
    residual = np.where(np.isnan(X), 0.0, X - centres[labels])
    width = max(float((residual**2).mean()), 10.0 * floor)
    shares = np.bincount(labels, minlength=k) + 1.0
    charts = tuple(_plane(centres[s], residual[labels == s], q, width, rng) for s in range(k))
    return MixtureParameters(shares / shares.sum(), charts)


def _plane(centre: Array, residual: Array, q: int, width: float, rng: np.random.RandomState) -> LinearGaussian:
    """A plane along the leading axes of residuals, nowhere narrower than a tenth of ``width`` (a variance)."""
    d, least = len(centre), 0.1 * width
    axes = np.linalg.qr(rng.standard_normal((d, q)))[0]
    if len(residual) < 2:
        return LinearGaussian(centre, axes * np.sqrt(least), width)
    for _ in range(_PRODUCTS):
        axes = np.linalg.qr(residual.T @ (residual @ axes) + 1e-3 * width * axes)[0]
    along = ((residual @ axes) ** 2).mean(axis=0)
    noise = max(float(((residual**2).sum(axis=1).mean() - along.sum()) / (d - q)), least)
    return LinearGaussian(centre, axes * np.sqrt(np.maximum(along - noise, least)), noise)

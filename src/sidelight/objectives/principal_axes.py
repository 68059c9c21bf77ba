r"""Probabilistic PCA in closed form from principal axes, and its initialisation with missing entries.

    C = Σ (x - μ)(x - μ)ᵀ / n = V diag(λ) Vᵀ,    λ falling                        (S3; rows are samples: C = XᵀX / n)
    σ² = Σ_{i>q} λ_i / (d - q),    W = V_q diag(λ_q - σ²)^½        at scale n / (n - 1)   (Tipping and Bishop 1999)

The covariance comes from sums over rows (n, Σx, Σxxᵀ). With more columns than rows, V comes from the Gram matrix of the
centred rows (n, n), which has the same eigenvalues λ: V = Xᵀ U / sqrt(n λ), and no d x d matrix is formed.
With missing entries, C is the pairwise-complete covariance. It is noisier than that of complete rows, and the noise
spreads its small eigenvalues to both sides of their median. So only eigenvalues further above the median than the
smallest is below it are used for the initialisation.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sidelight.base.types import Array
from sidelight.rows import Sums

from .linear_gaussian import LinearGaussian, entries

__all__ = [
    "PrincipalAxes",
    "available_axes",
    "axes_of_moments",
    "axes_of_rows",
    "closed_form",
    "expected_axes",
    "moments",
]


@dataclass(frozen=True)
class PrincipalAxes:
    """PCA of n rows: mean (d,), eigenvalues (k,) of the covariance (descending), axes (d, k), and total variance."""

    mean: Array
    values: Array
    axes: Array
    total: float
    n: int


def moments(X: Array, weights: Array | None = None) -> Sums:
    """Sums over complete rows, with optional weights (n,): n, sum (d,), outer (d, d)."""
    gamma = np.ones(len(X)) if weights is None else weights
    weighted = X * gamma[:, None] if weights is not None else X
    return {"n": np.array(gamma.sum()), "sum": gamma @ X, "outer": weighted.T @ X}


def axes_of_moments(sums: Sums) -> PrincipalAxes:
    """Principal axes from :func:`moments`; the covariance is divided by n - 1, as in scikit-learn."""
    n = float(sums["n"])
    mean = sums["sum"] / n
    C = (sums["outer"] - n * np.outer(mean, mean)) / max(n - 1.0, 1.0)
    return _falling(mean, 0.5 * (C + C.T), int(n))


def axes_of_rows(X: Array) -> PrincipalAxes:
    """Principal axes of few rows with many columns (n < d), by the Gram matrix (n, n)."""
    n, mean = len(X), X.mean(axis=0)
    R = X - mean
    values, U = np.linalg.eigh(R @ R.T)
    values, U = np.maximum(values[::-1], 0.0), U[:, ::-1]
    kept = values > 1e-13 * max(float(values[0]), 1e-300)
    axes = (R.T @ U[:, kept]) / np.sqrt(values[kept])
    scaled = values[kept] / max(n - 1, 1)
    return PrincipalAxes(mean, scaled, axes, float((R**2).sum() / max(n - 1, 1)), n)


def available_axes(X: Array) -> tuple[PrincipalAxes, int]:
    """Principal axes of rows (n, d) with missing entries (NaN), and how many of them exceed the noise."""
    seen = ~np.isnan(X)
    count = np.maximum(seen.sum(axis=0), 1)
    mean = np.where(seen, X, 0.0).sum(axis=0) / count
    R = np.where(seen, X - mean, 0.0)
    if len(X) < X.shape[1]:
        found = axes_of_rows(R * (seen.size / max(int(seen.sum()), 1)))
        return replace(found, mean=mean), len(found.values)
    observed = seen.astype(np.float64)
    C = (R.T @ R) / np.maximum(observed.T @ observed, 1.0)
    values, axes = np.linalg.eigh(C)
    kept = np.maximum(values[::-1], 0.0)
    rising = int((values > 2.0 * np.median(values) - values[0]).sum())
    return PrincipalAxes(mean, kept, axes[:, ::-1], float(kept.sum()), len(X)), rising


def expected_axes(model: LinearGaussian, X: Array) -> PrincipalAxes:
    """Principal axes of rows (n, d) whose missing entries are imputed by a model, with their predictive variances."""
    gone = np.isnan(X)
    means, variances = entries(model, X)
    filled = np.where(gone, means, X)
    if len(X) < X.shape[1]:
        return axes_of_rows(filled)
    mean = filled.mean(axis=0)
    C = (filled - mean).T @ (filled - mean) / len(X)
    C[np.diag_indices(len(C))] += np.where(gone, variances, 0.0).mean(axis=0)
    return _falling(mean, C, len(X))


def closed_form(found: PrincipalAxes, q: int, *, least_noise: float = 0.0) -> LinearGaussian:
    """Probabilistic PCA of q dimensions in closed form; the noise is the mean of the remaining eigenvalues."""
    d = len(found.mean)
    kept = min(q, found.axes.shape[1])
    left = max(found.total - float(found.values[:kept].sum()), 0.0)
    if kept < len(found.values):
        left = float(found.values[kept:].sum())
    noise = max(left / (d - q) if q < d else 0.0, least_noise)
    W = np.zeros((d, q))
    W[:, :kept] = found.axes[:, :kept] * np.sqrt(np.maximum(found.values[:kept] - noise, 0.0))
    return LinearGaussian(found.mean, W, noise)


def _falling(mean: Array, C: Array, n: int) -> PrincipalAxes:
    """Eigendecomposition of a covariance C (d, d), eigenvalues descending."""
    values, axes = np.linalg.eigh(C)
    kept = np.maximum(values[::-1], 0.0)
    return PrincipalAxes(mean, kept, axes[:, ::-1], float(kept.sum()), n)

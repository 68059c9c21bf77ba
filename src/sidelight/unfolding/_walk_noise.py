r"""Noise of observations, and the odds that two of them show the same place.

Rows are y = μ(place) + noise. The noise variance σ² and the number k of principal axes that rise above it come from
the singular values (the hard threshold of Gavish and Donoho 2014: their median says how large those of pure noise are).
In these k coordinates, with r² the squared distance of two rows,

    same place:    r² / 2σ² ~ χ²_k           another place:    a smooth density of log r², from the rows themselves

A distance below its expectation is not held against "same": both densities are taken at r² ≥ 2σ²k.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from sidelight.base.types import Array

__all__ = ["LogDensity", "Observed", "log_density", "looks_the_same", "observed", "same_place_odds"]


_AXES = 60  # principal axes at most
_BOUND = 6.0  # largest log odds, either way, of one pair of rows
_EXACT = 1e-2  # where rows are equal there is no noise: σ√k is this share of the smallest distance
_GRID = 200  # points of a tabulated density
_RARE = 1e-6  # density that is added, so that no distance is impossible


@dataclass(frozen=True, eq=False)
class Observed:
    """Rows in the k principal axes that rise above noise: ``points`` (n, k), and the noise ``variance`` σ² of each."""

    points: Array
    variance: float

    @property
    def floor(self) -> float:
        """Expected squared distance 2σ²k of two rows of one place."""
        return 2.0 * self.variance * int(self.points.shape[1])

    def squares(self, one: Array, other: Array) -> Array:
        """Squared distances (m,) between rows ``one`` (m,) and rows ``other`` (m,)."""
        D = self.points[one] - self.points[other]
        return np.asarray(np.einsum("ij,ij->i", D, D))


@dataclass(frozen=True, eq=False)
class LogDensity:
    """A density of l = log r², tabulated on ``grid`` (g,) with its logarithms ``values`` (g,)."""

    grid: Array
    values: Array

    def __call__(self, logs: Array) -> Array:
        """Log densities of values l, of any shape."""
        return np.asarray(np.interp(logs, self.grid, self.values))


def observed(points: Array, squares: Array | None) -> Observed:
    """Estimate the noise of rows, and keep the axes above it.

    Parameters
    ----------
    points : array of shape (n, d)
        Rows; used if ``squares`` is None.
    squares : array of shape (n, n) or None
        Squared distances between rows where these are not Euclidean: their classical scaling stands for the rows.
    """
    if squares is None:
        centred = points - points.mean(axis=0)
        U, sizes, _ = np.linalg.svd(centred, full_matrices=False)
        n, d = points.shape
    else:
        n = d = len(squares)
        half = -0.5 * (squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean())
        values, U = np.linalg.eigh(half)
        sizes, U = np.sqrt(np.maximum(values[::-1], 0.0)), U[:, ::-1]
    top = float(sizes[0])
    if top == 0.0:
        return Observed(np.zeros((n, 1)), 1.0)
    beta = min(n, d) / max(n, d)
    threshold = (0.56 * beta**3 - 0.95 * beta**2 + 1.82 * beta + 1.43) * float(np.median(sizes))
    optimal = np.sqrt(2 * (beta + 1) + 8 * beta / (beta + 1 + np.sqrt(beta**2 + 14 * beta + 1)))
    variance = (threshold / (optimal * np.sqrt(max(n, d)))) ** 2
    least = _smallest_difference(U * sizes)
    k = int((sizes > max(threshold if least is None else 0.0, 1e-6 * top)).sum())
    k = min(max(k, 1), _AXES)
    if least is not None:
        variance = _EXACT**2 * least / k
    return Observed(U[:, :k] * sizes[:k], max(float(variance), 1e-12 * top**2 / (n * k)))


def _smallest_difference(rows: Array) -> float | None:
    """The smallest squared distance above 0 if some rows are equal (then there is no noise), else None."""
    norms = np.einsum("ij,ij->i", rows, rows)
    S = norms[:, None] + norms - 2 * (rows @ rows.T)
    between = S[np.triu_indices(len(S), 1)]
    equal = between <= 1e-12 * float(norms.max())
    return float(between[~equal].min()) if equal.any() and not equal.all() else None


def log_density(logs: Array, weights: Array | None = None) -> LogDensity:
    """A Gaussian kernel estimate of the density of ``logs`` (m,), with weights (m,)."""
    weights = np.ones(len(logs)) if weights is None else weights
    low, high = float(logs.min()), float(logs.max())
    edges = np.linspace(low - 0.5, high + 0.5, _GRID + 1)
    counts = np.histogram(logs, edges, weights=weights)[0] / weights.sum()
    grid = 0.5 * (edges[1:] + edges[:-1])
    width = max(0.15, 1.06 * float(logs.std()) * len(logs) ** -0.2)
    smooth = np.exp(-0.5 * ((grid[:, None] - grid) / width) ** 2) / (width * np.sqrt(2 * np.pi))
    return LogDensity(grid, np.log(smooth @ counts + _RARE))


def same_log_density(logs: Array, seen: Observed) -> Array:
    """Log density of l = log r² where two rows show one place."""
    k, scaled = seen.points.shape[1], np.exp(logs) / (2 * seen.variance)
    return np.asarray(0.5 * k * np.log(0.5 * scaled) - 0.5 * scaled - gammaln(0.5 * k))


def looks_the_same(seen: Observed, squares: Array) -> Array:
    """Whether rows at squared distances (m,) differ by no more than noise, but for one in a thousand."""
    k = seen.points.shape[1]
    return np.asarray(squares < 1.1 * 2 * seen.variance * (k + 3.1 * np.sqrt(2 * k)))


def same_place_odds(seen: Observed, squares: Array, *, bound: float = _BOUND) -> Array:
    """Log odds that rows at squared distances (m,) or (n, n) show one place, within ± ``bound``."""
    logs = np.log(np.maximum(squares, seen.floor))
    whole = logs[np.triu_indices(len(logs), 1)] if logs.ndim == 2 else logs
    other = log_density(whole)
    table = np.clip(same_log_density(np.maximum(other.grid, np.log(seen.floor)), seen) - other.values, -bound, bound)
    return np.asarray(np.interp(logs, other.grid, table))

r"""EM for a full-covariance Gaussian from rows with missing entries.

For a row with observed entries O and missing ones M, residual r = x_O - μ_O, covariance Σ and precision P = Σ⁻¹

    E[x_M] - μ_M = -P_MM⁻¹ (P r)_M,              Cov[x_M] = P_MM⁻¹                              where M is smaller
                 = (Σ_:O Σ_OO⁻¹ r)_M,            Cov[x]   = Σ - Σ_:O Σ_OO⁻¹ Σ_O:                where O is

with r padded with zeros. So each row needs only one inverse of size min(|M|, |O|); rows with equally many missing
entries are inverted in one batch. The M step shrinks to a covariance T of few parameters:

    μ = mean of E[x],        Σ = (1 - α) (cov of E[x] + mean Cov[x]) + α T

A linear-Gaussian model (``linear_gaussian``) ignores correlations of columns outside its plane. If most of a row is
observed, these contribute much to the prediction of the rest. A few EM steps from that model are enough. Cost per step:
O(n min(|M|, |O|)³ + n d²).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sidelight.base.types import Array
from sidelight.rows import Sums

__all__ = [
    "ConditionalPart",
    "Gaussian",
    "conditional_parts",
    "gaussian_entries",
    "gaussian_maximised",
    "gaussian_of",
    "gaussian_statistics",
]


_NUMBERS = 4_000_000  # most numbers in one batch of inverses
_RIDGE = 1e-9  # added to the diagonal, as a share of the mean variance


@dataclass(frozen=True)
class Gaussian:
    """``mean`` (d,), ``covariance`` and ``precision`` (d, d)."""

    mean: Array
    covariance: Array
    precision: Array


def gaussian_of(mean: Array, covariance: Array) -> Gaussian:
    """Gaussian with this mean (d,) and covariance (d, d), to which a small ridge is added before inversion."""
    d = len(mean)
    symmetric = 0.5 * (covariance + covariance.T)
    symmetric[np.arange(d), np.arange(d)] += _RIDGE * (float(np.trace(symmetric)) / d or 1.0)
    return Gaussian(mean, symmetric, np.linalg.inv(symmetric))


def gaussian_entries(model: Gaussian, X: Array) -> tuple[Array, Array]:
    """Mean and variance of each entry (n, d) given the observed ones of its row; NaN is missing."""
    means, variances = np.where(np.isnan(X), model.mean, X), np.zeros(X.shape)
    for part in conditional_parts(model, X):
        rows = part.rows[:, None]
        means[rows, part.missing] = model.mean[part.missing] + part.shift
        variances[rows, part.missing] = part.variance(model)
    return means, variances


def gaussian_statistics(model: Gaussian, X: Array) -> Sums:
    """E step: sums over rows (n, d) for the M step: n, Σ E[x - μ], and Σ E[(x - μ)(x - μ)ᵀ]."""
    filled = np.where(np.isnan(X), 0.0, X - model.mean)
    spread = np.zeros((X.shape[1], X.shape[1]))
    for part in conditional_parts(model, X):
        filled[part.rows[:, None], part.missing] = part.shift
        spread += part.spread(model)
    return {"n": np.array(float(len(X))), "x": filled.sum(axis=0), "xx": filled.T @ filled + spread}


def gaussian_maximised(sums: Sums, model: Gaussian, target: Array, share: float) -> Gaussian:
    """M step with shrinkage: the covariance is ``(1 - share)`` times its estimate plus ``share`` times ``target``."""
    shift = sums["x"] / sums["n"]
    own = sums["xx"] / sums["n"] - np.outer(shift, shift)
    return gaussian_of(model.mean + shift, (1.0 - share) * own + share * target)


@dataclass(frozen=True)
class ConditionalPart:
    """E step of a batch of k rows with equally many missing entries.

    ``missing`` (k, m) are their columns, ``shift`` (k, m) is E[x_M] - μ_M. ``block`` (k, s) are the columns of the
    smaller of M and O, ``inverse`` (k, s, s) is the inverse of that block of P (for M) or Σ (for O).
    """

    rows: Array
    missing: Array
    shift: Array
    block: Array
    inverse: Array
    few: bool  # the block is that of the missing entries

    def variance(self, model: Gaussian) -> Array:
        """Conditional variances of the missing entries (k, m)."""
        if self.few:
            return np.asarray(np.diagonal(self.inverse, axis1=1, axis2=2))
        between = model.covariance[self.missing[:, :, None], self.block[:, None, :]]
        return np.asarray(np.diag(model.covariance)[self.missing] - ((between @ self.inverse) * between).sum(axis=2))

    def spread(self, model: Gaussian, weights: Array | None = None) -> Array:
        """The sum of Cov[x] over the rows (d, d), with optional weights (k,)."""
        d = len(model.mean)
        places = self.block[:, :, None] * d + self.block[:, None, :]
        inverse = self.inverse if weights is None else self.inverse * weights[:, None, None]
        held = np.bincount(places.ravel(), weights=inverse.ravel(), minlength=d * d).reshape(d, d)
        if self.few:
            return held
        total = float(len(self.rows) if weights is None else weights.sum())
        return np.asarray(total * model.covariance - model.covariance @ held @ model.covariance)


def conditional_parts(model: Gaussian, X: Array) -> Iterator[ConditionalPart]:
    """Batches of rows with equally many missing entries, of bounded size."""
    d, gone = X.shape[1], np.isnan(X)
    counts = gone.sum(axis=1)
    residual = np.where(gone, 0.0, X - model.mean)
    for count in np.unique(counts[counts > 0]):
        alike, few = np.flatnonzero(counts == count), bool(2 * count <= d)
        size = int(count if few else d - count)
        each = max(1, _NUMBERS // max(size * size, 1))
        for start in range(0, len(alike), each):
            rows = alike[start : start + each]
            missing = np.nonzero(gone[rows])[1].reshape(len(rows), count)
            block = missing if few else np.nonzero(~gone[rows])[1].reshape(len(rows), size)
            matrix = model.precision if few else model.covariance
            inverse = np.linalg.inv(matrix[block[:, :, None], block[:, None, :]])
            yield ConditionalPart(
                rows, missing, _shift(model, residual[rows], missing, block, inverse, few), block, inverse, few
            )


def _shift(model: Gaussian, residual: Array, missing: Array, block: Array, inverse: Array, few: bool) -> Array:
    if few:
        pulled = np.take_along_axis(residual @ model.precision, missing, axis=1)
        return np.asarray(-np.matmul(inverse, pulled[:, :, None])[:, :, 0])
    solved = np.zeros_like(residual)
    own = np.matmul(inverse, np.take_along_axis(residual, block, axis=1)[:, :, None])[:, :, 0]
    np.put_along_axis(solved, block, own, axis=1)
    return np.take_along_axis(solved @ model.covariance, missing, axis=1)

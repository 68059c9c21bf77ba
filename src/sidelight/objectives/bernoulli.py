r"""Mixture of Bernoullis: binary columns that are independent given the chart (latent class analysis).

    p(x) = Σ_s π_s Π_{j seen} θ_sj^{x_j} (1 - θ_sj)^{1 - x_j}

    maximise  mean_n log p(x_n) + (a/n) Σ_s Σ_j [ m_j log θ_sj + (1 - m_j) log(1 - θ_sj) ]

Missing values (NaN) are marginalised, which is exact. The second part is a prior with the weight of a rows per chart: a
column is 1 as often as in all rows (m). Without it, a chart whose rows have no 1 in a column would give a 1 there
probability 0. EM (S2, section 2, any exponential family): responsibilities, then weighted means.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import issparse

from sidelight.base.types import Array, Untyped
from sidelight.rows import Sums

from .mixtures import normalised

__all__ = ["BernoulliParameters", "Bernoullis", "joint_log_density"]


@dataclass(frozen=True)
class BernoulliParameters:
    """Mixing ``weights`` π (k,) and ``means`` θ (k, d), strictly between 0 and 1."""

    weights: Array
    means: Array


def joint_log_density(mixture: BernoulliParameters, X: Untyped) -> Array:
    """``log p(x, s)`` (n, k) of rows, an array in which NaN is missing or a CSR array of 0 and 1."""
    if issparse(X):
        ones, zeros = np.log(mixture.means), np.log1p(-mixture.means)
        return np.asarray(X @ (ones - zeros).T + (zeros.sum(axis=1) + np.log(mixture.weights)))
    seen = ~np.isnan(X)
    ones, zeros = np.log(mixture.means), np.log1p(-mixture.means)
    return np.asarray(np.where(seen, X, 0.0) @ (ones - zeros).T + seen @ zeros.T + np.log(mixture.weights))


@dataclass(frozen=True)
class Bernoullis:
    """EM of a mixture of Bernoullis; ``prior`` (d,) is m and ``strength`` is a."""

    prior: Array
    strength: float

    def joint(self, mixture: BernoulliParameters, X: Array) -> Array:
        """``log p(x, s)`` (n, k)."""
        return joint_log_density(mixture, X)

    def sums(self, mixture: BernoulliParameters, X: Untyped) -> Sums:
        """E step: sufficient statistics of rows for the M step."""
        R, log_density = normalised(joint_log_density(mixture, X))
        if issparse(X):
            return _sparse_sums(X, R, log_density)
        seen = ~np.isnan(X)
        return {
            "rows": np.array(float(len(X))),
            "log": np.asarray(log_density.sum()),
            "n": R.sum(axis=0),
            "x": R.T @ np.where(seen, X, 0.0),
            "seen": R.T @ seen,
        }

    def maximised(self, sums: Sums, mixture: BernoulliParameters) -> BernoulliParameters:
        """M step: weighted means, with the prior as further rows."""
        del mixture
        means = (sums["x"] + self.strength * self.prior) / (sums["seen"] + self.strength)
        tiny = np.finfo(np.float64).eps
        return BernoulliParameters(_weights(sums), np.clip(means, tiny, 1.0 - tiny))

    def value(self, sums: Sums, mixture: BernoulliParameters) -> float:
        """Objective of EM at the mixture with which the sums were computed."""
        log_prior = self.prior * np.log(mixture.means) + (1.0 - self.prior) * np.log1p(-mixture.means)
        return float((sums["log"] + self.strength * log_prior.sum()) / sums["rows"])

    def carried(self, sums: Sums, before: BernoulliParameters, after: BernoulliParameters) -> Sums:
        """The sums unchanged: they do not depend on the mixture."""
        del before, after
        return sums

    def reseeded(self, mixture: BernoulliParameters, charts: Array, X: Array) -> BernoulliParameters:
        """Restart charts, each half way between a row of ``X`` and the prior mean, with an equal share of weight."""
        means, weights = mixture.means.copy(), mixture.weights.copy()
        means[charts] = 0.5 * (np.where(np.isnan(X), self.prior, X) + self.prior)
        weights[charts] = 1.0 / len(weights)
        return BernoulliParameters(weights / weights.sum(), means)


def _sparse_sums(X: Untyped, R: Array, log_density: Array) -> Sums:
    """The sums of a CSR array, in which every entry is seen."""
    n = R.sum(axis=0)
    return {
        "rows": np.array(float(len(R))),
        "log": np.asarray(log_density.sum()),
        "n": n,
        "x": np.asarray(X.T @ R).T,
        "seen": np.repeat(n[:, None], X.shape[1], axis=1),
    }


def _weights(sums: Sums) -> Array:
    weights = np.maximum(sums["n"], 1e-300)
    return np.asarray(weights / weights.sum())

r"""A mixture of Bernoullis: binary columns that are independent once the chart is known.

    p(x) = Σ_s π_s Π_{j seen} θ_sj^{x_j} (1 - θ_sj)^{1 - x_j}

    maximise  mean_n log p(x_n) + (a/n) Σ_s Σ_j [ m_j log θ_sj + (1 - m_j) log(1 - θ_sj) ]

Missing values (NaN) drop out of the product, which is exact. The second part says, with the weight of a rows for each
chart, that a column is 1 as often as it is in all rows (m): without it a chart that has never seen a 1 is certain that
there is none. EM (S2, section 2, any exponential family): responsibilities, then their weighted means.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.rows import Sums

from .mixtures import normalised

__all__ = ["BernoulliParameters", "Bernoullis", "joint_log_density"]

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class BernoulliParameters:
    """``weights`` π (k,) and ``means`` θ (k, d), strictly between 0 and 1."""

    weights: Array
    means: Array


def joint_log_density(mixture: BernoulliParameters, X: Array) -> Array:
    """``log p(x, s)`` (n, k); NaN is missing."""
    seen = ~np.isnan(X)
    ones, zeros = np.log(mixture.means), np.log1p(-mixture.means)
    return np.asarray(np.where(seen, X, 0.0) @ (ones - zeros).T + seen @ zeros.T + np.log(mixture.weights))


@dataclass(frozen=True)
class Bernoullis:
    """The EM of a mixture of Bernoullis: ``prior`` (d,) is m and ``strength`` is a."""

    prior: Array
    strength: float

    def joint(self, mixture: BernoulliParameters, X: Array) -> Array:
        """``log p(x, s)`` (n, k)."""
        return joint_log_density(mixture, X)

    def sums(self, mixture: BernoulliParameters, X: Array) -> Sums:
        """What the M step needs of rows."""
        R, log_density = normalised(joint_log_density(mixture, X))
        seen = ~np.isnan(X)
        return {
            "rows": np.array(float(len(X))),
            "log": np.asarray(log_density.sum()),
            "n": R.sum(axis=0),
            "x": R.T @ np.where(seen, X, 0.0),
            "seen": R.T @ seen,
        }

    def maximised(self, sums: Sums, mixture: BernoulliParameters) -> BernoulliParameters:
        """The M step: weighted means, with the prior's rows among them."""
        del mixture
        means = (sums["x"] + self.strength * self.prior) / (sums["seen"] + self.strength)
        tiny = np.finfo(np.float64).eps
        return BernoulliParameters(_weights(sums), np.clip(means, tiny, 1.0 - tiny))

    def value(self, sums: Sums, mixture: BernoulliParameters) -> float:
        """The objective of the mixture that the sums were made with."""
        log_prior = self.prior * np.log(mixture.means) + (1.0 - self.prior) * np.log1p(-mixture.means)
        return float((sums["log"] + self.strength * log_prior.sum()) / sums["rows"])

    def carried(self, sums: Sums, before: BernoulliParameters, after: BernoulliParameters) -> Sums:
        """Sums do not refer to a mixture."""
        del before, after
        return sums

    def reseeded(self, mixture: BernoulliParameters, charts: Array, X: Array) -> BernoulliParameters:
        """Charts begun anew, each at a row of ``X`` (half way to the mean of all), with the weight of an even share."""
        means, weights = mixture.means.copy(), mixture.weights.copy()
        means[charts] = 0.5 * (np.where(np.isnan(X), self.prior, X) + self.prior)
        weights[charts] = 1.0 / len(weights)
        return BernoulliParameters(weights / weights.sum(), means)


def _weights(sums: Sums) -> Array:
    weights = np.maximum(sums["n"], 1e-300)
    return np.asarray(weights / weights.sum())

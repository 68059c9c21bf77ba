r"""Mixture of Gaussians with full or diagonal covariances, shrunken to one that all charts share.

    p(x) = Σ_s π_s N(x; μ_s, Σ_s)

    maximise  mean_n log p(x_n) - (a / 2n) Σ_s [ log|Σ_s| + tr(Σ_s⁻¹ T) ]        over Σ_s ⪰ floor

The second part is an inverse Wishart prior with the weight of a rows per chart and the covariance T. The M step is
Σ_s = (N_s S_s + a T) / (N_s + a), S_s the covariance of the rows of a chart, with eigenvalues (or variances, if the
charts are diagonal) of at least ``floor``, which is the constrained maximum: the objective never falls. Without a prior
a chart of fewer rows than columns would be flat.

A chart is kept as a plane of d - 1 dimensions with noise, ``Σ = W Wᵀ + σ² I``, σ² the least eigenvalue, so that
everything that planes can do is there for these charts, too.

Missing values (NaN) are marginalised, which is exact: with P = Σ⁻¹, M the missing and O the observed entries of a row,
and y = E[x | x_O] - μ,

    log N(x_O) = -½ ( yᵀ P y + log|Σ| + log|P_MM| + |O| log 2π ),      E[x xᵀ | x_O] = E[x] E[x]ᵀ + Cov[x_M]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sidelight.base.tiles import spans
from sidelight.base.types import Array
from sidelight.rows import Sums, summed

from .gaussian import ConditionalPart, Gaussian, conditional_parts
from .linear_gaussian import LinearGaussian
from .mixtures import MixtureParameters, Planes, joint_log_density, normalised
from .upper_triangles import unpacked

__all__ = ["MOST_COLUMNS", "Gaussians", "covariance_of", "gaussian_charts", "gaussian_joint", "shared_covariance"]

MOST_COLUMNS = 300
"""Columns up to which a covariance per chart is cheap enough."""
_NO_ROWS = 1e-9  # a chart with fewer rows is not updated
_NUMBERS = 4_000_000  # most numbers in the E steps of one tile of rows with missing entries
_LOG_2PI = float(np.log(2 * np.pi))


@dataclass(frozen=True)
class Gaussians:
    """EM of a mixture of Gaussians.

    Parameters
    ----------
    target : array of shape (d, d)
        Covariance T of the prior.
    strength : float
        Weight a of the prior, in rows per chart.
    floor : float
        Least variance in any direction.
    diagonal : bool
        Whether columns are independent inside a chart.
    missing : bool
        Whether rows may have missing entries (NaN).
    share : float
        What the strength is multiplied with: 1 / n where sums are means over n rows, in a stream.
    """

    target: Array
    strength: float
    floor: float
    diagonal: bool = False
    missing: bool = False
    share: float = 1.0

    def joint(self, mixture: MixtureParameters, X: Array) -> Array:
        """``log p(x, s)`` (n, k)."""
        return gaussian_joint(mixture, X)

    def sums(self, mixture: MixtureParameters, X: Array) -> Sums:
        """E step: of each chart ``Σ r``, ``Σ r E[x]`` and the upper triangle of ``Σ r E[x xᵀ]``."""
        if not (self.missing and np.isnan(X).any()):
            return Planes(self.floor).sums(mixture, X)
        models = [_gaussian(chart) for chart in mixture.charts]
        d, weights = X.shape[1], np.log(mixture.weights)
        each = max(16, _NUMBERS // (len(models) * (d + (d // 2) ** 2)))
        return summed(_of_tile(models, weights, X[part]) for part in spans(len(X), each))

    def maximised(self, sums: Sums, mixture: MixtureParameters) -> MixtureParameters:
        """M step; a chart without rows is not changed."""
        n, d = sums["n"], len(self.target)
        held = np.maximum(n, _NO_ROWS)[:, None]
        means = sums["x"] / held
        S = unpacked(sums["xx"], d) - held[:, :, None] * means[:, :, None] * means[:, None, :]
        strength = self.strength * self.share
        C = (S + strength * self.target) / (held[:, :, None] + strength)
        found = gaussian_charts(means, C, self.floor, diagonal=self.diagonal)
        weights = np.maximum(n, 1e-300)
        kept = (new if own > _NO_ROWS else old for new, own, old in zip(found, n, mixture.charts, strict=True))
        return MixtureParameters(weights / weights.sum(), tuple(kept))

    def value(self, sums: Sums, mixture: MixtureParameters) -> float:
        """Objective of EM at the mixture with which the sums were computed."""
        penalty = _misfits(mixture.charts, self.target).sum()
        return float((sums["log"] - 0.5 * self.strength * self.share * penalty) / sums["rows"])

    def carried(self, sums: Sums, before: MixtureParameters, after: MixtureParameters) -> Sums:
        """The sums unchanged: they do not depend on the mixture."""
        del before, after
        return sums

    def reseeded(self, mixture: MixtureParameters, charts: Array, X: Array) -> MixtureParameters:
        """Restart charts, each at a row of ``X``, with the covariance of the prior and an equal share of weight."""
        weights, found = mixture.weights.copy(), list(mixture.charts)
        overall = mixture.weights @ np.stack([chart.mean for chart in mixture.charts])
        (wide,) = gaussian_charts(overall[None], self.target[None], self.floor, diagonal=self.diagonal)
        for s, row in zip(charts, X, strict=True):
            found[s] = replace(wide, mean=np.where(np.isnan(row), overall, row))
        weights[charts] = 1.0 / len(weights)
        return MixtureParameters(weights / weights.sum(), tuple(found))


def gaussian_charts(
    means: Array, covariances: Array, floor: float, *, diagonal: bool = False
) -> tuple[LinearGaussian, ...]:
    """Gaussians, means (k, d) and covariances (k, d, d), as planes of d - 1 dimensions, widest first.

    Variances, in any direction, are at least ``floor``; ``diagonal``: only those of the columns are used.
    """
    if diagonal:
        own = np.diagonal(covariances, axis1=1, axis2=2)
        order = np.argsort(own, axis=1, kind="stable")
        values, vectors = np.take_along_axis(own, order, axis=1), np.eye(means.shape[1])[:, order].transpose(1, 0, 2)
    else:
        values, vectors = np.linalg.eigh(covariances)
    values = np.maximum(values[:, ::-1], floor)
    noise = values[:, -1]
    axes = vectors[:, :, :0:-1] * np.sqrt(values[:, None, :-1] - noise[:, None, None])
    return tuple(LinearGaussian(*one) for one in zip(means, axes, noise.tolist(), strict=True))


def gaussian_joint(mixture: MixtureParameters, X: Array) -> Array:
    """``log p(x, s)`` (n, k); of rows with missing entries by inverses of the size of what is missing or observed."""
    broken = np.isnan(X).any(axis=1)
    if not broken.any():
        return joint_log_density(mixture, X)
    joint = np.empty((len(X), len(mixture.charts)))
    if not broken.all():
        joint[~broken] = joint_log_density(mixture, X[~broken])
    part = X[broken]
    logs = np.stack([_expected(_gaussian(chart), part)[2] for chart in mixture.charts], axis=1)
    seen = (~np.isnan(part)).sum(axis=1)
    joint[broken] = logs + np.log(mixture.weights) - 0.5 * _LOG_2PI * seen[:, None]
    return joint


def covariance_of(chart: LinearGaussian) -> Array:
    """Covariance ``W Wᵀ + σ² I`` (d, d) of a chart."""
    return np.asarray(chart.W @ chart.W.T + chart.noise * np.eye(len(chart.mean)))


def shared_covariance(mixture: MixtureParameters, *, wide: bool) -> Array:
    """Mean covariance (d, d) of the charts, by weight: arithmetic (``wide``), or harmonic: that of narrow charts."""
    covariances = np.stack([covariance_of(chart) for chart in mixture.charts])
    if wide:
        return np.asarray(np.einsum("s,sij->ij", mixture.weights, covariances))
    mean = np.linalg.inv(np.einsum("s,sij->ij", mixture.weights, np.linalg.inv(covariances)))
    return np.asarray(0.5 * (mean + mean.T))


def _misfits(charts: Sequence[LinearGaussian], target: Array) -> Array:
    """``log|Σ| + tr(Σ⁻¹ T)`` (k,) of charts with orthogonal axes."""
    W, noise = np.stack([chart.W for chart in charts]), np.array([chart.noise for chart in charts])
    values = (W**2).sum(axis=1) + noise[:, None]
    inside = (((target @ W) * W).sum(axis=1) / values).sum(axis=1)
    log_det = np.log(values).sum(axis=1) + (W.shape[1] - W.shape[2]) * np.log(noise)
    return np.asarray(log_det + (np.trace(target) - inside) / noise)


def _gaussian(chart: LinearGaussian) -> Gaussian:
    covariance = covariance_of(chart)
    return Gaussian(chart.mean, covariance, np.linalg.inv(covariance))


def _of_tile(models: list[Gaussian], log_weights: Array, X: Array) -> Sums:
    """The sums of a tile of rows with missing entries."""
    seen = (~np.isnan(X)).sum(axis=1)
    steps = [_expected(model, X) for model in models]
    joint = np.stack([log for _, _, log in steps], axis=1) + log_weights - 0.5 * _LOG_2PI * seen[:, None]
    R, log_density = normalised(joint)
    upper = np.triu_indices(X.shape[1])
    x, xx = [], []
    for model, (filled, parts, _), r in zip(models, steps, R.T, strict=True):
        outer = (filled * r[:, None]).T @ filled
        outer += sum(part.spread(model, r[part.rows]) for part in parts)
        x.append(r @ filled)
        xx.append(outer[upper])
    rows = {"rows": np.array(float(len(X))), "log": np.asarray(log_density.sum())}
    return rows | {"n": R.sum(axis=0), "x": np.stack(x), "xx": np.stack(xx)}


def _expected(model: Gaussian, X: Array) -> tuple[Array, list[ConditionalPart], Array]:
    """Rows with missing entries at their means (n, d), the parts of the E step, and log densities without 2π (n,)."""
    filled = np.where(np.isnan(X), model.mean, X)
    log_det = np.full(len(X), np.linalg.slogdet(model.covariance)[1])
    parts = list(conditional_parts(model, X))
    for part in parts:
        filled[part.rows[:, None], part.missing] += part.shift
        own = -np.linalg.slogdet(part.inverse)[1]
        log_det[part.rows] = log_det[part.rows] + own if part.few else own
    residual = filled - model.mean
    squares = ((residual @ model.precision) * residual).sum(axis=1)
    return filled, parts, -0.5 * (squares + log_det)

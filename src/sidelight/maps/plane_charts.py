r"""Charts of a mixture of probabilistic PCA, in the units of the data: local coordinates, imputation, sampling.

    f_s(x) = E[z | x, s],    x̂_s(f) = μ_s + W_s f,    E[x | x_seen] = Σ_s r_s(x_seen) x̂_s(f_s(x_seen))
    Var[x_j | x_seen] = Σ_s r_s ( w_sjᵀ Cov(z | x_seen, s) w_sj + σ_s² + m_sj² ) - (Σ_s r_s m_sj)²,    m_s = x̂_s(f_s)

Missing values (NaN) are marginalised, which is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.objectives import linear_gaussian
from sidelight.objectives.gaussian_charts import gaussian_joint
from sidelight.objectives.linear_gaussian import LinearGaussian
from sidelight.objectives.mixtures import MixtureParameters, joint_log_density, normalised
from sidelight.solvers.eigen import fix_signs

from .frames import Frame

__all__ = ["PlaneCharts", "with_principal_axes"]

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class PlaneCharts:
    """A mixture of probabilistic PCA models, fitted to scaled rows ``(x - centre) / scale / columns``.

    ``columns`` (d,) is the spread of each column in units of ``scale`` (None: 1); ``diagonal``: the charts are
    Gaussians with independent columns, which are planes of d - 1 dimensions along the columns.

    With the probability ``outside`` a row is from no chart: its columns are then independent and have Student
    distributions with three degrees of freedom and the ``widths`` (d,). So a value that no training row has had, in a
    column that hardly varies, does not outweigh all other rows. It is part of the density only.
    """

    centre: Array
    scale: float
    weights: Array
    charts: tuple[LinearGaussian, ...]
    columns: Array | None = None
    diagonal: bool = False
    widths: Array | None = None
    outside: float = 0.0

    @property
    def n_charts(self) -> int:
        """Number of charts k."""
        return len(self.charts)

    @property
    def n_local(self) -> tuple[int, ...]:
        """Number of local coordinates of each chart."""
        return tuple(chart.n_components for chart in self.charts)

    @property
    def n_parameters(self) -> int:
        """Number of free parameters: weights, and for each chart mean, noise, and W up to a rotation."""
        d = len(self.centre)
        if self.diagonal:
            return self.n_charts * (2 * d + 1) - 1
        own = (d + 1 + d * q - q * (q - 1) // 2 for q in self.n_local)
        return self.n_charts - 1 + sum(own)

    @property
    def spread(self) -> float:
        """Length scale of the fitted data."""
        return self.scale if self.columns is None else self.scale * float(self.columns.min())

    def responsibilities(self, X: Array) -> Array:
        """Posterior probabilities of the charts (n, k); the prior weights for a row without observed entries."""
        return normalised(self._joint(X))[0]

    def features(self, X: Array, chart: int) -> Array:
        """Posterior means of the local coordinates (n, n_local[chart])."""
        return linear_gaussian.latent_mean(self.charts[chart], self._inside(X))

    def all_features(self, X: Array) -> list[Array]:
        """``features`` of complete rows (n, d) in every chart, by one product."""
        gains = _gains(self.charts)
        starts = np.concatenate([chart.mean @ own for chart, own in zip(self.charts, gains, strict=True)])
        F = self._inside(X) @ np.concatenate(gains, axis=1) - starts
        return np.split(F, np.cumsum(self.n_local)[:-1], axis=1)

    def reconstruction(self, F: Array, chart: int) -> Array:
        """Rows (n, d) at local coordinates F (n, n_local[chart])."""
        return self._outside(linear_gaussian.reconstruction(self.charts[chart], np.asarray(F)))

    def log_density(self, X: Array) -> Array:
        """Log density (n,) of the observed entries of rows, in the units of the data."""
        seen = ~np.isnan(X)
        unit = seen.sum(axis=1) * np.log(self.scale)
        if self.columns is not None:
            unit = unit + seen @ np.log(self.columns)
        inside = self._inside(X)
        log_density = normalised(self._joint_inside(inside))[1]
        if self.widths is not None and self.outside > 0:
            far = np.log(self.outside) + _student(inside, self.widths)
            log_density = np.logaddexp(np.log1p(-self.outside) + log_density, far)
        return np.asarray(log_density - unit)

    def sample(self, n: int, rng: np.random.RandomState) -> tuple[Array, Array]:
        """Draw n rows (n, d) and the chart of each (n,)."""
        chart = rng.choice(self.n_charts, n, p=self.weights)
        X = rng.standard_normal((n, len(self.centre)))
        Z = rng.standard_normal((n, max(self.n_local, default=0)))
        for s in np.unique(chart):
            drawn, own = chart == s, self.charts[s]
            X[drawn] = own.mean + Z[drawn, : own.n_components] @ own.W.T + np.sqrt(own.noise) * X[drawn]
        return self._outside(X), chart

    def expected(self, X: Array) -> Array:
        """``E[W z + μ | x_seen]`` (n, d): rows projected to the planes, for denoising and imputation."""
        X = self._inside(X)
        R = normalised(self._joint_inside(X))[0]
        total = np.zeros_like(X)
        for s, chart in enumerate(self.charts):
            total += R[:, s : s + 1] * _mean(chart, X)
        return self._outside(total)

    def variance(self, X: Array) -> Array:
        """Predictive variance (n, d) of each entry given the observed entries of its row, noise included."""
        X = self._inside(X)
        R = normalised(self._joint_inside(X))[0]
        first, second = np.zeros_like(X), np.zeros_like(X)
        for s, chart in enumerate(self.charts):
            means = _mean(chart, X)
            first += R[:, s : s + 1] * means
            second += R[:, s : s + 1] * (means**2 + linear_gaussian.entry_variance(chart, X))
        return self.frame.outside_variance(second - first**2)

    @property
    def frame(self) -> Frame:
        """Centre and scale of the rows."""
        return Frame(self.centre, self.scale, columns=self.columns)

    def _inside(self, X: Array) -> Array:
        return self.frame.inside(X)

    def _outside(self, Y: Array) -> Array:
        return self.frame.outside(Y)

    def _joint(self, X: Array) -> Array:
        return self._joint_inside(self._inside(X))

    def _joint_inside(self, X: Array) -> Array:
        """``log p(x, s)`` (n, k); charts of d - 1 dimensions are Gaussians, for which gaps are cheaper in that form."""
        mixture, d = MixtureParameters(self.weights, self.charts), X.shape[1]
        whole = all(q == d - 1 for q in self.n_local) and self.columns is not None
        return gaussian_joint(mixture, X) if whole else joint_log_density(mixture, X)


def with_principal_axes(mixture: MixtureParameters) -> MixtureParameters:
    """The same density with the local axes of each chart rotated to principal axes, the widest first."""
    charts = (LinearGaussian(chart.mean, _principal(chart.W), chart.noise) for chart in mixture.charts)
    return MixtureParameters(mixture.weights, tuple(charts))


def _gains(charts: Sequence[LinearGaussian]) -> list[Array]:
    """``W M⁻¹`` (d, q) of charts, so that E[z | x] = (x - μ) W M⁻¹ of a complete row; charts of one size together."""
    found = [chart.W for chart in charts]
    for q in {W.shape[1] for W in found} - {0}:
        which = [s for s, chart in enumerate(charts) if chart.n_components == q]
        W = np.stack([charts[s].W for s in which])
        noise = np.array([charts[s].noise for s in which])
        M = W.transpose(0, 2, 1) @ W + noise[:, None, None] * np.eye(q)
        for s, own in zip(which, np.linalg.solve(M, W.transpose(0, 2, 1)), strict=True):
            found[s] = own.T
    return found


def _student(X: Array, widths: Array) -> Array:
    """Log density (n,) of the observed entries of rows under independent Student distributions, three degrees."""
    logs = np.log(2.0 / (np.pi * np.sqrt(3.0) * widths)) - 2.0 * np.log1p((X / widths) ** 2 / 3.0)
    return np.asarray(np.where(np.isnan(X), 0.0, logs).sum(axis=1))


def _mean(chart: LinearGaussian, X: Array) -> Array:
    """``E[W z + μ | x_seen]`` (n, d) under one chart."""
    return linear_gaussian.reconstruction(chart, linear_gaussian.latent_mean(chart, X))


def _principal(W: Array) -> Array:
    """W (d, q) rotated to orthogonal columns, longest first, with reproducible signs."""
    U, lengths, _ = np.linalg.svd(W, full_matrices=False)
    return np.asarray(fix_signs(U) * lengths)

r"""Charts of a mixture of Bernoullis, optionally with principal axes of each chart's rows as local coordinates.

A product of Bernoullis has no local coordinates of its own (n_local = 0; coordination then uses only which charts share
rows). :func:`with_axes` gives each chart local coordinates by PCA of its rows, treating the 0s and 1s as numbers:

    C_s = Σ_n r_ns (x_n - θ_s)(x_n - θ_s)ᵀ / Σ_n r_ns = V Λ Vᵀ,    f_s(x) = Λ_q^(-1/2) V_qᵀ (x - θ_s)

Missing values (NaN) are replaced by the chart's mean θ_s in the coordinates. In the density they are marginalised,
which is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.base.eigenvalues import selected_pairs
from sidelight.objectives.bernoulli import BernoulliParameters, joint_log_density
from sidelight.objectives.mixtures import normalised
from sidelight.solvers.eigen import fix_signs

from .charts import local_numbers
from .truncated import is_sparse

__all__ = ["BernoulliCharts", "bernoulli_charts", "with_axes"]

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class BernoulliCharts:
    """``weights`` (k,), ``means`` (k, d); of each chart ``axes`` (d, q_s) = V Λ^(1/2), ``inverse`` = V Λ^(-1/2)."""

    weights: Array
    means: Array
    axes: tuple[Array, ...]
    inverse: tuple[Array, ...]

    @property
    def n_charts(self) -> int:
        """Number of charts k."""
        return len(self.weights)

    @property
    def n_local(self) -> tuple[int, ...]:
        """Number of local coordinates of each chart."""
        return tuple(int(axes.shape[1]) for axes in self.axes)

    @property
    def n_parameters(self) -> int:
        """Number of free parameters: weights and means."""
        return self.n_charts - 1 + self.means.size

    @property
    def spread(self) -> float:
        """Infinite: binary rows have no unit of length."""
        return np.inf

    def responsibilities(self, X: Array) -> Array:
        """Posterior probabilities of the charts (n, k)."""
        return normalised(self._joint(X))[0]

    def features(self, X: Array, chart: int) -> Array:
        """Local coordinates (n, n_local[chart]) of rows (n, d)."""
        residual = np.asarray(X, dtype=np.float64) - self.means[chart]
        return np.asarray(np.where(np.isnan(residual), 0.0, residual) @ self.inverse[chart])

    def reconstruction(self, F: Array, chart: int) -> Array:
        """Probability of a 1 in each column (n, d) at local coordinates F (n, n_local[chart])."""
        return np.asarray(np.clip(self.means[chart] + np.asarray(F) @ self.axes[chart].T, 0.0, 1.0))

    def log_density(self, X: Array) -> Array:
        """Log probability (n,) of the observed entries of rows."""
        return normalised(self._joint(X))[1]

    def sample(self, n: int, rng: np.random.RandomState) -> tuple[Array, Array]:
        """Draw n rows (n, d) of 0 and 1, and the chart of each (n,)."""
        chart = rng.choice(self.n_charts, n, p=self.weights)
        return (rng.uniform(size=(n, self.means.shape[1])) < self.means[chart]).astype(np.float64), chart

    def expected(self, X: Array) -> Array:
        """Probability of a 1 in each entry (n, d), given the observed entries of the row."""
        return np.asarray(self.responsibilities(X) @ self.means)

    def _joint(self, X: Array) -> Array:
        rows = X if is_sparse(X) else np.asarray(X, dtype=np.float64)
        return joint_log_density(BernoulliParameters(self.weights, self.means), rows)


def bernoulli_charts(mixture: BernoulliParameters) -> BernoulliCharts:
    """Charts of a fitted mixture, without local coordinates."""
    none = tuple(np.empty((mixture.means.shape[1], 0)) for _ in mixture.weights)
    return BernoulliCharts(mixture.weights, mixture.means, none, none)


def with_axes(charts: BernoulliCharts, X: Array, n_local: int | Sequence[int]) -> BernoulliCharts:
    """Add local coordinates: ``n_local`` principal axes per chart (one number, or one for each chart).

    The axes are computed from rows ``X`` (n, d); a sample of the rows is enough.
    """
    d = charts.means.shape[1]
    numbers = local_numbers("with_axes", n_local, charts.n_charts, d)
    X = np.asarray(X, dtype=np.float64)
    R = charts.responsibilities(X)
    found = [_axes(X - mean, r, q) for mean, r, q in zip(charts.means, R.T, numbers, strict=True)]
    axes, inverse = zip(*found, strict=True)
    return replace(charts, axes=tuple(axes), inverse=tuple(inverse))


def _axes(residual: Array, r: Array, q: int) -> tuple[Array, Array]:
    """Axes ``V Λ^(1/2)`` and ``V Λ^(-1/2)`` (d, q) of residuals (n, d) with responsibilities r (n,)."""
    residual = np.where(np.isnan(residual), 0.0, residual)
    d = residual.shape[1]
    C = (residual * r[:, None]).T @ residual / max(float(r.sum()), 1e-300)
    values, vectors = selected_pairs(C, d - q, d - 1) if q else (np.empty(0), np.empty((d, 0)))
    lengths = np.sqrt(np.maximum(values[::-1], 1e-12))  # a chart of equal rows has no axes: its coordinates are 0
    V = fix_signs(vectors[:, ::-1])
    return V * lengths, np.where(values[::-1] > 1e-12, V / lengths, 0.0)

r"""Charts of rows with many columns, in their leading principal components.

    x = c + V p + e,      p (r,) ~ mixture of charts,      e ~ N(0, τ²) across V (d, r), which is orthonormal

EM in d columns costs d² a row, and d - q columns of noise make every responsibility 0 or 1. Charts of the components
cost r². The rest of a row has one variance τ² for all charts, so that it does not tell charts apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.objectives.linear_gaussian import LinearGaussian
from sidelight.rows import Rows, Statistic, Sums
from sidelight.solvers.eigen import fix_signs

from .plane_charts import PlaneCharts

__all__ = ["LeadingComponents", "ReducedCharts", "ReducedRows", "leading_components"]

Array = npt.NDArray[Any]
_FLOOR = 1e-6  # least τ², as a share of the mean variance of the columns


@dataclass(frozen=True)
class LeadingComponents:
    """Principal components of rows: centre (d,), axes V (d, r) and the variance τ² of each direction across them."""

    centre: Array
    axes: Array
    noise: float

    def inside(self, X: Array) -> Array:
        """LeadingComponents (n, r) of rows (n, d)."""
        return np.asarray((np.asarray(X, dtype=np.float64) - self.centre) @ self.axes)

    def outside(self, P: Array) -> Array:
        """Rows (n, d) at components (n, r)."""
        return np.asarray(P @ self.axes.T + self.centre)


def leading_components(X: Array, most: int) -> LeadingComponents:
    """The ``most`` leading principal components of rows (n, d), at most as many as the rows have."""
    centre = X.mean(axis=0)
    A = np.asarray(X - centre, dtype=np.float64)
    short = len(A) < A.shape[1]
    values, vectors = np.linalg.eigh(A @ A.T if short else A.T @ A)
    values, vectors = values[::-1], vectors[:, ::-1]
    r = max(1, min(most, int((values > 1e-12 * max(float(values[0]), 1e-300)).sum())))
    V = A.T @ vectors[:, :r] if short else vectors[:, :r]
    V = fix_signs(V / np.maximum(np.linalg.norm(V, axis=0), 1e-300))
    left = float(np.maximum(values[r:], 0.0).sum()) / (len(A) * max(A.shape[1] - r, 1))
    return LeadingComponents(centre, V, max(left, _FLOOR * float(values.sum()) / A.size, 1e-300))


class ReducedRows(Rows):
    """LeadingComponents of rows."""

    def __init__(self, rows: Rows, components: LeadingComponents) -> None:
        self._rows, self._components = rows, components
        self.n_features = components.axes.shape[1]

    def blocks(self) -> Iterator[Array]:
        """Blocks of components."""
        return (self._components.inside(block) for block in self._rows.blocks())

    def total(self, statistic: Statistic) -> Sums:
        """The sum over all rows."""
        return self._rows.total(lambda block: statistic(self._components.inside(block)))


@dataclass(frozen=True)
class ReducedCharts:
    """A mixture of probabilistic PCA of the leading components of rows."""

    components: LeadingComponents
    charts: PlaneCharts

    @property
    def n_charts(self) -> int:
        """Number of charts k."""
        return self.charts.n_charts

    @property
    def n_local(self) -> tuple[int, ...]:
        """Number of local coordinates of each chart."""
        return self.charts.n_local

    @property
    def n_parameters(self) -> int:
        """Number of free parameters of the mixture and of the components."""
        return self.charts.n_parameters + self.components.axes.size

    def responsibilities(self, X: Array) -> Array:
        """Posterior probabilities of the charts (n, k)."""
        return self.charts.responsibilities(self.components.inside(X))

    def features(self, X: Array, chart: int) -> Array:
        """Posterior means of the local coordinates (n, n_local[chart])."""
        return self.charts.features(self.components.inside(X), chart)

    def all_features(self, X: Array) -> list[Array]:
        """``features`` of rows (n, d) in every chart."""
        return self.charts.all_features(self.components.inside(X))

    def reconstruction(self, F: Array, chart: int) -> Array:
        """Rows (n, d) at local coordinates F (n, n_local[chart])."""
        return self.components.outside(self.charts.reconstruction(F, chart))

    def log_density(self, X: Array) -> Array:
        """Log density (n,) of rows."""
        parts = self.components
        P = parts.inside(X)
        across = ((np.asarray(X, dtype=np.float64) - parts.outside(P)) ** 2).sum(axis=1)
        d, r = parts.axes.shape
        volume = (d - r) * np.log(2.0 * np.pi * parts.noise)
        return np.asarray(self.charts.log_density(P) - 0.5 * (across / parts.noise + volume))

    def sample(self, n: int, rng: np.random.RandomState) -> tuple[Array, Array]:
        """Draw n rows (n, d) and the chart of each (n,)."""
        P, chart = self.charts.sample(n, rng)
        E = rng.standard_normal((n, len(self.components.centre)))
        V = self.components.axes
        return self.components.outside(P) + np.sqrt(self.components.noise) * (E - (E @ V) @ V.T), chart

    def moved(self, components: LeadingComponents) -> ReducedCharts:
        """The same charts in other components of the rows: what of them lies across is left out."""
        V, own = components.axes, self.charts
        turn = V.T @ self.components.axes
        offset = (V.T @ (self.components.centre - components.centre) + turn @ own.centre) / own.scale
        planes = tuple(LinearGaussian(turn @ one.mean + offset, turn @ one.W, one.noise) for one in own.charts)
        return ReducedCharts(components, PlaneCharts(np.zeros(V.shape[1]), own.scale, own.weights, planes))

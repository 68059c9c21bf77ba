r"""Models of the missing entries of standardised rows, and their blend: fits, means, variances, joint draws.

    gaussian     probabilistic PCA, refined to a full covariance where rows are many (``linear_gaussian_fit``)
    mixture      a mixture of probabilistic PCA (``plane_mixture``), four charts of two dimensions
    neighbours   local linear regression (``missing``)
    trees        regression trees on rows that the Gaussian has completed (``forest_fill``)

A blend has a weight w_k ≥ 0 for each model k, Σ_k w_k = 1, and of the means m_k and variances v_k of an entry

    m = Σ_k w_k m_k,        Var = Σ_k w_k (v_k + (m_k - m)²)

A joint draw follows from conditional means alone (Matheron's rule): with x* drawn from the model,

    x_M = E[x_M | x_O] + x*_M - E[x*_M | x*_O]        has mean E[x_M | x_O] and covariance Cov[x_M | x_O]

Trees and blends have no joint density of their own: their draws have their means and variances, and the correlations of
the Gaussian. Neighbours are drawn entry by entry.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.base.fitting import raise_if_interrupted
from sidelight.base.result import Status
from sidelight.objectives import linear_gaussian
from sidelight.rows import ArrayRows

from .forest_fill import ForestFill, fit_forest_fill
from .linear_gaussian_fit import GaussianSettings, fit_linear_gaussian
from .linear_gaussian_maps import LinearGaussianMaps
from .missing import LocalFill, fit_fill
from .mixture_fit import EMSettings, fit_mixture
from .plane_charts import PlaneCharts
from .plane_mixture import PlaneKind

__all__ = ["CHARTS", "LEAST_VARIANCE", "ROWS_PER_CHART", "Blend", "Density", "Member"]
__all__ += ["density_name", "draw_entries", "entry_means", "entry_moments", "fit_densities"]

Array = npt.NDArray[Any]
Member = LinearGaussianMaps | PlaneCharts | LocalFill | ForestFill
CHARTS = 4
"""Of the mixture."""
ROWS_PER_CHART = 20
"""At least."""
LEAST_VARIANCE = 1e-12
"""In units of the columns; an entry with less counts as certain."""
_FLOOR = 0.01  # of a chart's noise, as a share of the variance: a narrow one would be certain of what it cannot know


@dataclass(frozen=True)
class Blend:
    """Several models with weights.

    Parameters
    ----------
    gaussian : LinearGaussianMaps
        The first member, which also lends its correlations to joint draws.
    others : tuple of PlaneCharts, LocalFill or ForestFill
        The other members.
    weights : array of shape (1 + number of others,)
        Of the members, in this order; their sum is 1.
    """

    gaussian: LinearGaussianMaps
    others: tuple[Member, ...]
    weights: Array

    def moments(self, X: Array, n_jobs: int | None) -> tuple[Array, Array]:
        """Mean and variance (m, d) of missing entries."""
        found = [entry_moments(member, X, n_jobs) for member in (self.gaussian, *self.others)]
        mean = np.zeros_like(X)
        for weight, (centre, _) in zip(self.weights, found, strict=True):
            mean += weight * centre
        spread = np.zeros_like(X)
        for weight, (centre, variance) in zip(self.weights, found, strict=True):
            spread += weight * (variance + (centre - mean) ** 2)
        return mean, np.where(np.isnan(X), spread, 0.0)


Density = Member | Blend


def density_name(density: Density) -> str:
    """Return "gaussian", "mixture", "neighbours", "trees" or "blend"."""
    names: dict[type[Any], str] = {
        LinearGaussianMaps: "gaussian",
        PlaneCharts: "mixture",
        LocalFill: "neighbours",
        ForestFill: "trees",
        Blend: "blend",
    }
    return names[type(density)]


def fit_densities(
    X: Array,
    names: Sequence[str],
    *,
    owner: str,
    seed: int,
    n_jobs: int | None,
    like: Sequence[Member] = (),
) -> list[Member]:
    """Fit models to standardised rows.

    Parameters
    ----------
    X : array of shape (n, d)
        NaN where an entry is missing.
    names : sequence of "gaussian", "mixture", "neighbours", "trees"
    owner : str
        Name of the estimator, for messages.
    seed : int
        For the starts of mixtures and the trees.
    n_jobs : int or None
        Threads.
    like : sequence of members, optional
        Models of nearly the same rows; neighbours are fitted with the settings that they had, which need not be chosen
        again.
    """
    settings = next((member for member in like if isinstance(member, LocalFill)), None)
    gaussian = _gaussian(X, owner, seed, n_jobs) if {"gaussian", "trees"} & set(names) else None
    found: list[Member] = []
    for name in names:
        if name == "neighbours":
            found.append(fit_fill(X, n_jobs, settings))
        elif name == "mixture":
            found.append(_mixture(X, owner, seed, n_jobs))
        else:
            assert gaussian is not None
            found.append(gaussian if name == "gaussian" else fit_forest_fill(X, gaussian, seed=seed, n_jobs=n_jobs))
    return found


def _gaussian(X: Array, owner: str, seed: int, n_jobs: int | None) -> LinearGaussianMaps:
    settings = GaussianSettings(owner, None, False, 3, 500, 5e-3, seed, n_jobs, 0, None)
    found = fit_linear_gaussian(_rows(X, n_jobs), settings)
    raise_if_interrupted(found.status is Status.INTERRUPTED, kept=False)
    return found.maps


def _mixture(X: Array, owner: str, seed: int, n_jobs: int | None) -> PlaneCharts:
    kind = PlaneKind(2, _FLOOR)
    settings = EMSettings(owner, 2, 500, 1e-3, seed, n_jobs)
    found = fit_mixture(_rows(X, n_jobs), kind, settings, min(CHARTS, max(1, len(X) // ROWS_PER_CHART)))
    raise_if_interrupted(found.interrupted, kept=False)
    return kind.charts(found.mixture, found.summary.frame)


def entry_means(density: Density, X: Array, n_jobs: int | None) -> Array:
    """Return rows (m, d) with the mean of missing entries."""
    if isinstance(density, LinearGaussianMaps):
        return density.complete(X, n_jobs)
    return entry_moments(density, X, n_jobs)[0]


def entry_moments(density: Density, X: Array, n_jobs: int | None) -> tuple[Array, Array]:
    """Return rows (m, d) with the mean of missing entries, and their variance (m, d), 0 where observed."""
    if isinstance(density, LinearGaussianMaps):
        return density.complete(X, n_jobs), density.missing_variance(X, n_jobs)
    if isinstance(density, LocalFill | ForestFill | Blend):
        return density.moments(X, n_jobs)
    gone = np.isnan(X)
    return np.where(gone, density.expected(X), X), np.where(gone, density.variance(X), 0.0)


def draw_entries(density: Density, X: Array, rng: np.random.Generator, n_jobs: int | None) -> Array:
    """Rows (m, d) with missing entries drawn from their joint distribution given the observed ones."""
    if isinstance(density, PlaneCharts):
        return _drawn_by_chart(density, X, rng)
    mean, variance = entry_moments(density, X, n_jobs)
    if isinstance(density, LocalFill):
        return np.asarray(mean + np.sqrt(variance) * rng.standard_normal(X.shape))
    if isinstance(density, LinearGaussianMaps):
        return mean + _deviation(density, X, rng, n_jobs)
    gaussian = density.gaussian if isinstance(density, Blend) else density.base
    own = np.maximum(gaussian.missing_variance(X, n_jobs), LEAST_VARIANCE)
    return np.asarray(mean + np.sqrt(variance / own) * _deviation(gaussian, X, rng, n_jobs))


def _rows(X: Array, n_jobs: int | None) -> ArrayRows:
    return ArrayRows(X, n_jobs=n_jobs, block=max(64, -(-len(X) // 4)))


def _deviation(maps: LinearGaussianMaps, X: Array, rng: np.random.Generator, n_jobs: int | None) -> Array:
    """``x* - E[x* | x*_O]`` (m, d) of rows drawn from a Gaussian, which are observed where ``X`` is."""
    if maps.gaussian is None:
        fresh = maps.sample(len(X), rng)
    else:
        root = np.linalg.cholesky(maps.gaussian.covariance)
        fresh = maps.outside(maps.gaussian.mean + rng.standard_normal(X.shape) @ root.T)
    return fresh - maps.complete(np.where(np.isnan(X), np.nan, fresh), n_jobs)


def _drawn_by_chart(charts: PlaneCharts, X: Array, rng: np.random.Generator) -> Array:
    """Rows (m, d) with missing entries drawn from a chart that is drawn by its responsibility."""
    cumulative = np.cumsum(charts.responsibilities(X), axis=1)
    chosen = np.minimum((rng.random((len(X), 1)) > cumulative).sum(axis=1), charts.n_charts - 1)
    out = np.array(X)
    for s in np.unique(chosen):
        rows = np.flatnonzero(chosen == s)
        own = replace(charts.charts[s], spread=None)
        fresh = linear_gaussian.reconstruction(own, rng.standard_normal((len(rows), own.n_components)))
        fresh = charts.scale * (fresh + np.sqrt(own.noise) * rng.standard_normal(fresh.shape)) + charts.centre
        alone = PlaneCharts(charts.centre, charts.scale, np.ones(1), (own,))
        part = X[rows]
        deviation = fresh - alone.expected(np.where(np.isnan(part), np.nan, fresh))
        out[rows] = np.where(np.isnan(part), alone.expected(part) + deviation, part)
    return out

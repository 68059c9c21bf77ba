r"""Models of the missing entries of rows: mean, variance and joint draws given the observed entries of a row.

Three models, fitted to columns of mean 0 and variance 1 (over their observed entries):

    gaussian     probabilistic PCA, refined to a full covariance where rows are many (``linear_gaussian_fit``)
    mixture      a mixture of probabilistic PCA (``plane_mixture``), four charts of two dimensions
    neighbours   local linear regression (``missing``)

"auto" takes the one with the least squared error on a held-out tenth of the entries. Columns that are missing in the
same rows (the indicators of one category) are held out together, else one would tell the other. The errors of the held
out entries also calibrate the model: with the factor of the variances 95 % of them lie within two standard deviations,
and intervals use the quantiles of |x - E[x]| / Sd[x].

A joint draw follows from conditional means alone (Matheron's rule): with x* drawn from the model,

    x_M = E[x_M | x_O] + x*_M - E[x*_M | x*_O]        has mean E[x_M | x_O] and covariance Cov[x_M | x_O]
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.base.fitting import raise_if_interrupted
from sidelight.base.result import Status
from sidelight.objectives import linear_gaussian
from sidelight.rows import ArrayRows

from .linear_gaussian_fit import GaussianSettings, fit_linear_gaussian
from .linear_gaussian_maps import LinearGaussianMaps
from .missing import LocalFill, fit_fill
from .mixture_fit import EMSettings, fit_mixture
from .plane_charts import PlaneCharts
from .plane_mixture import PlaneKind

__all__ = ["MODELS", "EntryModel", "HeldOut", "fit_entry_model", "hold_out"]

Array = npt.NDArray[Any]
Density = LinearGaussianMaps | PlaneCharts | LocalFill
MODELS = ("gaussian", "mixture", "neighbours")
_CHARTS = 4  # of the mixture
_FLOOR = 0.01  # of its noise, as a share of the variance: a narrow chart would be certain of what it cannot know
_ROWS_EACH = 20  # rows per chart at least
_HIDDEN = 0.1  # share of the observed entries that are held out
_LEVELS = np.linspace(0.0, 1.0, 201)  # of the quantiles of errors that are kept
_MOST_FILLED = 4000  # rows up to which "auto" tries the neighbours, which cost most
_LEAST = 1e-12  # variance, in units of the columns, below which an entry counts as certain


@dataclass(frozen=True)
class EntryModel:
    """A fitted model of missing entries, in the units of the data.

    Parameters
    ----------
    density : LinearGaussianMaps, PlaneCharts or LocalFill
        Of rows in the frame ``(x - centre) / scale``.
    centre, scale : arrays of shape (d,)
    factor : float
        Of the variances, by the held-out entries.
    errors : array of shape (201,)
        Quantiles of ``|x - E[x]| / Sd[x]`` (calibrated) of the held-out entries, at evenly spaced levels.
    """

    density: Density
    centre: Array
    scale: Array
    factor: float
    errors: Array

    @property
    def name(self) -> str:
        """One of "gaussian", "mixture" and "neighbours"."""
        kinds = {LinearGaussianMaps: "gaussian", PlaneCharts: "mixture", LocalFill: "neighbours"}
        return kinds[type(self.density)]

    def __call__(self, X: Array, n_jobs: int | None = None) -> Array:
        """``mean``, as ``LocalFill`` has it."""
        return self.mean(X, n_jobs)

    def mean(self, X: Array, n_jobs: int | None = None) -> Array:
        """Rows (m, d) with missing entries (NaN) replaced by their mean given the observed ones, row by row."""
        inside = self._inside(X)
        return np.asarray(np.where(np.isnan(inside), _mean(self.density, inside, n_jobs) * self.scale + self.centre, X))

    def variance(self, X: Array, n_jobs: int | None = None) -> Array:
        """Variance (m, d) of missing entries given the observed ones; 0 where an entry is observed."""
        inside = self._inside(X)
        found = np.maximum(_variance(self.density, inside, n_jobs), 0.0) * (self.factor * self.scale**2)
        return np.asarray(np.where(np.isnan(inside), found, 0.0))

    def draw(self, X: Array, rng: np.random.Generator, n_jobs: int | None = None) -> Array:
        """Rows (m, d) with missing entries drawn from their joint distribution given the observed ones."""
        inside = self._inside(X)
        mean = _mean(self.density, inside, n_jobs)
        drawn = mean + np.sqrt(self.factor) * (_drawn(self.density, inside, mean, rng, n_jobs) - mean)
        return np.asarray(np.where(np.isnan(inside), drawn * self.scale + self.centre, X))

    def half_width(self, level: float) -> float:
        """Half the width of the interval that held this share of the held-out entries, in standard deviations."""
        return float(np.interp(level, _LEVELS, self.errors))

    def _inside(self, X: Array) -> Array:
        return np.asarray((np.asarray(X, dtype=np.float64) - self.centre) / self.scale)


@dataclass(frozen=True)
class HeldOut:
    """Rows with further entries removed (NaN), to compare models by; ``hidden`` (n, d) marks these."""

    rows: Array
    truth: Array
    hidden: Array


def fit_entry_model(
    X: Array,
    model: str = "auto",
    *,
    owner: str,
    seed: int,
    n_jobs: int | None,
    tell: Callable[[str, float], None] | None = None,
) -> EntryModel:
    """Fit a model of the missing entries of rows.

    Parameters
    ----------
    X : array of shape (n, d)
        NaN where an entry is missing; every column has an observed entry.
    model : "auto" or one of ``MODELS``
    owner : str
        Name of the estimator, for messages.
    seed : int
        For the held-out entries and the starts of mixtures.
    n_jobs : int or None
        Threads.
    tell : callable, optional
        Called with the name of each model that was tried and its root mean squared error on the held-out entries, in
        standard deviations of the columns.
    """
    centre, scale = _column_frame(X)
    inside = (np.asarray(X, dtype=np.float64) - centre) / scale
    test = hold_out(inside, seed)
    how: Any = {"owner": owner, "seed": seed, "n_jobs": n_jobs}
    best: tuple[float, str, Array] | None = None
    if test.hidden.any():
        for name in _candidates(model, inside):
            error, ratio = _tried(_fit(test.rows, name, **how), test, n_jobs)
            if tell is not None:
                tell(name, float(np.sqrt(error)))
            if best is None or error < best[0]:
                best = error, name, ratio
    if best is None:  # too few entries to hold any out: normal errors
        name = _candidates(model, inside)[0]
        best = 0.0, name, np.abs(np.random.default_rng(seed).standard_normal(1000))
    _, name, ratio = best
    # by the quantile of two standard deviations: a mean square would hang on a few outliers
    factor = float(np.quantile(ratio, 0.954) / 2.0) ** 2 or 1.0
    return EntryModel(_fit(inside, name, **how), centre, scale, factor, np.quantile(ratio / np.sqrt(factor), _LEVELS))


def hold_out(X: Array, seed: int) -> HeldOut:
    """Remove a tenth of the observed entries, together where columns are missing in the same rows.

    Only from columns that have gaps, if any has: these are what will be filled. Every row and every column keeps an
    entry.
    """
    missing: Array = np.asarray(np.isnan(X))
    _, group = np.unique(missing, axis=1, return_inverse=True)
    group = np.asarray(group).ravel()
    gaps: Array = np.asarray(missing.any(axis=0))
    if not gaps.all():
        group = np.where(gaps, group, group.max() + 1 + np.arange(len(gaps)))
    draws = np.random.default_rng(seed).random((len(X), int(group.max()) + 1))
    hidden = (draws < _HIDDEN)[:, group] & ~missing & (gaps if gaps.any() else True)
    seen: Array = np.asarray(~missing & ~hidden)
    lonely = ~seen.any(axis=1, keepdims=True) | (seen.sum(axis=0) < 2)
    hidden &= ~lonely
    return HeldOut(np.where(hidden, np.nan, X), X, hidden)


def _column_frame(X: Array) -> tuple[Array, Array]:
    """Mean and standard deviation (d,) of the observed entries of each column; 1 for a constant column."""
    size = np.nanmax(np.abs(X), axis=0).astype(np.float64)
    size = np.where(size > 0, size, 1.0)
    centre = np.nanmean(X / size, axis=0) * size
    spread = np.nanstd(X / size, axis=0) * size
    return centre, np.where(spread > 1e-12 * size, spread, size)


def _candidates(model: str, X: Array) -> list[str]:
    """Names of the models that the parameter and the number of rows allow."""
    if model != "auto":
        return [model]
    many, few = len(X) >= _CHARTS * _ROWS_EACH, len(X) <= _MOST_FILLED
    return ["gaussian", *(["mixture"] if many else []), *(["neighbours"] if few else [])]


def _fit(X: Array, name: str, *, owner: str, seed: int, n_jobs: int | None) -> Density:
    """Fit one model to standardised rows."""
    if name == "neighbours":
        return fit_fill(X, n_jobs)
    block = max(64, -(-len(X) // 4))
    rows = ArrayRows(X, n_jobs=n_jobs, block=block)
    if name == "gaussian":
        settings = GaussianSettings(owner, None, False, 3, 500, 5e-3, seed, n_jobs, 0, None)
        found = fit_linear_gaussian(rows, settings)
        raise_if_interrupted(found.status is Status.INTERRUPTED, kept=False)
        return found.maps
    kind = PlaneKind(2, _FLOOR)
    mixture = fit_mixture(
        rows, kind, EMSettings(owner, 2, 500, 1e-3, seed, n_jobs), min(_CHARTS, max(1, len(X) // _ROWS_EACH))
    )
    raise_if_interrupted(mixture.interrupted, kept=False)
    return kind.charts(mixture.mixture, mixture.summary.frame)


def _tried(density: Density, test: HeldOut, n_jobs: int | None) -> tuple[float, Array]:
    """Mean squared error of a model on held-out entries, and their ``|x - E[x]| / Sd[x]``."""
    rows = np.flatnonzero(test.hidden.any(axis=1))
    X, hidden = test.rows[rows], test.hidden[rows]
    error = (_mean(density, X, n_jobs) - test.truth[rows])[hidden]
    variance = np.maximum(_variance(density, X, n_jobs)[hidden], _LEAST)
    return float(np.mean(error**2)), np.abs(error) / np.sqrt(variance)


def _mean(density: Density, X: Array, n_jobs: int | None) -> Array:
    """Rows (m, d) with the mean of missing entries, inside the frame."""
    if isinstance(density, LinearGaussianMaps):
        return density.complete(X, n_jobs)
    if isinstance(density, LocalFill):
        return density(X, n_jobs)
    return np.asarray(np.where(np.isnan(X), density.expected(X), X))


def _variance(density: Density, X: Array, n_jobs: int | None) -> Array:
    """Variance (m, d) of missing entries, inside the frame."""
    if isinstance(density, LinearGaussianMaps):
        return density.missing_variance(X, n_jobs)
    if isinstance(density, LocalFill):
        return density.variance(X, n_jobs)
    return np.asarray(np.where(np.isnan(X), density.variance(X), 0.0))


def _drawn(density: Density, X: Array, mean: Array, rng: np.random.Generator, n_jobs: int | None) -> Array:
    """Rows (m, d) with missing entries drawn, inside the frame; entry by entry where there is no joint density."""
    if isinstance(density, LocalFill):
        return np.asarray(mean + np.sqrt(density.variance(X, n_jobs)) * rng.standard_normal(X.shape))
    if isinstance(density, LinearGaussianMaps):
        return mean + _deviation(density, X, rng, n_jobs)
    return _drawn_by_chart(density, X, rng)


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

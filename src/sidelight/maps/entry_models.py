r"""Models of the missing entries of rows: mean, variance and joint draws given the observed entries of a row.

Four models (``entry_densities``: gaussian, mixture, neighbours, trees), fitted to columns of mean 0 and variance 1
(over their observed entries). "auto" fits Gaussian, neighbours and trees (of many rows the mixture instead of the
neighbours, which cost more) to the rows without a tenth of their entries, and blends them with the weights
(``blend_weights``) that predict these held-out entries best. If the blend is not better than the Gaussian alone by one
standard error, the Gaussian is taken: the simpler model.

Columns that are missing in the same rows (the indicators of one category) are held out together, else one would tell
the other; together they count as one column. The errors of the held-out entries also calibrate the model: with the
factor of the variances 95 % of them lie within two standard deviations, and intervals use the quantiles of
|x - E[x]| / Sd[x].
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .blend_weights import blend_weights
from .entry_densities import (
    LEAST_VARIANCE,
    Blend,
    Density,
    Member,
    density_name,
    draw_entries,
    entry_means,
    entry_moments,
    fit_densities,
)
from .forest_fill import completion_work
from .linear_gaussian_maps import LinearGaussianMaps

__all__ = ["MODELS", "ColumnErrors", "EntryModel", "HeldOut", "fit_entry_model", "hold_out", "tries_trees"]

Array = npt.NDArray[Any]
MODELS = ("gaussian", "mixture", "neighbours", "trees")
_HIDDEN = 0.1  # share of the observed entries that are held out
_STREAM = 20  # of random numbers
_LEVELS = np.linspace(0.0, 1.0, 201)  # of the quantiles of errors that are kept
_MOST_FILLED = 4000  # rows up to which "auto" tries the neighbours, which cost most
_MOST_WORK = 4e10  # operations of completing rows for the trees, up to which "auto" tries them
_LEAST_WEIGHT = 0.05  # a member with less is left out


@dataclass(frozen=True)
class EntryModel:
    """A fitted model of missing entries, in the units of the data.

    Parameters
    ----------
    density : LinearGaussianMaps, PlaneCharts, LocalFill, ForestFill or Blend
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
        """One of ``MODELS``, or "blend"."""
        return density_name(self.density)

    def __call__(self, X: Array, n_jobs: int | None = None) -> Array:
        """``mean``, as ``LocalFill`` has it."""
        return self.mean(X, n_jobs)

    def mean(self, X: Array, n_jobs: int | None = None) -> Array:
        """Rows (m, d) with missing entries (NaN) replaced by their mean given the observed ones, row by row."""
        inside = self._inside(X)
        return np.asarray(
            np.where(np.isnan(inside), entry_means(self.density, inside, n_jobs) * self.scale + self.centre, X)
        )

    def variance(self, X: Array, n_jobs: int | None = None) -> Array:
        """Variance (m, d) of missing entries given the observed ones; 0 where an entry is observed."""
        inside = self._inside(X)
        found = np.maximum(entry_moments(self.density, inside, n_jobs)[1], 0.0) * (self.factor * self.scale**2)
        return np.asarray(np.where(np.isnan(inside), found, 0.0))

    def draw(self, X: Array, rng: np.random.Generator, n_jobs: int | None = None) -> Array:
        """Rows (m, d) with missing entries drawn from their joint distribution given the observed ones."""
        inside = self._inside(X)
        mean = entry_means(self.density, inside, n_jobs)
        drawn = mean + np.sqrt(self.factor) * (draw_entries(self.density, inside, rng, n_jobs) - mean)
        return np.asarray(np.where(np.isnan(inside), drawn * self.scale + self.centre, X))

    def half_width(self, level: float) -> float:
        """Half the width of the interval that held this share of the held-out entries, in standard deviations."""
        return float(np.interp(level, _LEVELS, self.errors))

    def _inside(self, X: Array) -> Array:
        return np.asarray((np.asarray(X, dtype=np.float64) - self.centre) / self.scale)


@dataclass(frozen=True)
class HeldOut:
    """Rows with further entries removed (NaN), to compare models by.

    Parameters
    ----------
    rows, truth : arrays of shape (n, d)
        Without and with these entries.
    hidden : boolean array of shape (n, d)
        Marks them.
    group : int array of shape (d,)
        Columns of the same number were removed together.
    """

    rows: Array
    truth: Array
    hidden: Array
    group: Array


@dataclass(frozen=True)
class ColumnErrors:
    """Held-out entries of each column: sums of squared errors (d,) of the chosen model, and numbers of entries (d,)."""

    squares: Array
    counts: Array


@dataclass(frozen=True)
class _Trial:
    """k models; means and variances (k, e) of held-out entries by them; value, weight and column (e,) of each entry."""

    names: tuple[str, ...]
    members: tuple[Member, ...]
    means: Array
    variances: Array
    truth: Array
    weight: Array
    column: Array

    def squares(self, mean: Array) -> Array:
        """Weighted squared errors (e,) of predictions (e,)."""
        return np.asarray(self.weight * (mean - self.truth) ** 2)

    def error(self, mean: Array) -> float:
        """Root mean squared error of predictions (e,)."""
        return float(np.sqrt(self.squares(mean).sum() / self.weight.sum()))


def tries_trees(n: int, d: int) -> bool:
    """Whether "auto" tries the trees on n rows and d columns: their rows are completed first, which takes O(n d⁴)."""
    return completion_work(n, d) <= _MOST_WORK


def fit_entry_model(
    X: Array,
    model: str = "auto",
    *,
    owner: str,
    seed: int,
    n_jobs: int | None,
    tell: Callable[[str, float], None] | None = None,
    tell_columns: Callable[[ColumnErrors], None] | None = None,
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
        For the held-out entries, the starts of mixtures and the trees.
    n_jobs : int or None
        Threads.
    tell : callable, optional
        Called with the name of each model that was tried and its root mean squared error on the held-out entries, in
        standard deviations of the columns.
    tell_columns : callable, optional
        Called with the errors of the chosen model in each column, in the same units.
    """
    centre, scale = _column_frame(X)
    inside = (np.asarray(X, dtype=np.float64) - centre) / scale
    test = hold_out(inside, seed)
    how: Any = {"owner": owner, "seed": seed, "n_jobs": n_jobs}
    names = _candidates(model, inside)
    if not test.hidden.any():  # too few entries to hold any out: normal errors
        ratio = np.abs(np.random.default_rng(seed).standard_normal(1000))
        return _calibrated(_fitted(inside, names, np.eye(len(names))[0], **how), centre, scale, ratio)
    trial = _tried(names, test, **how)
    weights = _chosen(trial, tell)
    if tell_columns is not None:
        tell_columns(_column_errors(trial, weights, X.shape[1]))
    density = _fitted(inside, names, weights, like=trial.members, **how)
    return _calibrated(density, centre, scale, _ratios(trial, weights))


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
    # a stream of its own: gaps that were made with the same seed would else be the very entries to hold out
    draws = np.random.default_rng([seed, _STREAM]).random((len(X), int(group.max()) + 1))
    hidden = (draws < _HIDDEN)[:, group] & ~missing & (gaps if gaps.any() else True)
    seen: Array = np.asarray(~missing & ~hidden)
    lonely = ~seen.any(axis=1, keepdims=True) | (seen.sum(axis=0) < 2)
    hidden &= ~lonely
    return HeldOut(np.where(hidden, np.nan, X), X, hidden, group)


def _column_frame(X: Array) -> tuple[Array, Array]:
    """Mean and standard deviation (d,) of the observed entries of each column; 1 for a constant column."""
    size = np.nanmax(np.abs(X), axis=0).astype(np.float64)
    size = np.where(size > 0, size, 1.0)
    centre = np.nanmean(X / size, axis=0) * size
    spread = np.nanstd(X / size, axis=0) * size
    return centre, np.where(spread > 1e-12 * size, spread, size)


def _calibrated(density: Density, centre: Array, scale: Array, ratio: Array) -> EntryModel:
    """The model with variances and intervals by ``|x - E[x]| / Sd[x]`` of held-out entries."""
    # by the quantile of two standard deviations: a mean square would hang on a few outliers
    factor = float(np.quantile(ratio, 0.954) / 2.0) ** 2 or 1.0
    return EntryModel(density, centre, scale, factor, np.quantile(ratio / np.sqrt(factor), _LEVELS))


def _candidates(model: str, X: Array) -> tuple[str, ...]:
    """Names of the models that the parameter and the size of the table allow."""
    if model != "auto":
        return (model,)
    allowed = {
        "gaussian": True,
        "mixture": len(X) > _MOST_FILLED,
        "neighbours": len(X) <= _MOST_FILLED,
        "trees": tries_trees(*X.shape),
    }
    return tuple(name for name in MODELS if allowed[name])


def _tried(names: tuple[str, ...], test: HeldOut, *, n_jobs: int | None, **how: Any) -> _Trial:
    """Fit the models without the held-out entries and predict these."""
    rows = np.flatnonzero(test.hidden.any(axis=1))
    X, hidden = test.rows[rows], test.hidden[rows]
    column = np.nonzero(hidden)[1]
    size = np.bincount(test.group)[test.group]
    members = fit_densities(test.rows, names, n_jobs=n_jobs, **how)
    found = [[part[hidden] for part in entry_moments(member, X, n_jobs)] for member in members]
    means, variances = (np.stack([pair[part] for pair in found]) for part in (0, 1))
    return _Trial(names, tuple(members), means, variances, test.truth[rows][hidden], 1.0 / size[column], column)


def _chosen(trial: _Trial, tell: Callable[[str, float], None] | None) -> Array:
    """Weights (k,) of the models: those of the blend, or the first model alone unless the blend is clearly better."""
    alone = np.eye(len(trial.names))[0]
    weights = blend_weights(trial.means, trial.truth, trial.weight)
    weights = np.where(weights < _LEAST_WEIGHT, 0.0, weights)
    weights = weights / weights.sum()
    blended = weights @ trial.means
    if tell is not None:
        for name, mean in zip(trial.names, trial.means, strict=True):
            tell(name, trial.error(mean))
        if len(weights) > 1:
            tell("blend", trial.error(blended))
    gain = trial.squares(trial.means[0]) - trial.squares(blended)
    return np.asarray(weights if gain.mean() > gain.std() / np.sqrt(len(gain)) else alone)


def _column_errors(trial: _Trial, weights: Array, d: int) -> ColumnErrors:
    """The held-out errors of models with weights (k,), in each of d columns."""
    squares = (weights @ trial.means - trial.truth) ** 2
    counted = np.bincount(trial.column, minlength=d)
    return ColumnErrors(np.bincount(trial.column, weights=squares, minlength=d), counted)


def _ratios(trial: _Trial, weights: Array) -> Array:
    """``|x - E[x]| / Sd[x]`` (e,) of the held-out entries by models with weights (k,)."""
    mean = weights @ trial.means
    variance = weights @ (trial.variances + (trial.means - mean) ** 2)
    return np.asarray(np.abs(mean - trial.truth) / np.sqrt(np.maximum(variance, LEAST_VARIANCE)))


def _fitted(X: Array, names: Sequence[str], weights: Array, **how: Any) -> Density:
    """Fit to all entries the models that have a weight, and blend them if there are several."""
    used = np.flatnonzero(weights).tolist()
    if len(used) > 1:
        used = sorted({0, *used})  # the Gaussian lends its correlations
    first, *others = fit_densities(X, [names[k] for k in used], **how)
    if not others:
        return first
    assert isinstance(first, LinearGaussianMaps)
    return Blend(first, tuple(others), weights[used])

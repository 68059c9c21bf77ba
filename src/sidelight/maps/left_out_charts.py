r"""How much larger the errors of new rows are than those of the rows that coordinated charts were fitted to.

Charts lie where the rows of the fit are: few rows in many columns turn a plane towards themselves, rows between two
charts are placed by both, and where charts begin and end was settled with these rows. So charts are fitted anew, from a
start of their own, to nine tenths of the rows (four fifths, of more than 200 columns), and the rows that were left out
are taken to the map and back through them, until all or 400 rows were left out:

====================  ==================================================================================================
charts                k-means of the rows, then ten steps of EM with planes: weighted mean, q_s leading principal axes,
                      and one variance for all other directions
L_s                   regression of the latent points that the fit gives the rows on their new local features
latent charts         as in the fit (``maps.coordinated``)
====================  ==================================================================================================

The answer is the ratio of the 0.9 quantiles of the absolute errors, of rows that were left out and of the others.
Decision 0039 has what was compared: charts from the responsibilities of the fit, which knew the rows, give too small a
ratio, and whole fits of nine tenths of the rows, which may settle for fewer charts, too large a one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.base.eigenvalues import selected_pairs
from sidelight.objectives.linear_gaussian import LinearGaussian
from sidelight.solvers.partition import partition

from .coordinated import ChartedView, CoordinatedMap, LatentCharts, latent_chart, weighed
from .plane_charts import PlaneCharts
from .reduced_charts import ReducedCharts, leading_components

__all__ = ["chart_growth"]

Array = npt.NDArray[Any]
_FOLDS, _MANY_COLUMNS, _LEVEL = (10, 5), 200, 0.9
_STEPS, _ENOUGH = 10, 400  # of EM; rows that are left out, if there are so many
_NO_WEIGHT = 1e-6  # rows of a smaller weight, as a share of the largest, are no rows of a chart
_LEAST_NOISE = 1e-8  # of the largest variance
_LEAST = 1e-9  # responsibility that every chart has for every row: a chart that lost its rows is that of all rows
_OTHERS = 0.1  # share of a row that all charts together have before the first step


def chart_growth(both: CoordinatedMap, rows: Array, columns: Array) -> float:
    """Return the factor, at least 1, by which errors of new rows at latent points are larger than those of ``rows``.

    Parameters
    ----------
    both : CoordinatedMap
    rows : array of shape (m, D)
        Training rows; NaN where a view is missing, the same views in all rows.
    columns : array of shape (d,)
        Columns whose errors are compared.
    """
    folds = _FOLDS[rows.shape[1] > _MANY_COLUMNS]
    if len(rows) < 2 * folds:
        return 1.0
    fold = np.random.default_rng(0).permutation(len(rows)) % folds
    random, places = np.random.RandomState(0), both.backward(rows)
    outside, inside = [], []
    for number in range(max(2, min(folds, -(-_ENOUGH * folds // len(rows))))):
        out = fold == number
        anew = _fitted_anew(both, rows[~out], places[~out], random)
        outside.append(np.abs(_errors(anew, rows[out])[:, columns]))
        inside.append(np.nanquantile(np.abs(_errors(anew, rows[~out])[:, columns]), _LEVEL))
    own = float(np.mean(inside))
    return max(float(np.nanquantile(np.concatenate(outside), _LEVEL)) / own, 1.0) if own > 0 else 1.0


def _errors(both: CoordinatedMap, rows: Array) -> Array:
    """Errors (m, D) of rows at their latent points."""
    places, back = both.backward(rows), np.full(rows.shape, np.nan)
    for view, columns in {own.view: own.columns for own in both.views}.items():
        back[:, columns] = both.forward(places, view)
    return np.asarray(rows - back)


def _fitted_anew(both: CoordinatedMap, rows: Array, places: Array, random: np.random.RandomState) -> CoordinatedMap:
    """The maps with charts of their own, from rows (m, D) and their places (m, q); views that no row has stay."""
    views = tuple(_with_new_charts(view, rows, random) for view in both.views)
    Q, features, _ = weighed(views, rows, both.smoothing)
    maps, weights, parts = list(both.maps), both.latent.weights.copy(), _parts_of(both.latent)
    for number in np.flatnonzero(np.repeat([view.inside(rows)[1].any() for view in views], _n_charts(views))):
        weight = Q[:, number] + _LEAST
        F, root = np.column_stack([features[number], np.ones(len(rows))]), np.sqrt(weight)[:, None]
        maps[number] = np.linalg.lstsq(root * F, root * places, rcond=None)[0]
        parts[number] = latent_chart((weight[:, None] * F).T @ F, maps[number])
        weights[number] = weight.mean()
    centres, covariances, means, gains = zip(*parts, strict=True)
    latent = LatentCharts(weights, np.stack(centres), np.stack(covariances), tuple(means), tuple(gains))
    return replace(both, views=views, maps=tuple(maps), latent=latent)


def _parts_of(latent: LatentCharts) -> list[tuple[Array, Array, Array, Array]]:
    return list(zip(latent.centres, latent.covariances, latent.local_means, latent.gains, strict=True))


def _n_charts(views: Sequence[ChartedView]) -> list[int]:
    return [view.charts.n_charts for view in views]


def _with_new_charts(view: ChartedView, rows: Array, random: np.random.RandomState) -> ChartedView:
    """A view with as many charts, fitted from a start of their own; each has the axes of the chart it lies on."""
    Y, present = view.inside(rows)
    if not present.any():
        return view
    known = view.charts.responsibilities(Y)
    if not isinstance(view.charts, ReducedCharts):
        return replace(view, charts=_new_charts(Y, known, view.charts.n_local, random))
    components = leading_components(Y, view.charts.components.axes.shape[1])
    inside = _new_charts(components.inside(Y), known, view.charts.n_local, random)
    return replace(view, charts=ReducedCharts(components, inside))


def _new_charts(Y: Array, known: Array, n_local: Sequence[int], random: np.random.RandomState) -> PlaneCharts:
    """Charts of rows (m, d) by EM from k-means; ``known`` (m, k) and ``n_local`` are those of the fit."""
    k = known.shape[1]
    cells = np.eye(k)[partition(Y, k, random)[1]]
    axes = np.asarray(n_local)[(cells.T @ known).argmax(axis=1)].tolist()
    charts = _planes(Y, (1.0 - _OTHERS) * cells + _OTHERS / k, axes)
    for _ in range(_STEPS):
        charts = _planes(Y, charts.responsibilities(Y) + _LEAST, axes)
    return charts


def _planes(Y: Array, weights: Array, n_local: Sequence[int]) -> PlaneCharts:
    """Charts fitted to rows (m, d) with weights (m, k): planes of the given numbers of axes, with isotropic noise."""
    charts = [_plane(Y, weight, q) for weight, q in zip(weights.T, n_local, strict=True)]
    share = weights.mean(axis=0)
    return PlaneCharts(np.zeros(Y.shape[1]), 1.0, share / share.sum(), tuple(charts))


def _plane(Y: Array, weight: Array, q: int) -> LinearGaussian:
    """One plane; rows with next to no weight are left out, and few rows of many columns have a small Gram matrix."""
    own = weight > _NO_WEIGHT * weight.max()
    Y, weight = Y[own], weight[own] / weight[own].sum()
    mean = weight @ Y
    away = np.sqrt(weight)[:, None] * (Y - mean)
    (m, d), total = away.shape, float((away**2).sum())
    kept = min(q, m, d)
    values, axes = np.empty(0), np.empty((d, 0))
    if kept:
        values, axes = selected_pairs(away @ away.T if m < d else away.T @ away, min(m, d) - kept, min(m, d) - 1)
        values, axes = np.maximum(values[::-1], 0.0), axes[:, ::-1]
    if kept and m < d:
        axes = (away.T @ axes) / np.sqrt(np.maximum(values, 1e-300))
    noise = (total - float(values.sum())) / (d - q) if q < d else 0.0
    noise = max(noise, _LEAST_NOISE * (float(values[0]) if kept else total / d), 1e-300)
    W = np.zeros((d, q))
    W[:, :kept] = axes * np.sqrt(np.maximum(values - noise, 0.0))
    return LinearGaussian(mean, W, noise)

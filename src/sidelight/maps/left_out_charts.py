r"""How much larger the errors of new rows are than those of the rows that coordinated charts were fitted to.

Charts fit the rows that they are responsible for: few rows in many columns turn a plane towards themselves, and rows
between two charts are placed by both. Maps are computed anew in one step from the responsibilities q_ns of the fit,
once from all rows, and in folds without the rows that are then taken to the map and back:

====================  ==================================================================================================
charts                weighted mean, q_s leading principal axes, and one variance for all other directions
L_s                   regression of the latent points that the fitted chart s gives the rows on their new local features
latent charts         as in the fit (``maps.coordinated``)
====================  ==================================================================================================

The answer is the ratio of the 0.9 quantiles of the absolute errors. It costs about as much as five steps of EM. It is
too small where charts have few rows for their columns (20 rows of 8 noisy columns: 1.28
instead of 1.47), because the responsibilities are those of a fit that knew the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.base.eigenvalues import selected_pairs
from sidelight.objectives.linear_gaussian import LinearGaussian

from .calibration import FEWEST
from .coordinated import CoordinatedMap, LatentCharts, latent_chart, weighed
from .plane_charts import PlaneCharts

__all__ = ["chart_growth"]

Array = npt.NDArray[Any]
_FOLDS, _LEVEL = 5, 0.9
_NO_WEIGHT = 1e-6  # rows of a smaller weight, as a share of the largest, are no rows of a chart
_LEAST_NOISE = 1e-8  # of the largest variance
_ASKED = 400  # rows that are left out, at least, in whole folds, where rows are so many
_LEAST = 1e-9  # responsibility that every chart has for every row: a chart that lost its rows is that of all rows


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
    if len(rows) < FEWEST:
        return 1.0
    fold = np.random.default_rng(0).permutation(len(rows)) % _FOLDS
    everything = np.ones(len(rows), dtype=bool)
    asked = fold < -(-_FOLDS * _ASKED // len(rows))
    before = _errors(_computed_anew(both, rows, everything), rows[asked])[:, columns]
    after = np.empty_like(before)
    for number in np.unique(fold[asked]):
        out = fold == number
        after[out[asked]] = _errors(_computed_anew(both, rows, ~out), rows[out])[:, columns]
    inside, outside = (float(np.nanquantile(np.abs(found), _LEVEL)) for found in (before, after))
    return max(outside / inside, 1.0) if inside > 0 else 1.0


def _errors(both: CoordinatedMap, rows: Array) -> Array:
    """Errors (m, D) of rows at their latent points."""
    places, back = both.backward(rows), np.full(rows.shape, np.nan)
    for view, columns in {own.view: own.columns for own in both.views}.items():
        back[:, columns] = both.forward(places, view)
    return np.asarray(rows - back)


def _computed_anew(both: CoordinatedMap, rows: Array, kept: Array) -> CoordinatedMap:
    """The maps from the rows that are ``kept`` (m,) and their responsibilities; views that no row has stay."""
    Q, features, insides = weighed(both.views, rows[kept], both.smoothing)
    views, maps, parts = [], list(both.maps), _parts_of(both.latent)
    start = 0
    for view, Y in zip(both.views, insides, strict=True):
        charts = slice(start, start + view.charts.n_charts)
        start = charts.stop
        if not Q[:, charts].any():
            views.append(view)
            continue
        weights = Q[:, charts] + _LEAST
        own = _planes(Y, weights, view.charts.n_local)
        views.append(replace(view, charts=own))
        coordinates = own.all_features(Y)
        for s, weight in enumerate(weights.T):
            number = charts.start + s
            targets = features[number] @ maps[number][:-1] + maps[number][-1]
            near = np.flatnonzero(weight > _NO_WEIGHT * weight.max())
            F = np.column_stack([coordinates[s][near], np.ones(len(near))])
            weight, targets = weight[near], targets[near]
            root = np.sqrt(weight)[:, None]
            maps[number] = np.linalg.lstsq(root * F, root * targets, rcond=None)[0]
            parts[number] = latent_chart((weight[:, None] * F).T @ F, maps[number])
    centres, covariances, means, gains = zip(*parts, strict=True)
    latent = LatentCharts(both.latent.weights, np.stack(centres), np.stack(covariances), tuple(means), tuple(gains))
    return replace(both, views=tuple(views), maps=tuple(maps), latent=latent)


def _parts_of(latent: LatentCharts) -> list[tuple[Array, Array, Array, Array]]:
    return list(zip(latent.centres, latent.covariances, latent.local_means, latent.gains, strict=True))


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

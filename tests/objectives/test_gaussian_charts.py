"""Mixtures of shrunken Gaussians: the E step against loops over rows, the M step against its limits."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from sidelight.objectives.gaussian_charts import Gaussians, covariance_of, gaussian_charts, shared_covariance
from sidelight.objectives.mixtures import MixtureParameters
from sidelight.objectives.upper_triangles import unpacked

D, K = 5, 3


def mixture(seed=0, diagonal=False):
    rng = np.random.default_rng(seed)
    roots = rng.normal(size=(K, D, D))
    charts = gaussian_charts(rng.normal(size=(K, D)), roots @ roots.transpose(0, 2, 1), 1e-6, diagonal=diagonal)
    return MixtureParameters(np.array([0.2, 0.3, 0.5]), charts)


def rows(n=40, share=0.0, seed=1):
    rng = np.random.default_rng(seed)
    X = 2.0 * rng.normal(size=(n, D)) @ rng.normal(size=(D, D))
    X[rng.random(X.shape) < share] = np.nan
    return X


def test_a_chart_has_the_covariance_it_was_made_of():
    rng = np.random.default_rng(0)
    C = np.cov(rng.normal(size=(20, D)).T)
    (full,) = gaussian_charts(np.zeros((1, D)), C[None], 1e-9)
    (own,) = gaussian_charts(np.zeros((1, D)), C[None], 1e-9, diagonal=True)
    np.testing.assert_allclose(covariance_of(full), C, atol=1e-12)
    np.testing.assert_allclose(covariance_of(own), np.diag(np.diag(C)), atol=1e-12)
    (wide,) = gaussian_charts(np.zeros((1, D)), C[None], 10.0)
    np.testing.assert_allclose(covariance_of(wide), 10.0 * np.eye(D), atol=1e-9)


@pytest.mark.parametrize("share", [0.0, 0.2, 0.7])
def test_the_e_step_is_that_of_a_loop_over_rows(share):
    model, X = mixture(), rows(share=share)
    found = Gaussians(np.eye(D), 1.0, 1e-9, missing=True).sums(model, X)
    n, x, xx, log = np.zeros(K), np.zeros((K, D)), np.zeros((K, D, D)), 0.0
    for row in X:
        seen = ~np.isnan(row)
        parts, densities = [], np.zeros(K)
        for s, chart in enumerate(model.charts):
            C = covariance_of(chart)
            gain = C[:, seen] @ np.linalg.inv(C[np.ix_(seen, seen)])
            mean = chart.mean + gain @ (row[seen] - chart.mean[seen])
            parts.append((mean, C - gain @ C[seen]))
            own = multivariate_normal(chart.mean[seen], C[np.ix_(seen, seen)]).pdf(row[seen]) if seen.any() else 1.0
            densities[s] = model.weights[s] * own
        log += np.log(densities.sum())
        r = densities / densities.sum()
        n += r
        for s, (mean, spread) in enumerate(parts):
            x[s] += r[s] * mean
            xx[s] += r[s] * (np.outer(mean, mean) + spread)
    np.testing.assert_allclose(found["log"], log, rtol=1e-9)
    np.testing.assert_allclose(found["n"], n, rtol=1e-8)
    np.testing.assert_allclose(found["x"], x, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(unpacked(found["xx"], D), xx, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("diagonal", [False, True])
@pytest.mark.parametrize("share", [0.0, 0.3])
def test_the_objective_never_falls(share, diagonal):
    target = np.diag(np.arange(1.0, D + 1.0)) if diagonal else np.cov(rows().T)
    family = Gaussians(target, 4.0, 1e-6, diagonal, missing=True)
    model, X, values = mixture(diagonal=diagonal), rows(share=share), []
    for _ in range(15):
        sums = family.sums(model, X)
        values.append(family.value(sums, model))
        model = family.maximised(sums, model)
    assert (np.diff(values) > -1e-9).all()
    assert values[-1] > values[0]


def test_a_strong_prior_is_one_covariance_for_all_charts_and_a_weak_one_none():
    X, model = rows(400), mixture()
    target = np.cov(X.T)
    sums = Gaussians(target, 1.0, 1e-9).sums(model, X)
    strong, weak = (Gaussians(target, a, 1e-9).maximised(sums, model) for a in (1e9, 1e-9))
    for chart in strong.charts:
        np.testing.assert_allclose(covariance_of(chart), target, rtol=1e-5, atol=1e-5)
    mean = sums["x"][2] / sums["n"][2]
    own = unpacked(sums["xx"], D)[2] / sums["n"][2] - np.outer(mean, mean)
    np.testing.assert_allclose(covariance_of(weak.charts[2]), own, rtol=1e-6, atol=1e-8)


def test_the_narrow_mean_of_covariances_is_below_the_wide_one():
    narrow, wide = (shared_covariance(mixture(), wide=wide) for wide in (False, True))
    assert np.linalg.eigvalsh(wide - narrow).min() > 0
    alone = MixtureParameters(np.ones(1), mixture().charts[:1])
    np.testing.assert_allclose(shared_covariance(alone, wide=False), covariance_of(alone.charts[0]), rtol=1e-8)


def test_a_chart_that_is_restarted_has_the_covariance_of_the_prior():
    model = Gaussians(np.eye(D), 1.0, 1e-9).reseeded(mixture(), np.array([1]), np.full((1, D), 3.0))
    np.testing.assert_allclose(covariance_of(model.charts[1]), np.eye(D), atol=1e-12)
    np.testing.assert_array_equal(model.charts[1].mean, np.full(D, 3.0))
    assert model.weights.sum() == pytest.approx(1.0)

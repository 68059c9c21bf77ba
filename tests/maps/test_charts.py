"""What coordination asks of a mixture, of every kind of mixture."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.mixture import GaussianMixture

from sidelight import BernoulliMixture, PPCAMixture
from sidelight.maps.bernoulli_charts import with_axes
from sidelight.maps.charts import gaussian_charts
from sidelight.objectives.mixtures import normalised


def rows(n=300, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 5)) * [4, 3, 2, 1, 0.5] + 8 * rng.integers(3, size=(n, 1))


def binary(n=300, seed=0):
    rng = np.random.default_rng(seed)
    kinds = rng.random((3, 5))
    return (rng.random((n, 5)) < kinds[rng.integers(3, size=n)]).astype(float)


def of_gaussian_mixture():
    return rows(), gaussian_charts(GaussianMixture(3, random_state=0).fit(rows()), (1, 2, 3))


def of_ppca_mixture():
    return rows(), PPCAMixture(3, 2).fit(rows()).charts_


def of_bernoulli_mixture():
    return binary(), with_axes(BernoulliMixture(3).fit(binary()).charts_, binary(), 2)


every = pytest.mark.parametrize("make", [of_gaussian_mixture, of_ppca_mixture, of_bernoulli_mixture])


@every
def test_the_protocol_is_kept(make):
    X, charts = make()
    assert charts.n_charts == 3
    assert len(charts.n_local) == 3
    R = charts.responsibilities(X)
    assert R.shape == (300, 3)
    np.testing.assert_allclose(R.sum(axis=1), 1.0)
    for s, q in enumerate(charts.n_local):
        F = charts.features(X, s)
        assert F.shape == (300, q)
        assert charts.reconstruction(F, s).shape == X.shape
    drawn, chart = charts.sample(50, np.random.RandomState(0))
    assert drawn.shape == (50, 5)
    assert set(chart) <= {0, 1, 2}
    assert charts.log_density(X).shape == (300,)


@every
def test_features_have_unit_variance_under_their_chart_or_less(make):
    X, charts = make()
    R = charts.responsibilities(X)
    for s, q in enumerate(charts.n_local):
        F = charts.features(X, s)
        spread = np.cov(F.T, aweights=R[:, s], ddof=0).reshape(q, q)
        assert np.linalg.eigvalsh(spread).max() < 1.0 + 1e-2
        assert np.linalg.eigvalsh(spread).min() > 0.2


@every
def test_samples_are_as_likely_as_rows(make):
    X, charts = make()
    drawn = charts.log_density(charts.sample(2000, np.random.RandomState(0))[0])
    own = charts.log_density(X)
    assert abs(drawn.mean() - own.mean()) < 4 * own.std() / np.sqrt(300)


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_a_gaussian_mixture_of_any_kind_is_adapted_exactly(kind):
    X = rows()
    mixture = GaussianMixture(3, covariance_type=kind, random_state=0).fit(X)
    charts = gaussian_charts(mixture, 5)
    np.testing.assert_allclose(charts.log_density(X), mixture.score_samples(X), rtol=1e-10)
    np.testing.assert_allclose(charts.responsibilities(X), mixture.predict_proba(X), atol=1e-10)
    np.testing.assert_allclose(charts.reconstruction(charts.features(X, 1), 1), X, atol=1e-9)


@pytest.mark.parametrize("n_local", [6, -1, (1, 2)])
def test_a_number_of_local_coordinates_that_cannot_be_is_said(n_local):
    mixture = GaussianMixture(3, random_state=0).fit(rows())
    with pytest.raises(ValueError, match=r"n_local=.* is not one number from 0 to 5 for all 3 charts, or one for each"):
        gaussian_charts(mixture, n_local)


def conditional(charts, row):
    """Mean and variance of each entry given what is seen, by dense conditioning, chart by chart."""
    o, m = ~np.isnan(row), np.isnan(row)
    logs, means, variances = [], [], []
    for weight, chart in zip(charts.weights, charts.charts, strict=True):
        mu = chart.mean * charts.scale + charts.centre
        C = (chart.W @ chart.W.T + chart.noise * np.eye(len(mu))) * charts.scale**2
        gain = C[np.ix_(m, o)] @ np.linalg.inv(C[np.ix_(o, o)])
        residual = row[o] - mu[o]
        _, volume = np.linalg.slogdet(2 * np.pi * C[np.ix_(o, o)])
        logs.append(np.log(weight) - 0.5 * (volume + residual @ np.linalg.solve(C[np.ix_(o, o)], residual)))
        means.append(mu[m] + gain @ residual)
        variances.append(np.diag(C[np.ix_(m, m)] - gain @ C[np.ix_(o, m)]))
    r = normalised(np.array([logs]))[0][0]
    mean = r @ np.array(means)
    return mean, r @ (np.array(variances) + np.array(means) ** 2) - mean**2


def test_imputation_and_its_variance_are_dense_gaussian_conditioning():
    X = rows()
    holes = np.random.default_rng(1).random(X.shape) < 0.4
    holes[holes.all(axis=1), 0] = False
    broken = np.where(holes, np.nan, X)
    model = PPCAMixture(3, 2).fit(X)
    filled, variance = model.impute(broken), model.impute_variance(broken)
    np.testing.assert_array_equal(filled[~holes], X[~holes])
    assert (variance[~holes] == 0).all()
    for i in np.flatnonzero(holes.any(axis=1))[:40]:
        mean, spread = conditional(model.charts_, broken[i])
        np.testing.assert_allclose(filled[i, holes[i]], mean, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(variance[i, holes[i]], spread, rtol=1e-8)


def test_a_row_of_which_nothing_is_seen_is_told_by_the_mixture_alone():
    X = rows()
    model = PPCAMixture(3, 2).fit(X)
    nothing = np.full((1, 5), np.nan)
    np.testing.assert_allclose(model.predict_proba(nothing)[0], model.weights_)
    np.testing.assert_allclose(model.impute(nothing)[0], X.mean(axis=0), rtol=1e-8)
    np.testing.assert_allclose(model.impute_variance(nothing)[0], X.var(axis=0), rtol=0.2)
    assert model.score_samples(nothing)[0] == pytest.approx(0.0, abs=1e-12)


def test_bernoulli_charts_have_no_local_coordinates_of_their_own():
    charts = BernoulliMixture(3).fit(binary()).charts_
    assert charts.n_local == (0, 0, 0)
    np.testing.assert_allclose(charts.reconstruction(charts.features(binary()[:2], 1), 1), charts.means[[1, 1]])

"""Charts of leading components: their density, the way there and back, and rows that are drawn from them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from sidelight import PPCAMixture
from sidelight.maps.reduced_charts import ReducedCharts, ReducedRows, leading_components
from sidelight.rows import ArrayRows


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    return rng.normal(size=(300, 3)) @ rng.normal(size=(3, 12)) + 0.1 * rng.normal(size=(300, 12)) + 5.0


@pytest.fixture(scope="module")
def charts(rows):
    components = leading_components(rows, 5)
    return ReducedCharts(components, PPCAMixture(1, 2, random_state=0).fit(components.inside(rows)).charts_)


def test_components_are_those_of_the_covariance_for_long_and_for_short_tables(rows):
    for some in (rows, rows[:8]):
        found = leading_components(some, 5)
        values = np.linalg.eigvalsh(np.cov(some.T, bias=True))[::-1]
        np.testing.assert_allclose(found.axes.T @ found.axes, np.eye(5), atol=1e-9)
        np.testing.assert_allclose(found.inside(some).var(axis=0), values[:5], rtol=1e-8)
        assert found.noise == pytest.approx(values[5:].sum() / 7, rel=1e-6)


def test_no_more_components_than_the_rows_have():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2)) @ rng.normal(size=(2, 80))
    found = leading_components(X, 50)
    assert found.axes.shape == (80, 2)
    np.testing.assert_allclose(found.outside(found.inside(X)), X, atol=1e-8)
    constant = leading_components(np.ones((10, 70)), 50)
    assert np.isfinite(constant.axes).all()
    assert constant.noise > 0


def test_its_density_is_the_gaussian_of_components_and_noise(rows, charts):
    parts, own = charts.components, charts.charts.charts[0]
    inner = charts.charts.scale**2 * (own.W @ own.W.T + own.noise * np.eye(5))
    V = parts.axes
    C = V @ inner @ V.T + parts.noise * (np.eye(12) - V @ V.T)
    mean = parts.outside((own.mean * charts.charts.scale + charts.charts.centre)[None])[0]
    np.testing.assert_allclose(charts.log_density(rows), multivariate_normal(mean, C).logpdf(rows), rtol=1e-6)


def test_drawn_rows_have_the_covariance_of_the_rows(rows, charts):
    drawn = charts.sample(20_000, np.random.RandomState(0))[0]
    C = np.cov(rows.T)
    assert np.abs(np.cov(drawn.T) - C).max() < 0.1 * np.abs(C).max()
    np.testing.assert_allclose(drawn.mean(axis=0), rows.mean(axis=0), atol=0.1)


def test_sums_of_reduced_rows_are_those_of_components(rows, charts):
    found = ReducedRows(ArrayRows(rows), charts.components)
    inside = charts.components.inside(rows)
    np.testing.assert_allclose(found.total(lambda X: {"sum": X.sum(axis=0)})["sum"], inside.sum(axis=0), atol=1e-8)
    np.testing.assert_allclose(np.concatenate(list(found.blocks())), inside, atol=1e-10)
    assert found.n_features == 5
    assert charts.n_local == (2,)


def test_charts_moved_to_other_components_of_the_same_rows_stay_where_they_are(rows, charts):
    turned = leading_components(rows[::-1] * 1.0, 5)
    other = turned.__class__(turned.centre + 0.3 * turned.axes[:, 0], turned.axes[:, ::-1], turned.noise)
    np.testing.assert_allclose(charts.moved(other).log_density(rows), charts.log_density(rows), rtol=1e-9)

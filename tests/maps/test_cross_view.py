"""One view from others: against regression on explicit features, with views missing, and through the latent space."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, Ridge

from sidelight import CoordinatedCCA
from sidelight.maps import cross_view as cross_view_module
from sidelight.maps.coordinated import weighed
from sidelight.maps.cross_view import cross_sums, predict_view_rows
from sidelight.objectives.coordination import unfolded


def three_views(n=300, seed=0):
    rng = np.random.default_rng(seed)
    t = rng.uniform(0, 3, n)
    A = np.column_stack([np.cos(t), np.sin(t)]) + 0.05 * rng.normal(size=(n, 2))
    B = np.column_stack([t, t**2, np.sin(2 * t)]) + 0.05 * rng.normal(size=(n, 3))
    return np.column_stack([A, B, 2 * t + 0.1 * rng.normal(size=n), rng.normal(size=n)])


VIEWS = [slice(0, 2), slice(2, 5), slice(5, 7)]


def fitted(X):
    return CoordinatedCCA(1, views=VIEWS, n_charts=3, regression="charts", max_iter=20, tol=1e-2, random_state=0).fit(X)


@pytest.fixture(scope="module")
def model():
    return fitted(three_views())


def features(model, X, views, fit):
    """φ of some views, by the definition, in units (of the rows of the fit) in which all penalties are the same."""
    parts = []
    for own in (model.map_.views[v] for v in views):
        Q, local, (Y,) = weighed([own], X, 1.0)
        parts += [unfolded(Q, local), Y / np.sqrt(own.inside(fit)[0].var(axis=0).mean())]
    return np.concatenate(parts, axis=1)


def cross_validation(F, Y, penalty):
    """Generalised cross-validation, by the matrix that takes targets to predictions."""
    F, Y, n = F - F.mean(axis=0), Y - Y.mean(axis=0), len(F)
    H = F @ np.linalg.solve(F.T @ F + n * penalty * np.eye(F.shape[1]), F.T)
    return ((Y - H @ Y) ** 2).sum() / (1 - 1.4 * (np.trace(H) + 1) / n) ** 2


@pytest.mark.parametrize(("view", "others"), [(0, [1, 2]), (1, [0]), (2, [0, 1])])
def test_it_is_ridge_regression_on_what_charts_say_with_the_cross_validated_penalty(model, view, others):
    X, new = three_views(), three_views(20, seed=1)
    Y = X[:, VIEWS[view]]
    F = features(model, X, others, X)
    penalty = min(cross_view_module._PENALTIES, key=lambda penalty: cross_validation(F, Y, penalty))
    expected = Ridge(len(X) * penalty).fit(F, Y).predict(features(model, new, others, X))
    hidden = new.copy()
    for v in set(range(3)) - {view, *others}:
        hidden[:, VIEWS[v]] = np.nan
    np.testing.assert_allclose(model.predict_view(hidden, view), expected, rtol=1e-7, atol=1e-9)


def test_sums_of_parts_are_sums_of_the_whole(model):
    X = three_views()
    X[40:60, VIEWS[1]], X[55:90, VIEWS[2]] = np.nan, np.nan
    whole = cross_sums(model.map_.views, X, 1.0)
    first, second = (cross_sums(model.map_.views, part, 1.0) for part in (X[:70], X[70:]))
    for name, value in whole.items():
        np.testing.assert_allclose(first[name] + second[name], value, atol=1e-9)


def test_rows_that_the_predicted_view_has_not_seen_do_not_count(model):
    """Charts given, so that these are the same: only the regression could change."""
    X = three_views()
    charts = [own.charts for own in model.map_.views]
    partial = X.copy()
    partial[X[:, 2] > 2, VIEWS[1]] = np.nan
    rows = partial[X[:, 2] <= 2]
    options = {"views": VIEWS, "mixture": charts, "regression": "charts"}
    some, few = (CoordinatedCCA(1, **options).fit(part) for part in (partial, rows))
    np.testing.assert_allclose(some.predict_view(rows, 1), few.predict_view(rows, 1), atol=1e-9)


def test_a_view_that_never_met_the_seen_one_is_reached_through_the_latent_space():
    X = three_views(600)
    X[:300, VIEWS[2]], X[300:, VIEWS[0]] = np.nan, np.nan
    found = fitted(X)
    only = np.where(np.arange(7) < 2, X[:20], np.nan)
    through = found.inverse_transform_view(found.transform(only), 2)
    np.testing.assert_array_equal(predict_view_rows(found.cross_, found.map_, only, 2), through)
    both = X[:20]
    assert np.abs(found.predict_view(both, 2) - through).max() > 1e-6  # the second view has met it


def test_more_is_shared_than_the_latent_space_can_hold():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 6))
    Y = X @ rng.normal(size=(6, 4)) + 0.1 * rng.normal(size=(400, 4))
    found = CoordinatedCCA(1, n_charts=3, max_iter=20, tol=1e-2, random_state=0).fit(X[:300], Y[:300])
    linear = LinearRegression().fit(X[:300], Y[:300])
    assert found.score(X[300:], Y[300:]) > linear.score(X[300:], Y[300:]) - 0.005
    Z = found.transform(X[300:])
    assert np.corrcoef(found.inverse_transform_view(Z, 1)[:, 0], Y[300:, 0])[0, 1] < 0.99


def test_a_row_off_a_direction_without_spread_is_not_sent_far():
    """Two columns that were the same in the fit, and that differ in a new row."""
    rng = np.random.default_rng(0)
    t = rng.normal(size=(300, 1))
    X = np.column_stack([t, t + 1e-5 * rng.normal(size=(300, 1)), rng.normal(size=(300, 1))])
    found = CoordinatedCCA(1, n_charts=2, max_iter=20, tol=1e-2).fit(X, t[:, 0] + 0.1 * rng.normal(size=300))
    assert abs(found.predict(np.array([[1.0, 0.0, 0.0]]))[0]) < 3.0

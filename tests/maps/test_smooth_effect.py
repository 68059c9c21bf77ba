"""The effect of numbers within kinds of rows: what kinds differ by is not an effect of the number."""

from __future__ import annotations

import numpy as np
import pytest

from sidelight.maps.smooth_effect import effect_within_kinds, smooth_effect


def standard(values):
    return ((values - values.mean()) / values.std() / np.sqrt(0.3))[:, None]


def kinds_with_a_number(seed, n=600, d=6):
    """Four kinds of rows of which each has larger numbers than the one before; the number moves all rows alike."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 4, n)
    number = rng.normal(size=n) + kind
    moved = np.outer(np.sin(number), rng.normal(size=d)) + np.outer(number, 0.5 * rng.normal(size=d))
    X = 4.0 * rng.normal(size=(4, d))[kind] + moved + 0.3 * rng.normal(size=(n, d))
    return X, number, moved - moved.mean(axis=0)


def error(effect, features, truth):
    found = effect(features)
    return np.linalg.norm(found - found.mean(axis=0) - truth) / np.linalg.norm(truth)


@pytest.mark.parametrize("seed", range(3))
def test_differences_between_kinds_are_not_taken_for_an_effect(seed):
    X, number, truth = kinds_with_a_number(seed)
    features = standard(number)
    assert error(effect_within_kinds(X, features), features, truth) < 0.2
    assert error(smooth_effect(X, features), features, truth) > 0.5


def test_the_mean_of_the_rows_stays():
    X, number, _ = kinds_with_a_number(0)
    features = standard(number)
    np.testing.assert_allclose(effect_within_kinds(X, features)(features).mean(axis=0), X.mean(axis=0), atol=1e-8)


@pytest.mark.thorough
def test_the_order_of_the_rows_does_not_matter():
    X, number, _ = kinds_with_a_number(1)
    features, order = standard(number), np.random.default_rng(0).permutation(len(X))
    again = effect_within_kinds(X[order], features[order])(features)
    np.testing.assert_allclose(again, effect_within_kinds(X, features)(features), atol=1e-6)


def test_many_rows_are_fitted_by_kinds_that_are_found_on_some(monkeypatch):
    X, number, truth = kinds_with_a_number(2, n=1500)
    features = standard(number)
    monkeypatch.setattr("sidelight.maps.smooth_effect._MANY", 500)
    effect = effect_within_kinds(X, features)
    assert error(effect, features, truth) < 0.2
    np.testing.assert_allclose(effect(features).mean(axis=0), X.mean(axis=0), atol=1e-8)


def test_rows_that_are_a_function_of_the_number_leave_nothing():
    t = np.random.default_rng(0).uniform(0, 5, 400)
    X = np.column_stack([np.sin(t), np.cos(2 * t), t**2])
    rest = X - effect_within_kinds(X, standard(t))(standard(t))
    assert (rest**2).sum() < 1e-6 * ((X - X.mean(axis=0)) ** 2).sum()


def test_few_rows_have_no_kinds():
    X, number, _ = kinds_with_a_number(0, n=50)
    features = standard(number)
    np.testing.assert_array_equal(effect_within_kinds(X, features)(features), smooth_effect(X, features)(features))

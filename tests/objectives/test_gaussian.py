"""A Gaussian with missing entries against the formula, row by row; its M step never lowers the likelihood."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from sidelight.objectives.gaussian import gaussian_entries, gaussian_maximised, gaussian_of, gaussian_statistics


def gaps(n=60, d=7, share=0.4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + rng.normal(size=d)
    X[rng.random(X.shape) < share] = np.nan
    X[3] = np.nan  # nothing is seen
    X[4] = 1.0  # everything is
    return X


def model_of(X):
    rng = np.random.default_rng(1)
    A = rng.normal(size=(X.shape[1], X.shape[1]))
    return gaussian_of(rng.normal(size=X.shape[1]), A @ A.T + 0.1 * np.eye(X.shape[1]))


def by_hand(model, row):
    """Conditional mean and covariance of a whole row (d,), (d, d)."""
    here, M = np.flatnonzero(~np.isnan(row)), np.flatnonzero(np.isnan(row))
    S, mean, covariance = model.covariance, row.copy(), np.zeros((len(row), len(row)))
    gain = S[np.ix_(M, here)] @ np.linalg.inv(S[np.ix_(here, here)])
    mean[M] = model.mean[M] + gain @ (row[here] - model.mean[here])
    covariance[np.ix_(M, M)] = S[np.ix_(M, M)] - gain @ S[np.ix_(here, M)]
    return mean, covariance


@pytest.mark.parametrize("share", [0.1, 0.4, 0.8])
def test_entries_and_sums_are_those_of_the_formula(share):
    X = gaps(share=share)
    model = model_of(X)
    found = [by_hand(model, row) for row in X]
    means, variances = gaussian_entries(model, X)
    np.testing.assert_allclose(means, [mean for mean, _ in found], atol=1e-8)
    np.testing.assert_allclose(variances, [np.diag(covariance) for _, covariance in found], atol=1e-8)
    sums = gaussian_statistics(model, X)
    shifted = np.array([mean for mean, _ in found]) - model.mean
    np.testing.assert_allclose(sums["x"], shifted.sum(axis=0), atol=1e-7)
    outer = shifted.T @ shifted + sum(covariance for _, covariance in found)
    np.testing.assert_allclose(sums["xx"], outer, atol=1e-6)


def test_sums_of_parts_are_those_of_the_whole():
    X = gaps()
    model = model_of(X)
    whole, parts = gaussian_statistics(model, X), [gaussian_statistics(model, X[i::3]) for i in range(3)]
    for name, value in whole.items():
        np.testing.assert_allclose(sum(part[name] for part in parts), value, atol=1e-8)


def test_a_step_that_is_not_drawn_anywhere_raises_the_likelihood():
    X = gaps(n=200, share=0.3)
    model = model_of(X)
    values = []
    for _ in range(6):
        values.append(sum(_log_density(model, row) for row in X))
        model = gaussian_maximised(gaussian_statistics(model, X), model, np.eye(7), 0.0)
    assert np.diff(values).min() > 0


def _log_density(model, row):
    here = np.flatnonzero(~np.isnan(row))
    if len(here) == 0:
        return 0.0
    return multivariate_normal(model.mean[here], model.covariance[np.ix_(here, here)]).logpdf(row[here])


def test_drawn_wholly_to_a_target_it_is_the_target():
    X = gaps()
    model = gaussian_maximised(gaussian_statistics(model_of(X), X), model_of(X), 2.0 * np.eye(7), 1.0)
    np.testing.assert_allclose(model.covariance, 2.0 * np.eye(7), atol=1e-8)

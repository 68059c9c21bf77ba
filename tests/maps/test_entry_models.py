"""Models of missing entries: conditional means, joint draws, calibration, held-out entries."""

from __future__ import annotations

import numpy as np
import pytest

from sidelight.maps.entry_models import MODELS, fit_entry_model, hold_out

HOW = {"owner": "Test", "seed": 0, "n_jobs": 1}


def table(n=300, share=0.2, seed=0):
    """Correlated columns of very different units, with gaps at random, and the complete rows."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)) @ rng.normal(size=(2, 6)) + 0.3 * rng.normal(size=(n, 6))
    X = X * np.array([1.0, 1e3, 1e-3, 1.0, 10.0, 1.0]) + 5.0
    gone = rng.random(X.shape) < share
    gone[gone.all(axis=1)] = False
    return X, np.where(gone, np.nan, X)


@pytest.mark.parametrize("model", MODELS)
def test_every_model_beats_column_means_and_keeps_observed_entries(model):
    X, gaps = table()
    found = fit_entry_model(gaps, model, **HOW)
    gone = np.isnan(gaps)
    filled = found.mean(gaps)
    np.testing.assert_array_equal(filled[~gone], X[~gone])
    assert (found.variance(gaps)[~gone] == 0).all()
    assert (found.variance(gaps)[gone] > 0).all()
    error = ((filled - X) / X.std(axis=0))[gone]
    assert found.name == model
    assert np.sqrt(np.mean(error**2)) < 0.7


def test_draws_have_the_conditional_mean_and_covariance():
    _, gaps = table()
    found = fit_entry_model(gaps, "gaussian", **HOW)
    row = np.where(np.isin(np.arange(6), [0, 3]), np.nan, table()[0][:1])
    rng = np.random.default_rng(0)
    drawn = found.draw(np.repeat(row, 20000, axis=0), rng)[:, [0, 3]]
    inside = found.density.gaussian
    seen, missing = [1, 2, 4, 5], [0, 3]
    C = inside.covariance
    exact = C[np.ix_(missing, missing)] - C[np.ix_(missing, seen)] @ np.linalg.solve(
        C[np.ix_(seen, seen)], C[np.ix_(seen, missing)]
    )
    unit = (found.density.scale * found.scale)[missing]
    exact *= found.factor * np.outer(unit, unit)
    scale = np.sqrt(np.diag(exact))
    np.testing.assert_allclose(np.cov(drawn.T) / np.outer(scale, scale), exact / np.outer(scale, scale), atol=0.05)
    np.testing.assert_allclose(drawn.mean(axis=0) / scale, found.mean(row)[0, missing] / scale, atol=0.05)


def test_draws_of_a_mixture_have_its_variance():
    _, gaps = table()
    found = fit_entry_model(gaps, "mixture", **HOW)
    row = np.where(np.arange(6) == 3, np.nan, table()[0][:1])
    drawn = found.draw(np.repeat(row, 20000, axis=0), np.random.default_rng(0))[:, 3]
    assert drawn.var() == pytest.approx(found.variance(row)[0, 3], rel=0.1)


def test_intervals_hold_about_their_level():
    X, gaps = table(n=600)
    found = fit_entry_model(gaps, "gaussian", **HOW)
    gone = np.isnan(gaps)
    within = np.abs(found.mean(gaps) - X) <= found.half_width(0.9) * np.sqrt(found.variance(gaps))
    assert 0.84 < within[gone].mean() < 0.96


def test_auto_takes_the_model_with_the_least_held_out_error():
    """Entries of a bent curve, of which a plane knows little: the Gaussian must not be taken."""
    rng = np.random.default_rng(0)
    t = rng.uniform(0, 5, 400)
    X = np.column_stack([np.cos(t), np.sin(t), np.cos(2 * t), np.sin(2 * t)]) + 0.02 * rng.normal(size=(400, 4))
    gaps = np.where(rng.random(X.shape) < 0.15, np.nan, X)
    gaps[np.isnan(gaps).all(axis=1)] = X[np.isnan(gaps).all(axis=1)]
    assert fit_entry_model(gaps, **HOW).name != "gaussian"


def test_columns_missing_together_are_held_out_together():
    X = np.random.default_rng(0).normal(size=(200, 5))
    X[:40, 1:3] = np.nan
    test = hold_out(X, 0)
    np.testing.assert_array_equal(test.hidden[:, 1], test.hidden[:, 2])
    assert test.hidden[:, 1].any()
    assert not test.hidden[:, [0, 3, 4]].any()


def test_each_row_is_answered_by_itself():
    _, gaps = table()
    found = fit_entry_model(gaps, "gaussian", **HOW)
    alone = np.concatenate([found.mean(gaps[i : i + 1]) for i in range(20)])
    np.testing.assert_allclose(alone, found.mean(gaps)[:20], rtol=1e-10)

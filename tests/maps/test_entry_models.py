"""Models of missing entries: conditional means, joint draws, calibration, held-out entries."""

from __future__ import annotations

import functools
from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesRegressor

import sidelight
from sidelight import KernelInformationEmbedding
from sidelight.maps import entry_models
from sidelight.maps.blend_weights import blend_weights
from sidelight.maps.entry_densities import Blend, entry_moments, fit_densities
from sidelight.maps.entry_models import MODELS, fit_entry_model, hold_out
from sidelight.maps.forest_fill import completion_work, grown

pytestmark = pytest.mark.thorough  # each of them learns a model

HOW = {"owner": "Test", "seed": 0, "n_jobs": 1}


def table(n=300, share=0.2, seed=0):
    """Correlated columns of very different units, with gaps at random, and the complete rows."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)) @ rng.normal(size=(2, 6)) + 0.3 * rng.normal(size=(n, 6))
    X = X * np.array([1.0, 1e3, 1e-3, 1.0, 10.0, 1.0]) + 5.0
    gone = rng.random(X.shape) < share
    gone[gone.all(axis=1)] = False
    return X, np.where(gone, np.nan, X)


@functools.cache
def fitted(model):
    """A model of ``table()``, made once for all that only ask it."""
    return fit_entry_model(table()[1], model, **HOW)


@pytest.mark.parametrize("model", MODELS)
def test_every_model_beats_column_means_and_keeps_observed_entries(model):
    X, gaps = table()
    found = fitted(model)
    gone = np.isnan(gaps)
    filled = found.mean(gaps)
    np.testing.assert_array_equal(filled[~gone], X[~gone])
    assert (found.variance(gaps)[~gone] == 0).all()
    assert (found.variance(gaps)[gone] > 0).all()
    error = ((filled - X) / X.std(axis=0))[gone]
    assert found.name == model
    assert np.sqrt(np.mean(error**2)) < 0.7


def test_draws_have_the_conditional_mean_and_covariance():
    found = fitted("gaussian")
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
    found = fitted("mixture")
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


@pytest.mark.parametrize("share", [0.1, 0.3])
def test_gaps_made_with_the_same_seed_are_not_the_entries_to_hold_out(share):
    X = np.random.default_rng(1).normal(size=(200, 4))
    gaps = np.where(np.random.default_rng(0).random(X.shape) < share, np.nan, X)
    hidden = hold_out(gaps, 0).hidden
    assert 0.07 < hidden.sum() / (~np.isnan(gaps)).sum() < 0.13


def test_each_row_is_answered_by_itself():
    _, gaps = table()
    found = fitted("gaussian")
    alone = np.concatenate([found.mean(gaps[i : i + 1]) for i in range(20)])
    np.testing.assert_allclose(alone, found.mean(gaps)[:20], rtol=1e-10)


def interacting(n=400, share=0.15, seed=0):
    """Three groups (indicators) with slopes of their own, which no Gaussian knows, with gaps, and the complete rows."""
    rng = np.random.default_rng(seed)
    group, t = rng.integers(3, size=n), rng.normal(size=n)
    X = np.column_stack([np.eye(3)[group], t, (group - 1.0) * t + 0.1 * rng.normal(size=n)])
    gone = np.repeat(rng.random((n, 3)) < share, [3, 1, 1], axis=1)
    gone[gone.all(axis=1)] = False
    return X, np.where(gone, np.nan, X)


@functools.cache
def trees(n=150):
    """Trees of ``interacting(n)``, grown once for all that only ask them."""
    return fit_entry_model(interacting(n)[1], "trees", **HOW)


@pytest.mark.thorough
def test_trees_learn_what_the_gaussian_cannot():
    X, gaps = interacting()
    gone = np.isnan(gaps[:, 4])
    error = {
        name: np.mean((fit_entry_model(gaps, name, **HOW).mean(gaps) - X)[gone, 4] ** 2)
        for name in ("gaussian", "trees")
    }
    assert error["trees"] < 0.6 * error["gaussian"]


def test_trees_answer_each_row_by_itself_and_leave_whole_columns_to_the_gaussian():
    X, gaps = interacting(n=150)
    gaps[:, 3] = X[:, 3]  # no gap in the fit
    found = fit_entry_model(gaps, "trees", **HOW)
    alone = np.concatenate([found.mean(gaps[i : i + 1]) for i in range(20)])
    np.testing.assert_allclose(alone, found.mean(gaps)[:20], rtol=1e-10)
    row = np.where(np.arange(5) == 3, np.nan, X[:1])
    expected = found.density.base.complete((row - found.centre) / found.scale, 1) * found.scale + found.centre
    np.testing.assert_allclose(found.mean(row), expected)


def test_forest_follows_the_trees_of_scikit_learn():
    """The same answers as scikit-learn's trees, of which only arrays are kept."""
    rng = np.random.default_rng(0)
    A, target = rng.normal(size=(120, 4)), rng.normal(size=(120, 2))
    forest = grown(A, target, np.array([1, 2]), np.arange(4), 7, 1)
    trees = ExtraTreesRegressor(40, min_samples_leaf=3, max_features=0.5, random_state=7).fit(A, target)
    fresh = rng.normal(size=(30, 4))
    mean, variance = forest.moments(fresh)
    np.testing.assert_allclose(mean, trees.predict(fresh), rtol=1e-10, atol=1e-12)
    leaf = trees.apply(A)
    one = trees.apply(fresh[:1])
    square = np.mean([(target[leaf[:, t] == one[0, t]] ** 2).mean(axis=0) for t in range(40)], axis=0)
    np.testing.assert_allclose(variance[0], square - mean[0] ** 2, rtol=1e-10)


@pytest.mark.thorough
def test_trees_are_the_same_with_one_thread_and_two():
    _, gaps = interacting(n=150)
    one, two = trees(), fit_entry_model(gaps, "trees", owner="Test", seed=0, n_jobs=2)
    np.testing.assert_array_equal(one.mean(gaps, 1), two.mean(gaps, 2))
    np.testing.assert_array_equal(one.variance(gaps, 1), two.variance(gaps, 2))


def test_columns_that_are_missing_together_share_a_forest():
    columns = [forest.columns.tolist() for forest in trees().density.forests]
    assert sorted(columns) == [[0, 1, 2], [3], [4]]


def test_draws_of_trees_have_their_mean_and_variance():
    X, found = interacting(n=150)[0], trees()
    row = np.where(np.arange(5) >= 3, np.nan, X[:1])
    drawn = found.draw(np.repeat(row, 20000, axis=0), np.random.default_rng(0))[:, 3:]
    spread = np.sqrt(found.variance(row)[0, 3:])
    np.testing.assert_allclose(drawn.mean(axis=0) / spread, found.mean(row)[0, 3:] / spread, atol=0.05)
    np.testing.assert_allclose(drawn.std(axis=0), spread, rtol=0.05)


def test_auto_blends_and_tells_the_errors_of_its_members():
    _, gaps = interacting(n=250)
    told = {}
    found = fit_entry_model(gaps, **HOW, tell=told.__setitem__)
    assert found.name == "blend"
    assert set(told) == {"gaussian", "neighbours", "trees", "blend"}
    assert told["blend"] < told["gaussian"]
    assert found.density.weights.sum() == pytest.approx(1.0)


def test_intervals_of_trees_hold_about_their_level():
    X, gaps = interacting(n=1500)  # 450 held-out entries; with 400 rows coverage varied by 6 % between tables
    found = fit_entry_model(gaps, "trees", **HOW)
    within = np.abs(found.mean(gaps) - X) <= found.half_width(0.9) * np.sqrt(found.variance(gaps))
    assert 0.84 < within[np.isnan(gaps)].mean() < 0.96


def test_auto_keeps_the_gaussian_where_nothing_is_clearly_better():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(150, 1)) @ np.ones((1, 5)) + 0.5 * rng.normal(size=(150, 5))
    assert fit_entry_model(np.where(rng.random(X.shape) < 0.1, np.nan, X), **HOW).name == "gaussian"


def test_blend_is_the_weighted_mean_of_its_members():
    _, gaps = interacting(n=200)
    inside = (gaps - np.nanmean(gaps, axis=0)) / np.nanstd(gaps, axis=0)
    gaussian, trees = fit_densities(inside, ["gaussian", "trees"], **HOW)
    mean, variance = Blend(gaussian, (trees,), np.array([0.25, 0.75])).moments(inside, 1)
    (m1, v1), (m2, v2) = (entry_moments(member, inside, 1) for member in (gaussian, trees))
    np.testing.assert_allclose(mean, 0.25 * m1 + 0.75 * m2)
    second = 0.25 * (v1 + m1**2) + 0.75 * (v2 + m2**2)
    gone = np.isnan(gaps)
    np.testing.assert_allclose(variance[gone], (second - mean**2)[gone], rtol=1e-8)
    assert (variance[~gone] == 0).all()


def test_blend_weights_follow_many_entries_and_are_equal_without_any_difference():
    rng = np.random.default_rng(0)
    truth = rng.normal(size=5000)
    means = np.stack([truth + rng.normal(size=5000), truth + 0.2 * rng.normal(size=5000)])
    weights = blend_weights(means, truth, np.ones(5000))
    assert weights[1] == pytest.approx(1 / 1.04, abs=0.03)  # the inverse of the variances, 1 and 0.04
    np.testing.assert_allclose(blend_weights(means[:, :3], truth[:3], np.ones(3)), 0.5, atol=0.05)
    np.testing.assert_allclose(blend_weights(means[[1, 1]], truth, np.ones(5000)).sum(), 1.0)


@pytest.mark.filterwarnings("ignore")  # the map is not given the time to converge
def test_trees_and_blends_are_saved_to_the_bit(tmp_path):
    _, gaps = interacting(n=60)
    model = KernelInformationEmbedding(missing="expected", max_iter=2).fit(gaps)
    trees = fit_entry_model(gaps, "trees", **HOW)
    blend = Blend(trees.density.base, (trees.density,), np.array([0.4, 0.6]))
    for filler in (trees, replace(trees, density=blend)):
        model.filler_ = filler
        sidelight.save(model, tmp_path / "model.sidelight")
        again = sidelight.load(tmp_path / "model.sidelight").filler_
        np.testing.assert_array_equal(again.mean(gaps), filler.mean(gaps))
        np.testing.assert_array_equal(again.variance(gaps), filler.variance(gaps))


def test_auto_leaves_out_the_trees_where_they_would_cost_too_much(monkeypatch):
    monkeypatch.setattr(entry_models, "_MOST_WORK", completion_work(150, 5) - 1.0)
    _, gaps = interacting(n=150)
    told = {}
    fit_entry_model(gaps, **HOW, tell=told.__setitem__)
    assert set(told) == {"gaussian", "neighbours", "blend"}

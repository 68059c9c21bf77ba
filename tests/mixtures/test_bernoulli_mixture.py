"""BernoulliMixture: limit cases, likelihood, batches, streams, missing values."""

from __future__ import annotations

import numpy as np
import pytest

from sidelight import BernoulliMixture
from sidelight.maps.bernoulli_charts import bernoulli_charts
from sidelight.objectives.bernoulli import BernoulliParameters


def kinds(n=600, d=12, k=3, seed=0):
    """Rows of three kinds, columns that are mostly 0 or mostly 1 in each."""
    rng = np.random.default_rng(seed)
    means = np.where(rng.random((k, d)) < 0.5, 0.1, 0.9)
    label = rng.integers(k, size=n)
    return (rng.random((n, d)) < means[label]).astype(float), label, means


def test_the_kinds_are_found_whatever_the_seed():
    X, label, means = kinds()
    for seed in range(4):
        model = BernoulliMixture(3, random_state=seed).fit(X)
        order = [int(np.abs(model.means_ - mean).sum(axis=1).argmin()) for mean in means]
        assert sorted(order) == [0, 1, 2]
        assert np.abs(model.means_[order] - means).max() < 0.1
        assert (model.predict(X) == np.array(order)[label]).mean() > 0.95


def test_one_chart_is_the_mean_of_each_column():
    X, _, _ = kinds()
    model = BernoulliMixture(1, smoothing=1e-9).fit(X)
    np.testing.assert_allclose(model.means_[0], X.mean(axis=0), rtol=1e-8)
    expected = (X * np.log(X.mean(axis=0)) + (1 - X) * np.log(1 - X.mean(axis=0))).sum(axis=1)
    np.testing.assert_allclose(model.score_samples(X), expected, rtol=1e-7)


def test_probabilities_of_all_rows_sum_to_one():
    X, _, _ = kinds(200, d=8)
    all_rows = ((np.arange(256)[:, None] >> np.arange(8)) & 1).astype(float)
    assert np.exp(BernoulliMixture(4).fit(X).score_samples(all_rows)).sum() == pytest.approx(1.0)


def test_the_objective_never_falls():
    X, _, _ = kinds()
    X[np.random.default_rng(1).random(X.shape) < 0.2] = np.nan
    model = BernoulliMixture(6, n_init=1, tol=1e-7).fit(X)
    values = [-record["objective"] for record in model.history_ if record["stage"] == 0]
    assert (np.diff(values) > -1e-10).all()


def test_batches_give_what_memory_gives():
    X, _, _ = kinds()
    X[3, 4] = np.nan
    whole, parts = BernoulliMixture(4).fit(X), BernoulliMixture(4).fit_batches(lambda: np.array_split(X, 6))
    np.testing.assert_allclose(parts.means_, whole.means_, rtol=1e-8, atol=1e-8)
    grey = BernoulliMixture(4, binarize=0.5).fit_batches(lambda: np.array_split(0.4 + 0.2 * X, 6))
    np.testing.assert_allclose(grey.means_, whole.means_, rtol=1e-8, atol=1e-8)


def test_a_batch_that_is_not_binary_is_said():
    with pytest.raises(ValueError, match=r"^BernoulliMixture: X=array with 0\.5 is not binary"):
        BernoulliMixture(2, binarize=None).fit_batches([np.full((10, 3), 0.5)])


def test_a_stream_comes_close_to_the_fit_of_all_rows():
    X, _, _ = kinds(3000)
    stream = BernoulliMixture(3)
    for part in np.array_split(X, 15):
        stream.partial_fit(part)
    assert BernoulliMixture(3).fit(X).score(X) - stream.score(X) < 0.05
    with pytest.raises(ValueError, match="n_charts=bic cannot be chosen from a stream"):
        BernoulliMixture("bic").partial_fit(X)


def test_missing_values_are_told_by_the_rest_of_the_row():
    X, _, means = kinds(1000)
    holes = np.random.default_rng(1).random(X.shape) < 0.3
    broken = np.where(holes, np.nan, X)
    model = BernoulliMixture(3, residuals=False).fit(broken)
    true = bernoulli_charts(BernoulliParameters(np.full(3, 1 / 3), means))
    best = ((true.expected(broken) > 0.5) == X)[holes].mean()
    assert (model.impute(broken)[holes] == X[holes]).mean() > best - 0.01
    chance = model.denoise(broken)[holes]
    np.testing.assert_allclose(model.impute_variance(broken)[holes], chance * (1 - chance))
    assert abs(chance.mean() - X[holes].mean()) < 0.02


def test_the_number_of_charts_can_be_found():
    X, _, _ = kinds()
    model = BernoulliMixture("bic").fit(X)
    assert model.n_charts_ == 3
    np.testing.assert_allclose(min(model.criteria_.values()), model.bic(X))


def test_samples_are_binary_and_as_likely_as_rows():
    X, _, _ = kinds(2000)
    model = BernoulliMixture(3).fit(X)
    drawn = model.sample(5000, random_state=0)
    assert set(np.unique(drawn)) == {0.0, 1.0}
    assert abs(model.score(drawn) - model.score(X)) < 0.15
    np.testing.assert_allclose(drawn.mean(axis=0), X.mean(axis=0), atol=0.04)


def test_a_value_never_seen_is_unlikely_and_not_impossible():
    X = np.ones((20, 3))
    logs = BernoulliMixture(2).fit(X).score_samples(np.array([[1.0, 1.0, 1.0], [1.0, 1.0, 0.0]]))
    assert logs[0] > -0.1
    assert -20 < logs[1] < -3


@pytest.mark.parametrize(("parameter", "value"), [("n_charts", 0), ("smoothing", 0.0), ("max_iter", 0)])
def test_a_bad_parameter_is_said(parameter, value):
    with pytest.raises(ValueError, match=rf"^BernoulliMixture: {parameter}=.* is not .*\. Give .*\.$"):
        BernoulliMixture(**{parameter: value}).fit(kinds()[0])


def test_the_default_threshold_leaves_binary_rows_as_they_are_and_takes_any_others():
    X, *_ = kinds()
    plain, strict = BernoulliMixture(3).fit(X), BernoulliMixture(3, binarize=None).fit(X)
    np.testing.assert_array_equal(plain.predict_proba(X), strict.predict_proba(X))
    np.testing.assert_array_equal(BernoulliMixture(3).fit(7.0 * X - 2.0 * (X == 0)).means_, plain.means_)

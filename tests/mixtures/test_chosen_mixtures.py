"""What PPCAMixture and BernoulliMixture choose by held-out rows, and that numbers are taken as they are."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.mixture import GaussianMixture

import sidelight
from sidelight import BernoulliMixture, PPCAMixture


def flat(n=300, d=6, k=3, seed=0):
    """Flat clusters: two wide directions each, and noise that is equal in all columns."""
    rng = np.random.default_rng(seed)
    label, axes = rng.integers(k, size=n), rng.normal(size=(k, 2, d))
    inside = np.einsum("nq,nqd->nd", rng.normal(size=(n, 2)), axes[label])
    return 6 * rng.normal(size=(k, d))[label] + inside + 0.1 * rng.normal(size=(n, d))


def bulky(n=300, d=4, seed=0):
    """Two clusters with covariances of full rank, in columns of different units."""
    rng = np.random.default_rng(seed)
    roots, label = rng.normal(size=(2, d, d)), rng.integers(2, size=n)
    X = 8.0 * label[:, None] + np.einsum("nij,nj->ni", roots[label], rng.normal(size=(n, d)))
    return X * 10.0 ** np.arange(d)


@pytest.mark.thorough
def test_flat_clusters_are_planes_of_their_dimensions():
    model = PPCAMixture().fit(flat())
    assert model.covariance_ == "plane"
    assert model.n_charts_ == 3
    assert model.n_local_ == (2, 2, 2)


@pytest.mark.thorough
def test_clusters_in_different_units_are_full_gaussians_and_as_good_as_those_of_scikit_learn():
    X, new = bulky(), bulky(2000)
    model = PPCAMixture().fit(X)
    assert model.covariance_ == "full"
    rival = max(GaussianMixture(k, random_state=0).fit(X).score(new) for k in (1, 2, 3))
    assert model.score(new) > rival - 0.05
    assert model.noise_variance_.shape == (model.n_charts_, 4)
    scores = model.held_out_scores_
    assert max(scores.values()) - max(s for name, s in scores.items() if "plane" in name) > 1.0


def test_units_do_not_change_a_mixture_of_gaussians():
    X, factors = bulky(), np.array([1e-3, 1.0, 50.0, 1e4])
    one, other = (PPCAMixture(2, covariance="full").fit(rows) for rows in (X, X * factors))
    np.testing.assert_allclose(other.score(X * factors), one.score(X) - np.log(factors).sum(), rtol=1e-6)
    np.testing.assert_allclose(other.means_, one.means_ * factors, rtol=1e-5)
    np.testing.assert_allclose(other.sample(3, 0), one.sample(3, 0) * factors, rtol=1e-4)


@pytest.mark.thorough
def test_few_rows_get_a_density_that_holds_for_new_rows():
    """Thirty rows of twelve columns: a covariance of its own would be nearly flat."""
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(30, 12)), rng.normal(size=(1000, 12))
    truth = -6 * np.log(2 * np.pi) - 0.5 * (new**2).sum(axis=1).mean()
    assert PPCAMixture().fit(X).score(new) > truth - 1.5
    assert PPCAMixture().fit(X[:6]).score(new) > truth - 60.0  # too few to hold any out


def test_diagonal_charts_have_no_correlations():
    model = PPCAMixture(2, covariance="diagonal").fit(flat())
    d = 6
    for axes, noise in zip(model.components_, model.noise_variance_, strict=True):
        C = axes.T @ axes + np.diag(noise)
        np.testing.assert_allclose(C, np.diag(np.diag(C)), atol=1e-9)
    assert model.charts_.n_parameters == 2 * (2 * d + 1) - 1


def test_missing_entries_are_left_out_of_the_choice_and_given_back():
    X = bulky(250)
    holes = np.random.default_rng(1).random(X.shape) < 0.15
    broken = np.where(holes, np.nan, X)
    model = PPCAMixture(2, covariance="full", n_init=1).fit(broken)
    scale = X.std(axis=0)
    error = ((model.impute(broken) - X) / scale)[holes].std()
    assert error < 0.8 * ((np.nanmean(broken, axis=0) - X) / scale)[holes].std()
    ratio = (model.impute(broken) - X)[holes] ** 2 / model.impute_variance(broken)[holes]
    assert 0.6 < ratio.mean() < 1.6


@pytest.mark.thorough
def test_a_stream_chooses_by_its_first_batch_and_goes_on():
    parts = np.array_split(bulky(600), 3)
    model = PPCAMixture(n_init=1)
    for part in parts:
        model.partial_fit(part)
    assert model.covariance_ == "full"
    assert model.n_samples_seen_ == 600
    assert model.score(bulky(600)) > PPCAMixture(model.n_charts_, n_init=1).fit(bulky(600)).score(bulky(600)) - 0.3


def test_files_keep_what_was_chosen(tmp_path):
    X = bulky(60)
    for model in (PPCAMixture(2, covariance="full").fit(X), BernoulliMixture().fit(X.mean(axis=0) < X)):
        sidelight.save(model, tmp_path / "model.sidelight")
        loaded = sidelight.load(tmp_path / "model.sidelight")
        gaps = np.where(np.arange(4) == 1, np.nan, X)
        np.testing.assert_array_equal(loaded.impute(gaps), model.impute(gaps))
        np.testing.assert_array_equal(loaded.score_samples(X), model.score_samples(X))
        assert loaded.held_out_scores_ == model.held_out_scores_
        np.testing.assert_array_equal(loaded.partial_fit(X).means_, model.partial_fit(X).means_)


def test_numbers_are_taken_as_they_are():
    model = PPCAMixture(4, 1).fit(flat())
    assert model.covariance_ == "plane"
    assert model.n_local_ == (1, 1, 1, 1)
    assert not hasattr(model, "held_out_scores_")
    assert PPCAMixture(4, covariance="diagonal").fit(flat(60)).n_charts_ == 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"covariance": "round"}, r"^PPCAMixture: covariance=round is not an option"),
        ({"n_components": 2, "covariance": "full"}, r"^PPCAMixture: covariance=full has no planes whose dimensions"),
        ({"n_charts": "bic", "covariance": "diagonal"}, r"^PPCAMixture: covariance=diagonal has no planes"),
    ],
)
def test_what_does_not_go_together_is_said(options, message):
    with pytest.raises(ValueError, match=message):
        PPCAMixture(**options).fit(flat(40))
    with pytest.raises(ValueError, match=r"covariance=full is for at most 300 columns, and there are 301"):
        PPCAMixture(2, covariance="full").fit(np.ones((5, 301)))


def pictures(n=400, seed=0):
    """Bars of 0s and 1s at a random place and of a random length: neighbours tell more than kinds do."""
    rng = np.random.default_rng(seed)
    first, length = rng.integers(0, 14, size=(n, 1)), rng.integers(3, 9, size=(n, 1))
    place = np.arange(20)
    return ((place >= first) & (place < first + length)).astype(float)


def test_binary_entries_are_told_by_the_columns_beside_them():
    X, new = pictures(), pictures(200, seed=1)
    hidden = np.random.default_rng(2).random(new.shape) < 0.3
    broken = np.where(hidden, np.nan, new)
    both, alone = (BernoulliMixture(3, residuals=residuals).fit(X) for residuals in (True, False))
    errors = [(model.impute(broken) != new)[hidden].mean() for model in (both, alone)]
    assert errors[0] < 0.7 * errors[1]
    np.testing.assert_array_equal(both.score_samples(new), alone.score_samples(new))
    surprise = ((both.impute(broken) != new)[hidden]).mean()
    assert 0.5 * surprise < both.impute_variance(broken)[hidden].mean() < 3.0 * surprise + 0.02


def test_binary_charts_are_as_many_as_held_out_rows_support():
    rng = np.random.default_rng(0)
    X = (rng.random((300, 12)) < np.where(rng.integers(2, size=(300, 1)), 0.9, 0.1)).astype(float)
    model = BernoulliMixture().fit(X)
    assert model.n_charts_ == 2
    assert set(model.held_out_scores_) >= {"1", "2", "4"}


def test_the_cost_of_the_choice_is_in_the_estimate():
    for kind in (PPCAMixture, BernoulliMixture):
        numbers = (16, 10) if kind is PPCAMixture else (16,)
        assert kind().estimate_cost(2000, 20).seconds > 1.5 * kind(*numbers).estimate_cost(2000, 20).seconds

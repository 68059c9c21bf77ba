"""ProbabilisticPCA: scikit-learn's PCA on whole rows, exact with missing entries, the same in batches and streams."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

import numpy as np
import pytest
from registry import blobs
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from threadpoolctl import threadpool_limits

import sidelight
from sidelight import ProbabilisticPCA
from sidelight.maps import linear_gaussian_fit
from sidelight.maps.held_out import refitted_plane


def planted(n=300, d=10, q=3, noise=0.3, seed=0, offset=5.0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, q)) @ rng.normal(size=(q, d)) + noise * rng.normal(size=(n, d)) + offset


def with_gaps(X, share, seed=1):
    rng = np.random.default_rng(seed)
    gone = rng.random(X.shape) < share
    gone[np.arange(len(X)), rng.integers(X.shape[1], size=len(X))] = False
    return np.where(gone, np.nan, X)


def projector(components):
    return components.T @ components


@pytest.mark.parametrize(("n", "d", "q"), [(300, 12, 3), (60, 10, 9), (500, 40, 5), (50, 8, 1)])
def test_whole_rows_give_the_axes_noise_and_likelihood_of_scikit_learn(n, d, q):
    X = planted(n, d, 4)
    ours, theirs = ProbabilisticPCA(q).fit(X), PCA(q, svd_solver="full").fit(X)
    np.testing.assert_allclose(projector(ours.components_), projector(theirs.components_), atol=1e-8)
    np.testing.assert_allclose(ours.explained_variance_, theirs.explained_variance_, rtol=1e-8)
    np.testing.assert_allclose(ours.noise_variance_, theirs.noise_variance_, rtol=1e-8)
    np.testing.assert_allclose(ours.mean_, theirs.mean_, rtol=1e-8)
    new = planted(30, d, 4, seed=2)
    np.testing.assert_allclose(ours.score_samples(new), theirs.score_samples(new), rtol=1e-8)
    np.testing.assert_allclose(ours.score(new), theirs.score(new), rtol=1e-8)


def test_more_columns_than_rows_give_the_axes_of_scikit_learn_and_a_better_likelihood():
    """Scikit-learn divides what is left by min(n, d) - q dimensions; the most likely noise divides it by d - q."""
    X = planted(30, 400, 3)
    ours, theirs = ProbabilisticPCA(3).fit(X), PCA(3, svd_solver="full").fit(X)
    np.testing.assert_allclose(projector(ours.components_), projector(theirs.components_), atol=1e-8)
    np.testing.assert_allclose(ours.noise_variance_ * 397, theirs.noise_variance_ * 27, rtol=1e-8)
    assert ours.score(X) > theirs.score(X)


@pytest.mark.thorough
def test_more_columns_than_rows_need_no_matrix_of_columns(monkeypatch):
    monkeypatch.setattr(linear_gaussian_fit, "moments", None)
    X = planted(20, 5000, 2)
    model = ProbabilisticPCA(2).fit(X)
    assert model.transform(X[:3]).shape == (3, 2)
    assert ProbabilisticPCA().fit(X).n_components_ == 2


def test_wide_rows_that_are_many_are_climbed_to_the_closed_form(monkeypatch):
    X = planted(200, 20, 3)
    exact = ProbabilisticPCA(3).fit(X)
    monkeypatch.setattr(linear_gaussian_fit, "LARGEST", 10)
    climbed = ProbabilisticPCA(3, tol=1e-12).fit(X)
    assert climbed.n_iter_ > 1
    np.testing.assert_allclose(projector(climbed.components_), projector(exact.components_), atol=1e-5)
    np.testing.assert_allclose(climbed.noise_variance_, exact.noise_variance_, rtol=1e-6)


def dense(model, x):
    """Mean and variance of all entries of a row given the observed ones, by the covariance matrix in data units."""
    W = model.model_.W * model.scale_[:, None]
    C = W @ W.T + np.diag(model.model_.noise * model.scale_**2)
    o, m = ~np.isnan(x), np.isnan(x)
    gain = C[np.ix_(m, o)] @ np.linalg.inv(C[np.ix_(o, o)])
    return model.mean_[m] + gain @ (x - model.mean_)[o], np.diag(C[np.ix_(m, m)] - gain @ C[np.ix_(o, m)])


@pytest.mark.parametrize("standardize", [False, True])
def test_imputation_is_gaussian_conditioning_row_by_row(standardize):
    X = with_gaps(planted() * np.arange(1.0, 11.0), 0.4)
    model = ProbabilisticPCA(3, standardize=standardize, refinements=0).fit(X)
    filled, variance = model.impute(X[:20]), model.impute_variance(X[:20])
    for x, row, spread in zip(X[:20], filled, variance, strict=True):
        gone = np.isnan(x)
        mean, own = dense(model, x)
        np.testing.assert_allclose(row[gone], mean, rtol=1e-8)
        np.testing.assert_allclose(spread[gone], own, rtol=1e-8)
        np.testing.assert_array_equal(row[~gone], x[~gone])
        np.testing.assert_array_equal(spread[~gone], 0.0)


def beside_a_plane(n=400, d=10, seed=0):
    """A strong direction, and weak ones that a plane of one dimension leaves out."""
    rng = np.random.default_rng(seed)
    strong, weak = (scale * rng.normal(size=(n, q)) @ rng.normal(size=(q, d)) for scale, q in ((3.0, 1), (1.0, 4)))
    return strong + weak + 0.3 * rng.normal(size=(n, d))


def test_refinements_impute_by_what_columns_have_in_common_beside_the_plane():
    X = beside_a_plane()
    gaps = with_gaps(X, 0.2)
    gone = np.isnan(gaps)
    plane, refined = (ProbabilisticPCA(1, refinements=steps).fit(gaps) for steps in (0, 3))
    errors = [np.sqrt(np.mean((model.impute(gaps) - X)[gone] ** 2)) for model in (plane, refined)]
    assert errors[1] < 0.8 * errors[0]
    assert plane.gaussian_ is None
    np.testing.assert_array_equal(plane.transform(gaps), refined.transform(gaps))
    away = np.abs(refined.impute(gaps) - X)[gone] / np.sqrt(refined.impute_variance(gaps)[gone])
    assert (away < 2).mean() > 0.9  # drawn to a plane of too few dimensions, it is rather too wide than too narrow


def test_refinements_are_the_same_from_batches():
    gaps = with_gaps(beside_a_plane(), 0.2)
    whole, batches = (
        ProbabilisticPCA(1).fit(gaps),
        ProbabilisticPCA(1).fit_batches(lambda: iter(np.array_split(gaps, 7))),
    )
    np.testing.assert_allclose(batches.impute(gaps), whole.impute(gaps), rtol=1e-8)


def test_rows_that_are_too_few_for_a_covariance_are_imputed_by_the_plane():
    assert ProbabilisticPCA(1).fit(with_gaps(beside_a_plane(n=20), 0.2)).gaussian_ is None


def test_the_variance_says_how_far_off_imputed_entries_are():
    X = planted(600, 12, 3)
    gaps = with_gaps(X, 0.4)
    model = ProbabilisticPCA().fit(gaps)
    gone = np.isnan(gaps)
    standard = (model.impute(gaps) - X)[gone] / np.sqrt(model.impute_variance(gaps)[gone])
    assert 0.93 < (np.abs(standard) < 2).mean() < 0.97


def test_few_rows_leave_the_plane_uncertain_and_the_variance_says_so():
    """Thirty rows: the density does not know that W is uncertain, the variance of imputed entries does."""
    inside, without = [], []
    for seed in range(10):
        X = planted(30, 12, 3, noise=0.5, seed=seed)
        gaps = with_gaps(X, 0.4, seed)
        model, gone = ProbabilisticPCA().fit(gaps), np.isnan(gaps)
        certain = copy(model)
        certain.model_ = replace(model.model_, spread=None)
        for one, found in ((model, inside), (certain, without)):
            found.append((np.abs(one.impute(gaps) - X) < 2 * np.sqrt(one.impute_variance(gaps)))[gone].mean())
        np.testing.assert_array_equal(model.score_samples(gaps), certain.score_samples(gaps))
    assert np.mean(without) + 0.01 < np.mean(inside) < 0.9545  # of a normal distribution within two deviations


def test_the_posterior_is_wider_where_more_is_missing():
    X = planted()
    model = ProbabilisticPCA(3).fit(X)
    whole, half = model.posterior_covariance(X[:5]), model.posterior_covariance(with_gaps(X[:5], 0.5))
    assert whole.shape == half.shape == (5, 3, 3)
    assert (np.trace(half, axis1=1, axis2=2) > np.trace(whole, axis1=1, axis2=2)).all()
    np.testing.assert_array_equal(whole[0], whole[4])


@pytest.mark.parametrize("share", [0.1, 0.4])
def test_the_objective_never_rises_within_a_stage(share):
    for model in (ProbabilisticPCA(3, tol=1e-8), ProbabilisticPCA(tol=1e-8)):
        history = model.fit(with_gaps(planted(), share)).history_
        for stage in {record["stage"] for record in history}:
            values = [record["objective"] for record in history if record["stage"] == stage]
            assert (np.diff(values) < 1e-9).all()
        assert [record["iteration"] for record in history] == list(range(1, len(history) + 1))


@pytest.mark.thorough
@pytest.mark.parametrize("share", [0.0, pytest.param(0.1, marks=pytest.mark.slow), 0.3, 0.5])
@pytest.mark.parametrize("noise", [0.01, pytest.param(0.5, marks=pytest.mark.slow), 1.5])
def test_planted_dimensions_are_found_with_and_without_gaps(share, noise):
    found = []
    for seed in range(3):
        X = planted(600, 20, 4, noise, seed)
        found.append(ProbabilisticPCA().fit(with_gaps(X, share) if share else X).n_components_)
    assert found == [4, 4, 4]


def test_missing_entries_cost_little_of_the_model():
    X = planted(800, 10, 2, seed=3)
    whole, gaps = ProbabilisticPCA(2).fit(X), ProbabilisticPCA(2, tol=1e-7).fit(with_gaps(X, 0.3))
    assert whole.score(X) - gaps.score(X) < 0.05
    np.testing.assert_allclose(gaps.noise_variance_, whole.noise_variance_, rtol=0.05)


@pytest.mark.parametrize("share", [0.0, 0.3])
@pytest.mark.parametrize("n_components", [2, "auto"])
def test_batches_give_the_model_of_all_rows(share, n_components):
    X = planted(700, 8, 3)
    X = with_gaps(X, share) if share else X
    whole = ProbabilisticPCA(n_components).fit(X)
    batches = ProbabilisticPCA(n_components).fit_batches(lambda: np.array_split(X, 5))
    assert not hasattr(batches, "embedding_")
    np.testing.assert_allclose(batches.components_, whole.components_, atol=1e-8)
    np.testing.assert_allclose(batches.score_samples(X), whole.score_samples(X), rtol=1e-8)


@pytest.mark.parametrize("standardize", [False, True])
def test_a_stream_gives_the_model_of_all_rows_exactly(standardize):
    X = planted(400, 9, 3, offset=1e4) * np.arange(1.0, 10.0)
    whole = ProbabilisticPCA(3, standardize=standardize).fit(X)
    stream = ProbabilisticPCA(3, standardize=standardize)
    for batch in np.split(X, [1, 40, 41, 300]):
        stream.partial_fit(batch)
    np.testing.assert_allclose(stream.score_samples(X), whole.score_samples(X), rtol=1e-8)
    np.testing.assert_allclose(projector(stream.components_), projector(whole.components_), atol=1e-8)


def test_a_stream_goes_on_after_it_was_saved(tmp_path):
    X = planted(200)
    stream = ProbabilisticPCA(2).partial_fit(X[:90])
    sidelight.save(stream, tmp_path / "m")
    again = sidelight.load(tmp_path / "m").partial_fit(X[90:])
    np.testing.assert_array_equal(again.components_, stream.partial_fit(X[90:]).components_)


def test_a_fit_after_a_stream_forgets_it():
    X = planted()
    model = ProbabilisticPCA(2).partial_fit(X[:50]).fit(X)
    np.testing.assert_array_equal(
        model.partial_fit(X[:60]).components_, ProbabilisticPCA(2).partial_fit(X[:60]).components_
    )


def test_standardized_columns_make_units_irrelevant():
    X, units = planted(), np.logspace(-6, 6, 10)
    plain, scaled = (ProbabilisticPCA(3, standardize=True).fit(with_gaps(rows, 0.2)) for rows in (X, X * units))
    np.testing.assert_allclose(
        scaled.impute(with_gaps(X * units, 0.2)) / units, plain.impute(with_gaps(X, 0.2)), rtol=1e-6
    )
    np.testing.assert_allclose(scaled.noise_variance_ / units**2, plain.noise_variance_, rtol=1e-6)
    np.testing.assert_allclose(scaled.score(X * units) + np.log(units).sum(), plain.score(X), rtol=1e-8)


def test_samples_have_the_mean_and_covariance_of_the_model():
    X = planted(2000, 5, 2)
    drawn = ProbabilisticPCA(2).fit(X).sample(50_000, random_state=0)
    np.testing.assert_allclose(drawn.mean(axis=0), X.mean(axis=0), atol=0.05)
    np.testing.assert_allclose(np.cov(drawn.T), np.cov(X.T), atol=0.1)


def test_gaps_give_the_same_bytes_with_one_and_two_threads():
    """Bytes may be compared: fixed tiles, each on one BLAS thread, are added in the order of the tiles."""
    X = with_gaps(planted(900, 15, 4), 0.3)
    results = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            model = ProbabilisticPCA(n_jobs=threads).fit(X)
            results.append((model.embedding_.tobytes(), model.impute(X).tobytes(), model.score_samples(X).tobytes()))
    assert results[0] == results[1]


def test_rows_with_gaps_one_by_one_equal_batch():
    X = with_gaps(planted(), 0.3)
    model = ProbabilisticPCA(3).fit(X)
    for call in (model.transform, model.impute, model.score_samples, model.denoise):
        together, alone = call(X[:20]), np.concatenate([call(X[i : i + 1]) for i in range(20)])
        np.testing.assert_allclose(alone, together, rtol=1e-12, atol=1e-12 * np.abs(together).max())


@pytest.mark.parametrize("factor", [1e150, 1e-150])
def test_gaps_are_filled_at_any_scale(factor):
    X = with_gaps(planted(), 0.3) / 10  # of size 1: numbers from 1e151 on are refused
    plain, scaled = (ProbabilisticPCA().fit(rows) for rows in (X, X * factor))
    np.testing.assert_allclose(scaled.impute(X * factor) / factor, plain.impute(X), rtol=1e-6)
    assert np.isfinite(scaled.score_samples(X * factor)).all()


def test_a_plane_without_noise_is_recovered():
    X = planted(200, 8, 2, noise=0.0)
    gaps = with_gaps(X, 0.3)
    model = ProbabilisticPCA(2, tol=1e-9, max_iter=2000).fit(gaps)
    assert np.abs(model.impute(gaps) - X).max() < 1e-3
    assert np.isfinite(model.score_samples(gaps)).all()


def test_cross_validation_chooses_the_planted_dimensions_by_likelihood():
    search = GridSearchCV(ProbabilisticPCA(), {"n_components": [1, 3, 8]}, cv=3).fit(planted())
    assert search.best_params_ == {"n_components": 3}


def test_progress_is_drawn_and_a_callback_stops(capsys):
    X = with_gaps(planted(), 0.3)
    ProbabilisticPCA(verbose=1).fit(X)
    assert "converged" in capsys.readouterr().err.splitlines()[-1]
    model = ProbabilisticPCA(callback=lambda state: state.iteration == 5, tol=1e-12).fit(X)
    assert model.n_iter_ == 5
    assert model.transform(X).shape == (300, model.n_components_)


def test_ctrl_c_keeps_what_there_is_and_is_raised_again():
    def interrupt(state):
        if state.iteration == 3:
            raise KeyboardInterrupt

    model = ProbabilisticPCA(callback=interrupt, tol=1e-12)
    with pytest.raises(KeyboardInterrupt):
        model.fit(with_gaps(planted(), 0.3))
    assert np.isfinite(model.impute(with_gaps(planted(), 0.3))).all()


def test_running_out_of_iterations_is_warned_of():
    with pytest.warns(ConvergenceWarning, match=r"max_iter=2 did not let EM converge: it ran out of iterations"):
        ProbabilisticPCA(3, max_iter=2, tol=1e-12).fit(with_gaps(planted(), 0.3))


def test_a_column_of_which_nothing_is_known_is_refused():
    X = blobs()
    X[:, 3] = np.nan
    with pytest.raises(ValueError, match="ProbabilisticPCA: X=column 3 has no observed entry in any row"):
        ProbabilisticPCA().fit(X)


def test_a_row_of_which_nothing_is_known_is_warned_of_and_changes_nothing():
    X = blobs()
    empty = np.vstack([X, np.full(5, np.nan)])
    with pytest.warns(UserWarning, match="ProbabilisticPCA: X=1 row has no observed entry"):
        model = ProbabilisticPCA(2, tol=1e-9).fit(empty)
    np.testing.assert_array_equal(model.embedding_[-1], 0.0)
    np.testing.assert_allclose(model.impute(empty)[-1], model.mean_)
    biased = 89 / 90
    exact = ProbabilisticPCA(2).fit(X)
    np.testing.assert_allclose(model.noise_variance_, exact.noise_variance_ * biased, rtol=1e-4)


def test_a_stream_with_gaps_or_too_many_columns_is_refused_with_a_way_out(monkeypatch):
    with pytest.raises(ValueError, match="NaN"):
        ProbabilisticPCA().partial_fit(with_gaps(planted(), 0.1))
    monkeypatch.setattr("sidelight.mixtures.probabilistic_pca.LARGEST", 4)
    with pytest.raises(ValueError, match=r"X=5 columns has more than .* Use fit_batches\."):
        ProbabilisticPCA().partial_fit(blobs())


@pytest.mark.parametrize(
    ("name", "value"),
    [("n_components", 0), ("n_components", "all"), ("n_components", 1.5), ("max_iter", 0), ("tol", 0.0)],
)
def test_a_bad_parameter_is_named_with_its_value(name, value):
    with pytest.raises(ValueError, match=rf"^ProbabilisticPCA: {name}=.* is not .*\. Give .*\.$"):
        ProbabilisticPCA(**{name: value}).fit(blobs())


def test_cost_grows_and_is_refused_where_it_does_not_fit(monkeypatch):
    small, large = (ProbabilisticPCA().estimate_cost(n, 100) for n in (1000, 1_000_000))
    assert large.bytes > small.bytes
    assert large.seconds > small.seconds
    monkeypatch.setattr(sidelight.base.cost, "available_memory", lambda: 1000)
    with pytest.raises(MemoryError, match="X=90 rows needs about"):
        ProbabilisticPCA().fit(blobs())


def test_means_and_variances_of_missing_entries_together_are_those_asked_for_one_by_one():
    for X in (with_gaps(planted(60, 6, 2), 0.2), with_gaps(planted(300, 6, 2), 0.2)):
        model = ProbabilisticPCA(2).fit(X)
        mean, variance = model._maps().missing_entries(X, 1)
        np.testing.assert_allclose(mean, model.impute(X), rtol=1e-9)
        np.testing.assert_allclose(variance, model.impute_variance(X), rtol=1e-9)


@pytest.mark.parametrize(("n", "d"), [(60, 8), (20, 50)])
def test_a_plane_fitted_anew_to_other_complete_rows_is_that_of_these_rows_alone(n, d):
    X = planted(n, d, 2)
    maps, others = ProbabilisticPCA(2).fit(X)._maps(), X[: n // 2]
    again = replace(maps, model=refitted_plane(maps.model, maps.inside(others)))
    wanted = ProbabilisticPCA(2).fit(others).score_samples(X)
    np.testing.assert_allclose(again.log_density(X, 1), wanted, rtol=1e-6)

from __future__ import annotations

import warnings
from dataclasses import replace
from itertools import islice

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine, make_low_rank_matrix
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.utils.estimator_checks import estimator_checks_generator

import sidelight
from sidelight import KernelInformationEmbedding
from sidelight.maps.missing import LocalFill, _first_round, _rounds, common_distances, fill_cost, fit_fill


def curve(n=150, d=12, noise=0.02, seed=0):
    """A closed curve in d dimensions: one degree of freedom, seen many times."""
    rng = np.random.default_rng(seed)
    t = rng.uniform(0, 2 * np.pi, n)
    harmonics = np.column_stack([np.cos(t), np.sin(t), np.cos(2 * t), np.sin(2 * t)])
    loadings = np.random.default_rng(99).normal(size=(4, d))
    return harmonics @ loadings + noise * rng.normal(size=(n, d))


def removed(X, share=0.3, seed=1):
    missing = np.random.default_rng(seed).random(X.shape) < share
    missing[missing.all(axis=1), 0] = False
    return missing, np.where(missing, np.nan, X)


def error(found, X, missing):
    return float(np.sqrt(((found - X)[missing] ** 2).mean()))


@pytest.fixture(scope="module")
def fitted():
    X = curve()
    missing, gaps = removed(X)
    return X, missing, gaps, KernelInformationEmbedding(missing="impute").fit(gaps)


def test_distances_are_means_over_commonly_observed_entries():
    X = curve(20)
    missing, _ = removed(X)
    rows = np.where(missing, 0.0, X)
    index, D2 = common_distances(rows, ~missing, rows, ~missing, None, own=True)
    both = (~missing)[:, None] & (~missing)[None]
    squares = np.where(both, (X[:, None] - X[None]) ** 2, 0.0).sum(axis=2)
    typical = 2 * (rows**2).sum() / (~missing).sum()
    expected = (squares + typical) / (both.sum(axis=2) + 1)
    np.fill_diagonal(expected, np.inf)
    assert (index != np.arange(20)[:, None]).all()
    np.testing.assert_allclose(D2, np.sort(expected, axis=1)[:, :19], rtol=1e-9)


def test_rows_without_common_entries_are_at_the_typical_distance():
    rows = np.array([[3.0, 0.0], [2.0, 0.0], [0.0, 1.0]])
    observed = np.array([[True, False], [True, False], [False, True]])
    index, D2 = common_distances(rows, observed, rows, observed, None, own=True)
    typical = 2 * (9 + 4 + 1) / 3
    assert index.tolist() == [[1, 2], [0, 2], [0, 1]]
    np.testing.assert_allclose(D2, [[(1 + typical) / 2, typical], [(1 + typical) / 2, typical], [typical, typical]])


def test_rank_zero_is_the_weighted_mean_of_those_that_have_the_entry():
    X = curve(30)
    missing, _ = removed(X)
    rows = np.where(missing, 5.0, X)
    index = np.tile(np.arange(20), (30, 1))
    fill = LocalFill(rows, ~missing, 1e9, 0)
    found, _ = fill.predict(rows, ~missing, (index, np.ones((30, 20))), None)
    votes = (~missing[:20]).sum(axis=0)
    expected = np.where(missing[:20], 0.0, X[:20]).sum(axis=0) / votes
    np.testing.assert_allclose(found, np.tile(expected, (30, 1)), rtol=5e-3)


def test_a_plane_is_filled_exactly_up_to_the_ridge():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2)) @ rng.normal(size=(2, 8))
    missing, gaps = removed(X, 0.2)
    assert error(fit_fill(gaps)(gaps), X, missing) < 0.1 * X.std()


def test_a_bent_sheet_is_filled_better_than_by_neighbours_and_means(fitted):
    X, missing, gaps, model = fitted
    ours = error(model.filled_, X, missing)
    assert ours < 0.5 * error(KNNImputer(weights="distance").fit_transform(gaps), X, missing)
    assert ours < 0.2 * error(SimpleImputer().fit_transform(gaps), X, missing)


def test_observed_entries_stay_and_the_filled_rows_are_what_was_embedded(fitted):
    X, missing, _, model = fitted
    np.testing.assert_array_equal(model.filled_[~missing], X[~missing])
    np.testing.assert_array_equal(model.embedding_, KernelInformationEmbedding().fit(model.filled_).embedding_)


def test_new_rows_are_filled_each_by_itself_and_nearly_as_well(fitted):
    _, _, _, model = fitted
    X = curve(250, seed=5)
    missing, gaps = removed(X, seed=2)
    found = model.impute(gaps)
    assert error(found, X, missing) < 0.15 * X.std()
    one_by_one = np.concatenate([model.impute(row[None]) for row in gaps[:30]])
    np.testing.assert_allclose(one_by_one, found[:30], rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(found[~missing], X[~missing])


def test_every_method_that_takes_rows_takes_gaps(fitted):
    _, _, gaps, model = fitted
    filled = model.impute(gaps)
    for name in ("transform", "denoise", "score_samples", "transform_mode", "score"):
        np.testing.assert_array_equal(getattr(model, name)(gaps), getattr(model, name)(filled), err_msg=name)


def test_the_variance_is_that_of_the_errors(fitted):
    _, _, _, model = fitted
    X = curve(300, seed=6)
    missing, gaps = removed(X, seed=3)
    variance = model.impute_variance(gaps)
    assert (variance[~missing] == 0).all()
    residual = (model.impute(gaps) - X)[missing]
    inside = np.abs(residual) <= 2 * np.sqrt(variance[missing])
    assert 0.9 < inside.mean() <= 1.0
    assert 0.1 < (residual**2).mean() / variance[missing].mean() < 3.0


def test_the_setting_follows_the_data():
    line = curve(150, noise=0.02)
    clouds = np.repeat(np.random.default_rng(0).normal(size=(6, 12)), 25, axis=0)
    clouds += 0.1 * np.random.default_rng(1).normal(size=clouds.shape)
    assert fit_fill(removed(line)[1]).rank > 0
    assert fit_fill(removed(clouds)[1]).rank == 0


def test_rows_without_gaps_are_left_alone_but_new_ones_may_have_them():
    X = curve(60)
    model = KernelInformationEmbedding(missing="impute").fit(X)
    np.testing.assert_array_equal(model.filled_, X)
    assert np.isfinite(model.transform(removed(X)[1])).all()


def test_units_do_not_matter():
    gaps = removed(curve(80))[1]
    near, far = fit_fill(gaps), fit_fill(1e9 + 1e6 * gaps)
    assert (near.perplexity, near.rank) == (far.perplexity, far.rank)
    np.testing.assert_allclose((far(1e9 + 1e6 * gaps) - 1e9) / 1e6, near(gaps), atol=1e-4)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_number_of_threads_changes_no_bit(n_jobs):
    gaps = removed(curve(80))[1]
    found, first = fit_fill(gaps, n_jobs), fit_fill(gaps, 1)
    np.testing.assert_array_equal(found.rows, first.rows)
    np.testing.assert_array_equal(found(gaps, n_jobs), first(gaps, 1))


def test_float32_stays_float32():
    gaps = removed(curve(60))[1].astype(np.float32)
    model = KernelInformationEmbedding(missing="impute").fit(gaps)
    assert model.filled_.dtype == model.impute(gaps).dtype == model.transform(gaps).dtype == np.float32


def test_a_saved_model_fills_alike(fitted, tmp_path):
    _, _, gaps, model = fitted
    sidelight.save(model, tmp_path / "model.sidelight")
    loaded = sidelight.load(tmp_path / "model.sidelight")
    np.testing.assert_array_equal(loaded.impute(gaps), model.impute(gaps))
    np.testing.assert_array_equal(loaded.impute_variance(gaps), model.impute_variance(gaps))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X: X.__setitem__((3, slice(None)), np.nan), "X=row 3 has no observed entry"),
        (lambda X: X.__setitem__((slice(None), 2), np.nan), "X=column 2 has no observed entry"),
        (lambda X: X.__setitem__((0, 0), np.inf), "infinity"),
    ],
    ids=["row", "column", "infinity"],
)
def test_what_cannot_be_filled_is_refused_with_a_sentence(change, message):
    X = curve(40)
    change(X)
    with pytest.raises(ValueError, match=message):
        KernelInformationEmbedding(missing="impute").fit(X)


def test_by_default_gaps_are_refused_with_a_way_out():
    gaps = removed(curve(40))[1]
    with pytest.raises(ValueError, match=r'X=NaN has missing entries\. Set missing="expected"'):
        KernelInformationEmbedding().fit(gaps)
    model = KernelInformationEmbedding().fit(curve(40))
    with pytest.raises(ValueError, match="NaN"):
        model.transform(gaps)
    assert not hasattr(model, "impute")


def test_distances_cannot_be_imputed():
    with pytest.raises(ValueError, match="missing=impute needs rows"):
        KernelInformationEmbedding(metric="precomputed", missing="impute").fit(np.ones((5, 5)) - np.eye(5))


@pytest.mark.parametrize(
    "X",
    [
        np.ones((20, 3)),
        np.repeat(curve(5, 4), 6, axis=0),
        curve(3),
        curve(12, 2),
        make_low_rank_matrix(15, 80, random_state=0),
        curve(40) * 1e150,
        curve(40) * 1e-150,
    ],
    ids=["constant", "duplicates", "three rows", "two columns", "wide", "huge", "tiny"],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_odd_data_with_gaps_gets_a_finite_answer(X):
    gaps = X.astype(float).copy()
    gaps[1, 0] = gaps[2, 1] = np.nan
    model = KernelInformationEmbedding(missing="impute").fit(gaps)
    assert np.isfinite(model.filled_).all()
    assert np.isfinite(model.embedding_).all()
    assert np.isfinite(model.impute_variance(gaps)).all()
    assert np.abs(model.filled_).max() <= 3 * np.nanmax(np.abs(X))


def test_the_tags_say_whether_gaps_are_allowed():
    assert KernelInformationEmbedding(missing="impute").__sklearn_tags__().input_tags.allow_nan
    assert not KernelInformationEmbedding().__sklearn_tags__().input_tags.allow_nan


CHECKS = [
    "check_estimators_dtypes",
    "check_estimators_pickle",
    "check_fit2d_1sample",
    "check_methods_subset_invariance",
    "check_f_contiguous_array_estimator",
]


@pytest.mark.parametrize("name", CHECKS)
def test_the_model_that_imputes_passes_the_checks_that_touch_its_rows(name):
    model = KernelInformationEmbedding(missing="impute", regularization=1.0)
    found = [check for _, check in estimator_checks_generator(model) if name in str(check)]
    assert found
    for check in found:
        check(clone(model))


@pytest.mark.thorough
def test_rounds_end_where_held_out_entries_are_predicted_best():
    X = load_wine().data
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    chosen, every = 0.0, 0.0
    for seed in (3, 4):
        missing, gaps = removed(X, seed=seed)
        fill = fit_fill(gaps)
        start = np.where(missing, 0.0, (gaps - fill.centre) / fill.scale)
        found = _first_round(start, ~missing, None)
        *_, (found, _) = islice(_rounds(start, ~missing, fill, found, None), 7)
        chosen += error(fill.rows * fill.scale + fill.centre, X, missing)
        every += error(found * fill.scale + fill.centre, X, missing)
    assert chosen < 0.97 * every


def test_complete_rows_are_not_predicted(monkeypatch):
    X = load_wine().data
    missing, gaps = removed(X, share=0.02)
    fill = fit_fill(gaps)
    sizes = []
    monkeypatch.setattr(
        LocalFill, "predict", lambda self, Q, *rest: sizes.append(len(Q)) or (np.zeros_like(Q), np.zeros_like(Q))
    )
    fill(gaps)
    fill(X)
    assert set(sizes) == {int(missing.any(axis=1).sum())}


def test_new_rows_of_a_frame_with_gaps_do_not_warn_of_feature_names():
    _, gaps = removed(curve(60, 5))
    frame = pd.DataFrame(gaps, columns=list("abcde"))
    model = KernelInformationEmbedding(missing="impute", max_iter=5).set_output(transform="pandas")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(frame)
    assert np.isfinite(model.transform(frame.iloc[:10]).to_numpy()).all()


@pytest.mark.parametrize("calibrated", [False, True])
def test_the_cost_grows_with_rows_and_columns_and_is_part_of_the_estimate(calibrated):
    small, large = fill_cost(100, 10, calibrated=calibrated), fill_cost(10_000, 10, calibrated=calibrated)
    assert small.seconds < large.seconds < fill_cost(10_000, 50, calibrated=calibrated).seconds
    missing = "expected" if calibrated else "impute"
    plain, filled = (KernelInformationEmbedding(missing=way).estimate_cost(400, 30) for way in ("refuse", missing))
    assert filled.seconds == pytest.approx(plain.seconds + fill_cost(400, 30, calibrated=calibrated).seconds)


def test_settings_of_an_earlier_fit_are_taken_as_they_are():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2)) @ rng.normal(size=(2, 6)) + 0.1 * rng.normal(size=(120, 6))
    gaps = np.where(rng.random(X.shape) < 0.2, np.nan, X)
    chosen = fit_fill(gaps, 1)
    again = fit_fill(gaps, 1, chosen)
    np.testing.assert_array_equal(again(gaps), chosen(gaps))
    other = fit_fill(gaps, 1, replace(chosen, perplexity=5.0, rank=0))
    assert (other.perplexity, other.rank) == (5.0, 0)
    assert not np.array_equal(other(gaps), chosen(gaps))

"""missing="expected": the kernel of a fit is the expected one, given the observed entries of each row."""

from __future__ import annotations

import numpy as np
import pytest

import sidelight
from sidelight import KernelInformationEmbedding
from sidelight.datasets import s_curve


def rows(n=150, share=0.2):
    X = s_curve(n, random_state=0).X
    X = np.column_stack([X, X @ np.random.default_rng(1).normal(size=(3, 4))])
    gone = np.random.default_rng(0).random(X.shape) < share
    gone[gone.all(axis=1)] = False
    return X, np.where(gone, np.nan, X)


@pytest.mark.parametrize("solver", ["annealed", "multilevel"])
def test_without_gaps_the_fit_is_that_of_refuse_to_the_bit(solver):
    X, _ = rows()
    how = {"solver": solver, "max_iter": 10, "tol": 1e-3}
    expected = KernelInformationEmbedding(missing="expected", **how).fit(X)
    np.testing.assert_array_equal(expected.embedding_, KernelInformationEmbedding(**how).fit(X).embedding_)


@pytest.mark.parametrize("solver", ["annealed", "multilevel"])
def test_variances_change_the_map_and_new_rows_with_gaps_are_embedded_one_by_one(solver, tmp_path):
    X, gaps = rows()
    how = {"solver": solver, "max_iter": 10, "tol": 1e-3}
    model = KernelInformationEmbedding(missing="expected", **how).fit(gaps)
    by_mean = KernelInformationEmbedding(**how).fit(model.filled_)
    assert np.abs(model.embedding_ - by_mean.embedding_).max() > 1e-3
    np.testing.assert_array_equal(model.filled_[~np.isnan(gaps)], X[~np.isnan(gaps)])
    np.testing.assert_allclose(model.transform(gaps), model.embedding_, atol=1e-9)
    alone = np.concatenate([model.transform(gaps[i : i + 1]) for i in range(9)])
    np.testing.assert_allclose(alone, model.transform(gaps[:9]), rtol=1e-9, atol=1e-9)
    sidelight.save(model, tmp_path / "model.sidelight")
    loaded = sidelight.load(tmp_path / "model.sidelight")
    np.testing.assert_array_equal(loaded.transform(gaps), model.transform(gaps))
    np.testing.assert_array_equal(loaded.impute_variance(gaps), model.impute_variance(gaps))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("given", ["category", pytest.param("number", marks=pytest.mark.thorough)])
@pytest.mark.parametrize(
    "how",
    [
        {},
        {"solver": "multilevel"},
        {"conditioning": "product"},
        pytest.param({"bandwidth": "loo"}, marks=pytest.mark.thorough),
        pytest.param({"bandwidth": 1.0}, marks=pytest.mark.thorough),
    ],
    ids=["balanced", "multilevel", "product", "residual", "residual of a number"],
)
@pytest.mark.thorough
def test_variances_change_the_map_under_given(how, given):
    X, gaps = rows(90, share=0.4)
    side = np.array(list("ab"))[np.arange(90) % 2] if given == "category" else X[:, 0]
    X, gaps = X + 3.0 * (np.arange(90) % 2)[:, None], gaps + 3.0 * (np.arange(90) % 2)[:, None]
    how = {"max_iter": 10, "tol": 1e-3, **how}
    model = KernelInformationEmbedding(missing="expected", **how).fit(gaps, given=side)
    by_mean = KernelInformationEmbedding(**how).fit(model.filled_, given=side)
    assert np.abs(model.embedding_ - by_mean.embedding_).max() > 1e-3
    np.testing.assert_allclose(model.transform(gaps, given=side), model.embedding_, atol=1e-8)
    assert np.isfinite(model.counterfactual(gaps, given=side)).all()


@pytest.mark.parametrize("conditioning", ["balanced", "product"])
def test_without_gaps_the_informed_fit_is_that_of_refuse_to_the_bit(conditioning):
    X, _ = rows(90)
    side, how = np.arange(90) % 3, {"conditioning": conditioning, "max_iter": 5, "tol": 1e-2}
    expected = KernelInformationEmbedding(missing="expected", **how).fit(X, given=side)
    np.testing.assert_array_equal(expected.embedding_, KernelInformationEmbedding(**how).fit(X, given=side).embedding_)


def test_hints_and_missing_given_go_with_gaps():
    _, gaps = rows(90)
    side = (np.arange(90) % 2).astype(float)
    side[:5] = np.nan
    pairs = sidelight.Pairs(np.array([[10, 11], [20, 21]]), 90)
    model = KernelInformationEmbedding(missing="expected", max_iter=5, tol=1e-2).fit(gaps, given=side, same=pairs)
    assert np.isfinite(model.embedding_).all()
    np.testing.assert_allclose(model.transform(gaps, given=side), model.embedding_, atol=1e-8)


@pytest.mark.parametrize(
    ("how", "rule"),
    [
        ({"metric": "cosine"}, "no closed form for metric='cosine'"),
        ({"metric": "precomputed"}, "needs rows"),
        ({"bandwidth": "learned"}, "does not go with bandwidth='learned'"),
        ({"bandwidth": 1.0, "kernel": "student"}, "needs a Gaussian kernel"),
        ({"bandwidth": 1.0, "kernel": sidelight.KernelOptions(storage="sparse")}, "needs a dense kernel"),
    ],
)
def test_kernels_without_a_closed_form_are_refused_with_the_way_out(how, rule):
    with pytest.raises(ValueError, match=f"missing=expected {rule}|missing=expected has {rule}"):
        KernelInformationEmbedding(missing="expected", **how).fit(rows()[1])


@pytest.mark.thorough
def test_columns_that_are_not_known_count_less_when_a_new_row_is_placed():
    """Weights by the expected kernel: between a map of the means, and one that ignores what is missing."""
    _, gaps = rows(150, share=0.3)
    model = KernelInformationEmbedding(missing="expected", max_iter=10, tol=1e-3).fit(gaps)
    new = s_curve(60, random_state=5).X
    new = np.column_stack([new, new @ np.random.default_rng(1).normal(size=(3, 4))])
    new[::2, 2:] = np.nan
    placed = model.transform(new)
    of_means = model.transform(model.impute(new))
    assert np.abs(placed - of_means)[::2].max() > 1e-3
    np.testing.assert_array_equal(placed[1::2], of_means[1::2])  # complete rows
    np.testing.assert_array_equal(placed, model.set_params(n_jobs=2).transform(new))
    alone = np.concatenate([model.transform(new[i : i + 1]) for i in range(6)])
    np.testing.assert_allclose(alone, placed[:6], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(model.inverse_transform(placed), model.denoise(new), atol=1e-8)

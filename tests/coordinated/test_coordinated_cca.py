"""CoordinatedCCA: what views share, rows that a view has not seen, and the way from one view to another."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr
from sklearn.mixture import GaussianMixture

import sidelight
from sidelight import CoordinatedCCA, CoordinatedMixture


def two_curves(n=600, seed=0, noise=0.05):
    """S2 fig. 3: the same parameter along an S and along an arc of a circle."""
    rng = np.random.default_rng(seed)
    t = rng.uniform(size=n)
    a, b = 3 * np.pi * (t - 0.5), 1.5 * np.pi * t
    X = np.column_stack([np.sin(a), np.sign(a) * (np.cos(a) - 1)])
    Y = np.column_stack([np.cos(b), np.sin(b)])
    return X + noise * rng.normal(size=X.shape), Y + noise * rng.normal(size=Y.shape), t


def order(Z, t):
    return abs(spearmanr(Z[:, 0], t)[0])


@pytest.fixture(scope="module")
def curves():
    return two_curves()


@pytest.fixture(scope="module")
def model(curves):
    X, Y, _ = curves
    return CoordinatedCCA(1, n_charts=10, random_state=0).fit(X, Y)


@pytest.mark.thorough
def test_two_views_give_the_parameter_they_share():
    X, Y, t = two_curves(300, seed=2)
    found = CoordinatedCCA(1, random_state=0).fit(X, Y)
    assert order(found.embedding_, t) > 0.98
    assert order(found.transform(X), t) > 0.98
    assert order(found.transform_view(Y, 1), t) > 0.98


def test_each_view_lands_where_the_other_does(model, curves):
    X, Y, _ = curves
    assert np.abs(model.transform(X) - model.transform_view(Y, 1)).mean() < 0.1
    np.testing.assert_array_equal(model.transform_view(X, 0), model.transform(X))


def test_one_view_predicts_the_other(model):
    X, Y, _ = two_curves(seed=1)
    assert model.score(X, Y) > 0.97
    assert model.predict(X).shape == Y.shape
    np.testing.assert_array_equal(model.predict(X), model.predict_view(X, 1))


def test_the_way_back_goes_to_each_view(model, curves):
    X, Y, _ = curves
    Z = model.embedding_
    assert np.abs(model.inverse_transform(Z) - X).mean() < 0.1
    assert np.abs(model.inverse_transform_view(Z, 1) - Y).mean() < 0.1


def test_rows_that_a_view_has_not_seen_are_fitted_by_the_other(curves):
    X, Y, t = (part.copy() for part in curves)
    X[:200], Y[400:] = np.nan, np.nan
    found = CoordinatedCCA(1, n_charts=8, random_state=0).fit(X, Y)
    assert order(found.embedding_, t) > 0.98
    np.testing.assert_array_equal(found.embedding_[:200], found.transform_view(Y[:200], 1))
    np.testing.assert_array_equal(found.embedding_[200:], found.transform(X[200:]))
    both = 0.5 * (found.transform(X[200:400]) + found.transform_view(Y[200:400], 1))
    np.testing.assert_allclose(found.joint_embedding_[200:400], both, atol=1e-12)
    np.testing.assert_array_equal(found.joint_embedding_[400:], found.embedding_[400:])


def three_views(n=500):
    X, Y, t = two_curves(n)
    return np.column_stack([X, t + 0.01 * np.random.default_rng(9).normal(size=n), t**2, Y]), t


VIEWS = [slice(0, 2), [4, 5], [2, 3]]


@pytest.mark.thorough
def test_three_views_by_their_columns_and_any_of_them_missing():
    X, t = three_views()
    holes = X.copy()
    for view, rows in zip(VIEWS, (slice(0, 60), slice(60, 120), slice(100, 160)), strict=True):
        holes[rows, view] = np.nan
    found = CoordinatedCCA(1, views=VIEWS, n_charts=6, random_state=0).fit(holes)
    assert order(found.transform(holes), t) > 0.98
    np.testing.assert_allclose(found.transform(holes), found.embedding_, atol=1e-12)
    filled = found.denoise(holes)
    assert np.abs(filled[:60, :2] - X[:60, :2]).mean() < 0.15
    assert not hasattr(found, "predict")
    assert np.isfinite(found.score_samples(holes)).all()
    assert found.score(holes) > 0.9
    assert found.sample(7, random_state=0).shape == (7, 6)


@pytest.mark.thorough
def test_batches_give_the_map_of_all_rows_with_views_missing():
    X, _ = three_views(300)
    X[:150, 4:] = np.nan  # a whole batch without the view
    options = {"views": VIEWS, "n_charts": 4, "random_state": 0}
    whole = CoordinatedCCA(1, **options).fit(X)
    parts = CoordinatedCCA(1, **options).fit_batches([X[:100], X[100:]])
    Z, other = whole.embedding_, parts.transform(X)
    np.testing.assert_allclose(other * np.sign((other * Z).sum()), Z, atol=1e-8)


@pytest.mark.thorough
def test_one_view_alone_is_a_coordinated_mixture(curves):
    X = curves[0]
    alone = CoordinatedCCA(1, n_charts=6, random_state=0).fit(X)
    mixture = CoordinatedMixture(1, n_charts=6, random_state=0).fit(X)
    np.testing.assert_array_equal(alone.embedding_, mixture.embedding_)


def test_views_by_name_and_a_mixture_for_each(curves):
    X, Y, t = curves
    frame = pd.DataFrame(np.column_stack([X, Y]), columns=list("abcd"))
    mixtures = [GaussianMixture(8, random_state=0), None]
    found = CoordinatedCCA(1, views=[["a", "b"], ["c", "d"]], mixture=mixtures, n_charts=8).fit(frame)
    assert order(found.embedding_, t) > 0.98


@pytest.mark.thorough
def test_one_column_as_second_view_comes_back_flat(curves):
    X, _, t = curves
    found = CoordinatedCCA(1, n_charts=8, random_state=0).fit(X, t)
    assert found.predict(X).shape == t.shape
    assert found.inverse_transform_view(found.embedding_, 1).shape == t.shape
    assert found.score(X, t) > 0.9


def test_a_saved_model_with_slices_as_views_is_the_same(tmp_path):
    X, _ = three_views(200)
    found = CoordinatedCCA(1, views=VIEWS, n_charts=3, random_state=0).fit(X)
    sidelight.save(found, tmp_path / "model")
    loaded = sidelight.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.transform(X), found.transform(X))
    assert loaded.views == [[0, 1], [4, 5], [2, 3]]


def test_what_views_cannot_be_is_said(curves):
    X, Y, _ = curves
    with pytest.raises(ValueError, match=r"^CoordinatedCCA: views=column 1 is in no view\. Put every column"):
        CoordinatedCCA(views=[[0]]).fit(X)
    with pytest.raises(ValueError, match=r"^CoordinatedCCA: views=column 0 is in two views\."):
        CoordinatedCCA(views=[[0], [0, 1]]).fit(X)
    with pytest.raises(ValueError, match=r"^CoordinatedCCA: views=\['z'\] selects none of the 2 columns"):
        CoordinatedCCA(views=[["z"], [0, 1]]).fit(X)
    with pytest.raises(ValueError, match=r"^CoordinatedCCA: y=array of 3 rows does not match the 600 rows of X"):
        CoordinatedCCA().fit(X, Y[:3])
    with pytest.raises(ValueError, match=r"^CoordinatedCCA: mixture=1 mixtures does not match the 2 views"):
        CoordinatedCCA(mixture=[None]).fit(X, Y)


def test_rows_that_cannot_be_placed_are_said(model, curves):
    X, Y, _ = (part.copy() for part in curves)
    X[3], Y[3] = np.nan, np.nan
    with pytest.raises(ValueError, match=r"^CoordinatedCCA: X=row 3 is NaN in every view"):
        CoordinatedCCA().fit(X, Y)
    X[3, 0] = 1.0
    with pytest.raises(ValueError, match=r"^CoordinatedCCA: view 0=row 3 has NaN beside numbers"):
        CoordinatedCCA().fit(X, Y)
    with pytest.raises(ValueError, match=r"^CoordinatedCCA: views=view 1 was seen in fewer than two rows"):
        CoordinatedCCA().fit(curves[0], np.full((600, 2), np.nan))
    with pytest.raises(ValueError, match=r"^CoordinatedCCA: view=2 is not a view of this model\. Give a number from 0"):
        model.transform_view(Y, 2)
    with pytest.raises(ValueError, match=r"^CoordinatedCCA: V=1 column does not match the 2 of view 1"):
        model.transform_view(np.zeros(4), 1)

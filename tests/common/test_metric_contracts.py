"""The contracts of DESIGN for transformers that learn a metric: told nothing, labels, pairs or distances."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from registry import DEFAULT_METRICS, METRICS, blobs
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from test_bad_input import ODD, REFUSED
from threadpoolctl import threadpool_limits

import sidelight
from sidelight import DistanceMetric, EquivalenceMetric, MultiAttributeMetric, Pairs

every = pytest.mark.parametrize("make", METRICS.values(), ids=METRICS.keys())
each = pytest.mark.parametrize("make", DEFAULT_METRICS.values(), ids=DEFAULT_METRICS.keys())


def hints(model, n=90, seed=3):
    """Something to tell a model about n rows."""
    index = np.random.default_rng(seed).permutation(n)[: n // 2 * 2].reshape(-1, 2)
    if isinstance(model, DistanceMetric):
        return {"pairs": Pairs(index, n, values=1.0 + np.arange(len(index)) % 5)}
    same = Pairs(index[: max(len(index) - 3, 1)], n)
    if isinstance(model, MultiAttributeMetric):
        return {"same": {"first": same, "second": Pairs(index[:1], n)}}
    return {"same": same, "different": Pairs(index[max(len(index) - 3, 1) :], n)}


def fitted(make, X):
    model = make()
    return model.fit(X, **hints(model, len(X)))


@parametrize_with_checks([make() for make in DEFAULT_METRICS.values()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.thorough
@parametrize_with_checks([make() for name, make in METRICS.items() if name not in DEFAULT_METRICS])
def test_scikit_learn_checks_of_further_variants(estimator, check):
    check(estimator)


@every
def test_transform_one_by_one_equals_batch(make):
    model, new = fitted(make, blobs(d=12)), blobs(d=12, seed=1)[:20]
    together = model.transform(new)
    alone = np.concatenate([model.transform(new[i : i + 1]) for i in range(len(new))])
    np.testing.assert_allclose(alone, together, rtol=1e-12, atol=1e-12 * np.abs(together).max())


@every
def test_float32_in_float32_out(make):
    X = blobs().astype(np.float32)
    model = fitted(make, X)
    together = model.transform(X[:9])
    assert together.dtype == np.float32
    alone = np.concatenate([model.transform(X[i : i + 1]) for i in range(9)])
    np.testing.assert_allclose(alone, together, rtol=1e-5, atol=1e-6 * np.abs(together).max())


@every
def test_the_same_bytes_with_one_and_two_threads(make):
    """Bytes may be compared: fixed tiles, each on one BLAS thread, are added in the order of the tiles."""
    X, results = blobs(n=250, d=20), []
    for threads in (1, 2):
        with threadpool_limits(threads):
            results.append(fitted(make, X).transform(X).tobytes())
    assert results[0] == results[1]


@every
def test_save_and_load_give_the_same_bits(make, tmp_path):
    X = blobs()
    model = fitted(make, X)
    sidelight.save(model, tmp_path / "model")
    loaded = sidelight.load(tmp_path / "model")
    assert loaded.get_params() == model.get_params()
    np.testing.assert_array_equal(loaded.transform(X), model.transform(X))
    pairs = Pairs([[0, 1], [5, 8]], 90)
    np.testing.assert_array_equal(loaded.pair_distance(X, pairs), model.pair_distance(X, pairs))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).transform(X), model.transform(X))


@every
def test_distances_are_the_straight_ones_after_transform(make):
    X = blobs()
    model = fitted(make, X)
    Z, pairs = model.transform(X), np.array([[0, 7], [3, 40], [80, 2]])
    expected = np.linalg.norm(Z[pairs[:, 0]] - Z[pairs[:, 1]], axis=1)
    for found in (
        model.pair_distance(X, pairs=pairs),
        model.pair_distance(X, Pairs(pairs, 90)),
        model.pair_distance(X[pairs[:, 0]], X[pairs[:, 1]]),
        [model.metric()(X[i], X[j]) for i, j in pairs],
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-9)


@each
def test_the_matrix_is_that_of_the_components(make):
    X = blobs()
    model = fitted(make, X)
    A, difference = model.mahalanobis_, X[3] - X[60]
    np.testing.assert_allclose(A, model.components_.T @ model.components_)
    assert np.sqrt(difference @ A @ difference) == pytest.approx(model.pair_distance(X, pairs=[[3, 60]])[0])


@each
def test_the_matrix_is_refused_where_it_is_large_and_absent_with_a_kernel(make):
    X = np.random.default_rng(0).normal(size=(6, 5001))
    with pytest.raises(ValueError, match=r"mahalanobis_=5001 columns makes a matrix of 5001 x 5001 numbers\. Use"):
        _ = make().fit(X).mahalanobis_
    kernel = make().set_params(kernel="rbf").fit(X)
    assert not hasattr(kernel, "mahalanobis_")
    assert not hasattr(kernel, "components_")


@each
def test_a_fit_without_the_kernel_forgets_the_one_with_it(make):
    X = blobs()
    model = make().set_params(kernel="rbf").fit(X).set_params(kernel=None).fit(X)
    assert not hasattr(model, "coefficients_")
    np.testing.assert_array_equal(model.transform(X), make().fit(X).transform(X))


@each
@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_set_output_names_the_columns(make, kind):
    X = blobs()
    frame = fitted(make, X).set_output(transform=kind).transform(X)
    model = fitted(make, X)
    assert list(frame.columns) == list(model.get_feature_names_out())
    np.testing.assert_array_equal(np.asarray(frame), model.transform(X))


@each
def test_feature_names_are_kept_and_checked(make):
    X = pd.DataFrame(blobs(), columns=list("abcde"))
    with pytest.raises(ValueError, match="feature names should match"):
        make().fit(X).transform(X.rename(columns={"a": "z"}))


@every
def test_usable_as_a_metric_of_scikit_learns_neighbours(make):
    X = blobs(60)
    model = fitted(make, X)
    slow = NearestNeighbors(n_neighbors=4, metric=model.metric(), algorithm="brute").fit(X).kneighbors(X[:5])
    fast = NearestNeighbors(n_neighbors=4).fit(model.transform(X)).kneighbors(model.transform(X[:5]))
    np.testing.assert_allclose(slow[0], fast[0], atol=1e-6 * fast[0].max())


@pytest.mark.thorough
@each
def test_pairs_are_routed_through_a_pipeline_and_cut_by_cross_validation(make):
    X, y = blobs(), np.arange(90) % 3
    model = make()
    told = hints(model)
    if isinstance(model, MultiAttributeMetric):
        told = {"same": told["same"]["first"]}
    with config_context(enable_metadata_routing=True):
        model = make().set_fit_request(**dict.fromkeys(told, True))
        pipe = make_pipeline(StandardScaler(), model, KNeighborsClassifier(3))
        scores = cross_val_score(pipe, X, y, params=told, cv=3)
        whole = clone(pipe).fit(X, y, **told)
    assert np.isfinite(scores).all()
    expected = make().fit(StandardScaler().fit_transform(X), **told).transform(StandardScaler().fit_transform(X))
    np.testing.assert_array_equal(whole[:-1].transform(X), expected)


@each
@pytest.mark.parametrize("name", REFUSED)
def test_bad_data_is_refused_with_a_sentence(make, name):
    X, message = REFUSED[name]
    with pytest.raises(ValueError, match=message):
        make().fit(X)


@each
def test_sparse_data_is_refused_with_a_sentence(make):
    with pytest.raises(TypeError, match="dense data is required"):
        make().fit(sp.csr_array(blobs()))


@pytest.mark.thorough
@pytest.mark.parametrize("name", ODD)
@every
def test_odd_data_gets_a_finite_answer(make, name):
    X = ODD[name]
    model = make()
    limit = np.shape(X)[1] if model.kernel is None else len(X)
    if model.n_components is not None and model.n_components > limit:
        with pytest.raises(ValueError, match=rf"n_components={model.n_components} is more than the {limit}"):
            model.fit(X)
        return
    for told in ({}, hints(model, len(X))):
        model.fit(X, **told)
        assert np.isfinite(model.transform(X)).all(), told
        assert np.isfinite(model.pair_distance(X, pairs=[[0, 1]])).all(), told


@every
def test_a_query_far_away_gets_a_finite_answer(make):
    assert np.isfinite(fitted(make, blobs()).transform(np.full((1, 5), 1e9))).all()


@each
@pytest.mark.parametrize("factor", [1e150, 1e-150])
def test_the_scale_of_the_data_does_not_change_what_is_learned(make, factor):
    X = blobs()
    plain, scaled = fitted(make, X).transform(X), fitted(make, X * factor).transform(X * factor)
    if isinstance(make(), EquivalenceMetric):  # distances stay in the units of the data
        scaled = scaled / factor
    np.testing.assert_allclose(scaled, plain, atol=1e-6 * np.abs(plain).max())


@every
def test_input_is_not_changed_and_a_second_fit_forgets_the_first(make):
    X, second = blobs(), blobs(n=70, d=4, seed=4)
    before = X.copy()
    X.setflags(write=False)
    model = fitted(make, X)
    np.testing.assert_array_equal(X, before)
    model.fit(second, **hints(model, 70))
    np.testing.assert_array_equal(model.transform(second), fitted(make, second).transform(second))


@each
def test_not_fitted_is_said(make):
    X = blobs()
    for call in (lambda m: m.transform(X), lambda m: m.pair_distance(X, X), lambda m: m.metric()):
        with pytest.raises(NotFittedError):
            call(make())
    assert not hasattr(make(), "mahalanobis_")


@each
def test_which_rows_are_meant_must_be_said_once(make):
    X = blobs()
    model = make().fit(X)
    with pytest.raises(ValueError, match=r"Y=nothing does not say which rows"):
        model.pair_distance(X)
    with pytest.raises(ValueError, match=r"Y=rows beside pairs does not say which rows"):
        model.pair_distance(X, X, pairs=[[0, 1]])
    with pytest.raises(ValueError, match=r"Y=array of 3 rows does not match the 90 rows of X"):
        model.pair_distance(X, X[:3])


BAD = {
    "n_components": [0, -1, 1.5, "2", True, 6],
    "kernel": ["laplace", 3],
    "gamma": [0.0, -1.0, "scale"],
    "degree": [0, 2.5],
    "regularization": [0.0, -1.0, "strong", None],
}


@each
@pytest.mark.parametrize(("name", "value"), [(k, v) for k, values in BAD.items() for v in values])
def test_a_bad_parameter_is_named_with_its_value_and_a_way_out(make, name, value):
    with pytest.raises(ValueError, match=rf"^\w+: {name}=.* is (not|more) .*\. (Give|Choose|Ask) .*\.$"):
        make().set_params(**{name: value}).fit(blobs())


@each
def test_a_fit_that_does_not_fit_is_refused_with_a_way_out(make, monkeypatch):
    monkeypatch.setattr("sidelight.base.cost.available_memory", lambda: 1000)
    with pytest.raises(MemoryError, match=r"X=90 rows needs about .*\. Fit on a random sample"):
        make().fit(blobs())

"""The contracts of DESIGN for mixtures alone: they have responsibilities and a density, and no embedding."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from registry import DEFAULT_MIXTURES, MIXTURES, blobs, fitted
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from test_bad_input import ODD, ORDINARY, REFUSED
from threadpoolctl import threadpool_limits

import sidelight
from sidelight import BernoulliMixture, PPCAMixture

every = pytest.mark.parametrize("make", MIXTURES.values(), ids=MIXTURES.keys())
each = pytest.mark.parametrize("make", DEFAULT_MIXTURES.values(), ids=DEFAULT_MIXTURES.keys())
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

# Of what takes sparse rows and has predict_proba, scikit-learn's check reads tags.classifier_tags, which is None for a
# mixture; tests/mixtures/test_sparse_mixtures.py has the comparison with dense rows.
NO_CLASSIFIER = ("check_estimator_sparse_array", "check_estimator_sparse_matrix")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(
    [make().set_params(max_iter=4, n_init=1) for make in DEFAULT_MIXTURES.values()],
    expected_failed_checks=lambda _: dict.fromkeys(NO_CLASSIFIER, "asks for the tags of a classifier"),
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def answers(model, X):
    """Everything a fitted mixture says of rows."""
    missing = np.where(np.arange(X.shape[1]) == 1, np.nan, X)
    parts = (model.predict_proba(X), model.score_samples(X), model.denoise(X), model.impute(missing))
    return (*parts, model.impute_variance(missing), model.predict_proba(missing), model.score_samples(missing))


@every
def test_answers_have_their_shapes_and_are_finite(make):
    X = blobs()
    model = fitted(make)
    k = model.n_charts_
    parts = answers(model, X)
    assert [part.shape for part in parts] == [(90, k), (90,), (90, 5), (90, 5), (90, 5), (90, k), (90,)]
    assert all(np.isfinite(part).all() for part in parts)
    np.testing.assert_allclose(model.transform(X).sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.predict(X), model.predict_proba(X).argmax(axis=1))
    assert model.sample(4, random_state=0).shape == (4, 5)
    assert np.isfinite([model.bic(X), model.aic(X), model.score(X)]).all()


@every
def test_one_by_one_equals_batch(make):
    model, new = fitted(make, d=12), blobs(d=12, seed=1)[:20]
    new[::3, 4] = np.nan
    for name in ("transform", "score_samples", "impute", "impute_variance", "denoise"):
        together = getattr(model, name)(new)
        alone = np.concatenate([getattr(model, name)(new[i : i + 1]) for i in range(len(new))])
        np.testing.assert_allclose(alone, together, rtol=1e-12, atol=1e-12 * np.abs(together).max())


@every
def test_float32_in_float32_out(make):
    X = blobs().astype(np.float32)
    model = fitted(make, dtype="float32")
    assert all(part.dtype == np.float32 for part in answers(model, X))
    assert model.sample(3).dtype == np.float32
    alone = np.concatenate([model.transform(X[i : i + 1]) for i in range(9)])
    np.testing.assert_allclose(alone, model.transform(X[:9]), rtol=1e-5, atol=1e-6)


@every
def test_the_same_bytes_with_one_and_two_threads(make):
    """Bytes may be compared: fixed tiles, each on one BLAS thread, are added in the order of the tiles."""
    X, results = blobs(n=9000, d=8), []
    for threads in (1, 2):
        with threadpool_limits(threads):
            model = make().set_params(n_jobs=threads, max_iter=2, n_init=1).fit(X)
            results.append([part.tobytes() for part in (*answers(model, X), model.sample(5, 0))])
    assert results[0] == results[1]


@every
def test_save_and_load_give_the_same_bits_and_a_stream_goes_on(make, tmp_path):
    X = blobs()
    model = copy.deepcopy(fitted(make))  # which the stream changes
    sidelight.save(model, tmp_path / "model.sidelight")
    loaded = sidelight.load(tmp_path / "model.sidelight")
    for one, other in zip(answers(loaded, X), answers(model, X), strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(loaded.sample(3, random_state=1), model.sample(3, random_state=1))
    np.testing.assert_array_equal(loaded.partial_fit(X).transform(X), model.partial_fit(X).transform(X))


@every
def test_pickle_keeps_the_model(make):
    X = blobs()
    model = fitted(make)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).transform(X), model.transform(X))


@every
def test_input_is_not_changed(make):
    X = blobs()
    X.setflags(write=False)
    np.testing.assert_array_equal(make().fit(X).transform(X), fitted(make).transform(blobs()))
    np.testing.assert_array_equal(X, blobs())


@each
@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_set_output_names_the_charts(make, kind):
    X = blobs()
    model = make().set_output(transform=kind).fit(X)
    frame = model.transform(X)
    assert list(frame.columns) == list(model.get_feature_names_out())
    np.testing.assert_array_equal(np.asarray(frame), fitted(make).transform(X))


@each
def test_feature_names_are_kept_and_checked(make):
    X = pd.DataFrame(blobs(), columns=list("abcde"))
    model = make().fit(X)
    assert list(model.feature_names_in_) == list("abcde")
    assert model.denoise(X).shape == X.shape
    with pytest.raises(ValueError, match="feature names should match"):
        model.transform(X.rename(columns={"a": "z"}))


@each
def test_works_in_a_pipeline_a_clone_and_a_search(make):
    X = blobs()
    pipe = make_pipeline(StandardScaler(), make().set_params(max_iter=4, n_init=1))
    np.testing.assert_array_equal(clone(pipe).fit_transform(X), pipe.fit(X).transform(X))
    search = GridSearchCV(pipe[-1], {"n_charts": [1, 3]}, cv=3).fit(X)
    assert np.isfinite(search.best_score_)


@each
def test_not_fitted_is_said(make):
    for call in ("transform", "predict_proba", "predict", "score_samples", "score", "bic", "aic", "denoise", "impute"):
        with pytest.raises(NotFittedError):
            getattr(make(), call)(blobs())
    with pytest.raises(NotFittedError):
        make().sample(3)


@each
@pytest.mark.parametrize("name", [name for name in REFUSED if name != "nan"])
def test_bad_data_is_refused_with_a_sentence(make, name):
    X, message = REFUSED[name]
    with pytest.raises(ValueError, match=message):
        make().fit(X)


@each
def test_a_stream_takes_sparse_rows_and_no_samples_are_refused_with_a_sentence(make):
    assert np.isfinite(make().partial_fit(sp.csr_array(blobs())).score(blobs()))
    with pytest.raises(ValueError, match="n_samples=0 is less than 1"):
        fitted(make).sample(0)


# Variants of a class get no rows that its validation makes ordinary (see test_bad_input.py).
TRIED = {
    f"{kind}-{name}": (make, kind)
    for kind in ODD
    for name, make in MIXTURES.items()
    if name in DEFAULT_MIXTURES or kind not in ORDINARY
}


@pytest.mark.parametrize(("make", "kind"), TRIED.values(), ids=TRIED.keys())
def test_odd_data_gets_a_finite_answer_or_a_sentence(make, kind):
    X = np.asarray(ODD[kind], dtype=np.float64)
    model = make().set_params(max_iter=30, n_init=1)
    if not isinstance(model.n_charts, str) and model.n_charts > len(X):
        message = rf"n_charts={model.n_charts} is more than the {len(X)} rows of X\. Give at most"
        with pytest.raises(ValueError, match=message):
            model.fit(X)
        model.set_params(n_charts=2)
    model.fit(ODD[kind])
    for part in (model.transform(X), model.score_samples(X), model.denoise(X), model.sample(3, random_state=0)):
        assert np.isfinite(part).all()


@pytest.mark.parametrize("factor", [1e150, 1e-150])
def test_the_scale_of_the_data_does_not_change_the_charts(factor):
    X = blobs()
    plain, scaled = PPCAMixture(4, 2).fit(X), PPCAMixture(4, 2).fit(X * factor)
    np.testing.assert_allclose(scaled.transform(X * factor), plain.transform(X), atol=1e-6)
    np.testing.assert_allclose(scaled.score(X * factor), plain.score(X) - 5 * np.log(factor), rtol=1e-9)
    np.testing.assert_allclose(scaled.means_ / factor, plain.means_, rtol=1e-6)


@every
def test_a_query_far_away_gets_an_answer(make):
    model = fitted(make)
    far = np.full((1, 5), 1e9)
    assert np.isfinite(model.transform(far)).all()
    assert np.isfinite(model.score_samples(far)).all()


@each
def test_cost_grows_with_the_rows(make):
    small, large = (make().estimate_cost(n, 10) for n in (1000, 1_000_000))
    assert large.bytes > small.bytes
    assert large.seconds > 100 * small.seconds


def test_data_that_is_not_binary_is_said_where_no_threshold_is_wanted():
    with pytest.raises(ValueError, match=r"X=array with .* is not binary\. Give 0 and 1 .* binarize="):
        BernoulliMixture(binarize=None).fit(blobs())

"""The contracts of DESIGN, on every estimator of the registry."""

from __future__ import annotations

import copy
import functools
import pickle

import numpy as np
import pandas as pd
import pytest
from registry import (
    CHECKED,
    DEFAULT_METRICS,
    DEFAULT_MIXTURES,
    DEFAULTS,
    DISTANCES,
    ENCODERS,
    VARIANTS,
    blobs,
    fitted,
    public_estimators,
    with_iterations,
)
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_limits

import sidelight
from sidelight import (
    CoordinatedCCA,
    CoordinatedMixture,
    KernelInformationEmbedding,
    ProbabilisticPCA,
    TwoWayEmbedding,
)

every = pytest.mark.parametrize("make", VARIANTS.values(), ids=VARIANTS.keys())
each = pytest.mark.parametrize("make", DEFAULTS.values(), ids=DEFAULTS.keys())


def test_every_public_estimator_is_in_the_registry():
    listed = DEFAULTS | DEFAULT_METRICS | DEFAULT_MIXTURES | ENCODERS
    assert {type(make()) for make in listed.values()} == set(public_estimators())


CHECKS = [with_iterations(make(), 4) for make in (CHECKED | DISTANCES).values()]
SLOW_TO_FIT = [one for one in CHECKS if isinstance(one, (CoordinatedCCA, CoordinatedMixture))]
no_warnings_of_few_steps = pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning", "ignore::sklearn.exceptions.SkipTestWarning"
)


@no_warnings_of_few_steps
@parametrize_with_checks([one for one in CHECKS if one not in SLOW_TO_FIT])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.thorough
@no_warnings_of_few_steps
@parametrize_with_checks(SLOW_TO_FIT)
def test_scikit_learn_checks_of_what_fits_slowly(estimator, check):
    check(estimator)


@every
def test_maps_have_their_shapes_and_are_finite(make):
    X = blobs()
    model = fitted(make)
    Z = model.embedding_
    q = Z.shape[1]
    assert Z.shape == (90, q)
    assert model.transform(X[:7]).shape == (7, q)
    assert model.inverse_transform(Z[:7]).shape == (7, 5)
    assert model.denoise(X[:7]).shape == (7, 5)
    assert model.predictive_variance(Z[:7]).shape == (7, 5)
    assert model.score_samples(X[:7]).shape == (7,)
    assert model.latent_log_density(Z[:7]).shape == (7,)
    assert model.sample(4, random_state=0).shape == (4, 5)
    for values in (Z, model.transform(X), model.denoise(X), model.predictive_variance(Z), model.score_samples(X)):
        assert np.isfinite(values).all()
    assert (model.predictive_variance(Z) > 0).all()


@every
def test_transform_of_a_training_row_is_its_place(make):
    model = fitted(make)
    Z = model.transform(blobs())
    np.testing.assert_allclose(Z, model.embedding_, rtol=0, atol=1e-9 * np.abs(model.embedding_).max())


@every
def test_equal_rows_have_one_place(make):
    X = np.vstack([blobs(60), blobs(60)[:9]])
    model = make().fit(X)
    scale = np.abs(model.embedding_).max()
    np.testing.assert_allclose(model.embedding_[60:], model.embedding_[:9], rtol=0, atol=1e-9 * scale)
    np.testing.assert_allclose(model.transform(X), model.embedding_, rtol=0, atol=1e-9 * scale)


@every
def test_transform_one_by_one_equals_batch(make):
    model = fitted(make, d=12)
    new = blobs(d=12, seed=1)[:20]
    together = model.transform(new)
    alone = np.concatenate([model.transform(new[i : i + 1]) for i in range(len(new))])
    np.testing.assert_allclose(alone, together, rtol=1e-12, atol=1e-12 * np.abs(together).max())


@every
def test_inverse_transform_one_by_one_equals_batch(make):
    model = fitted(make, d=12)
    Z = model.embedding_[:20] + 0.01
    together = model.inverse_transform(Z)
    alone = np.concatenate([model.inverse_transform(Z[i : i + 1]) for i in range(len(Z))])
    np.testing.assert_allclose(alone, together, rtol=1e-12, atol=1e-12 * np.abs(together).max())


@each
def test_float32_one_by_one_equals_batch(make):
    X = blobs().astype(np.float32)
    model = fitted(make, dtype="float32")
    together = model.transform(X[:9])
    alone = np.concatenate([model.transform(X[i : i + 1]) for i in range(9)])
    assert together.dtype == np.float32
    np.testing.assert_allclose(alone, together, rtol=1e-5)


@every
def test_float32_in_float32_out(make):
    X = blobs().astype(np.float32)
    model = fitted(make, dtype="float32")
    assert model.embedding_.dtype == np.float32
    assert model.transform(X).dtype == np.float32
    assert model.inverse_transform(model.embedding_).dtype == np.float32


@every
def test_fit_transform_returns_the_embedding_and_does_not_change_its_input(make):
    X = blobs()
    X.setflags(write=False)
    model = make()
    np.testing.assert_array_equal(model.fit_transform(X), fitted(make).embedding_)
    model.transform(X)
    np.testing.assert_array_equal(X, blobs())


ONE_MORE_OF_THEIR_KIND = {
    "kie-fixed-l4",  # the bandwidth and the penalty are numbers: tiles as in kie-quartic
    "kie-loo-l2",
    "smoother-fixed",
    "smoother-loo-3d",
    "kie-learned",  # the bandwidth is a number in every iteration
    "kie-random-5d",  # tiles as in kie, from another start
    "ukr-l2-spectral-1d",  # tiles as in ukr
    "ukr-random-3d",
    "joint-fixed-l2",
    "hybrid-euclidean-heat",  # neighbours and eigenvectors as in hybrid and hybrid-landmarks-lle
    "ppca-auto",
    "ppca-standardized-3d",
    "coordinated-gaussian-3d",
    "coordinated-automatic",
    "relational-student-3d",
    "two-way-isomap",  # scikit-learn's threads, and maps as in two-way
}
"""Variants whose sums over tiles are those of another one: they compare threads in the slow tests."""


def _threads_compared(name):
    """The flagship by default, the others in the thorough tests, those like another one in the slow ones."""
    if name in ONE_MORE_OF_THEIR_KIND:
        return pytest.mark.slow
    return () if name == "kie" else pytest.mark.thorough


@pytest.mark.parametrize(
    "make",
    [pytest.param(make, id=name, marks=_threads_compared(name)) for name, make in VARIANTS.items()],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_same_seed_gives_the_same_bytes_with_one_and_two_threads(make):
    """Bytes may be compared: fixed tiles, each on one BLAS thread, are added in the order of the tiles."""
    X = blobs(n=520, d=20)  # two tiles
    results = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            model = with_iterations(make(), 2).set_params(n_jobs=threads).fit(X)  # bytes differ at once or never
            parts = (model.embedding_, model.transform(X), model.inverse_transform(model.embedding_))
            results.append([part.tobytes() for part in (*parts, model.score_samples(X), model.sample(5, 0))])
    assert results[0] == results[1]


@every
def test_save_and_load_give_the_same_bits(make, tmp_path):
    X = blobs()
    model = fitted(make)
    sidelight.save(model, tmp_path / "model.sidelight")
    loaded = sidelight.load(tmp_path / "model.sidelight")
    assert type(loaded) is type(model)
    np.testing.assert_array_equal(loaded.embedding_, model.embedding_)
    np.testing.assert_array_equal(loaded.transform(X), model.transform(X))
    np.testing.assert_array_equal(
        loaded.inverse_transform(X[:, : model.embedding_.shape[1]]),
        model.inverse_transform(X[:, : model.embedding_.shape[1]]),
    )
    np.testing.assert_array_equal(loaded.score_samples(X), model.score_samples(X))
    np.testing.assert_array_equal(loaded.sample(3, random_state=1), model.sample(3, random_state=1))
    assert loaded.score(X) == model.score(X)


@every
def test_pickle_keeps_the_model(make):
    X = blobs()
    model = fitted(make)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).transform(X), model.transform(X))


@functools.cache
def giving_frames(make):
    return make().set_output(transform="pandas").fit(blobs())


@functools.cache
def fitted_to_a_frame(make):
    X = pd.DataFrame(blobs(), columns=list("abcde"))
    return make().fit(X), X


@each
@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_set_output_names_the_latent_columns(make, kind):
    X = blobs()
    model = copy.deepcopy(giving_frames(make)).set_output(transform=kind)
    frame = model.transform(X)
    assert list(frame.columns) == list(model.get_feature_names_out())
    assert model.get_feature_names_out()[0] == type(model).__name__.lower() + "0"
    np.testing.assert_array_equal(np.asarray(frame), fitted(make).transform(X))


@each
def test_denoise_and_score_do_not_depend_on_set_output(make):
    X = blobs()
    plain, framed = fitted(make), giving_frames(make)
    np.testing.assert_array_equal(plain.denoise(X), framed.denoise(X))
    assert plain.score(X) == framed.score(X)


@each
def test_feature_names_are_kept_and_checked(make):
    model, X = fitted_to_a_frame(make)
    assert list(model.feature_names_in_) == list("abcde")
    with pytest.raises(ValueError, match="feature names should match"):
        model.transform(X.rename(columns={"a": "z"}))


@each
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_works_in_a_pipeline_and_a_clone(make):
    X = blobs()
    pipe = make_pipeline(StandardScaler(), with_iterations(make(), 4))
    Z = clone(pipe).fit_transform(X)
    pipe.fit(X)
    np.testing.assert_array_equal(Z, pipe[-1].embedding_)
    assert pipe.inverse_transform(pipe.transform(X)).shape == X.shape


@pytest.mark.thorough
def test_grid_search_chooses_by_reconstruction():
    search = GridSearchCV(KernelInformationEmbedding(), {"regularization": [0.1, 30.0]}, cv=3).fit(blobs())
    assert search.best_params_ == {"regularization": 0.1}


@each
def test_not_fitted_is_said(make):
    for call in ("transform", "inverse_transform", "denoise", "score_samples", "latent_log_density", "score"):
        with pytest.raises(NotFittedError):
            getattr(make(), call)(blobs())


def test_a_model_of_distances_offers_no_way_back():
    X = blobs()
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    model = KernelInformationEmbedding(metric="precomputed").fit(D)
    for name in ("inverse_transform", "denoise", "sample", "score_samples", "score", "predictive_variance"):
        assert not hasattr(model, name)
    assert model.transform(D[:4]).shape == (4, 2)
    euclidean = fitted(VARIANTS["kie"])
    np.testing.assert_allclose(model.embedding_, euclidean.embedding_, atol=0.05 * np.abs(euclidean.embedding_).max())


def test_two_way_embedding_takes_a_ready_embedding():
    X = blobs()
    Z = X[:, :2] * 1e3
    model = TwoWayEmbedding().fit(X, embedding=Z)
    np.testing.assert_array_equal(model.embedding_, Z)
    assert np.corrcoef(model.transform(X)[:, 0], Z[:, 0])[0, 1] > 0.99
    assert not hasattr(model, "estimator_")


def test_two_way_embedding_describes_its_estimator_after_loading(tmp_path):
    from sklearn.manifold import Isomap

    model = TwoWayEmbedding(Isomap(n_neighbors=9)).fit(blobs())
    sidelight.save(model, tmp_path / "m")
    loaded = sidelight.load(tmp_path / "m")
    assert "Isomap" in loaded.estimator_description_
    assert "n_neighbors=9" in loaded.estimator_description_
    assert not hasattr(loaded, "estimator_")


def test_a_loaded_two_way_embedding_says_that_its_estimator_was_not_kept(tmp_path):
    from sklearn.manifold import Isomap

    sidelight.save(TwoWayEmbedding(Isomap(n_neighbors=9)).fit(blobs()), tmp_path / "m")
    with pytest.raises(TypeError, match=r"a loaded model has only the description of its estimator"):
        sidelight.load(tmp_path / "m").fit(blobs())


@each
def test_a_data_frame_is_scored_without_a_warning(make):
    model, X = fitted_to_a_frame(make)
    assert np.isfinite(model.score(X))
    assert isinstance(model, ProbabilisticPCA) or 0 < model.score(X) <= 1  # its score is a log likelihood
    assert model.denoise(X).shape == X.shape

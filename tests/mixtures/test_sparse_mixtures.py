"""Sparse rows in ProbabilisticPCA, PPCAMixture and BernoulliMixture: as dense ones, without a dense copy."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

import sidelight
from sidelight import BernoulliMixture, PPCAMixture, ProbabilisticPCA


def counts(n=200, d=20, seed=0):
    """Three kinds of rows of counts, about a third of which are not 0."""
    rng = np.random.default_rng(seed)
    rates = rng.gamma(0.4, 1.5, size=(3, d))
    return rng.poisson(rates[rng.integers(3, size=n)]).astype(np.float64)


def close(found, wanted, tolerance=1e-9):
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance * (1.0 + np.abs(wanted).max()))


SHAPES = [(200, 20), (40, 70)]  # by the covariance, and by products of rows


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("settings", [{}, {"n_components": 3, "standardize": True}])
@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.csc_array])
def test_principal_components_of_sparse_rows_are_those_of_dense_rows(shape, settings, form):
    X = counts(*shape)
    dense, thin = ProbabilisticPCA(**settings).fit(X), ProbabilisticPCA(**settings).fit(form(X))
    for name in ("embedding_", "mean_", "components_", "explained_variance_", "noise_variance_"):
        close(getattr(thin, name), getattr(dense, name))
    new, Y = counts(*shape, seed=1), form(counts(*shape, seed=1))
    for method in ("transform", "score_samples", "denoise", "typicality", "posterior_covariance", "score"):
        close(getattr(thin, method)(Y), getattr(dense, method)(new))
        close(getattr(dense, method)(Y), getattr(dense, method)(new))


def test_many_columns_and_rows_are_decomposed_by_products_alone(monkeypatch):
    monkeypatch.setattr("sidelight.maps.linear_gaussian_fit.LARGEST", 10)
    monkeypatch.setattr("sidelight.maps.sparse_gaussian._FEW_ROWS", 10)
    X = counts(300, 40)
    dense, thin = ProbabilisticPCA(4, standardize=True), ProbabilisticPCA(4, standardize=True)
    thin.fit(sparse.csr_array(X))
    monkeypatch.undo()
    dense.fit(X)
    close(thin.embedding_, dense.embedding_, 1e-7)
    close(thin.noise_variance_, dense.noise_variance_)


def test_the_number_of_components_is_counted_on_some_of_many_rows(monkeypatch):
    monkeypatch.setattr("sidelight.maps.linear_gaussian_fit.LARGEST", 10)
    monkeypatch.setattr("sidelight.maps.sparse_gaussian._FEW_ROWS", 10)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3)) @ rng.normal(size=(3, 40)) + 0.1 * rng.normal(size=(400, 40))
    assert ProbabilisticPCA().fit(sparse.csr_array(X)).n_components_ == 3


def test_entries_that_are_stored_twice_are_added():
    X = sparse.csr_array(counts(50, 8)).tocoo()
    twice = sparse.coo_array(
        (np.tile(X.data / 2, 2), (np.tile(X.coords[0], 2), np.tile(X.coords[1], 2))), shape=X.shape
    )
    doubled = sparse.csr_array((50, 8))
    order = np.argsort(twice.coords[0], kind="stable")
    doubled.data, doubled.indices = twice.data[order], twice.coords[1][order]
    doubled.indptr = np.searchsorted(twice.coords[0][order], np.arange(51)).astype(doubled.indices.dtype)
    close(ProbabilisticPCA(2).fit(doubled).embedding_, ProbabilisticPCA(2).fit(X.toarray()).embedding_)


@pytest.mark.parametrize("n_charts", [3, "auto"])
def test_a_bernoulli_mixture_of_sparse_rows_is_that_of_dense_rows(n_charts):
    X, new = counts(), counts(seed=1)
    dense, thin = (BernoulliMixture(n_charts).fit(rows) for rows in (X, sparse.csr_array(X)))
    close(thin.means_, dense.means_)
    assert thin.n_iter_ == dense.n_iter_
    for method in ("predict_proba", "score_samples", "denoise", "typicality", "bic", "predict"):
        close(getattr(thin, method)(sparse.csc_matrix(new)), getattr(dense, method)(new))


def test_a_threshold_below_zero_is_refused_for_sparse_rows():
    with pytest.raises(ValueError, match=r"BernoulliMixture: binarize=-1\.0 makes 0 a 1, in sparse rows"):
        BernoulliMixture(2, binarize=-1.0).fit(sparse.csr_array(counts()))
    with pytest.raises(ValueError, match="is not binary"):
        BernoulliMixture(2, binarize=None).fit(sparse.csr_array(counts()))


def test_a_mixture_of_planes_in_all_directions_is_that_of_dense_rows():
    X, new = counts(), counts(seed=1)
    dense, thin = (PPCAMixture(3, 2, n_init=1, tol=1e-12).fit(rows) for rows in (X, sparse.csr_array(X)))
    for name in ("means_", "weights_", "noise_variance_"):
        close(getattr(thin, name), getattr(dense, name), 1e-6)
    for method in ("predict_proba", "score_samples", "denoise"):
        close(getattr(thin, method)(sparse.csr_matrix(new)), getattr(dense, method)(new), 1e-6)
        close(getattr(thin, method)(new), getattr(dense, method)(sparse.csr_matrix(new)), 1e-6)


def test_a_mixture_of_planes_of_many_columns_is_one_of_coordinates():
    X = counts(150, 90)
    model = PPCAMixture(3, 2, n_init=1).fit(sparse.csr_array(X))
    assert model.charts_.centre.shape == (50,)
    assert model.means_.shape == (3, 90)
    assert model.sample(4).shape == model.denoise(X[:4]).shape == (4, 90)
    assert np.square(X - model.denoise(X)).sum() < 0.9 * np.square(X - X.mean(axis=0)).sum()
    with pytest.raises(
        ValueError, match=r"PPCAMixture: X=missing entries was fitted to the coordinates of sparse rows"
    ):
        model.impute(X)


MODELS = [ProbabilisticPCA(2), PPCAMixture(2, 2, n_init=1), BernoulliMixture(2)]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_models_of_sparse_rows_are_kept_in_files_and_take_rows_one_by_one(model, tmp_path):
    X = sparse.csr_array(counts(60, 70).astype(np.float32))
    model.fit(X)
    sidelight.save(model, tmp_path / "model.sidelight")
    loaded = sidelight.load(tmp_path / "model.sidelight")
    assert model.transform(X).dtype == np.float32
    np.testing.assert_array_equal(loaded.transform(X), model.transform(X))
    np.testing.assert_array_equal(loaded.score_samples(X), model.score_samples(X))
    one_by_one = np.concatenate([model.transform(X[[row]]) for row in range(60)])
    np.testing.assert_allclose(one_by_one, model.transform(X), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_a_later_dense_fit_keeps_nothing_of_sparse_rows(model):
    X = counts(60, 70)
    model.fit(sparse.csr_array(X))
    again = type(model)(**model.get_params()).fit(X)
    np.testing.assert_array_equal(model.fit(X).score_samples(X), again.score_samples(X))


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_missing_entries_of_sparse_rows_are_refused(model):
    X = sparse.csr_array(counts(30, 5))
    X.data[0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        type(model)(**model.get_params()).fit(X)


@pytest.mark.parametrize(
    "model",
    [ProbabilisticPCA(3), PPCAMixture(2, 1, n_init=1, max_iter=20, tol=1.0), BernoulliMixture(2, n_init=1, tol=10.0)],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.thorough
def test_no_dense_copy_is_made(model):
    X = sparse.random_array((20_000, 4000), density=1e-3, random_state=np.random.default_rng(0), format="csr")
    tracemalloc.start()
    try:
        model.fit(X)
        model.transform(X)
        model.score_samples(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 20_000 * 4000 * 8 / 3, f"{peak / 1e6:.0f} MB"


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_the_number_of_threads_changes_no_bit(model):
    """Bytes may be compared: one machine, BLAS on one thread, fixed tiles summed in order."""
    X = sparse.csr_array(counts(2500, 30))
    quick = {} if isinstance(model, ProbabilisticPCA) else {"n_init": 1, "tol": 0.1}
    one, two = (type(model)(**model.get_params() | quick | {"n_jobs": jobs}).fit(X) for jobs in (1, 2))
    assert one.transform(X).tobytes() == two.transform(X).tobytes()
    assert one.score_samples(X).tobytes() == two.score_samples(X).tobytes()


def test_a_stream_goes_on_from_coordinates_of_sparse_rows():
    X = counts(150, 90)
    model = PPCAMixture(3, 2, n_init=1).fit(sparse.csr_array(X))
    before = model.score(X)
    model.partial_fit(X[:100])
    assert model.means_.shape == (3, 90)
    assert abs(model.score(X) - before) < 0.1 * abs(before)


@pytest.mark.parametrize("settings", [{}, {"n_components": 3, "standardize": True}])
def test_a_stream_of_sparse_batches_has_the_principal_components_of_dense_ones(settings):
    X, new = counts(300, 25), counts(40, 25, seed=1)
    dense, thin, mixed = (ProbabilisticPCA(**settings) for _ in range(3))
    for part in (slice(0, 90), slice(90, 91), slice(91, 300)):
        dense.partial_fit(X[part])
        thin.partial_fit(sparse.csc_matrix(X[part]))
        mixed.partial_fit(sparse.csr_array(X[part]) if part.start else X[part])
    for one in (thin, mixed):
        for name in ("mean_", "components_", "explained_variance_", "noise_variance_"):
            close(getattr(one, name), getattr(dense, name))
        close(one.score_samples(new), dense.score_samples(new))
    whole = ProbabilisticPCA(**settings).fit(X)
    close(thin.transform(new), whole.transform(new), 1e-7)


def test_wide_sparse_batches_are_refused_with_the_way_out():
    X = sparse.csr_array((np.ones(3), ([0, 1, 2], [0, 5, 3000])), shape=(3, 3001))
    with pytest.raises(
        ValueError, match=r"X=3001 columns has more than the 3000 columns that partial_fit supports\. Use fit"
    ):
        ProbabilisticPCA(2).partial_fit(X)


@pytest.mark.parametrize("n_charts", [3, "auto"])
def test_a_stream_of_sparse_batches_has_the_bernoullis_of_dense_ones(n_charts):
    X, new = counts(), counts(seed=1)
    dense, thin = BernoulliMixture(n_charts, n_init=1), BernoulliMixture(n_charts, n_init=1)
    for part in (slice(0, 80), slice(80, 200)):
        dense.partial_fit(X[part])
        thin.partial_fit(sparse.csr_matrix(X[part]))
    close(thin.means_, dense.means_)
    close(thin.score_samples(new), dense.score_samples(new))


def test_a_stream_of_sparse_batches_to_planes_is_one_of_coordinates_of_the_first(tmp_path):
    X = counts(240, 90)
    thin, dense = PPCAMixture(3, 2, n_init=1), PPCAMixture(3, 2, n_init=1)
    for part in (slice(0, 120), slice(120, 240)):
        thin.partial_fit(sparse.csr_array(X[part]))
        dense.partial_fit(thin.reduction_.scores(X[part]))
    assert thin.means_.shape == (3, 90)
    close(thin.charts_.weights, dense.charts_.weights)
    close(thin.score_samples(sparse.csr_array(X)), dense.score_samples(thin.reduction_.scores(X)))
    sidelight.save(thin, tmp_path / "model.sidelight")
    again = sidelight.load(tmp_path / "model.sidelight").partial_fit(X[:50])
    assert again.score_samples(X).tobytes() == thin.partial_fit(X[:50]).score_samples(X).tobytes()


@pytest.mark.parametrize(
    "model",
    [ProbabilisticPCA(3), PPCAMixture(2, 1, n_init=1), BernoulliMixture(2, n_init=1)],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.thorough
def test_a_stream_makes_no_dense_copy(model):
    X = sparse.random_array((100_000, 1000), density=1e-3, random_state=np.random.default_rng(0), format="csr")
    tracemalloc.start()
    try:
        for part in (slice(0, 50_000), slice(50_000, 100_000)):
            model.partial_fit(X[part])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 50_000 * 1000 * 8 / 2, f"{peak / 1e6:.0f} MB"

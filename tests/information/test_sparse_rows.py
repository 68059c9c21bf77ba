"""Models of sparse rows: reduced inside, and every map begins and ends in the columns of the data."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.manifold import Isomap

from sidelight import CountEncoder, KernelInformationEmbedding, ProbabilisticPCA, TwoWayEmbedding, load, save
from sidelight.pipeline import make_pipeline

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
RNG = np.random.default_rng(0)
FULL = RNG.poisson(np.exp(0.7 * RNG.normal(size=(150, 2)) @ RNG.normal(size=(2, 90)) - 1.5)).astype(np.float64)
X = sparse.csr_matrix(FULL)
GIVEN = np.arange(150) % 2


MODELS = {
    "kie": lambda: KernelInformationEmbedding(max_iter=15),
    "two-way, linear": lambda: TwoWayEmbedding(PCA(2)),
    "two-way, kernel": lambda: TwoWayEmbedding(Isomap(n_neighbors=10), maps="kernel"),
}


@pytest.fixture(scope="module", params=MODELS)
def fitted(request):
    return MODELS[request.param]().fit(X)


@pytest.fixture(scope="module")
def informed():
    return KernelInformationEmbedding(max_iter=15).fit(X, given=GIVEN)


@pytest.mark.thorough
def test_sparse_rows_of_few_columns_have_the_embedding_of_dense_ones():
    """Forty columns are rotated only, which no distance notices (counts would have ties, which the last bit breaks)."""
    uneven = FULL[:, :40] * np.random.default_rng(1).uniform(0.5, 1.5, size=(150, 40))
    distances = []
    for rows in (sparse.csr_matrix(uneven), uneven):
        Z = KernelInformationEmbedding(max_iter=5).fit(rows, given=GIVEN).embedding_
        distances.append(np.linalg.norm(Z[:, None] - Z, axis=-1))
    np.testing.assert_allclose(distances[0], distances[1], atol=1e-6)


def test_maps_begin_and_end_in_the_columns_of_the_data(fitted):
    Z = fitted.transform(X)
    assert fitted.n_features_in_ == 90
    np.testing.assert_allclose(Z, fitted.embedding_, atol=1e-8)
    for made in (fitted.inverse_transform(Z), fitted.denoise(X), fitted.sample(7), fitted.predictive_variance(Z)):
        assert made.shape[1] == 90
    assert np.square(fitted.inverse_transform(Z) - FULL).mean() < 0.8 * np.square(FULL - FULL.mean(axis=0)).mean()
    assert fitted.score_samples(X).shape == fitted.typicality(X).shape == (150,)


def test_dense_and_sparse_rows_of_any_format_have_the_same_places_one_by_one(fitted):
    Z = fitted.transform(X)
    for rows in (FULL, X.tocsc(), X.tocoo(), sparse.csr_array(X)):
        np.testing.assert_allclose(fitted.transform(rows), Z, atol=1e-10)
    np.testing.assert_allclose(np.vstack([fitted.transform(X[i]) for i in range(5)]), Z[:5], atol=1e-10)


def test_files_hold_the_basis_and_the_loaded_model_gives_the_same_bytes(fitted, tmp_path):
    """Bytes may be compared: a file holds the arrays themselves, and the same calls follow."""
    save(fitted, tmp_path / "model")
    back = load(tmp_path / "model")
    Z = fitted.transform(X)
    assert back.transform(X).tobytes() == Z.tobytes()
    assert back.inverse_transform(Z).tobytes() == fitted.inverse_transform(Z).tobytes()


def test_given_is_factored_out_of_sparse_rows_and_counterfactuals_have_all_columns(informed):
    Z = informed.transform(X, given=GIVEN)
    np.testing.assert_allclose(Z, informed.embedding_, atol=1e-8)
    other = informed.counterfactual(X, given=1)
    assert other.shape == (150, 90)
    np.testing.assert_allclose(other, informed.counterfactual(FULL, given=1), atol=1e-10)
    assert informed.overlap(X, given=1).shape == (150,)
    assert informed.predictive_variance(Z, given=GIVEN).min() >= 0


def test_variances_are_those_of_the_rows_at_a_place():
    """Of a model with one bandwidth, against the variance of the training rows made in full from their coordinates."""
    model = KernelInformationEmbedding(max_iter=15, bandwidth=40.0).fit(X)
    frame, forward = model.frame_, model.forward_
    Z = model.embedding_[:4]
    inner = forward.variance(Z, 1) + forward.weights.average(Z, model.density_.kernel_variances[:, None], 1)
    expected = [np.diag(frame.reduction.basis @ np.diag(v * frame.scale**2) @ frame.reduction.basis.T) for v in inner]
    np.testing.assert_allclose(model.predictive_variance(Z), expected, rtol=1e-10)


def test_single_precision_in_single_precision_out():
    model = KernelInformationEmbedding(max_iter=3).fit(X.astype(np.float32))
    assert model.embedding_.dtype == model.transform(X[:3].astype(np.float32)).dtype == np.float32
    assert model.inverse_transform(model.embedding_[:2]).dtype == np.float32


def test_fits_do_not_depend_on_threads():
    """Bytes may be compared: all sums run over fixed tiles in fixed order."""
    first, second = (KernelInformationEmbedding(max_iter=5, n_jobs=jobs).fit(X, given=GIVEN) for jobs in (1, 2))
    assert first.embedding_.tobytes() == second.embedding_.tobytes()
    assert first.frame_.reduction.basis.tobytes() == second.frame_.reduction.basis.tobytes()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"metric": "cosine"}, r"metric=cosine is not possible with sparse rows"),
        ({"missing": "impute"}, r"missing=impute is not possible with sparse rows"),
    ],
)
def test_what_sparse_rows_cannot_do_gets_a_sentence(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        KernelInformationEmbedding(**options).fit(X)


def test_sparse_rows_of_another_width_are_refused(fitted):
    with pytest.raises(ValueError, match=r"X has 89 features, but .* is expecting 90 features"):
        fitted.transform(X[:, :89])


def test_a_model_of_dense_rows_takes_sparse_ones():
    model = KernelInformationEmbedding(max_iter=3).fit(FULL)
    np.testing.assert_array_equal(model.transform(X), model.transform(FULL))


def test_corrected_rows_of_a_sparse_model_keep_what_the_basis_leaves_out(informed):
    made = informed.corrected(X, given=GIVEN)
    assert made.shape == FULL.shape
    change = made - FULL
    for group in (0, 1):
        np.testing.assert_allclose(change[group == GIVEN], np.tile(change[group], (75, 1)), atol=1e-10)
    assert np.abs(change).max() > 1e-3
    np.testing.assert_allclose(informed.corrected(FULL, given=GIVEN), made, atol=1e-12)


@pytest.mark.parametrize("columns", [[7, 3, 80], 5, np.arange(90) % 9 == 0])
def test_the_way_back_leads_to_chosen_columns(fitted, columns):
    Z = fitted.transform(X)
    some = np.atleast_1d(columns)
    np.testing.assert_allclose(
        fitted.inverse_transform(Z, columns=columns), fitted.inverse_transform(Z)[:, some], rtol=1e-12, atol=1e-12
    )


def test_chosen_columns_of_informed_models_are_those_of_all(informed):
    Z, columns = informed.transform(X, given=GIVEN), [7, 3, -1]
    for found, whole in (
        (informed.inverse_transform(Z, given=1, columns=columns), informed.inverse_transform(Z, given=1)),
        (informed.corrected(X, given=GIVEN, columns=columns), informed.corrected(X, given=GIVEN)),
        (informed.corrected(FULL, given=GIVEN, to=0, columns=columns), informed.corrected(X, given=GIVEN, to=0)),
    ):
        np.testing.assert_allclose(found, whole[:, columns], rtol=1e-12, atol=1e-12)


def test_chosen_columns_take_no_memory_for_the_others():
    rows = sparse.random_array((60, 3000), density=0.05, random_state=np.random.default_rng(0), format="csr")
    model = KernelInformationEmbedding(max_iter=3).fit(rows, given=np.arange(60) % 2)
    Z, many = np.repeat(model.embedding_, 50, axis=0), sparse.vstack([rows] * 50, format="csr")
    tracemalloc.start()
    try:
        model.inverse_transform(Z, columns=[0, 5])
        model.counterfactual(many, given=1, given_now=0, residual=0.5, return_std=True, columns=[0, 5])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 0.25 * len(Z) * 3000 * 8


def test_columns_are_chosen_by_name_through_a_pipeline():
    table = pd.DataFrame(FULL[:, :12], columns=[f"g{i}" for i in range(12)])
    for model in (
        make_pipeline(CountEncoder(3), KernelInformationEmbedding(max_iter=5)),
        KernelInformationEmbedding(max_iter=5),
        ProbabilisticPCA(2),
        TwoWayEmbedding(PCA(2)),
    ):
        Z = model.fit(table).transform(table)
        some = model.inverse_transform(Z, columns=["g7", "g2"])
        np.testing.assert_allclose(some, model.inverse_transform(Z)[:, [7, 2]], rtol=1e-12, atol=1e-12)
    encoder = CountEncoder(3).fit(table)
    codes = encoder.transform(table)
    every = encoder.inverse_transform(codes)
    np.testing.assert_allclose(encoder.inverse_transform(codes, columns="g3"), every[:, [3]], rtol=1e-12)


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        (["g1"], r"columns=g1 is a name, and the columns have none\. Give column numbers"),
        ([90], r"columns=90 is outside the 90 columns of the data"),
        ([], r"columns=nothing names no column"),
        ([True, False], r"columns=mask of 2 does not match the 90 columns"),
    ],
)
def test_columns_that_are_not_there_get_a_sentence(informed, columns, sentence):
    with pytest.raises(ValueError, match=rf"KernelInformationEmbedding: {sentence}"):
        informed.inverse_transform(informed.embedding_, columns=columns)

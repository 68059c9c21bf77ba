"""Methods of scikit-learn inside TwoWayEmbedding keep their own maps, also in a file."""

import numpy as np
import pytest
from sklearn.decomposition import PCA, FactorAnalysis, FastICA, IncrementalPCA, KernelPCA, TruncatedSVD
from sklearn.manifold import Isomap

import sidelight
from sidelight import TwoWayEmbedding

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(80, 3)) @ RNG.normal(size=(3, 6)) + 0.1 * RNG.normal(size=(80, 6)) + 50.0
X, NEW = ROWS[:60], ROWS[60:] * 3.0
LINEAR = {
    "pca": PCA(2),
    "whitened": PCA(2, whiten=True),
    "pca of all columns": PCA(),
    "incremental": IncrementalPCA(2, whiten=True),
    "factors": FactorAnalysis(2),
    "sources": FastICA(2, random_state=0, whiten="unit-variance"),
    "svd": TruncatedSVD(2, random_state=0),
}


@pytest.mark.parametrize("name", LINEAR)
def test_new_rows_are_embedded_as_the_method_itself_does_before_and_after_saving(name, tmp_path):
    model = TwoWayEmbedding(LINEAR[name]).fit(X)
    sidelight.save(model, tmp_path / "m.sidelight")
    back = sidelight.load(tmp_path / "m.sidelight")
    expected = model.estimator_.transform(NEW)
    np.testing.assert_allclose(model.transform(NEW), expected, rtol=1e-10, atol=1e-10)
    np.testing.assert_array_equal(back.transform(NEW), model.transform(NEW))
    np.testing.assert_allclose(model.transform(X), model.embedding_, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(back.inverse_transform(expected), model.inverse_transform(expected))


@pytest.mark.parametrize("name", [name for name in LINEAR if name != "factors"])
def test_the_way_back_is_that_of_the_method_itself(name):
    model = TwoWayEmbedding(LINEAR[name]).fit(X)
    Z = 2.0 * model.embedding_[:10]
    np.testing.assert_allclose(model.inverse_transform(Z), model.estimator_.inverse_transform(Z), rtol=1e-9)


def test_the_way_back_of_factor_analysis_is_the_mean_of_its_model():
    model = TwoWayEmbedding(FactorAnalysis(2)).fit(X)
    own = model.estimator_
    Z = model.embedding_[:10]
    np.testing.assert_allclose(model.inverse_transform(Z), Z @ own.components_ + own.mean_)


def test_sources_of_rows_that_are_white_already_are_not_centred():
    rng = np.random.default_rng(1)
    white = PCA(whiten=True).fit_transform(rng.laplace(size=(300, 3)))
    model = TwoWayEmbedding(FastICA(random_state=0, whiten=False)).fit(white)
    new = rng.normal(size=(5, 3)) + 1.0
    np.testing.assert_allclose(model.transform(new), model.estimator_.transform(new))
    np.testing.assert_allclose(model.inverse_transform(new), model.estimator_.inverse_transform(new))


def test_the_score_is_the_share_of_variance_that_the_components_explain():
    model = TwoWayEmbedding(PCA(2)).fit(X)
    assert model.score(X) == pytest.approx(model.estimator_.explained_variance_ratio_.sum())
    np.testing.assert_allclose(model.denoise(NEW), model.inverse_transform(model.transform(NEW)))


def test_kernel_maps_remain_for_linear_methods_on_request():
    own, kernel = (TwoWayEmbedding(PCA(2), maps=maps).fit(X) for maps in ("own", "kernel"))
    assert not hasattr(kernel, "linear_")
    assert np.abs(kernel.transform(NEW) - own.transform(NEW)).max() > 1.0  # a mean of training rows is among them


def test_a_refit_with_another_method_forgets_the_linear_maps():
    model = TwoWayEmbedding(PCA(2)).fit(X)
    model.fit(X, embedding=X[:, :2] ** 2)
    assert not hasattr(model, "linear_")


def test_unknown_maps_are_refused():
    with pytest.raises(ValueError, match=r"TwoWayEmbedding: maps=mine is not an option. Choose one of 'own', 'kernel'"):
        TwoWayEmbedding(maps="mine").fit(X)


def test_float32_rows_give_float32_places():
    single = X.astype(np.float32)
    model = TwoWayEmbedding(PCA(2)).fit(single)
    assert model.transform(single).dtype == np.float32
    np.testing.assert_allclose(model.transform(single), model.embedding_, atol=1e-3)


NONLINEAR = {
    "rbf": KernelPCA(2, kernel="rbf", gamma=0.02),
    "rbf of its own width": KernelPCA(2, kernel="rbf"),
    "poly": KernelPCA(2, kernel="poly", degree=2, gamma=1e-3),
    "cosine": KernelPCA(2, kernel="cosine"),
    "linear": KernelPCA(2),
    "isomap": Isomap(n_neighbors=8),
    "isomap, few paths": Isomap(n_neighbors=3, n_components=1),
}


@pytest.mark.parametrize("name", NONLINEAR)
@pytest.mark.filterwarnings("ignore:The number of connected components")
def test_kernel_components_and_isomap_embed_new_rows_as_they_do_themselves(name, tmp_path):
    model = TwoWayEmbedding(NONLINEAR[name]).fit(X)
    new = ROWS[60:]
    expected = model.estimator_.transform(new)
    size = np.abs(model.embedding_).max()
    np.testing.assert_allclose(model.transform(new), expected, rtol=1e-7, atol=1e-7 * size)
    np.testing.assert_allclose(model.transform(X), model.embedding_, rtol=1e-6, atol=1e-6 * size)
    one = np.concatenate([model.transform(row[None]) for row in new])
    np.testing.assert_allclose(one, model.transform(new), rtol=1e-12, atol=1e-12 * size)
    sidelight.save(model, tmp_path / "m.sidelight")
    back = sidelight.load(tmp_path / "m.sidelight")
    np.testing.assert_array_equal(back.transform(new), model.transform(new))
    np.testing.assert_allclose(model.denoise(new), model.inverse_transform(model.transform(new)))
    assert model.score(X) > 0.3


def test_projections_that_are_not_known_stay_kernel_maps():
    laplacian = KernelPCA(2, kernel=lambda a, b: float(np.exp(-np.abs(a - b).sum() / 9)))
    for estimator in (laplacian, Isomap(metric="manhattan"), Isomap(n_neighbors=None, radius=9.0)):
        model = TwoWayEmbedding(estimator).fit(X)
        assert not hasattr(model, "projection_")
        assert np.isfinite(model.transform(NEW)).all()
    assert not hasattr(TwoWayEmbedding(Isomap(), maps="kernel").fit(X), "projection_")

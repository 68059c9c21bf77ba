"""``sidelight.anndata.embed``: rows and side information by name, results where scanpy looks for them."""

import warnings

import anndata
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import sidelight
from sidelight import Conditioning, KernelInformationEmbedding, ProbabilisticPCA
from sidelight.anndata import embed
from sidelight.anndata._parts import read_part
from sidelight.base.warnings import DesignWarning

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.mark.thorough
def test_the_embedding_is_that_of_the_model_on_the_same_table(fitted):
    cells, model = fitted
    table = pd.DataFrame(cells.X, columns=cells.var_names)
    expected = KernelInformationEmbedding(max_iter=80).fit(table, given=cells.obs[["batch", "pct_mito"]])
    np.testing.assert_array_equal(cells.obsm["X_sidelight"], expected.embedding_)
    assert type(cells.obsm["X_sidelight"]) is np.ndarray
    assert model.feature_names_in_.tolist() == cells.var_names.tolist()


@pytest.mark.thorough
def test_columns_of_obs_are_categories_or_numbers_by_their_type(cells):
    cells.obs["plate"] = pd.Categorical(np.arange(160) % 3)  # categories that look like numbers
    cells.obs["treated"] = np.arange(160) % 2 == 0
    cells.obs["depth"] = np.arange(160, dtype=np.float32) % 4  # numbers that look like categories
    model = embed(cells, given=["plate", "treated", "depth", "batch"], max_iter=3)
    assert [column.kind for column in model.given_.columns] == ["category", "category", "number", "category"]


def test_given_is_factored_out(fitted):
    cells, _ = fitted
    Z, batch = cells.obsm["X_sidelight"], cells.obs["batch"].to_numpy()
    assert sidelight.evaluate.recovery(Z, batch) < 0.65
    assert sidelight.evaluate.recovery(Z, cells.obs["time"].to_numpy()) > 0.9


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csc_matrix])
@pytest.mark.parametrize("backed", [False, True])
def test_sparse_and_backed_objects_are_read(kind, backed, cells, tmp_path):
    dense = np.where(np.abs(cells.X) > 0.5, cells.X, 0.0)
    sparse_cells = anndata.AnnData(kind(dense), obs=cells.obs, var=cells.var)
    if backed:
        sparse_cells.write_h5ad(tmp_path / "cells.h5ad")
        sparse_cells = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    found = read_part(sparse_cells).values
    assert sparse.issparse(found)
    np.testing.assert_array_equal(found.toarray(), dense)
    embed(sparse_cells, max_iter=5)
    assert sparse_cells.obsm["X_sidelight"].shape == (160, 2)
    if backed:
        sparse_cells.file.close()


@pytest.mark.thorough
def test_a_backed_dense_object_gives_the_same_embedding(cells, tmp_path):
    cells.write_h5ad(tmp_path / "cells.h5ad")
    backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    embed(backed, given="batch", max_iter=10)
    embed(cells, given="batch", max_iter=10)
    np.testing.assert_array_equal(backed.obsm["X_sidelight"], cells.obsm["X_sidelight"])
    assert embed(backed, max_iter=3, copy=True).isbacked is False
    with pytest.raises(ValueError, match=r"embed: adata=a backed view is a view of an object in a file.*copy=True"):
        embed(backed[:80], max_iter=3)
    backed.file.close()


def test_layers_and_representations_are_chosen_by_name(cells):
    cells.layers["double"] = 2 * cells.X
    cells.obsm["X_pca"] = cells.X[:, :5]
    by_layer = embed(cells, layer="double", key_added="X_layer", max_iter=5)
    by_rep = embed(cells, use_rep="X_pca", key_added="pca_map", n_components=3, max_iter=5)
    np.testing.assert_allclose(by_layer.frame_.centre, 2 * cells.X.mean(axis=0))
    assert by_rep.feature_names_in_.tolist() == [f"X_pca_{i}" for i in range(1, 6)]
    assert cells.obsm["pca_map"].shape == (160, 3)
    assert {"layer", "pca_map"} <= set(cells.uns)
    assert (cells.uns["layer"]["layer"], cells.uns["pca_map"]["use_rep"]) == ("double", "X_pca")


@pytest.mark.thorough
def test_the_record_of_the_fit_survives_a_file(cells, tmp_path):
    model = embed(
        cells, given=["batch", "pct_mito"], perplexity=20.0, regularization=sidelight.Annealing(0.2), max_iter=5
    )
    cells.write_h5ad(tmp_path / "cells.h5ad")
    record = anndata.read_h5ad(tmp_path / "cells.h5ad").uns["sidelight"]
    assert record["method"] == "KernelInformationEmbedding"
    assert record["params"]["perplexity"] == 20.0
    assert record["params"]["regularization"].startswith("Annealing(")
    assert list(record["given"]) == ["batch", "pct_mito"]
    assert record["cost"]["bytes"] == model.estimate_cost(160, 12, given=True).bytes
    assert record["seconds"] > 0
    assert record["version"] == sidelight.__version__


def test_a_copy_leaves_the_object_as_it_was(cells):
    model = KernelInformationEmbedding(max_iter=5)
    other = embed(cells, estimator=model, copy=True)
    assert "X_sidelight" not in cells.obsm
    assert not cells.uns
    np.testing.assert_array_equal(other.obsm["X_sidelight"], model.embedding_)


def test_a_written_embedding_is_no_window_on_the_model(cells):
    model = embed(cells, max_iter=3)
    before = model.embedding_.copy()
    cells.obsm["X_sidelight"][:] = 0
    np.testing.assert_array_equal(model.embedding_, before)


@pytest.mark.thorough
def test_pipelines_are_fitted_with_given_in_their_last_step(cells):
    pipeline = make_pipeline(StandardScaler(), KernelInformationEmbedding(max_iter=5))
    assert embed(cells, given="batch", estimator=pipeline) is pipeline
    assert pipeline[-1].given_.columns[0].name == "batch"
    assert set(cells.uns["sidelight"]["params"]) == {"standardscaler", "kernelinformationembedding"}


@pytest.mark.thorough
def test_what_goes_with_what_is_given_is_said_before_the_fit(cells):
    cells.obs["condition"] = np.where(cells.obs["batch"] == "one", "ctrl", "stim")
    cells.obs["donor"] = np.where(np.arange(160) % 2, cells.obs["batch"].astype(str), "other")
    with warnings.catch_warnings():
        warnings.simplefilter("error", DesignWarning)
        with pytest.raises(DesignWarning, match=r"'condition' splits the cells as 'batch' does \('one' with 'ctrl'"):
            embed(cells, given="batch", keep="condition", max_iter=3)
        assert "X_sidelight" not in cells.obsm
        embed(cells, given="batch", keep=["donor", "time"], max_iter=3)
    assert "X_sidelight" in cells.obsm


@pytest.mark.thorough
def test_the_types_of_conditioning_hold_for_what_is_kept(cells):
    cells.obs["plate"] = np.where(cells.obs["batch"] == "one", 1.5, 2.5)
    conditioning = Conditioning(types={"plate": "category"})
    with pytest.warns(DesignWarning, match=r"keep='batch' splits the cells as 'plate' does \(1\.5 with 'one'"):
        embed(cells, given="plate", keep="batch", conditioning=conditioning, max_iter=3)


def test_a_fit_that_fails_writes_nothing(cells):
    with pytest.raises(ValueError, match="perplexity"):
        embed(cells, perplexity=-1.0)
    assert "X_sidelight" not in cells.obsm
    assert not cells.uns


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"given": "bach"}, r"embed: given=bach is not a column of adata\.obs\. There is: 'batch', 'pct_mito'"),
        ({"given": "batch", "keep": "type"}, r"embed: keep=type is not a column of adata\.obs"),
        ({"given": "batch", "keep": ["batch"]}, r"embed: keep=batch is factored out by given, and cannot be kept"),
        ({"use_rep": "X_pca"}, r"embed: use_rep=X_pca is not in adata\.obsm\. There is: none"),
        ({"layer": "counts"}, r"embed: layer=counts is not in adata\.layers\. There is: none"),
        ({"layer": "a", "use_rep": "b"}, r"embed: layer=a contradicts use_rep='b'"),
        ({"estimator": ProbabilisticPCA(2), "given": "batch"}, r"embed: estimator=ProbabilisticPCA takes no given"),
        ({"estimator": ProbabilisticPCA(2), "max_iter": 3}, r"sets its own parameters\. Set max_iter there"),
    ],
)
def test_wrong_names_get_a_sentence(arguments, sentence, cells):
    with pytest.raises(ValueError, match=sentence):
        embed(cells, **arguments)


def test_what_is_no_anndata_gets_a_sentence(cells):
    with pytest.raises(TypeError, match=r"embed: adata=ndarray is no AnnData object\. Give an AnnData object"):
        embed(cells.X)
    with pytest.raises(ValueError, match=r"embed: adata=AnnData has no X\. Give layer= \(none\) or use_rep="):
        embed(anndata.AnnData(obs=cells.obs))


def test_a_fit_warns_at_the_line_of_the_user(cells):
    with pytest.warns(ConvergenceWarning) as seen:
        embed(cells, max_iter=1)
    assert seen[0].filename == __file__


def test_a_view_becomes_an_object_of_its_own_and_that_is_said_at_the_line_of_the_user(cells):
    view = cells[:100]
    with pytest.warns(UserWarning, match=r"embed: adata=a view is made an object of its own") as seen:
        embed(view, max_iter=3)
    assert [one.filename for one in seen if "view" in str(one.message)] == [__file__]
    assert not view.is_view
    assert view.obsm["X_sidelight"].shape == (100, 2)
    assert "X_sidelight" not in cells.obsm


@pytest.mark.thorough
def test_types_that_exist_in_one_batch_only_are_named(tmp_path):
    rng = np.random.default_rng(0)
    kind, batch = np.repeat([0, 1, 2, 1, 2, 0, 3], 40), np.repeat(["a", "b"], [120, 160])
    X = rng.normal(size=(280, 8)) + 7.0 * np.eye(8)[kind] + np.where(batch == "b", 1.0, 0.0)[:, None]
    obs = pd.DataFrame({"batch": batch, "type": np.array(["T", "B", "NK", "A549"])[kind]})
    cells = anndata.AnnData(X, obs=obs.set_index(np.arange(280).astype(str)))
    model = embed(cells, given="batch", keep="type", max_iter=20, tol=1e-2)
    assert len(cells.uns["sidelight"]["only_here"]) == 1
    count, rest = cells.uns["sidelight"]["only_here"][0].split(" ", 1)
    assert rest == "of 40 cells with type = 'A549' exist in batch = 'b' only"
    assert 35 < int(count) <= int(model.only_here_[0].split(" ")[0])  # which counts all cells of the batch, by one rule
    cells.write_h5ad(tmp_path / "cells.h5ad")
    embed(cells, given="batch", estimator=model, key_added="X_again")
    assert list(cells.uns["again"]["only_here"]) == model.only_here_

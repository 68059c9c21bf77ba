"""Genes that put groups of cells where they are."""

import anndata
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import sidelight
from sidelight import CountEncoder, TwoWayEmbedding
from sidelight.anndata import attributions, embed
from sidelight.pipeline import make_pipeline

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
MARKERS = {"a": ["gene0", "gene1"], "b": ["gene2", "gene3"]}


def kinds_of_cells(n=120, d=12):
    """Two kinds with two marker genes each, in two batches that shift other genes and hold unequal shares of them."""
    rng = np.random.default_rng(0)
    batch = np.arange(n) % 2
    kind = np.where(rng.uniform(size=n) < np.where(batch == 1, 0.65, 0.35), "a", "b")
    X = 0.5 * rng.normal(size=(n, d)) + 4.0 * np.outer(batch, np.arange(d) >= 9)
    for name, genes in MARKERS.items():
        X[np.ix_(kind == name, [int(gene[4:]) for gene in genes])] += 4.0
    obs = pd.DataFrame({"kind": pd.Categorical(kind), "batch": batch.astype(str)}, index=[f"cell{i}" for i in range(n)])
    return anndata.AnnData(X, obs=obs, var=pd.DataFrame(index=[f"gene{j}" for j in range(d)]))


@pytest.fixture(scope="module")
def explained():
    cells = kinds_of_cells()
    model = embed(cells, given="batch", max_iter=20)
    attributions(cells, model, groupby="kind")
    return cells, model


@pytest.mark.thorough
def test_markers_are_ranked_first_and_genes_of_the_batch_are_not(explained):
    cells, _ = explained
    found = cells.uns["attributions"]
    assert found["names"].dtype.names == ("a", "b")
    for kind in ("a", "b"):
        assert set(found["names"][kind][:4]) == {"gene0", "gene1", "gene2", "gene3"}  # up in one, down in the other
        assert (found["pvals_adj"][kind][:4] < 1e-6).all()
        others = np.isin(found["names"][kind], ["gene9", "gene10", "gene11"])
        assert np.abs(found["scores"][kind][others]).max() < 0.1 * found["scores"][kind][0]


def test_contributions_in_the_table_sum_to_the_distance_on_the_map(explained):
    cells, model = explained
    table = cells.uns["attributions"]["table"]
    Z = model.transform(cells.to_df(), given=cells.obs[["batch"]])
    own = (cells.obs["kind"] == "a").to_numpy()
    sums = table[table.group == "a"].groupby("axis", sort=False).contribution.sum()
    np.testing.assert_allclose(sums, Z[own].mean(axis=0) - Z[~own].mean(axis=0), atol=1e-10)


def test_result_survives_a_file(explained, tmp_path):
    cells, _ = explained
    cells.write_h5ad(tmp_path / "cells.h5ad")
    read = anndata.read_h5ad(tmp_path / "cells.h5ad").uns["attributions"]
    assert list(read["names"]["a"]) == list(cells.uns["attributions"]["names"]["a"])
    assert read["params"]["groupby"] == "kind"


@pytest.mark.thorough
def test_a_selection_by_name_or_mask_is_compared_with_the_rest(explained):
    cells, model = explained
    own = (cells.obs["kind"] == "b").to_numpy()
    for chosen in (own, cells.obs_names[own]):
        out = attributions(cells, model, selection=chosen, key_added="chosen", copy=True)
        assert out.uns["chosen"]["names"].dtype.names == ("selection",)
        np.testing.assert_allclose(out.uns["chosen"]["scores"]["selection"], cells.uns["attributions"]["scores"]["b"])
    assert "chosen" not in cells.uns


@pytest.mark.thorough
def test_counts_are_explained_through_the_encoder():
    rng = np.random.default_rng(1)
    kind = np.arange(80) % 2
    counts = rng.poisson(2.0 + 8.0 * np.outer(kind, np.arange(15) < 2)).astype(float)
    obs = pd.DataFrame({"kind": kind.astype(str)}, index=[f"cell{i}" for i in range(80)])
    cells = anndata.AnnData(sparse.csr_matrix(counts), obs=obs, var=pd.DataFrame(index=[f"gene{j}" for j in range(15)]))
    model = embed(cells, estimator=make_pipeline(CountEncoder(5), TwoWayEmbedding(maps="kernel")))
    attributions(cells, model, groupby="kind")
    assert set(cells.uns["attributions"]["names"]["1"][:2]) == {"gene0", "gene1"}


def test_what_does_not_say_which_cells_is_refused(explained):
    cells, model = explained
    for options in ({}, {"groupby": "kind", "selection": [True] * 120}):
        with pytest.raises(ValueError, match="which cells"):
            attributions(cells, model, **options)
    with pytest.raises(ValueError, match="There is: 'kind'"):
        attributions(cells, model, groupby="type")
    with pytest.raises(ValueError, match="name of a cell"):
        attributions(cells, model, selection=["nobody"])
    with pytest.raises(ValueError, match="mask"):
        attributions(cells, model, selection=np.ones(3, dtype=bool))


def test_scanpy_draws_the_result(explained):
    sc = pytest.importorskip("scanpy")
    pytest.importorskip("matplotlib").use("Agg")
    cells, _ = explained
    assert sc.pl.rank_genes_groups(cells, key="attributions", n_genes=4, show=False) is not None


def test_the_function_is_public():
    assert sidelight.anndata.attributions is attributions


def with_components(cells, *, centred=True, k=6):
    """``obsm["X_pca"]`` and ``varm["PCs"]`` as scanpy writes them; one gene is not used, and has loadings of 0."""
    X = np.asarray(cells.X)
    used = np.arange(X.shape[1]) != 5
    middle = X[:, used].mean(axis=0) if centred else 0.0
    V = np.linalg.svd(X[:, used] - middle, full_matrices=False)[2][:k].T
    cells.obsm["X_pca"] = ((X[:, used] - middle) @ V).astype(np.float32)
    cells.varm["PCs"] = np.zeros((X.shape[1], k))
    cells.varm["PCs"][used] = V
    return cells


@pytest.mark.parametrize("centred", [True, False])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_a_model_of_principal_components_is_explained_by_genes(form, centred):
    cells = with_components(kinds_of_cells(), centred=centred)
    model = embed(cells, given="batch", use_rep="X_pca", max_iter=10)
    cells.X = form(cells.X)
    attributions(cells, model, groupby="kind")
    found = cells.uns["attributions"]
    assert set(found["names"]["a"][:3]) < {"gene0", "gene1", "gene2", "gene3"}
    assert "gene5" not in found["names"]["a"]
    columns = pd.DataFrame(cells.obsm["X_pca"], columns=model.feature_names_in_)
    Z = model.transform(columns, given=cells.obs[["batch"]].reset_index(drop=True))
    own = (cells.obs["kind"] == "a").to_numpy()
    sums = found["table"][found["table"].group == "a"].groupby("axis", sort=False).contribution.sum()
    np.testing.assert_allclose(sums, Z[own].mean(axis=0) - Z[~own].mean(axis=0), rtol=1e-4, atol=1e-4)


@pytest.mark.thorough
def test_components_that_are_not_there_or_of_other_data_get_a_sentence():
    cells = with_components(kinds_of_cells())
    model = embed(cells, use_rep="X_pca", max_iter=5)
    other = cells.copy()
    other.X = np.exp(other.X)
    with pytest.raises(ValueError, match=r"use_rep=X_pca is not X times varm\['PCs'\] \(\d+% of it"):
        attributions(other, model, groupby="kind")
    other.layers["log"] = cells.X
    attributions(other, model, groupby="kind", layer="log")
    with pytest.raises(ValueError, match=r"loadings=mine is not in adata\.varm\. There is: 'PCs'"):
        attributions(cells, model, groupby="kind", loadings="mine")
    del cells.varm["PCs"]
    with pytest.raises(ValueError, match=r"use_rep=X_pca has no varm\['PCs'\] or varm\['X_pca'\] that says how genes"):
        attributions(cells, model, groupby="kind")
    attributions(cells, model, groupby="kind", loadings=None)
    assert set(cells.uns["attributions"]["names"]["a"]) == {f"X_pca_{k + 1}" for k in range(6)}

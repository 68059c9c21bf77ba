"""``transform`` and ``counterfactual`` of AnnData objects: genes and columns of ``obs`` matched by name."""

import re

import anndata
import numpy as np
import pandas as pd
import pytest
from anndata_cells import made_cells
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import sidelight
from sidelight import KernelInformationEmbedding
from sidelight.anndata import adapt, corrected, counterfactual, embed, transform

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def places(query, model, **options):
    return transform(query, model, copy=True, **options).obsm["X_sidelight"]


@pytest.fixture
def query():
    return made_cells(40, seed=1)


def test_reference_cells_keep_their_places(fitted):
    cells, model = fitted
    np.testing.assert_allclose(places(cells, model), cells.obsm["X_sidelight"], atol=1e-8)


def test_genes_are_matched_by_name_in_any_order_and_others_are_left_out(fitted, query):
    _, model = fitted
    expected = places(query, model)
    extra = anndata.AnnData(np.full((40, 2), 7.0), obs=query.obs, var=pd.DataFrame(index=["new1", "new2"]))
    shuffled = anndata.concat([query, extra], axis="var", merge="first")[:, np.random.default_rng(0).permutation(14)]
    np.testing.assert_allclose(places(shuffled, model), expected, rtol=1e-12)
    shuffled = shuffled.copy()
    shuffled.X = sparse.csr_matrix(shuffled.X)
    np.testing.assert_allclose(places(shuffled, model), expected, rtol=1e-12)


def test_missing_genes_are_filled_in_with_the_cells_own_reconstruction(fitted, query):
    _, model = fitted
    whole = places(query, model)
    some = query[:, [1, 2, 3, 5, 6, 7, 9, 10]].copy()
    sentence = r"transform: adata=X lacks 4 of the 12 columns .*\(gene0, gene4, gene8, \.\.\.\)"
    with pytest.warns(UserWarning, match=sentence):
        found = places(some, model)
    zeros = query.copy()
    zeros.X[:, [0, 4, 8, 11]] = model.frame_.centre[[0, 4, 8, 11]]
    by_mean = places(zeros, model)
    moved = [np.linalg.norm(Z - whole, axis=1).mean() for Z in (found, by_mean)]
    assert moved[0] < 0.7 * moved[1]


def test_filled_in_cells_are_placed_one_by_one(fitted, query):
    _, model = fitted
    some = query[:, :9].copy()
    with pytest.warns(UserWarning, match="lacks 3 of the 12 columns"):
        np.testing.assert_allclose(places(some[3:4].copy(), model), places(some, model)[3:4], rtol=1e-10)


def test_an_unseen_batch_is_placed_by_the_average_over_given(fitted, query):
    _, model = fitted
    query.obs["batch"] = query.obs["batch"].astype(object)
    query.obs.loc[query.obs_names[:10], "batch"] = "three"
    sentence = r"transform: adata=obs\['batch'\] has 'three', which the model was not fitted with, in 10 of 40 cells"
    with pytest.warns(UserWarning, match=sentence):
        found = places(query, model)
    table = pd.DataFrame(query.X, columns=query.var_names)
    np.testing.assert_array_equal(found[:10], model.transform(table)[:10])
    known = query.obs[["batch", "pct_mito"]][10:]
    np.testing.assert_allclose(found[10:], model.transform(table[10:], given=known), rtol=1e-12)


def test_without_the_columns_cells_are_placed_by_the_average_over_given(fitted, query):
    _, model = fitted
    expected = model.transform(pd.DataFrame(query.X, columns=query.var_names))
    np.testing.assert_array_equal(places(query, model, use_given=False), expected)
    del query.obs["pct_mito"]
    with pytest.warns(UserWarning, match=r"transform: adata=obs lacks 'pct_mito', which the model was given"):
        np.testing.assert_array_equal(places(query, model), expected)


def test_a_model_of_a_representation_finds_it_by_its_columns_also_from_a_file(cells, query, tmp_path):
    pca = PCA(4).fit(cells.X)
    for data in (cells, query):
        data.obsm["X_pca"] = pca.transform(data.X)
    model = embed(cells, use_rep="X_pca", max_iter=20)
    sidelight.save(model, tmp_path / "model.sidelight")
    found = places(query, sidelight.load(tmp_path / "model.sidelight"))
    named = pd.DataFrame(query.obsm["X_pca"], columns=model.feature_names_in_)
    np.testing.assert_array_equal(found, model.transform(named))


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::sidelight.base.warnings.ExtrapolationWarning")  # about places, not overlap
def test_pipelines_place_cells_with_given(cells, query):
    pipeline = make_pipeline(PCA(5), KernelInformationEmbedding(max_iter=80))
    embed(cells, given="batch", estimator=pipeline)
    rows = pipeline[0].transform(pd.DataFrame(query.X, columns=query.var_names))
    np.testing.assert_array_equal(places(query, pipeline), pipeline[1].transform(rows, given=query.obs[["batch"]]))
    counterfactual(query, pipeline, to={"batch": "two"})
    assert query.layers["counterfactual"].shape == query.shape


def test_transform_writes_in_place_and_returns_nothing(fitted, query):
    _, model = fitted
    assert transform(query, model, key_added="X_other") is None
    assert query.obsm["X_other"].shape == (40, 2)


def test_a_query_without_any_gene_of_the_model_is_refused(fitted, query):
    _, model = fitted
    query.var_names = [f"ENSG{i}" for i in range(12)]
    with pytest.raises(ValueError, match=r"is none of the 12 that the model was fitted on, such as 'gene0'\. Rename"):
        transform(query, model)


def test_a_model_without_names_needs_as_many_columns(cells):
    model = KernelInformationEmbedding(max_iter=5).fit(cells.X[:, :6])
    with pytest.raises(ValueError, match=r"12 columns of X does not match the 6 columns of the model"):
        transform(cells, model)
    np.testing.assert_array_equal(places(cells[:, :6], model), model.transform(cells.X[:, :6]))


def test_counterfactuals_change_the_named_column_and_keep_the_others(fitted):
    cells, model = fitted
    out = counterfactual(cells, model, to={"batch": "two"}, layer_added="as_two", copy=True)
    known = pd.DataFrame({"batch": ["two"] * 160, "pct_mito": cells.obs["pct_mito"].to_numpy()})
    expected = model.counterfactual(pd.DataFrame(cells.X, columns=cells.var_names), given=known)
    np.testing.assert_array_equal(out.layers["as_two"], expected)
    assert "as_two" not in cells.layers
    ones = (cells.obs["batch"] == "one").to_numpy()
    shift = cells.X[~ones].mean(axis=0) - cells.X[ones].mean(axis=0)
    moved = (out.layers["as_two"] - cells.X)[ones].mean(axis=0)
    assert np.corrcoef(shift, moved)[0, 1] > 0.95


def test_individual_counterfactuals_use_what_the_cells_are_now(fitted):
    cells, model = fitted
    out = counterfactual(cells, model, to={"batch": "two"}, individual=True, copy=True)
    own = cells.obs[[column.name for column in model.given_.columns]].reset_index(drop=True)
    rows = pd.DataFrame(cells.X, columns=cells.var_names)
    expected = model.counterfactual(rows, given=own.assign(batch="two"), given_now=own)
    np.testing.assert_allclose(out.layers["counterfactual"], expected)


def test_counterfactual_layers_have_the_genes_of_the_object(fitted, query):
    _, model = fitted
    extra = anndata.AnnData(np.zeros((40, 1)), obs=query.obs, var=pd.DataFrame(index=["new"]))
    wide = anndata.concat([extra, query[:, ::-1]], axis="var", merge="first")
    counterfactual(wide, model, to={"batch": "one"})
    counterfactual(query, model, to={"batch": "one"})
    assert np.isnan(wide.layers["counterfactual"][:, 0]).all()
    np.testing.assert_allclose(wide.layers["counterfactual"][:, :0:-1], query.layers["counterfactual"], rtol=1e-12)


@pytest.mark.filterwarnings("ignore::sidelight.base.warnings.ExtrapolationWarning")  # about places, not overlap
@pytest.mark.thorough
def test_counterfactuals_of_a_representation_go_to_obsm(cells):
    cells.obsm["X_pca"] = PCA(4).fit_transform(cells.X)
    model = embed(cells, use_rep="X_pca", given="batch", max_iter=80)
    counterfactual(cells, model, to={"batch": "two"}, layer_added="X_pca_two")
    assert cells.obsm["X_pca_two"].shape == (160, 4)


def missing_value(query):
    query.obs.loc[query.obs_names[0], "pct_mito"] = np.nan


@pytest.mark.parametrize(
    ("change", "to", "sentence"),
    [
        (None, {"bach": "two"}, "to=bach is no column that the model was given. It was given 'batch', 'pct_mito'."),
        (None, {}, "to=nothing does not say what is to be different."),
        (None, {"batch": "three"}, "three"),
        (missing_value, {"batch": "two"}, "adata=obs['pct_mito'] is missing in 1 of 40 cells."),
    ],
)
def test_counterfactuals_that_cannot_be_get_a_sentence(change, to, sentence, fitted, query):
    _, model = fitted
    if change is not None:
        change(query)
    with pytest.raises(ValueError, match=re.escape(sentence)):
        counterfactual(query, model, to=to)


def test_counterfactuals_need_a_model_with_given(cells):
    model = embed(cells, max_iter=3)
    with pytest.raises(ValueError, match=r"counterfactual: model=KernelInformationEmbedding was not fitted with given"):
        counterfactual(cells, model, to={"batch": "two"})


def test_corrected_cells_are_those_of_the_model_with_columns_of_obs(fitted):
    cells, model = fitted
    table, known = pd.DataFrame(cells.X, columns=cells.var_names), cells.obs[["batch", "pct_mito"]]
    out = corrected(cells, model, copy=True)
    np.testing.assert_array_equal(out.layers["corrected"], model.corrected(table, given=known))
    corrected(out, model, to={"batch": "one"}, layer_added="as_one")
    goal = known.assign(batch="one")
    np.testing.assert_array_equal(out.layers["as_one"], model.corrected(table, given=known, to=goal))
    ones = (cells.obs["batch"] == "one").to_numpy()
    np.testing.assert_allclose(out.layers["as_one"][ones], cells.X[ones], atol=1e-10)


def test_corrected_cells_need_a_model_with_given(cells):
    with pytest.raises(ValueError, match=r"corrected: model=KernelInformationEmbedding has no effect of given"):
        corrected(cells, embed(cells, max_iter=3))


@pytest.mark.parametrize("write", [counterfactual, corrected])
def test_some_genes_are_written_as_a_table(write, fitted):
    cells, model = fitted[0].copy(), fitted[1]
    write(cells, model, to={"batch": "two"}, layer_added="all")
    write(cells, model, to={"batch": "two"}, layer_added="some", genes=["gene7", "gene2"])
    assert cells.obsm["some"].columns.tolist() == ["gene7", "gene2"]
    assert cells.obsm["some"].index.equals(cells.obs_names)
    whole = pd.DataFrame(cells.layers["all"], index=cells.obs_names, columns=cells.var_names)
    pd.testing.assert_frame_equal(cells.obsm["some"], whole[["gene7", "gene2"]], check_names=False)
    with pytest.raises(ValueError, match=rf"{write.__name__}: genes=MX1 is not among the 12 columns of the model"):
        write(cells, model, to={"batch": "two"}, genes="MX1")


def test_standard_deviations_are_written_beside_the_cells(fitted):
    cells, model = fitted[0].copy(), fitted[1]
    counterfactual(cells, model, to={"batch": "two"}, std_added="std")
    counterfactual(cells, model, to={"batch": "two"}, genes="gene2", layer_added="some", std_added="some_std")
    known = cells.obs[["pct_mito"]].assign(batch="two")[[c.name for c in model.given_.columns]]
    rows, std = model.counterfactual(cells.to_df(), given=known, return_std=True)
    np.testing.assert_array_equal(cells.layers["counterfactual"], rows)
    np.testing.assert_array_equal(cells.layers["std"], std)
    np.testing.assert_array_equal(cells.obsm["some_std"]["gene2"], cells.layers["std"][:, 2])


def test_a_new_batch_is_averaged_over_or_added_and_both_are_said(fitted):
    reference, model = fitted
    later = reference[::4].copy()
    later.X = later.X + 2.0
    later.obs["batch"] = pd.Categorical(np.where(np.arange(later.n_obs) % 2, "later", later.obs["batch"].astype(str)))
    with pytest.warns(UserWarning, match=r"has 'later', which the model was not fitted with, in 20 of 40 cells.*adapt"):
        transform(later, model)
    with pytest.raises(
        ValueError, match=r"has no value that the model knows in 20 cells\. Leave these cells out, or add"
    ):
        corrected(later, model)
    wider = adapt(later, model)
    assert "batch = 'later': its offset is from 20 rows" in wider.adapted_[0]
    corrected(later, wider)
    transform(later, wider)
    own = wider.transform(later.to_df(), given=later.obs[["batch", "pct_mito"]].reset_index(drop=True))
    np.testing.assert_array_equal(later.obsm["X_sidelight"], own)
    assert model.given_.columns[0].categories == ("one", "two")


@pytest.mark.thorough
def test_a_pipeline_adapts_to_cells_in_a_file(cells, tmp_path):
    pipeline = make_pipeline(StandardScaler(), KernelInformationEmbedding(max_iter=20))
    embed(cells, given="batch", estimator=pipeline)
    cells.obs["batch"] = "later"
    cells.write_h5ad(tmp_path / "later.h5ad")
    wider = adapt(anndata.read_h5ad(tmp_path / "later.h5ad", backed="r"), pipeline)
    assert wider[-1].given_.columns[0].categories == ("one", "two", "later")
    assert cells.uns["sidelight"]["cost"]["bytes"] > 0


def test_cells_without_one_new_category_get_a_sentence(fitted):
    reference, model = fitted
    with pytest.raises(
        ValueError, match=r"adapt: adata=obs has no category that the model does not know\. Use the mod"
    ):
        adapt(reference, model)
    two = reference.copy()
    two.obs["batch"] = np.where(np.arange(two.n_obs) % 2, "x", "y")
    with pytest.raises(ValueError, match="has several that the model does not know: batch = 'x', batch = 'y'"):
        adapt(two, model)
    with pytest.raises(ValueError, match="obs lacks 'batch', which the model was given"):
        adapt(anndata.AnnData(reference.X, obs=reference.obs.drop(columns="batch"), var=reference.var), model)

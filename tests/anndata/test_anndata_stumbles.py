"""What goes wrong in a first session with AnnData objects is refused or said, and never done silently."""

import anndata
import numpy as np
import pytest
from anndata_cells import made_cells
from scipy import sparse

from sidelight.anndata import adapt, corrected, counterfactual, embed, transform
from sidelight.base.warnings import DesignWarning

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
QUICK = {"max_iter": 5, "tol": 1e-2}


@pytest.mark.filterwarnings("ignore:Variable names are not unique")
@pytest.mark.parametrize("store", [np.asarray, sparse.csr_matrix])
def test_genes_that_stand_twice_are_refused(store):
    """By name the second one would get the values of the first."""
    cells, twice = made_cells(80), made_cells(80)
    cells.X, twice.X = store(cells.X), store(twice.X)
    twice.var_names = ["gene0"] * 2 + [f"gene{i}" for i in range(2, 12)]
    with pytest.raises(ValueError, match=r"var_names has 'gene0' several times.*var_names_make_unique"):
        embed(twice, given="batch", **QUICK)
    model = embed(cells, given="batch", **QUICK)
    with pytest.raises(ValueError, match=r"X has 'gene0' several times"):
        transform(twice[:20, ::-1].copy(), model)


@pytest.mark.filterwarnings("ignore:Variable names are not unique")
def test_genes_that_the_model_does_not_know_may_stand_twice():
    cells = made_cells(80)
    model = embed(cells, given="batch", **QUICK)
    more = anndata.AnnData(np.zeros((80, 2)), obs=cells.obs)
    more.var_names = ["other", "other"]
    both = anndata.concat([cells, more], axis="var", merge="first")
    transform(both, model)
    np.testing.assert_allclose(both.obsm["X_sidelight"], cells.obsm["X_sidelight"], atol=1e-8)


def test_cells_without_a_value_of_given_are_said_at_the_fit_and_refused_where_it_is_needed():
    cells = made_cells(80)
    cells.obs["batch"] = cells.obs["batch"].where(np.arange(80) >= 3)
    with pytest.warns(UserWarning, match=r"obs\['batch'\] is missing in 3 of 80 cells"):
        model = embed(cells, given="batch", **QUICK)
    with pytest.raises(ValueError, match=r"missing in 3 of 80 cells\. Leave these cells out, or fill it in\.$"):
        corrected(cells, model)
    with pytest.raises(ValueError, match="missing in 3 of 80 cells"):
        counterfactual(cells, model, to={"batch": "one"}, individual=True)
    counterfactual(cells, model, to={"batch": "one"})
    assert np.isfinite(cells.layers["counterfactual"]).all()


def test_a_column_with_one_value_is_said_to_factor_out_nothing():
    cells = made_cells(80)
    cells.obs["lane"] = "L1"
    with pytest.warns(DesignWarning, match="'lane' has the same value in every row"):
        embed(cells, given=["batch", "lane"], **QUICK)


def test_a_query_without_the_representation_of_the_fit_is_told_which():
    cells = made_cells(80)
    cells.obsm["X_pca"] = np.asarray(cells.X)[:, :4]
    model = embed(cells, given="batch", use_rep="X_pca", **QUICK)
    with pytest.raises(ValueError, match="adata=obsm has no 'X_pca', which the model was fitted on"):
        transform(made_cells(20, seed=1), model)


def test_a_model_without_given_has_nothing_to_change():
    cells = made_cells(80)
    model = embed(cells, **QUICK)
    with pytest.raises(ValueError, match="was not fitted with given"):
        counterfactual(cells, model, to={"batch": "one"})


def test_a_category_of_one_cell_is_learned_in_the_singular():
    cells, later = made_cells(80), made_cells(1, seed=1)
    later.obs["batch"] = "later"
    wider = adapt(later, embed(cells, given="batch", **QUICK))
    assert wider.adapted_[0].startswith("batch = 'later': its offset is from 1 row; ")

"""A large sparse AnnData file through the commands: it is never written out in full."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

anndata = pytest.importorskip("anndata", reason="needs the extra anndata")

import sidelight.cli._anndata as cells_file  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture
def cells(here, monkeypatch):
    """A file of 80 cells and 70 genes that counts as large, and of which a dense copy is an error."""
    rng = np.random.default_rng(0)
    batch = np.arange(80) % 2
    counts = rng.poisson(np.exp(rng.normal(size=(3, 70)))[rng.integers(3, size=80)] * (1.0 + batch[:, None]))
    obs = pd.DataFrame({"batch": pd.Categorical(np.array(["a", "b"])[batch])}, index=[f"cell{i}" for i in range(80)])
    names = [f"gene{i}" for i in range(70)]
    data = anndata.AnnData(sparse.csr_matrix(counts.astype(np.float32)), obs=obs, var=pd.DataFrame(index=names))
    data.write_h5ad("cells.h5ad")
    data[:9, ::-1].copy().write_h5ad("few.h5ad")  # genes in another order
    monkeypatch.setattr(cells_file, "MOST_ENTRIES", 100)
    monkeypatch.setattr(cells_file, "as_array", None)
    return counts


@pytest.mark.thorough
def test_cells_are_embedded_placed_corrected_and_shown_again_without_a_dense_copy(cells, run):
    done = run("embed", "cells.h5ad", "--given", "batch", "--out", "out", "--set", "max_iter=20", "--json")
    assert done.code == 0, done.err
    assert done.answer["remarks"][0].endswith(
        "is embedded, and stays sparse: it is reduced to 50 principal coordinates."
    )
    assert anndata.read_h5ad("out/data.h5ad").obsm["X_sidelight"].shape == (80, 2)
    fitted = pd.read_csv("out/embedding.csv")[["z1", "z2"]]

    placed = run("transform", "out/model.sidelight", "few.h5ad", "--out", "z.csv")
    assert placed.code == 0, placed.err
    np.testing.assert_allclose(pd.read_csv("z.csv")[["z1", "z2"]], fitted[:9], atol=1e-4)

    model = ["out/model.sidelight", "few.h5ad", "--force"]
    assert run("corrected", *model, "--out", "all.csv").code == 0
    some = run("corrected", *model, "--out", "some.csv", "--columns", "gene3", "--columns", "gene60")
    assert some.code == 0, some.err
    every, few = pd.read_csv("all.csv"), pd.read_csv("some.csv")
    assert list(few.columns) == ["row", "obs_name", "gene3", "gene60"]
    np.testing.assert_allclose(few[["gene3", "gene60"]], every[["gene3", "gene60"]], rtol=1e-6)
    assert every.shape == (9, 72)

    other = run("counterfactual", *model, "--given", "batch=b", "--out", "b.csv", "--columns", "gene3")
    assert other.code == 0, other.err
    assert run("counterfactual", *model, "--given", "batch=b", "--out", "whole.csv").code == 0
    np.testing.assert_allclose(pd.read_csv("b.csv")["gene3"], pd.read_csv("whole.csv")["gene3"], rtol=1e-5)
    assert list(pd.read_csv("b.csv").columns) == ["row", "obs_name", "overlap", "extrapolated", "gene3"]
    strange = run("corrected", *model, "--out", "x.csv", "--columns", "MX1")
    assert strange.code != 0
    assert "MX1 is not among the 70 columns of the model" in strange.err


@pytest.mark.thorough
@pytest.mark.parametrize("method", ["ppca", "ppca-mixture", "bernoulli-mixture"])
def test_other_models_of_sparse_rows_take_the_file(method, cells, run):
    done = run("embed", "cells.h5ad", "--method", method, "--out", "out")
    assert done.code == 0, done.err
    again = run("transform", "out/model.sidelight", "cells.h5ad", "--out", "z.csv")
    assert again.code == 0, again.err
    fitted, placed = pd.read_csv("out/embedding.csv"), pd.read_csv("z.csv")
    shared = [name for name in fitted.select_dtypes("number") if name in placed]
    np.testing.assert_allclose(fitted[shared], placed[shared], atol=1e-6)


def test_a_sparse_file_cannot_be_standardised(cells, run):
    refused = run("embed", "cells.h5ad", "--standardize", "--out", "out")
    assert "--standardize: centred columns of a sparse matrix would not be sparse" in refused.err

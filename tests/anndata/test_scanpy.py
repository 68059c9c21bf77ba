"""scanpy goes on where ``sidelight.anndata`` ends: neighbours, clusters and pictures of the embedding."""

import warnings

import anndata
import numpy as np
import pytest

from sidelight.anndata import corrected, embed, transform

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of scanpy's own dependencies
    sc = pytest.importorskip("scanpy", reason="needs scanpy (pip install scanpy), which no extra installs")

pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # scanpy's are not ours
    pytest.mark.slow,  # numba compiles for half a minute
]


def test_neighbours_clusters_and_pictures_take_the_embedding(cells):
    pytest.importorskip("igraph", reason="needs igraph (pip install igraph) for sc.tl.leiden")
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    model = embed(cells, given=["batch", "pct_mito"], max_iter=30)
    sc.pp.neighbors(cells, use_rep="X_sidelight")
    sc.tl.leiden(cells, flavor="igraph", n_iterations=2, directed=False)
    assert cells.obs["leiden"].nunique() > 1
    corrected(cells, model)
    sc.tl.rank_genes_groups(cells, "leiden", layer="corrected", use_raw=False)
    for basis in ("X_sidelight", "sidelight"):
        axes = sc.pl.embedding(cells, basis=basis, color=["batch", "leiden"], show=False)
        assert len(axes) == 2
    sc.pl.embedding(cells, basis="sidelight", color="gene3", layer="corrected", show=False)
    plt.close("all")


def test_an_object_in_a_file_goes_through_scanpy(cells, tmp_path):
    cells.write_h5ad(tmp_path / "cells.h5ad")
    backed = sc.read_h5ad(tmp_path / "cells.h5ad", backed="r+")
    model = embed(backed, given="batch", max_iter=30)
    sc.pp.neighbors(backed, use_rep="X_sidelight")
    assert backed.obsp["connectivities"].shape == (160, 160)
    backed.write()
    backed.file.close()
    again = anndata.read_h5ad(tmp_path / "cells.h5ad")
    assert list(again.uns["sidelight"]["given"]) == ["batch"]
    transform(again, model, key_added="X_again")
    np.testing.assert_allclose(again.obsm["X_again"], again.obsm["X_sidelight"], atol=1e-6)

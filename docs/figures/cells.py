"""The picture of the page about AnnData: interferon-stimulated cells, drawn by scanpy.

scanpy is needed for this picture alone: ``pip install --target DIR scanpy igraph leidenalg`` and DIR on the PYTHONPATH.
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
from canvas import panels
from matplotlib.figure import Figure

import sidelight


def scanpy_cells() -> Figure:
    """Embedding of cells of two conditions by ``sidelight.anndata.embed``, coloured by ``sc.pl.embedding``."""
    import scanpy as sc
    from sklearn.metrics import adjusted_rand_score

    warnings.simplefilter("ignore")
    adata = sc.read_h5ad(Path(os.environ["SIDELIGHT_DATA"]) / "scrna" / "kang_ifnb.h5ad")
    sc.pp.normalize_total(adata, target_sum=1e4)
    sc.pp.log1p(adata)
    sc.pp.highly_variable_genes(adata, n_top_genes=2000)
    adata = adata[:, adata.var["highly_variable"]].copy()
    model = sidelight.anndata.embed(adata, given="stim", keep="label")
    sidelight.anndata.embed(adata, given="stim", n_components=10, solver="multilevel", key_added="X_sidelight10")
    for rows in ("X_sidelight", "X_sidelight10"):
        sc.pp.neighbors(adata, use_rep=rows)
        for resolution in (0.2, 0.35, 0.8, 0.5):  # the last is drawn
            found = []
            for seed in (4, 3, 2, 1, 0):  # one seed says little: a large type is split, or is not
                sc.tl.leiden(
                    adata, resolution=resolution, flavor="igraph", n_iterations=2, directed=False, random_state=seed
                )
                found.append(adjusted_rand_score(adata.obs["label"], adata.obs["leiden"]))
            told = f"clusters of {rows}, resolution {resolution}"
            print(f"adjusted Rand index, {told}: {min(found):.2f} to {max(found):.2f}")
    print(*model.only_here_, sep="\n")
    figure, axes = panels(3, width=13.5, height=3.6)
    for ax, name in zip(axes, ("stim", "label", "leiden"), strict=True):
        sc.pl.embedding(adata, basis="X_sidelight", color=name, ax=ax, show=False, size=14, legend_fontsize=7)
    plt.close(figure)
    return figure


FIGURES = {"scanpy_cells": scanpy_cells}

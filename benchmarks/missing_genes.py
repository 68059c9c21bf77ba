"""Query cells that lack genes of the reference: zero, the mean of the reference, or filled in (docs/anndata.md).

    python -m benchmarks missing_genes --keep

kang_ifnb: 600 most variable genes (log of counts per 10,000), 1,500 cells as reference with ``stim`` given, 500 as
query. For each share of genes that the query lacks: accuracy of the cell type by ten neighbours in the reference, and
the median distance to the place with all genes.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import anndata
import numpy as np
from scipy import sparse
from sklearn.neighbors import KNeighborsClassifier

from benchmarks.harness import Report
from sidelight.anndata import embed, transform
from sidelight.datasets import data_home

TITLE = "query cells that lack genes of the reference: zero, mean, filled in"
RIVALS = ("anndata",)
SHARES = (0.2, 0.5, 0.8)


def cells() -> Any:
    """The cells with their 600 most variable genes."""
    data = anndata.read_h5ad(Path(data_home()) / "scrna" / "kang_ifnb.h5ad")
    counts = sparse.csr_matrix(data.X, dtype=np.float64)
    rows = (sparse.diags(1e4 / np.asarray(counts.sum(axis=1)).ravel()) @ counts).log1p().toarray()
    kept = np.argsort(-rows.var(axis=0), kind="stable")[:600]
    data = data[:, kept].copy()
    data.X = rows[:, kept]
    return data


def run(*, quick: bool) -> Report:
    """Accuracy of the type and distance moved, for each share of genes that the query lacks."""
    report, data, rng = Report(), cells(), np.random.default_rng(0)
    order = rng.permutation(data.n_obs)
    reference, query = data[order[:1500]].copy(), data[order[1500:]].copy()
    model = embed(reference, given="stim")
    types = KNeighborsClassifier(10).fit(reference.obsm["X_sidelight"], reference.obs["label"])
    whole = placed(query, model)
    report.note("all genes: accuracy", types.score(whole, query.obs["label"]))
    for share in SHARES[:1] if quick else SHARES:
        missing = rng.permutation(600)[: round(600 * share)]
        fills = {"zero": 0.0, "mean": np.asarray(reference.X)[:, missing].mean(axis=0), "filled in": None}
        for name, fill in fills.items():
            some = query[:, np.setdiff1d(np.arange(600), missing)] if fill is None else query
            some = some.copy()
            if fill is not None:
                some.X[:, missing] = fill
            Z = placed(some, model)
            report.note(f"{share:.0%} missing, {name}: accuracy", types.score(Z, query.obs["label"]))
            report.note(f"{share:.0%} missing, {name}: moved", float(np.median(np.linalg.norm(Z - whole, axis=1))))
    return report


def placed(query: Any, model: Any) -> Any:
    """Places of the query."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        transform(query, model)
    return query.obsm["X_sidelight"]

"""Made-up cells for the tests of ``sidelight.anndata``."""

from __future__ import annotations

import anndata
import numpy as np
import pandas as pd

GENES = [f"gene{i}" for i in range(12)]


def made_cells(n=160, seed=0):
    """Cells on a curve in 12 genes, in two batches that are shifted, with a number that shifts them, too."""
    rng = np.random.default_rng(seed)
    t, batch, mito = rng.uniform(0, 3, n), rng.integers(0, 2, n), rng.normal(size=n)
    loadings = np.random.default_rng(99).normal(size=(4, 12))
    curve = np.column_stack([np.cos(t), np.sin(t)])
    X = curve @ loadings[:2] + np.outer(3.0 * batch, loadings[2]) + np.outer(0.3 * mito, loadings[3])
    X += 0.05 * rng.normal(size=X.shape)
    obs = pd.DataFrame(
        {"batch": pd.Categorical(np.array(["one", "two"])[batch]), "pct_mito": mito, "time": t},
        index=[f"cell{i}" for i in range(n)],
    )
    return anndata.AnnData(X, obs=obs, var=pd.DataFrame(index=GENES))

"""Cell types from fifty coordinates of counts: raw, logarithms, deviance residuals (decision 0027).

    python -m benchmarks.count_codes

Accuracy of the type by 15 neighbours, five folds, within each batch (so that no batch helps or hurts), and the size of
the correlation between the length of a row's coordinates and the logarithm of its total.
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

import anndata
import numpy as np
from scipy import sparse
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from sidelight import CountEncoder
from sidelight.maps.truncated import truncated_basis

SETS = ("kang_ifnb", "splatter_sim1", "splatter_sim2")


def main() -> None:
    """Print one line per set and code."""
    warnings.simplefilter("ignore")  # types with fewer cells than folds
    for name in SETS:
        data = anndata.read_h5ad(Path(os.environ["SIDELIGHT_DATA"]) / "scrna" / f"{name}.h5ad")
        counts = sparse.csr_matrix(data.X, dtype=np.float64)
        kind, batch = (data.obs[column].astype(str).to_numpy() for column in ("label", "batch"))
        print(f"{name} {data.shape}, whole numbers: {bool((counts.data == np.rint(counts.data)).all())}")
        for code, T in codes(counts).items():
            right = [
                cross_val_score(KNeighborsClassifier(15), T[batch == one], kind[batch == one], cv=5).mean()
                for one in np.unique(batch)
            ]
            depth = np.log(np.asarray(counts.sum(axis=1)).ravel())
            along = abs(np.corrcoef(np.linalg.norm(T, axis=1), depth)[0, 1])
            print(f"  {code}: accuracy {np.mean(right):.3f}, correlation with the total {along:.2f}", flush=True)


def codes(counts: Any) -> dict[str, Any]:
    """Fifty coordinates of each kind."""
    scaled = (sparse.diags(1e4 / np.asarray(counts.sum(axis=1)).ravel()) @ counts).log1p().tocsr()
    found = {name: truncated_basis(X, 50).scores(X) for name, X in (("counts", counts), ("logarithms", scaled))}
    return found | {"CountEncoder": CountEncoder(50).fit_transform(counts)}


if __name__ == "__main__":
    main()

"""Methods that integrate cells in batches: ours in several dimensions, and its rivals, all from the same components.

====================  =========================================================================================
PCA                   the components as they are
ours, 2-D / 10-D      the map of ``KernelInformationEmbedding(n_components=...).fit(X, given=batch)``
ours, corrected       ``corrected(X, given=batch)`` of the two-dimensional model: 30-D
harmony / + UMAP      harmonypy on the components; UMAP of these
scanorama             ``assemble`` on the components of the batches, as scanpy calls it
bbknn + UMAP          the graph of BBKNN, drawn by UMAP
labels known          the components less offsets of the batches, fitted with the types known: x = type + batch + rest.
                      No rival: it says what an exact offset reaches
scvi                  counts, 30 latent dimensions, defaults (where there are counts and scvi-tools is installed)
====================  =========================================================================================

Every rival takes a seed. Harmony, UMAP, BBKNN's drawing and scVI begin at random, and Scanorama's approximate
neighbours depend on the order of the rows: most give another total for each seed, so that one of them says little.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from benchmarks.cell_sets import Cells
from sidelight import KernelInformationEmbedding

__all__ = ["OURS", "by_rival", "harmony", "labels_known", "ours", "rival_names"]

Array = npt.NDArray[Any]


def ours(cells: Cells, dimensions: tuple[int, ...] = (2, 10), n_jobs: int | None = 1) -> dict[str, Array]:
    """Our maps of the cells by name, and the corrected rows of the first of them."""
    found: dict[str, Array] = {}
    for q in dimensions:
        model = KernelInformationEmbedding(n_components=q, n_jobs=n_jobs).fit(cells.X, given=cells.batch)
        found[f"ours, {q}-D"] = np.asarray(model.embedding_)
        if q == dimensions[0]:
            found["ours, corrected"] = np.asarray(model.corrected(cells.X, given=cells.batch))
    return found


def pca(cells: Cells, seed: int = 0) -> Array:
    return cells.X


def harmony(cells: Cells, seed: int = 0) -> Array:
    import harmonypy
    import pandas as pd

    table = pd.DataFrame({"batch": cells.batch})
    found = np.asarray(harmonypy.run_harmony(cells.X, table, ["batch"], verbose=False, random_state=seed).Z_corr)
    return found if found.shape == cells.X.shape else found.T


def labels_known(cells: Cells, seed: int = 0) -> Array:
    types, batches = (
        (values[:, None] == np.unique(values)).astype(np.float64) for values in (cells.label, cells.batch)
    )
    found = np.linalg.lstsq(np.hstack([types, batches]), cells.X, rcond=None)[0]  # a type in one batch tells nothing
    return np.asarray(cells.X - batches @ found[types.shape[1] :])


def harmony_umap(cells: Cells, seed: int = 0) -> Array:
    from umap import UMAP

    return np.asarray(UMAP(random_state=seed, n_jobs=1).fit_transform(harmony(cells, seed)))


def scanorama(cells: Cells, seed: int = 0) -> Array:
    from scanorama import assemble

    names = np.unique(cells.batch)
    rows = [np.flatnonzero(cells.batch == name) for name in names]
    with contextlib.redirect_stdout(io.StringIO()):
        parts = assemble([cells.X[r].copy() for r in rows], verbose=False)
    out = np.empty_like(cells.X)
    for r, part in zip(rows, parts, strict=True):
        out[r] = part
    return out


def bbknn_umap(cells: Cells, seed: int = 0) -> Array:
    import bbknn.matrix
    from umap.umap_ import find_ab_params, simplicial_set_embedding

    X = np.asarray(cells.X, dtype=np.float32)
    _, graph, _ = bbknn.matrix.bbknn(X, np.asarray(cells.batch), n_pcs=X.shape[1], use_annoy=False, metric="euclidean")
    a, b = find_ab_params(1.0, 0.5)  # scanpy's defaults
    found, _ = simplicial_set_embedding(
        X, graph.tocoo(), 2, 1.0, a, b, 1.0, 5, 200, "spectral", np.random.RandomState(seed), "euclidean", {},
        False, {}, False,
    )  # fmt: skip
    return np.asarray(found)


def scvi(cells: Cells, seed: int = 0) -> Array:
    import anndata
    import scvi as tools

    tools.settings.seed = seed
    tools.settings.verbosity = 40
    table = anndata.AnnData(csr_matrix(cells.counts).astype(np.float32))  # scvi-tools knows no sparse arrays
    table.obs["batch"] = cells.batch
    tools.model.SCVI.setup_anndata(table, batch_key="batch")
    model = tools.model.SCVI(table, n_latent=30)
    model.train(accelerator="cpu", enable_progress_bar=False, logger=None)
    return np.asarray(model.get_latent_representation())


_ALL: Mapping[str, Callable[[Cells, int], Array]] = {
    "PCA": pca,
    "harmony": harmony,
    "harmony + UMAP": harmony_umap,
    "scanorama": scanorama,
    "bbknn + UMAP": bbknn_umap,
    "scvi": scvi,
}
OURS = ("ours, 2-D", "ours, 10-D", "ours, corrected")
_ALWAYS_SAME = ("PCA",)


def rival_names(cells: Cells, seed: int = 0, *, scvi: bool = True) -> list[str]:
    """Rivals that can take these cells; with a seed other than 0 only those that the seed or row order changes."""
    with_scvi = scvi and cells.counts is not None and importlib.util.find_spec("scvi") is not None
    return [name for name in _ALL if (with_scvi or name != "scvi") and (seed == 0 or name not in _ALWAYS_SAME)]


def by_rival(name: str, cells: Cells, seed: int = 0) -> Array:
    """The embedding of one of these rivals."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _ALL[name](cells, seed)

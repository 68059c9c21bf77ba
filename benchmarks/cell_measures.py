"""Measures of an integration of cells: neighbourhoods of a type, mixing of batches, totals of scib-metrics.

purity   of a type: mean share of the 15 nearest cells that are of the type, over its cells
mixing   of a type in several batches: share of the 15 nearest cells *of the type* that are from another batch, over
         that share if the batches were shuffled among them, Σ_b n_b (n - n_b) / (n (n - 1)); 1 is mixed at random,
         more is mixed more evenly than at random. Mean over types, each by its cells
total    of scib-metrics: 0.6 · conservation of types + 0.4 · correction of batches, not rescaled, exact neighbours
"""

from __future__ import annotations

import gc
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.neighbors import NearestNeighbors

__all__ = ["mixing", "purity", "ratio_error", "scib_totals"]

Array = npt.NDArray[Any]
_NEIGHBOURS = 15


def _neighbours(Z: Array, rows: Array, k: int) -> Array:
    """The ``k`` nearest rows of ``Z`` (n, q) of each of some rows, itself left out."""
    index = NearestNeighbors(n_neighbors=min(k + 1, len(Z))).fit(Z).kneighbors(Z[rows], return_distance=False)
    own = index == rows[:, None]
    own[~own.any(axis=1), -1] = True  # of equal rows another one may stand in its place
    return np.asarray(index[~own].reshape(len(rows), -1))


def purity(Z: Array, label: Array, which: str) -> Array:
    """Share of a type among the nearest neighbours of each of its m cells, (m,)."""
    rows = np.flatnonzero(label == which)
    return np.asarray((label[_neighbours(Z, rows, _NEIGHBOURS)] == which).mean(axis=1))


def ratio_error(above: Array, below: Array) -> float:
    """Standard error of mean(above) / mean(below), of the same m cells (linearised): what so few cells can tell."""
    ratio = float(above.mean() / below.mean())
    return float(np.std(above - ratio * below) / (below.mean() * np.sqrt(len(above))))


def mixing(Z: Array, batch: Array, label: Array) -> float:
    """Share of neighbours from other batches within types, over that of shuffled batches."""
    seen = expected = 0.0
    for which in np.unique(label):
        rows = np.flatnonzero(label == which)
        counts = np.unique(batch[rows], return_counts=True)[1]
        n = len(rows)
        if len(counts) < 2 or n <= 2 * _NEIGHBOURS:
            continue
        near = _neighbours(Z[rows], np.arange(n), _NEIGHBOURS)
        other = batch[rows][near] != batch[rows][:, None]
        seen += float(other.mean(axis=1).sum())
        expected += float(np.sum(counts * (n - counts)) / (n - 1))
    return seen / expected if expected else float("nan")


def scib_totals(X: Array, batch: Array, label: Array, embeddings: Mapping[str, Array]) -> dict[str, dict[str, float]]:
    """Of each embedding of rows ``X``: the numbers of scib-metrics, among them "Total"."""
    import pandas as pd
    from anndata import AnnData
    from scib_metrics.benchmark import Benchmarker

    obs = pd.DataFrame({"batch": pd.Categorical(batch), "label": pd.Categorical(label)})
    obs.index = obs.index.astype(str)
    table = AnnData(np.asarray(X, dtype=np.float32), obs=obs)
    table.obsm["X_pca"] = np.asarray(X, dtype=np.float32)
    for name, Z in embeddings.items():
        table.obsm[name] = np.asarray(Z, dtype=np.float32)
    judge = Benchmarker(
        table,
        "batch",
        "label",
        list(embeddings),
        pre_integrated_embedding_obsm_key="X_pca",
        n_jobs=1,
        progress_bar=False,
    )
    gc.freeze()  # it collects garbage after each metric, which takes longer than most metrics if it looks at all of JAX
    judge.prepare(neighbor_computer=_exact)
    judge.benchmark()
    found = judge.get_results(min_max_scale=False)
    return {name: {str(column): float(found.loc[name, column]) for column in found.columns} for name in embeddings}


def _exact(X: Array, k: int) -> Any:
    from scib_metrics.nearest_neighbors import NeighborsResults

    distance, index = NearestNeighbors(n_neighbors=k).fit(X).kneighbors(X)
    return NeighborsResults(indices=index, distances=distance)

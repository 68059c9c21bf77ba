"""Cells under conditions, of which a type was left out in one: settings for the ``counterfactual_cells`` benchmark.

A *setting* has training cells, the left-out cells of one type under one condition, and the cells that are asked for:
half of the cells of that type under another condition, which are not in the training cells either. Counts become
log(1 + x) of counts divided by their sum, times the median sum; genes are the 2,000 of largest dispersion in the
training cells, and so are 30 principal components.

Principal components fit the noise of the cells that they are found in: new cells spread less along them. So cells that
are asked for are new, and in the simulations the components are found in other draws of the training cells, because
intervals, which are those of the training cells, would else be too wide for any new cell.

The simulator draws for gene g, type t, condition k, cell c

    x_gc ~ Poisson(size_c · mean_g · f_gt · exp(e_gtk) · noise_gc / Σ_g ...)
    e_gtk = s_k (shared_gk + own_gl(t)k + 0.4 alone_gtk)          for a tenth of the genes each, standard normal

f and noise as in ``cell_sets``, the types in two lineages l of three types. So most of an effect can be known from
other types, some from types of the lineage only, some not at all. *Twins* are the cells that are asked for
again, under the condition, with their own noise: what the cell itself would be, as far as that can be known.

Kang's types were looked at while the method was made, and so were the simulations ``..._a``; ``..._b`` were not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from benchmarks.cell_sets import _variable_genes
from sidelight.datasets import data_home

__all__ = ["CHOOSING", "REPORTING", "Setting"]

Array = npt.NDArray[Any]
_COMPONENTS, _CONTROL = 30, "control"
_LINEAGES, _ALONE = 2, 0.4


@dataclass(frozen=True)
class Setting:
    """One left-out type.

    Parameters
    ----------
    genes : array of shape (n, p)
        Log-normalised training cells.
    condition : array of shape (n,)
    now, new : str
        The condition of the rows that are asked for, and the one they are asked in.
    asked : array of shape (m, p)
        The cells of the type under ``now`` that are asked for.
    real : array of shape (k, p)
        The left-out cells.
    twins : array of shape (m, p) or None
        The cells that are asked for, under ``new``.
    others : array of shape (n, p) or None
        Other draws of the training cells, for the components; None: the training cells themselves.
    """

    genes: Array
    condition: Array
    now: str
    new: str
    asked: Array
    real: Array
    twins: Array | None = None
    others: Array | None = None

    @cached_property
    def mean(self) -> Array:
        """Mean of the training cells (p,)."""
        return np.asarray(self.genes.mean(axis=0))

    @cached_property
    def axes(self) -> Array:
        """30 principal directions (p, 30) of the training cells, or of other draws of them."""
        cells = self.genes if self.others is None else self.others
        return np.asarray(np.linalg.svd(cells - cells.mean(axis=0), full_matrices=False)[2][:_COMPONENTS].T)


def log_normalised(counts: Any) -> Array:
    """log(1 + counts / sum · median sum), dense (n, p)."""
    counts = csr_array(counts)
    sums = np.asarray(counts.sum(axis=1)).reshape(-1)
    scaled = csr_array(counts.multiply((np.median(sums) / np.maximum(sums, 1.0))[:, None]))
    scaled.data = np.log1p(scaled.data)
    return np.asarray(scaled.toarray().astype(np.float64))


@cache
def _kang() -> tuple[Array, Array, Array]:
    import anndata

    table = anndata.read_h5ad(Path(data_home()) / "scrna" / "kang_ifnb.h5ad")
    condition, label = (table.obs[column].to_numpy().astype(str) for column in ("batch", "label"))
    return log_normalised(table.X), condition, label


def kang(label: str, most: int | None = None) -> Setting:
    """Interferon: the stimulated cells of a type are left out; ``most``: control cells of it in the training cells."""
    logs, condition, labels = _kang()
    real = np.flatnonzero((labels == label) & (condition == "STIM"))
    own = np.flatnonzero((labels == label) & (condition == "CTRL"))
    asked = own[::2] if most is None else own[most:]
    kept = np.setdiff1d(np.arange(len(logs)), np.concatenate([real, asked]))
    chosen = _variable_genes(logs[kept])
    genes, asked, real = (logs[np.ix_(rows, chosen)] for rows in (kept, asked, real))
    return Setting(genes, condition[kept], "CTRL", "STIM", asked, real)


def simulated(seed: int, left_out: tuple[int, int], *, strength: float = 0.5, cells: int = 100) -> Setting:
    """Three conditions, six types; the type and the condition ``left_out`` (type, 1 or 2)."""
    rng = np.random.default_rng([seed, 29])
    genes, n_types, n_conditions = 800, 6, 3
    mean = rng.gamma(0.6, 1 / 0.3, genes) + 0.02

    def program(*shape: int) -> Array:
        return np.asarray(rng.normal(size=(*shape, genes)) * (rng.random((*shape, genes)) < 0.1))

    of_lineage, of_type = program(_LINEAGES), program(n_types)
    shared, own, alone = program(n_conditions), program(_LINEAGES, n_conditions), program(n_types, n_conditions)
    lineage = np.arange(n_types) % _LINEAGES
    types = np.exp(0.8 * of_lineage[lineage] + 0.8 * of_type)
    effects = strength * (shared[None] + own[lineage] + _ALONE * alone)
    effects[:, 0] = 0.0
    per_type = (cells * (0.5 + rng.random((n_types, n_conditions)))).astype(int)
    label = np.concatenate([np.repeat(t, per_type[t].sum()) for t in range(n_types)])
    condition = np.concatenate([np.repeat(np.arange(n_conditions), per_type[t]) for t in range(n_types)])
    state = rng.normal(size=len(label))  # a program that cells of every type have more or less of
    activity, size = program(), np.exp(rng.normal(7.6, 0.25, len(label)))

    def draw(under: Array) -> Array:
        rate = mean * types[label] * np.exp(effects[label, under] + 0.5 * state[:, None] * activity)
        noise = rng.gamma(1 / 0.15, 0.15, rate.shape)
        return np.asarray(rng.poisson(size[:, None] * (rate / rate.sum(axis=1, keepdims=True)) * noise))

    drawn = [draw(condition), draw(np.full(len(label), left_out[1])), draw(condition)]
    logs, changed, again = np.split(log_normalised(np.concatenate(drawn).astype(np.float64)), 3)
    real = np.flatnonzero((label == left_out[0]) & (condition == left_out[1]))
    asked = np.flatnonzero((label == left_out[0]) & (condition == 0))[::2]
    kept = np.setdiff1d(np.arange(len(label)), np.concatenate([real, asked]))
    names = np.array([_CONTROL, "first", "second"])
    return Setting(
        logs[kept], names[condition[kept]], _CONTROL, str(names[left_out[1]]), logs[asked], logs[real], changed[asked],
        again[kept],
    )  # fmt: skip


CHOOSING: Mapping[str, Callable[[], Setting]] = {
    **{f"kang, {name}": partial(kang, name) for name in ("B", "CD14 Mono", "CD4 Memory T", "CD8 T", "CD16 Mono")},
    "three conditions a, type 0": partial(simulated, 1, (0, 1)),
    "three conditions a, type 3": partial(simulated, 2, (3, 2), strength=0.8),
}
"""Settings that choices were made on."""
REPORTING: Mapping[str, Callable[[], Setting]] = {
    **{f"kang, {name}": partial(kang, name) for name in ("CD4 Naive T", "NK", "DC", "T activated", "B Activated")},
    "kang, CD16 Mono, 10 cells": partial(kang, "CD16 Mono", 10),
    "three conditions b, type 1": partial(simulated, 11, (1, 1)),
    "three conditions b, type 4": partial(simulated, 12, (4, 2), strength=0.8),
    "three conditions b, type 2": partial(simulated, 13, (2, 1), strength=0.3),
    "three conditions b, few cells": partial(simulated, 14, (5, 2), cells=25),
}
"""Settings that are reported."""

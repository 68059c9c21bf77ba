"""Cells in batches for the ``cells`` benchmark: files, a simulator in the manner of Splatter, removals of a type.

Counts become 30 principal components in one way for all methods: counts of a cell divided by their sum, times the
median sum, log(1 + x), the 2,000 genes of largest dispersion for their mean, centred, principal components.

The simulator (Zappia, Phipson and Oshlack, Genome Biology 2017, in NumPy) draws for gene g, type t, batch b, cell c

    mean_g ~ Gamma,   x_gc ~ Poisson(size_c · mean_g · f_gt · h_gb · noise_gc / Σ_g ...)

with f_gt lognormal for a share of the genes and 1 for the others, h_gb lognormal, sizes lognormal, noise Gamma. A
*design* says how many cells of each type each batch has.

Sets are for *choosing* (a rule was chosen while looking at them) or for *reporting* (measured when the rules stood).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from sidelight import datasets
from sidelight.datasets import data_home

__all__ = [
    "CHOOSING",
    "MISSING",
    "REPORTING",
    "TWO",
    "Cells",
    "Removal",
    "principal_components",
    "removals",
    "removed",
    "simulated",
]

Array = npt.NDArray[Any]
_COMPONENTS, _GENES = 30, 2000
_FEWEST = 20  # rows of a type that must be left in another batch, for a removal to be asked
_FEWEST_REMOVED = 5  # and rows that must be there to be removed


@dataclass(frozen=True)
class Cells:
    """Cells of one set: principal components (n, 30), batch and type of each, and counts where there are any."""

    name: str
    X: Array
    batch: Array
    label: Array
    counts: csr_array | None = None

    def take(self, rows: Array) -> Cells:
        """Some of the cells."""
        counts = None if self.counts is None else csr_array(self.counts[rows])
        return replace(self, X=self.X[rows], batch=self.batch[rows], label=self.label[rows], counts=counts)


@dataclass(frozen=True)
class Removal:
    """A type that is taken out of all batches but one."""

    label: str
    kept_in: str


def principal_components(counts: csr_array, n_components: int = _COMPONENTS) -> Array:
    """Principal components (n, 30) of log-normalised counts of the most variable genes."""
    sums = np.asarray(counts.sum(axis=1)).reshape(-1)
    scaled = csr_array(counts.multiply((np.median(sums) / np.maximum(sums, 1.0))[:, None]))
    scaled.data = np.log1p(scaled.data)
    dense = scaled.toarray().astype(np.float64)
    dense = dense[:, _variable_genes(dense)]
    dense -= dense.mean(axis=0)
    U, S, _ = np.linalg.svd(dense, full_matrices=False)
    signs = np.sign(U[np.abs(U).argmax(axis=0), np.arange(len(S))])
    return np.asarray(((U * S) * signs)[:, :n_components])


def _variable_genes(logs: Array) -> Array:
    """The genes of largest dispersion (variance over mean) relative to genes of a like mean (20 bins)."""
    mean, variance = logs.mean(axis=0), logs.var(axis=0)
    seen = np.flatnonzero(variance > 0)
    if len(seen) <= _GENES:
        return seen
    ratio = np.log(variance[seen] / mean[seen])
    which = np.searchsorted(np.quantile(mean[seen], np.linspace(0, 1, 21)[1:-1]), mean[seen])
    for number in range(20):
        here = which == number
        if here.any():
            middle = np.median(ratio[here])
            ratio[here] = (ratio[here] - middle) / (np.median(np.abs(ratio[here] - middle)) + 1e-9)
    return np.sort(seen[np.argsort(-ratio, kind="stable")[:_GENES]])


def _of_counts(name: str, counts: csr_array, batch: Array, label: Array) -> Cells:
    return Cells(name, principal_components(counts), batch, label, counts)


def cell_lines() -> Cells:
    """Two cell lines in three batches, two of which hold one line each (20 principal components, no counts)."""
    data = datasets.load_harmony_cell_lines()
    return Cells("cell_lines", data.X, data.factors["batch"], data.factors["cell_type"])


def from_file(name: str, file: str) -> Cells:
    """A set in an AnnData file with columns ``batch`` and ``label``."""
    import anndata

    table = anndata.read_h5ad(Path(data_home()) / "scrna" / file)
    batch, label = (table.obs[column].to_numpy().astype(str) for column in ("batch", "label"))
    return _of_counts(name, csr_array(table.X), batch, label)


def simulated(
    name: str, design: Array, seed: int, *, genes: int = 600, batch_scale: float = 0.15, distinct: float = 0.5
) -> Cells:
    """Draw cells by a ``design`` (batches, types): how many cells of each type each batch has.

    ``batch_scale`` is the standard deviation of the logarithm of a batch's factors, ``distinct`` that of a type's (for
    a fifth of the genes); the last two types differ in half as many genes from each other: a pair that is hard to tell.
    """
    rng = np.random.default_rng([seed, 22])
    n_batches, n_types = design.shape
    mean = rng.gamma(0.6, 1 / 0.3, genes) + 0.02
    of_type = np.exp(distinct * rng.normal(size=(n_types, genes)) * (rng.random((n_types, genes)) < 0.2))
    if n_types > 3:
        of_type[-1] = of_type[-2] * np.exp(distinct * rng.normal(size=genes) * (rng.random(genes) < 0.1))
    of_batch = np.exp(batch_scale * rng.normal(size=(n_batches, genes)))
    batch = np.repeat(np.arange(n_batches), design.sum(axis=1))
    label = np.concatenate([np.repeat(np.arange(n_types), row) for row in design])
    rate = mean * of_type[label] * of_batch[batch]
    size = np.exp(rng.normal(7.6, 0.25, len(batch)))
    noise = rng.gamma(1 / 0.15, 0.15, rate.shape)
    counts = rng.poisson(size[:, None] * (rate / rate.sum(axis=1, keepdims=True)) * noise)
    counts = csr_array(counts.astype(np.float64))
    return _of_counts(name, counts, np.char.add("batch ", batch.astype(str)), np.char.add("type ", label.astype(str)))


def _design(*rows: tuple[int, ...]) -> Array:
    return np.array(rows)


TWO = _design((150, 120, 90, 60, 120), (300, 60, 120, 90, 60))
MISSING = _design((150, 100, 0, 80, 60), (200, 0, 120, 80, 60), (0, 100, 100, 60, 80))
_UNEQUAL = _design((40, 30, 20, 15, 25), (500, 300, 200, 100, 150), (80, 60, 0, 40, 30))
_NESTED = _design((120, 80, 60, 50), (90, 90, 40, 60), (120, 0, 60, 90), (60, 0, 120, 50), (30, 60, 40, 0))

CHOOSING: Mapping[str, Callable[[], Cells]] = {
    "cell_lines": cell_lines,
    "splatter_1": partial(from_file, "splatter_1", "splatter_sim1.h5ad"),
    "two_batches_a": partial(simulated, "two_batches_a", TWO, 1),
    "missing_types_a": partial(simulated, "missing_types_a", MISSING, 2),
    "unequal_a": partial(simulated, "unequal_a", _UNEQUAL, 3, batch_scale=0.1),
    "nested_a": partial(simulated, "nested_a", _NESTED, 4, batch_scale=0.2),
    "kang": partial(from_file, "kang", "kang_ifnb.h5ad"),
    "missing_types_b": partial(simulated, "missing_types_b", MISSING[:, [2, 0, 1, 4, 3]], 12, distinct=0.4),
}
"""Sets that rules were chosen on; the last two were meant for reporting, and looked at while choosing."""
REPORTING: Mapping[str, Callable[[], Cells]] = {
    "splatter_2": partial(from_file, "splatter_2", "splatter_sim2.h5ad"),
    "two_batches_b": partial(simulated, "two_batches_b", TWO[:, ::-1], 11, batch_scale=0.2),
    "unequal_b": partial(simulated, "unequal_b", _UNEQUAL[:, [3, 0, 2, 1, 4]], 13),
    "nested_b": partial(simulated, "nested_b", _NESTED[:, [1, 2, 0, 3]], 14, batch_scale=0.1, distinct=0.6),
}
"""Sets that were measured when the rules stood."""


def removals(cells: Cells) -> list[Removal]:
    """One removal for each type that is in two batches or more: kept in one of them, which alternate."""
    found: list[Removal] = []
    for label in np.unique(cells.label):
        names, counts = np.unique(cells.batch[cells.label == label], return_counts=True)
        keeps = [
            str(b) for b, n in zip(names, counts, strict=True) if n >= _FEWEST and counts.sum() - n >= _FEWEST_REMOVED
        ]
        if keeps:
            found.append(Removal(str(label), keeps[len(found) % len(keeps)]))
    return found


def removed(cells: Cells, removal: Removal) -> Cells:
    """The set without the cells of a type in all batches but one."""
    gone = (cells.label == removal.label) & (cells.batch != removal.kept_in)
    return replace(cells.take(np.flatnonzero(~gone)), name=f"{cells.name} less {removal.label}")

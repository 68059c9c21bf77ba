"""Numbers given: cell-cycle scores and percentages factored out, types kept; ours beside scanpy's regress_out.

    python -m benchmarks cell_numbers --keep   (scanpy on the PYTHONPATH: pip install --target DIR scanpy)

Scores are computed from the counts, as a user has them: the mean logarithm of the genes of a set less that of all genes
(simulated S and G2M phases), and the percent of a cell's counts in ribosomal genes (kang). Ours is the two-dimensional
map of 30 principal components with the scores given; the rival regresses the scores out of every gene (linear), then
takes 30 principal components and UMAP, as scanpy's tutorials do. Of each map:

leakage   held-out R² of a score that is predicted from the map (``evaluate.leakage``); the bar is 0.05
types     accuracy of the type by 15 neighbours, held against the rival's

Where types differ in a score, no map has both: the share of its variance that is between types (``between``) leaks from
any map that shows the types. With batches as well (``in_batches``), both are given; the rival regresses the score out,
then runs Harmony, then UMAP; *mixing* of the batches is that of ``cell_measures``.

Rules were chosen on ``cycling`` with seeds 11 to 13 (1,000 cells), ``in_batches`` with seeds 1 to 4, and 2,000 cells of
kang; the other sets are reported only.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, csr_matrix
from sklearn.model_selection import cross_val_predict
from sklearn.neighbors import KNeighborsClassifier

from benchmarks.cell_measures import mixing
from benchmarks.cell_methods import harmony
from benchmarks.cell_sets import MISSING, TWO, Cells, principal_components
from benchmarks.harness import Report
from sidelight import KernelInformationEmbedding, evaluate
from sidelight.datasets import data_home

TITLE = "numbers given (cell-cycle scores, percent of a gene set): leakage and types, beside regress_out"
RIVALS = ("scanpy", "umap-learn", "harmonypy")

Array = npt.NDArray[Any]
_LEAKAGE, _SECONDS = 0.05, 60.0
_TYPES = np.array([0.3, 0.25, 0.2, 0.15, 0.1])


@dataclass(frozen=True)
class Scored:
    """Cells with numbers that are known of them."""

    name: str
    counts: csr_array
    label: Array
    numbers: dict[str, Array]
    batch: Array | None = None

    @property
    def given(self) -> dict[str, Array]:
        """Everything that is known of the cells."""
        return self.numbers if self.batch is None else {"batch": self.batch, **self.numbers}


def cycling(name: str, n: int, seed: int, *, genes: int = 600, strength: float = 0.6, mixed: bool = False) -> Scored:
    """Cells of five types on a cycle of two phases, each of which raises its own 40 genes.

    ``mixed``: types differ in how many of their cells cycle, from none to all, as they do in tissue.
    """
    rng = np.random.default_rng([seed, 28])
    label = rng.choice(len(_TYPES), n, p=_TYPES)
    mean = rng.gamma(0.6, 1 / 0.3, genes) + 0.02
    of_type = np.exp(0.5 * rng.normal(size=(len(_TYPES), genes)) * (rng.random((len(_TYPES), genes)) < 0.2))
    phase = rng.uniform(0, 2 * np.pi, n)
    share = np.linspace(0, 1, len(_TYPES))[label] if mixed else np.full(n, 0.7)
    cycles = rng.random(n) < share
    sets = {"S_score": np.arange(40), "G2M_score": np.arange(40, 80)}
    of_cycle = np.ones((n, genes))
    for shift, own in zip((0.0, 0.6 * np.pi), sets.values(), strict=True):
        level = np.where(cycles, np.maximum(np.cos(phase - shift), 0.0), 0.0)
        of_cycle[:, own] *= np.exp(2.0 * strength * level[:, None])
    rate = mean * of_type[label] * of_cycle
    size = np.exp(rng.normal(7.6, 0.25, n))
    counts = rng.poisson(size[:, None] * rate / rate.sum(axis=1, keepdims=True) * rng.gamma(1 / 0.15, 0.15, rate.shape))
    found = csr_array(counts.astype(np.float64))
    logs = _logs(found).toarray()
    numbers = {phase: logs[:, own].mean(axis=1) - logs.mean(axis=1) for phase, own in sets.items()}
    return Scored(name, found, np.char.add("type ", label.astype(str)), numbers)


def in_batches(name: str, design: Array, seed: int, *, mixed: bool = False, genes: int = 600) -> Scored:
    """Cells in batches by a ``design`` (batches, types) that also differ in one score of the cell cycle."""
    rng = np.random.default_rng([seed, 31])
    n_batches, n_types = design.shape
    mean = rng.gamma(0.6, 1 / 0.3, genes) + 0.02
    of_type = np.exp(0.5 * rng.normal(size=(n_types, genes)) * (rng.random((n_types, genes)) < 0.2))
    of_batch = np.exp(0.15 * rng.normal(size=(n_batches, genes)))
    batch = np.repeat(np.arange(n_batches), design.sum(axis=1))
    label = np.concatenate([np.repeat(np.arange(n_types), row) for row in design])
    n, own = len(batch), np.arange(60)
    phase = rng.uniform(0, 2 * np.pi, n)
    cycles = rng.random(n) < (np.linspace(0, 1, n_types)[label] if mixed else np.full(n, 0.7))
    of_cycle = np.ones((n, genes))
    of_cycle[:, own] *= np.exp(1.2 * np.where(cycles, np.maximum(np.cos(phase), 0.0), 0.0)[:, None])
    rate = mean * of_type[label] * of_batch[batch] * of_cycle
    size = np.exp(rng.normal(7.6, 0.25, n))
    noise = rng.gamma(1 / 0.15, 0.15, rate.shape)
    counts = csr_array(rng.poisson(size[:, None] * rate / rate.sum(axis=1, keepdims=True) * noise).astype(np.float64))
    logs = _logs(counts).toarray()
    names = [np.char.add(word, code.astype(str)) for word, code in (("type ", label), ("batch ", batch))]
    return Scored(name, counts, names[0], {"score": logs[:, own].mean(axis=1) - logs.mean(axis=1)}, names[1])


def kang() -> Scored:
    """Interferon-stimulated and control cells, with the percent of counts in ribosomal genes."""
    import anndata

    table = anndata.read_h5ad(Path(data_home()) / "scrna" / "kang_ifnb.h5ad")
    counts = csr_array(table.X).astype(np.float64)
    own = np.array([str(gene).startswith(("RPL", "RPS")) for gene in table.var_names])
    percent = 100.0 * np.asarray(counts[:, own].sum(axis=1)).ravel() / np.asarray(counts.sum(axis=1)).ravel()
    return Scored("kang", counts, table.obs["label"].to_numpy().astype(str), {"pct_ribo": percent})


def _logs(counts: csr_array) -> csr_array:
    """Logarithms of counts per median total."""
    sums = np.asarray(counts.sum(axis=1)).reshape(-1)
    scaled = csr_array(counts.multiply((np.median(sums) / np.maximum(sums, 1.0))[:, None]))
    scaled.data = np.log1p(scaled.data)
    return scaled


def ours(cells: Scored, *, given: bool = True) -> tuple[Array, float]:
    """The map (n, 2), and the seconds of processor time of its fit."""
    X = principal_components(cells.counts)
    began = time.process_time()
    model = KernelInformationEmbedding(n_jobs=1).fit(X, **({"given": cells.given} if given else {}))
    return np.asarray(model.embedding_), time.process_time() - began


def regressed_out(cells: Scored, *, given: bool = True) -> tuple[Array, float]:
    """Regress the numbers out of the variable genes, then 30 principal components and UMAP: scanpy's way."""
    import anndata
    import pandas as pd
    import scanpy as sc

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = anndata.AnnData(csr_matrix(_logs(cells.counts)), obs=pd.DataFrame(cells.numbers).set_axis(
            [f"c{i}" for i in range(len(cells.label))]
        ))  # fmt: skip
        sc.pp.highly_variable_genes(table, n_top_genes=min(2000, table.n_vars))
        table = table[:, table.var["highly_variable"]].copy()
        table.X = np.asarray(table.X.toarray())
        began = time.process_time()
        if given:
            sc.pp.regress_out(table, list(cells.numbers), n_jobs=1)
        sc.pp.pca(table, n_comps=30)
        if given and cells.batch is not None:
            table.obsm["X_pca"] = harmony(Cells(cells.name, table.obsm["X_pca"], cells.batch, cells.label))
        sc.pp.neighbors(table, use_rep="X_pca")
        sc.tl.umap(table, random_state=0)
        return np.asarray(table.obsm["X_umap"]), time.process_time() - began


def kept_types(Z: Array, label: Array) -> float:
    """Accuracy of the type by 15 neighbours, cross-validated in five folds."""
    return float((cross_val_predict(KNeighborsClassifier(15), Z, label, cv=5) == label).mean())


def between(values: Array, label: Array) -> float:
    """Share of the variance of a number that is between types."""
    code = np.unique(label, return_inverse=True)[1]
    means = np.bincount(code, values) / np.bincount(code)
    return 1.0 - float(np.square(values - means[code]).sum() / np.square(values - values.mean()).sum())


def measure(report: Report, cells: Scored) -> None:
    """Hold the map of one set against the bars."""
    maps = {
        "ours": ours(cells),
        "ours without the numbers": ours(cells, given=False),
        "regress_out": regressed_out(cells),
        "scanpy without the numbers": regressed_out(cells, given=False),
    }
    leaks = {
        name: {number: evaluate.leakage(Z, values).value for number, values in cells.numbers.items()}
        for name, (Z, _) in maps.items()
    }
    types = {name: kept_types(Z, cells.label) for name, (Z, _) in maps.items()}
    for name, (_, seconds) in maps.items():
        shown = ", ".join(f"{number} {leak:.3f}" for number, leak in leaks[name].items())
        mixed = "" if cells.batch is None else f"; mixing {mixing(maps[name][0], cells.batch, cells.label):.3f}"
        print(f"  {cells.name}, {name}: leakage {shown}; types {types[name]:.3f}{mixed}; {seconds:.1f} s", flush=True)
    for number, values in cells.numbers.items():
        report.note(f"{cells.name}: share of {number} between types", between(values, cells.label))
        report.at_most(
            f"{cells.name}: leakage of {number} (R²)", leaks["ours"][number], _LEAKAGE,
            rival=leaks["regress_out"][number], rival_name="regress_out",
        )  # fmt: skip
    report.note(f"{cells.name}: accuracy of types without the numbers", types["ours without the numbers"])
    report.at_least(
        f"{cells.name}: accuracy of types", types["ours"], types["regress_out"], rival=types["regress_out"],
        rival_name="regress_out",
    )  # fmt: skip
    if cells.batch is not None:
        found, theirs = (mixing(maps[name][0], cells.batch, cells.label) for name in ("ours", "regress_out"))
        report.at_least(f"{cells.name}: mixing of batches", found, 0.9, rival=theirs, rival_name="regress_out, harmony")
        report.at_most(f"{cells.name}: mixing of batches, not more", found, 1.02)
    report.details[cells.name] = {"leakage": leaks, "types": types, "seconds": {n: s for n, (_, s) in maps.items()}}


def run(*, quick: bool) -> Report:
    """Every set, and 20,000 cells for the time."""
    report = Report()
    n = 600 if quick else 1500
    measure(report, cycling("cycling", n, 1))
    measure(report, cycling("cycling, by type", n, 2, mixed=True))
    measure(report, cycling("cycling, strongly", n, 3, strength=1.0))
    measure(report, in_batches("two batches", TWO[:, ::-1], 15))
    measure(report, in_batches("missing types", MISSING[:, [2, 0, 1, 4, 3]], 16))
    measure(report, in_batches("missing types, by type", MISSING[:, [2, 0, 1, 4, 3]], 17, mixed=True))
    if not quick:
        measure(report, kang())
    many = cycling("20,000 cells", 2000 if quick else 20_000, 4)
    Z, seconds = ours(many)
    report.at_most("20,000 cells: seconds of processor time of the fit, one thread", seconds, _SECONDS)
    for number, values in many.numbers.items():
        report.at_most(f"20,000 cells: leakage of {number} (R²)", evaluate.leakage(Z, values).value, _LEAKAGE)
    report.note("20,000 cells: accuracy of types", kept_types(Z, many.label))
    return report

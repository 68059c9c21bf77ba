"""Rows on disk embedded in bounded memory: a sample is fitted, the others are placed batch by batch.

speed, memory   20 columns of single numbers in a ``.npy`` file; a quarter of the rows and all of them, each in a fresh
                process. The speed of placing is that of the other three quarters: starting and fitting cancel.
quality         MNIST: half of the rows are the sample. 10-NN accuracy of the placed rows by the labels of the sample,
                trustworthiness of the map of all rows: by the mean of neighbours (``transform``), refined, and fitted
                together. Rival: openTSNE's ``transform``, of the same sample.
given           6,000 digits in 30 principal components, three made batches with an offset each, the batch given: half
                are placed, refined and not. 10-NN accuracy as above, and how well the map of all tells the batch.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.format import open_memmap
from sklearn.decomposition import PCA
from sklearn.neighbors import KNeighborsClassifier

from benchmarks.harness import Report, peak_memory
from sidelight import KernelInformationEmbedding, embed_rows
from sidelight.datasets import load_mnist
from sidelight.evaluate import leakage, trustworthiness

TITLE = "rows on disk: a sample is fitted, the others are placed and refined"
RIVALS = ("openTSNE",)
COLUMNS, GROUPS = 20, 50
_BLOCK = 100_000


def write_rows(path: Path, n: int) -> None:
    """Rows (n, 20) around curved sheets, one for each group."""
    rows = open_memmap(path, mode="w+", dtype=np.float32, shape=(n, COLUMNS))
    for start in range(0, n, _BLOCK):
        m = min(_BLOCK, n - start)
        rows[start : start + m] = made_rows(start, m)
    rows.flush()


def made_rows(seed: int, m: int) -> Any:
    """Rows (m, 20) of single numbers, drawn with this seed."""
    turns = np.random.default_rng(99).normal(size=(GROUPS, 4, COLUMNS)) / 4
    centres = np.random.default_rng(98).normal(size=(GROUPS, COLUMNS))
    rng = np.random.default_rng(seed)
    group, t = rng.integers(0, GROUPS, size=m), rng.uniform(-1, 1, size=(m, 2))
    curved = np.column_stack([t, np.sin(2 * t)])
    noise = 0.05 * rng.normal(size=(m, COLUMNS))
    return (np.einsum("ik,ikd->id", curved, turns[group]) + centres[group] + noise).astype(np.float32)


def run(*, quick: bool) -> Report:
    report = Report()
    _speed_and_memory(report, 50_000 if quick else 4_000_000, 5_000 if quick else 50_000)
    _quality(report, 4_000 if quick else 20_000)
    _given(report, 3_000 if quick else 6_000)
    return report


def _speed_and_memory(report: Report, n: int, sample: int) -> None:
    seconds, peaks = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        for rows in (n // 4, n):
            path = Path(folder) / f"{rows}.npy"
            write_rows(path, rows)
            work = f"embed_rows({str(path)!r}, {str(path.with_suffix('.out.npy'))!r}, sample={sample})"
            began = time.perf_counter()
            peaks[rows] = peak_memory("from sidelight import embed_rows", work) / 2**20
            seconds[rows] = time.perf_counter() - began
            path.unlink()
    rate = (n - n // 4) / (seconds[n] - seconds[n // 4])
    report.note(f"{n:,} x {COLUMNS}, sample of {sample:,}: everything", seconds[n], unit="s")
    report.note("placed and refined", rate, unit="rows/s")
    report.note(f"{n // 4:,} rows: peak memory", peaks[n // 4], unit="MiB")
    report.note(f"{n:,} rows: peak memory", peaks[n], unit="MiB")
    report.at_most("peak memory, over that of a quarter of the rows", peaks[n] / peaks[n // 4], 1.1)


def _quality(report: Report, n: int) -> None:
    X, y = _digits(n)
    half = n // 2
    maps, seconds = _maps(X, half)
    found = {name: _measured(X, y, half, Z) for name, Z in maps.items()}
    report.details["seconds of placing"] = seconds
    for k, what in enumerate(("10-NN accuracy of placed rows", "trustworthiness")):
        rival = {"rival": found["openTSNE"][k], "rival_name": "openTSNE"}
        label = f"MNIST, {half:,} fitted, {n - half:,} placed: {what}"
        report.note(f"{label}, by the mean", found["mean"][k], **rival)
        report.at_least(f"{label}, refined", found["refined"][k], found["mean"][k], **rival)
        report.note(f"{label}, all fitted together", found["together"][k])
    report.note("seconds of placing", seconds["refined"], unit="s", rival=seconds["openTSNE"], rival_name="openTSNE")


def _digits(n: int) -> tuple[Any, Any]:
    """Pixels (n, 784) and labels of digits drawn at random."""
    data = load_mnist("train")
    rows = np.random.default_rng(0).permutation(len(data.X))[:n]
    return (data.X[rows].reshape(n, -1) / 255).astype(np.float32), data.factors["label"][rows]


def _given(report: Report, n: int) -> None:
    X, y = _digits(n)
    rng, half = np.random.default_rng(1), n // 2
    batch = rng.integers(3, size=n)
    X = PCA(30, random_state=0).fit_transform(X)
    X += X.std() * rng.normal(size=(3, 30))[batch]
    names = np.array(["a", "b", "c"])[batch]
    model = KernelInformationEmbedding(2, solver="multilevel", random_state=0).fit(X[:half], given=names[:half])
    for how, refine in (("by the mean", False), ("refined", True)):
        placed = embed_rows(X[half:], given=names[half:], model=model, refine=refine)
        Z = np.concatenate([model.embedding_, placed])
        votes = KNeighborsClassifier(10).fit(Z[:half], y[:half]).score(placed, y[half:])
        told = leakage(Z, names)
        what = f"MNIST, {half:,} fitted, {n - half:,} placed, batch given"
        report.note(f"{what}: 10-NN accuracy of placed rows, {how}", float(votes))
        report.note(f"{what}: batch told, {how}", told.value, rival=told.chance, rival_name="chance")


def _maps(X: Any, half: int) -> tuple[dict[str, Any], dict[str, float]]:
    """Maps of all rows, the first half fitted; and how long the placing of the others took."""
    from openTSNE import TSNE

    model = KernelInformationEmbedding(2, solver="multilevel", random_state=0).fit(X[:half])
    theirs = TSNE(n_jobs=2, random_state=0).fit(X[:half])
    placed = {
        "mean": (model.embedding_, lambda: embed_rows(X[half:], model=model, refine=False)),
        "refined": (model.embedding_, lambda: embed_rows(X[half:], model=model)),
        "openTSNE": (np.asarray(theirs), lambda: np.asarray(theirs.transform(X[half:]))),
    }
    maps, seconds = {}, {}
    for name, (own, work) in placed.items():
        began = time.perf_counter()
        maps[name] = np.concatenate([own, work()])
        seconds[name] = time.perf_counter() - began
    together = KernelInformationEmbedding(2, solver="multilevel", random_state=0).fit(X)
    maps["together"] = together.embedding_
    return maps, seconds


def _measured(X: Any, y: Any, half: int, Z: Any) -> tuple[float, float]:
    votes = KNeighborsClassifier(10).fit(Z[:half], y[:half])
    return float(votes.score(Z[half:], y[half:])), trustworthiness(X, Z, n_neighbors=10, sample=2000, random_state=0)

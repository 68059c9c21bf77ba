"""Nearest neighbours: exact tiles and cells beside pynndescent, and faiss, usearch and voyager where installed.

MNIST, 70,000 rows of 784 pixels as they are, and a mixture of 100 sheets of 8 dimensions in 50 columns; two threads;
recall of 30 neighbours against exact search, on 1,000 rows. Time is that of everything from the rows to their
neighbours, building included, warm-up excluded and shown by itself. Bars are on processor time (twice the seconds on
two quiet cores), because a busy machine stretches the clock's.
"""

from __future__ import annotations

import importlib
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import Report, growth_exponent, not_installed, peak_memory, race
from sidelight.base.tiles import one_blas_thread
from sidelight.neighbours.cell_index import CellIndex
from sidelight.neighbours.search import exact_seconds, nearest

TITLE = "nearest neighbours: exact and in cells; recall, time, memory, bytes"
RIVALS = ("scikit-learn", "pynndescent")
K, THREADS, CHECKED = 30, 2, 1000
_PACKAGES = {"pynndescent": "pynndescent", "faiss": "faiss-cpu", "usearch": "usearch", "voyager": "voyager"}

_SETUP = "import numpy as np; from benchmarks.neighbours import searched; X = np.load({path!r})"


def pixels(n: int = 70_000) -> Any:
    """MNIST digits as rows of pixels, float32."""
    from sidelight.datasets import load_mnist

    parts = [load_mnist(split).X.reshape(-1, 784) for split in ("train", "test")]
    return np.concatenate(parts)[:n].astype(np.float32)


def mixture(n: int, d: int = 50) -> Any:
    """A hundred sheets of 8 dimensions with a little noise, float32."""
    rng = np.random.default_rng(0)
    centres, sheets = 4 * rng.standard_normal((100, d)), rng.standard_normal((100, 8, d))
    X = np.empty((n, d), dtype=np.float32)
    for rows in np.array_split(np.arange(n), 1 + n // 20_000):
        label = rng.integers(100, size=len(rows))
        inside = np.einsum("ij,ijd->id", rng.standard_normal((len(rows), 8)), sheets[label])
        X[rows] = centres[label] + inside + 0.1 * rng.standard_normal((len(rows), d))
    return X


def searched(X: Any, k: int = K, **options: Any) -> Any:
    """Ours: the numbers (n, k) of each row's neighbours."""
    return CellIndex(X, n_jobs=THREADS, **options).nearest(k=k, n_jobs=THREADS).index


def run(*, quick: bool) -> Report:
    report = Report()
    _exact(report, quick)
    X = pixels(10_000 if quick else 70_000)
    _beside(report, f"MNIST {len(X):,} x 784", X, seconds=30.0, quick=quick)
    sizes = (20_000, 40_000) if quick else (62_500, 250_000, 1_000_000)
    taken = [_ours(report, f"mixture {n:,} x 50", mixture(n), K, 300.0) for n in sizes]
    report.note(f"growth exponent, {sizes[0]:,} to {sizes[-1]:,} rows", growth_exponent(sizes, taken))
    _beside(report, f"mixture {sizes[1]:,} x 50", mixture(sizes[1]), seconds=None, quick=quick)
    _bytes(report, X)
    _queries(report, 10_000 if quick else 70_000)
    _memory(report, f"MNIST {len(X):,} x 784", X)
    _memory(report, f"mixture {sizes[-1]:,} x 50", mixture(sizes[-1]))
    return report


def _exact(report: Report, quick: bool) -> None:
    """The exact search beside scikit-learn's brute force, and what was estimated."""
    from sklearn.neighbors import NearestNeighbors

    search = one_blas_thread(nearest)
    for n, d in ((2000, 50), (5000, 50)) if quick else ((2000, 50), (10_000, 50), (10_000, 784)):
        X = (pixels(n) if d == 784 else mixture(n)).astype(np.float64)
        theirs = NearestNeighbors(n_neighbors=K, algorithm="brute", n_jobs=THREADS)
        ways = {
            "ours": lambda X=X: search(X, k=K, n_jobs=THREADS, exact=True),
            "theirs": lambda X=X, theirs=theirs: theirs.fit(X).kneighbors(),
        }
        times = race(ways, repeats=3)
        report.faster(f"exact, {n:,} x {d}", times["ours"], times["theirs"], "scikit-learn brute")
        _, processor, _ = _timed(lambda X=X: search(X, k=K, n_jobs=1, exact=True))
        report.note("  processor time over the estimate", processor / exact_seconds(n, d))


def _beside(report: Report, what: str, X: Any, *, seconds: float | None, quick: bool) -> None:
    """Ours and every rival that is installed."""
    true = _true(X, 90)
    if seconds is not None:
        for probes in (12, 20, 40):
            label = f"{what}, {probes} probes"
            _ours(report, label, X, K, seconds if probes == 20 else None, true=true, n_probes=probes)
        _ours(report, f"{what}, 90 neighbours", X, 90, None, true=true)
    for name, package in _PACKAGES.items():
        if not_installed([package]):
            continue
        began = time.perf_counter()
        module = importlib.import_module(name)
        warm = _rivals(name, module, X[:1000])
        next(iter(warm.values()))()
        report.note(f"{name}: import and first use", time.perf_counter() - began, unit="s")
        for setting, work in list(_rivals(name, module, X).items())[: 1 if quick else None]:
            wall, processor, index = _timed(work)
            _noted(report, f"{what}, {name} {setting}", wall, processor, _recall(index, true, K), None)


def _rivals(name: str, module: Any, X: Any) -> dict[str, Callable[[], Any]]:
    """Settings of a rival, each as a function that returns the neighbours; the row itself may be among them."""
    n, d = X.shape
    if name == "pynndescent":
        return {
            f"{jobs} jobs": lambda jobs=jobs: module.NNDescent(
                X, n_neighbors=K + 1, random_state=0, n_jobs=jobs
            ).neighbor_graph[0]
            for jobs in (THREADS, 1)
        }
    if name == "faiss":
        module.omp_set_num_threads(THREADS)

        def cells(probes: int) -> Any:
            index = module.IndexIVFFlat(module.IndexFlatL2(d), d, max(1, n // 128))
            index.cp.niter, index.cp.max_points_per_centroid, index.cp.min_points_per_centroid = 6, 32, 1
            index.train(X)
            index.add(X)
            index.nprobe = probes
            return index.search(X, K + 1)[1]

        def graph() -> Any:
            index = module.IndexHNSWFlat(d, 16)
            index.hnsw.efConstruction, index.hnsw.efSearch = 64, 64
            index.add(X)
            return index.search(X, K + 1)[1]

        return {"IVF, 8 probes": lambda: cells(8), "IVF, 16 probes": lambda: cells(16), "HNSW": graph}
    if name == "usearch":
        kinds = importlib.import_module("usearch.index")

        def one() -> Any:
            index = kinds.Index(ndim=d, metric="l2sq", dtype="f32", connectivity=16, expansion_add=64)
            index.add(np.arange(n), X, threads=THREADS)
            return index.search(X, K + 1, threads=THREADS).keys.astype(np.int64)

        return {"HNSW": one}

    def other() -> Any:
        index = module.Index(module.Space.Euclidean, num_dimensions=d, M=16, ef_construction=64)
        index.add_items(X, num_threads=THREADS)
        return index.query(X, k=K + 1, num_threads=THREADS, query_ef=64)[0].astype(np.int64)

    return {"HNSW": other}


def _ours(
    report: Report, what: str, X: Any, k: int, seconds: float | None, *, true: Any = None, **options: Any
) -> float:
    true = _true(X, k) if true is None else true
    wall, processor, index = _timed(lambda: searched(X, k, **options))
    _noted(report, what, wall, processor, _recall(index, true, k), seconds)
    return processor


def _noted(report: Report, what: str, wall: float, processor: float, found: float, seconds: float | None) -> None:
    if seconds is None:
        report.note(f"{what}: recall", found)
        report.note("  processor time", processor, unit="s")
    else:
        report.at_least(f"{what}: recall", found, 0.95)
        report.at_most("  processor time", processor, seconds, unit="s")
    report.note("  seconds of the clock", wall, unit="s")


def _bytes(report: Report, X: Any) -> None:
    """Whether one and two threads agree: ours, and pynndescent."""
    import pynndescent

    X = X[:10_000]
    ours = [CellIndex(X, n_jobs=jobs).nearest(k=K, n_jobs=jobs).index.tobytes() for jobs in (1, 2)]
    graphs = [pynndescent.NNDescent(X, n_neighbors=K, random_state=0, n_jobs=jobs).neighbor_graph for jobs in (1, 2)]
    theirs = float(graphs[0][0].tobytes() == graphs[1][0].tobytes())
    same = float(ours[0] == ours[1])
    report.at_least("same bytes with 1 and 2 threads (1: yes)", same, 1.0, rival=theirs, rival_name="pynndescent")


def _queries(report: Report, n: int) -> None:
    """New rows against a fitted index."""
    X = mixture(n + 100_000)
    index = CellIndex(X[:n], n_jobs=THREADS)
    wall, processor, _ = _timed(lambda: index.nearest(X[n:], k=K, n_jobs=THREADS))
    report.note(f"queries a second, 50 columns, {n:,} rows", 1e5 / wall)
    report.note("  queries a processor second", 1e5 / processor)


def _memory(report: Report, what: str, X: Any) -> None:
    """What the search takes at its peak beside the data, read from a file so that making them does not count."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "rows.npy")
        np.save(path, X)
        peak = peak_memory(_SETUP.format(path=path), "searched(X)")
    report.at_most(f"peak memory beside the data, {what}", peak / 2**20, 2000, unit="MiB")


def _timed(work: Callable[[], Any]) -> tuple[float, float, Any]:
    wall, processor = time.perf_counter(), time.process_time()
    out = work()
    return time.perf_counter() - wall, time.process_time() - processor, out


def _true(X: Any, k: int) -> tuple[Any, Any]:
    """Rows that are checked, and their exact neighbours."""
    rows = np.sort(np.random.default_rng(1).choice(len(X), CHECKED, replace=False))
    return rows, nearest(X, X[rows], k=k + 1, n_jobs=THREADS).index


def _recall(index: Any, true: tuple[Any, Any], k: int) -> float:
    """The share of the ``k`` nearest others that were found."""
    hits = 0
    for row, expected in zip(*true, strict=True):
        others = [j for j in index[row].tolist() if j != row][:k]
        hits += len(set(others) & set(expected[expected != row][:k].tolist()))
    return hits / (k * len(true[0]))

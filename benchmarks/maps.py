"""Maps and densities of many training rows: only the rows near a query, against all of them, and UMAP's own maps.

A sheet (n, 2) and smooth functions of it in 50 columns, with noise; the rows that are mapped are new ones. "All rows"
is what a model of few rows does, here with ``nearby.MANY`` out of reach, on fewer rows as it is slow. UMAP maps what
it was fitted to, on fewer training rows still, and of its inverse only a few rows. Threads: two, for both.
Digits (MNIST in 50 principal components, 60,000 training rows) are the harder search: their transform is timed too.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from benchmarks.harness import Check, Report, growth_exponent, peak_memory
from sidelight.base.tiles import one_blas_thread
from sidelight.maps import nearby
from sidelight.maps.interpolation import InterpolatingMap, interpolate
from sidelight.maps.kernel_map import KernelMap, adaptive_weights
from sidelight.maps.parzen import ParzenDensity, fit_density
from sidelight.maps.weights import FixedWeights
from sidelight.neighbours.search import nearest

TITLE = "transform, inverse and densities of many rows: near rows, all rows, UMAP"
RIVALS = ("umap-learn",)
COLUMNS, LISTED = 50, 90
_JOBS = 2

_SETUP = """
import numpy as np
from benchmarks.maps import sheet, two_maps
X, Z = sheet({n}, np.float32)
backward, forward = two_maps(X, Z)
queries, places = sheet({m}, np.float32, seed=1)
backward(queries[:8]), forward(places[:8])
"""


def sheet(n: int, dtype: Any = np.float64, seed: int = 0) -> tuple[Any, Any]:
    """Rows (n, 50) and the places (n, 2) they are smooth functions of, ten to a unit of the latent kernel."""
    rng = np.random.default_rng(seed)
    Z = rng.uniform(-0.5, 0.5, size=(n, 2)) * np.sqrt(70_000 / 10)
    waves = np.random.default_rng(99).normal(size=(2, COLUMNS)) / 10
    phase = np.random.default_rng(98).uniform(0, 2 * np.pi, size=COLUMNS)
    X = np.sin(Z @ waves + phase) + 0.1 * rng.normal(size=(n, COLUMNS))
    return X.astype(dtype), Z


def two_maps(X: Any, Z: Any) -> tuple[InterpolatingMap, KernelMap]:
    """Backward and forward, as a kernel information embedding keeps them."""
    lists = nearest(X, k=LISTED, n_jobs=_JOBS).index
    backward = interpolate(KernelMap(adaptive_weights(X, Z, lists), Z), n_jobs=_JOBS)
    return backward, KernelMap(FixedWeights(Z, 1.0, "student"), X)


@contextmanager
def all_rows() -> Iterator[None]:
    """Inside, no number of training rows is too many."""
    kept, nearby.MANY = nearby.MANY, 2**62
    try:
        yield
    finally:
        nearby.MANY = kept


def rows_per_second(work: Callable[[Any], Any], rows: Any, repeats: int = 2) -> float:
    """Rows answered in a second, by the fastest repeat, after a call that is not counted."""
    work(rows[:8])
    seconds = []
    for _ in range(repeats):
        began = time.perf_counter()
        work(rows)
        seconds.append(time.perf_counter() - began)
    return len(rows) / min(seconds)


def run(*, quick: bool) -> Report:
    report = Report()
    n, m = (12_000, 5_000) if quick else (70_000, 100_000)
    X, Z = sheet(n, np.float32)
    queries, places = sheet(m, np.float32, seed=1)
    backward, forward = two_maps(X, Z)
    _race_maps(report, backward, forward, queries, places, slow=m // 100)
    report.at_least("transform: nearest training rows found", _nearest_found(backward, queries[:4000]), 0.998)
    _race_densities(report, X, Z, queries[: m // 10], places[: m // 10], slow=m // 100)
    _compare_umap(report, 2_000 if quick else 5_000, queries, backward, forward, places)
    if not quick:
        _digits(report)
        _growth(report)
    for what, call in (("inverse", "forward(places, 2)"), ("transform", "backward(queries, 2)")):
        peak = peak_memory(_SETUP.format(n=n, m=m), call)
        report.note(
            f"{what} of {m:,} rows: memory above the result",
            (peak - m * (200 if what == "inverse" else 16)) / 2**20,
            unit="MiB",
        )
    return report


def _race_maps(report: Report, backward: Any, forward: Any, queries: Any, places: Any, *, slow: int) -> None:
    n, m = len(forward.outputs), len(queries)
    for what, mapped, rows, truth in (
        ("inverse", forward, places, queries),
        ("transform", backward, queries, places),
    ):
        call = one_blas_thread(lambda some, mapped=mapped: mapped(some, _JOBS))
        near, found = rows_per_second(call, rows), call(rows[:slow])
        with all_rows():
            few = rows[:slow].astype(np.float64)
            every, exact = rows_per_second(call, few, 1), call(few)
        label = f"{what}, {n:,} training rows, {m:,} queries"
        beside: Any = {"unit": "rows/s", "rival": every, "rival_name": "all rows", "ratio": near / every}
        if m >= 100_000:
            report.at_least(label, near, 100_000, **beside)
        else:
            report.note(label, near, **beside)
        own = _by_processor_time(call, rows)
        report.note(f"{what}: the same by processor time, two cores and nobody else", own, unit="rows/s")
        errors = [_error(some, truth[:slow]) for some in (found, exact)]
        report.note(
            f"{what}: error on new rows", errors[0], rival=errors[1], rival_name="all rows", ratio=errors[1] / errors[0]
        )


def _by_processor_time(call: Callable[[Any], Any], rows: Any) -> float:
    """Rows a second that two cores would answer if nobody else used them."""
    began = time.process_time()
    call(rows)
    return 2 * len(rows) / (time.process_time() - began)


def _nearest_found(backward: Any, queries: Any) -> float:
    """The share of queries whose nearest training row is found."""
    weights = backward.weights
    index, _ = weights.listed(queries, weights.near(queries, _JOBS))
    return float(np.mean(index[:, 0] == nearest(weights.inputs, queries, k=1, n_jobs=_JOBS).index[:, 0]))


def _digits(report: Report) -> None:
    """Transform of 10,000 digits, on eight times as many queries: the others with noise."""
    from sidelight.datasets import load_mnist

    X, new = (load_mnist(split).X.reshape(-1, 784).astype(np.float32) for split in ("train", "test"))
    principal = np.linalg.eigh(np.cov(X.T))[1][:, :-51:-1].astype(np.float32)
    centre = X.mean(axis=0)
    X, new = (X - centre) @ principal, (new - centre) @ principal
    noise = 0.15 * X.std(axis=0) * np.random.default_rng(0).normal(size=(7, *new.shape))
    backward, _ = two_maps(X, X[:, :2].astype(np.float64))
    call = one_blas_thread(lambda some: backward(some, _JOBS))
    queries = np.concatenate([new, *(new + noise)]).astype(np.float32)
    call(queries[:8])
    report.note("transform of digits, 50 columns, by processor time", _by_processor_time(call, queries), unit="rows/s")
    report.at_least("transform of digits: nearest training rows found", _nearest_found(backward, new), 0.998)


def _race_densities(report: Report, X: Any, Z: Any, queries: Any, places: Any, *, slow: int) -> None:
    began = time.perf_counter()
    density = fit_density(X, nearest(X, k=15, n_jobs=_JOBS).distance[:, -1] ** 2)
    report.note("density of the data: fit, neighbours included", time.perf_counter() - began, unit="s")
    latent = ParzenDensity(Z, np.ones(len(Z)), "student")
    for what, dense, rows in (("data", density, queries), ("latent", latent, places)):
        call = one_blas_thread(lambda some, dense=dense: dense.log_density(some, _JOBS))
        near, found = rows_per_second(call, rows, 1), call(rows[:slow])
        with all_rows():
            few = rows[:slow].astype(np.float64)
            every, exact = rows_per_second(call, few, 1), call(few)
        report.note(f"{what} density", near, unit="rows/s", rival=every, rival_name="all rows", ratio=near / every)
        report.note(f"{what} density: largest error of its logarithm", float(np.abs(found - exact).max()))


def _compare_umap(report: Report, n: int, queries: Any, backward: Any, forward: Any, places: Any) -> None:
    from umap import UMAP

    X, Z = sheet(n, np.float32)
    rival = UMAP(random_state=0, n_jobs=1, init=Z.astype(np.float32), n_epochs=50).fit(X)
    some = np.asarray(rival.embedding_[:20])
    calls = {
        "transform": (rival.transform, queries[:1000], backward, queries),
        "inverse": (rival.inverse_transform, some, forward, places),
    }
    for what, (theirs, few, mapped, rows) in calls.items():
        slow = rows_per_second(theirs, few, 1)
        fast = rows_per_second(one_blas_thread(lambda some, mapped=mapped: mapped(some, _JOBS)), rows, 1)
        name = f"UMAP ({n:,} training rows)"
        report.checks.append(Check(f"{what}, beside UMAP's", fast, "rows/s", slow, name, fast / slow))


def _growth(report: Report) -> None:
    """How the time of a query grows with the training rows."""
    sizes = [20_000, 70_000, 200_000]
    seconds: dict[str, list[float]] = {"inverse": [], "transform": []}
    for n in sizes:
        X, Z = sheet(n, np.float32)
        queries, places = sheet(20_000, np.float32, seed=1)
        backward, forward = two_maps(X, Z)
        for what, mapped, rows in (("inverse", forward, places), ("transform", backward, queries)):
            call = one_blas_thread(lambda some, mapped=mapped: mapped(some, _JOBS))
            seconds[what].append(1.0 / rows_per_second(call, rows, 1))
    for what, values in seconds.items():
        report.at_most(
            f"{what}: exponent of the time of a query in the training rows", growth_exponent(sizes, values), 0.5
        )


def _error(found: Any, truth: Any) -> float:
    return float(np.linalg.norm(found - truth) / np.linalg.norm(truth - truth.mean(axis=0)))

"""transform at the speed of reading: rows a second, growth with the training rows, and the latency of a single row.

Times are processor time, the fastest of several calls: the machine may be busy. Rows a second are those of two cores.
Digits are MNIST in 50 principal components, the sheet is that of ``benchmarks.maps``. Single rows are asked of fitted
models of 2,000 to 20,000 digits, as the explorer does: a row to the map, a place to a row, with ``given`` and without.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.harness import Report, growth_exponent
from benchmarks.maps import sheet, two_maps
from sidelight import KernelInformationEmbedding
from sidelight.base.tiles import one_blas_thread

TITLE = "transform: rows a second, growth, one row at a time"
RIVALS = ()
COLUMNS = 50
LATENCY = 2e-3  # seconds of one row


def run(*, quick: bool) -> Report:
    report = Report()
    rows, new = digits()
    _throughput(report, rows[: 12_000 if quick else None], new)
    if not quick:
        _growth(report)
    for n in (1_000, 2_500) if quick else (2_000, 8_000, 20_000):
        _one_row(report, rows[:n], new)
    _one_row_given(report, rows[: 1_000 if quick else 8_000], new)
    return report


def digits() -> tuple[Any, Any]:
    """MNIST in 50 principal components: 60,000 rows to fit and 10,000 new ones, float32."""
    from sidelight.datasets import load_mnist

    X, new = (load_mnist(split).X.reshape(-1, 784).astype(np.float32) for split in ("train", "test"))
    principal = np.linalg.eigh(np.cov(X[:20_000].T))[1][:, : -COLUMNS - 1 : -1].astype(np.float32)
    centre = X.mean(axis=0)
    return (X - centre) @ principal, (new - centre) @ principal


def fastest(work: Callable[[], Any], repeats: int) -> float:
    """Processor seconds of the fastest of some calls, after one that is not counted."""
    work()
    seconds = []
    for _ in range(repeats):
        began = time.process_time()
        work()
        seconds.append(time.process_time() - began)
    return min(seconds)


def _throughput(report: Report, rows: Any, new: Any) -> None:
    backward, _ = two_maps(rows, rows[:, :2].astype(np.float64))
    noise = 0.15 * rows.std(axis=0) * np.random.default_rng(0).normal(size=(7, *new.shape))
    queries = np.concatenate([new, *(new + noise)]).astype(np.float32)
    call = one_blas_thread(lambda: backward(queries, 1))
    report.at_least(
        f"digits in 50 columns, {len(rows):,} training rows, {len(queries):,} queries",
        2 * len(queries) / fastest(call, 2),
        100_000,
        unit="rows/s",
    )


def _growth(report: Report) -> None:
    sizes, queries = [20_000, 70_000, 200_000], sheet(20_000, np.float32, seed=1)[0]
    seconds = []
    for n in sizes:
        backward, _ = two_maps(*sheet(n, np.float32))
        call = one_blas_thread(lambda backward=backward: backward(queries, 1))
        seconds.append(fastest(call, 4) / len(queries))
        report.note(f"sheet in 50 columns, {n:,} training rows, 20,000 queries", 2 / seconds[-1], unit="rows/s")
    report.at_most("exponent of the time of a query in the training rows", growth_exponent(sizes, seconds), 0.2)


def _one_row(report: Report, rows: Any, new: Any) -> None:
    model = KernelInformationEmbedding(random_state=0).fit(rows)
    n, whole = len(rows), model.transform(new[:64])
    places = model.embedding_
    for what, call in (
        ("transform", lambda: model.transform(new[:1])),
        ("inverse_transform", lambda: model.inverse_transform(places[:1])),
    ):
        report.at_most(f"{n:,} training rows: {what} of one row", fastest(call, 100), LATENCY, unit="s")
    report.note(
        f"{n:,} training rows: score_samples of one row", fastest(lambda: model.score_samples(new[:1]), 50), unit="s"
    )
    alone = np.concatenate([model.transform(new[i : i + 1]) for i in range(64)])
    report.at_least(f"{n:,} training rows: one by one as all together, to the bit", float(np.all(alone == whole)), 1.0)


def _one_row_given(report: Report, rows: Any, new: Any) -> None:
    group = np.random.default_rng(0).integers(3, size=len(rows))
    shift = 300.0 * np.eye(COLUMNS, dtype=np.float32)
    names = np.array(["a", "b", "c"])
    model = KernelInformationEmbedding(random_state=0).fit(rows + shift[group], given=names[group])
    places = model.embedding_
    for what, call in (
        ("transform(given=)", lambda: model.transform(new[:1] + shift[:1], given="a")),
        ("inverse_transform(given=)", lambda: model.inverse_transform(places[:1], given="b")),
    ):
        report.at_most(f"{len(rows):,} training rows: {what} of one row", fastest(call, 100), LATENCY, unit="s")

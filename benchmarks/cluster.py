"""Rows on a Dask cluster of this machine: 1, 2 and 4 workers, one of them killed; ten million rows on two.

A sample is fitted once, in this process; then all rows are neighbours-searched, placed and refined on the workers, of
which each has one thread. Rows (20 columns of single numbers, those of ``streaming``) are made on the worker that needs
them, so that no disk is measured.

bytes       of the places with 1, 2 and 4 workers, other partitions, a killed worker, and without Dask
rows/s      by the clock, and by the processor time of the workers (which other work on the machine does not lengthen)
memory      peak resident memory of a worker (``VmHWM``), and before the work
network     what workers sent to each other and to this process (the model, ends of partitions, places)

``python -m benchmarks.cluster --rows N --sample M --many K`` measures other sizes (0: left out). Every
number is printed when it is there. ``--keep`` also writes the checks to ``docs/files/cluster.json``, for the pages.
"""

from __future__ import annotations

import argparse
import os
import signal
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import KEPT, RESULTS, Report, table
from benchmarks.streaming import COLUMNS, made_rows
from sidelight import KernelInformationEmbedding, embed_rows

TITLE = "rows on a cluster: workers, a killed one, ten million rows"
RIVALS = ("dask",)
_BLOCK = 100_000  # rows that are made from one seed


def run(*, quick: bool) -> Report:
    return measured(60_000, 2_000, 0) if quick else measured(400_000, 50_000, 10_000_000)


def measured(n: int, sample: int, many: int) -> Report:
    """Measure n rows by a sample of so many, then ``many`` rows on two workers."""
    report = Report()
    began = time.process_time()
    model = KernelInformationEmbedding(2, solver="multilevel", random_state=0).fit(rows_between(0, sample))
    report.note(f"fit of {sample:,} rows here, processor time", time.process_time() - began, unit="s")
    if n:
        expected = embed_rows(rows_between(0, n), model=model).tobytes()
        for workers in (1, 2, 4):
            _race(report, model, n, workers, expected, partition=n // 8)
        _race(report, model, n, 2, expected, partition=n // 8, killed=True)
        _race(report, model, n, 2, expected, partition=n // 13)
    if many:
        _many(report, model, many)
    return report


def rows_between(start: int, stop: int) -> Any:
    """Rows ``start`` to ``stop``, the same for any partition."""
    first, last = start // _BLOCK, -(-stop // _BLOCK)
    made = [made_rows(k * _BLOCK, _BLOCK) for k in range(first, last)]
    return np.concatenate(made)[start - first * _BLOCK : stop - first * _BLOCK]


def source(n: int, partition: int, marker: str = "") -> Any:
    """A Dask array (n, 20); with ``marker``, whoever reads the partition in the middle first is killed."""
    import dask
    import dask.array as da

    def read(start: int, stop: int) -> Any:
        if marker and start <= n // 2 < stop and not Path(marker).exists():
            Path(marker).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return rows_between(start, stop)

    bounds = [(start, min(start + partition, n)) for start in range(0, n, partition)]
    parts = [da.from_delayed(dask.delayed(read)(a, b), (b - a, COLUMNS), np.float32) for a, b in bounds]
    return da.concatenate(parts)


def _race(
    report: Report, model: Any, n: int, workers: int, expected: bytes, *, partition: int, killed: bool = False
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        marker = str(Path(folder) / "killed") if killed else ""
        found, told = on_cluster(workers, lambda: placed(source(n, partition, marker), model))
        how = f"{n:,} rows in partitions of {partition:,}, {workers} workers" + (", one killed" if killed else "")
        if killed:
            assert Path(marker).exists()
    _note(report, how, n, told)
    report.at_least(f"{how}: same bytes as without Dask (1: yes)", float(found.tobytes() == expected), 1)


def _many(report: Report, model: Any, n: int) -> None:
    """The large run: places go to a file, and a stretch of them is compared."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "places.npy"
        found, told = on_cluster(2, lambda: placed(source(n, 100_000), model, out))
        start = n // 2 // 20_000 * 20_000  # a batch
        here = embed_rows(rows_between(start, start + 20_000), model=model)
        same = found[start : start + 20_000].tobytes() == here.tobytes()
    how = f"{n:,} rows in partitions of 100,000, 2 workers"
    _note(report, how, n, told)
    report.at_least(f"{how}: same bytes as without Dask, of 20,000 rows (1: yes)", float(same), 1)


def placed(rows: Any, model: Any, out: Path | None = None) -> Any:
    """Places of all rows, on whatever cluster there is."""
    from sidelight.distributed import DaskRows

    return embed_rows(DaskRows(rows), out, model=model)


def on_cluster(workers: int, work: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
    """The result of ``work`` on a cluster of processes, and what it took."""
    from distributed import Client, LocalCluster

    local = LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0", memory_limit="2GiB")
    with local, Client(local) as client:
        before = client.run(_used)
        began = time.perf_counter()
        found = work()
        seconds = time.perf_counter() - began
        after = client.run(_used)
    zero = {"processor": 0.0, "sent": 0.0}
    return found, {
        "seconds": seconds,
        "processor": sum(now["processor"] - before.get(name, zero)["processor"] for name, now in after.items()),
        "sent": sum(now["sent"] - before.get(name, zero)["sent"] for name, now in after.items()),
        "peak": max(now["peak"] for now in after.values()),
        "idle": max(now["idle"] for now in before.values()),
    }


def _used(dask_worker: Any) -> dict[str, float]:
    """Processor seconds, MiB of memory (peak and now) and bytes sent of a worker, in which this runs."""
    status = Path("/proc/self/status").read_text()
    size = {line.split(":")[0]: int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("Vm")}
    return {
        "processor": time.process_time(),
        "peak": size["VmHWM"],
        "idle": size["VmRSS"],
        "sent": float(dask_worker.transfer_outgoing_bytes_total),
    }


def _note(report: Report, how: str, n: int, told: dict[str, float]) -> None:
    report.details[how] = told
    print(f"  {how}: {told}", flush=True)
    report.note(f"{how}: by the clock", n / told["seconds"], unit="rows/s")
    if "killed" not in how:  # what the dead one did is not counted
        report.note(f"{how}: by processor time of the workers", n / told["processor"], unit="rows/s")
    report.note(f"{how}: peak memory of a worker (idle {told['idle']:.0f})", told["peak"], unit="MiB")
    report.note(f"{how}: sent by workers, bytes a row", told["sent"] / n)


def main() -> None:
    """Measure the sizes that the command line names."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cluster", description=TITLE)
    parser.add_argument("--rows", type=int, default=400_000)
    parser.add_argument("--sample", type=int, default=50_000)
    parser.add_argument("--many", type=int, default=10_000_000)
    parser.add_argument("--keep", action="store_true", help="also write the checks to docs/files, for the pages")
    chosen = parser.parse_args()
    report = measured(chosen.rows, chosen.sample, chosen.many)
    print(table(report))
    sizes = {"rows": chosen.rows, "sample": chosen.sample, "many": chosen.many}
    print(f"  written to {report.write(RESULTS / 'cluster.json', name='cluster', **sizes)}")
    if chosen.keep:
        said = " ".join(f"--{name} {size}" for name, size in sizes.items())
        report.keep(KEPT / "cluster.json", name="cluster", command=f"python -m benchmarks.cluster {said}")


if __name__ == "__main__":
    main()

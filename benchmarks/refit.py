"""The explorer's Re-fit: from the click to the new map, in the worker, with and without something factored out.

The bars are those of the page: a user waits 10 s for 10,000 rows and 60 s for 100,000, on two cores. The wall time is
of this machine as it is; processor time (of the worker, all threads) is beside it, and where others compute at the same
time it is the one that counts. 12 clusters in 30 columns; a category of two values shifts all rows.
"""

from __future__ import annotations

import resource
import time
from typing import Any

import numpy as np
from sklearn.datasets import make_blobs

from benchmarks.harness import Report
from sidelight import KernelInformationEmbedding, TwoWayEmbedding
from sidelight.explorer import Statement
from sidelight.explorer._explorer import Explorer
from sidelight.explorer._table import table_of

TITLE = "explorer: Re-fit in the worker, 30 columns"
RIVALS: tuple[str, ...] = ()
_BARS = {10_000: 10.0, 100_000: 60.0}


def run(*, quick: bool) -> Report:
    report = Report()
    for n in [10_000] if quick else list(_BARS):
        for given in (False, True):
            _refit(report, n, given)
    return report


def _refit(report: Report, n: int, given: bool) -> None:
    rng = np.random.default_rng(0)
    X, kind = make_blobs(n, 30, centers=12, cluster_std=2.0, random_state=0)
    batch = rng.integers(0, 2, n)
    X = X + 3 * batch[:, None] * rng.normal(size=30)
    columns = {"batch": np.where(batch, "b", "a"), "kind": kind.astype(str)}
    said = [Statement("factor_out", column="batch")] if given else [Statement("drop", rows=[0])]
    first = TwoWayEmbedding().fit(X)  # any map to begin with; refits are of the model below
    explorer = Explorer(first, table_of(first, X, columns))
    explorer.base = KernelInformationEmbedding(random_state=0)
    explorer.say(said)
    explorer.warm()
    time.sleep(5)  # imports of the worker, which happen while the user still thinks
    used, began = _children(), time.perf_counter()
    explorer.refit()
    assert explorer.job is not None
    explorer.job.wait()
    state = explorer.job_state()
    wall = time.perf_counter() - began
    assert state["state"] == "done", state
    before = time.perf_counter()
    measures = explorer.measures(1)
    what = f"{n:,} rows, {'a category factored out' if given else 'nothing given'}"
    report.at_most(f"{what}: wall time", wall, _BARS[n], unit="s")
    report.note(f"{what}: processor time", _children() - used, unit="s")
    print(f"  {what}: {wall:.1f} s, processor time {_children() - used:.1f} s", flush=True)
    report.note(f"{what}: measures", time.perf_counter() - before, unit="s")
    report.note(f"{what}: trustworthiness", measures["trustworthiness"])
    for column in measures["columns"]:
        _note_column(report, what, column)
    explorer.close()


def _note_column(report: Report, what: str, column: dict[str, Any]) -> None:
    report.note(f"{what}: neighbours tell {column['name']} (chance {column['chance']:.2f})", column["value"])


def _children() -> float:
    """Processor seconds of the processes that ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime

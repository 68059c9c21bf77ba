"""What ``explain.reliability(model, X, bootstrap=...)`` costs with the number of rows: 10,000 to 70,000 digits.

Every size has a process of its own, which loads the pixels (n, 784), fits the model with two threads, makes the table
without maps of halves, and then with two of them. A map's cost is half of what the second table takes more than the
first. Memory is what the resident set rises by during the second table, at its highest (Linux).

    python -m benchmarks resampled_maps
"""

from __future__ import annotations

import json
from typing import Any

from benchmarks.harness import Report, fresh_process, growth_exponent

TITLE = "reliability by maps of random halves: time and memory from 10,000 to 70,000 rows"
RIVALS: tuple[str, ...] = ()
MAPS = 2
_WORK = """
import json, time
from benchmarks.large_maps import digits
from sidelight import KernelInformationEmbedding, explain

def size(key):
    with open("/proc/self/status") as lines:
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith(key))

def timed(work):
    wall, spent = time.perf_counter(), time.process_time()
    result = work()
    return result, {{"wall": time.perf_counter() - wall, "processor": time.process_time() - spent}}

X = digits({n})[0]
model, fit = timed(lambda: KernelInformationEmbedding(n_jobs=2).fit(X))
_, table = timed(lambda: explain.reliability(model, X, n_jobs=2))
open("/proc/self/clear_refs", "w").write("5")  # the peak begins here
before = size("VmRSS:")
found, maps = timed(lambda: explain.reliability(model, X, bootstrap={maps}, n_jobs=2))
print(json.dumps({{"fit": fit, "table": table, "maps": maps, "peak": size("VmHWM:") - before,
                  "stable": float(found.stable.mean()), "displaced": float(found.displaced.median())}}))
"""


def run(*, quick: bool) -> Report:
    report = Report()
    sizes = (2_500, 5_000) if quick else (10_000, 30_000, 70_000)
    told = [_measured(n) for n in sizes]
    for n, one in zip(sizes, told, strict=True):
        for clock in ("wall", "processor"):
            report.note(f"{n:,} digits: fit, {clock}", one["fit"][clock], unit="s")
            report.note(f"{n:,} digits: table without maps, {clock}", one["table"][clock], unit="s")
            report.note(f"{n:,} digits: one map of half of the rows, {clock}", _each(one, clock), unit="s")
        report.note(f"{n:,} digits: MiB more at the peak", one["peak"] / 2**20)
        report.note(f"{n:,} digits: stable, mean", one["stable"])
    report.at_most(
        "one map, processor time, growth with the rows, exponent",
        growth_exponent(sizes, [_each(one, "processor") for one in told]),
        1.2,
    )
    report.note("the same, of the fit", growth_exponent(sizes, [one["fit"]["processor"] for one in told]))
    report.note("memory at the peak, exponent", growth_exponent(sizes, [one["peak"] for one in told]))
    report.details["runs"] = dict(zip(map(str, sizes), told, strict=True))
    return report


def _measured(n: int) -> dict[str, Any]:
    print(f"  {n:,} rows ...", flush=True)
    return dict(json.loads(fresh_process(_WORK.format(n=n, maps=MAPS)).splitlines()[-1]))


def _each(told: dict[str, Any], clock: str) -> float:
    return float(told["maps"][clock] - told["table"][clock]) / MAPS

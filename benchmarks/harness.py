"""What every benchmark needs: races, peak memory, growth, and a report with its rival beside it.

Time      ours and the rivals take turns within one process, so that a busy machine slows all of them alike; the
          ratio is that of the fastest repeats (noise only ever adds), and every repeat is in the JSON.
Memory    the high-water mark of the resident set (``VmHWM``) of a *fresh* process, less what was resident just before
          the measured call. That counts what a user pays (arrays, BLAS buffers, thread stacks) and not the imports.
          ``ru_maxrss`` would not do: on Linux a child inherits its parent's. Where there is no ``/proc`` it is used
          all the same.
Growth    the exponent p of ``seconds ∝ n^p``: the slope of a straight line through (log n, log seconds).
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

RESULTS = Path(__file__).parent / "results"
KEPT = Path(__file__).parents[1] / "docs" / "files"
"""Where the numbers are that the pages are made from."""
_PACKAGES = ("sidelight", "numpy", "scipy", "scikit-learn", "umap-learn", "openTSNE", "harmonypy", "numba", "finufft")

_PEAK_PROBE = """
import resource, sys

def kibibytes(key):
    try:
        with open("/proc/self/status") as lines:
            return next(int(line.split()[1]) for line in lines if line.startswith(key))
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (1024 if sys.platform == "darwin" else 1)

{setup}
before = kibibytes("VmRSS:")
{measured}
print(1024 * (kibibytes("VmHWM:") - before))
"""


@dataclass(frozen=True)
class Timing:
    """Seconds of each repeat of one contender."""

    seconds: tuple[float, ...]

    @property
    def best(self) -> float:
        """The fastest repeat."""
        return min(self.seconds)


@dataclass(frozen=True)
class Check:
    """One measured number, its rival's, and the bar it has to meet (``passed=None``: reported only)."""

    what: str
    ours: float
    unit: str = ""
    rival: float | None = None
    rival_name: str = ""
    ratio: float | None = None
    bar: str = ""
    passed: bool | None = None


@dataclass
class Report:
    """The checks of a benchmark, and whatever else should be kept with them."""

    checks: list[Check] = field(default_factory=list)
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """Whether every check that has a bar met it."""
        return all(check.passed is not False for check in self.checks)

    def faster(self, what: str, ours: Timing, rival: Timing, rival_name: str, *, at_least: float | None = None) -> None:
        """Add a race: ``ratio`` is how many times faster ours is."""
        ratio = rival.best / ours.best
        bar = "" if at_least is None else f"≥ {at_least:g}x"
        passed = None if at_least is None else ratio >= at_least
        self.checks.append(Check(what, ours.best, "s", rival.best, rival_name, ratio, bar, passed))
        self.details.setdefault("repeats", {})[what] = {"ours": ours.seconds, rival_name: rival.seconds}

    def at_least(self, what: str, ours: float, bar: float, **more: Any) -> None:
        """Add a number that must not be smaller than ``bar``."""
        self.checks.append(Check(what, float(ours), bar=f"≥ {bar:g}", passed=bool(ours >= bar), **more))

    def at_most(self, what: str, ours: float, bar: float, **more: Any) -> None:
        """Add a number that must not be larger than ``bar``."""
        self.checks.append(Check(what, float(ours), bar=f"≤ {bar:g}", passed=bool(ours <= bar), **more))

    def note(self, what: str, ours: float, **more: Any) -> None:
        """Add a number without a bar."""
        self.checks.append(Check(what, float(ours), **more))

    def write(self, path: Path, **more: Any) -> Path:
        """Write the report as JSON, with the machine it was measured on."""
        path.parent.mkdir(parents=True, exist_ok=True)
        content = {
            **more,
            "passed": self.passed,
            "checks": [asdict(check) for check in self.checks],
            "details": self.details,
            "machine": machine(),
        }
        path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n")
        return path

    def keep(self, path: Path, *, name: str, command: str = "") -> Path:
        """Write what the pages are made from: the checks to six digits, with command, machine, date and commit."""
        content = {
            "name": name,
            "command": command or f"python -m benchmarks {name}",
            "commit": commit(),
            "passed": self.passed,
            "checks": [_six_digits(asdict(check)) for check in self.checks],
            "machine": machine(),
        }
        path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        return path


def race(contenders: Mapping[str, Callable[[], object]], *, repeats: int, warm_up: bool = True) -> dict[str, Timing]:
    """Time the contenders in turns, ``repeats`` rounds after one round that is not counted."""
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for turn in range(repeats + warm_up):
        for name, work in contenders.items():
            began = time.perf_counter()
            work()
            if turn >= warm_up:
                seconds[name].append(time.perf_counter() - began)
    return {name: Timing(tuple(values)) for name, values in seconds.items()}


def fresh_process(code: str) -> str:
    """Run Python code in a new interpreter from the project's root, and return what it printed."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[1],
    )
    if done.returncode:
        raise RuntimeError(f"a fresh process failed: {done.stderr.strip().splitlines()[-1]}")
    return done.stdout


def peak_memory(setup: str, measured: str) -> int:
    """Bytes by which the resident set rises while ``measured`` runs, at its highest, after ``setup``."""
    return int(fresh_process(_PEAK_PROBE.format(setup=setup, measured=measured)).split()[-1])


def growth_exponent(sizes: Sequence[int], seconds: Sequence[float]) -> float:
    """``p`` of ``seconds ∝ n^p``.

    >>> round(growth_exponent([10, 100, 1000], [2.0, 200.0, 20000.0]), 6)
    2.0
    """
    slope, _ = np.polyfit(np.log(sizes), np.log(seconds), 1)
    return float(slope)


def not_installed(packages: Iterable[str]) -> list[str]:
    """Those of the packages (by the name pip knows them by) that are not there."""
    return [package for package in packages if _version(package) is None]


def machine() -> dict[str, Any]:
    """What the numbers were measured on."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "platform": platform.platform(),
        "processor": _processor(),
        "cores": cores,
        "load_average": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        "threads": os.environ.get("OMP_NUM_THREADS"),
        "python": platform.python_version(),
        "versions": {name: version for name in _PACKAGES if (version := _version(name))},
        "date": time.strftime("%Y-%m-%d"),
    }


def commit() -> str:
    """The short name of the commit that is checked out."""
    done = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    return done.stdout.strip()


def table(report: Report) -> str:
    """The checks as lines of text."""
    header = ("what", "ours", "rival", "ratio", "bar", "")
    rows = [header, *(_cells(check) for check in report.checks)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(header))]
    lines = ["  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    lines.insert(1, "  " + "-" * (sum(widths) + 2 * (len(widths) - 1)))
    return "\n".join(line.rstrip() for line in lines)


def _cells(check: Check) -> tuple[str, ...]:
    verdict = "" if check.passed is None else ("met" if check.passed else "NOT MET")
    rival = "" if check.rival is None else f"{_number(check.rival, check.unit)} {check.rival_name}"
    ratio = "" if check.ratio is None else f"{check.ratio:.2f}x" if check.ratio < 10 else f"{check.ratio:,.0f}x"
    return check.what, _number(check.ours, check.unit), rival, ratio, check.bar, verdict


def _number(value: float, unit: str) -> str:
    if unit == "s" and value < 1:
        return f"{1e3 * value:.3g} ms"
    if unit == "s":
        return f"{value:.2f} s"
    return f"{value:.4g} {unit}".rstrip()


def _six_digits(check: Mapping[str, Any]) -> dict[str, Any]:
    return {key: float(f"{value:.6g}") if isinstance(value, float) else value for key, value in check.items()}


def _processor() -> str:
    try:
        with open("/proc/cpuinfo") as lines:
            return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")
    except OSError:
        return platform.processor() or "unknown"


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None

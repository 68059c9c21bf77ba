"""The default tests on other processors, Pythons and versions of the dependencies, as one table (`make test-machines`).

A machine plays others: OpenBLAS takes the kernels of the processor that OPENBLAS_CORETYPE names, NumPy leaves out the
instructions that NPY_DISABLE_CPU_FEATURES lists. Those settings run in the environment that runs this script. Settings
of Python and versions have environments of their own, `.venv-3.12-newest` and the like, made when they are first asked
for. What a setting wrote is kept in `out/machines`.

    python tests/machines.py --list
    python tests/machines.py --only Nehalem '3.13-*' --tests tests/solvers
    python tests/machines.py --only Nehalem Sandybridge Haswell SkylakeX --sensitive        (what .ci/run asks for)
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOGS = ROOT / "out" / "machines"
PYTHONS = ("3.11", "3.12", "3.13")

SENSITIVE = (
    "tests/base/test_eigenvalues.py",
    "tests/common/test_bad_input.py",
    "tests/coordinated",
    "tests/distributed",
    "tests/information/test_joint_information_embedding.py",
    "tests/information/test_levels_fit.py",
    "tests/information/test_smoother_embedding.py",
    "tests/information/test_unsupervised_kernel_regression.py",
    "tests/kernels",
    "tests/maps",
    "tests/metrics",
    "tests/mixtures/test_probabilistic_pca.py",
    "tests/neighbours",
    "tests/objectives",
    "tests/relational",
    "tests/report/test_report_file.py",
    "tests/rows",
    "tests/solvers",
    "tests/spectral",
    "tests/unfolding",
)
"""Where the last bits matter: eigenproblems, sums in fixed order, branches at rounding. About 4 minutes of one core."""


@dataclass(frozen=True)
class Processor:
    """An OpenBLAS core type (None: the machine's own), and the beginnings of the NumPy features that are left out."""

    core: str | None = None
    without: tuple[str, ...] = ()


@dataclass(frozen=True)
class Versions:
    """What is installed: extras of the project and other packages, at the versions of a file, or the newest."""

    extras: str
    packages: tuple[str, ...]
    constraints: str | None = None
    options: tuple[str, ...] = ()  # of pytest


@dataclass(frozen=True)
class Setting:
    """One line of the table; without a Python it runs in the environment of this script."""

    name: str
    processor: Processor = field(default_factory=Processor)
    python: str | None = None
    versions: Versions | None = None


@dataclass(frozen=True)
class Outcome:
    """Counts by word of pytest's last line, the versions that ran, minutes, and a remark where something is to say."""

    counts: dict[str, int] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    minutes: float = 0.0
    remark: str = ""
    failed: bool = False


RIVALS = ("pytest", "pytest-xdist", "polars", "openTSNE", "umap-learn", "harmonypy", "cvxpy", "duckdb", "openpyxl")
EXTRAS = "report,cli,anndata,explore,notebook,scale"
INSTALLED = {
    "pinned": Versions(EXTRAS, (*RIVALS, "torch"), "constraints.txt"),
    # Old packages warn of what newer ones have changed since.
    "oldest": Versions(EXTRAS, ("pytest", "pytest-xdist", "polars"), "constraints-minimum.txt", ("-W", "default")),
    "newest": Versions(EXTRAS, (*RIVALS, "torch")),
}
# The newest anndata of Python 3.11 takes no pandas 3, which those who install other extras get.
WITHOUT_ANNDATA = {"3.11-newest": Versions(EXTRAS.replace("anndata,", ""), (*RIVALS, "torch"))}
PROCESSORS = {
    "native": Processor(),
    **{core: Processor(core) for core in ("Nehalem", "Sandybridge", "Haswell", "Zen", "SkylakeX")},
    "no-AVX-512": Processor("Haswell", ("AVX512", "X86_V4")),
    "no-AVX": Processor("Nehalem", ("AVX", "FMA", "F16C", "XOP", "X86_V3", "X86_V4")),
}
SETTINGS = [
    *(Setting(name, processor) for name, processor in PROCESSORS.items()),
    *(
        Setting(f"{p}-{name}", python=p, versions=WITHOUT_ANNDATA.get(f"{p}-{name}", versions))
        for p in PYTHONS
        for name, versions in INSTALLED.items()
    ),
]

PROBE = """
import json, sys
import numpy, scipy, sklearn, threadpoolctl, scipy.linalg
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__
A = numpy.random.default_rng(0).normal(size=(300, 300))
scipy.linalg.eigh(A @ A.T)
found = {m.__name__: m.__version__ for m in (numpy, scipy, sklearn)}
found["python"] = sys.version.split()[0]
found["BLAS"] = " ".join(sorted({p["architecture"] for p in threadpoolctl.threadpool_info() if "architecture" in p}))
found["features"] = " ".join(name for name in __cpu_dispatch__ if __cpu_features__[name])
print(json.dumps(found))
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the chosen settings one after the other, print each when it is done and all at the end; 1 if any failed."""
    asked = parsed(arguments)
    chosen = [s for s in SETTINGS if any(fnmatch(s.name, pattern) for pattern in asked.only)]
    if not chosen:
        print(f"machines: --only={' '.join(asked.only)} names no setting. See --list.", file=sys.stderr)
        return 2
    if asked.list:
        print("\n".join(s.name for s in chosen))
        return 0
    tests = [*SENSITIVE] if asked.sensitive else asked.tests
    outcomes = {}
    for setting in chosen:
        outcomes[setting.name] = run(setting, tests, asked.workers)
        print(line(setting.name, outcomes[setting.name]), flush=True)
    print("\n" + table(outcomes))
    return int(any(outcome.failed for outcome in outcomes.values()))


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="machines", description=__doc__.partition("\n")[0])
    parser.add_argument("--only", nargs="+", default=["*"], metavar="NAME", help="settings, by name or pattern")
    parser.add_argument("--tests", nargs="+", default=[], metavar="PATH", help="tests to run; default: all")
    parser.add_argument("--sensitive", action="store_true", help="only the tests that last bits matter to")
    parser.add_argument("--workers", type=int, default=2, help="tests side by side (default 2; 0: one process)")
    parser.add_argument("--list", action="store_true", help="print the names of the settings")
    return parser.parse_args(arguments)


def run(setting: Setting, tests: Sequence[str], workers: int) -> Outcome:
    """Make the environment, see whether this machine can play the setting, and run the tests."""
    LOGS.mkdir(parents=True, exist_ok=True)
    log = LOGS / f"{setting.name}.log"
    log.write_text("")
    try:
        python, remark = environment(setting, log)
        variables, versions = played(python, setting.processor)
    except LookupError as missing:
        return Outcome(remark=f"not run: {missing.args[0]}")
    except subprocess.CalledProcessError as trouble:
        return Outcome(remark=f"could not be set up ({trouble}), see {log.relative_to(ROOT)}", failed=True)
    options = setting.versions.options if setting.versions else ()
    command = [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, *tests]
    command += ["-n", str(workers), "--dist", "worksteal"] if workers else []
    began = time.monotonic()
    with log.open("a") as file:
        code = subprocess.run(command, cwd=ROOT, env=variables, stdout=file, stderr=subprocess.STDOUT).returncode
    counts = counted(log.read_text(errors="replace"))
    if code:
        remark = f"{remark + '; ' if remark else ''}pytest ended with {code}, see {log.relative_to(ROOT)}"
    return Outcome(counts, versions, (time.monotonic() - began) / 60, remark, code != 0)


def counted(output: str) -> dict[str, int]:
    """The counts of pytest's last line, e.g. ``{"passed": 12, "skipped": 1}``.

    >>> counted("...\\n1 failed, 12 passed, 2 errors in 3.10s\\n")
    {'failed': 1, 'passed': 12, 'errors': 2}
    """
    last = re.findall(r"^=*\s*(\d+ \w+.* in [\d.]+s.*)$", output, re.MULTILINE)
    pairs = re.findall(r"(\d+) (passed|failed|errors?|skipped|xfailed)", last[-1]) if last else []
    return {"errors" if word == "error" else word: int(number) for number, word in pairs}


def played(python: Path, processor: Processor) -> tuple[dict[str, str], dict[str, str]]:
    """Environment variables of a processor and the versions found under them; LookupError: it cannot be played here."""
    variables = {k: v for k, v in os.environ.items() if k not in ("OPENBLAS_CORETYPE", "NPY_DISABLE_CPU_FEATURES")}
    if processor.without:
        known = probed(python, variables)["features"].split()
        left_out = [name for name in known if name.startswith(processor.without)]
        if not left_out:
            raise LookupError(f"this processor has none of {', '.join(processor.without)}")
        variables["NPY_DISABLE_CPU_FEATURES"] = " ".join(left_out)  # NumPy warns about names it does not know
    if processor.core:
        variables["OPENBLAS_CORETYPE"] = processor.core
    return variables, probed(python, variables)


def probed(python: Path, variables: dict[str, str]) -> dict[str, str]:
    """What a process under these variables says of itself."""
    done = subprocess.run([str(python), "-c", PROBE], env=variables, capture_output=True, text=True)
    if done.returncode == -signal.SIGILL:
        raise LookupError("this processor lacks instructions of that one")
    done.check_returncode()
    found: dict[str, str] = json.loads(done.stdout)
    return found


def environment(setting: Setting, log: Path) -> tuple[Path, str]:
    """The Python of a setting with everything installed, and what was left out; LookupError: no such Python here."""
    if setting.python is None or setting.versions is None:
        return Path(sys.executable), ""
    base = interpreter(setting.python)
    if base is None:
        raise LookupError(f"Python {setting.python} is not installed")
    folder = ROOT / f".venv-{setting.name}"
    python, stamp = folder / "bin" / "python", folder / ".installed"
    wanted = digest(setting.versions)
    if not stamp.exists() or stamp.read_text().partition("\n")[0] != wanted:
        shutil.rmtree(folder, ignore_errors=True)
        said(log, [str(base), "-m", "venv", str(folder)])
        said(log, [str(python), "-m", "pip", "install", "--quiet", "--upgrade", "pip"])
        stamp.write_text(f"{wanted}\n{installed(python, setting.versions, log)}")
    return python, stamp.read_text().partition("\n")[2]


def installed(python: Path, versions: Versions, log: Path) -> str:
    """Install the project; what was left out, with its reason, or ""."""
    limits = ["-c", versions.constraints] if versions.constraints else []
    packages, remark = list(versions.packages), ""
    if "torch" in packages and needs_cuda(python, limits):
        packages.remove("torch")
        remark = "without torch: only its CUDA build, of several GB, is to be had"
        print(f"{python.parts[-3]}: {remark}", flush=True)
    command = [str(python), "-m", "pip", "install", "--quiet", "--prefer-binary", *limits]
    said(log, [*command, *packages, "-e", f".[{versions.extras}]"])
    return remark


def needs_cuda(python: Path, limits: Sequence[str]) -> bool:
    """Whether torch would bring NVIDIA's packages, or is not to be had for this Python."""
    command = [str(python), "-m", "pip", "install", "--quiet", "--dry-run", "--report", "-", *limits, "torch"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        return True
    names = [item["metadata"]["name"].lower() for item in json.loads(done.stdout)["install"]]
    return any(name.startswith(("nvidia", "cuda")) for name in names)


def digest(versions: Versions) -> str:
    """Of all that decides what is installed; without constraints it changes every day."""
    texts = [repr(versions), (ROOT / "pyproject.toml").read_text()]
    texts.append((ROOT / versions.constraints).read_text() if versions.constraints else time.strftime("%Y-%m-%d"))
    return hashlib.sha256("".join(texts).encode()).hexdigest()


def interpreter(version: str) -> Path | None:
    """A Python of this version: on the path, or of pyenv; None if there is none that runs."""
    homes = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = [shutil.which(f"python{version}"), *sorted(homes.glob(f"{version}*/bin/python"))]
    ask = "import sys, venv; print('%d.%d' % sys.version_info[:2])"
    for path in filter(None, found):
        done = subprocess.run([str(path), "-c", ask], capture_output=True, text=True)
        if done.returncode == 0 and done.stdout.strip() == version:
            return Path(path)
    return None


def said(log: Path, command: Sequence[str]) -> None:
    """Run a command whose output goes to the log."""
    with log.open("a") as file:
        subprocess.run(command, cwd=ROOT, check=True, stdout=file, stderr=subprocess.STDOUT)


COLUMNS = ("setting", "Python", "BLAS", "numpy", "scipy", "sklearn", "passed", "failed", "errors", "skipped", "minutes")


def cells(name: str, outcome: Outcome) -> list[str]:
    """One row of the table."""
    versions = [outcome.versions.get(key, "-") for key in ("python", "BLAS", "numpy", "scipy", "sklearn")]
    ran = bool(outcome.counts)
    counts = [str(outcome.counts.get(key, 0)) if ran else "-" for key in ("passed", "failed", "errors", "skipped")]
    return [name, *versions, *counts, f"{outcome.minutes:.1f}" if ran else "-", outcome.remark]


def line(name: str, outcome: Outcome) -> str:
    """What is printed when a setting is done."""
    said = ", ".join(f"{number} {word}" for word, number in outcome.counts.items()) or "nothing ran"
    return f"{name}: {said} ({outcome.minutes:.1f} minutes){'; ' + outcome.remark if outcome.remark else ''}"


def table(outcomes: dict[str, Outcome]) -> str:
    """All settings, and below them the tests that failed in each."""
    rows = [[*COLUMNS, ""], *(cells(name, outcome) for name, outcome in outcomes.items())]
    widths = [max(len(row[k]) for row in rows) for k in range(len(COLUMNS))] + [0]
    text = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]
    for name, outcome in outcomes.items():
        if outcome.failed:
            output = (LOGS / f"{name}.log").read_text(errors="replace")
            text += [f"{name}: {found}" for found in re.findall(r"^(?:FAILED|ERROR) .*$", output, re.MULTILINE)]
    return "\n".join(text)


if __name__ == "__main__":
    raise SystemExit(main())

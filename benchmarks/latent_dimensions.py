"""Kernel information embeddings of many rows in 2 to 30 dimensions, beside umap-learn in as many.

5,000, 20,000 and 50,000 digits of 784 pixels in q = 2, 3, 5, 10 and 30 dimensions; UMAP with ``n_components=q`` at
5,000 and 20,000. Every fit is in a process of its own with one thread. Time is processor time (on a busy machine the
only one that says anything) and includes what a method compiles; for UMAP that of a second fit in the same process is
reported, too. Memory is what the resident set rises by at its highest.

=============  ===================================================================================================
time           50,000 rows in 10 and in 30 dimensions: at most 5 times the time in two
quality        10-NN accuracy and trustworthiness (15 neighbours) of 2,000 rows among all, beside UMAP's (reported);
               at 5,000 rows beside sums over all pairs: at most 0.003 below
sum_error_     reported
given          8,000 digits seen by two cameras, the camera given, in 10 dimensions: told from the embedding at most
               0.05 better than by chance; time beside that in two dimensions (reported)
=============  ===================================================================================================

    python -m benchmarks latent_dimensions                                     all of it (hours on a busy machine)
    python -m benchmarks.latent_dimensions --rows 50000 --dimensions 2 10 30   some of it, without rivals
    python -m benchmarks.latent_dimensions --rows 5000 --dimensions 10 --also exact UMAP

Results are written after every fit, to ``results/latent_dimensions.json`` or ``results/latent_dimensions_ROWS.json``.
``--keep`` also writes the checks to ``docs/files/latent_dimensions.json``, for the pages.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.neighbors import NearestNeighbors

from benchmarks.harness import KEPT, RESULTS, Report, peak_memory, table
from benchmarks.large_maps import digits
from sidelight.evaluate import leakage, trustworthiness

TITLE = "embeddings of many rows in 2 to 30 dimensions, beside UMAP: time, memory, quality, error of the sums"
RIVALS = ("umap-learn",)
ROWS, DIMENSIONS, QUERIES = (5000, 20_000, 50_000), (2, 3, 5, 10, 30), 2000
_MOST, _FIRST = 5.0, 2  # times the seconds in so many dimensions
_BELOW = 0.003  # sums over all pairs
_RIVAL_ROWS, _EXACT_ROWS = 20_000, 5000  # at most
_INFORMED_ROWS = 8000  # where the multilevel solver is the default

_OURS = (
    "model = KernelInformationEmbedding({q}, n_jobs=1).fit(X, given=given); "
    "Z, error = model.embedding_, model.sum_error_"
)
_PROGRAMS = {
    "ours": ("from sidelight import KernelInformationEmbedding", _OURS),
    "exact": (
        "from sidelight import KernelInformationEmbedding\n"
        "from sidelight.information import _level_sums\n_level_sums._FEW = 10**9",
        _OURS,
    ),
    "UMAP": ("from umap import UMAP", "Z, error = UMAP({q}, n_jobs=1).fit_transform(X), 0.0"),
}
_SETUP = "import time; import numpy as np; X, given = np.load({rows!r}), {given}"
_MEASURED = """
{imports}
worked = [time.process_time()]
for _ in range({fits}):
    {fit}
    worked.append(time.process_time())
np.savez({out!r}, Z=Z, error=error, worked=np.diff(worked))
"""


def fitted(method: str, X: Any, q: int, *, fits: int = 1, given: Any = None) -> dict[str, Any]:
    """Embed the rows in a fresh process with one thread: Z, processor seconds of each fit, peak MiB, error of sums."""
    imports, fit = _PROGRAMS[method]
    with tempfile.TemporaryDirectory() as folder:
        rows, out, known = (str(Path(folder) / name) for name in ("rows.npy", "out.npz", "given.npy"))
        np.save(rows, X)
        if given is not None:
            np.save(known, given)
        setup = _SETUP.format(rows=rows, given=None if given is None else f"np.load({known!r})")
        measured = _MEASURED.format(imports=imports, fit=fit.format(q=q), fits=fits, out=out)
        peak = peak_memory(setup, measured) / 2**20
        with np.load(out) as found:
            return {
                "Z": found["Z"],
                "seconds": found["worked"].tolist(),
                "MiB": peak,
                "sum_error": float(found["error"]),
            }


def quality(X: Any, y: Any, Z: Any) -> dict[str, float]:
    """10-NN accuracy and trustworthiness of some rows among all."""
    rows = np.sort(np.random.default_rng(0).choice(len(X), min(QUERIES, len(X)), replace=False))
    near = NearestNeighbors(n_neighbors=11, algorithm="brute").fit(Z).kneighbors(Z[rows], return_distance=False)
    votes = [np.bincount(y[some[some != row][:10]], minlength=10) for row, some in zip(rows, near, strict=True)]
    hit = float(np.mean(np.argmax(votes, axis=1) == y[rows]))
    return {"accuracy": hit, "trust": float(trustworthiness(X, Z, n_neighbors=15, sample=len(rows)))}


def run(
    *,
    quick: bool,
    rows: Sequence[int] = ROWS,
    dimensions: Sequence[int] = DIMENSIONS,
    also: Sequence[str] = ("exact", "UMAP", "given"),
    to: Path | None = None,
) -> Report:
    report, to = Report(), to or RESULTS / "latent_dimensions.json"
    if quick:
        rows, dimensions = (2500,), tuple(q for q in dimensions if q in (2, 10))
    for n in rows:
        X, y = digits(n)
        found: dict[int, dict[str, Any]] = {}
        for q in dimensions:
            found[q] = _measured(report, "ours", X, y, q, to)
            if q != _FIRST and _FIRST in found:
                ratio = found[q]["seconds"][0] / found[_FIRST]["seconds"][0]
                what = f"{n:,} rows: time in {q} dimensions over that in {_FIRST}"
                if q >= 10 and n == max(ROWS):
                    report.at_most(what, ratio, _MOST)
                else:
                    report.note(what, ratio)
        for q in dimensions:
            if "exact" in also and q > 3 and n <= _EXACT_ROWS:
                exact = _measured(report, "exact", X, y, q, to)
                for name in ("accuracy", "trust"):
                    what = f"{n:,} rows, q = {q}: {name}, less that of sums over all pairs"
                    report.at_least(what, found[q][name] - exact[name], -_BELOW)
            if "UMAP" in also and n <= _RIVAL_ROWS:
                _measured(report, "UMAP", X, y, q, to, fits=2)
    if "given" in also and not quick:
        _informed(report, *digits(_INFORMED_ROWS), to)
    return report


def _measured(report: Report, method: str, X: Any, y: Any, q: int, to: Path, *, fits: int = 1) -> dict[str, Any]:
    """Fit, judge, note, and write what there is so far."""
    found = fitted(method, X, q, fits=fits)
    found.update(quality(X, y, found.pop("Z")))
    what = f"{len(X):,} rows, q = {q}, {method}"
    report.note(f"{what}: processor seconds", found["seconds"][0])
    if fits > 1:
        report.note(f"{what}: processor seconds, second fit", found["seconds"][-1])
    for name in ("MiB", "accuracy", "trust") + (("sum_error",) if method == "ours" else ()):
        report.note(f"{what}: {name}", found[name])
    report.details[what] = found
    _say(report, to, f"{what}: {found}")
    return found


def _informed(report: Report, X: Any, y: Any, to: Path) -> None:
    """Rows seen by two cameras (one brighter, with less contrast), the camera given, in 2 and 10 dimensions."""
    rng = np.random.default_rng(0)
    camera = rng.integers(0, 2, len(X))
    seen = (X * np.where(camera, 0.7, 1.0)[:, None] + 60.0 * camera[:, None]).astype(np.float32)
    seconds = []
    for q in (2, 10):
        found = fitted("ours", seen, q, given=camera)
        Z = found.pop("Z")
        leak = leakage(Z, camera)
        what = f"{len(X):,} rows, camera given, q = {q}"
        report.at_most(f"{what}: camera told, less chance", leak.value - leak.chance, 0.05)
        for name, value in {**quality(X, y, Z), "sum_error": found["sum_error"], "MiB": found["MiB"]}.items():
            report.note(f"{what}: {name}", value)
        report.note(f"{what}: processor seconds", found["seconds"][0])
        seconds.append(found["seconds"][0])
        _say(report, to, f"{what}: {found} leakage {leak.value:.3f} chance {leak.chance:.3f}")
    report.note(f"{len(X):,} rows, camera given: time in 10 dimensions over that in 2", seconds[1] / seconds[0])


def _say(report: Report, to: Path, line: str) -> None:
    print(f"  {line}", flush=True)
    report.write(to, name="latent_dimensions")


def main(arguments: list[str] | None = None) -> int:
    """Run some of it. Return 0 when every bar was met, 1 when one was not."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.latent_dimensions", description=TITLE)
    parser.add_argument("--rows", nargs="*", type=int, default=list(ROWS))
    parser.add_argument("--dimensions", nargs="+", type=int, default=list(DIMENSIONS))
    parser.add_argument("--also", nargs="*", choices=("exact", "UMAP", "given"), default=[])
    parser.add_argument("--keep", action="store_true", help="also write the checks to docs/files, for the pages")
    chosen = parser.parse_args(arguments)
    name = "_".join(str(part) for part in (*chosen.rows, *chosen.also))
    to = RESULTS / f"latent_dimensions_{name}.json"
    report = run(quick=False, rows=chosen.rows, dimensions=chosen.dimensions, also=chosen.also, to=to)
    report.write(to, name="latent_dimensions")
    print(table(report))
    if chosen.keep:
        said = " ".join(sys.argv[1:] if arguments is None else arguments)
        command = f"python -m benchmarks.latent_dimensions {said}"
        report.keep(KEPT / "latent_dimensions.json", name="latent_dimensions", command=command)
    return 0 if report.passed else 1


if __name__ == "__main__":
    sys.exit(main())

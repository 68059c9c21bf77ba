"""Factor out what is known, keep the rest: ours against plain KIE, centred PCA and harmonypy, in 2-D, every seed.

The protocols (data, ``given``, measures, bars) are in ``informed_protocols``. A seed sets ``random_state`` *and* puts
the rows into another order, because a deterministic start would make it meaningless; maps are measured in the old
order. The worst of ten seeds counts for ours; of a rival, the mean (bars) and the best (in brackets) are reported.

====================  =============================================================================================
plain KIE             the same estimator, told nothing
centred PCA           two principal components of the rows less the mean of the rows with the same ``given``
centred KIE           plain KIE of those residuals: what the conditional objective has to add to
harmonypy + UMAP      30 principal components, corrected by harmonypy, then UMAP
harmonypy, 30-D       the corrected components as they are: a rival with 30 dimensions to ours two, for orientation
====================  =============================================================================================

harmonypy takes categories only: numbers are cut into five bins of equal counts per column, angles into eight sectors.
Beyond 2,000 rows the rivals run three seeds.

One protocol at a time, ours only or with the rivals, nothing written (bars that need a rival take the recorded one):

    python -m benchmarks.informed yale8_person cars_angle [--seeds 3] [--rivals | --only-rivals | --parts]
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.decomposition import PCA

from benchmarks.harness import RESULTS, Report, table
from benchmarks.informed_protocols import PROTOCOLS, Bar, Protocol, lower_is_better, shuffled
from sidelight import Conditioning, KernelInformationEmbedding

TITLE = "what is known factored out, what remains recovered, in 2-D: worst of ten seeds"
RIVALS = ("harmonypy", "umap-learn")

Array = npt.NDArray[Any]
Found = dict[str, dict[str, list[float]]]

_MANY_ROWS = 2000
_SLOW = ("yale38_person",)


@dataclass(frozen=True)
class Rows:
    """What a method is shown: rows in the seed's order."""

    X: Array
    given: Array
    kind: str
    same: Array | None
    seed: int


def ours(rows: Rows) -> Array:
    """Our map of the rows, informed. The user says what the column is (an angle is periodic), and sets nothing."""
    model = KernelInformationEmbedding(random_state=rows.seed, conditioning=Conditioning(types=rows.kind))
    return np.asarray(model.fit(rows.X, given=rows.given, same=rows.same).embedding_)


def published(rows: Rows) -> Array:
    """The published objective: the product of the kernels of the data and of ``given``."""
    model = KernelInformationEmbedding(random_state=rows.seed, conditioning=Conditioning("product", rows.kind))
    return np.asarray(model.fit(rows.X, given=rows.given).embedding_)


def balanced_only(rows: Rows) -> Array:
    """Ours, but information about ``given`` in the map costs nothing."""
    model = KernelInformationEmbedding(random_state=rows.seed, conditioning=Conditioning(types=rows.kind, weight=0.0))
    return np.asarray(model.fit(rows.X, given=rows.given, same=rows.same).embedding_)


def plain(rows: Rows) -> Array:
    return KernelInformationEmbedding(random_state=rows.seed).fit(rows.X).embedding_


def centred_pca(rows: Rows) -> Array:
    return np.asarray(PCA(2).fit_transform(_centred(rows)))


def centred_kie(rows: Rows) -> Array:
    return KernelInformationEmbedding(random_state=rows.seed).fit(_centred(rows)).embedding_


def harmony(rows: Rows) -> Array:
    """Principal components (at most 30; none are taken of 30 columns or fewer) corrected by harmonypy."""
    import harmonypy

    components = PCA(30, random_state=0).fit_transform(rows.X) if rows.X.shape[1] > 30 else rows.X
    batches = _batches(rows)
    corrected = harmonypy.run_harmony(components, batches, list(batches), verbose=False, random_state=rows.seed).Z_corr
    if corrected.shape != components.shape:
        raise RuntimeError(f"harmonypy returned {corrected.shape} for {components.shape}")
    return np.asarray(corrected)


def harmony_umap(rows: Rows) -> Array:
    from umap import UMAP

    return np.asarray(UMAP(random_state=rows.seed, n_jobs=1).fit_transform(harmony(rows)))


METHODS: Mapping[str, Callable[[Rows], Array]] = {
    "ours": ours,
    "plain KIE": plain,
    "centred PCA": centred_pca,
    "centred KIE": centred_kie,
    "harmonypy + UMAP": harmony_umap,
    "harmonypy, 30-D": harmony,
    "published": published,
    "balanced only": balanced_only,
}
PARTS = ("published", "balanced only")


def _centred(rows: Rows) -> Array:
    _, level = np.unique(rows.given.reshape(len(rows.X), -1), axis=0, return_inverse=True)
    level = level.reshape(-1)
    means = np.stack([rows.X[level == code].mean(axis=0) for code in range(level.max() + 1)])
    return np.asarray(rows.X - means[level])


def _batches(rows: Rows) -> dict[str, Array]:
    if rows.kind == "category":
        return {"given": rows.given}
    if rows.kind == "angle":
        return {"given": (rows.given % 360.0 // 45.0).astype(int)}
    columns = rows.given.reshape(len(rows.X), -1).T
    return {
        f"given {i}": np.searchsorted(np.quantile(column, [0.2, 0.4, 0.6, 0.8]), column, side="right")
        for i, column in enumerate(columns)
    }


def run(*, quick: bool) -> Report:
    report = Report()
    _compile_umap()
    for name in PROTOCOLS:
        if quick and name in _SLOW:
            continue
        protocol = PROTOCOLS[name]()
        methods = [method for method in METHODS if method not in PARTS]
        found = measure(name, protocol, methods, n_seeds=2 if quick else 10)
        report.details[name] = {"chance": protocol.chance, "by seed": found}
        judge(report, name, protocol, found)
        _beside_each(report, name, protocol, found)
        print(standings(found), flush=True)
    return report


def _beside_each(report: Report, name: str, protocol: Protocol, found: Found) -> None:
    """The worst of ours beside the mean of every rival, for the pages."""
    for what in protocol.measures:
        for rival in (method for method in found if method != "ours"):
            more = _beside(what, found, rival)
            report.note(f"{name}: {what}, beside each", _worst(what, found["ours"][what]), **more)


def _compile_umap() -> None:
    """UMAP compiles itself on its first fit; that is not part of the seconds."""
    X = np.random.default_rng(0).normal(size=(90, 3))
    harmony_umap(Rows(X, np.arange(90) % 3, "category", None, 0))


def measure(name: str, protocol: Protocol, methods: Iterable[str], *, n_seeds: int) -> Found:
    """Of each method, each measure (and its seconds) by seed."""
    found: Found = {}
    for method in methods:
        found[method] = {what: [] for what in (*protocol.measures, "seconds")}
        for seed in range(_seeds(method, len(protocol.X), n_seeds)):
            X, given, same, order = shuffled(protocol, seed)
            began = time.perf_counter()
            with warnings.catch_warnings():
                if method != "ours":
                    warnings.simplefilter("ignore")
                there = METHODS[method](Rows(X, given, protocol.kind, same, seed))
            found[method]["seconds"].append(time.perf_counter() - began)
            Z = np.empty_like(there)
            Z[order] = there
            for what, value in protocol.measures.items():
                found[method][what].append(float(value(Z)))
        seconds = found[method]["seconds"]
        print(f"  {name}, {method}: {len(seconds)} seeds, {np.mean(seconds):.1f} s each", flush=True)
    return found


def _seeds(method: str, n_rows: int, n_seeds: int) -> int:
    if method == "centred PCA":
        return 1
    return min(3, n_seeds) if method != "ours" and n_rows > _MANY_ROWS else n_seeds


def judge(report: Report, name: str, protocol: Protocol, found: Found, recorded: Found | None = None) -> None:
    """Hold the worst seed against the bars; report the measures that have none."""
    barred = {bar.measure for bar in protocol.bars}
    for bar in protocol.bars:
        _hold(report, name, bar, found, recorded or {})
    for what in protocol.measures:
        if what not in barred:
            report.note(f"{name}: {what}", _worst(what, found["ours"][what]), **_beside(what, (recorded or {}) | found))


def _hold(report: Report, name: str, bar: Bar, found: Found, recorded: Found) -> None:
    what, limit = f"{name}: {bar.measure}", bar.limit
    worst = _worst(bar.measure, found["ours"][bar.measure])
    beside = _beside(bar.measure, recorded | found, bar.rival)
    if bar.rival is not None:
        if not beside:
            report.note(f"{what} (its bar needs {bar.rival})", worst)
            return
        limit = round(beside["rival"] + bar.limit, 4)
    hold = report.at_most if bar.sense == "≤" else report.at_least
    hold(what, worst, limit, **beside)


def _beside(what: str, found: Found, rival: str | None = None) -> dict[str, Any]:
    """The mean of a rival over its seeds, where it was measured."""
    name = rival or "harmonypy + UMAP"
    values = found.get(name, {}).get(what)
    return {"rival": float(np.mean(values)), "rival_name": name} if values else {}


def _worst(what: str, values: list[float]) -> float:
    return max(values) if lower_is_better(what) else min(values)


def standings(found: Found) -> str:
    """Measures by methods: the mean over seeds, and in brackets the worst of ours and the best of a rival."""
    measures = next(iter(found.values()))
    body = [[what, *(_cell(what, values[what], method) for method, values in found.items())] for what in measures]
    cells = [["", *found], *body]
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in cells)
    return "\n".join(f"  {line}".rstrip() for line in lines) + "\n"


def _cell(what: str, values: list[float], method: str) -> str:
    towards_low = lower_is_better(what) == (method != "ours")
    return f"{np.mean(values):.3f} [{min(values) if towards_low else max(values):.3f}]"


def recorded(name: str) -> Found:
    """What the last whole run found, or nothing."""
    path = RESULTS / "informed.json"
    details = json.loads(path.read_text())["details"] if path.exists() else {}
    kept: Found = details.get(name, {}).get("by seed", {})
    return kept


def main(arguments: list[str] | None = None) -> int:
    """Run some protocols and print; return 0 when every bar was met, 1 when one was not."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.informed", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", choices=list(PROTOCOLS), metavar="PROTOCOL", help=", ".join(PROTOCOLS))
    parser.add_argument("--seeds", type=int, default=10)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--rivals", action="store_true", help="run the rivals too")
    which.add_argument("--only-rivals", action="store_true", help="run the rivals, not ours")
    which.add_argument("--parts", action="store_true", help="run what ours is made of: published, balanced only")
    chosen = parser.parse_args(arguments)
    rivals = [name for name in METHODS if name not in ("ours", *PARTS)]
    methods = rivals if chosen.only_rivals else ["ours", *(rivals if chosen.rivals else []), *(PARTS * chosen.parts)]
    report = Report()
    if chosen.rivals or chosen.only_rivals:
        _compile_umap()
    for name in chosen.names or PROTOCOLS:
        protocol = PROTOCOLS[name]()
        found = measure(name, protocol, methods, n_seeds=chosen.seeds)
        print(standings(found), flush=True)
        if "ours" in found:
            judge(report, name, protocol, found, recorded(name))
    print(table(report))
    return 0 if report.passed else 1


if __name__ == "__main__":
    sys.exit(main())

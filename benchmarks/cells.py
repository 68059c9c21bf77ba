"""Cells in batches, the batch given: types kept, batches mixed; ours against Harmony, Scanorama, BBKNN and scVI.

Sets and the simulator are in ``cell_sets``, measures in ``cell_measures``, methods in ``cell_methods``. All methods
start from the same 30 principal components. Three questions:

totals    of scib-metrics, of the sets as they are. Ours is the mean over row orders of the best of its three answers
          *by its mean over the sets* (2-D map, 10-D map, corrected rows); a rival's is its own, one order
removals  each type in turn is taken out of all batches but one: the purity of its neighbourhood over that with Harmony,
          the worst over row orders and types
mixing    of the types that are in several batches, over random mixing, smallest and largest over removals and orders

Rules were chosen on ``CHOOSING``; the bars are held on ``REPORTING``. scib-metrics, scanorama, bbknn and scvi-tools
are in no extra, because they bring JAX and Lightning: ``pip install scib-metrics==0.5.10 scanorama bbknn scvi-tools``;
without scvi-tools it is left out.

One set at a time, nothing written:

    python -m benchmarks.cells kang nested_b [--orders 1] [--no-totals] [--no-removals] [--scvi]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.cell_measures import mixing, purity, scib_totals
from benchmarks.cell_methods import OURS, harmony, ours, rivals
from benchmarks.cell_sets import CHOOSING, REPORTING, Cells, removals, removed
from benchmarks.harness import Report, table

TITLE = "cells in batches: types kept, batches mixed, five row orders"
RIVALS = ("harmonypy", "umap-learn", "scib-metrics", "scanorama", "bbknn")

Array = npt.NDArray[Any]
_KEPT, _LEAST_MIXED, _MOST_MIXED, _BEHIND = 0.97, 0.9, 1.02, 0.03
_DIMENSIONS = (2, 10)


def in_order(cells: Cells, seed: int, dimensions: tuple[int, ...]) -> dict[str, Array]:
    """Our answers for the cells in another order, put back into theirs."""
    order = np.random.default_rng(seed).permutation(len(cells.X)) if seed else np.arange(len(cells.X))
    found = ours(cells.take(order), dimensions)
    return {name: Z[np.argsort(order)] for name, Z in found.items()}


def measure_totals(cells: Cells, orders: int, *, scvi: bool) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    """Totals of every method, and its mixing of batches within types: one per row order for ours, one for a rival."""
    embeddings = {
        f"{name} #{seed}": Z for seed in range(orders) for name, Z in in_order(cells, seed, _DIMENSIONS).items()
    }
    embeddings |= rivals(cells, scvi=scvi)
    totals = scib_totals(cells.X, cells.batch, cells.label, embeddings)
    found: dict[str, list[float]] = {}
    mixed: dict[str, list[float]] = {}
    for name, parts in totals.items():
        found.setdefault(name.split(" #")[0], []).append(parts["Total"])
        mixed.setdefault(name.split(" #")[0], []).append(mixing(embeddings[name], cells.batch, cells.label))
    return found, mixed


def measure_removals(cells: Cells, orders: int) -> list[dict[str, Any]]:
    """Of every removal and row order: purity of the type by ours and by Harmony, mixing of the others."""
    found = []
    for removal in removals(cells):
        less = removed(cells, removal)
        theirs = harmony(less)
        entry: dict[str, Any] = {
            "label": removal.label,
            "kept in": removal.kept_in,
            "harmony": _judged(theirs, less, removal.label),
        }
        answers = [in_order(less, seed, _DIMENSIONS[:1]) for seed in range(orders)]
        for name in answers[0]:
            entry[name] = [_judged(answer[name], less, removal.label) for answer in answers]
        found.append(entry)
        first = {name: entry[name][0] for name in answers[0]}
        print(
            f"  {less.name}: harmony {entry['harmony']}, " + ", ".join(f"{n} {v}" for n, v in first.items()), flush=True
        )
    return found


def _judged(Z: Array, cells: Cells, label: str) -> tuple[float, float]:
    """Purity of a type, and mixing of the others."""
    return round(purity(Z, cells.label, label), 4), round(mixing(Z, cells.batch, cells.label), 4)


def hold_removals(report: Report, name: str, found: list[dict[str, Any]]) -> None:
    """Hold purity and mixing of our answers against the bars."""
    for answer in (n for n in OURS if found and n in found[0]):
        worst = min(found, key=lambda e: min(p for p, _ in e[answer]) / e["harmony"][0])
        ratio = min(p for p, _ in worst[answer]) / worst["harmony"][0]
        report.at_least(f"{name}, {answer}: purity over Harmony's, worst ({worst['label']})", ratio, _KEPT)
        mixed = [m for entry in found for _, m in entry[answer]]
        theirs = [entry["harmony"][1] for entry in found]
        report.at_least(
            f"{name}, {answer}: mixing, smallest", min(mixed), _LEAST_MIXED, rival=min(theirs), rival_name="harmony"
        )
        report.at_most(
            f"{name}, {answer}: mixing, largest", max(mixed), _MOST_MIXED, rival=max(theirs), rival_name="harmony"
        )


def hold_totals(report: Report, totals: dict[str, dict[str, list[float]]]) -> None:
    """Hold our totals against the best rival of each set, and the mean over sets against each rival's."""
    mean = {n: np.mean([np.mean(t[n]) for t in totals.values() if n in t]) for t in totals.values() for n in t}
    best = max(OURS, key=lambda n: mean[n])
    report.details["our best answer by its mean total"] = best
    for rival in (n for n in mean if n not in OURS):
        sets = [t for t in totals.values() if rival in t]
        report.at_least(
            f"mean total over {len(sets)} sets, {best}", float(np.mean([np.mean(t[best]) for t in sets])),
            float(np.mean([np.mean(t[rival]) for t in sets])), rival=float(np.mean([np.mean(t[rival]) for t in sets])),
            rival_name=rival,
        )  # fmt: skip
    for name, t in totals.items():
        rival = max((n for n in t if n not in OURS), key=lambda n: np.mean(t[n]))
        theirs = float(np.mean(t[rival]))
        report.at_least(
            f"{name}: total, {best}",
            float(np.mean(t[best])),
            round(theirs - _BEHIND, 4),
            rival=theirs,
            rival_name=rival,
        )


def measured(names: Iterable[str], orders: int, *, with_totals: bool, with_removals: bool, scvi: bool) -> Report:
    """Measure the named sets and hold them against the bars."""
    report, totals = Report(), {}
    for name in names:
        cells = replace(({**CHOOSING, **REPORTING})[name](), name=name)
        if with_totals:
            totals[name], mixed = measure_totals(cells, orders, scvi=scvi)
            report.details[f"{name}, mixing"] = mixed
            for what, values in (("totals", totals[name]), ("mixing", mixed)):
                print(f"  {name}, {what}: " + ", ".join(f"{n} {np.mean(v):.3f}" for n, v in values.items()), flush=True)
        if with_removals:
            report.details[f"{name}, removals"] = found = measure_removals(cells, orders)
            hold_removals(report, name, found)
    if totals:
        report.details["totals"] = totals
        hold_totals(report, totals)
    return report


def run(*, quick: bool) -> Report:
    """All sets of ``REPORTING``, or two of them, in five row orders, or one."""
    names = ("splatter_2", "two_batches_b") if quick else tuple(REPORTING)
    return measured(names, 1 if quick else 5, with_totals=True, with_removals=True, scvi=not quick)


def main(arguments: list[str] | None = None) -> int:
    """Run some sets and print; return 0 when every bar was met, 1 when one was not."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cells", description=__doc__.splitlines()[0])
    known = [*CHOOSING, *REPORTING]
    parser.add_argument("names", nargs="*", choices=known, metavar="SET", help=", ".join(known))
    parser.add_argument("--orders", type=int, default=1)
    parser.add_argument("--no-totals", action="store_true")
    parser.add_argument("--no-removals", action="store_true")
    parser.add_argument("--scvi", action="store_true", help="also scVI, which takes minutes for each set")
    chosen = parser.parse_args(arguments)
    report = measured(
        chosen.names or REPORTING, chosen.orders, with_totals=not chosen.no_totals,
        with_removals=not chosen.no_removals, scvi=chosen.scvi,
    )  # fmt: skip
    print(table(report))
    return 0 if report.passed else 1


if __name__ == "__main__":
    sys.exit(main())

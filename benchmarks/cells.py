"""Cells in batches, the batch given: types kept, batches mixed; ours against Harmony, Scanorama, BBKNN and scVI.

Sets and the simulator are in ``cell_sets``, measures in ``cell_measures``, methods in ``cell_methods``. All methods
start from the same 30 principal components. Three questions:

totals    of scib-metrics, of the sets as they are: the mean over row orders, for ours and for the rivals that begin at
          random (each order with a seed of its own; the others have one). Ours is the best of its three answers *by its
          mean over the sets* (2-D map, 10-D map, corrected rows). One order says little: the k-means of scib-metrics
          has one start, and a total moves by 0.1 with it
removals  each type in turn is taken out of all batches but one: the purity of its neighbourhood over that with Harmony
          (mean over orders), the worst over row orders and types, with its standard error over the cells of the type
          and what offsets fitted with the labels known have: where Harmony hardly mixes, these are below it, too
mixing    of the types that are in several batches, over random mixing, smallest and largest over removals and orders

Rules were chosen on ``CHOOSING``; the bars are held on ``REPORTING``. scib-metrics, scanorama, bbknn and scvi-tools
are in no extra, because they bring JAX and Lightning: ``pip install scib-metrics==0.5.10 scanorama bbknn scvi-tools``;
without scvi-tools it is left out.

Every step is printed when it ends; before the first total, scib-metrics compiles for a minute and a half.
``--minutes`` bounds the processor time: each set has an equal part of what is left, and orders that would begin after
it are left out (one is always measured). ``python -m benchmarks cells`` has 90 minutes, and writes its JSON after every
set. One set at a time; ``--keep`` writes every number at once, and leaves out what is in the file:

    python -m benchmarks.cells kang nested_b [--orders 1] [--minutes 10] [--no-totals] [--no-removals] [--scvi 1]
        [--ten] [--only "ours, 2-D"] [--keep docs/files/cells.json]

scVI takes two to ten minutes of processor time for each set and order, so that the number of its row orders is its own.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.cell_measures import mixing, purity, ratio_error, scib_totals
from benchmarks.cell_methods import OURS, by_rival, harmony, labels_known, ours, rival_names
from benchmarks.cell_records import Records
from benchmarks.cell_sets import CHOOSING, REPORTING, Cells, removals, removed
from benchmarks.harness import RESULTS, Report, table

TITLE = "cells in batches: types kept, batches mixed, five row orders"
RIVALS = ("harmonypy", "umap-learn", "scib-metrics", "scanorama", "bbknn")

Array = npt.NDArray[Any]
_KEPT, _LEAST_MIXED, _MOST_MIXED, _BEHIND = 0.97, 0.9, 1.02, 0.03
_MINUTES = 90.0


@dataclass(frozen=True)
class Deadline:
    """Processor seconds that a part of the benchmark may take; further row orders do not begin after them."""

    seconds: float
    began: float = field(default_factory=time.process_time)

    @property
    def left(self) -> float:
        """Seconds that are left, 0 if none."""
        return max(0.0, self.seconds - (time.process_time() - self.began))

    def orders(self, most: int, what: str) -> Iterator[int]:
        """Numbers of row orders, 0 always; says where they end early."""
        for seed in range(most):
            if seed and not self.left:
                say(f"{what}: {seed} of {most} row orders, its time is used")
                return
            yield seed


def say(text: str) -> None:
    """Print progress at once, with the processor time of this run."""
    print(f"  [{time.process_time():6.0f} s] {text}", flush=True)


def shuffled(cells: Cells, seed: int) -> tuple[Cells, Array]:
    """The cells in another order (0: as they are), and the positions that put them back."""
    order = np.random.default_rng(seed).permutation(len(cells.X)) if seed else np.arange(len(cells.X))
    return cells.take(order), np.argsort(order)


def in_order(cells: Cells, seed: int, dimensions: tuple[int, ...]) -> dict[str, Array]:
    """Our answers for the cells in another order, put back into theirs."""
    other, back = shuffled(cells, seed)
    return {name: Z[back] for name, Z in ours(other, dimensions).items()}


def embedded(name: str, cells: Cells, seed: int) -> dict[str, Array]:
    """The embedding by a method of the cells in another order, put back into theirs, and what comes with it."""
    if name == "ours, 10-D":
        return {name: in_order(cells, seed, (10,))[name]}
    if name in OURS:
        return in_order(cells, seed, (2,))
    other, back = shuffled(cells, seed)
    return {name: by_rival(name, other, seed)[back]}


def measure_totals(
    cells: Cells, orders: int, deadline: Deadline, records: Records, *, scvi: int, only: Sequence[str] = ()
) -> None:
    """Add totals of every method, and its mixing of batches within types, for each row order that has none yet.

    ``scvi`` is the number of row orders of scVI; ``only`` names the methods that are measured, all if none.
    """
    for seed in deadline.orders(orders, f"{cells.name}, totals"):
        made: dict[str, Array] = {}
        for name in (*OURS, *rival_names(cells, seed, scvi=seed < scvi)):
            if records.total(cells.name, name, seed) is not None or (only and name not in only):
                continue
            began = time.process_time()
            if name not in made:
                made |= embedded(name, cells, seed)
            Z, seconds = made[name], round(time.process_time() - began, 2)
            numbers = scib_totals(cells.X, cells.batch, cells.label, {name: Z})[name]
            numbers = {what: round(value, 5) for what, value in numbers.items()}
            mixed = round(mixing(Z, cells.batch, cells.label), 5)
            records.add_total(cells.name, name, seed, numbers | {"mixing": mixed, "seconds": seconds})
            told = f"total {numbers['Total']:.3f}, mixing {mixed:.3f}, {seconds:.0f} s"
            say(f"{cells.name}, order {seed}, {name}: {told}")


def measure_removals(
    cells: Cells, orders: int, deadline: Deadline, records: Records, *, ten: bool = False
) -> list[dict[str, Any]]:
    """Of every removal and row order: purity of the type by ours and by Harmony, mixing of the others.

    With ``ten`` also the map in ten dimensions, which is added to what was kept of the plane.
    """
    found = []
    wanted, names = removals(cells), ("ours, 2-D", "ours, 10-D") if ten else ("ours, 2-D",)
    for number, removal in enumerate(wanted):
        kept = records.removal(cells.name, removal.label, orders) or {}
        missing = [name for name in names if name not in kept]
        if not missing:
            found.append(kept)
            continue
        less = removed(cells, removal)
        part = Deadline(deadline.left / (len(wanted) - number))
        answers: dict[str, list[Array]] = {"harmony": [], "labels known": [labels_known(less)]}
        for seed in part.orders(orders, less.name):
            other, back = shuffled(less, seed)
            answers["harmony"].append(harmony(other, seed)[back])
            for name, Z in (pair for asked in missing for pair in embedded(asked, less, seed).items()):
                answers.setdefault(name, []).append(Z)
        told = {"label": removal.label, "kept in": removal.kept_in, "orders": len(answers["harmony"])}
        new = _judged(answers, less, removal.label) | told
        found.append(new | kept | {"error": new["error"] | kept.get("error", {})})
        records.add_removal(cells.name, removal.label, found[-1])
        say(f"{less.name}: " + ", ".join(f"{name} {found[-1][name]}" for name in answers))
    return found


def _judged(answers: dict[str, list[Array]], cells: Cells, label: str) -> dict[str, Any]:
    """By name of an answer, for each order: purity of a type and mixing of the others; the error of its worst ratio."""
    pure = {name: [purity(Z, cells.label, label) for Z in found] for name, found in answers.items()}
    theirs = np.mean(pure["harmony"], axis=0)
    entry: dict[str, Any] = {"cells": len(theirs), "error": {}}
    for name, found in answers.items():
        mixed = [mixing(Z, cells.batch, cells.label) for Z in found]
        entry[name] = [(round(float(p.mean()), 4), round(m, 4)) for p, m in zip(pure[name], mixed, strict=True)]
        worst = min(pure[name], key=lambda p: float(p.mean()))
        entry["error"][name] = round(ratio_error(worst, theirs), 4)
    return entry


def hold_removals(report: Report, name: str, found: list[dict[str, Any]]) -> None:
    """Hold purity and mixing of our answers against the bars."""
    for answer in (n for n in OURS if found and n in found[0]):
        ratios = [min(p for p, _ in e[answer]) / np.mean([p for p, _ in e["harmony"]]) for e in found]
        worst = found[int(np.argmin(ratios))]
        told = f"{worst['label']}, {worst['cells']} cells, ± {worst['error'][answer]:.2f}"
        report.at_least(
            f"{name}, {answer}: purity over Harmony's, worst ({told})", float(min(ratios)), _KEPT,
            rival=worst["labels known"][0][0] / float(np.mean([p for p, _ in worst["harmony"]])),
            rival_name="labels known",
        )  # fmt: skip
        mixed = [m for entry in found for _, m in entry[answer]]
        theirs = [m for entry in found for _, m in entry["harmony"]]
        report.at_least(
            f"{name}, {answer}: mixing, smallest", min(mixed), _LEAST_MIXED, rival=min(theirs), rival_name="harmony"
        )
        report.at_most(
            f"{name}, {answer}: mixing, largest", max(mixed), _MOST_MIXED, rival=max(theirs), rival_name="harmony"
        )


def hold_totals(report: Report, totals: dict[str, dict[str, list[float]]]) -> None:
    """Hold our totals against the best rival of each set, and the mean over sets against each rival's."""
    mean = {n: np.mean([np.mean(t[n]) for t in totals.values() if n in t]) for t in totals.values() for n in t}
    if not (answers := [n for n in OURS if all(n in t for t in totals.values())]):
        return
    best = max(answers, key=lambda n: mean[n])
    report.details["our best answer by its mean total"] = best
    for rival in (n for n in mean if n not in OURS):
        sets = [t for t in totals.values() if rival in t]
        report.at_least(
            f"mean total over {len(sets)} sets, {best}", float(np.mean([np.mean(t[best]) for t in sets])),
            float(np.mean([np.mean(t[rival]) for t in sets])), rival=float(np.mean([np.mean(t[rival]) for t in sets])),
            rival_name=rival,
        )  # fmt: skip
    for name, t in totals.items():
        ours_here = float(np.mean(t[best]))
        if not (rivals := [n for n in t if n not in OURS]):  # ``--only`` names ours
            report.note(f"{name}: total, {best}", ours_here)
            continue
        rival = max(rivals, key=lambda n: np.mean(t[n]))
        theirs = float(np.mean(t[rival]))
        report.at_least(f"{name}: total, {best}", ours_here, round(theirs - _BEHIND, 4), rival=theirs, rival_name=rival)


def measured(
    names: Sequence[str],
    orders: int,
    minutes: float,
    *,
    with_totals: bool = True,
    with_removals: bool = True,
    scvi: int = 0,
    ten: bool = False,
    only: Sequence[str] = (),
    records: Records | None = None,
    keep: Callable[[Report], object] = lambda report: None,
) -> Report:
    """Measure the named sets, hold them against the bars, and ``keep`` what is known after each of them."""
    whole, parts, totals, records = Deadline(60.0 * minutes), Report(), {}, records or Records()
    for number, name in enumerate(names):
        cells = replace(({**CHOOSING, **REPORTING})[name](), name=name)
        share = whole.left / (len(names) - number)
        if with_totals:
            deadline = Deadline(share / 2 if with_removals else share)
            measure_totals(cells, orders, deadline, records, scvi=scvi, only=only)
            totals[name] = {m: [one["Total"] for one in by.values()] for m, by in records.totals(name).items()}
            parts.details |= {"totals": totals, f"{name}, all numbers": records.totals(name)}
        if with_removals:
            deadline = Deadline(share / 2 if with_totals else share)
            parts.details[f"{name}, removals"] = found = measure_removals(cells, orders, deadline, records, ten=ten)
            hold_removals(parts, name, found)
        report = Report(list(parts.checks), dict(parts.details))
        if totals:
            hold_totals(report, totals)
        keep(report)
    return report


def run(*, quick: bool) -> Report:
    """All sets of ``REPORTING``, or two of them, in five row orders, or one."""
    names = ("splatter_2", "two_batches_b") if quick else tuple(REPORTING)
    return measured(
        names, 1 if quick else 5, _MINUTES, scvi=0 if quick else 1,
        keep=lambda report: report.write(RESULTS / "cells.json", name="cells", quick=quick),
    )  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    """Run some sets and print; return 0 when every bar was met, 1 when one was not."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cells", description=__doc__.splitlines()[0])
    known = [*CHOOSING, *REPORTING]
    parser.add_argument("names", nargs="*", metavar="SET", help=", ".join(known))
    parser.add_argument("--orders", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=_MINUTES, help="of processor time, after which orders end")
    parser.add_argument("--no-totals", action="store_true")
    parser.add_argument("--no-removals", action="store_true")
    parser.add_argument(
        "--keep", type=Path, help="JSON file that each number goes to, and that a later run goes on from"
    )
    parser.add_argument("--scvi", type=int, default=0, help="row orders of scVI, which takes minutes for each (0)")
    parser.add_argument("--only", nargs="+", default=[], metavar="METHOD", help='totals of these methods: "ours, 2-D"')
    parser.add_argument("--ten", action="store_true", help="removals also in ten dimensions")
    chosen = parser.parse_args(arguments)
    if unknown := set(chosen.names) - set(known):  # ``choices`` would refuse no names at all
        parser.error(f"unknown: {', '.join(sorted(unknown))}; there are: {', '.join(known)}")
    report = measured(
        chosen.names or tuple(REPORTING), chosen.orders, chosen.minutes, with_totals=not chosen.no_totals,
        with_removals=not chosen.no_removals, scvi=chosen.scvi, ten=chosen.ten, only=chosen.only,
        records=Records.of(chosen.keep),
    )  # fmt: skip
    print(table(report))
    return 0 if report.passed else 1


if __name__ == "__main__":
    sys.exit(main())

"""Every family with its defaults beside the simple rival, on data that no choice was made on: one table.

A family is a module of this package with ``FAMILY`` (its name), ``CHOSEN_ON`` (the sets that its defaults were chosen
on, which are not in the table) and ``tasks(quick)``, the sets and what is asked of them. Add one by naming it in
``MODULES``. A cell that loses stays in the table, marked. A set that is not installed is a row without numbers, with
the reason.

Every draw of every task is written to ``benchmarks/results/families_draws.json`` as soon as it is there, the table so
far to ``families.json`` beside it, and a later run goes on from there (``--fresh`` measures again). ``--settle 3`` asks
for three draws of everything and then for more, up to ``--seeds``, only where a verdict could still change: where the
difference of means is less than t standard errors from the border between winning, a tie and losing. ``--page`` makes
the page of the docs from what was measured; rows of earlier runs that were not measured again stay as they were
committed, with their numbers of draws.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import os
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol, cast

from benchmarks.family_row import Cell, Row, Task, mean_rows
from benchmarks.family_sets import Missing
from benchmarks.harness import RESULTS, Report, commit, machine, table

TITLE = "every family, defaults, beside the simple rival, on data that no choice was made on"
RIVALS: tuple[str, ...] = ()
MODULES = (
    "family_mixtures",
    "family_coordinated",
    "family_density",
    "family_relations",
    "family_metrics",
    "family_sheets",
    "family_actions",
    "family_gated",
)
Found = dict[str, Any]
"""Of each family: its name, what it was chosen on, and of each task the set and its draws."""


class Family(Protocol):
    """A module that measures one family."""

    FAMILY: str
    CHOSEN_ON: tuple[str, ...]

    def tasks(self, *, quick: bool) -> Sequence[Task]:
        """Sets and questions; ``quick`` takes fewer and smaller ones."""
        ...


@dataclass(frozen=True)
class Plan:
    """How many draws: ``most`` of each task, or ``first`` and then more where a verdict is open; and minutes at most.

    Minutes are those of the processor; None: no limit.
    """

    most: int = 10
    first: int | None = None
    minutes: float | None = None


def families(names: Iterable[str] = ()) -> dict[str, Family]:
    """The modules that are there, by name; ``names`` are some of them, with or without "family_"."""
    wanted = {name if name.startswith("family_") else f"family_{name}" for name in names} or set(MODULES)
    if unknown := wanted - set(MODULES):
        raise ValueError(f"families: names={sorted(unknown)} are not known. There are: {', '.join(MODULES)}.")
    there = [name for name in MODULES if name in wanted and importlib.util.find_spec(f"benchmarks.{name}")]
    return {name: cast(Family, importlib.import_module(f"benchmarks.{name}")) for name in there}


def rows_of(found: Mapping[str, Any]) -> list[Row]:
    """The rows of one family from its stored draws; a set that is not installed is a row without numbers."""
    rows = [
        Row(task["data"], name, "", missing=task["missing"])
        for name, task in found["tasks"].items()
        if task.get("missing")
    ]
    draws = [
        (task["data"], [Cell(**cell) for cell in draw["cells"]])
        for task in found["tasks"].values()
        for _, draw in sorted(task["draws"].items(), key=lambda one: int(one[0]))
    ]
    return mean_rows(draws) + rows


def measure(found: Found, chosen: Mapping[str, Family], plan: Plan, *, quick: bool, folder: Path = RESULTS) -> Found:
    """Add draws to ``found`` until the plan is carried out, and write each to ``folder``; the same dict."""
    began = time.process_time()
    work = {name: list(family.tasks(quick=quick)) for name, family in chosen.items()}
    for name, family in chosen.items():
        kept = found.setdefault(name, {"family": family.FAMILY, "tasks": {}})
        kept["chosen_on"] = list(family.CHOSEN_ON)
        for one in kept["tasks"].values():
            one.pop("missing", None)  # it may be installed by now
    for most in (plan.first or plan.most, plan.most):
        for name, tasks in work.items():
            for task in tasks:
                kept = found[name]["tasks"].setdefault(task.name, {"data": task.data, "draws": {}})
                for seed in range(task.first, task.first + min(most, task.draws)):
                    late = plan.minutes is not None and time.process_time() - began > 60 * plan.minutes
                    if late or str(seed) in kept["draws"] or _enough(task, kept, plan):
                        continue
                    _draw(task, seed, kept, label=name)
                    _write(found, folder, quick=quick)
    return found


def _enough(task: Task, kept: Mapping[str, Any], plan: Plan) -> bool:
    """Whether the verdicts of a task need no further draws, or its set is not there."""
    if kept.get("missing"):
        return True
    if plan.first is None or len(kept["draws"]) < plan.first:
        return False
    return all(row.settled for row in rows_of({"tasks": {task.name: kept}}) if row.data == task.data)


def _draw(task: Task, seed: int, kept: dict[str, Any], *, label: str) -> None:
    """Measure one draw of a task and keep its cells, with the processor's seconds and the commit."""
    began = time.process_time()
    try:
        cells = list(task.measure(seed))
    except Missing as reason:
        kept["missing"] = str(reason)
        print(f"  {label}; {task.name}: left out ({reason})", flush=True)
        return
    kept.pop("missing", None)
    seconds = round(time.process_time() - began, 2)
    kept["draws"][str(seed)] = {"seconds": seconds, "commit": commit(), "cells": [asdict(cell) for cell in cells]}
    shown = "; ".join(f"{cell.measure} {_few(cell.numbers)}" for cell in cells[:3])
    print(f"  {label}; {task.name}; draw {seed}; {seconds:.1f} s: {shown}", flush=True)


def _few(numbers: Mapping[str, float]) -> str:
    return ", ".join(f"{who} {value:.3f}" for who, value in numbers.items())


def report_of(found: Found) -> Report:
    """All rows as a report."""
    report = Report(details={"families": found})
    for kept in found.values():
        for row in rows_of(kept):
            if row.missing:
                continue
            best, label = row.best_rival, f"{kept['family']}; {row.task}; {row.data}: {row.measure} [{row.verdict}]"
            report.note(label, row.ours, rival=row.rivals[best], rival_name=f"{best} (best of rivals)")
    return report


def _draws_file(folder: Path, *, quick: bool) -> Path:
    return folder / ("families_draws_quick.json" if quick else "families_draws.json")


def _write(found: Found, folder: Path, *, quick: bool) -> None:
    """Write draws and table, each to a file beside its own first, so that a stop leaves the former one whole."""
    folder.mkdir(parents=True, exist_ok=True)
    file = _draws_file(folder, quick=quick)
    new = file.with_suffix(".new")
    new.write_text(json.dumps({"families": found, "machine": machine()}, ensure_ascii=False))
    os.replace(new, file)
    if not quick:
        report = report_of(found).write(folder / "families.new", name="families", quick=quick)
        os.replace(report, folder / "families.json")


def stored(folder: Path = RESULTS, *, quick: bool = False) -> Found:
    """The draws of earlier runs of the same size; {} if there are none."""
    file = _draws_file(folder, quick=quick)
    return cast(Found, json.loads(file.read_text())["families"]) if file.exists() else {}


def run(*, quick: bool) -> Report:
    """All families, ten draws (quick: two), going on from what was measured before."""
    return report_of(measure(stored(quick=quick), families(), Plan(most=2 if quick else 10), quick=quick))


def main(arguments: list[str] | None = None) -> int:
    """Measure some families or all, and print their table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.families", description=TITLE)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"any of: {', '.join(MODULES)} (default: all)")
    parser.add_argument("--quick", action="store_true", help="few and small sets, two draws")
    parser.add_argument("--seeds", type=int, default=10, help="draws of each task, at most (default: 10)")
    parser.add_argument("--settle", type=int, help="so many draws first, then more where a verdict is open")
    parser.add_argument("--minutes", type=float, help="begin no draw after so many minutes of processor time")
    parser.add_argument("--fresh", action="store_true", help="forget the stored draws of the families named")
    parser.add_argument("--page", action="store_true", help="measure nothing; write docs/families.md and its numbers")
    chosen = parser.parse_args(arguments)
    if chosen.page:
        from benchmarks.family_page import write_page

        print(write_page(stored()))
        return 0
    picked, found = families(chosen.names), stored(quick=chosen.quick)
    if chosen.fresh:
        found = {name: kept for name, kept in found.items() if name not in picked}
    plan = Plan(min(chosen.seeds, 2) if chosen.quick else chosen.seeds, chosen.settle, chosen.minutes)
    print(table(report_of(measure(found, picked, plan, quick=chosen.quick))))
    return 0


if __name__ == "__main__":
    sys.exit(main())

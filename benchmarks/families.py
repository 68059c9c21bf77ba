"""Every family with its defaults beside the simple rival, on data that no choice was made on: one table.

A family is a module of this package with ``FAMILY`` (its name), ``CHOSEN_ON`` (the sets that its defaults were chosen
on, which are not in the table) and ``rows(quick)``, which yields ``Row``s. Add one by naming it in ``MODULES``; a
module that is not there is left out. A cell that loses stays in the table, marked. A set that is not installed is a row
without numbers, with the reason.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterator
from typing import Any, Protocol, cast

from benchmarks.family_row import Row
from benchmarks.harness import Report

TITLE = "every family, defaults, beside the simple rival, on data that no choice was made on"
RIVALS: tuple[str, ...] = ()
MODULES = (
    "family_metrics",
    "family_relations",
    "family_actions",
    "family_mixtures",
    "family_coordinated",
    "family_sheets",
    "family_density",
    "family_gated",
)


class Family(Protocol):
    """A module that measures one family."""

    FAMILY: str
    CHOSEN_ON: tuple[str, ...]

    def rows(self, *, quick: bool) -> Iterator[Row]:
        """Measure; ``quick`` takes smaller sizes and fewer seeds."""
        ...


def families() -> dict[str, Family]:
    """The modules that are there, by name."""
    there = [name for name in MODULES if importlib.util.find_spec(f"benchmarks.{name}")]
    return {name: cast(Family, importlib.import_module(f"benchmarks.{name}")) for name in there}


def run(*, quick: bool) -> Report:
    report = Report()
    kept: dict[str, Any] = report.details.setdefault("families", {})
    for name, family in families().items():
        found = kept.setdefault(name, {"family": family.FAMILY, "chosen_on": list(family.CHOSEN_ON), "rows": []})
        for row in family.rows(quick=quick):
            found["rows"].append(row.record())
            label = f"{family.FAMILY}; {row.task}; {row.data}: {row.measure}"
            if row.missing:
                print(f"  left out: {label} ({row.missing})", flush=True)
                continue
            best = row.best_rival
            report.note(
                f"{label} [{row.verdict}]", row.ours, rival=row.rivals[best], rival_name=f"{best} (best of rivals)"
            )
            print(f"  {row.line()}", flush=True)
    return report

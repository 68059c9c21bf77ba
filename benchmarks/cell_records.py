"""What the ``cells`` benchmark has measured, on disk as soon as it is there, so that a later run goes on from it.

One JSON file. Under "totals" by set, method and row order: all numbers of scib-metrics, the mixing of batches within
types, the processor's seconds for the embedding, and the commit. Under "removals" by set and type: what
``benchmarks.cells.measure_removals`` finds. Each entry has the commit that it was measured with, so that a file may
hold our numbers of today beside those of rivals from another day, whose programs and input did not change. To measure
some methods again, keep them in a new file and put it over the old one:

    python -m benchmarks.cells --only "ours, 2-D" --no-removals --orders 5 --keep NEW.json
    python -m benchmarks.cell_records NEW.json docs/files/cells.json
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.harness import commit, machine

__all__ = ["Records"]


@dataclass(frozen=True)
class Records:
    """Numbers by set, in a file, or (``file`` None) in memory only."""

    file: Path | None = None
    found: dict[str, Any] = field(default_factory=lambda: {"totals": {}, "removals": {}})

    @classmethod
    def of(cls, file: Path | None) -> Records:
        """What is in a file, or nothing yet."""
        if file is None or not file.exists():
            return cls(file)
        return cls(file, json.loads(file.read_text()))

    def total(self, of: str, method: str, order: int) -> dict[str, Any] | None:
        """The numbers of a method on a set in a row order, None if they were not measured."""
        found: dict[str, Any] | None = self.found["totals"].get(of, {}).get(method, {}).get(str(order))
        return found

    def add_total(self, of: str, method: str, order: int, numbers: dict[str, Any]) -> None:
        """Keep numbers of a method."""
        kept = self.found["totals"].setdefault(of, {}).setdefault(method, {})
        kept[str(order)] = numbers | {"commit": commit()}
        self.write()

    def totals(self, of: str) -> dict[str, dict[str, Any]]:
        """By method and row order, what was measured of a set."""
        found: dict[str, dict[str, Any]] = self.found["totals"].get(of, {})
        return found

    def removal(self, of: str, label: str, orders: int) -> dict[str, Any] | None:
        """What was found when a type was removed, None if fewer row orders were measured."""
        found: dict[str, Any] | None = self.found["removals"].get(of, {}).get(label)
        return found if found and found["orders"] >= orders else None

    def add_removal(self, of: str, label: str, entry: dict[str, Any]) -> None:
        """Keep what was found when a type was removed."""
        self.found["removals"].setdefault(of, {})[label] = entry | {"commit": commit()}
        self.write()

    def put_over(self, other: Records) -> None:
        """Take the numbers of another file, which replace those of the same set, method or type, and row order."""
        for of, methods in other.found["totals"].items():
            for method, orders in methods.items():
                self.found["totals"].setdefault(of, {}).setdefault(method, {}).update(orders)
        for of, types in other.found["removals"].items():
            for label, entry in types.items():
                self.found["removals"].setdefault(of, {})[label] = entry
        self.write()

    def write(self) -> None:
        """Write the file, to one beside it first, so that a stop leaves the former one whole."""
        if self.file is None:
            return
        self.file.parent.mkdir(parents=True, exist_ok=True)
        new = self.file.with_suffix(".new")
        new.write_text(json.dumps(self.found | {"machine": machine()}, indent=1, ensure_ascii=False) + "\n")
        os.replace(new, self.file)


def main(new: str | Path, old: str | Path) -> None:
    """Put the numbers of one file over those of another."""
    Records.of(Path(old)).put_over(Records.of(Path(new)))


if __name__ == "__main__":
    main(*sys.argv[1:])

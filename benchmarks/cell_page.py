"""Tables for the pages from what the ``cells`` benchmark has kept: ``python -m benchmarks.cell_page FILE``.

Of each set and method the mean total over row orders, in brackets the smallest and the largest where there are several;
the mean over sets below. Then the same of silhouette and mixing, and processor seconds of the embedding (order 0).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cell_methods import OURS
from benchmarks.cell_records import Records
from benchmarks.cell_sets import CHOOSING, REPORTING

__all__ = ["means_table", "removals_table"]

Orders = Mapping[str, Mapping[str, Any]]
_ALWAYS_FEW = ("PCA", "scvi")  # the same in every row order, or slow


def means_table(totals: Mapping[str, Mapping[str, Orders]], sets: Iterable[str], what: str = "Total") -> str:
    """A table of one number: sets by methods, mean over row orders and their range, and the mean over the sets."""
    there = [name for name in sets if name in totals]
    found = dict.fromkeys(method for name in there for method in totals[name])
    methods = [*(method for method in OURS if method in found), *(method for method in found if method not in OURS)]
    lines = [_line(["", "orders", *methods]), _line(["---"] * (len(methods) + 2))]
    means: dict[str, list[float]] = {method: [] for method in methods}
    for name in there:
        counts = [len(orders) for method, orders in totals[name].items() if method not in _ALWAYS_FEW]
        cells = [f"`{name}`", " to ".join(map(str, sorted({min(counts, default=1), max(counts, default=1)})))]
        for method in methods:
            values = [one[what] for one in totals[name].get(method, {}).values()]
            means[method] += [float(np.mean(values))] if values else []
            cells.append(_told(values))
        lines.append(_line(cells))
    whole = [f"{np.mean(means[m]):.3f}" if len(means[m]) == len(there) else "" for m in methods]
    return "\n".join([*lines, _line(["mean", "", *whole])])


def _told(values: list[float]) -> str:
    if not values:
        return ""
    if len(values) == 1:
        return f"{values[0]:.3f}"
    return f"{np.mean(values):.3f} ({min(values):.3f} to {max(values):.3f})"


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def removals_table(removals: Mapping[str, Mapping[str, Any]], sets: Iterable[str], answers: Iterable[str]) -> str:
    """Of each set: removals and orders, the worst purity over Harmony's, and the range of mixing, by answer."""
    answers = list(answers)
    lines = [_line(["", "types", "orders", *(f"{a}: purity, mixing" for a in answers), "Harmony: mixing"])]
    lines.append(_line(["---"] * (len(answers) + 4)))
    for name in (name for name in sets if name in removals):
        found = list(removals[name].values())
        fewest = min(len(entry[answer]) for entry in found for answer in answers)
        cells = [f"`{name}`", str(len(found)), str(fewest)]
        for answer in answers:
            ratios = [min(p for p, _ in e[answer]) / np.mean([p for p, _ in e["harmony"]]) for e in found]
            cells.append(f"{min(ratios):.3f}, {_range(found, answer)}")
        lines.append(_line([*cells, _range(found, "harmony")]))
    return "\n".join(lines)


def _range(found: list[Mapping[str, Any]], answer: str) -> str:
    mixed = [m for entry in found for _, m in entry[answer]]
    return f"{min(mixed):.3f} to {max(mixed):.3f}"


def main(show: Callable[[str], object] = print) -> None:
    """Print the tables of a file."""
    found = Records.of(Path(sys.argv[1])).found
    for sets in (REPORTING, CHOOSING):
        if set(sets) & set(found["totals"]):
            for what in ("Total", "Silhouette label", "mixing", "seconds"):
                show(f"\n{what}\n\n{means_table(found['totals'], sets, what)}")
        if set(sets) & set(found["removals"]):
            entries = [entry for name in sets for entry in found["removals"].get(name, {}).values()]
            answers = [answer for answer in OURS if all(answer in entry for entry in entries)]
            show("\n" + removals_table(found["removals"], sets, answers))


if __name__ == "__main__":
    main()

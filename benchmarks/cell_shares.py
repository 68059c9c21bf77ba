"""Unequal shares of types in batches, with an effect of the batch and without: how far offsets are from the truth.

    python -m benchmarks cell_shares --keep
    python -m benchmarks.cell_shares [--draws 2] [--first 600]      (other draws; the rule was chosen on 501 to 650)

Cells of ``cell_sets.simulated`` in two batches of which both have all types, in shares that are equal, or differ mildly
(150 : 120 : 90 : 60 and 100 : 120 : 120 : 100), or much. The effect of the batch is none, weak (a third of the usual)
or usual. The error is the root mean square over cells of the distance between a batch's offset and that fitted with the
types known (0 without an effect), over the root mean square distance of cells from the mean of their type. Means: the
mean of each batch. Ours: what the model takes (``maps.matched``): means, matched rows or no effect.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.cell_methods import labels_known
from benchmarks.cell_sets import TWO, Cells, simulated
from benchmarks.harness import Report, table
from sidelight.maps.matched import group_means, matched_offsets

__all__ = ["errors", "measured"]

Array = npt.NDArray[Any]
_MILD = np.array([(150, 120, 90, 60), (100, 120, 120, 100)])
TITLE = "unequal shares of types in two batches: error of the offsets, with an effect and without"
RIVALS: tuple[str, ...] = ()
_FIRST, _DRAWS = 700, 6
DESIGNS = {"equal": np.array([(100, 100, 80, 60)] * 2), "mild": _MILD, "much": TWO}
SCALES = {"none": 0.0, "weak": 0.05, "usual": 0.15}


def errors(cells: Cells, *, effect: bool) -> tuple[str, float, float]:
    """What the model takes, and the errors of the means and of what it takes."""
    codes = np.unique(cells.batch, return_inverse=True)[1]
    means = group_means(cells.X, codes)
    truth = group_means(cells.X - labels_known(cells), codes) if effect else np.zeros_like(means)
    found = matched_offsets(cells.X, cells.X, codes)
    taken = "means" if found is None else "matched" if found.any() else "none"
    within = np.mean([cells.X[cells.label == label].var(axis=0).sum() for label in np.unique(cells.label)])

    def error(offsets: Array) -> float:
        wrong = (offsets - truth)[codes]
        return float(np.sqrt(np.square(wrong - wrong.mean(axis=0)).sum(axis=1).mean() / within))

    return taken, error(means), error(means if found is None else found)


def run(*, quick: bool) -> Report:
    """Six draws of each design and effect, or one."""
    return measured(1 if quick else _DRAWS, _FIRST)


def measured(draws: int, first: int) -> Report:
    """The error of means and of what the model takes, mean over draws, and how often it takes what."""
    report = Report()
    for effect, scale in SCALES.items():
        for name, design in DESIGNS.items():
            made = (simulated(name, design, first + k, batch_scale=scale) for k in range(draws))
            found = [errors(cells, effect=scale > 0) for cells in made]
            for way in ("means", "matched", "none"):
                report.note(f"effect {effect}, shares {name}: {way} taken", sum(one[0] == way for one in found))
            by_means, ours = (float(np.mean([one[k] for one in found])) for k in (1, 2))
            report.note(f"effect {effect}, shares {name}: error", ours, rival=by_means, rival_name="means")
    return report


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the errors on some draws."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cell_shares", description=TITLE)
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--first", type=int, default=600, help="number of the first draw")
    chosen = parser.parse_args(arguments)
    print(table(measured(chosen.draws, chosen.first)))
    return 0


if __name__ == "__main__":
    sys.exit(main())

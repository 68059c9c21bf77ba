"""How far batches can be mixed at all: corrections that are fitted with the types known, and batches at random.

    python -m benchmarks cell_limits --keep
    python -m benchmarks.cell_limits kang [two_batches_a ...] [--no-maps]
    python -m benchmarks.cell_limits two_batches_a --maps-at-random 3

components        the 30 principal components
one offset        of each batch, fitted with the types known (``cell_methods.labels_known``)
types' offsets    of each batch in each type: its cells have the mean of the type
types' columns    and the standard deviation of the type in each column
types' Gaussians  the batch mapped to the covariance of the other batches of the type, with its mean: the map
                  A = S^-1/2 (S^1/2 T S^1/2)^1/2 S^-1/2 from covariance S to T (offsets where a batch has fewer than 60)

Each with its mixing of batches within types (``cell_measures``) and that of our map of these rows with the batch given.
None is a method: all know the types. *At random* says what is chance: batches shuffled within types after the
correction, and shuffled before it and then corrected likewise, which is above 1 because every correction also takes
away by what random groups differ. Mean and largest of five draws. ``--maps-at-random``: *our* answers for
the rows less one offset with the batches shuffled within types, a set without any effect, in which mixing should be 1.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.cell_measures import mixing
from benchmarks.cell_methods import labels_known, ours
from benchmarks.cell_sets import CHOOSING, REPORTING, Cells
from benchmarks.harness import Report, table
from sidelight import KernelInformationEmbedding

TITLE = "how far batches can be mixed: offsets with the types known, and batches at random"
RIVALS = ("anndata",)
__all__ = ["CORRECTIONS", "maps_at_random", "shuffled_batches"]

Array = npt.NDArray[Any]
_FEWEST, _DRAWS = 60, 5


def _by_type(cells: Cells, change: Callable[[Array, Array], Array]) -> Array:
    """The cells with ``change(rows of a batch, rows of all batches)`` in each type that is in several batches."""
    X = cells.X.copy()
    for label in np.unique(cells.label):
        of_type = cells.label == label
        for batch in np.unique(cells.batch[of_type]):
            rows = of_type & (cells.batch == batch)
            if 1 < rows.sum() < of_type.sum():
                X[rows] = change(cells.X[rows], cells.X[of_type])
    return X


def _with_mean(rows: Array, of_type: Array) -> Array:
    return np.asarray(rows - rows.mean(axis=0) + of_type.mean(axis=0))


def _types_offsets(cells: Cells) -> Array:
    return _by_type(cells, _with_mean)


def _types_columns(cells: Cells) -> Array:
    within = replace(cells, X=_types_offsets(cells))

    def scaled(rows: Array, of_type: Array) -> Array:
        middle = of_type.mean(axis=0)
        return np.asarray(middle + (rows - middle) * of_type.std(axis=0) / np.maximum(rows.std(axis=0), 1e-12))

    return _by_type(within, scaled)


def _types_gaussians(cells: Cells) -> Array:
    within = replace(cells, X=_types_offsets(cells))

    def mapped(rows: Array, of_type: Array) -> Array:
        if len(rows) < _FEWEST:
            return rows
        middle = of_type.mean(axis=0)
        half, back = _roots(np.cov(rows.T))
        A = back @ _roots(half @ np.cov(of_type.T) @ half)[0] @ back
        return np.asarray(middle + (rows - middle) @ A)

    return _by_type(within, mapped)


def _roots(S: Array) -> tuple[Array, Array]:
    """S^1/2 and S^-1/2 of a covariance."""
    values, V = np.linalg.eigh(S)
    root = np.sqrt(np.maximum(values, 1e-10 * values[-1]))
    return (V * root) @ V.T, (V / root) @ V.T


CORRECTIONS: Mapping[str, Callable[[Cells], Array]] = {
    "components": lambda cells: cells.X,
    "one offset": labels_known,
    "types' offsets": _types_offsets,
    "types' columns": _types_columns,
    "types' Gaussians": _types_gaussians,
}


def shuffled_batches(cells: Cells, seed: int) -> Cells:
    """The cells with the batches shuffled within each type."""
    rng, batch = np.random.default_rng(seed), cells.batch.copy()
    for label in np.unique(cells.label):
        rows = np.flatnonzero(cells.label == label)
        batch[rows] = rng.permutation(batch[rows])
    return replace(cells, batch=batch)


def _at_random(cells: Cells, correct: Callable[[Cells], Array]) -> tuple[list[float], list[float]]:
    """Mixing of batches that are shuffled after the correction, and before it and corrected likewise."""
    rows, after, before = correct(cells), [], []
    for seed in range(_DRAWS):
        other = shuffled_batches(cells, seed)
        after.append(mixing(rows, other.batch, cells.label))
        made = shuffled_batches(replace(cells, X=rows), seed)
        before.append(mixing(correct(made), made.batch, cells.label))
    return after, before


def run(*, quick: bool) -> Report:
    """Corrections of interferon-stimulated cells with our maps of them, and of two simulated sets without."""
    report = Report()
    for name in ("two_batches_b",) if quick else ("kang", "two_batches_b", "unequal_b"):
        measure(report, name, {**CHOOSING, **REPORTING}[name](), maps=name == "kang")
    return report


def measure(report: Report, name: str, cells: Cells, *, maps: bool) -> None:
    """Add the mixing of every correction, that of batches at random and, with ``maps``, that of our map of the rows."""
    if maps:
        for what, Z in ours(cells, (2,)).items():
            report.note(f"{name}: mixing, {what}", mixing(Z, cells.batch, cells.label))
    for what, correct in CORRECTIONS.items():
        rows = correct(cells)
        report.note(f"{name}: mixing, {what}", mixing(rows, cells.batch, cells.label))
        for how, found in zip(("at random", "at random, corrected again"), _at_random(cells, correct), strict=True):
            report.note(f"{name}: mixing, {what}, {how}, mean", float(np.mean(found)))
            report.note(f"{name}: mixing, {what}, {how}, largest", max(found))
        if maps:
            Z = KernelInformationEmbedding(n_jobs=1).fit(rows, given=cells.batch).embedding_
            report.note(f"{name}: mixing, {what}, map of these", mixing(np.asarray(Z), cells.batch, cells.label))


def maps_at_random(cells: Cells, seed: int) -> dict[str, float]:
    """Mixing of our answers for a set in which batches differ by chance only, and of its rows as they are."""
    made = shuffled_batches(replace(cells, X=labels_known(cells)), seed)
    found = {"rows": made.X} | ours(made)
    return {name: mixing(Z, made.batch, made.label) for name, Z in found.items()}


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the mixing of each correction of some sets."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cell_limits", description=__doc__.splitlines()[0])
    sets = {**CHOOSING, **REPORTING}
    parser.add_argument("names", nargs="+", choices=list(sets), metavar="SET", help=", ".join(sets))
    parser.add_argument("--no-maps", action="store_true")
    parser.add_argument("--maps-at-random", type=int, default=0, metavar="DRAWS")
    chosen = parser.parse_args(arguments)
    for name in chosen.names:
        cells = sets[name]()
        for seed in range(chosen.maps_at_random):
            told = ", ".join(f"{what} {value:.3f}" for what, value in maps_at_random(cells, seed).items())
            print(f"  {name:16s} draw {seed}: {told}", flush=True)
        if not chosen.maps_at_random:
            report = Report()
            measure(report, name, cells, maps=not chosen.no_maps)
            print(table(report), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

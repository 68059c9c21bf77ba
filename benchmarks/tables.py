"""Maps of mixed tables beside UMAP on one-hot codes, FAMD, Gower's distance with UMAP, and PCA on one-hot codes.

neighbour hit     a column is left out of the table; how often the ten nearest rows on the map of all rows tell it
                  (leave-one-out accuracy). Best possible and chance depend on the table: chance is beside it.
reconstruction    a fifth of the rows is held out, placed on the map of the others and mapped back: the error of numbers
                  in standard deviations (root mean square per column, mean over columns), the share of categories that
                  are right. Telling nothing (mean, most frequent level) is beside it.

Methods that depend on a seed have the mean over seeds. Which tables were for choosing is said in ``table_sets``; the
summary is of the tables that were not. ``python -m benchmarks.tables choosing`` measures the others.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.harness import Report, table
from benchmarks.table_methods import METHODS, SEEDED, PlainTable, plain_table, reconstruct
from benchmarks.table_sets import CHOOSING, REPORTING, MixedTable, Source, load_table
from sidelight.evaluate import neighbour_hit

TITLE = "mixed tables beside UMAP on one-hot, FAMD, Gower + UMAP and PCA on one-hot"
RIVALS = ("umap-learn", "pandas")
_SEEDS = 3
_SPLITS = 1
_MEASURES = {"hit": "neighbour hit", "numbers": "error of numbers", "categories": "categories right"}
Array = np.ndarray[Any, Any]


def run(*, quick: bool) -> Report:
    """Measure the reporting tables."""
    return measure(REPORTING[:3] if quick else REPORTING, quick=quick)


def measure(sources: Sequence[Source], *, quick: bool) -> Report:
    """Measure tables one by one, then the means over them."""
    report = Report()
    for source in sources:
        mixed = load_table(source)
        print(f"  {mixed.name} ({len(mixed.frame)} rows, asked for {mixed.label}) ...", flush=True)
        found = {name: _measured(name, mixed, quick=quick) for name in METHODS}
        found["telling nothing"] = {
            "hit": mixed.chance,
            **_scores(_nothing(mixed.frame, split) for split in _splits(quick)),
        }
        report.details[mixed.name] = found
        for what in _MEASURES:
            by_method = {name: values.get(what) for name, values in found.items()}
            _note(report, f"{mixed.name}: {_MEASURES[what]}", by_method)
    for what, words in _MEASURES.items():
        names = [*METHODS, "telling nothing"]
        _note(report, f"mean: {words}", {name: _mean(report.details, name, what) for name in names})
    return report


def _measured(name: str, mixed: MixedTable, *, quick: bool) -> dict[str, Any]:
    seeds = range(_SEEDS if name in SEEDED and not quick else 1)
    began = time.perf_counter()
    hits = [_hit(_quietly(METHODS[name], mixed.frame, seed), mixed.labels) for seed in seeds]
    seconds = (time.perf_counter() - began) / len(seeds)
    backs = [_quietly(reconstruct, name, *_parts(mixed.frame, split), split) for split in _splits(quick)]
    scores = _scores(backs) if all(back is not None for back in backs) else {}
    return {"hit": float(np.mean(hits)), "hits": hits, "seconds": seconds, **scores}


def _quietly(call: Any, *arguments: Any) -> Any:
    """Rivals warn of graphs in pieces and of seeds; unseen categories of held-out rows are counted as errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call(*arguments)


def _hit(Z: Array, labels: Array) -> float:
    return neighbour_hit(Z, labels, n_neighbors=10)


def _splits(quick: bool) -> range:
    return range(1 if quick else _SPLITS)


def _parts(frame: pd.DataFrame, split: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Training and held-out rows (a fifth)."""
    held = np.random.default_rng(100 + split).permutation(len(frame)) < len(frame) // 5
    return frame[~held].reset_index(drop=True), frame[held].reset_index(drop=True)


def _nothing(frame: pd.DataFrame, split: int) -> tuple[PlainTable, PlainTable, PlainTable]:
    """Means and most frequent levels for every held-out row."""
    train, test = _parts(frame, split)
    known, uses = plain_table(train)
    true, _ = plain_table(test, uses)
    means = np.nanmean(known.numbers, axis=0) if known.numbers.shape[1] else np.zeros(0)
    empty = PlainTable(np.full_like(true.numbers, np.nan), np.full_like(true.categories, None))
    return known, true, PlainTable(np.tile(means, (len(test), 1)), empty.filled(known).categories)


def _scores(backs: Any) -> dict[str, float]:
    """Mean over splits of the error of numbers and of the share of right categories."""
    pairs = [(_number_error(*back), _right(*back)) for back in backs]
    numbers, categories = (np.mean(values) for values in zip(*pairs, strict=True))
    return {"numbers": float(numbers), "categories": float(categories)}


def _number_error(known: PlainTable, true: PlainTable, found: PlainTable) -> float:
    """Root mean square per column over its standard deviation, mean over columns; NaN without numbers."""
    if not true.numbers.shape[1]:
        return float("nan")
    spread = np.nanstd(known.numbers, axis=0)
    errors = np.sqrt(np.nanmean(np.square(found.numbers - true.numbers), axis=0))
    return float(np.nanmean(errors[spread > 0] / spread[spread > 0]))


def _right(known: PlainTable, true: PlainTable, found: PlainTable) -> float:
    """Share of present categories that are right, mean over columns; NaN without categories."""
    present = ~pd.isna(true.categories)
    columns = present.any(axis=0)
    if not columns.any():
        return float("nan")
    right = present & (true.categories == found.categories)
    return float(np.mean(right.sum(axis=0)[columns] / present.sum(axis=0)[columns]))


def _mean(details: dict[str, Any], name: str, what: str) -> float | None:
    values = [found[name].get(what) for found in details.values()]
    kept = [value for value in values if value is not None and not np.isnan(value)]
    return float(np.mean(kept)) if kept else None


def _note(report: Report, words: str, values: dict[str, float | None]) -> None:
    """Ours beside each rival that has an answer, and beside telling nothing."""
    ours = values["ours"]
    if ours is None or np.isnan(ours):
        return
    for name, value in values.items():
        if name != "ours" and value is not None and not np.isnan(value):
            report.note(words, ours, rival=value, rival_name=name)


def _rows(report: Report, what: str) -> str:
    """A Markdown table of one measure: tables by methods."""
    names = [*METHODS, "telling nothing"]
    lines = [f"| {_MEASURES[what]} | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    for table_name, found in report.details.items():
        cells = [found[name].get(what) for name in names]
        lines.append(f"| {table_name} | " + " | ".join(map(_cell, cells)) + " |")
    lines.append("| **mean** | " + " | ".join(_cell(_mean(report.details, name, what)) for name in names) + " |")
    return "\n".join(lines)


def _cell(value: float | None) -> str:
    return "none" if value is None else "-" if np.isnan(value) else f"{value:.3f}"


if __name__ == "__main__":
    sources = CHOOSING if sys.argv[1:2] == ["choosing"] else REPORTING
    measured = measure(sources, quick="--quick" in sys.argv)
    print(table(measured))
    print("\n\n".join(_rows(measured, what) for what in _MEASURES))

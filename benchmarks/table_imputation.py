"""Filled tables: errors of numbers and categories, and time, beside scikit-learn's imputers, in one run.

Ten real tables on which nothing was chosen, six of them with categories, and apart from them the tables on which the
models were chosen (``imputation_tables``). 10, 30 and 50 % of the entries are removed: at random, more often where
another column is large, and more often where the value itself is large. At most 250 rows of a table, drawn for each
seed; every cell (table, share, mechanism) has its own mask. Ours is ``Imputer()``. Rivals: SimpleImputer (mean, most
frequent), KNNImputer and IterativeImputer (Bayesian ridge) on standardised numbers and indicators, IterativeImputer
with 50 extremely randomised trees and five rounds on codes of categories, and the same with classifiers for categories
(missForest's idea; tables with categories only).

Errors: root mean square over removed numbers, in standard deviations of their columns; share of wrong categories. A
rival is better in a cell if its mean error is, by more than two standard errors of the differences of the entries'
errors.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from benchmarks import imputers
from benchmarks.harness import Report
from benchmarks.imputation_tables import MECHANISMS, REPORTED, TUNING, categories, entry_errors, remove, table
from sidelight import Imputer

TITLE = "gaps in ten real tables beside SimpleImputer, KNNImputer and IterativeImputer (ridge, trees)"
RIVALS = ("scikit-learn",)
_OURS = "ours"
_SHARES = (0.1, 0.3, 0.5)
_FIRST_SEED = 100
_QUICK = ("cars", "randhie", "statecrime")
_KINDS = ("numbers", "categories")
_FOREST = "IterativeImputer, trees"


@dataclass(frozen=True)
class Filled:
    """Errors of the removed numbers (squared) and categories (0 or 1) of one cell, and seconds."""

    numbers: Any
    categories: Any
    seconds: float


def ours(frame: pd.DataFrame, seed: int) -> pd.DataFrame:
    return Imputer(random_state=seed, n_jobs=1).fit(frame).transform(frame)


METHODS: dict[str, imputers.Filler] = {_OURS: ours, **imputers.RIVALS}


def run(*, quick: bool) -> Report:
    report = Report()
    names, shares = (_QUICK, (0.3,)) if quick else (REPORTED, _SHARES)
    found = {}
    for name in names:
        print(f"  {name} ...", flush=True)
        found[name] = cells(name, shares, METHODS)
    summarise(report, found)
    if not quick:
        for name in TUNING:
            _compare_table(report, f"tuning table {name}", cells(name, (0.3,), METHODS), bar=False)
    return report


def cells(name: str, shares: Iterable[float], methods: dict[str, imputers.Filler]) -> dict[str, dict[str, Filled]]:
    """Cell (share and mechanism) -> method -> errors."""
    return {
        f"{share:.0%} {mechanism}": _cell(name, share, mechanism, methods)
        for share in shares
        for mechanism in MECHANISMS
    }


def _cell(name: str, share: float, mechanism: str, methods: dict[str, imputers.Filler]) -> dict[str, Filled]:
    seed = _FIRST_SEED
    frame = table(name, seed)
    hidden = remove(frame, share, mechanism, seed)
    found = {}
    for method, fill in methods.items():
        if method == "missForest" and not categories(frame):
            continue  # the same as IterativeImputer with trees
        began = time.process_time()
        filled = fill(frame.mask(hidden), seed)
        seconds = time.process_time() - began
        found[method] = Filled(*entry_errors(filled, frame, hidden), seconds)
    return found


def summarise(report: Report, found: dict[str, dict[str, dict[str, Filled]]]) -> None:
    """Checks of each table, the number of cells won and lost, and every cell in the details."""
    verdicts: dict[str, list[str]] = {kind: [] for kind in _KINDS}
    best: dict[str, list[bool]] = {kind: [] for kind in _KINDS}
    lost: list[str] = []
    for name, by_cell in found.items():
        _compare_table(report, name, by_cell, bar=True)
        for kind in _KINDS:
            best[kind] += _over_cells(report, name, by_cell, kind)
        for cell, by_method in by_cell.items():
            for kind in _KINDS:
                verdict, rival = _verdict(by_method, kind)
                verdicts[kind].append(verdict)
                if verdict == "lost":
                    own, other = (_error(getattr(by_method[m], kind), kind) for m in (_OURS, rival))
                    lost.append(f"{name}, {cell}, {kind}: {_OURS} {own:.3f}, {rival} {other:.3f}")
                    report.note(f"lost cell, {name}, {cell}, {kind}", own, rival=other, rival_name=rival)
    for kind in _KINDS:
        report.note(f"tables with the smallest error over cells, {kind}", sum(best[kind]))
        report.note(f"tables with {kind}", len(best[kind]))
        for verdict in ("won", "tied", "lost"):
            report.note(f"cells {verdict} against the best rival of each, {kind}", verdicts[kind].count(verdict))
    report.details["lost cells"] = lost
    report.details["cells"] = {
        name: {cell: _numbers(by) for cell, by in cells.items()} for name, cells in found.items()
    }


def _over_cells(report: Report, name: str, by_cell: dict[str, dict[str, Filled]], kind: str) -> list[bool]:
    """Every method's error over the cells of a table, each cell with the same weight; whether ours is the smallest."""
    means: dict[str, list[float]] = {}
    for by_method in by_cell.values():
        for method, one in by_method.items():
            if len(errors := getattr(one, kind)):
                means.setdefault(method, []).append(float(errors.mean()))
    if not means:
        return []
    over = {m: float(np.sqrt(np.mean(x)) if kind == "numbers" else np.mean(x)) for m, x in means.items()}
    what = f"{name}: {'RMSE' if kind == 'numbers' else 'wrong categories'} over cells"
    for method in (one for one in over if one != _OURS):
        report.note(what, over[_OURS], rival=over[method], rival_name=method)
    return [min(over, key=lambda method: over[method]) == _OURS]


def _compare_table(report: Report, name: str, by_cell: dict[str, dict[str, Filled]], *, bar: bool) -> None:
    """Ours beside the rival that is best on the whole table, by the errors of all its cells."""
    methods = list(next(iter(by_cell.values())))
    for kind in _KINDS:
        errors = {m: np.concatenate([getattr(by[m], kind) for by in by_cell.values()]) for m in methods}
        if not len(errors[_OURS]):
            continue
        rival = min((m for m in methods if m != _OURS), key=lambda m: float(errors[m].mean()))
        noise = _noise(errors[_OURS] - errors[rival])
        beside = {"rival": _error(errors[rival], kind), "rival_name": rival}
        what = f"{name}: {'RMSE' if kind == 'numbers' else 'wrong categories'}"
        if bar:
            limit = float(errors[rival].mean()) + 2 * noise
            report.at_most(what, _error(errors[_OURS], kind), np.sqrt(limit) if kind == "numbers" else limit, **beside)
        else:
            report.note(what, _error(errors[_OURS], kind), **beside)
    seconds = {m: sum(by[m].seconds for by in by_cell.values()) for m in (_OURS, _FOREST)}
    beside = {"rival": seconds[_FOREST], "rival_name": _FOREST, "unit": "s"}
    report.note(f"{name}: processor seconds", seconds[_OURS], **beside)


def _verdict(by_method: dict[str, Filled], kind: str) -> tuple[str, str]:
    """Whether ours is better than, as good as, or worse than the best rival of a cell, and which that is."""
    own = getattr(by_method[_OURS], kind)
    if not len(own):
        return "empty", ""
    rival = min((m for m in by_method if m != _OURS), key=lambda m: float(getattr(by_method[m], kind).mean()))
    away = own - getattr(by_method[rival], kind)
    if abs(away.mean()) <= 2 * _noise(away):
        return "tied", rival
    return ("lost" if away.mean() > 0 else "won"), rival


def _noise(away: Any) -> float:
    """Standard error of the mean of differences."""
    return float(away.std() / np.sqrt(len(away)))


def _error(errors: Any, kind: str) -> float:
    mean = float(errors.mean()) if len(errors) else float("nan")
    return float(np.sqrt(mean)) if kind == "numbers" else mean


def _numbers(by_method: dict[str, Filled]) -> dict[str, dict[str, float | None]]:
    """RMSE, share of wrong categories and seconds of each method, for the details."""
    return {
        method: {
            "rmse": _error(one.numbers, "numbers") if len(one.numbers) else None,
            "wrong": _error(one.categories, "categories") if len(one.categories) else None,
            "seconds": one.seconds,
        }
        for method, one in by_method.items()
    }

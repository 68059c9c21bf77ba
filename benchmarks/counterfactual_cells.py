r"""Cells as they would be under another condition, of a type never seen there: ours against LEMUR and the mean shift.

Settings are in ``condition_sets``. Ours works in 30 principal components of the training cells, and what changes is
taken back to the genes; LEMUR (pylemur, 15 dimensions, aligned with Harmony) and the mean shift work in the genes.

R² of the change    1 - |Δ - Δ'|² / |Δ|², Δ the difference of the mean of the left-out cells and that of the rows as
                    they are, over all genes, Δ' that of the made-up cells
R², changed genes   of the mean expression of the 100 genes that change most
L2                  distance between the mean of the made-up and that of the left-out cells, all genes
spread              root of the total variance of the made-up cells over that of the left-out cells, 30 components
by chance           90 % of the ratios of spreads when made-up and left-out cells are drawn again with replacement; and
                    of an *oracle*: as many draws of the left-out cells themselves as there are made-up cells, over as
                    many as there are left-out ones. Variances over (cells - 1), or few cells would spread less
energy              energy distance of made-up and left-out cells, 30 components: wrong mean or wrong spread
coverage            share of entries (30 components) of the cell's *twin* within 1.645 standard deviations, simulated
                    sets only; for kang, of a random left-out cell, which is a lower bound: it is of another state

========================  ======================================================================================
ours                      ``counterfactual(X, given=new, given_now=now)``
ours, mean                the same with ``residual=0``
ours before               ``counterfactual(X, given=new)``: the row's own condition unknown, its residual lost
LEMUR + Harmony           ``LEMUR(design="~ condition", n_embedding=15)``, ``align_with_harmony()``, ``predict``
mean shift                the row plus the difference of the means of the conditions
========================  ======================================================================================

pylemur is in no extra; it calls a harmonypy below 0.1, so that both go to a folder of their own:

    pip install --target FOLDER --no-deps pylemur harmonypy==0.0.10 formulaic formulaic-contrasts interface-meta \
        session-info stdlib_list wrapt narwhals
    PYTHONPATH=FOLDER python -m benchmarks counterfactual_cells --keep

One setting at a time, nothing written: ``python -m benchmarks.counterfactual_cells "kang, NK" ["three conditions a"]``
"""

from __future__ import annotations

import argparse
import logging
import sys
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import cdist

from benchmarks.condition_sets import CHOOSING, REPORTING, Setting
from benchmarks.harness import Report, table
from sidelight import KernelInformationEmbedding

TITLE = "cells under another condition, of a type left out there: change, spread, intervals"
RIVALS = ("pylemur",)

Array = npt.NDArray[Any]
_NORMAL, _CHANGED = 1.645, 100
_DRAWS = 4000
_SPREAD, _COVERAGE = (0.8, 1.25), (0.88, 0.92)
OURS, MEAN, BEFORE, LEMUR, SHIFT = "ours", "ours, mean", "ours before", "LEMUR + Harmony", "mean shift"


def ours(setting: Setting) -> tuple[dict[str, Array], dict[str, Array]]:
    """Made-up cells (m, p) by name, and their standard deviations in the components (m, 30)."""
    axes, mean = setting.axes, setting.mean
    X = (setting.genes - mean) @ axes
    model = KernelInformationEmbedding(n_jobs=1).fit(X, given=setting.condition)
    ways: dict[str, dict[str, Any]] = {
        OURS: {"given_now": setting.now},
        MEAN: {"given_now": setting.now, "residual": 0.0},
        BEFORE: {},
    }
    made, std = {}, {}
    for name, options in ways.items():
        found = model.counterfactual((setting.asked - mean) @ axes, given=setting.new, return_std=True, **options)
        made[name], std[name] = found[0] @ axes.T + mean, found[1]
    return made, std


def lemur(setting: Setting) -> Array:
    """The rows as LEMUR with Harmony predicts them (m, p)."""
    import anndata
    import pandas as pd
    import pylemur

    def cells(rows: Array, condition: Array) -> Any:
        names = [str(number) for number in range(len(rows))]
        return anndata.AnnData(rows, obs=pd.DataFrame({"condition": condition}, index=names))

    model = pylemur.tl.LEMUR(cells(setting.genes, setting.condition), design="~ condition", n_embedding=15, copy=False)
    model.fit(verbose=False)
    np.random.seed(0)  # noqa: NPY002 - Harmony's k-means takes the global state
    model.align_with_harmony(verbose=False)
    new = model.cond(condition=setting.new)
    # its design matrix has a column for each condition that it sees, so the training cells come along
    both = np.concatenate([setting.genes, setting.asked])
    places = model.transform(cells(both, np.append(setting.condition, [setting.now] * len(setting.asked))))
    return np.asarray(model.predict(embedding=np.asarray(places)[len(setting.genes) :], new_condition=new))


def mean_shift(setting: Setting) -> Array:
    means = [setting.genes[setting.condition == name].mean(axis=0) for name in (setting.new, setting.now)]
    return np.asarray(setting.asked + means[0] - means[1])


def judged(setting: Setting, made: Array, std: Array | None) -> dict[str, float]:
    """The measures of made-up cells (m, p)."""
    real, now, axes = setting.real, setting.asked, setting.axes
    true, change = real.mean(axis=0) - now.mean(axis=0), made.mean(axis=0) - now.mean(axis=0)
    most = np.argsort(-np.abs(true), kind="stable")[:_CHANGED]
    means = made.mean(axis=0)[most], real.mean(axis=0)[most]
    P, R = ((rows - setting.mean) @ axes for rows in (made, real))
    found = {
        "R² of the change": _explained(true, change, 0.0),
        "R², changed genes": _explained(means[1], means[0], means[1].mean()),
        "L2": float(np.linalg.norm(change - true)),
        "spread": float(np.sqrt(P.var(axis=0).sum() / R.var(axis=0).sum())),
        "energy": float(2 * cdist(P, R).mean() - cdist(P, P).mean() - cdist(R, R).mean()),
    }
    if std is not None:
        twins = setting.twins
        if twins is None:
            twins = real[np.random.default_rng(0).integers(0, len(real), len(made))]
        found["coverage"] = float(np.mean(np.abs(P - (twins - setting.mean) @ axes) <= _NORMAL * std))
    return found


def _explained(true: Array, found: Array, centre: float) -> float:
    return float(1 - np.sum((found - true) ** 2) / np.sum((true - centre) ** 2))


def spread_by_chance(made: Array, real: Array, seed: int = 0) -> dict[str, float]:
    """90 % intervals of the ratio of spreads of ``made`` (m, q) and ``real`` (k, q), of ours and of an oracle.

    Also the share of the oracle's ratios that miss the bar.
    """
    rng, m, k = np.random.default_rng(seed), len(made), len(real)

    def size(rows: Array, count: int) -> Array:
        """Total variances of draws with replacement, from second moments, so that no draw is copied."""
        weight = rng.multinomial(count, np.full(len(rows), 1 / len(rows)), size=_DRAWS)
        centred = rows - rows.mean(axis=0)
        squares = weight @ np.square(centred).sum(axis=1) / count - np.square(weight @ centred / count).sum(axis=1)
        return np.asarray(squares * count / (count - 1))

    found: dict[str, float] = {}
    for name, above in (("spread", made), ("oracle", real)):
        ratios = np.sqrt(size(above, m) / size(real, k))
        found |= {f"{name}, {end}": float(np.quantile(ratios, q)) for end, q in (("low", 0.05), ("high", 0.95))}
    found["oracle outside the bar"] = float(np.mean((ratios < _SPREAD[0]) | (ratios > _SPREAD[1])))
    return found


def measure(setting: Setting) -> dict[str, dict[str, float]]:
    """The measures of every method."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made, std = ours(setting)
        made |= {LEMUR: lemur(setting), SHIFT: mean_shift(setting)}
    found = {name: judged(setting, rows, std.get(name)) for name, rows in made.items()}
    own, real = ((rows - setting.mean) @ setting.axes for rows in (made[OURS], setting.real))
    found[OURS] |= spread_by_chance(own, real)
    return found


def measured(names: Iterable[str]) -> Report:
    """Measure the named settings and hold them against the bars."""
    report, found = Report(), {}
    logging.getLogger("harmonypy").setLevel(logging.ERROR)
    for name in names:
        setting = ({**CHOOSING, **REPORTING})[name]()
        found[name] = results = measure(setting)
        for method, values in results.items():
            print(f"  {name:32s} {method:16s} " + "  ".join(f"{k} {v:.3f}" for k, v in values.items()), flush=True)
        spread = results[OURS]["spread"]
        report.at_least(f"{name}: spread", spread, _SPREAD[0], rival=results[LEMUR]["spread"], rival_name=LEMUR)
        report.at_most(f"{name}: spread", spread, _SPREAD[1], rival=results[BEFORE]["spread"], rival_name=BEFORE)
        report.note(f"{name}: spread of the cells asked for, moved", results[SHIFT]["spread"])
        for what in ("spread, low", "spread, high", "oracle, low", "oracle, high", "oracle outside the bar"):
            report.note(f"{name}: {what}", results[OURS][what])
        for what in ("R² of the change", "R², changed genes", "L2", "energy"):
            report.note(f"{name}: {what}", results[OURS][what], rival=results[LEMUR][what], rival_name=LEMUR)
        if setting.twins is not None:
            report.at_least(f"{name}: coverage of 90 % intervals", results[OURS]["coverage"], _COVERAGE[0])
            report.at_most(f"{name}: coverage of 90 % intervals", results[OURS]["coverage"], _COVERAGE[1])
        else:
            report.note(f"{name}: coverage, of random cells of the type", results[OURS]["coverage"])
    report.details["settings"] = found
    for what in ("R² of the change", "R², changed genes", "L2", "spread", "energy"):
        for method in (OURS, MEAN, BEFORE, LEMUR, SHIFT):
            report.note(f"mean {what} of {method}", float(np.mean([r[method][what] for r in found.values()])))
    covered = {
        kind: [r[OURS]["coverage"] for name, r in found.items() if ("kang" in name) == (kind == "kang")]
        for kind in ("kang", "simulations")
    }
    for kind, values in covered.items():
        report.note(f"coverage, {kind}: least", min(values, default=np.nan))
        report.note(f"coverage, {kind}: most", max(values, default=np.nan))
    within = [_SPREAD[0] <= r[OURS]["spread"] <= _SPREAD[1] for r in found.values()]
    report.note(f"spread: settings of {len(found)} within the bar", float(np.sum(within)))
    for what, least in (("R² of the change", True), ("R², changed genes", True), ("L2", False), ("energy", False)):
        mean = {method: float(np.mean([r[method][what] for r in found.values()])) for method in (OURS, LEMUR, BEFORE)}
        hold = report.at_least if least else report.at_most
        for rival in (LEMUR, BEFORE):
            hold(f"mean {what}", mean[OURS], round(mean[rival], 4), rival=mean[rival], rival_name=rival)
        better = [(r[OURS][what] >= r[LEMUR][what]) == least for r in found.values()]
        report.note(f"{what}: settings of {len(found)} in which ours is better than LEMUR", float(np.sum(better)))
    return report


def run(*, quick: bool) -> Report:
    """All settings of ``REPORTING``, or two of them."""
    return measured(("kang, NK", "three conditions b, few cells") if quick else tuple(REPORTING))


def main(arguments: list[str] | None = None) -> int:
    """Run some settings and print; return 0 when every bar was met, 1 when one was not."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.counterfactual_cells", description=TITLE)
    known = [*CHOOSING, *REPORTING]
    parser.add_argument("names", nargs="*", metavar="SETTING", help=", ".join(known))
    names = parser.parse_args(arguments).names
    if unknown := set(names) - set(known):  # ``choices`` would refuse no names at all
        parser.error(f"unknown: {', '.join(sorted(unknown))}; there are: {', '.join(known)}")
    report = measured(names or REPORTING)
    print(table(report))
    return 0 if report.passed else 1


if __name__ == "__main__":
    sys.exit(main())

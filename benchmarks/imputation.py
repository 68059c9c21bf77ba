"""Missing values: error and time of ProbabilisticPCA and PPCAMixture beside scikit-learn's imputers, in one run.

Entries are removed at random (10 to 70 %). The error is the root mean square over removed entries, in standard
deviations of their columns, mean over masks. All methods see columns standardised by what is left. IterativeImputer has
its defaults, ten rounds of Bayesian ridge regression. Masks 100 to 109: nothing was chosen on them. Ten, because from
one mask to the next the errors on the walk differ by more than those of the two best methods do; the details have the
error of each mask. Many columns: `imputation_wide`.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from sklearn.experimental import enable_iterative_imputer  # noqa: F401  (it makes the next import possible)
from sklearn.impute import IterativeImputer, KNNImputer

from benchmarks.harness import Report
from sidelight import PPCAMixture, ProbabilisticPCA
from sidelight.datasets import load_cmu_walk, load_oil_flow

TITLE = "imputation beside IterativeImputer and KNNImputer: oil flow, walk"
RIVALS = ("scikit-learn",)
SHARES = (0.1, 0.3, 0.5, 0.7)
_MASKS = 10
_FASTER = 5.0
_WIDE = 300  # columns: IterativeImputer is given one round, and its time is multiplied by ten
OURS = ("ProbabilisticPCA", "PPCAMixture")


def models(rounds: int = 10) -> dict[str, Callable[[Any], Any]]:
    """A filled table from one with gaps, by each method with its defaults."""
    return {
        "ProbabilisticPCA": lambda X: ProbabilisticPCA(standardize=True).fit(X).impute(X),
        "PPCAMixture": lambda X: PPCAMixture(10, 2, random_state=0).fit(X).impute(X),
        "IterativeImputer": lambda X: IterativeImputer(max_iter=rounds, random_state=0).fit_transform(X),
        "KNNImputer": lambda X: KNNImputer().fit_transform(X),
    }


def run(*, quick: bool) -> Report:
    sets = {"oil flow": load_oil_flow().X, "walk": load_cmu_walk().X[:298]}
    return compared(sets, (0.3,) if quick else SHARES, masks=1 if quick else _MASKS)


def compared(sets: Mapping[str, Any], shares: Iterable[float], *, masks: int) -> Report:
    """All methods on each set with each share of its entries missing."""
    report = Report()
    for name, rows in sets.items():
        X = np.asarray(rows, dtype=np.float64)
        found = {share: _measured(X, share, masks) for share in shares}
        for share, by in found.items():
            _compare(report, f"{name}, {share:.0%} missing", by, timed=name != "oil flow")
        report.details[name] = {f"{share:.0%}": by for share, by in found.items()}
    return report


def _measured(X: Any, share: float, masks: int) -> dict[str, dict[str, Any]]:
    """Mean error, the error of each mask, and least seconds of each method."""
    errors: dict[str, list[float]] = {name: [] for name in models()}
    seconds: dict[str, list[float]] = {name: [] for name in models()}
    X = X[:, X.std(axis=0) > 0]
    rounds = 1 if X.shape[1] > _WIDE else 10
    for seed in range(100, 100 + masks):
        gone = np.random.default_rng(seed).random(X.shape) < share
        gone[gone.all(axis=1)] = False
        left = np.where(gone, np.nan, X)
        spread = np.nanstd(left, axis=0)
        scaled = (X - np.nanmean(left, axis=0)) / np.where(spread > 0, spread, 1.0)
        for name, fill in models(rounds).items():
            began = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                filled = fill(np.where(gone, np.nan, scaled))
            seconds[name].append(time.perf_counter() - began)
            errors[name].append(float(np.sqrt(np.mean((filled - scaled)[gone] ** 2))))
    seconds["IterativeImputer"] = [10 / rounds * value for value in seconds["IterativeImputer"]]
    means = {name: float(np.mean(each)) for name, each in errors.items()}
    return {name: {"error": means[name], "errors": errors[name], "seconds": min(seconds[name])} for name in errors}


def _compare(report: Report, label: str, by: dict[str, dict[str, Any]], *, timed: bool) -> None:
    best = min(OURS, key=lambda name: by[name]["error"])
    ours, rival = by[best], by["IterativeImputer"]
    beside = {"rival": rival["error"], "rival_name": "IterativeImputer"}
    report.at_most(f"{label}: error, {best}", ours["error"], rival["error"], **beside)
    for name in (*OURS, "KNNImputer"):
        if name != best:
            report.note(f"{label}: error, {name}", by[name]["error"])
    if timed:
        ratio = rival["seconds"] / ours["seconds"]
        report.at_least(f"{label}: times faster than IterativeImputer, {best}", ratio, _FASTER)
    for name in OURS:
        ratio = rival["seconds"] / by[name]["seconds"]
        beside = {"rival": rival["seconds"], "rival_name": "IterativeImputer", "ratio": ratio}
        report.note(f"{label}: seconds, {name}", by[name]["seconds"], unit="s", **beside)

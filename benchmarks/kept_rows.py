"""Intervals of ``counterfactual(..., residual="row")``: of the same individual in another category.

Individuals of made sets have rows in one category or in both; ``individuals`` says who is who. New individuals were
measured in the first category; how much of their rows in the second lies within? Two intervals, of two sizes of data
(more rows than columns, and fewer), with 12, 30 and 100 individuals in both categories, in 8, 6 and 6 draws:

==============  ========================================================================================================
ours            ``counterfactual_interval(..., residual="row", individuals=...)``
of the group    ``counterfactual_interval(..., residual="auto")``: a row of the second category at this place
==============  ========================================================================================================

The sets are not those that the method was tried on (a linear content of four, with changes that are the same, the
individual's own, or depend on the content).

*Worlds* have the same two groups (normal, without anybody in both), and differ in who becomes what: an interval that
knows the groups alone is the same in all of them.

*Glasses*: the seven people of Olivetti with and without glasses, each left out of the fit; pictures of the person with
glasses are the truth, and the six others calibrate, which is enough for a level of 0.8.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from benchmarks.family_sets import Missing
from benchmarks.harness import Report
from sidelight import KernelInformationEmbedding
from sidelight.datasets import load_olivetti

TITLE = "intervals of the same individual in another category"
RIVALS: tuple[str, ...] = ()

PAIRED = {12: 8, 30: 6, 100: 6}
"""Individuals in both categories: draws of each set."""
_ALONE, _NEW = 60, 200
_LEVELS = (0.8, 0.9)
_DIMENSIONS = 20  # of faces, as in the reproduction

Both = tuple[Any, Any]
"""Rows (n, d) of the same individuals in the first and in the second category."""


def run(*, quick: bool) -> Report:
    """Measure every set, the worlds and the glasses."""
    report = Report()
    every: dict[float, list[tuple[float, float]]] = {level: [] for level in _LEVELS}
    for name, make in SETS.items():
        for paired, n_draws in ({12: 1} if quick else PAIRED).items():
            draws = [_measured(*make(paired + 2 * _ALONE + _NEW, seed), paired) for seed in range(n_draws)]
            mean = {key: float(np.mean([one[key] for one in draws])) for key in draws[0]}
            print(f"  {name}, {paired} in both: {mean}", flush=True)
            for level in _LEVELS:
                ours, theirs = mean[f"ours {level:g}"], mean[f"group {level:g}"]
                every[level].append((ours, theirs))
                what = f"{name}, {paired} in both: coverage at {level:g}"
                report.note(what, ours, rival=theirs, rival_name="of the group")
            report.note(f"{name}, {paired} in both: width at 0.9 over that of the group", mean["width"])
    for level, found in every.items():
        ours, theirs = np.mean(found, axis=0)
        report.note(f"coverage at {level:g}, mean", float(ours), rival=float(theirs), rival_name="of the group")
        own = [one for one, _ in found]
        report.note(f"coverage at {level:g}, least", min(own))
        report.note(f"coverage at {level:g}, most", max(own))
        met = sum(abs(one - level) <= 0.02 for one in own)
        report.note(f"coverage at {level:g}, settings within 0.02", met)
    report.note("settings", len(every[_LEVELS[0]]))
    _worlds(report, 20_000)
    try:
        _glasses(report, 1 if quick else 7)
    except (Missing, FileNotFoundError, OSError) as reason:
        report.details["missing"] = str(reason)
    return report


def _measured(before: Any, after: Any, paired: int) -> dict[str, float]:
    """Coverage of new individuals; training rows: ``paired`` in both categories, 60 in each one alone."""
    both, first, second, new = np.split(np.arange(len(before)), np.cumsum([paired, _ALONE, _ALONE]))
    X = np.concatenate([before[both], after[both], before[first], after[second]])
    group = np.repeat(["before", "after", "before", "after"], [paired, paired, _ALONE, _ALONE])
    who = np.concatenate([both, both, first, second])
    asked = {"given": "after", "given_now": "before"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = KernelInformationEmbedding(n_jobs=1, random_state=0).fit(X, given=group)
        found = {}
        for level in _LEVELS:
            ours = model.counterfactual_interval(before[new], **asked, residual="row", individuals=who, level=level)
            theirs = model.counterfactual_interval(before[new], **asked, level=level)
            found[f"ours {level:g}"] = float(ours.holds(after[new]).mean())
            found[f"group {level:g}"] = float(theirs.holds(after[new]).mean())
            found["width"] = float((ours.upper - ours.lower).mean() / (theirs.upper - theirs.lower).mean())
    return found


# Sets -----------------------------------------------------------------------------------------------------------------


def _curved(n: int, d: int, rng: np.random.Generator) -> Any:
    """Smooth functions (n, d) of two coordinates of an individual."""
    T, W = rng.uniform(-1, 1, size=(n, 2)), np.random.default_rng(7).normal(size=(2, d))
    return 2.0 * np.sin(T @ W + np.linspace(0, 3, d))


def _react_apart(n: int, d: int, seed: int) -> Both:
    """Two kinds of individuals, nothing tells which is which, and their changes have different signs."""
    rng = np.random.default_rng(seed)
    X, kind = _curved(n, d, rng), rng.choice([-0.5, 1.5], size=(n, 1))
    change = np.where(np.arange(d) % 4 == 0, 2.0, 0.0)
    return X + 0.2 * rng.normal(size=X.shape), X + kind * change + 0.2 * rng.normal(size=X.shape)


def _heavy(n: int, d: int, seed: int) -> Both:
    """Changes with heavy tails (t with four degrees of freedom) in a third of the columns, of different sizes."""
    rng = np.random.default_rng(seed)
    X, scale = _curved(n, d, rng), np.where(np.arange(d) % 3 == 0, np.linspace(0.5, 2.0, d), 0.0)
    change = scale * (1.5 + rng.standard_t(4, size=(n, d)))
    return X + 0.2 * rng.normal(size=X.shape), X + change + 0.2 * rng.normal(size=X.shape)


def _depends(n: int, d: int, seed: int) -> Both:
    """The larger a column is, the less it changes, and the individual adds its own."""
    rng = np.random.default_rng(seed)
    X = _curved(n, d, rng)
    change = np.where(np.arange(d) % 2 == 0, 2.0 - 0.6 * X, 0.0) + 0.5 * rng.normal(size=(n, 1))
    return X + 0.2 * rng.normal(size=X.shape), X + change + 0.2 * rng.normal(size=X.shape)


SETS: Mapping[str, Callable[[int, int], Both]] = {
    "two reactions, 6 columns": lambda n, s: _react_apart(n, 6, s),
    "two reactions, 500 columns": lambda n, s: _react_apart(n, 500, s),
    "heavy tails, 9 columns": lambda n, s: _heavy(n, 9, s),
    "heavy tails, 500 columns": lambda n, s: _heavy(n, 500, s),
    "depends on the row, 6 columns": lambda n, s: _depends(n, 6, s),
    "depends on the row, 500 columns": lambda n, s: _depends(n, 500, s),
}


def _worlds(report: Report, n: int) -> None:
    """Groups N(0, 1) and N(2, 1) in a column: the width that holds 0.9 where nothing is kept, in other worlds."""
    rng = np.random.default_rng(0)
    before, noise = rng.normal(size=(2, n))
    errors = {kept: np.abs(kept * before + np.sqrt(1 - kept**2) * noise - before) for kept in (1.0, 0.5, 0.0, -1.0)}
    half = float(np.quantile(errors[0.0], 0.9))
    for kept, found in errors.items():
        report.note(f"the same two groups, correlation of twins {kept:g}: coverage", float((found <= half).mean()))
        report.note(f"the same two groups, correlation of twins {kept:g}: half-width that holds 0.9",
                    float(np.quantile(found, 0.9)))  # fmt: skip


def _glasses(report: Report, people: int) -> None:
    """Pictures of a person with glasses, from those without, of people that the fit did not see."""
    data = load_olivetti()
    worn, person = data.factors["glasses"], data.factors["person"]
    both = np.intersect1d(person[worn], person[~worn])[:people]
    told = np.array([_of_person(data, int(who)) for who in both])
    ours, theirs, *widths = told.mean(axis=0)
    more = {"rival": float(theirs), "rival_name": "of the group"}
    report.note("glasses, coverage at 0.8, mean of the people", float(ours), **more)
    report.note("glasses, coverage at 0.8, people", len(both))
    report.note("glasses, least of a person", float(told[:, 0].min()))
    report.note("glasses, most of a person", float(told[:, 0].max()))
    more = {"rival": float(widths[1]), "rival_name": "of the group"}
    report.note("glasses, mean width at 0.8, grey levels", float(widths[0]), **more)


def _of_person(data: Any, who: int) -> list[float]:
    """Coverage of ours and of the group's intervals, and their widths, for a person that is left out of the fit."""
    worn, person = data.factors["glasses"], data.factors["person"]
    known, asked, truth = person != who, (person == who) & ~worn, data.X[(person == who) & worn]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = KernelInformationEmbedding(_DIMENSIONS, n_jobs=1).fit(data.X[known], given=worn[known])
        turn = {"given": True, "given_now": False, "level": 0.8}
        found = model.counterfactual_interval(data.X[asked], **turn, residual="row", individuals=person[known])
        group = model.counterfactual_interval(data.X[asked], **turn)
    told = [*(_covered(one, truth) for one in (found, group)), *(_width(one) for one in (found, group))]
    print(f"  glasses, person {who}: {told}", flush=True)
    return told


def _covered(found: Any, truth: Any) -> float:
    """Share of the entries of all pictures (k, d) within the intervals (m, d) made from each of the others."""
    return float(np.mean([(found.lower <= one) & (one <= found.upper) for one in truth]))


def _width(found: Any) -> float:
    return float((found.upper - found.lower).mean())

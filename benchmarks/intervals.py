"""Coverage and width of intervals, of every kind of answer: what is within them, on rows that were not in the fit.

A third of the rows is new; columns are standardised by the training rows. Levels 0.5, 0.8, 0.9 and 0.95. Each set is
drawn and fitted again until it is decided whether 0.9 ± 0.02 is met (``interval_draws``), at most 80 times or for 30
processor seconds (``SIDELIGHT_INTERVALS_SECONDS``). A run that was interrupted goes on where it was: its draws are in
``results/intervals_draws.json``, which a whole run removes. ``SIDELIGHT_INTERVALS="place;predict"`` measures the kinds
that begin so, alone, and ``SIDELIGHT_INTERVALS_CHOOSING=1`` the sets that choices were made on, too.

===============================  ====================================================================================
inverse, ...                     a new row, placed by ``transform``, in ``inverse_transform_interval`` of its place
place                            the place of a row in a map of all rows, in ``transform_interval`` of the maps of two
                                 thirds of them (``TwoWayEmbedding().fit(X, embedding=Z)``)
impute, ...                      entries of new rows (up to row 1,000 of a set); a fifth of all is missing at random
predict, ...                     the second half of the columns from the first half
counterfactual, ...              two made groups, one shifted by a random vector, and noise of 0.3 standard deviations.
                                 A row of the group: new rows, asked for their own group, which the model is not told.
                                 Its twin: the same row in the other group, with noise of its own. Intervals are those
                                 of the first; a twin is nearer where the residual of a row is its own
===============================  ====================================================================================

Beside ours: ``before``, normal intervals with the model's own variance (``predictive_variance``, ``impute_variance``,
``return_std``); ``one spread``, normal intervals with the standard deviation of the training rows' own errors in each
column; ``kNN``, the mean of the 15 nearest (in the same place, or by the same columns) with a split conformal width.
Widths are means over entries, in standard deviations of the columns.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from scipy.special import ndtri
from sklearn.neighbors import KNeighborsRegressor

from benchmarks.family_sets import Missing
from benchmarks.harness import RESULTS, Report
from benchmarks.interval_draws import Draw, draw_until_decided, means, resumed, write_draws
from benchmarks.interval_sets import CHOOSING, REPORTED, some_rows, standardised
from sidelight import (
    CoordinatedCCA,
    CoordinatedMixture,
    JointInformationEmbedding,
    KernelInformationEmbedding,
    ProbabilisticPCA,
    TwoWayEmbedding,
)

TITLE = "intervals: share of new entries within them, and their width"
RIVALS: tuple[str, ...] = ()

LEVELS = (0.5, 0.8, 0.9, 0.95)
_NEAR, _GAPS, _NOISE = 15, 0.2, 0.3
_NEW = 1000  # rows in all where entries are imputed: new ones cost little, and a draw says more

Bounds = Callable[[float], tuple[Any, Any]]
"""From a level to the lower and upper ends."""
Answer = tuple[Any, dict[str, Bounds]]
"""The truth (NaN where it is not asked for), and the intervals of each method."""


def run(*, quick: bool) -> Report:
    """Measure every kind of answer on every set."""
    report, path = Report(), RESULTS / ("intervals_quick.json" if quick else "intervals_draws.json")
    draws = {} if quick else resumed(path)
    sets = [(name, load, "reported") for name, load in REPORTED.items()]
    if os.environ.get("SIDELIGHT_INTERVALS_CHOOSING"):
        sets += [(name, load, "chosen on") for name, load in CHOOSING.items()]
    for kind, (measure, most) in _chosen_kinds(quick=quick).items():
        for name, load, role in sets[:1] if quick else sets:
            try:
                X = np.asarray(load(), dtype=np.float64)
            except (Missing, FileNotFoundError, OSError) as reason:
                report.details.setdefault("missing", {})[name] = str(reason)
                continue
            done = draws.setdefault(kind, {}).setdefault(name, [])
            new = _NEW if kind.startswith("impute") else 0
            draw = partial(_drawn, X, measure, most, new)
            draw_until_decided(done, draw, partial(write_draws, path, draws), quick=quick)
            found = {"role": role, **means(done)}
            report.details.setdefault(kind, {})[name] = found
            print(f"  {kind}, {name}: {_told(found)}", flush=True)
    for kind, found in report.details.items():
        if kind != "missing":
            _summarise(report, kind, found)
    if quick or not os.environ.get("SIDELIGHT_INTERVALS"):
        path.unlink(missing_ok=True)
    return report


def _chosen_kinds(*, quick: bool) -> dict[str, tuple[Callable[[Any, Any, int], Answer], int]]:
    asked = tuple(os.environ.get("SIDELIGHT_INTERVALS", "").split(";"))
    kinds = {kind: how for kind, how in KINDS.items() if kind.startswith(asked)}
    return dict(list(kinds.items())[:2]) if quick else kinds


def _told(found: Mapping[str, Any]) -> str:
    return f"{found['ours']['0.9'][0]:.3f} ± {found['error']:.3f} ({found['draws']} draws): {found['verdict']}"


def _summarise(report: Report, kind: str, found: Mapping[str, Any]) -> None:
    """Coverage at 0.9: the mean over the reported sets, and of how many of them the bar is met, missed and open."""
    told = [one for one in found.values() if one["role"] == "reported"]
    ours = [one["ours"]["0.9"][0] for one in told]
    before = [one["before"]["0.9"][0] for one in told if "before" in one]
    rival = {"rival": float(np.mean(before)), "rival_name": "before"} if before else {}
    report.note(f"{kind}: coverage at 0.9, mean of {len(told)} sets", float(np.mean(ours)), **rival)
    report.note(f"{kind}: least", min(ours))
    report.note(f"{kind}: most", max(ours))
    report.note(f"{kind}: standard error, at most", max(one["error"] for one in told))
    for name, one in found.items():
        report.note(f"{kind}, {name}: coverage at 0.9", one["ours"]["0.9"][0])
    for word in ("met", "missed", "open"):
        report.note(f"{kind}: 0.9 ± 0.02 {word}, sets of {len(told)}", sum(one["verdict"] == word for one in told))
    for who in ("kNN", "one spread"):
        pairs = [(one["ours"]["0.9"][1], one[who]["0.9"][1]) for one in told if who in one]
        if pairs:
            ratio = float(np.exp(np.mean([np.log(a / b) for a, b in pairs if a > 0 and b > 0])))
            report.note(f"{kind}: width at 0.9 over that of {who}", ratio)


def _drawn(X: Any, measure: Callable[[Any, Any, int], Answer], most: int, new: int, draw: int) -> Draw:
    """Coverage and width of each method at each level, of one division of the rows."""
    rows = some_rows(X, len(X), draw)
    cut = 2 * min(len(rows), most) // 3
    learned, held = standardised(rows[:cut], rows[cut : max(most, new)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        truth, methods = measure(learned, held, draw)
        return {
            who: {f"{level:g}": list(_scored(truth, *bounds(level))) for level in LEVELS}
            for who, bounds in methods.items()
        }


def _scored(truth: Any, lower: Any, upper: Any) -> tuple[float, float]:
    asked = ~np.isnan(truth)
    inside = (lower[asked] <= truth[asked]) & (truth[asked] <= upper[asked])
    return float(inside.mean()), float((upper - lower)[asked].mean())


def _normal(middle: Any, deviation: Any) -> Bounds:
    def bounds(level: float) -> tuple[Any, Any]:
        half = ndtri((1 + level) / 2) * deviation
        return middle - half, middle + half

    return bounds


def _ours(intervals: Callable[[float], Any]) -> Bounds:
    def bounds(level: float) -> tuple[Any, Any]:
        found = intervals(level)
        return found.lower, found.upper

    return bounds


def _nearest(places: Any, rows: Any, asked: Any, seed: int) -> Bounds:
    """Split conformal: half of the training rows predict the others by their nearest, whose errors give the width."""
    order = np.random.default_rng(seed).permutation(len(rows))
    one, other = order[: len(rows) // 2], order[len(rows) // 2 :]
    model = KNeighborsRegressor(min(_NEAR, len(one))).fit(places[one], rows[one])
    errors, middle = np.sort(np.abs(rows[other] - model.predict(places[other])), axis=0), model.predict(asked)

    def bounds(level: float) -> tuple[Any, Any]:
        half = errors[min(len(errors) - 1, int(np.ceil(level * (len(errors) + 1))) - 1)]
        return middle - half, middle + half

    return bounds


def _inverse(model: Any, learned: Any, held: Any, seed: int) -> Answer:
    model.fit(learned)
    Z = model.transform(held)
    middle, own = model.inverse_transform(Z), model.transform(learned)
    methods = {
        "ours": _ours(lambda level: model.inverse_transform_interval(Z, level=level)),
        "before": _normal(middle, np.sqrt(model.predictive_variance(Z))),
        "one spread": _normal(middle, np.std(learned - model.inverse_transform(own), axis=0)),
        "kNN": _nearest(own, learned, Z, seed),
    }
    return held, methods


def _place(learned: Any, held: Any, seed: int) -> Answer:
    both = KernelInformationEmbedding(n_jobs=1, random_state=0).fit(np.concatenate([learned, held])).embedding_
    Z, truth = both[: len(learned)], both[len(learned) :]
    model = TwoWayEmbedding(n_jobs=1).fit(learned, embedding=Z)
    return truth, {
        "ours": _ours(lambda level: model.transform_interval(held, level=level)),
        "kNN": _nearest(learned, Z, held, seed),
    }


def _impute(model: Any, learned: Any, held: Any, seed: int) -> Answer:
    rng = np.random.default_rng(seed)
    gaps = [_some_gaps(rows, rng) for rows in (learned, held)]
    model.fit(np.where(gaps[0], np.nan, learned))
    asked = np.where(gaps[1], np.nan, held)
    middle = model.impute(asked)
    return np.where(gaps[1], held, np.nan), {
        "ours": _ours(lambda level: model.impute_interval(asked, level=level)),
        "before": _normal(middle, np.sqrt(model.impute_variance(asked))),
    }


def _some_gaps(rows: Any, rng: np.random.Generator) -> Any:
    gaps = rng.random(rows.shape) < _GAPS
    gaps[gaps.all(axis=1), 0] = False
    gaps[0, gaps.all(axis=0)] = False
    return gaps


def _predict(model: Any, learned: Any, held: Any, seed: int) -> Answer:
    half = learned.shape[1] // 2
    X, Y, new = learned[:, :half], learned[:, half:], held[:, :half]
    model.fit(X, Y)
    return held[:, half:], {
        "ours": _ours(lambda level: model.predict_interval(new, level=level)),
        "one spread": _normal(model.predict(new), np.std(Y - model.predict(X), axis=0)),
        "kNN": _nearest(X, Y, new, seed),
    }


def _counterfactual(learned: Any, held: Any, seed: int, *, twin: bool) -> Answer:
    """Rows of the new group: the row itself, asked for its own group, which the model is not told; or a twin."""
    rng = np.random.default_rng(seed)
    shift = rng.normal(size=learned.shape[1])
    group, now = rng.integers(2, size=len(learned)), rng.integers(2, size=len(held))

    def seen(rows: Any, which: Any) -> Any:
        return rows + which[:, None] * shift + _NOISE * rng.normal(size=rows.shape)

    model = KernelInformationEmbedding(n_jobs=1, random_state=0).fit(seen(learned, group), given=group)
    rows = seen(held, now)
    asked = {"given": 1 - now, "given_now": now} if twin else {"given": now}
    made, deviations = model.counterfactual(rows, **asked, return_std=True)
    return seen(held, 1 - now) if twin else rows, {
        "ours": _ours(lambda level: model.counterfactual_interval(rows, **asked, level=level)),
        "before": _normal(made, deviations),
    }


KINDS: dict[str, tuple[Callable[[Any, Any, int], Answer], int]] = {
    "inverse, KernelInformationEmbedding": (
        lambda a, b, s: _inverse(KernelInformationEmbedding(n_jobs=1, random_state=0), a, b, s), 1500,
    ),
    "inverse, ProbabilisticPCA": (lambda a, b, s: _inverse(ProbabilisticPCA(2, n_jobs=1), a, b, s), 1500),
    "inverse, CoordinatedMixture": (
        lambda a, b, s: _inverse(CoordinatedMixture(2, n_jobs=1, random_state=0), a, b, s), 600,
    ),
    "place": (_place, 600),
    "impute, KernelInformationEmbedding": (
        lambda a, b, s: _impute(KernelInformationEmbedding(missing="impute", max_iter=50, n_jobs=1), a, b, s), 600,
    ),
    "impute, ProbabilisticPCA": (lambda a, b, s: _impute(ProbabilisticPCA(n_jobs=1), a, b, s), 600),
    "predict, JointInformationEmbedding": (
        lambda a, b, s: _predict(JointInformationEmbedding(n_jobs=1, random_state=0), a, b, s), 600,
    ),
    "predict, CoordinatedCCA": (
        lambda a, b, s: _predict(CoordinatedCCA(n_jobs=1, random_state=0), a, b, s), 600,
    ),
    "counterfactual, a row of the group": (lambda a, b, s: _counterfactual(a, b, s, twin=False), 600),
    "counterfactual, the row's twin": (lambda a, b, s: _counterfactual(a, b, s, twin=True), 600),
}  # fmt: skip
"""Kind of answer -> how it is measured, and the most rows."""

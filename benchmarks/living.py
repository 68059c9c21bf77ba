"""A map that lives: ten days of 5,000 digits, each joining the map of the days before, beside one fit to all of them.

Digits are MNIST in 50 principal components. Day 1 is a fit, the other nine are ``extend``, with the rows of earlier
days fixed to the bit, and with a penalty of 1 on their motions; each of these also without a 5 before day 5.
Measured on the map of all days: accuracy of the label by the 10 nearest other rows on the map, and trustworthiness (10
neighbours, on a sample of rows). Seconds are processor time of one thread. Each run is written to disk when it is done
(``benchmarks/results/living_runs.json``), and runs that are there are not run again.
"""

from __future__ import annotations

import json
import time
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from benchmarks.harness import RESULTS, Report, growth_exponent
from benchmarks.transform import digits
from sidelight import KernelInformationEmbedding
from sidelight.evaluate import trustworthiness

TITLE = "ten days of rows joining a map, and all at once"
RIVALS = ()
DAYS, LATE, LABEL = 10, 5, 5  # the label 5 appears on day 5
BAR = 0.02
RUNS = {"all kinds from the first day": (False, None), "no 5 before day 5": (True, None)}
RUNS |= {"all kinds, rows may move (hold=1)": (False, 1.0), "no 5 before day 5, rows may move (hold=1)": (True, 1.0)}


def run(*, quick: bool) -> Report:
    report, day = Report(), 300 if quick else 5_000
    rows, labels = _labelled()
    once: dict[bool, dict[str, Any]] = {}
    for name, (late, hold) in RUNS.items():
        order = days_of(labels, day, late=late)
        X, y = rows[order], labels[order]
        living = _kept(f"{name}, {day} a day", lambda X=X, y=y, hold=hold: lived(X, y, day, hold))
        if late not in once:
            once[late] = _kept(f"at once, {'late' if late else 'all'}, {day}", lambda X=X, y=y: fitted_at_once(X, y))
        _compare(report, name, living, once[late], late=late)
    return report


def _compare(report: Report, name: str, living: dict[str, Any], once: dict[str, Any], *, late: bool) -> None:
    for what in ("accuracy", "trustworthiness"):
        ours, theirs = living[what], once[what]
        beside: Any = {"rival": theirs, "rival_name": "all at once"}
        report.at_least(f"{name}: {what}", ours, theirs - BAR, **beside)
    if late:
        report.note(f"{name}: accuracy of the late label", living["late"], rival=once["late"], rival_name="all at once")
        report.at_least(f"{name}: regions made on day {LATE}", living["regions"][LATE - 2], 1.0)
    report.note(f"{name}: largest motion of a row that has a place", max(living["moved"]))
    report.note(f"{name}: regions made, all days", sum(living["regions"]))
    for day, share in enumerate(living["novel"], start=2):
        report.note(f"{name}: share of novel rows on day {day} (false alarms: 0.01)", share)
    report.note(f"{name}: seconds of the last extension", living["seconds"][-1], unit="s", rival=once["seconds"],
                rival_name="all at once")  # fmt: skip
    sizes = [(number + 2) * living["day"] for number in range(DAYS - 1)]
    report.note(f"{name}: growth exponent of an extension in all rows", growth_exponent(sizes, living["seconds"]))


def _labelled() -> tuple[Any, Any]:
    from sidelight.datasets import load_mnist

    return digits()[0], np.asarray(load_mnist("train").factors["label"]).astype(np.int64)


def days_of(labels: Any, day: int, *, late: bool) -> Any:
    """Row numbers of ten days; with ``late`` a tenth of each day from day 5 on has the label 5, and none before."""
    if not late:
        return np.arange(DAYS * day)
    own, others = np.flatnonzero(labels == LABEL), np.flatnonzero(labels != LABEL)
    parts = []
    for number in range(DAYS):
        few = day // 10 if number + 1 >= LATE else 0
        parts += [others[: day - few], own[:few]]
        others, own = others[day - few :], own[few:]
    return np.concatenate(parts)


def lived(X: Any, y: Any, day: int, hold: float | None) -> dict[str, Any]:
    """Fit day 1, extend by the others; what was measured."""
    model = KernelInformationEmbedding(2, solver="multilevel", random_state=0, n_jobs=1).fit(X[:day])
    seconds = []
    for number in range(1, DAYS):
        began = time.process_time()
        model.extend(X[number * day : (number + 1) * day], hold=hold)
        seconds.append(time.process_time() - began)
        print(f"    day {number + 1}: {seconds[-1]:.1f} s {model.versions_[-1]}", flush=True)
    changes = model.versions_[1:]
    return measured(model, X, y) | {
        "day": day,
        "seconds": seconds,
        "regions": [change["regions"] for change in changes],
        "moved": [change["moved"] for change in changes],
        "novel": [record["novel_share"] for record in model.drift_],
        "drift": model.drift_,
    }


def fitted_at_once(X: Any, y: Any) -> dict[str, Any]:
    """The same rows in one fit."""
    began = time.process_time()
    model = KernelInformationEmbedding(2, solver="multilevel", random_state=0, n_jobs=1).fit(X)
    return measured(model, X, y) | {"seconds": time.process_time() - began}


def measured(model: KernelInformationEmbedding, X: Any, y: Any) -> dict[str, Any]:
    """Accuracy by 10 neighbours on the map, of all rows and of the late label, and trustworthiness."""
    Z = np.asarray(model.embedding_, dtype=np.float64)
    near = cKDTree(Z).query(Z, k=11)[1][:, 1:]
    votes = np.stack([(y[near] == label).sum(axis=1) for label in range(10)])
    right = votes.argmax(axis=0) == y
    return {
        "accuracy": float(right.mean()),
        "late": float(right[y == LABEL].mean()),
        "trustworthiness": float(trustworthiness(X, Z, n_neighbors=10)),
    }


def _kept(name: str, work: Any) -> dict[str, Any]:
    """What a run measured: from the file if it is there, else run now and written."""
    path = RESULTS / "living_runs.json"
    known: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    if name not in known:
        print(f"  {name}", flush=True)
        known[name] = work()
        RESULTS.mkdir(exist_ok=True)
        path.write_text(json.dumps(known, indent=1) + "\n")
    return dict(known[name])

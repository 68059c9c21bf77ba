"""Metrics from hints: the closed form against an SDP solver, and nearest neighbours under metrics from a few pairs.

Neighbours  half of the rows teach, half are asked, ten draws. Pairs are drawn among the teaching rows; 3-NN of the
            asked rows among the teaching ones, under the metric. LDA and NCA are given the label of every row that is
            in a pair, which says more than the pairs do. All sets are standardised. Draws 0 to 2 of iris and wine
            were looked at while directions were scaled to unit variance instead of unit distance of same pairs; the
            draws here are 100 to 109. The regularization was chosen on faces.
metric-learn's MMC and ITML fail on current scikit-learn. They run in a second environment, if the variable
``SIDELIGHT_METRIC_LEARN`` names its python (metric-learn 0.7.0 with scikit-learn 1.3.2), on the same draws.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier, NeighborhoodComponentsAnalysis
from sklearn.preprocessing import StandardScaler

from benchmarks.harness import Report, peak_memory, race
from sidelight import DistanceMetric, EquivalenceMetric
from sidelight.solvers.generalised import smallest_directions

TITLE = "metrics from hints: closed form against an SDP solver; k-NN error with 40 to 200 pairs"
RIVALS = ("cvxpy",)
_PAIRS, _NEIGHBOURS = (40, 100, 200), 3
_ELSEWHERE = """
import json, sys, warnings
import numpy as np
from metric_learn import ITML, MMC
warnings.simplefilter("ignore")
found = []
for task in json.load(sys.stdin):
    X, pairs, sign = (np.array(task[key]) for key in ("X", "pairs", "sign"))
    row = {}
    for kind in (MMC, ITML):
        try:
            row[kind.__name__] = kind(preprocessor=X).fit(pairs, sign).components_.tolist()
        except Exception as error:
            row[kind.__name__] = repr(error)
    found.append(row)
print(json.dumps(found))
"""


def run(*, quick: bool) -> Report:
    report = Report()
    _against_the_program(report, d=20 if quick else 50, repeats=1 if quick else 3)
    _distances(report, d=100 if quick else 500)
    for name, (X, y) in _sets(quick).items():
        _neighbours(report, name, X, y, draws=3 if quick else 10)
    return report


def _against_the_program(report: Report, *, d: int, repeats: int) -> None:
    """The same problem, S4 eq. 3.1, by eigenvectors and by semidefinite programming."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, d))
    pairs = rng.permutation(200).reshape(100, 2)
    same, different = pairs[:80], pairs[80:]
    D = [X[p[:, 0]] - X[p[:, 1]] for p in (same, different)]
    M = D[0].T @ D[0] - D[1].T @ D[1]
    values: dict[str, float] = {}

    def ours() -> None:
        C = EquivalenceMetric(form="literal").fit(X, same=same, different=different).components_
        values["ours"] = float(np.vdot(C @ M, C))

    contenders = {
        "ours": ours,
        "closed form": lambda: smallest_directions(M, np.ones(d), 1),
        "cvxpy": lambda: values.update(cvxpy=_program(M)),
    }
    times = race(contenders, repeats=repeats)
    label = f"same and different pairs, d = {d}"
    report.faster(f"{label}: both given M", times["closed form"], times["cvxpy"], "cvxpy", at_least=1000)
    report.faster(f"{label}: a whole fit, checks and all", times["ours"], times["cvxpy"], "cvxpy")
    gap = (values["ours"] - values["cvxpy"]) / abs(values["cvxpy"])
    report.at_most(f"objective less that of the SDP solver, relative, d = {d}", gap, 1e-9)


def _program(M: Any) -> float:
    import cvxpy

    A = cvxpy.Variable(M.shape, PSD=True)
    program = cvxpy.Problem(cvxpy.Minimize(cvxpy.trace(M @ A)), [cvxpy.trace(A) == 1])
    program.solve(solver="CLARABEL")
    found = np.linalg.eigh(A.value)
    feasible = (found[1] * np.maximum(found[0], 0)) @ found[1].T
    return float(np.vdot(M, feasible) / np.trace(feasible))


def _distances(report: Report, *, d: int) -> None:
    """2,000 distances of a planted metric of rank 3: seconds, memory, and how well it comes back."""
    for noise in (0.0, 0.1):
        X, pairs, distances, A = _planted(d, noise)
        began = time.perf_counter()
        model = DistanceMetric(3).fit(X, pairs=pairs, distances=distances)
        seconds = time.perf_counter() - began
        error = np.linalg.norm(model.mahalanobis_ - A) / np.linalg.norm(A)
        label = f"2,000 distances in {d} dimensions, noise {noise:.0%}"
        report.at_most(f"{label}: seconds", seconds, 30.0, unit="s")
        report.note(f"{label}: relative error of the metric", float(error))
    setup = f"from benchmarks.metrics import _planted, DistanceMetric; X, p, t, A = _planted({d}, 0.0)"
    peak = peak_memory(setup, "DistanceMetric(3).fit(X, pairs=p, distances=t)")
    report.note(f"2,000 distances in {d} dimensions: peak memory, in sizes of X", peak / X.nbytes)


def _planted(d: int, noise: float) -> tuple[Any, Any, Any, Any]:
    rng = np.random.default_rng(0)
    X, L = rng.normal(size=(1000, d)), rng.normal(size=(3, d))
    first = rng.integers(0, 1000, 2000)
    pairs = np.column_stack([first, (first + rng.integers(1, 1000, 2000)) % 1000])
    exact = np.linalg.norm((X[pairs[:, 0]] - X[pairs[:, 1]]) @ L.T, axis=1)
    return X, pairs, np.abs(exact * (1 + noise * rng.normal(size=2000))), L.T @ L


def _sets(quick: bool) -> dict[str, tuple[Any, Any]]:
    loaders = {"iris": load_iris, "wine": load_wine, **({} if quick else {"digits": load_digits})}
    found = {name: load(return_X_y=True) for name, load in loaders.items()}
    return {name: (StandardScaler().fit_transform(X), y) for name, (X, y) in found.items()}


def _neighbours(report: Report, name: str, X: Any, y: Any, *, draws: int) -> None:
    rank = min(X.shape[1], len(np.unique(y)) - 1)
    for m in _PAIRS:
        tasks = [_task(X, y, m, draw) for draw in range(100, 100 + draws)]
        elsewhere = _metric_learn(tasks) if name != "digits" else [{} for _ in tasks]
        errors: dict[str, list[float]] = {}
        for task, more in zip(tasks, elsewhere, strict=True):
            maps = {**_maps(task, rank), **{k: _linear(v) for k, v in more.items() if not isinstance(v, str)}}
            for who, mapped in maps.items():
                errors.setdefault(who, []).append(_error(task, mapped))
        means = {who: float(np.mean(values)) for who, values in errors.items()}
        report.details.setdefault("k-NN error", {})[f"{name}, {m} pairs"] = errors
        for who in ("EquivalenceMetric", "EquivalenceMetric, full rank"):
            rivals = {k: v for k, v in means.items() if not k.startswith("Equivalence")}
            best = min(rivals, key=rivals.__getitem__)
            report.note(f"{name}, {m} pairs: error, {who}", means[who], rival=rivals[best], rival_name=f"{best} (best)")
        for who, value in means.items():
            if not who.startswith("Equivalence"):
                report.note(f"{name}, {m} pairs: error, {who}", value)


def _task(X: Any, y: Any, m: int, draw: int) -> dict[str, Any]:
    rng = np.random.default_rng(draw)
    order = rng.permutation(len(X))
    train, test = order[: len(X) // 2], order[len(X) // 2 :]
    first, second = np.triu_indices(len(train), 1)
    chosen = rng.choice(len(first), m, replace=False)
    pairs = np.column_stack([first[chosen], second[chosen]])
    equal = y[train][pairs[:, 0]] == y[train][pairs[:, 1]]
    return {
        "X": X[train], "y": y[train], "new": X[test], "truth": y[test], "pairs": pairs, "sign": np.where(equal, 1, -1),
    }  # fmt: skip


def _maps(task: dict[str, Any], rank: int) -> dict[str, Callable[[Any], Any]]:
    X, y, pairs = task["X"], task["y"], task["pairs"]
    told = {"same": pairs[task["sign"] > 0], "different": pairs[task["sign"] < 0]}
    rows = np.unique(pairs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        lda = LinearDiscriminantAnalysis(solver="eigen", shrinkage="auto").fit(X[rows], y[rows])
        nca = NeighborhoodComponentsAnalysis(rank, random_state=0, max_iter=50).fit(X[rows], y[rows])
    return {
        "EquivalenceMetric": EquivalenceMetric(rank).fit(X, **told).transform,
        "EquivalenceMetric, full rank": EquivalenceMetric(X.shape[1]).fit(X, **told).transform,
        "identity": lambda Z: Z,
        "LDA (labels)": lda.transform,
        "NCA (labels)": nca.transform,
    }


def _linear(components: Any) -> Callable[[Any], Any]:
    C = np.array(components)
    return lambda Z: Z @ C.T


def _error(task: dict[str, Any], mapped: Callable[[Any], Any]) -> float:
    model = KNeighborsClassifier(_NEIGHBOURS).fit(mapped(task["X"]), task["y"])
    return 1.0 - float(model.score(mapped(task["new"]), task["truth"]))


def _metric_learn(tasks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What metric-learn finds for the same draws, by another python; nothing where there is none."""
    python = os.environ.get("SIDELIGHT_METRIC_LEARN")
    if not python:
        return [{} for _ in tasks]
    sent = json.dumps([{key: task[key].tolist() for key in ("X", "pairs", "sign")} for task in tasks])
    done = subprocess.run([python, "-c", _ELSEWHERE], input=sent, capture_output=True, text=True, check=True)
    found: list[dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    return found

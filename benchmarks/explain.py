"""Attributions: exactness of Jacobians and of contributions, cost, and columns that are known to matter.

Exactness is measured on tables of scikit-learn. Cost is that of 10,000 rows of 1,000 columns. Two kinds of rows differ
in some of many columns; a list of columns by false discovery rate should have these and few others, and ranks of
columns by contribution are compared with those of SHAP's KernelExplainer on UMAP's ``transform``, the usual way to ask
the same of a map (where ``shap`` and ``umap-learn`` are installed). Nothing was tuned here.
"""

from __future__ import annotations

import json
import time
import warnings
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler

from benchmarks.harness import Check, Report, fresh_process
from sidelight import KernelInformationEmbedding, explain
from sidelight.explain._paths import mean_slopes

TITLE = "attributions: exactness, cost, columns that matter, beside SHAP on UMAP"
RIVALS = ("scikit-learn",)
LINES = 20
SIZES = (10_000, 1_000)


def run(*, quick: bool) -> Report:
    report = Report()
    for name, X in _tables(quick).items():
        _exactness(report, name, X)
        print(f"  {name} done", flush=True)
    _cost(report, *((2_000, 200) if quick else SIZES))
    print("  cost done", flush=True)
    _known_columns(report, n_sets=2 if quick else 5)
    if find_spec("shap") and find_spec("umap"):
        _beside_shap(report, n_sets=1 if quick else 2)
    else:
        report.details["shap"] = "shap or umap-learn is not installed: left out"
        print("  shap or umap-learn is not installed: comparison left out")
    return report


def _tables(quick: bool) -> dict[str, Any]:
    loaders = {"iris": load_iris, "wine": load_wine, "breast cancer": load_breast_cancer, "digits": load_digits}
    chosen = list(loaders)[:2] if quick else list(loaders)
    return {name: _standardised(loaders[name]().data[:1000]) for name in chosen}


def _standardised(X: Any) -> Any:
    return StandardScaler().fit_transform(np.asarray(X, dtype=np.float64))


def _exactness(report: Report, name: str, X: Any) -> None:
    model = KernelInformationEmbedding(random_state=0).fit(X)
    rng = np.random.default_rng(0)
    report.at_most(f"{name}: error of the Jacobian, median row", _jacobian_error(model, X, rng), 1e-8)
    first, second = rng.choice(len(X), size=(2, LINES), replace=False)
    smooth = model._smooth_map(None, len(X))
    for tolerance in (1e-6, 1e-10):
        began = time.perf_counter()
        found = mean_slopes(smooth, X[second], X[first], first, tolerance=tolerance)
        seconds = (time.perf_counter() - began) / LINES
        size = np.abs(found.end - found.start).max(axis=1)
        left = np.einsum("mqk,mk->mq", found.slopes, X[first] - X[second]) - (found.end - found.start)
        missed = np.abs(found.missed).max(axis=1) / size
        if tolerance < 1e-6:
            what = f"{name}: what integrals alone miss of the difference, tolerance {tolerance:g}"
            report.at_most(f"{what}, median line", float(np.median(missed)), 1e-10)
            report.note(f"{what}, worst line", float(missed.max()))  # where rows nearly tie, the map is very steep
        report.at_most(
            f"{name}: contributions less the difference", float((np.abs(left).max(axis=1) / size).max()), 1e-10
        )
        report.note(f"{name}: seconds of a line, tolerance {tolerance:g}", seconds, unit="s")
        report.note(f"{name}: Jacobians of a line, tolerance {tolerance:g}", found.n_evaluations / LINES)


def _jacobian_error(model: Any, X: Any, rng: np.random.Generator) -> float:
    """Median over new rows of the error beside differences of fourth order, each row with the best of three steps.

    Short steps have the rounding error of the map, divided by the step; long ones lead across kinks. A derivative that
    is wrong agrees with none of them.
    """
    Q = X[:: max(1, len(X) // 20)] + 0.05 * rng.normal(size=X[:: max(1, len(X) // 20)].shape)
    J, errors = model.jacobian(Q), []
    for step in (1e-5, 1e-4, 1e-3):
        columns = []
        for e in step * np.eye(X.shape[1]):
            near, far = (model.transform(Q + k * e) - model.transform(Q - k * e) for k in (1, 2))
            columns.append((8 * near - far) / (12 * step))
        expected = np.stack(columns, axis=2)
        errors.append(np.abs(J - expected).max(axis=(1, 2)) / np.abs(expected).max(axis=(1, 2)))
    return float(np.median(np.min(errors, axis=0)))


_SETUP = """
import numpy as np
from sidelight import TwoWayEmbedding, explain
rng = np.random.default_rng(0)
kind = np.arange({n}) % 2
X = rng.normal(size=({n}, {d})) + 2.0 * np.outer(kind, np.arange({d}) < 20)
X += 3.0 * rng.normal(size=({n}, 3)) @ rng.normal(size=(3, {d}))
Z = X @ np.linalg.svd(X[:1000] - X[:1000].mean(axis=0), full_matrices=False)[2][:2].T
model = TwoWayEmbedding(maps="kernel").fit(X, embedding=Z)
model.transform(X[:64])
"""
_WORK = {
    "jacobian of 1,000 rows": "model.jacobian(X[:1000])",
    "axes in 5 regions": "explain.axes(model, X, regions=5)",
    "difference of two halves": "explain.difference(model, X, kind == 1, kind == 0)",
}


_PROBE = """
import json, time

def kibibytes(key):
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(key))

{setup}
found = {{}}
for what, code in {work!r}.items():
    open("/proc/self/clear_refs", "w").write("5")  # the peak begins here
    before, began = kibibytes("VmRSS:"), time.process_time()
    exec(code)
    found[what] = [time.process_time() - began, 1024 * (kibibytes("VmHWM:") - before)]
print(json.dumps(found))
"""
"""Processor seconds and bytes more at the peak of each piece of work, in one process after one fit (Linux)."""


def _cost(report: Report, n: int, d: int) -> None:
    work = {"transform of 1,000 rows": "model.transform(X[:1000])", **_WORK}
    found = json.loads(fresh_process(_PROBE.format(setup=_SETUP.format(n=n, d=d), work=work)).splitlines()[-1])
    for what, (seconds, used) in found.items():
        report.note(f"{n:,} x {d:,}: processor seconds, {what}", seconds, unit="s")
        report.at_most(f"{n:,} x {d:,}: GB more at the peak, {what}", used / 1e9, 1.0)


def two_kinds(n: int, d: int, n_real: int, seed: int) -> tuple[Any, Any, Any]:
    """Rows, their kind, and which columns differ between the kinds; directions that have nothing to do with it."""
    rng = np.random.default_rng(seed)
    kind, real = np.arange(n) % 2, np.arange(d) < n_real
    X = rng.normal(size=(n, d)) + 1.5 * np.outer(kind, real) * rng.choice([-1.0, 1.0], size=d)
    return X + rng.normal(size=(n, 2)) @ rng.normal(size=(2, d)), kind, real


def _known_columns(report: Report, n_sets: int) -> None:
    found, false, ranks = [], [], []
    for seed in range(n_sets):
        X, kind, real = two_kinds(400, 1000, 20, seed)
        model = KernelInformationEmbedding(random_state=0).fit(X)
        table = explain.difference(model, X, kind == 1, kind == 0, tolerance=1e-4)
        size = _sizes(table, len(real))
        fdr = table[table.p.notna()].drop_duplicates("feature").set_index("feature").fdr
        sure = np.array([fdr[str(j)] <= 0.05 for j in range(len(real))])
        found.append(sure[real].mean())
        false.append((sure & ~real).sum() / max(sure.sum(), 1))
        ranks.append(roc_auc_score(real, size))
    report.at_least("20 of 1,000 columns: found at a false discovery rate of 0.05", float(np.mean(found)), 0.95)
    report.at_most("20 of 1,000 columns: false ones among those", float(np.mean(false)), 0.08)
    report.at_least("20 of 1,000 columns: area under the curve of ranks", float(np.mean(ranks)), 0.95)


def _sizes(table: Any, d: int) -> Any:
    """Length of each feature's contribution in the plane of the map."""
    squares = table[table.difference.notna()].groupby("feature").contribution.apply(lambda c: float((c**2).sum()))
    return np.sqrt([squares[str(j)] for j in range(d)])


def _beside_shap(report: Report, n_sets: int) -> None:
    """300 rows of 50 columns, of which 5 differ; both explain the difference between the kinds."""
    ours, theirs, seconds, missed = [], [], np.zeros(2), []
    for seed in range(n_sets):
        X, kind, real = two_kinds(300, 50, 5, seed)
        began = time.perf_counter()
        model = KernelInformationEmbedding(random_state=0).fit(X)
        fitted = time.perf_counter()
        table = explain.difference(model, X, kind == 1, kind == 0)
        seconds[0] += time.perf_counter() - fitted
        report.details.setdefault("seconds of our fits", []).append(fitted - began)
        ours.append(roc_auc_score(real, _sizes(table, 50)))
        values, spent, off = _shap_of_umap(X, kind)
        seconds[1] += spent
        missed.append(off)
        theirs.append(roc_auc_score(real, values))
    rival = {"rival": float(np.mean(theirs)), "rival_name": "SHAP on UMAP"}
    report.at_least("5 of 50 columns: area under the curve of ranks", float(np.mean(ours)), 0.9, **rival)
    how = Check(
        "the same: seconds", seconds[0] / n_sets, "s", seconds[1] / n_sets, "SHAP on UMAP", seconds[1] / seconds[0]
    )
    report.checks.append(how)
    report.note("SHAP: what its values miss of the difference", float(np.mean(missed)))


def _shap_of_umap(X: Any, kind: Any) -> tuple[Any, float, float]:
    """Lengths (d,) of the difference of mean SHAP values of 20 rows of each kind, seconds, and what they miss."""
    import shap
    import umap

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = umap.UMAP(random_state=0).fit(X)
        began = time.perf_counter()
        rows = np.concatenate([np.flatnonzero(kind == k)[:20] for k in (0, 1)])
        explainer = shap.KernelExplainer(model.transform, shap.kmeans(X, 10), silent=True)
        values = np.asarray(explainer.shap_values(X[rows], nsamples=200, silent=True))
        spent = time.perf_counter() - began
        values = values if values.shape[0] == len(rows) else values.transpose(1, 2, 0)  # (rows, columns, axes)
        places = model.transform(X[rows])
    moved = values[20:].mean(axis=0) - values[:20].mean(axis=0)
    true = places[20:].mean(axis=0) - places[:20].mean(axis=0)
    return np.linalg.norm(moved, axis=1), spent, float(np.linalg.norm(moved.sum(axis=0) - true) / np.linalg.norm(true))

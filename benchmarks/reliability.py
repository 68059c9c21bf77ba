"""Reliability of rows: whether the number is right as often as it says, wrong rows are found, and what it costs.

Calibration is reported on sets that the rule was not calibrated on (``reliability_sets.HELD_OUT``; ``calibrate()``
below fits its two constants on the others). Rivals, written from their publications, score the same maps. ``stays``,
the place without the row in closed form, is compared with real fits without the row.

    python -m benchmarks reliability
    python -c "from benchmarks.reliability import calibrate; calibrate()"
"""

from __future__ import annotations

import time
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.optimize import minimize
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler

from benchmarks.harness import Report, growth_exponent
from benchmarks.reliability_rivals import perturbation, scdeed, singularity
from benchmarks.reliability_sets import CALIBRATED, HELD_OUT, Case, _mixture, cases, right_rows
from sidelight import KernelInformationEmbedding, explain
from sidelight.datasets import load_digits, load_harmony_cell_lines, s_curve, swiss_roll
from sidelight.explain._calibration import calibrated
from sidelight.explain._mapped_rows import read_mapped_rows
from sidelight.explain._row_parts import MappedRows, Parts, row_parts, surroundings
from sidelight.information.annealing import Annealing
from sidelight.maps.rigid import fit_rigid
from sidelight.neighbours.search import nearest

TITLE = "reliability of rows: calibration, wrong rows found, left-out rows, cost"
RIVALS = ("openTSNE", "umap-learn", "scikit-learn")
NOISE = ("noise in 15", "noise in 50", "uniform noise in 20", "digits, permuted")
REAL = ("digits, other half", "COIL-20", "turntable")
TURNED = ("COIL-20", "turntable")
MANY_LEFT_OUT = 30  # left-out rows of a set, below which sets of 2,400 rows are left out
SCORED = 60  # rows of a map that LOO-map's perturbation, which minimises 18 times a row, is asked for


def run(*, quick: bool) -> Report:
    report = Report()
    names = list(HELD_OUT)[::3] if quick else list(HELD_OUT)
    found = []
    for case in cases({name: HELD_OUT[name] for name in names}, [0]):
        found.append((case, parts_of(case)))
        print(f"  {case.name}, {case.method}: right {case.right.mean():.2f}", flush=True)
    _calibration(report, found)
    _of_the_distances(report, found)
    _against_rivals(report, found, quick)
    _left_out(report, 8 if quick else 30)
    _cost(report, (1_000, 3_000) if quick else (5_000, 20_000))
    return report


def parts_of(case: Case) -> Parts:
    """The parts of the rows of a map."""
    return row_parts(surroundings(MappedRows(case.X, case.Z), None, 1), np.random.RandomState(0), 1)


def number(parts: Parts) -> Any:
    """The reliability of rows with these parts."""
    return calibrated(parts.kept, parts.true)


def calibration_curve(said: Any, right: Any) -> list[tuple[float, float, float]]:
    """For ten bins: the mean number that was said, the share of right rows, and the share of all rows in the bin."""
    which = np.clip((10 * said).astype(int), 0, 9)
    return [
        (float(said[which == b].mean()), float(right[which == b].mean()), float((which == b).mean()))
        for b in range(10)
        if (which == b).any()
    ]


def calibration_error(said: Any, right: Any) -> float:
    """Mean difference between what was said and what was right, over the bins."""
    return sum(share * abs(a - b) for a, b, share in calibration_curve(said, right))


def _calibration(report: Report, found: list[tuple[Case, Parts]]) -> None:
    def together(some: list[tuple[Case, Parts]]) -> tuple[Any, Any]:
        return np.concatenate([number(p) for _, p in some]), np.concatenate([c.right for c, _ in some])

    said, right = together(found)
    report.at_most("maps not calibrated on: calibration error", calibration_error(said, right), 0.05)
    report.note("rows called 0.8 or more", float((said >= 0.8).mean()))
    report.at_least("right among rows called 0.8 or more", float(right[said >= 0.8].mean()), 0.8)
    report.note("area under the curve, right rows of all maps", float(roc_auc_score(right, said)))
    report.details["curve"] = calibration_curve(said, right)
    groups = {
        "made sets": [x for x in found if x[0].name not in REAL],
        "real sets": [x for x in found if x[0].name in REAL],
        **{m: [x for x in found if x[0].method == m] for m in dict.fromkeys(c.method for c, _ in found)},
    }
    for name, some in groups.items():
        if some:
            said, right = together(some)
            report.details[f"curve, {name}"] = calibration_curve(said, right)
            report.note(f"{name}: calibration error", calibration_error(said, right))
            if (said >= 0.8).any():
                report.note(f"{name}: right among rows called 0.8 or more", float(right[said >= 0.8].mean()))
    for case, parts in found:
        if case.name not in NOISE:
            what = f"{case.name}, {case.method}"
            report.note(f"{what}: said, mean", float(number(parts).mean()))
            report.note(f"{what}: right", float(case.right.mean()))
    null = [x for x in found if x[0].name in NOISE]
    if null:
        report.at_most("noise: largest share of a map called 0.8 or more", _worst(null, 0.8), 0.01)
        report.at_most("noise: largest share of a map called 0.5 or more", _worst(null, 0.5), 0.10)


def _of_the_distances(report: Report, found: list[tuple[Case, Parts]]) -> None:
    """Pictures of turning objects: what is said of rows that are right in the data itself, and of rows that are not.

    A row is right in the data if it would be right on a map that is the data. Where it is not, distances between
    pictures do not tell what is near in truth, and a map that keeps them is wrong with them.
    """
    for name in TURNED:
        some = [(c.right, number(p)) for c, p in found if c.name == name and c.method != "t-SNE, misplaced"]
        if not some:
            continue
        sound = right_rows(*HELD_OUT[name](0))
        report.note(f"{name}: right in the data", float(sound.mean()))
        right, said = (np.array(part) for part in zip(*some, strict=True))
        for which, rows in (("right in the data", sound), ("the others", ~sound)):
            report.note(f"{name}, rows {which}: said", float(said[:, rows].mean()))
            report.note(f"{name}, rows {which}: right on the map", float(right[:, rows].mean()))


def _worst(some: list[tuple[Case, Parts]], least: float) -> float:
    return max(float((number(parts) >= least).mean()) for _, parts in some)


def _against_rivals(report: Report, found: list[tuple[Case, Parts]], quick: bool) -> None:
    """Areas under the curve of right rows, over maps that have enough of both."""
    ours, deed, loo = {}, {}, []
    for case, parts in found:
        if not 0.02 < case.right.mean() < 0.98 or case.method == "PCA":
            continue
        key = (case.name, case.method)
        ours[key], deed[key] = (
            float(roc_auc_score(case.right, score)) for score in (number(parts), scdeed(case.X, case.Z))
        )
        if case.method == "t-SNE" and len(case.X) < 1000 and len(loo) < (1 if quick else 6):
            loo.append(_beside_loo_map(case, number(parts)))
    for method in dict.fromkeys(key[1] for key in ours):
        mine, theirs = ([area[key] for key in ours if key[1] == method] for area in (ours, deed))
        more = {"rival": float(np.mean(theirs)), "rival_name": "scDEED"}
        report.note(f"{method}: area under the curve, mean of {len(mine)} maps", float(np.mean(mine)), **more)
    every = {"rival": float(np.mean(list(deed.values()))), "rival_name": "scDEED"}
    report.at_least("area under the curve, mean of all maps", float(np.mean(list(ours.values()))), 0.8, **every)
    for key in ours:
        report.note(f"{', '.join(key)}: area under the curve", ours[key], rival=deed[key], rival_name="scDEED")
    loo = [areas for areas in loo if areas]
    for at, name in enumerate(("LOO-map, perturbation", "LOO-map, singularity"), start=1):
        if loo:
            more = {"rival": float(np.mean([areas[at] for areas in loo])), "rival_name": name}
            report.note(f"t-SNE, {SCORED} rows of {len(loo)} maps", float(np.mean([areas[0] for areas in loo])), **more)


def _beside_loo_map(case: Case, said: Any) -> list[float]:
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.permutation(np.flatnonzero(case.right == k))[: SCORED // 2] for k in (False, True)])
    length = 0.5 * float(np.median(nearest(case.X, k=15).distance[:, -1]))
    scores = [said[rows], perturbation(case.X, case.Z, rows, length), singularity(case.X, case.Z, rows)]
    return [float(roc_auc_score(case.right[rows], score)) for score in scores]


def _left_out(report: Report, count: int) -> None:
    """Where the map without the row and a real fit without it (begun at this map) put the row: correlation of moves.

    Beside it, the kernel regression from neighbours in the data, which is used where the map without the row is not.
    """
    rng = np.random.default_rng(0)
    few = {
        "s-curve": s_curve(200, noise=0.1, random_state=0).X,
        "wine": StandardScaler().fit_transform(load_wine().data),
        "breast cancer": StandardScaler().fit_transform(load_breast_cancer().data[:250]),
        "digits, 250": np.asarray(load_digits().X[:250], dtype=float),
        "noise in 10": rng.normal(size=(200, 10)),
    }
    many = {
        "swiss roll, 2,400": swiss_roll(2400, noise=0.2, random_state=0).X,
        "15 heavy components in 30, 2,400": _mixture([160] * 15, 30, 8.0, 0, heavy=True)[0],
        "cell lines, 2,370": np.asarray(load_harmony_cell_lines().X, dtype=float),
    }
    for name, X in {**few, **(many if count >= MANY_LEFT_OUT else {})}.items():
        model = _polished(X, _polished(X, KernelInformationEmbedding().fit(X).embedding_).embedding_)
        rows = rng.choice(len(X), size=count, replace=False)
        true = np.array([_moved_without(X, model.embedding_, int(i)) for i in rows])
        read = read_mapped_rows("benchmark", model, None, None, 1).rows
        ours, regression = (_moved(mapped)[rows] for mapped in (read, replace(read, left_out=None)))
        for what, measure in (("moves", np.ravel), ("their lengths", _lengths)):
            found, other = (float(np.corrcoef(measure(one), measure(true))[0, 1]) for one in (ours, regression))
            more = {"rival": other, "rival_name": "neighbours in the data"}
            report.note(f"left-out rows of {name}: correlation of {what}", found, **more)
        slope = float(_lengths(ours) @ _lengths(true) / (_lengths(ours) @ _lengths(ours)))
        report.note(f"left-out rows of {name}: true length for a length of 1", slope)
        print(f"  left-out rows of {name} done", flush=True)


def _moved(mapped: MappedRows) -> Any:
    return row_parts(surroundings(mapped, None, 1), np.random.RandomState(0), 1).moved


def _lengths(moves: Any) -> Any:
    return np.linalg.norm(moves, axis=1)


def _polished(X: Any, Z: Any) -> Any:
    """The fit begun at the map Z: at the last λ (annealed solver), or on the finest level (multilevel)."""
    few = {} if len(X) > 2_000 else {"regularization": Annealing(0.1, start=0.1)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return KernelInformationEmbedding(init=Z, tol=1e-7 if few else 1e-6, n_jobs=1, **few).fit(X)


def _moved_without(X: Any, Z: Any, i: int) -> Any:
    others = np.delete(np.arange(len(X)), i)
    model = _polished(X[others], Z[others])
    onto = fit_rigid(model.embedding_, Z[others])
    return onto(model.transform(X[i : i + 1]))[0] - Z[i]


def _cost(report: Report, sizes: tuple[int, ...]) -> None:
    """Processor time as a share of the fit, one thread, ten components in 50 columns; growth with the rows."""
    spent = []
    for n in sizes:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n, 50)) + 1.5 * rng.normal(size=(10, 50))[rng.integers(10, size=n)]
        began = time.process_time()
        model = KernelInformationEmbedding(n_jobs=1).fit(X)
        fitted = time.process_time()
        explain.reliability(model, n_jobs=1)
        spent.append(time.process_time() - fitted)
        report.at_most(f"{n:,} x 50: share of the fit", spent[-1] / (fitted - began), 0.2)
        report.note(f"{n:,} x 50: processor seconds", spent[-1], unit="s")
        print(f"  cost of {n:,} rows done", flush=True)
    report.note("growth with the rows, exponent", growth_exponent(sizes, spent))


def calibrate(seeds: tuple[int, ...] = (0, 1)) -> tuple[float, float]:
    """Constant and slope of ``explain._calibration``, by logistic regression; every map has the same weight."""
    odds, right, weight = [], [], []
    for case in cases(CALIBRATED, list(seeds)):
        parts = parts_of(case)
        least = np.minimum(parts.kept, parts.true)
        odds.append(np.log((least + 0.02) / (1.02 - least)))
        right.append(2.0 * case.right - 1.0)
        weight.append(np.full(len(least), 1.0 / len(least)))
    x, s, w = (np.concatenate(part) for part in (odds, right, weight))
    fitted = minimize(lambda b: float(w @ np.logaddexp(0.0, -s * (b[0] + b[1] * x))) / w.sum(), np.zeros(2))
    print(f"constant {fitted.x[0]:.3f}, slope {fitted.x[1]:.3f}")
    return float(fitted.x[0]), float(fitted.x[1])

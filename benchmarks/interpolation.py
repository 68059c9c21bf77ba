"""Places of new rows by the interpolating backward map, by the regression it corrects, and by nearest neighbours.

All rows of a data set are embedded together, so that every row has a true place. Maps are then fitted to four fifths
of the rows and asked for the places of the others; the error is relative to the spread of the places,
|ẑ - z| / |z - mean|. The number of anchors and their margin were chosen on digits, breast cancer, wine, S-curves and
oil flow, and looked at on twelve more sets; the ten sets here had not been looked at before. "Jumps" are the largest
steps of a map on the way between neighbours, in units of their distance: 0 is continuous.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from sklearn.datasets import load_diabetes, load_iris
from sklearn.neighbors import KNeighborsRegressor

from benchmarks.harness import Check, Report, growth_exponent
from benchmarks.maps import sheet
from sidelight import KernelInformationEmbedding, datasets
from sidelight.base.tiles import one_blas_thread
from sidelight.kernels.data_kernel import perplexity_kernel
from sidelight.maps.interpolation import interpolate
from sidelight.maps.kernel_map import KernelMap, adaptive_weights
from sidelight.maps.weights import AdaptiveWeights
from sidelight.neighbours.search import nearest

TITLE = "places of new rows: interpolating map, regression, nearest neighbours"
RIVALS = ("scikit-learn",)
ROWS, FOLDS = 1000, 5
JUMPS = 20


def run(*, quick: bool) -> Report:
    report = Report()
    ratios = []
    for name, X in _sets(quick).items():
        model = KernelInformationEmbedding(random_state=0).fit(X)
        errors, steps, exact, seconds = _compare(model.frame_.points(X), model.embedding_, 2 if quick else FOLDS)
        ours, plain, neighbours = errors
        ratios.append(ours / plain)
        how: dict[str, Any] = {"rival": plain, "rival_name": "regression", "ratio": plain / ours}
        report.at_most(f"{name} ({X.shape[0]} x {X.shape[1]}): error of new rows", ours, 1.01 * plain, **how)
        report.checks.append(Check(f"{name}: the same", ours, "", neighbours, "5 neighbours", neighbours / ours))
        report.at_most(f"{name}: error at training rows", exact, 1e-9)
        report.at_most(f"{name}: largest jump", steps[0], 1e-6, rival=steps[1], rival_name="regression")
        report.checks.append(Check(f"{name}: seconds of a transform", seconds[0], "s", seconds[1], "regression"))
    report.at_most("error of new rows, mean ratio to the regression", float(np.mean(ratios)), 1.0)
    if not quick:
        _growth(report)
    return report


def _growth(report: Report) -> None:
    """Many rows: making the map exact is near-linear, and training rows are exact."""
    sizes, seconds = (100_000, 300_000, 1_000_000), []
    for n in sizes:
        X, Z = sheet(n, np.float32)
        Z *= np.sqrt(n / 70_000)
        mean = KernelMap(AdaptiveWeights(X, nearest(X, k=30, n_jobs=2).index.astype(np.int32), 5.0), Z)
        began = time.perf_counter()
        ours = interpolate(mean, n_jobs=2)
        seconds.append(time.perf_counter() - began)
        report.note(f"{n:,} rows of a sheet in 50 columns: seconds to make the map exact", seconds[-1], unit="s")
        exact = float(np.abs(ours(X[:5000], 2) - Z[:5000]).max() / np.abs(Z).max())
        report.at_most(f"{n:,} rows: error at training rows", exact, 1e-6)
    report.at_most("growth exponent", growth_exponent(sizes, seconds), 1.2)


def _sets(quick: bool) -> dict[str, Any]:
    sets = {
        "iris": lambda: load_iris().data,
        "diabetes": lambda: load_diabetes().data,
        "UMIST faces": lambda: datasets.load_umist().X,
        "people walking": lambda: datasets.load_cmu_people().X,
        "styles of walking": lambda: datasets.load_cmu_styles().X,
        "robot's wifi": lambda: datasets.load_robot_wifi().X,
        "digits, Fourier": lambda: datasets.load_mfeat("fou").X,
        "digits, Zernike": lambda: datasets.load_mfeat("zer").X,
        "walk cycle": lambda: datasets.load_cmu_walk().X,
        "silhouettes": lambda: datasets.load_pose_silhouette().X,
    }
    chosen = list(sets)[:2] if quick else list(sets)
    return {name: _some(np.asarray(sets[name](), dtype=np.float64)) for name in chosen}


def _some(X: Any) -> Any:
    rows = np.sort(np.random.default_rng(0).permutation(len(X))[:ROWS])
    return X[rows]


@one_blas_thread
def _compare(X: Any, Z: Any, folds: int) -> tuple[Any, Any, float, Any]:
    """Errors of ours, regression and neighbours; largest jumps, error at training rows and seconds of the first two."""
    errors, exact, jumps, seconds = [], 0.0, np.zeros(2), np.full(2, np.inf)
    for fold in np.array_split(np.random.default_rng(1).permutation(len(X)), FOLDS)[:folds]:
        train = np.setdiff1d(np.arange(len(X)), fold)
        A, V = X[train], Z[train]
        lists = perplexity_kernel(A, min(30.0, (len(A) - 1) / 3), 15).lists
        mean = KernelMap(adaptive_weights(A, V, lists), V)
        ours = interpolate(mean)
        rival = KNeighborsRegressor(5, weights="distance").fit(A, V)
        errors.append([_error(Z[fold], found) for found in (ours(X[fold]), mean(X[fold]), rival.predict(X[fold]))])
        exact = max(exact, float(np.abs(ours(A) - V).max() / np.abs(V).max()))
        if len(errors) == 1:
            pairs = [(i, int(lists[i, 2])) for i in range(0, len(A), max(1, len(A) // JUMPS))]
            jumps = np.max([[_largest_jump(mapped, A, V, *pair) for pair in pairs] for mapped in (ours, mean)], axis=1)
        seconds = np.minimum(seconds, [_seconds(ours, X[fold]), _seconds(mean, X[fold])])
    return np.mean(errors, axis=0), jumps, exact, seconds


def _error(truth: Any, found: Any) -> float:
    spread = truth - truth.mean(axis=0)
    return float(np.sqrt(((truth - found) ** 2).sum() / (spread**2).sum()))


def _largest_jump(mapped: Any, A: Any, V: Any, i: int, j: int) -> float:
    """The step across the sharpest place between two rows, found by looking ever closer, in units of their distance."""
    low, high = 0.0, 1.0
    while high - low > 1e-11:
        t = np.linspace(low, high, 9)
        steps = np.linalg.norm(np.diff(mapped(A[i] + t[:, None] * (A[j] - A[i])), axis=0), axis=1)
        worst = int(steps.argmax())
        low, high = t[worst], t[worst + 1]
    return float(steps.max() / max(float(np.linalg.norm(V[i] - V[j])), 1e-9))


def _seconds(mapped: Any, Q: Any) -> float:
    began = time.perf_counter()
    mapped(Q)
    return time.perf_counter() - began

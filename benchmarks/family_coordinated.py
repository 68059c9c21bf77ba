"""Coordinated charts: maps beside Isomap, PCA and LLE; prediction from view to view beside kernel ridge and PLS.

Maps: up to 800 rows are fitted, up to 400 others are placed by ``transform``; the class of these by their five nearest
neighbours among the first on the map (share right), or their factors by eight (R²). Views: up to 500 rows, R² of the
second view of up to 400 others, over all its entries. All with their defaults (rivals as well: Isomap and LLE with five
neighbours), except that kernel ridge has its penalty and width chosen by three-fold cross-validation on standardised
columns, and PLS has ten components, at most. Ten draws of the rows. Times are multiples of the
rival's, of the processor, in one run.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import numpy as np
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA
from sklearn.kernel_ridge import KernelRidge
from sklearn.manifold import Isomap, LocallyLinearEmbedding
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.family_row import Cell, Task
from benchmarks.family_sets import labelled_set, measured_set
from benchmarks.family_views import VIEWS, two_views
from benchmarks.made_pictures import ball_pictures, vowel_spectra
from sidelight import CoordinatedCCA, CoordinatedMixture

__all__ = ["CHOSEN_ON", "FAMILY", "tasks"]

FAMILY = "coordinated"
CHOSEN_ON = (
    "S-curve",
    "swiss roll",
    "S-curve with noise in 20 columns",
    "made vowels (another generator seed and noise)",
    "oil flow",
    "digits",
    "Isomap faces",
    "wine",
    "iris",
    "halves of digits, Isomap faces, made vowels and oil flow",
    "mfeat, fac and fou",
    "maps of UMIST, of mfeat fac, fou and zer, and of a robot's Wi-Fi",
)
LABELLED = ("breast cancer", "image segments", "glass", "USPS", "COIL-20", "made vowels")
MEASURED = (("made balls", 2), ("made balls", 3), ("Yale B, 8 people", 3), ("silhouettes", 3))
DRAWS, FIRST, FITTED, ASKED, PAIRED = 10, 200, 800, 400, 500
Times = dict[str, float]


def tasks(*, quick: bool) -> list[Task]:
    """Classes and factors on maps, then prediction of views."""
    found = [
        Task(f"map, {name}", name, partial(_map_cells, name, 2, _labelled), FIRST, DRAWS)
        for name in (LABELLED[-1:] if quick else LABELLED)
    ]
    found += [
        Task(f"map in {q}-D, {name}", name, partial(_map_cells, name, q, _measured), FIRST, DRAWS)
        for name, q in (MEASURED[1:2] if quick else MEASURED)
    ]
    names = list(VIEWS)[:1] if quick else VIEWS
    return found + [Task(f"views, {name}", name, partial(_view_cells, name), FIRST, DRAWS) for name in names]


def _map_cells(name: str, q: int, load: Callable[[str], tuple[Any, Any]], draw: int) -> Iterator[Cell]:
    X, truth = load(name)
    scores, times = _mapped(X, truth, q, draw)
    task = f"CoordinatedMixture({q})"
    if isinstance(truth, dict):
        for number, factor in enumerate(truth):
            yield Cell(task, f"R² of {factor}", {who: found[number] for who, found in scores.items()})
    else:
        yield Cell(task, "class by neighbours", scores)
    yield _time_cell(f"{task}, fit", "Isomap", times)


def _view_cells(name: str, draw: int) -> Iterator[Cell]:
    scores, times = _predicted(*two_views(name), draw)
    yield Cell("CoordinatedCCA.predict", "R²", scores)
    yield _time_cell("CoordinatedCCA, fit and predict", "kernel ridge", times)


def _time_cell(task: str, rival: str, times: Times) -> Cell:
    numbers = {"ours": times["ours"] / times[rival], rival: 1.0}
    return Cell(task, f"times {rival}", numbers, lower_is_better=True)


@cache
def _labelled(name: str) -> tuple[Any, Any]:
    return vowel_spectra(300, seed=7, noise=0.45) if name == "made vowels" else labelled_set(name)


@cache
def _measured(name: str) -> tuple[Any, dict[str, Any]]:
    return ball_pictures(FITTED + ASKED, seed=7) if name == "made balls" else measured_set(name)


def _split(n: int, draw: int, most: int = FITTED) -> tuple[Any, Any]:
    order = np.random.default_rng(draw).permutation(n)
    fitted = min(most, 2 * n // 3)
    return order[:fitted], order[fitted : fitted + ASKED]


def _mapped(X: Any, truth: Any, q: int, draw: int) -> tuple[dict[str, Any], Times]:
    """Scores of each method, and the seconds of its fit."""
    fit, asked = _split(len(X), draw)
    methods = {
        "ours": CoordinatedMixture(q, random_state=draw),
        "Isomap": Isomap(n_components=q),
        "PCA": PCA(q, random_state=draw),
        "LLE": LocallyLinearEmbedding(n_components=q, random_state=draw),
    }
    scores, times = {}, {}
    for who, method in methods.items():
        began = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            Z = method.fit(X[fit]).transform(X[fit])
            times[who] = time.process_time() - began
            new = method.transform(X[asked])
        scores[who] = _told(Z, new, truth, fit, asked)
    return scores, times


def _told(Z: Any, new: Any, truth: Any, fit: Any, asked: Any) -> Any:
    """Share of classes that are right, or R² of each factor."""
    if not isinstance(truth, dict):
        return float(KNeighborsClassifier(5).fit(Z, truth[fit]).score(new, truth[asked]))
    return [float(KNeighborsRegressor(8).fit(Z, t[fit]).score(new, t[asked])) for t in truth.values()]


def _predicted(A: Any, B: Any, draw: int) -> tuple[dict[str, float], Times]:
    fit, asked = _split(len(A), draw, PAIRED)
    d, least = A.shape[1], min(10, A.shape[1], B.shape[1])
    grid = {"kernelridge__alpha": [1e-3, 1e-2, 0.1, 1.0], "kernelridge__gamma": [0.01 / d, 0.1 / d, 1.0 / d]}
    methods = {
        "ours": CoordinatedCCA(random_state=draw),
        "kernel ridge": GridSearchCV(make_pipeline(StandardScaler(), KernelRidge(kernel="rbf")), grid, cv=3),
        "PLS": PLSRegression(least),
    }
    mean = B[fit].mean(axis=0)
    spread = float(((B[asked] - B[asked].mean(axis=0)) ** 2).sum())
    scores, times = {}, {}
    for who, method in methods.items():
        began = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = method.fit(A[fit], B[fit] - mean).predict(A[asked]) + mean
        times[who] = time.process_time() - began
        scores[who] = 1.0 - float(((B[asked] - found) ** 2).sum()) / spread
    return scores, times

"""Coordinated charts: maps beside Isomap, PCA and LLE; prediction from view to view beside kernel ridge and PLS.

Maps: up to 800 rows are fitted, up to 400 others are placed by ``transform``; the class of these by their five nearest
neighbours among the first on the map (share right), or their factors by eight (R²). Views: up to 500 rows, R² of the
second view of up to 400 others, over all its entries. All with their defaults (rivals as well: Isomap and LLE with five
neighbours), except that kernel ridge has its penalty and width chosen by three-fold cross-validation on standardised
columns, and PLS has ten components, at most. Ten draws of the rows. Times are multiples of the rival's, in one run.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
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

from benchmarks.family_row import Row
from benchmarks.family_sets import Missing, labelled_set, measured_set
from benchmarks.family_views import VIEWS, two_views
from benchmarks.made_pictures import ball_pictures, vowel_spectra
from sidelight import CoordinatedCCA, CoordinatedMixture

__all__ = ["CHOSEN_ON", "FAMILY", "rows"]

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
)
LABELLED = ("breast cancer", "image segments", "glass", "USPS", "COIL-20", "made vowels")
MEASURED = (("made balls", 2), ("made balls", 3), ("Yale B, 8 people", 3), ("silhouettes", 3))
DRAWS, FITTED, ASKED, PAIRED = 10, 800, 400, 500
Times = dict[str, float]


def rows(*, quick: bool) -> Iterator[Row]:
    """Rows of the table: classes and factors on maps, then prediction of views."""
    draws = range(200, 202 if quick else 200 + DRAWS)
    for name in LABELLED[-1:] if quick else LABELLED:
        yield from _map_rows(name, 2, draws, lambda name=name: _labelled(name), by_class=True)
    for name, q in MEASURED[1:2] if quick else MEASURED:
        yield from _map_rows(name, q, draws, lambda name=name: _measured(name), by_class=False)
    for name in list(VIEWS)[:1] if quick else VIEWS:
        try:
            A, B = two_views(name)
        except Missing as reason:
            yield Row(name, "second view", "R²", missing=str(reason))
            continue
        found = [_predicted(A, B, draw) for draw in draws]
        yield _row(name, "CoordinatedCCA.predict", "R²", [scores for scores, _ in found])
        yield _time_row(name, "CoordinatedCCA, fit and predict", "kernel ridge", [times for _, times in found])


def _map_rows(name: str, q: int, draws: Any, load: Callable[[], Any], *, by_class: bool) -> Iterator[Row]:
    task = f"CoordinatedMixture({q})"
    try:
        X, truth = load()
    except Missing as reason:
        yield Row(name, task, "class by neighbours" if by_class else "R² of factors", missing=str(reason))
        return
    found = [_mapped(X, truth, q, draw) for draw in draws]
    if by_class:
        yield _row(name, task, "class by neighbours", [scores for scores, _ in found])
    else:
        for number, factor in enumerate(truth):
            yield _row(name, task, f"R² of {factor}", [{who: s[number] for who, s in one.items()} for one, _ in found])
    yield _time_row(name, f"{task}, fit", "Isomap", [times for _, times in found])


def _labelled(name: str) -> tuple[Any, Any]:
    return vowel_spectra(300, seed=7, noise=0.45) if name == "made vowels" else labelled_set(name)


def _measured(name: str) -> tuple[Any, dict[str, Any]]:
    return ball_pictures(FITTED + ASKED, seed=7) if name == "made balls" else measured_set(name)


def _row(name: str, task: str, measure: str, scores: list[dict[str, float]]) -> Row:
    means = {who: float(np.mean([one[who] for one in scores])) for who in scores[0]}
    return Row(name, task, measure, means.pop("ours"), means, seeds=len(scores))


def _time_row(name: str, task: str, rival: str, times: list[Times]) -> Row:
    ratio = float(np.median([one["ours"] / one[rival] for one in times]))
    return Row(name, task, f"times {rival}", ratio, {rival: 1.0}, lower_is_better=True, seeds=len(times))


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
        began = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            Z = method.fit(X[fit]).transform(X[fit])
            times[who] = time.perf_counter() - began
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
        began = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = method.fit(A[fit], B[fit] - mean).predict(A[asked]) + mean
        times[who] = time.perf_counter() - began
        scores[who] = 1.0 - float(((B[asked] - found) ** 2).sum()) / spread
    return scores, times

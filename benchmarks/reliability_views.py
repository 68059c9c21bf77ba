"""Reliability of rows on real sets, judged by a measurement that neither the map nor the number has seen.

Classes and factors of real sets ask more than a map can know: pictures of the front and the back of a car look alike.
Here a map is made of one half of the measurements of each row, and its rows are judged by the other half:

    pixels            even and odd pixels, as the squares of a chessboard (digits, COIL-20, the turntable)
    multiple features two ways to measure the same digits (Fourier coefficients, Zernike moments)

A row is right by the definition of ``reliability_sets.right_rows``, with "truly near" by the other half: of its 15
neighbours on the map two thirds are among the nearest tenth there, and the map has two thirds of its 15 nearest rows
there near, both beyond chance. The number is that of the library, with its constants; nothing was chosen here. Beside
it the same maps judged by classes and factors, and noise, whose halves have nothing in common.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from benchmarks.harness import Report
from benchmarks.reliability import calibration_error, number, parts_of
from benchmarks.reliability_sets import HELD_OUT, MAPS, Case, Truth, right_rows
from sidelight.datasets import load_mfeat

TITLE = "reliability of rows of real sets, judged by the other half of the measurements"
RIVALS = ("openTSNE", "umap-learn")

Array = Any
Halves = tuple[Array, Array, Truth]
"""Two measurements of the same rows, and classes or factors."""
SURE = 0.8


def run(*, quick: bool) -> Report:
    """Measure every set under every map."""
    report, found = Report(), {}
    for name in list(SETS)[:1] if quick else SETS:
        for method in MAPS:
            found[name, method] = said_and_right(name, method)
            print(f"  {name}, {method}: right {found[name, method][1].mean():.2f}", flush=True)
    summarise(report, found)
    return report


def said_and_right(name: str, method: str) -> Array:
    """The number of each row of a map, whether it is right by the other half, and by classes or factors (3, n)."""
    X, other, known = SETS[name]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        Z = MAPS[method](X, known, 0)
    case = Case(name, method, X, Z, right_rows(Z, Truth(coordinates=other)))
    return np.array([number(parts_of(case)), case.right, right_rows(Z, known)], dtype=float)


def summarise(report: Report, found: Mapping[tuple[str, str], Array]) -> None:
    """Calibration of the sets of pixels together, set by set, and of noise; then every map."""
    for name in ("pixels", *dict.fromkeys(name for name, _ in found)):
        some = [rows for (one, _), rows in found.items() if name == one or (name == "pixels" and one in PIXELS)]
        if some:
            _together(report, name, *np.concatenate(some, axis=1))
    for (name, method), (said, right, by_class) in found.items():
        report.note(f"{name}, {method}: said, mean", float(said.mean()))
        more = {"rival": float(by_class.mean()), "rival_name": "classes"}
        report.note(f"{name}, {method}: right", float(right.mean()), **more)
    for name in dict.fromkeys(name for name, _ in found):
        X, other, _ = SETS[name]()
        report.note(f"{name}: right on a map that is the data", float(right_rows(X, Truth(coordinates=other)).mean()))


def _together(report: Report, name: str, said: Array, right: Array, by_class: Array) -> None:
    sure = said >= SURE
    report.note(f"{name}: rows called {SURE:g} or more", float(sure.mean()))
    report.note(f"{name}: said, mean", float(said.mean()))
    told = {"right, mean": (right.mean(), by_class.mean())}
    if name != NOISE:
        told["calibration error"] = (calibration_error(said, right), calibration_error(said, by_class))
        told[f"right among rows called {SURE:g} or more"] = (right[sure].mean(), by_class[sure].mean())
    for what, (ours, theirs) in told.items():
        report.note(f"{name}: {what}", float(ours), rival=float(theirs), rival_name="classes")


def _chessboard(name: str) -> Halves:
    X, known = HELD_OUT[name](0)
    side = round(np.sqrt(X.shape[1]))
    even = (np.add.outer(np.arange(side), np.arange(side)) % 2 == 0).ravel()
    return X[:, even], X[:, ~even], known


def _features() -> Halves:
    """1,000 digits of multiple features."""
    one, other = load_mfeat("fou"), load_mfeat("zer")
    rows = np.random.default_rng(0).permutation(len(one.X))[:1000]
    first, second = ((data.X[rows] - data.X[rows].mean(axis=0)) / data.X[rows].std(axis=0) for data in (one, other))
    return first, second, Truth(labels=np.asarray(one.factors["label"])[rows])


def _noise() -> Halves:
    rng = np.random.default_rng(0)
    return rng.normal(size=(700, 20)), rng.normal(size=(700, 20)), Truth()


NOISE = "noise"
PIXELS = ("digits", "COIL-20", "turntable")
SETS: Mapping[str, Callable[[], Halves]] = {
    "digits": lambda: _chessboard("digits, other half"),
    "COIL-20": lambda: _chessboard("COIL-20"),
    "turntable": lambda: _chessboard("turntable"),
    "multiple features": _features,
    NOISE: _noise,
}

"""Sets of rows for the benchmarks ``intervals`` and ``novelty``: those that choices were made on, and others."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine
from sklearn.decomposition import PCA

from benchmarks.made_pictures import vowel_spectra
from sidelight import datasets

__all__ = ["CHOOSING", "NOVEL", "NOVEL_CHOOSING", "REPORTED", "some_rows", "standardised"]

Labelled = tuple[Any, Any]
"""Rows (n, d), and which of them (n,) are of the kind that is left out of the fit."""


def some_rows(X: Any, most: int, seed: int = 0) -> Any:
    """At most so many rows, at random."""
    return X[np.random.default_rng(seed).permutation(len(X))[:most]]


def standardised(learned: Any, held: Any) -> tuple[Any, Any]:
    """Both in units of the columns of the first, without columns that do not vary there."""
    varies = learned.std(axis=0) > 1e-9 * max(float(np.abs(learned).max()), 1e-300)
    mean, unit = learned[:, varies].mean(axis=0), learned[:, varies].std(axis=0)
    return (learned[:, varies] - mean) / unit, (held[:, varies] - mean) / unit


def _penguins() -> Any:
    with (Path(__file__).parent / "table_files" / "penguins.csv").open() as file:
        table = list(csv.DictReader(file))
    names = ("bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g")
    whole = [row for row in table if all(row[name].replace(".", "").isdigit() for name in names)]
    return np.array([[float(row[name]) for name in names] for row in whole])


def _pictures(X: Any, components: int = 30) -> Any:
    return PCA(components, random_state=0).fit_transform(np.asarray(X, dtype=np.float64).reshape(len(X), -1))


CHOOSING: Mapping[str, Callable[[], Any]] = {
    "wine": lambda: load_wine().data,
    "breast cancer": lambda: load_breast_cancer().data,
    "oil flow": lambda: datasets.load_oil_flow().X[:1000],
    "noisy S": lambda: datasets.noisy_s(600, random_state=1).X,
}
REPORTED: Mapping[str, Callable[[], Any]] = {
    "iris": lambda: load_iris().data,
    "penguins": _penguins,
    "diabetes": lambda: load_diabetes().data,
    "made vowels": lambda: vowel_spectra(100, seed=11, noise=0.45)[0],
    "digits": lambda: load_digits().data,
    "robot, signal strengths": lambda: datasets.load_robot_wifi().X,
    "silhouettes": lambda: _pictures(datasets.load_pose_silhouette().X),
    "multiple features, Zernike": lambda: datasets.load_mfeat("zer").X,
    "cell lines": lambda: datasets.load_harmony_cell_lines().X,
    "swiss roll": lambda: some_rows(datasets.load_swiss_roll().X, 5000),
}


def _left_out_class(X: Any, label: Any, kind: Any) -> Labelled:
    return np.asarray(X, dtype=np.float64), np.asarray(label) == kind


def _digits(kind: int) -> Labelled:
    return _left_out_class(*load_digits(return_X_y=True), kind)


def _cancer() -> Labelled:
    X, y = load_breast_cancer(return_X_y=True)
    return _left_out_class(X, y, 0)  # malignant


def _vowels(seed: int, kind: int) -> Labelled:
    X, y = vowel_spectra(60, seed=seed, noise=1.5)
    return _left_out_class(X, np.unique(y, return_inverse=True)[1], kind)


def _oil(kind: int) -> Labelled:
    found = datasets.load_oil_flow()
    label = np.unique(found.factors["label"], return_inverse=True)[1]
    return _left_out_class(found.X, label, kind)


def _mfeat(kind: int) -> Labelled:
    found = datasets.load_mfeat("zer")
    return _left_out_class(found.X, found.factors["label"], kind)


def _cells() -> Labelled:
    found = datasets.load_harmony_cell_lines()
    label = np.asarray(found.factors["cell_type"])
    return _left_out_class(found.X, label, np.unique(label)[0])


def _usps(kind: int) -> Labelled:
    found = datasets.load_usps()
    rows = np.random.default_rng(0).permutation(len(found.X))[:2500]
    return _left_out_class(_pictures(found.X[rows], 50), np.asarray(found.factors["label"])[rows], kind)


NOVEL_CHOOSING: Mapping[str, Callable[[], Labelled]] = {
    "breast cancer, malignant": _cancer,
    "digits, without 3": lambda: _digits(3),
    "digits, without 8": lambda: _digits(8),
    "wine, without the second": lambda: _left_out_class(*load_wine(return_X_y=True), 1),
    "oil flow, without the first": lambda: _oil(0),
}
NOVEL: Mapping[str, Callable[[], Labelled]] = {
    "digits, without 1": lambda: _digits(1),
    "digits, without 4": lambda: _digits(4),
    "digits, without 9": lambda: _digits(9),
    "iris, without versicolor": lambda: _left_out_class(*load_iris(return_X_y=True), 1),
    "wine, without the third": lambda: _left_out_class(*load_wine(return_X_y=True), 2),
    "oil flow, without the third": lambda: _oil(2),
    "made vowels, without one": lambda: _vowels(5, 2),
    "multiple features (Zernike), without 5": lambda: _mfeat(5),
    "USPS, without 2": lambda: _usps(2),
    "cell lines, without one": _cells,
}

"""Densities of rows: mean log-density of held-out rows, by defaults, beside densities that cross-validation chose.

A third of the rows is held out, ten draws; columns are standardised by the training rows (constant ones left out), so
that the unit is nats of standardised data. ``KernelInformationEmbedding().fit(X).score_samples`` beside scikit-learn's
KernelDensity (20 bandwidths from 0.05 to 3) and GaussianMixture (1, 2, 3, 5, 8 or 12 components with full, tied or
diagonal covariances), both by five-fold GridSearchCV on the training rows.
"""

from __future__ import annotations

import csv
import warnings
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KernelDensity

from benchmarks.family_row import Cell, Task
from benchmarks.family_sets import Missing, labelled_set
from sidelight import KernelInformationEmbedding, datasets

__all__ = ["CHOSEN_ON", "FAMILY", "tasks"]

FAMILY = "densities"
CHOSEN_ON = ("breast cancer", "digits", "wine", "oil flow, draw 0 of each")
FIRST, DRAWS = 10, 10


def tasks(*, quick: bool) -> list[Task]:
    """One task for each set."""
    names = list(SETS)[:1] if quick else SETS
    return [Task(name, name, partial(_cells, name), FIRST, DRAWS) for name in names]


def _cells(name: str, draw: int) -> Iterator[Cell]:
    task = "KernelInformationEmbedding, held-out third"
    yield Cell(task, "log-density", _measured(_rows(name), draw), tie=0.05)


@cache
def _rows(name: str) -> Any:
    try:
        return np.asarray(SETS[name](), dtype=np.float64)
    except OSError as reason:
        raise Missing(str(reason)) from reason


def _measured(X: Any, draw: int) -> dict[str, float]:
    order = np.random.default_rng(draw).permutation(len(X))
    held, learned = X[order[: len(X) // 3]], X[order[len(X) // 3 :]]
    varies = learned.std(axis=0) > 0
    mean, unit = learned[:, varies].mean(axis=0), learned[:, varies].std(axis=0)
    held, learned = (held[:, varies] - mean) / unit, (learned[:, varies] - mean) / unit
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # mixtures that do not converge are not chosen
        kernel = GridSearchCV(KernelDensity(), {"bandwidth": np.geomspace(0.05, 3, 20)}, cv=5).fit(learned)
        grid = {"n_components": [1, 2, 3, 5, 8, 12], "covariance_type": ["full", "tied", "diag"]}
        mixture = GridSearchCV(GaussianMixture(random_state=0), grid, cv=5).fit(learned)
    model = KernelInformationEmbedding(n_jobs=1).fit(learned)
    return {
        "ours": float(model.score_samples(held).mean()),
        "KernelDensity": float(kernel.best_estimator_.score_samples(held).mean()),
        "GaussianMixture": float(mixture.best_estimator_.score_samples(held).mean()),
    }


def _penguins() -> Any:
    with (Path(__file__).parent / "table_files" / "penguins.csv").open() as file:
        table = list(csv.DictReader(file))
    names = ("bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g")
    whole = [row for row in table if all(row[name].replace(".", "").isdigit() for name in names)]
    return [[float(row[name]) for name in names] for row in whole]


SETS: dict[str, Callable[[], Any]] = {
    "iris": lambda: load_iris().data,
    "penguins": _penguins,
    "image segments": lambda: labelled_set("image segments", 900)[0],
    "glass": lambda: labelled_set("glass")[0],
    "Yale B, 8 people, 50 components": lambda: labelled_set("Yale B, 8 people", 600)[0],
    "swiss roll, 500 rows": lambda: datasets.swiss_roll(500, noise=0.3, random_state=5).X,
    "wine (chosen on, other draws)": lambda: load_wine().data,
    "oil flow (chosen on, other draws)": lambda: datasets.load_oil_flow().X,
    "breast cancer (chosen on, other draws)": lambda: load_breast_cancer().data,
    "digits (chosen on, other draws)": lambda: load_digits().data,
}

"""Relations on some rows: labels of a tenth of them, values of a twentieth, judged on the others, ten draws.

Labels  accuracy on rows without labels: of the nearest labelled row on our 2-D map; in the data (1-NN); of logistic
        regression.
Values  |Spearman| on rows without values of the axis of the relation (one axis more than there are values), and of
        kernel ridge regression (Gaussian; ridge and width by cross-validation).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import spearmanr
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier

from benchmarks.family_row import Cell, Task
from benchmarks.family_sets import labelled_set, measured_set
from sidelight import MultipleRelationalEmbedding, Relation

__all__ = ["CHOSEN_ON", "FAMILY", "tasks"]

FAMILY = "relations"
CHOSEN_ON = (
    "iris",
    "wine",
    "digits",
    "crabs",
    "Pima",
    "oil flow",
    "mfeat (Zernike)",
    "Olivetti",
    "Isomap faces",
    "diabetes",
)
LABELLED = ("breast cancer", "image segments", "glass", "USPS")
MEASURED = ("Boston", "Yale B, 8 people", "silhouettes")
LABEL_SHARE, VALUE_SHARE, FIRST, DRAWS, MOST = 0.1, 0.05, 200, 10, 400


def tasks(*, quick: bool) -> list[Task]:
    """Labels, then values."""
    labels = [
        Task(f"labels, {name}", name, partial(_label_cells, name), FIRST, DRAWS)
        for name in (LABELLED[:1] if quick else LABELLED)
    ]
    values = [Task(f"values, {name}", name, partial(_value_cells, name), FIRST, DRAWS) for name in MEASURED]
    return labels if quick else labels + values


def _label_cells(name: str, draw: int) -> Iterator[Cell]:
    yield Cell("class relation, 10 % labelled", "accuracy", _labels(*labelled_set(name, MOST), draw))


def _value_cells(name: str, draw: int) -> Iterator[Cell]:
    ours, rival = _values(*measured_set(name, MOST), draw)
    for one in ours:
        yield Cell(f"{one}, 5 % labelled", "|Spearman|", {"ours": ours[one], "kernel ridge": rival[one]})


def _labels(X: Any, y: Any, draw: int) -> dict[str, float]:
    rng = np.random.default_rng(draw)
    known = np.sort(rng.choice(len(X), round(LABEL_SHARE * len(X)), replace=False))
    rest = np.setdiff1d(np.arange(len(X)), known)
    relation = Relation.from_labels(y[known], known, n_samples=len(X))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        Z = MultipleRelationalEmbedding(n_jobs=1).fit_transform(X, relations={"class": relation})
        linear = LogisticRegression(max_iter=2000).fit(X[known], y[known]).score(X[rest], y[rest])

    def nearest(points: Any) -> float:
        return float(KNeighborsClassifier(1).fit(points[known], y[known]).score(points[rest], y[rest]))

    return {"ours": nearest(Z), "1-NN": nearest(X), "logistic regression": float(linear)}


def _values(X: Any, values: dict[str, Any], draw: int) -> tuple[dict[str, float], dict[str, float]]:
    known = np.sort(np.random.default_rng(draw).choice(len(X), round(VALUE_SHARE * len(X)), replace=False))
    rest = np.setdiff1d(np.arange(len(X)), known)
    relations = {name: Relation.from_values(v[known], known, n_samples=len(X)) for name, v in values.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MultipleRelationalEmbedding(len(values) + 1, n_jobs=1).fit(X, relations=relations)
    unit = X / np.sqrt(2.0 * X.var(axis=0).sum())
    grid = {"alpha": 10.0 ** np.arange(-6, 1), "gamma": [0.03, 0.1, 0.3, 1.0, 3.0, 10.0]}
    ours, rival = {}, {}
    for name, v in values.items():
        axis = int(model.relation_shares_[model.relation_names_.index(name)].argmax())
        ours[name] = abs(float(spearmanr(model.embedding_[rest, axis], v[rest])[0]))
        search = GridSearchCV(KernelRidge(kernel="rbf"), grid, cv=5, scoring="neg_mean_squared_error")
        search.fit(unit[known], v[known] - v[known].mean())
        rival[name] = abs(float(spearmanr(search.predict(unit[rest]), v[rest])[0]))
    return ours, rival

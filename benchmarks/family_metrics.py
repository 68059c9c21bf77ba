"""Metrics from hints: error of 3-NN on held-out rows, under metrics from pairs, 0/1 distances and labels.

Half of the rows teach, half are asked, ten draws. Pairs are drawn at random among the teaching rows; 3-NN of the asked
rows among the teaching ones, all of whose labels it knows. ITML and MMC are metric-learn's, if it can be imported
(``pip install --no-deps --target DIR metric-learn==0.7.0``, DIR on PYTHONPATH; it calls scikit-learn with an argument
of an old name, which is renamed here); MMC in its diagonal form: the full
one takes minutes for a fit of 20 columns. Labels are those of some
teaching rows, the same for shrunken LDA. "no metric" is the Euclidean distance.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier

from benchmarks.family_row import Cell, Task
from benchmarks.family_sets import labelled_set
from sidelight import DistanceMetric, EquivalenceMetric

__all__ = ["CHOSEN_ON", "FAMILY", "tasks"]

FAMILY = "metrics"
CHOSEN_ON = ("iris", "wine", "crabs", "Pima", "oil flow", "Olivetti", "mfeat (Zernike)", "digits", "UMIST")
SETS = ("breast cancer", "image segments", "glass", "Yale B, 8 people")
SIZES, LABELS, FIRST, DRAWS, MOST = (20, 60, 200), (30, 100), 200, 10, 600
Map = Callable[[Any], Any]


def tasks(*, quick: bool) -> list[Task]:
    """Pairs, 0/1 distances and labels of each set."""
    found: list[tuple[str, str, Callable[..., dict[str, float]], int]] = []
    for name in SETS[:1] if quick else SETS:
        for m in SIZES[:1] if quick else SIZES:
            found.append((f"EquivalenceMetric, {m} pairs", name, _pairs, m))
            found.append((f"DistanceMetric, {m} distances of 0 and 1", name, _distances, m))
        found.extend((f"EquivalenceMetric, {m} labels", name, _labels, m) for m in (LABELS[:1] if quick else LABELS))
    return [
        Task(f"{task}, {name}", name, partial(_cells, task, name, errors, m), FIRST, DRAWS)
        for task, name, errors, m in found
    ]


def _cells(task: str, name: str, errors: Callable[..., dict[str, float]], m: int, draw: int) -> Iterator[Cell]:
    yield Cell(task, "3-NN error", errors(*labelled_set(name, MOST), m, draw), lower_is_better=True)


class _Halves:
    """Teaching and asked rows of one draw."""

    def __init__(self, X: Any, y: Any, draw: int) -> None:
        self.rng = np.random.default_rng(draw)
        order = self.rng.permutation(len(X))
        first, second = order[: len(X) // 2], order[len(X) // 2 :]
        self.X, self.y, self.new, self.truth = X[first], y[first], X[second], y[second]

    def pairs(self, m: int) -> tuple[Any, Any]:
        first, second = np.triu_indices(len(self.X), 1)
        chosen = self.rng.choice(len(first), m, replace=False)
        index = np.column_stack([first[chosen], second[chosen]])
        return index, self.y[index[:, 0]] == self.y[index[:, 1]]

    def error(self, mapped: Map) -> float:
        model = KNeighborsClassifier(3).fit(mapped(self.X), self.y)
        return 1.0 - float(model.score(mapped(self.new), self.truth))


def _pairs(X: Any, y: Any, m: int, draw: int) -> dict[str, float]:
    task = _Halves(X, y, draw)
    index, equal = task.pairs(m)
    ours = EquivalenceMetric().fit(task.X, same=index[equal], different=index[~equal])
    found = {"ours": task.error(ours.transform), "no metric": task.error(np.asarray)}
    for name, model in _metric_learn().items():
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                C = model(preprocessor=task.X).fit(index, np.where(equal, 1, -1)).components_
            found[name] = task.error(lambda Z, C=C: Z @ C.T)
        except ValueError:  # no pair of one kind, or no convergence: a user would be left without a metric
            found[name] = found["no metric"]
    return found


def _distances(X: Any, y: Any, m: int, draw: int) -> dict[str, float]:
    task = _Halves(X, y, draw)
    index, equal = task.pairs(m)
    told = {"pairs": index, "distances": np.where(equal, 0.0, 1.0)}
    return {"ours": task.error(DistanceMetric().fit(task.X, **told).transform), "no metric": task.error(np.asarray)}


def _labels(X: Any, y: Any, m: int, draw: int) -> dict[str, float]:
    task = _Halves(X, y, draw)
    known = task.rng.choice(len(task.X), min(m, len(task.X)), replace=False)
    labels = np.full(len(task.X), np.nan)
    labels[known] = task.y[known]
    rival = LinearDiscriminantAnalysis(solver="eigen", shrinkage="auto").fit(task.X[known], task.y[known])
    return {
        "ours": task.error(EquivalenceMetric().fit(task.X, labels).transform),
        "no metric": task.error(np.asarray),
        "shrunken LDA": task.error(rival.transform),
    }


def _metric_learn() -> dict[str, Any]:
    """ITML and MMC, if metric-learn is there."""
    try:
        _rename_arguments()
        from metric_learn import ITML, MMC
    except ImportError:
        return {}
    return {"ITML": ITML, "MMC, diagonal": partial(MMC, diagonal=True)}


def _rename_arguments() -> None:
    """Let scikit-learn's checks take ``force_all_finite``, as they did before 1.8."""
    import sklearn.utils
    import sklearn.utils.validation as validation

    for name in ("check_array", "check_X_y"):
        checked = getattr(validation, name)
        if getattr(checked, "renames", False):
            continue

        def renamed(*args: Any, _checked: Any = checked, **options: Any) -> Any:
            if "force_all_finite" in options:
                options["ensure_all_finite"] = options.pop("force_all_finite")
            return _checked(*args, **options)

        renamed.renames = True  # type: ignore[attr-defined]
        setattr(sklearn.utils, name, renamed)
        setattr(validation, name, renamed)

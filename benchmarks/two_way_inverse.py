"""UMAP's own embedding, mapped both ways by UMAP and by ``TwoWayEmbedding``.

A tenth of the rows is held out. UMAP places them with its ``transform``; both inverses start from those places, and
"in sample" from those of 60 training rows. The error is relative to the spread, |X̂ - X| / |X - mean|: 1 is no better
than the mean. Everything is called once before it is timed, so that UMAP's compilation does not count.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from benchmarks.harness import Check, Report, race
from sidelight import TwoWayEmbedding
from sidelight.datasets import s_curve

TITLE = "two ways through UMAP's own embedding: ours against UMAP's inverse_transform and transform"
RIVALS = ("umap-learn",)


def run(*, quick: bool) -> Report:
    report = Report()
    for name, X in _sets(quick).items():
        train, test = train_test_split(X, test_size=0.1, random_state=0)
        rival = _umap().fit(train)
        ours = TwoWayEmbedding(n_jobs=2).fit(train, embedding=rival.embedding_)
        places = np.asarray(rival.transform(test))
        _compare_errors(report, name, ours, rival, train, test, places)
        contenders = {"ours": lambda m=ours, Z=places: m.inverse_transform(Z), "umap": _inverse(rival, places)}
        times = race(contenders, repeats=1 if quick else 3, warm_up=False)
        label = f"{name}: inverse of {len(places)} points"
        report.faster(label, times["ours"], times["umap"], "UMAP", at_least=100)
        _compare_transform(report, name, ours, rival, test, repeats=2 if quick else 5)
    return report


def _sets(quick: bool) -> dict[str, Any]:
    sets = {
        "S-curve": s_curve(400 if quick else 1000, random_state=0).X,
        "breast cancer": StandardScaler().fit_transform(load_breast_cancer().data),
    }
    return sets if quick else {"digits": load_digits().data, **sets}


def _umap() -> Any:
    from umap import UMAP

    return UMAP(random_state=0, n_jobs=1)


def _inverse(umap: Any, Z: Any) -> Any:
    """The call of UMAP's inverse, without its warnings about points outside the hull of the embedding."""

    def call() -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return umap.inverse_transform(Z)

    return call


def _compare_errors(report: Report, name: str, ours: Any, rival: Any, train: Any, test: Any, places: Any) -> None:
    for where, truth, Z in (("held out", test, places), ("in sample", train[:60], rival.embedding_[:60])):
        found = (ours.inverse_transform(Z), _inverse(rival, Z)())
        error, rivals = (_error(rows, truth, train) for rows in found)
        what = f"{name}: inverse error, {where}"
        report.checks.append(Check(what, error, "", rivals, "UMAP", rivals / error, "lower", error < rivals))


def _compare_transform(report: Report, name: str, ours: Any, rival: Any, test: Any, *, repeats: int) -> None:
    times = race({"ours": lambda: ours.transform(test), "umap": lambda: rival.transform(test)}, repeats=repeats)
    report.faster(f"{name}: transform of {len(test)} rows", times["ours"], times["umap"], "UMAP", at_least=10)
    places = rival.transform(test)
    apart = _error(ours.transform(test), places, rival.embedding_)
    report.note(f"{name}: our places of held-out rows less UMAP's, relative to the spread", apart)


def _error(found: Any, truth: Any, train: Any) -> float:
    return float(np.linalg.norm(found - truth) / np.linalg.norm(truth - train.mean(axis=0)))

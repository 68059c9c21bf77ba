"""Held-out rows to the map and back: the share of their variance that survives, and the map's trustworthiness.

A fifth of the rows is held out, three draws (the S-curves are drawn anew). The share that survives is
1 - |Y - X|² / |X - mean|² of held-out rows X, with Y = ``inverse_transform(transform(X))``; trustworthiness is that of
the fitted rows, 10 neighbours. Then, for one split of each set (rows before and after, or another draw), what the
methods say themselves: ``score``, relative to the mean of the held-out rows, and ``evaluate.trustworthiness``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.manifold import trustworthiness

from benchmarks.harness import Report
from sidelight import KernelInformationEmbedding, SmootherEmbedding, UnsupervisedKernelRegression, datasets, evaluate

TITLE = "held-out rows there and back: kernel information embedding, kernel regression, smoother"
RIVALS: tuple[str, ...] = ()
METHODS: dict[str, Callable[[], Any]] = {
    "KIE": lambda: KernelInformationEmbedding(n_jobs=1),
    "UKR": lambda: UnsupervisedKernelRegression(n_jobs=1),
    "UKR, λ = 0.01": lambda: UnsupervisedKernelRegression(regularization=0.01, n_jobs=1),
    "smoother": lambda: SmootherEmbedding(n_jobs=1),
}


def run(*, quick: bool) -> Report:
    """Shares and trustworthiness of each method on each set, means over draws."""
    report = Report()
    for name, load in list(_SETS.items())[: 1 if quick else None]:
        for who, make in METHODS.items():
            found = np.mean([_measured(load(draw), make(), draw) for draw in range(1 if quick else 3)], axis=0)
            report.note(f"{name}: {who}: share of held-out variance that survives", found[0])
            report.note(f"{name}: {who}: trustworthiness", found[1])
            print(f"  {name}: {who}: {found[0]:.3f}, {found[1]:.3f}", flush=True)
    for name, load in {} if quick else _SPLITS.items():
        q, seen, held = load()
        weights = {f"UKR, λ = {weight}": {"regularization": weight} for weight in (0.01, 0.001, 0.0001)}
        models = {
            "KIE": KernelInformationEmbedding(q, n_jobs=1),
            "smoother": SmootherEmbedding(q, n_jobs=1),
            **{who: UnsupervisedKernelRegression(q, n_jobs=1, **how) for who, how in {"UKR": {}, **weights}.items()},
        }
        for who, model in models.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model.fit(seen)
            report.note(f"one split, {name}: {who}: score", model.score(held))
            report.note(f"one split, {name}: {who}: trustworthiness", evaluate.trustworthiness(seen, model.embedding_))
    return report


def _measured(X: Any, model: Any, draw: int) -> tuple[float, float]:
    order = np.random.default_rng(draw).permutation(len(X))
    held, seen = X[order[: len(X) // 5]], X[order[len(X) // 5 :]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        Z = model.fit(seen).embedding_
        back = model.inverse_transform(model.transform(held))
    share = 1.0 - float(((back - held) ** 2).sum() / ((held - seen.mean(axis=0)) ** 2).sum())
    return share, float(trustworthiness(seen, Z, n_neighbors=10))


def _some(X: Any, n: int, draw: int) -> Any:
    return X[np.random.default_rng(100 + draw).permutation(len(X))[:n]]


_SETS: dict[str, Callable[[int], Any]] = {
    "S-curve, 625 rows": lambda draw: datasets.s_curve(625, noise=0.1, random_state=draw).X,
    "oil flow, 625 rows": lambda draw: _some(datasets.load_oil_flow().X, 625, draw),
    "digits, 1,100 rows": lambda draw: _some(load_digits().data, 1100, draw),
}
_SPLITS: dict[str, Callable[[], tuple[int, Any, Any]]] = {
    "noisy S, 300 rows, 1-D": lambda: (1, *(datasets.noisy_s(300, random_state=seed).X for seed in (0, 9))),
    "S-curve, 500 rows, 2-D": lambda: (2, *(datasets.s_curve(500, random_state=seed).X for seed in (0, 9))),
    "oil flow, 500 rows, 2-D": lambda: (2, *np.split(datasets.load_oil_flow().X, [500])),
    "digits, 900 rows, 2-D": lambda: (2, *np.split(datasets.load_digits().X, [900])),
}
"""Dimensions, fitted and held-out rows; the held-out digits are by other writers."""

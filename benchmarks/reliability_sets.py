"""Maps of which it is known which rows are right: sheets, mixtures, noise, real sets with factors, and damaged maps.

A row is *right* if what the map shows around it is true, both ways, by at least two thirds of what chance leaves:

    precision   share of its 15 map neighbours that are truly near
    recall      share of the rows truly near it that the map has near
    right       (min(precision, recall) - chance) / (1 - chance) >= 2/3

Truly near: of its component (mixtures, labels), with chance the component's share of all rows; or among the nearest
tenth in the true coordinates of the sheet, with chance 0.1. For recall, near on the map is among as many map neighbours
as the component has rows, or among the nearest fifth. Rows of noise have no truth that the map could show (one
component, chance 1): none is right.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from sidelight import KernelInformationEmbedding
from sidelight.datasets import load_coil20, load_digits, s_curve, swiss_roll, turntable

__all__ = ["CALIBRATED", "HELD_OUT", "Case", "cases", "right_rows"]

Array = Any
NEIGHBOURS = 15
NEAR = 0.10
MOST = 2 / 3


@dataclass(frozen=True)
class Truth:
    """``labels`` (n,) of components, or true ``coordinates`` (n, t); neither: noise."""

    labels: Array | None = None
    coordinates: Array | None = None


@dataclass(frozen=True)
class Case:
    """Rows X (n, d), a map Z (n, q) of them, and which rows are right (n,)."""

    name: str
    method: str
    X: Array
    Z: Array
    right: Array


def right_rows(Z: Array, truth: Truth) -> Array:
    """Which rows (n,) of a map Z (n, q) are right."""
    n = len(Z)
    if truth.labels is None and truth.coordinates is None:
        return np.zeros(n, dtype=bool)
    D = cdist(Z, Z)
    np.fill_diagonal(D, np.inf)
    order = np.argsort(D, axis=1)
    near = order[:, :NEIGHBOURS]
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.arange(n)[None, :], axis=1)
    if truth.labels is not None:
        same = truth.labels[:, None] == truth.labels[None, :]
        np.fill_diagonal(same, False)
        mates = same.sum(axis=1)
        chance = mates / (n - 1)
        precision = np.take_along_axis(same, near, axis=1).mean(axis=1)
        recall = (same & (rank < mates[:, None])).sum(axis=1) / np.maximum(mates, 1)
    else:
        T = cdist(truth.coordinates, truth.coordinates)
        np.fill_diagonal(T, np.inf)
        true_order = np.argsort(T, axis=1)
        true_rank = np.empty_like(true_order)
        np.put_along_axis(true_rank, true_order, np.arange(n)[None, :], axis=1)
        wide = max(round(NEAR * n), NEIGHBOURS)
        chance = np.full(n, wide / n)
        precision = (np.take_along_axis(true_rank, near, axis=1) < wide).mean(axis=1)
        recall = (np.take_along_axis(rank, true_order[:, :NEIGHBOURS], axis=1) < 2 * wide).mean(axis=1)
    lift = (np.minimum(precision, recall) - chance) / np.maximum(1.0 - chance, 1e-12)
    return np.asarray((lift >= MOST) & (chance < 1.0))


# Rows -----------------------------------------------------------------------------------------------------------------


def _sheet_in(d: int, noise: float, n: int, seed: int) -> tuple[Array, Truth]:
    """A curved sheet in d columns: smooth random functions of two coordinates, with noise."""
    rng = np.random.default_rng(seed)
    T = rng.uniform(-1, 1, size=(n, 2))
    W, b = rng.normal(size=(2, 6)), rng.uniform(0, 2 * np.pi, size=6)
    X = np.column_stack([1.5 * T, 0.5 * np.sin(2.0 * T @ W + b)]) @ rng.normal(size=(8, d)) / np.sqrt(8)
    return X + noise * rng.normal(size=X.shape), Truth(coordinates=T)


def _of_dataset(data: Any, *names: str) -> tuple[Array, Truth]:
    return np.asarray(data.X, dtype=float), Truth(coordinates=np.column_stack([data.factors[n] for n in names]))


def _mixture(sizes: list[int], d: int, apart: float, seed: int, *, heavy: bool = False) -> tuple[Array, Truth]:
    """Components around means that are about ``apart`` standard deviations of a column from each other."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(len(sizes)), sizes)
    means = rng.normal(size=(len(sizes), d)) * apart / np.sqrt(2 * d)
    X = rng.normal(size=(len(labels), d))
    if heavy:
        X *= np.sqrt(4.0 / rng.chisquare(4, size=(len(X), 1)))
    return X + means[labels], Truth(labels=labels)


def _noise(d: int, n: int, seed: int, kind: str = "gaussian") -> tuple[Array, Truth]:
    rng = np.random.default_rng(seed)
    return (rng.normal(size=(n, d)) if kind == "gaussian" else rng.uniform(size=(n, d))), Truth()


def _permuted(X: Array, seed: int) -> tuple[Array, Truth]:
    """Every column permuted by itself, as scDEED's null: what the columns have in common is gone."""
    rng = np.random.default_rng(seed)
    return np.column_stack([rng.permutation(column) for column in X.T]), Truth()


def _digits(n: int, seed: int, first: bool) -> tuple[Array, Truth]:
    data = load_digits()
    rows = np.random.default_rng(0).permutation(len(data.X))
    rows = rows[:n] if first else rows[-n:]
    del seed
    return np.asarray(data.X[rows], dtype=float), Truth(labels=np.asarray(data.factors["label"])[rows])


def _turned(data: Any, kind: Array) -> tuple[Array, Truth]:
    """Pictures of turning objects: near in truth are views of one object from near angles."""
    angle = np.deg2rad(np.asarray(data.factors["angle"], dtype=float))
    T = np.column_stack([np.cos(angle), np.sin(angle), 10.0 * np.unique(kind, return_inverse=True)[1]])
    return np.asarray(data.X, dtype=float), Truth(coordinates=T)


def _coil(seed: int) -> tuple[Array, Truth]:
    del seed
    data = load_coil20()
    return _turned(data, data.factors["object_index"])


def _turntable(seed: int) -> tuple[Array, Truth]:
    data = turntable(random_state=seed)
    return _turned(data, data.factors["object"])


CALIBRATED: dict[str, Callable[[int], tuple[Array, Truth]]] = {
    "s-curve": lambda s: _of_dataset(s_curve(500, noise=0.05, random_state=s), "arc", "height"),
    "swiss roll, noise": lambda s: _of_dataset(swiss_roll(600, noise=0.6, random_state=s), "arc", "height"),
    "sheet in 20, noise 0.1": lambda s: _sheet_in(20, 0.1, 500, s),
    "sheet in 20, noise 0.5": lambda s: _sheet_in(20, 0.5, 500, s),
    "10 components in 20, 6 apart": lambda s: _mixture([60] * 10, 20, 6.0, s),
    "5 components in 50, 7 apart": lambda s: _mixture([100] * 5, 50, 7.0, s),
    "2 components in 10, 5 apart": lambda s: _mixture([250] * 2, 10, 5.0, s),
    "uneven components in 30, 5 apart": lambda s: _mixture([200, 120, 80, 50, 30], 30, 5.0, s),
    "noise in 10": lambda s: _noise(10, 500, s),
    "noise in 30": lambda s: _noise(30, 500, s),
    "noise in 100": lambda s: _noise(100, 600, s),
    "digits, first half": lambda s: _digits(700, s, True),
}
"""Sets that the rule was calibrated on."""

HELD_OUT: dict[str, Callable[[int], tuple[Array, Truth]]] = {
    "swiss roll": lambda s: _of_dataset(swiss_roll(800, noise=0.2, random_state=s), "arc", "height"),
    "s-curve, noise 0.2": lambda s: _of_dataset(s_curve(700, noise=0.2, random_state=s), "arc", "height"),
    "sheet in 50, noise 0.2": lambda s: _sheet_in(50, 0.2, 700, s),
    "7 components in 40, 6 apart": lambda s: _mixture([100] * 7, 40, 6.0, s),
    "15 heavy components in 30, 8 apart": lambda s: _mixture([50] * 15, 30, 8.0, s, heavy=True),
    "3 uneven components in 15, 5 apart": lambda s: _mixture([400, 150, 50], 15, 5.0, s),
    "6 components in 25, 4 apart": lambda s: _mixture([120] * 6, 25, 4.0, s),
    "noise in 15": lambda s: _noise(15, 800, s),
    "noise in 50": lambda s: _noise(50, 600, s),
    "uniform noise in 20": lambda s: _noise(20, 700, s, "uniform"),
    "digits, permuted": lambda s: _permuted(_digits(600, s, False)[0], s),
    "digits, other half": lambda s: _digits(900, s, False),
    "COIL-20": _coil,
    "turntable": _turntable,
}
"""Sets that it was not: calibration and curves are reported on these."""


# Maps -----------------------------------------------------------------------------------------------------------------


def _kie(X: Array, truth: Truth, seed: int) -> Array:
    return KernelInformationEmbedding(random_state=seed).fit(X).embedding_


def _tsne(X: Array, truth: Truth, seed: int) -> Array:
    from openTSNE import TSNE

    return np.asarray(TSNE(random_state=seed, n_jobs=1, negative_gradient_method="bh").fit(X))


def _umap(X: Array, truth: Truth, seed: int) -> Array:
    from umap import UMAP

    return np.asarray(UMAP(random_state=seed, n_jobs=1).fit_transform(X), dtype=float)


def _pca(X: Array, truth: Truth, seed: int) -> Array:
    U, S, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    return np.asarray(U[:, :2] * S[:2])


def _torn(X: Array, truth: Truth, seed: int) -> Array:
    """The true sheet, cut along a line into two pieces that are moved apart, one of them turned."""
    assert truth.coordinates is not None
    T = np.array(truth.coordinates[:, :2], dtype=float)
    T = (T - T.mean(axis=0)) / T.std(axis=0).max()
    rng = np.random.default_rng(seed)
    cut = T[:, 0] > np.quantile(T[:, 0], rng.uniform(0.3, 0.7))
    angle = rng.uniform(0.5, 3.0)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    T[cut] = (T[cut] - T[cut].mean(axis=0)) @ turn + [8.0, 0.0]
    return T + 0.02 * rng.normal(size=T.shape)


def _folded(X: Array, truth: Truth, seed: int) -> Array:
    """The true sheet with a part of it folded over the rest."""
    assert truth.coordinates is not None
    T = np.array(truth.coordinates[:, :2], dtype=float)
    T = (T - T.mean(axis=0)) / T.std(axis=0).max()
    rng = np.random.default_rng(seed)
    at = np.quantile(T[:, 0], rng.uniform(0.6, 0.8))
    T[:, 0] = at - np.abs(T[:, 0] - at)
    return T + 0.02 * rng.normal(size=T.shape)


def _misplaced(X: Array, truth: Truth, seed: int) -> Array:
    """t-SNE with the places of every fourth row exchanged at random."""
    Z, rng = _tsne(X, truth, seed), np.random.default_rng(seed)
    some = rng.choice(len(Z), size=len(Z) // 4, replace=False)
    Z[some] = Z[rng.permutation(some)]
    return Z


MAPS: dict[str, Callable[[Array, Truth, int], Array]] = {
    "KIE": _kie,
    "t-SNE": _tsne,
    "UMAP": _umap,
    "PCA": _pca,
    "t-SNE, misplaced": _misplaced,
}
MAPS_OF_SHEETS = {"torn": _torn, "folded": _folded}


def cases(sets: dict[str, Any], seeds: list[int], methods: list[str] | None = None) -> Iterator[Case]:
    """Every set under every map, with the rows that are right.

    Maps made of the truth are left out where noise is as large as the sheet: no method could know them.
    """
    for name, rows in sets.items():
        for seed in seeds:
            X, truth = rows(seed)
            makers = {**MAPS, **(MAPS_OF_SHEETS if _is_sheet(truth) and "0.5" not in name else {})}
            for method, make in makers.items():
                if methods is not None and method not in methods:
                    continue
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    Z = make(X, truth, seed)
                yield Case(name, method, X, Z, right_rows(Z, truth))


def _is_sheet(truth: Truth) -> bool:
    return truth.coordinates is not None and truth.coordinates.shape[1] == 2

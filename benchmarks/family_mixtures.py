"""Mixtures: log density of held-out rows beside GaussianMixture, and imputed entries beside k-NN and ridge.

PPCAMixture: columns are standardised, a quarter of the rows is held out, ten draws. The rival is GaussianMixture with
the number of components and the type of covariance that cross-validation (three folds) likes best; ProbabilisticPCA is
our own single plane. A difference of 0.5 nats is a tie.

BernoulliMixture: a quarter of the rows is held out (300 at most), and 30 % or 60 % of their entries are hidden at
random, ten draws. The measure is the share of them that come back wrong, among columns that are not constant.
The rivals are KNNImputer (ten neighbours, by distance) and ridge regression of each hidden entry on all observed ones
of its row.
Fashion is read from FASHION_MNIST, a folder with the four files of its authors (Debian: dataset-fashion-mnist).

``python -m benchmarks.families mixtures`` prints the table.
"""

from __future__ import annotations

import gzip
import os
import warnings
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.impute import KNNImputer
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GridSearchCV, KFold

from benchmarks.family_row import Cell, Task
from benchmarks.family_sets import Missing, data_file, labelled_set, scaled
from sidelight import BernoulliMixture, PPCAMixture, ProbabilisticPCA

__all__ = ["CHOSEN_ON", "FAMILY", "tasks"]

FAMILY = "mixtures"
CHOSEN_ON = ("iris", "wine", "crabs", "oil flow", "mfeat (Zernike)", "digits", "Boston") + (
    "binary digits",
    "binary USPS",
)
DRAWS, ROWS, ASKED = 10, 2400, 300
NUMBERS, TYPES = (1, 2, 4, 8, 16, 32), ("full", "tied", "diag", "spherical")


def tasks(*, quick: bool) -> list[Task]:
    """Densities, then imputed entries."""
    found = [
        Task(f"density, {name}", name, partial(_densities, name), first=100, draws=DRAWS)
        for name in (list(DENSITIES)[:1] if quick else DENSITIES)
    ]
    return found + [
        Task(f"{share:.0%} hidden, {name}", name, partial(_entries, name, share), first=100, draws=DRAWS)
        for name in (list(BITS)[:1] if quick else BITS)
        for share in ((0.3,) if quick else (0.3, 0.6))
    ]


def _densities(name: str, draw: int) -> Iterator[Cell]:
    numbers = _density(_numbers(name)[:ROWS], draw)
    yield Cell("PPCAMixture, density", "log density of a held-out row", numbers, tie=0.5)


def _entries(name: str, share: float, draw: int) -> Iterator[Cell]:
    numbers = _imputed(_bits(name), share, draw)
    yield Cell(f"BernoulliMixture, {share:.0%} hidden", "share of wrong entries", numbers, lower_is_better=True)


@cache
def _numbers(name: str) -> Any:
    return DENSITIES[name]()


@cache
def _bits(name: str) -> Any:
    return BITS[name]()


def _split(X: Any, draw: int) -> tuple[Any, Any, Any]:
    """Training rows, held-out rows and random numbers of one draw."""
    rng = np.random.default_rng(draw)
    order = rng.permutation(len(X))
    return X[order[len(X) // 4 :]], X[order[: len(X) // 4]], rng


def _density(X: Any, draw: int) -> dict[str, float]:
    train, held_out, _ = _split(X, draw)
    grid = {"n_components": [k for k in NUMBERS if 4 * k <= len(train)], "covariance_type": TYPES}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        folds = KFold(3, shuffle=True, random_state=draw)
        rival = GridSearchCV(GaussianMixture(random_state=draw), grid, cv=folds, error_score=-1e9).fit(train)
    return {
        "ours": PPCAMixture(random_state=draw).fit(train).score(held_out),
        "GaussianMixture, by cross-validation": float(rival.score(held_out)),
        "ProbabilisticPCA": ProbabilisticPCA().fit(train).score(held_out),
    }


def _imputed(X: Any, share: float, draw: int) -> dict[str, float]:
    train, asked, rng = _split(X, draw)
    varies = train.std(axis=0) > 0
    train, asked = train[:, varies], asked[:ASKED, varies]
    hidden = rng.random(asked.shape) < share
    broken = np.where(hidden, np.nan, asked)

    def error(filled: Any) -> float:
        return float(np.mean((filled[hidden] > 0.5) != (asked[hidden] > 0.5)))

    return {
        "ours": error(BernoulliMixture(random_state=draw).fit(train).impute(broken)),
        "KNNImputer": error(KNNImputer(n_neighbors=10, weights="distance").fit(train).transform(broken)),
        "ridge": error(_ridge(train, broken)),
    }


def _ridge(train: Any, broken: Any) -> Any:
    """Rows with missing entries by ridge regression on the observed ones, with a penalty of 0.05 per row."""
    mean, filled = train.mean(axis=0), broken.copy()
    C = np.cov(train.T) + 0.05 * np.eye(train.shape[1])
    for row in filled:
        gone = np.isnan(row)
        weights = np.linalg.solve(C[np.ix_(~gone, ~gone)], row[~gone] - mean[~gone])
        row[gone] = mean[gone] + C[np.ix_(gone, ~gone)] @ weights
    return filled


def _cells() -> Any:
    return scaled(data_file("scrna", "harmony_cell_lines_pcs.npz")["data"])


def _poses() -> Any:
    return scaled(data_file("pose_silhouette", "ankur_pose_silhouette.npz")["pose"])


def _some(X: Any, n: int) -> Any:
    return X[np.random.default_rng(0).permutation(len(X))[:n]]


def _mnist() -> Any:
    found = data_file("mnist", "mnist_train.npz")["data"]
    return (_some(found.reshape(len(found), -1), 2000) > 127).astype(np.float64)


def _fashion() -> Any:
    folder = os.environ.get("FASHION_MNIST", "/usr/share/datasets/fashion-mnist")
    path = Path(folder, "train-images-idx3-ubyte.gz")
    if not path.exists():
        raise Missing("FASHION_MNIST is not a folder with train-images-idx3-ubyte.gz")
    raw = np.frombuffer(gzip.decompress(path.read_bytes()), dtype=np.uint8, offset=16).reshape(-1, 784)
    return (_some(raw, 2000) > 127).astype(np.float64)


def _mfeat_pixels() -> Any:
    return (data_file("mfeat", "mfeat.npz")["pix"] > 3).astype(np.float64)


def _genes() -> Any:
    """Whether each of the 300 genes of Kang's cells that are on in nearest to half of them is on."""
    import importlib.util

    if importlib.util.find_spec("anndata") is None:
        raise Missing("anndata is not installed")
    import anndata

    root = os.environ.get("SIDELIGHT_DATA", "")
    path = Path(root, "scrna", "kang_ifnb.h5ad")
    if not root or not path.exists():
        raise Missing("SIDELIGHT_DATA has no scrna/kang_ifnb.h5ad")
    on = anndata.read_h5ad(path).X > 0
    shares = np.asarray(on.mean(axis=0)).ravel()
    return on[:, np.argsort(np.abs(shares - 0.5), kind="stable")[:300]].toarray().astype(np.float64)


DENSITIES: dict[str, Callable[[], Any]] = {
    "breast cancer": lambda: labelled_set("breast cancer")[0],
    "diabetes": lambda: scaled(load_diabetes().data),
    "glass": lambda: labelled_set("glass")[0],
    "image segments": lambda: labelled_set("image segments")[0],
    "cell lines, 20 PCs": _cells,
    "poses": _poses,
}
BITS: dict[str, Callable[[], Any]] = {
    "MNIST": _mnist,
    "Fashion": _fashion,
    "mfeat (pixels)": _mfeat_pixels,
    "genes on or off (Kang)": _genes,
}

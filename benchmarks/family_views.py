"""Sets of two views for the table of families: halves of pictures, silhouettes and poses, features of digits."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer

from benchmarks.family_sets import Missing, data_file
from benchmarks.made_pictures import ball_pictures, vowel_spectra

__all__ = ["VIEWS", "Missing", "two_views"]


@cache
def two_views(name: str) -> tuple[Any, Any]:
    """Rows (n, d) of the first view and (n, e) of the second."""
    A, B = VIEWS[name]()
    return np.asarray(A, dtype=np.float64), np.asarray(B, dtype=np.float64)


def _halves(pictures: Any) -> tuple[Any, Any]:
    """The left and the right half of pictures (n, height, width)."""
    half = pictures.shape[2] // 2
    return pictures[:, :, :half].reshape(len(pictures), -1), pictures[:, :, half:].reshape(len(pictures), -1)


def _pictures(folder: str, file: str, side: int, step: int = 1) -> Callable[[], tuple[Any, Any]]:
    def load() -> tuple[Any, Any]:
        return _halves(data_file(folder, file)["data"].reshape(-1, side, side)[:, ::step, ::step])

    return load


def _silhouettes() -> tuple[Any, Any]:
    found = data_file("pose_silhouette", "ankur_pose_silhouette.npz")
    return found["silhouette"], found["pose"]


def _digits() -> tuple[Any, Any]:
    found = data_file("mfeat", "mfeat.npz")
    return found["zer"], found["kar"]


def _cancer() -> tuple[Any, Any]:
    X = load_breast_cancer().data
    return X[:, :10], X[:, 20:] / X[:, 20:].std(axis=0)


def _vowels() -> tuple[Any, Any]:
    X, _ = vowel_spectra(150, seed=7, noise=2.0)
    return X[:, :13], X[:, 13:]


VIEWS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "made balls, halves": lambda: _halves(ball_pictures(1200, seed=7)[0].reshape(-1, 24, 24)),
    "made vowels in noise, low and high bands": _vowels,
    "MNIST, halves": _pictures("mnist", "mnist_test.npz", 28),
    "Olivetti, halves": _pictures("olivetti", "olivetti.npz", 64, 2),
    "Yale B, halves": _pictures("yaleb", "yaleb_32.npz", 32),
    "silhouettes, poses": _silhouettes,
    "mfeat, zer and kar": _digits,
    "breast cancer, means and worst": _cancer,
}

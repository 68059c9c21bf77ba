"""Tasks for the table of gated models: pictures with labels, pairs of pictures, signals with noise.

None of these was used to choose a default (``family_gated.CHOSEN_ON`` has those that were). Sets of ``SIDELIGHT_DATA``
that are not there are left out with the reason.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import MinMaxScaler

from benchmarks.family_sets import Missing

__all__ = ["PAIRS", "ROWS", "SIGNALS", "Pairs", "Rows", "pairs", "picture_pairs", "rows", "signal"]

ROWS = ("MNIST", "COIL-20", "mfeat pixels", "breast cancer")
PAIRS = ("MNIST, 10 × 10", "Olivetti patches", "halves of binary pictures")
SIGNALS = ("steps", "chirp", "pulses", "walking (CMU)", "rows of a picture")
MOST = 2000


@dataclass(frozen=True)
class Rows:
    """Rows from 0 to 1 with labels, to train on and to ask."""

    X: Any
    y: Any
    new: Any
    truth: Any


@dataclass(frozen=True)
class Pairs:
    """Pairs to train on; new pairs, other inputs, and what the new pairs' changes make of them."""

    X: Any
    Y: Any
    before: Any
    after: Any
    others: Any
    moved: Any


def rows(name: str, seed: int, most: int = MOST) -> Rows:
    """A random two thirds to train on, the rest to ask."""
    X, y = _labelled(name)
    order = np.random.default_rng(seed).permutation(len(X))[: most + most // 2]
    cut = 2 * len(order) // 3
    return Rows(X[order[:cut]], y[order[:cut]], X[order[cut:]], y[order[cut:]])


def _labelled(name: str) -> tuple[Any, Any]:
    if name == "MNIST":
        found = _file("mnist", "mnist_test.npz")
        return found["data"].reshape(len(found["data"]), -1) / 255.0, found["labels"]
    if name == "COIL-20":
        found = _file("coil20", "coil20_32.npz")
        small = found["data"].reshape(-1, 16, 2, 16, 2).mean(axis=(2, 4))
        return small.reshape(len(small), -1) / 255.0, found["labels"]
    if name == "mfeat pixels":
        found = _file("mfeat", "mfeat.npz")
        return found["pix"] / 6.0, found["labels"]
    X, y = load_breast_cancer(return_X_y=True)
    return MinMaxScaler().fit_transform(X).clip(0, 1), y


def pairs(name: str, seed: int, n: int = 3000) -> Pairs:
    """Pictures that move by at most one pixel; 400 new pairs."""
    rng = np.random.default_rng(seed)
    P, halves = _pictures(name, n + 800, rng)
    first, others = P[: n + 400], P[n + 400 :]
    steps = rng.integers(-1, 2, size=(n + 400, halves, 2))
    moved, done = _moved(first, steps), _moved(others, steps[n:])
    flat = [part.reshape(len(part), -1) for part in (first, moved, others, done)]
    return Pairs(flat[0][:n], flat[1][:n], flat[0][n:], flat[1][n:], flat[2], flat[3])


def _pictures(name: str, n: int, rng: Any) -> tuple[Any, int]:
    """Pictures (n, side, side), and into how many parts they move on their own."""
    if name == "halves of binary pictures":
        return (rng.random((n, 10, 10)) < 0.1).astype(float), 2
    if name == "MNIST, 10 × 10":
        found = _file("mnist", "mnist_test.npz")["data"][rng.permutation(10_000)[:n]].reshape(-1, 28, 28)
        return found[:, 4:24, 4:24].reshape(-1, 10, 2, 10, 2).mean(axis=(2, 4)) / 255.0, 1
    faces = _file("olivetti", "olivetti.npz")["data"].reshape(-1, 64, 64)
    which, corner = rng.integers(len(faces), size=n), rng.integers(56, size=(n, 2))
    cut = np.stack([faces[w, i : i + 8, j : j + 8] for w, (i, j) in zip(which, corner, strict=True)]).astype(float)
    cut -= cut.mean(axis=(1, 2), keepdims=True)
    return cut / (cut.std(axis=(1, 2), keepdims=True) + 1e-3 * cut.std()), 1


def _moved(P: Any, steps: Any) -> Any:
    parts = np.array_split(P, steps.shape[1], axis=1)
    done = [
        np.stack([np.roll(one, step, (0, 1)) for one, step in zip(part, steps[:, k], strict=True)])
        for k, part in enumerate(parts)
    ]
    return np.concatenate(done, axis=1)


def picture_pairs(seed: int) -> dict[str, tuple[list[Any], list[Any], Any, Any]]:
    """Pictures before and after, another picture, and the same done to it: noise, and high-passed video frames."""
    rng = np.random.default_rng(seed)
    noise = list(rng.normal(size=(4, 40, 40)))
    frames = _file("natural_video", "video_gray.npz")
    clip = frames[next(iter(frames))][rng.permutation(100)[:5], 20:84, 20:84].astype(float)
    clip -= clip.mean(axis=(1, 2), keepdims=True)
    sharp = clip - (np.roll(clip, 1, 1) + np.roll(clip, -1, 1) + np.roll(clip, 1, 2) + np.roll(clip, -1, 2)) / 4
    sharp /= sharp.std()

    def done(P: list[Any]) -> list[Any]:
        return [np.roll(p, 1, axis=1) if k % 2 == 0 else np.roll(p, 1, axis=0) for k, p in enumerate(P)]

    return {
        "noise, 40 × 40": (noise[:3], done(noise[:3]), noise[3], np.roll(noise[3], 1, axis=1)),
        "video, high-passed": (list(sharp[:4]), done(list(sharp[:4])), sharp[4], np.roll(sharp[4], 1, axis=1)),
    }


def signal(name: str, seed: int, n: int = 1000) -> tuple[Any, Any, Any, Any]:
    """A signal of variance about 1 with noise of 0.3 added, and without; and another one of its kind."""
    rng = np.random.default_rng(seed)
    found = []
    for clean in _clean(name, n, rng):
        found += [clean + 0.3 * rng.normal(size=len(clean)), clean]
    return found[0], found[1], found[2], found[3]


def _clean(name: str, n: int, rng: Any) -> tuple[Any, Any]:
    """Two signals without noise."""
    if name == "walking (CMU)":
        data = _file("cmu_mocap", "cmu35_walkjog_30hz.npz")["data"]
        column = data[:, rng.choice(np.argsort(data.std(axis=0))[-12:])]
        column = (column - column.mean()) / column.std()
        return column[:n], column[-n:]
    if name == "rows of a picture":
        stack = _file("natural_images", "bsds_train80_gray.npz")["data"]
        first, second = (_lines(stack[k].astype(float), n) for k in rng.choice(len(stack), 2, replace=False))
        return first, second
    return _made(name, n, rng), _made(name, n, rng)


def _lines(picture: Any, n: int) -> Any:
    """Some rows of a picture one after another, every second one backwards."""
    line = np.concatenate([row[:: 1 if k % 2 == 0 else -1] for k, row in enumerate(picture[::25])])[:n]
    return (line - line.mean()) / line.std()


def _made(name: str, n: int, rng: Any) -> Any:
    t = np.arange(n)
    if name == "steps":
        return np.repeat(rng.normal(size=n), rng.integers(5, 50, size=n))[:n]
    if name == "chirp":
        return np.sqrt(2) * np.sin(2 * np.pi * (t / 100 + 0.04 * t**2 / n) + rng.uniform(0, 6))
    beats = np.cumsum(rng.integers(25, 45, size=n // 20))
    after = t[:, None] - beats
    return 4 * (np.exp(-0.5 * (after / 2) ** 2) - 0.4 * np.exp(-0.5 * ((after - 6) / 3) ** 2)).sum(axis=1)


def _file(*parts: str) -> Any:
    root = os.environ.get("SIDELIGHT_DATA")
    if not root or not Path(root, *parts).exists():
        raise Missing(f"SIDELIGHT_DATA has no {'/'.join(parts)}")
    return np.load(Path(root, *parts))

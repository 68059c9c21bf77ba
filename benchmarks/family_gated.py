"""Gated models with their defaults: time as a multiple of BernoulliRBM's, and quality beside simple rivals.

Times are CPU seconds of one thread, beside scikit-learn's BernoulliRBM (defaults, 10 epochs) on the same rows in the
same run; for models of pairs on inputs and outputs side by side, for fields on as many values in rows of 50. Each of
these has a second yardstick that does as much: for pairs a BernoulliRBM with as many weights as the gated machine (one
of 50 units has a hundredth of them), for fields one on all patches, inputs and outputs side by side. The first fit of a
process is left out. A filter is ridge regression of a site on the 13 sites around it, edges continued, its penalty by
leave-one-out.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.neural_network import BernoulliRBM
from threadpoolctl import threadpool_limits

from benchmarks.family_row import Cell, Task
from benchmarks.gated_tasks import PAIRS, ROWS, SIGNALS, Pairs, Rows, pairs, picture_pairs, signal
from benchmarks.gated_tasks import rows as labelled
from sidelight.gated import (
    Autoencoder,
    BiasedAutoencoder,
    GatedAutoencoder,
    GatedBoltzmannMachine,
    GatedField,
    Manifield,
    RestrictedBoltzmannMachine,
)

__all__ = ["CHOSEN_ON", "FAMILY", "tasks"]

FAMILY = "gated"
CHOSEN_ON = (
    "digits",
    "USPS",
    "shifts of binary pictures and of noise",
    "halves of digits",
    "sine, smooth noise, saw tooth, AR(2), telegraph signals",
    "three natural pictures",
)
FIRST, DRAWS, UNITS, BOUND, SECONDS = 0, 10, 50, 5.0, 20.0
PICTURES = ("noise, 40 × 40", "video, high-passed")
ALPHAS = np.logspace(-3, 3, 13)
Measured = dict[str, dict[str, float]]
"""Numbers of a seed: for each task ours and the rivals', by name."""
_warned: list[str] = []


def tasks(*, quick: bool) -> list[Task]:
    """Signals, rows, pairs, fields of pictures."""
    found = [
        (name, partial(measure, name, quick=quick))
        for names, measure in ((SIGNALS, _on_signals), (ROWS, _on_rows), (PAIRS, _on_pairs))
        for name in (names[:1] if quick else names)
    ]
    found += [(name, partial(_on_pictures, name)) for name in (PICTURES[:1] if quick else PICTURES)]
    return [Task(name, name, partial(_cells, measure), FIRST, DRAWS) for name, measure in found]


def _cells(measure: Callable[[int], Measured], seed: int) -> list[Cell]:
    """The cells of one seed, and how many of its fits did not converge."""
    _warned.clear()
    with threadpool_limits(1):
        torch.set_num_threads(1)
        _fit(RestrictedBoltzmannMachine(2, max_iter=2), np.eye(10))  # the first fit of a process takes longer
        _warned.clear()
        found = measure(seed)
    return [_cell(question, numbers) for question, numbers in found.items()] + [
        Cell(
            "fits that end with a ConvergenceWarning",
            "fits of a set",
            {"ours": float(len(_warned)), "none": 0.0},
            lower_is_better=True,
            tie=0.0,
            data="all sets of gated models",
        )
    ]


def _cell(question: str, numbers: dict[str, float]) -> Cell:
    task, measure, direction = question.split("; ")
    tie = 0.0005 if measure == "mean squared error" else 0.005
    return Cell(task, measure, numbers, lower_is_better=direction == "lower", tie=tie)


def _fit(model: Any, *data: Any) -> tuple[Any, float]:
    """The fitted model and CPU seconds; warnings of convergence are counted."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        began = time.process_time()
        model.fit(*data)
        seconds = time.process_time() - began
    _warned.extend(str(one.message) for one in caught if issubclass(one.category, ConvergenceWarning))
    return model, seconds


def _time(task: str, seconds: float, rival: float, kind: str = "") -> Measured:
    return {f"{task}; CPU time over BernoulliRBM's{kind}; lower": {"ours": seconds / rival, "the bound": BOUND}}


def _missed(truth: Any, found: Any, mean: Any) -> float:
    """Squared error as a share of that of the mean."""
    return float(((truth - found) ** 2).sum() / ((truth - mean) ** 2).sum())


def _on_rows(name: str, seed: int, *, quick: bool) -> Measured:
    task = labelled(name, seed, 300 if quick else 2000)
    theirs, seconds = _fit(BernoulliRBM(UNITS, random_state=seed), task.X)
    found: Measured = {}
    components = PCA(min(UNITS, *task.X.shape), random_state=0).fit(task.X)
    for kind in ("binary", "gaussian"):
        ours, own = _fit(RestrictedBoltzmannMachine(UNITS, visible=kind, random_state=seed), task.X)
        label = f"RestrictedBoltzmannMachine, {kind}"
        found[f"{label}; accuracy of logistic regression on features; higher"] = {
            "ours": _accuracy(ours, task),
            "BernoulliRBM": _accuracy(theirs, task),
            "PCA": _accuracy(components, task),
        }
        found |= _time(label, own, seconds)
    return found | _autoencoders(task, seed, seconds)


def _accuracy(model: Any, task: Rows) -> float:
    classifier = LogisticRegression(max_iter=1000).fit(model.transform(task.X), task.y)
    return float(classifier.score(model.transform(task.new), task.truth))


def _autoencoders(task: Rows, seed: int, rival: float) -> Measured:
    """A deep code of ten numbers; and the second half of the columns from the first."""
    mean, half = task.X.mean(axis=0), task.X.shape[1] // 2
    deep, own = _fit(Autoencoder(10, hidden=(50,), random_state=seed), task.X)
    components = PCA(10, random_state=0).fit(task.X)
    linear = components.inverse_transform(components.transform(task.new))
    coded = {"ours": _missed(task.new, deep.denoise(task.new), mean), "PCA": _missed(task.new, linear, mean)}
    (x, y), (x_new, y_new) = np.split(task.X, [half], axis=1), np.split(task.new, [half], axis=1)
    model, seconds = _fit(BiasedAutoencoder(random_state=seed), x, y)
    ridge = RidgeCV(ALPHAS).fit(x, y)
    told = {
        "ours": _missed(y_new, model.predict(x_new), mean[half:]),
        "ridge regression": _missed(y_new, ridge.predict(x_new), mean[half:]),
    }
    return {
        "Autoencoder, 50 hidden units, 10 numbers; share of held-out variance missed; lower": coded,
        **_time("Autoencoder, 50 hidden units, 10 numbers", own, rival),
        "BiasedAutoencoder, second half of columns from the first; share missed; lower": told,
        **_time("BiasedAutoencoder", seconds, rival),
    }


def _on_pairs(name: str, seed: int, *, quick: bool) -> Measured:
    task = pairs(name, seed, 500 if quick else 2000)
    both = np.hstack([task.X, task.Y])
    scaled, columns = (both - both.min()) / np.ptp(both), task.X.shape[1]
    _, rival = _fit(BernoulliRBM(UNITS, random_state=seed), scaled)
    _, as_large = _fit(BernoulliRBM(UNITS * columns // 2, random_state=seed), scaled)
    kind = "binary" if set(np.unique(task.X)) <= {0.0, 1.0} else "gaussian"
    options = {"n_mapping": UNITS, "visible": kind, "random_state": seed}
    found: Measured = {}
    for model in (GatedBoltzmannMachine(**options), GatedAutoencoder(random_state=seed)):
        label = type(model).__name__
        ours, seconds = _fit(model, task.X, task.Y)
        errors = {
            "ours": _transferred(ours, task),
            "doing nothing": _missed(task.moved, task.others, task.X.mean(axis=0)),
        }
        found[f"{label}, a change done to other rows; share missed; lower"] = errors
        found |= _time(label, seconds, rival) | _time(label, seconds, as_large, " with as many weights")
    return found


def _transferred(model: Any, task: Pairs) -> float:
    moved = model.transfer(task.before, task.after, task.others)
    return _missed(task.moved, moved, task.X.mean(axis=0))


def _on_signals(name: str, seed: int, *, quick: bool) -> Measured:
    del quick
    x, y, x_new, y_new = signal(name, seed)
    model, seconds = _fit(Manifield(), [x], [y])
    linear = RidgeCV(ALPHAS).fit(_windows(x), y).predict(_windows(x_new))
    ours = model.predict([x_new])[0]
    return {
        "Manifield, noise of 0.3 taken off; mean squared error; lower": {
            "ours": float(((ours - y_new) ** 2).mean()),
            "ridge filter of 13 taps": float(((linear - y_new) ** 2).mean()),
        },
        "Manifield; CPU seconds; lower": {"ours": seconds, "the bound": SECONDS},
    }


def _windows(x: Any, reach: int = 6) -> Any:
    return np.lib.stride_tricks.sliding_window_view(np.pad(x, reach, mode="edge"), 2 * reach + 1)


def _on_pictures(name: str, seed: int) -> Measured:
    X, Y, other, truth = picture_pairs(seed)[name]
    values = np.random.default_rng(seed).random((2 * sum(x.size for x in X) // 50, 50))
    _, rival = _fit(BernoulliRBM(UNITS, random_state=seed), values)
    model, seconds = _fit(GatedField(GatedBoltzmannMachine(random_state=seed)), X, Y)
    patches = np.hstack([np.vstack([_patches(x, model.patch_size) for x in side]) for side in (X, Y)])
    _, on_patches = _fit(BernoulliRBM(UNITS, random_state=seed), (patches - patches.min()) / np.ptp(patches))
    moved = model.transfer(X[:1], Y[:1], [other])[0]
    mean = np.mean([x.mean() for x in X])
    return {
        "GatedField, a change done to another picture; share missed; lower": {
            "ours": _missed(truth, moved, mean),
            "doing nothing": _missed(truth, other, mean),
        },
        **_time("GatedField", seconds, rival),
        **_time("GatedField", seconds, on_patches, " on all patches"),
    }


def _patches(picture: Any, size: int) -> Any:
    """All patches of a picture (places, size²)."""
    return np.lib.stride_tricks.sliding_window_view(picture, (size, size)).reshape(-1, size * size)

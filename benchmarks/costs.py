"""What ``estimate_cost`` says beside the processor's seconds of a fit, for every estimator at three or four sizes.

Defaults, one thread. The estimates were fitted to made rows (five latent numbers, bent and turned into d columns, with
noise) at these sizes; ``--real`` reports on rows that they were not fitted to: scikit-learn's digits (1,797 x 64), and
MNIST (10,000 x 784) where that is quick. The bar is a factor of three either way for fits of two seconds or more;
shorter ones are reported only, as nobody is told of them. ``python -m benchmarks.costs NAME ... [--real]``: some.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import sidelight
from benchmarks.harness import Report, table

TITLE = "estimated seconds of a fit beside measured ones, every estimator"
RIVALS: tuple[str, ...] = ()
FACTOR, SHORT = 3.0, 2.0
Fit = Callable[[Any, int, int], object]
"""Fits a new model to rows (n, d) that the function makes; given the estimator, n and d."""


_REAL = {(1797, 64): "digits", (10_000, 784): "MNIST"}
_REAL_ROWS: dict[tuple[int, int], Any] = {}
_ALSO_LARGE = ("TwoWayEmbedding", "ProbabilisticPCA", "CoordinatedMixture", "HybridEmbedding", "SmootherEmbedding") + (
    "KernelInformationEmbedding",
    "RestrictedBoltzmannMachine",
)


def made_rows(n: int, d: int, seed: int = 0) -> Any:
    """Rows (n, d): three clusters of five latent numbers, bent, with noise; or the real set of that shape."""
    if (n, d) in _REAL_ROWS:
        return _REAL_ROWS[n, d]
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, 5)) + 2.5 * rng.normal(size=(3, 5))[rng.integers(3, size=n)]
    bent = np.tanh(Z @ rng.normal(size=(5, 20)) / 2.0) @ rng.normal(size=(20, d)) / np.sqrt(20)
    return bent + 0.1 * rng.normal(size=(n, d))


def _rows(model: Any, n: int, d: int) -> None:
    model.fit(made_rows(n, d))


def _bits(model: Any, n: int, d: int) -> None:
    model.fit((made_rows(n, d) > 0).astype(float))


def _gaps(model: Any, n: int, d: int) -> None:
    X = made_rows(n, d)
    model.fit(np.where(np.random.default_rng(1).random(X.shape) < 0.1, np.nan, X))


def _given(model: Any, n: int, d: int) -> None:
    model.fit(made_rows(n, d), given=np.random.default_rng(2).integers(3, size=n))


def _views(model: Any, n: int, d: int) -> None:
    X = made_rows(n, d)
    model.fit(X[:, : d // 2], X[:, d // 2 :])


def _labels(model: Any, n: int, d: int) -> None:
    X = made_rows(n, d)
    labels = np.digitize(X[:, 0], np.quantile(X[:, 0], [0.33, 0.67])).astype(float)
    labels[100:] = np.nan
    model.fit(X, labels)


def _distances(model: Any, n: int, d: int) -> None:
    rng, X = np.random.default_rng(3), made_rows(n, d)
    pairs = np.column_stack([rng.permutation(n)[:60], rng.permutation(n)[:60]])
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    model.fit(X, pairs=pairs, distances=np.abs(X[pairs[:, 0], 0] - X[pairs[:, 1], 0]))


def _attributes(model: Any, n: int, d: int) -> None:
    X = made_rows(n, d)
    labels = np.column_stack([X[:, 0] > 0, X[:, 1] > 0]).astype(float)
    labels[100:] = np.nan
    model.fit(X, labels)


def _walk(model: Any, n: int, d: int) -> None:
    from benchmarks.action_worlds import window_world

    side = max(5, round((n / 5) ** 0.5))
    walk = window_world("blobs", noise=0.1, slip=0.1, seed=0, steps=n - 1, side=side)
    model.fit(walk.X[:, :d], actions=walk.actions)


def _pairs(model: Any, n: int, d: int) -> None:
    X = (np.random.default_rng(4).random((n, d)) < 0.2).astype(float)
    model.fit(X, np.roll(X, 1, axis=1))


def _pictures(model: Any, n: int, d: int) -> None:
    del d
    side = round((n / 3) ** 0.5)
    X = list(np.random.default_rng(5).normal(size=(3, side, side)))
    model.fit(X, [np.roll(x, 1, axis=1) for x in X])


def _signals(model: Any, n: int, d: int) -> None:
    del d
    y = np.sign(np.sin(0.1 * np.arange(n)))
    model.fit([y + 0.3 * np.random.default_rng(6).normal(size=n)], [y])


def _counts(model: Any, n: int, d: int) -> None:
    from scipy import sparse

    model.fit(sparse.random_array((n, d), density=0.05, format="csr", random_state=np.random.default_rng(7)).ceil())


def _of(name: str, **options: Any) -> Callable[[], Any]:
    def make() -> Any:
        return getattr(sidelight.gated if hasattr(sidelight.gated, name) else sidelight, name)(**options)

    return make


_SMALL, _WIDE = ((400, 10), (1500, 40)), (1500, 400)
CASES: dict[str, tuple[Callable[[], Any], Fit, Sequence[tuple[int, int]]]] = {
    "KernelInformationEmbedding": (
        _of("KernelInformationEmbedding", n_jobs=1),
        _rows,
        (*_SMALL, _WIDE, (4000, 40), (9000, 40)),
    ),
    "KernelInformationEmbedding, given": (
        _of("KernelInformationEmbedding", n_jobs=1),
        _given,
        (*_SMALL, (1500, 200), (6000, 40)),
    ),
    "UnsupervisedKernelRegression": (
        _of("UnsupervisedKernelRegression", n_jobs=1),
        _rows,
        (*_SMALL, (1500, 200), (3000, 40)),
    ),
    "SmootherEmbedding": (_of("SmootherEmbedding", n_jobs=1), _rows, (*_SMALL, _WIDE, (5000, 40))),
    "JointInformationEmbedding": (
        _of("JointInformationEmbedding", n_jobs=1),
        _views,
        (*_SMALL, (1500, 200), (4000, 40)),
    ),
    "TwoWayEmbedding": (_of("TwoWayEmbedding", n_jobs=1), _rows, (*_SMALL, _WIDE, (10_000, 40), (10_000, 400))),
    "MultipleRelationalEmbedding": (
        _of("MultipleRelationalEmbedding", n_jobs=1),
        _rows,
        (*_SMALL, (1500, 200), (4000, 40)),
    ),
    "ProbabilisticPCA": (_of("ProbabilisticPCA", n_jobs=1), _rows, (*_SMALL, _WIDE, (20_000, 100), (10_000, 784))),
    "ProbabilisticPCA, 10 % missing": (_of("ProbabilisticPCA", n_jobs=1), _gaps, (*_SMALL, (1500, 200), (10_000, 40))),
    "PPCAMixture": (_of("PPCAMixture", n_jobs=1), _rows, (*_SMALL, (1500, 200), (10_000, 40))),
    "PPCAMixture, 10 % missing": (_of("PPCAMixture", n_jobs=1), _gaps, ((400, 10), (1000, 20), (2000, 20))),
    "BernoulliMixture": (_of("BernoulliMixture", n_jobs=1), _bits, (*_SMALL, _WIDE, (10_000, 40))),
    "CoordinatedMixture": (_of("CoordinatedMixture", n_jobs=1), _rows, (*_SMALL, (1500, 200), (6000, 40))),
    "CoordinatedCCA": (_of("CoordinatedCCA", n_jobs=1), _views, (*_SMALL, (800, 200), (2500, 40))),
    "HybridEmbedding": (_of("HybridEmbedding", n_jobs=1), _rows, (*_SMALL, _WIDE, (6000, 40))),
    "SemidefiniteEmbedding": (_of("SemidefiniteEmbedding", n_jobs=1), _rows, ((150, 10), (300, 10), (600, 40))),
    "ActionRespectingEmbedding": (
        _of("ActionRespectingEmbedding", n_jobs=1),
        _walk,
        ((200, 400), (500, 100), (1200, 100)),
    ),
    "EquivalenceMetric": (_of("EquivalenceMetric"), _labels, (*_SMALL, (1500, 200), (20_000, 40))),
    "DistanceMetric": (_of("DistanceMetric"), _distances, (*_SMALL, (1500, 200), (20_000, 40))),
    "MultiAttributeMetric": (_of("MultiAttributeMetric"), _attributes, (*_SMALL, (1500, 200), (20_000, 40))),
    "Imputer": (_of("Imputer", n_jobs=1), _gaps, ((300, 8), (1500, 20), (1500, 80), (6000, 20), (50, 2000))),
    "TableEncoder": (_of("TableEncoder"), _rows, ((400, 10), (5000, 40), (40_000, 40))),
    "CountEncoder": (_of("CountEncoder"), _counts, ((1000, 1000), (4000, 2000), (10_000, 5000))),
    "RestrictedBoltzmannMachine": (_of("RestrictedBoltzmannMachine"), _bits, (*_SMALL, _WIDE, (10_000, 100))),
    "Autoencoder": (_of("Autoencoder"), _rows, (*_SMALL, _WIDE)),
    "Autoencoder, hidden": (
        _of("Autoencoder", n_components=10, hidden=(50,)),
        _rows,
        (*_SMALL, (1500, 200), (10_000, 40)),
    ),
    "BiasedAutoencoder": (_of("BiasedAutoencoder"), _pairs, (*_SMALL, (1500, 100), (6000, 40))),
    "GatedAutoencoder": (_of("GatedAutoencoder"), _pairs, (*_SMALL, (1500, 100), (6000, 40))),
    "GatedBoltzmannMachine": (_of("GatedBoltzmannMachine"), _pairs, (*_SMALL, (1500, 100), (6000, 40))),
    "GatedField": (_of("GatedField"), _pictures, ((1200, 1), (4800, 1))),
    "Manifield": (_of("Manifield"), _signals, ((500, 1), (1000, 1), (4000, 1))),
}


def estimate(name: str, n: int, d: int) -> float:
    """Estimated seconds of one case."""
    model, how = CASES[name][0](), CASES[name][1]
    if how is _given:
        return float(model.estimate_cost(n, d, given=True).seconds)
    if how is _gaps and not name.startswith("Imputer"):
        return float(model.estimate_cost(n, d, missing=True).seconds)
    if how is _walk:
        return float(model.estimate_cost(n, min(d, 100)).seconds)
    return float(model.estimate_cost(n, d).seconds)


def measured(name: str, n: int, d: int) -> float:
    """Seconds of the processor of one fit."""
    make, fit, _ = CASES[name]
    model = make()
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        made_rows(n, d)
        began = time.process_time()
        fit(model, n, d)
        return time.process_time() - began


def _sizes(name: str, *, real: bool) -> Sequence[tuple[int, int]]:
    if not real:
        return CASES[name][2]
    if CASES[name][1] in (_walk, _pictures, _signals, _counts, _pairs, _bits) or name == "SemidefiniteEmbedding":
        return ()
    return list(_REAL) if name in _ALSO_LARGE else list(_REAL)[:1]


def _load_real() -> None:
    from sklearn.datasets import load_digits

    from benchmarks.family_sets import data_file

    _REAL_ROWS[1797, 64] = load_digits().data / 16.0
    _REAL_ROWS[10_000, 784] = data_file("mnist", "mnist_test.npz")["data"].reshape(10_000, 784) / 255.0


def run(*, quick: bool, names: Sequence[str] = (), real: bool = False) -> Report:
    """Ratio of estimate and measurement at every size."""
    report = Report()
    if real:
        _load_real()
    for name in names or CASES:
        measured(name, *CASES[name][2][0])  # imports, first calls
        for n, d in _sizes(name, real=real)[: 2 if quick else None]:
            seconds, told = measured(name, n, d), estimate(name, n, d)
            report.details.setdefault("costs", []).append([name, n, d, seconds, told])
            print(f"  {name}, {n} x {d}: {seconds:.2f} s, estimated {told:.2f} s ({told / seconds:.2f})", flush=True)
            if max(seconds, told) < SHORT:
                report.note(f"{name}, {n} x {d}: estimate over measurement", told / seconds)
            else:
                off = max(told / seconds, seconds / told)
                report.at_most(f"{name}, {n} x {d}: factor between {told:.1f} s and {seconds:.1f} s", off, FACTOR)
    return report


if __name__ == "__main__":
    found = run(quick=False, names=[name for name in sys.argv[1:] if name != "--real"], real="--real" in sys.argv)
    print(table(found))

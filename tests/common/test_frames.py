"""Tables of any kind go in, at fit and afterwards, without a word: pandas' nullable numbers and categories, polars.

Warnings are errors here (``pyproject.toml``), so that a model which makes an array of a table and then compares its
columns with the names of ``fit`` does not pass.
"""

from __future__ import annotations

import functools

import numpy as np
import pandas as pd
import polars as pl
import pytest
from optional_torch import TORCH_THERE, gated, needs_torch
from registry import CHECKED, DEFAULT_METRICS, DEFAULT_MIXTURES, METRICS, TORCH, blobs, with_iterations
from sklearn.utils.validation import check_array

from sidelight import (
    CoordinatedCCA,
    EquivalenceMetric,
    HybridEmbedding,
    JointInformationEmbedding,
    KernelInformationEmbedding,
    ReconstructionDistance,
    SemidefiniteEmbedding,
    TangentDistance,
)

QUICK = {"tol": 1e-2}
QUIET = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
FRAMES = {
    "Int64": lambda A: pd.DataFrame(A, columns=list("abcdef")[: A.shape[1]]).astype("Int64"),
    "category": lambda A: pd.DataFrame(A, columns=list("abcdef")[: A.shape[1]]).astype("category"),
    "polars": lambda A: pl.DataFrame(A, schema=list("abcdef")[: A.shape[1]]),
}
ROWS = {
    **CHECKED,
    **DEFAULT_METRICS,
    **DEFAULT_MIXTURES,
    **TORCH,
    "equivalence-rbf": METRICS["equivalence-rbf-2d"],
    "semidefinite": lambda: SemidefiniteEmbedding(n_landmarks=30, gap=0.3, tol=0.05),
    "hybrid-tangent": lambda: HybridEmbedding(metric=TangentDistance("shift"), alpha=0.2),
    "hybrid-reconstruction": lambda: HybridEmbedding(metric=ReconstructionDistance("shift")),
    "hybrid-matrix": lambda: HybridEmbedding(metric=lambda X: np.abs(X[:, None] - X[None]).sum(axis=2)),
    "kie-impute": lambda: KernelInformationEmbedding(missing="impute", **QUICK),
    "kie-cosine": lambda: KernelInformationEmbedding(metric="cosine", **QUICK),
}
PAIRS = (
    {}
    if not TORCH_THERE
    else {
        "gbm": lambda: gated.GatedBoltzmannMachine(3, max_iter=10),
        "gated-autoencoder": lambda: gated.GatedAutoencoder(3, max_iter=10),
        "biased-autoencoder": lambda: gated.BiasedAutoencoder(2, max_iter=10),
    }
)
OF_ROWS = (
    "transform",
    "transform_mode",
    "predict",
    "predict_proba",
    "score",
    "score_samples",
    "denoise",
    "reconstruct",
    "impute",
    "impute_variance",
    "bic",
    "aic",
)
OF_LATENT = ("inverse_transform", "inverse_transform_mode", "predictive_variance", "latent_log_density")

kinds = pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES.keys())


def whole(n=60, d=5, seed=0):
    """Small whole numbers, which every kind of table can hold."""
    return np.rint(3 * blobs(n, d, seed)).astype(np.int64)


def same(a, b):
    np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


def seeded(make):
    model = with_iterations(make(), 4)
    return model.set_params(random_state=0) if "random_state" in model.get_params(deep=False) else model


@functools.cache
def of_an_array(make, order):
    """A model of the rows without a table; the order of their columns in memory decides the last bits."""
    return seeded(make).fit(np.asarray(whole(), dtype=np.float64, order=order))


@pytest.mark.thorough
@QUIET
@kinds
@pytest.mark.parametrize("make", ROWS.values(), ids=ROWS.keys())
def test_a_model_of_rows_takes_tables_wherever_it_takes_arrays(make, frame):
    X = frame(whole())
    A = check_array(X, dtype=np.float64)
    model, plain = seeded(make).fit(X), of_an_array(make, "C" if A.flags.c_contiguous else "F")
    assert list(model.feature_names_in_) == list("abcde")
    for name in (one for one in OF_ROWS if hasattr(model, one)):
        same(getattr(model, name)(X[:20]), getattr(plain, name)(check_array(X[:20], dtype=np.float64)))
    Z = model.transform(X)
    for name in (one for one in OF_LATENT if hasattr(model, one)):
        assert np.isfinite(getattr(model, name)(np.asarray(Z))).all()


@QUIET
@kinds
@pytest.mark.parametrize("make", PAIRS.values(), ids=PAIRS.keys())
def test_a_model_of_pairs_takes_tables_wherever_it_takes_arrays(make, frame):
    X, Y = frame(whole()), frame(whole(seed=1))
    A, B = (check_array(part, dtype=np.float64) for part in (X, Y))
    model, plain = seeded(make).fit(X, Y), seeded(make).fit(A, B)
    for name in ("infer", "reconstruct", "score_samples", "score", "distance", "flow"):
        if hasattr(model, name):
            same(getattr(model, name)(X, Y), getattr(plain, name)(A, B))
    for name in ("predict", "guess", "project"):
        if hasattr(model, name):
            same(getattr(model, name)(X), getattr(plain, name)(A))
    if hasattr(model, "transfer"):
        same(model.transfer(X, Y, X), plain.transfer(A, B, A))
    if isinstance(model, gated.GatedBoltzmannMachine):
        model.distance(X, Y, symmetric=True)
    model.partial_fit(X, Y)


@kinds
def test_a_distance_that_was_learned_on_a_table_is_asked_with_one(frame):
    X = frame(whole())
    metric = EquivalenceMetric().fit(X, np.arange(60) % 3)
    model = HybridEmbedding(metric=metric).fit(X)
    assert model.transform(X).shape == (60, 2)
    assert np.isfinite(model.score(X))
    assert model.inverse_transform(model.embedding_).shape == (60, 5)


@kinds
def test_two_views_of_a_table_are_predicted_and_scored(frame):
    A = whole()
    X, Y = frame(A), frame(A[:, ::-1].copy())
    for model in (JointInformationEmbedding(**QUICK), CoordinatedCCA(n_charts=2)):
        model.fit(X, Y)
        assert np.isfinite(model.score(X, Y))
        assert np.isfinite(np.asarray(model.predict(X))).all()
        assert np.isfinite(np.asarray(model.transform_view(X, view=0))).all()
        assert np.isfinite(np.asarray(model.transform_view(Y, view=1))).all()


@kinds
def test_pairs_of_rows_of_a_table_have_a_distance(frame):
    X = frame(whole())
    for make in DEFAULT_METRICS.values():
        assert make().fit(X).pair_distance(X, X).max() == 0.0


@needs_torch
def test_a_start_of_samples_may_be_a_table():
    X = FRAMES["Int64"](whole())
    model = gated.RestrictedBoltzmannMachine(3, max_iter=5).fit(X)
    assert model.sample(3, random_state=0, start=X, n_steps=2).shape == (3, 5)

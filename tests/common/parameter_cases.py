"""What each constructor parameter of each estimator is set to, so that it changes what is fitted.

The table of ``test_every_parameter.py``: one at a time, against the same model without it. A dotted name is an option:
``kernel.storage`` is that of ``KernelOptions``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from optional_torch import TORCH_THERE, gated
from registry import blobs
from sklearn.manifold import Isomap
from sklearn.mixture import GaussianMixture

import sidelight
from sidelight import Relation


@dataclass(frozen=True)
class To:
    """A parameter set to ``value``, for a fit ``on`` some data, ``beside`` other parameters that it needs."""

    value: Any
    on: str = ""
    beside: dict[str, Any] = field(default_factory=dict)
    refused: bool = False  # without it


@dataclass(frozen=True)
class Case:
    """How a class is fitted, with what, and the setting of each parameter (a value alone is ``To(value)``)."""

    on: str
    base: dict[str, Any]
    settings: dict[str, Any]


def to(value: Any, on: str = "", *, refused: bool = False, **beside: Any) -> To:
    return To(value, on, beside, refused)


N = 40
X, Y = blobs(N), blobs(N, seed=1)[:, ::-1] + blobs(N)
LABELS = np.arange(N) % 3
GAPS = np.where(np.random.default_rng(0).uniform(size=X.shape) < 0.1, np.nan, X)
BITS = (X.mean(axis=0) < X).astype(float)
WIDE = np.random.default_rng(0).normal(size=(150, 70)) + 2 * np.eye(3, 70)[np.arange(150) % 3] * 5
KINDS = np.column_stack([np.eye(2)[np.arange(N) % 2], np.eye(2)[LABELS % 2]])
INDEX = np.random.default_rng(0).integers(0, N, size=(60, 2))
LENGTHS = np.abs(X[INDEX[:, 0], 0] - X[INDEX[:, 1], 0])
TURNS = np.cumsum(np.where(np.arange(30) % 3 == 0, 0.5, 0.2))
WALK = np.column_stack([np.cos(TURNS), np.sin(TURNS), 0.01 * TURNS])
STEPS = [*np.where(np.arange(1, 30) % 3 == 0, "far", "near"), None]
PICTURES = np.random.default_rng(0).normal(size=(3, 12, 12))
LINES = np.random.default_rng(1).normal(size=(3, 30))
WORDS = [
    "red brick house by the sea",
    "old timber barn",
    "glass tower in town",
    "brick barn near the town",
    "sea view flat",
]
TABLE = pd.DataFrame({
    "size": np.exp(3 * X[:, 0]), "code": np.arange(N) % 4 + 1, "kind": [*"abc" * 12, *"ddee"],
    "text": [f"{WORDS[i % 5]} {WORDS[i * 3 % 4]} {i}" for i in range(N)],
})  # fmt: skip
FITS = {
    "table": lambda model: model.fit(TABLE),
    "rows": lambda model: model.fit(X),
    "many": lambda model: model.fit(blobs(200)),
    "wide": lambda model: model.fit(WIDE),
    "given": lambda model: model.fit(X, given=LABELS),
    "gaps": lambda model: model.fit(GAPS),
    "gaps in time": lambda model: model.fit(GAPS, trajectory=0),
    "bits": lambda model: model.fit(BITS),
    "views": lambda model: model.fit(X, Y),
    "bit views": lambda model: model.fit(BITS, BITS[:, ::-1].copy()),
    "kinds": lambda model: model.fit(KINDS),
    "kind views": lambda model: model.fit(X, KINDS),
    "labels": lambda model: model.fit(X, LABELS),
    "attributes": lambda model: model.fit(X, np.column_stack([LABELS, LABELS // 2])),
    "distances": lambda model: model.fit(X, pairs=INDEX, distances=LENGTHS),
    "relations": lambda model: model.fit(X, relations={"kind": Relation.from_labels(LABELS)}),
    "relation of some": lambda model: model.fit(
        X, relations={"kind": Relation.from_values(np.where(np.arange(len(X)) % 3 == 0, X[:, 0], np.nan))}
    ),
    "few": lambda model: model.fit(blobs(24)),
    "walk alone": lambda model: model.fit(WALK),
    "walk": lambda model: model.fit(WALK, actions=STEPS),
    "pictures": lambda model: model.fit(PICTURES, np.roll(PICTURES, 1, axis=2)),
    "lines": lambda model: model.fit(list(LINES), list(np.sin(LINES))),
    "square lines": lambda model: model.fit(list(PICTURES), list(np.sin(PICTURES))),
}

NEIGHBOURS = {"perplexity": 5.0, "n_neighbors": to(None)}
PATH = {
    "n_components": 1,
    "latent_kernel": "student",
    "regularization": 1.0,
    "regularization.start": 5.0,
    "regularization.decay": 0.8,
    "regularization.limit": to(0.5, penalty="l2"),
    "penalty": "l2",
    "init": "random",
    "max_iter": to(1, tol=1e-4),
    "tol": 1e-4,
    "random_state": to(1, init="random"),
}
EM = {"max_iter": 1, "tol": 1e-9}
CHARTS = {
    "n_components": 1,
    "n_charts": 3,
    "n_mixtures": 2,
    "mixture": GaussianMixture(2, random_state=0),
    "n_local": 1,
    "smoothing": 0.3,
    "balance": None,
    **EM,
    "random_state": 1,
}
METRIC = {
    "kernel": "rbf",
    "gamma": to(3.0, kernel="rbf"),
    "degree": to(2, kernel="poly"),
    "kernel_coordinates": to("columns", kernel="rbf"),
    "regularization": 300.0,
}
WAITING = {"optimizer": "adam", "learning_rate": 1e-30, "validation_fraction": 0.5, "max_iter": 300}
"""Training in which held-out rows cannot improve, so that it ends as soon as patience does."""
TRAINING = {
    "learning_rate": 0.1,
    "momentum": to(0.1, optimizer="sgd"),
    "weight_decay": 0.5,
    "decay_biases": to(True, weight_decay=0.5),
    "batch_size": 7,
    "max_iter": 3,
    "validation_fraction": 0.4,
    "random_state": 1,
}
NETWORK = {
    **{name: to(TRAINING[name], optimizer="adam") for name in ("learning_rate", "batch_size")},
    **{
        name: TRAINING[name]
        for name in ("momentum", "weight_decay", "decay_biases", "max_iter", "validation_fraction", "random_state")
    },
    "optimizer": "sgd",
    "patience": to(1, **WAITING),
}
MACHINE = {
    **TRAINING,
    "optimizer": "sgd",
    "cd_steps": 3,
    "persistent": True,
    "patience": to(1, **WAITING),
}
CASES = {
    "KernelInformationEmbedding": Case(
        "rows",
        {"tol": 1e-2, "max_iter": 20, "random_state": 0},
        {
            **PATH,
            **NEIGHBOURS,
            "bandwidth": 2.0,
            "metric": "cosine",
            "kernel": to("student", bandwidth=2.0),
            "kernel.storage": to("low_rank", bandwidth=2.0),
            "kernel.columns": to("all", "wide", solver="multilevel"),
            "solver": "multilevel",
            "conditioning": to("product", "given"),
            "conditioning.types": to("number", "given"),
            "conditioning.bandwidth": to(8.0, "given"),
            "conditioning.weight": to(0.2, "given"),
            "conditioning.kernel": to(
                0.9 ** np.abs(np.subtract.outer(np.arange(3), np.arange(3))), "given", conditioning="product"
            ),
            "missing": to("impute", "gaps", refused=True),
            "missing.rounds": to(3, "gaps", missing="project"),
            "missing.start": to("nearest", "gaps in time", missing="project"),
        },
    ),
    "JointInformationEmbedding": Case(
        "views",
        {"tol": 1e-2, "max_iter": 20, "random_state": 0},
        {**PATH, **NEIGHBOURS, "n_neighbors": 3, "objective": "joint", "bandwidth": 2.0, "perplexity": 3.0},
    ),
    "UnsupervisedKernelRegression": Case(
        "rows",
        {"tol": 1e-2, "max_iter": 20, "random_state": 0},
        {**PATH, **NEIGHBOURS},
    ),
    "SmootherEmbedding": Case(
        "rows", {"random_state": 0}, {**NEIGHBOURS, "n_components": 1, "bandwidth": 2.0, "random_state": 1}
    ),
    "TwoWayEmbedding": Case(
        "rows", {"random_state": 0}, {"estimator": Isomap(n_neighbors=8), "maps": "kernel", "random_state": 1}
    ),
    "HybridEmbedding": Case(
        "rows",
        {"random_state": 0},
        {
            "n_components": 1,
            "metric": "euclidean",
            "locality": "lle",
            "alpha": 0.9,
            "n_neighbors": 5,
            "radius": 2.0,
            "graph": "union",
            "heat": 1.0,
            "n_landmarks": 8,
            "negative": to("shift", alpha=0.05),
            "random_state": 1,
        },
    ),
    "SemidefiniteEmbedding": Case(
        "few",
        {"n_neighbors": 6, "tol": 0.05, "gap": 0.3, "random_state": 0},
        {
            "n_components": 1,
            "n_neighbors": 4,
            "metric": "manhattan",
            "graph": "nearest",
            "equality": to(True, n_neighbors=3),
            "n_landmarks": 12,
            "tol": 1e-3,
            "gap": 1e-3,
            "max_iter": 1,
            "random_state": 1,
        },
    ),
    "ActionRespectingEmbedding": Case(
        "walk",
        {"tol": 0.05, "gap": 0.3, "random_state": 0},
        {
            "n_components": 1,
            "window": 3,
            "metric": "manhattan",
            "merge": 0.9,
            "tol": to(1e-4, "walk alone"),
            "gap": to(1e-3, "walk alone"),
            "max_iter": 1,
            "random_state": 1,
        },
    ),
    "MultipleRelationalEmbedding": Case(
        "relations",
        {"tol": 1e-4, "max_iter": 30, "random_state": 0},
        {
            **NEIGHBOURS,
            "n_components": 1,
            "transformation": "full",
            "weights": {"kind": 5.0},
            "latent_kernel": "student",
            "sparsity": 0.5,
            "use_data": False,
            "extend": to(False, "relation of some"),
            "init": "random",
            "max_iter": 2,
            "tol": 0.5,
            "random_state": to(1, init="random"),
        },
    ),
    "ProbabilisticPCA": Case(
        "rows",
        {"n_components": 2, "random_state": 0},
        {
            "n_components": 3,
            "standardize": True,
            "refinements": to(0, "gaps"),
            "max_iter": to(1, "gaps"),
            "tol": to(1e-6, "gaps"),
            "random_state": 1,
        },
    ),
    "PPCAMixture": Case(
        "rows",
        {"n_charts": 2, "n_components": 2, "random_state": 0},
        {
            "n_charts": 3,
            "n_components": 1,
            "covariance": to("diagonal", n_components="auto"),
            "n_init": 1,
            "noise_floor": 0.5,
            "max_iter": 1,
            "tol": to(1e-9, "many"),
            "random_state": 1,
        },
    ),
    "BernoulliMixture": Case(
        "bits",
        {"n_charts": 3, "random_state": 0},
        {
            "n_charts": 2,
            "smoothing": 8.0,
            "residuals": False,
            "binarize": to(0.7, "rows"),
            "n_init": 1,
            **EM,
            "random_state": 1,
        },
    ),
    "CoordinatedMixture": Case(
        "many",
        {"n_charts": 4, "random_state": 0},
        {**CHARTS, "alignment": "automatic", "n_neighbors": to(4, alignment="automatic")},
    ),
    "CoordinatedCCA": Case(
        "views",
        {"n_charts": 2, "random_state": 0},
        {**CHARTS, "views": to([[0, 1, 2], [3, 4]], "rows"), "regression": "charts"},
    ),
    "CountEncoder": Case("bits", {"n_components": 2}, {"n_components": 3}),
    "TableEncoder": Case(
        "table",
        {},
        {
            "kinds": {"code": "category"},
            "scaling": "standard",
            "tails": "keep",
            "min_frequency": 5,
            "n_text": 3,
            "random_state": 1,
        },
    ),
    "Imputer": Case("table", {}, {"method": "mixture", "kinds": {"code": "category"}, "random_state": 1}),
    "EquivalenceMetric": Case("labels", {}, {**METRIC, "n_components": 1, "form": "literal"}),
    "MultiAttributeMetric": Case("attributes", {}, {**METRIC, "n_components": 2, "form": "literal"}),
    "DistanceMetric": Case(
        "distances",
        {"regularization": 1e-2},
        {**METRIC, "n_components": 1, "prior": "trace", "regularization": 1.0, "max_iter": 2, "tol": 1e-2},
    ),
    "Autoencoder": Case(
        "rows",
        {"max_iter": 6, "random_state": 0},
        {
            **NETWORK,
            "n_components": 1,
            "hidden": (4,),
            "activation": to("relu", hidden=(4,)),
            "loss": to("cross-entropy", "bits"),
            "levels": to(2, "kinds", loss="multinomial", refused=True),
            "code_activation": "tanh",
            "sparsity": 0.5,
            "tied": True,
        },
    ),
    "BiasedAutoencoder": Case(
        "views",
        {"max_iter": 6, "n_components": 2, "random_state": 0},
        {
            **NETWORK,
            "n_components": None,
            "hidden": (4,),
            "predictor": (),
            "activation": "relu",
            "loss": to("cross-entropy", "bit views"),
            "levels": to(2, "kind views", loss="multinomial", refused=True),
            "reconstruction": 1.0,
        },
    ),
    "GatedAutoencoder": Case(
        "views",
        {"max_iter": 6, "n_mapping": 3, "random_state": 0},
        {
            **NETWORK,
            "n_mapping": 2,
            "n_factors": 4,
            "activation": "tanh",
            "biases": ("z", "y"),
            "premapping": (3,),
            "predictor": (4,),
            "loss": to("cross-entropy", "bit views"),
            "levels": to(2, "kind views", loss="multinomial", refused=True),
        },
    ),
    "RestrictedBoltzmannMachine": Case(
        "rows",
        {"max_iter": 6, "n_components": 3, "random_state": 0},
        {
            **MACHINE,
            "n_components": 2,
            "visible": to("binary", "bits"),
            "hidden": "gaussian",
            "levels": to(2, "kinds", visible="multinomial", refused=True),
            "negatives": "mean-field",
        },
    ),
    "GatedBoltzmannMachine": Case(
        "views",
        {"max_iter": 6, "n_mapping": 3, "random_state": 0},
        {
            **MACHINE,
            "n_mapping": 2,
            "n_factors": 4,
            "visible": to("binary", "bit views"),
            "noise": 0.5,
            "mapping": "gaussian",
            "levels": to(2, "kind views", visible="multinomial", refused=True),
            "biases": ("y", "z"),
            "premapping": (3,),
            "negatives": "sampled",
        },
    ),
    "GatedField": Case(
        "pictures",
        {"model": gated.GatedBoltzmannMachine(3, max_iter=3, batch_size=4, random_state=0), "patch_size": 3},
        {
            "model": gated.GatedBoltzmannMachine(2, max_iter=3, batch_size=4, random_state=0),
            "patch_size": 5,
            "stride": 2,
            "crop": 5,
        },
    ),
    "Manifield": Case(
        "lines",
        {
            "model": gated.BiasedAutoencoder(2, max_iter=3, batch_size=4, optimizer="adam", random_state=0),
            "patch_size": 3,
        },
        {
            "model": gated.BiasedAutoencoder(1, max_iter=3, batch_size=4, optimizer="adam", random_state=0),
            "patch_size": 5,
            "structure": to("grid", "square lines"),
            "residual": True,
            "alone": 0.0,
            "crop": 5,
        },
    ),
}
if not TORCH_THERE:
    CASES = {name: case for name, case in CASES.items() if hasattr(sidelight, name)}

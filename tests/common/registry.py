"""Every estimator and its variants: each goes through every contract of tests/common."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable

import numpy as np
from optional_torch import TORCH_THERE
from sklearn.base import BaseEstimator
from sklearn.manifold import Isomap
from sklearn.mixture import GaussianMixture

import sidelight
from sidelight import (
    ActionRespectingEmbedding,
    BernoulliMixture,
    CoordinatedCCA,
    CoordinatedMixture,
    CountEncoder,
    DistanceMetric,
    EquivalenceMetric,
    HybridEmbedding,
    Imputer,
    JointInformationEmbedding,
    KernelInformationEmbedding,
    MultiAttributeMetric,
    MultipleRelationalEmbedding,
    PPCAMixture,
    ProbabilisticPCA,
    SemidefiniteEmbedding,
    SmootherEmbedding,
    TableEncoder,
    TangentDistance,
    TwoWayEmbedding,
    UnsupervisedKernelRegression,
)

VARIANTS = {
    "kie": lambda: KernelInformationEmbedding(),
    "kie-levels": lambda: KernelInformationEmbedding(solver="multilevel"),
    "kie-quartic": lambda: KernelInformationEmbedding(latent_kernel="quartic", kernel="quartic", bandwidth=30.0),
    "kie-fixed-l4": lambda: KernelInformationEmbedding(bandwidth=4.0, penalty="l4", regularization=0.01),
    "kie-loo-l2": lambda: KernelInformationEmbedding(
        bandwidth="loo",
        penalty="l2",
        regularization=0.01,
        tol=1e-3,  # a sixth of the time
        init="pca",
    ),
    "kie-cosine-box": lambda: KernelInformationEmbedding(metric="cosine", penalty="box", n_neighbors=None),
    "kie-learned": lambda: KernelInformationEmbedding(bandwidth="learned"),
    "kie-random-5d": lambda: KernelInformationEmbedding(n_components=5, init="random", random_state=3),
    "smoother": lambda: SmootherEmbedding(),
    "smoother-fixed": lambda: SmootherEmbedding(bandwidth=4.0),
    "smoother-loo-3d": lambda: SmootherEmbedding(3, bandwidth="loo"),
    "ukr": lambda: UnsupervisedKernelRegression(),
    "ukr-l2-spectral-1d": lambda: UnsupervisedKernelRegression(1, penalty="l2", regularization=1e-4, init="spectral"),
    "ukr-random-3d": lambda: UnsupervisedKernelRegression(3, init="random", random_state=3, n_neighbors=None),
    "joint": lambda: JointInformationEmbedding(),
    "joint-fixed-l2": lambda: JointInformationEmbedding(bandwidth=4.0, penalty="l2", regularization=0.01),
    "hybrid": lambda: HybridEmbedding(),
    "hybrid-euclidean-heat": lambda: HybridEmbedding(3, metric="euclidean", heat=4.0, graph="union"),
    "hybrid-landmarks-lle": lambda: HybridEmbedding(locality="lle", n_landmarks=30, negative="shift", alpha=0.9),
    "hybrid-tangent": lambda: HybridEmbedding(metric=TangentDistance("shift"), alpha=0.2),
    "semidefinite-equal-3d": lambda: SemidefiniteEmbedding(3, equality=True, n_neighbors=3, gap=0.3, tol=0.05),
    "semidefinite": lambda: SemidefiniteEmbedding(n_landmarks=30, gap=0.3, tol=0.05),  # all rows would take seconds
    "action-respecting": lambda: ActionRespectingEmbedding(gap=0.3, tol=0.05),  # a tenth of the time
    "ppca": lambda: ProbabilisticPCA(2),
    "ppca-auto": lambda: ProbabilisticPCA(),
    "ppca-standardized-3d": lambda: ProbabilisticPCA(3, standardize=True),
    "coordinated": lambda: CoordinatedMixture(),
    "coordinated-parallel-smooth": lambda: CoordinatedMixture(n_charts=2, n_mixtures=2, smoothing=0.5, balance=None),
    "coordinated-gaussian-3d": lambda: CoordinatedMixture(3, mixture=GaussianMixture(2, random_state=0)),
    "coordinated-automatic": lambda: CoordinatedMixture(n_charts=2, alignment="automatic"),
    "cca": lambda: CoordinatedCCA(),
    "relational": lambda: MultipleRelationalEmbedding(),
    "relational-student-3d": lambda: MultipleRelationalEmbedding(3, latent_kernel="student", n_neighbors=None),
    "two-way": lambda: TwoWayEmbedding(),
    "two-way-isomap": lambda: TwoWayEmbedding(Isomap(n_neighbors=8, eigen_solver="dense")),
}
DEFAULTS = {
    name: VARIANTS[name]
    for name in (
        "kie",
        "joint",
        "smoother",
        "ukr",
        "hybrid",
        "semidefinite",
        "action-respecting",
        "ppca",
        "coordinated",
        "cca",
        "relational",
        "two-way",
    )
}
CHECKED = {**DEFAULTS, "cca": lambda: CoordinatedCCA(n_charts=2)}
"""Those that are fitted very often: CoordinatedMixture() already searches for its charts in each of these fits."""

DISTANCES = {"kie-precomputed": lambda: KernelInformationEmbedding(metric="precomputed", tol=1e-2, max_iter=30)}
"""Models of distances, which have no data to go back to and so go through scikit-learn's checks alone."""

METRICS = {
    "equivalence": lambda: EquivalenceMetric(),
    "multi-attribute": lambda: MultiAttributeMetric(),
    "distance": lambda: DistanceMetric(),
    "equivalence-literal-2d": lambda: EquivalenceMetric(2, form="literal"),
    "equivalence-rbf-columns": lambda: EquivalenceMetric(2, kernel="rbf", kernel_coordinates="columns"),
    "equivalence-rbf-2d": lambda: EquivalenceMetric(2, kernel="rbf"),
    "multi-attribute-poly": lambda: MultiAttributeMetric(kernel="poly", degree=2, regularization=1.0),
    "distance-identity": lambda: DistanceMetric(prior="identity"),
    "distance-rbf-2d": lambda: DistanceMetric(2, kernel="rbf", regularization=1e-2),
}
DEFAULT_METRICS = {name: METRICS[name] for name in ("equivalence", "multi-attribute", "distance")}

MIXTURES = {
    "ppca-mixture": lambda: PPCAMixture(10, 2),
    "ppca-mixture-one": lambda: PPCAMixture(1, 3),
    "ppca-mixture-bic": lambda: PPCAMixture("bic", n_init=1),
    "ppca-mixture-auto": lambda: PPCAMixture(),
    "ppca-mixture-diagonal": lambda: PPCAMixture(3, covariance="diagonal"),
    "bernoulli-mixture": lambda: BernoulliMixture(10),
    "bernoulli-mixture-auto": lambda: BernoulliMixture(),
}
"""The first of a class has numbers: a search would be made in each of many fits."""
ENCODERS = {
    "count-encoder": lambda: CountEncoder(3),
    "table-encoder": lambda: TableEncoder(),
    "table-encoder-standard": lambda: TableEncoder(scaling="standard"),
    "imputer": lambda: Imputer("gaussian"),
    "imputer-mixture": lambda: Imputer("mixture"),
    "imputer-neighbours": lambda: Imputer("neighbours"),
}
"""Transformers of tables, which have no latent space: scikit-learn's checks are in tests/tables."""

DEFAULT_MIXTURES = {name: MIXTURES[name] for name in ("ppca-mixture", "bernoulli-mixture")}


TORCH = (
    {}
    if not TORCH_THERE
    else {
        "autoencoder": lambda: sidelight.gated.Autoencoder(2, hidden=(4,), optimizer="adam", max_iter=10),
        "rbm": lambda: sidelight.gated.RestrictedBoltzmannMachine(4, max_iter=10),
    }
)
"""Models of rows that need torch, which is imported only when one is made."""

_EVERY = VARIANTS | METRICS | MIXTURES | ENCODERS
VARIANT_OF = {make: name for name, make in _EVERY.items()}
_FIRST = {*DEFAULTS, *DEFAULT_METRICS, *DEFAULT_MIXTURES, "count-encoder", "table-encoder", "imputer"}
_FURTHER_GATED = {"rbm-learned-persistent", "rbm-gaussian-hidden", "gbm-factored", "gbm-premapped"}
_FURTHER_GATED |= {
    "gbm-learned-few-biases",
    "gbm-persistent",
    "gated-rbm-learned-persistent",
    "gated-rbm-gaussian-hidden",
}
_FURTHER_GIVEN = {"cosine", "fixed", "period", "product-number", "random-3d", "student-straight", "loo-l2", "weight-0"}
FURTHER_VARIANTS = (_EVERY.keys() - _FIRST) | _FURTHER_GATED | _FURTHER_GIVEN
"""Variants beside the first of their class: their contracts are the thorough tests."""


def public_estimators() -> list[type]:
    names = [getattr(sidelight, name) for name in sidelight.__all__ if name != "gated"]  # needs torch, has no class
    return [item for item in names if inspect.isclass(item) and issubclass(item, BaseEstimator)]


def with_iterations(model: BaseEstimator, number: int) -> BaseEstimator:
    """The model with at most so many iterations (of each stage), for contracts that hold wherever a fit ends."""
    return model.set_params(max_iter=number) if "max_iter" in model.get_params(deep=False) else model


def blobs(n: int = 90, d: int = 5, seed: int = 0) -> np.ndarray:
    """Three clusters joined by a bend: small, and neither a line nor noise."""
    rng = np.random.default_rng(seed)
    t = rng.uniform(0, 3, n)
    X = rng.normal(scale=0.3, size=(n, d))
    X[:, 0] += 3 * np.cos(t)
    X[:, 1] += 3 * np.sin(t)
    X[:, 2] += np.floor(t)
    return X


@functools.cache
def fitted(make: Callable[[], BaseEstimator], n: int = 90, d: int = 5, dtype: str = "float64") -> BaseEstimator:
    """A model of ``blobs(n, d)``, made once for every test that only asks it something: not to be changed."""
    return make().fit(blobs(n, d).astype(dtype))


def turned(X, seed=0):
    """Rows with their columns moved one way or the other."""
    which = np.random.default_rng(seed).integers(2, size=(len(X), 1))
    return np.where(which, np.roll(X, 1, axis=1), X)

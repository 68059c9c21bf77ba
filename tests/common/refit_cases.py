"""Every estimator with a way to fit it, for tests of what a second fit leaves: tiny rows, few iterations."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from optional_torch import TORCH_THERE, gated
from registry import CHECKED, DISTANCES, ENCODERS, METRICS, MIXTURES, TORCH, VARIANTS, blobs, turned
from scipy.spatial.distance import cdist
from sklearn.decomposition import PCA

from sidelight import (
    ActionRespectingEmbedding,
    CoordinatedCCA,
    DistanceMetric,
    EquivalenceMetric,
    JointInformationEmbedding,
    KernelInformationEmbedding,
    MultiAttributeMetric,
    MultipleRelationalEmbedding,
    ProbabilisticPCA,
    Relation,
    TwoWayEmbedding,
)

if TORCH_THERE:
    from test_gated_contracts import GATED, RESTRICTED

Given = tuple[tuple[Any, ...], dict[str, Any]]
"""Arguments and keyword arguments of ``fit``."""
FEW = 2  # iterations, or of each stage
OLD, NEW = {"n": 30, "d": 5, "seed": 0}, {"n": 26, "d": 4, "seed": 1}
"""What the first fit sees, and the second: fewer rows, fewer columns."""


def rows(**size: int) -> Given:
    return (blobs(**size),), {}


def gaps(**size: int) -> Given:
    X = blobs(**size)
    X[::7, 1] = np.nan
    return (X,), {}


def distances(**size: int) -> Given:
    return (cdist(blobs(**size), blobs(**size)),), {}


def with_given(**size: int) -> Given:
    X = blobs(**size)
    return (X,), {"given": np.arange(len(X)) % 2}


def counts(**size: int) -> Given:
    return (np.abs(np.rint(3 * blobs(**size))),), {}


def with_hints(**size: int) -> Given:
    (X,), side = with_given(**size)
    return (X,), {**side, "same": np.array([[0, 1], [2, 5]])}


def two_views(**size: int) -> Given:
    X = blobs(**size)
    return (X, X[:, :3] @ np.random.default_rng(0).normal(size=(3, 4))), {}


def labelled(**size: int) -> Given:
    X = blobs(**size)
    return (X, np.arange(len(X)) % 3), {}


def measured(**size: int) -> Given:
    X = blobs(**size)
    pairs = np.random.default_rng(0).integers(len(X), size=(40, 2))
    pairs = np.unique(np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1), axis=0)
    return (X,), {"pairs": pairs, "distances": np.linalg.norm((X[pairs[:, 0]] - X[pairs[:, 1]])[:, :2], axis=1)}


def related(**size: int) -> Given:
    X = blobs(**size)
    return (X,), {"relations": {"class": Relation.from_labels(np.arange(len(X)) % 3)}}


def acted(**size: int) -> Given:
    """A walk back and forth on a line."""
    X = np.outer(np.abs(np.arange(24) % 10 - 5.0), np.arange(1, size["d"] + 1))
    X += 0.01 * np.random.default_rng(size["seed"]).normal(size=X.shape)
    return (X,), {"actions": np.where(np.arange(24) % 10 < 5, "left", "right")}


def embedded(**size: int) -> Given:
    X = blobs(**size)
    return (X,), {"embedding": X[:, :2]}


def paired(**size: int) -> Given:
    X = blobs(**size)
    return (X, turned(X)), {}


def pictures(**size: int) -> Given:
    """Pictures of as many channels as there are columns."""
    X = np.random.default_rng(size["seed"]).normal(size=(2, 9, 10, size["d"]))
    return (X, np.roll(X, 1, axis=2)), {}


def sequences(**size: int) -> Given:
    X = np.random.default_rng(size["seed"]).normal(size=(3, 20, size["d"]))
    return (X, np.cumsum(X, axis=1)), {}


def transformed(model: Any, given: Given) -> Any:
    (X, *_), _ = given
    return model.transform(X)


def inferred(model: Any, given: Given) -> Any:
    return model.infer(*given[0])


def predicted(model: Any, given: Given) -> Any:
    return model.predict(given[0][0])


@dataclass(frozen=True, eq=False)
class Case:
    """How to make a model, what to fit it to, what to ask it, and a parameter that it refuses."""

    make: Callable[[], Any]
    data: Callable[..., Given] = rows
    ask: Callable[[Any, Given], Any] = transformed
    refused: dict[str, Any] = field(default_factory=lambda: {"n_components": 0})

    def new(self) -> Any:
        """A model with few iterations."""
        model = self.make()
        few = {"max_iter": FEW, "model__max_iter": FEW, "n_init": 1}
        return model.set_params(**{name: few[name] for name in few if name in model.get_params()})

    def fitted(self) -> Any:
        """A model of the first data, which may be changed: its parts are shared by all that ask for it."""
        return copy.copy(_fitted(self))

    def fit(self, model: Any, size: dict[str, int], **other: Any) -> Any:
        """Fit to data of that size."""
        args, kwargs = self.data(**size)
        return model.fit(*args, **{**kwargs, **other})

    def bytes(self, model: Any, size: dict[str, int]) -> bytes:
        """What the model answers."""
        answer = self.ask(model, self.data(**size))
        return b"".join(np.asarray(part).tobytes() for part in (answer if isinstance(answer, list) else [answer]))

    def watched(self, model: Any, callback: Callable[[Any], Any]) -> Any:
        """The model with a callback, which a field has in its patch model."""
        if "callback" in model.get_params(deep=False):
            return model.set_params(callback=callback)
        return model.set_params(model=copy.copy(model.model).set_params(callback=callback))

    @property
    def is_watched(self) -> bool:
        """Whether the model asks a callback."""
        return bool({"callback", "model__callback"} & set(self.make().get_params()))


@functools.cache
def _fitted(case: Case) -> Any:
    return case.fit(case.new(), OLD)


def _refused(make: Callable[[], Any]) -> dict[str, Any]:
    known = make().get_params(deep=False)
    if "estimator" in known:
        return {"estimator": "no estimator"}
    names = ("n_init", "n_components", "n_mapping", "patch_size", "n_text", "method")
    return next({name: 0} for name in names if name in known)


_KIE = KernelInformationEmbedding
_QUICK: dict[str, Any] = {"max_iter": FEW, "random_state": 0}
INFORMED = {
    "kie-precomputed": (DISTANCES["kie-precomputed"], distances),
    "count-encoder": (ENCODERS["count-encoder"], counts),
    "kie-given": (lambda: _KIE(), with_given),
    "kie-hints": (lambda: _KIE(), with_hints),
    "kie-given-levels": (lambda: _KIE(solver="multilevel"), with_given),
    "kie-given-product": (lambda: _KIE(conditioning="product"), with_given),
    "kie-impute": (lambda: _KIE(missing="impute"), gaps),
    "joint-two-views": (lambda: JointInformationEmbedding(), two_views),
    "cca-two-views": (lambda: CoordinatedCCA(1, n_charts=2), two_views),
    "ppca-gaps": (lambda: ProbabilisticPCA(2), gaps),
    "ppca-auto-gaps": (lambda: ProbabilisticPCA(), gaps),
    "relational-related": (lambda: MultipleRelationalEmbedding(), related),
    "action-respecting-acted": (lambda: ActionRespectingEmbedding(merge=0.3), acted),
    "two-way-embedded": (lambda: TwoWayEmbedding(), embedded),
    "equivalence-labelled": (lambda: EquivalenceMetric(), labelled),
    "multi-attribute-labelled": (lambda: MultiAttributeMetric(1), labelled),
    "distance-measured": (lambda: DistanceMetric(), measured),
}
REGISTERED = {**VARIANTS, **CHECKED, **METRICS, **MIXTURES, **ENCODERS, **TORCH}
CASES = {
    **{name: Case(make, refused=_refused(make)) for name, make in REGISTERED.items()},
    **{name: Case(make, data, refused=_refused(make)) for name, (make, data) in INFORMED.items()},
    "two-way-around-kie": Case(
        lambda: TwoWayEmbedding(KernelInformationEmbedding(max_iter=FEW)), refused={"estimator": PCA}
    ),
}  # fmt: skip
if TORCH_THERE:
    CASES |= {
        **{f"gated-{name}": Case(make, refused=_refused(make)) for name, make in RESTRICTED.items()},
        **{name: Case(make, paired, inferred, _refused(make)) for name, make in GATED.items()},
        "biased": Case(lambda: gated.BiasedAutoencoder(2, **_QUICK), paired, predicted),
        "biased-adam": Case(lambda: gated.BiasedAutoencoder(2, optimizer="adam", **_QUICK), paired, predicted),
        "gated-autoencoder": Case(
            lambda: gated.GatedAutoencoder(2, predictor=(), **_QUICK), paired, predicted, {"n_mapping": 0}
        ),
        "gated-field": Case(
            lambda: gated.GatedField(gated.GatedBoltzmannMachine(2, batch_size=4, **_QUICK), 3),
            pictures,
            inferred,
            {"patch_size": 0},
        ),
        "manifield": Case(
            lambda: gated.Manifield(gated.BiasedAutoencoder(2, **_QUICK), 4), sequences, predicted, {"patch_size": 0}
        ),
    }
OTHER_NUMBERS = {"kie-quartic", "kie-fixed-l4", "kie-loo-l2", "kie-cosine-box", "kie-random-5d"}
OTHER_NUMBERS |= {"smoother-fixed", "smoother-loo-3d", "ukr-l2-spectral-1d", "ukr-random-3d", "joint-fixed-l2"}
OTHER_NUMBERS |= {"hybrid-euclidean-heat", "semidefinite-equal-3d", "ppca-standardized-3d", "relational-student-3d"}
OTHER_NUMBERS |= {"equivalence-literal-2d", "equivalence-rbf-columns", "distance-identity", "table-encoder-standard"}
"""Variants that compute other numbers by the same solver, and set the same attributes in the same order, as another
case of their class: what a second fit leaves of the first is asked of them in the slow tests."""


def params_of(names: Iterable[str]) -> list[Any]:
    """Parameters of a test, those of ``OTHER_NUMBERS`` slow."""
    return [pytest.param(name, marks=pytest.mark.slow if name in OTHER_NUMBERS else ()) for name in names]

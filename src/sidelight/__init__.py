"""Embeddings that you can inform, and that go both ways.

Estimators follow scikit-learn. A fitted model maps data to latent points (``transform``) and back
(``inverse_transform``), row by row. ``sidelight.save`` and ``sidelight.load`` keep a model in one plain file.

Public names are imported when they are first asked for, so that ``import sidelight`` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import datasets, evaluate, gated, plot, report
    from ._action_respecting_embedding import ActionRespectingEmbedding
    from ._bernoulli_mixture import BernoulliMixture
    from ._coordinated_cca import CoordinatedCCA
    from ._coordinated_mixture import CoordinatedMixture
    from ._distance_metric import DistanceMetric
    from ._embed_rows import embed_rows
    from ._equivalence_metric import EquivalenceMetric
    from ._hybrid_embedding import HybridEmbedding
    from ._joint_information_embedding import JointInformationEmbedding
    from ._kernel_information_embedding import KernelInformationEmbedding
    from ._multi_attribute_metric import MultiAttributeMetric
    from ._multiple_relational_embedding import MultipleRelationalEmbedding
    from ._ppca_mixture import PPCAMixture
    from ._probabilistic_pca import ProbabilisticPCA
    from ._semidefinite_embedding import SemidefiniteEmbedding
    from ._smoother_embedding import SmootherEmbedding
    from ._transformation_distances import ReconstructionDistance, TangentDistance
    from ._two_way_embedding import TwoWayEmbedding
    from ._unsupervised_kernel_regression import UnsupervisedKernelRegression
    from .persistence import load, save
    from .side.actions import Actions
    from .side.pairs import Pairs
    from .side.relations import Relation, Relations

__version__ = "0.1.0"

__all__ = [
    "ActionRespectingEmbedding",
    "Actions",
    "BernoulliMixture",
    "CoordinatedCCA",
    "CoordinatedMixture",
    "DistanceMetric",
    "EquivalenceMetric",
    "HybridEmbedding",
    "JointInformationEmbedding",
    "KernelInformationEmbedding",
    "MultiAttributeMetric",
    "MultipleRelationalEmbedding",
    "PPCAMixture",
    "Pairs",
    "ProbabilisticPCA",
    "ReconstructionDistance",
    "Relation",
    "Relations",
    "SemidefiniteEmbedding",
    "SmootherEmbedding",
    "TangentDistance",
    "TwoWayEmbedding",
    "UnsupervisedKernelRegression",
    "datasets",
    "embed_rows",
    "evaluate",
    "gated",
    "load",
    "plot",
    "report",
    "save",
]

_ROOMS = ("datasets", "distributed", "evaluate", "gated", "persistence", "plot", "report")
_MODULES = {
    "ActionRespectingEmbedding": "_action_respecting_embedding",
    "Actions": "side.actions",
    "BernoulliMixture": "_bernoulli_mixture",
    "CoordinatedCCA": "_coordinated_cca",
    "CoordinatedMixture": "_coordinated_mixture",
    "DistanceMetric": "_distance_metric",
    "EquivalenceMetric": "_equivalence_metric",
    "HybridEmbedding": "_hybrid_embedding",
    "JointInformationEmbedding": "_joint_information_embedding",
    "KernelInformationEmbedding": "_kernel_information_embedding",
    "MultiAttributeMetric": "_multi_attribute_metric",
    "MultipleRelationalEmbedding": "_multiple_relational_embedding",
    "PPCAMixture": "_ppca_mixture",
    "Pairs": "side.pairs",
    "ProbabilisticPCA": "_probabilistic_pca",
    "ReconstructionDistance": "_transformation_distances",
    "Relation": "side.relations",
    "Relations": "side.relations",
    "SemidefiniteEmbedding": "_semidefinite_embedding",
    "SmootherEmbedding": "_smoother_embedding",
    "TangentDistance": "_transformation_distances",
    "TwoWayEmbedding": "_two_way_embedding",
    "UnsupervisedKernelRegression": "_unsupervised_kernel_regression",
    "embed_rows": "_embed_rows",
    "load": "persistence",
    "save": "persistence",
}
"""Module of each public name."""


def __getattr__(name: str) -> Any:
    """Import a room or the module of a public name when it is first asked for."""
    if name in _ROOMS:
        return importlib.import_module(f"{__name__}.{name}")
    if name in _MODULES:
        value = getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_ROOMS, *_MODULES})

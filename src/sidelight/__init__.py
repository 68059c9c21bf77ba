"""Embeddings that you can inform, and that go both ways.

Estimators follow scikit-learn. A fitted model maps data to latent points (``transform``) and back
(``inverse_transform``), row by row. ``sidelight.save`` and ``sidelight.load`` keep a model in one plain file.

Public names are imported when they are first asked for, so that ``import sidelight`` costs next to nothing.

Docstrings and comments name the sources of the methods S0 to S4, with the chapter, section or equation:

S0  R. Memisevic, Non-linear latent factor models for revealing structure in high-dimensional data. PhD thesis,
    University of Toronto, 2007.
S1  R. Memisevic, Kernel information embeddings. International Conference on Machine Learning, 2006.
S2  J. Verbeek, N. Vlassis and B. Kröse, Non-linear feature extraction by the coordination of mixture models. Annual
    Conference of the Advanced School for Computing and Imaging, 2003.
S3  R. Memisevic, Machine Learning, lecture 6, 2011.
S4  A. Ghodsi, Nonlinear dimensionality reduction with side information. PhD thesis, University of Waterloo, 2005.
"""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import datasets, evaluate, explain, explorer, gated, plot, report
    from .coordinated.coordinated_cca import CoordinatedCCA
    from .coordinated.coordinated_mixture import CoordinatedMixture
    from .explorer.serving import explore
    from .information.annealing import Annealing
    from .information.conditioning import Conditioning
    from .information.embed_rows import embed_rows
    from .information.joint_information_embedding import JointInformationEmbedding
    from .information.kernel_information_embedding import KernelInformationEmbedding
    from .information.kernel_options import KernelOptions
    from .information.missing import Missing
    from .information.smoother_embedding import SmootherEmbedding
    from .information.unsupervised_kernel_regression import UnsupervisedKernelRegression
    from .metrics.distance_metric import DistanceMetric
    from .metrics.equivalence_metric import EquivalenceMetric
    from .metrics.multi_attribute_metric import MultiAttributeMetric
    from .mixtures.bernoulli_mixture import BernoulliMixture
    from .mixtures.ppca_mixture import PPCAMixture
    from .mixtures.probabilistic_pca import ProbabilisticPCA
    from .persistence import load, save
    from .relational.multiple_relational_embedding import MultipleRelationalEmbedding
    from .side.actions import Actions
    from .side.pairs import Pairs
    from .side.relation import Relation
    from .side.relations import Relations
    from .spectral.hybrid_embedding import HybridEmbedding
    from .spectral.reconstruction_distance import ReconstructionDistance
    from .spectral.tangent_distance import TangentDistance
    from .tables.count_encoder import CountEncoder
    from .tables.imputer import Imputer
    from .tables.table_encoder import TableEncoder
    from .two_way.two_way_embedding import TwoWayEmbedding
    from .unfolding.action_respecting_embedding import ActionRespectingEmbedding
    from .unfolding.semidefinite_embedding import SemidefiniteEmbedding

__version__ = "0.2.0"

__all__ = [
    "ActionRespectingEmbedding",
    "Actions",
    "Annealing",
    "BernoulliMixture",
    "Conditioning",
    "CoordinatedCCA",
    "CoordinatedMixture",
    "CountEncoder",
    "DistanceMetric",
    "EquivalenceMetric",
    "HybridEmbedding",
    "Imputer",
    "JointInformationEmbedding",
    "KernelInformationEmbedding",
    "KernelOptions",
    "Missing",
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
    "TableEncoder",
    "TangentDistance",
    "TwoWayEmbedding",
    "UnsupervisedKernelRegression",
    "datasets",
    "embed_rows",
    "evaluate",
    "explain",
    "explore",
    "explorer",
    "gated",
    "load",
    "plot",
    "report",
    "save",
]

if find_spec("torch") is None:  # a star import would ask for it
    __all__.remove("gated")

_ROOMS = (
    "anndata", "datasets", "distributed", "evaluate", "explain", "explorer", "gated", "persistence", "pipeline", "plot",
    "report",
)  # fmt: skip
_MODULES = {
    "ActionRespectingEmbedding": "unfolding.action_respecting_embedding",
    "Actions": "side.actions",
    "Annealing": "information.annealing",
    "BernoulliMixture": "mixtures.bernoulli_mixture",
    "Conditioning": "information.conditioning",
    "CoordinatedCCA": "coordinated.coordinated_cca",
    "CoordinatedMixture": "coordinated.coordinated_mixture",
    "CountEncoder": "tables.count_encoder",
    "DistanceMetric": "metrics.distance_metric",
    "EquivalenceMetric": "metrics.equivalence_metric",
    "HybridEmbedding": "spectral.hybrid_embedding",
    "Imputer": "tables.imputer",
    "JointInformationEmbedding": "information.joint_information_embedding",
    "KernelInformationEmbedding": "information.kernel_information_embedding",
    "KernelOptions": "information.kernel_options",
    "Missing": "information.missing",
    "MultiAttributeMetric": "metrics.multi_attribute_metric",
    "MultipleRelationalEmbedding": "relational.multiple_relational_embedding",
    "PPCAMixture": "mixtures.ppca_mixture",
    "Pairs": "side.pairs",
    "ProbabilisticPCA": "mixtures.probabilistic_pca",
    "ReconstructionDistance": "spectral.reconstruction_distance",
    "Relation": "side.relation",
    "Relations": "side.relations",
    "SemidefiniteEmbedding": "unfolding.semidefinite_embedding",
    "SmootherEmbedding": "information.smoother_embedding",
    "TableEncoder": "tables.table_encoder",
    "TangentDistance": "spectral.tangent_distance",
    "TwoWayEmbedding": "two_way.two_way_embedding",
    "UnsupervisedKernelRegression": "information.unsupervised_kernel_regression",
    "embed_rows": "information.embed_rows",
    "explore": "explorer.serving",
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
    return sorted({*(name for name in globals() if name.startswith("__")), *_ROOMS, *_MODULES})

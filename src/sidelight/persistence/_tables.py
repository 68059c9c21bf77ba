"""Names allowed in a model file. A new class, record or function is one line here.

A file holds names, never paths: the module beside each name comes from this source and from nowhere else, and
is imported only when a model that needs it is saved or loaded.
"""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Callable
from functools import cache
from typing import Any

from ._sklearn_steps import NAMED_FUNCTIONS

__all__ = ["ESTIMATORS", "RECORDS", "callables", "estimator_class", "record_class"]

ESTIMATORS: dict[str, str] = {
    "ActionRespectingEmbedding": "sidelight",
    "Autoencoder": "sidelight.gated",
    "BernoulliMixture": "sidelight",
    "BiasedAutoencoder": "sidelight.gated",
    "CoordinatedCCA": "sidelight",
    "CoordinatedMixture": "sidelight",
    "CountEncoder": "sidelight",
    "DistanceMetric": "sidelight",
    "EquivalenceMetric": "sidelight",
    "GatedAutoencoder": "sidelight.gated",
    "GatedBoltzmannMachine": "sidelight.gated",
    "GatedField": "sidelight.gated",
    "HybridEmbedding": "sidelight",
    "Imputer": "sidelight",
    "JointInformationEmbedding": "sidelight",
    "KernelInformationEmbedding": "sidelight",
    "Manifield": "sidelight.gated",
    "MultiAttributeMetric": "sidelight",
    "MultipleRelationalEmbedding": "sidelight",
    "PPCAMixture": "sidelight",
    "ProbabilisticPCA": "sidelight",
    "RestrictedBoltzmannMachine": "sidelight.gated",
    "SemidefiniteEmbedding": "sidelight",
    "SmootherEmbedding": "sidelight",
    "TableEncoder": "sidelight",
    "TwoWayEmbedding": "sidelight",
    "UnsupervisedKernelRegression": "sidelight",
}
"""Name of an estimator -> module that has it."""

RECORDS: dict[str, str] = {
    "ActionDynamics": "sidelight.unfolding._action_dynamics",
    "Actions": "sidelight",
    "AdaptedRows": "sidelight.information._adapt",
    "AdaptiveWeights": "sidelight.maps.weights",
    "AngleCode": "sidelight.tables._number_code",
    "Annealing": "sidelight",
    "AutoencoderArchitecture": "sidelight.gated._network_architectures",
    "BernoulliCharts": "sidelight.maps.bernoulli_charts",
    "BiasedArchitecture": "sidelight.gated._network_architectures",
    "Blend": "sidelight.maps.entry_densities",
    "Calibration": "sidelight.maps.calibration",
    "CalibrationSummary": "sidelight.maps.calibration_summary",
    "CategoryCode": "sidelight.tables._category_code",
    "ChangeModel": "sidelight.maps.changed_rows",
    "ChartedView": "sidelight.maps.coordinated",
    "Column": "sidelight.side.given",
    "Conditioning": "sidelight",
    "ColumnBlock": "sidelight.tables._encoding",
    "ColumnFill": "sidelight.tables._column_fill",
    "ColumnLayout": "sidelight.tables._table_layout",
    "ColumnUse": "sidelight.tables._column_kinds",
    "CoordinatedMap": "sidelight.maps.coordinated",
    "Correction": "sidelight.maps.interpolation",
    "CrossView": "sidelight.maps.cross_view",
    "DateCode": "sidelight.tables._date_code",
    "Effect": "sidelight.maps.effect",
    "EntryModel": "sidelight.maps.entry_models",
    "FieldLayout": "sidelight.gated._field_reader",
    "FillPlan": "sidelight.tables._fill_plan",
    "FixedWeights": "sidelight.maps.weights",
    "Forest": "sidelight.maps.forest_fill",
    "ForestFill": "sidelight.maps.forest_fill",
    "ForeignEstimator": "sidelight.persistence._encode",
    "Frame": "sidelight.maps.frames",
    "GatedArchitecture": "sidelight.gated._network_architectures",
    "GatedMachineArchitecture": "sidelight.gated._machine_architectures",
    "Gaussian": "sidelight.objectives.gaussian",
    "GaussianCharts": "sidelight.maps.charts",
    "Gaussians": "sidelight.objectives.gaussian_charts",
    "Given": "sidelight.side.given",
    "InterpolatingMap": "sidelight.maps.interpolation",
    "KernelColumns": "sidelight.maps.span",
    "KernelMap": "sidelight.maps.kernel_map",
    "KernelOptions": "sidelight",
    "KernelProjection": "sidelight.maps.kernel_projection",
    "KernelRegression": "sidelight.maps.kernel_view",
    "KernelShape": "sidelight.maps.kernel_view",
    "KernelSpan": "sidelight.maps.span",
    "LatentCharts": "sidelight.maps.coordinated",
    "LeadingComponents": "sidelight.maps.reduced_charts",
    "LinearGaussian": "sidelight.objectives.linear_gaussian",
    "LinearGaussianMaps": "sidelight.maps.linear_gaussian_maps",
    "LinearMaps": "sidelight.maps.linear",
    "LocalOffsets": "sidelight.maps.local_offsets",
    "LocalFill": "sidelight.maps.missing",
    "Missing": "sidelight",
    "MeasuredFrame": "sidelight.unfolding._measured_rows",
    "NumberCode": "sidelight.tables._number_code",
    "NystromMap": "sidelight.maps.nystrom",
    "OrdinalCode": "sidelight.tables._category_code",
    "ParzenDensity": "sidelight.maps.parzen",
    "PlaneCharts": "sidelight.maps.plane_charts",
    "Planes": "sidelight.objectives.mixtures",
    "PrecomputedWeights": "sidelight.maps.weights",
    "ReconstructionDistance": "sidelight",
    "ReducedCharts": "sidelight.maps.reduced_charts",
    "Regression": "sidelight.maps.cross_view",
    "Relation": "sidelight",
    "Relations": "sidelight",
    "RestrictedArchitecture": "sidelight.gated._machine_architectures",
    "RigidMap": "sidelight.maps.rigid",
    "RowSample": "sidelight.maps.parameter_draws",
    "SideKernel": "sidelight.kernels.side_kernel",
    "TableLayout": "sidelight.tables._table_layout",
    "TangentDistance": "sidelight",
    "TextCode": "sidelight.tables._text_code",
    "TruncatedBasis": "sidelight.maps.truncated",
    "TruncatedFrame": "sidelight.maps.truncated",
    "ViewMaps": "sidelight.maps.views",
    "WidthTable": "sidelight.maps.calibration_summary",
}
"""Name of a dataclass -> module that has it."""


def estimator_class(name: str) -> type[Any] | None:
    """Return the estimator of that name, or None when the table does not have it."""
    return _find(ESTIMATORS, name)


def record_class(name: str) -> type[Any] | None:
    """Return the dataclass of that name, or None when the table does not have it."""
    found = _find(RECORDS, name)
    return found if found is not None and dataclasses.is_dataclass(found) else None


def _find(table: dict[str, str], name: str) -> type[Any] | None:
    module = table.get(name)
    found = None if module is None else getattr(importlib.import_module(module), name, None)
    return found if isinstance(found, type) else None


@cache
def callables() -> dict[str, Callable[..., Any]]:
    """Return the functions a parameter may name: NumPy's ufuncs and summaries, scikit-learn's pairwise ones.

    Only functions that compute: ``numpy.save`` is a public name too, and no file should be able to ask for
    it.
    """
    import numpy as np
    from sklearn import feature_selection
    from sklearn.metrics import pairwise

    summaries = ("mean", "median", "std", "var", "sum", "min", "max", "prod")
    found: dict[str, Callable[..., Any]] = {f"numpy.{name}": getattr(np, name) for name in summaries}
    for name in sorted(vars(np)):
        if isinstance(getattr(np, name), np.ufunc):
            found.setdefault(f"numpy.{name}", getattr(np, name))
    for table in (pairwise.PAIRWISE_KERNEL_FUNCTIONS, pairwise.PAIRWISE_DISTANCE_FUNCTIONS):
        for function in table.values():
            if callable(function):
                found[f"sklearn.{function.__name__}"] = function
    found |= {f"sklearn.{name}": getattr(feature_selection, name) for name in NAMED_FUNCTIONS}
    return found

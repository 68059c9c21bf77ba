"""Preprocessing steps that are linear: as matrices, and derivatives of a Pipeline through them.

    ξ = x F + constant,      x ≈ ξ G + constant              x (d,) a row of data, ξ (k,), F (d, k), G (k, d)

Scalers, PCA, truncated SVD and linear metrics. With the derivatives of the last step, J (m, q, k) and B (m, k, q):

    ∂z/∂x = J Fᵀ,      ∂x/∂z = Gᵀ B
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.pipeline import Pipeline

__all__ = ["flat_steps", "linear_matrices", "slopes_by_data", "slopes_of_data", "step_without_slopes", "times"]

Array = npt.NDArray[Any]


def step_without_slopes(steps: Sequence[Any]) -> Any:
    """The first step that is not linear; None: all are."""
    return next((step for step in flat_steps(steps) if linear_matrices(step) is None), None)


def slopes_by_data(J: Array, steps: Sequence[Any], columns: Array | None) -> Array:
    """Derivatives (m, q, d) by all or some ``columns`` of the data, from those by the last step's columns (m, q, k)."""
    pairs = [pair for step in flat_steps(steps) if (pair := linear_matrices(step)) is not None]
    for forward, _ in reversed(pairs):
        J = J * forward if forward.ndim == 1 else J @ forward.T
    return J if columns is None else J[:, :, columns]


def slopes_of_data(B: Array, steps: Sequence[Any], columns: Array | None) -> Array:
    """Derivatives (m, d, q) of all or some ``columns`` of the data, from those of the last step's columns (m, k, q)."""
    pairs = [pair for step in flat_steps(steps) if (pair := linear_matrices(step)) is not None]
    for _, back in reversed(pairs):
        B = back[:, None] * B if back.ndim == 1 else np.matmul(back.T, B)
    return B if columns is None else B[:, columns]


def flat_steps(steps: Sequence[Any]) -> list[Any]:
    """Steps, with those of Pipelines among them in their place."""
    found: list[Any] = []
    for step in steps:
        inner = (
            [part for _, part in step.steps if part not in (None, "passthrough")] if isinstance(step, Pipeline) else []
        )
        found += flat_steps(inner) if isinstance(step, Pipeline) else [step]
    return found


def linear_matrices(step: Any) -> tuple[Array, Array] | None:
    """F and G of a linear step, as matrices or, for scalers, diagonals (d,); None for other steps."""
    kind = type(step).__name__
    if type(step).__module__.startswith("sklearn.preprocessing"):
        return _of_scaler(step, kind)
    if kind in ("PCA", "IncrementalPCA"):
        V = np.asarray(step.components_, dtype=np.float64)
        if not step.whiten:
            return V.T, V
        spread = np.sqrt(np.maximum(step.explained_variance_, np.finfo(np.float64).eps ** 2))
        return V.T / spread, V * spread[:, None]
    if kind == "TruncatedSVD":
        return np.asarray(step.components_.T, dtype=np.float64), np.asarray(step.components_, dtype=np.float64)
    if kind in ("EquivalenceMetric", "MultiAttributeMetric", "DistanceMetric") and step.span_ is None:
        return step.components_.T, step.inverse_components_
    return None


def _of_scaler(step: Any, kind: str) -> tuple[Array, Array] | None:
    scale: Any = None
    if kind in ("StandardScaler", "RobustScaler", "MaxAbsScaler"):
        scale = np.ones(step.n_features_in_) if step.scale_ is None else 1.0 / np.asarray(step.scale_, dtype=np.float64)
    elif kind == "MinMaxScaler" and not step.clip:
        scale = np.asarray(step.scale_, dtype=np.float64)
    return None if scale is None else (scale, 1.0 / scale)


def times(A: Array, B: Array) -> Array:
    """The product of two matrices, either of which may be a diagonal (d,)."""
    if A.ndim == 1:
        return A * B if B.ndim == 1 else A[:, None] * B
    return A * B if B.ndim == 1 else np.asarray(A @ B)

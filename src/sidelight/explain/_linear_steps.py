"""Preprocessing steps of a Pipeline that are linear in some units of the features.

    ξ = u F + constant,      u ≈ ξ G + constant              u (d,) features in these units, ξ (k,), F (d, k), G (k, d)

The units are the data's own for scalers, PCA, truncated SVD and linear metrics. For ``CountEncoder`` they are deviance
residuals of the counts: a count's own derivative is infinite at 0. Steps that are not linear (``TableEncoder``,
imputers, ...) are applied first, and the features are the columns that they return.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.base.linear_steps import flat_steps, linear_matrices, times
from sidelight.tables.count_encoder import CountEncoder, deviance_residuals

__all__ = ["LinearSteps", "linear_steps"]

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class LinearSteps:
    """Linear steps as one.

    Parameters
    ----------
    units : callable
        Rows, as a user gives them, to features (m, d) in units in which the steps are linear.
    transform : callable
        Rows to the columns that the last step of a Pipeline sees.
    forward, back : arrays of shape (d, k) and (k, d), or None
        F and G; a diagonal (d,) where the steps scale columns; None: the identity.
    names : list of str or None
        Of the features; None: they have none.
    residuals : bool
        Whether the units are residuals of counts.
    """

    units: Callable[[Any], Array]
    transform: Callable[[Any], Any]
    forward: Array | None = None
    back: Array | None = None
    names: list[str] | None = None
    residuals: bool = False


def linear_steps(steps: Sequence[Any], names: list[str] | None) -> LinearSteps:
    """Read the fitted steps before the model; ``names`` of the columns of the data, if they have any."""
    flat = flat_steps(steps)
    linear: list[tuple[Array, Array]] = []
    first = len(flat)
    while first and (found := linear_matrices(flat[first - 1])) is not None:
        linear.insert(0, found)
        first -= 1
    before, residuals, units = flat[:first], False, _dense
    if before and isinstance(before[-1], CountEncoder):
        encoder = before.pop()
        linear.insert(0, (encoder.reduction_.basis, encoder.reduction_.basis.T))
        residuals, units = True, lambda X: deviance_residuals(encoder, X)
    if before:
        names = [str(name) for name in before[-1].get_feature_names_out()] if not residuals else names

    def applied(X: Any) -> Any:
        for step in before:
            X = step.transform(X)
        return X

    def transform(X: Any) -> Any:
        for step in flat:
            X = step.transform(X)
        return X

    forward = back = None
    for F, G in linear:
        forward = F if forward is None else times(forward, F)
        back = G if back is None else times(G, back)
    return LinearSteps(lambda X: units(applied(X)), transform, forward, back, names, residuals)


def _dense(X: Any) -> Array:
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)

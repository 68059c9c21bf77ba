r"""Reconstruction error of two-way models: rows mapped to the latent space and back.

.. math::

    E = \sqrt{\tfrac1n \sum_i |x_i - f(g(x_i))|^2}, \qquad
    E_\text{relative} = E \Big/ \sqrt{\tfrac1n \sum_i |x_i - \bar x|^2}
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array

from sidelight.base.messages import error_message

__all__ = ["TwoWay", "reconstruction_error"]


class TwoWay(Protocol):
    """Anything that maps rows to the map and back."""

    def denoise(self, X: Any) -> Any:
        """Return inverse_transform(transform(X))."""
        ...


def reconstruction_error(model: TwoWay, X: ArrayLike, *, relative: bool = True) -> float:
    """Measure the distance between rows and their reconstructions ``model.denoise(X)`` (0 is best).

    Parameters
    ----------
    model : fitted two-way model
        Any model with a method ``denoise(X)`` that returns an array of the shape of ``X``.
    X : array-like of shape (n, d)
        Rows, new or those of the fit.
    relative : bool
        Divide by the rows' root mean squared distance from their mean, so that predicting the mean scores 1. Constant
        data scores 0 if reconstructed exactly, and infinity otherwise.

    See Also
    --------
    trustworthiness : Of neighbours instead of values.
    """
    given = check_array(X, dtype=np.float64, input_name="X", estimator="reconstruction_error")
    back = check_array(model.denoise(X), dtype=np.float64, input_name="model.denoise(X)")
    if back.shape != given.shape:
        rule = f"does not have the shape of X {given.shape}"
        remedy = "Give a model fitted on such rows"
        raise ValueError(error_message("reconstruction_error", "model.denoise(X)", str(back.shape), rule, remedy))
    # Squares of 1e150 overflow: measure in units of the largest value.
    unit = max(float(np.abs(given).max()), float(np.abs(back).max())) or 1.0
    given, back = given / unit, back / unit
    error = float(np.sqrt(np.square(given - back).sum(axis=1).mean()))
    if not relative:
        return error * unit
    spread = float(np.sqrt(np.square(given - given.mean(axis=0)).sum(axis=1).mean()))
    if np.ptp(given, axis=0).max() == 0.0:
        return 0.0 if error == 0.0 else float("inf")
    return error / spread

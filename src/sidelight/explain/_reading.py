"""A fitted model and rows as attributions see them: features in some units, coordinates of the map, and the map itself.

    ξ = u F,    y = ξ - E(ξ, given),    z = m(y)          u (n, d) features, ξ and y (n, k) coordinates, z (n, q) places

E is the effect of ``given`` that the model subtracts: features are looked at after it, ``u - E G``, with G (k, d) the
way back from coordinates to features. So ``(u - E G) F = y``, and contributions of features sum to those of y.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from sidelight.base.capabilities import axis_names_of, capabilities, feature_names_of, given_of
from sidelight.base.chain import Chain, as_chain, last_step_of
from sidelight.base.messages import error_message
from sidelight.base.tiles import spans
from sidelight.base.warnings import DesignWarning, warn
from sidelight.maps.smooth_map import SmoothMap

from ._linear_steps import LinearSteps, linear_steps

__all__ = ["Reading", "back_rows", "read_model", "take_rows"]

Array = npt.NDArray[Any]
_BUDGET = 8_000_000  # numbers of the features that are held at a time


@dataclass(frozen=True)
class Reading:
    """Rows of one call.

    Parameters
    ----------
    smooth : SmoothMap
        From y.
    rows : array, sparse array or table of n rows
    coordinates : array of shape (n, k)
        y.
    effect : array of shape (n, k) or None
        E.
    steps : LinearSteps
    features, axes : lists of str
        Names of the features and of the latent coordinates.
    """

    smooth: SmoothMap
    rows: Any
    coordinates: Array
    effect: Array | None
    steps: LinearSteps
    features: list[str]
    axes: list[str]

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.coordinates)

    def units(self, rows: Array) -> Array:
        """Features (m, d) of some rows, after the effect of ``given``."""
        u = self.steps.units(take_rows(self.rows, rows))
        if self.effect is None:
            return u
        return np.asarray(u - _times(_back(self.effect[rows], self.smooth.basis), self.steps.back))

    def tiles(self, rows: Array) -> list[Array]:
        """The row numbers in parts whose features fit into memory."""
        size = max(1, _BUDGET // max(1, len(self.features)))
        return [rows[part] for part in spans(len(rows), size)]

    def of_features(self, J: Array) -> Array:
        """Jacobians (m, q, d) by the features, from those by the coordinates (m, q, k)."""
        J = self.smooth.in_columns(J)
        F = self.steps.forward
        if F is None:
            return J
        m, q, k = J.shape
        return np.asarray(J * F if F.ndim == 1 else (J.reshape(m * q, k) @ F.T).reshape(m, q, -1))


def read_model(owner: str, model: Any, X: Any, given: Any) -> Reading:
    """Read a fitted model, or a Pipeline of steps and a model, and rows; raises where there is no derivative."""
    chain = as_chain(model)
    last = last_step_of(chain)
    check_is_fitted(last)
    _require(owner, last, "jacobian")
    before = chain.before if isinstance(chain, Chain) else ()
    steps = linear_steps(before, feature_names_of(chain))
    seen = steps.transform(X)
    n = seen.shape[0] if hasattr(seen, "shape") else len(seen)
    if given is not None and not capabilities(last).takes_given:
        rule = "cannot be used by a model that takes none"
        raise ValueError(error_message(owner, "given", "something", rule, "Leave it out"))
    _warn_of_left_out(owner, last, given)
    smooth: SmoothMap = last._explained_map(given, n)
    C = np.asarray(smooth.coordinates(seen), dtype=np.float64)
    effect = None if smooth.shift is None else smooth.shift(C)
    features = steps.names or _numbered(steps, before, X, chain)
    return Reading(smooth, X, C if effect is None else C - effect, effect, steps, features, _axes(last))


def _warn_of_left_out(owner: str, last: Any, given: Any) -> None:
    """Warn that a model which was fitted with ``given`` is explained without it."""
    known = given_of(last)
    if given is None and known is not None:
        names = ", ".join(repr(column.name) for column in known.columns)
        rule = f"leaves out {names}, which the model was given: the map that averages over it is explained"
        warn(error_message(owner, "given", None, rule, "Pass given= to explain the map of the fit"), DesignWarning)


def back_rows(owner: str, model: Any, Z: Array, given: Any) -> Callable[[Array], Array]:
    """Function of row numbers that returns features (m, d) of ``inverse_transform`` at their places Z (n, q).

    Up to a constant; with ``given``, less those at the middle of the map with the same ``given``, so that its effect is
    not among them.
    """
    chain = as_chain(model)
    last = last_step_of(chain)
    _require(owner, last, "inverse_transform")
    steps = linear_steps(chain.before if isinstance(chain, Chain) else (), None)
    middle = Z.mean(axis=0, keepdims=True)

    def back(rows: Array) -> Array:
        side = {} if given is None else {"given": take_rows(given, rows)}
        found = np.asarray(last.inverse_transform(Z[rows], **side), dtype=np.float64)
        if given is not None:
            found = found - last.inverse_transform(np.repeat(middle, len(rows), axis=0), **side)
        return _times(found, steps.back)

    return back


def take_rows(X: Any, rows: Array) -> Any:
    """Some rows of an array, a sparse array, a table, a list, or one value for all rows."""
    if isinstance(X, dict):
        return {name: take_rows(values, rows) for name, values in X.items()}
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if np.ndim(X) == 0 and not hasattr(X, "shape"):
        return X
    return X[rows] if hasattr(X, "shape") else [X[int(row)] for row in rows]


def _require(owner: str, last: Any, method: str) -> None:
    try:
        getattr(last, method)
    except AttributeError as refused:
        if refused.__cause__ is not None:
            raise ValueError(str(refused.__cause__)) from None
        remedy = "Give a model of this library; TwoWayEmbedding makes one of any embedding"
        raise ValueError(error_message(owner, "model", type(last).__name__, f"has no {method}", remedy)) from None


def _back(C: Array, basis: Array | None) -> Array:
    return C if basis is None else np.asarray(C @ basis.T)


def _times(A: Array, B: Array | None) -> Array:
    if B is None:
        return A
    return np.asarray(A * B if B.ndim == 1 else A @ B)


def _numbered(steps: LinearSteps, before: Any, X: Any, chain: Any) -> list[str]:
    d = int(chain.n_features_in_) if not before or steps.residuals else steps.units(take_rows(X, np.arange(1))).shape[1]
    return [str(column) for column in range(d)]


def _axes(last: Any) -> list[str]:
    names = axis_names_of(last)
    count = len(last.get_feature_names_out())
    return [f"{a + 1} ({names[a]})" if names and names[a] else str(a + 1) for a in range(count)]

"""Mixin with the derivatives of both maps of an estimator; ``maps.smooth_map`` has the map, the estimator makes it."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.metaestimators import available_if

from sidelight.base.columns import chosen_columns
from sidelight.base.messages import error_message
from sidelight.base.tiles import one_blas_thread

from .smooth_map import SmoothMap

__all__ = ["InverseJacobianMixin", "JacobianMixin", "complete_rows", "has_inverse_jacobian", "has_jacobian"]

Array = npt.NDArray[Any]


def has_jacobian(model: JacobianMixin) -> bool:
    """Whether ``transform`` of the model has a derivative in closed form; where not, an AttributeError says why."""
    return _allowed(model, "X", model._no_jacobian())


def has_inverse_jacobian(model: InverseJacobianMixin) -> bool:
    """The same for ``inverse_transform``."""
    return _allowed(model, "Z", model._no_inverse_jacobian())


def _allowed(model: object, argument: str, reason: str | None) -> bool:
    if reason is None:
        return True
    remedy = "Embed with TwoWayEmbedding or KernelInformationEmbedding, whose maps have derivatives"
    raise AttributeError(error_message(model, argument, "any rows", reason, remedy))


class JacobianMixin:
    """``jacobian``, for an estimator that says how its map from rows to latent points is differentiated."""

    n_features_in_: int

    @available_if(has_jacobian)
    @one_blas_thread
    def jacobian(self, X: Any, *, columns: Any = None) -> Array:
        """Derivatives of ``transform`` at rows.

        Parameters
        ----------
        X : array of shape (m, d)
        columns : names, numbers or mask, default=None
            Columns of the data to differentiate by, in this order; None: all.

        Returns
        -------
        J : array of shape (m, q, d), or (m, q, len(columns))
            ``J[i, a, j]``: how much latent coordinate a of row i moves per unit of column j.
        """
        return self._jacobian(X, None, columns)

    def _jacobian(self, X: Any, given: object, columns: Any) -> Array:
        smooth = self._smooth_map(given, _count(X))
        C = smooth.coordinates(X)
        J = smooth.in_columns(smooth.slope(C, np.arange(len(C))), self._chosen(columns))
        return np.asarray(J.astype(C.dtype if C.dtype == np.float32 else np.float64, copy=False))

    @abstractmethod
    def _smooth_map(self, given: object, n: int) -> SmoothMap:
        """The map and its derivative, for n rows with this ``given``."""

    def _explained_map(self, given: object, n: int) -> SmoothMap:
        """The same for attributions, which look at rows after the effect of ``given`` where the model subtracts one."""
        return self._smooth_map(given, n)

    def _no_jacobian(self) -> str | None:
        """Why ``transform`` has no derivative in closed form; None: it has one."""
        return None

    def _chosen(self, columns: Any) -> Array | None:
        """Numbers (c,) of the columns asked for; None: all."""
        names = getattr(self, "feature_names_in_", None)
        return None if columns is None else chosen_columns(self, columns, self.n_features_in_, names)


class InverseJacobianMixin(JacobianMixin):
    """``jacobian`` and ``inverse_jacobian``."""

    @available_if(has_inverse_jacobian)
    @one_blas_thread
    def inverse_jacobian(self, X: Any, *, columns: Any = None) -> Array:
        """Derivatives of ``inverse_transform`` at latent points.

        Parameters
        ----------
        X : array of shape (m, q)
            Latent points.
        columns : names, numbers or mask, default=None
            Columns of the data whose derivatives are wanted, in this order; None: all.

        Returns
        -------
        J : array of shape (m, d, q), or (m, len(columns), q)
            ``J[i, j, a]``: how much column j changes per unit of latent coordinate a.
        """
        Z = self._checked_latent(X)
        return np.asarray(self._inverse_slopes(Z, None, self._chosen(columns)).astype(Z.dtype, copy=False))

    @abstractmethod
    def _inverse_slopes(self, Z: Array, given: object, columns: Array | None) -> Array:
        """Jacobians (m, d, q) of ``inverse_transform`` at validated latent points, or (m, c, q) of some columns."""

    @abstractmethod
    def _checked_latent(self, X: Any) -> Array:
        """Validated latent points (m, q)."""

    def _no_inverse_jacobian(self) -> str | None:
        """Why ``inverse_transform`` has no derivative in closed form; None: it has one."""
        return None


def complete_rows(owner: object, X: Array) -> Array:
    """Rows without missing entries; others are refused."""
    if np.isnan(X).any():
        rule = "has no derivative by entries that are missing"
        raise ValueError(
            error_message(
                owner,
                "X",
                "NaN",
                rule,
                "Fill them first, with impute(X) of the model or an Imputer, or leave these rows out",
            )
        )
    return X


def _count(X: Any) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)

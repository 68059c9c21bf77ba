"""Derivatives of the maps of an estimator that can be conditioned on ``given``, for attributions.

Arguments are validated here; ``_informed_jacobians`` and ``_given_slopes`` compute the results.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from sklearn.utils.metaestimators import available_if

from sidelight.base.messages import error_message
from sidelight.base.tiles import one_blas_thread
from sidelight.base.types import Array
from sidelight.maps.jacobian_mixin import has_inverse_jacobian, has_jacobian
from sidelight.maps.smooth_map import SmoothMap

from ._given_slopes import given_slopes, inverse_given_slopes, moves_given, require_numbers
from ._informed_jacobians import adjusted_map, informed_inverse_jacobian, informed_jacobian
from ._informed_mixin import InformedMixin, conditional_mean

__all__ = ["InformedSlopes"]


class InformedSlopes(InformedMixin):
    """``InformedMixin`` with ``jacobian`` and ``inverse_jacobian``."""

    @available_if(has_jacobian)
    @one_blas_thread
    def jacobian(self, X: object, *, given: object = None, columns: object = None, wrt: str = "X") -> Array:
        """Derivatives of ``transform`` at rows, with ``given`` fixed, or with respect to ``given``.

        Parameters
        ----------
        X : array of shape (m, d)
            Complete rows, without missing entries.
        given : array of shape (m,) or (m, g), table, or one value for all rows, default=None
            As for ``transform``.
        columns : names, numbers or mask, default=None
            Columns of the data to differentiate by, in this order; None: all.
        wrt : {"X", "given"}, default="X"
            "given": derivatives by the numbers and angles of ``given`` for fixed rows; categories have none.

        Returns
        -------
        J : array of shape (m, q, d), (m, q, len(columns)), or (m, q, numbers given)
            ``J[i, a, j]``: how much latent coordinate a of row i moves per unit of column j.
        """
        if not moves_given(self, wrt):
            return self._jacobian(X, given, columns)
        C = self._complete_rows(X)
        known = require_numbers(self, self._given_columns(), self._known(given, len(C)))
        return given_slopes(self, self._informed_maps(), self._given_columns() or (), C, known, self.n_jobs)

    @available_if(has_inverse_jacobian)
    @one_blas_thread
    def inverse_jacobian(self, X: object, *, given: object = None, columns: object = None, wrt: str = "X") -> Array:
        """Derivatives of ``inverse_transform`` at latent points, with ``given`` fixed, or with respect to ``given``.

        Parameters
        ----------
        X : array of shape (m, q)
            Latent points.
        given : array of shape (m,) or (m, g), table, or one value for all rows, default=None
            As for ``inverse_transform``.
        columns : names, numbers or mask, default=None
            Columns of the data whose derivatives are wanted, in this order; None: all.
        wrt : {"X", "given"}, default="X"
            "given": derivatives by the numbers and angles of ``given`` at fixed latent points; categories have none.

        Returns
        -------
        J : array of shape (m, d, q), (m, len(columns), q), or with the numbers given instead of q
            ``J[i, j, a]``: how much column j changes per unit of latent coordinate a.
        """
        Z = self._checked_latent(X)
        if moves_given(self, wrt):
            own, maps = self._given_columns(), self._informed_maps()
            known = require_numbers(self, own, self._known(given, len(Z)))
            return inverse_given_slopes(self, maps, own or (), Z, known, self.n_jobs, self._chosen(columns))
        return np.asarray(self._inverse_slopes(Z, given, self._chosen(columns)).astype(Z.dtype, copy=False))

    def _smooth_map(self, given: object, n: int) -> SmoothMap:
        maps, known, n_jobs, frame = self._informed_maps(), self._known(given, n), self.n_jobs, self.latent_frame_

        def value(C: Array, which: Array) -> Array:
            return frame.outside(
                maps.backward(C, None if known is None else known.take(which), conditional_mean, n_jobs)
            )

        def slope(C: Array, which: Array) -> Array:
            return informed_jacobian(maps, C, None if known is None else known.take(which), n_jobs)

        return SmoothMap(self._complete_rows, value, slope, self._basis())

    def _explained_map(self, given: object, n: int) -> SmoothMap:
        known = self._known(given, n)
        if known is not None and not known.complete.all():
            rule = f"is missing in {int((~known.complete).sum())} rows"
            raise ValueError(error_message(self, "given", "NaN", rule, "Leave these rows out"))
        found = None if known is None else adjusted_map(self._informed_maps(), self._complete_rows, known, self.n_jobs)
        plain = self._smooth_map(given, n)
        return replace(plain, held=known is not None) if found is None else replace(found, basis=self._basis())

    def _inverse_slopes(self, Z: Array, given: object, columns: Array | None) -> Array:
        return informed_inverse_jacobian(self._informed_maps(), Z, self._known(given, len(Z)), self.n_jobs, columns)

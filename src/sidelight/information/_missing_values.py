"""Rows with missing entries (NaN): refused with a way out, or filled from the rows near them (``maps.missing``).

The mixin belongs to models with a parameter ``missing`` ("refuse" or "impute"). With "impute", ``fit`` keeps
``filler_`` and ``filled_`` (n, d), and every method that takes rows takes rows with NaN.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from sidelight.base.messages import complain
from sidelight.base.tiles import one_blas_thread
from sidelight.base.validation import validated
from sidelight.maps.missing import LocalFill, fit_fill

__all__ = ["MissingValues"]

Array = npt.NDArray[Any]


def _fills(model: Any) -> bool:
    return bool(model.missing == "impute")


class MissingValues:
    """``impute`` and ``impute_variance``, and NaN wherever rows are taken."""

    @available_if(_fills)
    @one_blas_thread
    def impute(self: Any, X: Array) -> Array:
        """Rows with their missing entries (NaN) filled, shape (m, d), each from what is observed of it."""
        rows = self._with_gaps(X)
        filler: LocalFill = self.filler_
        return np.asarray(filler(rows, self.n_jobs).astype(rows.dtype, copy=False))

    @available_if(_fills)
    @one_blas_thread
    def impute_variance(self: Any, X: Array) -> Array:
        """How uncertain the filled entries are, shape (m, d); 0 where the entry is observed.

        The spread of the neighbours, scaled so that 95 % of the entries that were hidden during ``fit`` lay within two
        standard deviations.
        """
        filler: LocalFill = self.filler_
        return filler.variance(self._with_gaps(X), self.n_jobs)

    def _with_gaps(self: Any, X: Array) -> Array:
        check_is_fitted(self)
        kinds = {"dtype": [np.float64, np.float32], "ensure_all_finite": "allow-nan"}
        X = validated(self, X, reset=False, spread=self.filler_.scale, **kinds)
        self._refuse_empty(X, "row", axis=1)
        return np.asarray(X)

    def _checked(self: Any, X: Array) -> Array:
        if self.missing == "refuse":
            return np.asarray(super()._checked(X))  # type: ignore[misc]
        rows = self._with_gaps(X)
        return np.asarray(self.impute(rows)) if np.isnan(rows).any() else rows

    def _first_checked(self: Any, X: Array) -> Array:
        """The rows of ``fit``, validated and, if so asked, filled."""
        fills = _fills(self)
        kinds: Any = {"dtype": [np.float64, np.float32], "ensure_min_samples": 2}
        try:
            X = np.asarray(validated(self, X, ensure_all_finite="allow-nan" if fills else True, **kinds))
        except ValueError as error:
            if "contains NaN" not in str(error):
                raise
            remedy = 'Set missing="impute", or drop or fill those entries'
            raise ValueError(complain(self, "X", "NaN", "has missing entries", remedy)) from error
        if not fills:
            return X
        self._refuse_empty(X, "row", axis=1)
        self._refuse_empty(X, "column", axis=0)
        self.filler_ = fit_fill(X, self.n_jobs)
        filled = self.filler_.rows * self.filler_.scale + self.filler_.centre
        self.filled_ = np.where(np.isnan(X), filled, X).astype(X.dtype, copy=False)
        return np.asarray(self.filled_)

    def _refuse_empty(self, X: Array, what: str, *, axis: int) -> None:
        empty = np.flatnonzero(np.isnan(X).all(axis=axis))
        if len(empty):
            seen, rule = f"{what} {empty[0]}", "has no observed entry"
            raise ValueError(complain(self, "X", seen, rule, f"Leave out every {what} of which nothing is known"))

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.allow_nan = _fills(self)
        return tags

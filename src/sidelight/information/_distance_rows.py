"""Rows that are distances (``metric="precomputed"``): all of them in an array, or in a sparse one those that are known.

The mixin belongs to models with a parameter ``metric``; it goes before those that check rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, check_symmetric

from sidelight.base.messages import complain
from sidelight.base.validation import validated
from sidelight.neighbours.sparse_distances import SparseDistances, refuse_negative

__all__ = ["DistanceRows"]

Array = npt.NDArray[Any]


class DistanceRows:
    """Distances wherever rows are taken, if that is what the rows are."""

    def _check_data(self: Any, X: Any) -> Any:
        """The rows of ``fit``: an array, or ``SparseDistances``."""
        if self.metric != "precomputed":
            return self._first_checked(X)
        if issparse(X):
            if self.bandwidth != "perplexity":
                rule = "needs all distances, and a sparse array holds some"
                remedy = 'Use bandwidth="perplexity", or give a dense array'
                raise ValueError(complain(self, "bandwidth", self.bandwidth, rule, remedy))
            known = SparseDistances.between_rows(X, owner=self)
            validated(self, known.stored, accept_sparse="csr", ensure_min_samples=2)
            return known
        X = self._first_checked(X)
        if X.shape[0] != X.shape[1]:
            rule = "is not square, as precomputed distances are"
            raise ValueError(complain(self, "X", f"array of shape {X.shape}", rule, "Give an (n, n) matrix"))
        refuse_negative(self, X.min())
        return np.asarray(check_symmetric(X, raise_exception=False))

    def _checked(self: Any, X: Any) -> Any:
        if self.metric != "precomputed" or not issparse(X):
            return super()._checked(X)  # type: ignore[misc]
        check_is_fitted(self)
        known = SparseDistances.of_queries(X, owner=self)
        validated(self, known.stored, accept_sparse="csr", reset=False, spread=self.frame_.scale)
        return known

    def __sklearn_tags__(self: Any) -> Tags:
        tags: Tags = super().__sklearn_tags__()  # type: ignore[misc]
        inputs = tags.input_tags
        inputs.pairwise = inputs.sparse = inputs.positive_only = self.metric == "precomputed"
        return tags

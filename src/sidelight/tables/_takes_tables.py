"""Mixin of the estimators of this package: they take tables of mixed columns with missing entries."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import Tags
from sklearn.utils.validation import _check_feature_names

from sidelight.base.estimator import Estimator
from sidelight.base.types import Array

from ._table_columns import Table

__all__ = ["TakesTables"]


class TakesTables(Estimator):
    """Tags of an estimator of tables, and the names of the columns that it was fitted on."""

    n_features_in_: int
    feature_names_in_: Array

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    def _remember_columns(self, X: Any, table: Table) -> None:
        """Set ``n_features_in_`` and, where the columns of ``X`` have names, ``feature_names_in_``."""
        if table.named:
            _check_feature_names(self, X, reset=True)
            if not hasattr(self, "feature_names_in_") and all(isinstance(label, str) for label in table.labels):
                self.feature_names_in_ = np.asarray(table.labels, dtype=object)  # scikit-learn 1.6 and polars 2
        self.n_features_in_ = len(table.columns)

"""What a fitted mixture answers, whatever it is a mixture of: responsibilities, density, criteria, samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from sidelight.base.messages import complain
from sidelight.base.random import random_numbers
from sidelight.base.tiles import one_blas_thread, run_tiles, spans
from sidelight.base.validation import validated

__all__ = ["MixtureMaps"]

Array = npt.NDArray[Any]
_BLOCK = 4096


class MixtureMaps(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """Methods of a model that has ``charts_`` and ``n_jobs``; missing values (NaN) are allowed in every one of them."""

    charts_: Any
    n_jobs: int | None
    random_state: Any
    dtype_: str

    def predict_proba(self, X: Array) -> Array:
        """Responsibilities (n, k): how likely each chart has made a row, given what is seen of it."""
        return self._by_block(self._checked(X), lambda part: self.charts_.responsibilities(part))

    def predict(self, X: Array) -> Array:
        """The most likely chart of each row (n,)."""
        return np.asarray(self.predict_proba(X).argmax(axis=1))

    def transform(self, X: Array) -> Array:
        """Responsibilities (n, k): of a mixture alone the latent variable is the chart."""
        return self.predict_proba(X)

    def score_samples(self, X: Array) -> Array:
        """Log density of each row (n,), of what is seen of it."""
        return self._by_block(self._checked(X), lambda part: self.charts_.log_density(part))

    def score(self, X: Array, y: Any = None) -> float:
        """Mean log density of rows."""
        del y
        return float(np.mean(self.score_samples(X), dtype=np.float64))

    def bic(self, X: Array) -> float:
        """Bayesian information criterion on rows; the lower, the better."""
        logs = self.score_samples(X).astype(np.float64)
        return float(-2.0 * logs.sum() + self.charts_.n_parameters * np.log(len(logs)))

    def aic(self, X: Array) -> float:
        """Akaike information criterion on rows; the lower, the better."""
        logs = self.score_samples(X).astype(np.float64)
        return float(-2.0 * logs.sum() + 2.0 * self.charts_.n_parameters)

    @one_blas_thread
    def sample(self, n_samples: int = 1, random_state: Any = None) -> Array:
        """Draw rows (n_samples, d) from the fitted density."""
        check_is_fitted(self, "charts_")
        if n_samples < 1:
            raise ValueError(complain(self, "n_samples", n_samples, "is less than 1", "Ask for at least one row"))
        rng = random_numbers(random_state, self.random_state)
        return np.asarray(self.charts_.sample(n_samples, rng)[0].astype(self.dtype_))

    def _checked(self, X: Array) -> Array:
        check_is_fitted(self, "charts_")
        kinds = {"dtype": [np.float64, np.float32], "ensure_all_finite": "allow-nan"}
        return np.asarray(validated(self, X, reset=False, spread=getattr(self.charts_, "scale", np.inf), **kinds))

    @one_blas_thread
    def _by_block(self, X: Array, function: Callable[[Array], Array]) -> Array:
        """A function of rows, a block at a time, on threads, in the type of the rows."""
        parts = run_tiles(lambda part: function(X[part].astype(np.float64)), spans(len(X), _BLOCK), self.n_jobs)
        return np.asarray(np.concatenate(parts).astype(X.dtype))

    @property
    def _n_features_out(self) -> int:
        return int(self.charts_.n_charts)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

"""What a linear Gaussian model is used for: latent points and back, missing entries, densities, samples.

Mixed into ``ProbabilisticPCA``. Rows are taken inside the frame, ``(x - centre_) / scale_``, a block at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from sidelight.base.messages import complain
from sidelight.base.random import random_seed
from sidelight.base.tiles import one_blas_thread, run_tiles, spans
from sidelight.base.validation import checked_array, validated
from sidelight.objectives.gaussian import Gaussian, gaussian_entries
from sidelight.objectives.linear_gaussian import (
    LinearGaussian,
    entry_variance,
    latent_mean,
    log_density,
    posterior,
    reconstruction,
)

__all__ = ["LinearGaussianMaps"]

Array = npt.NDArray[Any]
_TILE = 2048  # rows of a block


class LinearGaussianMaps(TransformerMixin):
    """Maps, imputation and densities of a fitted ``model_`` (and, for entries, ``gaussian_``)."""

    model_: LinearGaussian
    gaussian_: Gaussian | None
    centre_: Array
    scale_: Array
    n_components_: int
    n_jobs: int | None
    random_state: Any

    @one_blas_thread
    def transform(self, X: Array) -> Array:
        """Posterior means of the latent points (m, q), each row by itself, from its observed entries."""
        return self._by_block(self._checked(X), lambda part: latent_mean(self.model_, part))

    @one_blas_thread
    def posterior_covariance(self, X: Array) -> Array:
        """Posterior covariances of the latent points (m, q, q): ``σ² M⁻¹``, wider where more entries are missing."""
        X = self._checked(X)
        covariance = posterior(self.model_, self._inside(X))[1]
        q = self.n_components_
        return np.array(np.broadcast_to(covariance, (len(X), q, q)), dtype=X.dtype)

    @one_blas_thread
    def inverse_transform(self, X: Array) -> Array:
        """Take latent points back to the data space, E[x | z], shape (m, d)."""
        Z = self._checked_latent(X)
        return np.asarray(self._outside(reconstruction(self.model_, Z)).astype(Z.dtype, copy=False))

    @one_blas_thread
    def denoise(self, X: Array) -> Array:
        """Rows as the plane has them: ``inverse_transform(transform(X))``, shape (m, d)."""
        return self._by_block(self._checked(X), self._expected)

    @one_blas_thread
    def impute(self, X: Array) -> Array:
        """Rows with their missing entries (NaN) replaced by their mean given the observed ones, shape (m, d)."""
        X = self._checked(X)
        return np.asarray(np.where(np.isnan(X), self._by_block(X, self._completed), X))

    @one_blas_thread
    def impute_variance(self, X: Array) -> Array:
        """Variance (m, d) of each missing entry given the observed ones of its row; 0 where the entry is observed."""
        X = self._checked(X)
        units = self.scale_**2
        variance = self._by_block(X, lambda part: self._entry_variance(part) * units)
        return np.asarray(np.where(np.isnan(X), variance, np.zeros((), dtype=X.dtype)))

    def predictive_variance(self, X: Array) -> Array:
        """How uncertain the data is at latent points (m, q): the variance of the noise in each column, (m, d)."""
        Z = self._checked_latent(X)
        return np.tile(self.model_.noise * self.scale_**2, (len(Z), 1))

    @one_blas_thread
    def score_samples(self, X: Array) -> Array:
        """Log density of each row (m,), of its observed entries."""
        X = self._checked(X)
        logs = np.log(self.scale_)
        certain = replace(self.model_, spread=None)

        def scored(part: Array) -> Array:
            return np.asarray(log_density(certain, part) - ~np.isnan(part) @ logs)

        return self._by_block(X, scored)

    def score(self, X: Array, y: Any = None) -> float:
        """Mean log density of rows, as scikit-learn's PCA has it."""
        del y
        return float(np.mean(self.score_samples(X), dtype=np.float64))

    def latent_log_density(self, X: Array) -> Array:
        """Log density of latent points (m,), standard normal."""
        Z = self._checked_latent(X)
        return np.asarray(-0.5 * ((Z.astype(np.float64) ** 2).sum(axis=1) + Z.shape[1] * np.log(2 * np.pi)))

    @one_blas_thread
    def sample(self, n_samples: int = 1, random_state: Any = None) -> Array:
        """Draw rows (n_samples, d); ``random_state=None`` uses the model's own, so that it gives the same rows."""
        check_is_fitted(self, "model_")
        if n_samples < 1:
            raise ValueError(complain(self, "n_samples", n_samples, "is less than 1", "Ask for one row or more"))
        rng = np.random.default_rng(random_seed(random_state, self.random_state))
        Z = rng.normal(size=(n_samples, self.n_components_))
        noise = np.sqrt(self.model_.noise) * rng.normal(size=(n_samples, len(self.model_.mean)))
        return self._outside(reconstruction(self.model_, Z) + noise)

    def _expected(self, inside: Array) -> Array:
        """What the plane has for rows (m, d)."""
        return self._outside(reconstruction(self.model_, latent_mean(self.model_, inside)))

    def _completed(self, inside: Array) -> Array:
        """Rows (m, d) with the means of their missing entries."""
        if self.gaussian_ is None:
            return self._expected(inside)
        return self._outside(gaussian_entries(self.gaussian_, inside)[0])

    def _entry_variance(self, inside: Array) -> Array:
        """Variance of missing entries, in the units of the fit (m, d)."""
        if self.gaussian_ is None:
            return entry_variance(self.model_, inside)
        return gaussian_entries(self.gaussian_, inside)[1]

    def _inside(self, X: Array) -> Array:
        return np.asarray((np.asarray(X, dtype=np.float64) - self.centre_) / self.scale_)

    def _outside(self, Y: Array) -> Array:
        return np.asarray(Y * self.scale_ + self.centre_)

    def _by_block(self, X: Array, function: Callable[[Array], Array]) -> Array:
        """A function of rows inside the frame, a block at a time, on threads, in the type of the rows."""
        parts = run_tiles(lambda part: function(self._inside(X[part])), spans(len(X), _TILE), self.n_jobs)
        return np.asarray(np.concatenate(parts).astype(X.dtype, copy=False))

    def _checked(self, X: Array) -> Array:
        check_is_fitted(self, "model_")
        kinds = {"dtype": [np.float64, np.float32], "ensure_all_finite": "allow-nan"}
        return np.asarray(validated(self, X, reset=False, spread=float(np.min(self.scale_)), **kinds))

    def _checked_latent(self, X: Array) -> Array:
        check_is_fitted(self, "model_")
        Z = np.asarray(checked_array(self, X, dtype=[np.float64, np.float32], input_name="X"))
        if Z.shape[1] != self.n_components_:
            rule = f"does not match the {self.n_components_} latent dimensions"
            raise ValueError(complain(self, "X", f"{Z.shape[1]} columns", rule, "Give latent points, one per row"))
        return Z

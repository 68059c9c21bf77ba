"""The maps every two-way model offers, written once.

A model that inherits it sets, in ``fit``: ``frame_`` and ``latent_frame_`` (Frames), ``backward_`` and
``forward_`` (maps between the insides of the two), ``density_`` and ``latent_density_`` (over the insides).
The mixin holds no state of its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import TransformerMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from sidelight.base.messages import complain
from sidelight.base.random import random_seed
from sidelight.base.tiles import one_blas_thread
from sidelight.base.validation import checked_array, checked_weights, validated

from .interpolation import smooth_part
from .modes import conditional_mode

__all__ = ["TwoWayMaps", "has_forward", "latent_profile"]

Array = npt.NDArray[Any]


def has_forward(model: Any) -> bool:
    """A model of precomputed distances, or of relations alone, has no data space to go back to."""
    return getattr(model, "metric", "euclidean") != "precomputed" and getattr(model, "has_data_", True)


def latent_profile(model: Any) -> str:
    """The profile of the latent kernel that was used, where the model chose it."""
    return str(getattr(model, "latent_kernel_", model.latent_kernel))


class TwoWayMaps(TransformerMixin):
    """transform, inverse_transform, denoise, densities, samples and a score, from two kernel maps."""

    @one_blas_thread
    def transform(self: Any, X: Array) -> Array:
        """Embed rows, each by itself: ``transform(X)[i] == transform(X[i:i+1])``.

        Parameters
        ----------
        X : array of shape (m, d)
            New rows (for precomputed distances, distances to the n training rows).

        Returns
        -------
        Z : array of shape (m, q)
        """
        X = self._checked(X)
        Z = self.latent_frame_.outside(self.backward_(self.frame_.points(X), self.n_jobs))
        return np.asarray(Z.astype(X.dtype, copy=False))

    @available_if(has_forward)
    @one_blas_thread
    def inverse_transform(self: Any, X: Array) -> Array:
        """Take latent points back to the data space, by the conditional mean.

        Parameters
        ----------
        X : array of shape (m, q)
            Latent points.

        Returns
        -------
        rows : array of shape (m, d)
        """
        Z = self._checked_latent(X)
        rows = self.frame_.outside(self.forward_(self.latent_frame_.inside(Z), self.n_jobs))
        return np.asarray(rows.astype(Z.dtype, copy=False))

    @one_blas_thread
    def transform_mode(self: Any, X: Array) -> Array:
        """Embed rows by the mode of p(z | x) instead of its mean: a place, never between two, shape (m, q)."""
        X = self._checked(X)
        mean = smooth_part(self.backward_)
        found = conditional_mode(mean, self.frame_.points(X), self.latent_density_.bandwidths, self.n_jobs)
        return np.asarray(self.latent_frame_.outside(found).astype(X.dtype, copy=False))

    @available_if(has_forward)
    @one_blas_thread
    def inverse_transform_mode(self: Any, X: Array) -> Array:
        """Take latent points back by the mode of p(x | z) instead of its mean: always near real rows, shape (m, d)."""
        Z = self._checked_latent(X)
        found = conditional_mode(self.forward_, self.latent_frame_.inside(Z), self.density_.bandwidths, self.n_jobs)
        return np.asarray(self.frame_.outside(found).astype(Z.dtype, copy=False))

    @available_if(has_forward)
    @one_blas_thread
    def denoise(self: Any, X: Array) -> Array:
        """Project rows onto the manifold: ``inverse_transform(transform(X))``, shape (m, d)."""
        X = self._checked(X)
        return np.asarray(self.frame_.outside(self._there_and_back(X)).astype(X.dtype, copy=False))

    @available_if(has_forward)
    @one_blas_thread
    def predictive_variance(self: Any, X: Array) -> Array:
        """How uncertain the data is at latent points: variance per feature, shape (m, d).

        The spread of the training rows around the conditional mean plus the variance of the data kernel.
        """
        Z = self._checked_latent(X)
        Z = self.latent_frame_.inside(Z)
        own = 0.5 * self.forward_.weights.average(Z, self.density_.bandwidths[:, None], self.n_jobs)
        return np.asarray((self.forward_.variance(Z, self.n_jobs) + own) * self.frame_.scale**2)

    @available_if(has_forward)
    @one_blas_thread
    def score_samples(self: Any, X: Array) -> Array:
        """Log-density of rows under the model's Parzen density of the data, shape (m,).

        Each training row has a bandwidth of its own, proportional to that of its neighbourhood; the factor
        maximises the leave-one-out likelihood.
        """
        X = self._checked(X)
        logs = self.density_.log_density(self.frame_.inside(X), self.n_jobs)
        return np.asarray(logs - X.shape[1] * np.log(self.frame_.scale))

    @one_blas_thread
    def latent_log_density(self: Any, X: Array) -> Array:
        """Log-density of latent points, shape (m,)."""
        Z = self._checked_latent(X)
        Z = self.latent_frame_.inside(Z)
        logs = self.latent_density_.log_density(Z, self.n_jobs)
        return np.asarray(logs - Z.shape[1] * np.log(self.latent_frame_.scale))

    @available_if(has_forward)
    def sample(self: Any, n_samples: int = 1, random_state: Any = None) -> Array:
        """Draw rows from the density of the data, shape (n_samples, d).

        ``random_state=None`` uses the model's own, so that the same model gives the same rows.
        """
        check_is_fitted(self)
        if n_samples < 1:
            raise ValueError(complain(self, "n_samples", n_samples, "is less than 1", "Ask for one row or more"))
        seed = random_seed(random_state, self.random_state)
        return np.asarray(self.frame_.outside(self.density_.sample(n_samples, np.random.default_rng(seed))))

    @available_if(has_forward)
    @one_blas_thread
    def score(self: Any, X: Array, y: Any = None, *, sample_weight: Any = None) -> float:
        """Share of the variance that survives the way there and back: ``1 - |X - denoise(X)|² / |X - mean|²``."""
        del y
        X = self._checked(X)
        return float(self._surviving(X, self._there_and_back(X), sample_weight))

    @property
    def _n_features_out(self: Any) -> int:
        return int(self.embedding_.shape[1])

    def _surviving(self: Any, X: Array, rows: Array, sample_weight: Any) -> float:
        """Share of the variance of ``X`` that ``rows``, inside the frame, hold."""
        inside = self.frame_.inside(X)
        residual = inside - rows
        weight = checked_weights(self, sample_weight, len(X))
        spread = inside - np.average(inside, axis=0, weights=weight)
        lost, total = (float(weight @ (part**2).sum(axis=1)) for part in (residual, spread))
        return 1.0 - lost / total if total > 0 else 0.0

    def _there_and_back(self: Any, X: Array) -> Array:
        """Data to latent to data, inside the frame."""
        return np.asarray(self.forward_(self.backward_(self.frame_.points(X), self.n_jobs), self.n_jobs))

    def _checked(self: Any, X: Array) -> Array:
        check_is_fitted(self)
        return np.asarray(validated(self, X, dtype=[np.float64, np.float32], reset=False, spread=self.frame_.scale))

    def _checked_latent(self: Any, X: Array) -> Array:
        check_is_fitted(self)
        Z = np.asarray(checked_array(self, X, dtype=[np.float64, np.float32], spread=self.latent_frame_.scale))
        if Z.shape[1] != self._n_features_out:
            rule = f"does not match the {self._n_features_out} latent dimensions"
            raise ValueError(complain(self, "X", f"{Z.shape[1]} columns", rule, "Give latent points, one per row"))
        return Z

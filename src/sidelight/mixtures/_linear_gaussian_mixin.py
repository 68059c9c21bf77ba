"""The methods of ``ProbabilisticPCA``: rows are checked here, ``LinearGaussianMaps`` answers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.sparse import issparse
from sklearn.base import TransformerMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from sidelight.base.columns import chosen_columns
from sidelight.base.map_picture import MapRepresentation
from sidelight.base.messages import error_message
from sidelight.base.random import random_seed
from sidelight.base.tiles import one_blas_thread
from sidelight.base.types import Array, RandomState, Untyped
from sidelight.base.validation import checked_latent, validated
from sidelight.maps.chart_jacobians import plane_slopes
from sidelight.maps.held_out import held_out, needs_folds, refitted_plane
from sidelight.maps.jacobian_mixin import InverseJacobianMixin, complete_rows
from sidelight.maps.linear_gaussian_maps import LinearGaussianMaps
from sidelight.maps.novelty_mixin import NoveltyMixin
from sidelight.maps.smooth_map import SmoothMap
from sidelight.maps.truncated import dense_rows
from sidelight.maps.typicality import DRAWN, StandardizedDensity, lower_share, p_value
from sidelight.objectives.gaussian import Gaussian
from sidelight.objectives.linear_gaussian import LinearGaussian

__all__ = ["LinearGaussianMixin", "standard_normal_log_density", "training_densities"]


def _has_reference(model: LinearGaussianMixin) -> bool:
    """Whether training rows are there to compare with: not after ``partial_fit``, nor in older files."""
    return "model_" not in vars(model) or "training_densities_" in vars(model)


def standard_normal_log_density(Z: Array) -> Array:
    """Log density (m,) of latent points (m, q) under the prior."""
    return np.asarray(-0.5 * ((Z.astype(np.float64) ** 2).sum(axis=1) + Z.shape[1] * np.log(2 * np.pi)))


def standardized_density(maps: LinearGaussianMaps) -> StandardizedDensity:
    """The density of a model, standardised for every set of observed entries."""
    return StandardizedDensity(lambda X: maps.log_density(X, 1), maps.sample(DRAWN, np.random.default_rng(0)))


def training_densities(maps: LinearGaussianMaps, X: Array, n_jobs: int | None, *, few: bool = True) -> Array:
    """Sorted standardised densities of training rows (n, d); held out where these are few for the parameters.

    ``few=False``: they are a sample of so many that it makes no difference.
    """
    d, q = maps.model.W.shape
    if not (few and needs_folds(X, d * (q + 1))):
        return np.sort(standardized_density(maps)(X, n_jobs))

    def refit(others: Array) -> StandardizedDensity:
        model = refitted_plane(maps.model, maps.inside(others), n_jobs)
        return standardized_density(replace(maps, model=model, gaussian=None))

    return np.sort(held_out(X, refit))


class LinearGaussianMixin(MapRepresentation, NoveltyMixin, InverseJacobianMixin, TransformerMixin):
    """Maps, imputation and densities of a fitted ``model_`` (and, for missing entries, ``gaussian_``)."""

    n_jobs: int | None
    random_state: RandomState
    model_: LinearGaussian
    gaussian_: Gaussian | None
    centre_: Array
    scale_: Array
    n_components_: int
    training_densities_: Array
    training_latent_densities_: Array

    @one_blas_thread
    def transform(self, X: Array) -> Array:
        """Posterior means of the latent points, each row from its own observed entries.

        Parameters
        ----------
        X : array or sparse array of shape (m, d)
            NaN where an entry is missing; sparse rows have none.

        Returns
        -------
        Z : array of shape (m, q)
        """
        X = self._checked(X)
        return self._maps().embed(X, self.n_jobs)

    @one_blas_thread
    def posterior_covariance(self, X: Array) -> Array:
        """Posterior covariances of the latent points (m, q, q): ``σ² M⁻¹``, wider where more entries are missing."""
        X = self._checked(X)
        return self._maps().covariance(X)

    @one_blas_thread
    def inverse_transform(self, X: Array, *, columns: object = None) -> Array:
        """Map latent points to the data space by the conditional mean E[x | z].

        Parameters
        ----------
        X : array of shape (m, q)
        columns : names, numbers or mask, default=None
            Columns of the data to return, in this order, without computing the others; None: all.

        Returns
        -------
        rows : array of shape (m, d), or (m, len(columns))
        """
        Z = self._checked_latent(X)
        if columns is None:
            return self._maps().reconstruct(Z)
        names = getattr(self, "feature_names_in_", None)
        return self._maps().reconstruct(Z, chosen_columns(self, columns, len(self.centre_), names))

    @one_blas_thread
    def denoise(self, X: Array) -> Array:
        """Project rows onto the plane: ``inverse_transform(transform(X))``, shape (m, d)."""
        X = self._checked(X)
        return self._maps().project(X, self.n_jobs)

    @one_blas_thread
    def impute(self, X: Array) -> Array:
        """Rows with their missing entries (NaN) replaced by their mean given the observed ones, shape (m, d)."""
        X = self._checked(X, sparse=False)
        return self._maps().complete(X, self.n_jobs)

    @one_blas_thread
    def impute_variance(self, X: Array) -> Array:
        """Variance (m, d) of each missing entry given the observed ones of its row; 0 where the entry is observed."""
        X = self._checked(X, sparse=False)
        return self._maps().missing_variance(X, self.n_jobs)

    def predictive_variance(self, X: Array) -> Array:
        """Predictive variance (m, d) at latent points (m, q): the noise variance of each column."""
        Z = self._checked_latent(X)
        return np.tile(self._maps().noise_variance(), (len(Z), 1))

    @one_blas_thread
    def score_samples(self, X: Array) -> Array:
        """Log density (m,) of the observed entries of each row."""
        X = self._checked(X)
        return self._maps().log_density(X, self.n_jobs)

    def score(self, X: Array, y: object = None) -> float:
        """Mean log density of rows, as in scikit-learn's PCA."""
        del y
        return float(np.mean(self.score_samples(X), dtype=np.float64))

    def latent_log_density(self, X: Array) -> Array:
        """Log density of latent points (m,), standard normal."""
        return standard_normal_log_density(self._checked_latent(X))

    @available_if(_has_reference)
    @one_blas_thread
    def typicality(self, X: Array) -> Array:
        """Typicality (m,) of rows relative to the training rows, by their observed entries, from 0 to 1.

        The share of training rows with at most the density of the row. With missing entries, densities are standardised
        by their expected values for the observed entries. It is about uniform for rows like the training rows; 0 means
        a lower density than every training row. Below 0.01 a row is an outlier.

        Examples
        --------
        >>> import numpy as np
        >>> from sidelight import ProbabilisticPCA
        >>> X = np.random.default_rng(0).normal(size=(100, 3))
        >>> ProbabilisticPCA(1).fit(X).typicality([[0.0, np.nan, 0.0], [np.nan, np.nan, 1000.0]])[1]
        np.float64(0.0)
        """
        X = self._checked(X)
        return lower_share(self.training_densities_, standardized_density(self._maps())(X, self.n_jobs))

    @available_if(_has_reference)
    def latent_typicality(self, X: Array) -> Array:
        """Typicality (m,) of latent points (m, q) relative to those of the training rows, from 0 to 1."""
        return lower_share(self.training_latent_densities_, standard_normal_log_density(self._checked_latent(X)))

    @one_blas_thread
    def sample(self, n_samples: int = 1, random_state: RandomState = None) -> Array:
        """Draw rows (n_samples, d); ``random_state=None`` uses the model's own, so repeated calls agree."""
        check_is_fitted(self, "model_")
        if n_samples < 1:
            raise ValueError(error_message(self, "n_samples", n_samples, "is less than 1", "Ask for one row or more"))
        return self._maps().sample(n_samples, np.random.default_rng(random_seed(random_state, self.random_state)))

    def _compares_rows(self) -> bool:
        return _has_reference(self)

    def _p_values(self, X: Array) -> tuple[Array, int]:
        X, own = self._checked(X), self.training_densities_
        return p_value(own, standardized_density(self._maps())(X, self.n_jobs)), len(own)

    def _maps(self) -> LinearGaussianMaps:
        """The fitted model as one value."""
        return LinearGaussianMaps(self.model_, self.gaussian_, self.centre_, self.scale_)

    def _smooth_map(self, given: object, n: int) -> SmoothMap:
        del given, n
        check_is_fitted(self, "model_")
        maps = self._maps()
        slopes = plane_slopes(maps)[0]
        return SmoothMap(
            lambda X: complete_rows(self, dense_rows(self._checked(X), None)),
            lambda C, which: maps.embed(np.asarray(C, dtype=np.float64), self.n_jobs),
            lambda C, which: np.repeat(slopes[None], len(C), axis=0),
        )

    def _inverse_slopes(self, Z: Array, given: object, columns: Array | None) -> Array:
        del given
        slopes = plane_slopes(self._maps())[1]
        return np.repeat((slopes if columns is None else slopes[columns])[None], len(Z), axis=0)

    def _checked(self, X: Untyped, *, sparse: bool = True) -> Untyped:
        """Rows of numbers: an array with NaN where entries are missing, or a complete CSR array."""
        check_is_fitted(self, "model_")
        finite = True if issparse(X) else "allow-nan"
        kinds = {"dtype": [np.float64, np.float32], "ensure_all_finite": finite}
        if sparse:
            kinds["accept_sparse"] = "csr"
        return validated(self, X, reset=False, spread=float(np.min(self.scale_)), **kinds)

    def _checked_latent(self, X: Array) -> Array:
        check_is_fitted(self, "model_")
        return checked_latent(self, X, self.n_components_)

"""Mixin with the methods of every two-way estimator: it validates input and calls ``maps.two_way.TwoWayMaps``."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import TransformerMixin
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from sidelight.base.map_picture import MapRepresentation
from sidelight.base.messages import error_message
from sidelight.base.random import random_seed
from sidelight.base.tiles import one_blas_thread
from sidelight.base.validation import checked_latent, checked_weights, validated

from .frames import AnyFrame, Frame
from .interpolation import BackwardMap
from .interval_mixin import IntervalMixin
from .kernel_map import KernelMap
from .local_density import LocalDensity
from .novelty_mixin import NoveltyMixin
from .parzen import ParzenDensity
from .repeated_rows import warn_of_repeats
from .smooth_map import SmoothMap
from .truncated import TruncatedFrame
from .two_way import TwoWayMaps, framed_log_density
from .two_way_jacobians import embed_jacobian, reason_without_jacobian, reconstruct_jacobian
from .weights import AdaptiveWeights, PrecomputedWeights

__all__ = ["TwoWayMixin", "explained_share", "has_data_space"]

Array = npt.NDArray[Any]


def has_data_space(model: TwoWayMixin) -> bool:
    """Whether the model has a data space to reconstruct rows in: not for precomputed distances or relations alone."""
    return model._has_data_space()


class TwoWayMixin(MapRepresentation, IntervalMixin, NoveltyMixin, TransformerMixin):
    """Methods of two-way estimators: transform, inverse_transform, denoise, Jacobians, densities, samples and score.

    ``fit`` ends with ``_keep_maps``, which sets the attributes below.
    """

    n_jobs: int | None
    random_state: Any
    n_features_in_: int
    embedding_: Array
    frame_: AnyFrame
    latent_frame_: Frame
    backward_: BackwardMap
    latent_density_: ParzenDensity
    forward_: KernelMap
    density_: ParzenDensity

    @one_blas_thread
    def transform(self, X: Any) -> Array:
        """Embed rows independently of each other: ``transform(X)[i] == transform(X[i:i+1])``.

        Parameters
        ----------
        X : array of shape (m, d)
            New rows (for precomputed distances, distances to the n training rows).

        Returns
        -------
        Z : array of shape (m, q)
        """
        X = self._checked(X)
        return _as_type(self._maps().embed(X, self.n_jobs), X)

    @available_if(has_data_space)
    @one_blas_thread
    def inverse_transform(self, X: Any, *, columns: Any = None) -> Array:
        """Reconstruct rows at latent points, by the conditional mean.

        Parameters
        ----------
        X : array of shape (m, q)
            Latent points.
        columns : names, numbers or mask, default=None
            Columns of the data to return, in this order; None: all. A model of sparse rows computes no others.

        Returns
        -------
        rows : array of shape (m, d), or (m, len(columns))
        """
        Z = self._checked_latent(X)
        return _as_type(self._maps().reconstruct(Z, self.n_jobs, self._chosen(columns)), Z)

    @one_blas_thread
    def transform_mode(self, X: Any) -> Array:
        """Embed rows by the mode of p(z | x) instead of its mean, which may lie between two modes; shape (m, q)."""
        X = self._checked(X)
        return _as_type(self._maps().embed_mode(X, self.n_jobs), X)

    @available_if(has_data_space)
    @one_blas_thread
    def inverse_transform_mode(self, X: Any) -> Array:
        """Reconstruct rows by the mode of p(x | z), which is near training rows, instead of its mean; shape (m, d)."""
        Z = self._checked_latent(X)
        return _as_type(self._maps().reconstruct_mode(Z, self.n_jobs), Z)

    @available_if(has_data_space)
    @one_blas_thread
    def denoise(self, X: Any) -> Array:
        """Project rows onto the manifold: ``inverse_transform(transform(X))``, shape (m, d)."""
        X = self._checked(X)
        return _as_type(self.frame_.outside(self._projected(X)), X)

    @available_if(has_data_space)
    @one_blas_thread
    def predictive_variance(self, X: Any) -> Array:
        """Predictive variance of each feature at latent points, shape (m, d).

        The variance of the training rows around the conditional mean, plus that of the data kernel.
        """
        Z = self._checked_latent(X)  # first: an unfitted model has no maps
        return self._maps().variance(Z, self.n_jobs)

    @available_if(has_data_space)
    @one_blas_thread
    def score_samples(self, X: Any) -> Array:
        """Log-density of rows under the model's density of the data, shape (m,).

        KernelInformationEmbedding with ``bandwidth="perplexity"``: kernels with local covariances if held-out rows are
        more likely under them, computed on first use (up to 100 columns and 20,000 rows). Otherwise a Parzen density:
        each training row has its own bandwidth, proportional to that of its neighbourhood, and the common factor
        maximises the leave-one-out likelihood. A model with one Gaussian bandwidth for all rows keeps that (S0 3.6).
        """
        X = self._checked(X)
        shaped = self._shaped_density()
        if shaped is not None:
            return framed_log_density(shaped, self.frame_, X, self.n_jobs)
        return self._maps().log_density(X, self.n_jobs)

    @one_blas_thread
    def latent_log_density(self, X: Any) -> Array:
        """Log-density of latent points, shape (m,)."""
        Z = self._checked_latent(X)  # without self._maps(): relations without features have only a latent density
        return framed_log_density(self.latent_density_, self.latent_frame_, Z, self.n_jobs)

    @available_if(has_data_space)
    @one_blas_thread
    def typicality(self, X: Any) -> Array:
        """Typicality (m,) of rows relative to the training rows, from 0 (outlier) to 1.

        The share of training rows with a lower density (``score_samples``, each row left out of its own). It is about
        uniform for rows like the training rows; 0 means a lower density than that of every training row. Below 0.01 a
        row is an outlier: ``transform`` still embeds it, but near rows that it does not resemble. A
        row that equals a training row is taken for it and left out, too, unless more than a twentieth of the training
        rows repeat (then new rows may be equal by chance; see ``training_typicality``).

        Examples
        --------
        >>> import numpy as np
        >>> from sidelight import TwoWayEmbedding
        >>> X = np.random.default_rng(0).normal(size=(100, 3))
        >>> TwoWayEmbedding().fit(X).typicality([[0.0, 0.0, 0.0], [0.0, 0.0, 1000.0]])[1]
        np.float64(0.0)
        """
        X = self._checked(X)
        density = self._shaped_density() or self.density_
        return density.typicality(self.frame_.inside(X), self.n_jobs)

    @available_if(has_data_space)
    @one_blas_thread
    def training_typicality(self) -> Array:
        """How usual each training row is among the others, shape (n,): 0 for the most unusual row of the fit.

        Examples
        --------
        >>> import numpy as np
        >>> from sidelight import TwoWayEmbedding
        >>> X = np.random.default_rng(0).normal(size=(100, 3))
        >>> X[7] = 9.0
        >>> TwoWayEmbedding().fit(X).training_typicality().argmin()
        np.int64(7)
        """
        check_is_fitted(self)
        return (self._shaped_density() or self.density_).own_typicality()

    @one_blas_thread
    def latent_typicality(self, X: Any) -> Array:
        """Typicality (m,) of latent points (m, q) relative to those of the training rows, from 0 to 1.

        As ``typicality``, with ``latent_log_density``. Below 0.01, ``inverse_transform`` has no training rows nearby to
        reconstruct a row from, and returns one that looks like those at the edge.
        """
        Z = self._checked_latent(X)
        return self.latent_density_.typicality(self.latent_frame_.inside(Z), self.n_jobs)

    @available_if(has_data_space)
    @one_blas_thread
    def sample(self, n_samples: int = 1, random_state: Any = None) -> Array:
        """Draw rows from the density of the data, shape (n_samples, d).

        ``random_state=None`` uses the model's own, so a model always draws the same rows.
        """
        check_is_fitted(self)
        if n_samples < 1:
            raise ValueError(error_message(self, "n_samples", n_samples, "is less than 1", "Ask for one row or more"))
        rng = np.random.default_rng(random_seed(random_state, self.random_state))
        shaped = self._shaped_density()
        return (
            self._maps().sample(n_samples, rng)
            if shaped is None
            else self.frame_.outside(shaped.sample(n_samples, rng))
        )

    @available_if(has_data_space)
    @one_blas_thread
    def score(self, X: Any, y: Any = None, *, sample_weight: Any = None) -> float:
        """Share of the variance explained by the reconstruction: ``1 - |X - denoise(X)|² / |X - mean|²``."""
        del y
        X = self._checked(X)
        weight = checked_weights(self, sample_weight, len(X))
        return explained_share(self.frame_.inside(X), self._projected(X), weight)

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def _has_data_space(self) -> bool:
        return True

    def _compares_rows(self) -> bool:
        return self._has_data_space()

    def _p_values(self, X: Any) -> tuple[Array, int]:
        X = self._checked(X)
        warn_of_repeats(self, self.forward_.outputs, self.forward_.memo)
        density = self._shaped_density() or self.density_
        return density.p_value(self.frame_.inside(X), self.n_jobs), len(density.own_log_densities)

    def _shaped_density(self) -> LocalDensity | None:
        """Density of the rows with shaped kernels, which replaces the Parzen density; None: that stays."""
        return None

    def _keep_maps(self, maps: TwoWayMaps, embedding: Array) -> None:
        """Set the fitted attributes of the maps; without a data space there is no ``forward_`` and no ``density_``."""
        self.embedding_ = embedding
        self.frame_, self.latent_frame_ = maps.frame, maps.latent_frame
        self.backward_, self.latent_density_ = maps.backward, maps.latent_density
        if maps.forward is not None and maps.density is not None:
            self.forward_, self.density_ = maps.forward, maps.density

    def _maps(self) -> TwoWayMaps:
        """The fitted maps as one value."""
        check_is_fitted(self)
        back = (self.forward_, self.density_) if self._has_data_space() else ()
        return TwoWayMaps(self.frame_, self.latent_frame_, self.backward_, self.latent_density_, *back)

    def _smooth_map(self, given: object, n: int) -> SmoothMap:
        del given, n
        maps, n_jobs = self._maps(), self.n_jobs
        return SmoothMap(
            self._checked,
            lambda C, which: maps.embed(C, n_jobs),
            lambda C, which: embed_jacobian(maps, C, n_jobs),
            self._basis(),
        )

    def _inverse_slopes(self, Z: Array, given: object, columns: Array | None) -> Array:
        del given
        return reconstruct_jacobian(self._maps(), Z, self.n_jobs, columns)

    def _basis(self) -> Array | None:
        """Truncated basis (d, k) of a model of sparse rows, or None."""
        return self.frame_.reduction.basis if isinstance(self.frame_, TruncatedFrame) else None

    def _no_jacobian(self) -> str | None:
        if not self._has_data_space():
            return "have no columns: the model is one of distances or relations"
        return reason_without_jacobian(self._maps()) if "backward_" in vars(self) else None

    def _no_inverse_jacobian(self) -> str | None:
        return None if self._has_data_space() else "have no data space to go back to"

    def _mapped_rows(self) -> tuple[Array, Array] | None:
        """Training rows (n, p) as the backward map sees them, and their latent points (n, q); None for distances."""
        weights = self.backward_.weights
        if not self._has_data_space() or isinstance(weights, PrecomputedWeights):
            return None
        return weights.inputs, self.latent_frame_.outside(self.backward_.outputs)

    def _neighbour_lists(self) -> Array | None:
        """Neighbours (n, k) of the training rows, as the backward map has them (along a graph, or the nearest)."""
        weights = self.backward_.weights
        return weights.lists if isinstance(weights, AdaptiveWeights) else None

    def _seen_rows(self, X: Any, given: object) -> Array:
        """Rows (m, p) as the backward map sees them: in units of the frame, after the effect of ``given``."""
        del given
        return np.asarray(self.frame_.points(self._checked(X)))

    def _projected(self, X: Array) -> Array:
        """Reconstructions (m, d) of rows, in scaled units."""
        return self._maps().project(X, self.n_jobs)

    def _checked(self, X: Any) -> Any:
        """Validated rows (m, d), or their coordinates (m, k) in the basis of a model that was fitted to sparse rows.

        A model that takes sparse rows and was fitted to dense ones writes sparse ones out.
        """
        check_is_fitted(self)
        frame = self.frame_
        options = {"accept_sparse": "csr"} if get_tags(self).input_tags.sparse else {}
        rows = validated(self, X, dtype=[np.float64, np.float32], reset=False, spread=frame.scale, **options)
        if isinstance(frame, TruncatedFrame):
            return frame.reduced(rows)
        return np.asarray(rows.toarray() if hasattr(rows, "indptr") else rows)

    def _checked_latent(self, X: Any) -> Array:
        check_is_fitted(self)
        return checked_latent(self, X, self._n_features_out, spread=self.latent_frame_.scale)


def explained_share(rows: Array, answer: Array, weight: Array) -> float:
    """Share of the variance of ``rows`` (m, d) that ``answer`` (m, d) explains (R²), with sample ``weight`` (m,)."""
    residual = rows - answer
    spread = rows - np.average(rows, axis=0, weights=weight)
    lost, total = (float(weight @ (part**2).sum(axis=1)) for part in (residual, spread))
    return 1.0 - lost / total if total > 0 else 0.0


def _as_type(values: Array, like: Any) -> Array:
    return np.asarray(values.astype(like.dtype, copy=False))

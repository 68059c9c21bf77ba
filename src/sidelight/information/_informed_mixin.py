"""The methods of an estimator whose maps can be conditioned on ``given``.

Arguments are validated here; ``_informed_maps.InformedMaps`` computes the results.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.utils.metaestimators import available_if

from sidelight.base.messages import error_message
from sidelight.base.tiles import one_blas_thread
from sidelight.base.types import Array
from sidelight.base.validation import checked_weights
from sidelight.base.warnings import warn
from sidelight.kernels.profiles import profile
from sidelight.maps.changed_rows import ChangeModel
from sidelight.maps.effect import Effect
from sidelight.maps.interpolation import BackwardMap, smooth_part
from sidelight.maps.jacobian_mixin import complete_rows
from sidelight.maps.kernel_map import KernelMap
from sidelight.maps.local_density import LocalDensity
from sidelight.maps.modes import conditional_mode, content_mode
from sidelight.maps.truncated import outside_in_columns
from sidelight.maps.two_way_mixin import TwoWayMixin, explained_share, has_data_space
from sidelight.neighbours.sparse_distances import Points, dense_points
from sidelight.side.given import Column, EncodedGiven, Given

from ._informed_maps import GivenMaps, InformedMaps, ProductMap, Read, ReadForward
from .annealing import Annealing

__all__ = ["InformedMixin", "conditional_mean"]


def conditional_mean(mapped: BackwardMap, rows: Array, n_jobs: int | None) -> Array:
    """The answer of a map itself, a conditional mean; modes and smooth parts are read from it otherwise."""
    return mapped(rows, n_jobs)


def _smooth_mean(mapped: BackwardMap, rows: Array, n_jobs: int | None) -> Array:
    return smooth_part(mapped)(rows, n_jobs)


class InformedMixin(TwoWayMixin):
    """``TwoWayMixin`` with ``given`` in every method, and ``counterfactual``."""

    bandwidth: str | float
    metric: str
    penalty: str
    regularization: float | Annealing
    regularization_path_: Array
    latent_kernel_: str
    given_: Given | None
    effect_: Effect | None
    marginal_: BackwardMap | None
    marginal_forward_: KernelMap | None
    forward_effect_: Effect | None
    given_scale_: float | Array
    product_backward_: BackwardMap | None = None  # a default, because model files of version 0.1 lack it
    product_scale_: float | Array
    given_features_: Array | None = None  # a default, because older model files lack it
    change_: ChangeModel | None = None  # likewise

    def _shaped_density(self) -> LocalDensity | None:
        """None with one bandwidth for all rows: map, objective and density are then one model, as published."""
        return self.density_.shaped if self.bandwidth == "perplexity" else None

    confounded_: bool
    only_here_: Sequence[str] = ()  # likewise
    no_shift_: Sequence[str] = ()  # likewise

    @one_blas_thread
    def transform(self, X: object, *, given: object = None) -> Array:
        """Embed rows, each independently of the others: ``transform(X)[i] == transform(X[i:i+1])``.

        Parameters
        ----------
        X : array of shape (m, d)
            New rows. For precomputed distances: distances to the n training rows; in a sparse array, to the near ones.
        given : array of shape (m,) or (m, g), table, or one value for all rows, default=None
            The known variables of the rows, in the columns of ``fit``. Without it, and for rows with a missing entry,
            the result is averaged over ``given``. One value for all rows: a scalar, or for several columns a dict or a
            Series of scalars by name.
            With ``conditioning="product"``, the kernel weights of the training rows are the product of those of the row
            and those of ``given``. For precomputed distances no effect can be subtracted: ``given`` is checked and has
            no effect, with a warning.

        Returns
        -------
        Z : array of shape (m, q)
        """
        variance, X = self._row_variance(X), self._checked(X)
        known = self._known(given, len(X))
        Z = self.latent_frame_.outside(self._latent(X, known, variance=variance))
        return np.asarray(Z.astype(X.dtype, copy=False))

    @available_if(has_data_space)
    @one_blas_thread
    def inverse_transform(self, X: object, *, given: object = None, columns: object = None) -> Array:
        """Map latent points to the data space, by the conditional mean E[x | z] or E[x | z, given].

        Parameters
        ----------
        X : array of shape (m, q)
            Latent points.
        given : array of shape (m,) or (m, g), table, or one value for all rows, default=None
            The value of ``given`` to reconstruct for (the same pose of another object). Missing: the average over its
            values.
        columns : names, numbers or mask, default=None
            Columns of the data to return, in this order; None: all. A model of sparse rows computes no others.

        Returns
        -------
        rows : array of shape (m, d), or (m, len(columns))
        """
        Z = self._checked_latent(X)
        inside = self._rows(self.latent_frame_.inside(Z), self._known(given, len(Z)))
        rows = outside_in_columns(self.frame_, inside, self._chosen(columns))
        return np.asarray(rows.astype(Z.dtype, copy=False))

    @one_blas_thread
    def transform_mean(self, X: object, *, given: object = None) -> Array:
        """Embed each row at the conditional mean E[z | x] of the latent points (S0 3.23), shape (m, q).

        The source's kernel regression, without the correction by which ``transform`` maps training rows exactly.
        """
        X = self._checked(X)
        known = self._known(given, len(X))
        Z = self.latent_frame_.outside(self._latent(X, known, _smooth_mean))
        return np.asarray(Z.astype(X.dtype, copy=False))

    @one_blas_thread
    def transform_mode(self, X: object, *, given: object = None) -> Array:
        """Embed each row at the latent point of largest information content with it (S1 eq. 9), shape (m, q).

        ``transform`` returns the mean of the possible latent points of a row, which lies between them if there are two;
        this method chooses one of them. It is slower.
        """
        X = self._checked(X)
        known = self._known(given, len(X))
        Z = self.latent_frame_.outside(self._latent(X, known, self._content_mode))
        return np.asarray(Z.astype(X.dtype, copy=False))

    @available_if(has_data_space)
    @one_blas_thread
    def inverse_transform_mode(self, X: object, *, given: object = None) -> Array:
        """Map latent points to the data space by the mode of p(x | z) instead of its mean (S1 eq. 10), shape (m, d).

        If two types of rows share a latent point, the mean lies between them; the mode is one of them.
        """
        Z = self._checked_latent(X)
        known = self._known(given, len(Z))
        rows = self.frame_.outside(self._rows(self.latent_frame_.inside(Z), known, self._row_mode))
        return np.asarray(rows.astype(Z.dtype, copy=False))

    @available_if(has_data_space)
    @one_blas_thread
    def denoise(self, X: object, *, given: object = None) -> Array:
        """Project rows onto the manifold: ``inverse_transform(transform(X))``, shape (m, d)."""
        variance, X = self._row_variance(X), self._checked(X)
        known = self._known(given, len(X))
        rows = self._rows(self._latent(X, known, variance=variance), known)
        return np.asarray(self.frame_.outside(rows).astype(X.dtype, copy=False))

    @available_if(has_data_space)
    @one_blas_thread
    def predictive_variance(self, X: object, *, given: object = None) -> Array:
        """Predictive variance of each feature at latent points, shape (m, d).

        The weighted variance of the training rows around the conditional mean (conditional on ``given``, if passed)
        plus the variance of the data kernel: with one bandwidth h for all rows, h/2 for the Gaussian, h/(d + 6) for the
        quartic; the Student kernel has none, and is left out.
        """
        Z = self._checked_latent(X)
        return self._informed_maps().variance(Z, self._known(given, len(Z)), self.n_jobs)

    @one_blas_thread
    def latent_variance(self, X: object, *, given: object = None) -> Array:
        """Conditional variance of each latent coordinate given a row, shape (m, q).

        The weighted variance of the training points around E[z | x] (S0 3.23) or E[z | x, given], plus the variance of
        the latent kernel: 1/2 for the Gaussian, 1/(q + 6) for the quartic; the Student kernel has none, and is left
        out. Large if similar rows have different latent points.

        Parameters
        ----------
        X : array of shape (m, d)
        given : array of shape (m,) or (m, g), table, or one value for all rows, default=None

        Examples
        --------
        >>> from sidelight import KernelInformationEmbedding
        >>> from sidelight.datasets import s_curve
        >>> X = s_curve(100, random_state=0).X
        >>> KernelInformationEmbedding(bandwidth=1.0).fit(X).latent_variance(X[:2]).shape
        (2, 2)
        """
        X = self._checked(X)
        found = self._latent(X, self._known(given, len(X)), self._latent_variance)
        return np.asarray(found * self.latent_frame_.scale**2)

    @available_if(has_data_space)
    @one_blas_thread
    def score(self, X: object, y: object = None, *, given: object = None, sample_weight: object = None) -> float:
        """R² of the reconstruction: ``1 - |X - denoise(X)|² / |X - mean|²``."""
        del y
        variance, X = self._row_variance(X), self._checked(X)
        known = self._known(given, len(X))
        weight = checked_weights(self, sample_weight, len(X))
        back = self._rows(self._latent(X, known, variance=variance), known)
        return explained_share(self.frame_.inside(dense_points(X)), back, weight)

    @available_if(has_data_space)
    def typicality(self, X: object, *, given: object = None) -> Array:
        """How usual rows are among the training rows, shape (m,): the share of these with a lower density.

        Parameters
        ----------
        X : array of shape (m, d)
        given : array of shape (m,) or (m, g), table, or one value for all rows, default=None
            Checked, and not used: whole rows are compared, with the effect of ``given`` in them.
        """
        self._check_given(X, given)
        return np.asarray(super().typicality(X))

    @available_if(has_data_space)
    def novelty_p_value(self, X: object, *, given: object = None) -> Array:
        """How often a row like the training rows would be as unusual as these, shape (m,): a p-value.

        Parameters
        ----------
        X : array of shape (m, d)
        given : array of shape (m,) or (m, g), table, or one value for all rows, default=None
            Checked, and not used: whole rows are compared, with the effect of ``given`` in them.
        """
        self._check_given(X, given)
        return np.asarray(super().novelty_p_value(X))

    @available_if(has_data_space)
    def is_novel(self, X: object, *, given: object = None, false_alarm: float = 0.01) -> Array:
        """Whether nothing like a row was in the training data: a boolean array of shape (m,).

        Parameters
        ----------
        X : array of shape (m, d)
        given : array of shape (m,) or (m, g), table, or one value for all rows, default=None
            Checked, and not used: whole rows are compared, with the effect of ``given`` in them.
        false_alarm : float, default=0.01
            Share of rows like the training rows that may be called novel. Not below 1 / (n + 1), n the training rows
            that are compared (at most 2,000): so few cannot tell.
        """
        self._check_given(X, given)
        return np.asarray(super().is_novel(X, false_alarm=false_alarm))

    def _check_given(self, X: object, given: object) -> None:
        if given is not None:
            self._known(given, len(self._checked(X)))

    def _has_data_space(self) -> bool:
        return self.metric != "precomputed"

    def _keep_informed_maps(self, maps: InformedMaps, embedding: Array) -> None:
        """Set the fitted attributes of the maps; those about ``given`` are None in a model fitted without it."""
        self._keep_maps(maps.plain, embedding)
        given = maps.given
        self.marginal_ = None if given is None else given.marginal
        self.marginal_forward_ = None if given is None else given.marginal_forward
        self.forward_effect_ = None if given is None else given.forward_effect
        self.product_backward_ = None
        self.given_features_ = None if given is None else given.features
        self.change_ = None if given is None else given.change
        if given is not None:
            self.given_scale_ = given.scale
            if given.product is not None:
                self.product_backward_, self.product_scale_ = given.product.backward, given.product.scale

    def _informed_maps(self) -> InformedMaps:
        """The fitted maps, collected from the fitted attributes."""
        if self.marginal_ is None or self.marginal_forward_ is None:
            return InformedMaps(self._maps(), None)
        product = self.product_backward_
        given = GivenMaps(
            self.effect_,
            self.marginal_,
            self.marginal_forward_,
            self.forward_effect_,
            self.given_scale_,
            None if product is None else ProductMap(product, self.product_scale_),
            self.given_features_,
            self.change_,
        )
        return InformedMaps(self._maps(), given)

    def _neighbour_lists(self) -> Array | None:
        """None with ``given``: lists then hold neighbours from every group, and not the nearest rows."""
        return super()._neighbour_lists() if self.given_ is None else None

    def _seen_rows(self, X: object, given: object) -> Array:
        rows = np.asarray(self.frame_.points(self._complete_rows(X)))
        if self.given_ is not None and given is None:
            rule = "would leave the effect of the fitted given in the rows"
            raise ValueError(error_message(self, "given", None, rule, "Give the values of these rows, as in fit"))
        known = self._known(given, len(rows))
        if known is not None and not known.complete.all():
            rule = f"is missing in {int((~known.complete).sum())} rows"
            raise ValueError(error_message(self, "given", "NaN", rule, "Leave these rows out"))
        if known is None or self.effect_ is None:
            return rows
        return np.asarray(rows - self.effect_.at_rows(rows, known.features))

    def _given_columns(self) -> tuple[Column, ...] | None:
        return None if self.given_ is None else self.given_.columns

    def _complete_rows(self, X: object) -> Array:
        """Validated rows without missing entries."""
        if self._row_gaps(X):
            complete_rows(self, np.full((1, 1), np.nan))
        return dense_points(self._checked(X))

    def _row_gaps(self, X: object) -> bool:
        """Whether rows have missing entries that the model would fill."""
        del X
        return False

    def _checked(self, X: object) -> Points:
        """Validated rows (m, d), or distances to the training rows."""
        found: Points = super()._checked(X)
        return found

    def _latent(
        self, X: Points, known: EncodedGiven | None, read: Read = conditional_mean, variance: Array | None = None
    ) -> Array:
        return self._informed_maps().backward(X, known, read, self.n_jobs, variance)

    def _row_variance(self, X: object) -> Array | None:
        """Variances (m, d) of missing entries, in units of the frame, where these enter the map; else None."""
        del X
        return None

    def _rows(self, Z: Array, known: EncodedGiven | None, read: ReadForward = conditional_mean) -> Array:
        return self._informed_maps().forward(Z, known, read, self.n_jobs)

    def _known(self, given: object, n: int) -> EncodedGiven | None:
        """Encode ``given``; None if it was not passed, or if it was constant over the training rows (no effect)."""
        if given is None:
            return None
        if self.given_ is None:
            seen, rule = "something", "cannot be used by a model that was fitted without given"
            raise ValueError(error_message(self, "given", seen, rule, "Fit with given, or leave it out"))
        known = self.given_.encode(self, given, n)
        if self.metric == "precomputed":
            rule = "has no effect with precomputed distances"
            warn(error_message(self, "given", "something", rule, "Leave it out"), UserWarning)
        return None if self.marginal_forward_ is None else known

    def _content_mode(self, backward: BackwardMap, points: Array, n_jobs: int | None) -> Array:
        options = Annealing.of(self.regularization)
        weight = options.regularization if options.limit is None else float(self.regularization_path_[-1])
        kernel, penalty = self.latent_kernel_, self.penalty
        return content_mode(smooth_part(backward), points, kernel=kernel, penalty=penalty, weight=weight, n_jobs=n_jobs)

    def _latent_variance(self, backward: BackwardMap, points: Array, n_jobs: int | None) -> Array:
        own = profile(self.latent_kernel_).variance(self._n_features_out)
        return smooth_part(backward).variance(points, n_jobs) + (own if np.isfinite(own) else 0.0)

    def _row_mode(self, forward: KernelMap, Z: Array, n_jobs: int | None) -> Array:
        return conditional_mode(forward, Z, self.density_.bandwidths, n_jobs, self.density_.kernel)

"""The maps of a model that may know something of its rows: each takes ``given``.

Where it is missing, the map averages over it.

backward  z(x, g) = Σ_j w_j(x - effect(g)) z_j         without g:  Σ_j w_j(x) z_j, weights of the data as it is
          z(x, g) = Σ_j w_j(x, g) z_j                  of the published product of kernels, which takes no effect off
          both with a correction that puts training rows where the map shows them (``maps.interpolation``)
forward   x(z, g) = effect(g) + Σ_j w_j(z, g) x̃_j      without g:  Σ_j w_j(z) x_j

In ``w_j(z, g)`` the latent kernel is multiplied with one of ``given``, whose width is chosen by leave-one-out error.
A model that was fitted without ``given``, or with one that was the same for every row, has the plain maps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.metaestimators import available_if

from sidelight.base.messages import complain
from sidelight.base.tiles import one_blas_thread
from sidelight.base.validation import checked_weights
from sidelight.base.warnings import warn
from sidelight.maps.interpolation import BackwardMap, smooth_part
from sidelight.maps.kernel_map import KernelMap
from sidelight.maps.modes import conditional_mode, content_mode
from sidelight.maps.two_way_mixin import TwoWayMixin, explained_share, has_data_space
from sidelight.side.given import Known

__all__ = ["InformedMaps", "latent_profile"]

Array = npt.NDArray[Any]
Read = Callable[[Any, Array, "int | None"], Array]


def latent_profile(model: Any) -> str:
    """The profile of the latent kernel that was used, where the model chose it."""
    return str(getattr(model, "latent_kernel_", model.latent_kernel))


def _mean(mapped: BackwardMap, rows: Array, n_jobs: int | None) -> Array:
    return mapped(rows, n_jobs)


def _informed_forward(model: Any) -> bool:
    """There is something to change, and a way back to the data."""
    return has_data_space(model) and getattr(model, "given_", True) is not None


class InformedMaps(TwoWayMixin):
    """``TwoWayMixin`` with ``given`` in every method, and ``counterfactual``."""

    @one_blas_thread
    def transform(self: Any, X: Array, *, given: Any = None) -> Array:
        """Embed rows, each by itself: ``transform(X)[i] == transform(X[i:i+1])``.

        Parameters
        ----------
        X : array of shape (m, d)
            New rows (for precomputed distances, distances to the n training rows; in a sparse array, to those near it).
        given : array of shape (m,) or (m, g), or table, default=None
            What is known of them, in the columns of ``fit``. Without it, and for rows with a missing entry, the
            answer is averaged over what could be the case.
            With ``conditioning="product"`` the weights of the training rows are those of the row times those of
            ``given``. Of precomputed distances no effect can be taken off: there ``given`` is checked and has no
            effect, and a warning says so.

        Returns
        -------
        Z : array of shape (m, q)
        """
        X = self._checked(X)
        known = self._known(given, len(X))
        Z = self.latent_frame_.outside(self._backward(X, known))
        return np.asarray(Z.astype(X.dtype, copy=False))

    @available_if(has_data_space)
    @one_blas_thread
    def inverse_transform(self: Any, X: Array, *, given: Any = None) -> Array:
        """Take latent points back to the data space, by the conditional mean.

        Parameters
        ----------
        X : array of shape (m, q)
            Latent points.
        given : array of shape (m,) or (m, g), or table, default=None
            For what they are to be shown: hold the latent point and change ``given``, and the same pose is seen of
            another object. Missing: averaged over.

        Returns
        -------
        rows : array of shape (m, d)
        """
        Z = self._checked_latent(X)
        known = self._known(given, len(Z))
        rows = self.frame_.outside(self._forward(self.latent_frame_.inside(Z), known))
        return np.asarray(rows.astype(Z.dtype, copy=False))

    @one_blas_thread
    def transform_mode(self: Any, X: Array, *, given: Any = None) -> Array:
        """Embed rows where the information content of row and place is largest (S1 eq. 9), shape (m, q).

        ``transform`` gives the mean of the places a row could have, which lies between them if they are two; this
        chooses one. It is slower.
        """
        X = self._checked(X)
        known = self._known(given, len(X))
        Z = self.latent_frame_.outside(self._backward(X, known, self._content_mode))
        return np.asarray(Z.astype(X.dtype, copy=False))

    @available_if(has_data_space)
    @one_blas_thread
    def inverse_transform_mode(self: Any, X: Array, *, given: Any = None) -> Array:
        """Take latent points back by the mode of p(x | z) instead of its mean (S1 eq. 10), shape (m, d).

        Where two kinds of rows share a place on the map, the mean lies between them; the mode is one of them.
        """
        Z = self._checked_latent(X)
        known = self._known(given, len(Z))
        rows = self.frame_.outside(self._forward(self.latent_frame_.inside(Z), known, self._row_mode))
        return np.asarray(rows.astype(Z.dtype, copy=False))

    @available_if(_informed_forward)
    @one_blas_thread
    def counterfactual(self: Any, X: Array, *, given: Any) -> Array:
        """The rows of ``X`` as they would be under another ``given``, shape (m, d).

        Each row is embedded (its own ``given`` need not be known) and shown again for the one that is asked for.
        """
        X = self._checked(X)
        if given is None:
            seen, rule = "nothing", "does not say what is to be different"
            raise ValueError(complain(self, "given", seen, rule, "Give one entry per row"))
        known = self._known(given, len(X))
        rows = self.frame_.outside(self._forward(self._backward(X, None), known))
        return np.asarray(rows.astype(X.dtype, copy=False))

    @available_if(has_data_space)
    @one_blas_thread
    def denoise(self: Any, X: Array, *, given: Any = None) -> Array:
        """Project rows onto the manifold: ``inverse_transform(transform(X))``, shape (m, d)."""
        X = self._checked(X)
        known = self._known(given, len(X))
        rows = self._forward(self._backward(X, known), known)
        return np.asarray(self.frame_.outside(rows).astype(X.dtype, copy=False))

    @available_if(has_data_space)
    @one_blas_thread
    def predictive_variance(self: Any, X: Array, *, given: Any = None) -> Array:
        """How uncertain the data is at latent points: variance per feature, shape (m, d).

        The spread of the training rows around the conditional mean (under ``given``, if there is one) plus the variance
        of the data kernel.
        """
        Z = self._checked_latent(X)
        inside = self.latent_frame_.inside(Z)
        known = self._known(given, len(Z))
        spread = self._by_knowledge(known, inside, self._marginal_forward.variance, self._conditional_variance)
        own = 0.5 * self._marginal_forward.weights.average(inside, self.density_.bandwidths[:, None], self.n_jobs)
        return np.asarray((spread + own) * self.frame_.scale**2)

    @available_if(has_data_space)
    @one_blas_thread
    def score(self: Any, X: Array, y: Any = None, *, given: Any = None, sample_weight: Any = None) -> float:
        """Share of the variance that survives the way there and back: ``1 - |X - denoise(X)|² / |X - mean|²``."""
        del y
        X = self._checked(X)
        known = self._known(given, len(X))
        weight = checked_weights(self, sample_weight, len(X))
        return explained_share(self.frame_.inside(X), self._forward(self._backward(X, known), known), weight)

    def _has_data_space(self: Any) -> bool:
        return bool(self.metric != "precomputed")

    @property
    def _marginal_forward(self: Any) -> KernelMap:
        found: KernelMap = self.forward_ if self.marginal_forward_ is None else self.marginal_forward_
        return found

    def _known(self: Any, given: Any, n: int) -> Known | None:
        """Read ``given``; None where there is none, or where it was the same for all rows and so changes nothing."""
        if given is None:
            return None
        if self.given_ is None:
            seen, rule = "something", "cannot be used by a model that was fitted without given"
            raise ValueError(complain(self, "given", seen, rule, "Fit with given, or leave it out"))
        known: Known = self.given_.encode(self, given, n)
        if self.metric == "precomputed":
            rule = "has no effect on rows that are known by their distances, which decide alone"
            warn(complain(self, "given", "something", rule, "Leave it out"), UserWarning)
        return None if self.marginal_forward_ is None else known

    def _content_mode(self: Any, backward: BackwardMap, points: Array, n_jobs: int | None) -> Array:
        how = {"kernel": latent_profile(self), "penalty": self.penalty, "weight": self.regularization}
        return content_mode(smooth_part(backward), points, n_jobs=n_jobs, **how)

    def _row_mode(self: Any, forward: KernelMap, Z: Array, n_jobs: int | None) -> Array:
        return conditional_mode(forward, Z, self.density_.bandwidths, n_jobs)

    def _backward(self: Any, X: Array, known: Known | None, read: Read = _mean) -> Array:
        """Latent points of rows; ``read`` says what is read off a map, its mean or its mode."""
        points = self.frame_.points(X)
        product = getattr(self, "product_backward_", None)  # that files of earlier versions do not have
        if product is not None:
            return self._by_knowledge(  # type: ignore[no-any-return]
                known,
                points,
                lambda rows, n_jobs: read(self.backward_, rows, n_jobs),
                lambda rows, features, n_jobs: read(
                    product, np.column_stack([rows, self.product_scale_ * features]), n_jobs
                ),
            )
        if self.effect_ is None:
            return np.asarray(read(self.backward_, points, self.n_jobs))
        return self._by_knowledge(  # type: ignore[no-any-return]
            known,
            points,
            lambda rows, n_jobs: read(self.marginal_, rows, n_jobs),
            lambda rows, features, n_jobs: read(self.backward_, rows - self.effect_(features), n_jobs),
        )

    def _forward(self: Any, Z: Array, known: Known | None, read: Read = _mean) -> Array:
        """Rows, inside the frame, of latent points."""

        def informed(Z: Array, features: Array, n_jobs: int | None) -> Array:
            query = np.column_stack([Z, self.given_scale_ * features])
            return np.asarray(self.forward_effect_(features) + read(self.forward_, query, n_jobs))

        return self._by_knowledge(  # type: ignore[no-any-return]
            known, Z, lambda Z, n_jobs: read(self._marginal_forward, Z, n_jobs), informed
        )

    def _conditional_variance(self: Any, Z: Array, features: Array, n_jobs: int | None) -> Array:
        query = np.column_stack([Z, self.given_scale_ * features])
        return np.asarray(self.forward_.variance(query, n_jobs))

    def _by_knowledge(self: Any, known: Known | None, rows: Array, without: Any, informed: Any) -> Array:
        """Rows whose ``given`` is known by one map, the others by the map that averages over it."""
        if known is None or not known.known.any():
            return np.asarray(without(rows, self.n_jobs))
        at = known.known
        first = informed(rows[at], known.features[at], self.n_jobs)
        if at.all():
            return np.asarray(first)
        out = np.empty((len(rows), first.shape[1]))
        out[at] = first
        out[~at] = without(rows[~at], self.n_jobs)
        return out

"""What every coordinated model answers, once it has ``map_``, and ``centre_`` and ``scale_`` of its columns.

The mixin holds no state of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from sidelight.base.cost import Cost
from sidelight.base.messages import complain
from sidelight.base.random import random_numbers
from sidelight.base.tiles import one_blas_thread, run_tiles, spans
from sidelight.base.validation import (
    check_choice,
    check_integer,
    check_number,
    checked_array,
    checked_weights,
    validated,
)
from sidelight.objectives.coordination import bridging

from ._coordination_fit import Course, Glued

__all__ = ["CoordinatedMaps", "check_coordination", "keep_glued"]

Array = npt.NDArray[Any]
_BLOCK = 4096


class CoordinatedMaps(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """transform, inverse_transform, denoise, densities, samples and a score, from a ``CoordinatedMap``."""

    def transform(self: Any, X: Array) -> Array:
        """Embed rows, each by itself: ``transform(X)[i] == transform(X[i:i+1])``, shape (m, q)."""
        return np.asarray(self._by_block(self._checked(X), self._backward))

    def inverse_transform(self: Any, X: Array) -> Array:
        """Take latent points (m, q) back to the data space (m, d).

        Each chart by the pseudo-inverse of its map, weighed by how likely it is there.
        """
        return np.asarray(self._by_block(self._checked_latent(X), self._forward))

    def denoise(self: Any, X: Array) -> Array:
        """Project rows onto the manifold: ``inverse_transform(transform(X))``, shape (m, d)."""
        return np.asarray(self._by_block(self._checked(X), self._there_and_back))

    def predictive_variance(self: Any, X: Array) -> Array:
        """How uncertain the data is at latent points: variance per feature, shape (m, d)."""
        return np.asarray(
            self._by_block(self._checked_latent(X), lambda Z: self._all_views(Z, self.map_.variance), np.float64)
        )

    def score_samples(self: Any, X: Array) -> Array:
        """Log density of rows under the mixture, of parallel mixtures under their mean, shape (m,)."""
        return np.asarray(self._by_block(self._checked(X), lambda part: self.map_.log_density(self._widened(part))))

    def latent_log_density(self: Any, X: Array) -> Array:
        """Log density of latent points, a Gaussian for each chart, shape (m,)."""
        return np.asarray(self._by_block(self._checked_latent(X), self.map_.latent_log_density))

    @one_blas_thread
    def sample(self: Any, n_samples: int = 1, random_state: Any = None) -> Array:
        """Draw rows from the mixture, shape (n_samples, d).

        ``random_state=None`` uses the model's own, so that the same model gives the same rows.
        """
        check_is_fitted(self, "map_")
        if n_samples < 1:
            raise ValueError(complain(self, "n_samples", n_samples, "is less than 1", "Ask for one row or more"))
        rng = random_numbers(random_state, self.random_state)
        return np.asarray(self.map_.sample(n_samples, rng, len(self.centre_))[:, : self.n_features_in_])

    def score(self: Any, X: Array, y: Any = None, *, sample_weight: Any = None) -> float:
        """Share of the variance that survives the way there and back: ``1 - |X - denoise(X)|² / |X - mean|²``."""
        del y
        X = self._checked(X).astype(np.float64)
        back = self._by_block(X, self._there_and_back)
        return float(self._explained(X, back, np.arange(X.shape[1]), sample_weight))

    def estimate_cost(self: Any, n: int, d: int) -> Cost:
        """What a fit of n rows and d columns (of all views) takes, before it is paid.

        ``fit_batches`` needs the memory for none of the rows.
        """
        k, q, views = 20 if isinstance(self.n_charts, str) else self.n_charts, self.n_components, self._n_views()
        size = views * self.n_mixtures * k * (q + 1)
        steps = 60 * views * self.n_mixtures * (1.0 if self.n_charts != "auto" else 1.0 + min(3.0, 10_000 / n))
        seconds = 0.1 + steps * n * (1e-10 * k * (d / views) ** 2 + 2e-8 * k) + n * 2e-9 * size**2 + 5e-9 * size**3
        copies = 1 if views == 1 else 2
        return Cost(int(8 * n * (copies * d + q) + 8 * 4 * (size + (copies - 1) * d) ** 2 + 2**27), float(seconds))

    def _n_views(self) -> int:
        return 1

    def _explained(self: Any, truth: Array, found: Array, columns: Array, sample_weight: Any) -> float:
        """Share of the variance of ``truth``, over what is seen of it, that ``found`` has."""
        A, B = ((V - self.centre_[columns]) / self.scale_[columns] for V in (truth, found))
        weight = checked_weights(self, sample_weight, len(A))
        W = np.where(np.isnan(A), 0.0, weight[:, None])
        A = np.where(W > 0, A, 0.0)
        mean = (W * A).sum(axis=0) / np.maximum(W.sum(axis=0), 1e-300)
        lost, total = float((W * (A - B) ** 2).sum()), float((W * (A - mean) ** 2).sum())
        return 1.0 - lost / total if total > 0 else 0.0

    def _widened(self: Any, X: Array) -> Array:
        """Rows of X as rows of all columns that the model knows."""
        return X

    def _backward(self: Any, X: Array) -> Array:
        return np.asarray(self.map_.backward(self._widened(X)))

    def _forward(self: Any, Z: Array) -> Array:
        return np.asarray(self._all_views(Z, self.map_.forward))

    def _there_and_back(self: Any, X: Array) -> Array:
        return np.asarray(self._forward(self._backward(X)))

    def _all_views(self: Any, Z: Array, function: Callable[..., Array]) -> Array:
        """A function of latent points and a view, its columns put where they stand in X."""
        out = np.empty((len(Z), len(self.centre_)))
        for view, columns in {own.view: own.columns for own in self.map_.views}.items():
            out[:, columns] = function(Z, view)
        return out[:, : self.n_features_in_]

    @one_blas_thread
    def _by_block(self: Any, X: Array, function: Callable[[Array], Array], dtype: Any = None) -> Array:
        """A function of rows, a block at a time, on threads, in the type of the rows."""
        parts = run_tiles(lambda part: function(X[part].astype(np.float64)), spans(len(X), _BLOCK), self.n_jobs)
        return np.asarray(np.concatenate(parts).astype(dtype or X.dtype, copy=False))

    def _checked(self: Any, X: Array) -> Array:
        check_is_fitted(self, "map_")
        return np.asarray(validated(self, X, dtype=[np.float64, np.float32], reset=False, spread=self._spread()))

    def _spread(self: Any) -> float:
        return float(min(own.scale for own in self.map_.views))

    def _checked_latent(self: Any, X: Array) -> Array:
        check_is_fitted(self, "map_")
        Z = np.asarray(checked_array(self, X, dtype=[np.float64, np.float32], input_name="X"))
        if Z.shape[1] != self._n_features_out:
            rule = f"does not match the {self._n_features_out} latent dimensions"
            raise ValueError(complain(self, "X", f"{Z.shape[1]} columns", rule, "Give latent points, one per row"))
        return Z

    @property
    def _n_features_out(self: Any) -> int:
        return int(self.map_.n_components)

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def check_coordination(model: Any) -> None:
    """Every parameter that coordinated models share in range, or a sentence."""
    check_integer(model, "n_components", model.n_components, 1)
    check_integer(model, "n_mixtures", model.n_mixtures, 1)
    if model.n_charts != "auto":
        check_integer(model, "n_charts", model.n_charts, 1)
    if isinstance(model.n_local, str):
        check_choice(model, "n_local", model.n_local, ("auto",))
    elif isinstance(model.n_local, int):
        check_integer(model, "n_local", model.n_local, 0)
    if isinstance(model.balance, str):
        check_choice(model, "balance", model.balance, ("auto",))
    elif model.balance is not None:
        check_number(model, "balance", model.balance, 0.0)
    check_number(model, "smoothing", model.smoothing, 0.0)
    check_integer(model, "max_iter", model.max_iter, 1)
    check_number(model, "tol", model.tol, 0.0)


def keep_glued(model: Any, found: Glued, course: Course) -> None:
    """Set what a fit tells: maps, how well the charts agree, and how it went."""
    course.add_gluing(found)
    model.history_, model.n_iter_ = course.history, course.n_iter
    model.map_ = found.map
    model.n_charts_ = len(found.map.maps)
    model.n_local_ = tuple(len(L) - 1 for L in found.map.maps)
    model.disagreement_ = found.disagreement
    model.balance_ = found.balance
    model.distortion_ = found.distortion
    model.off_plane_ = found.off_plane
    model.bridging_ = np.flatnonzero(bridging(found.off_plane))

"""The methods of every coordinated estimator: rows are checked here, ``maps.coordinated.CoordinatedMap`` answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from sidelight.base.cost import Cost
from sidelight.base.map_picture import MapRepresentation
from sidelight.base.messages import error_message
from sidelight.base.random import random_numbers, start_seed
from sidelight.base.result import Callback
from sidelight.base.tiles import by_block, one_blas_thread
from sidelight.base.types import Array, RandomState
from sidelight.base.validation import (
    check_choice,
    check_integer,
    check_number,
    checked_latent,
    checked_weights,
    validated,
)
from sidelight.maps.chart_jacobians import coordinated_inverse_jacobian, coordinated_jacobian, has_slopes
from sidelight.maps.coordinated import CoordinatedMap
from sidelight.maps.held_out import FEW_STEPS, MOST_ROWS, held_out, needs_folds, refitted_planes
from sidelight.maps.jacobian_mixin import InverseJacobianMixin
from sidelight.maps.novelty_mixin import NoveltyMixin
from sidelight.maps.plane_charts import PlaneCharts
from sidelight.maps.reduced_charts import ReducedCharts, leading_components
from sidelight.maps.smooth_map import SmoothMap
from sidelight.maps.typicality import COMPARED, lower_share, view_p_values, view_shares
from sidelight.objectives.coordination import bridging

from ._coordination_fit import Coordinated
from ._fit_cost import chart_cost
from ._fit_progress import FitProgress
from ._settings import CoordinationSettings

__all__ = ["CoordinatedMixin"]

_BUDGET = 2_000_000  # numbers in the temporaries of one block of Jacobians


def _has_reference(model: CoordinatedMixin) -> bool:
    """Whether training rows are there to compare with; older files, and charts without a density, lack them."""
    return "map_" not in vars(model) or "training_densities_" in vars(model)


def _training_densities(both: CoordinatedMap, sample: Array, compared: Array, n_jobs: int | None) -> Array:
    """Log densities (m, v) of training rows in each view; held out where ``sample`` is few for the parameters."""
    planes = [view.charts for view in both.views if isinstance(view.charts, PlaneCharts | ReducedCharts)]
    few = needs_folds(sample, sum(charts.n_parameters for charts in planes))
    if len(sample) >= MOST_ROWS or len(planes) < len(both.views) or not few:
        return by_block(both.view_log_densities, compared, n_jobs)

    def refit(others: Array) -> Callable[[Array], Array]:
        views = []
        for view, charts in zip(both.views, planes, strict=True):
            Y, seen = view.inside(others)
            views.append(replace(view, charts=_refitted(charts, Y[seen], n_jobs)))
        return replace(both, views=tuple(views)).view_log_densities

    return held_out(sample, refit)


def _refitted(charts: PlaneCharts | ReducedCharts, Y: Array, n_jobs: int | None) -> PlaneCharts | ReducedCharts:
    """Charts after a few EM steps on other rows (m, d), with the components of these."""
    if isinstance(charts, PlaneCharts):
        return refitted_planes(charts, Y, n_jobs, FEW_STEPS)
    moved = charts.moved(leading_components(Y, charts.components.axes.shape[1]))
    return replace(moved, charts=refitted_planes(moved.charts, moved.components.inside(Y), n_jobs, FEW_STEPS))


class CoordinatedMixin(
    MapRepresentation, ClassNamePrefixFeaturesOutMixin, NoveltyMixin, InverseJacobianMixin, TransformerMixin
):
    """transform, inverse_transform, denoise, densities, samples and a score, from a ``CoordinatedMap``.

    ``fit`` ends with ``_keep_glued``, which sets the fitted attributes below.
    """

    n_components: int
    n_charts: int | str
    n_mixtures: int
    n_local: int | str | Sequence[int] | None
    smoothing: float
    balance: float | str | None
    max_iter: int
    tol: float
    random_state: RandomState
    n_jobs: int | None
    verbose: int
    callback: Callback | None
    n_features_in_: int
    centre_: Array
    scale_: Array
    map_: CoordinatedMap
    training_densities_: Array
    training_latent_densities_: Array

    def transform(self, X: Array) -> Array:
        """Embed rows, each by itself: ``transform(X)[i] == transform(X[i:i+1])``.

        Parameters
        ----------
        X : array of shape (m, d)

        Returns
        -------
        Z : array of shape (m, q)
        """
        return by_block(self._backward, self._checked(X), self.n_jobs)

    def inverse_transform(self, X: Array) -> Array:
        """Take latent points back to the data space.

        Each chart by the pseudo-inverse of its map, weighed by how likely it is there.

        Parameters
        ----------
        X : array of shape (m, q)
            Latent points.

        Returns
        -------
        rows : array of shape (m, d)
        """
        return by_block(self._forward, self._checked_latent(X), self.n_jobs)

    def denoise(self, X: Array) -> Array:
        """Project rows onto the manifold: ``inverse_transform(transform(X))``, shape (m, d)."""
        return by_block(self._projected, self._checked(X), self.n_jobs)

    def predictive_variance(self, X: Array) -> Array:
        """How uncertain the data is at latent points: variance per feature, shape (m, d)."""
        Z = self._checked_latent(X)
        return by_block(lambda part: self._all_views(part, self.map_.variance), Z, self.n_jobs, dtype=np.float64)

    def score_samples(self, X: Array) -> Array:
        """Log density of rows under the mixture, of parallel mixtures under their mean, shape (m,)."""
        return by_block(lambda part: self.map_.log_density(self._widened(part)), self._checked(X), self.n_jobs)

    def latent_log_density(self, X: Array) -> Array:
        """Log density of latent points, a Gaussian for each chart, shape (m,)."""
        Z = self._checked_latent(X)
        return by_block(self.map_.latent_log_density, Z, self.n_jobs)

    @available_if(_has_reference)
    def typicality(self, X: Array) -> Array:
        """How usual rows are among the training rows, shape (m,), between 0 and 1.

        The share of training rows whose density (``score_samples``) is not larger, among those that the same views
        have seen. 0 means farther out than every training row; below 0.01 a row is unusual, and where ``transform``
        places it means little.
        """
        return view_shares(self.training_densities_, self._view_densities(X))

    @available_if(_has_reference)
    def latent_typicality(self, X: Array) -> Array:
        """How usual latent points (m, q) are among those of the training rows, shape (m,), between 0 and 1."""
        Z = self._checked_latent(X)
        logs = by_block(self.map_.latent_log_density, Z, self.n_jobs, dtype=np.float64)
        return lower_share(self.training_latent_densities_, logs)

    @one_blas_thread
    def sample(self, n_samples: int = 1, random_state: RandomState = None) -> Array:
        """Draw rows from the mixture, shape (n_samples, d).

        ``random_state=None`` uses the model's own, so that the same model gives the same rows.
        """
        check_is_fitted(self, "map_")
        if n_samples < 1:
            raise ValueError(error_message(self, "n_samples", n_samples, "is less than 1", "Ask for one row or more"))
        rng = random_numbers(random_state, self.random_state)
        return np.asarray(self.map_.sample(n_samples, rng, len(self.centre_))[:, : self.n_features_in_])

    def score(self, X: Array, y: object = None, *, sample_weight: object = None) -> float:
        """Share of the variance that ``denoise`` keeps: ``1 - |X - denoise(X)|² / |X - mean|²``."""
        del y
        X = self._checked(X).astype(np.float64)
        back = by_block(self._projected, X, self.n_jobs)
        return self._explained(X, back, np.arange(X.shape[1]), sample_weight)

    def estimate_cost(self, n: int, d: int) -> Cost:
        """Memory and time of a fit to n rows and d columns (of all views).

        ``fit_batches`` does not hold the rows in memory.
        """
        return chart_cost(n, d, self.n_charts, self.n_components, self.n_mixtures, self._n_views())

    def _check_shared(self) -> None:
        """Every parameter that coordinated models share in range, or a sentence."""
        check_integer(self, "n_components", self.n_components, 1)
        check_integer(self, "n_mixtures", self.n_mixtures, 1)
        if self.n_charts != "auto":
            check_integer(self, "n_charts", self.n_charts, 1)
        if isinstance(self.n_local, str):
            check_choice(self, "n_local", self.n_local, ("auto",))
        elif isinstance(self.n_local, int):
            check_integer(self, "n_local", self.n_local, 0)
        if isinstance(self.balance, str):
            check_choice(self, "balance", self.balance, ("auto",))
        elif self.balance is not None:
            check_number(self, "balance", self.balance, 0.0)
        check_number(self, "smoothing", self.smoothing, 0.0)
        check_integer(self, "max_iter", self.max_iter, 1)
        check_number(self, "tol", self.tol, 0.0)

    def _settings(self) -> CoordinationSettings:
        return CoordinationSettings(
            owner=type(self).__name__,
            n_components=self.n_components,
            n_charts=self.n_charts,
            n_mixtures=self.n_mixtures,
            n_local=self.n_local,
            smoothing=self.smoothing,
            balance=self.balance,
            max_iter=self.max_iter,
            tol=self.tol,
            seed=start_seed(self.random_state),
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )

    def _keep_glued(
        self, found: Coordinated, centre: Array, scale: Array, sample: Array, progress: FitProgress
    ) -> None:
        """Set the maps, the frame of the columns (d,), how well the charts agree, densities, and the history.

        ``sample`` (m, d) are training rows, of which up to 2,000 are those that new rows are compared with.
        """
        compared = sample[:: -(-len(sample) // COMPARED)]
        known = all(hasattr(view.charts, "log_density") for view in found.map.views)  # a user's charts need none
        own = _training_densities(found.map, sample, compared, self.n_jobs) if known else None
        progress.add_eigenproblem(found.terms)
        self.history_, self.n_iter_ = progress.history, progress.n_iter
        self.n_features_in_ = len(centre)
        self.centre_, self.scale_ = centre, scale
        self.map_ = found.map
        if own is not None:
            self.training_densities_ = own
        latent = by_block(found.map.backward, compared, self.n_jobs)
        self.training_latent_densities_ = np.sort(by_block(found.map.latent_log_density, latent, self.n_jobs))
        self.n_charts_ = len(found.map.maps)
        self.n_local_ = tuple(len(L) - 1 for L in found.map.maps)
        self.disagreement_ = found.disagreement
        self.balance_ = found.balance
        self.distortion_ = found.distortion
        self.alignment_ = found.placement.alignment
        self.off_plane_ = found.off_plane
        self.bridging_ = np.flatnonzero(bridging(found.off_plane))

    def _view_densities(self, X: Array) -> Array:
        """Log densities (m, v) of rows in each view."""
        return by_block(
            lambda part: self.map_.view_log_densities(self._widened(part)), self._checked(X), self.n_jobs,
            dtype=np.float64,
        )  # fmt: skip

    def _compares_rows(self) -> bool:
        return _has_reference(self)

    def _p_values(self, X: Array) -> tuple[Array, int]:
        return view_p_values(self.training_densities_, self._view_densities(X)), len(self.training_densities_)

    def _n_views(self) -> int:
        return 1

    def _explained(self, truth: Array, found: Array, columns: Array, sample_weight: object) -> float:
        """Share of the variance of ``truth``, over its entries that are not NaN, that ``found`` has."""
        A, B = ((V - self.centre_[columns]) / self.scale_[columns] for V in (truth, found))
        weight = checked_weights(self, sample_weight, len(A))
        W = np.where(np.isnan(A), 0.0, weight[:, None])
        A = np.where(W > 0, A, 0.0)
        mean = (W * A).sum(axis=0) / np.maximum(W.sum(axis=0), 1e-300)
        lost, total = float((W * (A - B) ** 2).sum()), float((W * (A - mean) ** 2).sum())
        return 1.0 - lost / total if total > 0 else 0.0

    def _widened(self, X: Array) -> Array:
        """Rows of X as rows of all columns that the model knows."""
        return X

    def _backward(self, X: Array) -> Array:
        return self.map_.backward(self._widened(X))

    def _forward(self, Z: Array) -> Array:
        return self._all_views(Z, self.map_.forward)

    def _projected(self, X: Array) -> Array:
        return self._forward(self._backward(X))

    def _all_views(self, Z: Array, function: Callable[[Array, int], Array]) -> Array:
        """A function of latent points and a view, its columns put where they stand in X."""
        out = np.empty((len(Z), len(self.centre_)))
        for view, columns in {own.view: own.columns for own in self.map_.views}.items():
            out[:, columns] = function(Z, view)
        return out[:, : self.n_features_in_]

    def _smooth_map(self, given: object, n: int) -> SmoothMap:
        del given, n
        check_is_fitted(self, "map_")
        block, d = max(1, _BUDGET // (len(self.map_.maps) * len(self.centre_))), self.n_features_in_

        def slope(C: Array, which: Array) -> Array:
            del which
            return by_block(
                lambda part: coordinated_jacobian(self.map_, self._widened(part))[:, :, :d],
                C, self.n_jobs, block=block, dtype=np.float64,
            )  # fmt: skip

        return SmoothMap(
            self._checked, lambda C, which: by_block(self._backward, C, self.n_jobs, dtype=np.float64), slope
        )

    def _inverse_slopes(self, Z: Array, given: object, columns: Array | None) -> Array:
        del given

        def slopes(part: Array) -> Array:
            out = np.empty((len(part), len(self.centre_), part.shape[1]))
            for view, own in {view.view: view.columns for view in self.map_.views}.items():
                out[:, own] = coordinated_inverse_jacobian(self.map_, part, view)
            return out[:, : self.n_features_in_] if columns is None else out[:, columns]

        block = max(1, _BUDGET // (len(self.centre_) * Z.shape[1]))
        return by_block(slopes, Z, self.n_jobs, block=block, dtype=np.float64)

    def _no_jacobian(self) -> str | None:
        if "map_" not in vars(self) or all(has_slopes(view.charts) for view in self.map_.views):
            return None
        return "go through charts that are not of this library, whose slopes are not known"

    def _no_inverse_jacobian(self) -> str | None:
        return self._no_jacobian()

    def _checked(self, X: Array) -> Array:
        check_is_fitted(self, "map_")
        return np.asarray(validated(self, X, dtype=[np.float64, np.float32], reset=False, spread=self._spread()))

    def _spread(self) -> float:
        return float(min(own.scale for own in self.map_.views))

    def _checked_latent(self, X: Array) -> Array:
        check_is_fitted(self, "map_")
        return checked_latent(self, X, self._n_features_out)

    @property
    def _n_features_out(self) -> int:
        return int(self.map_.n_components)

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

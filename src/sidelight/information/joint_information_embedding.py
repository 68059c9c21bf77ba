"""Joint information embedding: one latent point per row for two views of it, and a map from each view to the other.

Some rows are observed in view X, some in view Y, some in both (S1 §4).

    alternating   maximise the information of Z (n, q) about the alternating kernel S of the two views, in which
                  neighbours are rows that are alike in what *both* views show
    joint         minimise I(X; Y | Z) of the paired rows minus I(X; Z) and I(Y; Z) of the others: the source's

plus λ · penalty(Z), while λ falls (``objectives.paired``, ``kernels.alternating``).
"""

from __future__ import annotations

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from sidelight.base.alias import accept_moved_parameters
from sidelight.base.capabilities import TWO_WAY_ITERATIVE
from sidelight.base.cost import Cost, check_cost
from sidelight.base.estimator import Estimator
from sidelight.base.fitting import all_or_nothing
from sidelight.base.messages import error_message
from sidelight.base.result import Callback
from sidelight.base.tiles import one_blas_thread
from sidelight.base.types import Array, RandomState
from sidelight.base.validation import (
    check_choice,
    check_integer,
    check_number,
    checked_array,
    checked_start,
    checked_weights,
    validated,
)
from sidelight.base.warnings import warn
from sidelight.kernels.alternating import Kernel, ViewKernel, alternating_kernel
from sidelight.kernels.profiles import LATENT_PROFILES, profile
from sidelight.maps.frames import Frame
from sidelight.maps.kernel_map import KernelMap
from sidelight.maps.mean_map_mixin import MeanMapMixin
from sidelight.maps.parzen import ParzenDensity
from sidelight.maps.two_way import TwoWayMaps
from sidelight.maps.views import (
    ObservedView,
    ViewMaps,
    as_columns,
    check_second_view,
    fit_view_maps,
    observed_rows,
    observed_view,
    refuse_half_rows,
)
from sidelight.neighbours.equal_rows import equal_row_groups, group_means
from sidelight.objectives.paired import Parts, alternating_parts, joint_parts
from sidelight.objectives.penalties import penalty_named
from sidelight.solvers.anneal import best_size
from sidelight.solvers.annealing import fitted_path
from sidelight.solvers.eigen import graph_spectrum

from ._annealed import SMOOTH_MODES, Descent, annealed
from ._annealed_mixin import AnnealedMixin
from ._joint_intervals import JointIntervals, has_second_view
from ._power_limit import check_limit
from ._settings import LatentSettings
from ._starts import noise, padded
from .annealing import Annealing

__all__ = ["JointInformationEmbedding"]


_KEPT = 12  # entries of a row of the alternating kernel that are kept, in units of the perplexity
_SHARE = 8  # the alternating kernel is a walk of two steps and reaches far: a view's perplexity is at most m / 8


class JointInformationEmbedding(
    ClassNamePrefixFeaturesOutMixin, AnnealedMixin, MeanMapMixin, JointIntervals, Estimator
):
    """Embed the shared structure of two views, of which some rows may lack one, with maps between the views.

    Parameters
    ----------
    n_components : int, default=2
        Latent dimensions.
    objective : "alternating" or "joint", default="alternating"
        "alternating": maximise the information about the shared structure, by means of the alternating kernel.
        "joint": the source's objective, with the conditional mutual information I(X; Y | Z).
    bandwidth : "perplexity", "loo", float or pair of them, default="perplexity"
        Bandwidth of the kernels of the views, as in KernelInformationEmbedding; a pair holds one for each view.
    perplexity : float, default=30
        Effective neighbours of a row in each view (at most an eighth of the rows observed in the view; a third without
        y), in a perplexity kernel and in the alternating kernel.
    n_neighbors : int or None, default=15
        Neighbours in the mutual graph whose geodesic distances a perplexity kernel uses. None: straight-line distances.
    latent_kernel : "gaussian", "student" or "quartic", default="gaussian"
        Profile of the latent kernel, whose bandwidth is 1.
    regularization : float or Annealing, default=0.1
        The weight λ of the penalty at the end of the annealing. An :class:`Annealing` also sets the schedule of λ.
    penalty : "stretch", "l2", "l4" or "box", default="stretch"
        The penalised quantity. "stretch": latent distances between rows that are similar in both views. The others: the
        size of the latent points, as in KernelInformationEmbedding.
    init : "spectral", "random" or array of shape (n, q), default="spectral"
        Initial latent points. "spectral": the smoothest eigenvectors of the alternating kernel, the same for every
        seed. "random": noise.
    max_iter : int, default=500
        Maximum number of iterations of each stage.
    tol : float, default=1e-6
        The last stage ends when two consecutive iterations improve the objective by less than this, relatively. Earlier
        stages use 10 times ``tol``.
    random_state : int, RandomState or None, default=None
        For ``init="random"`` and ``sample``. None is a fixed seed: the same call gives the same result.
    n_jobs : int or None, default=None
        Threads; None: all. The result does not depend on it.
    verbose : int, default=0
        1 shows a progress bar.
    callback : callable or None, default=None
        Called with a state after each iteration; returning True stops the fit there.

    Attributes
    ----------
    embedding_ : array of shape (n, q)
        One point per row, whichever views it is observed in.
    n_pairs_ : int
        Number of rows observed in both views.
    bandwidth_ : list of float or of array
        Bandwidth of the kernel of each view, for the rows observed in it, in squared units of the view.
    views_ : list of ViewMaps
        The maps of each view; only one after a fit without y.
    history_, path_, regularization_path_, n_iter_
        As in KernelInformationEmbedding.
    n_features_in_ : int
        Columns of X.

    See Also
    --------
    KernelInformationEmbedding, CoordinatedCCA, sklearn.cross_decomposition.CCA

    References
    ----------
    .. [1] R. Memisevic. Kernel information embeddings. International Conference on Machine Learning, 2006.
    .. [2] R. Memisevic. Non-linear latent factor models for revealing structure in high-dimensional data. PhD thesis,
           University of Toronto, 2007, chapter 3.

    Examples
    --------
    >>> import numpy as np
    >>> from sidelight import JointInformationEmbedding
    >>> t = np.random.default_rng(0).uniform(0, 3, 200)
    >>> X, y = np.column_stack([np.cos(t), np.sin(t)]), np.column_stack([t, t**2])
    >>> y[20:] = np.nan  # only 20 rows were seen in both views
    >>> model = JointInformationEmbedding(n_components=1).fit(X, y)
    >>> model.predict(X[:3]).shape, model.transform_view(y[:5], view=1).shape
    ((3, 2), (5, 1))
    """

    _capabilities = TWO_WAY_ITERATIVE.also("takes_second_view", "has_predict", "has_predict_interval")

    @accept_moved_parameters
    def __init__(
        self,
        n_components: int = 2,
        *,
        objective: str = "alternating",
        bandwidth: str | float | tuple[str | float, ...] | list[str | float] = "perplexity",
        perplexity: float = 30.0,
        n_neighbors: int | None = 15,
        latent_kernel: str = "gaussian",
        regularization: float | Annealing = 0.1,
        penalty: str = "stretch",
        init: str | Array = "spectral",
        max_iter: int = 500,
        tol: float = 1e-6,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self.n_components = n_components
        self.objective = objective
        self.bandwidth = bandwidth
        self.perplexity = perplexity
        self.n_neighbors = n_neighbors
        self.latent_kernel = latent_kernel
        self.regularization = regularization
        self.penalty = penalty
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    @all_or_nothing
    @one_blas_thread
    def fit(self, X: Array, y: object = None) -> JointInformationEmbedding:
        """Embed rows observed in one view or in both, and fit the maps of each view.

        Parameters
        ----------
        X : array of shape (n, d)
            The first view; all NaN in rows that are not observed in it.
        y : array of shape (n, e) or (n,), or None
            The second view; all NaN in rows that are not observed in it. None: a kernel information embedding of X.
        """
        self._check_parameters()
        V = self._check_views(X, y)
        n, dtype = len(V[0]), V[0].dtype
        check_cost(self, self.estimate_cost(n, sum(view.shape[1] for view in V)), n)
        views = self._seen_views(V)
        S, parts = self._problem(views, n)
        spectrum = graph_spectrum(S, max(SMOOTH_MODES, self.n_components))
        descent = Descent(parts, penalty_named(self.penalty, S), spectrum.precondition)
        annealing = self._annealing()
        start = self._start(spectrum.coordinates(self.n_components), n)
        if isinstance(self.init, str) and self.init != "random":
            start = best_size(descent.objective_at(annealing.first), start)
        progress = self._progress()
        path = annealed(descent, annealing.schedule(), start, annealing, progress)
        progress.end(path, annealing.max_iter)

        kept = fitted_path(path, dtype)
        Z = group_means(kept.point, equal_row_groups(_labels(views, n)))
        maps = [fit_view_maps(view, Z, self.latent_kernel) for view in views]
        first = maps[0]
        latent_frame = Frame(np.zeros(self.n_components), 1.0)
        latent_density = ParzenDensity(Z, np.ones(n), self.latent_kernel)
        both = TwoWayMaps(first.frame, latent_frame, first.backward, latent_density, first.forward, first.density)
        self._keep_maps(both, np.asarray(Z.astype(dtype)))
        self.views_ = maps
        self.bandwidth_ = [view.kernel.bandwidth * view.frame.scale**2 for view in views]
        self.n_pairs_ = len(np.intersect1d(views[0].rows, views[1].rows)) if len(views) == 2 else 0
        if len(views) == 2:
            self.y_is_flat_ = np.asarray(y).ndim == 1
            self.prediction_ = KernelMap(first.backward.weights, maps[1].forward(Z[views[0].rows], self.n_jobs))
        self._keep_path(path, kept, kept.stages)
        return self

    def fit_transform(self, X: Array, y: object = None) -> Array:
        """Fit, and return ``embedding_`` (n, q)."""
        return self.fit(X, y).embedding_

    @available_if(has_second_view)
    @one_blas_thread
    def predict(self, X: Array) -> Array:
        """Predict the second view of rows through the latent space, shape (m, e), or (m,) if y was one-dimensional.

        The forward map averaged over the possible latent points of a row, ``Σ_j w_j(x) y(z_j)``.
        """
        found = self._predicted(self._checked(X))
        return np.asarray(found[:, 0] if self.y_is_flat_ else found)

    @one_blas_thread
    def transform_view(self, V: Array, view: int) -> Array:
        """Embed rows of one view (0: X, 1: y), shape (m, q); a row's result does not depend on the other rows."""
        maps = self._view(view)
        if view == 0:
            V = self._checked(V)
        else:
            kinds = {"dtype": [np.float64, np.float32], "ensure_2d": False}
            V = as_columns(checked_array(self, V, input_name="V", spread=maps.frame.scale, **kinds))
            expected = len(maps.frame.centre)
            if V.shape[1] != expected:
                rule = f"does not match the {expected} of view {view}"
                raise ValueError(error_message(self, "V", f"{V.shape[1]} columns", rule, "Give the columns of the fit"))
        return np.asarray(maps.backward(maps.frame.points(V), self.n_jobs).astype(V.dtype, copy=False))

    @one_blas_thread
    def inverse_transform_view(self, Z: Array, view: int) -> Array:
        """Map latent points (m, q) to one view (0: X, 1: y) by the conditional mean."""
        maps = self._view(view)
        Z = self._checked_latent(Z)
        rows = maps.frame.outside(maps.forward(Z.astype(np.float64), self.n_jobs)).astype(Z.dtype, copy=False)
        return np.asarray(rows[:, 0] if view == 1 and self.y_is_flat_ else rows)

    @one_blas_thread
    def score(self, X: Array, y: object = None, *, sample_weight: object = None) -> float:
        """R² of ``predict(X)`` over the rows with known y, pooled over all columns.

        Without y: R² of the reconstruction of X, ``inverse_transform(transform(X))``.
        """
        if y is None:
            return float(super().score(X, sample_weight=sample_weight))
        X = self._checked(X)
        Y = check_second_view(self, y, len(X))
        rows = np.flatnonzero(~np.isnan(Y).any(axis=1))
        if len(rows) == 0:
            raise ValueError(
                error_message(self, "y", "only NaN", "has nothing to compare with", "Give the second view")
            )
        weight = checked_weights(self, sample_weight, len(X))[rows]
        frame = self._view(1).frame
        truth, found = frame.inside(Y[rows]), frame.inside(self._predicted(X[rows]))
        spread = truth - np.average(truth, axis=0, weights=weight)
        lost, total = (float(weight @ (part**2).sum(axis=1)) for part in (truth - found, spread))
        return 1.0 - lost / total if total > 0 else 0.0

    def estimate_cost(self, n: int, d: int) -> Cost:
        """Estimate memory and time of a fit of n rows and d columns (of both views together), before fitting."""
        kernels = (self.bandwidth,) if isinstance(self.bandwidth, str) else np.atleast_1d(self.bandwidth)
        dense = any(kernel != "perplexity" for kernel in kernels)
        pairs, stored = n * n / 2, 1.3 * min(_KEPT * self.perplexity, n) * n
        size = 4 * pairs * (12 if dense else 1) + 8 * n * d * 4 + 40 * stored + 2**26
        evaluation = 1e-3 + 5e-9 * pairs * (4 if dense else 1) + 6e-8 * stored * (not dense)
        seconds = 0.2 + 60 * evaluation + 1e-10 * n * n * d + 5e-4 * n + 1e-10 * n**3 * dense
        return Cost(int(size), float(seconds))

    def _check_parameters(self) -> None:
        owner = type(self).__name__
        check_choice(owner, "objective", self.objective, ("alternating", "joint"))
        for bandwidth in self._bandwidths(2):
            if isinstance(bandwidth, str):
                check_choice(owner, "bandwidth", bandwidth, ("perplexity", "loo"))
            else:
                check_number(owner, "bandwidth", bandwidth, 0.0)
        check_number(owner, "perplexity", self.perplexity, 1.0)
        if self.n_neighbors is not None:
            check_integer(owner, "n_neighbors", self.n_neighbors, 1)
        latent = LatentSettings(self.n_components, self.latent_kernel, self.penalty, self.init, self.random_state)
        latent.check(owner, kernels=LATENT_PROFILES, starts=("spectral", "random"))
        self._check_annealing()
        check_limit(type(self).__name__, Annealing.of(self.regularization).limit, self.penalty)

    def _bandwidths(self, n_views: int) -> list[str | float]:
        if not isinstance(self.bandwidth, (tuple, list)):
            return [self.bandwidth] * n_views
        if len(self.bandwidth) != 2:
            raise ValueError(
                error_message(self, "bandwidth", self.bandwidth, "is not a pair", "Give one for each view")
            )
        return list(self.bandwidth)[:n_views]

    def _check_views(self, X: Array, y: object) -> list[Array]:
        finite = "allow-nan" if y is not None else True
        X = validated(self, X, dtype=[np.float64, np.float32], ensure_all_finite=finite, ensure_min_samples=2)
        if y is None:
            return [np.asarray(X)]
        refuse_half_rows(self, "X", X)
        return [np.asarray(X), check_second_view(self, y, len(X))]

    def _seen_views(self, V: list[Array]) -> list[ObservedView]:
        seen = observed_rows(self, V, self.n_components + 1)
        share = 3 if len(V) == 1 else _SHARE
        options = {"n_neighbors": self.n_neighbors, "n_jobs": self.n_jobs}
        views = []
        for view, rows, bandwidth in zip(V, seen, self._bandwidths(len(V)), strict=True):
            perplexity = float(max(1.0 + 1e-6, min(self.perplexity, (len(rows) - 1) / share)))
            views.append(observed_view(view, rows, bandwidth, perplexity=perplexity, **options))
        return views

    def _problem(self, views: list[ObservedView], n: int) -> tuple[Kernel, Parts]:
        """The alternating kernel S (n, n) of the views, and the parts of the objective."""
        kernels = [ViewKernel(view.kernel.pairs, view.rows, n) for view in views]
        telling = [kernel for kernel, view in zip(kernels, views, strict=True) if not view.is_constant]
        if len(telling) < len(views) == 2:
            rule = "is the same in every row, so the map shows the other view alone"
            name = "X" if views[0].is_constant else "y"
            warn(error_message(self, name, "constant", rule, "Leave it out"), UserWarning)
        S = alternating_kernel(telling or kernels[:1], keep=round(_KEPT * self.perplexity), n_jobs=self.n_jobs)
        latent = profile(self.latent_kernel)
        if self.objective == "joint" and len(views) == 2:
            return S, joint_parts(kernels, latent, n_jobs=self.n_jobs)
        return S, alternating_parts(S, [view.rows for view in views], latent, n_jobs=self.n_jobs)

    def _start(self, smooth: Array, n: int) -> Array:
        """Initial latent points (n, q) by ``init``; ``smooth`` (n, k): smoothest eigenvectors of the kernel graph."""
        if not isinstance(self.init, str):
            return checked_start(self, self.init, (n, self.n_components))
        if self.init == "random":
            return noise(self.random_state, n, self.n_components)
        return padded(smooth, n, self.n_components)

    def _predicted(self, X: Array) -> Array:
        """Predicted second view (m, e) of rows that have already been validated."""
        found = self.views_[1].frame.outside(self.prediction_(self.frame_.points(X), self.n_jobs))
        return np.asarray(found.astype(X.dtype, copy=False))

    def _view(self, view: int) -> ViewMaps:
        check_is_fitted(self)
        if view not in range(len(self.views_)):
            known = "0 (X) or 1 (y)" if len(self.views_) == 2 else "0: the model was fitted without y"
            raise ValueError(error_message(self, "view", view, "is not a view of this model", f"Give {known}"))
        return self.views_[view]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.two_d_labels = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _labels(views: list[ObservedView], n: int) -> Array:
    """Integer labels (n, views): two rows get equal labels if they are equal in every view; -1: not observed."""
    labels = np.full((n, len(views)), -1.0)
    for column, view in enumerate(views):
        groups = equal_row_groups(view.points)
        labels[view.rows, column] = np.arange(len(view.rows)) if groups is None else groups
    return labels

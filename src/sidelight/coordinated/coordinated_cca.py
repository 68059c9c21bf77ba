"""Non-linear canonical correlation analysis: charts of several views, joined in one latent space (S2 section 4).

One mixture for each view, one eigenproblem for all: charts should agree about a row within a view and across views.
A view that is missing in a row (NaN) is left out there, in fits and in transforms; the others count for more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from sidelight.base.capabilities import TWO_WAY_ITERATIVE
from sidelight.base.cost import Cost, announce_cost
from sidelight.base.estimator import Estimator
from sidelight.base.fitting import all_or_nothing
from sidelight.base.messages import error_message
from sidelight.base.result import Callback
from sidelight.base.tiles import by_block, one_blas_thread
from sidelight.base.types import Array, ColumnSelector, NamedValues, RandomState
from sidelight.base.validation import check_choice, check_rows, checked_array, validated
from sidelight.maps.coordinated import ChartedView
from sidelight.maps.cross_view import CrossView, cross_sums, cross_view, predict_view_rows, with_kernels
from sidelight.maps.frames import Frame
from sidelight.maps.views import as_columns
from sidelight.rows import ArrayRows, Rows, as_rows

from ._coordinated_charts import fit_charts, view_frame
from ._coordinated_intervals import PredictionIntervals
from ._coordination_fit import Coordinated, glue
from ._fit_cost import kernel_cost
from ._fit_progress import FitProgress
from ._view_columns import embedded_by_x, placed, refuse_blind_views, refuse_unseen_rows, view_columns

__all__ = ["CoordinatedCCA"]


_SAMPLE = 5_000
_QUICK = 0.4  # of the time of the search for charts, where charts do not predict


@dataclass(frozen=True)
class _FittedViews:
    """The frame of each view, the glued charts, the regressions from view to view, and a sample of the rows."""

    frames: tuple[Frame, ...]
    glued: Coordinated
    cross: CrossView
    sample: Array


def _has_y(model: CoordinatedCCA) -> bool:
    """Whether there is a y to predict; before a fit this is not known, and ``predict`` is there."""
    return bool(vars(model).get("n_columns_y_", 1))


class CoordinatedCCA(PredictionIntervals, Estimator):
    """Embed what any number of views share, by local charts of each view; predict any view from the others.

    Parameters
    ----------
    n_components : int, default=2
        Latent dimensions.
    views : list of column selectors or None, default=None
        Columns of X of each view: slices, lists of numbers, or lists of names where X is a data frame. None: X is one
        view, and y, where given, another.
    n_charts : int or "auto", default="auto"
        Charts of each view, as in :class:`CoordinatedMixture`.
    n_mixtures : int, default=1
        Parallel mixtures of each view.
    mixture : None, estimator, charts, or list of them, one for each view, default=None
        As in :class:`CoordinatedMixture`.
    n_local : int, "auto", list of int or None, default=None
        Local coordinates of each chart; None: ``n_components``, at most one less than the columns of the view.
    smoothing : float, default=1.0
        Power to which responsibilities are raised: below 1 charts overlap more.
    balance : "auto", float or None, default="auto"
        How much pairs of charts that share few rows count, as in :class:`CoordinatedMixture`.
    regression : "auto", "charts" or "kernel", default="auto"
        How ``predict`` and ``predict_view`` get from view to view. "charts": ridge regression on responsibilities and
        local coordinates of the charts, and on the columns; more numbers of charts are tried then, and in all columns.
        "kernel": kernel ridge regression. "auto": for each view the one of the smaller cross-validated error.
    max_iter : int, default=500
        EM steps of a default mixture.
    tol : float, default=1e-4
        EM of a default mixture ends when a step gains less, in mean log likelihood of a row.
    random_state : int, RandomState or None, default=None
        For the starts of the mixtures and ``sample``. None is a fixed seed: the same call gives the same
        result.
    n_jobs : int or None, default=None
        Threads; None: all. The result does not depend on it.
    verbose : int, default=0
        1 shows a progress bar of each mixture.
    callback : callable or None, default=None
        Called with a state after each EM step of the mixtures of this library, also of those that ``n_charts="auto"``
        tries; returning True stops there, and the charts so far are joined.

    Attributes
    ----------
    embedding_ : array of shape (n, q)
        ``transform`` of the rows: from their views in X, and from y only where X is missing. Absent after
        ``fit_batches``.
    joint_embedding_ : array of shape (n, q)
        Latent points of the rows from all their views, with y. Absent after ``fit_batches``.
    view_columns_ : list of array
        Columns of each view; those of y come after those of X.
    cross_ : CrossView
        The regressions from view to view; ``cross_.kernels`` are the kernel regressions, where they are used.
    map_, n_charts_, n_local_, disagreement_, distortion_, alignment_, balance_, off_plane_, bridging_, centre_, scale_,
    history_,
    training_densities_, training_latent_densities_
        As in :class:`CoordinatedMixture`; ``centre_`` and ``scale_`` have the columns of y after those of X.
    n_iter_ : int
    n_features_in_ : int
        Columns of X.

    See Also
    --------
    CoordinatedMixture : the same for one view.
    JointInformationEmbedding : what two views share, by kernels.

    References
    ----------
    .. [1] J. J. Verbeek, N. Vlassis and B. J. A. Kröse. Non-linear feature extraction by the coordination of mixture
           models. Annual Conference of the Advanced School for Computing and Imaging, 287-293, 2003.
    .. [2] J. J. Verbeek, S. T. Roweis and N. Vlassis. Non-linear CCA and PCA by alignment of local models. Advances in
           Neural Information Processing Systems 16, 2004.

    Examples
    --------
    >>> import numpy as np
    >>> from sidelight import CoordinatedCCA
    >>> t = np.random.default_rng(0).uniform(0, 3, 400)
    >>> X, y = np.column_stack([np.cos(t), np.sin(t)]), np.column_stack([t, t**2])
    >>> X[:50], y[100:200] = np.nan, np.nan  # rows that one of the views has not seen
    >>> model = CoordinatedCCA(n_components=1, random_state=0).fit(X, y)
    >>> model.predict(X[50:53]).shape, model.transform_view(y[:5], view=1).shape
    ((3, 2), (5, 1))
    """

    _capabilities = TWO_WAY_ITERATIVE.also("takes_second_view", "has_predict", "has_predict_interval")

    def __init__(
        self,
        n_components: int = 2,
        *,
        views: Sequence[ColumnSelector] | None = None,
        n_charts: int | str = "auto",
        n_mixtures: int = 1,
        mixture: object = None,
        n_local: int | str | Sequence[int] | None = None,
        smoothing: float = 1.0,
        balance: float | str | None = "auto",
        regression: str = "auto",
        max_iter: int = 500,
        tol: float = 1e-4,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self.n_components = n_components
        self.views = views
        self.n_charts = n_charts
        self.n_mixtures = n_mixtures
        self.mixture = mixture
        self.n_local = n_local
        self.smoothing = smoothing
        self.balance = balance
        self.regression = regression
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    @all_or_nothing
    @one_blas_thread
    def fit(self, X: Array, y: object = None) -> CoordinatedCCA:
        """Fit charts to each view and join them.

        Parameters
        ----------
        X : array of shape (n, d)
            The views side by side, or the first view; NaN in all columns of a view that is missing in a row.
        y : array of shape (n, e) or (n,), or None
            One more view.
        """
        self._check_parameters()
        several = y is not None or self.views is not None
        kinds, finite = [np.float64, np.float32], "allow-nan" if several else True
        X = np.asarray(validated(self, X, dtype=kinds, ensure_all_finite=finite, ensure_min_samples=2))
        V = [X] if y is None else [X, self._second(y, len(X))]
        columns = self._columns(X.shape[1], V[1].shape[1] if len(V) == 2 else 0)
        joint = np.concatenate(V, axis=1)
        refuse_unseen_rows(type(self).__name__, joint, columns)
        announce_cost(self, self.estimate_cost(*joint.shape), len(joint))
        progress = FitProgress(self.callback)
        found = self._fit_views(ArrayRows(joint, n_jobs=self.n_jobs), columns, progress)
        by_all = by_block(found.glued.map.backward, joint, self.n_jobs).astype(X.dtype, copy=False)
        embedding = embedded_by_x(found.glued.map, joint, by_all, X.shape[1], self.n_jobs)
        self._keep(found, columns, X.shape[1], progress)
        self.y_is_flat_ = y is not None and np.asarray(y).ndim == 1
        self.embedding_, self.joint_embedding_ = embedding, by_all
        progress.finish()
        return self

    def fit_transform(self, X: Array, y: object = None) -> Array:
        """Fit, and return ``embedding_`` (n, q)."""
        return self.fit(X, y).embedding_

    @all_or_nothing
    @one_blas_thread
    def fit_batches(self, source: object) -> CoordinatedCCA:
        """Fit to rows that are read once for each EM step: batches with the columns of all ``views``.

        Parameters
        ----------
        source : callable, array, list of arrays, or path
            As in :meth:`CoordinatedMixture.fit_batches`.
        """
        self._check_parameters()
        rows = as_rows(source, owner=self, missing=self.views is not None, n_jobs=self.n_jobs)
        columns, progress = self._columns(rows.n_features, 0), FitProgress(self.callback)
        found = self._fit_views(rows, columns, progress)
        self._keep(found, columns, rows.n_features, progress)
        self.y_is_flat_ = False
        progress.finish()
        return self

    def transform_view(self, V: Array, view: int) -> Array:
        """Embed rows of one view (its columns only), each by itself, shape (m, q)."""
        columns = self._columns_of(view)
        kinds = {"dtype": [np.float64, np.float32], "ensure_2d": False}
        V = as_columns(checked_array(self, V, input_name="V", spread=self._spread(), **kinds))
        if V.shape[1] != len(columns):
            rule = f"does not match the {len(columns)} of view {view}"
            raise ValueError(error_message(self, "V", f"{V.shape[1]} columns", rule, "Give the columns of the fit"))
        return by_block(lambda part: self.map_.backward(placed(part, columns, len(self.centre_))), V, self.n_jobs)

    def inverse_transform_view(self, Z: Array, view: int) -> Array:
        """Take latent points (m, q) to one view, shape (m, columns of the view)."""
        self._columns_of(view)
        rows = by_block(lambda part: self.map_.forward(part, view), self._checked_latent(Z), self.n_jobs)
        return rows[:, 0] if self._is_flat(view) else rows

    def predict_view(self, X: Array, view: int) -> Array:
        """Predict one view of rows of X from their other views, by regression on charts and columns of those.

        Where none of those views had rows in common with it in the fit, through the latent space.

        Parameters
        ----------
        X : array of shape (m, d)
        view : int
            Number of the view; that of y is the last.

        Returns
        -------
        V : array of shape (m, columns of the view)
            Of shape (m,) where it is a y of one dimension.
        """
        columns = self._columns_of(view)

        def predicted(part: Array) -> Array:
            wide = self._widened(part)
            wide[:, columns] = np.nan
            refuse_unseen_rows(type(self).__name__, wide, self.view_columns_)
            return predict_view_rows(self.cross_, self.map_, wide, view)

        rows = by_block(predicted, self._checked(X), self.n_jobs)
        return rows[:, 0] if self._is_flat(view) else rows

    @available_if(_has_y)
    def predict(self, X: Array) -> Array:
        """Predict y (:meth:`predict_view`), shape (m, e), or (m,) where y was of one dimension."""
        check_is_fitted(self, "map_")
        return np.asarray(self.predict_view(X, len(self.view_columns_) - 1))

    def score(self, X: Array, y: object = None, *, sample_weight: object = None) -> float:
        """R² of ``predict(X)`` over the rows where y is known; without y, of ``denoise(X)`` where X is."""
        if y is None or not _has_y(self):
            return super().score(X, sample_weight=sample_weight)
        found = as_columns(self.predict(X)).astype(np.float64)
        truth = self._second(y, len(found)).astype(np.float64)
        if np.isnan(truth).all():
            raise ValueError(
                error_message(self, "y", "only NaN", "has nothing to compare with", "Give the second view")
            )
        return float(self._explained(truth, found, self.view_columns_[-1], sample_weight))

    def estimate_cost(self, n: int, d: int) -> Cost:
        """Memory and time of a fit to n rows and d columns of all views, with the regressions from view to view."""
        charts = super().estimate_cost(n, d)
        if self.regression == "charts":
            return charts
        kernels = kernel_cost(n, d, self._n_views())
        share = _QUICK if isinstance(self.n_charts, str) else 1.0
        return Cost(charts.bytes + kernels.bytes, share * charts.seconds + kernels.seconds)

    def _check_parameters(self) -> None:
        self._check_shared()
        check_choice(self, "regression", self.regression, ("auto", "charts", "kernel"))

    def _fit_views(self, rows: Rows, columns: Sequence[Array], progress: FitProgress) -> _FittedViews:
        """Charts of each view, their gluing, and the regressions from view to view."""
        settings = replace(self._settings(), thorough=self.regression == "charts")
        if isinstance(self.n_charts, str) and not settings.thorough:
            settings = replace(settings, n_init=1)  # half the time, and as good where charts do not predict
        sample = Rows.sample(rows, _SAMPLE, settings.seed)
        refuse_blind_views(settings.owner, sample, columns)
        frames = [view_frame(sample, own) for own in columns]
        views: list[ChartedView] = []
        for number, own in enumerate(columns):
            mixture = self.mixture[number] if isinstance(self.mixture, (list, tuple)) else self.mixture
            views += fit_charts(rows, sample, own, number, mixture, settings, progress).mixtures
        found = glue(rows, views, sample, settings)
        smoothing = float(self.smoothing)
        cross = cross_view(views, rows.total(lambda X: cross_sums(views, X, smoothing)), smoothing)
        if self.regression != "charts":
            cross = with_kernels(cross, rows, sample, always=self.regression == "kernel")
        return _FittedViews(tuple(frames), found, cross, sample)

    def _keep(self, found: _FittedViews, columns: list[Array], n_features: int, progress: FitProgress) -> None:
        """Set what ``fit`` and ``fit_batches`` have in common."""
        n_columns = sum(len(own) for own in columns)
        centre, scale = np.zeros(n_columns), np.ones(n_columns)
        for own, frame in zip(columns, found.frames, strict=True):
            centre[own], scale[own] = frame.centre, frame.scale
        self._keep_glued(found.glued, centre, scale, found.sample, progress)
        self.n_features_in_, self.n_columns_y_ = n_features, n_columns - n_features
        self.view_columns_ = columns
        self._keep_row_errors(found.sample)
        self._keep_cross(found.cross, found.sample)

    def _columns(self, n_columns: int, n_columns_y: int) -> list[Array]:
        """The columns of each view."""
        names = list(vars(self).get("feature_names_in_", ()))
        columns = view_columns(type(self).__name__, self.views, names, n_columns, n_columns_y)
        if isinstance(self.mixture, (list, tuple)) and len(self.mixture) != len(columns):
            rule = f"does not match the {len(columns)} views"
            raise ValueError(
                error_message(self, "mixture", f"{len(self.mixture)} mixtures", rule, "Give one for each view")
            )
        return columns

    def _second(self, y: object, n: int) -> Array:
        """Y as (n, e)."""
        kinds = [np.float64, np.float32]
        Y = as_columns(
            checked_array(self, y, dtype=kinds, ensure_2d=False, ensure_all_finite="allow-nan", input_name="y")
        )
        check_rows(self, "y", Y, n)
        return Y

    def _checked(self, X: Array) -> Array:
        check_is_fitted(self, "map_")
        finite = "allow-nan" if self.views is not None else True
        kinds = [np.float64, np.float32]
        found = validated(self, X, reset=False, spread=self._spread(), dtype=kinds, ensure_all_finite=finite)
        X = np.asarray(found)
        refuse_unseen_rows(type(self).__name__, X, self.view_columns_)
        return X

    def _columns_of(self, view: int) -> Array:
        check_is_fitted(self, "map_")
        if view not in range(len(self.view_columns_)):
            known = f"a number from 0 to {len(self.view_columns_) - 1}"
            raise ValueError(error_message(self, "view", view, "is not a view of this model", f"Give {known}"))
        return np.asarray(self.view_columns_[view])

    def _widened(self, X: Array) -> Array:
        return placed(X, np.arange(self.n_features_in_), len(self.centre_))

    def _n_views(self) -> int:
        return 2 if self.views is None else len(self.views)

    def _is_flat(self, view: int) -> bool:
        return bool(self.y_is_flat_ and view == len(self.view_columns_) - 1)

    def __sidelight_state__(self) -> NamedValues:
        """A file holds the numbers of columns instead of slices."""
        if self.views is None:
            return {}
        return {"views": [[int(column) for column in columns] for columns in self.view_columns_[: len(self.views)]]}

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.target_tags.two_d_labels = True
        tags.input_tags.allow_nan = self.views is not None
        return tags

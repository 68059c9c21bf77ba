"""Non-linear canonical correlation analysis: charts of several views, glued into one latent space (S2 section 4).

One mixture for each view, one eigenproblem for all: charts should agree about a row within a view and across views.
A view that has not seen a row (NaN) is left out there, at fit and later; the others count for more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from sidelight.base.capabilities import TWO_WAY_ITERATIVE
from sidelight.base.fitting import all_or_nothing
from sidelight.base.messages import complain
from sidelight.base.result import Callback
from sidelight.base.tiles import one_blas_thread
from sidelight.base.validation import check_rows, checked_array, validated
from sidelight.maps.coordinated import ChartedView
from sidelight.maps.cross_view import across, cross_sums, cross_view
from sidelight.maps.views import as_columns, refuse_half_rows
from sidelight.mixtures._mixture_fit import seed_of
from sidelight.rows import ArrayRows, Rows, as_rows

from ._coordinated_charts import charted, look
from ._coordinated_maps import CoordinatedMaps, check_coordination, keep_glued
from ._coordination_fit import Course, glued

__all__ = ["CoordinatedCCA"]

Array = npt.NDArray[Any]
_SAMPLE = 5_000


class CoordinatedCCA(CoordinatedMaps, BaseEstimator):
    """Embed what any number of views share, by charts of each view that agree; go from any view to any other.

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
        The power of responsibilities: below 1 charts overlap more.
    balance : "auto", float or None, default="auto"
        How much pairs of charts that share few rows count, as in :class:`CoordinatedMixture`.
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
        tries; returning True stops there, and what there is is glued.

    Attributes
    ----------
    embedding_ : array of shape (n, q)
        One point a row, what ``transform`` says of it: from its views in X, and from y only where X has not seen it.
        Not after ``fit_batches``.
    joint_embedding_ : array of shape (n, q)
        One point a row from all views that have seen it, y too. Not after ``fit_batches``.
    view_columns_ : list of array
        Columns of each view; those of y come after those of X.
    cross_ : CrossView
        The regressions from view to view.
    map_, n_charts_, n_local_, disagreement_, distortion_, balance_, off_plane_, bridging_, history_, n_iter_
        As in :class:`CoordinatedMixture`.
    n_features_in_ : int
        Columns of X.

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

    _capabilities = TWO_WAY_ITERATIVE.also("takes_second_view", "has_predict")

    def __init__(
        self,
        n_components: int = 2,
        *,
        views: Sequence[Any] | None = None,
        n_charts: int | str = "auto",
        n_mixtures: int = 1,
        mixture: Any = None,
        n_local: Any = None,
        smoothing: float = 1.0,
        balance: float | str | None = "auto",
        max_iter: int = 500,
        tol: float = 1e-4,
        random_state: Any = None,
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
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    @all_or_nothing
    @one_blas_thread
    def fit(self, X: Array, y: Any = None) -> CoordinatedCCA:
        """Fit charts to each view and glue them.

        Parameters
        ----------
        X : array of shape (n, d)
            The views side by side, or the first view; NaN where a view has not seen a row.
        y : array of shape (n, e) or (n,), or None
            One more view.
        """
        check_coordination(self)
        several = y is not None or self.views is not None
        kinds, finite = [np.float64, np.float32], "allow-nan" if several else True
        X = np.asarray(validated(self, X, dtype=kinds, ensure_all_finite=finite, ensure_min_samples=2))
        V = [X] if y is None else [X, self._second(y, len(X))]
        self.y_is_flat_ = y is not None and np.asarray(y).ndim == 1
        self._set_columns(V[1].shape[1] if len(V) == 2 else 0)
        joint = np.concatenate(V, axis=1)
        self._refuse_unseen(joint)
        course = self._fit_rows(ArrayRows(joint, n_jobs=self.n_jobs))
        self.joint_embedding_ = np.asarray(self._by_block(joint, self.map_.backward).astype(X.dtype, copy=False))
        self.embedding_ = self._places_by_x(joint)
        course.finish()
        return self

    def fit_transform(self, X: Array, y: Any = None) -> Array:
        """Fit, and return ``embedding_`` (n, q)."""
        return self.fit(X, y).embedding_

    @all_or_nothing
    @one_blas_thread
    def fit_batches(self, source: Any) -> CoordinatedCCA:
        """Fit to rows that are walked once a step: batches with the columns of all ``views``.

        ``source`` is as in :meth:`CoordinatedMixture.fit_batches`.
        """
        check_coordination(self)
        rows = as_rows(source, owner=self, missing=self.views is not None, n_jobs=self.n_jobs)
        self.n_features_in_ = rows.n_features
        self.y_is_flat_ = False
        self._set_columns(0)
        course = self._fit_rows(rows)
        course.finish()
        return self

    def transform_view(self, V: Array, view: int) -> Array:
        """Embed rows of one view (its columns only), each by itself, shape (m, q)."""
        columns = self._columns_of(view)
        kinds = {"dtype": [np.float64, np.float32], "ensure_2d": False}
        V = as_columns(checked_array(self, V, input_name="V", spread=self._spread(), **kinds))
        if V.shape[1] != len(columns):
            rule = f"does not match the {len(columns)} of view {view}"
            raise ValueError(complain(self, "V", f"{V.shape[1]} columns", rule, "Give the columns of the fit"))
        return np.asarray(self._by_block(V, lambda part: self.map_.backward(self._placed(part, columns))))

    def inverse_transform_view(self, Z: Array, view: int) -> Array:
        """Take latent points (m, q) to one view, shape (m, columns of the view)."""
        self._columns_of(view)
        rows = self._by_block(self._checked_latent(Z), lambda part: self.map_.forward(part, view))
        return np.asarray(rows[:, 0] if self._is_flat(view) else rows)

    def predict_view(self, X: Array, view: int) -> Array:
        """One view of rows of X from the other views that have seen them: a regression on all that their charts say.

        Through the latent space only where none of those views has shared rows with it in the fit.
        """
        columns = self._columns_of(view)

        def predicted(part: Array) -> Array:
            wide = self._widened(part)
            wide[:, columns] = np.nan
            self._refuse_unseen(wide)
            return across(self.cross_, self.map_, wide, view)

        rows = self._by_block(self._checked(X), predicted)
        return np.asarray(rows[:, 0] if self._is_flat(view) else rows)

    @available_if(lambda model: model._has_y())
    def predict(self, X: Array) -> Array:
        """The view y of rows (:meth:`predict_view`), shape (m, e), or (m,) where y was of one dimension."""
        check_is_fitted(self, "map_")
        return np.asarray(self.predict_view(X, len(self.view_columns_) - 1))

    def score(self, X: Array, y: Any = None, *, sample_weight: Any = None) -> float:
        """R² of ``predict(X)`` over the rows where y is known; without y, of ``denoise(X)`` where X is."""
        if y is None or not self._has_y():
            return super().score(X, sample_weight=sample_weight)
        found = as_columns(self.predict(X)).astype(np.float64)
        truth = self._second(y, len(found)).astype(np.float64)
        if np.isnan(truth).all():
            raise ValueError(complain(self, "y", "only NaN", "has nothing to compare with", "Give the second view"))
        return float(self._explained(truth, found, self.view_columns_[-1], sample_weight))

    def _fit_rows(self, rows: Rows) -> Course:
        seed, course = seed_of(self), Course(self)
        sample = Rows.sample(rows, _SAMPLE, seed)
        views: list[ChartedView] = []
        self.centre_, self.scale_ = np.zeros(rows.n_features), np.ones(rows.n_features)
        self._refuse_blind(sample)
        for number, columns in enumerate(self.view_columns_):
            frame = look(sample, columns)
            self.centre_[columns], self.scale_[columns] = frame.centre, frame.scale
            views += charted(self, rows, sample, columns, number, seed, course)
        keep_glued(self, glued(self, rows, views, sample), course)
        smoothing = float(self.smoothing)
        self.cross_ = cross_view(views, rows.total(lambda X: cross_sums(views, X, smoothing)), smoothing)
        return course

    def _places_by_x(self, joint: Array) -> Array:
        """Places of the fitted rows as ``transform`` finds them, without y; rows that only y has seen by y (n, q)."""
        seen = ~np.isnan(joint[:, : self.n_features_in_]).all(axis=1)
        if len(self.centre_) == self.n_features_in_ or not seen.any():
            return self.joint_embedding_
        Z = self.joint_embedding_.copy()
        Z[seen] = self._by_block(joint[seen, : self.n_features_in_], self._backward)
        return Z

    def _refuse_blind(self, sample: Array) -> None:
        """A view must have seen something to be fitted."""
        for number, columns in enumerate(self.view_columns_):
            if (~np.isnan(sample[:, columns]).any(axis=1)).sum() < 2:
                rule, remedy = "was seen in fewer than two rows", "Leave the view out, or give more rows"
                raise ValueError(complain(self, "views", f"view {number}", rule, remedy))

    def _set_columns(self, n_columns_y: int) -> None:
        """The columns of each view: every column of X in one of them."""
        d = self.n_features_in_
        chosen = [np.arange(d)] if self.views is None else [self._selected(view) for view in self.views]
        counts = np.bincount(np.concatenate(chosen), minlength=d) if chosen else np.zeros(d, dtype=int)
        if not (counts == 1).all():
            column = int(np.flatnonzero(counts != 1)[0])
            rule = "is in no view" if counts[column] == 0 else "is in two views"
            raise ValueError(complain(self, "views", f"column {column}", rule, "Put every column of X in one view"))
        self.n_columns_y_ = n_columns_y
        self.view_columns_ = [*chosen, np.arange(d, d + n_columns_y)] if n_columns_y else chosen
        if isinstance(self.mixture, (list, tuple)) and len(self.mixture) != len(self.view_columns_):
            rule = f"does not match the {len(self.view_columns_)} views"
            raise ValueError(complain(self, "mixture", f"{len(self.mixture)} mixtures", rule, "Give one for each view"))

    def _selected(self, view: Any) -> Array:
        """The numbers of the columns that a selector means."""
        d = self.n_features_in_
        names = list(getattr(self, "feature_names_in_", []))
        known = {name: number for number, name in enumerate(names)}
        try:
            if not isinstance(view, slice):
                view = [known[column] if isinstance(column, str) else column for column in view]
            columns = np.atleast_1d(np.arange(d)[view])
        except (KeyError, IndexError, TypeError):
            columns = np.empty(0, dtype=int)
        if len(columns) == 0:
            rule, remedy = f"selects none of the {d} columns of X", "Give a slice, or a list of numbers or names"
            raise ValueError(complain(self, "views", view, rule, remedy))
        return columns

    def _second(self, y: Any, n: int) -> Array:
        """Y as (n, e)."""
        kinds = [np.float64, np.float32]
        Y = as_columns(
            checked_array(self, y, dtype=kinds, ensure_2d=False, ensure_all_finite="allow-nan", input_name="y")
        )
        check_rows(self, "y", Y, n)
        return Y

    def _checked(self, X: Array) -> Array:
        check_is_fitted(self, "map_")
        finite: Any = "allow-nan" if self.views is not None else True
        kinds = {"dtype": [np.float64, np.float32], "ensure_all_finite": finite}
        X = np.asarray(validated(self, X, reset=False, spread=self._spread(), **kinds))
        self._refuse_unseen(X)
        return X

    def _refuse_unseen(self, X: Array) -> None:
        """A view has seen a row or not, and one of them at least has."""
        seen = np.zeros(len(X), dtype=bool)
        for number, columns in enumerate(self.view_columns_):
            if columns[-1] < X.shape[1]:
                refuse_half_rows(self, f"view {number}", X[:, columns])
                seen |= ~np.isnan(X[:, columns[0]])
        if not seen.all():
            row = int(np.flatnonzero(~seen)[0])
            raise ValueError(complain(self, "X", f"row {row}", "is NaN in every view", "Leave such rows out"))

    def _columns_of(self, view: int) -> Array:
        check_is_fitted(self, "map_")
        if view not in range(len(self.view_columns_)):
            known = f"a number from 0 to {len(self.view_columns_) - 1}"
            raise ValueError(complain(self, "view", view, "is not a view of this model", f"Give {known}"))
        return np.asarray(self.view_columns_[view])

    def _placed(self, V: Array, columns: Array) -> Array:
        """Rows of some columns as rows of all, NaN elsewhere."""
        wide = np.full((len(V), len(self.centre_)), np.nan)
        wide[:, columns] = V
        return wide

    def _widened(self, X: Array) -> Array:
        return self._placed(X, np.arange(self.n_features_in_))

    def _n_views(self) -> int:
        return 2 if self.views is None else len(self.views)

    def _is_flat(self, view: int) -> bool:
        return bool(self.y_is_flat_ and view == len(self.view_columns_) - 1)

    def _has_y(self) -> bool:
        """A model fitted without y has nothing to predict (before a fit nobody knows)."""
        return bool(getattr(self, "n_columns_y_", 1))

    def __sidelight_state__(self) -> dict[str, Any]:
        """A file holds the numbers of columns instead of slices."""
        if self.views is None:
            return {}
        return {"views": [[int(column) for column in columns] for columns in self.view_columns_[: len(self.views)]]}

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.target_tags.two_d_labels = True
        tags.input_tags.allow_nan = self.views is not None
        return tags

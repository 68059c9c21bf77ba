"""A metric from distances that are known for some pairs of rows (S4, section 3.5)."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from sidelight.base.capabilities import METRIC
from sidelight.base.estimator import Estimator
from sidelight.base.fitting import all_or_nothing, raise_if_interrupted
from sidelight.base.messages import error_message
from sidelight.base.progress import ProgressBar, combine_callbacks
from sidelight.base.result import Callback, Status
from sidelight.base.tiles import one_blas_thread
from sidelight.base.types import Array
from sidelight.base.validation import check_choice, check_integer, check_number
from sidelight.base.warnings import warn
from sidelight.side.contradictions import check_distances

from ._distance_search import FoundMetric, KnownDistances, SearchSettings, search_metric
from ._learned_metric import Kernel, learned_metric, span_rows
from ._metric_mixin import MetricMixin

__all__ = ["DistanceMetric"]


class DistanceMetric(MetricMixin, Estimator):
    """Learn a metric that agrees with distances known for some pairs of rows.

    Minimises ``Σ (|x_i - x_j|²_A - d²_ij)²`` and a small prior over A = CᵀC: the factor C is the unknown.

    Parameters
    ----------
    n_components : int or None, default=None
        Rank of the metric, and columns of ``transform``. None: the rank with the lowest objective.
    kernel, gamma, degree, kernel_coordinates
        As in :class:`EquivalenceMetric`.
    prior : {"auto", "identity", "trace"}, default="auto"
        What decides in directions that the distances leave free: "identity" is a metric near the Euclidean, at the
        scale that fits best; "trace" one of few and short directions. "auto": the one that predicts held-out distances
        best (above 200 dimensions "trace" only), or the Euclidean metric itself where neither is surely better.
        Distances of two values, one of them 0, say which rows are the same, and no metric has them: "auto" takes the
        metric of :class:`EquivalenceMetric`, at the scale that fits best.
    regularization : float or "auto", default="auto"
        Weight of the prior (of "identity" if that is "auto"). "auto": the weight that predicts held-out distances best
        (with a prior that is named 1e-3 where fewer than 20 are known, or fewer than there are dimensions).
    max_iter : int, default=5000
    tol : float, default=1e-8
        The search ends when a step gains less; the misfit of the metric A = 0 is 1.
    verbose : int, default=0
        1: a progress bar.
    callback : callable or None, default=None
        Called with the state of every iteration; stops the fit by returning True.

    Attributes
    ----------
    components_ : array of shape (r, d)
        The factor C of A = CᵀC, widest direction of the data first (absent with a kernel).
    misfit_ : float
        Sum of squared errors of d², relative to the sum of d⁴.
    prior_ : str
        The prior used; "pairs" where the distances had two values.
    regularization_ : float
        The weight used; inf: the metric is Euclidean, scaled to the known distances.
    n_iter_ : int
    history_ : list of dict
    mahalanobis_ : array of shape (d, d)
    mean_ : array of shape (d,)
    n_features_in_ : int
        As in :class:`EquivalenceMetric`.

    See Also
    --------
    EquivalenceMetric : from pairs that are the same or different.

    References
    ----------
    .. [1] A. Ghodsi. Nonlinear dimensionality reduction with side information. PhD thesis, University of Waterloo,
           2005, section 3.5.
    .. [2] E. P. Xing, A. Y. Ng, M. I. Jordan and S. Russell. Distance metric learning, with application to clustering
           with side-information. Advances in Neural Information Processing Systems 15, 2003.

    Examples
    --------
    >>> import numpy as np
    >>> from sidelight import DistanceMetric
    >>> X = np.random.default_rng(0).normal(size=(50, 4))
    >>> pairs = np.random.default_rng(1).permutation(50).reshape(25, 2)
    >>> heights = np.abs(X[pairs[:, 0], 2] - X[pairs[:, 1], 2])
    >>> DistanceMetric(1).fit(X, pairs=pairs, distances=heights).components_.round(1) + 0.0
    array([[0., 0., 1., 0.]])
    """

    _capabilities = METRIC.also("has_history", "has_iterations")

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: Kernel | None = None,
        gamma: float | None = None,
        degree: int = 3,
        kernel_coordinates: str = "pca",
        prior: str = "auto",
        regularization: float | str = "auto",
        max_iter: int = 5000,
        tol: float = 1e-8,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.kernel_coordinates = kernel_coordinates
        self.prior = prior
        self.regularization = regularization
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.callback = callback

    @all_or_nothing
    @one_blas_thread
    def fit(self, X: Array, y: object = None, *, pairs: object = None, distances: object = None) -> DistanceMetric:
        """Learn the metric.

        Parameters
        ----------
        X : array of shape (n, d)
        y : ignored
        pairs : Pairs or array of shape (m, 2), optional
            Row numbers. With none, the metric is the identity (of rank ``n_components``: that of PCA).
        distances : array of shape (m,), optional
            Their distances; not needed where the pairs carry ``values``.
        """
        del y
        check_choice(self, "prior", self.prior, ("auto", "identity", "trace"))
        check_integer(self, "max_iter", self.max_iter, 1)
        check_number(self, "tol", self.tol, 0.0)
        X = self._checked_fit_rows(X)
        if pairs is None and distances is not None:
            raise ValueError(error_message(self, "pairs", None, "leaves distances without rows", "Give the pairs too"))
        index, values = np.empty((0, 2), dtype=np.int64), np.empty(0)
        if pairs is not None:
            checked, values = check_distances(self, pairs, distances, len(X))
            index = checked.index
        span, T = span_rows(X, self.kernel, self.gamma, self.degree, self.kernel_coordinates)
        owner, path = type(self).__name__, None
        if len(index) == 0:
            metric = learned_metric(owner, span, T, np.eye(span.width)[:, : self.n_components], self.n_components)
            prior, strength, misfit = "identity", np.inf, 0.0
        else:
            size = float(values.max()) or 1.0  # squares of 1e150 and of 1e-150 are no numbers
            found = self._search(KnownDistances(T, index, (values / size) ** 2))
            metric = learned_metric(owner, span, T, found.factor * size, self.n_components, units=1.0)
            prior, strength, misfit, path = found.prior, found.strength, found.misfit, found.path
        self._keep_metric(metric)
        self.prior_, self.regularization_, self.misfit_ = prior, strength, misfit
        self.n_iter_ = 1 if path is None else max(path.n_iter, 1)
        self.history_ = [] if path is None else [asdict(record) for record in path.history]
        if path is not None:
            self._report(path.status)
        return self

    def _search(self, known: KnownDistances) -> FoundMetric:
        bar = ProgressBar(type(self).__name__) if self.verbose else None
        watched = combine_callbacks(self.callback, bar)
        settings = SearchSettings(
            self.prior, self.regularization, self.n_components, self.max_iter, float(self.tol), watched
        )
        found = search_metric(known, settings)
        if bar is not None and found.path is not None:
            bar.close(found.path.stages[-1].message)
        return found

    def _search_seconds(self, n: int, p: int) -> float:
        """Each trial is a semidefinite problem in p coordinates, and scales the distances of all rows."""
        return 0.3 + 4e-4 * p**2 + 1.6e-5 * n * p

    def _report(self, status: Status) -> None:
        """Raise Ctrl-C again, now that everything is set, or warn where the search did not converge."""
        raise_if_interrupted(status is Status.INTERRUPTED)
        if status in (Status.ITERATIONS, Status.STALLED):
            rule = f"did not let the search converge: it {status.value}"
            message = error_message(self, "max_iter", self.max_iter, rule, "Raise it, or tol")
            warn(message, ConvergenceWarning)

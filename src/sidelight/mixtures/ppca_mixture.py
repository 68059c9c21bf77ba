"""A mixture of probabilistic PCA: clusters that are flat, each with axes of its own; missing values, streams, BIC.

The objective and its EM stand in ``objectives/mixtures.py``, starts and the climb in ``_mixture_fit.py``, what the
fitted charts answer in ``maps/plane_charts.py``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, DensityMixin

from sidelight.base.capabilities import MIXTURE
from sidelight.base.cost import Cost
from sidelight.base.fitting import KeptInterrupt, all_or_nothing, all_or_nothing_continued
from sidelight.base.messages import complain
from sidelight.base.result import Callback, Status
from sidelight.base.tiles import one_blas_thread
from sidelight.base.validation import check_integer, check_number, validated
from sidelight.maps.plane_charts import PlaneCharts, plane_charts
from sidelight.objectives.mixtures import MixtureParameters, Planes, kept_dimensions
from sidelight.objectives.plane_starts import planes
from sidelight.rows import BLOCK, ArrayRows, Rows, Sums, as_rows
from sidelight.solvers.partition import partition

from ._mixture_fit import Fit, Survey, best_start, check_mixture, climbed, fitted_rows, seed_of, stepped, surveyed
from ._mixture_maps import MixtureMaps

__all__ = ["PPCAMixture"]

Array = npt.NDArray[Any]
_TINY = 1e-12  # of the frame's unit: what constant data is given for a variance


class PPCAMixture(MixtureMaps, DensityMixin, BaseEstimator):
    """Fit a density of flat pieces: k charts, each a plane of a few dimensions with noise around it.

    Parameters
    ----------
    n_charts : int or "auto", default=10
        Charts. "auto": the number with the lowest Bayesian information criterion, by doubling and halving.
    n_components : int or "auto", default=2
        Local dimensions of each chart, less than the columns of the data (as many as there can be, where it is not).
        "auto": each chart as many as its rows speak for, up to 10.
    n_init : int, default=4
        Starts, k-means++ with a few rounds of Lloyd's algorithm on a sample; after ten steps there the most likely
        one is taken.
    noise_floor : float, default=1e-6
        Least variance of the noise, as a share of the mean variance of the columns. No chart collapses below it.
    max_iter : int, default=500
        EM steps at most.
    tol : float, default=1e-4
        EM ends when a step gains less, in mean log likelihood of a row.
    random_state : int, RandomState or None, default=None
        For the starts and ``sample``. None is a fixed seed: the same call gives the same result.
    n_jobs : int or None, default=None
        Threads; None: all. The result does not depend on it.
    verbose : int, default=0
        1 shows a progress bar.
    callback : callable or None, default=None
        Called with a state (iteration, objective, terms, seconds) after each step; returning True stops the fit there.

    Attributes
    ----------
    charts_ : PlaneCharts
        The mixture: ``responsibilities``, ``features`` and ``reconstruction`` of each chart, what coordination needs.
    weights_ : array of shape (k,)
    means_ : array of shape (k, d)
    components_ : list of arrays of shape (q_s, d)
        Local axes of each chart, widest first; their lengths are standard deviations.
    noise_variance_ : array of shape (k,)
    n_charts_ : int
    n_local_ : tuple of int
        Local dimensions of each chart.
    criteria_ : dict
        With ``n_charts="auto"``: the criterion of each number of charts that was tried.
    history_ : list of dict
        stage, iteration, objective (minus the mean log likelihood, inside the frame), terms and seconds of each step.
        A stage above 0 began ``terms["reseeded"]`` dead charts anew.
    n_iter_ : int
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from sidelight import PPCAMixture
    >>> from sidelight.datasets import s_curve
    >>> X = s_curve(500, random_state=0).X
    >>> model = PPCAMixture(n_charts=8, n_components=2).fit(X)
    >>> model.predict_proba(X[:3]).shape, model.sample(5).shape
    ((3, 8), (5, 3))
    >>> broken = np.where(np.arange(3) == 2, np.nan, X[:1])
    >>> bool(np.isfinite(model.impute(broken)).all())
    True
    """

    _capabilities = MIXTURE

    family_: Planes
    running_: Sums
    n_samples_seen_: int

    def __init__(
        self,
        n_charts: int | str = 10,
        n_components: int | str = 2,
        *,
        n_init: int = 4,
        noise_floor: float = 1e-6,
        max_iter: int = 500,
        tol: float = 1e-4,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self.n_charts = n_charts
        self.n_components = n_components
        self.n_init = n_init
        self.noise_floor = noise_floor
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    @all_or_nothing
    @one_blas_thread
    def fit(self, X: Array, y: Any = None) -> PPCAMixture:
        """Fit to the rows of ``X`` (n, d), of which values may be missing (NaN); ``y`` is ignored."""
        del y
        kinds = [np.float64, np.float32]
        X = np.asarray(validated(self, X, dtype=kinds, ensure_all_finite="allow-nan", ensure_min_samples=2))
        block = min(BLOCK, max(256, -(-len(X) // 4)))  # charts with missing values are slow enough for short blocks
        return self._fit_rows(ArrayRows(X, n_jobs=self.n_jobs, block=block), X.dtype)

    @all_or_nothing
    @one_blas_thread
    def fit_batches(self, source: Any) -> PPCAMixture:
        """Fit to rows that are walked once a step, in memory that does not depend on their number.

        ``source`` is a callable that returns batches, an array (also mapped from a file), a list of batches, or the
        path of a .npy or Parquet file. The result is that of ``fit`` on all rows at once.
        """
        rows = as_rows(source, owner=self, missing=True, n_jobs=self.n_jobs)
        self.n_features_in_ = rows.n_features
        return self._fit_rows(rows, np.dtype(np.float64))

    @all_or_nothing_continued
    @one_blas_thread
    def partial_fit(self, X: Array, y: Any = None) -> PPCAMixture:
        """Move the mixture towards the rows of one more batch of a stream (stepwise EM); the first makes the start.

        Each batch counts for less, with the power -0.7 of how many there were. The first must have rows enough for a
        start; values may be missing in any.
        """
        del y
        begun = hasattr(self, "running_")
        kinds = [np.float64, np.float32]
        X = np.asarray(validated(self, X, dtype=kinds, ensure_all_finite="allow-nan", reset=not begun))
        if not begun:
            self._begin(X)
        charts = self.charts_
        before = MixtureParameters(charts.weights, charts.charts)
        if np.isnan(X).any() and not self.family_.missing:
            self.running_ = self.family_.opened(self.running_, before) if self.running_ else {}
            self.family_ = replace(self.family_, missing=True)
        inside = (X.astype(np.float64) - charts.centre) / charts.scale
        share = (self.n_samples_seen_ / len(X) + 2.0) ** -0.7
        after, self.running_ = stepped(self.family_, before, self.running_ or None, inside, share)
        self._keep(PlaneCharts(charts.centre, charts.scale, after.weights, after.charts))
        self.n_samples_seen_ += len(X)
        return self

    def impute(self, X: Array) -> Array:
        """Rows with their missing values (NaN) replaced by their mean given the rest of the row, exactly."""
        X = self._checked(X)
        filled = self._by_block(X, lambda part: self.charts_.expected(part))
        return np.asarray(np.where(np.isnan(X), filled, X))

    def impute_variance(self, X: Array) -> Array:
        """Variance (n, d) of each missing value given the rest of its row; 0 where a value is seen."""
        X = self._checked(X)
        variance = self._by_block(X, lambda part: self.charts_.variance(part))
        return np.asarray(np.where(np.isnan(X), variance, np.zeros((), dtype=X.dtype)))

    def denoise(self, X: Array) -> Array:
        """Rows by the planes alone (n, d): each chart's projection, weighed by its responsibility."""
        return self._by_block(self._checked(X), lambda part: self.charts_.expected(part))

    def estimate_cost(self, n: int, d: int) -> Cost:
        """What a fit of n rows and d columns takes, before it is paid; ``fit_batches`` needs none of the rows."""
        k = 16 if isinstance(self.n_charts, str) else self.n_charts
        q = 10 if isinstance(self.n_components, str) else self.n_components
        steps = min(self.max_iter, 60) + 10 * self.n_init * min(1.0, max(5000, 100 * k) / n)
        moments = k * d * d if d <= 300 else 2 * k * d * (q + 1)
        return Cost(int(8 * n * d + 8 * 2 * moments + 2**27), float(0.05 + steps * n * (1e-10 * moments + 2e-8 * k)))

    def _fit_rows(self, rows: Rows, dtype: Any) -> PPCAMixture:
        check_mixture(self)
        if self.n_components != "auto":
            check_integer(self, "n_components", self.n_components, 0)
        check_number(self, "noise_floor", self.noise_floor, 0.0, 1.0)
        self.dtype_ = np.dtype(dtype).name
        found, interrupted = fitted_rows(self, rows, lambda k: self._fitted(rows, k), _charts)
        self._keep(_charts(found))
        self._keep_stream(found)
        if interrupted:
            raise KeptInterrupt
        return self

    def _fitted(self, rows: Rows, k: int) -> Fit[MixtureParameters]:
        """Survey, start and climb with k charts."""
        survey = surveyed(self, rows, k, seed_of(self))
        family = Planes(self._floor(survey), survey.missing)
        d = len(survey.mean)
        q = min(10 if self.n_components == "auto" else int(self.n_components), d - 1)
        start = self._start(survey, family, k, q)
        fewest = min(q + 1.5, survey.n / (2.0 * k))  # q + 1 rows lie in a plane
        climb = climbed(self, family, rows, start, survey, fewest=fewest)
        if self.n_components == "auto" and climb.status not in (Status.STOPPED, Status.INTERRUPTED):
            pruned = kept_dimensions(climb.parameters, climb.parameters.weights * survey.n)
            climb = climbed(self, family, rows, pruned, survey, fewest=fewest, before=climb)
        return Fit(survey, family, climb)

    def _floor(self, survey: Survey) -> float:
        return max(self.noise_floor * float(survey.variance.mean()), _TINY)

    def _start(self, survey: Survey, family: Planes, k: int, q: int) -> MixtureParameters:
        rng = np.random.RandomState(seed_of(self))
        starts = [
            planes(survey.sample, *partition(survey.sample, k, rng), q, family.floor, rng) for _ in range(self.n_init)
        ]
        return best_start(family, starts, survey.sample, self.n_jobs)

    def _begin(self, X: Array) -> None:
        """The start of a stream: the best start on its first batch."""
        check_mixture(self)
        if self.n_charts == "auto" or self.n_components == "auto":
            rule = '"auto" cannot be chosen from a stream'
            raise ValueError(complain(self, "n_charts or n_components", "auto", rule, "Give numbers"))
        k, d = int(self.n_charts), X.shape[1]
        survey = surveyed(self, ArrayRows(X, n_jobs=self.n_jobs), k, seed_of(self))
        self.family_ = Planes(self._floor(survey), survey.missing, expand=False)
        mixture = self._start(survey, self.family_, k, min(int(self.n_components), d - 1))
        self.dtype_ = X.dtype.name
        self._keep(PlaneCharts(survey.frame.centre, survey.frame.scale, mixture.weights, mixture.charts))
        self.running_, self.n_samples_seen_ = {}, 0

    def _keep_stream(self, found: Fit[MixtureParameters]) -> None:
        """Mean sums under the fitted mixture, so that ``partial_fit`` can go on from it."""
        floor, missing = self._floor(found.survey), found.survey.missing
        self.family_, self.n_samples_seen_ = Planes(floor, missing, expand=False), found.survey.n
        kept = MixtureParameters(self.charts_.weights, self.charts_.charts)  # in their own axes, as the sums must be
        self.running_ = stepped(self.family_, kept, None, found.survey.sample, 1.0)[1]

    def _keep(self, charts: PlaneCharts) -> None:
        self.charts_ = charts
        self.weights_ = charts.weights
        self.means_ = np.stack([chart.mean * charts.scale + charts.centre for chart in charts.charts])
        self.components_ = [chart.W.T * charts.scale for chart in charts.charts]
        self.noise_variance_ = np.array([chart.noise for chart in charts.charts]) * charts.scale**2
        self.n_charts_, self.n_local_ = charts.n_charts, charts.n_local


def _charts(found: Fit[MixtureParameters]) -> PlaneCharts:
    return plane_charts(found.climb.parameters, found.survey.frame.centre, found.survey.frame.scale)

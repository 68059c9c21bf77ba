"""A mixture of Bernoullis: clusters of binary rows; missing values, streams, BIC.

The objective and its EM stand in ``objectives/bernoulli.py``, starts and the climb in ``_mixture_fit.py``, what the
fitted charts answer in ``maps/bernoulli_charts.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, DensityMixin

from sidelight.base.capabilities import MIXTURE
from sidelight.base.cost import Cost
from sidelight.base.fitting import KeptInterrupt, all_or_nothing, all_or_nothing_continued
from sidelight.base.messages import complain
from sidelight.base.result import Callback
from sidelight.base.tiles import one_blas_thread
from sidelight.base.validation import check_number, validated
from sidelight.maps.bernoulli_charts import BernoulliCharts, bernoulli_charts
from sidelight.objectives.bernoulli import BernoulliParameters, Bernoullis
from sidelight.rows import ArrayRows, Rows, Statistic, Sums, as_rows
from sidelight.solvers.partition import partition

from ._mixture_fit import Fit, Survey, best_start, check_mixture, climbed, fitted_rows, seed_of, stepped, surveyed
from ._mixture_maps import MixtureMaps

__all__ = ["BernoulliMixture"]

Array = npt.NDArray[Any]


class BernoulliMixture(MixtureMaps, DensityMixin, BaseEstimator):
    """Fit a density of binary rows: k charts, in each of which columns are independent.

    Parameters
    ----------
    n_charts : int or "auto", default=10
        Charts. "auto": the number with the lowest Bayesian information criterion, by doubling and halving.
    smoothing : float, default=1.0
        Rows that each chart is given on top of its own, like the mean of all rows. So no chart is certain of a value
        that it has not seen.
    binarize : float or None, default=0.0
        Values above it are 1, the others 0, as in scikit-learn's BernoulliNB; the default leaves 0 and 1 as they are.
        None: the data is 0, 1 and NaN already, and anything else is refused.
    n_init : int, default=4
        Starts, k-means++ with a few rounds of Lloyd's algorithm on a sample; after ten steps there the best is taken.
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
    charts_ : BernoulliCharts
        The mixture, as coordination needs it (``sidelight.maps.bernoulli_charts.with_axes`` adds local coordinates).
    weights_ : array of shape (k,)
    means_ : array of shape (k, d)
        Probability of a 1 in each column of each chart.
    n_charts_ : int
    criteria_ : dict
        With ``n_charts="auto"``: the criterion of each number of charts that was tried.
    history_ : list of dict
        stage, iteration, objective (minus the mean log likelihood, with the share of ``smoothing``), terms and seconds
        of each step. A stage above 0 began ``terms["reseeded"]`` dead charts anew.
    n_iter_ : int
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from sidelight import BernoulliMixture
    >>> X = np.repeat([[0, 0, 1], [1, 1, 0]], 20, axis=0)
    >>> model = BernoulliMixture(n_charts=2).fit(X)
    >>> model.impute([[1.0, np.nan, np.nan]])
    array([[1., 1., 0.]])
    """

    _capabilities = MIXTURE

    running_: Sums
    n_samples_seen_: int

    def __init__(
        self,
        n_charts: int | str = 10,
        *,
        smoothing: float = 1.0,
        binarize: float | None = 0.0,
        n_init: int = 4,
        max_iter: int = 500,
        tol: float = 1e-4,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self.n_charts = n_charts
        self.smoothing = smoothing
        self.binarize = binarize
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    @all_or_nothing
    @one_blas_thread
    def fit(self, X: Array, y: Any = None) -> BernoulliMixture:
        """Fit to the rows of ``X`` (n, d), of which values may be missing (NaN); ``y`` is ignored."""
        del y
        kinds = [np.float64, np.float32]
        X = np.asarray(validated(self, X, dtype=kinds, ensure_all_finite="allow-nan", ensure_min_samples=2))
        return self._fit_rows(ArrayRows(self._binary(X), n_jobs=self.n_jobs), X.dtype)

    @all_or_nothing
    @one_blas_thread
    def fit_batches(self, source: Any) -> BernoulliMixture:
        """Fit to rows that are walked once a step, in memory that does not depend on their number.

        ``source`` is a callable that returns batches, an array (also mapped from a file), a list of batches, or the
        path of a .npy or Parquet file. The result is that of ``fit`` on all rows at once.
        """
        rows = as_rows(source, owner=self, missing=True, n_jobs=self.n_jobs)
        self.n_features_in_ = rows.n_features
        return self._fit_rows(_BinaryRows(rows, self.binarize), np.dtype(np.float64))

    @all_or_nothing_continued
    @one_blas_thread
    def partial_fit(self, X: Array, y: Any = None) -> BernoulliMixture:
        """Move the mixture towards the rows of one more batch of a stream (stepwise EM); the first makes the start.

        Each batch counts for less, with the power -0.7 of how many there were.
        """
        del y
        begun = hasattr(self, "running_")
        kinds = [np.float64, np.float32]
        X = np.asarray(validated(self, X, dtype=kinds, ensure_all_finite="allow-nan", reset=not begun))
        rows = self._binary(X).astype(np.float64)
        if not begun:
            self._begin(rows, X.dtype)
        share = (self.n_samples_seen_ / len(rows) + 2.0) ** -0.7
        before = BernoulliParameters(self.weights_, self.means_)
        family = Bernoullis(self.prior_, self.smoothing / (self.n_samples_seen_ + len(rows)))  # sums are of one row
        after, self.running_ = stepped(family, before, self.running_ or None, rows, share)
        self._keep(bernoulli_charts(after))
        self.n_samples_seen_ += len(rows)
        return self

    def impute(self, X: Array) -> Array:
        """Rows with their missing values (NaN) replaced by the more likely of 0 and 1, given the rest of the row."""
        X = self._checked(X)
        filled = self._by_block(X, lambda part: (self.charts_.expected(part) > 0.5).astype(np.float64))
        return np.asarray(np.where(np.isnan(X), filled, X))

    def impute_variance(self, X: Array) -> Array:
        """Variance (n, d) of each missing value given the rest of its row, p (1 - p); 0 where a value is seen."""
        X = self._checked(X)
        chance = self._by_block(X, lambda part: self.charts_.expected(part))
        return np.asarray(np.where(np.isnan(X), chance * (1.0 - chance), np.zeros((), dtype=X.dtype)))

    def denoise(self, X: Array) -> Array:
        """Probability of a 1 in each entry (n, d), by the charts that are responsible for a row."""
        return self._by_block(self._checked(X), lambda part: self.charts_.expected(part))

    def estimate_cost(self, n: int, d: int) -> Cost:
        """What a fit of n rows and d columns takes, before it is paid; ``fit_batches`` needs none of the rows."""
        k = 16 if isinstance(self.n_charts, str) else self.n_charts
        steps = min(self.max_iter, 60) + 10 * self.n_init * min(1.0, max(5000, 100 * k) / n)
        return Cost(int(16 * n * d + 8 * 8 * k * d + 2**27), float(0.05 + steps * n * (4e-10 * k * d + 2e-8 * k)))

    def _checked(self, X: Array) -> Array:
        return self._binary(super()._checked(X))

    def _binary(self, X: Array) -> Array:
        return _binary(X, self.binarize)

    def _fit_rows(self, rows: Rows, dtype: Any) -> BernoulliMixture:
        check_mixture(self)
        check_number(self, "smoothing", self.smoothing, 0.0)
        self.dtype_ = np.dtype(dtype).name
        found, interrupted = fitted_rows(self, rows, lambda k: self._fitted(rows, k), _charts)
        self._keep(_charts(found))
        self.prior_, self.n_samples_seen_ = _prior(found.survey), found.survey.n
        self.running_ = stepped(found.family, found.climb.parameters, None, found.survey.sample, 1.0)[1]
        if interrupted:
            raise KeptInterrupt
        return self

    def _fitted(self, rows: Rows, k: int) -> Fit[BernoulliParameters]:
        """Survey, start and climb with k charts."""
        survey = surveyed(self, rows, k, seed_of(self), framed=False)
        family = Bernoullis(_prior(survey), self.smoothing)
        start = self._start(survey, family, k)
        fewest = min(1.0, survey.n / (2.0 * k))
        return Fit(survey, family, climbed(self, family, rows, start, survey, fewest=fewest))

    def _start(self, survey: Survey, family: Bernoullis, k: int) -> BernoulliParameters:
        rng, X = np.random.RandomState(seed_of(self)), survey.sample
        starts = [_parts(family, X, partition(X, k, rng)[1], k) for _ in range(self.n_init)]
        return best_start(family, starts, X, self.n_jobs)

    def _begin(self, X: Array, dtype: Any) -> None:
        """The start of a stream: the best start on its first batch."""
        check_mixture(self)
        check_number(self, "smoothing", self.smoothing, 0.0)
        if self.n_charts == "auto":
            raise ValueError(complain(self, "n_charts", "auto", "cannot be chosen from a stream", "Give a number"))
        survey = surveyed(self, ArrayRows(X, n_jobs=self.n_jobs), int(self.n_charts), seed_of(self), framed=False)
        self.prior_, self.dtype_ = _prior(survey), np.dtype(dtype).name
        mixture = self._start(survey, Bernoullis(self.prior_, self.smoothing), int(self.n_charts))
        self._keep(bernoulli_charts(mixture))
        self.running_, self.n_samples_seen_ = {}, 0

    def _keep(self, charts: BernoulliCharts) -> None:
        self.charts_, self.n_charts_ = charts, charts.n_charts
        self.weights_, self.means_ = charts.weights, charts.means


class _BinaryRows(Rows):
    """Rows as 0, 1 and NaN, wherever they come from."""

    def __init__(self, rows: Rows, threshold: float | None) -> None:
        self._rows, self._threshold, self.n_features = rows, threshold, rows.n_features

    def blocks(self) -> Iterator[Array]:
        """Those of the rows."""
        return (_binary(block, self._threshold) for block in self._rows.blocks())

    def total(self, statistic: Statistic) -> Sums:
        """The sum over the rows."""
        threshold = self._threshold
        return self._rows.total(lambda X: statistic(_binary(X, threshold)))

    def count(self) -> int:
        """How many rows there are."""
        return self._rows.count()

    def sample(self, m: int, seed: int) -> Array:
        """At most m of the rows."""
        return _binary(self._rows.sample(m, seed), self._threshold)


def _binary(X: Array, threshold: float | None) -> Array:
    """The data as 0, 1 and NaN, or a sentence."""
    missing = np.isnan(X)
    if threshold is not None:
        return np.asarray(np.where(missing, X, (threshold < X).astype(X.dtype)))
    strange = ~(missing | (X == 0) | (X == 1))
    if strange.any():
        seen = f"array with {float(X[strange][0])!r}"
        remedy = "Give 0 and 1 (NaN where missing), or to a BernoulliMixture by itself a threshold: binarize="
        raise ValueError(complain("BernoulliMixture", "X", seen, "is not binary", remedy))
    return X


def _prior(survey: Survey) -> Array:
    """How often a column is 1, strictly between 0 and 1."""
    return np.asarray((survey.n * survey.mean + 0.5) / (survey.n + 1.0))


def _parts(family: Bernoullis, X: Array, labels: Array, k: int) -> BernoulliParameters:
    """A chart for each part of rows."""
    own = (labels[:, None] == np.arange(k)).astype(np.float64)
    seen = ~np.isnan(X)
    sums = {"n": own.sum(axis=0) + 1.0, "x": own.T @ np.where(seen, X, 0.0), "seen": own.T @ seen}
    return family.maximised(sums, BernoulliParameters(np.empty(0), np.empty((0, 0))))


def _charts(found: Fit[BernoulliParameters]) -> BernoulliCharts:
    return bernoulli_charts(found.climb.parameters)

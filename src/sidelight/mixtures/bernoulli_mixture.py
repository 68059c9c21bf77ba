"""A mixture of Bernoullis: clusters of binary rows; missing entries, streams, BIC.

The objective and its EM are in ``objectives/bernoulli.py``, starts in ``_bernoulli_kind.py``, fits in
``maps/mixture_fit.py`` (streams: ``mixture_stream.py``), the fitted charts in ``maps/bernoulli_charts.py``.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from sklearn.base import DensityMixin

from sidelight.base.capabilities import MIXTURE
from sidelight.base.cost import Cost
from sidelight.base.estimator import Estimator
from sidelight.base.result import Callback
from sidelight.base.tiles import by_block
from sidelight.base.types import Array, RandomState, Untyped
from sidelight.base.validation import check_number
from sidelight.maps.bernoulli_charts import BernoulliCharts, bernoulli_charts
from sidelight.maps.bernoulli_residuals import MOST_COLUMNS, chances, residual_gaussian
from sidelight.maps.frames import Frame
from sidelight.maps.mixture_fit import MixtureKind
from sidelight.maps.mixture_stream import MixtureStream
from sidelight.maps.mixture_trials import Choice, trial_rows
from sidelight.objectives.bernoulli import BernoulliParameters, Bernoullis
from sidelight.objectives.gaussian import Gaussian
from sidelight.rows import Rows

from ._bernoulli_kind import ROOM, BernoulliKind, BinaryRows, binary, choose_number
from ._mixture_mixin import MixtureMixin

__all__ = ["BernoulliMixture"]


class BernoulliMixture(MixtureMixin[BernoulliParameters, Bernoullis], DensityMixin, Estimator):
    """Fit a mixture of Bernoulli distributions to binary rows: k charts, in each of which columns are independent.

    Parameters
    ----------
    n_charts : int, "auto" or "bic", default="auto"
        Number of charts (mixture components). "auto": the number with the highest likelihood of held-out rows (for a
        stream: of its first batch). "bic": the number with the lowest Bayesian information criterion, which is far
        smaller.
    smoothing : float, default=1.0
        Number of pseudo-rows, equal to the mean of all rows, added to each chart, so that values unseen in a chart have
        a probability above 0.
    binarize : float or None, default=0.0
        Threshold: values above it are 1, the others 0, as in scikit-learn's BernoulliNB; the default leaves 0 and 1
        unchanged. None: the data must be 0, 1 and NaN already.
    residuals : bool, default=True
        Whether ``impute`` and ``impute_variance`` also use correlations between columns within the charts (up to 1,000
        columns; not after ``partial_fit``). False: the charts alone.
    n_init : int, default=4
        Number of starts: k-means++ with a few rounds of Lloyd's algorithm on a sample; the best after ten EM steps is
        continued.
    max_iter : int, default=500
        Maximum number of EM steps.
    tol : float, default=1e-4
        EM ends when a step increases the mean log likelihood per row by less than this.
    random_state : int, RandomState or None, default=None
        For the starts and ``sample``. None is a fixed seed: the same call gives the same result.
    n_jobs : int or None, default=None
        Threads; None: all. The result does not depend on it.
    verbose : int, default=0
        1 shows a progress bar.
    callback : callable or None, default=None
        Called with a state (iteration, objective, terms, seconds) after each step; returning True stops the fit.

    Attributes
    ----------
    charts_ : BernoulliCharts
        The mixture as input of a coordinated model (``sidelight.maps.bernoulli_charts.with_axes`` adds local
        coordinates).
    weights_ : array of shape (k,)
    means_ : array of shape (k, d)
        Probability of a 1 in each column of each chart.
    n_charts_ : int
    held_out_scores_ : dict
        With ``n_charts="auto"``: mean log probability of held-out rows, by the number of charts.
    criteria_ : dict
        With ``n_charts="bic"``: the criterion of each number of charts that was tried.
    gaussian_ : Gaussian or None
        Covariance of the columns within the charts, used for imputation.
    training_densities_ : array
        Sorted densities of up to 2,000 training rows, with which ``typicality`` compares; absent after ``partial_fit``.
    history_ : list of dict
        stage, iteration, objective (minus the mean log likelihood, with the share of ``smoothing``), terms and seconds
        of each step. In a stage above 0 ``terms["reseeded"]`` dead charts were restarted.
    n_iter_ : int
    n_features_in_ : int

    See Also
    --------
    PPCAMixture : the same for rows of numbers.

    References
    ----------
    .. [1] C. M. Bishop. Pattern Recognition and Machine Learning. Springer, 2006, section 9.3.3.
    .. [2] M. Á. Carreira-Perpiñán and S. Renals. Practical identifiability of finite mixtures of multivariate Bernoulli
           distributions. Neural Computation 12, 141-152, 2000.
    .. [3] O. Cappé and E. Moulines. On-line expectation-maximization algorithm for latent data models. Journal of the
           Royal Statistical Society B 71, 593-613, 2009: ``partial_fit``.

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

    _moves_with_rows: ClassVar[bool] = False
    charts_: BernoulliCharts
    prior_: Array
    gaussian_: Gaussian | None = None  # a default, because older model files lack it

    def __init__(
        self,
        n_charts: int | str = "auto",
        *,
        smoothing: float = 1.0,
        binarize: float | None = 0.0,
        residuals: bool = True,
        n_init: int = 4,
        max_iter: int = 500,
        tol: float = 1e-4,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self.n_charts = n_charts
        self.smoothing = smoothing
        self.binarize = binarize
        self.residuals = residuals
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    def impute(self, X: Array) -> Array:
        """Rows with their missing entries (NaN) replaced by the more likely of 0 and 1, given the rest of the row."""
        X = self._checked(X, sparse=False)
        filled = by_block(lambda part: (self._chances(part) > 0.5).astype(np.float64), X, self.n_jobs)
        return np.asarray(np.where(np.isnan(X), filled, X))

    def impute_variance(self, X: Array) -> Array:
        """Variance (n, d) of each missing entry given the rest of its row, p (1 - p); 0 where an entry is observed."""
        X = self._checked(X, sparse=False)
        chance = by_block(self._chances, X, self.n_jobs)
        return np.asarray(np.where(np.isnan(X), chance * (1.0 - chance), np.zeros((), dtype=X.dtype)))

    def _chances(self, X: Array) -> Array:
        return chances(self.charts_, self.gaussian_, X)

    def estimate_cost(self, n: int, d: int, *, missing: bool = False) -> Cost:
        """Estimate memory and time of a fit to n rows and d columns; ``fit_batches`` does not store the rows."""
        del missing  # entries that are missing take no time
        tried = trial_rows(n, d, ROOM)
        k = min(128, max(1, tried // 8)) if isinstance(self.n_charts, str) else self.n_charts
        steps = min(self.max_iter, 60) + 10 * self.n_init * min(1.0, max(5000, 100 * k) / n)
        each = 2.5e-10 * k * d + 1.3e-8 * k
        search = 4 * min(self.max_iter, 50) * tried * each if self.n_charts == "auto" else 0.0
        own = d * d if self.residuals and d <= MOST_COLUMNS else 0
        size = 16 * n * d + 8 * 8 * k * d + 8 * 6 * own + 2**27
        return Cost(int(size), float(0.05 + steps * n * each + search + 4e-10 * n * own))

    def _check_parameters(self) -> None:
        self._check_shared()
        check_number(self, "smoothing", self.smoothing, 0.0)

    def _stream_kind(self) -> BernoulliKind:
        return BernoulliKind(self.smoothing)

    def _choice(self, rows: Rows) -> Choice[MixtureKind[BernoulliParameters, Bernoullis]]:
        kind: MixtureKind[BernoulliParameters, Bernoullis] = self._stream_kind()
        if self.n_charts != "auto":
            return Choice(kind, "auto" if self.n_charts == "bic" else self.n_charts)
        return choose_number(rows, kind, self._settings())

    def _keep_fitted(self, rows: Rows) -> None:
        self.gaussian_ = residual_gaussian(rows, self.charts_) if self.residuals else None

    def _keep_stream(
        self,
        stream: MixtureStream[BernoulliParameters, Bernoullis],
        kind: MixtureKind[BernoulliParameters, Bernoullis],
    ) -> None:
        del kind
        self.charts_, self.gaussian_ = bernoulli_charts(stream.mixture), None
        self.n_charts_ = self.charts_.n_charts
        self.weights_, self.means_ = stream.mixture.weights, stream.mixture.means
        self.prior_, self.running_, self.n_samples_seen_ = stream.family.prior, stream.sums or {}, stream.n_seen

    def _stream(self) -> MixtureStream[BernoulliParameters, Bernoullis]:
        mixture = BernoulliParameters(self.weights_, self.means_)
        frame = Frame(np.zeros(len(self.prior_)), 1.0)
        family = Bernoullis(self.prior_, self.smoothing)
        return MixtureStream(frame, family, mixture, self.running_ or None, self.n_samples_seen_)

    def _no_jacobian(self) -> str | None:
        return "are made 0 and 1 first, so that the map is a step function without slopes"

    def _prepared(self, X: Untyped) -> Untyped:
        return binary(X, self.binarize)

    def _prepared_rows(self, rows: Rows) -> Rows:
        return BinaryRows(rows, self.binarize)

"""A mixture of probabilistic PCA: flat clusters, each with its own axes; missing entries, streams, BIC.

The objective and its EM are in ``objectives/mixtures.py``, starts and fits in ``maps/plane_mixture.py`` and
``maps/mixture_fit.py`` (streams: ``mixture_stream.py``), the fitted charts in ``maps/plane_charts.py``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, cast

import numpy as np
from sklearn.base import DensityMixin

from sidelight.base.capabilities import MIXTURE
from sidelight.base.cost import Cost
from sidelight.base.estimator import Estimator
from sidelight.base.messages import error_message
from sidelight.base.result import Callback
from sidelight.base.tiles import by_block
from sidelight.base.types import Array, RandomState, Untyped
from sidelight.base.validation import check_choice, check_integer, check_number
from sidelight.maps.gaussian_mixture import GaussianKind
from sidelight.maps.mixture_fit import MixtureKind
from sidelight.maps.mixture_stream import MixtureStream
from sidelight.maps.mixture_trials import Choice, trial_rows
from sidelight.maps.plane_charts import PlaneCharts
from sidelight.maps.plane_choice import Wanted, choose_planes
from sidelight.maps.plane_mixture import PlaneKind
from sidelight.maps.truncated import TruncatedBasis, dense_rows, is_sparse, truncated_basis
from sidelight.objectives.gaussian_charts import MOST_COLUMNS, Gaussians
from sidelight.objectives.mixtures import MixtureParameters, Planes
from sidelight.rows import BLOCK, Rows

from ._mixture_mixin import MixtureMixin

__all__ = ["PPCAMixture"]


PlaneFamily = Planes | Gaussians
AnyKind = MixtureKind[MixtureParameters, PlaneFamily]
_TRIALS = 25  # mixtures that are compared, about
_WITH_GAPS = 4.0  # times as long with missing entries
_COVARIANCES = ("auto", "plane", "diagonal", "full")


class PPCAMixture(MixtureMixin[MixtureParameters, PlaneFamily], DensityMixin, Estimator):
    """Fit a mixture of probabilistic PCA: k charts, each a plane of a few dimensions with noise around it.

    Parameters
    ----------
    n_charts : int, "auto" or "bic", default="auto"
        Number of charts (mixture components). "auto": the number with the highest likelihood of held-out rows (for a
        stream: of its first batch). "bic": planes, with the number that minimises the Bayesian information criterion,
        searched by doubling and halving.
    n_components : int or "auto", default="auto"
        Local dimensions of each plane, capped at d - 1. "auto": by the likelihood of held-out rows, or, with
        ``n_charts="bic"``, for each chart the number that its rows support, up to 10.
    covariance : {"auto", "plane", "diagonal", "full"}, default="auto"
        Type of the charts. "plane": a plane with isotropic noise. "full", "diagonal": a Gaussian (with independent
        columns), shrunk to a covariance shared by all charts, to a degree selected on held-out rows; up to 300 columns.
        "auto": planes if ``n_components`` is a number, else the type with the highest likelihood of held-out rows;
        planes if there is no clear difference.
    n_init : int, default=4
        Number of starts: k-means++ with a few rounds of Lloyd's algorithm on a sample; the best after ten EM steps is
        continued.
    noise_floor : float, default=1e-6
        Minimum noise variance, as a share of the mean column variance (for Gaussians: minimum variance in any
        direction, for columns scaled to variance 1). It prevents charts from collapsing.
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
    charts_ : PlaneCharts
        The mixture, with ``responsibilities``, ``features`` and ``reconstruction`` of each chart, as input of a
        coordinated model.
    weights_ : array of shape (k,)
    means_ : array of shape (k, d)
    components_ : list of arrays of shape (q_s, d)
        Local axes of each chart, widest first; their lengths are standard deviations.
    noise_variance_ : array of shape (k,), or (k, d) of Gaussians
    covariance_ : {"plane", "diagonal", "full"}
        Type of the charts. A Gaussian is stored as a plane of d - 1 dimensions with noise.
    reduction_ : TruncatedBasis or None
        For sparse rows: their mean and 50 principal directions. The mixture models coordinates in this basis:
        ``charts_``, ``noise_variance_``, densities and criteria refer to these, everything else to the columns of the
        data.
    n_charts_ : int
    n_local_ : tuple of int
        Local dimensions of each chart.
    held_out_scores_ : dict
        With automatic selection: mean log density of held-out rows for every candidate. Keys have the number and type
        of charts, and in parentheses the dimensions of planes, or the shrinkage of Gaussians (pseudo-rows per column;
        whether narrow or wide charts dominate the shared covariance; share of its correlations dropped).
    criteria_ : dict
        With ``n_charts="bic"``: the criterion of each number of charts that was tried.
    training_densities_ : array
        Sorted densities of up to 2,000 training rows, with which ``typicality`` compares; absent after ``partial_fit``.
    history_ : list of dict
        stage, iteration, objective (minus the mean log likelihood, inside the frame), terms and seconds of each step.
        In a stage above 0 ``terms["reseeded"]`` dead charts were restarted.
    n_iter_ : int
    n_features_in_ : int

    See Also
    --------
    ProbabilisticPCA : one plane.
    CoordinatedMixture : joins the charts into one embedding.

    References
    ----------
    .. [1] M. E. Tipping and C. M. Bishop. Mixtures of probabilistic principal component analyzers. Neural Computation
           11, 443-482, 1999.
    .. [2] O. Cappé and E. Moulines. On-line expectation-maximization algorithm for latent data models. Journal of the
           Royal Statistical Society B 71, 593-613, 2009: ``partial_fit``.

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

    _moves_with_rows: ClassVar[bool] = True
    charts_: PlaneCharts
    family_: PlaneFamily
    covariance_: str = "plane"  # a default, because older model files lack it

    def __init__(
        self,
        n_charts: int | str = "auto",
        n_components: int | str = "auto",
        *,
        covariance: str = "auto",
        n_init: int = 4,
        noise_floor: float = 1e-6,
        max_iter: int = 500,
        tol: float = 1e-4,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self.n_charts = n_charts
        self.n_components = n_components
        self.covariance = covariance
        self.n_init = n_init
        self.noise_floor = noise_floor
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    def impute(self, X: Array) -> Array:
        """Rows with missing entries (NaN) replaced by their exact conditional mean given the rest of the row."""
        X = self._unreduced(X)
        return np.asarray(np.where(np.isnan(X), by_block(self.charts_.expected, X, self.n_jobs), X))

    def impute_variance(self, X: Array) -> Array:
        """Variance (n, d) of each missing entry given the rest of its row; 0 where an entry is observed."""
        X = self._unreduced(X)
        variance = by_block(self.charts_.variance, X, self.n_jobs)
        return np.asarray(np.where(np.isnan(X), variance, np.zeros((), dtype=X.dtype)))

    def _unreduced(self, X: Array) -> Array:
        """Dense rows, which may miss entries; a model of coordinates cannot take these."""
        if self.reduction_ is not None:
            rule = "was fitted to the coordinates of sparse rows and needs complete rows"
            remedy = "Fit it to a dense array"
            raise ValueError(error_message(self, "X", "missing entries", rule, remedy))
        rows: Array = self._checked(X, sparse=False)
        return rows

    def estimate_cost(self, n: int, d: int, *, missing: bool = False) -> Cost:
        """Estimate memory and time of a fit to n rows and d columns; ``fit_batches`` does not store the rows."""
        k = 16 if isinstance(self.n_charts, str) else self.n_charts
        q = 10 if isinstance(self.n_components, str) else self.n_components
        steps = min(self.max_iter, 60) + 10 * self.n_init * min(1.0, max(5000, 100 * k) / n)
        moments = k * d * d if d <= MOST_COLUMNS else 2 * k * d * (q + 1)
        each = k * (4e-8 + 2.2e-9 * d + (3e-12 * d * d if d <= MOST_COLUMNS else 0.0))
        chosen = self.n_charts == "auto" or (self.n_charts != "bic" and self.n_components == "auto")
        search = _TRIALS * (0.05 + min(self.max_iter + 20, 40) * trial_rows(n, d) * each) if chosen else 0.0
        seconds = (_WITH_GAPS if missing else 1.0) * (0.05 + steps * n * each + search)
        return Cost(int(8 * n * d + 8 * 2 * moments + 2**27), float(seconds))

    def _check_parameters(self) -> None:
        self._check_shared()
        check_choice(self, "covariance", self.covariance, _COVARIANCES)
        if self.n_components != "auto":
            check_integer(self, "n_components", self.n_components, 0)
        check_number(self, "noise_floor", self.noise_floor, 0.0, 1.0)
        if self.covariance in ("full", "diagonal") and (self.n_components != "auto" or self.n_charts == "bic"):
            rule = "has no planes whose dimensions could be given or counted"
            remedy = 'Leave n_components at "auto" and n_charts at "auto" or a number, or give covariance="plane"'
            raise ValueError(error_message(self, "covariance", self.covariance, rule, remedy))

    def _choice(self, rows: Rows) -> Choice[AnyKind]:
        if self.n_charts == "bic":
            return Choice(self._planes(), "auto")
        if not isinstance(self.n_charts, str) and not isinstance(self.n_components, str):
            return Choice(self._planes(), self.n_charts)
        d = rows.n_features
        if self.covariance in ("full", "diagonal") and d > MOST_COLUMNS:
            rule = f"is for at most {MOST_COLUMNS} columns, and there are {d}"
            raise ValueError(error_message(self, "covariance", self.covariance, rule, 'Give covariance="plane"'))
        covariance = self.covariance if isinstance(self.n_components, str) else "plane"
        wanted = Wanted(self.n_charts, self.n_components, covariance, self.noise_floor)
        return choose_planes(rows, wanted, self._settings())

    def _planes(self) -> AnyKind:
        return cast(AnyKind, PlaneKind(self.n_components, self.noise_floor))

    def _stream_kind(self) -> AnyKind:
        family, widths, outside = self.family_, self.charts_.widths, self.charts_.outside
        if isinstance(family, Gaussians):
            gaussian = GaussianKind(family.target, family.strength, family.diagonal, self.noise_floor)
            return cast(AnyKind, replace(gaussian, widths=widths, outside=outside))
        plane = PlaneKind(self.n_components, self.noise_floor)
        return cast(AnyKind, replace(plane, widths=widths, outside=outside))

    def _keep_stream(self, stream: MixtureStream[MixtureParameters, PlaneFamily], kind: AnyKind) -> None:
        frame, family = stream.frame, stream.family
        charts = kind.charts(stream.mixture, frame)
        assert isinstance(charts, PlaneCharts)
        self.charts_ = charts
        self.weights_ = charts.weights
        unit = frame.scale if frame.columns is None else frame.scale * frame.columns
        means = np.stack([frame.outside(chart.mean) for chart in charts.charts])
        axes = [chart.W.T * unit for chart in charts.charts]
        if self.reduction_ is not None:
            means, axes = self.reduction_.rows(means), [own @ self.reduction_.basis.T for own in axes]
        self.means_, self.components_ = means, axes
        noise = np.array([chart.noise for chart in charts.charts])
        self.noise_variance_ = noise * frame.scale**2 if frame.columns is None else noise[:, None] * unit**2
        self.n_charts_, self.n_local_ = charts.n_charts, charts.n_local
        self.covariance_ = "diagonal" if charts.diagonal else "full" if isinstance(family, Gaussians) else "plane"
        self.family_, self.running_, self.n_samples_seen_ = stream.family, stream.sums or {}, stream.n_seen

    def _stream(self) -> MixtureStream[MixtureParameters, PlaneFamily]:
        charts = self.charts_
        mixture = MixtureParameters(charts.weights, charts.charts)
        return MixtureStream(charts.frame, self.family_, mixture, self.running_ or None, self.n_samples_seen_)

    def _reduced(self, X: Untyped) -> tuple[Untyped, TruncatedBasis | None]:
        reduction = truncated_basis(X, n_jobs=self.n_jobs)
        return reduction.scores(X).astype(X.dtype, copy=False), reduction

    def _seen(self, X: Untyped) -> Untyped:
        if self.reduction_ is None and is_sparse(X):
            return dense_rows(X, X.dtype)  # a model of dense rows: so many columns fit the memory
        return super()._seen(X)

    def _block(self, n: int) -> int:
        return min(BLOCK, max(256, -(-n // 4)))  # charts with missing entries are slow enough for short blocks

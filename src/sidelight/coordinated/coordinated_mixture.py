"""Coordinated mixtures: local charts of a curved sheet, glued into one map of it by one small eigenproblem.

A mixture model covers the data with charts, each with a few local coordinates. Each chart gets a linear map into the
latent space such that charts agree about the rows they share (``objectives/coordination.py``). All a fit needs of the
rows are sums, so it runs in batches; the eigenproblem has the size of the charts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sidelight.base.capabilities import TWO_WAY_ITERATIVE
from sidelight.base.cost import announce_cost
from sidelight.base.estimator import Estimator
from sidelight.base.fitting import all_or_nothing
from sidelight.base.result import Callback
from sidelight.base.tiles import by_block, one_blas_thread
from sidelight.base.types import Array, RandomState
from sidelight.base.validation import check_choice, check_integer, validated
from sidelight.maps.frames import Frame
from sidelight.rows import ArrayRows, Rows, as_rows

from ._coordinated_charts import FittedView, fit_charts, view_frame
from ._coordinated_intervals import CoordinatedIntervals
from ._coordination_fit import align, glue
from ._fit_progress import FitProgress
from ._settings import CoordinationSettings

__all__ = ["CoordinatedMixture"]


_SAMPLE = 5_000


class CoordinatedMixture(CoordinatedIntervals, Estimator):
    """Embed a curved sheet by local charts that are joined where they overlap; any number of rows.

    Parameters
    ----------
    n_components : int, default=2
        Latent dimensions.
    n_charts : int or "auto", default="auto"
        Charts of each default mixture. "auto": doubled until charts are flat and stretch the data evenly, or until more
        charts give neither a better fit (Bayesian information criterion) nor better maps. Rows of more than 64
        columns are then fitted in their 50 leading principal components, except for ``alignment="coordination"``.
    n_mixtures : int, default=1
        Parallel mixtures from different starts, so that every row is covered by several charts.
    mixture : None, estimator, charts, or list of one of them, default=None
        None: a :class:`PPCAMixture`. An estimator (PPCAMixture, BernoulliMixture, GaussianMixture of scikit-learn) is
        cloned and fitted, with its own number of charts; an object with ``responsibilities``, ``features`` and
        ``reconstruction`` (``sidelight.maps.charts.Charts``) is used as it is.
    n_local : int, "auto", list of int or None, default=None
        Local coordinates of each chart, of default and of scikit-learn's Gaussian mixtures; None: ``n_components``.
        Must be fewer than the dimensions that the data fills, or the map is linear. "auto": as many as the rows of each
        chart support. A list, one for each chart: for Gaussian mixtures.
    smoothing : float, default=1.0
        Power to which responsibilities are raised: below 1 charts overlap more.
    balance : "auto", float or None, default="auto"
        How much pairs of charts that share few rows count in coordination. None: in proportion to the rows they share,
        the objective of [1]_. Small: each pair the same, down to this share of common rows. "auto": the value with the
        lowest reconstruction error and the most even stretching of the data.
    alignment : "auto", "coordination", "geodesic" or "automatic", default="auto"
        How charts are placed. "coordination": they agree on shared rows [1]_. "geodesic": by least squares at the
        latent points that keep path lengths in neighbourhood graphs of at most 5,000 rows (Isomap, then with less
        Sammon stress, so that short distances count), of squared steps unless plain ones explain more.
        "automatic": latent points are the same averages of their neighbours as rows are in the data (automatic
        alignment [4]_), in memory only. "auto": coordination where it finds a sheet, or where ``balance`` is given;
        else coordination, geodesic or a linear map of one chart, whichever explains most of rows that are left out.
    n_neighbors : int, default=12
        Neighbours of each row, for ``alignment="automatic"``.
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
        1 shows a progress bar of the mixture.
    callback : callable or None, default=None
        Called with a state after each EM step of the mixtures of this library, also of those that ``n_charts="auto"``
        tries; returning True stops there, and the charts so far are joined.

    Attributes
    ----------
    embedding_ : array of shape (n, q)
        ``transform`` of the rows, of mean 0; each column has variance 1 in coordination, all have on average where
        charts were placed otherwise. Absent after ``fit_batches``.
    map_ : CoordinatedMap
        Charts, and their maps to the latent space and back.
    n_charts_ : int
        Charts of all mixtures.
    n_local_ : tuple of int
        Local coordinates of each chart.
    disagreement_ : array of shape (q,)
        Eigenvalue of each latent axis: how much charts disagree about it, relative to their spread.
    distortion_ : float
        How far the charts are from one common stretching of the data; 0: the sheet was only unrolled.
    alignment_ : str
        How charts were placed: "coordination", "geodesic", "linear" (one chart, where charts explained no more than
        principal components) or "automatic".
    balance_ : float
        The balance used; inf is the objective of [1]_, and where charts were not placed by coordination.
    off_plane_ : array of shape (k,)
        The share of each chart's variance that lies off its plane.
    bridging_ : array of int
        Charts that cut across the sheet, with far more variance off their plane than the others; raise ``n_charts``.
    centre_, scale_ : arrays of shape (d,)
        The frame of the fit, in units of which errors are measured. There is no ``mean_``: the map is curved, and
        no row in particular goes to 0.
    training_densities_, training_latent_densities_ : arrays
        Densities of up to 2,000 training rows and of their latent points, with which
        ``typicality`` and ``latent_typicality`` compare.
    history_ : list of dict
        stage, iteration, objective, terms and seconds of each EM step (minus the mean log likelihood, inside the
        frame), a stage or more for each mixture; the last record is the eigenproblem (the sum of ``disagreement_``).
    n_iter_ : int
        EM steps of the mixtures.
    n_features_in_ : int

    See Also
    --------
    PPCAMixture : the mixture that is fitted by default.
    CoordinatedCCA : the same for several views.

    References
    ----------
    .. [1] J. J. Verbeek, N. Vlassis and B. J. A. Kröse. Non-linear feature extraction by the coordination of mixture
           models. Annual Conference of the Advanced School for Computing and Imaging, 287-293, 2003.
    .. [2] J. J. Verbeek, S. T. Roweis and N. Vlassis. Non-linear CCA and PCA by alignment of local models. Advances in
           Neural Information Processing Systems 16, 2004.
    .. [3] S. T. Roweis, L. K. Saul and G. E. Hinton. Global coordination of local linear models. Advances in Neural
           Information Processing Systems 14, 2002.
    .. [4] Y. W. Teh and S. T. Roweis. Automatic alignment of local representations. Advances in Neural Information
           Processing Systems 15, 2003.

    Examples
    --------
    >>> from sidelight import CoordinatedMixture
    >>> from sidelight.datasets import s_curve
    >>> X = s_curve(1000, random_state=0).X
    >>> model = CoordinatedMixture(random_state=0).fit(X)
    >>> model.transform(X[:3]).shape, model.inverse_transform(model.embedding_[:3]).shape
    ((3, 2), (3, 3))
    >>> round(model.score(X), 2)
    1.0
    """

    _capabilities = TWO_WAY_ITERATIVE

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_charts: int | str = "auto",
        n_mixtures: int = 1,
        mixture: object = None,
        n_local: int | str | Sequence[int] | None = None,
        smoothing: float = 1.0,
        balance: float | str | None = "auto",
        alignment: str = "auto",
        n_neighbors: int = 12,
        max_iter: int = 500,
        tol: float = 1e-4,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self.n_components = n_components
        self.n_charts = n_charts
        self.n_mixtures = n_mixtures
        self.mixture = mixture
        self.n_local = n_local
        self.smoothing = smoothing
        self.balance = balance
        self.alignment = alignment
        self.n_neighbors = n_neighbors
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    @all_or_nothing
    @one_blas_thread
    def fit(self, X: Array, y: object = None) -> CoordinatedMixture:
        """Fit charts and join them.

        Parameters
        ----------
        X : array of shape (n, d)
        y : ignored
        """
        del y
        self._check_parameters()
        X = np.asarray(validated(self, X, dtype=[np.float64, np.float32], ensure_min_samples=2))
        announce_cost(self, self.estimate_cost(*X.shape), len(X))
        rows, settings, progress = ArrayRows(X, n_jobs=self.n_jobs), self._settings(), FitProgress(self.callback)
        own, sample, frame = self._charts(rows, settings, progress)
        if self.alignment == "automatic":
            found = align(X, own.mixtures, settings, self.n_neighbors)
        else:
            found = glue(rows, own.mixtures, sample, settings, own.placement, own.latent)
        embedding = by_block(found.map.backward, X, self.n_jobs)
        self._keep_glued(found, frame.centre, np.full(X.shape[1], frame.scale), sample, progress)
        self._keep_row_errors(sample)
        self.embedding_ = embedding
        progress.finish()
        return self

    def fit_transform(self, X: Array, y: object = None) -> Array:
        """Fit, and return ``embedding_`` (n, q)."""
        return self.fit(X, y).embedding_

    @all_or_nothing
    @one_blas_thread
    def fit_batches(self, source: object) -> CoordinatedMixture:
        """Fit to rows that are read once for each EM step, in memory that does not depend on their number.

        Parameters
        ----------
        source : callable, array, list of arrays, or path
            A callable that returns batches, an array (also mapped from a file), a list of batches, or the path of a
            .npy or Parquet file. The result is that of ``fit`` on all rows at once.
        """
        self._check_parameters()
        check_choice(self, "alignment", self.alignment, ("auto", "coordination", "geodesic"))
        rows = as_rows(source, owner=self, n_jobs=self.n_jobs)
        settings, progress = self._settings(), FitProgress(self.callback)
        own, sample, frame = self._charts(rows, settings, progress)
        found = glue(rows, own.mixtures, sample, settings, own.placement, own.latent)
        self._keep_glued(found, frame.centre, np.full(rows.n_features, frame.scale), sample, progress)
        self._keep_row_errors(sample)
        progress.finish()
        return self

    def _charts(
        self, rows: Rows, settings: CoordinationSettings, progress: FitProgress
    ) -> tuple[FittedView, Array, Frame]:
        """The charts, a sample of the rows, and the frame of the columns."""
        sample = Rows.sample(rows, _SAMPLE, settings.seed)
        columns = np.arange(rows.n_features)
        mixture = self.mixture[0] if isinstance(self.mixture, (list, tuple)) else self.mixture
        own = fit_charts(rows, sample, columns, 0, mixture, settings, progress)
        return own, sample, view_frame(sample, columns)

    def _settings(self) -> CoordinationSettings:
        asked = self.alignment == "auto" and not isinstance(self.balance, str)  # a balance is one of shared rows
        alignment = "coordination" if asked else self.alignment
        thorough = alignment not in ("auto", "geodesic")  # these have other ways to place charts
        return replace(super()._settings(), alignment=alignment, thorough=thorough)

    def _check_parameters(self) -> None:
        self._check_shared()
        check_choice(self, "alignment", self.alignment, ("auto", "coordination", "geodesic", "automatic"))
        check_integer(self, "n_neighbors", self.n_neighbors, 1)

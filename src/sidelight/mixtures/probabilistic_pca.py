"""Probabilistic PCA: principal axes with a density; missing entries, new rows and samples follow from one model.

The model, its posterior and its EM are in ``objectives/linear_gaussian.py``, the closed form in
``objectives/principal_axes.py``, the choice of dimensions in ``objectives/relevance.py``, the fit in
``maps/linear_gaussian_fit.py``, the fitted maps in ``maps/linear_gaussian_maps.py``.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import issparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags

from sidelight.base.capabilities import TWO_WAY_ITERATIVE
from sidelight.base.cost import Cost, check_cost
from sidelight.base.estimator import Estimator
from sidelight.base.fitting import all_or_nothing, all_or_nothing_continued, clear_fitted, raise_if_interrupted
from sidelight.base.messages import error_message
from sidelight.base.random import start_seed
from sidelight.base.result import Callback, Status
from sidelight.base.tiles import one_blas_thread
from sidelight.base.types import Array, RandomState, Untyped
from sidelight.base.validation import check_integer, check_number, validated
from sidelight.base.warnings import warn
from sidelight.maps.held_out import MOST_ROWS
from sidelight.maps.linear_gaussian_fit import (
    LARGEST,
    FittedGaussian,
    GaussianSettings,
    MomentStream,
    advance_moments,
    fit_linear_gaussian,
    fit_sparse_gaussian,
    maps_of_moments,
)
from sidelight.maps.linear_gaussian_maps import LinearGaussianMaps
from sidelight.maps.truncated import as_rows_of
from sidelight.maps.typicality import COMPARED
from sidelight.rows import ArrayRows, SparseRows, Sums, as_rows

from ._linear_gaussian_intervals import LinearGaussianIntervals
from ._linear_gaussian_mixin import standard_normal_log_density, training_densities

__all__ = ["ProbabilisticPCA"]


_BLOCK = 8192  # rows of a block in the fit, at least


class ProbabilisticPCA(ClassNamePrefixFeaturesOutMixin, LinearGaussianIntervals, Estimator):
    """Principal component analysis as a probability model, with missing values, imputation, samples and streams.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Latent dimensions. "auto": the number that the data supports, at least one (automatic relevance determination
        [2]_; for complete rows by [3]_; at most 100 for sparse rows with more than 3,000 columns and 5,000 rows).
    standardize : bool, default=False
        Fit columns divided by their standard deviation. The noise is the same in every column, so columns of
        different units need this; results are in units of the data either way.
    refinements : int, default=3
        EM steps from the plane to a Gaussian of full covariance, which ``impute`` and ``impute_variance`` use; with
        missing entries, at least twice as many rows as columns, and at most 1,000 columns. 0: they use the plane.
    max_iter : int, default=200
        Maximum number of EM steps. Complete rows need none.
    tol : float, default=5e-3
        EM ends when a step increases the log likelihood per observed entry by less than this.
    random_state : int, RandomState or None, default=None
        Seed of ``sample``, and of the subset of rows that EM starts from if there are more than 5000. None is a fixed
        seed: the same call gives the same result.
    n_jobs : int or None, default=None
        Threads; None: all. The result does not depend on it.
    verbose : int, default=0
        1 shows a progress bar.
    callback : callable or None, default=None
        Called with a state (stage, iteration, objective, terms, seconds) after each EM step; returning True stops the
        fit there.

    Attributes
    ----------
    embedding_ : array of shape (n, q)
        ``transform`` of the rows of ``fit``; absent after ``fit_batches`` and ``partial_fit``.
    mean_ : array of shape (d,)
        Mean of the model, in units of the data: the row that ``transform`` maps to 0, as in scikit-learn's PCA.
    components_ : array of shape (q, d)
        Axes of length 1, widest first (orthogonal in the units of the fit: see ``standardize``).
    explained_variance_ : array of shape (q,)
        Variance of the model along them, noise included, in the units of the fit.
    noise_variance_ : float or array of shape (d,)
        Noise variance; one per column with ``standardize``.
    n_components_ : int
    model_ : LinearGaussian
        The model of ``(x - centre_) / scale_``. With "auto" and missing entries, it has the uncertainty of W
        (``spread``), which the posterior, imputed entries and their variance take into account; the density does not.
    gaussian_ : Gaussian or None
        The Gaussian used for imputation, in the same scaled units; None: the plane is used.
    centre_, scale_ : arrays of shape (d,)
        Centring and scaling of the fit, from the first rows. ``mean_`` differs with missing entries and after further
        batches.
    training_densities_, training_latent_densities_ : arrays
        Sorted densities of up to 2,000 training rows and of their latent points, with which ``typicality`` and
        ``latent_typicality`` compare; absent after ``partial_fit``.
    history_ : list of dict
        stage, iteration, objective (minus the mean log likelihood, or its bound), terms and seconds of each EM step.
    n_iter_ : int
    n_features_in_ : int

    See Also
    --------
    PPCAMixture : several planes instead of one.

    Notes
    -----
    For complete rows the axes, noise and likelihood are those of ``sklearn.decomposition.PCA`` [1]_. ``transform``
    differs: it returns the posterior mean of z, which has unit variance a priori and shrinks where the noise is large.

    References
    ----------
    .. [1] M. E. Tipping and C. M. Bishop. Probabilistic principal component analysis. Journal of the Royal Statistical
           Society B 61, 611-622, 1999.
    .. [2] C. M. Bishop. Bayesian PCA. Advances in Neural Information Processing Systems 11, 1999.
    .. [3] T. P. Minka. Automatic choice of dimensionality for PCA. Advances in Neural Information Processing Systems
           13, 2001.

    Examples
    --------
    >>> import numpy as np
    >>> from sidelight import ProbabilisticPCA
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2)) @ rng.normal(size=(2, 8)) + 0.1 * rng.normal(size=(200, 8))
    >>> gaps = np.where(rng.random(X.shape) < 0.3, np.nan, X)
    >>> model = ProbabilisticPCA().fit(gaps)
    >>> model.n_components_, bool(np.abs(model.impute(gaps) - X).mean() < 0.1)
    (2, True)
    """

    _capabilities = TWO_WAY_ITERATIVE.also("score_is_log_density", "has_impute", "has_impute_interval")
    unit_: float
    moments_: Sums

    def __init__(
        self,
        n_components: int | str = "auto",
        *,
        standardize: bool = False,
        refinements: int = 3,
        max_iter: int = 200,
        tol: float = 5e-3,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self.n_components = n_components
        self.standardize = standardize
        self.refinements = refinements
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    @all_or_nothing
    @one_blas_thread
    def fit(self, X: Array, y: object = None) -> ProbabilisticPCA:
        """Fit to rows in memory.

        Parameters
        ----------
        X : array or sparse array of shape (n, d)
            NaN where an entry is missing. Sparse rows have no missing entries, and no dense copy of them is made.
        y : ignored
        """
        del y
        self._check_parameters()
        kinds = [np.float64, np.float32]
        if issparse(X):
            return self._fit_sparse(validated(self, X, dtype=kinds, accept_sparse="csr", ensure_min_samples=2))
        X = np.asarray(validated(self, X, dtype=kinds, ensure_all_finite="allow-nan", ensure_min_samples=2))
        missing = bool(np.isnan(X).any())
        check_cost(self, self.estimate_cost(*X.shape, missing=missing), len(X))
        block = max(64, -(-len(X) // 4)) if missing else max(_BLOCK, -(-len(X) // 16))
        rows = ArrayRows(X, n_jobs=self.n_jobs, block=block)
        found = fit_linear_gaussian(rows, self._settings())
        embedding = found.maps.embed(X, self.n_jobs)
        self._keep_fit(found, rows.sample(COMPARED, 0))
        self.embedding_ = embedding
        self._report(found)
        return self

    def _fit_sparse(self, X: Untyped) -> ProbabilisticPCA:
        found = fit_sparse_gaussian(X, self._settings())
        embedding = found.maps.embed(X, self.n_jobs)
        # no errors of rows: of thousands of columns they would be larger than the counts
        self._keep_fit(found, SparseRows(X).sample(COMPARED, 0), few=X.shape[0] <= MOST_ROWS, errors=False)
        self.embedding_ = embedding
        return self

    @all_or_nothing
    @one_blas_thread
    def fit_batches(self, source: object) -> ProbabilisticPCA:
        """Fit to rows that are read once for each EM step, in memory that does not depend on their number.

        Parameters
        ----------
        source : callable, array, list of arrays, or path
            A callable that returns batches, an array (also mapped from a file), a list of batches, or the path of a
            .npy or Parquet file. The result is that of ``fit`` on all rows at once.
        """
        self._check_parameters()
        rows = as_rows(source, owner=self, missing=True, n_jobs=self.n_jobs)
        found = fit_linear_gaussian(rows, self._settings())
        self.n_features_in_ = rows.n_features
        self._keep_fit(found, rows.sample(COMPARED, 0))
        self._report(found)
        return self

    @all_or_nothing_continued
    @one_blas_thread
    def partial_fit(self, X: Array, y: object = None) -> ProbabilisticPCA:
        """Add one more batch of a stream; the model equals that of all rows since the first batch.

        After ``fit`` it starts a new stream.

        Parameters
        ----------
        X : array or sparse array of shape (m, d)
            Complete rows; missing entries need more than one pass (``fit_batches``). No dense copy of sparse rows is
            made.
        y : ignored
        """
        del y
        self._check_parameters()
        begun = "moments_" in vars(self)
        if not begun:
            clear_fitted(self)
        kinds = [np.float64, np.float32]
        X = as_rows_of(validated(self, X, dtype=kinds, reset=not begun, accept_sparse="csr"), np.float64)
        if X.shape[1] > LARGEST:
            rule = f"has more than the {LARGEST} columns that partial_fit supports"
            remedy = "Use fit, which makes no dense copy of sparse rows" if issparse(X) else "Use fit_batches"
            raise ValueError(error_message(self, "X", f"{X.shape[1]} columns", rule, remedy))
        before = MomentStream(self.centre_, self.unit_, self.moments_) if begun else None
        stream = advance_moments(before, X)
        self._keep(maps_of_moments(stream, self._fixed_components(), standardize=self.standardize))
        self.unit_, self.moments_ = stream.unit, stream.moments
        return self

    def estimate_cost(self, n: int, d: int, *, missing: bool = False) -> Cost:
        """Estimate memory and time of a fit to n rows and d columns; with ``missing`` entries it takes far longer."""
        q = min(n - 1, d, 60) if isinstance(self.n_components, str) else self.n_components
        packed = (q + 1) * (q + 2) / 2
        products = min(n, d, LARGEST) ** 2
        size = 8 * (3 * n * d + 6 * d * packed + 3e7 + 3 * products)
        seconds = 0.02 + 3e-10 * n * d * min(n, d) + 5e-10 * products * d
        if missing:
            seconds += 0.05 + 6 * (2e-10 * n * d * packed + 1e-9 * n * q**3)
        else:  # rows that are held out, and rows whose entries are hidden, of 40 dimensions, say
            compared, told = min(n, COMPARED), min(n - 1, d, 40)
            seconds += 1e-9 * min(compared, d) ** 2 * (compared + d)
            seconds += compared * told**2 * (3e-10 * d + 2e-9 * told)
        return Cost(int(size), float(seconds))

    def _check_parameters(self) -> None:
        if self.n_components != "auto":
            check_integer(self, "n_components", self.n_components, 1)
        check_integer(self, "refinements", self.refinements, 0)
        check_integer(self, "max_iter", self.max_iter, 1)
        check_number(self, "tol", self.tol, 0.0)

    def _fixed_components(self) -> int | None:
        return None if isinstance(self.n_components, str) else int(self.n_components)

    def _settings(self) -> GaussianSettings:
        return GaussianSettings(
            owner=type(self).__name__,
            n_components=self._fixed_components(),
            standardize=self.standardize,
            refinements=self.refinements,
            max_iter=self.max_iter,
            tol=self.tol,
            seed=start_seed(self.random_state),
            n_jobs=self.n_jobs,
            verbose=self.verbose,
            callback=self.callback,
        )

    def _keep_fit(self, found: FittedGaussian, sample: Array, *, few: bool = True, errors: bool = True) -> None:
        """Set the attributes common to all fits; ``sample``: training rows to compare new ones with."""
        maps = found.maps
        own = training_densities(maps, sample, self.n_jobs, few=few)
        latent = np.sort(standard_normal_log_density(maps.embed(sample, self.n_jobs)))
        self._keep(maps)
        self.training_densities_, self.training_latent_densities_ = own, latent
        if errors:
            self._keep_errors(maps, sample)
        self.history_ = [vars(record) for record in found.history]
        self.n_iter_ = max(1, len(found.history))

    def _keep(self, maps: LinearGaussianMaps) -> None:
        """Set the model, its frame, and the attributes derived from them."""
        model, scale = maps.model, maps.scale
        self.model_, self.gaussian_ = model, maps.gaussian
        self.centre_, self.scale_ = maps.centre, scale
        self.n_components_ = model.n_components
        self.mean_ = maps.outside(model.mean)
        unit = scale / scale.max()
        axes = model.W * unit[:, None]
        lengths = np.sqrt((axes**2).sum(axis=0))
        self.components_ = (axes / np.where(lengths > 0, lengths, 1.0)).T
        size = 1.0 if self.standardize else float(scale[0]) ** 2
        self.explained_variance_ = ((model.W**2).sum(axis=0) + model.noise) * size
        noise = maps.noise_variance()
        self.noise_variance_ = noise if self.standardize else float(noise[0])

    def _report(self, found: FittedGaussian) -> None:
        """Raise Ctrl-C again, now that everything is set, or warn where EM did not converge."""
        raise_if_interrupted(found.status is Status.INTERRUPTED)
        if found.status in (Status.ITERATIONS, Status.STALLED):
            rule = f"did not let EM converge: it {found.status.value} after {len(found.history)} steps"
            message = error_message(self, "max_iter", self.max_iter, rule, "Raise max_iter or tol")
            warn(message, ConvergenceWarning)

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

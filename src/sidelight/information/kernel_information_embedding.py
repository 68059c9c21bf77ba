"""Kernel information embedding: latent points that keep as much information about the data as they can.

Maximise over Z (n, q) the Parzen estimate of the mutual information less a penalty (S0 ch. 3, S1 §2)

    I(X; Z) = H(Z) - H(X, Z),        minimise  -I + λ · penalty(Z)

while λ falls from a value at which the points are one clump to ``regularization``. Of many rows a lower bound of the
information is maximised instead, from coarse to fine (``objectives.bound``, ``_multilevel``).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin

from sidelight.base.capabilities import TWO_WAY_ITERATIVE
from sidelight.base.cost import Cost, refuse_if_too_large
from sidelight.base.fitting import KeptInterrupt, all_or_nothing
from sidelight.base.messages import complain
from sidelight.base.result import Callback, Status
from sidelight.base.tiles import one_blas_thread
from sidelight.base.validation import check_choice, check_number, checked_start
from sidelight.kernels.profiles import LATENT_PROFILES
from sidelight.maps.frames import Frame
from sidelight.neighbours.sparse_distances import SparseDistances, submatrix
from sidelight.solvers.annealing import Annealing, FitProgress, fitted_path

from ._data_kernel import annealed_cost
from ._informed_maps import informed_maps
from ._multilevel import multilevel_cost
from ._problem import Problem, informed_problem, plain_problem
from ._row_checks import RowChecks
from ._settings import GivenSettings, KernelSettings, LatentSettings
from ._solve import solve
from ._solver_choice import (
    DECAY,
    SOLVERS,
    SolverRequest,
    choose_solver,
    current_name,
    data_dimension,
    fits_flat,
    warn_of_old_name,
    warn_without_annealing,
)
from ._training import TrainingRows, read_given

__all__ = ["KernelInformationEmbedding"]

Array = npt.NDArray[Any]


class KernelInformationEmbedding(ClassNamePrefixFeaturesOutMixin, RowChecks, BaseEstimator):
    """Embed rows so that the map keeps what the data says, with maps and densities both ways.

    Parameters
    ----------
    n_components : int, default=2
        Latent dimensions.
    bandwidth : "perplexity", "loo", "learned" or float, default="perplexity"
        How wide the data kernel is: each row its own, so that it has ``perplexity`` neighbours; one for all by
        leave-one-out likelihood of the data; one for all, learned with the map by leave-one-out likelihood of the data
        given the map (S0 3.3, experimental); or that number (of squared distance).
    perplexity : float, default=30
        With a perplexity bandwidth: effective neighbours of a row (at most a third of the rows). With the multilevel
        solver it is the length of the list of neighbours, of which half are effective.
    n_neighbors : int or None, default=15
        The graph of mutual neighbours along which a perplexity kernel measures distances; None: in straight lines, as
        it does with the multilevel solver: many rows have their neighbours near.
    metric : "euclidean", "cosine" or "precomputed", default="euclidean"
        Distance between rows. With "precomputed", X holds the distances, in a sparse array those that are known, and
        there is no way back to the data.
    kernel : "gaussian", "student" or "quartic", default="gaussian"
        Profile of a data kernel with one bandwidth. A perplexity kernel is Gaussian, and so is one whose bandwidth is
        learned: there another is refused.
    data_kernel : "auto", "dense", "sparse" or "low_rank", default="auto"
        How a data kernel with one bandwidth is held: every pair; the pairs that are not negligible; few factors and the
        near pairs. "auto": dense up to 10,000 rows, beyond sparse if it is narrow and of low rank if it is broad.
    latent_kernel : "auto", "gaussian", "student" or "quartic", default="auto"
        Profile of the latent kernel, whose bandwidth is 1. "auto": Gaussian, but Student with the multilevel solver
        where the data has more dimensions than the map, in which its neighbours would crowd.
    solver : "auto", "annealed" or "multilevel", default="auto"
        "annealed": the information itself, all rows at once, while λ falls. "multilevel": its lower bound, rows merged
        with their neighbours first and then ever fewer of them; near-linear in the number of rows. "auto": multilevel
        beyond 2,000 rows, or 5,000 with ``given``, where the other settings allow it.
    regularization : float, default=0.1
        The weight λ of the penalty at the end of the path. Smaller: finer detail, later over-fitting. With the
        multilevel solver neighbours attract each other with 1 + 5 λ.
    penalty : "stretch", "l2", "l4" or "box", default="stretch"
        What is penalised: the pulling apart of neighbours, the power of the latent points (the source's; use
        λ of 0.001 to 0.05), its fourth-power form, which aligns with the axes, or leaving the unit box.
    regularization_start : float or None, default=None
        λ at the beginning of the path; None: 30 times ``regularization``. A multilevel fit has no path: there it is
        refused, or, where "auto" chose it, has no effect, and a warning says so.
    regularization_decay : float, default=0.5
        λ is multiplied by this from one stage to the next of the path. With the multilevel solver, as
        ``regularization_start``.
    init : "mds", "spectral", "pca", "random" or array of shape (n, q), default="mds"
        Where the path begins: landmark scaling of the distances the kernel is made of (along the graph: Isomap), the
        smoothest vectors of the kernel graph, principal components, noise. All but the noise are the same for
        every seed, and their size is chosen by the objective.
    max_iter : int, default=500
        Iterations of each stage at most.
    tol : float, default=1e-6
        A stage ends when an iteration improves the objective by less, relatively, twice running (the last stage; others
        at 10 times that, levels of the multilevel solver at 200 to 300 times).
    random_state : int, RandomState or None, default=None
        For ``init="random"`` and ``sample``. None is a fixed seed: the same call gives the same result.
    n_jobs : int or None, default=None
        Threads; None: all. The result does not depend on it.
    verbose : int, default=0
        1 shows a progress bar.
    callback : callable or None, default=None
        Called with a state (stage, n_stages, iteration, objective, terms, seconds, embedding) after each iteration;
        returning True stops the fit there.
    given_types : str, float, list or dict, default=None
        The type of each column of ``given`` ("category", "number", "ordinal", "angle" in degrees, or the period as a
        number), for all columns, one by one, or by name. None: as the entries look.
    given_bandwidth : float, list or dict, default=None
        How different two entries of ``given`` must be to count as different, in units of the column (for categories,
        the bandwidth of a kernel on one-hot codes). None: chosen by the model, and wider where many columns would leave
        no row with another like it. With the multilevel solver one that is very narrow is widened, with a warning.
    given_weight : float, default=1.0
        How much information about ``given`` in the map costs, in units of information about the rest. 0: none, only the
        kernel is balanced. Above 1 it is pressed out harder, also where it is confounded with the rest.
    conditioning : "auto", "balanced", "residual" or "product", default="auto"
        How ``given`` is factored out. "balanced": by balanced neighbours of the data less the effect of ``given``, for
        ``bandwidth="perplexity"`` only. "residual": by the published product of kernels, of the data less the effect.
        "product": by the published product of kernels alone. "auto": balanced, with another bandwidth residual.
    missing : "refuse" or "impute", default="refuse"
        What becomes of missing entries (NaN) of X: a sentence, or they are filled from the rows near them.

    Attributes
    ----------
    embedding_ : array of shape (n, q)
    bandwidth_ : float or array of shape (n,)
        Of the data kernel, in squared units of the data.
    perplexity_ : float
        The perplexity used (no more than a third of the rows).
    solver_, latent_kernel_, data_kernel_ : str
        What "auto" stands for.
    kernel_error_ : dict or None
        How far a sparse or low-rank data kernel with one bandwidth is from the dense one, on 256 rows: ``row_sum``
        (relative, the mean), ``worst_row_sum``, ``entry`` (the largest), ``trace`` (what the factors lack of it). By
        levels: ``left_out``, the mean share of a row's weights beyond its list, on 64 rows.
    dimension_ : float
        The dimensions of the data at the scale of its neighbours, where "auto" asked for them.
    sum_error_ : float
        The largest relative error of the latent sums at the end, on 64 rows drawn at random (multilevel solver).
    history_ : list of dict
        stage, regularization, iteration, objective, terms and seconds of each iteration.
    path_ : array of shape (stages, n, q)
        The embedding at the end of each stage of the annealing.
    regularization_path_ : array of shape (stages,)
        Their λ.
    n_iter_ : int
    n_features_in_ : int
    given_ : Given or None
        The columns of ``given`` as they were understood.
    given_bandwidth_ : list of float or None
        Of each column of ``given``, in the units of the parameter, as its kernel had it. None: with the multilevel
        solver a kernel of categories is one of strata, unless the parameter says how wide it is.
    conditioning_ : str or None
        What "auto" stands for; None without ``given``.
    explained_ : float
        The share of the variance of X that ``given`` explains, and that was taken out.
    confounded_ : bool
        Whether offsets between matched rows of the groups (mutual nearest neighbours) aligned the groups better than
        their means, and were taken as the effect of ``given``: groups that differ in what remains, or in sampling.
    filled_ : array of shape (n, d)
        X with its missing entries filled (``missing="impute"`` only).

    References
    ----------
    .. [1] R. Memisevic. Kernel information embeddings. International Conference on Machine Learning, 2006.
    .. [2] R. Memisevic. Non-linear latent factor models for revealing structure in high-dimensional data. PhD thesis,
           University of Toronto, 2007, chapter 3.

    Examples
    --------
    >>> from sidelight import KernelInformationEmbedding
    >>> from sidelight.datasets import s_curve
    >>> data = s_curve(200, random_state=0)
    >>> model = KernelInformationEmbedding(n_components=2).fit(data.X)
    >>> model.embedding_.shape, model.inverse_transform(model.transform(data.X)).shape
    ((200, 2), (200, 3))
    """

    _capabilities = TWO_WAY_ITERATIVE.also(
        "takes_given", "has_given", "takes_pairs", "has_counterfactual", "takes_distances"
    )

    def __init__(
        self,
        n_components: int = 2,
        *,
        bandwidth: str | float = "perplexity",
        perplexity: float = 30.0,
        n_neighbors: int | None = 15,
        metric: str = "euclidean",
        kernel: str = "gaussian",
        data_kernel: str = "auto",
        latent_kernel: str = "auto",
        solver: str = "auto",
        regularization: float = 0.1,
        penalty: str = "stretch",
        regularization_start: float | None = None,
        regularization_decay: float = DECAY,
        init: str | Array = "mds",
        max_iter: int = 500,
        tol: float = 1e-6,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callback | None = None,
        given_types: Any = None,
        given_bandwidth: Any = None,
        given_weight: float = 1.0,
        conditioning: str = "auto",
        missing: str = "refuse",
    ) -> None:
        self.n_components = n_components
        self.bandwidth = bandwidth
        self.perplexity = perplexity
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.kernel = kernel
        self.data_kernel = data_kernel
        self.latent_kernel = latent_kernel
        self.solver = solver
        self.regularization = regularization
        self.penalty = penalty
        self.regularization_start = regularization_start
        self.regularization_decay = regularization_decay
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback
        self.given_types = given_types
        self.given_bandwidth = given_bandwidth
        self.given_weight = given_weight
        self.conditioning = conditioning
        self.missing = missing

    @all_or_nothing
    @one_blas_thread
    def fit(self, X: Any, y: Any = None, *, given: Any = None, same: Any = None) -> KernelInformationEmbedding:
        """Embed the rows of ``X`` (n, d) and keep the maps both ways.

        Parameters
        ----------
        X : array of shape (n, d)
            For precomputed distances (n, n); in a sparse array those to the nearest rows, as ``kneighbors_graph`` of
            scikit-learn gives them: what is not stored is farther, a stored zero is a duplicate.
        y : ignored
        given : array of shape (n,) or (n, g), table or dict of columns, default=None
            "I know this; show me the rest": what is known of each row is factored out. Text, truth values and few
            whole numbers are categories, other numbers quantities (``given_types`` says otherwise). Rows with a missing
            entry are unknown: they are placed afterwards, averaged over what could be the case.
        same : Pairs or array of shape (m, 2), default=None
            Hints: rows of different groups of ``given`` that show the same thing, for groups that look too
            different to be aligned by themselves.

        Returns
        -------
        self
        """
        del y
        self._check_parameters(given is not None)
        checked = self._training_rows(X)
        X, n = checked.X, len(checked.X)
        warn_of_old_name(type(self).__name__, self.solver)
        request = self._solver_request(given is not None, same is not None)
        solver, latent_kernel = choose_solver(request, n)
        if solver == "multilevel":
            warn_without_annealing(request)
        width = X.width if isinstance(X, SparseDistances) else X.shape[1]
        refuse_if_too_large(self, self.estimate_cost(n, width, given=given is not None), n)

        frame = Frame.of(X, self.metric, lean=True)
        read = read_given(type(self).__name__, given, same, n, self.given_types, self.given_bandwidth)
        known = read.known
        fitted = np.arange(n) if known is None else np.flatnonzero(known.complete)
        training = TrainingRows(X, frame.points(X), frame, fitted, None if known is None else read.columns, known)
        kernel = self._kernel_settings(solver)
        problem = self._problem(training, read.hints, kernel, latent_kernel)
        dimension = None
        if solver == "multilevel" and self.latent_kernel == "auto":
            dimension = data_dimension(problem.points, problem.kernel, precomputed=kernel.precomputed)
            latent_kernel = "gaussian" if fits_flat(dimension, self.n_components) else latent_kernel
        latent = self._latent_settings(latent_kernel)
        start = None
        if not isinstance(self.init, str):
            start = checked_start(self, self.init, (n, self.n_components))[fitted]
        solution = solve(problem, start, latent, kernel, self._annealing(), self._progress)

        kept, problem = fitted_path(solution.path, X.dtype), solution.problem
        product = known is not None and self._conditioning() == "product"
        embedded = informed_maps(training, problem, kept.point, kept.stages, kernel, latent_kernel, product=product)

        self.solver_, self.latent_kernel_ = solver, latent_kernel
        self.data_kernel_, self.kernel_error_ = problem.kernel.form, problem.chosen.error
        self.given_, self.effect_ = read.columns, problem.effect
        self.conditioning_ = None if known is None else self._conditioning()
        self.given_bandwidth_ = problem.given_bandwidth
        self.confounded_, self.explained_ = problem.confounded, problem.explained
        self.history_, self.regularization_path_, self.n_iter_ = kept.history, kept.weights, kept.n_iter
        self.path_, self.bandwidth_ = embedded.path, embedded.bandwidth
        self._keep_informed_maps(embedded.maps, embedded.embedding)
        if problem.chosen.perplexity is not None:
            self.perplexity_ = problem.chosen.perplexity
        if dimension is not None:
            self.dimension_ = dimension
        if solution.sum_error is not None:
            self.sum_error_ = solution.sum_error
        if checked.filler is not None:
            self.filler_, self.filled_ = checked.filler, X
        if solution.path.status is Status.INTERRUPTED:
            raise KeptInterrupt
        return self

    def fit_transform(self, X: Any, y: Any = None, *, given: Any = None, same: Any = None) -> Array:
        """Fit, and return ``embedding_`` (n, q)."""
        return np.asarray(self.fit(X, y, given=given, same=same).embedding_)

    def estimate_cost(self, n: int, d: int, *, given: bool = False) -> Cost:
        """What a fit of n rows and d columns takes, before it is paid; ``given``: with something to factor out.

        Of a sparse array of distances d is the number of entries in a row.
        """
        solver, kernel = choose_solver(self._solver_request(given, False), n)
        if solver == "multilevel":
            cost = multilevel_cost(n, d, self.perplexity, kernel, self.n_components)
            return Cost(2 * cost.bytes, 5 * cost.seconds) if given else cost
        return annealed_cost(n, d, self._kernel_settings(solver), (kernel, self.n_components), given=given)

    def _check_parameters(self, given: bool) -> None:
        owner = type(self).__name__
        check_choice(owner, "solver", current_name(self.solver), SOLVERS)
        self._latent_settings(self.latent_kernel).check(
            owner, kernels=("auto", *LATENT_PROFILES), starts=("mds", "spectral", "pca", "random")
        )
        self._kernel_settings("annealed").check()
        self._annealing().check(owner)
        if self.bandwidth == "learned" and (
            self.latent_kernel not in ("auto", "gaussian") or self.metric == "precomputed"
        ):
            rule, remedy = "needs rows and a Gaussian latent kernel", "Use latent_kernel='gaussian' and no distances"
            raise ValueError(complain(owner, "bandwidth", self.bandwidth, rule, remedy))
        if self.bandwidth == "learned" and given:
            rule, remedy = "does not know how to factor given out", "Use bandwidth='perplexity', or leave given out"
            raise ValueError(complain(owner, "bandwidth", "learned", rule, remedy))
        check_choice(owner, "conditioning", self.conditioning, ("auto", "balanced", "residual", "product"))
        check_choice(owner, "missing", self.missing, ("refuse", "impute"))
        if self.missing == "impute" and self.metric == "precomputed":
            rule = "needs rows, and precomputed distances are none"
            raise ValueError(complain(owner, "missing", "impute", rule, 'Use missing="refuse"'))
        if self.given_weight != 0:
            check_number(owner, "given_weight", self.given_weight, 0.0)

    def _latent_settings(self, kernel: str) -> LatentSettings:
        return LatentSettings(self.n_components, kernel, self.penalty, self.init, self.random_state)

    def _solver_request(self, given: bool, same: bool) -> SolverRequest:
        return SolverRequest(
            type(self).__name__, current_name(self.solver), self.bandwidth, self.penalty, self.latent_kernel,
            self.conditioning, self.given_weight, self._annealing(), given, same,
        )  # fmt: skip

    def _kernel_settings(self, solver: str) -> KernelSettings:
        return KernelSettings(
            type(self).__name__, self.bandwidth, self.perplexity, self.n_neighbors, self.metric, self.kernel,
            self.data_kernel, solver == "multilevel", self.n_jobs,
        )  # fmt: skip

    def _annealing(self) -> Annealing:
        start, decay = self.regularization_start, self.regularization_decay
        return Annealing(self.regularization, start, decay, self.max_iter, self.tol)

    def _progress(self) -> FitProgress:
        return FitProgress(type(self).__name__, self.verbose, self.callback)

    def _conditioning(self) -> str:
        """The conditioning that "auto" stands for, or the one that was asked for."""
        if self.conditioning != "auto":
            return self.conditioning
        return "balanced" if self.bandwidth == "perplexity" else "residual"

    def _problem(
        self, training: TrainingRows, hints: Array | None, kernel: KernelSettings, latent_kernel: str
    ) -> Problem:
        """The plain problem, or that of the rows of which something is known."""
        latent = (latent_kernel, self.n_components)
        scale = 1.0 if self.metric == "cosine" else training.frame.scale
        if training.given is None or training.known is None:
            return plain_problem(training.points, scale, kernel, latent)
        rows = training.fitted
        some = submatrix(training.points, rows, rows, self) if kernel.precomputed else training.points[rows]
        settings = GivenSettings(self._conditioning(), self.given_weight, self.given_bandwidth)
        return informed_problem(some, scale, training.given, training.known.take(rows), hints, kernel, settings, latent)

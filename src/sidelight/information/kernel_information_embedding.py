"""Kernel information embedding: latent points with the largest mutual information with the data.

Maximise over Z (n, q) the Parzen estimate of the mutual information less a penalty (S0 ch. 3, S1 §2)

    I(X; Z) = H(Z) - H(X, Z),        minimise  -I + λ · penalty(Z)

while λ falls from a large value, at which all points collapse into one clump, to ``regularization``. For many rows a
lower bound of the information is maximised instead, from coarse to fine (``objectives.bound``, ``_multilevel``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin

from sidelight.base.alias import MovedParameter, accept_moved_parameters
from sidelight.base.capabilities import TWO_WAY_ITERATIVE
from sidelight.base.cost import Cost, check_cost
from sidelight.base.estimator import Estimator
from sidelight.base.fitting import all_or_nothing
from sidelight.base.options import argument_name
from sidelight.base.result import Callback
from sidelight.base.tiles import one_blas_thread
from sidelight.base.types import Array, RandomState
from sidelight.base.validation import check_choice
from sidelight.kernels.profiles import LATENT_PROFILES
from sidelight.maps.frames import Frame
from sidelight.neighbours.sparse_distances import SparseDistances, dense_points
from sidelight.solvers.annealing import fitted_path

from ._annealed_mixin import AnnealedMixin
from ._data_kernel import annealed_cost
from ._fitted_maps import informed_maps
from ._living_mixin import LivingMixin
from ._multilevel import multilevel_cost
from ._posed import posed_problem
from ._power_limit import check_limit
from ._representation import described
from ._sampled_fit import refuse_rows, rows_in_memory
from ._settings import GivenSettings, KernelSettings, LatentSettings, check_learned, check_missing
from ._shift_check import warn_of_no_shift
from ._solve import solve
from ._solver_choice import (
    SOLVERS,
    SolverRequest,
    choose_solver,
    current_name,
    warn_of_old_name,
    warn_without_annealing,
)
from ._starts import chosen_start
from ._training import TrainingRows, read_given
from .annealing import Annealing
from .conditioning import Conditioning
from .kernel_options import KernelOptions
from .missing import Missing

__all__ = ["KernelInformationEmbedding"]


class KernelInformationEmbedding(ClassNamePrefixFeaturesOutMixin, AnnealedMixin, LivingMixin, Estimator):
    """Embed rows by maximising the mutual information of data and latent points, with maps and densities both ways.

    Parameters
    ----------
    n_components : int, default=2
        Latent dimensions.
    bandwidth : "perplexity", "loo", "learned" or float, default="perplexity"
        Width of the data kernel. "perplexity": one bandwidth per row, set so that the row has ``perplexity`` effective
        neighbours. "loo": one bandwidth for all rows, by leave-one-out likelihood of the data. "learned": one for all
        rows, learned with the embedding by leave-one-out likelihood of the data given the embedding (S0 3.3,
        experimental). A number: that bandwidth, in units of squared distance. One bandwidth for all rows is also used
        by the maps and the density of the data (Euclidean distance).
    perplexity : float, default=30
        With ``bandwidth="perplexity"``: effective neighbours of a row (at most a third of the rows). With the
        multilevel solver: length of the neighbour lists; the effective perplexity is half of it.
    n_neighbors : int or None, default=15
        Neighbours in the mutual nearest-neighbour graph along which a perplexity kernel measures distances (geodesic
        distances), without bridges between the layers of a folded sheet. None: straight-line distances. The multilevel
        solver always uses straight-line distances: with many rows the neighbours are near.
    metric : "euclidean", "cosine" or "precomputed", default="euclidean"
        Distance between rows. With "precomputed", X holds the distances (a sparse array: the known ones), and there is
        no inverse map to the data.
    kernel : "gaussian", "student", "quartic" or KernelOptions, default="gaussian"
        Profile of a data kernel with one bandwidth for all rows. With ``bandwidth`` "perplexity" or "learned" the
        kernel is Gaussian, and another profile is refused. A :class:`KernelOptions` also says how the kernel is stored,
        and by which columns the multilevel solver compares rows.
    latent_kernel : "auto", "gaussian", "student" or "quartic", default="auto"
        Profile of the latent kernel, whose bandwidth is 1. "auto": Gaussian; with the multilevel solver Student if the
        intrinsic dimension of the data exceeds that of the map, because neighbours would crowd under a Gaussian.
    solver : "auto", "annealed" or "multilevel", default="auto"
        "annealed": maximises the information itself over all rows at once, while λ falls. "multilevel": maximises its
        lower bound from coarse to fine, with rows first merged with their neighbours; near-linear in the number of
        rows. "auto": multilevel beyond 2,000 rows, with or without ``given``, if the other settings allow it; from 500
        rows on for maps of up to three dimensions if ``given`` are categories whose rows have counterparts in each
        other (cells in batches), because types of rows then form compact islands.
    regularization : float or Annealing, default=0.1
        The weight λ of the penalty at the end of the annealing. Smaller values show finer detail, and over-fit if too
        small. With the multilevel solver: neighbours attract each other with weight 1 + 5 λ. An :class:`Annealing` also
        sets the schedule of λ.
    penalty : "stretch", "l2", "l4" or "box", default="stretch"
        The penalised quantity. "stretch": distances between neighbours. "l2": the mean squared norm of the latent
        points (the source's penalty; use λ of 0.001 to 0.05). "l4": its fourth-power form, which aligns with the axes.
        "box": leaving the unit box.
    init : "mds", "spectral", "pca", "random" or array of shape (n, q), default="mds"
        Initial latent points. "mds": landmark multidimensional scaling of the kernel's distances (along the graph, that
        is Isomap). "spectral": the smoothest eigenvectors of the kernel graph. "pca": principal components. "random":
        noise. All but "random" are the same for every seed, and the objective chooses their scale.
    max_iter : int, default=500
        Maximum number of iterations of each stage.
    tol : float, default=1e-6
        The last stage ends when two consecutive iterations improve the objective by less than this, relatively. Earlier
        stages use 10 times ``tol``, the levels of the multilevel solver 200 to 300 times.
    random_state : int, RandomState or None, default=None
        For ``init="random"`` and ``sample``. None is a fixed seed: the same call gives the same result.
    n_jobs : int or None, default=None
        Threads; None: all. The result does not depend on it.
    verbose : int, default=0
        1 shows a progress bar.
    callback : callable or None, default=None
        Called with a state (stage, n_stages, iteration, objective, terms, seconds, embedding) after each iteration;
        returning True stops the fit there.
    conditioning : "auto", "balanced", "residual", "product" or Conditioning, default="auto"
        How ``given`` is factored out. "balanced": the effect of ``given`` is subtracted from the data, and each row
        gets as many neighbours in every group; for ``bandwidth="perplexity"`` only. "residual": the published product
        of kernels, on the data with the effect subtracted. "product": the published product of kernels on the data
        itself. "auto": "balanced" with ``bandwidth="perplexity"``, else "residual". A :class:`Conditioning` also sets
        the types of the columns of ``given``, their bandwidths and the weight of its term.
    missing : "refuse", "impute", "expected", "project" or Missing, default="refuse"
        "refuse": missing entries (NaN) of X raise an error. "impute": they are imputed from the nearest rows.
        "expected": the nearest rows give them a mean and a variance, and the fit uses the expected kernel, in which
        uncertain columns count less and uncertain rows have smaller weights; for Gaussian kernels of Euclidean
        distances, with a bandwidth that is not learned. "project": the model's own maps fill them (fill, embed,
        project, repeat; S0 3.1.5). A :class:`Missing` also sets the number of rounds and the start.

    Attributes
    ----------
    embedding_ : array of shape (n, q)
    bandwidth_ : float or array of shape (n,)
        Bandwidth of the data kernel, in squared units of the data.
    perplexity_ : float
        The perplexity used: at most a third of the rows.
    solver_, latent_kernel_, data_kernel_, conditioning_ : str
        The settings used ("auto" resolved); ``conditioning_`` is None without ``given``.
    kernel_error_ : dict or None
        Approximation error of a sparse or low-rank data kernel with one bandwidth against the dense one, on 256 rows:
        ``row_sum`` (mean relative error), ``worst_row_sum``, ``entry`` (largest error of an entry), ``trace`` (mean
        share of the diagonal that the factors miss). With the multilevel solver: ``left_out``, the mean share of a
        row's kernel weights that its neighbour list leaves out, on 64 rows.
    dimension_ : float
        Intrinsic dimension of the data, set by the multilevel solver with ``latent_kernel="auto"``.
    sum_error_ : float
        Largest relative error of the latent sums on 64 random rows (multilevel solver only); larger for q > 3.
    history_ : list of dict
        stage, regularization, iteration, objective, terms and seconds of each iteration.
    path_, regularization_path_ : arrays of shape (stages, n, q) and (stages,)
        The embedding at the end of each stage of the annealing, and its λ.
    n_iter_, n_features_in_ : int
    given_ : Given or None
        The columns of ``given``, with their types and encoding.
    given_bandwidth_ : list of float or None
        Bandwidth used for each column of ``given``, in the units of ``Conditioning.bandwidth``; None with the
        multilevel solver and categories (which uses strata instead of a kernel), unless that sets a bandwidth.
    explained_ : float
        Share of the variance of X that ``given`` explains, and that was subtracted.
    confounded_ : bool
        True if the effect of ``given`` came from matched rows, which aligned the groups better than their means.
    represented_ : array of shape (n, groups), or None where groups cannot be compared
        How far each row has counterparts in each group of ``given`` (sorted), from 0 to 1; NaN if ``given`` is missing.
    only_here_, no_shift_ : lists of str
        A sentence for each group with rows that have no counterparts in any other group; and one for each group that is
        inverted, multiplied by a factor or mirrored, so that the map matches wrong rows.
    change_ : ChangeModel or None
        How rows change with ``given``; ``change_.kept``: the share of a residual that ``counterfactual`` keeps.
    adapted_ : list of str
        A sentence for each category that :meth:`adapt` added.
    filled_, filled_variance_ : arrays of shape (n, d)
        X with its missing entries filled, and their variance, 0 where observed (not with ``missing="refuse"``).
    versions_, drift_, novel_, region_
        Set by :meth:`extend` and :meth:`forget`: changes of the map, drift, rows flagged as novel (n,), regions (n,).

    See Also
    --------
    TwoWayEmbedding, JointInformationEmbedding, MultipleRelationalEmbedding, TableEncoder, embed_rows

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
        "takes_given", "has_given", "takes_pairs", "takes_trajectory", "takes_held", "has_counterfactual",
        "has_corrected", "has_adapt", "has_overlap", "takes_distances", "has_impute", "has_impute_interval",
        "has_counterfactual_interval",
    )  # fmt: skip
    _moved_parameters: ClassVar[Mapping[str, MovedParameter]] = {
        **AnnealedMixin._moved_parameters,
        "data_kernel": MovedParameter("kernel", "storage", KernelOptions),
        "given_types": MovedParameter("conditioning", "types", Conditioning),
        "given_bandwidth": MovedParameter("conditioning", "bandwidth", Conditioning),
        "given_weight": MovedParameter("conditioning", "weight", Conditioning),
    }

    _option_kinds: ClassVar[Mapping[str, type]] = {"missing": Missing}  # besides those of the moved parameters

    @accept_moved_parameters
    def __init__(
        self,
        n_components: int = 2,
        *,
        bandwidth: str | float = "perplexity",
        perplexity: float = 30.0,
        n_neighbors: int | None = 15,
        metric: str = "euclidean",
        kernel: str | KernelOptions = "gaussian",
        latent_kernel: str = "auto",
        solver: str = "auto",
        regularization: float | Annealing = 0.1,
        penalty: str = "stretch",
        init: str | Array = "mds",
        max_iter: int = 500,
        tol: float = 1e-6,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callback | None = None,
        conditioning: str | Conditioning = "auto",
        missing: str | Missing = "refuse",
    ) -> None:
        self.n_components = n_components
        self.bandwidth = bandwidth
        self.perplexity = perplexity
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.kernel = kernel
        self.latent_kernel = latent_kernel
        self.solver = solver
        self.regularization = regularization
        self.penalty = penalty
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback
        self.conditioning = conditioning
        self.missing = missing

    @all_or_nothing
    @one_blas_thread
    def fit(
        self, X: object, y: object = None, *, given: object = None, same: object = None, trajectory: object = None,
        held: object = None,
    ) -> KernelInformationEmbedding:  # fmt: skip
        """Embed the rows of ``X`` (n, d) and fit the maps both ways.

        Parameters
        ----------
        X : array or sparse array of shape (n, d), or DaskRows, of which a sample of 50,000 rows is fitted
            Sparse rows are reduced to 50 principal coordinates; the maps take and return all d columns. For precomputed
            distances (n, n): a sparse array holds those to the nearest rows, as returned by ``kneighbors_graph`` of
            scikit-learn: pairs that are not stored are farther, a stored zero is a duplicate.
        y : ignored
        given : array of shape (n,) or (n, g), table or dict of columns, default=None
            Known variables of each row, which are factored out of the embedding: "I know this; show me the rest". Text,
            booleans and at most 50 distinct integers (no more than one in five rows) are categories, other numbers are
            quantities; pass more labels as text, or set ``Conditioning(types=...)``. Rows with a missing entry are left
            out of the optimisation and embedded afterwards by the map that averages over ``given``.
        same : Pairs or array of shape (m, 2), default=None
            Correspondences: pairs of rows of different groups of ``given`` that show the same thing, for groups that
            look too different to be aligned automatically.
        trajectory : array of shape (n,), or one value for all rows, default=None
            Trajectory of each row, in temporal order. Missing entries are then also predicted from adjacent rows.
        held : array of bool of shape (n,), or row numbers, default=None
            Rows with fixed positions: they stay at their points in the array ``init``, except for the common shift that
            centres the map. The others are optimised around them.

        Returns
        -------
        self
        """
        del y
        self._check_parameters(given is not None)
        X, given = rows_in_memory(type(self).__name__, X, given, self.random_state)
        checked = self._projected_rows(self._training_rows(X, trajectory, given), given, same)
        X, n = checked.X, len(checked.X)
        warn_of_old_name(type(self).__name__, self.solver)
        request = self._solver_request(given is not None)
        solver, latent_kernel = choose_solver(request, n)
        if solver == "multilevel":
            warn_without_annealing(request)
        width = X.width if isinstance(X, SparseDistances) else X.shape[1]
        check_cost(self, self.estimate_cost(n, width, given=given is not None), n)

        frame = Frame.of(X, self.metric, lean=True)
        settings = self._given_settings()
        read = read_given(type(self).__name__, given, same, n, settings)
        known, columns = read.known, None if read.known is None else read.columns
        fitted = np.arange(n) if known is None else np.flatnonzero(known.complete)
        variance = self._kernel_variance(checked.filled, frame.scale)
        training = TrainingRows(X, frame.points(X), frame, fitted, columns, known, variance)
        posed = posed_problem(
            training, read.hints, self._kernel_settings(solver), settings, request, (latent_kernel, self.n_components)
        )  # fmt: skip
        problem, kernel, latent_kernel = posed.problem, posed.kernel, posed.latent_kernel
        latent = self._latent_settings(latent_kernel)
        start = chosen_start(self, self.init, held, (n, self.n_components)).take(fitted)
        is_sheet = problem.kernel.is_unfolded and start.points is None and self.init == "mds" and self.n_components > 1
        annealing = self._annealing().from_a_sheet() if is_sheet or start.held is not None else self._annealing()
        solution = solve(problem, start.points, latent, kernel, annealing, self._progress, start.held)

        kept, problem = fitted_path(solution.path, X.dtype), solution.problem
        product = known is not None and settings.conditioning == "product"
        embedded = informed_maps(training, problem, kept.point, kept.stages, kernel, latent_kernel, product=product)

        self.solver_, self.latent_kernel_ = posed.solver, latent_kernel
        self.data_kernel_, self.kernel_error_ = problem.kernel.form, problem.chosen.error
        self.given_, self.effect_ = read.columns, problem.effect
        self.conditioning_ = None if known is None else settings.conditioning
        self.given_bandwidth_ = problem.given_bandwidth
        self.confounded_, self.explained_ = problem.confounded, problem.explained
        self.represented_, self.only_here_ = described(problem.representation, columns, known, fitted)
        self.no_shift_ = warn_of_no_shift(type(self).__name__, problem.relations, training, checked.reduction)
        self.bandwidth_ = embedded.bandwidth
        self._keep_informed_maps(checked.unreduced(embedded.maps), embedded.embedding)
        if problem.chosen.perplexity is not None:
            self.perplexity_ = problem.chosen.perplexity
        if posed.dimension is not None:
            self.dimension_ = posed.dimension
        if solution.sum_error is not None:
            self.sum_error_ = solution.sum_error
        if checked.filled is not None:
            self.filler_, self.filled_ = checked.filled.filler, dense_points(X)
            self.filled_variance_ = checked.filled.variance
        self._keep_path(solution.path, kept, embedded.path)
        return self

    def fit_transform(
        self, X: object, y: object = None, *, given: object = None, same: object = None, trajectory: object = None,
        held: object = None,
    ) -> Array:  # fmt: skip
        """Fit, and return ``embedding_`` (n, q)."""
        refuse_rows(type(self).__name__, X)
        return np.asarray(self.fit(X, y, given=given, same=same, trajectory=trajectory, held=held).embedding_)

    def estimate_cost(self, n: int, d: int, *, given: bool = False) -> Cost:
        """Estimate memory and time of a fit of n rows and d columns (entries in a row of sparse distances)."""
        solver, kernel = choose_solver(self._solver_request(given), n)
        if solver == "multilevel":
            cost = multilevel_cost(n, d, self.perplexity, kernel, self.n_components)
            return self._with_filling(Cost(2 * cost.bytes, 4 * cost.seconds) if given else cost, n, d)
        cost = annealed_cost(n, d, self._kernel_settings(solver), (kernel, self.n_components), given=given)
        return self._with_filling(cost, n, d)

    def _check_parameters(self, given: bool) -> None:
        owner, kernels = type(self).__name__, ("auto", *LATENT_PROFILES)
        check_choice(owner, "solver", current_name(self.solver), SOLVERS)
        latent, kernel = self._latent_settings(self.latent_kernel), self._kernel_settings("annealed")
        latent.check(owner, kernels=kernels, starts=("mds", "spectral", "pca", "random"))
        kernel.check()
        self._check_annealing()
        check_limit(owner, Annealing.of(self.regularization).limit, self.penalty, self.bandwidth)
        self._given_settings().check(owner)
        check_learned(kernel, self.latent_kernel, given=given)
        check_missing(kernel, self.missing)

    def _latent_settings(self, kernel: str) -> LatentSettings:
        return LatentSettings(self.n_components, kernel, self.penalty, self.init, self.random_state)

    def _solver_request(self, given: bool) -> SolverRequest:
        return SolverRequest(
            type(self).__name__, current_name(self.solver), self.bandwidth, self.penalty, self.latent_kernel,
            self.conditioning, self._annealing(), given,
        )  # fmt: skip

    def _kernel_settings(self, solver: str) -> KernelSettings:
        options = KernelOptions.of(self.kernel)
        argument = argument_name("kernel", self.kernel, KernelOptions, "profile")
        return KernelSettings(
            type(self).__name__, self.bandwidth, self.perplexity, self.n_neighbors, self.metric, options.profile,
            options.storage, solver == "multilevel", self.n_jobs, argument, options.columns,
        )  # fmt: skip

    def _given_settings(self) -> GivenSettings:
        return GivenSettings.of(self.conditioning, self.bandwidth)

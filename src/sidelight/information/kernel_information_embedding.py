"""Kernel information embedding: latent points that keep as much information about the data as they can.

Maximise over Z (n, q) the Parzen estimate of the mutual information less a penalty (S0 ch. 3, S1 §2)

    I(X; Z) = H(Z) - H(X, Z),        minimise  -I + λ · penalty(Z)

while λ falls from a value at which the points are one clump to ``regularization``. Of many rows a lower bound of the
information is maximised instead, from coarse to fine (``objectives.bound``, ``_levels_fit``).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin
from sklearn.utils import Tags

from sidelight.base.capabilities import TWO_WAY_ITERATIVE
from sidelight.base.cost import Cost, refuse_if_too_large
from sidelight.base.fitting import KeptInterrupt, all_or_nothing
from sidelight.base.messages import complain
from sidelight.base.result import Callback, Status
from sidelight.base.tiles import one_blas_thread
from sidelight.base.validation import check_choice, check_integer, check_number
from sidelight.kernels.profiles import profile
from sidelight.maps.frames import Frame
from sidelight.neighbours.sparse_distances import SparseDistances, submatrix
from sidelight.objectives.entropy import EntropySum, information
from sidelight.side.given import Given, Known
from sidelight.side.pairs import as_pairs
from sidelight.solvers.anneal import Path
from sidelight.solvers.annealed_fit import Problem, check_annealing, follow_path, keep_path, penalty_of
from sidelight.solvers.eigen import GraphSpectrum, graph_spectrum

from ._chosen_kernel import check_form, check_profile, chosen_kernel, path_cost
from ._distance_rows import DistanceRows
from ._informed_maps import InformedMaps
from ._informed_problem import Informed, inform
from ._kept_maps import keep_informed_maps
from ._learned_bandwidth import follow_learned_path
from ._levels_fit import DECAY, choose_solver, climb, levels_cost, roomy, warn_of_path_options
from ._missing_values import MissingValues
from ._starts import first_places, own_start

__all__ = ["KernelInformationEmbedding"]

Array = npt.NDArray[Any]
_MODES = 64  # smooth directions the solver is preconditioned with


class KernelInformationEmbedding(
    ClassNamePrefixFeaturesOutMixin, DistanceRows, MissingValues, InformedMaps, BaseEstimator
):
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
        With a perplexity bandwidth: effective neighbours of a row (at most a third of the rows). By levels it is the
        length of the list of neighbours, of which half are effective.
    n_neighbors : int or None, default=15
        The graph of mutual neighbours along which a perplexity kernel measures distances; None: in straight lines, as
        it does by levels: many rows have their neighbours near.
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
        Profile of the latent kernel, whose bandwidth is 1. "auto": Gaussian, but Student by levels where the data has
        more dimensions than the map, in which its neighbours would crowd.
    solver : "auto", "path" or "levels", default="auto"
        "path": the information itself, all rows at once, while λ falls. "levels": its lower bound, rows merged with
        their neighbours first and then ever fewer of them; near-linear in the number of rows. "auto": by levels
        beyond 2,000 rows, or 5,000 with ``given``, where the other settings allow it.
    regularization : float, default=0.1
        The weight λ of the penalty at the end of the path. Smaller: finer detail, later over-fitting. By levels
        neighbours attract each other with 1 + 5 λ.
    penalty : "stretch", "l2", "l4" or "box", default="stretch"
        What is penalised: the pulling apart of neighbours, the power of the latent points (the source's; use
        λ of 0.001 to 0.05), its fourth-power form, which aligns with the axes, or leaving the unit box.
    regularization_start : float or None, default=None
        λ at the beginning of the path; None: 30 times ``regularization``. A fit by levels has no path: there it is
        refused, or, where "auto" chose the levels, has no effect, and a warning says so.
    regularization_decay : float, default=0.5
        λ is multiplied by this from one stage to the next of the path. By levels, as ``regularization_start``.
    init : "mds", "spectral", "pca", "random" or array of shape (n, q), default="mds"
        Where the path begins: landmark scaling of the distances the kernel is made of (along the graph: Isomap), the
        smoothest vectors of the kernel graph, principal components, noise. All but the noise are the same for
        every seed, and their size is chosen by the objective.
    max_iter : int, default=500
        Iterations of each stage at most.
    tol : float, default=1e-6
        A stage ends when an iteration improves the objective by less, relatively (by levels, by 70 to 100 times that).
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
        How different two entries of ``given`` must be to count as different, in units of the column (for
        categories, the bandwidth of a kernel on one-hot codes). None: chosen by the model, and wider where many columns
        would leave no row with another like it. By levels one that is very narrow is widened, with a warning.
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
        The largest relative error of the latent sums at the end, on 64 rows drawn at random (by levels).
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
        Of each column of ``given``, in the units of the parameter, as its kernel had it. None: by levels a kernel of
        categories is one of strata, unless the parameter says how wide it is.
    conditioning_ : str or None
        What "auto" stands for; None without ``given``.
    explained_ : float
        The share of the variance of X that ``given`` explains, and that was taken out.
    confounded_ : bool
        Whether rows of different groups found nearer counterparts after *matched rows* and not the means of the groups
        had decided what is the effect of ``given``: groups that differ in what remains, or in sampling.
    filled_ : array of shape (n, d)
        X with its missing entries filled (``missing="impute"`` only).

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
        self._check_parameters()
        X = self._check_data(X)
        self.solver_, self.latent_kernel_ = choose_solver(self, len(X), given is not None, same is not None)
        if self.solver_ == "levels":
            warn_of_path_options(self)
        width = X.width if isinstance(X, SparseDistances) else X.shape[1]
        refuse_if_too_large(self, self.estimate_cost(len(X), width, given=given is not None), len(X))
        self.frame_ = Frame.of(X, self.metric, lean=True)
        everything = self.frame_.points(X)
        known, hints = self._read_side(given, same, len(X))
        rows = np.arange(len(X)) if known is None else np.flatnonzero(known.known)
        informed = self._inform(everything, rows, known, hints)
        if self.solver_ == "levels" and self.latent_kernel == "auto" and roomy(self, informed):
            self.latent_kernel_ = "gaussian"
        own = own_start(self, rows, len(X))
        path, informed = climb(self, informed, own) if self.solver_ == "levels" else self._solve(informed, own)
        keep_informed_maps(self, X, everything, rows, known, informed, keep_path(self, path, X.dtype))
        if path.status is Status.INTERRUPTED:
            raise KeptInterrupt
        return self

    def fit_transform(self, X: Any, y: Any = None, *, given: Any = None, same: Any = None) -> Array:
        """Fit, and return ``embedding_`` (n, q)."""
        return np.asarray(self.fit(X, y, given=given, same=same).embedding_)

    def estimate_cost(self, n: int, d: int, *, given: bool = False) -> Cost:
        """What a fit of n rows and d columns takes, before it is paid; ``given``: with something to factor out.

        Of a sparse array of distances d is the number of entries in a row.
        """
        solver, kernel = choose_solver(self, n, given, False)
        if solver == "levels":
            cost = levels_cost(self, n, d, kernel)
            return Cost(2 * cost.bytes, 5 * cost.seconds) if given else cost
        return path_cost(self, n, d, kernel, given)

    def _check_parameters(self) -> None:
        check_integer(self, "n_components", self.n_components, 1)
        check_choice(self, "solver", self.solver, ("auto", "path", "levels"))
        if not isinstance(self.bandwidth, str):
            check_number(self, "bandwidth", self.bandwidth, 0.0)
        else:
            check_choice(self, "bandwidth", self.bandwidth, ("perplexity", "loo", "learned"))
        if self.bandwidth == "learned" and (
            self.latent_kernel not in ("auto", "gaussian") or self.metric == "precomputed"
        ):
            rule, remedy = "needs rows and a Gaussian latent kernel", "Use latent_kernel='gaussian' and no distances"
            raise ValueError(complain(self, "bandwidth", self.bandwidth, rule, remedy))
        check_number(self, "perplexity", self.perplexity, 1.0)
        if self.n_neighbors is not None:
            check_integer(self, "n_neighbors", self.n_neighbors, 1)
        check_choice(self, "metric", self.metric, ("euclidean", "cosine", "precomputed"))
        check_profile(self)
        check_form(self)
        check_choice(self, "conditioning", self.conditioning, ("auto", "balanced", "residual", "product"))
        check_choice(self, "missing", self.missing, ("refuse", "impute"))
        if self.missing == "impute" and self.metric == "precomputed":
            rule = "needs rows, and precomputed distances are none"
            raise ValueError(complain(self, "missing", "impute", rule, 'Use missing="refuse"'))
        if self.given_weight != 0:
            check_number(self, "given_weight", self.given_weight, 0.0)
        check_annealing(self)
        if isinstance(self.init, str):
            check_choice(self, "init", self.init, ("mds", "spectral", "pca", "random"))

    def _solve(self, informed: Informed, own: Array | None) -> tuple[Path, Informed]:
        """Follow the path; a learned bandwidth is known only at its end."""
        spectrum = graph_spectrum(informed.kernel.matrix, max(_MODES, self.n_components))
        start = first_places(self, informed.points, informed.kernel.graph, lambda: spectrum) if own is None else own
        if self.bandwidth == "learned":
            path, kernel = follow_learned_path(self, informed.points, informed.kernel, start, spectrum.precondition)
            return path, replace(informed, kernel=kernel)
        parts, penalty, precondition = self._problem(informed, spectrum)
        resize, again = own is None and self.init != "random", informed.again
        refine = None if again is None else lambda Z: self._problem(again(Z))
        return follow_path(self, parts, penalty, start, precondition, resize=resize, refine=refine), informed

    def _problem(self, informed: Informed, spectrum: GraphSpectrum | None = None) -> Problem:
        """What is minimised along the path."""
        matrix = informed.kernel.matrix
        entropies = EntropySum(informed.terms, profile(self.latent_kernel_), n_jobs=self.n_jobs)
        spectrum = spectrum or graph_spectrum(matrix, max(_MODES, self.n_components))
        return {"-I": (1.0, entropies)}, penalty_of(self, matrix), spectrum.precondition

    def _read_side(self, given: Any, same: Any, n: int) -> tuple[Known | None, Array | None]:
        """What is known of the rows, and the hints among the rows of which something is known."""
        self.given_: Given | None = None
        self.conditioning_: str | None = None
        self.given_bandwidth_: list[float] | None = None
        if same is not None and given is None:
            rule = "is a hint across groups, and there are no groups"
            raise ValueError(complain(self, "same", "pairs", rule, "Say with given which group each row belongs to"))
        if given is None:
            return None, None
        if self.bandwidth == "learned":
            remedy = "Use bandwidth='perplexity', or leave given out"
            raise ValueError(complain(self, "bandwidth", "learned", "does not know how to factor given out", remedy))
        learned = Given.learn(self, given, n, self.given_types, self.given_bandwidth)
        known = learned.encode(self, given, n)
        count = int(known.known.sum())
        if count < 2:
            rule = f"leaves {count} rows of which everything is known"
            raise ValueError(complain(self, "given", "missing entries", rule, "Give it for two rows or more"))
        self.given_ = learned
        if len(np.unique(known.values[known.known], axis=0)) == 1:
            return None, None  # what is the same for all rows says nothing
        return known, None if same is None else as_pairs(same, n).take(known.known).index

    def _inform(self, points: Array, rows: Array, known: Known | None, hints: Array | None) -> Informed:
        """The problem: the plain one, or that of the rows of which something is known."""
        if known is None:
            kernel = chosen_kernel(self, points)
            return Informed(points, kernel, information(kernel.matrix), None, False, 0.0)
        assert self.given_ is not None
        some = submatrix(points, rows, rows, self) if self.metric == "precomputed" else points[rows]
        return inform(self, some, self.given_, known.take(rows), hints)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

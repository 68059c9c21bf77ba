"""Semidefinite embedding (maximum variance unfolding): maximise the variance, keep distances of neighbours (S4 1.7).

    maximise Σ_ij |z_i - z_j|²     with |z_i - z_j| ≤ |x_i - x_j|  (or =) for neighbours and rows that share one

is a semidefinite program in the Gram matrix K = Z Zᵀ. It is solved in low-rank form with a certificate of optimality.
The spectrum of K shows the dimension of the data, and its first principal axes are the embedding.
"""

from __future__ import annotations

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils import Tags

from sidelight.base.capabilities import TWO_WAY_ITERATIVE
from sidelight.base.cost import Cost, check_cost
from sidelight.base.estimator import Estimator
from sidelight.base.fitting import all_or_nothing, raise_if_interrupted
from sidelight.base.messages import error_message
from sidelight.base.result import Callback, Status
from sidelight.base.tiles import one_blas_thread
from sidelight.base.types import Array, RandomState
from sidelight.base.validation import check_choice, check_integer, check_number, validated
from sidelight.base.warnings import warn
from sidelight.maps.two_way import LISTED
from sidelight.maps.two_way_mixin import TwoWayMixin
from sidelight.neighbours.search import neighbour_seconds
from sidelight.solvers.eigen import factor_spectrum
from sidelight.solvers.semidefinite import Certificate, GramResult, solve_gram

from ._gram_answer import gram_spectrum, report_of, shown_progress, warn_unless_converged
from ._measured_rows import (
    check_metric,
    checked_distances,
    frame_of,
    is_precomputed,
    is_rows_or_distances,
    unfolded_maps,
)
from ._semidefinite_problem import (
    SemidefiniteProblem,
    UnconnectedError,
    distinct,
    placed_by_neighbours,
    semidefinite_problem,
)

__all__ = ["SemidefiniteEmbedding"]


_RECONSTRUCTING = 12  # neighbours that reconstruct a row that is no landmark
_EXACT, _LANDMARKS = 2000, 1000
_FLAT = 1e-6  # of the largest eigenvalue: a rigid body with less beyond q axes is flat already, and needs no warning
_STIFFNESS = 300.0  # equalities of neighbours are nearly rigid: stiffer, and they cost ten times the steps


class SemidefiniteEmbedding(ClassNamePrefixFeaturesOutMixin, TwoWayMixin, Estimator):
    """Maximum variance unfolding by a semidefinite program, with a certificate of how close to the optimum it is.

    The latent points have the largest variance that the distances between neighbours allow [1]_. Landmarks as in [2]_,
    neighbours as in [3]_, section 1.7. Equality constraints that leave no freedom are recognised by facial reduction
    [4]_.

    Parameters
    ----------
    n_components : int, default=2
        Latent dimensions.
    n_neighbors : int, default=12
        Neighbours of a row. Distances are constrained between mutual neighbours and between rows that share a
        neighbour. Neighbours that are far apart along the graph of the nearest half are removed as shortcuts between
        layers.
    graph : {"mutual", "nearest"}, default="mutual"
        "mutual": as above; unconnected pieces are joined by their shortest links. "nearest": the graph of [3]_ (and
        with ``equality=True`` its program): all pairs of a row and one of its ``n_neighbors`` nearest, and all pairs of
        these. No link is removed, and disconnected components raise an error, because the problem would be unbounded.
    metric : str or callable, default="euclidean"
        Distance between rows: "precomputed" (``X`` holds the distances, and there is no inverse map to the data), a
        metric name of scikit-learn such as "cosine" or "manhattan", or a function of two rows.
    equality : bool, default=False
        True: distances of neighbours are preserved exactly. False: they are upper bounds. With equality and more
        neighbours than columns the rows form one rigid body, and nothing can unfold; a warning says so.
    n_landmarks : int, "auto" or None, default="auto"
        Number of rows that the program is solved for; the others are reconstructed from their neighbours. None: all.
        "auto": all up to 2,000 rows, else 1,000.
    tol : float, default=1e-3
        Tolerated root mean square violation of squared distances, in units of their mean.
    gap : float, default=0.01
        Tolerated optimality gap: certified bound on the distance of the trace from its optimum, as a share of it.
    max_iter : int, default=1000
        Maximum number of Newton steps.
    random_state : int, RandomState or None, default=None
        For ``sample``; nothing else is random. None is a fixed seed: the same call gives the same result.
    n_jobs : int or None, default=None
        Threads of the neighbours and the maps; None: all. The result does not depend on it.
    verbose : int, default=0
        1: a progress bar.
    callback : callable or None, default=None
        Called with the state after every Newton step; returning True stops the fit.

    Attributes
    ----------
    embedding_ : array of shape (n, q)
        In units of the data, widest axis first.
    gram_eigenvalues_ : array of shape (r,)
        Eigenvalues of the Gram matrix, largest first.
    explained_ : array of shape (r,)
        Eigenvalues as shares of their sum, which show the dimension of the data.
    certificate_ : dict
        ``bound`` on the trace, certified ``gap``, ``slack`` (smallest eigenvalue of the slack matrix), ``feasibility``,
        ``worst`` relative violation, and whether rigid equalities were ``softened``.
    landmarks_ : array of int
        Rows that the program was solved for.
    history_ : list of dict
        A record per Newton step.
    n_iter_ : int
    n_features_in_ : int

    See Also
    --------
    ActionRespectingEmbedding : The same program with actions between rows.
    sklearn.manifold.Isomap : Faster, and approximate on sheets with holes.
    KernelInformationEmbedding : Maps both ways that factor out what is known.

    References
    ----------
    .. [1] K. Q. Weinberger and L. K. Saul, "Unsupervised learning of image manifolds by semidefinite programming",
       International Journal of Computer Vision 70, 77-90, 2006.
    .. [2] K. Q. Weinberger, B. D. Packer and L. K. Saul, "Nonlinear dimensionality reduction by semidefinite
       programming and kernel matrix factorization", AISTATS, 2005.
    .. [3] A. Ghodsi, "Nonlinear dimensionality reduction with side information", PhD thesis, University of Waterloo,
       2005.
    .. [4] N. Krislock and H. Wolkowicz, "Explicit sensor network localization using semidefinite representations and
       facial reductions", SIAM Journal on Optimization 20, 2679-2708, 2010.

    Examples
    --------
    >>> from sidelight import SemidefiniteEmbedding
    >>> from sidelight.datasets import s_curve
    >>> data = s_curve(200, random_state=0)
    >>> model = SemidefiniteEmbedding().fit(data.X)
    >>> bool(model.explained_[:2].sum() > 0.99), model.transform(data.X[:5]).shape
    (True, (5, 2))
    """

    _capabilities = TWO_WAY_ITERATIVE.also("has_spectrum")

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_neighbors: int = 12,
        graph: str = "mutual",
        metric: object = "euclidean",
        equality: bool = False,
        n_landmarks: int | str | None = "auto",
        tol: float = 1e-3,
        gap: float = 0.01,
        max_iter: int = 1000,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.graph = graph
        self.metric = metric
        self.equality = equality
        self.n_landmarks = n_landmarks
        self.tol = tol
        self.gap = gap
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    @all_or_nothing
    @one_blas_thread
    def fit(self, X: Array, y: object = None) -> SemidefiniteEmbedding:
        """Embed rows and fit the maps both ways.

        Parameters
        ----------
        X : array of shape (n, d), or (n, n) of distances
        y : ignored

        Returns
        -------
        self
        """
        del y
        self._check_parameters()
        X = np.asarray(validated(self, X, dtype=[np.float64, np.float32], ensure_min_samples=2))
        check_cost(self, self.estimate_cost(*X.shape), len(X))
        owner = type(self).__name__
        frame, unit = frame_of(owner, X, self.metric)
        points = frame.points(X)
        points = checked_distances(owner, points, self.metric) if is_rows_or_distances(self.metric) else points
        first, which = distinct(points)
        found, landmarks, V = None, np.array([0]), np.zeros((len(X), 1))
        if len(first) > 1:
            some = points[np.ix_(first, first)] if is_rows_or_distances(self.metric) else points[first]
            problem = self._problem(some)
            found = self._only_answer(problem) if problem.rigid else self._solve(problem)
            landmarks, V = first[problem.rows], self._all_places(some, problem.rows, found.point)[which]
        spectrum = gram_spectrum(V, unit if found is not None else 1.0, n_components=self.n_components)
        maps = unfolded_maps(frame, X, spectrum.axes, points, self.metric, n_jobs=self.n_jobs)
        report = report_of(found, unit)
        self._keep_maps(maps, np.asarray(spectrum.axes.astype(X.dtype, copy=False)))
        self.gram_eigenvalues_, self.explained_ = spectrum.eigenvalues, spectrum.explained
        self.history_, self.n_iter_, self.certificate_ = report.history, report.n_iter, report.certificate
        self.landmarks_ = landmarks
        raise_if_interrupted(found is not None and found.status is Status.INTERRUPTED)
        return self

    def fit_transform(self, X: Array, y: object = None) -> Array:
        """Fit, and return ``embedding_`` (n, q)."""
        return np.asarray(self.fit(X, y).embedding_)

    def estimate_cost(self, n: int, d: int) -> Cost:
        """Estimate memory and time of a fit of n rows and d columns, before fitting."""
        rows = min(n, self._limit(n) or n)
        size = 8 * n * (6 * d + 4 * LISTED + 2 * _RECONSTRUCTING**2) + 16 * rows * (n if rows < n else 256)
        steps = 2e-4 * self.n_neighbors * rows**1.4
        size += 40 * n * n if is_rows_or_distances(self.metric) else 0
        return Cost(int(size + 4e4 * rows + 2**26), float(0.2 + steps + 2e-8 * n * n + neighbour_seconds(n, d)))

    def _check_parameters(self) -> None:
        check_integer(self, "n_components", self.n_components, 1)
        check_integer(self, "n_neighbors", self.n_neighbors, 1)
        check_choice(self, "graph", self.graph, ("mutual", "nearest"))
        check_metric(type(self).__name__, self.metric)
        if not isinstance(self.equality, (bool, np.bool_)):
            raise ValueError(
                error_message(self, "equality", self.equality, "is not a truth value", "Give True or False")
            )
        if isinstance(self.n_landmarks, str):
            check_choice(self, "n_landmarks", self.n_landmarks, ("auto",))
        elif self.n_landmarks is not None:
            check_integer(self, "n_landmarks", self.n_landmarks, 3)
        check_number(self, "tol", self.tol, 0.0)
        check_number(self, "gap", self.gap, 0.0)
        check_integer(self, "max_iter", self.max_iter, 1)

    def _limit(self, n: int) -> int | None:
        """How many of n rows are landmarks; None: all."""
        if isinstance(self.n_landmarks, str):
            return None if n <= _EXACT else _LANDMARKS
        return self.n_landmarks

    def _problem(self, points: Array) -> SemidefiniteProblem:
        """The semidefinite program of distinct rows, from their points or distances."""
        try:
            return semidefinite_problem(
                points,
                self.n_neighbors,
                self._limit(len(points)),
                equality=bool(self.equality),
                published_graph=self.graph == "nearest",
                precomputed=is_rows_or_distances(self.metric),
                n_jobs=self.n_jobs,
            )
        except UnconnectedError as error:
            rule = (
                f"leaves {error.n_pieces} unconnected pieces with {self.n_neighbors} neighbours: variance is unbounded"
            )
            remedy = 'Give more neighbours, or graph="mutual", which joins them'
            raise ValueError(error_message(self, "graph", self.graph, rule, remedy)) from None

    def _all_places(self, points: Array, rows: Array, V: Array) -> Array:
        """Coordinates (n, r) of all rows, from those of the landmarks ``rows``, ``V`` (m, r)."""
        if len(rows) == len(points):
            return V
        return placed_by_neighbours(
            points,
            rows,
            V,
            n_neighbors=_RECONSTRUCTING,
            precomputed=is_rows_or_distances(self.metric),
            n_jobs=self.n_jobs,
        )

    def _only_answer(self, problem: SemidefiniteProblem) -> GramResult:
        """The only solution if equalities make the rows one rigid body: the rows themselves, with a warning."""
        V = problem.start
        values = factor_spectrum(V)[0]
        if (values[self.n_components :] > _FLAT * values[0]).any():
            rule = f"leaves nothing to unfold: with {self.n_neighbors} neighbours the rows are one rigid body"
            remedy = "Give equality=False, or fewer neighbours than columns"
            warn(error_message(self, "equality", self.equality, rule, remedy), UserWarning)
        trace = float(values.sum())
        proven = Certificate(trace, 0.0, 0.0, 0.0, 0.0)
        return GramResult(V, trace, np.zeros(len(problem.program.bounds)), proven, 0, Status.CONVERGED, ())

    def _solve(self, problem: SemidefiniteProblem) -> GramResult:
        """Solve the program; warn if the solver did not converge."""
        owner = type(self).__name__

        def solve(callback: Callback | None) -> GramResult:
            return solve_gram(
                problem.program,
                problem.start,
                tolerance=self.tol,
                gap=self.gap,
                max_iter=self.max_iter,
                stiffness=_STIFFNESS,
                callback=callback,
            )

        found = shown_progress(owner, self.verbose, self.callback, solve)
        warn_unless_converged(owner, self.max_iter, found, "Raise max_iter, tol or gap, or take more neighbours")
        return found

    def _has_data_space(self) -> bool:
        return not is_precomputed(self.metric)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.pairwise = is_precomputed(self.metric)
        return tags

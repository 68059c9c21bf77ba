"""Semidefinite embedding, also called maximum variance unfolding: pull the rows apart, keep neighbours close (S4 1.7).

    maximise Σ_ij |z_i - z_j|²     with |z_i - z_j| ≤ |x_i - x_j|  (or =) for neighbours and rows that share one

is a semidefinite program in K = Z Zᵀ, solved in low rank with a certificate; the spectrum of K says how many dimensions
the rows have, and its first axes are the embedding.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags

from sidelight.base.capabilities import TWO_WAY_ITERATIVE
from sidelight.base.cost import Cost, refuse_if_too_large
from sidelight.base.fitting import KeptInterrupt, all_or_nothing
from sidelight.base.messages import complain
from sidelight.base.progress import ProgressBar, both
from sidelight.base.result import Callback, Status
from sidelight.base.tiles import one_blas_thread
from sidelight.base.validation import check_choice, check_integer, check_number, validated
from sidelight.base.warnings import warn
from sidelight.maps.two_way import LISTED, adaptive_maps
from sidelight.maps.two_way_mixin import TwoWayMixin
from sidelight.solvers.eigen import factor_spectrum, steady_signs
from sidelight.solvers.semidefinite import Certificate, GramResult, solve_gram

from ._measured_rows import check_metric, distances_of, frame_of, measured_maps
from ._semidefinite_problem import SemidefiniteProblem, distinct, placed_by_neighbours, semidefinite_problem

__all__ = ["SemidefiniteEmbedding"]

Array = npt.NDArray[Any]
_RECONSTRUCTING = 12  # neighbours that place a row beyond the landmarks
_EXACT, _LANDMARKS = 2000, 1000
_FLAT = 1e-6  # of the widest axis: below it rows that cannot be unfolded need not be
_STIFFNESS = 300.0  # equalities of neighbours are nearly rigid: stiffer, and they cost ten times the steps


class SemidefiniteEmbedding(ClassNamePrefixFeaturesOutMixin, TwoWayMixin, BaseEstimator):
    """Unfold rows: as far apart as their neighbours allow, with a certificate of how close to the optimum that is.

    Parameters
    ----------
    n_components : int, default=2
        Latent dimensions.
    n_neighbors : int, default=12
        Neighbours of a row. Pairs of mutual neighbours, and rows that share one, keep their distances; neighbours that
        are far from each other along the nearest half are bridges between layers, and left out.
    metric : str or callable, default="euclidean"
        Distance between rows: "precomputed" (``X`` holds the distances, and there is no way back to the data), a name
        of scikit-learn's such as "cosine" or "manhattan", or a function of two rows.
    equality : bool, default=False
        Distances of neighbours are kept exactly; False: they are not exceeded. With more neighbours than columns the
        rows are then one rigid body and nothing unfolds, which is recognised and said.
    n_landmarks : int, "auto" or None, default="auto"
        Rows that are unfolded, the others being placed by their neighbours; None: all, "auto": all up to 2,000 rows,
        else 1,000.
    tol : float, default=1e-3
        Root mean square violation of squared distances, in units of their mean.
    gap : float, default=0.01
        How far below the optimum the trace may be, as a share of it, by the certificate.
    max_iter : int, default=1000
        Newton steps.
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
        Of K, largest first.
    explained_ : array of shape (r,)
        The same as shares of their sum: how many dimensions the rows have.
    certificate_ : dict
        ``bound`` on the trace, certified ``gap``, ``slack`` (smallest eigenvalue of the slack matrix), ``feasibility``,
        ``worst`` relative violation, and whether rigid equalities were ``softened``.
    landmarks_ : array of int
        Rows that were unfolded.
    history_ : list of dict
        A record per Newton step.
    n_iter_ : int
    n_features_in_ : int

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
        metric: Any = "euclidean",
        equality: bool = False,
        n_landmarks: int | str | None = "auto",
        tol: float = 1e-3,
        gap: float = 0.01,
        max_iter: int = 1000,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
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
    def fit(self, X: Array, y: Any = None) -> SemidefiniteEmbedding:
        """Unfold the rows of ``X`` (n, d), or of their distances (n, n), and keep the maps; ``y`` is ignored."""
        del y
        self._check_parameters()
        X = np.asarray(validated(self, X, dtype=[np.float64, np.float32], ensure_min_samples=2))
        refuse_if_too_large(self, self.estimate_cost(*X.shape), len(X))
        self.frame_, unit = frame_of(X, self.metric, self)
        points = self.frame_.points(X)
        points = distances_of(self, points) if self._measured else points
        first, which = distinct(points)
        if len(first) == 1:
            return self._keep_one_place(X, points)
        some = points[np.ix_(first, first)] if self._measured else points[first]
        problem = semidefinite_problem(
            some,
            self.n_neighbors,
            self._limit(len(first)),
            equality=bool(self.equality),
            precomputed=self._measured,
            n_jobs=self.n_jobs,
        )
        found = self._only_answer(problem) if problem.rigid else self._solve(problem)
        self._keep_answer(found, unit)
        V = found.point
        if len(problem.rows) < len(first):
            V = placed_by_neighbours(
                some, problem.rows, V, n_neighbors=_RECONSTRUCTING, precomputed=self._measured, n_jobs=self.n_jobs
            )
        self.landmarks_ = first[problem.rows]
        self._fit_maps(X, self._spectrum(V[which], unit), points)
        if found.status is Status.INTERRUPTED:
            raise KeptInterrupt
        return self

    def fit_transform(self, X: Array, y: Any = None) -> Array:
        """Fit, and return ``embedding_`` (n, q)."""
        return np.asarray(self.fit(X, y).embedding_)

    def estimate_cost(self, n: int, d: int) -> Cost:
        """What a fit of n rows and d columns takes, before it is paid."""
        rows = min(n, self._limit(n) or n)
        size = 8 * n * (6 * d + 4 * LISTED + 2 * _RECONSTRUCTING**2) + 16 * rows * (n if rows < n else 256)
        steps = 2e-6 * self.n_neighbors * rows**1.4 * 250
        size += 40 * n * n if self._measured else 0
        return Cost(int(size + 4e4 * rows + 2**26), float(0.2 + steps + 2e-8 * n * n + 3e-10 * n * n * d))

    @property
    def _measured(self) -> bool:
        """Whether rows are known by their distances."""
        return not (isinstance(self.metric, str) and self.metric == "euclidean")

    def _check_parameters(self) -> None:
        check_integer(self, "n_components", self.n_components, 1)
        check_integer(self, "n_neighbors", self.n_neighbors, 1)
        check_metric(self)
        if not isinstance(self.equality, (bool, np.bool_)):
            raise ValueError(complain(self, "equality", self.equality, "is not a truth value", "Give True or False"))
        if isinstance(self.n_landmarks, str):
            check_choice(self, "n_landmarks", self.n_landmarks, ("auto",))
        elif self.n_landmarks is not None:
            check_integer(self, "n_landmarks", self.n_landmarks, 3)
        check_number(self, "tol", self.tol, 0.0)
        check_number(self, "gap", self.gap, 0.0)
        check_integer(self, "max_iter", self.max_iter, 1)

    def _limit(self, n: int) -> int | None:
        if isinstance(self.n_landmarks, str):
            return None if n <= _EXACT else _LANDMARKS
        return self.n_landmarks

    def _only_answer(self, problem: SemidefiniteProblem) -> GramResult:
        """Of equalities that are one rigid body: the rows as they are."""
        V = problem.start
        values = factor_spectrum(V)[0]
        if (values[self.n_components :] > _FLAT * values[0]).any():
            rule = f"leaves nothing to unfold: with {self.n_neighbors} neighbours the rows are one rigid body"
            remedy = "Give equality=False, or fewer neighbours than columns"
            warn(complain(self, "equality", self.equality, rule, remedy), UserWarning)
        trace = float(values.sum())
        proven = Certificate(trace, 0.0, 0.0, 0.0, 0.0)
        return GramResult(V, trace, np.zeros(len(problem.program.bounds)), proven, 0, Status.CONVERGED, ())

    def _solve(self, problem: SemidefiniteProblem) -> GramResult:
        bar = ProgressBar(type(self).__name__) if self.verbose else None
        found = solve_gram(
            problem.program,
            problem.start,
            tolerance=self.tol,
            gap=self.gap,
            max_iter=self.max_iter,
            stiffness=_STIFFNESS,
            callback=both(bar, self.callback),
        )
        if bar is not None:
            bar.close(f"{found.status.value}, {found.n_iter} iterations")
        self._warn(found)
        return found

    def _keep_answer(self, found: GramResult, unit: float) -> None:
        self.history_ = [vars(record) for record in found.history]
        self.n_iter_ = max(1, found.n_iter)
        self.certificate_ = {**vars(found.certificate), "bound": found.certificate.bound * unit * unit}

    def _warn(self, found: GramResult) -> None:
        if found.status in (Status.ITERATIONS, Status.STALLED):
            state = f"violation {found.certificate.feasibility:.1e}, certified gap {found.certificate.gap:.1e}"
            why = f"it {found.status.value}" if not found.trouble else found.trouble
            rule = f"did not let the program converge: {why} ({state})"
            remedy = "Raise max_iter, tol or gap, or take more neighbours"
            message = complain(self, "max_iter", self.max_iter, rule, remedy)
            warn(message, ConvergenceWarning)

    def _fit_maps(self, X: Array, Z: Array, points: Array) -> None:
        if self._measured:
            maps = measured_maps(self.frame_, X, Z, points, self.metric, n_jobs=self.n_jobs)
        else:
            maps = adaptive_maps(self.frame_, points, Z, n_jobs=self.n_jobs)
        self._keep_maps(maps, np.asarray(Z.astype(X.dtype, copy=False)))

    def _has_data_space(self) -> bool:
        return not (isinstance(self.metric, str) and self.metric == "precomputed")

    def _spectrum(self, V: Array, unit: float) -> Array:
        """K's eigenvalues; return its first axes (n, q), in units of the data."""
        values, Z = factor_spectrum(V)
        kept = np.zeros((len(V), self.n_components))
        width = min(self.n_components, Z.shape[1])
        kept[:, :width] = steady_signs(Z[:, :width])
        self.gram_eigenvalues_ = values * unit * unit
        self.explained_ = values / (float(values.sum()) or 1.0)
        return kept * unit

    def _keep_one_place(self, X: Array, points: Array) -> SemidefiniteEmbedding:
        """All rows are equal: one point, and nothing to unfold."""
        self.landmarks_, self.history_, self.n_iter_ = np.array([0]), [], 1
        exact = {"bound": 0.0, "gap": 0.0, "slack": 0.0, "feasibility": 0.0, "worst": 0.0, "softened": False}
        self.certificate_ = exact
        self._fit_maps(X, self._spectrum(np.zeros((len(X), 1)), 1.0), points)
        return self

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.pairwise = isinstance(self.metric, str) and self.metric == "precomputed"
        return tags

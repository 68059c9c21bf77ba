"""Semidefinite embedding, also called maximum variance unfolding: pull the rows apart, keep neighbours close (S4 1.7).

    maximise Σ_ij |z_i - z_j|²     with |z_i - z_j| ≤ |x_i - x_j|  (or =) for neighbours and rows that share one

is a semidefinite program in K = Z Zᵀ, solved in low rank with a certificate; the spectrum of K says how many dimensions
the rows have, and its first axes are the embedding.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.validation import validate_data

from ._cost import Cost, refuse_if_too_large
from ._frame import Frame
from ._messages import complain
from ._model_maps import LISTED, keep_adaptive_maps
from ._progress import ProgressBar, both
from ._semidefinite_problem import SemidefiniteProblem, distinct, placed_by_neighbours, semidefinite_problem
from ._two_way_maps import TwoWayMaps
from ._validation import check_choice, check_integer, check_number
from .kernels.neighbours import nearest
from .kernels.tiles import one_blas_thread
from .solvers.eigen import factor_spectrum
from .solvers.result import Callback, Status
from .solvers.semidefinite import GramResult, solve_gram

__all__ = ["SemidefiniteEmbedding"]

Array = npt.NDArray[Any]
_RECONSTRUCTING = 12  # neighbours that place a row beyond the landmarks
_EXACT, _LANDMARKS = 2000, 1000
_STIFFNESS = 300.0  # equalities of neighbours are nearly rigid: stiffer, and they cost ten times the steps


class SemidefiniteEmbedding(ClassNamePrefixFeaturesOutMixin, TwoWayMaps, BaseEstimator):
    """Unfold rows: as far apart as their neighbours allow, with a certificate of how close to the optimum that is.

    Parameters
    ----------
    n_components : int, default=2
        Latent dimensions.
    n_neighbors : int, default=10
        Neighbours of a row. Pairs of mutual neighbours, and rows that share one, keep their distances.
    equality : bool, default=False
        Distances of neighbours are kept exactly; False: they are not exceeded.
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
        For ``sample``; nothing else is random.
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

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_neighbors: int = 10,
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
        self.equality = equality
        self.n_landmarks = n_landmarks
        self.tol = tol
        self.gap = gap
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    @one_blas_thread
    def fit(self, X: Array, y: Any = None) -> SemidefiniteEmbedding:
        """Unfold the rows of ``X`` (n, d) and keep the maps both ways; ``y`` is ignored."""
        del y
        self._check_parameters()
        X = np.asarray(validate_data(self, X, dtype=[np.float64, np.float32], ensure_min_samples=2))
        refuse_if_too_large(self, self.estimate_cost(*X.shape), len(X))
        self.frame_ = Frame.of(X)
        points = self.frame_.points(X)
        first, which = distinct(points)
        if len(first) == 1:
            return self._keep_one_place(X, points)
        limit = self._limit(len(first))
        problem = semidefinite_problem(
            points[first], self.n_neighbors, limit, equality=self.equality, n_jobs=self.n_jobs
        )
        found = self._solve(problem)
        V = found.point
        if len(problem.rows) < len(first):
            near = nearest(points[first], k=min(_RECONSTRUCTING, len(first) - 1), n_jobs=self.n_jobs)
            V = placed_by_neighbours(points[first], near, problem.rows, V)
        self.landmarks_ = first[problem.rows]
        keep_adaptive_maps(self, X, self._keep_spectrum(V[which]), points)
        if found.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        return self

    def fit_transform(self, X: Array, y: Any = None) -> Array:
        """Fit, and return ``embedding_`` (n, q)."""
        return np.asarray(self.fit(X, y).embedding_)

    def estimate_cost(self, n: int, d: int) -> Cost:
        """What a fit of n rows and d columns takes, before it is paid."""
        rows = min(n, self._limit(n) or n)
        size = 8 * n * (6 * d + 4 * LISTED + 2 * _RECONSTRUCTING**2) + 16 * rows * (n if rows < n else 256)
        steps = 2e-6 * self.n_neighbors * rows**1.4 * 250
        return Cost(int(size + 4e4 * rows + 2**26), float(0.2 + steps + 2e-8 * n * n + 3e-10 * n * n * d))

    def _check_parameters(self) -> None:
        check_integer(self, "n_components", self.n_components, 1)
        check_integer(self, "n_neighbors", self.n_neighbors, 1)
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
        self.history_ = [vars(record) for record in found.history]
        self.n_iter_ = max(1, found.n_iter)
        scale = self.frame_.scale
        self.certificate_ = {**vars(found.certificate), "bound": found.certificate.bound * scale * scale}
        self._warn(found)
        return found

    def _warn(self, found: GramResult) -> None:
        if found.status in (Status.ITERATIONS, Status.STALLED):
            state = f"violation {found.certificate.feasibility:.1e}, certified gap {found.certificate.gap:.1e}"
            why = f"it {found.status.value}" if not found.trouble else found.trouble
            rule = f"did not let the program converge: {why} ({state})"
            remedy = "Raise max_iter, tol or gap, or take more neighbours"
            message = complain(self, "max_iter", self.max_iter, rule, remedy)
            warnings.warn(message, ConvergenceWarning, stacklevel=5)

    def _keep_spectrum(self, V: Array) -> Array:
        """K's eigenvalues; return its first axes (n, q), in units of the data."""
        values, Z = factor_spectrum(V)
        kept = np.zeros((len(V), self.n_components))
        width = min(self.n_components, Z.shape[1])
        kept[:, :width] = Z[:, :width] * _signs(Z[:, :width])
        self.gram_eigenvalues_ = values * self.frame_.scale * self.frame_.scale
        self.explained_ = values / (float(values.sum()) or 1.0)
        return kept * self.frame_.scale

    def _keep_one_place(self, X: Array, points: Array) -> SemidefiniteEmbedding:
        """All rows are equal: one point, and nothing to unfold."""
        self.landmarks_, self.history_, self.n_iter_ = np.array([0]), [], 1
        exact = {"bound": 0.0, "gap": 0.0, "slack": 0.0, "feasibility": 0.0, "worst": 0.0, "softened": False}
        self.certificate_ = exact
        keep_adaptive_maps(self, X, self._keep_spectrum(np.zeros((len(X), 1))), points)
        return self

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _signs(Z: Array) -> Array:
    """Signs by a fixed mean over all rows: the two ends of an unfolded sheet are often equally far."""
    return np.where(np.cos(np.arange(len(Z)) * 0.7 + 0.3) @ Z < 0, -1.0, 1.0)

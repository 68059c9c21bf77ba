"""Action respecting embedding: observations and the actions between them, in a space where actions are rigid (S4 4).

    maximise tr K,    |z_i - z_j| ≤ |x_i - x_j| for neighbours,    |z_{i+1} - z_{j+1}| = |z_i - z_j| where a_i = a_j

What is done at two places keeps their distance, so every action is a rotation and translation of the latent space,
found without being told what the actions are.
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
from sidelight.base.validation import check_integer, check_number, refuse_too_large, validated
from sidelight.base.warnings import warn
from sidelight.maps.rigid import RigidMap, fit_rigid
from sidelight.maps.two_way import LISTED, adaptive_maps
from sidelight.maps.two_way_mixin import TwoWayMixin
from sidelight.objectives.action_gram import TiedProgram
from sidelight.side.actions import as_actions
from sidelight.solvers.eigen import factor_spectrum, steady_signs
from sidelight.solvers.interior import interior_cost, solve_interior
from sidelight.solvers.semidefinite import GramResult, solve_gram

from ._action_planning import ActionPlanning
from ._action_program import (
    ActionProblem,
    action_problem,
    distance_classes,
    find_places,
    neighbours_by_actions,
    neighbours_by_distance,
    place_squares,
    row_squares,
)
from ._action_use import ActionUse
from ._measured_rows import check_metric, distances_of, frame_of, measured_maps

__all__ = ["ActionRespectingEmbedding"]

Array = npt.NDArray[Any]
_INTERIOR = 2e11  # operations of a step up to which all classes are solved at once
_EMPTY = 1e-8  # of the trace: axes that are not there


class ActionRespectingEmbedding(ClassNamePrefixFeaturesOutMixin, ActionPlanning, ActionUse, TwoWayMixin, BaseEstimator):
    """Embed observations so that every action between them is one rotation and translation.

    Parameters
    ----------
    n_components : int, default=2
        Columns of ``embedding_``. The fit does not depend on it, and predictions use all of ``latent_``.
    window : int, default=1
        T: the ball of a row reaches to the farthest row within this many steps; rows in each other's ball are
        neighbours. More steps hold the embedding tighter.
    metric : str or callable, default="euclidean"
        Distance between observations: a name of scikit-learn's, a function of two rows, or "precomputed" (``X`` holds
        the distances, and there is no way back to the data).
    merge : float, default=0.3
        Equal rows are one place. Where no two are equal, rows nearer to each other than this share of the shortest step
        at either are one place (noise is estimated and taken off); 0: only equal rows.
    tol : float, default=1e-3
        Root mean square violation of squared distances, in units of their mean.
    gap : float, default=0.01
        How far below the optimum the trace may be, as a share of it, by the certificate. Up to some hundred places
        it is 1e-6 at no cost.
    max_iter : int, default=1000
        Newton steps.
    random_state : int, RandomState or None, default=None
        For ``sample``; nothing else is random. None is a fixed seed: the same call gives the same result.
    n_jobs : int or None, default=None
        Threads of the maps; None: all. The result does not depend on it.
    verbose : int, default=0
        1: a progress bar.
    callback : callable or None, default=None
        Called with the state after every Newton step; returning True stops the fit.

    Attributes
    ----------
    embedding_ : array of shape (n, q)
        The first columns of ``latent_``.
    latent_ : array of shape (n, r)
        All axes of K that are not empty, widest first, in units of the data.
    states_ : array of shape (n,)
        The place of each row, numbered in order of appearance.
    place_rows_ : array of shape (n_places,)
        The first row of each place.
    actions_ : Actions
        Steps and what was done in them.
    action_maps_ : dict
        Label of an action -> its ``RigidMap`` on ``latent_``.
    gram_eigenvalues_, explained_ : arrays of shape (r,)
        Of K over the places, largest first, and as shares of their sum.
    certificate_ : dict
        As in :class:`SemidefiniteEmbedding`.
    history_ : list of dict
        A record per Newton step.
    n_iter_ : int
    n_features_in_ : int

    Examples
    --------
    >>> from sidelight import ActionRespectingEmbedding
    >>> from sidelight.datasets import imagebot
    >>> data = imagebot("line", view=20)  # forty steps forward, twenty back
    >>> model = ActionRespectingEmbedding().fit(data.X, actions=data.factors["actions"])
    >>> int(model.predict_next(7, "backward")[0])  # nobody went back from there
    6
    """

    _capabilities = TWO_WAY_ITERATIVE.also("has_spectrum")

    def __init__(
        self,
        n_components: int = 2,
        *,
        window: int = 1,
        metric: Any = "euclidean",
        merge: float = 0.3,
        tol: float = 1e-3,
        gap: float = 0.01,
        max_iter: int = 1000,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self.n_components = n_components
        self.window = window
        self.metric = metric
        self.merge = merge
        self.tol = tol
        self.gap = gap
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    @all_or_nothing
    @one_blas_thread
    def fit(
        self, X: Array, y: Any = None, *, actions: Any = None, trajectory: Any = None, known: Any = None
    ) -> ActionRespectingEmbedding:
        """Embed rows and the actions between them.

        Parameters
        ----------
        X : array of shape (n, d)
            Observations in the order they were made (for precomputed distances: (n, n)).
        y : ignored
        actions : array of shape (n,) or (n - 1,), or Actions, or None
            What was done at each row, missing (None, NaN, "") at a trajectory's end; None: no action is known.
        trajectory : array of shape (n,) or None
            Which trajectory each row is of; None: one, cut where actions are missing. With neither, rows have no order,
            and their nearest rows are their neighbours.
        known : array of shape (m, 3) or None
            Hints: rows i and j, and the distance that they are known to have.
        """
        del y
        self._check_parameters()
        X = np.asarray(validated(self, X, dtype=[np.float64, np.float32], ensure_min_samples=2))
        refuse_if_too_large(self, self.estimate_cost(*X.shape), len(X))
        self.actions_ = as_actions(actions, len(X), trajectory)
        hints = self._known(known, len(X))
        self.frame_, unit = frame_of(X, self.metric, self)
        points = self.frame_.points(X)
        squares = distances_of(self, points) ** 2 if self._measured else row_squares(points)
        self.states_ = find_places(squares, self.actions_, float(self.merge))
        self.place_rows_ = np.unique(self.states_, return_index=True)[1]
        self._warn_of_collapse(squares)
        found = self._solve(squares, hints, unit)
        self._keep_spectrum(np.zeros((len(self.place_rows_), 1)) if found is None else found.point, unit)
        Z = np.zeros((len(X), self.n_components))
        width = min(self.n_components, self.latent_.shape[1])
        Z[:, :width] = self.latent_[:, :width]
        if self._measured:
            maps = measured_maps(self.frame_, X, Z, points, self.metric, n_jobs=self.n_jobs)
        else:
            maps = adaptive_maps(self.frame_, points, Z, n_jobs=self.n_jobs)
        self._keep_maps(maps, np.asarray(Z.astype(X.dtype, copy=False)))
        done = np.unique(self.actions_.codes[self.actions_.codes >= 0])
        self.rigid_maps_ = [(self.actions_.names[code], self._fit_map(self.actions_.names[code])) for code in done]
        if found is not None and found.status is Status.INTERRUPTED:
            raise KeptInterrupt
        return self

    def fit_transform(
        self, X: Array, y: Any = None, *, actions: Any = None, trajectory: Any = None, known: Any = None
    ) -> Array:
        """Fit, and return ``embedding_`` (n, q)."""
        return np.asarray(self.fit(X, y, actions=actions, trajectory=trajectory, known=known).embedding_)

    def _has_data_space(self) -> bool:
        return not (isinstance(self.metric, str) and self.metric == "precomputed")

    def estimate_cost(self, n: int, d: int) -> Cost:
        """What a fit of n rows and d columns takes if all are different places, before it is paid."""
        size = 8 * n * (6 * d + 4 * LISTED) + 220 * n * n + 2**27
        return Cost(int(size), float(0.2 + 5e-9 * n * n * d + 2e-4 * n**2))

    @property
    def action_maps_(self) -> dict[Any, RigidMap]:
        """What each action does: label -> rotation and translation of ``latent_``."""
        return dict(self.rigid_maps_)

    @property
    def _measured(self) -> bool:
        """Whether rows are known by their distances."""
        return not (isinstance(self.metric, str) and self.metric == "euclidean")

    def _check_parameters(self) -> None:
        check_integer(self, "n_components", self.n_components, 1)
        check_integer(self, "window", self.window, 1)
        check_metric(self)
        if self.merge != 0:
            check_number(self, "merge", self.merge, 0.0, 1.0)
        check_number(self, "tol", self.tol, 0.0)
        check_number(self, "gap", self.gap, 0.0)
        check_integer(self, "max_iter", self.max_iter, 1)

    def _known(self, known: Any, n: int) -> Array:
        """Hints (m, 3) as numbers: rows and distance."""
        hints = np.empty((0, 3)) if known is None else np.asarray(known, dtype=np.float64)
        if hints.ndim != 2 or hints.shape[1] != 3:
            seen, rule = f"array of shape {hints.shape}", "does not hold two rows and a distance a line"
            raise ValueError(complain(self, "known", seen, rule, "Give numbers of shape (m, 3)"))
        rows = hints[:, :2]
        if (rows != np.floor(rows)).any() or (rows < 0).any() or (rows >= n).any():
            rule = f"names a row that is not one of 0 to {n - 1}"
            raise ValueError(complain(self, "known", rows.tolist(), rule, "Number the rows from 0"))
        if not np.isfinite(hints).all() or (hints[:, 2] <= 0).any():
            rule = "is not a distance above 0"
            raise ValueError(
                complain(self, "known", float(hints[:, 2].min()), rule, "Leave out rows that are the same place")
            )
        refuse_too_large(self, "known", hints)
        return hints

    def _solve(self, squares: Array, hints: Array, unit: float) -> GramResult | None:
        """The program of the places, solved; None if there is one place only."""
        self.history_, self.n_iter_ = [], 1
        self.certificate_ = dict.fromkeys(("bound", "gap", "slack", "feasibility", "worst"), 0.0) | {"softened": False}
        if len(self.place_rows_) == 1:
            return None
        problem = self._problem(place_squares(squares, self.states_), hints, unit)
        bar = ProgressBar(type(self).__name__) if self.verbose else None
        found = self._run(problem, both(bar, self.callback))
        if bar is not None:
            bar.close(f"{found.status.value}, {found.n_iter} iterations")
        self.history_ = [vars(record) for record in found.history]
        self.n_iter_ = max(1, found.n_iter)
        self.certificate_ = {**vars(found.certificate), "bound": found.certificate.bound * unit * unit}
        self._warn(found)
        return found

    def _problem(self, squares: Array, hints: Array, unit: float) -> ActionProblem:
        actions = self.actions_
        if len(actions.steps):
            near = neighbours_by_actions(squares, self.states_, actions, int(self.window))
        else:
            near = neighbours_by_distance(squares)
        at = self.states_[hints[:, :2].astype(np.int64)]
        if (at[:, 0] == at[:, 1]).any():
            seen = hints[at[:, 0] == at[:, 1]][0].tolist()
            rule = "gives a distance to two rows of one place"
            raise ValueError(complain(self, "known", seen, rule, "Leave it out, or set merge=0"))
        tied = distance_classes(self.states_, actions) if actions.names else None
        problem = action_problem(squares, near, tied, np.column_stack([at, (hints[:, 2] / unit) ** 2]))
        if (pieces := problem.program.n_pieces) > 1:
            rule = f"leaves {pieces} pieces that nothing holds together, and that would drift apart for ever"
            remedy = "Give trajectories that share a place, a larger window, or known= distances between them"
            raise ValueError(complain(self, "trajectory", repr(actions), rule, remedy))
        return problem

    def _run(self, problem: ActionProblem, callback: Callback | None) -> GramResult:
        program, tol, gap = problem.program, float(self.tol), float(self.gap)
        if isinstance(program, TiedProgram) and interior_cost(program.n, len(program.members)) <= _INTERIOR:
            return solve_interior(program, tolerance=tol, gap=gap, max_iter=self.max_iter, callback=callback)
        return solve_gram(program, problem.start, tolerance=tol, gap=gap, max_iter=self.max_iter, callback=callback)

    def _warn(self, found: GramResult) -> None:
        if found.status in (Status.ITERATIONS, Status.STALLED):
            state = f"violation {found.certificate.feasibility:.1e}, certified gap {found.certificate.gap:.1e}"
            why = f"it {found.status.value}" if not found.trouble else found.trouble
            rule = f"did not let the program converge: {why} ({state})"
            message = complain(self, "max_iter", self.max_iter, rule, "Raise max_iter, tol or gap")
            warn(message, ConvergenceWarning)

    def _warn_of_collapse(self, squares: Array) -> None:
        """Actions that are not one-to-one put different observations into one place: say so."""
        steps = self.actions_.steps
        still = (self.states_[steps[:, 0]] == self.states_[steps[:, 1]]) & (squares[steps[:, 0], steps[:, 1]] > 0)
        if still.any():
            rule = f"puts both ends of {int(still.sum())} steps into one place, though they look different"
            remedy = "An action must lead from a place to one place: give other labels where it does not, as at walls"
            message = complain(self, "actions", repr(self.actions_), rule, remedy)
            warn(message, UserWarning)

    def _keep_spectrum(self, V: Array, unit: float) -> None:
        """K's eigenvalues and axes, over the places, in units of the data."""
        values, Z = factor_spectrum(V)
        used = np.maximum(values > _EMPTY * float(values.sum()), np.arange(len(values)) == 0)
        Z, values = steady_signs(Z[:, used]), values[used]
        self.latent_ = (Z * unit)[self.states_]
        self.gram_eigenvalues_ = values * unit * unit
        self.explained_ = values / (float(values.sum()) or 1.0)

    def _fit_map(self, action: Any) -> RigidMap:
        begins, ends = self.place_rows_[self._moves(action)].T
        return fit_rigid(self.latent_[begins], self.latent_[ends])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.pairwise = isinstance(self.metric, str) and self.metric == "precomputed"
        return tags

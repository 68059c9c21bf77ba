"""Action respecting embedding: embed observations so that the actions between them are rigid motions (S4 4).

    maximise tr K,    |z_i - z_j| ≤ |x_i - x_j| for neighbours,    |z_{i+1} - z_{j+1}| = |z_i - z_j| where a_i = a_j

The same action at two places preserves their distance, so every action is a rotation and translation of the latent
space. Only the labels of the actions are given, not what the actions do.
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
from sidelight.base.validation import check_integer, check_number, validated
from sidelight.base.warnings import warn
from sidelight.maps.two_way import LISTED
from sidelight.objectives.action_gram import TiedProgram
from sidelight.side.actions import Actions
from sidelight.solvers.interior import interior_cost, solve_interior
from sidelight.solvers.semidefinite import GramResult, solve_gram

from ._action_mixin import ActionMixin
from ._action_model import action_model
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
from ._action_routes import PUBLISHED, Route, chosen_route, read_actions, trusted_actions
from ._gram_answer import gram_spectrum, report_of, shown_progress, warn_unless_converged
from ._known_distances import KnownDistances, known_distances
from ._measured_rows import (
    check_metric,
    checked_distances,
    frame_of,
    is_precomputed,
    is_rows_or_distances,
    unfolded_maps,
)

__all__ = ["ActionRespectingEmbedding"]


_INTERIOR = 2e11  # largest cost of a Newton step (operations) for the interior-point solver over all distance classes


class ActionRespectingEmbedding(ClassNamePrefixFeaturesOutMixin, ActionMixin, Estimator):
    """Embed a sequence of observations so that every action is one rotation and translation of the latent space.

    A semidefinite embedding [3]_ with additional constraints: steps of the same action preserve distances [1]_ [2]_.
    A *place* below is a state of the world: rows that are equal, or nearly so (``merge``), are observations of one
    place and share a latent point.

    Parameters
    ----------
    n_components : int, default=2
        Columns of ``embedding_``. The fit does not depend on it, and predictions use all of ``latent_``.
    window : int, default=1
        T: the neighbourhood radius of a row is the distance to the farthest row within this many steps; rows within
        each other's radius are neighbours. Larger values constrain the embedding more.
    metric : str or callable, default="euclidean"
        Distance between observations: a metric name of scikit-learn, a function of two rows, or "precomputed" (``X``
        holds the distances, and there is no inverse map to the data).
    merge : "auto" or float, default="auto"
        "auto": equal rows are one place, and the semidefinite program is solved. If actions contradict that (slips), or
        if no two rows are equal (noise), places are estimated by maximum evidence if combinations of actions cancel,
        and actions become translations; if no place is revisited, and for vector-valued actions, rows are states of
        continuous dynamics. A number: always the published program; if no two rows are equal, rows closer than this
        share of the shortest step at either of them are merged into one place (noise is estimated and subtracted). 0:
        merge equal rows only.
    tol : float, default=1e-3
        Tolerated root mean square violation of squared distances, in units of their mean.
    gap : float, default=0.01
        Tolerated optimality gap: certified bound on the distance of the trace from its optimum, as a share of it. Up to
        about a hundred places the gap is 1e-6 at no cost.
    max_iter : int, default=1000
        Maximum number of Newton steps.
    random_state : int, RandomState or None, default=None
        For ``sample``; nothing else is random. None is a fixed seed: the same call gives the same result.
    n_jobs : int or None, default=None
        Threads of the maps; None: all. The result does not depend on it.
    verbose : int, default=0
        1: a progress bar.
    callback : callable or None, default=None
        Called with the state after every Newton step of the program; returning True stops the fit. The other methods
        (``solved_by_``) take seconds and do not call it.

    Attributes
    ----------
    embedding_ : array of shape (n, q)
        The first columns of ``latent_``.
    latent_ : array of shape (n, r)
        Coordinates along all principal axes of the solution with non-zero variance, widest first, in units of the data.
    states_ : array of shape (n,)
        The place of each row (rows of one place share a latent point), numbered in order of appearance.
    place_rows_ : array of shape (n_places,)
        The first row of each place.
    actions_ : Actions
        Steps between rows and their actions.
    action_vectors_ : array of shape (n, e) or None
        The actions, if they are vectors.
    trusted_steps_ : array of bool, of shape (m,)
        True for steps of ``actions_`` that are consistent with their action; False for slips and walls.
    action_maps_ : dict
        Label of an action -> its ``RigidMap`` on ``latent_``.
    solved_by_ : {"program", "translations", "dynamics"}
        The method used (see ``merge``).
    dynamics_ : ActionDynamics or None
        Model of the effect of actions on latent points, if ``solved_by_`` is "dynamics".
    gram_eigenvalues_, explained_ : arrays of shape (r,)
        Eigenvalues of the Gram matrix of the places, largest first, and as shares of their sum.
    certificate_ : dict
        As in :class:`SemidefiniteEmbedding`; empty if the program was not solved.
    history_ : list of dict
        A record per Newton step.
    n_iter_ : int
    n_features_in_ : int

    See Also
    --------
    Actions : What was done between rows.
    SemidefiniteEmbedding : The same program without actions.
    sidelight.gated.GatedBoltzmannMachine : Learns changes from pairs of rows, without a map.

    References
    ----------
    .. [1] M. Bowling, A. Ghodsi and D. Wilkinson, "Action respecting embedding", International Conference on Machine
       Learning, 65-72, 2005.
    .. [2] A. Ghodsi, "Nonlinear dimensionality reduction with side information", PhD thesis, University of Waterloo,
       2005, chapter 4.
    .. [3] K. Q. Weinberger and L. K. Saul, "Unsupervised learning of image manifolds by semidefinite programming",
       International Journal of Computer Vision 70, 77-90, 2006.

    Examples
    --------
    >>> from sidelight import ActionRespectingEmbedding
    >>> from sidelight.datasets import imagebot
    >>> data = imagebot("line", view=20)  # forty steps forward, twenty back
    >>> model = ActionRespectingEmbedding().fit(data.X, actions=data.factors["actions"])
    >>> int(model.predict_next(7, "backward")[0])  # never done there in training
    6
    """

    _capabilities = TWO_WAY_ITERATIVE.also("takes_actions", "takes_trajectory", "has_spectrum")

    def __init__(
        self,
        n_components: int = 2,
        *,
        window: int = 1,
        metric: object = "euclidean",
        merge: float | str = "auto",
        tol: float = 1e-3,
        gap: float = 0.01,
        max_iter: int = 1000,
        random_state: RandomState = None,
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
        self,
        X: Array,
        y: object = None,
        *,
        actions: object = None,
        trajectory: object = None,
        pairs: object = None,
        distances: object = None,
        known: object = None,
    ) -> ActionRespectingEmbedding:
        """Embed rows and the actions between them.

        Parameters
        ----------
        X : array of shape (n, d)
            Observations in temporal order (for precomputed distances: (n, n)).
        y : ignored
        actions : array of shape (n,) or (n - 1,), array of shape (n, e) or (n - 1, e), Actions, or None
            Label of the action taken at each row, missing (None, NaN, "") at the end of a trajectory; None: no action
            is known. Two-dimensional numbers: an action vector for each row (a force, a speed).
        trajectory : array of shape (n,) or None
            Label of the trajectory of each row; None: a single one, cut where actions are missing. With neither, rows
            have no order, and the neighbours of a row are its nearest rows.
        pairs : Pairs or array of shape (m, 2), or None
            Pairs of rows with known distances. For cross-validation pass ``Pairs(index, n_samples, values=distances)``.
        distances : array of shape (m,) or None
            The distances of the pairs, in units of X; not needed if the pairs carry ``values``.
        known : array of shape (m, 3) or None
            Deprecated: rows i and j, and their distance. Use ``pairs`` and ``distances``.

        Returns
        -------
        self
        """
        del y
        self._check_parameters()
        X = np.asarray(validated(self, X, dtype=[np.float64, np.float32], ensure_min_samples=2))
        check_cost(self, self.estimate_cost(*X.shape), len(X))
        owner = type(self).__name__
        done, vectors = read_actions(owner, actions, len(X), trajectory)
        hints = known_distances(owner, len(X), pairs=pairs, distances=distances, known=known)
        frame, unit = frame_of(owner, X, self.metric)
        points = frame.points(X)
        measured = is_rows_or_distances(self.metric)
        squares = checked_distances(owner, points, self.metric) ** 2 if measured else row_squares(points)
        route = self._route(points, squares, done, vectors, unit, hints)
        believed = trusted_actions(done, route.trusted)
        states, place_rows = route.states, np.unique(route.states, return_index=True)[1]
        found, spectrum = None, route.spectrum
        if spectrum is None:
            if len(place_rows) > 1:
                found = self._solve(self._problem(place_squares(squares, states), states, believed, hints, unit))
            spectrum = gram_spectrum(np.zeros((1, 1)) if found is None else found.point, unit)
        elif route.n_pieces > 1:
            _warn_of_pieces(owner, done, route.n_pieces)
        latent = spectrum.axes[states]
        Z = np.zeros((len(X), self.n_components))
        width = min(self.n_components, latent.shape[1])
        Z[:, :width] = latent[:, :width]
        maps = unfolded_maps(frame, X, Z, points, self.metric, n_jobs=self.n_jobs)
        rigid = route.maps or action_model(latent, states, place_rows, believed).maps
        report = report_of(found, unit)
        self._keep_maps(maps, np.asarray(Z.astype(X.dtype, copy=False)))
        self.latent_, self.states_, self.place_rows_, self.actions_ = latent, states, place_rows, done
        self.rigid_maps_, self.trusted_steps_ = list(rigid.items()), route.trusted
        self.solved_by_, self.dynamics_, self.action_vectors_ = route.solved_by, route.dynamics, vectors
        self.gram_eigenvalues_, self.explained_ = spectrum.eigenvalues, spectrum.explained
        self.history_, self.n_iter_ = report.history, report.n_iter
        self.certificate_ = report.certificate if route.spectrum is None else {}
        raise_if_interrupted(found is not None and found.status is Status.INTERRUPTED)
        return self

    def fit_transform(
        self,
        X: Array,
        y: object = None,
        *,
        actions: object = None,
        trajectory: object = None,
        pairs: object = None,
        distances: object = None,
        known: object = None,
    ) -> Array:
        """Fit, and return ``embedding_`` (n, q); parameters as those of ``fit``."""
        given = {"actions": actions, "trajectory": trajectory, "pairs": pairs, "distances": distances, "known": known}
        return np.asarray(self.fit(X, y, **given).embedding_)

    def _has_data_space(self) -> bool:
        return not is_precomputed(self.metric)

    def estimate_cost(self, n: int, d: int) -> Cost:
        """Estimate memory and time of a fit of n rows and d columns, before fitting, if all are distinct places.

        With ``merge="auto"`` the estimate is for a walk with noise; the program for an exact world with as many places
        takes longer.
        """
        size = 8 * n * (6 * d + 4 * LISTED) + 220 * n * n + 2**27
        of_pair = 4e-6 if self.merge == "auto" else 2e-4
        return Cost(int(size), float(0.2 + 5e-9 * n * n * d + of_pair * n**2))

    def _check_parameters(self) -> None:
        check_integer(self, "n_components", self.n_components, 1)
        check_integer(self, "window", self.window, 1)
        check_metric(type(self).__name__, self.metric)
        if self.merge not in (0, "auto"):
            check_number(self, "merge", self.merge, 0.0, 1.0)
        check_number(self, "tol", self.tol, 0.0)
        check_number(self, "gap", self.gap, 0.0)
        check_integer(self, "max_iter", self.max_iter, 1)

    def _route(
        self, points: Array, squares: Array, actions: Actions, vectors: Array | None, unit: float, hints: KnownDistances
    ) -> Route:
        """How the walk is modelled; known distances belong to the program."""
        if self.merge == "auto" and (vectors is not None or not len(hints.index)):
            return chosen_route(points, squares, is_rows_or_distances(self.metric), actions, vectors, unit)
        if vectors is not None:
            rule, remedy = "needs labels, and actions= are vectors", 'Leave merge at "auto"'
            raise ValueError(error_message(self, "merge", self.merge, rule, remedy))
        share = PUBLISHED if self.merge == "auto" else float(self.merge)
        states = find_places(squares, actions, share)
        _warn_of_collapse(type(self).__name__, squares, states, actions)
        return Route("program", states, np.ones(len(actions.steps), dtype=bool))

    def _problem(
        self, squares: Array, states: Array, actions: Actions, hints: KnownDistances, unit: float
    ) -> ActionProblem:
        """The semidefinite program of places, from their squared distances (n_places, n_places).

        Warns of unconnected pieces, which the distance of their nearest places then holds together.
        """
        owner = type(self).__name__
        if len(actions.steps):
            near = neighbours_by_actions(squares, states, actions, int(self.window))
        else:
            near = neighbours_by_distance(squares)
        known = hints.between_places(owner, states, unit)
        tied = distance_classes(states, actions) if actions.names else None
        problem = action_problem(squares, near, tied, known, argument=hints.argument)
        if problem.n_pieces > 1:
            _warn_of_pieces(owner, actions, problem.n_pieces)
        return problem

    def _solve(self, problem: ActionProblem) -> GramResult:
        """Solve the program, by an interior-point method if it is small enough; warn if it did not converge."""
        program, tol, gap, owner = problem.program, float(self.tol), float(self.gap), type(self).__name__

        def solve(callback: Callback | None) -> GramResult:
            if isinstance(program, TiedProgram) and interior_cost(program.n, len(program.members)) <= _INTERIOR:
                return solve_interior(program, tolerance=tol, gap=gap, max_iter=self.max_iter, callback=callback)
            return solve_gram(program, problem.start, tolerance=tol, gap=gap, max_iter=self.max_iter, callback=callback)

        found = shown_progress(owner, self.verbose, self.callback, solve)
        warn_unless_converged(owner, self.max_iter, found, "Raise max_iter, tol or gap")
        return found

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.pairwise = is_precomputed(self.metric)
        return tags


def _warn_of_collapse(owner: str, squares: Array, states: Array, actions: Actions) -> None:
    """Warn of steps whose ends differ but were merged into one place: their action is not one-to-one."""
    steps = actions.steps
    still = (states[steps[:, 0]] == states[steps[:, 1]]) & (squares[steps[:, 0], steps[:, 1]] > 0)
    if still.any():
        rule = f"puts both ends of {int(still.sum())} steps into one place, though they look different"
        remedy = "An action must lead from a place to one place: give other labels where it does not, as at walls"
        warn(error_message(owner, "actions", repr(actions), rule, remedy), UserWarning)


def _warn_of_pieces(owner: str, actions: Actions, n_pieces: int) -> None:
    """Warn of trajectories without a common place, whose relative position has no meaning."""
    rule = f"leaves {n_pieces} trajectories without a common place; they are embedded separately"
    remedy = (
        "Where they lie to each other means nothing: give trajectories that share a place, or pairs= with distances"
    )
    warn(error_message(owner, "trajectory", repr(actions), rule, remedy), UserWarning)

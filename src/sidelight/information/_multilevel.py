"""The multilevel solver: optimise a bound of the information over merged rows first, then over ever finer levels.

The coarsest level is annealed: the weight of the attraction between neighbours falls from four times its final value to
once. Every finer level starts from the embedding of the coarser one, so that only local changes remain; its attraction
is doubled first, so that rows that were merged with others across a gap can leave them. The finest level needs a
fraction of the evaluations that it would need from a start of its own: large-scale motions take a solver longest, and
are done where rows are few.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array

from sidelight.base.cost import Cost
from sidelight.base.result import Record, Result, State
from sidelight.base.types import Array, SparseMatrix
from sidelight.kernels.profiles import Profile, profile
from sidelight.neighbours.graph import joined_links
from sidelight.neighbours.search import edge_lengths, neighbour_seconds
from sidelight.neighbours.sparse_distances import Points, SparseDistances
from sidelight.objectives.bound import InformationBound
from sidelight.solvers.anneal import Path, best_size
from sidelight.solvers.annealing import ENDED_EARLY, AnnealingSettings, FitProgress
from sidelight.solvers.eigen import graph_spectrum
from sidelight.solvers.held import HeldRows
from sidelight.solvers.lbfgs import minimise
from sidelight.solvers.levels import Level, levels_of, prolonged
from sidelight.solvers.multigrid import DIRECT, Hierarchy

from ._level_sums import in_rounds, level_error, level_tolerance, over_cells, sums_cost
from ._problem import Problem, with_refined_effect
from ._settings import LatentSettings
from ._starts import initial_points

__all__ = ["ATTRACTION", "MultilevelFit", "attraction_inverse", "coarse_start", "multilevel_cost", "solve_multilevel"]


ATTRACTION = 5.0
"""Neighbours attract each other with weight 1 + ATTRACTION * λ; the bound itself has weight 1."""
_COARSEST = 3000  # merged rows at most, a fifth of it at least: few enough to be annealed, enough to show the shape
_ANNEALED = (4.0, 2.0, 1.5, 1.0)  # annealing stages of the coarsest level: factors of the attraction
_ANNEALED_FINER = (2.0, 1.0)  # of the others, decision 0042
_LOOSE = 10.0  # times the tolerance for stages that only loosen a level: a few iterations bring rows back
_HELD = 0.01  # damping: this share of a row's attraction at distance 0 is added to its curvature
_STRAYS, _ROOM = 1e-3, 2.0  # for ``_box``: share of rows left outside at each side, and the factor a level may grow
_COARSE_TOL = 200.0  # a level ends at this many times ``tol``: the next finer level makes the remaining progress faster
_FINEST_TOL = 100.0  # and the finest: trustworthiness is lost by an earlier end (decision 0015)


def multilevel_cost(n: int, d: int, perplexity: float, latent_kernel: str, n_components: int) -> Cost:
    """Estimate memory and time of a multilevel fit of n rows and d columns, before fitting.

    Neighbour search, and about 36 evaluations on all rows, which include those on coarser levels (24 in more than
    three dimensions, where rows find their places faster).
    """
    pairs = 1.4 * perplexity * n
    size, seconds = sums_cost(profile(latent_kernel), n, n_components)
    per_pair, evaluations = (4e-8, 36) if n_components <= 3 else (4e-8 + 5e-9 * n_components, 24)
    evaluation = seconds + per_pair * pairs
    return Cost(int(size + 12 * n * d + 60 * pairs + 2**27), 0.5 + evaluations * evaluation + neighbour_seconds(n, d))


@dataclass(frozen=True)
class MultilevelFit:
    """The path through the levels, the problem solved last, and the relative error of the latent sums at the end."""

    path: Path
    problem: Problem
    sum_error: float


def solve_multilevel(
    problem: Problem,
    start: Array | None,
    latent: LatentSettings,
    annealing: AnnealingSettings,
    progress: Callable[[], FitProgress],
    *,
    precomputed: bool,
    n_jobs: int | None,
    held: HeldRows | None = None,
) -> MultilevelFit:
    """Solve a problem from coarse to fine; if it can be refined, refine it and solve again from the embedding found.

    Parameters
    ----------
    problem : Problem
    start : array of shape (n, q) or None
        Initial latent points of all rows; then only the finest level is solved. None: start on the coarsest level, as
        ``latent.init`` says.
    latent : LatentSettings
    annealing : AnnealingSettings
        Only λ, ``max_iter`` and ``tol`` are used.
    progress : callable
        Makes a new FitProgress; called once for each of the two solves.
    precomputed : bool
        Whether the points are distances.
    n_jobs : int or None
    held : HeldRows or None
        Rows that stay at their initial points, where there is a ``start``.

    Returns
    -------
    MultilevelFit
    """

    def solved(problem: Problem, start: Array | None, before: Path | None) -> tuple[Path, float]:
        assert isinstance(problem.kernel.matrix, csr_array)
        walk = _Levels(
            problem.kernel.matrix, problem.factors, latent, annealing, progress(), before, start is None, n_jobs, held
        )
        path = walk.run(
            start,
            lambda level, ancestor: coarse_start(
                problem.points, level, ancestor, latent, precomputed=precomputed, n_jobs=n_jobs
            ),
        )
        assert walk.objective is not None
        return path, level_error(walk.objective, path.point, n_jobs)

    path, error = solved(problem, start, None)
    if problem.refinement is not None and path.status not in ENDED_EARLY:
        problem = with_refined_effect(problem, problem.refinement, path.point)
        path, error = solved(problem, path.point, path)
    return MultilevelFit(path, problem, error)


def coarse_start(
    points: Points, level: Level, ancestor: Array, latent: LatentSettings, *, precomputed: bool, n_jobs: int | None
) -> Array:
    """Initial latent points (m, q) of the merged rows of a level, as ``latent.init`` says.

    A merged row is represented by the mean of its members; for precomputed distances, by one of its members. For sparse
    distances, the distance of two merged rows is the mean of the known distances between their members. ``ancestor``
    (n,) is the merged row that each row belongs to.
    """
    one = np.repeat(np.arange(level.n), np.diff(level.kernel.indptr))
    other = np.asarray(level.kernel.indices, dtype=np.int64)
    if isinstance(points, SparseDistances):
        merged = points.merged(ancestor, level.n)
        means: Points = merged
        lengths = np.asarray(merged.stored[one, other]).ravel()
    elif precomputed:
        rows = np.unique(ancestor, return_index=True)[1]
        means = points[np.ix_(rows, rows)]
        lengths = means[one, other]
    else:
        share = (1 / level.weights[ancestor]).astype(points.dtype)  # another dtype would make R @ points copy the rows
        R = csr_array((share, (ancestor, np.arange(len(ancestor)))), shape=(level.n, len(ancestor)))
        means = np.asarray(R @ points, dtype=np.float64)
        lengths = edge_lengths(means, level.kernel)
    graph = None
    if isinstance(latent.init, str) and latent.init == "mds":
        graph = joined_links(means, one, other, lengths, precomputed=precomputed)
    q = latent.n_components
    return initial_points(
        means, graph, lambda: graph_spectrum(level.kernel, q), latent, precomputed=precomputed, n_jobs=n_jobs
    )


class _Levels:
    """One solve from the coarsest level to the finest, with the history of its stages."""

    def __init__(
        self,
        K: SparseMatrix,
        factors: Array | None,
        latent: LatentSettings,
        annealing: AnnealingSettings,
        progress: FitProgress,
        before: Path | None,
        coarse: bool,
        n_jobs: int | None,
        held: HeldRows | None = None,
    ) -> None:
        """``before`` is a path that this one continues; with ``coarse=False`` only the finest level is solved."""
        K = csr_array(K * (K.shape[0] / float(K.sum())))
        self.hierarchy = Hierarchy(levels_of(K, min(DIRECT, _COARSEST)), n_jobs)
        self.ancestors = _ancestors(self.hierarchy.levels)
        sizes = [level.n for level in self.hierarchy.levels]
        first = next((depth for depth, n in enumerate(sizes) if n <= _COARSEST), len(sizes) - 1)
        self.first = first if coarse else 0
        self.coarse = coarse
        self.held = held  # in the finest level, the only one without ``coarse``
        self.factors, self.annealing, self.progress, self.n_jobs = factors, annealing, progress, n_jobs
        self.profile: Profile = profile(latent.kernel)
        self.objective: InformationBound | None = None  # the last one minimised
        self.attraction = 1.0 + ATTRACTION * annealing.regularization
        self.stages: list[Result] = [] if before is None else list(before.stages)
        self.schedule: list[float] = [] if before is None else list(before.schedule)
        self.history: list[Record] = [] if before is None else list(before.history)
        self.n_stages = len(self.stages) + (len(_ANNEALED) + len(_ANNEALED_FINER) * self.first if coarse else 1)
        self.began = time.perf_counter() - (self.history[-1].seconds if self.history else 0.0)

    def run(self, start: Array | None, start_of: Callable[[Level, Array], Array]) -> Path:
        """Minimise from coarse to fine, from ``start`` (n, q) or, if None, from ``start_of(coarsest, ancestor)``."""
        levels = self.hierarchy.levels
        Z = start_of(levels[self.first], self.ancestors[self.first]) if start is None else start
        for depth in range(self.first, -1, -1):
            if depth < self.first:
                Z = prolonged(levels[depth], Z)
            Z = self._solve_level(depth, Z)
            if self.stages[-1].status in ENDED_EARLY:
                break
        path = Path(self.stages[-1].point, tuple(self.stages), tuple(self.schedule), tuple(self.history))
        self.progress.end(path, self.annealing.max_iter)
        return path

    def _solve_level(self, depth: int, Z: Array) -> Array:
        """Run the stages of one level from ``Z`` (m, q); return its latent points (m, q)."""
        level, ancestor = self.hierarchy.levels[depth], self.ancestors[depth]
        first = depth == self.first
        times = (_ANNEALED if first else _ANNEALED_FINER) if self.coarse else (1.0,)
        factors = _merged_factors(self.factors, level, ancestor)
        tolerance = level_tolerance(Z, self.profile, self.n_jobs)
        box = None if first or not self.coarse else _box(Z)
        for stage, factor in enumerate(times):
            objective = InformationBound(
                level.kernel, self.profile, weights=level.weights, factors=factors, tolerance=tolerance,
                attraction=factor * self.attraction, box=box, n_jobs=self.n_jobs,
            )  # fmt: skip
            if stage == 0 and first and self.coarse:
                Z = best_size(over_cells(objective, Z, level.kernel).value_and_grad, Z)
            found, self.objective = in_rounds(
                objective, Z, level.kernel, self._minimiser(depth, factor), self.annealing.max_iter
            )
            Z = _pull_in_outliers(found.point, box, level.kernel)
            self.stages.append(replace(found, point=Z[ancestor]))
            self.schedule.append(factor * self.attraction - 1.0)
            if self.stages[-1].status in ENDED_EARLY:
                break
        return Z

    def _minimiser(self, depth: int, factor: float) -> Callable[[InformationBound, Array, int, int], Result]:
        """The function that minimises an objective of a level: (objective, start, most iterations, done before)."""
        level, ancestor = self.hierarchy.levels[depth], self.ancestors[depth]
        tolerance = (_FINEST_TOL if level.n == len(ancestor) else _COARSE_TOL) * self.annealing.tol
        if factor > 1.0 and depth < self.first:
            tolerance *= _LOOSE

        def minimised(objective: InformationBound, Z: Array, max_iter: int, before: int) -> Result:
            inverse_at, held = attraction_inverse(self.hierarchy, depth, objective), self.held
            return minimise(
                objective.value_and_grad if held is None else held.objective(objective.value_and_grad),
                Z,
                max_iter=max_iter,
                tolerance=tolerance,
                inverse_at=inverse_at if held is None else lambda Z: held.inverse(inverse_at(Z)),
                on_step=self._recorder(ancestor, factor * self.attraction - 1.0, before),
            )

        return minimised

    def _recorder(
        self, ancestor: Array, weight: float, before: int
    ) -> Callable[[int, float, Array, dict[str, float]], bool]:
        """The function called at each iteration: appends to the history, returns whether the user's callback stops."""
        stage = len(self.stages)

        def on_step(iteration: int, value: float, at: Array, terms: dict[str, float]) -> bool:
            seconds = time.perf_counter() - self.began
            self.history.append(Record(stage, weight, before + iteration, value, dict(terms), seconds))
            if self.progress.callback is None:
                return False
            state = State(**vars(self.history[-1]), n_stages=self.n_stages, point=at[ancestor])
            return bool(self.progress.callback(state))

        return on_step


def attraction_inverse(
    hierarchy: Hierarchy, depth: int, objective: InformationBound
) -> Callable[[Array], Callable[[Array], Array]]:
    """Preconditioner of a level: ``at(Z)`` returns a function that applies an approximate inverse Hessian at ``Z``.

    One multigrid cycle for the attractive part of the Hessian, damped by ``_HELD``.
    """
    level = hierarchy.levels[depth]
    held = _HELD * (level.kernel @ np.ones(level.n) + 1e-3 * level.weights)
    scale = objective.total / (4.0 * objective.attraction)

    def at(Z: Array) -> Callable[[Array], Array]:
        cycle = hierarchy.cycle(depth, objective.links(Z), held)
        return lambda G: scale * cycle(G)

    return at


def _ancestors(levels: list[Level]) -> list[Array]:
    """For each level an array (n,): the merged row of that level to which each original row belongs."""
    found = [np.arange(levels[0].n)]
    for level in levels[:-1]:
        assert level.parent is not None
        found.append(level.parent[found[-1]])
    return found


def _merged_factors(factors: Array | None, level: Level, ancestor: Array) -> Array | None:
    """Factors (m, r) of merged rows: the mean of the factors of their members."""
    if factors is None:
        return None
    columns = [np.bincount(ancestor, weights=column, minlength=level.n) for column in factors.T]
    return np.asarray(np.column_stack(columns) / level.weights[:, None])


def _box(Z: Array) -> Array:
    """Bounds (2, q) for the rows of a level under repulsion: 1.5 times the range that holds nearly all of them now."""
    low, high = np.quantile(Z, [_STRAYS, 1.0 - _STRAYS], axis=0)
    middle, half = 0.5 * (low + high), 0.5 * _ROOM * (high - low)
    return np.array([middle - half, middle + half])


def _pull_in_outliers(Z: Array, box: Array | None, K: SparseMatrix) -> Array:
    """Move rows that ended outside the box (outliers) to the weighted mean of their neighbours in the graph ``K``."""
    strays = np.zeros(len(Z), dtype=bool) if box is None else ((box[0] > Z) | (box[1] < Z)).any(axis=1)
    if strays.any():
        rows = csr_array(K[np.flatnonzero(strays)])
        Z = Z.copy()
        Z[strays] = (rows @ Z) / np.maximum(rows @ np.ones(len(Z)), 1e-300)[:, None]
    return Z

"""Multilevel fits: the bound of the information, minimised over merged rows first, then over ever finer ones.

The coarsest level is annealed: the attraction of neighbours falls from four times to once. Every finer level starts
from the map of the one before and has only what is local left to do. All levels together cost about a quarter more
than the last, and the last needs a fraction of the evaluations it would need from a start of its own: what takes a
solver long are the global motions, and those are done where rows are few.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from sidelight.base.cost import Cost
from sidelight.base.result import Record, Result, State
from sidelight.kernels.gauss_transform import normaliser_cost
from sidelight.kernels.pair_sums import latent_sums, sum_error
from sidelight.kernels.profiles import Profile, profile
from sidelight.neighbours.graph import joined_links
from sidelight.neighbours.search import linked_distances
from sidelight.neighbours.sparse_distances import SparseDistances
from sidelight.objectives.bound import InformationBound
from sidelight.solvers.anneal import Path, best_size
from sidelight.solvers.annealing import ENDED_EARLY, Annealing, FitProgress
from sidelight.solvers.eigen import graph_spectrum
from sidelight.solvers.lbfgs import minimise
from sidelight.solvers.levels import Level, levels_of, prolonged
from sidelight.solvers.multigrid import DIRECT, Hierarchy

from ._problem import Problem, refined
from ._settings import LatentSettings
from ._starts import start_places

__all__ = ["ATTRACTION", "MultilevelFit", "attraction_inverse", "coarse_start", "multilevel_cost", "solve_multilevel"]

Array = npt.NDArray[Any]
ATTRACTION = 5.0
"""Times λ, above 1, is how much more neighbours attract each other than the bound has it."""
_COARSEST = 3000  # merged rows at most, a fifth of it at least: few enough to be annealed, enough to show the shape
_ANNEALED = (4.0, 2.0, 1.5, 1.0)  # times the attraction, on the coarsest level
_TOLERANCES = (1e-3, 1e-5, None)  # of the latent sums: the first that keeps its word
_WORST = 10.0  # times the tolerance, in the worst of the rows that are looked at: those far from all others
_HELD = 0.01  # of its attraction at no distance is added to a row's curvature
_STRAYS, _ROOM = 1e-3, 1.5  # share of the rows at either side that may be outside, and how much a level may grow
_COARSE_TOL, _FINEST_TOL = (
    200.0,
    300.0,
)  # times ``tol``: a level ends there, as what it would still gain the next finds faster


def multilevel_cost(n: int, d: int, perplexity: float, latent_kernel: str, n_components: int) -> Cost:
    """What a multilevel fit takes: neighbours, and about sixty evaluations on all rows, with those on merged ones."""
    pairs = 1.4 * perplexity * n
    size, seconds = normaliser_cost(profile(latent_kernel), n, n_components, _TOLERANCES[0])
    evaluation = seconds + 4e-8 * pairs
    return Cost(int(size + 12 * n * d + 60 * pairs + 2**27), 1.5 + 60 * evaluation + 1e-6 * n * (40 + d / 8))


@dataclass(frozen=True)
class MultilevelFit:
    """The path through the levels, the problem that was solved last, and the error of the latent sums at the end."""

    path: Path
    problem: Problem
    sum_error: float


def solve_multilevel(
    problem: Problem,
    start: Array | None,
    latent: LatentSettings,
    annealing: Annealing,
    progress: Callable[[], FitProgress],
    *,
    precomputed: bool,
    n_jobs: int | None,
) -> MultilevelFit:
    """Solve a problem from coarse to fine, and once more from the map found after the problem was refined.

    Parameters
    ----------
    problem : Problem
    start : array of shape (n, q) or None
        Places of all rows, which make the finest level the only one; None: by ``latent.init`` on the coarsest.
    latent, annealing
        Of the annealing only λ, ``max_iter`` and ``tol`` count.
    progress : callable
        Makes the progress of each of the two.
    precomputed : bool
        Whether the points are distances.
    n_jobs : int or None
    """

    def solved(problem: Problem, start: Array | None, before: Path | None) -> Path:
        assert isinstance(problem.kernel.matrix, csr_array)
        walk = _Levels(
            problem.kernel.matrix, problem.factors, latent, annealing, progress(), before, start is None, n_jobs
        )
        return walk.run(
            start,
            lambda level, ancestor: coarse_start(
                problem.points, level, ancestor, latent, precomputed=precomputed, n_jobs=n_jobs
            ),
        )

    path = solved(problem, start, None)
    if problem.refinement is not None and path.status not in ENDED_EARLY:
        problem = refined(problem, problem.refinement, path.point)
        path = solved(problem, path.point, path)
    kernel_profile = profile(latent.kernel)
    sums = latent_sums(path.point, kernel_profile, tolerance=_TOLERANCES[0], n_jobs=n_jobs)
    return MultilevelFit(path, problem, sum_error(sums, path.point, kernel_profile))


def coarse_start(
    points: Any, level: Level, ancestor: Array, latent: LatentSettings, *, precomputed: bool, n_jobs: int | None
) -> Array:
    """Places of merged rows by ``latent.init``: of the means of their members, or of one of them.

    Of distances that are not all known, by the means of those between members. ``ancestor`` (n,) is the merged row
    each row belongs to.
    """
    one = np.repeat(np.arange(level.n), np.diff(level.kernel.indptr))
    other = np.asarray(level.kernel.indices, dtype=np.int64)
    means: Any
    if isinstance(points, SparseDistances):
        means = points.merged(ancestor, level.n)
        lengths = np.asarray(means.stored[one, other]).ravel()
    elif precomputed:
        rows = np.unique(ancestor, return_index=True)[1]
        means = points[np.ix_(rows, rows)]
        lengths = means[one, other]
    else:
        share = (1 / level.weights[ancestor]).astype(points.dtype)  # a product of two precisions would copy the rows
        R = csr_array((share, (ancestor, np.arange(len(ancestor)))), shape=(level.n, len(ancestor)))
        means = np.asarray(R @ points, dtype=np.float64)
        lengths = linked_distances(means, level.kernel)
    graph = None
    if isinstance(latent.init, str) and latent.init == "mds":
        graph = joined_links(means, one, other, lengths, precomputed=precomputed)
    q = latent.n_components
    return start_places(
        means, graph, lambda: graph_spectrum(level.kernel, q), latent, precomputed=precomputed, n_jobs=n_jobs
    )


class _Levels:
    """One walk from the coarsest level to the finest, with the record of its stages."""

    def __init__(
        self,
        K: csr_array,
        factors: Array | None,
        latent: LatentSettings,
        annealing: Annealing,
        progress: FitProgress,
        before: Path | None,
        coarse: bool,
        n_jobs: int | None,
    ) -> None:
        """``before`` is a path that this one continues; without ``coarse`` the finest level is the only one."""
        K = csr_array(K * (K.shape[0] / float(K.sum())))
        self.hierarchy = Hierarchy(levels_of(K, min(DIRECT, _COARSEST)))
        self.ancestors = _ancestors(self.hierarchy.levels)
        sizes = [level.n for level in self.hierarchy.levels]
        first = next((depth for depth, n in enumerate(sizes) if n <= _COARSEST), len(sizes) - 1)
        self.first = first if coarse else 0
        self.coarse = coarse
        self.factors, self.annealing, self.progress, self.n_jobs = factors, annealing, progress, n_jobs
        self.profile: Profile = profile(latent.kernel)
        self.attraction = 1.0 + ATTRACTION * annealing.regularization
        self.stages: list[Result] = [] if before is None else list(before.stages)
        self.schedule: list[float] = [] if before is None else list(before.schedule)
        self.history: list[Record] = [] if before is None else list(before.history)
        self.n_stages = len(self.stages) + len(_ANNEALED) + self.first
        self.began = time.perf_counter() - (self.history[-1].seconds if self.history else 0.0)

    def run(self, start: Array | None, start_of: Callable[[Level, Array], Array]) -> Path:
        """Minimise the bound from coarse to fine; ``start_of(level, ancestor)`` begins the coarsest level."""
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
        """The stages of one level, from ``Z``; returns its map."""
        level, ancestor = self.hierarchy.levels[depth], self.ancestors[depth]
        times = _ANNEALED if depth == self.first and self.coarse else (1.0,)
        factors = _merged_factors(self.factors, level, ancestor)
        tolerance = _tolerance(Z, self.profile, self.n_jobs)
        box = None if len(times) > 1 or not self.coarse else _box(Z)
        for stage, factor in enumerate(times):
            objective = InformationBound(
                level.kernel, self.profile, weights=level.weights, factors=factors, tolerance=tolerance,
                attraction=factor * self.attraction, box=box, n_jobs=self.n_jobs,
            )  # fmt: skip
            if stage == 0 and len(times) > 1:
                Z = best_size(objective.value_and_grad, Z)
            found = minimise(
                objective.value_and_grad,
                Z,
                max_iter=self.annealing.max_iter,
                tolerance=(_FINEST_TOL if level.n == len(ancestor) else _COARSE_TOL) * self.annealing.tol,
                inverse_at=attraction_inverse(self.hierarchy, depth, objective),
                on_step=self._recorder(ancestor, factor * self.attraction - 1.0),
            )
            Z = _gathered(found.point, box, level.kernel)
            self.stages.append(replace(found, point=Z[ancestor]))
            self.schedule.append(factor * self.attraction - 1.0)
            if self.stages[-1].status in ENDED_EARLY:
                break
        return Z

    def _recorder(self, ancestor: Array, weight: float) -> Callable[[int, float, Array, dict[str, float]], bool]:
        """Called at each iteration: keeps a record, and asks the callback whether to stop."""
        stage = len(self.stages)

        def on_step(iteration: int, value: float, at: Array, terms: dict[str, float]) -> bool:
            seconds = time.perf_counter() - self.began
            self.history.append(Record(stage, weight, iteration, value, dict(terms), seconds))
            if self.progress.callback is None:
                return False
            state = State(**vars(self.history[-1]), n_stages=self.n_stages, point=at[ancestor])
            return bool(self.progress.callback(state))

        return on_step


def attraction_inverse(
    hierarchy: Hierarchy, depth: int, objective: InformationBound
) -> Callable[[Array], Callable[[Array], Array]]:
    """``at(Z)``: an approximate inverse (one multigrid cycle) of the attractive part of the Hessian there, damped."""
    level = hierarchy.levels[depth]
    held = _HELD * (level.kernel @ np.ones(level.n) + 1e-3 * level.weights)
    scale = objective.total / (4.0 * objective.attraction)

    def at(Z: Array) -> Callable[[Array], Array]:
        cycle = hierarchy.cycle(depth, objective.links(Z), held)
        return lambda G: scale * cycle(G)

    return at


def _ancestors(levels: list[Level]) -> list[Array]:
    """For each level, the merged row of it that each row of the finest belongs to."""
    found = [np.arange(levels[0].n)]
    for level in levels[:-1]:
        assert level.parent is not None
        found.append(level.parent[found[-1]])
    return found


def _merged_factors(factors: Array | None, level: Level, ancestor: Array) -> Array | None:
    """The mean of the members' factors."""
    if factors is None:
        return None
    columns = [np.bincount(ancestor, weights=column, minlength=level.n) for column in factors.T]
    return np.asarray(np.column_stack(columns) / level.weights[:, None])


def _box(Z: Array) -> Array:
    """Where the rows of a level may repel each other to (2, q): half as far again as nearly all of them are now."""
    low, high = np.quantile(Z, [_STRAYS, 1.0 - _STRAYS], axis=0)
    middle, half = 0.5 * (low + high), 0.5 * _ROOM * (high - low)
    return np.array([middle - half, middle + half])


def _gathered(Z: Array, box: Array | None, K: csr_array) -> Array:
    """Move the few rows that ended outside the box to the weighted mean of their neighbours in the graph."""
    strays = np.zeros(len(Z), dtype=bool) if box is None else ((box[0] > Z) | (box[1] < Z)).any(axis=1)
    if strays.any():
        rows = csr_array(K[np.flatnonzero(strays)])
        Z = Z.copy()
        Z[strays] = (rows @ Z) / np.maximum(rows @ np.ones(len(Z)), 1e-300)[:, None]
    return Z


def _tolerance(Z: Array, profile: Profile, n_jobs: int | None) -> float | None:
    """The first tolerance that the latent sums keep, or nearly, on rows drawn at random."""
    for tolerance in _TOLERANCES[:-1]:
        if sum_error(latent_sums(Z, profile, tolerance=tolerance, n_jobs=n_jobs), Z, profile) <= _WORST * tolerance:
            return tolerance
    return None

"""Fit a map by levels: the bound of the information, minimised over merged rows first, then over ever finer ones.

The coarsest level is annealed: the attraction of neighbours falls from four times to once. Every finer level starts
from the map of the one before and has only what is local left to do. All levels together cost about a quarter more
than the last, and the last needs a fraction of the evaluations it would need from a start of its own: what takes a
solver long are the global motions, and those are done where rows are few.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from sidelight.base.cost import Cost
from sidelight.base.messages import complain
from sidelight.base.progress import ProgressBar, both
from sidelight.base.result import Record, Result, State, Status
from sidelight.base.warnings import warn
from sidelight.kernels.gauss_transform import normaliser_cost
from sidelight.kernels.pair_sums import latent_sums, sum_error
from sidelight.kernels.profiles import Profile, profile
from sidelight.neighbours.dimension import local_dimension
from sidelight.neighbours.graph import joined_links
from sidelight.neighbours.search import linked_distances, listed_distances
from sidelight.neighbours.sparse_distances import SparseDistances
from sidelight.objectives.bound import InformationBound
from sidelight.solvers.anneal import Path, best_size
from sidelight.solvers.annealed_fit import announce
from sidelight.solvers.eigen import graph_spectrum
from sidelight.solvers.lbfgs import minimise
from sidelight.solvers.levels import Level, levels_of, prolonged
from sidelight.solvers.multigrid import DIRECT, Hierarchy

from ._informed_problem import Informed
from ._starts import first_places

__all__ = [
    "DECAY",
    "attraction_inverse",
    "choose_solver",
    "climb",
    "follow_levels",
    "levels_cost",
    "roomy",
    "warn_of_path_options",
]

Array = npt.NDArray[Any]
_PATH_ROWS = 2000
"""Up to so many rows the information itself is maximised, all rows at once."""
_INFORMED_ROWS = 5000
"""The same with ``given``, of which the bound has a coarser kernel, and which costs it more."""
DECAY = 0.5
"""The default of ``regularization_decay``: whoever sets another wants a path."""
ATTRACTION = 5.0  # times λ, above 1, is how much more neighbours attract each other than the bound has it
_SPARE = 0.75  # dimensions that data may have more than the map and still be laid out flat
_PROBED = 2000  # rows that the dimension is estimated from
_COARSEST = 3000  # merged rows at most, a fifth of it at least: few enough to be annealed, enough to show the shape
_ANNEALED = (4.0, 2.0, 1.5, 1.0)  # times the attraction, on the coarsest level
_TOLERANCES = (1e-3, 1e-5, None)  # of the latent sums: the first that keeps its word
_WORST = 10.0  # times the tolerance, in the worst of the rows that are looked at: those far from all others
_HELD = 0.01  # of its attraction at no distance is added to a row's curvature
_STRAYS, _ROOM = 1e-3, 1.5  # share of the rows at either side that may be outside, and how much a level may grow
_COARSE, _FINEST = 200.0, 300.0  # times ``tol``: a level ends there, as what it would still gain the next finds faster


def choose_solver(model: Any, n: int, given: bool, same: bool) -> tuple[str, str]:
    """The solver and the latent kernel for ``n`` rows; a sentence where levels were asked for and cannot be."""
    fine = {
        "bandwidth": model.bandwidth == "perplexity",
        "penalty": model.penalty == "stretch",
        "latent_kernel": model.latent_kernel != "quartic",
        "conditioning": not given or model.conditioning in ("auto", "balanced"),
        "given_weight": not given or model.given_weight <= 1,
        "same": not same,
    }
    held_up = [name for name in fine if not fine[name]]
    refused = [*held_up, *_path_options(model)]
    if model.solver == "levels" and refused:
        seen, rule = getattr(model, refused[0], "pairs"), "has no place in a fit by levels"
        raise ValueError(complain(model, refused[0], seen, rule, "Use solver='path', or leave it as it is by default"))
    suitable = "path" if held_up or n <= (_INFORMED_ROWS if given else _PATH_ROWS) else "levels"
    solver = suitable if model.solver == "auto" else model.solver
    kernel = "student" if solver == "levels" else "gaussian"
    return solver, kernel if model.latent_kernel == "auto" else model.latent_kernel


def _path_options(model: Any) -> list[str]:
    """The parameters that say how λ falls along the path, where they differ from the default."""
    set_ = {
        "regularization_start": model.regularization_start is not None,
        "regularization_decay": model.regularization_decay != DECAY,
    }
    return [name for name in set_ if set_[name]]


def warn_of_path_options(model: Any) -> None:
    """Say that "auto" chose levels, where λ does not fall as the user asked."""
    for name in _path_options(model):
        rule = "has no effect by levels, which solver='auto' takes for so many rows"
        message = complain(model, name, getattr(model, name), rule, f"Use solver='path', or leave {name} out")
        warn(message, UserWarning)


def roomy(model: Any, informed: Informed) -> bool:
    """Whether the map has about as many dimensions as the data, so that neighbours need no heavy tails to fit in."""
    lists = informed.kernel.lists
    assert lists is not None
    rows = np.unique(np.linspace(0, len(lists) - 1, min(len(lists), _PROBED)).astype(np.int64))
    points: Any = informed.points
    if isinstance(points, SparseDistances):
        distances = points[rows].nearest(lists.shape[1]).distance
        distances = distances[:, : max(1, int(np.median(np.isfinite(distances).sum(axis=1))))]
    elif model.metric == "precomputed":
        distances = np.take_along_axis(np.asarray(points[rows]), lists[rows], axis=1)
    else:
        distances = listed_distances(points[rows], points, lists[rows])
    model.dimension_ = local_dimension(np.sort(distances, axis=1))
    return bool(model.dimension_ <= model.n_components + _SPARE)


def levels_cost(model: Any, n: int, d: int, kernel: str) -> Cost:
    """What a fit by levels takes: neighbours, and about sixty evaluations on all rows, with those on merged ones."""
    pairs = 1.4 * model.perplexity * n
    size, seconds = normaliser_cost(profile(kernel), n, model.n_components, _TOLERANCES[0])
    evaluation = seconds + 4e-8 * pairs
    return Cost(int(size + 12 * n * d + 60 * pairs + 2**27), 1.5 + 60 * evaluation + 1e-6 * n * (40 + d / 8))


def climb(model: Any, informed: Informed, start: Array | None) -> tuple[Path, Informed]:
    """Solve a problem by levels; one that is refined once there is a map is solved again from that map."""
    path = _solve(model, informed, start, None)
    if informed.again is not None and path.status not in (Status.STOPPED, Status.INTERRUPTED):
        informed = informed.again(path.point)
        path = _solve(model, informed, path.point, path)
    return path, informed


def _solve(model: Any, informed: Informed, start: Array | None, before: Path | None) -> Path:
    latent = profile(model.latent_kernel_)
    assert isinstance(informed.kernel.matrix, csr_array)
    path = follow_levels(
        model,
        informed.kernel.matrix,
        latent,
        lambda level, ancestor: _coarse_start(model, informed.points, level, ancestor),
        attraction=1.0 + ATTRACTION * model.regularization,
        factors=informed.factors,
        start=start,
        before=before,
    )
    sums = latent_sums(path.point, latent, tolerance=_TOLERANCES[0], n_jobs=model.n_jobs)
    model.sum_error_ = sum_error(sums, path.point, latent)
    return path


def _coarse_start(model: Any, points: Any, level: Level, ancestor: Array) -> Array:
    """Places of merged rows by the model's ``init``: of the means of their members, or of one of them.

    Of distances that are not all known, by the means of those between members.
    """
    one = np.repeat(np.arange(level.n), np.diff(level.kernel.indptr))
    other = np.asarray(level.kernel.indices, dtype=np.int64)
    means: Any
    if isinstance(points, SparseDistances):
        means = points.merged(ancestor, level.n)
        lengths = np.asarray(means.stored[one, other]).ravel()
    elif model.metric == "precomputed":
        rows = np.unique(ancestor, return_index=True)[1]
        means = points[np.ix_(rows, rows)]
        lengths = means[one, other]
    else:
        share = (1 / level.weights[ancestor]).astype(points.dtype)  # a product of two precisions would copy the rows
        R = csr_array((share, (ancestor, np.arange(len(ancestor)))), shape=(level.n, len(ancestor)))
        means = np.asarray(R @ points, dtype=np.float64)
        lengths = linked_distances(means, level.kernel)
    graph = None
    if model.init == "mds":
        graph = joined_links(means, one, other, lengths, precomputed=model.metric == "precomputed")
    return first_places(model, means, graph, lambda: graph_spectrum(level.kernel, model.n_components))


def follow_levels(
    model: Any,
    K: csr_array,
    profile: Profile,
    start_of: Callable[[Level, Array], Array],
    *,
    attraction: float,
    factors: Array | None = None,
    start: Array | None = None,
    before: Path | None = None,
) -> Path:
    """Minimise the bound from coarse to fine; ``start_of(level, ancestor)`` begins the coarsest level.

    ``ancestor`` (n,) is the merged row of that level each row belongs to. A ``start`` (n, q) makes the finest level the
    only one; ``before`` is a path that this one goes on from.
    """
    K = csr_array(K * (K.shape[0] / float(K.sum())))
    hierarchy = Hierarchy(levels_of(K, min(DIRECT, _COARSEST)))
    levels = hierarchy.levels
    ancestors = _ancestors(levels)
    first = next((depth for depth, level in enumerate(levels) if level.n <= _COARSEST), len(levels) - 1)
    first = first if start is None else 0
    climb = _Climb(model, profile, hierarchy, len(_ANNEALED) + first, attraction, before)
    Z = start_of(levels[first], ancestors[first]) if start is None else start
    for depth in range(first, -1, -1):
        level, ancestor = levels[depth], ancestors[depth]
        if depth < first:
            Z = prolonged(level, Z)
        times = _ANNEALED if depth == first and start is None else (1.0,)
        Z = climb.through(depth, ancestor, Z, times, _merged_factors(factors, level, ancestor), resize=start is None)
        if climb.ended:
            break
    path = Path(climb.stages[-1].point, tuple(climb.stages), tuple(climb.schedule), tuple(climb.history))
    announce(model, climb.bar, path)
    return path


class _Climb:
    """The way from level to level: what was found, and what is said of it."""

    def __init__(
        self,
        model: Any,
        profile: Profile,
        hierarchy: Hierarchy,
        n_stages: int,
        attraction: float,
        before: Path | None,
    ) -> None:
        self.model, self.profile, self.hierarchy, self.attraction = model, profile, hierarchy, attraction
        self.bar = ProgressBar(type(model).__name__) if model.verbose else None
        self.callback = both(self.bar, model.callback)
        self.stages: list[Result] = [] if before is None else list(before.stages)
        self.schedule: list[float] = [] if before is None else list(before.schedule)
        self.history: list[Record] = [] if before is None else list(before.history)
        self.n_stages = len(self.stages) + n_stages
        self.began = time.perf_counter() - (self.history[-1].seconds if self.history else 0.0)

    @property
    def ended(self) -> bool:
        """Somebody asked for the end."""
        return self.stages[-1].status in (Status.STOPPED, Status.INTERRUPTED)

    def through(
        self,
        depth: int,
        ancestor: Array,
        Z: Array,
        times: tuple[float, ...],
        factors: Array | None,
        *,
        resize: bool,
    ) -> Array:
        """The stages of one level, from ``Z``; returns its map."""
        level, tolerance = self.hierarchy.levels[depth], _tolerance(Z, self.profile, self.model.n_jobs)
        box = None if len(times) > 1 or not resize else _box(Z)
        for stage, factor in enumerate(times):
            objective = InformationBound(
                level.kernel, self.profile, weights=level.weights, factors=factors, tolerance=tolerance,
                attraction=factor * self.attraction, box=box, n_jobs=self.model.n_jobs,
            )  # fmt: skip
            if stage == 0 and len(times) > 1 and resize:
                Z = best_size(objective.value_and_grad, Z)
            found = minimise(
                objective.value_and_grad,
                Z,
                max_iter=self.model.max_iter,
                tolerance=(_FINEST if level.n == len(ancestor) else _COARSE) * self.model.tol,
                inverse_at=attraction_inverse(self.hierarchy, depth, objective),
                on_step=self._told(ancestor, factor * self.attraction - 1.0),
            )
            Z = _gathered(found.point, box, level.kernel)
            self.stages.append(replace(found, point=Z[ancestor]))
            self.schedule.append(factor * self.attraction - 1.0)
            if self.ended:
                break
        return Z

    def _told(self, ancestor: Array, weight: float) -> Callable[[int, float, Array, dict[str, float]], bool]:
        stage = len(self.stages)

        def on_step(iteration: int, value: float, at: Array, terms: dict[str, float]) -> bool:
            seconds = time.perf_counter() - self.began
            self.history.append(Record(stage, weight, iteration, value, dict(terms), seconds))
            if self.callback is None:
                return False
            state = State(**vars(self.history[-1]), n_stages=self.n_stages, point=at[ancestor])
            return bool(self.callback(state))

        return on_step


def attraction_inverse(
    hierarchy: Hierarchy, depth: int, objective: InformationBound
) -> Callable[[Array], Callable[[Array], Array]]:
    """``at(Z)``: the inverse of what attraction makes of the Hessian there, with rows far from all their links held."""
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
    """Rows that ended outside the box, a few that hardly anything holds, put in the middle of their neighbours."""
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

"""Annealed fits: minimise an objective plus λ times a penalty, from a λ at which the points are one clump to its end.

    -I(X; Z) + λ penalty(Z),     λ falls geometrically

A problem that can be refined once there is a map (``_problem.refined``) is solved in two stages: the whole schedule,
and its last part again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.kernels.profiles import profile
from sidelight.objectives.entropy import EntropySum
from sidelight.objectives.evaluation import penalised
from sidelight.objectives.penalties import penalty_named
from sidelight.solvers.anneal import Path, ValueAndGrad, anneal, best_size
from sidelight.solvers.annealing import ENDED_EARLY, Annealing, FitProgress
from sidelight.solvers.eigen import GraphSpectrum, graph_spectrum

from ._learned_bandwidth import learn_bandwidth
from ._problem import Problem, refined
from ._settings import LatentSettings

__all__ = ["SMOOTH_MODES", "Descent", "annealed", "solve_annealed", "solve_learned"]

Array = npt.NDArray[Any]
SMOOTH_MODES = 64
"""Smooth directions the solver is preconditioned with."""


@dataclass(frozen=True)
class Descent:
    """What is minimised at each λ, and the preconditioner of its gradient."""

    objective_at: Callable[[float], ValueAndGrad]
    precondition: Callable[[Array], Array]


def annealed(
    descent: Descent,
    schedule: list[float],
    start: Array,
    annealing: Annealing,
    progress: FitProgress,
    *,
    before: Path | None = None,
    n_stages: int | None = None,
) -> Path:
    """Minimise along the schedule; ``before`` is a path that this one continues, of ``n_stages`` in all."""
    return anneal(
        descent.objective_at,
        schedule,
        start,
        max_iter=annealing.max_iter,
        tolerance=annealing.tol,
        precondition=descent.precondition,
        callback=progress.callback,
        before=before,
        n_stages=n_stages,
    )


def solve_annealed(
    problem: Problem,
    spectrum: GraphSpectrum,
    start: Array,
    latent: LatentSettings,
    annealing: Annealing,
    progress: FitProgress,
    *,
    resize: bool,
    n_jobs: int | None,
) -> Path:
    """Solve a problem, and once more after it was refined.

    Parameters
    ----------
    problem : Problem
    spectrum : GraphSpectrum
        The smooth vectors of its kernel graph.
    start : array of shape (n, q)
    latent, annealing, progress
    resize : bool
        Whether the objective chooses the size of the start.
    n_jobs : int or None

    Notes
    -----
    The maps of the model take rows less the effect that ``transform`` can compute, so that their kernel is that of the
    first problem, not of the refined one.
    """
    schedule = annealing.schedule()
    again = [] if problem.refinement is None else annealing.last_part()
    total = len(schedule) + len(again)
    descent = _descent(problem, spectrum, latent, n_jobs)
    if resize:
        start = best_size(descent.objective_at(annealing.first), start)
    path = annealed(descent, schedule, start, annealing, progress, n_stages=total)
    if problem.refinement is not None and path.status not in ENDED_EARLY:
        problem = refined(problem, problem.refinement, path.point)
        spectrum = graph_spectrum(problem.kernel.matrix, max(SMOOTH_MODES, latent.n_components))
        descent = _descent(problem, spectrum, latent, n_jobs)
        path = annealed(descent, again, path.point, annealing, progress, before=path, n_stages=total)
    progress.end(path, annealing.max_iter)
    return path


def solve_learned(
    problem: Problem,
    spectrum: GraphSpectrum,
    start: Array,
    latent: LatentSettings,
    annealing: Annealing,
    progress: FitProgress,
    *,
    n_jobs: int | None,
) -> tuple[Path, Problem]:
    """Solve for the map and the bandwidth of the data together; the problem is returned with that bandwidth.

    Its kernel says which rows are the neighbours that the penalty holds together.
    """
    path, bandwidths = learn_bandwidth(
        np.asarray(problem.points),
        penalty_named(latent.penalty, problem.kernel.matrix),
        start,
        annealing.schedule(),
        max_iter=annealing.max_iter,
        tolerance=annealing.tol,
        precondition=spectrum.precondition,
        callback=progress.callback,
        n_jobs=n_jobs,
    )
    progress.end(path, annealing.max_iter)
    kernel = replace(problem.chosen, kernel=type(problem.kernel)(problem.kernel.matrix, float(bandwidths[-1])))
    return path, replace(problem, chosen=kernel)


def _descent(problem: Problem, spectrum: GraphSpectrum, latent: LatentSettings, n_jobs: int | None) -> Descent:
    entropies = EntropySum(problem.terms, profile(latent.kernel), n_jobs=n_jobs)
    penalty = penalty_named(latent.penalty, problem.kernel.matrix)
    return Descent(penalised({"-I": (1.0, entropies)}, penalty), spectrum.precondition)

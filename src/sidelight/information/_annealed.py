"""The annealed solver: minimise an objective plus λ times a penalty, for a decreasing sequence of λ.

    -I(X; Z) + λ penalty(Z),     λ falls geometrically from a value at which all points collapse into one clump

A problem whose effect of ``given`` can be re-estimated from a first embedding (``_problem.refined``) is solved twice:
along the whole schedule of λ, then, refined, along its last part again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from sidelight.base.types import Array
from sidelight.kernels.profiles import profile
from sidelight.objectives.entropy import EntropySum
from sidelight.objectives.evaluation import Objective, penalised
from sidelight.objectives.penalties import penalty_named
from sidelight.solvers.anneal import Path, ValueAndGrad, anneal, best_size
from sidelight.solvers.annealing import ENDED_EARLY, AnnealingSettings, FitProgress
from sidelight.solvers.eigen import GraphSpectrum, graph_spectrum
from sidelight.solvers.held import HeldRows

from ._learned_bandwidth import learn_bandwidth
from ._power_limit import solve_limited
from ._problem import Problem, with_refined_effect
from ._settings import LatentSettings

__all__ = ["SMOOTH_MODES", "Descent", "annealed", "solve_annealed", "solve_learned"]


SMOOTH_MODES = 64
"""Number of smooth eigenvectors of the kernel graph in the preconditioner."""


@dataclass(frozen=True)
class Descent:
    """A weighted sum of objectives (``parts``, by name), a penalty, a preconditioner, and the rows that are held."""

    parts: Mapping[str, tuple[float, Objective]]
    penalty: Objective
    precondition: Callable[[Array], Array]
    held: HeldRows | None = None

    @property
    def objective_at(self) -> Callable[[float], ValueAndGrad]:
        """The function that is minimised, for each λ."""
        whole, held = penalised(self.parts, self.penalty), self.held
        return whole if held is None else lambda weight: held.objective(whole(weight))


def annealed(
    descent: Descent,
    schedule: list[float],
    start: Array,
    annealing: AnnealingSettings,
    progress: FitProgress,
    *,
    before: Path | None = None,
    n_stages: int | None = None,
) -> Path:
    """Minimise for each λ of the schedule in turn, each stage from the result of the one before.

    Parameters
    ----------
    descent : Descent
    schedule : list of float
        The λ of each stage.
    start : array of shape (n, q)
    annealing : AnnealingSettings
        Its stopping rule, and its ``limit``: if set, the last stage is a constraint instead of a penalty.
    progress : FitProgress
    before : Path or None
        A path that this one continues.
    n_stages : int or None
        Number of stages in all, as callbacks are told.

    Returns
    -------
    Path
    """
    if annealing.limit is not None:
        return solve_limited(
            descent.parts, descent.objective_at, descent.precondition, schedule, start, annealing, annealing.limit,
            progress, before=before,
        )  # fmt: skip
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
    annealing: AnnealingSettings,
    progress: FitProgress,
    *,
    resize: bool,
    n_jobs: int | None,
    held: HeldRows | None = None,
) -> Path:
    """Solve a problem by annealing; if it can be refined, refine it and repeat the last part of the schedule.

    Parameters
    ----------
    problem : Problem
    spectrum : GraphSpectrum
        The smoothest eigenvectors of its kernel graph, for the preconditioner.
    start : array of shape (n, q)
        Initial latent points.
    latent, annealing, progress
    resize : bool
        Whether the start is rescaled by the factor that is best for the objective.
    n_jobs : int or None
    held : HeldRows or None
        Rows that stay at their initial points.

    Returns
    -------
    Path

    Notes
    -----
    The maps of the model take rows minus the effect of ``given`` as ``transform`` can compute it. So their kernel is
    that of the first problem, not of the refined one.
    """
    schedule = annealing.schedule()
    again = [] if problem.refinement is None else annealing.last_part()
    total = len(schedule) + len(again)
    descent = _descent(problem, spectrum, latent, n_jobs, held)
    if resize:
        start = best_size(descent.objective_at(annealing.first), start)
    path = annealed(descent, schedule, start, annealing, progress, n_stages=total)
    if problem.refinement is not None and path.status not in ENDED_EARLY:
        problem = with_refined_effect(problem, problem.refinement, path.point)
        spectrum = graph_spectrum(problem.kernel.matrix, max(SMOOTH_MODES, latent.n_components))
        descent = _descent(problem, spectrum, latent, n_jobs, held)
        path = annealed(descent, again, path.point, annealing, progress, before=path, n_stages=total)
    progress.end(path, annealing.max_iter)
    return path


def solve_learned(
    problem: Problem,
    spectrum: GraphSpectrum,
    start: Array,
    latent: LatentSettings,
    annealing: AnnealingSettings,
    progress: FitProgress,
    *,
    n_jobs: int | None,
) -> tuple[Path, Problem]:
    """Solve for the latent points and the bandwidth of the data together; return the problem with that bandwidth.

    The kernel of ``problem`` only defines the neighbours of the stretch penalty. Other arguments as in
    ``solve_annealed``.
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


def _descent(
    problem: Problem,
    spectrum: GraphSpectrum,
    latent: LatentSettings,
    n_jobs: int | None,
    held: HeldRows | None = None,
) -> Descent:
    entropies = EntropySum(problem.terms, profile(latent.kernel), n_jobs=n_jobs)
    penalty = penalty_named(latent.penalty, problem.kernel.matrix)
    inverse = spectrum.precondition if held is None else held.inverse(spectrum.precondition)
    return Descent({"-I": (1.0, entropies)}, penalty, inverse, held)

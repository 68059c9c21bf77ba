"""The latent points of a problem, by the solver that was chosen: annealed, with a learned bandwidth, or multilevel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from sidelight.solvers.anneal import Path
from sidelight.solvers.annealing import Annealing, FitProgress
from sidelight.solvers.eigen import graph_spectrum

from ._annealed import SMOOTH_MODES, solve_annealed, solve_learned
from ._multilevel import solve_multilevel
from ._problem import Problem
from ._settings import KernelSettings, LatentSettings
from ._starts import start_places

__all__ = ["Solution", "solve"]

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Solution:
    """What was found.

    Parameters
    ----------
    path : Path
        Its end are the latent points.
    problem : Problem
        Whose kernel the maps take.
    sum_error : float or None
        Of the latent sums at the end, for the multilevel solver.
    """

    path: Path
    problem: Problem
    sum_error: float | None = None


def solve(
    problem: Problem,
    start: Array | None,
    latent: LatentSettings,
    kernel: KernelSettings,
    annealing: Annealing,
    progress: Callable[[], FitProgress],
) -> Solution:
    """Solve a problem from the user's ``start`` (n, q), or from the one that ``latent.init`` names.

    ``progress`` makes a new progress bar: a refined problem has one of its own in the multilevel solver.
    """
    n_jobs = kernel.n_jobs
    how: Any = {"precomputed": kernel.precomputed, "n_jobs": n_jobs}
    if kernel.multilevel:
        fit = solve_multilevel(problem, start, latent, annealing, progress, **how)
        return Solution(fit.path, fit.problem, fit.sum_error)
    spectrum = graph_spectrum(problem.kernel.matrix, max(SMOOTH_MODES, latent.n_components))
    resize = start is None and not (isinstance(latent.init, str) and latent.init == "random")
    if start is None:
        start = start_places(problem.points, problem.kernel.graph, lambda: spectrum, latent, **how)
    if kernel.bandwidth == "learned":
        found = solve_learned(problem, spectrum, start, latent, annealing, progress(), n_jobs=n_jobs)
        return Solution(*found)
    path = solve_annealed(problem, spectrum, start, latent, annealing, progress(), resize=resize, n_jobs=n_jobs)
    return Solution(path, problem)

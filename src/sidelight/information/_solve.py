"""Solve a problem for its latent points, with the chosen solver: annealed, learned bandwidth, or multilevel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sidelight.base.messages import error_message
from sidelight.base.types import Array
from sidelight.solvers.anneal import Path
from sidelight.solvers.annealing import AnnealingSettings, FitProgress
from sidelight.solvers.eigen import graph_spectrum
from sidelight.solvers.held import HeldRows

from ._annealed import SMOOTH_MODES, solve_annealed, solve_learned
from ._multilevel import solve_multilevel
from ._problem import Problem
from ._settings import KernelSettings, LatentSettings
from ._starts import initial_points

__all__ = ["Solution", "solve"]


@dataclass(frozen=True)
class Solution:
    """The result of ``solve``.

    Parameters
    ----------
    path : Path
        All stages; the latent points are ``path.point``.
    problem : Problem
        The problem whose kernel the maps use.
    sum_error : float or None
        Relative error of the fast latent sums at the end (multilevel solver only).
    """

    path: Path
    problem: Problem
    sum_error: float | None = None


def solve(
    problem: Problem,
    start: Array | None,
    latent: LatentSettings,
    kernel: KernelSettings,
    annealing: AnnealingSettings,
    progress: Callable[[], FitProgress],
    held: Array | None = None,
) -> Solution:
    """Solve a problem for its latent points.

    Parameters
    ----------
    problem : Problem
    start : array of shape (n, q) or None
        Initial points that the user passed; None: those that ``latent.init`` names.
    latent, kernel, annealing
        Settings. ``kernel.multilevel`` and ``kernel.bandwidth`` decide on the solver.
    progress : callable
        Makes a new FitProgress; the multilevel solver makes a second one for a refined problem.
    held : array of bool of shape (n,) or None
        Rows that stay at their initial points.

    Returns
    -------
    Solution
    """
    n_jobs, precomputed, holds = kernel.n_jobs, kernel.precomputed, HeldRows.of(held)
    if holds is not None and (kernel.bandwidth == "learned" or annealing.limit is not None):
        rule = "needs a fit with a penalty and a bandwidth that is not learned"
        raise ValueError(error_message(kernel.owner, "held", "some rows", rule, "Leave held out"))
    if kernel.multilevel:
        fit = solve_multilevel(
            problem, start, latent, annealing, progress, precomputed=precomputed, n_jobs=n_jobs, held=holds
        )
        return Solution(fit.path, fit.problem, fit.sum_error)
    spectrum = graph_spectrum(problem.kernel.matrix, max(SMOOTH_MODES, latent.n_components))
    resize = start is None and not (isinstance(latent.init, str) and latent.init == "random")
    if start is None:
        points, graph = problem.points, problem.kernel.graph
        start = initial_points(points, graph, lambda: spectrum, latent, precomputed=precomputed, n_jobs=n_jobs)
    if kernel.bandwidth == "learned":
        found = solve_learned(problem, spectrum, start, latent, annealing, progress(), n_jobs=n_jobs)
        return Solution(*found)
    path = solve_annealed(
        problem, spectrum, start, latent, annealing, progress(), resize=resize, n_jobs=n_jobs, held=holds
    )
    return Solution(path, problem)

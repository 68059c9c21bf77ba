"""Build the problem of a fit, and choose solver and latent kernel where they depend on the data."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sidelight.base.types import Array

from ._data_kernel import Latent
from ._problem import Problem
from ._settings import GivenSettings, KernelSettings
from ._solver_choice import COMPARED_ROWS, SolverRequest, data_dimension, gaussian_kernel_suffices
from ._training import TrainingRows, problem_of_rows

__all__ = ["Posed", "posed_problem"]

_LOOKED_AT = 3  # dimensions of a map that is a picture


@dataclass(frozen=True)
class Posed:
    """A problem, and how it is to be solved.

    Parameters
    ----------
    problem : Problem
    kernel : KernelSettings
        ``kernel.multilevel`` says which solver.
    latent_kernel : str
    dimension : float or None
        Intrinsic dimension of the data, where the latent kernel was chosen by it.
    """

    problem: Problem
    kernel: KernelSettings
    latent_kernel: str
    dimension: float | None

    @property
    def solver(self) -> str:
        """The name of the solver."""
        return "multilevel" if self.kernel.multilevel else "annealed"


def posed_problem(
    training: TrainingRows,
    hints: Array | None,
    kernel: KernelSettings,
    settings: GivenSettings,
    request: SolverRequest,
    latent: Latent,
) -> Posed:
    """Pose the problem of some rows for the solver that their number suggests, or for the multilevel one after all.

    Where rows have counterparts under other values of ``given``, kinds of rows are what is left to be seen. The
    multilevel solver, whose Student kernel draws them as compact islands, is then used from ``COMPARED_ROWS`` rows on
    (decision 0026), unless the data have no more dimensions than the map: intrinsic ones of a map to look at, columns
    of a larger one. In ten dimensions a Gaussian kernel can show every neighbourhood exactly as even as it was asked
    for, which is more even than at random.
    """
    q = latent[1]

    def posed(kernel: KernelSettings, profile: str) -> Posed:
        problem, dimension = problem_of_rows(training, hints, kernel, settings, (profile, q)), None
        if kernel.multilevel and request.latent_kernel == "auto":
            dimension = data_dimension(problem.points, problem.kernel, precomputed=kernel.precomputed)
            profile = "gaussian" if gaussian_kernel_suffices(dimension, q) else profile
        return Posed(problem, kernel, profile, dimension)

    first = posed(kernel, latent[0])
    if not _islands(first.problem, training, kernel, request, q):
        return first
    profile = "student" if request.latent_kernel == "auto" else latent[0]
    other = posed(replace(kernel, multilevel=True), profile)
    if other.dimension is None or other.latent_kernel != "gaussian":
        return other
    return first if q <= _LOOKED_AT else replace(other, latent_kernel=profile)


def _islands(problem: Problem, training: TrainingRows, kernel: KernelSettings, request: SolverRequest, q: int) -> bool:
    """Whether few rows may be for the multilevel solver, too: if their dimension exceeds that of the map."""
    if kernel.multilevel or not request.is_open or problem.representation is None:
        return False
    return len(training.fitted) >= COMPARED_ROWS and (q <= _LOOKED_AT or problem.points.shape[1] > q)

"""Choose the solver and the latent kernel of a kernel information embedding."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sidelight.base.messages import error_message
from sidelight.base.options import argument_name
from sidelight.base.types import NamedValues
from sidelight.base.warnings import warn
from sidelight.kernels.data_kernel import DataKernel
from sidelight.kernels.profiles import BOUND_PROFILES
from sidelight.neighbours.dimension import local_dimension
from sidelight.neighbours.search import distances_to_listed
from sidelight.neighbours.sparse_distances import Points, SparseDistances
from sidelight.solvers.annealing import AnnealingSettings

from .annealing import Annealing
from .conditioning import Conditioning

__all__ = [
    "SOLVERS",
    "SolverRequest",
    "choose_solver",
    "current_name",
    "data_dimension",
    "gaussian_kernel_suffices",
    "warn_of_old_name",
    "warn_without_annealing",
]

SOLVERS = ("auto", "annealed", "multilevel")
_OLD_NAMES = {
    "path": "annealed",
    "levels": "multilevel",
}  # their first names, in scripts and model files
ANNEALED_ROWS = 2000
"""Up to so many rows the information itself is maximised, all rows at once."""
COMPARED_ROWS = 500
"""The same where rows have counterparts under other values of ``given`` (``_posed``)."""
_SPARE = 0.75  # by how much the data's dimension may exceed that of the map and a Gaussian latent kernel still be used
_PROBED = 2000  # rows that the dimension is estimated from


@dataclass(frozen=True)
class SolverRequest:
    """The parameters that decide on the solver; ``given``: whether it was passed to ``fit``."""

    owner: str
    solver: str
    bandwidth: str | float
    penalty: str
    latent_kernel: str
    conditioning: str | Conditioning
    annealing: AnnealingSettings
    given: bool

    def against_multilevel(self) -> NamedValues:
        """Parameters, by name, whose values the multilevel solver does not support."""
        options = Conditioning.of(self.conditioning)
        method = argument_name("conditioning", self.conditioning, Conditioning, "method")
        fine = {
            "bandwidth": (self.bandwidth == "perplexity", self.bandwidth),
            "penalty": (self.penalty == "stretch", self.penalty),
            "latent_kernel": (self.latent_kernel in ("auto", *BOUND_PROFILES), self.latent_kernel),
            method: (not self.given or options.method in ("auto", "balanced"), options.method),
            "conditioning.weight": (not self.given or options.weight <= 1, options.weight),
        }
        return {name: value for name, (suits, value) in fine.items() if not suits}

    @property
    def is_open(self) -> bool:
        """Whether the solver depends on the rows: "auto", and no setting that the multilevel solver lacks."""
        return self.solver == "auto" and not self.against_multilevel() and not self.annealing_options()

    def annealing_options(self) -> NamedValues:
        """Parameters of the schedule of λ, by name, that differ from their defaults."""
        asked = {
            "regularization.start": (self.annealing.start is not None, self.annealing.start),
            "regularization.decay": (self.annealing.decay != Annealing.decay, self.annealing.decay),
        }
        return {name: value for name, (differs, value) in asked.items() if differs}


def current_name(solver: str) -> str:
    """The current name of a solver, for an old name or a current one."""
    return _OLD_NAMES.get(solver, solver) if isinstance(solver, str) else solver


def warn_of_old_name(owner: str, solver: str) -> None:
    """Warn (FutureWarning) if a solver was passed by its old name."""
    if solver in _OLD_NAMES:
        rule, remedy = "has another name", f"Write solver={current_name(solver)!r}; the old name will go"
        warn(error_message(owner, "solver", solver, rule, remedy), FutureWarning)


def choose_solver(request: SolverRequest, n: int) -> tuple[str, str]:
    """The solver and the latent kernel for ``n`` rows; ValueError if "multilevel" does not support other parameters."""
    against = request.against_multilevel()
    refused = {**against, **request.annealing_options()}
    if request.solver == "multilevel" and refused:
        name, seen = next(iter(refused.items()))
        rule, remedy = "has no place in a multilevel fit", "Use solver='annealed', or leave it as it is by default"
        raise ValueError(error_message(request.owner, name, seen, rule, remedy))
    solver = request.solver
    if solver == "auto":
        solver = "annealed" if against or n <= ANNEALED_ROWS else "multilevel"
    kernel = "student" if solver == "multilevel" else "gaussian"
    return solver, kernel if request.latent_kernel == "auto" else request.latent_kernel


def warn_without_annealing(request: SolverRequest) -> None:
    """Warn that parameters of the schedule of λ have no effect, because "auto" chose the multilevel solver."""
    for name, value in request.annealing_options().items():
        rule = "has no effect on a multilevel fit, which solver='auto' selects for this many rows"
        message = error_message(request.owner, name, value, rule, f"Use solver='annealed', or leave {name} out")
        warn(message, UserWarning)


def data_dimension(points: Points, kernel: DataKernel, *, precomputed: bool) -> float:
    """Intrinsic dimension of the data at the scale of its neighbour lists, estimated from up to 2,000 rows."""
    lists = kernel.lists
    assert lists is not None
    rows = np.unique(np.linspace(0, len(lists) - 1, min(len(lists), _PROBED)).astype(np.int64))
    if isinstance(points, SparseDistances):
        distances = points[rows].nearest(lists.shape[1]).distance
        distances = distances[:, : max(1, int(np.median(np.isfinite(distances).sum(axis=1))))]
    elif precomputed:
        distances = np.take_along_axis(np.asarray(points[rows]), lists[rows], axis=1)
    else:
        distances = distances_to_listed(points[rows], points, lists[rows])
    return local_dimension(np.sort(distances, axis=1))


def gaussian_kernel_suffices(dimension: float, n_components: int) -> bool:
    """Whether the intrinsic dimension exceeds ``n_components`` by at most 0.75; then a Gaussian kernel is used."""
    return bool(dimension <= n_components + _SPARE)

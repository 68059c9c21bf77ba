"""Results of solvers, and the state that they pass to a callback."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Callback", "Record", "Result", "State", "Status"]


class Status(enum.Enum):
    """How a solver ended."""

    CONVERGED = "converged"
    ITERATIONS = "ran out of iterations"
    STOPPED = "stopped by the callback"
    INTERRUPTED = "interrupted"
    STALLED = "found no better point along its direction"


@dataclass(frozen=True)
class Record:
    """One iteration, as stored in ``history_``."""

    stage: int
    regularization: float
    iteration: int
    objective: float
    terms: dict[str, float]
    seconds: float


@dataclass(frozen=True)
class State(Record):
    """A record for callbacks: also the current point (n, q) and the number of stages."""

    n_stages: int
    point: npt.NDArray[Any]

    @property
    def embedding(self) -> npt.NDArray[Any]:
        """A copy of the current point."""
        return np.array(self.point)


Callback = Callable[[State], bool | None]


@dataclass(frozen=True)
class Result:
    """Result of a solver: the best point found, its value, and how the search ended."""

    point: npt.NDArray[Any]
    value: float
    n_iter: int
    n_evaluations: int
    status: Status

    @property
    def message(self) -> str:
        """The status in words, with the iterations."""
        return f"{self.status.value} after {self.n_iter} iterations ({self.n_evaluations} evaluations)"

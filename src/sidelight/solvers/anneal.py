"""Continuation: follow the minimiser while a parameter moves, broad to fine.

A schedule is the sequence of parameter values; each stage starts where the one before ended. The inner solver knows
nothing of it. Early stages need not be sharp: they run at ten times the tolerance of the last.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.base.messages import complain
from sidelight.base.result import Callback, Record, Result, State, Status

from .lbfgs import minimise

__all__ = ["Path", "ValueAndGrad", "anneal", "best_size", "geometric"]

Array = npt.NDArray[Any]
ValueAndGrad = Callable[[Array], tuple[float, Array, dict[str, float]]]


def geometric(start: float, stop: float, factor: float) -> list[float]:
    """``start, start·factor, ...`` down to and ending exactly at ``stop``.

    >>> geometric(8.0, 1.0, 0.5)
    [8.0, 4.0, 2.0, 1.0]
    """
    if not 0 < factor < 1:
        raise ValueError(complain("geometric", "factor", factor, "never comes down", "Give a number between 0 and 1"))
    values = [max(start, stop)]
    while values[-1] * factor > stop * (1 + 1e-9):
        values.append(values[-1] * factor)
    return values if values[-1] == stop else [*values, stop]


@dataclass(frozen=True)
class Path:
    """The end of the path, every stage's result on the way, and a record per iteration."""

    point: Array
    stages: tuple[Result, ...]
    schedule: tuple[float, ...]
    history: tuple[Record, ...]

    @property
    def status(self) -> Status:
        """How the path ended: that of its last stage."""
        return self.stages[-1].status

    @property
    def n_iter(self) -> int:
        """Iterations of all stages."""
        return sum(stage.n_iter for stage in self.stages)

    @property
    def n_evaluations(self) -> int:
        """Evaluations of all stages."""
        return sum(stage.n_evaluations for stage in self.stages)


def best_size(value_and_grad: ValueAndGrad, start: Array, sizes: Sequence[float] = (0.1, 0.3, 1, 3, 10, 30)) -> Array:
    """The start stretched (its widest dimension to a standard deviation of one of ``sizes``) to the lowest value."""
    spread = float(start.std(axis=0).max())
    if spread == 0.0:
        return start
    candidates = [start * (size / spread) for size in sizes]
    return candidates[int(np.argmin([value_and_grad(candidate)[0] for candidate in candidates]))]


def anneal(
    objective_at: Callable[[float], ValueAndGrad],
    schedule: list[float],
    start: Array,
    *,
    max_iter: int,
    tolerance: float,
    precondition: Callable[[Array], Array] | None = None,
    callback: Callback | None = None,
    before: Path | None = None,
    n_stages: int | None = None,
) -> Path:
    """Minimise ``objective_at(value)`` for each value of the schedule in turn.

    ``before`` is a path that this one goes on from; ``n_stages`` counts the stages of all paths, if more are to follow.
    """
    point = np.array(start, dtype=np.float64)
    stages = [] if before is None else list(before.stages)
    history = [] if before is None else list(before.history)
    began = time.perf_counter() - (history[-1].seconds if history else 0.0)
    earlier = len(stages)
    total = n_stages or earlier + len(schedule)
    for stage, parameter in enumerate(schedule, start=earlier):

        def on_step(
            iteration: int,
            value: float,
            at: Array,
            terms: dict[str, float],
            s: int = stage,
            p: float = parameter,
        ) -> bool:
            record = Record(s, p, iteration, value, dict(terms), time.perf_counter() - began)
            history.append(record)
            if callback is None:
                return False
            return bool(callback(State(**vars(record), n_stages=total, point=at)))

        last = stage == earlier + len(schedule) - 1
        result = minimise(
            objective_at(parameter),
            point,
            max_iter=max_iter,
            tolerance=tolerance if last else 10 * tolerance,
            precondition=precondition,
            on_step=on_step,
        )
        stages.append(result)
        point = result.point
        if result.status in (Status.STOPPED, Status.INTERRUPTED):
            break
    done = [*(() if before is None else before.schedule), *schedule][: len(stages)]
    return Path(point, tuple(stages), tuple(done), tuple(history))

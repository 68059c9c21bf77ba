"""Annealing (numerical continuation): follow the minimiser while a parameter of the objective changes.

The schedule is the sequence of parameter values. Each stage minimises with L-BFGS, warm-started at the previous
stage's minimiser. Early stages need not be accurate: their tolerance is ten times that of the last stage.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from sidelight.base.messages import error_message
from sidelight.base.result import Callback, Record, Result, State, Status
from sidelight.base.types import Array

from .lbfgs import minimise

__all__ = ["Path", "ValueAndGrad", "anneal", "best_size", "geometric"]


ValueAndGrad = Callable[[Array], tuple[float, Array, dict[str, float]]]


def geometric(start: float, stop: float, factor: float) -> list[float]:
    """Geometric schedule ``start, start·factor, ...`` that ends exactly at ``stop``.

    >>> geometric(8.0, 1.0, 0.5)
    [8.0, 4.0, 2.0, 1.0]
    """
    if not 0 < factor < 1:
        raise ValueError(
            error_message("geometric", "factor", factor, "never comes down", "Give a number between 0 and 1")
        )
    values = [max(start, stop)]
    while values[-1] * factor > stop * (1 + 1e-9):
        values.append(values[-1] * factor)
    return values if values[-1] == stop else [*values, stop]


@dataclass(frozen=True)
class Path:
    """Result of an annealed minimisation.

    Parameters
    ----------
    point : array of shape (n, q)
        The final minimiser.
    stages : tuple of Result
        The result of each stage.
    schedule : tuple of float
        Parameter value of each stage that was run.
    history : tuple of Record
        One record per iteration, over all stages.
    """

    point: Array
    stages: tuple[Result, ...]
    schedule: tuple[float, ...]
    history: tuple[Record, ...]

    @property
    def status(self) -> Status:
        """Status of the last stage."""
        return self.stages[-1].status

    @property
    def n_iter(self) -> int:
        """Total number of iterations over all stages."""
        return sum(stage.n_iter for stage in self.stages)

    @property
    def n_evaluations(self) -> int:
        """Total number of objective evaluations over all stages."""
        return sum(stage.n_evaluations for stage in self.stages)


def best_size(value_and_grad: ValueAndGrad, start: Array, sizes: Sequence[float] = (0.1, 0.3, 1, 3, 10, 30)) -> Array:
    """Rescale the initial point (n, q) to the size with the lowest objective.

    Each of ``sizes`` is tried as the standard deviation of the widest dimension. Cost: one evaluation per size.
    """
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
    """Minimise ``objective_at(value)`` for each value of the schedule in turn, each stage warm-started.

    Parameters
    ----------
    objective_at : callable
        Schedule value to a function ``Z -> (value, gradient, terms)``.
    schedule : list of float
        Parameter value of each stage.
    start : array of shape (n, q)
        Initial point.
    max_iter : int
        Iterations of L-BFGS per stage.
    tolerance : float
        Of the last stage; earlier stages use ten times as much.
    precondition : callable or None
        Approximate inverse Hessian, applied to a gradient (n, q).
    callback : callable or None
        Called with a State after each iteration; returning True stops the fit.
    before : Path or None
        An earlier path that this one continues: its stages and history are kept.
    n_stages : int or None
        Number of stages reported to the callback, if more paths are to follow this one.

    Returns
    -------
    Path
        It ends early if a stage was stopped by the callback or by Ctrl-C.
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

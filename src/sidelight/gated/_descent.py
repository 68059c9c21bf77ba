r"""Full-batch training, for small problems: L-BFGS in double precision on all rows at once.

    minimise  loss(θ; all rows) + λ/2 Σ W²

Same schedule, history and validation as ``_training.py``; an update is an iteration of L-BFGS. A run that ends by
itself does so after ``patience`` validations that improve the loss by less than ``_LEAST``.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from sidelight.base.result import Callback, Record, State, Status
from sidelight.base.types import Array
from sidelight.solvers.lbfgs import minimise

from ._networks import decayed_parameters, half_squares
from ._training import Schedule, Trained

__all__ = ["descend"]


_TOLERANCE = 1e-8  # smallest decrease that counts as progress (losses are shares of the variance, or nats)
_LOOSE = 1e-6  # the same where the run ends by itself
_LEAST = 0.01  # share of the validation loss that is an improvement where the run ends by itself
_LOOK = 10  # iterations between evaluations of the held-out loss


def descend(
    module: nn.Module,
    loss: Callable[[], Tensor],
    schedule: Schedule,
    *,
    held_out: Callable[[], float] | None = None,
    callback: Callback | None = None,
) -> Trained:
    """Train ``module`` (in double precision) in place by L-BFGS; ``loss()`` is the loss of all rows.

    Parameters
    ----------
    module : nn.Module
    loss : callable
        The loss of all rows, a scalar tensor.
    schedule : Schedule
    held_out : callable or None
        The loss of held-out rows; the parameters with the lowest one are kept.
    callback : callable or None

    Returns
    -------
    Trained
    """
    run = _Descent(module, loss, schedule, held_out, callback)
    start = parameters_to_vector(module.parameters()).detach().numpy()
    tolerance = _LOOSE if schedule.ends_by_itself else _TOLERANCE
    found = minimise(
        run.value_and_grad, start, max_iter=schedule.max_iter, tolerance=tolerance, memory=20, on_step=run.step
    )
    if schedule.ends_by_itself and held_out is not None and run.looked != found.n_iter:
        run.look(held_out, found.point)
    run.put(found.point if run.kept is None else run.kept)
    status = Status.CONVERGED if run.ended else found.status
    return Trained(tuple(run.history), found.n_iter, status, run.best, run.waited)


class _Descent:
    """The objective as a function of one parameter vector, with the history of the run."""

    def __init__(
        self,
        module: nn.Module,
        loss: Callable[[], Tensor],
        schedule: Schedule,
        held_out: Callable[[], float] | None,
        callback: Callback | None,
    ) -> None:
        self.module, self.loss, self.schedule = module, loss, schedule
        self.held_out, self.callback = held_out, callback
        self.history: list[Record] = []
        self.best, self.waited, self.ended, self.looked, self.reference = np.nan, 0, False, 0, np.inf
        self.kept: Array | None = None
        self.parameters = list(module.parameters())  # looked up once: an iteration of a small problem is calls
        self.decayed = decayed_parameters(module, biases=schedule.decay_biases) if schedule.weight_decay else []
        self.began = time.perf_counter()

    def put(self, point: Array) -> None:
        vector_to_parameters(torch.as_tensor(point.ravel()), self.parameters)

    def value_and_grad(self, point: Array) -> tuple[float, Array, dict[str, float]]:
        self.put(point)
        for parameter in self.parameters:
            parameter.grad = None
        value = self.loss()
        if self.schedule.weight_decay:
            value = value + self.schedule.weight_decay * half_squares(self.decayed)
        value.backward()
        gradient = [torch.zeros_like(p) if p.grad is None else p.grad for p in self.parameters]
        return float(value.detach()), parameters_to_vector(gradient).numpy().copy(), {}

    def step(self, iteration: int, value: float, point: Array, terms: dict[str, float]) -> bool:
        del terms
        if self.held_out is not None and iteration % _LOOK == 0:
            self.look(self.held_out, point)
            self.looked = iteration
        noted = {} if self.held_out is None else {"held_out": self.best}
        record = Record(0, 0.0, iteration, value, noted, time.perf_counter() - self.began)
        self.history.append(record)
        stop = self.callback is not None and self.callback(State(**vars(record), n_stages=1, point=np.empty((0, 0))))
        return bool(stop) or self.ended

    def look(self, held_out: Callable[[], float], point: Array) -> None:
        """Evaluate the validation loss, and keep the parameters if it is the best so far."""
        self.put(point)
        value = held_out()
        improved = not self.best <= value
        if improved:
            self.best, self.kept = value, np.array(point)
        if self.schedule.ends_by_itself:
            improved = value < (1 - _LEAST) * self.reference
            self.reference = value if improved else self.reference
        self.waited = 0 if improved else self.waited + 1
        self.ended = bool(self.schedule.patience) and self.waited >= self.schedule.patience

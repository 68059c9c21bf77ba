"""The minibatch training loop of every model of this package.

    θ ← θ - rate · step(∇ loss(batch))     plain gradient with momentum, or Adam; weight decay on weights, and on
                                           biases if asked

Every ``check`` updates the validation loss (of held-out rows) is evaluated. The best parameters are kept, and a run
ends after ``patience`` evaluations without improvement. A run that ends by itself has a constant rate until so many
evaluations improve the loss by less than ``_LEAST``, then one that falls to 0 over half as many updates again, and ends
with that, or when ``patience`` evaluations while it falls do not improve the loss at all. A run with a checkpoint can
be stopped at any time and resumed, with bit-identical results.
"""

from __future__ import annotations

import copy
import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor, distributed, nn

from sidelight.base.result import Callback, Record, State, Status
from sidelight.base.types import Function, NamedValues

from ._batches import Batch, share
from ._checkpoints import read
from ._networks import is_decayed

__all__ = ["Run", "Schedule", "Trained", "several", "train"]

Loss = Callable[[Batch, torch.Generator], Tensor]
Gradient = Callable[[Batch, torch.Generator, bool], Tensor | None]
_LEAST = 0.02  # share of the validation loss that is an improvement while the rate is constant
_VALUED = 5  # updates between losses that are computed for the history, where held-out rows decide
_RECORDS = 200  # losses are averaged into at most this many records


@dataclass(frozen=True)
class Schedule:
    """Settings of the loop: ``optimizer`` "sgd" or "adam"; ``max_iter`` updates; ``check`` updates between validations.

    ``decay_share``: share of the updates, at the end, in which the learning rate falls linearly to 0.
    ``settings``: settings that a checkpoint must have been written with to be resumed. ``ends_by_itself``: the
    validation loss decides when the rate falls and when the run ends, at ``max_iter`` at the latest.
    """

    optimizer: str = "adam"
    learning_rate: float = 1e-3
    momentum: float = 0.9
    weight_decay: float = 0.0
    decay_biases: bool = False
    max_iter: int = 1000
    patience: int = 0
    check: int = 100
    seed: int = 0
    checkpoint: str | os.PathLike[str] | None = None
    decay_share: float = 0.0
    settings: Mapping[str, str] = field(default_factory=dict)
    ends_by_itself: bool = False

    def rate(self, n_iter: int) -> float:
        """The learning rate after ``n_iter`` updates.

        >>> schedule = Schedule(learning_rate=0.1, max_iter=100, decay_share=0.5)
        >>> [round(schedule.rate(done), 3) for done in (0, 50, 75, 99)]
        [0.1, 0.1, 0.05, 0.002]
        """
        if not self.decay_share:
            return self.learning_rate
        return self.learning_rate * min(1.0, (1 - n_iter / self.max_iter) / self.decay_share)


@dataclass(frozen=True)
class Trained:
    """Result of a run: history, updates made, status, the best validation loss (nan without held-out rows), how many
    validations ago that was, and whether the batches ran out.
    """

    history: tuple[Record, ...]
    n_iter: int
    status: Status
    held_out: float
    waited: int = 0
    dry: bool = False


def train(
    module: nn.Module,
    loss: Loss,
    batches: Callable[[int], Iterator[Batch]],
    schedule: Schedule,
    *,
    held_out: Callable[[], float] | None = None,
    callback: Callback | None = None,
    gradient: Gradient | None = None,
) -> Trained:
    """Train ``module`` in place.

    Parameters
    ----------
    module : nn.Module
    loss : callable
        Mean loss over the rows of a batch.
    batches : callable
        ``batches(done)`` iterates over batches from number ``done`` on.
    schedule : Schedule
    held_out : callable or None
        The validation loss.
    callback : callable or None
    gradient : callable or None
        Sets the gradients of the parameters, faster than back-propagation of ``loss``; returns the loss if asked to.

    Returns
    -------
    Trained
        After a ``KeyboardInterrupt`` with the parameters so far and status ``INTERRUPTED``; after a loss that is not
        finite with status ``STALLED``.
    """
    run = Run(module, loss, schedule, held_out, callback, gradient)
    run.resume()
    try:
        status = run.go(batches(run.n_iter))
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
    run.keep_best()
    return Trained(tuple(run.history), run.n_iter, status, run.best, run.waited, run.dry)


class Run:
    """One training run: optimiser, random generator, history and the best parameters so far."""

    def __init__(
        self,
        module: nn.Module,
        loss: Loss,
        schedule: Schedule,
        held_out: Callable[[], float] | None = None,
        callback: Callback | None = None,
        gradient: Gradient | None = None,
    ) -> None:
        self.module, self.schedule = module, schedule
        self.loss: Function[Tensor] = _in_parallel(_Objective(module, loss))
        self.gradient = None if several() else gradient
        self.held_out, self.callback = held_out, callback
        self.optimizer = _optimizer(module, schedule)
        device = next(module.parameters()).device
        self.generator = torch.Generator(device=device).manual_seed(schedule.seed + _rank())
        self.n_iter, self.looked, self.waited, self.dry = 0, 0, 0, False
        self.best, self.kept = np.nan, {}  # type: float, dict[str, Tensor]
        self.history: list[Record] = []
        self.recent: list[float] = []
        self.last, self.falls_from, self.reference = schedule.max_iter, -1, np.inf
        self.began = time.perf_counter()

    def copied(self, module: nn.Module, loss: Loss, gradient: Gradient | None = None) -> Run:
        """A copy of this run, for a copy of the module, that continues from here; this run is not changed."""
        run = Run(module, loss, self.schedule, self.held_out, self.callback, gradient)
        run.optimizer.load_state_dict(copy.deepcopy(self.optimizer.state_dict()))
        run.generator.set_state(self.generator.get_state())
        run.n_iter, run.began = self.n_iter, self.began
        return run

    def go(self, batches: Iterator[Batch]) -> Status:
        """Update until the batches, the iterations or the patience run out, or the callback stops the run."""
        every = max(1, self.schedule.max_iter // _RECORDS)
        status = Status.CONVERGED if self._waited_enough() else None
        while status is None:
            batch = next(batches, None) if self.n_iter < self.last else None
            if batch is not None:
                self.update(batch)
            ended = batch is None
            self.dry = ended and self.n_iter < self.last
            due = ended or self.n_iter == self.last or self.n_iter % self.schedule.check == 0
            looking = due and self.n_iter != self.looked
            if looking:
                self._check_held_out()
            if self.recent and (ended or self.n_iter % every == 0):
                status = self._record(self.schedule.max_iter // every)
            if looking:
                self.save()
                status = status or (Status.CONVERGED if self._waited_enough() else None)
            if ended:
                status = status or (Status.ITERATIONS if self._ran_out() else Status.CONVERGED)
        return status

    def update(self, batch: Batch) -> None:
        """One step of the optimiser."""
        if self.gradient is None:
            self.optimizer.zero_grad(set_to_none=True)
            value = self.loss(share(batch), self.generator)
            value.backward()
        else:
            value = self.gradient(batch, self.generator, self._is_valued())
        for group in self.optimizer.param_groups:
            group["lr"] = self._rate()
        self.optimizer.step()
        if value is not None:
            self.recent.append(float(value.detach()))
        self.n_iter += 1

    def _is_valued(self) -> bool:
        """Whether the history asks for the loss of the next update: of some only, where held-out rows decide."""
        return not self._is_judged() or self.n_iter % _VALUED == 0

    def _rate(self) -> float:
        """The learning rate of the next update."""
        if not self._is_judged():
            return self.schedule.rate(self.n_iter)
        fallen = (self.n_iter - self.falls_from) / (self.last - self.falls_from) if self.falls_from >= 0 else 0.0
        return self.schedule.learning_rate * (1 - fallen)

    def _is_judged(self) -> bool:
        """Whether held-out rows decide when the run ends."""
        return self.schedule.ends_by_itself and self.held_out is not None

    def _ran_out(self) -> bool:
        return self.n_iter >= self.last and not self._is_judged()

    def _record(self, n_records: int) -> Status | None:
        """Append the mean loss to the history; return a status if the run should stop."""
        mean = float(np.mean(self.recent))
        self.recent = []
        terms = {"held_out": self.best} if self.held_out is not None else {}
        seconds = time.perf_counter() - self.began
        record = Record(len(self.history), 0.0, self.n_iter, mean, terms, seconds)
        self.history.append(record)
        if not np.isfinite(mean):
            return Status.STALLED
        if self.callback is None:
            return None
        state = State(**vars(record), n_stages=max(n_records, len(self.history)), point=np.empty((0, 0)))
        return Status.STOPPED if self.callback(state) else None

    def _check_held_out(self) -> None:
        """Evaluate the validation loss, and keep the parameters if it is the best so far."""
        self.looked = self.n_iter
        if self.held_out is None:
            return
        value = self.held_out()
        improved = not self.best <= value
        if improved:
            self.best, self.kept = value, {name: p.detach().clone() for name, p in self.module.state_dict().items()}
        if self._is_judged() and self.falls_from < 0:
            improved = value < (1 - _LEAST) * self.reference
            self.reference = value if improved else self.reference
        self.waited = 0 if improved else self.waited + 1
        if self._is_judged() and self.falls_from < 0:
            self._start_rate_decay()

    def _start_rate_decay(self) -> None:
        """Begin to lower the rate if the validation loss has stopped falling, or two thirds of all updates are made."""
        stopped = 0 < self.schedule.patience <= self.waited
        if stopped or self.n_iter + self.n_iter // 2 >= self.schedule.max_iter:
            self.falls_from, self.waited = self.n_iter, 0
            self.last = min(self.n_iter + self.n_iter // 2, self.schedule.max_iter)

    def _waited_enough(self) -> bool:
        falling = self.falls_from >= 0 or not self._is_judged()
        return falling and self.held_out is not None and 0 < self.schedule.patience <= self.waited

    def keep_best(self) -> None:
        """Restore the parameters with the best validation loss."""
        if self.kept:
            self.module.load_state_dict(self.kept)

    def save(self) -> None:
        """Write the checkpoint atomically."""
        if self.schedule.checkpoint is None or _rank() != 0:
            return
        content: NamedValues = {
            "settings": dict(self.schedule.settings),
            "module": self.module.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "generator": self.generator.get_state(),
            "kept": self.kept,
            "numbers": [self.n_iter, self.waited, self.best],
            "falling": [self.last, self.falls_from, self.reference],
            "recent": self.recent,
            "history": [list(vars(record).values()) for record in self.history],
        }
        unfinished = f"{os.fspath(self.schedule.checkpoint)}.unfinished"
        torch.save(content, unfinished)
        os.replace(unfinished, self.schedule.checkpoint)

    def resume(self) -> None:
        """Restore the checkpoint, if there is one. Processes other than the first draw new random numbers."""
        if self.schedule.checkpoint is None or not os.path.exists(self.schedule.checkpoint):
            return
        content = read(self.schedule.checkpoint, self.schedule.settings)
        self.module.load_state_dict(content["module"])
        self.optimizer.load_state_dict(_regrouped(content["optimizer"], len(self.optimizer.param_groups)))
        if _rank() == 0:
            self.generator.set_state(content["generator"])
        else:
            self.generator.manual_seed(self.schedule.seed + content["numbers"][0] * _world() + _rank())
        self.kept, self.recent = content["kept"], content["recent"]
        self.n_iter, self.waited, self.best = content["numbers"]
        if self._is_judged():
            self.last, self.falls_from, self.reference = content["falling"]
        self.looked = self.n_iter  # a run is saved right after a validation
        self.history = [Record(*values) for values in content["history"]]
        self.began -= self.history[-1].seconds if self.history else 0.0


def _optimizer(module: nn.Module, schedule: Schedule) -> torch.optim.Optimizer:
    named = [(name, p) for name, p in module.named_parameters() if p.requires_grad]
    parameters = [p for _, p in named]
    decayed = [is_decayed(name, p, biases=schedule.decay_biases) for name, p in named]
    by_decay = [[p for p, one in zip(parameters, decayed, strict=True) if one == which] for which in (True, False)]
    if not schedule.weight_decay and schedule.optimizer != "sgd":
        # one group, so one call; in the order of the two, by which checkpoints number parameters
        groups = [{"params": by_decay[0] + by_decay[1], "weight_decay": 0.0}]
    else:
        decays = (schedule.weight_decay, 0.0)
        groups = [{"params": own, "weight_decay": decay} for own, decay in zip(by_decay, decays, strict=True)]
    if schedule.optimizer == "sgd":
        return torch.optim.SGD(groups, lr=schedule.learning_rate, momentum=schedule.momentum)
    fused = all(p.device.type in ("cpu", "cuda") for p in parameters)  # one pass over the parameters instead of ten
    return torch.optim.Adam(groups, lr=schedule.learning_rate, fused=fused)


def _regrouped(state: NamedValues, n_groups: int) -> NamedValues:
    """The state of an optimiser; two groups of a checkpoint of an earlier version are joined where there is one now."""
    groups = state["param_groups"]
    if len(groups) == n_groups:
        return state
    return {**state, "param_groups": [{**groups[0], "params": [p for group in groups for p in group["params"]]}]}


class _Objective(nn.Module):
    """A module whose forward is the loss, which is what distributed data parallel wraps."""

    def __init__(self, module: nn.Module, loss: Loss) -> None:
        super().__init__()
        self.module, self.loss = module, loss

    def forward(self, batch: Batch, generator: torch.Generator) -> Tensor:
        return self.loss(batch, generator)


def _in_parallel(objective: nn.Module) -> nn.Module:
    """Wrap the objective so that gradients are averaged over processes, if there are several."""
    if not several():
        return objective
    return nn.parallel.DistributedDataParallel(objective)


def several() -> bool:
    """Whether several processes train together (``torch.distributed``)."""
    return bool(distributed.is_available() and distributed.is_initialized())


def _rank() -> int:
    return distributed.get_rank() if several() else 0


def _world() -> int:
    return distributed.get_world_size() if several() else 1

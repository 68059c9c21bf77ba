"""One loop that trains every model of this room: batches in, parameters out.

    θ ← θ - rate · step(∇ loss(batch))     plain gradient with momentum, or Adam; weight decay on weights, not on biases

Every ``check`` updates the loss of held-out rows is looked at; the best parameters are kept, and a run ends when they
have not improved for ``patience`` looks. A run with a checkpoint can be cut off at any time and taken up again: it goes
on as if nothing had happened, to the bit.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, distributed, nn

from sidelight.solvers.result import Callback, Record, State, Status

from .batches import Batch, share

__all__ = ["Schedule", "Trained", "train"]

Loss = Callable[[Batch, torch.Generator], Tensor]
_RECORDS = 200  # losses are averaged into at most this many records


@dataclass(frozen=True)
class Schedule:
    """How to train: ``optimizer`` "sgd" or "adam"; ``max_iter`` updates; ``check`` updates between looks."""

    optimizer: str = "adam"
    learning_rate: float = 1e-3
    momentum: float = 0.9
    weight_decay: float = 0.0
    max_iter: int = 1000
    patience: int = 0
    check: int = 100
    seed: int = 0
    checkpoint: str | os.PathLike[str] | None = None


@dataclass(frozen=True)
class Trained:
    """How a run ended: records, updates made, status, and the best held-out loss (nan without held-out rows)."""

    history: tuple[Record, ...]
    n_iter: int
    status: Status
    held_out: float


def train(
    module: nn.Module,
    loss: Loss,
    batches: Callable[[int], Iterator[Batch]],
    schedule: Schedule,
    *,
    held_out: Callable[[], float] | None = None,
    callback: Callback | None = None,
) -> Trained:
    """Train ``module`` in place. ``batches(done)`` gives batches from number ``done`` on; ``loss`` is a mean over rows.

    A ``KeyboardInterrupt`` ends the run with what there is and status ``INTERRUPTED``.
    """
    run = _Run(module, loss, schedule, held_out, callback)
    run.resume()
    try:
        status = run.go(batches(run.n_iter))
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
    run.keep_best()
    return Trained(tuple(run.history), run.n_iter, status, run.best)


class _Run:
    """One run: the optimiser, the random numbers, the records and the best parameters so far."""

    def __init__(
        self,
        module: nn.Module,
        loss: Loss,
        schedule: Schedule,
        held_out: Callable[[], float] | None,
        callback: Callback | None,
    ) -> None:
        self.module, self.schedule = module, schedule
        self.loss: Callable[..., Tensor] = _in_parallel(_Objective(module, loss))
        self.held_out, self.callback = held_out, callback
        self.optimizer = _optimizer(module, schedule)
        device = next(module.parameters()).device
        self.generator = torch.Generator(device=device).manual_seed(schedule.seed)
        self.n_iter, self.waited = 0, 0
        self.best, self.kept = np.nan, {}  # type: float, dict[str, Tensor]
        self.history: list[Record] = []
        self.recent: list[float] = []
        self.began = time.perf_counter()

    def go(self, batches: Iterator[Batch]) -> Status:
        every = max(1, self.schedule.max_iter // _RECORDS)
        for batch in batches:
            if self.n_iter >= self.schedule.max_iter:
                return Status.ITERATIONS
            self.recent.append(self._update(share(batch)))
            self.n_iter += 1
            if self.n_iter % every == 0 and self._record():
                return Status.STOPPED
            if self.n_iter % self.schedule.check == 0 and self._look():
                return Status.CONVERGED
        return Status.ITERATIONS if self.n_iter >= self.schedule.max_iter else Status.CONVERGED

    def _update(self, batch: Batch) -> float:
        self.optimizer.zero_grad(set_to_none=True)
        value = self.loss(batch, self.generator)
        value.backward()
        self.optimizer.step()
        return float(value.detach())

    def _record(self) -> bool:
        """Note the mean loss; True where the callback wants to stop."""
        mean = float(np.mean(self.recent))
        self.recent = []
        terms = {"held_out": self.best} if self.held_out is not None else {}
        seconds = time.perf_counter() - self.began
        record = Record(0, 0.0, self.n_iter, mean, terms, seconds)
        self.history.append(record)
        if self.callback is None:
            return False
        return bool(self.callback(State(**vars(record), n_stages=1, point=np.empty((0, 0)))))

    def _look(self) -> bool:
        """Look at held-out rows, save; True where it has not improved for long."""
        if self.held_out is not None:
            value = self.held_out()
            improved = not self.best <= value
            self.waited = 0 if improved else self.waited + 1
            if improved:
                self.best, self.kept = value, {name: p.detach().clone() for name, p in self.module.state_dict().items()}
        self.save()
        return bool(self.schedule.patience) and self.waited >= self.schedule.patience

    def keep_best(self) -> None:
        if self.kept:
            self.module.load_state_dict(self.kept)

    def save(self) -> None:
        if self.schedule.checkpoint is None or _rank() != 0:
            return
        content: dict[str, Any] = {
            "module": self.module.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "generator": self.generator.get_state(),
            "kept": self.kept,
            "numbers": [self.n_iter, self.waited, self.best],
            "recent": self.recent,
            "history": [list(vars(record).values()) for record in self.history],
        }
        unfinished = f"{os.fspath(self.schedule.checkpoint)}.unfinished"
        torch.save(content, unfinished)
        os.replace(unfinished, self.schedule.checkpoint)

    def resume(self) -> None:
        if self.schedule.checkpoint is None or not os.path.exists(self.schedule.checkpoint):
            return
        content = torch.load(self.schedule.checkpoint, weights_only=True)
        self.module.load_state_dict(content["module"])
        self.optimizer.load_state_dict(content["optimizer"])
        self.generator.set_state(content["generator"])
        self.kept, self.recent = content["kept"], content["recent"]
        self.n_iter, self.waited, self.best = content["numbers"]
        self.history = [Record(*values) for values in content["history"]]


def _optimizer(module: nn.Module, schedule: Schedule) -> torch.optim.Optimizer:
    parameters = [p for p in module.parameters() if p.requires_grad]
    groups = [
        {"params": [p for p in parameters if p.dim() > 1], "weight_decay": schedule.weight_decay},
        {"params": [p for p in parameters if p.dim() <= 1], "weight_decay": 0.0},
    ]
    if schedule.optimizer == "sgd":
        return torch.optim.SGD(groups, lr=schedule.learning_rate, momentum=schedule.momentum)
    return torch.optim.Adam(groups, lr=schedule.learning_rate)


class _Objective(nn.Module):
    """A module whose forward is the loss, which is what distributed data parallel wraps."""

    def __init__(self, module: nn.Module, loss: Loss) -> None:
        super().__init__()
        self.module, self.loss = module, loss

    def forward(self, batch: Batch, generator: torch.Generator) -> Tensor:
        return self.loss(batch, generator)


def _in_parallel(objective: nn.Module) -> nn.Module:
    """Gradients are averaged over processes, where there are several."""
    if not _several():
        return objective
    return nn.parallel.DistributedDataParallel(objective)


def _several() -> bool:
    return bool(distributed.is_available() and distributed.is_initialized())


def _rank() -> int:
    return distributed.get_rank() if _several() else 0

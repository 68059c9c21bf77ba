"""What every estimator of this room shares: training options, parameters kept as arrays, a module built when needed.

A fitted model holds ``parameters_``, a dictionary of NumPy arrays; the torch module is built from the constructor's
arguments and these whenever a method needs it. So models are cloned, pickled, saved and loaded like all others, and
know nothing of devices.
"""

from __future__ import annotations

import copy
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn

from sidelight.base.fitting import KeptInterrupt
from sidelight.base.messages import complain
from sidelight.base.progress import ProgressBar, both
from sidelight.base.random import random_seed
from sidelight.base.result import Callback, Record, Status
from sidelight.base.validation import check_choice, check_integer, check_number
from sidelight.base.warnings import warn

from ._batches import Batch, array_batches, as_batches, first_of, in_order, tensor
from ._checkpoints import settings_of
from ._training import Run, Schedule, Trained, train

__all__ = ["CHAINS", "Stream", "TorchModel", "one_thread"]

Array = npt.NDArray[Any]
CHAINS = "chains"
"""Buffer of a module that checkpoints keep and fitted models do not: the states of persistent chains."""
_BLOCK = 4096  # rows of a block in the maps


@contextmanager
def one_thread() -> Iterator[None]:
    """Torch with one thread inside: more of them change the last bits of a product."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@dataclass(frozen=True)
class Stream:
    """Where batches come from, and held-out rows for looking at."""

    batches: Callable[[int], Iterator[Batch]]
    held_out: Batch | None = None


@dataclass(frozen=True)
class _Paused:
    """Where a call of ``partial_fit`` ended and the next one continues; nobody changes what it holds.

    ``parameters`` are those the model then had: others mean that it was fitted in between.
    """

    schedule: Schedule
    parameters: dict[str, Array]
    run: Run


class TorchModel(BaseEstimator):
    """Training and use of a torch module behind scikit-learn's manners.

    A subclass has the constructor arguments below, ``_check_parameters()``, ``_build() -> nn.Module``,
    ``_loss(module, batch, generator) -> Tensor`` and ``_held_out_loss(module, batch) -> Tensor``. To be trained on what
    comes batch by batch it has ``_opened`` and ``_framed`` too.
    """

    _optimizers: tuple[str, ...] = ("sgd", "adam")
    optimizer: str
    learning_rate: float
    momentum: float
    weight_decay: float
    batch_size: int
    max_iter: int
    validation_fraction: float
    patience: int
    device: str
    checkpoint: str | os.PathLike[str] | None
    random_state: Any
    verbose: int
    callback: Callback | None

    def _check_parameters(self) -> None:
        raise NotImplementedError

    def _build(self) -> nn.Module:
        raise NotImplementedError

    def _loss(self, module: Any, batch: Batch, generator: torch.Generator) -> Tensor:
        raise NotImplementedError

    def _held_out_loss(self, module: Any, batch: Batch) -> Tensor:
        raise NotImplementedError

    @property
    def _real(self) -> bool:
        """Whether what is modelled are numbers of any scale."""
        raise NotImplementedError

    def _inputs_scaled(self, X: Array) -> bool:
        """Whether inputs, if there are any, are moved and scaled."""
        raise NotImplementedError

    def _check_values(self, name: str, Y: Array) -> None:
        """Refuse values that what is modelled cannot have."""
        raise NotImplementedError

    def _opened(self, first: Any) -> Sequence[Any]:
        """Learn columns and frames from the first batch; return it framed."""
        raise NotImplementedError

    def _framed(self, *parts: Array) -> tuple[Array, ...]:
        """The arrays of a batch, checked and moved into their frames."""
        raise NotImplementedError

    def _check_stream(self) -> None:
        """Refuse options that need all rows at once."""

    def _prepare(self, module: nn.Module, batch: Sequence[Any]) -> None:
        """Do what a module needs before training on a stream that begins with ``batch``."""

    def _check_columns(self, name: str, array: Array, columns: int) -> None:
        if array.shape[1] != columns:
            rule = f"does not match the {columns} of the fit"
            raise ValueError(complain(self, name, f"{array.shape[1]} columns", rule, "Give the same columns"))

    def _check_training(self) -> None:
        check_choice(self, "optimizer", self.optimizer, self._optimizers)
        check_number(self, "learning_rate", self.learning_rate, 0.0)
        check_number(self, "momentum", self.momentum, -1e-12, 1.0)
        check_number(self, "weight_decay", self.weight_decay, -1e-12)
        check_integer(self, "batch_size", self.batch_size, 1)
        check_integer(self, "max_iter", self.max_iter, 1)
        check_number(self, "validation_fraction", self.validation_fraction, -1e-12, 1.0)
        check_integer(self, "patience", self.patience, 0)

    def _place(self) -> tuple[torch.device, torch.dtype]:
        return torch.device(self.device), torch.float32

    def _from_arrays(self, arrays: tuple[Array, ...], seed: int) -> Stream:
        """Batches of rows."""
        kept, held = self._shares(arrays, seed)
        out = None if held is None else tuple(tensor(array, self._place()) for array in held)
        return Stream(lambda done: array_batches(kept, self.batch_size, seed, self._place(), done=done), out)

    def _shares(self, arrays: tuple[Array, ...], seed: int) -> tuple[tuple[Array, ...], tuple[Array, ...] | None]:
        """Rows to train on, and the last share of a fixed shuffle, which is held out."""
        n = len(arrays[0])
        held = int(n * self.validation_fraction)
        order = np.random.default_rng(seed).permutation(n)
        kept = tuple(array[np.sort(order[held:])] for array in arrays)
        return kept, tuple(array[order[:held]] for array in arrays) if held else None

    def _fit_source(self, source: Any, held_out: Any) -> None:
        """Train on batches that are made as they are asked for."""
        self._check_parameters()
        self._check_stream()
        first, batches = first_of(source, self)
        opening = self._opened(first)
        seed = self._seed()
        kept = None if held_out is None else self._held(held_out, opening, seed)
        module = self._initial(seed)
        self._prepare(module, opening)
        self._train(module, Stream(lambda done: self._streamed(batches, opening, seed, done), kept), seed)

    def _streamed(self, source: Iterator[Any], opening: Sequence[Any], seed: int, done: int) -> Iterator[Batch]:
        """Batches of a source that is like ``opening``; the first ``done`` of them are passed over."""
        del seed
        columns = tuple(part.shape[1] for part in opening)
        for number, batch in enumerate(as_batches(source, self, width=len(opening), columns=columns)):
            if number >= done:
                yield tuple(tensor(part, self._place()) for part in self._framed(*batch))

    def _held(self, rows: Any, opening: Sequence[Any], seed: int) -> Batch:
        """Rows held out, as one batch."""
        del seed
        columns = tuple(part.shape[1] for part in opening)
        (batch,) = as_batches([rows], self, width=len(opening), columns=columns, name="held_out")
        return tuple(tensor(part, self._place()) for part in self._framed(*batch))

    def _continue(self, arrays: Sequence[Array]) -> None:
        """One update for each batch of framed rows, in their order."""
        batches = in_order(arrays, self.batch_size, self._place())
        self._go_on(batches, lambda module: self._prepare(module, arrays))

    def _seed(self) -> int:
        return random_seed(self.random_state)

    def _initial(self, seed: int) -> nn.Module:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            return self._build().to(*self._place())

    def _train(self, module: nn.Module, stream: Stream, seed: int) -> None:
        """Train, keep parameters and history; say where it did not converge, raise where it was interrupted."""
        bar = ProgressBar(type(self).__name__) if self.verbose else None
        held_out = stream.held_out
        with one_thread():
            found = train(
                module,
                self._loss_of(module),
                stream.batches,
                replace(self._schedule(seed), settings=settings_of(self)),
                held_out=None if held_out is None else lambda: self._looked_at(module, held_out),
                callback=both(bar, self.callback),
            )
        if bar is not None:
            bar.close(f"{found.status.value}, {found.n_iter} updates")
        if found.status is Status.INTERRUPTED and found.n_iter == 0:
            raise KeyboardInterrupt
        self._keep(module, found)
        if found.status is Status.INTERRUPTED:
            raise KeptInterrupt
        if held_out is not None and found.status is Status.ITERATIONS and self.patience and found.waited == 0:
            self._warn("ended training while held-out rows were still improving", "Raise it")
        if found.dry:
            rule, remedy = f"ended before max_iter={self.max_iter}", f"Yield more, or set max_iter={found.n_iter}"
            warn(complain(self, "source", f"{found.n_iter} batches", rule, remedy), ConvergenceWarning)

    def _go_on(self, batches: Iterator[Batch], prepare: Callable[[nn.Module], None] | None = None) -> None:
        """One update for each batch; the optimiser and the random numbers go on from where the last call left them.

        These live only in memory: a model that was copied, pickled or loaded goes on with a fresh optimiser.
        ``prepare`` gets the module when a run begins.
        """
        schedule = replace(self._schedule(0), settle=0.0)  # a stream has no end
        run = self._continued_run(schedule, prepare)
        before = list(getattr(self, "history_", []))
        with one_thread():
            for batch in batches:
                run.update(batch)
        recent, run.recent = run.recent, []
        done = getattr(self, "n_iter_", 0) + len(recent)
        record = Record(len(before), 0.0, done, float(np.mean(recent)), {}, time.perf_counter() - run.began)
        self._keep(run.module, Trained((), done, Status.ITERATIONS, np.nan))
        self.history_ = [*before, vars(record)]
        self._paused_ = _Paused(schedule, self.parameters_, run)

    def _continued_run(self, schedule: Schedule, prepare: Callable[[nn.Module], None] | None) -> Run:
        """A run that continues where the last ``partial_fit`` ended, or begins with the present parameters."""
        paused: _Paused | None = getattr(self, "_paused_", None)
        fitted = getattr(self, "parameters_", None)
        if paused is not None and paused.parameters is fitted and paused.schedule == schedule:
            module = copy.deepcopy(paused.run.module)  # with its chains; the other stays as it is, should this fail
            return paused.run.copied(module, self._loss_of(module))
        seed = self._seed() + getattr(self, "n_iter_", 0)
        module = self._initial(seed) if fitted is None else self._module().requires_grad_(True).train()
        if prepare is not None:
            prepare(module)
        return Run(module, self._loss_of(module), replace(schedule, seed=seed))

    def _loss_of(self, module: nn.Module) -> Callable[[Batch, torch.Generator], Tensor]:
        return lambda batch, generator: self._loss(module, batch, generator)

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the run that ``partial_fit`` continues."""
        return {name: value for name, value in super().__getstate__().items() if name != "_paused_"}

    def __sidelight_state__(self) -> dict[str, Any]:
        """A file does not hold it either."""
        return {"_paused_": ...}

    def _schedule(self, seed: int) -> Schedule:
        return Schedule(
            optimizer=self.optimizer,
            learning_rate=self.learning_rate,
            momentum=self.momentum,
            weight_decay=self.weight_decay,
            max_iter=self.max_iter,
            patience=self.patience,
            seed=seed,
            checkpoint=self.checkpoint,
        )

    def _looked_at(self, module: nn.Module, batch: Batch) -> float:
        with torch.no_grad():
            return float(self._held_out_loss(module, batch))

    def _keep(self, module: nn.Module, found: Trained) -> None:
        state = {name: value for name, value in module.state_dict().items() if name != CHAINS}
        arrays = {name: value.detach().cpu().numpy().copy() for name, value in state.items()}
        broken = [name for name, value in arrays.items() if not np.isfinite(value).all()]
        if broken or found.status is Status.STALLED:
            rule = "let the parameters grow without bound"
            remedy = "Lower learning_rate, or scale the data"
            raise FloatingPointError(complain(self, "learning_rate", self.learning_rate, rule, remedy))
        self.parameters_ = arrays
        self.history_ = [vars(record) for record in found.history]
        self.n_iter_ = found.n_iter

    def _warn(self, rule: str, remedy: str) -> None:
        warn(complain(self, "max_iter", self.max_iter, rule, remedy), ConvergenceWarning)

    def _module(self, dtype: Any = np.float32) -> Any:
        """The fitted module, for rows of a type."""
        check_is_fitted(self, "parameters_")
        with torch.random.fork_rng(devices=[]):
            module = self._build()
        module.load_state_dict({name: torch.tensor(value) for name, value in self.parameters_.items()})
        kind = torch.float64 if np.dtype(dtype) == np.float64 else torch.float32
        return module.to(torch.device(self.device), kind).requires_grad_(False).eval()

    def _rows_of_a_block(self) -> int:
        return _BLOCK

    def _tensor(self, rows: Array) -> Tensor:
        return tensor(rows, (torch.device(self.device), torch.float64 if rows.dtype == np.float64 else torch.float32))

    def _by_block(self, function: Callable[..., Tensor], *arrays: Array) -> Array:
        """A function of rows, a block at a time, back as an array of their type."""
        rows = self._rows_of_a_block()
        with one_thread():
            parts = [
                function(*(self._tensor(array[begin : begin + rows]) for array in arrays)).cpu().numpy()
                for begin in range(0, max(1, len(arrays[0])), rows)
            ]
        return np.asarray(np.concatenate(parts).astype(arrays[0].dtype, copy=False))

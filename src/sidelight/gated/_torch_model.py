"""What every estimator of this room shares: training options, parameters kept as arrays, a module built when needed.

A fitted model holds ``parameters_``, a dictionary of NumPy arrays; the torch module is built from the constructor's
arguments and these whenever a method needs it. So models are cloned, pickled, saved and loaded like all others, and
know nothing of devices.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn

from sidelight._frame import Frame
from sidelight._interrupted import KeptInterrupt
from sidelight._messages import complain
from sidelight._progress import ProgressBar, both
from sidelight._validation import check_choice, check_integer, check_number
from sidelight.solvers.result import Callback, Record, Status

from .batches import Batch, array_batches, as_batches, tensor
from .training import Run, Schedule, Trained, train

__all__ = ["CHAINS", "Stream", "TorchModel", "frame_of", "one_thread"]

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


def frame_of(X: Array, *, scaled: bool) -> Frame:
    """Columns moved to their mean, all divided by one root mean square deviation; or rows as they are."""
    if not scaled:
        return Frame(np.zeros(X.shape[1]), 1.0)
    size = float(np.abs(X).max()) or 1.0
    centre = (X / size).mean(axis=0) * size
    deviation = (X - centre) / size
    return Frame(centre, float(np.sqrt((deviation**2).mean())) * size or 1.0)


@dataclass(frozen=True)
class Stream:
    """Where batches come from, and held-out rows for looking at."""

    batches: Callable[[int], Iterator[Batch]]
    held_out: Batch | None = None


@dataclass
class _Live:
    """What goes on between calls of ``partial_fit``; ``parameters`` are those it left, ``whole`` that it ended well."""

    run: Run
    schedule: Schedule
    parameters: dict[str, Array] | None = None
    whole: bool = False


class TorchModel(BaseEstimator):
    """Training and use of a torch module behind scikit-learn's manners.

    A subclass has the constructor arguments below, ``_build() -> nn.Module``,
    ``_loss(module, batch, generator) -> Tensor`` and ``_held_out_loss(module, batch) -> Tensor``.
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

    def _build(self) -> nn.Module:
        raise NotImplementedError

    def _loss(self, module: Any, batch: Batch, generator: torch.Generator) -> Tensor:
        raise NotImplementedError

    def _held_out_loss(self, module: Any, batch: Batch) -> Tensor:
        raise NotImplementedError

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
        """Batches of rows; the last share of a fixed shuffle is held out."""
        n = len(arrays[0])
        held = int(n * self.validation_fraction) if self.validation_fraction else 0
        order = np.random.default_rng(seed).permutation(n)
        kept = [array[np.sort(order[held:])] for array in arrays]
        out = tuple(tensor(array[order[:held]], self._place()) for array in arrays) if held else None
        return Stream(lambda done: array_batches(tuple(kept), self.batch_size, seed, self._place(), done=done), out)

    def _from_source(self, source: Any, inside: Callable[..., Batch], width: int) -> Stream:
        """Batches of a source; rows are brought ``inside`` with 64 bits, whatever their units."""
        device, dtype = self._place()

        def batches(done: int) -> Iterator[Batch]:
            for number, batch in enumerate(as_batches(source, self, (device, torch.float64), width=width)):
                if number >= done:
                    yield tuple(part.to(dtype) for part in inside(*batch))

        return Stream(batches)

    def _seed(self) -> int:
        return int(check_random_state(self.random_state).randint(2**31 - 1))

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
                lambda batch, generator: self._loss(module, batch, generator),
                stream.batches,
                self._schedule(seed),
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

    def _go_on(self, batches: Iterator[Batch], prepare: Callable[[nn.Module], None] | None = None) -> None:
        """One update for each batch; the optimiser and the random numbers go on from where the last call left them.

        These live only in memory: a model that was copied, pickled or loaded goes on with a fresh optimiser.
        ``prepare`` gets the module when a run begins.
        """
        live = self._live_run(prepare)
        before = list(getattr(self, "history_", []))
        live.whole = False  # until the end: what an error leaves half done is not gone on with
        with one_thread():
            for batch in batches:
                live.run.update(batch)
        recent, live.run.recent = live.run.recent, []
        done = getattr(self, "n_iter_", 0) + len(recent)
        record = Record(len(before), 0.0, done, float(np.mean(recent)), {}, time.perf_counter() - live.run.began)
        self._keep(live.run.module, Trained((), done, Status.ITERATIONS, np.nan))
        self.history_ = [*before, vars(record)]
        live.parameters, live.whole = self.parameters_, True

    def _live_run(self, prepare: Callable[[nn.Module], None] | None) -> _Live:
        """The run that the last ``partial_fit`` left, or a new one from the present parameters."""
        schedule = replace(self._schedule(0), settle=0.0)  # a stream has no end
        live: _Live | None = getattr(self, "_live", None)
        fitted = getattr(self, "parameters_", None)
        if live is not None and live.whole and live.parameters is fitted and live.schedule == schedule:
            return live
        seed = self._seed() + getattr(self, "n_iter_", 0)
        module = self._initial(seed) if fitted is None else self._module().requires_grad_(True).train()
        if prepare is not None:
            prepare(module)
        loss = lambda batch, generator: self._loss(module, batch, generator)  # noqa: E731
        self._live = _Live(Run(module, loss, replace(schedule, seed=seed)), schedule)
        return self._live

    def __getstate__(self) -> dict[str, Any]:
        """Everything but a run that may be going on."""
        return {name: value for name, value in super().__getstate__().items() if name != "_live"}

    def _schedule(self, seed: int) -> Schedule:
        return Schedule(
            optimizer=self.optimizer,
            learning_rate=self.learning_rate,
            momentum=self.momentum,
            weight_decay=self.weight_decay,
            max_iter=self.max_iter,
            patience=self.patience if self.validation_fraction else 0,
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
        warnings.warn(complain(self, "max_iter", self.max_iter, rule, remedy), ConvergenceWarning, stacklevel=4)

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

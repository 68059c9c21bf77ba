"""The trainer: has settings and an objective, takes rows or batches, and returns the trained parameters.

The design of this package, from the bottom up:

    ``_settings``       ``TrainingSettings``: the fourteen training parameters, checked, and their only documentation
    ``_architecture``   the network as a value; builds the module for any number of columns; fitted models keep it
    ``_values``         the kind of modelled values (``ValueKind``): which values are allowed, whether they are scaled
    ``_objectives``     an architecture with its training loss (of module and batch) and its validation loss
    ``_trainer``        ``Trainer(owner, settings, objective, sizes)``: the module in, a ``TrainedNetwork`` (arrays) out
    ``_estimator``      base class: arrays and architecture to module, and the state that ``partial_fit`` continues
    ``_row_estimator``, ``_pair_estimator``, ``_field_estimator``: validation and scaling of rows, of pairs, of samples

An estimator defines its architecture and its objective, and the methods that its network allows; no helper gets the
estimator itself. ``_training`` (minibatches) and ``_descent`` (all rows at once) are the training loops.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar, cast

import numpy as np
import torch
from sklearn.exceptions import ConvergenceWarning
from torch import Tensor, nn

from sidelight.base.fitting import raise_if_interrupted
from sidelight.base.messages import error_message
from sidelight.base.progress import ProgressBar, combine_callbacks
from sidelight.base.result import Callback, Record, Status
from sidelight.base.types import Array, NamedValues
from sidelight.base.warnings import warn

from ._batches import Batch, array_batches, as_batches, in_order, tensor
from ._descent import descend
from ._frames import Framing
from ._modules import load_module, one_thread
from ._objectives import Objective
from ._settings import TrainingSettings
from ._training import Run, Schedule, Trained, train

__all__ = ["Paused", "Progress", "Stream", "TrainedNetwork", "Trainer"]


Module = TypeVar("Module", bound=nn.Module)
_LEAST_HELD, _MOST_HELD = 5, 1000  # rows held out where training ends by itself; with fewer, none are
_SHARE = 0.5  # of the updates, with a falling rate, where training ends by itself without held-out rows
_CHAINS = "chains"  # a buffer of machines that checkpoints keep and fitted models do not


@dataclass(frozen=True)
class Stream:
    """A source of batches (``batches(done)``: from number ``done`` on), and held-out rows for the validation loss.

    ``n_rows``: training rows; None if unknown.
    """

    batches: Callable[[int], Iterator[Batch]]
    held_out: Batch | None = None
    n_rows: int | None = None


@dataclass(frozen=True)
class Paused:
    """State at the end of a call of ``partial_fit``, from which the next one continues; never modified.

    ``parameters`` are those of the model at that time: if it has others now, it was refitted in between.
    """

    schedule: Schedule
    parameters: Mapping[str, Array]
    run: Run


@dataclass(frozen=True)
class Progress:
    """Training progress of a model: parameters (None: untrained), updates, history, and the run, if in memory."""

    parameters: dict[str, Array] | None = None
    n_iter: int = 0
    history: list[NamedValues] = field(default_factory=list)
    paused: Paused | None = None


@dataclass(frozen=True)
class TrainedNetwork:
    """The result of training; ``paused`` is set only by ``partial_fit``."""

    parameters: dict[str, Array]
    history: list[NamedValues]
    n_iter: int
    was_interrupted: bool = False
    paused: Paused | None = None
    weight_decay: float = 0.0
    held_out: float = np.nan
    was_ended: bool = False
    """Whether an interrupt or a callback ended training."""


@dataclass(frozen=True)
class Trainer(Generic[Module]):
    """Trains the network of an objective.

    Parameters
    ----------
    owner : str
        Name of the estimator, for messages.
    settings : TrainingSettings
    objective : Objective
        The network's architecture and its losses.
    sizes : (int, int)
        Numbers of input and output columns of the network.
    identity : mapping of str to str
        Settings that a checkpoint must have been written with to be resumed (``_checkpoints.identity_of``).
    """

    owner: str
    settings: TrainingSettings
    objective: Objective[Module]
    sizes: tuple[int, int]
    identity: Mapping[str, str] = field(default_factory=dict)

    def begin(self, seed: int) -> Module:
        """The network with its initial weights."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            module = self.objective.architecture.build(*self.sizes)
        module.to(*self.settings.place)
        return module

    def on_arrays(self, module: Module, arrays: Sequence[Array], seed: int) -> TrainedNetwork:
        """Train on scaled float32 rows, full-batch or in minibatches; a share of them is held out."""
        seen, held = self._shares(arrays, seed)
        if held is None and self.settings.ends_by_itself:
            return replace(self, settings=self.settings.unjudged())._on_shares(module, seen, held, seed)
        return self._on_shares(module, seen, held, seed)

    def _on_shares(
        self, module: Module, seen: tuple[Array, ...], held: tuple[Array, ...] | None, seed: int
    ) -> TrainedNetwork:
        """Train on the rows ``seen``, judged by the rows ``held`` (None: there are none)."""
        place = self.settings.place
        if self.is_at_once(module, len(seen[0])):
            rows, generator = _doubles(seen), torch.Generator().manual_seed(seed)
            out = None if held is None else _doubles(held)
            judged = None if out is None else lambda: self._judged(module, out)
            return self.at_once(module, lambda: self.objective.loss(module, rows, generator), judged, seed)
        kept = None if held is None else tuple(tensor(array, place) for array in held)
        size = self.settings.batch_size

        def batches(done: int) -> Iterator[Batch]:
            return array_batches(seen, size, seed, place, done=done)

        return self.on_stream(module, Stream(batches, kept, len(seen[0])), seed)

    def on_batches(
        self, source: Iterator[object], framing: Framing, opening: Sequence[Array], rows: object
    ) -> TrainedNetwork:
        """Train on a stream of batches.

        ``opening``: the first of them, scaled; ``rows``: a held-out batch, or None.
        """
        columns, place = tuple(part.shape[1] for part in opening), self.settings.place

        def framed(found: Iterable[object], name: str, done: int = 0) -> Iterator[Batch]:
            checked = as_batches(found, self.owner, width=len(opening), columns=columns, name=name)
            for number, batch in enumerate(checked):
                if number >= done:
                    yield tuple(tensor(part, place) for part in framing.inside(*batch))

        seed = self.settings.draw_seed()
        held = None if rows is None else next(framed([rows], "held_out"))
        module = self.begin(seed)
        self.objective.prepare(self.owner, module, opening)
        return self.on_stream(module, Stream(lambda done: framed(source, "source", done), held), seed)

    def is_at_once(self, module: Module, n_rows: int) -> bool:
        """Whether to train on all rows at once."""
        return self.settings.at_once(n_rows, sum(p.numel() for p in module.parameters()))

    def at_once(
        self, module: Module, loss: Callable[[], Tensor], held_out: Callable[[], float] | None, seed: int
    ) -> TrainedNetwork:
        """Minimise the ``loss`` of all rows by L-BFGS, in double precision; held-out rows choose the weight decay."""
        bar = ProgressBar(self.owner) if self.settings.verbose else None
        callback = combine_callbacks(bar, self.settings.callback)
        with one_thread(), _seeded(seed):
            found, decay = self._best_descent(module.double(), loss, held_out, seed, callback)
        if bar is not None:
            bar.close(f"{found.status.value}, {found.n_iter} iterations")
        raise_if_interrupted(found.status is Status.INTERRUPTED and not found.history, kept=False)
        trained = replace(self._kept(module.float(), found), weight_decay=decay)
        if found.status is Status.ITERATIONS and not self.settings.ends_by_itself:
            rule = "did not let training converge"
            self._warn(rule, "Raise max_iter, raise weight_decay, or hold rows out (validation_fraction)")
        return trained

    def _best_descent(
        self,
        module: nn.Module,
        loss: Callable[[], Tensor],
        held_out: Callable[[], float] | None,
        seed: int,
        callback: Callback | None,
    ) -> tuple[Trained, float]:
        """Train with each weight decay to be tried, from the same weights; keep the best, until one is worse."""
        settings = self.settings
        decays = (settings.weight_decay,) if held_out is None else settings.decays
        start, best = copy.deepcopy(module.state_dict()), None
        for decay in decays:
            module.load_state_dict(start)
            schedule = replace(settings.schedule(seed), weight_decay=decay)
            found = descend(module, loss, schedule, held_out=held_out, callback=callback)
            if best is None or found.held_out < best[0].held_out:
                best, kept = (found, decay), copy.deepcopy(module.state_dict())
            elif found.status is Status.INTERRUPTED:
                best = replace(best[0], status=Status.INTERRUPTED), best[1]
            if best[1] != decay or found.status in (Status.INTERRUPTED, Status.STOPPED):
                break
        assert best is not None
        module.load_state_dict(kept)
        return best

    def solved(self, module: Module, solve: Callable[[], float]) -> TrainedNetwork:
        """The network whose best parameters ``solve`` sets in closed form; it returns the loss."""
        began = time.perf_counter()
        with one_thread():
            value = solve()
        record = Record(0, 0.0, 1, value, {}, time.perf_counter() - began)
        return replace(self._kept(module, Trained((record,), 1, Status.CONVERGED, np.nan)), weight_decay=0.0)

    def on_stream(self, module: Module, stream: Stream, seed: int) -> TrainedNetwork:
        """Train in minibatches; warn if training did not converge."""
        bar = ProgressBar(self.owner) if self.settings.verbose else None
        held_out = stream.held_out
        with one_thread(), _seeded(seed):
            found = train(
                module,
                self._loss_of(module),
                stream.batches,
                self._schedule(seed, stream.n_rows),
                held_out=None if held_out is None else lambda: self._judged(module, held_out),
                callback=combine_callbacks(bar, self.settings.callback),
                gradient=self.objective.gradient(module),
            )
        if bar is not None:
            bar.close(f"{found.status.value}, {found.n_iter} updates")
        raise_if_interrupted(found.status is Status.INTERRUPTED and found.n_iter == 0, kept=False)
        trained = self._kept(module, found)
        if trained.was_interrupted:
            return trained
        if held_out is not None and found.status is Status.ITERATIONS and self.settings.patience and found.waited == 0:
            self._warn("ended training while held-out rows were still improving", "Raise it")
        if found.dry:
            rule = f"ended before max_iter={self.settings.max_iter}"
            remedy = f"Yield more, or set max_iter={found.n_iter}"
            warn(error_message(self.owner, "source", f"{found.n_iter} batches", rule, remedy), ConvergenceWarning)
        return trained

    def continue_on_rows(self, progress: Progress, rows: Sequence[Array]) -> TrainedNetwork:
        """Continue training: one update for each batch of scaled ``rows``, in order (see ``continue_on_batches``)."""
        return self.continue_on_batches(progress, in_order(rows, self.settings.batch_size, self.settings.place), rows)

    def continue_on_batches(
        self, progress: Progress, batches: Iterator[Batch], opening: Sequence[Array] = ()
    ) -> TrainedNetwork:
        """Continue training: one update for each batch, with the optimiser and random state of the last call.

        These are kept in memory only: a model that was copied, pickled or loaded continues with a fresh optimiser.
        ``opening``: the first rows of a stream.
        """
        schedule = self.settings.without_end().schedule(0)  # the rate does not fall: a stream has no known end
        run = self._continued_run(progress, schedule, opening)
        with one_thread(), _seeded(run.schedule.seed + progress.n_iter):
            for batch in batches:
                run.update(batch)
        recent, run.recent = run.recent, []
        done = progress.n_iter + len(recent)
        seconds = time.perf_counter() - run.began
        record = Record(len(progress.history), 0.0, done, float(np.mean(recent)), {}, seconds)
        found = self._kept(run.module, Trained((record,), done, Status.ITERATIONS, np.nan))
        paused = Paused(schedule, found.parameters, run)
        return replace(found, history=[*progress.history, *found.history], paused=paused)

    def _continued_run(self, progress: Progress, schedule: Schedule, opening: Sequence[Array]) -> Run:
        """A run that continues the last ``partial_fit``, or starts from the present parameters."""
        paused = progress.paused
        if paused is not None and paused.parameters is progress.parameters and paused.schedule == schedule:
            module = cast(
                Module, copy.deepcopy(paused.run.module)
            )  # with its chains; the other stays as it is, should this fail
            return paused.run.copied(module, self._loss_of(module), self.objective.gradient(module))
        seed = self.settings.draw_seed() + progress.n_iter
        begun = self.begin(seed) if progress.parameters is None else self._trainable(progress.parameters)
        self.objective.prepare(self.owner, begun, opening)
        gradient = self.objective.gradient(begun)
        return Run(begun, self._loss_of(begun), replace(schedule, seed=seed), gradient=gradient)

    def _schedule(self, seed: int, n_rows: int | None) -> Schedule:
        """The settings of the training loop."""
        share = _SHARE if self.settings.ends_by_itself else self.objective.decay_share
        return self.settings.schedule(seed, decay_share=share, identity=self.identity, n_rows=n_rows)

    def _trainable(self, parameters: Mapping[str, Array]) -> Module:
        architecture = self.objective.architecture
        return load_module(architecture, self.sizes, parameters, self.settings.device, trainable=True)

    def _shares(self, arrays: Sequence[Array], seed: int) -> tuple[tuple[Array, ...], tuple[Array, ...] | None]:
        """Rows to train on, and held-out rows: the last share of a fixed shuffle."""
        n = len(arrays[0])
        held = int(n * self.settings.validation_fraction)
        if "validation_fraction" in self.settings.unset:
            held = 0 if held < _LEAST_HELD else min(held, _MOST_HELD)
        order = np.random.default_rng(seed).permutation(n)
        kept = tuple(array[np.sort(order[held:])] for array in arrays)
        return kept, tuple(array[order[:held]] for array in arrays) if held else None

    def _loss_of(self, module: Module) -> Callable[[Batch, torch.Generator], Tensor]:
        return lambda batch, generator: self.objective.loss(module, batch, generator)

    def _judged(self, module: Module, batch: Batch) -> float:
        module.eval()
        with torch.no_grad():
            value = float(self.objective.held_out_loss(module, batch))
        module.train()
        return value

    def _kept(self, module: nn.Module, found: Trained) -> TrainedNetwork:
        """The trained parameters as arrays; raises an error if they are not finite."""
        state = {name: value for name, value in module.state_dict().items() if name != _CHAINS}
        arrays = {name: value.detach().cpu().numpy().copy() for name, value in state.items()}
        broken = [name for name, value in arrays.items() if not np.isfinite(value).all()]
        if broken or found.status is Status.STALLED:
            rule = "let the parameters grow without bound"
            remedy = "Lower learning_rate, or scale the data"
            rate = self.settings.learning_rate
            raise FloatingPointError(error_message(self.owner, "learning_rate", rate, rule, remedy))
        history = [vars(record) for record in found.history]
        interrupted = found.status is Status.INTERRUPTED
        return TrainedNetwork(
            arrays,
            history,
            found.n_iter,
            interrupted,
            weight_decay=self.settings.weight_decay,
            held_out=found.held_out,
            was_ended=interrupted or found.status is Status.STOPPED,
        )

    def _warn(self, rule: str, remedy: str) -> None:
        warn(error_message(self.owner, "max_iter", self.settings.max_iter, rule, remedy), ConvergenceWarning)


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Context with its own random state of torch, for modules of the user's that draw (dropout)."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


def _doubles(arrays: Sequence[Array]) -> Batch:
    return tuple(torch.as_tensor(array).double() for array in arrays)

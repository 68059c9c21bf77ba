"""What the auto-encoders share: how they are trained on rows or on all of them at once, and how rows are framed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from sidelight.base.fitting import KeptInterrupt
from sidelight.base.messages import complain
from sidelight.base.progress import ProgressBar, both
from sidelight.base.result import Status
from sidelight.base.validation import check_choice, check_integer

from ._batches import Batch
from ._descent import descend
from ._frames import explained
from ._networks import ACTIVATIONS, LOSSES, error, finished
from ._pair_model import PairModel
from ._torch_model import TorchModel, one_thread
from ._training import Schedule
from ._values import check_values

__all__ = ["NetworkModel", "PairedModel"]

Array = npt.NDArray[Any]
_SMALL = 30_000_000  # rows times parameters: an iteration on all rows takes less than about 0.1 s


class NetworkModel(TorchModel):
    """A network trained by back-propagation: several readings of a batch, each compared with the target.

    A subclass has ``_network(n_inputs, n_outputs)``, ``_readings(module, batch)`` and ``_point(module, x, guess)``.
    """

    _optimizers = ("auto", "lbfgs", "adam", "sgd")
    loss: str
    levels: int | None
    activation: str

    def _network(self, n_inputs: int, n_outputs: int) -> nn.Module:
        raise NotImplementedError

    def _readings(self, module: Any, batch: Batch) -> list[tuple[float, Tensor]]:
        """Raw outputs (n, j) that should all be the target, with their weights in the loss."""
        raise NotImplementedError

    def _point(self, module: Any, x: Tensor, guess: Tensor | None) -> Tensor:
        """The raw prediction (n, j) for inputs, given first guesses where the model needs them."""
        raise NotImplementedError

    def _target(self, batch: Batch) -> Tensor:
        """What readings are compared with: outputs, or the rows themselves."""
        return batch[min(1, len(batch) - 1)]

    def _loss(self, module: Any, batch: Batch, generator: torch.Generator) -> Tensor:
        del generator
        return self._held_out_loss(module, batch)

    def _held_out_loss(self, module: Any, batch: Batch) -> Tensor:
        target = self._target(batch)
        parts = [weight * error(self.loss, raw, target, self.levels) for weight, raw in self._readings(module, batch)]
        return torch.stack(parts).sum()

    def _check_network(self) -> None:
        check_choice(self, "activation", self.activation, tuple(ACTIVATIONS))
        check_choice(self, "loss", self.loss, LOSSES)
        if self.levels is not None:
            check_integer(self, "levels", self.levels, 2)
        self._check_training()

    def _fit_rows(self, inside: Sequence[Array]) -> None:
        """Train on rows that are framed already."""
        arrays = tuple(part.astype(np.float32) for part in inside)
        seed = self._seed()
        module = self._initial(seed)
        seen, held = self._shares(arrays, seed)
        if self._at_once(module, len(seen[0])):
            self._descend(module, seen, held, seed)
        else:
            self._train(module, self._from_arrays(arrays, seed), seed)

    def _at_once(self, module: nn.Module, n: int) -> bool:
        if self.optimizer == "auto":
            small = n * sum(p.numel() for p in module.parameters()) <= _SMALL
            return small and self.checkpoint is None and self.device == "cpu"
        return self.optimizer == "lbfgs"

    def _schedule(self, seed: int) -> Schedule:
        schedule = super()._schedule(seed)
        return replace(schedule, optimizer="adam") if self.optimizer == "auto" else schedule

    def _descend(self, module: nn.Module, seen: Sequence[Array], held: Sequence[Array] | None, seed: int) -> None:
        rows, generator = _doubles(seen), torch.Generator().manual_seed(seed)
        out = None if held is None else _doubles(held)
        looked = None if out is None else lambda: self._looked_at(module, out)
        self._descend_on(module, lambda: self._loss(module, rows, generator), looked, seed)

    def _descend_on(
        self, module: nn.Module, loss: Callable[[], Tensor], held_out: Callable[[], float] | None, seed: int
    ) -> None:
        bar = ProgressBar(type(self).__name__) if self.verbose else None
        callback = both(bar, self.callback)
        with one_thread():
            found = descend(module.double(), loss, self._schedule(seed), held_out=held_out, callback=callback)
        if bar is not None:
            bar.close(f"{found.status.value}, {found.n_iter} iterations")
        if found.status is Status.INTERRUPTED and not found.history:
            raise KeyboardInterrupt
        self._keep(module.float(), found)
        if found.status is Status.INTERRUPTED:
            raise KeptInterrupt
        if found.status is Status.ITERATIONS:
            rule = "did not let training converge"
            self._warn(rule, "Raise max_iter, raise weight_decay, or hold rows out (validation_fraction)")

    def _check_values(self, name: str, Y: Array) -> None:
        check_values(self, name, Y, ("loss", self.loss, "squared"), self.levels)

    def _check_stream(self) -> None:
        if self.optimizer == "lbfgs":
            rule = "works on all rows at once, and here they come batch by batch"
            raise ValueError(complain(self, "optimizer", "lbfgs", rule, 'Use "adam", which "auto" takes here'))

    @property
    def _real(self) -> bool:
        return self.loss == "squared"

    def _inputs_scaled(self, X: Array) -> bool:
        return True


def _doubles(arrays: Sequence[Array]) -> Batch:
    return tuple(torch.as_tensor(array).double() for array in arrays)


class PairedModel(PairModel, NetworkModel):
    """Networks that predict outputs ``Y`` from inputs ``X``."""

    def _build(self) -> nn.Module:
        return self._network(self.n_features_in_, self.n_outputs_)

    def _finished(self, raw: Tensor) -> Tensor:
        return self._back(finished(self.loss, raw, self.levels))

    def predict(self, X: Array) -> Array:
        """Outputs (n, e) for rows of ``X`` (n, d)."""
        raise NotImplementedError

    def score(self, X: Array, Y: Array) -> float:
        """Share of the variance of ``Y`` that predictions explain (1 is best)."""
        return explained(self._pair(X, Y)[1], self.predict(X))

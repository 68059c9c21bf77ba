"""What the auto-encoders share: how they are trained on rows or on all of them at once, and how rows are framed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from sklearn.utils.validation import check_array, check_is_fitted
from torch import Tensor, nn

from sidelight._frame import Frame
from sidelight._interrupted import KeptInterrupt
from sidelight._messages import complain
from sidelight._progress import ProgressBar, both
from sidelight._validation import check_choice, check_rows
from sidelight.solvers.result import Status

from ._torch_model import TorchModel, frame_of, one_thread
from .batches import Batch
from .descent import descend
from .networks import ACTIVATIONS, LOSSES, error, finished
from .training import Schedule

__all__ = ["NetworkModel", "PairedModel", "explained", "framed", "unframed"]

Array = npt.NDArray[Any]
_FLOATS = [np.float64, np.float32]
_SMALL = 30_000_000  # rows times parameters: an iteration on all rows takes less than about 0.1 s


def framed(rows: Tensor, frame: Frame) -> Tensor:
    """Data to frame, as tensors."""
    return (rows - torch.as_tensor(frame.centre).to(rows)) / frame.scale


def unframed(rows: Tensor, frame: Frame) -> Tensor:
    """Frame to data, as tensors."""
    return rows * frame.scale + torch.as_tensor(frame.centre).to(rows)


def explained(Y: Array, found: Array) -> float:
    """Share of the variance of ``Y`` that ``found`` explains, whatever their scale."""
    size = float(np.abs(Y).max()) or 1.0
    wrong = (((found - Y) / size) ** 2).sum(dtype=np.float64)
    spread = (((Y - Y.mean(axis=0)) / size) ** 2).sum(dtype=np.float64)
    return float(1 - wrong / (spread or 1.0))


class NetworkModel(TorchModel):
    """A network trained by back-propagation: several readings of a batch, each compared with the target.

    A subclass has ``_network(n_inputs, n_outputs)``, ``_readings(module, batch)`` and ``_point(module, x, guess)``.
    """

    _optimizers = ("auto", "lbfgs", "adam", "sgd")
    loss: str
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
        parts = [weight * error(self.loss, raw, target) for weight, raw in self._readings(module, batch)]
        return torch.stack(parts).sum()

    def _check_network(self) -> None:
        check_choice(self, "activation", self.activation, tuple(ACTIVATIONS))
        check_choice(self, "loss", self.loss, LOSSES)
        self._check_training()

    def _fit_rows(self, arrays: tuple[Array, ...]) -> None:
        """Train on rows that are framed already."""
        seed = self._seed()
        module = self._initial(seed)
        n = len(arrays[0]) - int(len(arrays[0]) * self.validation_fraction)
        if self._at_once(module, n):
            self._descend(module, arrays, seed)
        else:
            self._train(module, self._from_arrays(arrays, seed), seed)

    def _at_once(self, module: nn.Module, n: int) -> bool:
        if self.optimizer == "auto":
            small = n * sum(p.numel() for p in module.parameters()) <= _SMALL
            return small and self.checkpoint is None and self.device == "cpu"
        return self.optimizer == "lbfgs"

    def _schedule(self, seed: int) -> Schedule:
        schedule = super()._schedule(seed)
        return Schedule(**{**vars(schedule), "optimizer": "adam"}) if self.optimizer == "auto" else schedule

    def _descend(self, module: nn.Module, arrays: tuple[Array, ...], seed: int) -> None:
        n = len(arrays[0])
        held = int(n * self.validation_fraction)
        order = np.random.default_rng(seed).permutation(n)
        parts = [(array[np.sort(order[held:])], array[order[:held]]) for array in arrays]
        seen, out = (tuple(torch.as_tensor(part[k]).double() for part in parts) for k in (0, 1))
        generator = torch.Generator().manual_seed(seed)
        looked = (lambda: self._looked_at(module, out)) if held else None
        self._descend_on(module, lambda: self._loss(module, seen, generator), looked, seed)

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
        if self.loss == "cross-entropy" and (Y.min() < 0 or Y.max() > 1):
            seen = f"values from {Y.min():g} to {Y.max():g}"
            rule, remedy = "does not suit loss='cross-entropy'", "Scale them to 0 to 1, or use loss='squared'"
            raise ValueError(complain(self, name, seen, rule, remedy))


class PairedModel(NetworkModel):
    """Models of outputs ``Y`` given inputs ``X``: pairs, checked and framed."""

    def _build(self) -> nn.Module:
        return self._network(self.n_features_in_, self.n_outputs_)

    def _frames(self, X: Array, Y: Array) -> None:
        self.input_frame_ = frame_of(X, scaled=True)
        self.output_frame_ = frame_of(Y, scaled=self.loss == "squared")

    def _in(self, x: Tensor) -> Tensor:
        return framed(x, self.input_frame_)

    def _out(self, y: Tensor) -> Tensor:
        return framed(y, self.output_frame_)

    def _back(self, y: Tensor) -> Tensor:
        return unframed(y, self.output_frame_)

    def _finished(self, raw: Tensor) -> Tensor:
        return self._back(finished(self.loss, raw))

    def _pair(self, X: Any, Y: Any, *, reset: bool = False) -> tuple[Array, Array]:
        X = np.asarray(check_array(X, dtype=_FLOATS, input_name="X", ensure_min_samples=2 if reset else 1))
        Y = np.asarray(check_array(Y, dtype=X.dtype, input_name="Y"))
        check_rows(self, "Y", Y, len(X))
        if reset:
            self.n_features_in_, self.n_outputs_ = X.shape[1], Y.shape[1]
        check_is_fitted(self, "n_outputs_")
        self._check_columns("X", X, self.n_features_in_)
        self._check_columns("Y", Y, self.n_outputs_)
        self._check_values("Y", Y)
        return X, Y

    def _inputs(self, X: Any) -> Array:
        check_is_fitted(self, "parameters_")
        X = np.asarray(check_array(X, dtype=_FLOATS, input_name="X"))
        self._check_columns("X", X, self.n_features_in_)
        return np.asarray(X)

    def _outputs(self, name: str, Y: Any, X: Array | None = None) -> Array:
        """Outputs, or first guesses of them, one for each input."""
        check_is_fitted(self, "n_outputs_")
        Y = np.asarray(check_array(Y, dtype=_FLOATS if X is None else X.dtype, input_name=name))
        if X is not None:
            check_rows(self, name, Y, len(X))
        self._check_columns(name, Y, self.n_outputs_)
        self._check_values(name, Y)
        return np.asarray(Y)

    def predict(self, X: Array) -> Array:
        """Outputs (n, e) for rows of ``X`` (n, d)."""
        raise NotImplementedError

    def score(self, X: Array, Y: Array) -> float:
        """Share of the variance of ``Y`` that predictions explain (1 is best)."""
        X, Y = self._pair(X, Y)
        return explained(Y, self.predict(X))

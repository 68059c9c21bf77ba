"""Base class of estimators of rows: validation and scaling of rows, and training in batches."""

from __future__ import annotations

from abc import abstractmethod
from typing import Self, TypeVar

import numpy as np
from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn

from sidelight.base.fitting import all_or_nothing, all_or_nothing_continued
from sidelight.base.messages import error_message
from sidelight.base.types import Array, Function
from sidelight.base.validation import checked_array, validated
from sidelight.maps.frames import Frame

from ._batches import first_of
from ._estimator import TorchEstimator
from ._frames import Framing, frame_of, framed, unframed
from ._machine_architectures import RestrictedArchitecture
from ._modules import by_block
from ._network_architectures import AutoencoderArchitecture
from ._objectives import Objective
from ._rules import TrainingRule
from ._settings import TrainingSettings
from ._trainer import TrainedNetwork, Trainer
from ._values import ValueKind

__all__ = ["RowEstimator"]


Kind = TypeVar("Kind", AutoencoderArchitecture, RestrictedArchitecture)
Module = TypeVar("Module", bound=nn.Module)
_FLOATS = [np.float64, np.float32]


class RowEstimator(TorchEstimator[Kind, Module]):
    """Base class: a model of rows ``X``, centred and scaled by ``frame_``, with a code of ``n_components``."""

    _optimizers: tuple[str, ...]
    _rule: TrainingRule
    device: str
    frame_: Frame
    n_features_in_: int

    @abstractmethod
    def _objective(self, architecture: Kind) -> Objective[Module]:
        """Validate constructor parameters; return the training objective."""

    @all_or_nothing
    def fit_batches(self, source: object, *, held_out: Array | None = None) -> Self:
        """Learn from arrays that an iterable yields, or a callable returns at each call.

        Rows are scaled as the first batch is. Training ends with the iterable, or after ``max_iter`` updates.
        ``held_out`` (m, d): rows for early stopping; ``validation_fraction`` is not used.
        """
        architecture = self._new_architecture()
        objective, settings = self._objective(architecture), self._settings()
        settings.check_stream(self._owner)
        objective.check_stream(self._owner)
        first, batches = first_of(source, self._owner)
        alone = first[0] if isinstance(first, tuple | list) and len(first) == 1 else first
        X = self._new_rows(alone, architecture.values)
        framing = self._framing(X, architecture.values)
        found = self._trainer(objective, settings).on_batches(batches, framing, framing.inside(X), held_out)
        return self._keep_rows(architecture, framing, found)

    @all_or_nothing_continued
    def partial_fit(self, X: Array, y: object = None) -> Self:
        """Continue training: one update for each batch of these rows, in their order.

        Parameters and optimiser state continue from the last call. Rows are scaled as in the first call.
        ``validation_fraction`` and ``checkpoint`` are not used.
        """
        del y
        progress = self._progress()
        is_new = progress.parameters is None
        architecture = self._new_architecture() if is_new else self._continued_architecture()
        objective, settings = self._objective(architecture), self._settings()
        settings.check_stream(self._owner)
        objective.check_stream(self._owner)
        X = self._new_rows(X, architecture.values) if is_new else self._rows(X)
        framing = self._framing(X, architecture.values, None if is_new else self.frame_)
        found = self._trainer(objective, settings).continue_on_rows(progress, framing.inside(X))
        return self._keep_rows(architecture, framing, found)

    def _check_parameters(self) -> None:
        """Raise ValueError for invalid constructor parameters."""
        self._objective(self._new_architecture())
        self._settings()

    def _settings(self) -> TrainingSettings:
        return TrainingSettings.checked(self._owner, self.get_params(deep=False), self._optimizers, self._rule)

    def _trainer(self, objective: Objective[Module], settings: TrainingSettings) -> Trainer[Module]:
        """For rows that were checked as new ones."""
        identity = self._identity(settings, n_features_in=self.n_features_in_)
        return Trainer(self._owner, settings.of_columns(self.n_features_in_), objective, self._sizes(), identity)

    def _framing(self, X: Array, values: ValueKind, frame: Frame | None = None) -> Framing:
        """Centring and scaling defined by the rows, or a known one."""
        return Framing(self._owner, values, frame_of(X, scaled=values.is_real) if frame is None else frame)

    def _keep_rows(self, architecture: Kind, framing: Framing, found: TrainedNetwork) -> Self:
        self.frame_ = framing.outputs
        self._keep(architecture, found)
        return self

    def _new_rows(self, X: object, values: ValueKind) -> Array:
        """Validate rows of a new fit; sets ``n_features_in_`` and feature names."""
        rows = np.asarray(validated(self, X, reset=True, dtype=_FLOATS, ensure_min_samples=2))
        values.check(self._owner, "X", rows)
        return rows

    def _rows(self, X: object) -> Array:
        """Validate rows against the columns of the fit."""
        check_is_fitted(self, "parameters_")
        rows = np.asarray(validated(self, X, reset=False, spread=self.frame_.scale, dtype=_FLOATS))
        self._architecture().values.check(self._owner, "X", rows)
        return rows

    def _codes(self, Z: object) -> Array:
        """Validate codes: they must have ``n_components`` columns."""
        check_is_fitted(self, "parameters_")
        Z = np.asarray(checked_array(self, Z, dtype=_FLOATS, input_name="X"))
        if Z.shape[1] != self._n_features_out:
            rule = f"does not match the {self._n_features_out} of the fit"
            raise ValueError(error_message(self, "X", f"{Z.shape[1]} columns", rule, "Give the same columns"))
        return np.asarray(Z)

    def _mapped(self, function: Function[Tensor], rows: Array) -> Array:
        """Apply a function of tensors of rows, one block of rows at a time."""
        return by_block(function, (rows,), self.device)

    def _in(self, x: Tensor) -> Tensor:
        return framed(x, self.frame_)

    def _back(self, x: Tensor) -> Tensor:
        return unframed(x, self.frame_)

    def _sizes(self) -> tuple[int, int]:
        return self.n_features_in_, self.n_features_in_

    def _device(self) -> str:
        return self.device

    @property
    def _n_features_out(self) -> int:
        return self._architecture().n_components

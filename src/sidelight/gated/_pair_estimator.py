"""Base class of estimators of pairs: validation and scaling of inputs and outputs, and training in batches."""

from __future__ import annotations

from abc import abstractmethod
from typing import Self, TypeVar

import numpy as np
from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn

from sidelight.base.alias import renamed_argument
from sidelight.base.fitting import all_or_nothing, all_or_nothing_continued
from sidelight.base.messages import error_message
from sidelight.base.types import Array, Function
from sidelight.base.validation import check_rows, checked_array, refuse_too_large, validated
from sidelight.maps.frames import Frame

from ._architecture import Architecture
from ._batches import first_of
from ._estimator import TorchEstimator
from ._frames import Framing, frame_of, framed, unframed
from ._modules import BLOCK, by_block
from ._objectives import Objective
from ._rules import TrainingRule
from ._settings import TrainingSettings
from ._trainer import TrainedNetwork, Trainer

__all__ = ["PairEstimator"]


Kind = TypeVar("Kind", bound=Architecture[nn.Module])
Module = TypeVar("Module", bound=nn.Module)
_FLOATS = [np.float64, np.float32]


class PairEstimator(TorchEstimator[Kind, Module]):
    """Base class: a model of outputs ``y`` given inputs ``X``, each centred and scaled by its own frame."""

    _optimizers: tuple[str, ...]
    _rule: TrainingRule
    _widths: tuple[int, ...] = (2,)
    """Allowed numbers of arrays in a batch."""
    device: str
    input_frame_: Frame
    output_frame_: Frame
    n_features_in_: int
    n_outputs_: int

    @abstractmethod
    def _objective(self, architecture: Kind) -> Objective[Module]:
        """Validate constructor parameters; return the training objective."""

    @all_or_nothing
    def fit_batches(self, source: object, *, held_out: tuple[Array, ...] | None = None) -> Self:
        """Learn from pairs ``(X, y)`` that an iterable yields, or a callable returns at each call.

        Rows are scaled as the first batch is. Training ends with the iterable, or after ``max_iter`` updates.
        ``held_out``: one more such pair, for early stopping; ``validation_fraction`` is not used.
        """
        architecture = self._new_architecture()
        objective, settings = self._objective(architecture), self._settings()
        settings.check_stream(self._owner)
        objective.check_stream(self._owner)
        first, batches = first_of(source, self._owner)
        if not isinstance(first, tuple | list) or len(first) not in self._widths:
            rule = "is not a pair of arrays"
            raise ValueError(error_message(self, "source", type(first).__name__, rule, "Yield (X, y)"))
        parts = self._new_parts(architecture, *first)
        framing = self._framing(architecture, *parts[:2])
        trainer = self._trainer(objective, settings, parts)
        found = trainer.on_batches(batches, framing, framing.inside(*parts), held_out)
        return self._keep_pairs(architecture, framing, found)

    @all_or_nothing_continued
    @renamed_argument("Y", "y")
    def partial_fit(self, X: Array, y: Array) -> Self:
        """Continue training: one update for each batch of these rows, in their order.

        Parameters and optimiser state continue from the last call. Rows are scaled as in the first call.
        ``validation_fraction`` and ``checkpoint`` are not used.
        """
        return self._continue(X, y)

    def _continue(self, *given: object) -> Self:
        progress = self._progress()
        is_new = progress.parameters is None
        architecture = self._new_architecture() if is_new else self._continued_architecture()
        objective, settings = self._objective(architecture), self._settings()
        settings.check_stream(self._owner)
        objective.check_stream(self._owner)
        parts = self._new_parts(architecture, *given) if is_new else self._parts(*given)
        framing = self._framing(architecture, *parts[:2]) if is_new else self._fitted_framing(architecture)
        found = self._trainer(objective, settings, parts).continue_on_rows(progress, framing.inside(*parts))
        return self._keep_pairs(architecture, framing, found)

    def _check_parameters(self) -> None:
        """Raise ValueError for invalid constructor parameters."""
        self._objective(self._new_architecture())
        self._settings()

    def _settings(self) -> TrainingSettings:
        parameters = self.get_params(deep=False)
        rule = self._rule.of_real_outputs() if str(parameters.get("visible")).startswith("gaussian") else self._rule
        return TrainingSettings.checked(self._owner, parameters, self._optimizers, rule)

    def _trainer(
        self, objective: Objective[Module], settings: TrainingSettings, parts: tuple[Array, ...]
    ) -> Trainer[Module]:
        """For inputs and outputs that were checked."""
        columns = (parts[0].shape[1], parts[1].shape[1])
        identity = self._identity(settings, n_features_in=columns[0], n_outputs=columns[1])
        return Trainer(self._owner, settings.of_columns(columns[1]), objective, columns, identity)

    def _framing(self, architecture: Kind, X: Array, Y: Array) -> Framing:
        """Centring and scaling defined by these inputs and outputs."""
        values = architecture.values
        inputs = frame_of(X, scaled=architecture.scales_inputs(X))
        return Framing(self._owner, values, frame_of(Y, scaled=values.is_real), inputs)

    def _fitted_framing(self, architecture: Kind) -> Framing:
        return Framing(self._owner, architecture.values, self.output_frame_, self.input_frame_)

    def _keep_pairs(self, architecture: Kind, framing: Framing, found: TrainedNetwork) -> Self:
        assert framing.inputs is not None
        self.n_outputs_ = len(framing.outputs.centre)
        self.input_frame_, self.output_frame_ = framing.inputs, framing.outputs
        self._keep(architecture, found)
        return self

    def _new_parts(self, architecture: Kind, X: object, Y: object, *guess: object) -> tuple[Array, ...]:
        """Validate inputs, outputs and first guesses of a new fit; sets ``n_features_in_`` and feature names."""
        X = np.asarray(validated(self, X, reset=True, dtype=_FLOATS, ensure_min_samples=2))
        Y = self._output_rows("y", Y, X)
        architecture.values.check(self._owner, "y", Y)
        return (X, Y, *(self._like("guess", self._output_rows("guess", part, X), architecture, Y) for part in guess))

    def _parts(self, X: object, Y: object, *guess: object) -> tuple[Array, ...]:
        """Validate them against the columns of the fit."""
        X = self._inputs(X)
        return (X, self._outputs("y", Y, X), *(self._outputs("guess", part, X) for part in guess))

    def _pair(self, X: object, Y: object) -> tuple[Array, Array]:
        X = self._inputs(X)
        return X, self._outputs("y", Y, X)

    def _inputs(self, X: object) -> Array:
        check_is_fitted(self, "parameters_")
        return np.asarray(validated(self, X, reset=False, spread=self.input_frame_.scale, dtype=_FLOATS))

    def _outputs(self, name: str, Y: object, X: Array | None = None) -> Array:
        """Outputs, or first guesses of them; one for each input, where these are given."""
        check_is_fitted(self, "parameters_")
        rows = self._output_rows(name, Y, X)
        self._check_columns(name, rows, self.n_outputs_)
        self._architecture().values.check(self._owner, name, rows)
        return rows

    def _like(self, name: str, rows: Array, architecture: Kind, Y: Array) -> Array:
        """Validate rows that must have the columns and the kind of values of outputs ``Y``."""
        self._check_columns(name, rows, Y.shape[1])
        architecture.values.check(self._owner, name, rows)
        return rows

    def _output_rows(self, name: str, Y: object, X: Array | None) -> Array:
        Y = np.asarray(checked_array(self, Y, dtype=_FLOATS if X is None else X.dtype, input_name=name))
        if X is not None:
            check_rows(self, name, Y, len(X))
        return np.asarray(Y)

    def _check_columns(self, name: str, array: Array, columns: int) -> None:
        if array.shape[1] != columns:
            rule = f"does not match the {columns} of the fit"
            raise ValueError(error_message(self, name, f"{array.shape[1]} columns", rule, "Give the same columns"))

    def _mapping(self, mapping: object, n_mapping: int, X: Array) -> Array:
        """Validate mapping units: one row for each input, or one for all."""
        mapping = np.atleast_2d(np.asarray(mapping, dtype=X.dtype))
        refuse_too_large(self, "mapping", mapping)
        self._check_columns("mapping", mapping, n_mapping)
        if len(mapping) not in (1, len(X)):
            rule = f"does not match the {len(X)} rows of X"
            raise ValueError(
                error_message(self, "mapping", f"{len(mapping)} rows", rule, "Give one row, or one for each")
            )
        return np.broadcast_to(mapping, (len(X), n_mapping))

    def _mapped(self, function: Function[Tensor], *arrays: Array, block: int = BLOCK) -> Array:
        """Apply a function of tensors of rows, one block of rows at a time."""
        return by_block(function, arrays, self.device, block)

    def _in(self, x: Tensor) -> Tensor:
        return framed(x, self.input_frame_)

    def _out(self, y: Tensor) -> Tensor:
        return framed(y, self.output_frame_)

    def _back(self, y: Tensor) -> Tensor:
        return unframed(y, self.output_frame_)

    def _sizes(self) -> tuple[int, int]:
        return self.n_features_in_, self.n_outputs_

    def _device(self) -> str:
        return self.device

"""Architectures of the auto-encoders, and how losses and predictions are computed from their modules.

The torch modules are in ``_networks.py``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeVar

from torch import Tensor, nn

from sidelight.base.types import Array, Parameters
from sidelight.base.validation import check_choice, check_integer

from ._architecture import Architecture, own_fields
from ._batches import Batch
from ._networks import ACTIVATIONS, LOSSES, PATHS, AutoencoderNetwork, BiasedNetwork, GatedNetwork, finished
from ._premapping import (
    Network,
    check_layers,
    check_mapping,
    check_premapping,
    checked_biases,
    layers,
    premapping_of,
)
from ._values import ValueKind

__all__ = [
    "AutoencoderArchitecture",
    "BiasedArchitecture",
    "GatedArchitecture",
    "PredictionArchitecture",
    "WeightedOutputs",
]


WeightedOutputs = list[tuple[float, Tensor]]
"""Raw outputs (n, j) that are each compared with the target, with their weights in the loss."""
Module = TypeVar("Module", bound=nn.Module)


class PredictionArchitecture(Architecture[Module], Protocol[Module]):
    """Architecture of a network whose raw outputs are compared with targets."""

    def weighted_outputs(self, module: Module, batch: Batch) -> WeightedOutputs:
        """Raw outputs (n, j) of a batch that are each compared with its target."""
        ...

    def point(self, module: Module, x: Tensor, guess: Tensor | None) -> Tensor:
        """The raw prediction (n, j) for inputs, from first guesses if the network needs them."""
        ...

    def finished(self, raw: Tensor) -> Tensor:
        """Outputs from raw ones: unchanged, or as probabilities."""
        ...


@dataclass(frozen=True)
class AutoencoderArchitecture:
    """The network of an ``Autoencoder``."""

    n_components: int
    hidden: tuple[int, ...]
    activation: str
    tied: bool
    loss: str
    levels: int | None
    code_activation: str = "linear"

    @classmethod
    def checked(cls, owner: str, parameters: Parameters) -> AutoencoderArchitecture:
        """The architecture for an estimator's ``parameters``; ValueError if one is out of range."""
        check_integer(owner, "n_components", parameters["n_components"], 1)
        sizes = {"hidden": check_layers(owner, "hidden", parameters["hidden"])}
        check_choice(owner, "code_activation", parameters["code_activation"], tuple(ACTIVATIONS))
        _check_loss(owner, parameters)
        return cls(**own_fields(cls, parameters, **sizes))

    @property
    def values(self) -> ValueKind:
        """Of the rows."""
        return ValueKind("loss", self.loss, self.levels)

    def scales_inputs(self, X: Array) -> bool:
        """Inputs are the rows themselves."""
        del X
        return self.values.is_real

    def build(self, n_inputs: int, n_outputs: int) -> AutoencoderNetwork:
        """Inputs are the outputs."""
        del n_inputs
        sizes = (n_outputs, *self.hidden, self.n_components)
        return AutoencoderNetwork(sizes, self.activation, tied=self.tied, code=self.code_activation)

    def weighted_outputs(self, module: AutoencoderNetwork, batch: Batch) -> WeightedOutputs:
        """Reconstructions."""
        return [(1.0, module(batch[0]))]

    def point(self, module: AutoencoderNetwork, x: Tensor, guess: Tensor | None) -> Tensor:
        """The raw reconstruction (n, j)."""
        del guess
        return module(x)

    def finished(self, raw: Tensor) -> Tensor:
        """Outputs from raw ones: unchanged, or as probabilities."""
        return finished(self.loss, raw, self.levels)


@dataclass(frozen=True)
class BiasedArchitecture:
    """The network of a ``BiasedAutoencoder``; ``n_components=None``: the predictor alone."""

    n_components: int | None
    hidden: tuple[int, ...]
    predictor: tuple[int, ...]
    activation: str
    loss: str
    levels: int | None

    @classmethod
    def checked(cls, owner: str, parameters: Parameters) -> BiasedArchitecture:
        """The architecture for an estimator's ``parameters``; ValueError if one is out of range."""
        if parameters["n_components"] is not None:
            check_integer(owner, "n_components", parameters["n_components"], 1)
        sizes = {name: check_layers(owner, name, parameters[name]) for name in ("hidden", "predictor")}
        _check_loss(owner, parameters)
        return cls(**own_fields(cls, parameters, **sizes))

    @property
    def values(self) -> ValueKind:
        """Of the outputs."""
        return ValueKind("loss", self.loss, self.levels)

    def scales_inputs(self, X: Array) -> bool:
        """Always."""
        del X
        return True

    def build(self, n_inputs: int, n_outputs: int) -> BiasedNetwork:
        """A predictor, and an auto-encoder of its outputs."""
        sizes = (n_inputs, *self.predictor, n_outputs)
        code = None if self.n_components is None else (n_outputs, *self.hidden, self.n_components)
        autoencoder = None if code is None else AutoencoderNetwork(code, self.activation)
        return BiasedNetwork(sizes, autoencoder, self.activation, loss=self.loss, levels=self.levels)

    def weighted_outputs(self, module: BiasedNetwork, batch: Batch, *, reconstruction: float = 0.0) -> WeightedOutputs:
        """Predictions, and reconstructions of the true outputs if their weight ``reconstruction`` is above 0."""
        x, y = batch
        read = [(1.0, module(x))]
        if reconstruction and module.autoencoder is not None:
            read.append((reconstruction, module.autoencoder(y)))
        return read

    def point(self, module: BiasedNetwork, x: Tensor, guess: Tensor | None) -> Tensor:
        """The raw prediction (n, j)."""
        del guess
        return module(x)

    def finished(self, raw: Tensor) -> Tensor:
        """Outputs from raw ones: unchanged, or as probabilities."""
        return finished(self.loss, raw, self.levels)


@dataclass(frozen=True)
class GatedArchitecture:
    """The network of a ``GatedAutoencoder``; ``predictor=None``: first guesses are given."""

    n_mapping: int
    n_factors: int | None
    activation: str
    biases: tuple[str, ...]
    premapping: Network
    predictor: tuple[int, ...] | None
    loss: str
    levels: int | None

    @classmethod
    def checked(cls, owner: str, parameters: Parameters) -> GatedArchitecture:
        """The architecture for an estimator's ``parameters``; ValueError if one is out of range."""
        check_mapping(owner, parameters)
        biases = checked_biases(owner, parameters["biases"], PATHS)
        network = check_premapping(owner, parameters["premapping"])
        sizes = check_layers(owner, "predictor", parameters["predictor"])
        predictor = None if parameters["predictor"] is None else sizes
        _check_loss(owner, parameters)
        return cls(**own_fields(cls, parameters, biases=biases, premapping=network, predictor=predictor))

    @property
    def values(self) -> ValueKind:
        """Of the outputs."""
        return ValueKind("loss", self.loss, self.levels)

    def scales_inputs(self, X: Array) -> bool:
        """Always."""
        del X
        return True

    def build(self, n_inputs: int, n_outputs: int) -> GatedNetwork:
        """A network with three-way weights and, if specified, a premapping of inputs and a predictor."""
        network, n_features = premapping_of("GatedAutoencoder", n_inputs, self.premapping)
        return GatedNetwork(
            n_features,
            n_outputs,
            self.n_mapping,
            n_factors=self.n_factors,
            activation=self.activation,
            biases=self.biases,
            premapping=network,
            predictor=None if self.predictor is None else layers((n_inputs, *self.predictor, n_outputs)),
        )

    def weighted_outputs(self, module: GatedNetwork, batch: Batch) -> WeightedOutputs:
        """Projections of the outputs, of the predictor's guesses and of the user's; and the predictor's guesses."""
        x, y, *given = batch
        coded = module.condition(x)
        read = [coded.project(y)]
        if module.predictor is not None:
            raw = module.predictor(x)
            read += [coded.project(self.finished(raw)), raw]
        read += [coded.project(first) for first in given]
        return [(1.0, raw) for raw in read]

    def point(self, module: GatedNetwork, x: Tensor, guess: Tensor | None) -> Tensor:
        """The raw projection (n, j) of a guess; None: of the predictor's guess."""
        if guess is None:
            assert module.predictor is not None
            guess = self.finished(module.predictor(x))
        return module.condition(x).project(guess)

    def finished(self, raw: Tensor) -> Tensor:
        """Outputs from raw ones: unchanged, or as probabilities."""
        return finished(self.loss, raw, self.levels)


def _check_loss(owner: str, parameters: Parameters) -> None:
    check_choice(owner, "activation", parameters["activation"], tuple(ACTIVATIONS))
    check_choice(owner, "loss", parameters["loss"], LOSSES)
    if parameters["levels"] is not None:
        check_integer(owner, "levels", parameters["levels"], 2)

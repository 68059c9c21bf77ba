"""Architectures of the Boltzmann machines: unit types and weights. The torch modules are in ``_machines.py``."""

from __future__ import annotations

from dataclasses import dataclass

from sidelight.base.messages import error_message
from sidelight.base.types import Array, Parameters
from sidelight.base.validation import check_choice, check_integer, check_number

from ._architecture import own_fields
from ._machines import BIASES, GatedMachine, PlainMachine
from ._premapping import Network, check_mapping, check_premapping, checked_biases, premapping_of
from ._units import KINDS, Units, units
from ._values import ValueKind

__all__ = ["GatedMachineArchitecture", "RestrictedArchitecture"]


@dataclass(frozen=True)
class RestrictedArchitecture:
    """The units of a ``RestrictedBoltzmannMachine``."""

    n_components: int
    visible: str
    hidden: str
    levels: int | None

    @classmethod
    def checked(cls, owner: str, parameters: Parameters) -> RestrictedArchitecture:
        """The architecture for an estimator's ``parameters``; ValueError if one is out of range."""
        check_integer(owner, "n_components", parameters["n_components"], 1)
        _check_units(owner, parameters, "hidden")
        return cls(**own_fields(cls, parameters))

    @property
    def values(self) -> ValueKind:
        """Of the rows."""
        return ValueKind("visible", self.visible, self.levels)

    def scales_inputs(self, X: Array) -> bool:
        """Inputs are the rows themselves."""
        del X
        return self.values.is_real

    def build(self, n_inputs: int, n_outputs: int) -> PlainMachine:
        """Visible units are the outputs; there are no inputs."""
        del n_inputs
        return PlainMachine(_visible_units(self.values, n_outputs), units(self.hidden, self.n_components))


@dataclass(frozen=True)
class GatedMachineArchitecture:
    """The units and weights of a ``GatedBoltzmannMachine``."""

    n_mapping: int
    n_factors: int | None
    visible: str
    mapping: str
    levels: int | None
    biases: tuple[str, ...]
    premapping: Network
    noise: float = 1.0

    @classmethod
    def checked(cls, owner: str, parameters: Parameters) -> GatedMachineArchitecture:
        """The architecture for an estimator's ``parameters``; ValueError if one is out of range."""
        check_mapping(owner, parameters)
        biases = checked_biases(owner, parameters["biases"], BIASES)
        network = check_premapping(owner, parameters["premapping"])
        _check_units(owner, parameters, "mapping")
        _check_noise(owner, parameters)
        return cls(**own_fields(cls, parameters, biases=biases, premapping=network))

    @property
    def values(self) -> ValueKind:
        """Of the outputs."""
        return ValueKind("visible", self.visible, self.levels)

    def scales_inputs(self, X: Array) -> bool:
        """True, unless outputs are not real-valued and inputs are between 0 and 1."""
        return self.values.is_real or not bool(X.min() >= 0 and X.max() <= 1)

    def build(self, n_inputs: int, n_outputs: int) -> GatedMachine:
        """A machine with three-way weights, and a premapping of the inputs if there is one."""
        network, n_features = premapping_of("GatedBoltzmannMachine", n_inputs, self.premapping)
        return GatedMachine(
            n_features,
            _visible_units(self.values, n_outputs, self.noise),
            units(self.mapping, self.n_mapping),
            n_factors=self.n_factors,
            biases=self.biases,
            premapping=network,
        )


def _check_units(owner: str, parameters: Parameters, hidden: str) -> None:
    for name in ("visible", hidden):
        check_choice(owner, name, parameters[name], KINDS)
    if parameters["levels"] is not None:
        check_integer(owner, "levels", parameters["levels"], 2)


def _check_noise(owner: str, parameters: Parameters) -> None:
    check_number(owner, "noise", parameters["noise"], 0.0)
    if parameters["noise"] != 1.0 and not parameters["visible"].startswith("gaussian"):
        rule = f"is the standard deviation of Gaussian outputs, and visible={parameters['visible']!r}"
        raise ValueError(error_message(owner, "noise", parameters["noise"], rule, "Leave it out"))


def _visible_units(values: ValueKind, size: int, noise: float = 1.0) -> Units:
    if values.is_real:
        return units(values.kind, size, scale=noise)
    options = {"levels": values.levels} if values.kind == "multinomial" and values.levels is not None else {}
    return units(values.kind, size, **options)

"""Networks that preprocess the inputs of gated models, trained jointly with the rest (S0 5.3.2); checks of sizes."""

from __future__ import annotations

import copy
from collections.abc import Collection
from itertools import pairwise
from typing import TypeAlias

import torch
from torch import Tensor, nn

from sidelight.base.messages import error_message
from sidelight.base.types import Parameters
from sidelight.base.validation import check_choice, check_integer

__all__ = [
    "Network",
    "Premapping",
    "check_layers",
    "check_mapping",
    "check_premapping",
    "checked_biases",
    "layers",
    "premapping_of",
    "shown",
]

Premapping: TypeAlias = int | tuple[int, ...] | nn.Module | None
"""As estimators take it."""
Network: TypeAlias = tuple[int, ...] | nn.Module
"""As architectures keep it: layer sizes (none: no network), or a module, which is never changed."""


def check_layers(owner: object, argument: str, sizes: int | tuple[int, ...] | None) -> tuple[int, ...]:
    """Validated layer sizes as a tuple; () for None."""
    listed = () if sizes is None else (sizes,) if not isinstance(sizes, tuple | list) else tuple(sizes)
    for size in listed:
        check_integer(owner, argument, size, 1)
    return tuple(int(size) for size in listed)


def check_mapping(owner: object, parameters: Parameters) -> None:
    """Validate the numbers of mapping units and of factors of three-way weights."""
    check_integer(owner, "n_mapping", parameters["n_mapping"], 1)
    if parameters["n_factors"] is not None:
        check_integer(owner, "n_factors", parameters["n_factors"], 1)


def checked_biases(owner: object, biases: Collection[str], paths: tuple[str, ...]) -> tuple[str, ...]:
    """Those of ``paths`` that are among the ``biases``, in their order."""
    for bias in biases:
        check_choice(owner, "biases", bias, paths)
    return tuple(path for path in paths if path in biases)


def layers(sizes: tuple[int, ...], nonlinearity: type[nn.Module] = nn.Sigmoid) -> nn.Sequential:
    """Linear layers between ``sizes``, a nonlinearity after each but the last."""
    made: list[nn.Module] = []
    for before, after in pairwise(sizes):
        made += [nn.Linear(before, after), nonlinearity()]
    return nn.Sequential(*made[:-1])


def check_premapping(owner: str, given: Premapping) -> Network:
    """Validated layer sizes, () for None; a module as it is."""
    return given if isinstance(given, nn.Module) else check_layers(owner, "premapping", given)


def shown(network: Network) -> object:
    """A network as messages show it: the name of a module's class, layer sizes as they are usually given."""
    if isinstance(network, nn.Module):
        return type(network).__name__
    return network[0] if len(network) == 1 else network


def premapping_of(owner: str, n_inputs: int, network: Network) -> tuple[nn.Module | None, int]:
    """A new network to train (None without layers), and the number of features that it returns."""
    if not isinstance(network, nn.Module):
        return (layers((n_inputs, *network)), network[-1]) if network else (None, n_inputs)
    own = copy.deepcopy(network).float().eval()
    rule = f"is not a module that takes rows of {n_inputs} columns and returns rows of features"
    remedy = "Give one that maps (n, columns) to (n, features)"
    try:
        with torch.no_grad():
            features = own(torch.zeros(2, n_inputs, device=_device(own)))
    except (RuntimeError, ValueError, TypeError, IndexError) as error:
        raise ValueError(error_message(owner, "premapping", shown(network), rule, remedy)) from error
    if not isinstance(features, Tensor) or features.dim() != 2 or len(features) != 2:
        raise ValueError(error_message(owner, "premapping", shown(network), rule, remedy))
    return own.train(), int(features.shape[1])


def _device(module: nn.Module) -> torch.device:
    return next((parameter.device for parameter in module.parameters()), torch.device("cpu"))

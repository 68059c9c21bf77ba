"""Networks that preprocess the inputs of gated models, trained jointly with the rest (S0 5.3.2); checks of sizes."""

from __future__ import annotations

from collections.abc import Collection
from itertools import pairwise

from torch import nn

from sidelight.base.types import Parameters
from sidelight.base.validation import check_choice, check_integer

__all__ = ["check_layers", "check_mapping", "checked_biases", "layers", "premapping"]


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


def premapping(n_inputs: int, sizes: tuple[int, ...]) -> tuple[nn.Module | None, int]:
    """The network (None without layers) and the number of features it returns."""
    return (layers((n_inputs, *sizes)), sizes[-1]) if sizes else (None, n_inputs)

"""Networks that inputs pass before they gate anything, trained together with the rest (S0 5.3.2)."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from torch import nn

from sidelight.base.validation import check_choice, check_integer

__all__ = ["check_gate", "check_layers", "layers", "premapping"]


def check_layers(owner: object, argument: str, sizes: int | tuple[int, ...] | None) -> tuple[int, ...]:
    """Sizes of layers as a tuple; none for None."""
    listed = () if sizes is None else (sizes,) if not isinstance(sizes, tuple | list) else tuple(sizes)
    for size in listed:
        check_integer(owner, argument, size, 1)
    return tuple(int(size) for size in listed)


def check_gate(owner: Any, paths: tuple[str, ...]) -> None:
    """What models with three-way weights are made of: mapping units, factors, biases (of ``paths``), a premapping."""
    check_integer(owner, "n_mapping", owner.n_mapping, 1)
    if owner.n_factors is not None:
        check_integer(owner, "n_factors", owner.n_factors, 1)
    for bias in owner.biases:
        check_choice(owner, "biases", bias, paths)
    check_layers(owner, "premapping", owner.premapping)


def layers(sizes: tuple[int, ...], nonlinearity: type[nn.Module] = nn.Sigmoid) -> nn.Sequential:
    """Linear layers between ``sizes``, a nonlinearity after each but the last."""
    made: list[nn.Module] = []
    for before, after in pairwise(sizes):
        made += [nn.Linear(before, after), nonlinearity()]
    return nn.Sequential(*made[:-1])


def premapping(n_inputs: int, sizes: tuple[int, ...]) -> tuple[nn.Module | None, int]:
    """The network and how many features it gives; None where there are no layers."""
    return (layers((n_inputs, *sizes)), sizes[-1]) if sizes else (None, n_inputs)

"""Slow obvious references: every state of a tiny machine, its score, and sums over them."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from sidelight.gated._machines import BIASES, Conditioned, GatedMachine
from sidelight.gated._premapping import layers
from sidelight.gated._units import units

SIZES = {"binary": 3, "gaussian": 2, "gaussian-learned": 2, "poisson": 2, "multinomial": 4}
OPTIONS = {"multinomial": {"levels": 2}}


@dataclass(frozen=True)
class States:
    """All states (s, size) of some units, and the log weights (s,) that sums over them have."""

    values: Tensor
    log_weights: Tensor


def states_of(kind: str, size: int) -> States:
    """Binary, counts and one-hot rows one by one; numbers on a fine grid that reaches far out."""
    if kind.startswith("gaussian"):
        one, width = np.linspace(-20, 20, 201), 40 / 200
        values = np.array(list(itertools.product(one, repeat=size)))
        return States(
            torch.tensor(values), torch.full((len(values),), size * float(np.log(width)), dtype=torch.float64)
        )
    if kind == "multinomial":
        groups = [np.eye(2)] * (size // 2)
        values = np.array([np.concatenate(rows) for rows in itertools.product(*groups)])
    else:
        values = np.array(list(itertools.product(np.arange(2.0 if kind == "binary" else 45.0), repeat=size)))
    return States(torch.tensor(values), torch.zeros(len(values)).double())


def machine(
    visible: str = "binary", hidden: str = "binary", *, seed: int = 0, premapped: bool = False, **options
) -> GatedMachine:
    """A tiny machine of two inputs with weights that matter, in 64 bits."""
    torch.manual_seed(seed)
    network = layers((2, 4, 3)) if premapped else None
    made = GatedMachine(
        3 if premapped else 2,
        units(visible, SIZES[visible], **OPTIONS.get(visible, {})),
        units(hidden, 2, **({"levels": 2} if hidden == "multinomial" else {})),
        premapping=network,
        **{"biases": BIASES, **options},
    ).double()
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.copy_(0.4 * torch.randn(parameter.shape, dtype=torch.float64))
    return made


def all_scores(conditioned: Conditioned, y: Tensor, z: Tensor) -> Tensor:
    """S (len(y), len(z)) of all pairs of states, for one input."""
    first, second = y.repeat_interleave(len(z), dim=0), z.repeat(len(y), 1)
    one = Conditioned(
        tuple(_OneRow(tie) for tie in conditioned.ties),
        conditioned.visible_bias,
        conditioned.hidden_bias,
        conditioned.visible,
        conditioned.hidden,
    )
    return one.score(first, second).reshape(len(y), len(z))


@dataclass(frozen=True)
class _OneRow:
    """The tie of a single input, written out as the double sum that it is, for any number of states."""

    tie: object

    def score(self, y: Tensor, z: Tensor) -> Tensor:
        return torch.einsum("nj,jk,nk->n", y, self.tie.filters(1)[0], z)


def log_partition(conditioned: Conditioned, y: States, z: States) -> Tensor:
    """log Z(x) by adding up everything."""
    total = all_scores(conditioned, y.values, z.values) + y.log_weights[:, None] + z.log_weights
    return torch.logsumexp(total.reshape(-1), dim=0)


def gradients(model: torch.nn.Module, value: Callable[[], Tensor]) -> Tensor:
    """All gradients of a number, one after another; zeros where it does not depend on a parameter."""
    model.zero_grad()
    value().backward()
    return torch.cat(
        [(torch.zeros_like(p) if p.grad is None else p.grad).reshape(-1) for p in model.parameters() if p.requires_grad]
    ).clone()

r"""Contrastive divergence: approximate gradient of the log likelihood of a Boltzmann machine.

    -∂ log p(y⁺ | x) = E[∂S(y, z; x)] - E[∂S(y⁺, z; x) | y⁺] ≈ ∂S(y⁻, z⁻; x) - ∂S(y⁺, z⁺; x)

with z⁺ = E[z | x, y⁺] and (y⁻, z⁻) after k steps of Gibbs sampling from the data, or from the states of the last batch
(persistent). The states are constants: the gradient of the surrogate S(y⁻, z⁻) - S(y⁺, z⁺), a mean over rows, is the
update, for weights, biases, unit scales and premappings alike (S0 5.9 with the probabilities and signs it omits).
Negative states are means ("mean-field": no noise at all) or samples. If h depends on parameters (learned variances),
means alone would imply a model without noise, whose scale would grow without bound; so E[h(y)] - h(E[y]) is added.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ._machines import Conditioned

__all__ = ["contrast", "gibbs", "phases"]


def gibbs(
    machine: Conditioned, y: Tensor, steps: int, *, mean_field: bool, generator: torch.Generator | None = None
) -> Tensor:
    """Visible states (n, j) after ``steps`` of Gibbs sampling from ``y`` (n, j); means if ``mean_field``."""
    hidden, visible = machine.hidden, machine.visible
    for _ in range(steps):
        eta = machine.hidden_parameters(y)
        z = hidden.mean(eta) if mean_field else hidden.sample(eta, generator)
        eta = machine.visible_parameters(z)
        y = visible.mean(eta) if mean_field else visible.sample(eta, generator)
    return y


def contrast(
    machine: Conditioned,
    y: Tensor,
    *,
    steps: int = 1,
    mean_field: bool = True,
    start: Tensor | None = None,
    generator: torch.Generator | None = None,
) -> tuple[Tensor, Tensor]:
    """The surrogate loss (a scalar tensor) and the negative visible states, sampled from ``start`` (m, j) or ``y``."""
    data, model = phases(machine, y, steps=steps, mean_field=mean_field, start=start, generator=generator)
    surrogate = machine.contrast(*data, *model)
    if mean_field:
        surrogate = surrogate + machine.visible.noise_base()
    return surrogate, model[0]


def phases(
    machine: Conditioned,
    y: Tensor,
    *,
    steps: int = 1,
    mean_field: bool = True,
    start: Tensor | None = None,
    generator: torch.Generator | None = None,
) -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]:
    """Visible and hidden states of the data and of the model; hidden ones are means. They carry no gradients."""
    with torch.no_grad():
        positive = machine.hidden.mean(machine.hidden_parameters(y))
        begin = y if start is None else start
        fantasy = gibbs(machine, begin, steps, mean_field=mean_field, generator=generator)
        negative = machine.hidden.mean(machine.hidden_parameters(fantasy))
    return (y, positive), (fantasy, negative)

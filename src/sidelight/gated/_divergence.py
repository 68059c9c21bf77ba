r"""Contrastive divergence: how a machine's own reconstructions differ from the data.

    -∂ log p(y⁺ | x) = E[∂S(y, z; x)] - E[∂S(y⁺, z; x) | y⁺] ≈ ∂S(y⁻, z⁻; x) - ∂S(y⁺, z⁺; x)

with z⁺ = E[z | x, y⁺] and (y⁻, z⁻) after k steps of Gibbs sampling from the data, or from where the last batch ended
(persistent). The states are constants: the gradient of the surrogate S(y⁻, z⁻) - S(y⁺, z⁺), a mean over rows, is the
update, for weights, biases, unit scales and premappings alike (S0 5.9 with the probabilities and signs it omits).
Negative states are means ("mean-field": no noise at all) or samples. Where h depends on parameters (learned variances)
means alone would say that the model has no noise, and its scale would grow for ever: E[h(y)] - h(E[y]) is added.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ._machines import Conditioned

__all__ = ["contrast", "gibbs"]


def gibbs(
    machine: Conditioned, y: Tensor, steps: int, *, mean_field: bool, generator: torch.Generator | None = None
) -> Tensor:
    """Visible states (n, j) after ``steps`` of z given y, y given z; the last are means where ``mean_field``."""
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
    """The surrogate (a number, with gradients) and the negative visible states, from ``start`` (m, j) or the data."""
    with torch.no_grad():
        positive = machine.hidden.mean(machine.hidden_parameters(y))
        begin = y if start is None else start
        fantasy = gibbs(machine, begin, steps, mean_field=mean_field, generator=generator)
        negative = machine.hidden.mean(machine.hidden_parameters(fantasy))
    surrogate = machine.contrast(y, positive, fantasy, negative)
    if mean_field:
        surrogate = surrogate + machine.visible.noise_base()
    return surrogate, fantasy

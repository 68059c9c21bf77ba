r"""Gradients of contrastive divergence in closed form, for machines without a network of inputs or learned scales.

    ∂/∂W_ijk  = mean over rows of x_i (t(y_j⁻) t(z_k⁻) - t(y_j⁺) t(z_k⁺)),   and likewise for every generalised bias

The numbers are those of back-propagation through ``Conditioned.contrast``, up to rounding. They take one product with
the inputs instead of a graph of thirty small operations, which for small machines takes longer than the sums.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ._interactions import FullInteraction
from ._machines import Conditioned, GatedMachine, PlainMachine

__all__ = ["States", "has_closed_form", "set_gradients"]

States = tuple[Tensor, Tensor]
"""Visible and hidden units (n, j) and (n, k)."""


def has_closed_form(module: PlainMachine | GatedMachine) -> bool:
    """Whether ``set_gradients`` covers all parameters of the machine."""
    fixed = next(module.visible.parameters(), None) is None and next(module.hidden.parameters(), None) is None
    if isinstance(module, PlainMachine):
        return fixed
    return fixed and module.premapping is None and isinstance(module.gated, FullInteraction)


def set_gradients(
    module: PlainMachine | GatedMachine,
    machine: Conditioned,
    x: Tensor | None,
    data: States,
    model: States,
    *,
    valued: bool = True,
) -> Tensor | None:
    """Set ``grad`` of every parameter, and return the loss: mean S of the model's states minus that of the data's.

    ``valued=False``: return None; the loss of a small machine takes a third of the time of a step.
    """
    seen, code = machine.visible.statistic(data[0]), machine.hidden.statistic(data[1])
    seen_model, code_model = machine.visible.statistic(model[0]), machine.hidden.statistic(model[1])
    if isinstance(module, PlainMachine):
        tied = seen_model.T @ code_model / len(seen_model) - seen.T @ code / len(seen)
        visible, hidden = seen_model.mean(0) - seen.mean(0), code_model.mean(0) - code.mean(0)
        found = [(module.tie.weights, tied), (module.visible_bias, visible), (module.hidden_bias, hidden)]
    else:
        assert x is not None
        found = _gated(module, x, (seen, code), (seen_model, code_model))
    for parameter, gradient in found:
        parameter.grad = gradient
    if not valued:
        return None
    base = (machine.visible.base(model[0]) + machine.hidden.base(model[1])).mean()
    value = base - (machine.visible.base(data[0]) + machine.hidden.base(data[1])).mean()
    for parameter, gradient in found:
        value = value + torch.dot(gradient.reshape(-1), parameter.reshape(-1))
    return value


def _gated(module: GatedMachine, x: Tensor, data: States, model: States) -> list[tuple[nn.Parameter, Tensor]]:
    """Gradients of the three-way weights and of those generalised biases that the machine has."""
    n = len(x)
    product = model[0][:, :, None] * model[1][:, None, :]
    difference = torch.addcmul(product, data[0][:, :, None], data[1][:, None, :], value=-1)
    visible, hidden = model[0] - data[0], model[1] - data[1]
    assert isinstance(module.gated, FullInteraction)
    weights = module.gated.weights
    found = [(weights, (x.T @ difference.reshape(n, -1)).div_(n).reshape(weights.shape))]
    if module.tie is not None:
        found.append((module.tie.weights, difference.mean(0)))
    for parameter, change in ((module.input_visible, visible), (module.input_hidden, hidden)):
        if parameter is not None:
            found.append((parameter, x.T @ change / n))
    for parameter, change in ((module.visible_bias, visible), (module.hidden_bias, hidden)):
        if parameter is not None:
            found.append((parameter, change.mean(0)))
    return found

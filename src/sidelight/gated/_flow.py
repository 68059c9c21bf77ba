r"""Flow fields: where each input component goes under a transformation (S0 5.2.4).

    T_ij(z) = Σ_k W_ijk z_k + W^xy_ij,     i ↦ arg max_j T_ij

W^xy is included, because it holds what all transformations share.
"""

from __future__ import annotations

import torch
from torch import Tensor

from sidelight.base.messages import error_message

from ._interactions import FullInteraction
from ._machines import GatedMachine

__all__ = ["arrows", "check_picture", "targets"]

_BUDGET = 1 << 22  # numbers of a block


def targets(machine: GatedMachine, z: Tensor) -> Tensor:
    """The output component (n, i) with the largest T_ij for each input component, for mapping units z (n, k)."""
    code = machine.hidden.statistic(z)
    j = machine.visible.size
    inputs = machine.gated.weights.shape[0] if isinstance(machine.gated, FullInteraction) else len(machine.gated.inputs)
    block = max(1, _BUDGET // (inputs * j))
    parts = [_strengths(machine, part).argmax(dim=2) for part in code.split(block)]
    return torch.cat(parts)


def _strengths(machine: GatedMachine, code: Tensor) -> Tensor:
    """T (n, i, j)."""
    gated = machine.gated
    if isinstance(gated, FullInteraction):
        i, j, k = gated.weights.shape
        found = (code @ gated.weights.reshape(i * j, k).T).reshape(len(code), i, j)
    else:
        found = torch.matmul((code @ gated.hidden)[:, None, :] * gated.inputs, gated.visible.T)
    return found if machine.input_visible is None else found + machine.input_visible


def arrows(found: Tensor, shape: tuple[int, int]) -> Tensor:
    """Steps down and to the right (n, h, w, 2) of pixels whose targets are ``found`` (n, h · w)."""
    height, width = shape
    begin = torch.arange(height * width, device=found.device)
    down = found // width - begin // width
    right = found % width - begin % width
    return torch.stack([down, right], dim=2).reshape(-1, height, width, 2)


def check_picture(owner: object, shape: tuple[int, int], n_inputs: int, n_outputs: int) -> None:
    """Inputs and outputs must both be pictures of that ``shape``."""
    if len(shape) != 2 or not shape[0] * shape[1] == n_inputs == n_outputs:
        rule = f"does not fit the {n_inputs} columns of X and {n_outputs} of y"
        raise ValueError(error_message(owner, "shape", shape, rule, "Give the (height, width) of both"))

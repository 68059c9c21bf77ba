r"""Distance up to a learned transformation: infer it, apply it, see how far that falls short (S0 5.4.2).

    ẑ = arg max p(z | x, y),   ŷ = arg max p(y | x, ẑ),   d(x, y) = |y - ŷ|        x: template, y: query

For all pairs of n templates and m queries. A block of templates is folded once into filters (b, j, k); both steps are
then products of m queries with them, so a pair costs 4 j k multiplications and a block m b (j + k) numbers.
"""

from __future__ import annotations

import torch
from torch import Tensor

from .machines import GatedMachine

__all__ = ["pairwise_distance"]

_BUDGET = 1 << 24  # numbers of a block


def pairwise_distance(machine: GatedMachine, x: Tensor, y: Tensor, *, soft: bool = False) -> Tensor:
    """Squared distances (n, m) from templates ``x`` (n, i) to queries ``y`` (m, j); ``soft``: means for the best ẑ."""
    j, k = machine.visible.size, machine.hidden.size
    m = len(y)
    block = max(1, min(len(x), _BUDGET // (m * (j + k) + j * k)))
    parts = [_block(machine, x[begin : begin + block], y, soft) for begin in range(0, len(x), block)]
    return torch.cat(parts)


def _block(machine: GatedMachine, x: Tensor, y: Tensor, soft: bool) -> Tensor:
    conditioned = machine.condition(x)
    b, m = len(x), len(y)
    filters = torch.stack([tie.filters(b) for tie in conditioned.ties]).sum(dim=0)
    seen = conditioned.visible.statistic(y)
    eta = torch.matmul(seen, filters) + conditioned.hidden_bias.expand(b, -1)[:, None, :]
    pairs = eta.reshape(b * m, -1)
    z = conditioned.hidden.mean(pairs) if soft else conditioned.hidden.mode(pairs)
    code = conditioned.hidden.statistic(z).reshape(b, m, -1)
    back = torch.matmul(code, filters.transpose(1, 2)) + conditioned.visible_bias.expand(b, -1)[:, None, :]
    expected = conditioned.visible.mean(back.reshape(b * m, -1)).reshape(b, m, -1)
    return ((expected - y) ** 2).sum(dim=2)

r"""Distance modulo a learned transformation: infer it, apply it, measure the remaining error (S0 5.4.2).

    ẑ = arg max p(z | x, y),   ŷ = arg max p(y | x, ẑ),   d(x, y) = |y - ŷ|        x: template, y: query

``mode``: ŷ is that arg max; else the mean of p(y | x, ẑ), which is the same for Gaussian outputs only.

For all pairs of n templates and m queries. The filters F (b, j, k) of a group of templates are computed once; each pair
then takes a product with them, j k multiplications. For Gaussian outputs ŷ = ν (F ẑ + b) is never computed: with
r = y / ν - b, and η from the first step,

    |y - ŷ|² / ν² = |r|² - 2 ẑ·Fᵀr + ẑ·(FᵀF) ẑ,        Fᵀr = η - b_z - Fᵀb

which takes k² more multiplications instead of j k, and k numbers for each pair instead of j. (It loses half of the
digits of distances near 0: about 3e-4 of |y| in 32 bits.) Groups run on threads of this package, not of torch.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from sidelight.base.tiles import run_tiles, spans
from sidelight.base.types import Slice

from ._machines import Conditioned, GatedMachine
from ._units import GaussianUnits, Units

__all__ = ["pairwise_distance"]

_GROUP, _FILTERS = 32, 1 << 23  # largest number of templates in a group, and of numbers in its filters
_TILE = 1 << 19  # numbers in a tile of pairs, so that it fits into the second-level cache


def pairwise_distance(machine: GatedMachine, x: Tensor, y: Tensor, *, soft: bool = False, mode: bool = False) -> Tensor:
    """Squared distances (n, m) from templates ``x`` (n, i) to queries ``y`` (m, j).

    ``soft``: use the means of the mapping units instead of the most probable ẑ. ``mode``: ŷ is the most probable output
    instead of the mean. The caller limits torch to one thread.
    """
    group = max(1, min(_GROUP, _FILTERS // (machine.visible.size * machine.hidden.size)))

    def rows(span: Slice) -> Tensor:
        return _from_templates(machine.condition(x[span]), len(x[span]), y, soft, mode)

    return torch.cat(run_tiles(rows, spans(len(x), group), n_jobs=None if x.device.type == "cpu" else 1))


def _from_templates(machine: Conditioned, b: int, y: Tensor, soft: bool, mode: bool) -> Tensor:
    """Squared distances (b, m) of a group of templates to all queries."""
    filters = machine.ties[0].filters(b)
    for tie in machine.ties[1:]:
        filters = filters + tie.filters(b)
    visible, hidden = machine.visible, machine.hidden
    quick = isinstance(visible, GaussianUnits) and visible.log_scale.numel() == 1
    work = _Squares.of(filters, machine) if quick else _Outputs.of(filters, machine, mode)
    size = max(1, _TILE // (b * (filters.shape[2] if quick else filters.shape[1])))
    parts = []
    for part in y.split(size):
        eta = torch.matmul(visible.statistic(part), filters)
        eta += work.hidden_bias
        parts.append(work.squared(part, eta, _codes(hidden, eta, soft)))
    return torch.cat(parts, dim=1)


def _codes(hidden: Units, eta: Tensor, soft: bool) -> Tensor:
    """Statistics of the best (or mean) mapping units, shape of ``eta`` (b, m, k)."""
    pairs = eta.reshape(-1, eta.shape[2])
    return hidden.statistic(hidden.mean(pairs) if soft else hidden.mode(pairs)).reshape(eta.shape)


@dataclass(frozen=True)
class _Outputs:
    """Outputs of any type: ŷ is computed for each pair."""

    visible: Units
    filters: Tensor
    visible_bias: Tensor
    hidden_bias: Tensor
    mode: bool

    @classmethod
    def of(cls, filters: Tensor, machine: Conditioned, mode: bool) -> _Outputs:
        """Biases as (b or 1, 1, ·)."""
        visible, hidden = (b.reshape(-1, 1, b.shape[-1]) for b in (machine.visible_bias, machine.hidden_bias))
        return cls(machine.visible, filters, visible, hidden, mode)

    def squared(self, y: Tensor, eta: Tensor, code: Tensor) -> Tensor:
        """|y - ŷ|² (b, m)."""
        del eta
        back = torch.matmul(code, self.filters.transpose(1, 2))
        back += self.visible_bias
        rows = back.reshape(-1, back.shape[2])
        expected = (self.visible.mode(rows) if self.mode else self.visible.mean(rows)).reshape(back.shape)
        expected -= y
        return torch.linalg.vector_norm(expected, dim=2) ** 2


@dataclass(frozen=True)
class _Squares:
    """Gaussian outputs with one variance: the expanded square, without ŷ."""

    scale: Tensor
    hidden_bias: Tensor
    shift: Tensor
    gram: Tensor
    visible_bias: Tensor

    @classmethod
    def of(cls, filters: Tensor, machine: Conditioned) -> _Squares:
        """``shift`` = b_z + Fᵀb (b, 1, k), ``gram`` = FᵀF (b, k, k)."""
        assert isinstance(machine.visible, GaussianUnits)
        bias = machine.visible_bias.expand(len(filters), -1)
        hidden = machine.hidden_bias.reshape(-1, 1, machine.hidden_bias.shape[-1])
        shift = hidden + torch.bmm(bias[:, None, :], filters)
        return cls(machine.visible.scale, hidden, shift, torch.bmm(filters.transpose(1, 2), filters), bias)

    def squared(self, y: Tensor, eta: Tensor, code: Tensor) -> Tensor:
        """|y - ŷ|² (b, m); overwrites ``eta``."""
        seen = y / self.scale
        found = torch.matmul(code, self.gram)
        eta -= self.shift
        found.sub_(eta, alpha=2).mul_(code)
        residual = (seen**2).sum(dim=1) - 2 * self.visible_bias @ seen.T + (self.visible_bias**2).sum(dim=1)[:, None]
        return (found.sum(dim=2) + residual).clamp_(min=0) * self.scale**2

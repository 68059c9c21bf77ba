r"""Patches of sequences and images, and the average of overlapping patches at each site.

    ŷ(t) = (1 / c(t)) Σ_{s: t in patch s} f(x around s)(t),   c(t): how many patches cover site t          (S0 6.2.3)

A field is a tensor (n, channels, height, width); a sequence is a field of height 1. Patches lie inside the field, one
at each of its (height - h + 1)(width - w + 1) positions, and are rows of channels · h · w numbers. Every site is
covered, those near the border by fewer patches. With a ``stride``, patches are that many sites apart; the size of the
field must then allow the last patch to end at its border.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

__all__ = ["Patches", "bands"]


@dataclass(frozen=True)
class Patches:
    """All patches of a size (h, w), ``stride`` sites apart."""

    height: int
    width: int
    stride: int = 1

    def places(self, field: Tensor) -> tuple[int, int]:
        """How many patches there are down and across."""
        down, across = field.shape[2] - self.height, field.shape[3] - self.width
        return down // self.stride + 1, across // self.stride + 1

    def rows(self, field: Tensor) -> Tensor:
        """Every patch of every field, as rows (n · places, channels · h · w)."""
        columns = functional.unfold(field, (self.height, self.width), stride=self.stride)
        return columns.transpose(1, 2).reshape(-1, columns.shape[1])

    def summed(self, rows: Tensor, n: int, shape: tuple[int, int]) -> Tensor:
        """Sum of overlapping patches at each site: fields (n, channels, *shape), from rows in the order of ``rows``."""
        columns = rows.reshape(n, -1, rows.shape[1]).transpose(1, 2)
        return functional.fold(columns, shape, (self.height, self.width), stride=self.stride)

    def counts(self, shape: tuple[int, int], like: Tensor) -> Tensor:
        """How many patches cover each site (1, 1, *shape)."""
        down = _covered(shape[0], self.height, self.stride, like)
        across = _covered(shape[1], self.width, self.stride, like)
        return (down[:, None] * across[None, :])[None, None]

    def averaged(self, rows: Tensor, n: int, shape: tuple[int, int]) -> Tensor:
        """Mean of overlapping patches at each site: fields (n, channels, *shape)."""
        return self.summed(rows, n, shape) / self.counts(shape, rows)


def _covered(length: int, size: int, stride: int, like: Tensor) -> Tensor:
    site = torch.arange(length, device=like.device)
    places = (length - size) // stride + 1
    first = ((site - size + stride).clamp(min=0)) // stride
    last = (site // stride).clamp(max=places - 1)
    return (last - first + 1).to(like.dtype)


def bands(height: int, size: int, thickness: int, stride: int = 1) -> list[tuple[int, int]]:
    """Overlapping bands of rows (begin, end) of a field; every patch lies in exactly one band."""
    places = (height - size) // stride + 1
    firsts = range(0, places, thickness)
    return [(first * stride, (min(first + thickness, places) - 1) * stride + size) for first in firsts]

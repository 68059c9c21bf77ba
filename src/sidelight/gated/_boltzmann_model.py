"""What Boltzmann machines with and without inputs share: unit types and their values, chains, the contrast."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from sidelight._frame import Frame
from sidelight._messages import complain
from sidelight._validation import check_choice, check_integer

from ._torch_model import CHAINS, TorchModel
from .divergence import contrast
from .machines import Conditioned
from .training import Schedule, several
from .units import KINDS, Units, units

__all__ = ["BoltzmannModel", "framed", "unframed"]

Array = npt.NDArray[Any]
_SETTLE = 0.5  # of the updates; without it Adam keeps Gaussian outputs trembling
_RANGES = {"binary": (0.0, 1.0), "multinomial": (0.0, 1.0), "poisson": (0.0, np.inf)}


class BoltzmannModel(TorchModel):
    """Learning by contrastive divergence; the constructor arguments below besides those of :class:`TorchModel`."""

    visible: str
    levels: int | None
    cd_steps: int
    negatives: str
    persistent: bool

    def _check_machine(self, hidden: str) -> None:
        check_choice(self, "visible", self.visible, KINDS)
        check_choice(self, hidden, getattr(self, hidden), KINDS)
        if self.levels is not None:
            check_integer(self, "levels", self.levels, 2)
        check_integer(self, "cd_steps", self.cd_steps, 1)
        check_choice(self, "negatives", self.negatives, ("mean-field", "sampled"))
        self._check_training()

    def _schedule(self, seed: int) -> Schedule:
        return replace(super()._schedule(seed), settle=_SETTLE)

    def _visible_units(self, size: int) -> Units:
        options = {"levels": self.levels} if self.visible == "multinomial" and self.levels is not None else {}
        return units(self.visible, size, **options)

    @property
    def _real(self) -> bool:
        return self.visible.startswith("gaussian")

    def _contrast(
        self, module: nn.Module, machine: Conditioned, y: Tensor, generator: torch.Generator, rows: Any = ...
    ) -> Tensor:
        """The surrogate; chains, where there are any, go on from where they were (``rows``: those of the batch)."""
        chains: Tensor | None = getattr(module, CHAINS, None)
        start = None if chains is None else chains[rows]
        mean_field = self.negatives == "mean-field" and chains is None
        surrogate, fantasy = contrast(
            machine, y, steps=self.cd_steps, mean_field=mean_field, start=start, generator=generator
        )
        if chains is not None:
            chains[rows] = fantasy
        return surrogate

    def _begin_chains(self, module: nn.Module, y: Array) -> None:
        if not self.persistent:
            return
        if several():
            rule = "keeps chains, which several processes cannot share"
            raise ValueError(complain(self, "persistent", True, rule, "Use one process, or persistent=False"))
        module.register_buffer(CHAINS, torch.tensor(y).to(*self._place()))

    def _checked_values(self, Y: Array, name: str) -> Array:
        """Rows whose values suit the visible units."""
        low, high = _RANGES.get(self.visible, (-np.inf, np.inf))
        if Y.min() < low or Y.max() > high:
            seen = f"values from {Y.min():g} to {Y.max():g}"
            remedy = 'Scale them, or use visible="gaussian"'
            raise ValueError(complain(self, name, seen, f"does not suit visible={self.visible!r}", remedy))
        if self.visible == "multinomial":
            self._check_one_hot(Y, name)
        return Y

    def _check_one_hot(self, Y: Array, name: str) -> None:
        levels = Y.shape[1] if self.levels is None else self.levels
        if Y.shape[1] % levels:
            rule = f"does not divide the {Y.shape[1]} columns of {name}"
            raise ValueError(complain(self, "levels", levels, rule, "Give the columns of one group"))
        if not np.allclose(Y.reshape(len(Y), -1, levels).sum(axis=2), 1.0, atol=1e-4):
            rule = f"does not add up to 1 in each group of {levels} columns"
            raise ValueError(complain(self, name, "rows", rule, "Give one-hot rows, and levels="))


def framed(rows: Tensor, frame: Frame) -> Tensor:
    """Rows moved and scaled into a frame."""
    return (rows - torch.as_tensor(frame.centre).to(rows)) / frame.scale


def unframed(rows: Tensor, frame: Frame) -> Tensor:
    """Rows moved and scaled out of a frame."""
    return rows * frame.scale + torch.as_tensor(frame.centre).to(rows)

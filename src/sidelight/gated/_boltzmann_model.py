"""What Boltzmann machines with and without inputs share: unit types and their values, chains, the contrast."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy.typing as npt
import torch
from torch import Tensor, nn

from sidelight.base.messages import complain
from sidelight.base.validation import check_choice, check_integer

from ._divergence import contrast
from ._machines import Conditioned
from ._torch_model import CHAINS, TorchModel
from ._training import Schedule, several
from ._units import KINDS, Units, units
from ._values import check_values

__all__ = ["BoltzmannModel"]

Array = npt.NDArray[Any]
_SETTLE = 0.5  # of the updates; without it Adam keeps Gaussian outputs trembling


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

    def _check_values(self, name: str, Y: Array) -> None:
        check_values(self, name, Y, ("visible", self.visible, "gaussian"), self.levels)

    def _inputs_scaled(self, X: Array) -> bool:
        return self._real or not bool(X.min() >= 0 and X.max() <= 1)

"""Centring and scaling of rows before a model, and the R² of its outputs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from sidelight.base.types import Array
from sidelight.maps.frames import Frame

from ._values import ValueKind

__all__ = ["Framing", "explained", "frame_of", "framed", "unframed"]


@dataclass(frozen=True)
class Framing:
    """Validates, centres and scales the arrays of a batch; ``inputs=None``: rows without inputs."""

    owner: str
    values: ValueKind
    outputs: Frame
    inputs: Frame | None = None

    def inside(self, *parts: Array) -> tuple[Array, ...]:
        """Rows; or inputs, outputs and first guesses of these, in their frames."""
        if self.inputs is None:
            return (self._checked("X", parts[0]),)
        return (self.inputs.inside(parts[0]), *(self._checked("y", Y) for Y in parts[1:]))

    def _checked(self, name: str, rows: Array) -> Array:
        self.values.check(self.owner, name, rows)
        return self.outputs.inside(rows)


def frame_of(X: Array, *, scaled: bool) -> Frame:
    """The frame that centres columns and divides all by one root mean square deviation; not ``scaled``: identity."""
    if not scaled:
        return Frame(np.zeros(X.shape[1]), 1.0)
    size = float(np.abs(X).max()) or 1.0
    centre = (X / size).mean(axis=0) * size
    deviation = (X - centre) / size
    return Frame(centre, float(np.sqrt((deviation**2).mean())) * size or 1.0)


def framed(rows: Tensor, frame: Frame) -> Tensor:
    """Data to frame, as tensors."""
    return (rows - torch.as_tensor(frame.centre).to(rows)) / frame.scale


def unframed(rows: Tensor, frame: Frame) -> Tensor:
    """Frame to data, as tensors."""
    return rows * frame.scale + torch.as_tensor(frame.centre).to(rows)


def explained(Y: Array, found: Array) -> float:
    """R² of ``found`` as a prediction of ``Y``, pooled over columns; safe for values of any scale.

    >>> explained(np.array([[1.0], [3.0]]), np.array([[1.0], [2.0]]))
    0.5
    """
    size = float(np.abs(Y).max()) or 1.0
    with np.errstate(over="ignore"):  # rows of scale 1e-300 under a model of scale 1 are not explained at all
        missed = np.clip((found - Y) / size, -1e100, 1e100)
    wrong = (missed**2).sum(dtype=np.float64)
    spread = (((Y - Y.mean(axis=0)) / size) ** 2).sum(dtype=np.float64)
    return float(1 - wrong / (spread or 1.0))

"""Models of transformations and conditional manifolds, on PyTorch (extra ``torch``).

A gated model takes pairs: what was before, ``X``, and what came of it, ``Y``. It learns how the one becomes the other,
says which change it was for a new pair (``infer``), and does the same to other rows (``apply``, ``transfer``).
"""

from __future__ import annotations

from sidelight._messages import require_extra

require_extra("torch", "sidelight.gated", "torch")

from ._gated_boltzmann_machine import GatedBoltzmannMachine  # noqa: E402

__all__ = ["GatedBoltzmannMachine"]

"""Models of transformations and conditional manifolds, on PyTorch (extra ``torch``).

A gated model takes pairs: what was before, ``X``, and what came of it, ``y``. It learns how the one becomes the other,
says which change it was for a new pair (``infer``), and does the same to other rows (``apply``, ``transfer``).
"""

from __future__ import annotations

from sidelight.base.messages import require_extra

require_extra("torch", "sidelight.gated", "torch")

from .autoencoder import Autoencoder  # noqa: E402
from .biased_autoencoder import BiasedAutoencoder  # noqa: E402
from .gated_autoencoder import GatedAutoencoder  # noqa: E402
from .gated_boltzmann_machine import GatedBoltzmannMachine  # noqa: E402
from .gated_field import GatedField  # noqa: E402
from .manifield import Manifield  # noqa: E402
from .restricted_boltzmann_machine import RestrictedBoltzmannMachine  # noqa: E402

__all__ = [
    "Autoencoder",
    "BiasedAutoencoder",
    "GatedAutoencoder",
    "GatedBoltzmannMachine",
    "GatedField",
    "Manifield",
    "RestrictedBoltzmannMachine",
]

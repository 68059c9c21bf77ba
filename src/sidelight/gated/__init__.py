"""Models of transformations and conditional manifolds, on PyTorch (extra ``torch``).

A gated model takes pairs: what was before, ``X``, and what came of it, ``Y``. It learns how the one becomes the other,
says which change it was for a new pair (``infer``), and does the same to other rows (``apply``, ``transfer``).
"""

from __future__ import annotations

from sidelight._messages import require_extra

require_extra("torch", "sidelight.gated", "torch")

from ._autoencoder import Autoencoder  # noqa: E402
from ._biased_autoencoder import BiasedAutoencoder  # noqa: E402
from ._gated_autoencoder import GatedAutoencoder  # noqa: E402
from ._gated_boltzmann_machine import GatedBoltzmannMachine  # noqa: E402
from ._gated_field import GatedField  # noqa: E402
from ._manifield import Manifield  # noqa: E402
from ._restricted_boltzmann_machine import RestrictedBoltzmannMachine  # noqa: E402

__all__ = [
    "Autoencoder",
    "BiasedAutoencoder",
    "GatedAutoencoder",
    "GatedBoltzmannMachine",
    "GatedField",
    "Manifield",
    "RestrictedBoltzmannMachine",
]

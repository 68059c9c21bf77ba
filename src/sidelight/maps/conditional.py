"""The forward map under what is known: the latent kernel times one of ``given``.

    f(z, g) = Σ_j w_j(z, g) x̃_j,      w_j ∝ k(|z - z_j|² + s² |g - g_j|²)

x̃ (n, d) are the rows less the effect of ``given``, g the features of ``given``. The scale s is the one of a few with
the least leave-one-out error: 0 where what remains does not depend on ``given``, so that every group tells of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .effect import principal_axes
from .kernel_map import KernelMap
from .weights import FixedWeights

__all__ = ["conditional_forward"]

Array = npt.NDArray[Any]
_SCALES = (0.0, 0.5, 1.0, 2.0, 4.0)


def conditional_forward(Z: Array, features: Array, rest: Array, kernel: str) -> tuple[KernelMap, float]:
    """The map (z, scale · features) -> residual rows, and the scale with the least leave-one-out error."""
    shadow = rest @ principal_axes(rest)

    def along(scale: float, outputs: Array) -> KernelMap:
        return KernelMap(FixedWeights(np.column_stack([Z, scale * features]), 1.0, kernel), outputs)

    scale = min(_SCALES, key=lambda tried: along(tried, shadow).leave_one_out_error())
    return along(scale, rest), scale

"""The forward map under what is known: the latent kernel times one of ``given``.

    f(z, g) = Σ_j w_j(z, g) x̃_j,      w_j ∝ k(|z - z_j|² + s² |g - g_j|²)

x̃ (n, d) are the rows less the effect of ``given``, g the features of ``given``. The scale s is the one of a few with
the least leave-one-out error: 0 where what remains does not depend on ``given``, so that every group tells of it.

The backward map of the published product of kernels has the weights of that product,

    z(x, g) = Σ_j w_j(x, g) z_j,      w_j ∝ k((|x - x_j|² + h |g - g_j|²) / h),   h the bandwidth of the data

which for a Gaussian k is exactly ``k(|x - x_j|² / h) exp(-|g - g_j|²)``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.kernels.data_kernel import DataKernel
from sidelight.neighbours.search import nearest

from .effect import principal_axes
from .kernel_map import KernelMap, adaptive_weights
from .weights import FixedWeights

__all__ = ["conditional_forward", "product_backward"]

Array = npt.NDArray[Any]
_SCALES = (0.0, 0.5, 1.0, 2.0, 4.0)


def conditional_forward(Z: Array, features: Array, rest: Array, kernel: str) -> tuple[KernelMap, float]:
    """The map (z, scale · features) -> residual rows, and the scale with the least leave-one-out error."""
    projected = rest @ principal_axes(rest)

    def along(scale: float, outputs: Array) -> KernelMap:
        return KernelMap(FixedWeights(np.column_stack([Z, scale * features]), 1.0, kernel), outputs)

    scale = min(_SCALES, key=lambda tried: along(tried, projected).leave_one_out_error())
    return along(scale, rest), scale


def product_backward(
    points: Array, features: Array, Z: Array, kernel: DataKernel, profile: str, n_jobs: int | None
) -> tuple[KernelMap, float]:
    """The map (x, scale · features) -> Z under the product of the two kernels, and the scale, ``sqrt(h)``.

    With a bandwidth for each row h is their mean, and the weights adapt to the neighbourhood in both together.
    """
    scale = float(np.sqrt(np.mean(kernel.bandwidth))) or 1.0
    both = np.column_stack([points, scale * features])
    if kernel.lists is None:
        return KernelMap(FixedWeights(both, float(kernel.bandwidth), profile), Z), scale
    near = nearest(both, k=min(kernel.lists.shape[1], len(both) - 1), n_jobs=n_jobs)
    return KernelMap(adaptive_weights(both, Z, near.index), Z), scale

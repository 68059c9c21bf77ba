"""Maps conditional on side information ``given``: kernel regression on latent points (or rows) and ``given`` jointly.

    f(z, g) = Σ_j w_j(z, g) x̃_j,      w_j ∝ k(|z - z_j|² + s² |g - g_j|²)

x̃ (n, d) are the residual rows (the effect of ``given`` subtracted), g the features of ``given``. The scale s is chosen
from a grid by leave-one-out error. It is 0 if the residuals do not depend on ``given``; rows of all groups then count.

The backward map for the published product kernel (``conditioning="product"``) uses that product as weights,

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
    """Fit the forward map from latent points and ``given`` to residual rows.

    Parameters
    ----------
    Z : array of shape (n, q)
        Latent points.
    features : array of shape (n, f)
        Encoded ``given``.
    rest : array of shape (n, d)
        Residual rows.
    kernel : str
        Profile of the latent kernel.

    Returns
    -------
    forward : KernelMap
        From inputs (z, scale · features).
    scale : float
        The s with the least leave-one-out error.
    """
    projected = rest @ principal_axes(rest)

    def along(scale: float, outputs: Array) -> KernelMap:
        return KernelMap(FixedWeights(np.column_stack([Z, scale * features]), 1.0, kernel), outputs)

    scale = min(_SCALES, key=lambda tried: along(tried, projected).leave_one_out_error())
    return along(scale, rest), scale


def product_backward(
    points: Array, features: Array, Z: Array, kernel: DataKernel, profile: str, n_jobs: int | None
) -> tuple[KernelMap, float]:
    """Backward map under the product of the data kernel and the kernel of ``given``.

    Parameters
    ----------
    points : array of shape (n, d)
    features : array of shape (n, f)
        Encoded ``given``.
    Z : array of shape (n, q)
        Latent points.
    kernel : DataKernel
        Of the points. With one bandwidth per row, h is their mean, and the weights are adaptive in (x, g) jointly.
    profile : str
        Profile of the data kernel.
    n_jobs : int or None
        Threads.

    Returns
    -------
    backward : KernelMap
        From inputs (x, scale · features).
    scale : float
        ``sqrt(h)``.
    """
    scale = float(np.sqrt(np.mean(kernel.bandwidth))) or 1.0
    both = np.column_stack([points, scale * features])
    if kernel.lists is None:
        return KernelMap(FixedWeights(both, float(kernel.bandwidth), profile), Z), scale
    near = nearest(both, k=min(kernel.lists.shape[1], len(both) - 1), n_jobs=n_jobs)
    return KernelMap(adaptive_weights(both, Z, near.index), Z), scale

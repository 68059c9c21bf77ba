"""Maps conditional on side information ``given``: kernel regression on latent points (or rows) and ``given`` jointly.

    f(z, g) = Σ_j w_j(z, g) x̃_j,      w_j ∝ k(|z - z_j|² + s² |g - g_j|²)

x̃ (n, d) are the residual rows (the effect of ``given`` subtracted), g the features of ``given``. The scale s is chosen
from a grid by leave-one-out error. It is 0 if the residuals do not depend on ``given``; rows of all groups then count.

Both maps of the published product of kernels (``conditioning="product"``) use that product as weights (S0 3.2), without
an effect of ``given``, and with the bandwidths of the fit: h of the data, 1 of the latent points,

    z(x, g) = Σ_j w_j(x, g) z_j,      w_j ∝ k(|x - x_j|² / h) k_G(g, g_j)
    x(z, g) = Σ_j w_j(z, g) x_j,      w_j ∝ k_Z(|z - z_j|²) k_G(g, g_j)

Two Gaussian factors are one Gaussian of rows with features appended, and are computed as such. Beyond ``nearby.MANY``
rows, of which weights use the nearest, so is another k: k(|x - x_j|² / h + |g - g_j|²).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.kernels.data_kernel import DataKernel
from sidelight.kernels.side_kernel import SideKernel
from sidelight.neighbours.landmarks import spread_rows
from sidelight.neighbours.search import nearest

from .effect import principal_axes
from .kernel_map import KernelMap, adaptive_weights
from .nearby import is_many
from .weights import FixedWeights

__all__ = ["conditional_forward", "product_backward", "product_forward"]

Array = npt.NDArray[Any]
_SCALES = (0.0, 0.5, 1.0, 2.0, 4.0)
_TRIED = 1_000  # rows that are left out, one at a time, to choose the scale: each visits all rows


def conditional_forward(
    Z: Array, features: Array, rest: Array, kernel: str, n_jobs: int | None = None
) -> tuple[KernelMap, float]:
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
    n_jobs : int or None
        Threads.

    Returns
    -------
    forward : KernelMap
        From inputs (z, scale · features).
    scale : float
        The s with the least leave-one-out error, on at most 1,000 evenly spaced rows.
    """
    projected = rest @ principal_axes(rest)

    def along(scale: float, outputs: Array) -> KernelMap:
        return KernelMap(FixedWeights(np.column_stack([Z, scale * features]), 1.0, kernel), outputs)

    rows = spread_rows(len(Z), _TRIED) if len(Z) > _TRIED else None
    scale = min(_SCALES, key=lambda tried: along(tried, projected).leave_one_out_error(rows, n_jobs))
    return along(scale, rest), scale


def product_backward(
    points: Array, features: Array, Z: Array, kernel: DataKernel, profile: str, side: SideKernel, n_jobs: int | None
) -> tuple[KernelMap, Array]:
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
    side : SideKernel
        Of ``given``.
    n_jobs : int or None
        Threads.

    Returns
    -------
    backward : KernelMap
        From inputs (x, scale · features).
    scale : array of shape (1, f)
    """
    h = float(np.sqrt(np.mean(kernel.bandwidth))) or 1.0
    scale = np.where(side.scales > 0, h * side.units, 1.0)[None]
    both = np.column_stack([points, scale * features])
    if kernel.lists is None:
        return KernelMap(_product_weights(both, float(kernel.bandwidth), profile, side, scale[0]), Z), scale
    near = nearest(both, k=min(kernel.lists.shape[1], len(both) - 1), n_jobs=n_jobs)
    return KernelMap(adaptive_weights(both, Z, near.index), Z), scale


def product_forward(Z: Array, features: Array, rows: Array, kernel: str, side: SideKernel) -> tuple[KernelMap, Array]:
    """Forward map under the product of the latent kernel and the kernel of ``given``.

    Parameters
    ----------
    Z : array of shape (n, q)
        Latent points.
    features : array of shape (n, f)
        Encoded ``given``.
    rows : array of shape (n, d)
    kernel : str
        Profile of the latent kernel.
    side : SideKernel
        Of ``given``.

    Returns
    -------
    forward : KernelMap
        From inputs (z, scale · features).
    scale : array of shape (1, f)
    """
    scale = side.units[None]
    return KernelMap(_product_weights(np.column_stack([Z, scale * features]), 1.0, kernel, side, scale[0]), rows), scale


def _product_weights(both: Array, bandwidth: float, kernel: str, side: SideKernel, scale: Array) -> FixedWeights:
    """Weights by the product of kernels, from inputs (n, p + f) whose features are multiplied by ``scale`` (f,)."""
    if not side.matrices and (kernel == "gaussian" or is_many(both)):
        return FixedWeights(both, bandwidth, kernel)
    return FixedWeights(both, bandwidth, kernel, side.of_multiples(scale))

"""The maps and densities that a model with a data kernel and latent points of bandwidth 1 keeps.

forward   x(z) = Σ_j w_j(z) x_j     w of the latent kernel, bandwidth 1                      (S0 3.22)
backward  z(x) = Σ_j w_j(x) z_j     w of the data kernel: its bandwidth, or for a perplexity kernel
                                    a perplexity chosen by leave-one-out on its lists        (S0 3.23)
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ._frame import Frame
from .kernels.data_kernel import DataKernel
from .maps.kernel_map import KernelMap, best_perplexity
from .maps.parzen import ParzenDensity, fit_density
from .maps.weights import AdaptiveWeights, FixedWeights

__all__ = ["keep_maps"]

Array = npt.NDArray[Any]


def keep_maps(
    model: Any, X: Array, Z: Array, points: Array, kernel: DataKernel, latent_kernel: str = "gaussian"
) -> None:
    """Set what ``TwoWayMaps`` asks of a Euclidean model, and ``embedding_`` in the type of ``X``."""
    model.embedding_ = np.asarray(Z.astype(X.dtype))
    model.latent_frame_ = Frame(np.zeros(Z.shape[1]), 1.0)
    model.latent_density_ = ParzenDensity(Z, np.ones(len(Z)), latent_kernel)
    model.forward_ = KernelMap(FixedWeights(Z, 1.0, latent_kernel), points)
    if kernel.lists is not None:
        weights = AdaptiveWeights(points, kernel.lists, best_perplexity(points, Z, kernel.lists))
        model.backward_ = KernelMap(weights, Z)
    else:
        model.backward_ = KernelMap(FixedWeights(points, float(kernel.bandwidth)), Z)
    model.density_ = fit_density(points, np.broadcast_to(np.asarray(kernel.bandwidth), len(X)))

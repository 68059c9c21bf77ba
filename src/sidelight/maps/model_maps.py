"""The maps and densities that a model keeps.

Of a data kernel and latent points of bandwidth 1 (``keep_maps``):

forward   x(z) = Σ_j w_j(z) x_j     w of the latent kernel, bandwidth 1                      (S0 3.22)
backward  z(x) = Σ_j w_j(x) z_j     w of the data kernel: its bandwidth, or for a perplexity kernel
                                    a perplexity chosen by leave-one-out on its lists        (S0 3.23)
          plus a correction that makes it exact at training rows (``maps.interpolation``)

Of any embedding (``keep_adaptive_maps``): the same sums, the weights of both maps adapted to the neighbourhood.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.kernels.data_kernel import DataKernel
from sidelight.neighbours.equal_rows import equal_row_groups, group_means
from sidelight.neighbours.search import nearest

from .frames import Frame
from .interpolation import interpolate
from .kernel_map import KernelMap, adaptive_map, adaptive_weights
from .parzen import ParzenDensity, fit_density, neighbourhood_density
from .weights import AdaptiveWeights, FixedWeights

__all__ = ["LISTED", "keep_adaptive_maps", "keep_maps"]

Array = npt.NDArray[Any]
LISTED = 60  # neighbours that adaptive maps look at


def keep_maps(
    model: Any, X: Array, Z: Array, points: Array, kernel: DataKernel, latent_kernel: str = "gaussian"
) -> None:
    """Set what ``TwoWayMaps`` asks of a Euclidean model, and ``embedding_`` in the type of ``X``.

    Equal rows get one place.
    """
    Z = group_means(Z, equal_row_groups(points))
    model.embedding_ = np.asarray(Z.astype(X.dtype))
    model.latent_frame_ = Frame(np.zeros(Z.shape[1]), 1.0)
    model.latent_density_ = ParzenDensity(Z, np.ones(len(Z)), latent_kernel)
    model.forward_ = KernelMap(FixedWeights(Z, 1.0, latent_kernel), points)
    weights: AdaptiveWeights | FixedWeights
    if kernel.lists is not None:
        weights = adaptive_weights(points, Z, kernel.lists)
    else:
        weights = FixedWeights(points, float(kernel.bandwidth))
    model.backward_ = interpolate(KernelMap(weights, Z), n_jobs=model.n_jobs)
    model.density_ = fit_density(points, np.broadcast_to(np.asarray(kernel.bandwidth), len(X)))


def keep_adaptive_maps(model: Any, X: Array, Z: Array, points: Array) -> None:
    """Set what ``TwoWayMaps`` asks for an embedding ``Z`` (n, q) of ``points`` (n, d), however it was made.

    ``embedding_`` is ``Z`` as it is; equal rows that it puts in different places are mapped to their mean.
    """
    model.embedding_ = np.asarray(Z.astype(X.dtype, copy=False))
    model.latent_frame_ = Frame.of(Z)
    latent = model.latent_frame_.points(Z)
    near, near_latent = (nearest(rows, k=min(LISTED, len(X) - 1), n_jobs=model.n_jobs) for rows in (points, latent))
    one_place = group_means(latent, equal_row_groups(points))
    model.backward_ = interpolate(adaptive_map(points, one_place, lists=near.index), n_jobs=model.n_jobs)
    model.forward_ = adaptive_map(latent, points, lists=near_latent.index)
    model.density_ = neighbourhood_density(points, near.distance)
    model.latent_density_ = neighbourhood_density(latent, near_latent.distance)

"""Intrinsic dimension at the scale of the neighbour lists: the estimate of Levina and Bickel (2004), pooled over rows.

In a ball around a row of a d-dimensional manifold the number of neighbours grows as T^d, so the logarithms
log(T_k / T_j) of its neighbours' distances are exponential with mean 1/d:

    1/d = mean over rows of  (1/(k - 2)) Σ_{j<k} log(T_k / T_j)

(the mean of inverses, after MacKay and Ghahramani; k - 2 corrects the bias). Noise adds its own dimensions once
neighbours are closer than the noise is wide, so the estimate holds for the scale of the lists only.
"""

from __future__ import annotations

import numpy as np

from sidelight.base.types import Array

__all__ = ["local_dimension"]


def local_dimension(distances: Array) -> float:
    """Intrinsic dimension, from the distances (m, k) of the neighbours of some rows, nearest first.

    Rows with a duplicate (nearest distance 0) are ignored, and rows with an infinite distance (fewer than k known
    neighbours). Returns 0 where no row is left or k < 3.

    Examples
    --------
    >>> radius = np.sqrt((np.arange(30) + 0.5) / 30)[None, :]
    >>> round(local_dimension(radius))
    2
    """
    k = distances.shape[1]
    usable = (distances[:, 0] > 0) & np.isfinite(distances[:, -1])
    if k < 3 or not usable.any():
        return 0.0
    D = np.log(distances[usable])
    inverse = (D[:, -1:] - D[:, :-1]).sum(axis=1) / (k - 2)
    mean = float(inverse.mean())
    return 1.0 / mean if mean > 0 else float("inf")

"""The kernel of encoded side information ``given`` as one value, for kernel matrices and for the maps.

    k(f, g) = exp(-|s ∘ (f - g)|²) · Π_b f_bᵀ K_b g_b

f, g are rows of features (``side.given``), s (p,) scales those with a Gaussian kernel and is 0 for the others, and K_b
is the kernel matrix between the categories whose one-hot codes are the block b. With K_b = I this is the delta kernel,
the inner product of an orthogonal encoding (S0 3.25).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.neighbours.distances import squared_distances

from .matrices import SymmetricTiles

__all__ = ["SideKernel"]

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class SideKernel:
    """Kernel of ``given``: Gaussian in some features, a kernel matrix between categories in others.

    Parameters
    ----------
    scales : array of shape (p,)
        Factors of the features of the Gaussian; 0 for those with a matrix.
    starts : list of int
        The first feature of each matrix.
    matrices : list of arrays of shape (c, c)
    """

    scales: Array
    starts: list[int]
    matrices: list[Array]

    def log_values(self, F: Array, G: Array) -> Array:
        """``log k`` (m, n) between features F (m, p) and G (n, p); -inf where a matrix has a 0."""
        gaussian = np.flatnonzero(self.scales)
        scales = self.scales[gaussian]
        logs = -squared_distances(F[:, gaussian] * scales, G[:, gaussian] * scales)
        for start, K in zip(self.starts, self.matrices, strict=True):
            block = slice(start, start + len(K))
            with np.errstate(divide="ignore"):
                # one-hot codes pick entries of K, so that the sums of the products are exact in any order
                logs += np.log((F[:, block] @ K) @ G[:, block].T)
        return np.asarray(logs)

    def tiles(self, F: Array, n_jobs: int | None = None) -> SymmetricTiles:
        """The kernel matrix (n, n) of features F (n, p), in single precision."""
        return SymmetricTiles.build(
            len(F), lambda rows, cols: np.exp(self.log_values(F[rows], F[cols])).astype(np.float32), n_jobs=n_jobs
        )

    @property
    def units(self) -> Array:
        """Factors (p,) that turn features into those whose Gaussian kernel has bandwidth 1; 1 for one-hot codes."""
        return np.where(self.scales > 0, self.scales, 1.0)

    def of_multiples(self, factors: Array) -> SideKernel:
        """The same kernel, of features that are multiplied by ``factors`` (p,); those with a matrix by 1."""
        return SideKernel(self.scales / factors, self.starts, self.matrices)

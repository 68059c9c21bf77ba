"""Linear maps between rows and latent points, in the units of the data.

    backward  z(x) = (x - μ) A             A (d, q)
    forward   x(z) = z B + μ               B (q, d)

They are the maps of principal components and other linear methods.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.base.tiles import by_block
from sidelight.neighbours.distances import padded_product

__all__ = ["LinearMaps"]

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class LinearMaps:
    """The two maps of a linear method.

    Parameters
    ----------
    mean : array of shape (d,)
    to_latent : array of shape (d, q)
    to_data : array of shape (q, d)
    """

    mean: Array
    to_latent: Array
    to_data: Array

    def embed(self, X: Array, n_jobs: int | None) -> Array:
        """Latent points (m, q) of rows (m, d)."""
        return by_block(lambda part: padded_product(part - self.mean, self.to_latent), X, n_jobs, dtype=np.float64)

    def reconstruct(self, Z: Array, n_jobs: int | None) -> Array:
        """Rows (m, d) at latent points (m, q)."""
        return by_block(lambda part: padded_product(part, self.to_data) + self.mean, Z, n_jobs, dtype=np.float64)

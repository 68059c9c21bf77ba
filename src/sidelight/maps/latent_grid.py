"""Gaussian smoothing over latent points on a grid, without computing all pairs.

    (S X)_i = Σ_j exp(-|z_i - z_j|² / w) x_j        Z (n, q), q ≤ 3, X (n, d)

For a broad Gaussian, rows are spread to the nodes of a grid by multilinear weights, the grid is smoothed axis by axis,
and the result is interpolated at the rows by the same weights. Both interpolations widen the kernel: each adds on
average h²/6 to the variance w/2 of an axis, for cells of side h. This is subtracted from the bandwidth beforehand.

    h = √(w/2) / 3,     w' = w - 2h²/3,     kernel of an axis (w / w')^½ exp(-r² / w')

Error of a kernel entry: about 0.01 (h is a third of the standard deviation). Cost: O(2^q n d) plus that of the grid;
memory O(n d + grid · d). For q = 2 the grid has a few dozen nodes per axis.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

__all__ = ["LatentGrid", "grid_is_affordable"]

Array = npt.NDArray[Any]
_FINENESS = 3.0  # nodes per standard deviation of the kernel
_MOST_NODES = 20_000


def grid_is_affordable(Z: Array, width: float) -> bool:
    """Whether a grid can be used: latent points (n, q) with q ≤ 3, and at most 20,000 nodes."""
    return Z.shape[1] <= 3 and int(np.prod(_counts(Z, width))) <= _MOST_NODES


def _side(width: float) -> float:
    return float(np.sqrt(0.5 * width) / _FINENESS)


def _counts(Z: Array, width: float) -> Array:
    """Number of nodes along each axis (q,)."""
    return np.asarray(np.ceil(np.ptp(Z, axis=0) / _side(width)).astype(np.int64) + 2)


@dataclass(frozen=True)
class LatentGrid:
    """Grid over latent points: interpolation weights ``shares`` (n, nodes), and the smoothing matrix of each axis."""

    shares: csr_array
    smoothing: tuple[Array, ...]

    @classmethod
    def of(cls, Z: Array, width: float) -> LatentGrid:
        """Build the grid for latent points ``Z`` (n, q) and the kernel ``exp(-r² / width)``."""
        side, counts = _side(width), _counts(Z, width)
        at = (Z - Z.min(axis=0)) / side
        low = np.minimum(np.floor(at).astype(np.int64), counts - 2)
        beyond = at - low
        n, q = Z.shape
        nodes, weights = np.zeros((n, 1), dtype=np.int64), np.ones((n, 1))
        for axis in range(q):
            nodes = np.hstack([nodes * counts[axis] + low[:, axis, None] + step for step in (0, 1)])
            weights = np.hstack([weights * (1 - beyond[:, axis, None]), weights * beyond[:, axis, None]])
        starts = np.arange(n + 1) * nodes.shape[1]
        shares = csr_array((weights.ravel(), nodes.ravel(), starts), shape=(n, int(np.prod(counts))))
        narrower = width - 2 * side**2 / 3
        apart = [side * (np.arange(count)[:, None] - np.arange(count)) for count in counts]
        return cls(shares, tuple(np.sqrt(width / narrower) * np.exp(-(r**2) / narrower) for r in apart))

    def smoothed(self, X: Array, rows: Array | None = None) -> Array:
        """Kernel sums ``Σ_j exp(-|z_i - z_j|² / w) x_j`` (m, d), in the dtype of X.

        ``rows`` (m,): sum over and evaluate at a subset of the rows, with values X (m, d); None: all rows.
        """
        shares = (self.shares if rows is None else csr_array(self.shares[rows])).astype(X.dtype)
        grid = np.asarray(shares.T @ X).reshape(*map(len, self.smoothing), X.shape[1])
        for axis, matrix in enumerate(self.smoothing):
            grid = np.moveaxis(np.tensordot(matrix, grid, axes=(1, axis)), 0, axis)
        return np.asarray(shares @ grid.reshape(-1, X.shape[1]).astype(X.dtype))

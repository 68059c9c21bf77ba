"""A map from rows to latent points with its derivative, as one value: what Jacobians and attributions are made of.

    z(x) = m(c(x)),      c(x) = x B + constant,      ∂z/∂x = M(c) Bᵀ              x (d,), c (k,), z (q,), M (q, k)

c are the coordinates that the map begins with: the row itself (B is the identity), or for models of sparse rows their
coordinates in a truncated basis B (d, k). A map that depends on ``given`` is of the rows of one call: ``which`` says,
for each point asked for, whose ``given`` it has, so that a path from one row to another holds it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["SmoothMap"]

Array = npt.NDArray[Any]
At = Callable[[Array, Array], Array]
"""``(coordinates (m, k), which (m,)) -> values``."""


@dataclass(frozen=True)
class SmoothMap:
    """A differentiable map from rows to latent points.

    Parameters
    ----------
    coordinates : callable
        Rows (m, d), as a user gives them, to validated coordinates (m, k).
    value : callable
        Latent points (m, q) at coordinates.
    slope : callable
        Jacobians (m, q, k) by the coordinates.
    basis : array of shape (d, k) or None
        B above; None: the identity.
    shift : callable or None
        ``(coordinates (n, k)) -> (n, k)``: the effect of ``given`` on the rows of the call, which is subtracted from
        their coordinates before ``value`` and ``slope`` get them; None: there is none, or these subtract it.
    held : bool
        Whether the map depends on ``given`` otherwise, so that a line has to hold that of one row.
    """

    coordinates: Callable[[Any], Array]
    value: At
    slope: At
    basis: Array | None = None
    shift: Callable[[Array], Array] | None = None
    held: bool = False

    def in_columns(self, J: Array, columns: Array | None = None) -> Array:
        """Jacobians (m, q, d) by the columns of the data, or by some, from those by the coordinates (m, q, k)."""
        if self.basis is not None:
            basis = self.basis if columns is None else self.basis[columns]
            m, q, k = J.shape
            return np.asarray((J.reshape(m * q, k) @ basis.T).reshape(m, q, -1))
        return J if columns is None else np.asarray(J[:, :, columns])

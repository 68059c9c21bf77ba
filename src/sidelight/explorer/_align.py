r"""Align a map with another one of the same rows, for the eye: rotation, reflection, one scale and a shift.

Minimise over orthogonal R (q, q), s > 0 and t the sum over the chosen rows (orthogonal Procrustes, Schönemann 1966)

.. math::

    \sum_i | s (z_i - \bar z) R + t - w_i |^2,\qquad (Z - \bar z)^T (W - \bar w) = U S V^T,\; R = U V^T,\; t = \bar w
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Similarity", "aligned"]

Array = NDArray[Any]
_FLAT = 1e-3  # rows in a line do not say whether a map is mirrored


@dataclass(frozen=True)
class Similarity:
    """``shown = scale * (z - centre) @ rotation + shift`` and back."""

    rotation: Array
    scale: float
    centre: Array
    shift: Array

    @classmethod
    def identity(cls, q: int) -> Similarity:
        """The map as it is."""
        return cls(np.eye(q), 1.0, np.zeros(q), np.zeros(q))

    def shown(self, Z: Array) -> Array:
        """Places on the page (m, q) of latent points (m, q)."""
        return np.asarray(self.scale * (Z - self.centre) @ self.rotation + self.shift)

    def latent(self, W: Array) -> Array:
        """Latent points (m, q) of places on the page (m, q)."""
        return np.asarray((W - self.shift) @ self.rotation.T / self.scale + self.centre)


def aligned(Z: Array, W: Array, rows: Array | None = None, named: tuple[int, ...] = ()) -> Similarity:
    """The similarity that takes latent points Z (n, q) nearest to the places W (n, q) of the same rows.

    With ``rows``, of these rows; of fewer than q + 1 rows, a shift is all that is known, and the other rows decide
    rotation and scale. With ``named`` axes, which mean something, nothing is turned, and only other axes are mirrored.
    """
    q = Z.shape[1]
    if W.shape[1] != q:
        return Similarity.identity(q)
    finite = np.isfinite(Z).all(axis=1) & np.isfinite(W).all(axis=1)
    every = np.flatnonzero(finite)
    chosen = every if rows is None else np.intersect1d(rows, every)
    turned = chosen if len(chosen) > q and _spans(Z[chosen]) else every
    if len(turned) <= q:
        return Similarity.identity(q)
    A, B = Z[turned] - Z[turned].mean(axis=0), W[turned] - W[turned].mean(axis=0)
    size = float((A**2).sum())
    fixed = chosen if len(chosen) else every
    centre, shift = Z[fixed].mean(axis=0), W[fixed].mean(axis=0)
    if named:
        signs = np.where((A * B).sum(axis=0) < 0, -1.0, 1.0)
        signs[list(named)] = 1.0
        spread = float(np.sqrt((B**2).sum() / size)) if size > 0 else 1.0
        return Similarity(np.diag(signs), spread if spread > 0 else 1.0, centre, shift)
    U, S, Vt = np.linalg.svd(A.T @ B)
    scale = float(S.sum()) / size if size > 0 and S.sum() > 0 else 1.0
    return Similarity(U @ Vt, scale, centre, shift)


def _spans(Z: Array) -> bool:
    """Whether points (m, q) are spread in all directions, so that they can say how a map is turned."""
    S = np.linalg.svd(Z - Z.mean(axis=0), compute_uv=False)
    return bool(S[-1] > _FLAT * S[0])

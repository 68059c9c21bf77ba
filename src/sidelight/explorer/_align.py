r"""Align a map with another one of the same rows, for the eye: rotation, reflection, one scale and a shift.

Minimise over orthogonal R (q, q) and t the sum over the chosen rows (orthogonal Procrustes, Schönemann 1966)

.. math::

    \sum_i | s (z_i - \bar z) R + t - w_i |^2,\qquad (Z - \bar z)^T (W - \bar w) = U S V^T,\; R = U V^T,\; t = \bar w

with the scale s that gives both maps the same spread. The least-squares scale would be the same for maps that differ by
a similarity, and shrink a map that has little in common with the one before.
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
    """``shown = scale * (z - centre) @ rotation + shift`` and back; ``scale`` is one number, or one for each axis."""

    rotation: Array
    scale: float | Array
    centre: Array
    shift: Array

    @classmethod
    def identity(cls, q: int) -> Similarity:
        """The map as it is."""
        return cls(np.eye(q), 1.0, np.zeros(q), np.zeros(q))

    def shown(self, Z: Array) -> Array:
        """Places on the page (m, q) of latent points (m, q)."""
        return np.asarray((self.scale * (Z - self.centre)) @ self.rotation + self.shift)

    def latent(self, W: Array) -> Array:
        """Latent points (m, q) of places on the page (m, q)."""
        return np.asarray((W - self.shift) @ self.rotation.T / self.scale + self.centre)


def aligned(Z: Array, W: Array, rows: Array | None = None, named: tuple[int, ...] = ()) -> Similarity:
    """The similarity that takes latent points Z (n, q) nearest to the places W (n, q) of the same rows.

    With ``rows``, of these rows; of fewer than q + 1 rows, a shift is all that is known, and the other rows decide
    rotation and scale. With ``named`` axes, which mean something, nothing is turned, only other axes are mirrored, and
    each axis has a scale of its own, because their units have nothing to do with each other.
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
        wide, tall = np.sqrt((B**2).mean()), np.sqrt((A**2).mean(axis=0))
        return Similarity(np.diag(signs), wide / np.where(tall > 0, tall, 1.0), centre, shift)
    U, _, Vt = np.linalg.svd(A.T @ B)
    other = float((B**2).sum())
    scale = float(np.sqrt(other / size)) if size > 0 and other > 0 else 1.0
    return Similarity(U @ Vt, scale, centre, shift)


def _spans(Z: Array) -> bool:
    """Whether points (m, q) are spread in all directions, so that they can say how a map is turned."""
    S = np.linalg.svd(Z - Z.mean(axis=0), compute_uv=False)
    return bool(S[-1] > _FLAT * S[0])

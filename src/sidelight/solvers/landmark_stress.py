r"""Lower the Sammon stress of distances to landmarks by a few steps of majorisation, from a start (Sammon 1969).

    S(Z) = Σ_ln (|p_l - z_n| - d_ln)² / d_ln,      p_l the landmarks among the z_n

Classical scaling keeps squared distances, so that the largest count most; here small ones count as well. First the
landmarks move (de Leeuw 1977: Z ← V⁺ B(Z) Z), then the other rows, each by itself with the landmarks where they are:

    z_n ← Σ_l w_ln ( p_l + d_ln (z_n - p_l) / |z_n - p_l| ) / Σ_l w_ln,      w_ln = 1 / d_ln

No step raises the sum that it is about. A step costs O(L²) and O(L n).
"""

from __future__ import annotations

import numpy as np

from sidelight.base.types import Array

__all__ = ["lower_stress"]


_SMALLEST = 0.02  # quantile of the distances below which all weights are the same
_LEAST = 1e-3  # of the mean distance: the same, where rows that are nearly equal would have all the weight
_STEPS = 20, 6  # of the landmarks, of the others
_TINY = 1e-12  # least distance on the map, as a share of the largest


def lower_stress(D: Array, landmarks: Array, Z: Array) -> Array:
    """Latent points (n, q) with less stress than Z, and of the same mean.

    Parameters
    ----------
    D : array of shape (L, n)
        Distances of the landmarks to all rows.
    landmarks : array of shape (L,)
        Their row numbers.
    Z : array of shape (n, q)
        The start.

    Examples
    --------
    >>> t = np.array([0.0, 1.0, 2.0, 4.0])
    >>> D = np.abs(t[[0, 3], None] - t)
    >>> np.round(np.diff(lower_stress(D, np.array([0, 3]), t[:, None] ** 1.2), axis=0)[:, 0], 2).tolist()
    [1.0, 1.0, 2.0]
    """
    positive = D[D > 0]
    if not len(positive) or not Z.shape[1]:
        return Z
    W = 1.0 / np.maximum(D, max(np.quantile(positive, _SMALLEST), _LEAST * float(positive.mean())))
    least = _TINY * float(D.max()) + 1e-300
    P = _landmarks_moved(D[:, landmarks], W[:, landmarks], Z[landmarks], least)
    W /= W.sum(axis=0)
    found = Z + W.T @ (P - Z[landmarks])
    for _ in range(_STEPS[1]):
        ratio = W * D / np.maximum(_distances(P, found), least)
        found = W.T @ P + found * ratio.sum(axis=0)[:, None] - ratio.T @ P
    found[landmarks] = P
    return np.asarray(found - found.mean(axis=0) + Z.mean(axis=0))


def _landmarks_moved(D: Array, W: Array, P: Array, least: float) -> Array:
    """Landmarks (L, q) after some steps of majorisation with weights W and distances D (L, L)."""
    n, own = len(P), np.arange(len(P))
    W = W / W.mean()
    W[own, own] = 0.0
    V = -W
    V[own, own] = W.sum(axis=1)
    inverse = np.linalg.inv(V + 1.0)  # V has the constant in its null space, and so has B
    for _ in range(_STEPS[0] if n > 1 else 0):
        B = -W * D / np.maximum(_distances(P, P), least)
        B[own, own] = -B.sum(axis=1)
        P = inverse @ (B @ P)
    return P


def _distances(P: Array, Z: Array) -> Array:
    """Distances (L, n) of points P (L, q) to points Z (n, q)."""
    return np.asarray(np.sqrt(sum((p[:, None] - z) ** 2 for p, z in zip(P.T, Z.T, strict=True))))

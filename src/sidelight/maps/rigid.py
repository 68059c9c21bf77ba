r"""Rigid maps ``z -> R z + t`` between point sets, R orthogonal (S4 4.2.2: the map of an action).

    R, t = argmin Σ_i |R a_i + t - b_i|²,     U S Wᵀ = Σ (b_i - b̄)(a_i - ā)ᵀ,     R = U Wᵀ,   t = b̄ - R ā

(Orthogonal Procrustes; reflections are allowed.) Where S is 0, R is not determined by the points. There it is chosen as
close to the identity as possible, by the same formula for ``U₀ᵀ W₀``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["RigidMap", "fit_rigid"]

Array = npt.NDArray[Any]
_NOTHING = 1e-8  # share of the largest singular value below which R is not determined by the points


@dataclass(frozen=True, eq=False)
class RigidMap:
    """``Z -> Z Rᵀ + t`` for rows Z (m, r), with ``rotation`` R (r, r), orthogonal, and ``translation`` t (r,).

    Examples
    --------
    >>> quarter = RigidMap(np.array([[0.0, -1.0], [1.0, 0.0]]), np.array([1.0, 0.0]))
    >>> quarter(np.array([[1.0, 0.0]])).tolist(), quarter.inverse()(np.array([[1.0, 1.0]])).tolist()
    ([[1.0, 1.0]], [[1.0, 0.0]])
    """

    rotation: Array
    translation: Array

    def __call__(self, Z: Array) -> Array:
        """Move points (m, r)."""
        return np.asarray(Z @ self.rotation.T + self.translation)

    def inverse(self) -> RigidMap:
        """The inverse map."""
        return RigidMap(self.rotation.T, -self.translation @ self.rotation)


def fit_rigid(A: Array, B: Array) -> RigidMap:
    """Least-squares rigid map from the rows of A (m, r) to those of B (m, r), m ≥ 1."""
    A, B = np.asarray(A, dtype=np.float64), np.asarray(B, dtype=np.float64)
    a, b = A.mean(axis=0), B.mean(axis=0)
    U, size, Wt = np.linalg.svd((B - b).T @ (A - a))
    r = A.shape[1]
    known = int((size > _NOTHING * max(float(size.max(initial=0.0)), 1e-300)).sum())
    R = U[:, :known] @ Wt[:known]
    if known < r:
        left, _, right = np.linalg.svd(U[:, known:].T @ Wt[known:].T)
        R = R + U[:, known:] @ (left @ right) @ Wt[known:]
    return RigidMap(R, b - R @ a)

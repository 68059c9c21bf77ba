r"""Metric learning in closed form: metrics that make one kind of scatter small and another large.

relative   A = W^(-1/2) G W^(-1/2),   G = Q (W^(-1/2) D W^(-1/2)) Q,   Q = (W^(-1/2) S W^(-1/2))^(-1/2)

W is the scatter of same-class rows, D that of different-class rows, S that of all rows. Under A, the within-class
scatter is equal in all directions, and a direction in which different classes are further apart than two random rows
gets more weight. With D = S this is relevant component analysis, and its r widest directions are those of linear
discriminant analysis. If also W = sI, it is the Euclidean metric, and the directions are the principal components.

literal    min ⟨A, M⟩ over A ⪰ 0, A ⪯ I/r, tr A = 1:   A = VVᵀ/r, V the eigenvectors of the r smallest eigenvalues of M
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from sidelight.base.types import Array

__all__ = ["joined", "principal_factor", "relative_factor", "smallest_directions"]


_TIED = 1e-10  # eigenvalues closer than this share of the largest count as equal
_DEPENDENT = 1e-6  # share of the largest singular value: below, directions are linearly dependent
_SINGULAR = 1e-12  # share of the largest eigenvalue: floor of all eigenvalues


def relative_factor(W: Array, D: Array, S: Array) -> Array:
    """Factor B (p, p) of the relative metric A = B Bᵀ, for symmetric W, D and S (p, p).

    >>> B = relative_factor(np.diag([4.0, 1.0]), np.eye(2), np.eye(2))
    >>> B @ B.T
    array([[0.25, 0.  ],
           [0.  , 1.  ]])
    """
    if not len(W):
        return W
    whiten = _power(W, -0.5)
    Q = _power(whiten @ S @ whiten, -0.5)
    return np.asarray(whiten @ _power(Q @ (whiten @ D @ whiten) @ Q, 0.5))


def _power(M: Array, exponent: float) -> Array:
    values, vectors = eigh(0.5 * (M + M.T))
    floor = _SINGULAR * max(float(values.max(initial=0.0)), 1e-300)
    return np.asarray((vectors * np.maximum(values, floor) ** exponent) @ vectors.T)


def principal_factor(T: Array, B: Array, r: int | None) -> Array:
    """Factor (p, at most r) of the metric BBᵀ along its principal axes.

    In it the mapped rows of T (n, p) are uncorrelated, the widest axis first. ``r=None`` keeps all axes.
    """
    P = T @ B
    values, turn = np.linalg.eigh(P.T @ P)
    values, turn = values[::-1], turn[:, ::-1]
    used = values > 1e-10 * max(float(values.max(initial=0.0)), 1e-300)
    return np.asarray((B @ turn)[:, used][:, :r])


def smallest_directions(M: Array, variances: Array, r: int) -> Array:
    """Orthonormal eigenvectors (p, at most r) of the r smallest eigenvalues of M (p, p).

    Among tied eigenvalues, directions of larger variance come first (``variances`` (p,) of the coordinates).
    """
    r = min(r, len(variances))
    if r == 0:
        return np.zeros((len(variances), 0))
    values, vectors = eigh(M)
    size = max(float(np.abs(values).max()), 1e-300)
    tied = np.abs(values - values[r - 1]) <= _TIED * size
    group = vectors[:, tied]
    turn = eigh(group.T @ (variances[:, None] * group))[1][:, ::-1]
    below = vectors[:, : int(np.flatnonzero(tied)[0])]
    return np.asarray(np.column_stack([below, group @ turn])[:, :r])


def joined(directions: Array, metric: Array) -> Array:
    """Orthonormal basis (p, at most k) of the span of k directions (p, k), in the inner product ``diag(metric)``."""
    root = np.sqrt(metric)[:, None]
    vectors, sizes, _ = np.linalg.svd(root * directions, full_matrices=False)
    largest = sizes.max(initial=0.0)
    return np.asarray(vectors[:, sizes > _DEPENDENT * largest] / root)

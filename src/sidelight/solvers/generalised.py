r"""Metrics that make one kind of scatter small and another large: closed form, no iterations.

relative   A = W^(-1/2) G W^(-1/2),   G = Q (W^(-1/2) D W^(-1/2)) Q,   Q = (W^(-1/2) S W^(-1/2))^(-1/2)

W is the scatter of rows that belong together, D that of rows that do not, S that of all. Under A, rows that belong
together are equally far apart in every direction, and a direction in which different rows are further apart than any
two rows counts for more. With D = S it is relevant component analysis, its r widest directions are those of linear
discriminant analysis. With W = sI besides it is the plain metric, and they are those of principal components.

literal    min ⟨A, M⟩ over A ⪰ 0, A ⪯ I/r, tr A = 1:   A = VVᵀ/r, V the eigenvectors of the r smallest eigenvalues of M
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import eigh

__all__ = ["joined", "principal_factor", "relative_factor", "smallest_directions"]

Array = npt.NDArray[Any]
_TIED = 1e-10  # of the largest eigenvalue: closer ones are the same
_DEPENDENT = 1e-6  # singular values below it are directions that two attributes share
_SINGULAR = 1e-12  # of the largest eigenvalue: what is smaller counts as this


def relative_factor(W: Array, D: Array, S: Array) -> Array:
    """B (p, p) with A = B Bᵀ, for symmetric W, D and S.

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
    """The metric BBᵀ in its own axes, in which rows T (n, p) are uncorrelated and widest first; at most r of them."""
    P = T @ B
    values, turn = np.linalg.eigh(P.T @ P)
    values, turn = values[::-1], turn[:, ::-1]
    used = values > 1e-10 * max(float(values.max(initial=0.0)), 1e-300)
    return np.asarray((B @ turn)[:, used][:, :r])


def smallest_directions(M: Array, variances: Array, r: int) -> Array:
    """Orthonormal eigenvectors (p, at most r) of the r smallest eigenvalues of M; of equal ones, the widest first."""
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
    """An orthonormal basis (p, at most k) of the span of k directions, in the inner product ``diag(metric)``."""
    root = np.sqrt(metric)[:, None]
    vectors, sizes, _ = np.linalg.svd(root * directions, full_matrices=False)
    largest = sizes.max(initial=0.0)
    return np.asarray(vectors[:, sizes > _DEPENDENT * largest] / root)

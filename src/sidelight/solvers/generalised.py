r"""Directions along which one quadratic form is small relative to another: closed form, no iterations.

generalised   min vᵀ(M + bρI)v / vᵀ(S + ρI)v      S = diag(variances), the scatter of the data in its own axes, ρ > 0
literal       min vᵀM v / vᵀv

With M = 0 both give the widest directions of the data: in the first that is what the ratio ρ/(s + ρ) says, in the
second it is how ties are broken. With M the scatter within classes and b = 1, or within less between and b = 0, the
first is the discriminant analysis of both scatters shrunk by ρ.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import eigh

__all__ = ["joined", "relative_directions", "smallest_directions"]

Array = npt.NDArray[Any]
_TIED = 1e-10  # of the largest eigenvalue: closer ones are the same
_DEPENDENT = 1e-6  # singular values below it are directions that two attributes share


def relative_directions(M: Array, variances: Array, ridge: float, r: int, balance: float = 1.0) -> Array:
    """The r best directions (p, at most r), best first, ``Vᵀ (S + ρI) V = I``; of equal ones, the widest first.

    ``balance`` is how much of ρI the form M takes.

    >>> relative_directions(np.diag([1.0, 0.0]), np.ones(2), 0.5, 1).round(3)[:, 0] ** 2
    array([0.      , 0.665856])
    """
    scale = 1.0 / np.sqrt(variances + ridge)
    relative = scale[:, None] * (M + balance * ridge * np.eye(len(M))) * scale
    return np.asarray(scale[:, None] * smallest_directions(relative, variances * scale**2, r))


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

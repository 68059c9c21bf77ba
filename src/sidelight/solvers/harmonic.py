r"""Label propagation by harmonic functions: extend values known at some vertices smoothly to a whole graph.

    minimise over F (n, k)    ½ Σ_ij S_ij |f_i - f_j|² + Σ_{i ∈ I} |f_i - t_i|² + ε |F|²,    (L + D_I + ε) F = D_I T

Solved by conjugate gradients with a diagonal preconditioner: O(edges · k) per iteration, no factorisation.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array, diags_array
from scipy.sparse.linalg import cg

from sidelight.base.types import Array, SparseMatrix

__all__ = ["harmonic"]


_LOOSE = 1e-9  # ε: a connected component without a known value gets 0


def harmonic(S: SparseMatrix, index: Array, T: Array) -> Array:
    """Extend values to all vertices of a graph.

    Parameters
    ----------
    S : sparse array of shape (n, n)
        Symmetric edge weights.
    index : array of shape (m,)
        Vertices with known values.
    T : array of shape (m, k)
        Their values.

    Returns
    -------
    F : array of shape (n, k)
        Values at all vertices; the known ones are fitted, not interpolated.

    Examples
    --------
    >>> path = csr_array(np.eye(3, k=1) + np.eye(3, k=-1))
    >>> harmonic(path, np.array([0, 2]), np.array([[-1.0], [1.0]])).round(3).ravel() + 0.0
    array([-0.5,  0. ,  0.5])
    """
    n = S.shape[0]
    known, right = np.zeros(n), np.zeros((n, T.shape[1]))
    known[index], right[index] = 1.0, T
    diagonal = np.asarray(S.sum(axis=1)).ravel() + known + _LOOSE
    system, inverse = csr_array(diags_array(diagonal) - S), diags_array(1.0 / diagonal)
    found = [cg(system, column, M=inverse, rtol=1e-6, maxiter=2000)[0] for column in right.T]
    return np.column_stack(found)

"""Factorisations of sparse symmetric matrices: solves, and the number of negative eigenvalues (inertia).

Sparse: SuperLU without pivoting off the diagonal, so that ``P A Pᵀ = L U`` with D = diag(U). By Sylvester's law A has
as many negative eigenvalues as D has negative entries. Solves with a matrix that is more than a fifth filled use a
dense Cholesky factorisation.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import csc_array
from scipy.sparse.linalg import SuperLU, splu

from sidelight.base.types import Array, SparseColumns

__all__ = ["factored", "n_negative_eigenvalues"]


_FILLED = 0.2


def factored(M: SparseColumns) -> Callable[[Array], Array]:
    """Factor a positive definite M; returns the function ``b -> M⁻¹ b``."""
    if M.nnz > _FILLED * M.shape[0] ** 2:
        dense = cho_factor(M.toarray(), lower=True, overwrite_a=True, check_finite=False)
        return lambda b: np.asarray(cho_solve(dense, b, check_finite=False))
    lu = _symmetric(M)
    return lambda b: np.asarray(lu.solve(np.ascontiguousarray(b)))


def n_negative_eigenvalues(M: SparseColumns) -> int | None:
    """Number of negative eigenvalues of a symmetric M; None if it is singular or the factorisation had to pivot."""
    try:
        lu = _symmetric(M)
    except RuntimeError:  # exactly singular
        return None
    if not np.array_equal(lu.perm_r, lu.perm_c):
        return None
    return int((lu.U.diagonal() < 0).sum())


def _symmetric(M: SparseColumns) -> SuperLU[np.float64]:
    return splu(
        csc_array(M), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True, "Equil": False}
    )

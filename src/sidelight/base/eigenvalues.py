"""Some eigenvalues of a symmetric matrix, reliably: always as many as were asked for.

LAPACK finds a range of eigenvalues by bisection inside Gershgorin's bound, which it computes from a matrix that it has
rounded to tridiagonal form. Where an eigenvalue lies on that bound (a complete graph, a simplex, a multiple of the
identity, many equal eigenvalues) rounding may put it outside: fewer eigenvalues come back without an error, or an
"Internal Error" is raised. Which matrices are affected depends on the processor. For these, the full decomposition is
computed instead, without bisection.
"""

from __future__ import annotations

import functools
from inspect import signature
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import eigh, eigvalsh
from scipy.linalg.lapack import dsyevr, dsyevr_lwork
from scipy.sparse.linalg import eigsh

__all__ = ["fixed_restarts", "selected_eigenvalues", "selected_pairs"]

Array = npt.NDArray[Any]
_DRAWS = "rng" in signature(eigsh).parameters  # from SciPy 1.17 on


def fixed_restarts() -> dict[str, Any]:
    """Keyword arguments for ``eigsh`` that make its random restarts reproducible.

    It restarts where the initial vector spans an invariant subspace: a multiple of the identity, a graph without edges.
    """
    return {"rng": np.random.default_rng(0)} if _DRAWS else {}


def selected_pairs(A: Array, first: int, last: int, *, lower: bool = True) -> tuple[Array, Array]:
    """Some eigenvalues and eigenvectors of a symmetric matrix.

    Parameters
    ----------
    A : array of shape (n, n)
    first, last : int
        Range of eigenvalues, both included; the smallest is number 0.
    lower : bool
        Whether the lower triangle of ``A`` is read.

    Returns
    -------
    values : array of shape (last - first + 1,)
        Ascending.
    vectors : array of shape (n, last - first + 1)
        Unit eigenvectors.

    Examples
    --------
    >>> values, vectors = selected_pairs(np.diag([3.0, 1.0, 2.0]), 1, 2)
    >>> values.tolist(), vectors.shape
    ([2.0, 3.0], (3, 2))
    """
    if A.dtype == np.float64 and np.isfinite(A).all():
        values, vectors = _by_lapack(A, first, last, lower)
    else:
        values, vectors = _by_scipy(A, first, last, lower)
    if len(values) <= last - first:
        values, vectors = eigh(A, lower=lower, driver="evd")
        values, vectors = values[first : last + 1], vectors[:, first : last + 1]
    return np.asarray(values), np.asarray(vectors)


def _by_lapack(A: Array, first: int, last: int, lower: bool) -> tuple[Array, Array]:
    """What ``_by_scipy`` computes, to the bit, without its checks: they take longer than a matrix of few rows."""
    lwork, liwork = _workspace(len(A), lower)
    indices = {"range": "I", "il": first + 1, "iu": last + 1}
    values, vectors, found, _, info = dsyevr(A, **indices, lower=lower, lwork=lwork, liwork=liwork)
    n_found = found if info == 0 else 0
    return values[:n_found], vectors[:, :n_found]


@functools.lru_cache(maxsize=64)
def _workspace(n: int, lower: bool) -> tuple[int, int]:
    """Sizes of the work arrays that LAPACK asks for."""
    lwork, liwork, _ = dsyevr_lwork(n, lower=lower)
    return int(lwork), int(liwork)


def _by_scipy(A: Array, first: int, last: int, lower: bool) -> tuple[Array, Array]:
    """The eigenvalues and vectors of the range that LAPACK finds: none if it fails."""
    try:
        values, vectors = eigh(A, lower=lower, subset_by_index=(first, last))
    except np.linalg.LinAlgError:
        return np.empty(0), np.empty((len(A), 0))
    return np.asarray(values), np.asarray(vectors)


def selected_eigenvalues(A: Array, first: int, last: int, B: Array | None = None) -> Array:
    """Eigenvalues ``first`` to ``last`` of ``A v = λ B v``, ascending; B (n, n) positive definite, None: identity."""
    try:
        values = eigvalsh(A, B, subset_by_index=(first, last), check_finite=False)
    except np.linalg.LinAlgError:
        values = np.empty(0)
    if len(values) <= last - first:
        whole = eigvalsh(A, driver="evd", check_finite=False) if B is None else eigvalsh(A, B, check_finite=False)
        values = whole[first : last + 1]
    return np.asarray(values)

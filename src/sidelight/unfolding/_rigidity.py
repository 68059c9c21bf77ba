"""Whether preserved distances between neighbours make all rows one rigid body.

A row and its neighbours, all of whose distances to each other are preserved, are a body: their Gram matrix is fixed. If
the overlap of a body with another spans all dimensions of the first, the first has no freedom left, and the two are one
body. (This is the facial reduction of Krislock and Wolkowicz 2010, for the case that it ends in a point.) One body is
grown from a row whose neighbours span all the dimensions of the data:

    absorb C   where   rank(overlap of C and the body) = rank(C)

If it finally holds every row, the rows themselves are the only point set with these distances, in any number of
dimensions. In d columns that takes more than d neighbours; with more columns than neighbours it does not happen.
Cost: O(n k d²) per round, with d the rank of the rows, below the number of neighbours.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array, eye_array

from sidelight.base.types import Array, SparseMatrix

__all__ = ["is_rigid"]


_FLAT = 1e-10  # of the largest variance: directions with less count as 0 in a rank


def is_rigid(points: Array, graph: SparseMatrix) -> bool:
    """Whether rows (n, d) form one rigid body if each row's distances to and among its graph neighbours are fixed.

    Examples
    --------
    >>> corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> all_pairs, chain = np.ones((4, 4)) - np.eye(4), np.eye(4, k=1) + np.eye(4, k=-1)
    >>> is_rigid(corners, csr_array(all_pairs)), is_rigid(corners, csr_array(chain))
    (True, False)
    """
    n = len(points)
    members = csr_array(csr_array((np.ones(graph.nnz), graph.indices, graph.indptr), shape=(n, n)) + eye_array(n))
    X = _own_axes(points, most=int(np.diff(members.indptr).max()))
    if X is None:
        return False
    ranks = _ranks(members, X, np.ones(n))
    first = int(ranks.argmax())
    if ranks[first] < X.shape[1]:
        return False
    body = np.zeros(n)
    body[members.indices[members.indptr[first] : members.indptr[first + 1]]] = 1.0
    while True:
        touched, near = np.asarray(members @ body) > 0, csr_array(members.T)
        absorbed = (_ranks(members, X, body) >= ranks) & touched
        grown = (np.asarray(near @ absorbed.astype(np.float64)) > 0) | (body > 0)
        if int(grown.sum()) == int(body.sum()):
            return bool(grown.all())
        body = grown.astype(np.float64)


def _own_axes(points: Array, most: int) -> Array | None:
    """The rows (n, k) along their principal axes; None if these are as many as any row has neighbours."""
    centred = points - points.mean(axis=0)
    if min(points.shape) >= most and np.linalg.matrix_rank(centred[: 2 * most], tol=1e-5) >= most:
        return None  # some rows alone have too many: the spectrum of many columns is not needed
    U, s, _ = np.linalg.svd(centred, full_matrices=False)
    used = s * s > _FLAT * max(float(s[0] ** 2), 1e-300)
    return np.asarray(U[:, used] * s[used]) if 0 < used.sum() < most else None


def _ranks(members: SparseMatrix, X: Array, chosen: Array) -> Array:
    """Rank (n,): dimensions spanned by the ``chosen`` (n,) members of each row's neighbourhood."""
    n, d = X.shape
    count = np.maximum(members @ chosen, 1.0)
    mean = (members @ (chosen[:, None] * X)) / count[:, None]
    second = members @ (chosen[:, None] * (X[:, :, None] * X[:, None, :]).reshape(n, d * d))
    spread = second.reshape(n, d, d) / count[:, None, None] - mean[:, :, None] * mean[:, None, :]
    values = np.linalg.eigvalsh(spread)
    return np.asarray((values > _FLAT * np.abs(X).max() ** 2).sum(axis=1))

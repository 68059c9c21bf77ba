r"""The generalised eigenproblem of chart coordination, solved without a ridge (a ridge could reorder its solutions).

    B v = λ D v,      smallest λ first,      tᵀ D v = 0,      vᵀ G v = n

D is block-diagonal (or one block). Each block is factored as D_s = V Λ Vᵀ, null directions are left out, and the
problem is solved in the whitened coordinates Λ^(-1/2) Vᵀ, where D = I. The trivial solution t maps every row to the
same point. It is projected out, not dropped as the first eigenvector, since other solutions can have eigenvalue 0 too.
Orthogonality to t makes the latent mean 0. Vectors are scaled so that each latent column Uv has unit variance, G = UᵀU.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sidelight.base.eigenvalues import selected_pairs
from sidelight.base.types import Array

__all__ = ["coordinated", "whitener"]


_EMPTY = 1e-13  # share of the rows: a chart responsible for less is ignored
_FLAT = 1e-10  # share of a block's largest eigenvalue: a direction with less counts as null


def whitener(blocks: Sequence[Array], n: float) -> Array:
    """Whitening matrix ``H`` (p, r) with ``HᵀDH = I``, from the diagonal blocks of D (p, p).

    Null directions are left out, so r ≤ p; ``n`` is the number of rows.
    """
    p = sum(len(D) for D in blocks)
    H, row, column = np.zeros((p, p)), 0, 0
    for D in blocks:
        values, vectors = np.linalg.eigh(D)
        kept = values > max(_FLAT * values[-1], _EMPTY * n)
        width = int(kept.sum())
        H[row : row + len(D), column : column + width] = vectors[:, kept] / np.sqrt(values[kept])
        row, column = row + len(D), column + width
    return H[:, :column]


def coordinated(
    B: Array, H: Array, products: Array, trivial: Array, n: float, n_components: int
) -> tuple[Array, Array]:
    """Solve ``B v = λ D v`` for the q smallest eigenvalues, the trivial solution excluded.

    Parameters
    ----------
    B : array of shape (p, p)
        The matrix of disagreement between charts (``objectives.coordination``).
    H : array of shape (p, r)
        From :func:`whitener`.
    products : array of shape (p, p)
        G = UᵀU.
    trivial : array of shape (p,)
        The trivial solution t.
    n : float
        Number of rows.
    n_components : int
        Latent dimensions q.

    Returns
    -------
    L : array of shape (p, q)
        Maps of the charts into the latent space; columns of 0 where there are fewer than q solutions.
    disagreement : array of shape (q,)
        Eigenvalues λ, the smallest first; inf where there are fewer than q solutions.
    """
    L, found = np.zeros((len(B), n_components)), np.full(n_components, np.inf)
    means = H.T @ (products @ trivial)  # UᵀU t = D t: the sums over rows of each column of U
    C = _complement(means)
    count = min(n_components, C.shape[1])
    if count == 0:
        return L, found
    A = C.T @ (H.T @ B @ H) @ C
    values, vectors = selected_pairs(0.5 * (A + A.T), 0, count - 1)
    V = H @ (C @ vectors)
    variance = np.einsum("pq,pr,rq->q", V, products, V) / n
    spread = variance > 1e-12 / n
    L[:, :count] = np.where(spread, V / np.sqrt(np.where(spread, variance, 1.0)), 0.0)
    found[:count] = np.maximum(values, 0.0)
    return L, found


def _complement(v: Array) -> Array:
    """Orthonormal basis (r, r - 1) of the orthogonal complement of v, by a Householder reflection."""
    length = float(np.linalg.norm(v))
    if length == 0.0:
        return np.eye(len(v))
    u = v / length
    u[0] += 1.0 if u[0] >= 0 else -1.0
    return np.asarray((np.eye(len(v)) - np.outer(u, u) * (2.0 / (u @ u)))[:, 1:])

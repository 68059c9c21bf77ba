"""The alternating kernel of two views: a step of diffusion in one view, followed by a step in the other.

    S = ½ (K L + L K), off its diagonal        K (n, n) the kernel of the first view, L (n, n) that of the second

A step in the first view keeps what that view shows and averages out what only the other shows; the second step averages
out the rest. So two rows are similar in S if they are similar in what *both* views show (alternating diffusion,
Lederman and Talmon 2018). A row that is missing in a view stays where it is during that view's step: its row of the
kernel is that of the identity. So S connects rows seen in one view through rows seen in both; with no row seen in both
it is K and L side by side. Each kernel is first scaled to a mean row sum of 1. A step may also stay in place
(self-weight): an adaptive kernel without self-weight, applied twice, prefers the second neighbour to the first, and
draws a curve as a zigzag. The diagonal of S itself is left out, as in the other adaptive kernels.

Cost: sparse kernels of k pairs a row: O(n k²) time, and the ``keep`` largest entries of each row in memory; dense
kernels: O(n³) time, O(n²) memory.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array, csr_array, eye_array

from sidelight.base.tiles import run_tiles, spans
from sidelight.base.types import Array, Slice, SparseMatrix
from sidelight.neighbours.search import smallest

from .matrices import SymmetricTiles, matrix_rows

__all__ = ["ViewKernel", "alternating_kernel", "kernel_block", "with_self_weight"]


Kernel = SymmetricTiles | SparseMatrix


@dataclass(frozen=True)
class ViewKernel:
    """A kernel matrix (m, m) over the ``rows`` (m,) present in a view, out of ``n``."""

    matrix: Kernel
    rows: Array
    n: int

    def whole(self) -> SparseMatrix | Array:
        """The (n, n) matrix: mean row sum 1 over the rows present, the identity elsewhere."""
        unseen = np.setdiff1d(np.arange(self.n), self.rows)
        K = with_self_weight(self.matrix)
        m = matrix_rows(K)
        scale = m / float(np.sum(K @ np.ones(m)))
        if isinstance(K, SymmetricTiles):
            dense = np.zeros((self.n, self.n))
            dense[np.ix_(self.rows, self.rows)] = scale * K.to_dense()
            dense[unseen, unseen] = 1.0
            return dense
        pairs = K.tocoo()
        values = np.r_[scale * pairs.data, np.ones(len(unseen))]
        ends = np.r_[self.rows[pairs.row], unseen], np.r_[self.rows[pairs.col], unseen]
        return csr_array(coo_array((values, ends), shape=(self.n, self.n)))


def alternating_kernel(views: list[ViewKernel], *, keep: int, n_jobs: int | None = None) -> Kernel:
    """The alternating kernel ``½ (K L + L K)`` of one or two views.

    Parameters
    ----------
    views : list of ViewKernel
        One or two. With a single complete view the result is that view's kernel.
    keep : int
        A sparse result keeps the ``keep`` largest entries of each row, and their transposes.
    n_jobs : int or None
        Threads.

    Returns
    -------
    SymmetricTiles or csr_array
        (n, n), symmetric; dense if a view's kernel is.
    """
    if len(views) == 1 and len(views[0].rows) == views[0].n:
        return views[0].matrix
    n = views[0].n
    K, L = views[0].whole(), views[-1].whole() if len(views) == 2 else csr_array(eye_array(n))
    if isinstance(K, np.ndarray) or isinstance(L, np.ndarray):
        product = np.asarray(K @ L)
        np.fill_diagonal(product, 0.0)
        return SymmetricTiles.from_dense(0.5 * (product + product.T))

    def block(rows: Slice) -> SparseMatrix:
        both = 0.5 * (K[rows] @ L + L[rows] @ K).toarray()
        both[np.arange(len(both)), np.arange(rows.start, rows.stop)] = 0.0
        return _largest(both, keep)

    parts = run_tiles(block, spans(n, max(8, 2_000_000 // n)), n_jobs)
    one_way = _stacked(parts, n)
    S = csr_array(one_way.maximum(one_way.T))
    S.sort_indices()
    return S


def kernel_block(matrix: Kernel, rows: Array) -> Kernel:
    """The submatrix of the kernel for some rows."""
    if isinstance(matrix, SymmetricTiles):
        return SymmetricTiles.from_dense(matrix.to_dense()[np.ix_(rows, rows)])
    block = csr_array(matrix[rows][:, rows])
    block.sort_indices()
    return block


def with_self_weight(matrix: Kernel) -> Kernel:
    """Put each row's largest value on the diagonal of a sparse adaptive kernel; a dense kernel has one already."""
    if isinstance(matrix, SymmetricTiles):
        return matrix
    n = matrix.shape[0]
    largest = np.asarray(matrix.max(axis=1).toarray(), dtype=np.float64).ravel()
    diagonal = np.arange(n)
    own = coo_array((np.where(largest > 0, largest, 1.0), (diagonal, diagonal)), shape=(n, n))
    return csr_array(matrix + csr_array(own))


def _largest(rows: Array, keep: int) -> SparseMatrix:
    """The ``keep`` largest entries of each row, ties by column."""
    if keep >= rows.shape[1]:
        return csr_array(rows)
    columns = smallest(-rows, keep)[0]
    values = np.take_along_axis(rows, columns, axis=1)
    starts = np.arange(0, values.size + 1, keep)
    kept = csr_array((values.ravel(), columns.ravel(), starts), shape=rows.shape)
    kept.eliminate_zeros()
    return kept


def _stacked(parts: list[SparseMatrix], n: int) -> SparseMatrix:
    """Stack blocks of rows vertically."""
    counts = np.concatenate([np.diff(part.indptr) for part in parts])
    indices = np.concatenate([part.indices for part in parts])
    return csr_array((np.concatenate([p.data for p in parts]), indices, np.r_[0, np.cumsum(counts)]), shape=(n, n))

r"""Scatter matrices of pairs: means of δδᵀ over pairs of rows, without a list of differences.

For pairs e = (i, j) of the rows of T (n, p), with δ_e = t_i - t_j and L the Laplacian of the graph they make,

    Σ_e δ_e δ_eᵀ = Tᵀ L T,      (L T)_i = Σ_{j ~ i} (t_i - t_j)

Equal labels stand for all pairs within a class, which need not be listed: ``(L T)_i = n_c (t_i - μ_c)`` for a row of
class c with n_c members. For all pairs of N labelled rows it is ``N (t_i - μ)``; pairs of different labels are the
difference of the two.

A mean scatter is divided by twice the number of pairs, so that over random pairs it is the covariance. Pairs that share
rows carry less information than separate ones: f, the number of independent differences (rows minus connected
components of the graph), is the effective sample size. A scatter is *pooled* with a prior S₀ of weight w pairs:

    (f S + w S₀) / (f + w)
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from sidelight.base.types import Array

__all__ = ["LabelScatter", "PairScatter", "Scatter", "pooled"]


class Scatter(ABC):
    """Scatter of one kind of pairs: ``n_pairs`` of them, with ``n_free`` independent differences."""

    n_pairs: int
    n_free: int

    @abstractmethod
    def apply(self, T: Array) -> Array:
        """Laplacian product ``L T`` (n, p)."""

    @abstractmethod
    def rows(self) -> Array:
        """Row numbers that are in a pair, in increasing order."""

    @abstractmethod
    def partners(self, row: int) -> Array:
        """Rows that make a pair with ``row``, in increasing order."""

    @abstractmethod
    def without(self, rows: Array) -> Scatter:
        """The scatter of the pairs that contain none of these rows."""

    def matrix(self, T: Array) -> Array:
        """Mean scatter of ``δδᵀ / 2`` (p, p), exactly symmetric; 0 without pairs."""
        M = T.T @ self.apply(T) / (2.0 * max(self.n_pairs, 1))
        return np.asarray(0.5 * (M + M.T))


class PairScatter(Scatter):
    """Scatter of listed pairs: row numbers (m, 2), each pair once.

    >>> scatter = PairScatter(np.array([[0, 1], [1, 2], [0, 2]]), 4)
    >>> scatter.matrix(np.array([[0.0], [1.0], [2.0], [9.0]]))
    array([[1.]])
    >>> scatter.n_pairs, scatter.n_free
    (3, 2)
    """

    def __init__(self, index: Array, n: int) -> None:
        self.n_pairs = len(index)
        self._index, self._n = index, n
        rows, columns = np.concatenate([index, index[:, ::-1]]).astype(np.int64).T
        self._adjacency = csr_array((np.ones(len(rows)), (rows, columns)), shape=(n, n))
        self._degree = np.asarray(self._adjacency.sum(axis=1))
        self.n_free = n - connected_components(self._adjacency, directed=False)[0]

    def apply(self, T: Array) -> Array:
        """``Σ_{j ~ i} (t_i - t_j)``."""
        return np.asarray(self._degree[:, None] * T - self._adjacency @ T)

    def rows(self) -> Array:
        """Row numbers that are in a pair."""
        return np.unique(self._index)

    def partners(self, row: int) -> Array:
        """Rows that make a pair with ``row``."""
        start, stop = self._adjacency.indptr[row], self._adjacency.indptr[row + 1]
        return np.sort(self._adjacency.indices[start:stop])

    def without(self, rows: Array) -> PairScatter:
        """The listed pairs that contain none of these rows."""
        return PairScatter(self._index[~np.isin(self._index, rows).any(axis=1)], self._n)


class LabelScatter(Scatter):
    """Scatter of all pairs of rows with equal labels, or with ``different`` ones; codes (n,), -1 where unlabelled."""

    def __init__(self, codes: Array, *, different: bool = False) -> None:
        self._all_codes = codes
        self._known = codes >= 0
        self._codes = codes[self._known]
        self._sizes = np.bincount(self._codes).astype(np.float64)
        self._different = different
        n, within = len(self._codes), int(self._sizes @ (self._sizes - 1)) // 2
        n_classes = int(np.count_nonzero(self._sizes))
        self.n_pairs = n * (n - 1) // 2 - within if different else within
        self.n_free = (n - 1 if n_classes > 1 else 0) if different else n - n_classes

    def apply(self, T: Array) -> Array:
        """``n_c (t_i - μ_c)``, or ``N (t_i - μ)`` less that."""
        known = T[self._known]
        ends = (self._codes, np.arange(len(known)))
        sums = csr_array((np.ones(len(known)), ends), shape=(len(self._sizes), len(known))) @ known
        within = self._sizes[self._codes, None] * known - sums[self._codes]
        out = np.zeros_like(T)
        out[self._known] = len(known) * known - known.sum(axis=0) - within if self._different else within
        return out

    def rows(self) -> Array:
        """Labelled rows that have a partner."""
        codes = self._all_codes
        count = self._sizes[codes] if len(self._sizes) else np.zeros(len(codes))
        has_partner = count < len(self._codes) if self._different else count > 1
        return np.flatnonzero(self._known & has_partner)

    def partners(self, row: int) -> Array:
        """Other rows with the same label, or rows with different ones."""
        codes = self._all_codes
        alike = codes == codes[row]
        if self._different:
            return np.flatnonzero(self._known & ~alike)
        alike[row] = False
        return np.flatnonzero(alike)

    def without(self, rows: Array) -> LabelScatter:
        """The same for the labels of the other rows."""
        codes = np.array(self._all_codes)
        codes[rows] = -1
        return LabelScatter(codes, different=self._different)


def pooled(S: Array, n_free: int, believed: Array, weight: float) -> Array:
    """Shrinkage of a scatter to a prior, ``(f S + w S₀) / (f + w)``; S₀ if both weights are 0.

    >>> pooled(np.eye(1), 3, 2 * np.eye(1), 1.0)
    array([[1.25]])
    """
    total = n_free + weight
    return np.asarray((n_free * S + weight * believed) / total) if total > 0 else believed

r"""Scatter of pairs: sums of δδᵀ over pairs of rows, never as a list of differences.

For pairs e = (i, j) of the rows of T (n, p), with δ_e = t_i - t_j and L the Laplacian of the graph they make,

    Σ_e δ_e δ_eᵀ = Tᵀ L T,      (L T)_i = Σ_{j ~ i} (t_i - t_j)

Equal labels are all pairs within their classes, and need not be listed: ``(L T)_i = n_c (t_i - μ_c)`` for a row of
class c with n_c members. All pairs of N labelled rows, the same way: ``N (t_i - μ)``; the different ones are the rest.

The source (S4, eq. 3.1) minimises ⟨A, M⟩ with M = Σ_same δδᵀ - Σ_different δδᵀ. Here M is divided by twice the number
of pairs: the mean of δδᵀ over random pairs is twice the covariance, so that M is then measured in its units. With
shares a of same and b of different pairs, ``M = a S_same - b S_different``; where both mean scatters are shrunk by ρI,
M is moved by (a - b) ρI. a - b is called the balance.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

__all__ = ["LabelScatter", "NoScatter", "PairScatter", "Scatter"]

Array = npt.NDArray[Any]


class Scatter(ABC):
    """What was said of pairs: ``apply`` is the signed Laplacian; ``n_same`` and ``n_different`` count them."""

    n_same: int
    n_different: int

    @property
    def n_pairs(self) -> int:
        """How many pairs there are."""
        return self.n_same + self.n_different

    @property
    def balance(self) -> float:
        """Share of same pairs less that of different ones; 1 where nothing was said."""
        return (self.n_same - self.n_different) / self.n_pairs if self.n_pairs else 1.0

    @abstractmethod
    def apply(self, T: Array) -> Array:
        """``L T`` (n, p): same pairs count +1, different ones -1."""

    @abstractmethod
    def same(self) -> Scatter:
        """The same pairs alone."""

    def matrix(self, T: Array) -> Array:
        """``Tᵀ L T`` (p, p), divided by twice the number of pairs; symmetric to the bit."""
        M = T.T @ self.apply(T) / (2.0 * max(self.n_pairs, 1))
        return np.asarray(0.5 * (M + M.T))


class NoScatter(Scatter):
    """Nothing was said."""

    n_same = n_different = 0

    def apply(self, T: Array) -> Array:
        """Zero."""
        return np.zeros_like(T)

    def same(self) -> NoScatter:
        """Nothing."""
        return self


class PairScatter(Scatter):
    """Pairs by their row numbers: ``same`` (m, 2) and ``different`` (k, 2), each pair once.

    >>> scatter = PairScatter(np.array([[0, 1]]), np.empty((0, 2), dtype=int), 3)
    >>> scatter.matrix(np.array([[0.0], [2.0], [5.0]]))
    array([[2.]])
    """

    def __init__(self, same: Array, different: Array, n: int) -> None:
        self.n_same, self.n_different = len(same), len(different)
        self._same, self._n = same, n
        ends = np.concatenate([same, different]).astype(np.int64)
        sign = np.repeat([1.0, -1.0], [len(same), len(different)])
        rows, columns = np.concatenate([ends, ends[:, ::-1]]).T
        self._adjacency = csr_array((np.tile(sign, 2), (rows, columns)), shape=(n, n))
        self._degree = np.asarray(self._adjacency.sum(axis=1))

    def apply(self, T: Array) -> Array:
        """``Σ_{j ~ i} ± (t_i - t_j)``."""
        return np.asarray(self._degree[:, None] * T - self._adjacency @ T)

    def same(self) -> PairScatter:
        """The same pairs alone."""
        return PairScatter(self._same, np.empty((0, 2), dtype=np.int64), self._n)


class LabelScatter(Scatter):
    """All pairs of labelled rows: same within a class, different across; codes (n,), -1 where unknown.

    ``only_same`` leaves the different ones out.
    """

    def __init__(self, codes: Array, *, only_same: bool = False) -> None:
        self._all, self._known = codes, codes >= 0
        self._codes = codes[self._known]
        self._sizes = np.bincount(self._codes).astype(np.float64)
        self._only_same = only_same
        self.n_same = int(self._sizes @ (self._sizes - 1)) // 2
        self.n_different = 0 if only_same else len(self._codes) * (len(self._codes) - 1) // 2 - self.n_same

    def apply(self, T: Array) -> Array:
        """``2 n_c (t_i - μ_c) - N (t_i - μ)``: same less different; the first half of it, once, if only same."""
        known = T[self._known]
        ends = (self._codes, np.arange(len(known)))
        sums = csr_array((np.ones(len(known)), ends), shape=(len(self._sizes), len(known))) @ known
        within = self._sizes[self._codes, None] * known - sums[self._codes]
        out = np.zeros_like(T)
        out[self._known] = within if self._only_same else 2.0 * within - (len(known) * known - known.sum(axis=0))
        return out

    def same(self) -> LabelScatter:
        """The pairs within classes alone."""
        return LabelScatter(self._all, only_same=True)

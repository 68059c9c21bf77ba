"""Solve with a graph's Laplacian, roughly, in time linear in its links: a V-cycle over merged rows.

    x ≈ (L + diag(h))⁻¹ g,     L = diag(W 1) - W,     W (n, n) symmetric, at least 0,     h (n,) above 0

Jacobi's rule, x += ω (g - (L + diag(h)) x) / diagonal, takes what differs between neighbours out of the error and
leaves what is smooth along the graph. That is nearly constant on merged rows (``solvers.levels``), where R'(L + h)R is
a problem of the same kind, with a fraction of the rows: it is solved by the same rule, and directly where few rows are
left. One cycle is linear, symmetric and positive, so it may precondition: a step of it, the same of the coarser rows, a
step of it. Merged rows move as one, too stiffly, which ``_OVER`` makes up for.

The levels are those of the graph's pattern, made once; the weights change, and are merged by adding up what is stored.
Cost of a cycle: about four products with W; of new weights, one pass over the links, and memory 4 bytes a link.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import csr_array

from .levels import Level

__all__ = ["DIRECT", "Cycle", "Hierarchy"]

Array = npt.NDArray[Any]
DIRECT = 500
"""Merged rows few enough to be solved for directly."""
_OMEGA = 0.6  # of Jacobi's step, which at 1 would oscillate
_OVER = 1.5  # below 2, or a cycle would not be positive
_LEFT = 4 * DIRECT  # rows of a level that cannot be merged further, up to which it is solved for directly all the same


@dataclass(frozen=True)
class _Merging:
    """Level ``fine`` and the next coarser one, and where the stored pairs of the one go in the other."""

    fine: Level
    coarse: Level

    @cached_property
    def slot(self) -> Array:
        """The place (nnz,) of each pair among the merged ones, and one past the last for pairs within a merged row."""
        parent, m = self.fine.parent, self.coarse.n
        assert parent is not None
        K, C = self.fine.kernel, self.coarse.kernel
        stored = np.repeat(np.arange(m, dtype=np.int64), np.diff(C.indptr)) * m + C.indices
        one = np.repeat(parent.astype(np.int64), np.diff(K.indptr))
        other = parent[K.indices]
        place = np.searchsorted(stored, one * m + other)
        return np.where(one == other, C.nnz, place).astype(np.int32 if C.nnz < 2**31 else np.int64)

    def merged(self, data: Array) -> Array:
        """What the links (nnz,) of the fine level are between merged rows."""
        C = self.coarse.kernel
        return np.bincount(self.slot, weights=data, minlength=C.nnz + 1)[: C.nnz].astype(np.float32)


class Hierarchy:
    """Levels, finest first, and their solvers."""

    def __init__(self, levels: Sequence[Level]) -> None:
        self.levels = list(levels)
        self.mergings = [_Merging(fine, coarse) for fine, coarse in pairwise(self.levels)]

    def cycle(self, depth: int, links: Array, held: Array) -> Cycle:
        """The solver on a level, from its links (nnz,) in the order of its kernel's and ``h`` (n,)."""
        return Cycle(self, depth, links.astype(np.float32), held)


class Cycle:
    """``G -> (L + diag(h))⁻¹ G``, roughly, for columns (n, q)."""

    def __init__(self, hierarchy: Hierarchy, depth: int, links: Array, held: Array) -> None:
        level = hierarchy.levels[depth]
        K = level.kernel
        self.W = csr_array((links, K.indices, K.indptr), shape=K.shape)
        diagonal = self.W @ np.ones(level.n, dtype=np.float32) + held
        self.diagonal = diagonal.astype(np.float32)
        self.parent, self.coarser, self.factor = level.parent, None, None
        if level.parent is not None:
            below = np.bincount(level.parent, weights=held)
            self.coarser = Cycle(hierarchy, depth + 1, hierarchy.mergings[depth].merged(links), below)
        elif level.n <= _LEFT:
            self.factor = cho_factor(np.diag(diagonal) - self.W.toarray(), lower=True, check_finite=False)

    def __call__(self, G: Array) -> Array:
        """One cycle for each column, from nothing."""
        return np.column_stack([self._solve(np.ascontiguousarray(g, dtype=np.float32)) for g in G.T]).astype(np.float64)

    def _solve(self, g: Array) -> Array:
        if self.factor is not None:
            return np.asarray(cho_solve(self.factor, g, check_finite=False), dtype=np.float32)
        x = _OMEGA * g / self.diagonal
        if self.coarser is not None:
            assert self.parent is not None
            left = np.bincount(self.parent, weights=self._left(g, x)).astype(np.float32)
            x += _OVER * self.coarser._solve(left)[self.parent]
        return np.asarray(x + _OMEGA * self._left(g, x) / self.diagonal)

    def _left(self, g: Array, x: Array) -> Array:
        """What the solution ``x`` has not yet explained."""
        return np.asarray(g - self.diagonal * x + self.W @ x)

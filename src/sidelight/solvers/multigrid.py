"""Approximate solves with a graph Laplacian in time linear in its links: an algebraic multigrid V-cycle.

    x ≈ (L + diag(h))⁻¹ g,     L = diag(W 1) - W,     W (n, n) symmetric, at least 0,     h (n,) above 0

The smoother is damped Jacobi, x += ω (g - (L + diag(h)) x) / diagonal. It removes the part of the error that differs
between neighbours and leaves the smooth part. The smooth part is nearly constant on merged rows (``solvers.levels``),
where R'(L + h)R is a problem of the same kind with a fraction of the rows. That is solved recursively, and directly at
the coarsest level. A cycle (smoothing step, coarse correction, smoothing step) is linear, symmetric and positive
definite, so it is a valid preconditioner. Piecewise constant corrections are too stiff; ``_OVER`` scales them up.

The hierarchy depends on the sparsity pattern and is built once. The weights W change; coarse weights are sums of them.
Cost: a cycle takes about four products with W. New weights take one pass over the links, and 4 bytes per link.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import csr_array

from sidelight.base.tiles import run_tiles, spans
from sidelight.base.types import Array, Slice, SparseMatrix

from .levels import Level

__all__ = ["DIRECT", "Cycle", "Hierarchy"]


DIRECT = 500
"""Rows at which coarsening should end: few enough for a direct solve."""
_OMEGA = 0.6  # damping of Jacobi, which at 1 would oscillate
_OVER = 1.8  # overcorrection; must be below 2, or a cycle would not be positive definite
_PAIRS = 2**18  # stored pairs whose places one task looks up
_LEFT = 4 * DIRECT  # largest coarsest level that is still solved directly (coarsening may end above DIRECT)


@dataclass(frozen=True)
class _Merging:
    """Two consecutive levels, and the map from the stored pairs of the fine one to those of the coarse one."""

    fine: Level
    coarse: Level
    n_jobs: int | None = 1

    @cached_property
    def slot(self) -> Array:
        """Coarse position (nnz,) of each stored fine pair; one past the last for pairs within a merged row."""
        parent, m = self.fine.parent, self.coarse.n
        assert parent is not None
        K, C = self.fine.kernel, self.coarse.kernel
        stored = np.repeat(np.arange(m, dtype=np.int64), np.diff(C.indptr)) * m + C.indices
        one = np.repeat(parent.astype(np.int64), np.diff(K.indptr))
        kind = np.int32 if C.nnz < 2**31 else np.int64

        def places(part: Slice) -> Array:
            other = parent[K.indices[part]]
            place = np.searchsorted(stored, one[part] * m + other)
            return np.where(one[part] == other, C.nnz, place).astype(kind)

        found = run_tiles(places, spans(K.nnz, _PAIRS), self.n_jobs)
        return np.concatenate([np.empty(0, dtype=kind), *found])

    def merged(self, data: Array) -> Array:
        """Sum the fine weights (nnz,) to the weights of the coarse pairs."""
        C = self.coarse.kernel
        return np.bincount(self.slot, weights=data, minlength=C.nnz + 1)[: C.nnz].astype(np.float32)


def _short_indices(K: SparseMatrix) -> tuple[Array, Array]:
    """Column numbers and row starts in 32 bits where they fit: a product is limited by the memory that it reads."""
    kind = np.int32 if max(K.nnz, K.shape[0]) < 2**31 else np.int64
    return K.indices.astype(kind), K.indptr.astype(kind)


class Hierarchy:
    """Multigrid hierarchy over levels of ``solvers.levels``, finest first; ``n_jobs``: threads."""

    def __init__(self, levels: Sequence[Level], n_jobs: int | None = 1) -> None:
        self.levels, self.n_jobs = list(levels), n_jobs
        self.patterns = [_short_indices(level.kernel) for level in self.levels]
        self.mergings = [_Merging(fine, coarse, n_jobs) for fine, coarse in pairwise(self.levels)]

    def cycle(self, depth: int, links: Array, held: Array) -> Cycle:
        """Approximate solver on one level.

        Parameters
        ----------
        depth : int
            The level; 0 is the finest.
        links : array of shape (nnz,)
            Weights W of its stored pairs, in the order of its kernel's.
        held : array of shape (n,)
            The diagonal h, above 0.

        Returns
        -------
        Cycle
            An approximate inverse of ``L + diag(h)``.
        """
        return Cycle(self, depth, links.astype(np.float32, copy=False), held)


class Cycle:
    """One V-cycle as an approximate inverse: ``G -> (L + diag(h))⁻¹ G`` for columns (n, q)."""

    def __init__(self, hierarchy: Hierarchy, depth: int, links: Array, held: Array) -> None:
        level, self.n_jobs = hierarchy.levels[depth], hierarchy.n_jobs
        self.W = csr_array((links, *hierarchy.patterns[depth]), shape=level.kernel.shape)
        diagonal = self.W @ np.ones(level.n, dtype=np.float32) + held
        self.diagonal = diagonal.astype(np.float32)
        self.parent, self.coarser, self.factor = level.parent, None, None
        if level.parent is not None:
            below = np.bincount(level.parent, weights=held)
            self.coarser = Cycle(hierarchy, depth + 1, hierarchy.mergings[depth].merged(links), below)
        elif level.n <= _LEFT:
            self.factor = cho_factor(np.diag(diagonal) - self.W.toarray(), lower=True, check_finite=False)

    def __call__(self, G: Array) -> Array:
        """One V-cycle for each column of G (n, q), started at 0."""
        columns = run_tiles(self._solve, [np.ascontiguousarray(g, dtype=np.float32) for g in G.T], self.n_jobs)
        return np.column_stack(columns).astype(np.float64)

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
        """Residual ``g - (L + diag(h)) x``."""
        return np.asarray(g - self.diagonal * x + self.W @ x)

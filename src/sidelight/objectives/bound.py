"""Lower bound of the mutual information between data and embedding: the objective of the multilevel solver.

The Parzen information H(Z) - H(X, Z) has the logarithm of a sum over neighbours. With rows p_i of the data kernel that
sum to 1, Jensen's inequality bounds it from below by the sum of logarithms. Only H(Z) is then a sum over all pairs:

    -H(X, Z) = (1/n) Σ_i log Σ_j p_ij k_ij  ≥  (1/n) Σ_ij p_ij log k_ij

    minimise  (1/N) Σ_i w_i log s_i  +  (a/N) Σ_ij P_ij (-log k_ij)  +  (ε/N) Σ_i w_i |z_i|²

    s_i = Σ_j w_j G_ij k_ij,    G_ij = Σ_r A_ir A_jr  (1 without ``given``)

At a = 1 this is the bound (with a Student profile, and one normaliser for all rows instead of one per row, it would be
t-SNE). a - 1 is the weight of a stretch penalty, measured by -log k. The bound attracts *all* neighbours of a row,
whereas the information is high if one of them is near: embeddings by the bound are tighter (decision 0015).

A row of weight w represents w merged rows at the same latent point (``solvers.levels``), and N = Σ w. P of all rows
sums to N (that of merged rows to less, as distances within a merged row are 0). So the objective on merged rows is the
objective on all rows, restricted. ``A`` (n, r) factors the kernel of ``given``, and H(Z) becomes H(G, Z).

A few rows in ten thousand are held by hardly any attraction and would drift away, and the cost of a transform grows
with their bounding box. So there may be a ``box`` (2, q): for a row outside it, s is taken at the nearest point of the
box, so that the row is not repelled further.

Gradients, with P the pulls of ``kernels.pair_sums`` and u = -d log k / d(r²):

    -(2/N) w_i Σ_r A_ir [ (P w A_r)_i / s_i + (P (w A_r / s))_i ]  +  (4a/N) Σ_j P_ij u_ij (z_i - z_j)

Shapes: Z (n, q), P sparse symmetric (n, n). Cost of an evaluation: (q + 3) r transforms and O(nnz q), so near-linear in
the number of rows; memory O(nnz). In more than three dimensions there are no transforms: with ``lists`` of cells the
sums s are those of ``kernels.cell_sums``, and so is their gradient; without, they are over all pairs.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy

import numpy as np

from sidelight.base.messages import error_message
from sidelight.base.tiles import run_tiles, spans, sum_in_order
from sidelight.base.types import Array, Slice, SparseMatrix
from sidelight.kernels.cell_lists import CellLists
from sidelight.kernels.cell_sums import CellSums, cell_sum_error, cell_sums
from sidelight.kernels.gauss_transform import FastSums
from sidelight.kernels.pair_sums import PairSums, factored_pulls, factored_sums, latent_sums
from sidelight.kernels.profiles import BOUND_PROFILES, GAUSSIAN, Profile
from sidelight.kernels.transform_plans import Plans

from .evaluation import Evaluation

__all__ = ["InformationBound"]


_ROWS = 4096  # rows per block of stored pairs
_MANY = 20_000  # above so many rows, a step too wide for a transform is rejected instead of summed over all pairs
_FARTHEST = 1e9  # coordinates whose squares are no numbers of float32, or nearly
_FLOOR = 0.5  # a row sum includes the row's own weight; below half of it, it is an error of the transform


class InformationBound:
    """The negative of the bound with attraction ``a``, and its gradient.

    Parameters
    ----------
    K : sparse array of shape (n, n)
        Symmetric data kernel.
    profile : Profile
        Of the latent kernel; one of ``BOUND_PROFILES``.
    weights : array of shape (n,) or None
        Number of original rows that each row represents; None: 1 each.
    factors : array of shape (n, r) or None
        A, factors of the kernel of ``given``; None: no ``given``.
    attraction : float
        The weight a.
    background : float
        ε, weight of the power penalty.
    box : array of shape (2, q) or None
        Lower and upper corner beyond which rows are not repelled.
    tolerance : float or None
        Of the transforms.
    lists : CellLists or None
        Cells over which ``kernels.cell_sums`` sums, in any number of dimensions; None: transforms or all pairs.
    n_jobs : int or None
        Threads.
    """

    def __init__(
        self,
        K: SparseMatrix,
        profile: Profile,
        *,
        weights: Array | None = None,
        factors: Array | None = None,
        attraction: float = 1.5,
        background: float = 1e-5,
        box: Array | None = None,
        tolerance: float | None = 1e-3,
        lists: CellLists | None = None,
        n_jobs: int | None = None,
    ) -> None:
        if profile.name not in BOUND_PROFILES:  # ``_weighed`` has -d log k / dr² of these only
            rule, remedy = "has no bound here", f"Use one of {', '.join(BOUND_PROFILES)}"
            raise ValueError(error_message("InformationBound", "profile", profile.name, rule, remedy))
        n = K.shape[0]
        self.weights = np.ones(n) if weights is None else np.asarray(weights, dtype=np.float64)
        self.total = float(self.weights.sum())
        self.plain = factors is None
        self.factors = np.ones((n, 1)) if factors is None else np.asarray(factors, dtype=np.float64)
        self.profile, self.tolerance, self.lists, self.n_jobs = profile, tolerance, lists, n_jobs
        self.attraction, self.background, self.box = attraction, background, box
        self.indices, self.indptr = K.indices, K.indptr
        self.data = K.data.astype(np.float32)
        self.counts = np.diff(K.indptr)
        self.fast, self.plans = False, Plans()

    def value_and_grad(self, Z: Array) -> Evaluation:
        """The value, its gradient (n, q), and its parts by name.

        Infinite (so that a line search rejects the step) if there are many rows and the points have become too wide for
        the fast transform that was used at the previous point, or for sums over cells.
        """
        Z = np.asfortranarray(Z)  # whole columns: minima and sums over the rows take a tenth of the time
        middle = self.weights @ Z / self.total
        inside = (Z if self.box is None else np.clip(Z, self.box[0], self.box[1])) - middle
        Z = Z - middle
        apart_of = self._in_cells(inside) if self.lists is not None else self._by_transform(inside)
        if apart_of is None:
            return Evaluation(np.inf, np.zeros(Z.shape), {})
        columns = np.ascontiguousarray(Z.T, dtype=np.float32)
        blocks = [self._block(columns, part) for part in spans(len(Z), _ROWS)]
        apart, *together = run_tiles(lambda work: work(), [apart_of, *blocks], self.n_jobs)
        entropy, repulsion = apart
        repulsion[inside != Z] = 0.0
        spent = sum_in_order([np.array(part[0]) for part in together]) / self.total
        attraction = np.concatenate([part[1] for part in together])
        weighted = self.weights[:, None] * Z
        power = float(np.vdot(weighted, Z)) / self.total
        value = -entropy + self.attraction * float(spent) + self.background * power
        gradient = (4 * self.attraction * attraction - 2 * repulsion + 2 * self.background * weighted) / self.total
        terms = {"H(Z)": entropy, "bound of H(X,Z)": float(spent)}
        return Evaluation(value, np.ascontiguousarray(gradient), terms)

    def links(self, Z: Array) -> Array:
        """Edge weights ``P_ij u_ij`` of the stored pairs (nnz,), from which the multigrid preconditioner is built.

        The gradient of the attraction is 4a/N times the Laplacian of this graph, applied to Z. Without the repulsion
        and the change of u with Z, that Laplacian is the positive part of the Hessian.
        """
        columns = np.ascontiguousarray(Z.T, dtype=np.float32)
        parts = run_tiles(
            lambda part: self._weighed(*self._linked(columns, part)[:0:-1]), spans(len(Z), _ROWS), self.n_jobs
        )
        return np.concatenate([self.data[:0], *parts])

    def over(self, lists: CellLists) -> InformationBound:
        """The same objective with its sums over these lists of cells."""
        other = copy(self)
        other.lists = lists
        return other

    def sum_error(self, Z: Array) -> float:
        """The largest relative error of the sums over cells at ``Z`` (n, q), on 64 random rows."""
        inside = Z if self.box is None else np.clip(Z, self.box[0], self.box[1])
        factors = None if self.plain else self.factors
        sums = self._cell_sums(inside).sums
        return cell_sum_error(sums, inside, self.profile, weights=self.weights, factors=factors)

    def _in_cells(self, inside: Array) -> Callable[[], tuple[float, Array]] | None:
        """Repulsion as a task, by ``kernels.cell_sums``; None if points are too far apart for float32."""
        if not np.abs(inside).max() < _FARTHEST:
            return None

        def work() -> tuple[float, Array]:
            found = self._cell_sums(inside)
            return -float(self.weights @ np.log(found.sums)) / self.total, found.pushes

        return work

    def _cell_sums(self, inside: Array) -> CellSums:
        assert self.lists is not None
        return cell_sums(
            inside, self.lists, self.profile, weights=self.weights, factors=None if self.plain else self.factors,
            floor=self._floor(), n_jobs=self.n_jobs,
        )  # fmt: skip

    def _by_transform(self, inside: Array) -> Callable[[], tuple[float, Array]] | None:
        """Repulsion as a task, by transforms or over all pairs; None if only pairs are left, and they are too many."""
        transform = latent_sums(inside, self.profile, tolerance=self.tolerance, n_jobs=self.n_jobs, plans=self.plans)
        if self.fast and len(inside) > _MANY and isinstance(transform, PairSums):
            return None
        self.fast = isinstance(transform, FastSums)
        return lambda: self._apart(transform)

    def _apart(self, transform: FastSums | PairSums) -> tuple[float, Array]:
        """Repulsion: ``H`` and ``w Σ_r A_r [(P w A_r)/s + P(w A_r/s)]`` (n, q)."""
        A, w = self.factors, self.weights
        s = np.maximum(factored_sums(transform, A, w), self._floor())
        moved = factored_pulls(transform, A, 1 / s, w) * w[:, None]
        return -float(w @ np.log(s)) / self.total, moved

    def _floor(self) -> Array:
        """Lower bound of each row sum (n,): half of the row's own term."""
        return np.asarray(_FLOOR * self.weights * np.einsum("ir,ir->i", self.factors, self.factors))

    def _block(self, columns: Array, part: Slice) -> Callable[[], tuple[float, Array]]:
        """Attraction of a block of rows, as a task: ``Σ_ij P_ij (-log k_ij)`` and ``Σ_j P_ij u_ij (z_i - z_j)``."""

        def work() -> tuple[float, Array]:
            apart, R, P = self._linked(columns, part)
            spent = -float(np.dot(P, self.profile.log_value(R)))
            W = self._weighed(P, R)
            starts, counts = self.indptr[part] - self.indptr[part.start], self.counts[part]
            return spent, np.column_stack([_row_totals(W * difference, starts, counts) for difference in apart])

        return work

    def _linked(self, columns: Array, part: Slice) -> tuple[list[Array], Array, Array]:
        """For the stored pairs of some rows: ``z_i - z_j`` along each axis, the squared distance, and ``P_ij``."""
        stored = slice(self.indptr[part.start], self.indptr[part.stop])
        counts, others = self.counts[part], self.indices[stored]
        apart = [np.repeat(column[part], counts) - np.take(column, others) for column in columns]
        return apart, sum_in_order([difference * difference for difference in apart]), self.data[stored]

    def _weighed(self, P: Array, R: Array) -> Array:
        """``P_ij u_ij``; ``R`` is overwritten."""
        return P if self.profile is GAUSSIAN else P * self.profile.value(R)


def _row_totals(values: Array, starts: Array, counts: Array) -> Array:
    """Sum the values of each row (a row without pairs sums to 0)."""
    held = counts > 0
    totals = np.zeros(len(counts))
    if held.any():
        totals[held] = np.add.reduceat(values, starts[held])
    return totals

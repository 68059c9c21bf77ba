r"""Gram programs: maximise the variance of a point set under linear constraints ("rows") on its squared distances.

    maximise  tr K - ½ Σ_r σ_r s_r²     K = V Vᵀ (n, n), centred,     A d²(K) - s {=, ≤} b
    d²_e = K_ii - 2 K_ij + K_jj         over pairs e = (i, j);  A (R, p) sparse;  s = 0 in hard rows (σ = ∞)

Squared distances are linear in K, so this is a semidefinite program. Rows of A may be single pairs (semidefinite
embedding, Weinberger and Saul 2004; S4 1.7) or differences of pairs (steps of one action keep distances, S4 4.1).
With multipliers y, w = Aᵀy on the pairs and L(w) the graph Laplacian, the slack matrix is ``S = L(w) - J`` (J centring)
and every dual feasible y (S ⪰ 0, y ≥ 0 in ≤ rows) bounds what any point set can reach (S4 1.7's dual):

    tr K* ≤ bᵀy + Σ y²/(2σ)

The augmented Lagrangian at V, with penalties ρ and κ = σ/(ρ + σ) for the slack that is minimised out,

    f(V) = -|V|² + Σ_r (κ t̂² - y²)/(2ρ),   t̂ = y + ρ (A d² - b), its positive part in ≤ rows
    ∇f   = 2 (L(Aᵀt) - J) V,                t = κ t̂, the next multipliers
    ∇²f[U] = 2 (L(Aᵀt) - J) U + 2 L(Aᵀ ρκ A (2 D·DU)) V     D = differences of V over the pairs, active rows only

All quantities are in the program's unit: bounds are divided by their mean size, so squared distances are about 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array, csc_array, csr_array, diags_array, eye_array, kron

from sidelight.base.types import Array, SparseColumns, SparseMatrix

from .distance_rows import DistanceRows, count_pieces, mean_size, row_sizes

__all__ = ["AugmentedPoint", "GramProgram", "gram_program"]


_FLOOR = 0.1  # least weight of a pair in the preconditioner, as a share of the mean; else an unbound point runs away


@dataclass(frozen=True, eq=False)
class GramProgram(DistanceRows):
    """Gram program in its unit; made by :func:`gram_program`.

    Parameters
    ----------
    n : int
        Number of points.
    pairs : array of shape (p, 2)
    rows : sparse array of shape (R, p)
        A.
    bounds, equal, weights : arrays of shape (R,)
        b, whether ``=`` or ``≤``, and σ.
    unit : float
        Squared length that is 1 in the program.
    """

    n: int
    pairs: Array
    rows: SparseMatrix
    bounds: Array
    equal: Array
    weights: Array
    unit: float

    @cached_property
    def incidence(self) -> SparseMatrix:
        """Incidence matrix B (p, n), ``(B V)_e = v_i - v_j``."""
        p = len(self.pairs)
        where = np.r_[np.arange(p), np.arange(p)], np.r_[self.pairs[:, 0], self.pairs[:, 1]]
        return csr_array(coo_array((np.r_[np.ones(p), -np.ones(p)], where), shape=(p, self.n)))

    @cached_property
    def transposed(self) -> tuple[SparseMatrix, SparseMatrix]:
        """Bᵀ and Aᵀ."""
        return csr_array(self.incidence.T), csr_array(self.rows.T)

    @cached_property
    def sizes(self) -> Array:
        """Typical squared distance of each row (R,), by which penalties are divided."""
        return row_sizes(self.bounds)

    @property
    def n_pieces(self) -> int:
        """Number of connected components of the points, linked by pairs that occur in a row."""
        used = np.asarray(abs(self.rows).sum(axis=0)).ravel() > 0
        return count_pieces(self.pairs[used], self.n)

    def residual(self, V: Array) -> Array:
        """``A d²(V) - b`` (R,)."""
        D = self.incidence @ V
        return np.asarray(self.rows @ np.einsum("pq,pq->p", D, D) - self.bounds)

    def laplacian(self, y: Array) -> SparseColumns:
        """``L(Aᵀy)`` (n, n)."""
        return self.weighted(np.asarray(self.transposed[1] @ y))

    def weighted(self, w: Array) -> SparseColumns:
        """Graph Laplacian L(w) (n, n) for weights (p,) on the pairs."""
        return csc_array(self.transposed[0] @ (diags_array(w) @ self.incidence))

    def augmented(self, V: Array, y: Array, rho: Array, weights: Array | None = None) -> AugmentedPoint:
        """The augmented Lagrangian at a centred V (n, r)."""
        D = self.incidence @ V
        residual = self.rows @ np.einsum("pq,pq->p", D, D) - self.bounds
        return AugmentedPoint(self, V, D, *self.multipliers(V, residual, y, rho, weights))


@dataclass(frozen=True, eq=False)
class AugmentedPoint:
    """The augmented Lagrangian f at V: value, next multipliers t (R,), and stiffness ρκ of the active rows (R,)."""

    program: GramProgram
    V: Array
    D: Array
    multipliers: Array
    stiffness: Array
    value: float

    @cached_property
    def pair_weights(self) -> Array:
        """``Aᵀt`` (p,)."""
        return np.asarray(self.program.transposed[1] @ self.multipliers)

    @cached_property
    def gradient(self) -> Array:
        """∇f (n, r)."""
        return np.asarray(2 * (self.program.transposed[0] @ (self.pair_weights[:, None] * self.D)) - 2 * self.V)

    def turned(self, R: Array) -> AugmentedPoint:
        """The same point with rotated columns ``V R`` (R orthogonal): f does not change."""
        return AugmentedPoint(self.program, self.V @ R, self.D @ R, self.multipliers, self.stiffness, self.value)

    def product(self, U: Array) -> Array:
        """Hessian-vector product ∇²f[U] (n, r)."""
        back, spread = self.program.transposed
        DU = self.program.incidence @ U
        moved = self.program.rows @ (2 * np.einsum("pq,pq->p", self.D, DU))
        change = spread @ (self.stiffness * moved)
        return np.asarray(2 * (back @ (self.pair_weights[:, None] * DU + change[:, None] * self.D)) - 2 * U)

    def curvature(self, main: int) -> tuple[SparseColumns, SparseColumns]:
        """Positive definite approximations of ∇²f: for the first ``main`` columns (interleaved), and for one other.

        The Gauss-Newton part of the rows is exact; the Laplacian has its weights made positive; -2 I is left out.
        """
        program, n = self.program, self.program.n
        size = np.abs(self.pair_weights)
        base = program.weighted(2 * np.maximum(size, max(_FLOOR * float(size.mean()), 1e-3)))
        shift = 1e-6 * float(base.diagonal().mean())
        p = len(program.pairs)
        columns = program.pairs[:, :, None] * main + np.arange(main)
        entries = self.D[:, None, :main] * np.array([1.0, -1.0])[:, None]
        where = np.repeat(np.arange(p), 2 * main), columns.ravel()
        change = csr_array(coo_array((entries.ravel(), where), shape=(p, n * main)))
        G = diags_array(2 * np.sqrt(self.stiffness)) @ (program.rows @ change)
        grounded = base + shift * eye_array(n)
        whole = csc_array(kron(grounded, eye_array(main)) + G.T @ G)
        return whole, csc_array(grounded)


def gram_program(
    pairs: npt.ArrayLike,
    bounds: npt.ArrayLike,
    n: int,
    *,
    rows: npt.ArrayLike | SparseMatrix | None = None,
    equal: npt.ArrayLike = False,
    weights: npt.ArrayLike = np.inf,
) -> GramProgram:
    """Build a Gram program, scaled to its unit.

    Parameters
    ----------
    pairs : array of shape (p, 2)
        Pairs of points.
    bounds : array of shape (R,)
        b, in squared units.
    n : int
        Number of points.
    rows : array or csr_array of shape (R, p) or None
        A; None: each pair is a row.
    equal : bool or array of shape (R,)
        ``=`` or ``≤``.
    weights : float or array of shape (R,)
        σ of soft rows, for slack and trace in the program's unit (``unit``: the mean size of bounds that are not 0);
        inf: hard.

    Examples
    --------
    >>> program = gram_program([[0, 1], [1, 2]], [4.0, 4.0], 3)
    >>> program.unit, program.bounds.tolist(), program.n_pieces
    (4.0, [1.0, 1.0], 1)
    """
    pairs = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
    bounds = np.asarray(bounds, dtype=np.float64)
    unit = mean_size(bounds)
    if rows is None:
        A = csr_array(eye_array(len(pairs)))
    else:
        A = csr_array(rows.astype(np.float64) if isinstance(rows, csr_array) else np.asarray(rows, dtype=np.float64))
    if A.shape != (len(bounds), len(pairs)):
        raise ValueError(f"rows of shape {A.shape} do not fit {len(bounds)} bounds and {len(pairs)} pairs")
    equals = np.broadcast_to(np.asarray(equal, dtype=bool), bounds.shape)
    soft = np.broadcast_to(np.asarray(weights, dtype=np.float64), bounds.shape)
    return GramProgram(n, pairs, A, bounds / unit, equals, soft, unit)

r"""Gram programs with classes of pairs of equal distance: the same action at two points preserves their distance.

    maximise  tr K - ½ Σ_r σ_r s_r²     K = V Vᵀ (n, n), centred
    ḡ_c - s {=, ≤} b                    for some classes c,  ḡ_c = mean of d²_e over the pairs e of the class
    d²_e - ḡ_c = 0                      for every pair of a class (S4 4.4, all rows of it)

This is :mod:`.gram` with rows ``A = [M; I - MᵀM′]`` (M the class means) that are never stored: A and Aᵀ are one
``bincount`` each, and d² of all pairs is one matrix product. So a program over all pairs of n points costs O(n² r) per
step, where its rows would take O(n³) memory and more. A class needs one bound, its smallest, as the ties pass it on.

Penalties of deviation rows are divided by the largest squared distance their class can have (squared shortest path).
Multipliers are in the order of the rows: first those of the classes, then those of the pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import coo_array, csc_array, csr_array

from sidelight.base.types import Array, SparseColumns

from .distance_rows import DistanceRows, count_pieces, mean_size, row_sizes

__all__ = ["TiedPoint", "TiedProgram", "tied_program"]


_CHUNK = 2**24  # numbers held at once
_FLOOR = 0.1  # as in gram.py: least weight of a pair in the preconditioner, as a share of the mean weight


@dataclass(frozen=True, eq=False)
class TiedProgram(DistanceRows):
    """Gram program over classes of pairs, in the program's unit; made by :func:`tied_program`.

    Parameters
    ----------
    n : int
        Number of points.
    pairs : array of shape (p, 2)
        All pairs of points.
    tied : array of shape (p,)
        Class of each pair.
    members : array of shape (C,)
        Number of pairs of each class.
    row_class : array of shape (k,)
        Classes with a bound.
    reach : array of shape (C,)
        About the largest squared distance of each class.
    bounds, equal, weights : arrays of shape (R,)
        Of all rows: b, whether ``=`` or ``≤``, and σ.
    unit : float
        Squared length that is 1 in the program.
    """

    n: int
    pairs: Array
    tied: Array
    members: Array
    row_class: Array
    reach: Array
    bounds: Array
    equal: Array
    weights: Array
    unit: float

    @cached_property
    def deviating(self) -> Array:
        """Indices of the pairs with a deviation row: those of classes with two or more pairs."""
        return np.flatnonzero(self.members[self.tied] > 1)

    @cached_property
    def used(self) -> Array:
        """Which pairs (p,) occur in a row: their class is bounded, or has two or more pairs."""
        held = self.members > 1
        held[self.row_class] = True
        return np.asarray(held[self.tied])

    @cached_property
    def flat(self) -> Array:
        """Position of each pair (p,) in a flattened (n, n) matrix."""
        return np.asarray(self.pairs[:, 0] * self.n + self.pairs[:, 1])

    @cached_property
    def sizes(self) -> Array:
        """Typical squared distance of each row (R,), by which penalties are divided."""
        own = row_sizes(self.bounds[: len(self.row_class)])
        return np.asarray(np.r_[own, self.reach[self.tied[self.deviating]]])

    @property
    def n_pieces(self) -> int:
        """Number of connected components of the points, linked by pairs of bounded classes."""
        held = np.zeros(len(self.members), dtype=bool)
        held[self.row_class] = True
        return count_pieces(self.pairs[held[self.tied]], self.n)

    def squares(self, V: Array, U: Array | None = None) -> Array:
        """``(v_i - v_j)ᵀ(u_i - u_j)`` over the pairs (p,); without U the squared distances of V."""
        i, j = self.pairs.T
        C = V @ (V if U is None else U).T
        own = C.diagonal()
        both = 2 * C.ravel()[self.flat] if U is None else C.ravel()[self.flat] + C.ravel()[j * self.n + i]
        return np.asarray(own[i] + own[j] - both)

    def applied(self, squares: Array) -> Array:
        """``A d²`` (R,) of values on the pairs."""
        mean = np.bincount(self.tied, squares, len(self.members)) / self.members
        here = self.deviating
        return np.asarray(np.r_[mean[self.row_class], squares[here] - mean[self.tied[here]]])

    def spread(self, y: Array) -> Array:
        """``Aᵀ y`` (p,) of values on the rows."""
        here, k = self.deviating, len(self.row_class)
        weights = np.zeros(len(self.pairs))
        weights[here] = y[k:]
        share = np.bincount(self.row_class, y[:k], len(self.members))
        share -= np.bincount(self.tied[here], y[k:], len(self.members))
        return np.asarray(weights + (share / self.members)[self.tied])

    def multipliers_of(self, w: Array) -> Array:
        """Multipliers (R,) y with ``Aᵀ y = w`` (p,); classes without a bound cannot be matched exactly."""
        total = np.bincount(self.tied, w, len(self.members))
        here = self.deviating
        return np.asarray(np.r_[total[self.row_class], w[here] - (total / self.members)[self.tied[here]]])

    def residual(self, V: Array) -> Array:
        """``A d²(V) - b`` (R,)."""
        return self.applied(self.squares(V)) - self.bounds

    def weighted(self, w: Array) -> Array:
        """Dense graph Laplacian L(w) (n, n) for weights (p,) on the pairs."""
        W = np.zeros((self.n, self.n))
        W.ravel()[self.flat] = -w
        W += W.T
        W.ravel()[:: self.n + 1] = -W.sum(axis=1)
        return W

    def laplacian(self, y: Array) -> SparseColumns:
        """``L(Aᵀy)`` (n, n)."""
        return csc_array(self.weighted(self.spread(y)))

    def augmented(self, V: Array, y: Array, rho: Array, weights: Array | None = None) -> TiedPoint:
        """The augmented Lagrangian at a centred V (n, r); ρ must be equal over the deviations of a class."""
        return TiedPoint(self, V, *self.multipliers(V, self.residual(V), y, rho, weights))


@dataclass(frozen=True, eq=False)
class TiedPoint:
    """The augmented Lagrangian f at V: value, next multipliers t (R,), and stiffness ρκ of the active rows (R,)."""

    program: TiedProgram
    V: Array
    multipliers: Array
    stiffness: Array
    value: float

    @cached_property
    def pair_weights(self) -> Array:
        """``Aᵀt`` (p,)."""
        return self.program.spread(self.multipliers)

    @cached_property
    def slack(self) -> Array:
        """``L(Aᵀt)`` (n, n)."""
        return self.program.weighted(self.pair_weights)

    @cached_property
    def gradient(self) -> Array:
        """∇f (n, r)."""
        return np.asarray(2 * (self.slack @ self.V) - 2 * self.V)

    def turned(self, R: Array) -> TiedPoint:
        """The same point with rotated columns ``V R`` (R orthogonal): f does not change."""
        point = TiedPoint(self.program, self.V @ R, self.multipliers, self.stiffness, self.value)
        vars(point).update({name: made for name, made in vars(self).items() if name in ("pair_weights", "slack")})
        return point

    def product(self, U: Array) -> Array:
        """Hessian-vector product ∇²f[U] (n, r)."""
        program = self.program
        moved = program.applied(2 * program.squares(self.V, U))
        change = program.weighted(program.spread(self.stiffness * moved))
        return np.asarray(2 * (self.slack @ U + change @ self.V) - 2 * U)

    def curvature(self, main: int) -> tuple[SparseColumns, SparseColumns]:
        """Positive definite approximations of ∇²f: for the first ``main`` columns (interleaved), and for one other.

        The Gauss-Newton part of the rows is exact; the Laplacian has its weights made positive; -2 I is left out.
        """
        program, n = self.program, self.program.n
        size, used = np.abs(self.pair_weights), program.used
        floor = max(_FLOOR * float(size[used].mean()), 1e-3)
        base = program.weighted(2 * np.where(used, np.maximum(size, floor), 0.0))
        base.ravel()[:: n + 1] += 1e-6 * float(base.diagonal().mean())
        whole = self._of_pairs(main)
        whole += self._of_classes(main)
        for column in range(main):
            whole[column::main, column::main] += base
        return csc_array(whole), csc_array(base)

    def _of_pairs(self, main: int) -> Array:
        """Gauss-Newton matrix ``4 Σ_e ρκ (v_i - v_j)(v_i - v_j)ᵀ`` of the deviating pairs (n main, n main)."""
        program, V = self.program, self.V[:, :main]
        stiff = np.zeros(len(program.pairs))
        stiff[program.deviating] = self.stiffness[len(program.row_class) :]
        whole = np.empty((program.n, main, program.n, main))
        W = -program.weighted(4 * stiff)
        W.ravel()[:: program.n + 1] = 0.0
        for a in range(main):
            for b in range(a + 1):
                block = W * (V[:, None, a] - V[None, :, a]) * (V[:, None, b] - V[None, :, b])
                block = np.diag(block.sum(axis=1)) - block
                whole[:, a, :, b] = block
                whole[:, b, :, a] = block
        return whole.reshape(program.n * main, program.n * main)

    def _of_classes(self, main: int) -> Array:
        """Gauss-Newton matrix of the class means: of their bounds, less the mean part of the deviation rows."""
        program, V = self.program, self.V[:, :main]
        k = len(program.row_class)
        gain = np.bincount(program.row_class, self.stiffness[:k], len(program.members)) / program.members**2
        at = program.deviating
        stiff = np.zeros(len(program.members))
        stiff[program.tied[at]] = self.stiffness[k:]
        gain = 4 * (gain - stiff / program.members)
        D = V[program.pairs[:, 0]] - V[program.pairs[:, 1]]
        columns = (program.pairs[:, :, None] * main + np.arange(main)).reshape(-1)
        entries = (D[:, None, :] * np.array([1.0, -1.0])[:, None]).ravel()
        rows = np.repeat(program.tied, 2 * main)
        Q = csr_array(coo_array((entries, (rows, columns)), shape=(len(gain), program.n * main)))
        Q = Q[np.flatnonzero(gain)]
        gain = gain[gain != 0]
        whole = np.zeros((program.n * main, program.n * main))
        many = max(1, _CHUNK // (program.n * main))
        for start in range(0, len(gain), many):
            some = Q[start : start + many].toarray()  # dense: a sparse product of these took ten times as long
            whole += some.T @ (gain[start : start + many, None] * some)
        return whole


def tied_program(
    tied: object,
    n: int,
    *,
    classes: object,
    bounds: object,
    reach: object,
    equal: object = False,
    weights: object = np.inf,
) -> TiedProgram:
    """Build a Gram program over classes of pairs, scaled to its unit.

    Parameters
    ----------
    tied : array of shape (n (n - 1) / 2,)
        The class of each pair (0, 1), (0, 2), ..., (1, 2), ...: 0 to C - 1, none empty.
    n : int
        Number of points.
    classes, bounds : arrays of shape (k,)
        Classes with a bound, and b in squared units.
    reach : array of shape (C,)
        About the largest squared distance of each class.
    equal : bool or array of shape (k,)
        ``=`` or ``≤``.
    weights : float or array of shape (k,)
        σ of soft bounds, for slack and trace in the program's unit (the mean of bounds that are not 0); inf: hard.

    Examples
    --------
    >>> program = tied_program([0, 1, 0], 3, classes=[0], bounds=[4.0], reach=[4.0, 16.0])
    >>> program.unit, program.bounds.tolist(), program.n_pieces
    (4.0, [1.0, 0.0, 0.0], 1)
    """
    pairs = np.column_stack(np.triu_indices(n, 1))
    tied, classes = np.asarray(tied, dtype=np.int64), np.asarray(classes, dtype=np.int64)
    bounds = np.asarray(bounds, dtype=np.float64)
    unit = mean_size(bounds)
    members = np.bincount(tied, minlength=len(np.asarray(reach)))
    free = int((members[tied] > 1).sum())
    equals = np.broadcast_to(np.asarray(equal, dtype=bool), bounds.shape)
    soft = np.broadcast_to(np.asarray(weights, dtype=np.float64), bounds.shape)
    return TiedProgram(
        n, pairs, tied, members, classes, np.asarray(reach) / unit, np.r_[bounds / unit, np.zeros(free)],
        np.r_[equals, np.ones(free, dtype=bool)], np.r_[soft, np.full(free, np.inf)], unit,
    )  # fmt: skip

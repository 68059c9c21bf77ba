"""A lower bound of the information between data and map, near-linear in the number of rows.

The Parzen information H(Z) - H(X, Z) has the logarithm of a sum over neighbours. With rows p_i of the data kernel that
sum to 1, Jensen's inequality bounds it from below by the sum of logarithms, and what is left over all pairs is H(Z):

    -H(X, Z) = (1/n) Σ_i log Σ_j p_ij k_ij  ≥  (1/n) Σ_ij p_ij log k_ij

    minimise  (1/N) Σ_i w_i log s_i  +  (a/N) Σ_ij P_ij (-log k_ij)  +  (ε/N) Σ_i w_i |z_i|²

    s_i = Σ_j w_j G_ij k_ij,    G_ij = Σ_r A_ir A_jr  (1 without ``given``)

At a = 1 it is the bound (with a Student profile, and one normaliser for all rows instead of one each, it would be
t-SNE); what a has above 1 is the stretch penalty in the latent profile's own yardstick. The bound wants *all*
neighbours of a row near it, where the information is content with one: its map is the tighter one (decision 0015).

A row of weight w stands for w rows at one place (``solvers.levels``), N = Σ w, and P of all rows sums to N (that of
merged rows to less, as members have no distance to each other): an objective on merged rows is the one on all rows,
restricted. ``A`` (n, r) factors the kernel of what is given, and H(Z) becomes H(G, Z).

Rows that hardly anything holds would wander off, a few in ten thousand, and a transform pays for the box they make. So
there may be a ``box`` (2, q): beyond it a row is repelled no further, as s is taken at its nearest point of the box.

Gradients, with P the pulls of ``kernels.pair_sums`` and u = -d log k / d(r²):

    -(2/N) w_i Σ_r A_ir [ (P w A_r)_i / s_i + (P (w A_r / s))_i ]  +  (4a/N) Σ_j P_ij u_ij (z_i - z_j)

Shapes: Z (n, q), P sparse symmetric (n, n). Cost of an evaluation: (q + 3) r transforms and O(nnz q); memory O(nnz).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from sidelight.base.messages import complain
from sidelight.base.tiles import added, run_tiles, spans
from sidelight.kernels.gauss_transform import FastSums
from sidelight.kernels.pair_sums import PairSums, factored_pulls, factored_sums, latent_sums
from sidelight.kernels.profiles import BOUND_PROFILES, GAUSSIAN, Profile

from .evaluation import Evaluation

__all__ = ["InformationBound"]

Array = npt.NDArray[Any]
_ROWS = 4096  # of a block of stored pairs
_MANY = 20_000  # rows: a step that throws points further than a transform can hold is not tried pair by pair
_FLOOR = 0.5  # a row sum holds the row's own weight, so that much less is an error of the transform


class InformationBound:
    """The negative of the bound with attraction ``a``, and its gradient."""

    def __init__(
        self,
        K: csr_array,
        profile: Profile,
        *,
        weights: Array | None = None,
        factors: Array | None = None,
        attraction: float = 1.5,
        background: float = 1e-5,
        box: Array | None = None,
        tolerance: float | None = 1e-3,
        n_jobs: int | None = None,
    ) -> None:
        if profile.name not in BOUND_PROFILES:  # ``_weighed`` has -d log k / dr² of these only
            rule, remedy = "has no bound here", f"Use one of {', '.join(BOUND_PROFILES)}"
            raise ValueError(complain("InformationBound", "profile", profile.name, rule, remedy))
        n = K.shape[0]
        self.weights = np.ones(n) if weights is None else np.asarray(weights, dtype=np.float64)
        self.total = float(self.weights.sum())
        self.factors = np.ones((n, 1)) if factors is None else np.asarray(factors, dtype=np.float64)
        self.profile, self.tolerance, self.n_jobs = profile, tolerance, n_jobs
        self.attraction, self.background, self.box = attraction, background, box
        self.indices, self.indptr = K.indices, K.indptr
        self.data = K.data.astype(np.float32)
        self.counts = np.diff(K.indptr)
        self.fast = False

    def value_and_grad(self, Z: Array) -> Evaluation:
        """The value, its gradient (n, q), and its parts by name.

        Infinite at points of many rows so far apart that the transform that served the point before cannot hold them.
        """
        middle = np.average(Z, axis=0, weights=self.weights)
        inside = (Z if self.box is None else np.clip(Z, self.box[0], self.box[1])) - middle
        Z = Z - middle
        transform = latent_sums(inside, self.profile, tolerance=self.tolerance, n_jobs=self.n_jobs)
        if self.fast and len(Z) > _MANY and isinstance(transform, PairSums):
            return Evaluation(np.inf, np.zeros(Z.shape), {})
        self.fast = isinstance(transform, FastSums)
        columns = np.ascontiguousarray(Z.T, dtype=np.float32)
        blocks = [self._block(columns, part) for part in spans(len(Z), _ROWS)]
        apart, *together = run_tiles(lambda work: work(), [lambda: self._apart(transform), *blocks], self.n_jobs)
        entropy, repulsion = apart
        repulsion[inside != Z] = 0.0
        spent = added([np.array(part[0]) for part in together]) / self.total
        attraction = np.concatenate([part[1] for part in together])
        weighted = self.weights[:, None] * Z
        power = float(np.vdot(weighted, Z)) / self.total
        value = -entropy + self.attraction * float(spent) + self.background * power
        gradient = (4 * self.attraction * attraction - 2 * repulsion + 2 * self.background * weighted) / self.total
        return Evaluation(value, gradient, {"H(Z)": entropy, "bound of H(X,Z)": float(spent)})

    def links(self, Z: Array) -> Array:
        """``P_ij u_ij`` of the stored pairs (nnz,): attraction is 4a/N times the Laplacian of this graph, applied to Z.

        Without what repels and what u changes with Z, that Laplacian is the positive part of the Hessian.
        """
        columns = np.ascontiguousarray(Z.T, dtype=np.float32)
        parts = run_tiles(
            lambda part: self._weighed(*self._linked(columns, part)[:0:-1]), spans(len(Z), _ROWS), self.n_jobs
        )
        return np.concatenate([self.data[:0], *parts])

    def _apart(self, transform: FastSums | PairSums) -> tuple[float, Array]:
        """``H`` and ``w Σ_r A_r [(P w A_r)/s + P(w A_r/s)]`` (n, q)."""
        A, w = self.factors, self.weights
        s = np.maximum(factored_sums(transform, A, w), _FLOOR * w * np.einsum("ir,ir->i", A, A))
        moved = factored_pulls(transform, A, 1 / s, w) * w[:, None]
        return -float(w @ np.log(s)) / self.total, moved

    def _block(self, columns: Array, part: slice) -> Callable[[], tuple[float, Array]]:
        """Some rows' ``Σ_j P_ij (-log k_ij)``, summed, and ``Σ_j P_ij u_ij (z_i - z_j)``."""

        def work() -> tuple[float, Array]:
            apart, R, P = self._linked(columns, part)
            spent = -float(np.dot(P, self.profile.log_value(R)))
            W = self._weighed(P, R)
            starts, counts = self.indptr[part] - self.indptr[part.start], self.counts[part]
            return spent, np.column_stack([_row_totals(W * difference, starts, counts) for difference in apart])

        return work

    def _linked(self, columns: Array, part: slice) -> tuple[list[Array], Array, Array]:
        """Of the stored pairs of some rows: ``z_i - z_j`` for each axis, its square, and ``P_ij``."""
        stored = slice(self.indptr[part.start], self.indptr[part.stop])
        counts, others = self.counts[part], self.indices[stored]
        apart = [np.repeat(column[part], counts) - np.take(column, others) for column in columns]
        return apart, added([difference * difference for difference in apart]), self.data[stored]

    def _weighed(self, P: Array, R: Array) -> Array:
        """``P_ij u_ij``; ``R`` is used up."""
        return P if self.profile is GAUSSIAN else P * self.profile.value(R)


def _row_totals(values: Array, starts: Array, counts: Array) -> Array:
    """Sum the values of each row (a row without pairs sums to 0)."""
    held = counts > 0
    totals = np.zeros(len(counts))
    if held.any():
        totals[held] = np.add.reduceat(values, starts[held])
    return totals

"""Dual upper bound on the optimum of a Gram program (``objectives.gram``), from any multipliers y.

With λ the smallest eigenvalue of L(Aᵀy) on centred vectors, y/λ is dual feasible when λ > 0 (S = L(Aᵀy/λ) - J ⪰ 0), and

    value* ≤ bᵀy/λ + Σ y²/(2 σ λ²)

λ comes from shift-invert Lanczos (for small programs, from the whole spectrum). It is then lowered until the inertia
of ``L - λI`` proves that no centred eigenvalue lies below it. So the bound holds even if Lanczos missed an eigenvalue.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.sparse import csc_array, eye_array
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from sidelight.base.eigenvalues import fixed_restarts, selected_pairs
from sidelight.base.types import Array, SparseColumns

from .factor import factored, n_negative_eigenvalues

__all__ = ["DistanceProgram", "Slack", "dual_bound", "smallest_slack"]


_DENSE = 300  # points up to which a dense eigensolver is used
_WANTED = 4


class DistanceProgram(Protocol):
    """Interface that the solvers of Gram programs share: rows with bounds on squared distances, values and duals."""

    @property
    def n(self) -> int:
        """Number of points."""
        ...

    @property
    def bounds(self) -> Array:
        """Bounds b of the rows (R,), in program units."""
        ...

    @property
    def equal(self) -> Array:
        """Which rows are equalities (R,); the others are upper bounds."""
        ...

    @property
    def weights(self) -> Array:
        """Weights σ of the slack of each row (R,); inf: none, the row is hard."""
        ...

    @property
    def unit(self) -> float:
        """One program unit of squared distance, in the units of the data."""
        ...

    @property
    def sizes(self) -> Array:
        """Size of each row (R,), by which its violation is judged."""
        ...

    @property
    def n_pieces(self) -> int:
        """Pieces that no row holds together."""
        ...

    def violation(self, V: Array) -> Array:
        """Violation of each row (R,) at V (n, r), 0 where it holds."""
        ...

    def laplacian(self, y: Array) -> SparseColumns:
        """The Laplacian L(Aᵀy) (n, n) of multipliers y (R,)."""
        ...

    def dual_value(self, y: Array, weights: Array | None = None) -> float:
        """Dual objective of dual feasible multipliers y (R,)."""
        ...

    def value(self, V: Array, weights: Array | None = None) -> float:
        """Primal objective at V (n, r)."""
        ...


@dataclass(frozen=True)
class Slack:
    """The smallest eigenvalues (k,) of ``S = L - J`` on centred vectors, and their vectors (n, k)."""

    values: Array
    vectors: Array


def smallest_slack(L: SparseColumns) -> Slack | None:
    """Smallest eigenpairs of ``L - J`` on centred vectors, for a Laplacian L (n, n); None if not confirmed."""
    n = L.shape[0]
    if n <= _DENSE:
        dense = L.toarray() + (2.0 * float(abs(L).sum(axis=0).max()) + 1.0) / n  # moves the constant vector to the top
        values, vectors = selected_pairs(dense, 0, min(_WANTED, n - 1) - 1)
        return Slack(values - 1.0, vectors)
    below = _below_all(L)
    if below is None:
        return None
    found = _lanczos(L, below)
    return None if found is None else _confirmed(L, found)


def dual_bound(program: DistanceProgram, y: Array, slack: Slack | None, weights: Array) -> float:
    """Upper bound on the optimal value of the program.

    Parameters
    ----------
    program : Gram program
    y : array of shape (R,)
        Multipliers of its rows.
    slack : Slack or None
        From :func:`smallest_slack` of ``program.laplacian(y)``.
    weights : array of shape (R,)
        Weights σ of the slack of each row.

    Returns
    -------
    float
        inf if ``slack`` is None or y cannot be scaled to be dual feasible (λ ≤ 1e-9).
    """
    if slack is None or 1.0 + slack.values[0] <= 1e-9:
        return np.inf
    return program.dual_value(y / (1.0 + slack.values[0]), weights)


def _below_all(L: SparseColumns) -> float | None:
    """A shift below all eigenvalues of L, checked by the inertia of ``L - shift I`` (else a norm bound)."""
    shift, lowest = -0.1, -2.0 * float(abs(L).sum(axis=0).max()) - 1.0
    while shift > lowest:
        if n_negative_eigenvalues(csc_array(L - shift * eye_array(L.shape[0]))) == 0:
            return shift
        shift *= 10.0
    return lowest


def _lanczos(L: SparseColumns, shift: float) -> Slack | None:
    """Smallest eigenpairs of ``L - J`` on centred vectors by shift-invert Lanczos; None if none converged."""
    n = L.shape[0]
    try:
        solve = factored(csc_array(L - shift * eye_array(n)))
    except (RuntimeError, np.linalg.LinAlgError):
        return None

    def apply(v: Array) -> Array:
        v = np.asarray(v).ravel()
        x = solve(v - v.mean())
        return np.asarray(x - x.mean())

    operator = LinearOperator((n, n), matvec=apply, dtype=np.float64)
    start = np.cos(np.arange(n) * 0.7 + 0.3)  # fixed, and not orthogonal to anything in particular
    try:
        inverse, vectors = eigsh(operator, k=_WANTED, which="LA", v0=start, tol=1e-5, maxiter=200, **fixed_restarts())
    except ArpackNoConvergence as partial:
        inverse, vectors = partial.eigenvalues, partial.eigenvectors
    if not len(inverse):
        return None
    order = np.argsort(-inverse, kind="stable")
    return Slack(1.0 / inverse[order] + shift - 1.0, vectors[:, order])


def _confirmed(L: SparseColumns, found: Slack) -> Slack | None:
    """``found`` with its smallest eigenvalue lowered until the inertia proves that no centred one lies below it."""
    smallest = float(found.values[0]) + 1.0
    margin = 1e-4 * max(abs(smallest), 1e-2)
    for _ in range(12):
        level = smallest - margin
        if n_negative_eigenvalues(csc_array(L - level * eye_array(L.shape[0]))) == int(level > 0):
            return Slack(np.r_[level - 1.0, found.values[1:]], found.vectors)
        margin *= 4.0
    return None

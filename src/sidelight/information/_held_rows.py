"""Settle some rows of a map while the others are held: minimise the bound over the free rows only.

    minimise over Z_free   f(Z)                                    the others are fixed, to the bit
    or over all Z          f(Z) + h / (2N) Σ_held |z_i - z_i⁰|²    held rows may move: the larger h, the less

f is ``objectives.bound`` on all N rows. Where rows are fixed, each free row has neighbours that stay, so that large
motions, for which fits need levels, do not occur: the curvature of each row's own attraction is preconditioner enough,

    c_i = (4a/N) Σ_j P_ij u_ij + h/N
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array

from sidelight.base.result import Result, Status
from sidelight.base.types import Array, SparseMatrix
from sidelight.kernels.profiles import Profile
from sidelight.objectives.bound import InformationBound
from sidelight.objectives.evaluation import Evaluation
from sidelight.solvers.lbfgs import minimise

from ._level_sums import in_rounds, level_error, level_tolerance

__all__ = ["HeldRows", "SettledRows", "settle_rows"]

_LEAST_CURVATURE = 0.01  # of the attraction of a whole row at distance 0: rows that hardly attract take no long steps
_ROOM = 0.05  # of the width of the starting places: as far beyond them rows are still repelled


@dataclass(frozen=True)
class HeldRows:
    """Which rows are held, and how.

    Parameters
    ----------
    free : array of bool, of shape (N,)
        Rows that have no place yet.
    hold : float or None
        Weight h of the penalty on motions of the other rows; None: these are fixed.
    """

    free: Array
    hold: float | None = None


@dataclass(frozen=True)
class SettledRows:
    """Latent points (N, q), the relative error of the latent sums there, and whether Ctrl-C ended the search."""

    places: Array
    sum_error: float
    interrupted: bool


def settle_rows(
    K: SparseMatrix,
    factors: Array | None,
    start: Array,
    held: HeldRows,
    profile: Profile,
    attraction: float,
    *,
    max_iter: int,
    tolerance: float,
    n_jobs: int | None,
) -> SettledRows:
    """Minimise the bound over the free rows, or over all rows with a penalty.

    Parameters
    ----------
    K : sparse array of shape (N, N)
        Symmetric data kernel of all rows.
    factors : array of shape (N, r) or None
        Of the kernel of ``given``.
    start : array of shape (N, q)
        Places of the held rows, and starts of the free ones.
    held : HeldRows
    profile : Profile
        Of the latent kernel.
    attraction : float
        Weight a of the attraction.
    max_iter, tolerance
        Of the minimisation.
    n_jobs : int or None
        Threads.

    Notes
    -----
    Near-linear in N for each evaluation, of which there are up to about twice ``max_iter``.
    """
    n = len(start)
    K = csr_array(K * (n / float(K.sum())))
    low, high = start.min(axis=0), start.max(axis=0)
    room = _ROOM * (high - low)
    objective = InformationBound(
        K, profile, factors=factors, attraction=attraction, box=np.array([low - room, high + room]),
        tolerance=level_tolerance(start, profile, n_jobs), n_jobs=n_jobs,
    )  # fmt: skip
    if not held.free.any() and held.hold is None:
        return SettledRows(start, level_error(objective, start, n_jobs), False)
    found, objective = in_rounds(objective, start, K, _minimiser(K, start, held, tolerance), max_iter)
    error = level_error(objective, found.point, n_jobs)
    return SettledRows(found.point, error, found.status is Status.INTERRUPTED)


def _minimiser(
    K: SparseMatrix, start: Array, held: HeldRows, tolerance: float
) -> Callable[[InformationBound, Array, int, int], Result]:
    """The function that minimises an objective of all rows over those that may move."""
    hold, kept = 0.0 if held.hold is None else held.hold, ~held.free
    moving = held.free if held.hold is None else np.ones(len(start), dtype=bool)
    n = len(start)

    def minimised(objective: InformationBound, Z: Array, max_iter: int, before: int) -> Result:
        del before

        def whole(free: Array) -> Array:
            out = np.array(Z)
            out[moving] = free
            return out

        def value_and_grad(free: Array) -> Evaluation:
            at = whole(free)
            value, grad, terms = objective.value_and_grad(at)
            if hold:
                apart = np.where(kept[:, None], at - start, 0.0)
                value += 0.5 * hold / n * float(np.vdot(apart, apart))
                grad = grad + hold / n * apart
            return Evaluation(value, grad[moving], terms)

        def inverse_at(free: Array) -> Callable[[Array], Array]:
            links = csr_array((objective.links(whole(free)), K.indices, K.indptr), shape=K.shape)
            own = np.asarray(links.sum(axis=1)).ravel()[moving]
            curvature = (4.0 * objective.attraction * np.maximum(own, _LEAST_CURVATURE) + hold) / n
            return lambda G: np.asarray(G / curvature[:, None])

        found = minimise(value_and_grad, Z[moving], max_iter=max_iter, tolerance=tolerance, inverse_at=inverse_at)
        return replace(found, point=whole(found.point))

    return minimised

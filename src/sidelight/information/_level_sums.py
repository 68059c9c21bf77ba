"""How the latent sums of a level are computed, and minimising over them.

Up to three dimensions by transforms, few rows over all pairs (``kernels.pair_sums``). Otherwise over cells
(``kernels.cell_sums``): in two rounds or more, as the lists of near cells are those of the points at which they were
made. The first round is short, because points move most right after they came from the coarser level. A round follows
if the error of the sums has grown in the last one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from sidelight.base.result import Result
from sidelight.base.types import Array, SparseMatrix
from sidelight.kernels.cell_lists import cell_lists
from sidelight.kernels.cell_sums import cell_sum_cost, cell_sum_error, cell_sums
from sidelight.kernels.gauss_transform import normaliser_cost
from sidelight.kernels.pair_sums import latent_sums, sum_error
from sidelight.kernels.profiles import GAUSSIAN, Profile
from sidelight.objectives.bound import InformationBound
from sidelight.solvers.annealing import ENDED_EARLY

__all__ = ["in_rounds", "level_error", "level_tolerance", "over_cells", "sums_cost"]


_TOLERANCES = (1e-3, 1e-5, None)  # in up to three dimensions: the first that a test confirms; None: full precision
_WORST = 10.0  # the largest error in that test may be 10 tolerances: it occurs at rows far from all others
_LISTED = (16, 32)  # cells that a cell lists: the first number of which the test finds no error above _CELL_ERROR
_CELL_ERROR = 0.15
_FEW = 1000  # rows up to which all pairs are visited in more than three dimensions
_FIRST_ROUND = 6  # iterations
_ROUNDS = 4  # at most
_STALE, _STALE_ERROR = 2.0, 0.05  # the last round ends below this error, or so many times that at its start

Minimise = Callable[[InformationBound, Array, int, int], Result]
"""(objective, start, most iterations, iterations before) to the result."""


def sums_over_cells(n: int, q: int) -> bool:
    """Whether the latent sums of ``n`` rows in ``q`` dimensions are over cells."""
    return q > 3 and n > _FEW


def sums_cost(profile: Profile, n: int, q: int) -> tuple[float, float]:
    """Estimated bytes and seconds of a value and gradient of the latent sums of ``n`` rows in ``q`` dimensions."""
    if sums_over_cells(n, q):
        return cell_sum_cost(n, q, _LISTED[-1] if profile is GAUSSIAN else _LISTED[0])
    return normaliser_cost(profile, n, q, _TOLERANCES[0])


def level_tolerance(Z: Array, profile: Profile, n_jobs: int | None) -> float | None:
    """The first of ``_TOLERANCES`` that the fast sums keep (up to ``_WORST``) on random rows; None: full precision."""
    if sums_over_cells(*Z.shape):
        return _TOLERANCES[0]
    for tolerance in _TOLERANCES[:-1]:
        if sum_error(latent_sums(Z, profile, tolerance=tolerance, n_jobs=n_jobs), Z, profile) <= _WORST * tolerance:
            return tolerance
    return None


def over_cells(objective: InformationBound, Z: Array, links: SparseMatrix) -> InformationBound:
    """The objective with lists of cells made at ``Z`` (n, q), if its sums are over cells; else as it is."""
    return _listed(objective, Z, links)[0] if sums_over_cells(*Z.shape) else objective


def in_rounds(
    objective: InformationBound, Z: Array, links: SparseMatrix, minimise: Minimise, max_iter: int
) -> tuple[Result, InformationBound]:
    """Minimise from ``Z`` (n, q): over cells in rounds, else in one; the result, and the objective of the last."""
    if not sums_over_cells(*Z.shape):
        return minimise(objective, Z, max_iter, 0), objective
    n_iter, n_evaluations = 0, 0
    for most in [min(_FIRST_ROUND, max_iter)] + (_ROUNDS - 1) * [max_iter]:
        objective, error = _listed(objective, Z, links)
        found = minimise(objective, Z, min(most, max_iter - n_iter), n_iter)
        n_iter, n_evaluations = n_iter + found.n_iter, n_evaluations + found.n_evaluations
        if found.status in ENDED_EARLY or n_iter >= max_iter:
            break
        Z = found.point
        if most > _FIRST_ROUND and objective.sum_error(Z) <= max(_STALE * error, _STALE_ERROR):
            break
    return replace(found, n_iter=n_iter, n_evaluations=n_evaluations), objective


def _listed(objective: InformationBound, Z: Array, links: SparseMatrix) -> tuple[InformationBound, float]:
    """The objective with lists of cells made at ``Z`` (n, q), and the error of its sums there."""
    for listed in _LISTED:
        objective = objective.over(cell_lists(Z, listed=listed, links=links, n_jobs=objective.n_jobs))
        error = objective.sum_error(Z)
        if error <= _CELL_ERROR:
            break
    return objective, error


def level_error(objective: InformationBound, Z: Array, n_jobs: int | None) -> float:
    """The largest relative error of a latent sum at ``Z`` (n, q), on 64 random rows, as the objective computes them.

    An objective of merged rows (a fit that ended early) says nothing about all rows; they get new lists.
    """
    profile = objective.profile
    if not sums_over_cells(*Z.shape):
        return sum_error(latent_sums(Z, profile, tolerance=_TOLERANCES[0], n_jobs=n_jobs), Z, profile)
    if objective.lists is not None and len(objective.lists.order) == len(Z):
        return objective.sum_error(Z)
    lists, weights = cell_lists(Z, listed=_LISTED[0], n_jobs=n_jobs), np.ones(len(Z))
    found = cell_sums(Z, lists, profile, weights=weights, n_jobs=n_jobs)
    return cell_sum_error(found.sums, Z, profile, weights=weights)

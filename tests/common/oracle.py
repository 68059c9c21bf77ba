"""Generic convex solvers as oracles: one that gives up is followed by another, and the test says which answered."""

from __future__ import annotations

import warnings

import pytest

SOLVERS = {"CLARABEL": {}, "SCS": {"eps_abs": 1e-9, "eps_rel": 1e-9, "max_iters": 200_000}}


def solved_by(problem, accepted=("optimal",)):
    """Solve a cvxpy problem and return the name of the first solver that ended in an accepted state."""
    cvxpy = pytest.importorskip("cvxpy")
    ends = {}
    for name, options in SOLVERS.items():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # "may be inaccurate": the status says so, too
                problem.solve(solver=name, **options)
        except cvxpy.error.SolverError as trouble:
            ends[name] = str(trouble)
            continue
        if problem.status in accepted:
            return name
        ends[name] = problem.status
    pytest.fail(f"no oracle answered: {ends}")

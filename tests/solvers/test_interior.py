"""The interior point method: against a generic solver, against low rank, and what it says where there is no answer."""

from __future__ import annotations

import numpy as np
import pytest
from oracle import solved_by

from sidelight.base.result import Status
from sidelight.objectives.action_gram import tied_program
from sidelight.solvers.interior import interior_cost, solve_interior
from sidelight.solvers.semidefinite import solve_gram


def random_program(n=12, n_classes=30, seed=0, weights=np.inf, equal=False):
    """Pairs in random classes, two thirds of them bounded."""
    rng = np.random.default_rng(seed)
    tied = np.r_[np.arange(n_classes), rng.integers(0, n_classes, n * (n - 1) // 2 - n_classes)]
    rng.shuffle(tied)
    classes = np.arange(2 * n_classes // 3)
    bounds = rng.uniform(1.0, 4.0, len(classes))
    return tied_program(
        tied, n, classes=classes, bounds=bounds, reach=np.full(n_classes, 4.0), weights=weights, equal=equal
    )


def oracle(program):
    """The value of the same program in cvxpy, in the units of the bounds, and which solver found it.

    ``K = Q W Qᵀ`` with Q orthogonal to the constant and one variable for each class: a centred K as a variable has no
    interior and means of d as their own limits repeat each other, which is where Clarabel gives up on some machines.
    """
    cp = pytest.importorskip("cvxpy")
    n = program.n
    Q = np.linalg.qr(np.c_[np.ones(n), np.eye(n)[:, 1:]])[0][:, 1:]
    K = Q @ cp.Variable((n - 1, n - 1), PSD=True) @ Q.T
    g, s = cp.Variable(len(program.members)), cp.Variable(len(program.row_class))
    i, j = program.pairs.T
    d = cp.diag(K)[i] - 2 * K[i, j] + cp.diag(K)[j]
    k = len(program.row_class)
    soft = np.isfinite(program.weights[:k])
    limits = [g[program.row_class] - s <= program.bounds[:k], d == g[program.tied], s[~soft] == 0]
    cost = cp.sum(cp.multiply(np.where(soft, program.weights[:k], 0.0) / 2, s**2))
    problem = cp.Problem(cp.Maximize(cp.trace(K) - cost), limits)
    solver = solved_by(problem)
    return problem.value * program.unit, solver


@pytest.mark.parametrize("weights", [np.inf, 5.0])
@pytest.mark.parametrize("seed", [0, 3, 4])
def test_value_is_that_of_a_generic_solver(seed, weights):
    program = random_program(seed=seed, weights=weights)
    found = solve_interior(program)
    assert found.status is Status.CONVERGED
    value, solver = oracle(program)
    np.testing.assert_allclose(found.value, value, rtol=1e-5, err_msg=f"the oracle is {solver}")
    assert found.certificate.slack > -1e-6


@pytest.mark.parametrize("weights", [np.inf, 5.0])
def test_low_rank_finds_the_same(weights):
    program = random_program(n=10, n_classes=20, weights=weights)
    inside = solve_interior(program)
    start = np.random.default_rng(0).normal(size=(10, 9))
    outside = solve_gram(program, start, tolerance=1e-5, gap=1e-4)
    assert outside.status is Status.CONVERGED
    np.testing.assert_allclose(outside.value, inside.value, rtol=1e-3)


def test_certificate_holds_and_rows_are_kept():
    program = random_program(seed=3)
    found = solve_interior(program)
    V = found.point / np.sqrt(program.unit)
    assert program.violation(V).max() < 1e-9
    assert 0 <= found.certificate.gap < 1e-6
    np.testing.assert_allclose(found.certificate.bound, found.value, rtol=2e-6)
    assert found.n_iter == len(found.history) < 40


def test_known_distances_are_kept():
    """Three points on a line of unit steps, whose ends are known to be 1.5 apart."""
    program = tied_program([0, 1, 0], 3, classes=[0, 1], bounds=[1.0, 2.25], reach=[1.0, 4.0], equal=[False, True])
    found = solve_interior(program, gap=1e-9, sharp=1e-9)
    d = np.linalg.norm(found.point[[0, 1, 0]] - found.point[[1, 2, 2]], axis=1)
    np.testing.assert_allclose(d, [1.0, 1.0, 1.5], atol=1e-5)


def test_known_distances_that_contradict_each_other_are_said():
    """Two steps of exactly 1, and their ends 3 apart."""
    program = tied_program([0, 1, 0], 3, classes=[0, 1], bounds=[1.0, 9.0], reach=[1.0, 4.0], equal=True)
    found = solve_interior(program)
    assert found.status is not Status.CONVERGED
    assert "contradict" in found.trouble


def test_pieces_that_nothing_holds_together_are_unbounded():
    found = solve_interior(tied_program([0, 1, 2], 3, classes=[0], bounds=[1.0], reach=np.ones(3)))
    assert found.status is Status.STALLED
    assert "2 pieces" in found.trouble


def test_a_callback_stops_and_ctrl_c_keeps_what_there_is():
    program = random_program()
    stopped = solve_interior(program, callback=lambda state: state.iteration == 3)
    assert (stopped.status, stopped.n_iter) == (Status.STOPPED, 3)

    def interrupt(state):
        raise KeyboardInterrupt

    found = solve_interior(program, callback=interrupt)
    assert found.status is Status.INTERRUPTED
    assert np.isfinite(found.point).all()


def test_running_out_of_steps_is_said():
    assert solve_interior(random_program(), max_iter=2).status is Status.ITERATIONS


def test_cost_grows_with_classes_and_points():
    assert interior_cost(20, 40) > 2 * interior_cost(10, 40)

"""The low-rank solver of Gram programs: generic solvers beside it, certificates, limits, programs without answer."""

from __future__ import annotations

import numpy as np
import pytest
from oracle import solved_by
from scipy.sparse import coo_array, csr_array

from sidelight.base.result import Status
from sidelight.datasets import swiss_roll
from sidelight.objectives.gram import gram_program
from sidelight.solvers.certificate import dual_bound, smallest_slack
from sidelight.solvers.factor import factored, n_negative_eigenvalues
from sidelight.solvers.newton import minimise_factor
from sidelight.solvers.semidefinite import solve_gram


def near_pairs(X, k):
    """Neighbours, either way, and rows that share one."""
    n = len(X)
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    index = np.argsort(squares, axis=1)[:, 1 : k + 1]
    near = csr_array(coo_array((np.ones(n * k), (np.repeat(np.arange(n), k), index.ravel())), shape=(n, n)))
    near = ((near + near.T) > 0).astype(float)
    row, column = np.nonzero(np.triu((near + near @ near).toarray(), 1))
    return np.column_stack([row, column]), squares[row, column]


def noise(n, r=6, seed=0):
    return np.random.default_rng(seed).normal(size=(n, r))


def optimum(program):
    """The value by a generic solver, in the units of the bounds, and which solver it was.

    ``K = Q W Qᵀ`` with Q orthogonal to the constant: a centred K as a variable has no interior.
    """
    cvxpy = pytest.importorskip("cvxpy")
    n = program.n
    Q = np.linalg.qr(np.c_[np.ones(n), np.eye(n)[:, 1:]])[0][:, 1:]
    K = Q @ cvxpy.Variable((n - 1, n - 1), PSD=True) @ Q.T
    i, j = program.pairs.T
    row = program.rows @ (cvxpy.diag(K)[i] + cvxpy.diag(K)[j] - 2 * K[i, j])
    slack = cvxpy.Variable(len(program.bounds))
    soft = np.isfinite(program.weights)
    equal, cost = program.equal, np.where(soft, program.weights, 0.0)
    rules = [slack[np.flatnonzero(~soft)] == 0] if (~soft).any() else []
    rest = row - slack - program.bounds
    rules += [rest[np.flatnonzero(equal)] == 0] if equal.any() else []
    rules += [rest[np.flatnonzero(~equal)] <= 0] if (~equal).any() else []
    goal = cvxpy.trace(K) - 0.5 * cvxpy.sum(cvxpy.multiply(cost, cvxpy.square(slack)))
    problem = cvxpy.Problem(cvxpy.Maximize(goal), rules)
    solver = solved_by(problem)
    return problem.value * program.unit, f"the oracle is {solver}"


ROLL = swiss_roll(40, random_state=0).X


@pytest.mark.parametrize("k", [3, pytest.param(5, marks=pytest.mark.slow)])  # the generic solver takes seconds
@pytest.mark.thorough
def test_trace_is_within_one_per_cent_of_a_generic_solver_and_the_bound_above_it(k):
    pairs, bounds = near_pairs(ROLL, k)
    program = gram_program(pairs, bounds, len(ROLL))
    found = solve_gram(program, noise(len(ROLL)))
    best, solver = optimum(program)
    assert found.status is Status.CONVERGED
    assert found.certificate.feasibility <= 1e-4
    assert abs(found.value / best - 1) < 0.01, solver
    assert found.certificate.bound >= best * (1 - 1e-6), solver
    assert found.certificate.slack >= -1e-2


@pytest.mark.thorough
def test_soft_equalities_reach_what_a_generic_solver_does():
    X = swiss_roll(30, random_state=1).X
    pairs, bounds = near_pairs(X, 4)
    program = gram_program(
        pairs, bounds * np.random.default_rng(0).uniform(0.9, 1.1, len(bounds)), 30, equal=True, weights=50.0
    )
    found = solve_gram(program, noise(30))
    best, solver = optimum(program)
    assert found.status is Status.CONVERGED
    assert abs(found.value / best - 1) < 0.01, solver
    assert found.certificate.bound >= best * (1 - 1e-6), solver


def test_rows_that_are_differences_of_distances_hold_and_reach_the_optimum():
    """A line of eight points with steps of at most 1 whose second neighbours must all be equally far."""
    pairs = np.array([[i, i + s] for s in (1, 2) for i in range(8 - s)])
    A = np.zeros((7 + 5, len(pairs)))
    A[:7, :7] = np.eye(7)
    A[np.arange(7, 12), np.arange(7, 12)], A[np.arange(7, 12), np.arange(8, 13)] = 1.0, -1.0
    bounds = np.r_[np.array([1.0, 1.0, 1.0, 0.5, 1.0, 1.0, 1.0]), np.zeros(5)]
    program = gram_program(pairs, bounds, 8, rows=A, equal=np.arange(12) >= 7)
    found = solve_gram(program, noise(8))
    second = ((found.point[2:] - found.point[:-2]) ** 2).sum(axis=1)
    np.testing.assert_allclose(second, second.mean(), rtol=2e-3)
    best, solver = optimum(program)
    assert abs(found.value / best - 1) < 0.01, solver
    assert found.certificate.bound >= best * (1 - 1e-6), solver


@pytest.mark.parametrize("equal", [False, True])
def test_distances_that_are_already_flat_come_back_exact(equal):
    rng = np.random.default_rng(0)
    grid = np.array([[i, j] for i in range(5) for j in range(4)], dtype=float) + rng.uniform(-0.1, 0.1, (20, 2))
    grid -= grid.mean(axis=0)
    i, j = np.triu_indices(20, 1)
    squares = ((grid[i] - grid[j]) ** 2).sum(axis=1)
    found = solve_gram(
        gram_program(np.column_stack([i, j]), squares, 20, equal=equal), noise(20), tolerance=1e-7, gap=1e-5
    )
    assert found.status is Status.CONVERGED
    back = ((found.point[i] - found.point[j]) ** 2).sum(axis=1)
    np.testing.assert_allclose(back, squares, atol=1e-4)
    np.testing.assert_allclose(found.value, (grid**2).sum(), rtol=1e-5)


def test_a_chain_becomes_a_line():
    program = gram_program([[i, i + 1] for i in range(9)], np.full(9, 4.0), 10)
    found = solve_gram(program, noise(10))
    assert abs(found.value / (4.0 * (10**3 - 10) / 12) - 1) < 1e-3
    assert (found.point[:, 0] ** 2).sum() > 0.999 * found.value


def test_rank_grows_where_the_certificate_says_so():
    """A star of four arms: every arm wants a direction of its own, one column is a stationary point and no optimum."""
    program = gram_program([[0, i] for i in range(1, 5)], np.ones(4), 5)
    found = solve_gram(program, noise(5, 1), gap=1e-3)
    assert found.status is Status.CONVERGED
    np.testing.assert_allclose(found.value, 4.0, rtol=2e-3)
    assert found.certificate.bound >= 4.0 * (1 - 1e-9)


def test_columns_that_have_emptied_are_dropped():
    program = gram_program([[i, i + 1] for i in range(19)], np.ones(19), 20)
    assert solve_gram(program, noise(20, 12)).point.shape[1] <= 4


@pytest.mark.parametrize("seed", range(6))
def test_the_bound_of_any_multipliers_is_never_below_the_optimum(seed):
    rng = np.random.default_rng(seed)
    program = gram_program([[i, i + 1] for i in range(5)], np.ones(5), 6)
    y = rng.uniform(0.1, 3.0, 5)
    slack = smallest_slack(program.laplacian(y))
    exact = np.linalg.eigvalsh(program.laplacian(y).toarray())[1] - 1.0
    np.testing.assert_allclose(slack.values[0], exact, atol=1e-9)
    assert dual_bound(program, y, slack, program.weights) >= (6**3 - 6) / 12 - 1e-9


def test_multipliers_that_are_no_certificate_give_no_bound():
    program = gram_program([[0, 1], [1, 2]], [1.0, 1.0], 3, equal=True)
    y = np.array([1.0, -1.0])
    assert dual_bound(program, y, smallest_slack(program.laplacian(y)), program.weights) == np.inf


@pytest.mark.parametrize("sign", [1.0, -0.05])
def test_sparse_slack_is_that_of_the_whole_spectrum_and_never_above_it(sign):
    pairs, bounds = near_pairs(swiss_roll(400, random_state=0).X, 4)
    program = gram_program(pairs, bounds, 400)
    y = np.random.default_rng(0).uniform(0, 1, len(pairs)) * np.where(np.arange(len(pairs)) % 7, 1.0, sign)
    exact = np.linalg.eigvalsh(program.laplacian(y).toarray() + 1e3 / 400)[0] - 1.0
    slack = smallest_slack(program.laplacian(y))
    assert slack.values[0] <= exact + 1e-12
    np.testing.assert_allclose(slack.values[0], exact, atol=1e-3)


def test_negative_eigenvalues_are_counted_and_factors_solve():
    rng = np.random.default_rng(0)
    M = rng.normal(size=(30, 30))
    M = M + M.T
    sparse = csr_array(M).tocsc()
    assert n_negative_eigenvalues(sparse) == int((np.linalg.eigvalsh(M) < 0).sum())
    definite = csr_array(M @ M + np.eye(30)).tocsc()
    np.testing.assert_allclose(definite @ factored(definite)(M), M, atol=1e-8)
    thin = csr_array(np.diag(np.arange(1.0, 31.0))).tocsc()
    np.testing.assert_allclose(thin @ factored(thin)(M), M, atol=1e-12)


def test_pieces_that_can_drift_apart_are_said_to_be_unbounded():
    found = solve_gram(gram_program([[0, 1], [2, 3]], [1.0, 1.0], 4), noise(4))
    assert found.status is Status.STALLED
    assert found.trouble == "The rows leave 2 pieces that can drift apart: unbounded"


def test_points_that_only_differences_tie_are_said_to_run_away():
    found = solve_gram(gram_program([[0, 1], [1, 2]], [0.0], 3, rows=[[1.0, -1.0]], equal=True), noise(3))
    assert "unbounded" in found.trouble


def test_distances_that_break_the_triangle_are_said_to_contradict():
    program = gram_program([[0, 1], [1, 2], [0, 2]], [1.0, 1.0, 100.0], 3, equal=True)
    found = solve_gram(program, noise(3), stiffness=1e9)
    assert found.status is Status.STALLED
    assert "contradict each other" in found.trouble


def test_a_squared_distance_below_zero_is_said_to_contradict():
    found = solve_gram(gram_program([[0, 1], [1, 2]], [1.0, -1.0], 3), noise(3))
    assert "contradict each other (row 1 most)" in found.trouble


def test_rigid_equalities_are_softened_and_it_is_said():
    pairs, bounds = near_pairs(ROLL, 4)
    noisy = bounds * np.random.default_rng(0).uniform(0.8, 1.2, len(bounds))
    found = solve_gram(gram_program(pairs, noisy, 40, equal=True), noise(40), stiffness=10.0)
    assert found.certificate.softened
    assert found.certificate.feasibility > 1e-4
    assert found.certificate.gap < 0.01


def test_the_same_start_gives_the_same_bits():
    pairs, bounds = near_pairs(ROLL, 4)
    first, second = (solve_gram(gram_program(pairs, bounds, 40), noise(40)) for _ in range(2))
    assert np.array_equal(first.point, second.point)
    assert first.certificate == second.certificate


def test_a_warm_start_takes_fewer_steps():
    pairs, bounds = near_pairs(ROLL, 4)
    program = gram_program(pairs, bounds, 40)
    cold = solve_gram(program, noise(40))
    warm = solve_gram(program, cold.point, multipliers=cold.multipliers)
    assert warm.status is Status.CONVERGED
    assert warm.n_iter < cold.n_iter / 2


def test_a_callback_sees_every_step_and_stops_the_run():
    pairs, bounds = near_pairs(ROLL, 4)
    seen = []

    def stop_at_five(state):
        seen.append((state.stage, state.iteration, state.point.shape[0], sorted(state.terms)))
        return len(seen) == 5

    found = solve_gram(gram_program(pairs, bounds, 40), noise(40), callback=stop_at_five)
    assert found.status is Status.STOPPED
    assert found.n_iter == len(seen) == len(found.history) == 5
    assert seen[0][2:] == (40, ["bound", "trace"])


def test_ctrl_c_keeps_the_point_it_came_to():
    pairs, bounds = near_pairs(ROLL, 4)
    places = []

    def interrupt(state):
        places.append(state.embedding)
        if len(places) == 7:
            raise KeyboardInterrupt

    found = solve_gram(gram_program(pairs, bounds, 40), noise(40), callback=interrupt)
    assert found.status is Status.INTERRUPTED
    np.testing.assert_allclose(found.point @ found.point.T, places[-1] @ places[-1].T, atol=1e-8)


def test_an_interrupt_at_a_worse_point_returns_the_end_of_the_last_stage(monkeypatch):
    """The fifth stage begins by doubling all lengths, and is interrupted there."""
    pairs, bounds = near_pairs(ROLL, 4)
    ends = []

    def doubling(function, V, *, on_step, **settings):
        if len(ends) == 4:
            on_step(0, function(2.0 * V))
            raise KeyboardInterrupt
        found = minimise_factor(function, V, on_step=on_step, **settings)
        ends.append(found.point.V)
        return found

    monkeypatch.setattr("sidelight.solvers.semidefinite.minimise_factor", doubling)
    program = gram_program(pairs, bounds, 40)
    found = solve_gram(program, noise(40))
    assert found.status is Status.INTERRUPTED
    np.testing.assert_allclose(found.point @ found.point.T, program.unit * ends[-1] @ ends[-1].T, atol=1e-8)
    assert found.certificate.feasibility < 0.5


def test_running_out_of_steps_is_said():
    pairs, bounds = near_pairs(ROLL, 4)
    found = solve_gram(gram_program(pairs, bounds, 40), noise(40), max_iter=3)
    assert found.status is Status.ITERATIONS
    assert found.n_iter == 3

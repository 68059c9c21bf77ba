from __future__ import annotations

from collections import deque

import numpy as np
import pytest
from scipy.optimize import minimize, rosen, rosen_der

from sidelight.base.result import Status
from sidelight.solvers.lbfgs import _direction, minimise


def quadratic(condition=1e4, size=(20, 2), seed=0):
    """A convex quadratic with its minimiser: ``½ (x - x*)ᵀ A (x - x*) - 7``."""
    rng = np.random.default_rng(seed)
    n = int(np.prod(size))
    Q = np.linalg.qr(rng.normal(size=(n, n)))[0]
    A = (Q * np.geomspace(1, condition, n)) @ Q.T
    best = rng.normal(size=n)

    def value_and_grad(x):
        move = x.ravel() - best
        return 0.5 * float(move @ A @ move) - 7.0, (A @ move).reshape(size), {"bowl": 1.0}

    return value_and_grad, best.reshape(size), A


def rosenbrock(x):
    return float(rosen(x)), rosen_der(x), {}


@pytest.mark.parametrize("start", [[-1.2, 1.0], [3.0, -4.0], [-1.2, 1.0, -1.2, 1.0, 0.5, 2.0]], ids=len)
def test_rosenbrock_ends_where_scipy_ends(start):
    ours = minimise(rosenbrock, np.array(start), max_iter=2000, tolerance=1e-14)
    theirs = minimize(rosen, start, jac=rosen_der, method="L-BFGS-B", options={"ftol": 1e-15, "gtol": 1e-10})
    np.testing.assert_allclose(ours.point, theirs.x, atol=1e-4)
    assert ours.value <= theirs.fun + 1e-8
    assert ours.n_evaluations < 2 * theirs.nfev


def test_a_quadratic_ends_at_its_minimum_in_the_shape_of_its_start():
    value_and_grad, best, _ = quadratic()
    found = minimise(value_and_grad, np.zeros((20, 2)), max_iter=2000, tolerance=1e-13)
    assert found.status is Status.CONVERGED
    assert found.point.shape == (20, 2)
    assert found.value == pytest.approx(-7.0, abs=1e-8)
    np.testing.assert_allclose(found.point, best, atol=1e-4)
    theirs = minimize(
        lambda x: value_and_grad(x.reshape(20, 2))[0],
        np.zeros(40),
        jac=lambda x: value_and_grad(x.reshape(20, 2))[1].ravel(),
        method="L-BFGS-B",
        options={"maxiter": 5000, "ftol": 1e-15},
    )
    assert found.n_evaluations < 1.5 * theirs.nfev


def test_the_inverse_hessian_as_preconditioner_goes_straight_to_the_minimum():
    value_and_grad, best, A = quadratic(condition=1e6)

    def precondition(g):
        return np.linalg.solve(A, g.ravel()).reshape(g.shape)

    with_it = minimise(value_and_grad, np.zeros((20, 2)), max_iter=500, tolerance=1e-12, precondition=precondition)
    without = minimise(value_and_grad, np.zeros((20, 2)), max_iter=500, tolerance=1e-12)
    np.testing.assert_allclose(with_it.point, best, atol=1e-5)
    assert with_it.n_iter <= 15 < without.n_iter


def test_every_iteration_goes_down_and_is_reported_with_its_terms():
    seen = []
    value_and_grad, _, _ = quadratic()
    found = minimise(
        value_and_grad,
        np.zeros((20, 2)),
        on_step=lambda i, f, x, terms: seen.append((i, f, value_and_grad(x)[0], terms)),
    )
    values = [f for _, f, _, _ in seen]
    assert values == sorted(values, reverse=True)
    assert values == [at for _, _, at, _ in seen]
    assert [i for i, *_ in seen] == list(range(1, found.n_iter + 1))
    assert values[-1] == found.value
    assert all(terms == {"bowl": 1.0} for *_, terms in seen)


def test_a_step_that_says_stop_ends_the_run_there():
    found = minimise(rosenbrock, np.array([-1.2, 1.0]), on_step=lambda i, f, x, terms: i == 3)
    assert found.status is Status.STOPPED
    assert found.n_iter == 3
    assert "stopped by the callback after 3 iterations" in found.message


def test_running_out_of_iterations_says_so_with_the_best_point():
    found = minimise(rosenbrock, np.array([-1.2, 1.0]), max_iter=2)
    assert found.status is Status.ITERATIONS
    assert found.n_iter == 2
    assert found.value == rosenbrock(found.point)[0] < rosenbrock(np.array([-1.2, 1.0]))[0]


@pytest.mark.parametrize("call", [1, 2, 7, 20])
def test_an_interrupt_inside_the_objective_keeps_the_best_point(call):
    calls = []

    def interrupted(x):
        calls.append(1)
        if len(calls) == call:
            raise KeyboardInterrupt
        return rosenbrock(x)

    start = np.array([-1.2, 1.0])
    steps = []
    found = minimise(interrupted, start, on_step=lambda i, f, x, terms: steps.append((f, x)))
    assert found.status is Status.INTERRUPTED
    best = min(steps, key=lambda s: s[0])[1] if steps else start
    np.testing.assert_array_equal(found.point, best)


def test_an_interrupt_inside_the_callback_keeps_the_point_it_was_shown():
    shown = []

    def on_step(i, f, x, terms):
        shown.append(x)
        if i == 4:
            raise KeyboardInterrupt
        return False

    found = minimise(rosenbrock, np.array([-1.2, 1.0]), on_step=on_step)
    assert found.status is Status.INTERRUPTED
    np.testing.assert_array_equal(found.point, shown[-1])


def test_a_start_at_the_minimum_converges_without_a_step():
    value_and_grad, best, _ = quadratic()
    start = best.copy()
    found = minimise(value_and_grad, start)
    assert found.status is Status.CONVERGED
    assert (found.n_iter, found.n_evaluations) == (0, 1)
    np.testing.assert_array_equal(found.point, best)


@pytest.mark.parametrize("size", [1e-160, 1e-300, 5e-324])
def test_a_gradient_whose_square_underflows_counts_as_vanished(size):
    found = minimise(lambda x: (1.0, np.full_like(x, size), {}), np.zeros((3, 2)))
    assert found.status is Status.CONVERGED


@pytest.mark.parametrize("scale", [1e-3, 1e3, 1e12])
def test_a_minimum_is_found_whether_a_first_step_of_one_is_far_too_long_or_too_short(scale):
    def value_and_grad(x):
        f, g, _ = rosenbrock(x / scale)
        return f, g / scale, {}

    found = minimise(value_and_grad, scale * np.array([-1.2, 1.0]), max_iter=500, tolerance=1e-12)
    np.testing.assert_allclose(found.point / scale, 1.0, atol=1e-3)


def test_a_region_without_values_is_stepped_back_from():
    outside = []

    def logarithm(x):
        if (x <= 0).any():
            outside.append(x)
            return float("nan"), np.full_like(x, np.nan), {}
        return float((x - np.log(x)).sum()), 1 - 1 / x, {}

    found = minimise(logarithm, np.array([50.0, 30.0]), tolerance=1e-12)
    assert outside
    np.testing.assert_allclose(found.point, 1.0, atol=1e-4)


@pytest.mark.parametrize("preconditioned", [False, True])
def test_the_direction_is_that_of_the_dense_bfgs_inverse(preconditioned):
    rng = np.random.default_rng(1)
    _, _, A = quadratic(condition=50, size=(6, 1))
    P = np.diag(rng.uniform(0.5, 2, size=6)) if preconditioned else np.eye(6)
    steps = rng.normal(size=(3, 6))
    pairs = deque((s, A @ s, float(s @ A @ s)) for s in steps)
    s, y = steps[-1], A @ steps[-1]
    H = P * (s @ y) / (y @ P @ y)
    for s in steps:
        y = A @ s
        V = np.eye(6) - np.outer(y, s) / (s @ y)
        H = V.T @ H @ V + np.outer(s, s) / (s @ y)
    g = rng.normal(size=6)
    found = _direction(g, pairs, (lambda v: P @ v) if preconditioned else None, scaled=True)
    np.testing.assert_allclose(found, -H @ g, rtol=1e-10)


def test_a_gradient_that_points_uphill_stalls_instead_of_looping():
    found = minimise(lambda x: (float((x**2).sum()), -2 * x, {}), np.array([1.0, 2.0]))
    assert found.status is Status.STALLED
    np.testing.assert_array_equal(found.point, [1.0, 2.0])


def test_rounding_in_the_value_ends_the_run_near_the_minimum():
    value_and_grad, best, _ = quadratic(condition=100)

    def rounded(x):
        f, g, terms = value_and_grad(x)
        return float(np.float32(f)), g.astype(np.float32).astype(np.float64), terms

    found = minimise(rounded, np.zeros((20, 2)), max_iter=1000, tolerance=1e-9)
    assert found.status in (Status.CONVERGED, Status.STALLED)
    np.testing.assert_allclose(found.point, best, atol=5e-3)


def test_the_start_is_not_changed():
    start = np.array([-1.2, 1.0])
    minimise(rosenbrock, start)
    assert start.tolist() == [-1.2, 1.0]


def test_with_the_inverse_hessian_one_step_is_enough():
    value_and_grad, best, A = quadratic(condition=1e6)
    H = np.linalg.inv(A)
    found = minimise(
        value_and_grad, np.zeros(best.shape), inverse_at=lambda x: lambda g: (H @ g.ravel()).reshape(g.shape)
    )
    np.testing.assert_allclose(found.point, best, rtol=1e-6)
    assert found.n_evaluations <= 4


def test_an_inverse_is_made_anew_where_the_run_is_every_five_iterations():
    seen, value_and_grad = [], quadratic(condition=1e8)[0]

    def inverse_at(x):
        seen.append(len(steps))
        return lambda g: 1e-8 * g

    steps = []
    minimise(
        value_and_grad, np.zeros((20, 2)), max_iter=45, tolerance=0.0, inverse_at=inverse_at,
        on_step=lambda iteration, *_: bool(steps.append(iteration)),
    )  # fmt: skip
    assert seen == [0, *range(4, 45, 5)]

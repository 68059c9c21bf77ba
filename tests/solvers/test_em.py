"""EM: stops where it should, keeps the best, never lets the likelihood fall unsaid."""

from __future__ import annotations

import numpy as np
import pytest

from sidelight.base.result import Status
from sidelight.solvers.em import em, squarem_extrapolation


def halving(target=2.0):
    """A step that halves the distance to the target."""
    return lambda x: (0.5 * (x + target), -float(np.sum((x - target) ** 2)))


def test_ends_when_a_step_gains_less_than_the_tolerance():
    found = em(halving(), 10.0, max_iter=100, tol=1e-6)
    assert found.status is Status.CONVERGED
    gains = np.diff([record.terms["log_likelihood"] for record in found.history])
    assert (gains[:-1] >= 1e-6).all()
    assert gains[-1] < 1e-6
    assert len(found.history) == found.n_iter
    assert found.log_likelihood == -found.history[-1].objective


def test_runs_out_of_iterations_with_the_last_parameters():
    found = em(halving(), 10.0, max_iter=3, tol=1e-12)
    assert (found.status, found.n_iter, found.parameters) == (Status.ITERATIONS, 3, 3.0)
    assert found.message == "ran out of iterations after 3 iterations"


def test_a_callback_stops_and_sees_the_objective():
    seen = []

    def stop(state):
        seen.append(state.objective)
        return len(seen) == 4

    found = em(halving(), 10.0, max_iter=100, tol=1e-12, callback=stop)
    assert found.status is Status.STOPPED
    assert seen == [64.0, 16.0, 4.0, 1.0]


def test_an_interrupt_keeps_the_last_finished_step():
    def interrupted(x):
        if x < 3.5:
            raise KeyboardInterrupt
        return halving()(x)

    found = em(interrupted, 10.0, max_iter=100, tol=1e-12)
    assert (found.status, found.parameters, found.n_iter) == (Status.INTERRUPTED, 3.0, 3)


@pytest.mark.parametrize("value", [-5.0, np.nan])
def test_a_likelihood_that_falls_is_said_and_the_parameters_before_are_kept(value):
    values = iter([-3.0, -2.0, value])
    found = em(lambda x: (x + 1, next(values)), 0, max_iter=10, tol=1e-9)
    assert found.status is Status.STALLED
    assert (found.parameters, found.log_likelihood) == (1, -2.0)


SLOW = np.array([0.99, 0.9, 0.5])


def slow(x):
    return SLOW * x, -float((x**2).sum())


def test_lengthened_steps_reach_the_same_place_sooner_and_never_fall():
    start = np.ones(3)
    plain = em(slow, start, max_iter=5000, tol=1e-14)
    fast = em(slow, start, max_iter=5000, tol=1e-14, extrapolate=squarem_extrapolation)
    assert fast.n_iter < plain.n_iter / 5
    assert np.abs(fast.parameters).max() < 1e-5
    assert (np.diff([record.objective for record in fast.history]) <= 0).all()


def test_a_leap_to_a_worse_place_is_not_taken():
    plain = em(slow, np.ones(3), max_iter=50, tol=1e-14)
    mad = em(slow, np.ones(3), max_iter=50, tol=1e-14, extrapolate=lambda a, b, c: 100.0 * c)
    np.testing.assert_allclose(mad.parameters, plain.parameters)


def test_nothing_is_further_on_where_steps_do_not_shrink():
    assert squarem_extrapolation(np.zeros(1), np.ones(1), np.full(1, 2.0)) is None

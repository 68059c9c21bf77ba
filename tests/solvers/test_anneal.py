from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from sidelight.base.result import Record, State, Status
from sidelight.solvers.anneal import anneal, geometric


@pytest.mark.parametrize(
    ("start", "stop", "factor", "values"),
    [
        (8.0, 1.0, 0.5, [8, 4, 2, 1]),
        (8.0, 1.5, 0.5, [8, 4, 2, 1.5]),
        (1.0, 1.0, 0.5, [1]),
        (0.1, 1.0, 0.5, [1]),
        (10.0, 1.0, 0.01, [10, 1]),
    ],
)
def test_a_geometric_schedule_ends_exactly_at_its_stop(start, stop, factor, values):
    assert geometric(start, stop, factor) == values


@pytest.mark.parametrize("factor", [0.1, 0.3, 0.7, 0.8, 0.97])
def test_a_geometric_schedule_has_no_two_stages_that_are_the_same_but_for_rounding(factor):
    stop = 3.0 * factor * factor * factor * factor * factor
    values = geometric(3.0, stop, factor)
    assert values[-1] == stop
    assert len(values) == 6
    np.testing.assert_allclose(np.divide(values[1:], values[:-1]), factor, rtol=1e-8)


@pytest.mark.parametrize("factor", [0.0, 1.0, 1.5, -0.5, float("nan")])
def test_a_schedule_that_never_comes_down_is_refused(factor):
    with pytest.raises(ValueError, match=r"geometric: factor=.* between 0 and 1"):
        geometric(8.0, 1.0, factor)


def target(parameter):
    """A bowl whose minimum moves with the parameter."""

    def value_and_grad(x):
        return float(((x - parameter) ** 2).sum()), 2 * (x - parameter), {"parameter": parameter}

    return value_and_grad


def follow(callback=None, schedule=(4.0, 2.0, 1.0), objective_at=target, **settings):
    options = {"max_iter": 50, "tolerance": 1e-10} | settings
    return anneal(objective_at, list(schedule), np.zeros((3, 2)), callback=callback, **options)


def test_each_stage_ends_at_its_own_minimum_and_starts_at_the_one_before():
    starts = []

    def recorded(parameter):
        inner = target(parameter)
        fresh = [True]

        def value_and_grad(x):
            if fresh.pop() if fresh else False:
                starts.append(x.copy())
            return inner(x)

        return value_and_grad

    path = follow(objective_at=recorded)
    assert path.schedule == (4.0, 2.0, 1.0)
    for stage, parameter in zip(path.stages, path.schedule, strict=True):
        np.testing.assert_allclose(stage.point, parameter, atol=1e-4)
    np.testing.assert_array_equal(starts[1], path.stages[0].point)
    np.testing.assert_array_equal(starts[2], path.stages[1].point)
    np.testing.assert_array_equal(path.point, path.stages[-1].point)
    assert path.status is Status.CONVERGED


def test_the_history_has_a_record_for_every_iteration():
    path = follow()
    assert len(path.history) == path.n_iter == sum(stage.n_iter for stage in path.stages)
    assert path.n_evaluations == sum(stage.n_evaluations for stage in path.stages) >= path.n_iter
    assert [r.stage for r in path.history] == sorted(r.stage for r in path.history)
    assert {(r.stage, r.regularization) for r in path.history} == {(0, 4.0), (1, 2.0), (2, 1.0)}
    seconds = [r.seconds for r in path.history]
    assert seconds == sorted(seconds)
    assert all(r.terms == {"parameter": r.regularization} for r in path.history)
    for stage in range(3):
        objectives = [r.objective for r in path.history if r.stage == stage]
        assert objectives == sorted(objectives, reverse=True)
    assert [f.name for f in dataclasses.fields(Record)] == [
        "stage",
        "regularization",
        "iteration",
        "objective",
        "terms",
        "seconds",
    ]


def test_the_callback_sees_each_iteration_and_cannot_disturb_the_path():
    states = []

    def look(state):
        states.append(state)
        state.embedding[:] = np.nan
        state.terms.clear()

    path, undisturbed = follow(look), follow()
    assert all(isinstance(state, State) and state.n_stages == 3 for state in states)
    assert [(s.stage, s.iteration) for s in states] == [(r.stage, r.iteration) for r in path.history]
    np.testing.assert_array_equal(path.point, undisturbed.point)
    np.testing.assert_array_equal(states[-1].embedding, path.point)


@pytest.mark.parametrize(("stage", "iteration"), [(0, 1), (1, 1)])
def test_a_callback_that_says_stop_ends_the_whole_path(stage, iteration):
    path = follow(lambda state: state.stage == stage and state.iteration == iteration)
    assert path.status is Status.STOPPED
    assert len(path.stages) == len(path.schedule) == stage + 1
    assert path.history[-1].stage == stage
    assert path.stages[-1].n_iter == iteration


def test_an_interrupt_ends_the_path_with_the_best_point_of_its_stage():
    shown = []

    def interrupting(state):
        shown.append(state.embedding)
        if state.stage == 1:
            raise KeyboardInterrupt

    path = follow(interrupting)
    assert path.status is Status.INTERRUPTED
    assert len(path.stages) == 2
    np.testing.assert_array_equal(path.point, shown[-1])


def test_running_out_of_iterations_in_the_last_stage_is_the_status_of_the_path():
    path = follow(schedule=(1.0,), max_iter=1)
    assert path.status is Status.ITERATIONS
    assert path.n_iter == 1


def test_the_start_is_not_changed():
    start = np.zeros((3, 2))
    anneal(target, [1.0], start, max_iter=5, tolerance=1e-6)
    assert not start.any()


def test_a_path_that_goes_on_from_another_counts_its_stages_on_and_keeps_its_history():
    first = follow(schedule=(4.0, 1.0), n_stages=3)
    seen: list[State] = []
    whole = follow(lambda state: seen.append(state) or False, schedule=(0.5,), before=first, n_stages=3)
    assert whole.schedule == (4.0, 1.0, 0.5)
    assert whole.stages[:2] == first.stages
    assert whole.history[: len(first.history)] == first.history
    assert {state.stage for state in seen} == {2}
    assert {state.n_stages for state in seen} == {3}
    seconds = [record.seconds for record in whole.history]
    assert seconds == sorted(seconds)

"""The Brownian bridge through missing entries of a trajectory."""

from __future__ import annotations

import numpy as np
import pytest

from sidelight.maps.time_bridge import TimeBridge, fit_bridge, nearest_in_time

RNG = np.random.default_rng(0)


def walk(n, d, missing, rng=RNG):
    X = np.cumsum(rng.normal(size=(n, d)) * np.linspace(0.2, 3.0, d), axis=0)
    gone = rng.random(X.shape) < missing
    return X, gone, np.where(gone, np.nan, X)


def neighbours_in_time(X, trajectory, row, column):
    """Observed (steps, value) before and after an entry, None where there is none: one entry at a time."""
    same = np.flatnonzero(trajectory == trajectory[row])
    here = int(np.flatnonzero(same == row)[0])
    values = X[same, column]
    found = []
    for order in (range(here - 1, -1, -1), range(here + 1, len(same))):
        seen = [place for place in order if not np.isnan(values[place])]
        found.append((abs(seen[0] - here), values[seen[0]]) if seen else None)
    return found


@pytest.fixture(scope="module")
def two_walks():
    _, _, X = walk(60, 4, 0.5)
    return X, RNG.integers(0, 2, 60)


def test_mean_is_linear_interpolation_within_the_trajectory(two_walks):
    X, trajectory = two_walks
    mean = fit_bridge(X, trajectory).mean
    for row, column in np.ndindex(X.shape):
        before, after = neighbours_in_time(X, trajectory, row, column)
        if before and after:
            (a, x), (b, y) = before, after
            assert mean[row, column] == pytest.approx((b * x + a * y) / (a + b), rel=1e-12)
        elif before or after:
            assert mean[row, column] == pytest.approx((before or after)[1], rel=1e-12)


def test_variance_grows_as_that_of_a_bridge(two_walks):
    X, trajectory = two_walks
    variance = fit_bridge(X, trajectory).variance
    for column in range(X.shape[1]):
        steps = []
        for row in range(len(X)):
            before, after = neighbours_in_time(X, trajectory, row, column)
            if not (before or after):
                assert np.isinf(variance[row, column])
                continue
            a, b = (side[0] if side else np.inf for side in (before, after))
            steps.append(variance[row, column] * (1 / a + 1 / b))
        np.testing.assert_allclose(steps, steps[0], rtol=1e-10)  # one variance of a step for the column


@pytest.mark.parametrize("missing", [0.2, 0.6])
def test_entries_of_random_walks_lie_within_two_standard_deviations_as_often_as_said(missing):
    X, gone, gaps = walk(6000, 5, missing, np.random.default_rng(1))
    found = fit_bridge(gaps, np.zeros(len(X), dtype=int))
    inside = np.abs(found.mean - X) <= 2 * np.sqrt(found.variance)
    assert abs(inside[gone].mean() - 0.954) < 0.01


def test_rows_of_several_trajectories_in_any_order_give_what_each_gives_alone():
    _, _, X = walk(80, 3, 0.4)
    trajectory = RNG.integers(0, 3, 80)
    together = fit_bridge(X, trajectory).mean
    for number in range(3):
        rows = trajectory == number
        np.testing.assert_array_equal(together[rows], fit_bridge(X[rows], trajectory[rows]).mean)


def test_a_column_with_few_steps_borrows_from_the_others():
    X, _, gaps = walk(200, 4, 0.3)
    gaps[:, 1] = np.nan
    gaps[[0, 100, 199], 1] = X[[0, 100, 199], 1]
    step = fit_bridge(gaps, np.zeros(200, dtype=int)).variance[50, 1] / 25.0
    assert 0.02 * np.diff(X[:, 1]).var() < step < 50 * np.diff(X[:, 1]).var()


def test_combining_weighs_by_precision():
    bridge = TimeBridge(np.array([[1.0, 1.0, 1.0, 1.0]]), np.array([[4.0, np.inf, 0.0, 0.0]]))
    mean, variance = bridge.combined(np.array([[3.0, 3.0, 3.0, 1.0]]), np.array([[2.0, 2.0, 2.0, 0.0]]))
    np.testing.assert_allclose(mean, [[(3 / 2 + 1 / 4) / (1 / 2 + 1 / 4), 3.0, 1.0, 1.0]])
    np.testing.assert_allclose(variance, [[1 / (1 / 2 + 1 / 4), 2.0, 0.0, 0.0]])


def test_nearest_in_time_takes_the_nearest_row_and_the_earlier_of_two(two_walks):
    X, trajectory = two_walks
    filled = nearest_in_time(X, trajectory)
    np.testing.assert_array_equal(filled[~np.isnan(X)], X[~np.isnan(X)])
    for row, column in np.argwhere(np.isnan(X)):
        before, after = neighbours_in_time(X, trajectory, row, column)
        if before and (not after or before[0] <= after[0]):
            assert filled[row, column] == before[1]
        elif after:
            assert filled[row, column] == after[1]
        else:
            assert filled[row, column] == pytest.approx(np.nanmean(X[:, column]))


@pytest.mark.parametrize("size", [1e-140, 1e140])
def test_units_do_not_matter(size):
    _, _, X = walk(50, 3, 0.4)
    number = np.zeros(50, dtype=int)
    found, other = fit_bridge(X, number), fit_bridge(X * size, number)
    np.testing.assert_allclose(other.mean / size, found.mean, rtol=1e-12)
    np.testing.assert_allclose(np.sqrt(other.variance) / size, np.sqrt(found.variance), rtol=1e-6)

"""Typicality and overlap are shares of training rows, computed row by row, against slow obvious references."""

import numpy as np
import pytest
from scipy.stats import kstest

from sidelight.maps.overlap import group_overlap, group_weights
from sidelight.maps.parzen import ParzenDensity, fit_density

RNG = np.random.default_rng(0)
POINTS = RNG.normal(size=(200, 2))
DENSITY = fit_density(POINTS, RNG.uniform(0.5, 1.0, size=200))


def naive_log_density(density, rows, query):
    """Gaussian Parzen density of some rows at one query, by the formula."""
    p = density.points.shape[1]
    h = density.bandwidths[rows]
    squares = np.square(density.points[rows] - query).sum(axis=1)
    return np.log(np.mean(np.exp(-squares / h) / (np.pi * h) ** (p / 2)))


def test_own_densities_leave_each_row_out():
    every = np.arange(200)
    expected = [naive_log_density(DENSITY, every[every != i], POINTS[i]) for i in every]
    np.testing.assert_allclose(DENSITY.own_log_densities, np.sort(expected), rtol=1e-9)


def test_typicality_of_new_rows_of_the_same_kind_is_uniform_and_far_ones_are_zero():
    share = DENSITY.typicality(RNG.normal(size=(400, 2)))
    assert kstest(share, "uniform").pvalue > 1e-3
    assert DENSITY.typicality(np.array([[1000.0, 0.0], [1e90, 1e90]])).tolist() == [0.0, 0.0]
    assert DENSITY.typicality(np.zeros((1, 2)))[0] > 0.8


def test_typicality_is_row_by_row_and_the_same_with_any_number_of_threads():
    Q = RNG.normal(size=(30, 2))
    whole = DENSITY.typicality(Q)
    assert np.array_equal(whole, np.concatenate([DENSITY.typicality(Q[i : i + 1]) for i in range(30)]))
    assert np.array_equal(whole, DENSITY.typicality(Q, 2))


@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_density_of_few_rows_answers(n):
    density = ParzenDensity(POINTS[:n], np.ones(n))
    share = density.typicality(np.vstack([POINTS[:1], [[1e6, 0.0]]]))
    assert np.isfinite(share).all()
    assert share[1] == 0.0


def test_rows_that_are_all_isolated_are_ranked_by_how_far_they_are():
    """The others' kernels underflow beside a row's own: the sum must be taken without it, not less it."""
    points = 100.0 * np.arange(20.0)[:, None] * np.ones(30)
    density = ParzenDensity(points, np.full(20, 1e-3))
    assert np.isfinite(density.own_log_densities).all()
    assert density.typicality(points.max() * np.full((1, 30), 10.0)).tolist() == [0.0]
    assert density.typicality(points[[0, 10]]).tolist() == [0.0, 0.1]  # the two at the ends have one neighbour only


def test_many_rows_are_ranked_by_a_sample():
    points = np.random.default_rng(1).normal(size=(20_000, 2))
    density = ParzenDensity(points, np.full(20_000, 0.05))
    assert len(density.own_log_densities) == 2000
    share = density.typicality(np.random.default_rng(2).normal(size=(300, 2)))
    assert kstest(share, "uniform").pvalue > 1e-3


def test_weights_are_one_inside_a_category_and_fall_with_the_distance_of_numbers():
    features = np.array([[1.0, 0.0, 0.0], [1.0, 0.0, 2.0], [0.0, 1.0, 0.0]])
    categories = np.array([True, True, False])
    weights = group_weights(np.array([1.0, 0.0, 0.0]), features, categories)
    np.testing.assert_allclose(weights, [1.0, np.exp(-4.0), 0.0])


def test_overlap_is_the_share_of_the_groups_own_rows_that_are_less_usual():
    group = np.arange(200) % 3
    features = np.eye(3)[group]
    Q = np.vstack([RNG.normal(size=(20, 2)), [[50.0, 50.0]]])
    found = group_overlap(DENSITY, Q, np.tile(features[1], (21, 1)), features, np.ones(3, dtype=bool))
    rows = np.flatnonzero(group == 1)
    own = [naive_log_density(DENSITY, rows[rows != i], POINTS[i]) for i in rows]
    expected = [np.mean(np.array(own) < naive_log_density(DENSITY, rows, query)) for query in Q[:-1]]
    np.testing.assert_allclose(found[:-1], expected, atol=1e-12)
    assert found[-1] == 0.0


def test_overlap_with_a_value_that_no_row_has_is_zero():
    features = RNG.normal(size=(200, 1))
    found = group_overlap(DENSITY, POINTS[:3], np.full((3, 1), 99.0), features, np.array([False]))
    assert found.tolist() == [0.0, 0.0, 0.0]

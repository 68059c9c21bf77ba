import numpy as np
import pytest

from sidelight.neighbours.reduction import neighbour_space


def components(n_kinds, n_columns, n=1500, noise=0.5, seed=0):
    """Rows around centres drawn at random, with round noise."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_kinds, n_columns))[rng.integers(n_kinds, size=n)] + noise * rng.normal(
        size=(n, n_columns)
    )


def test_few_components_leave_the_fewest_directions():
    X = components(8, 150)
    space = neighbour_space(X)
    assert space is not None and space.V.shape == (150, 32)
    centres = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[2][:7]
    inside = np.linalg.norm(centres @ space.V, axis=1)
    np.testing.assert_allclose(inside, 1.0, atol=1e-6)  # the span of the centres is kept


def test_every_direction_that_tells_neighbours_is_kept():
    assert neighbour_space(components(100, 90, n=2500, noise=0.1)) is None  # all 90 do


def test_noise_has_no_direction_to_prefer():
    assert neighbour_space(np.random.default_rng(0).normal(size=(1000, 100))) is None


@pytest.mark.parametrize("shape", [(500, 64), (100, 200)])
def test_few_columns_and_few_rows_are_left_alone(shape):
    assert neighbour_space(np.random.default_rng(0).normal(size=shape)) is None


def test_equal_rows_leave_all_columns():
    X = np.repeat(np.random.default_rng(0).normal(size=(20, 100)), 50, axis=0)
    assert neighbour_space(X) is None  # neighbours differ nowhere
    assert neighbour_space(np.ones((300, 100))) is None


def test_space_does_not_depend_on_units_or_origin():
    X = components(8, 100)
    one, other = neighbour_space(X), neighbour_space(1024.0 * X + 3.0)
    np.testing.assert_allclose(abs(np.sum(one.V[:, :7] * other.V[:, :7], axis=0)), 1.0, atol=1e-6)


def test_neighbours_of_a_blurred_signal_are_found_in_it():
    """Rows on a circle in two columns, noise in 198: neighbours of the circle are hidden in all columns."""
    rng = np.random.default_rng(1)
    angle = rng.uniform(0, 2 * np.pi, 2000)
    X = np.c_[8 * np.cos(angle), 8 * np.sin(angle), rng.normal(size=(2000, 198))]
    space = neighbour_space(X)

    def off(rows):
        squares = (rows**2).sum(axis=1) - 2 * rows[:200] @ rows.T
        near = np.argsort(squares, axis=1)[:, 1:11]
        return np.median(abs(np.angle(np.exp(1j * (angle[near] - angle[:200, None])))))

    assert off(space(X)) < 0.85 * off(X)

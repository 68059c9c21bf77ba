"""The forward map under what is known: how much of it, is chosen by leave-one-out error."""

from __future__ import annotations

import numpy as np
import pytest

from sidelight.maps.conditional import conditional_forward


def rows(depends):
    """Latent points, groups as features, and residual rows that depend on the group or not."""
    rng = np.random.default_rng(0)
    Z, group = rng.uniform(-4, 4, size=(150, 2)), np.arange(150) % 3
    turn = Z[:, 0] + (2 * np.pi / 3 * group if depends else 0.0)
    rest = np.column_stack([np.cos(turn), np.sin(turn), Z[:, 1]]) + 0.05 * rng.normal(size=(150, 3))
    return Z, np.eye(3)[group], rest


@pytest.mark.parametrize("kernel", ["gaussian", "student"])
def test_a_residual_that_does_not_depend_on_what_is_known_is_told_by_every_group(kernel):
    Z, features, rest = rows(depends=False)
    assert conditional_forward(Z, features, rest, kernel)[1] == 0.0


def test_a_residual_that_depends_on_what_is_known_is_told_by_its_own_group():
    Z, features, rest = rows(depends=True)
    found, scale = conditional_forward(Z, features, rest, "gaussian")
    assert scale > 0.0
    others = np.roll(features, 1, axis=1)
    own, other = (np.column_stack([Z, scale * known]) for known in (features, others))
    wrong_by, otherwise = (np.square(found(query) - rest)[:, :2].sum() for query in (own, other))
    assert wrong_by < 0.25 * otherwise


def test_the_scale_is_the_one_of_the_least_leave_one_out_error():
    Z, features, rest = rows(depends=True)
    found, scale = conditional_forward(Z, features, rest, "gaussian")
    inputs = found.weights.inputs
    np.testing.assert_array_equal(inputs, np.column_stack([Z, scale * features]))
    for other in (0.0, 0.5, 1.0, 2.0, 4.0):
        Q = np.column_stack([Z, other * features])
        K = np.exp(-((Q[:, None] - Q[None]) ** 2).sum(axis=2))
        np.fill_diagonal(K, 0.0)
        error = np.linalg.norm(K @ rest / K.sum(axis=1, keepdims=True) - rest)
        least = found.leave_one_out_error() * np.linalg.norm(rest - rest.mean(axis=0))
        assert least <= error * (1 + 1e-9)

from __future__ import annotations

import numpy as np
import pytest
from entropy_reference import STORE, data_kernels

from sidelight.objectives.evaluation import Evaluation, WeightedSum
from sidelight.objectives.penalties import Box, Power, Stretch


def stretch(kind, n=15, **settings):
    return Stretch(STORE[kind](data_kernels(n)[0]), **settings)


PENALTIES = {
    "l2": Power(2),
    "l4": Power(4),
    "box": Box(),
    "stretch, dense": stretch("dense"),
    "stretch, sparse": stretch("sparse"),
    "stretch, no background": stretch("sparse", background=0.0),
}


@pytest.mark.parametrize("name", PENALTIES)
def test_gradient_agrees_with_finite_differences(name):
    penalty = PENALTIES[name]
    Z = 1.5 * np.random.default_rng(0).normal(size=(15, 2))
    gradient = penalty.value_and_grad(Z).gradient
    numeric = np.empty_like(Z)
    step = 1e-6
    for place in np.ndindex(*Z.shape):
        move = np.zeros_like(Z)
        move[place] = step
        ahead, behind = (penalty.value_and_grad(Z + s * move).value for s in (1, -1))
        numeric[place] = (ahead - behind) / (2 * step)
    assert np.linalg.norm(gradient - numeric) <= 1e-6 * np.linalg.norm(numeric)


@pytest.mark.parametrize("p", [2, 4])
def test_power_is_the_mean_of_the_powers_of_the_rows(p):
    Z = np.random.default_rng(1).normal(size=(9, 3))
    expected = sum(abs(v) ** p for row in Z for v in row) / 9
    assert Power(p).value_and_grad(Z).value == pytest.approx(expected, rel=1e-13)


def test_box_is_free_inside_and_quadratic_outside():
    Z = np.array([[0.5, -1.0], [3.0, 0.0], [-1.5, 1.0]])
    found = Box().value_and_grad(Z)
    assert found.value == pytest.approx((2.0**2 + 0.5**2) / 3)
    np.testing.assert_allclose(found.gradient, (2 / 3) * np.array([[0, 0], [2.0, 0], [-0.5, 0]]))


@pytest.mark.parametrize("kind", STORE)
@pytest.mark.parametrize("n", [15, 530])
def test_stretch_is_the_mean_squared_distance_of_kernel_neighbours(kind, n):
    K = data_kernels(n)[0]
    Z = np.random.default_rng(2).normal(size=(n, 2))
    R = ((Z[:, None] - Z[None]) ** 2).sum(axis=-1)
    P = K * n / K.sum()
    expected = ((P * R).sum() + 0.01 * (Z**2).sum()) / n
    assert Stretch(STORE[kind](K), background=0.01).value_and_grad(Z).value == pytest.approx(expected, rel=1e-11)


def test_stretch_does_not_depend_on_the_scale_of_the_kernel():
    K = data_kernels(15)[0]
    Z = np.random.default_rng(3).normal(size=(15, 2))
    one, other = (Stretch(STORE["dense"](c * K)).value_and_grad(Z) for c in (1.0, 50.0))
    assert other.value == pytest.approx(one.value, rel=1e-12)
    np.testing.assert_allclose(other.gradient, one.gradient, rtol=1e-10, atol=1e-14)


def test_stretch_without_background_ignores_where_the_points_are():
    penalty = stretch("dense", background=0.0)
    Z = np.random.default_rng(4).normal(size=(15, 2))
    assert penalty.value_and_grad(Z + 5).value == pytest.approx(penalty.value_and_grad(Z).value, rel=1e-10)


@pytest.mark.parametrize("name", PENALTIES)
def test_penalties_vanish_with_the_points_and_leave_them_alone(name):
    Z = np.zeros((15, 2))
    found = PENALTIES[name].value_and_grad(Z)
    assert found.value == 0
    assert not found.gradient.any()
    Z = np.random.default_rng(5).normal(size=(15, 2))
    kept = Z.copy()
    PENALTIES[name].value_and_grad(Z)
    np.testing.assert_array_equal(Z, kept)


class Line:
    def value_and_grad(self, Z):
        return Evaluation(float(Z.sum()), np.ones_like(Z), {"slope": 1.0})


def test_a_weighted_sum_adds_values_and_gradients_and_names_its_parts():
    Z = np.array([[1.0, 2.0], [3.0, 4.0]])
    found = WeightedSum({"line": (2.0, Line()), "power": (0.5, Power(2))}).value_and_grad(Z)
    assert found.value == pytest.approx(2 * 10 + 0.5 * 15)
    np.testing.assert_allclose(found.gradient, 2 + 0.5 * Z)
    assert found.terms == {"slope": 1.0, "line": 10.0, "power": 15.0}

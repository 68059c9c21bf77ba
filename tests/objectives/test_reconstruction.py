from __future__ import annotations

import math

import numpy as np
import pytest

from sidelight.kernels.profiles import profile
from sidelight.objectives.reconstruction import LeaveOneOutReconstruction

VALUES = {
    "gaussian": lambda r2: math.exp(-r2),
    "student": lambda r2: 1 / (1 + r2),
    "quartic": lambda r2: max(1 - r2, 0.0) ** 2,
}


def naive_error(X, Z, name="gaussian"):
    """Each row from all others, one at a time."""
    n, lost = len(X), 0.0
    for i in range(n):
        weights = [0.0 if j == i else VALUES[name](sum((Z[i] - Z[j]) ** 2)) for j in range(n)]
        told = sum(w * x for w, x in zip(weights, X, strict=True)) / sum(weights)
        lost += sum((X[i] - told) ** 2)
    return lost / ((X - X.mean(axis=0)) ** 2).sum()


def made(X, name="gaussian", dtype=np.float64):
    return LeaveOneOutReconstruction(X, profile(name), dtype=dtype)


def numeric_gradient(objective, Z, step=1e-5):
    numeric = np.empty_like(Z)
    for place in np.ndindex(*Z.shape):
        move = np.zeros_like(Z)
        move[place] = step
        ahead, behind = (objective.value_and_grad(Z + s * move).value for s in (1, -1))
        numeric[place] = (ahead - behind) / (2 * step)
    return numeric


@pytest.mark.parametrize("d", [1, 4, 40], ids="{} columns".format)
@pytest.mark.parametrize("name", VALUES)
def test_value_is_that_of_a_loop_over_rows(name, d):
    rng = np.random.default_rng(0)
    X, Z = 5 * rng.normal(size=(14, d)) + 3, 0.3 * rng.normal(size=(14, 2)) + 7
    found = made(X, name)
    assert found.value_and_grad(Z).value == pytest.approx(naive_error(X, Z, name), rel=1e-10)
    assert found.value(Z) == found.value_and_grad(Z).value


@pytest.mark.parametrize("d", [1, 4, 40], ids="{} columns".format)
@pytest.mark.parametrize("q", [1, 2, 5])
@pytest.mark.parametrize("name", VALUES)
def test_gradient_agrees_with_finite_differences(name, q, d):
    rng = np.random.default_rng(1)
    objective = made(rng.normal(size=(13, d)), name)
    Z = 0.3 * rng.normal(size=(13, q))
    gradient = objective.value_and_grad(Z).gradient
    numeric = numeric_gradient(objective, Z)
    assert np.linalg.norm(gradient - numeric) <= 1e-6 * np.linalg.norm(numeric)


def test_gradient_over_several_tiles_agrees_with_finite_differences():
    rng = np.random.default_rng(2)
    objective = made(rng.normal(size=(1100, 3)))
    Z, move = 2 * rng.normal(size=(1100, 2)), rng.normal(size=(1100, 2))
    ahead, behind = (objective.value(Z + s * 1e-5 * move) for s in (1, -1))
    slope = float(np.vdot(objective.value_and_grad(Z).gradient, move))
    assert slope == pytest.approx((ahead - behind) / 2e-5, rel=1e-6)


def test_single_precision_agrees_with_double():
    rng = np.random.default_rng(3)
    X, Z = rng.normal(size=(700, 6)), 3 * rng.normal(size=(700, 2))
    single, double = (made(X, dtype=dtype).value_and_grad(Z) for dtype in (np.float32, np.float64))
    assert single.value == pytest.approx(double.value, rel=1e-5)
    assert np.abs(single.gradient - double.gradient).max() < 1e-4 * np.abs(double.gradient).max()


def test_more_columns_than_rows_are_turned_into_their_span_exactly():
    rng = np.random.default_rng(4)
    X, Z = rng.normal(size=(12, 300)), rng.normal(size=(12, 2))
    objective = made(X)
    assert objective.X.shape == (12, 12)
    assert objective.value(Z) == pytest.approx(naive_error(X, Z), rel=1e-10)


def test_all_points_in_one_place_tell_the_mean_of_the_others():
    X = np.random.default_rng(5).normal(size=(20, 3))
    assert made(X).value(np.zeros((20, 2))) == pytest.approx((20 / 19) ** 2, rel=1e-12)


def test_points_that_fly_apart_do_not_bring_the_error_to_zero():
    X = np.random.default_rng(6).normal(size=(30, 2))
    assert made(X).value(1e3 * X) == pytest.approx(1.0)  # beyond reach of all: the mean
    assert made(X).value(3 * X) < made(X).value(1e3 * X)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_row_beyond_the_reach_of_all_others_leaves_everything_finite(dtype):
    rng = np.random.default_rng(7)
    X, Z = rng.normal(size=(40, 5)), rng.normal(size=(40, 2))
    for far in (5.0, 8.0, 9.0, 10.0, 13.0, 1e6):
        Z[0] = far
        found = made(X, dtype=dtype).value_and_grad(Z)
        assert np.isfinite(found.value)
        assert np.isfinite(found.gradient).all()


def test_value_does_not_depend_on_where_the_points_are_nor_on_the_units_of_the_data():
    rng = np.random.default_rng(8)
    X, Z = rng.normal(size=(25, 3)), rng.normal(size=(25, 2))
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    value = made(X).value(Z)
    assert made(1e-8 * X + 1.0).value(Z @ turn + 100) == pytest.approx(value, rel=1e-6)


def test_rows_that_are_all_the_same_cost_nothing():
    found = made(np.ones((10, 3))).value_and_grad(np.random.default_rng(9).normal(size=(10, 2)))
    assert found.value == 0.0
    assert (found.gradient == 0).all()


def test_the_bytes_do_not_depend_on_the_threads():
    """Bytes may be compared: fixed tiles, each on one BLAS thread, are added in the order of the tiles."""
    rng = np.random.default_rng(10)
    X, Z = rng.normal(size=(1300, 4)), rng.normal(size=(1300, 2))
    one, two = (LeaveOneOutReconstruction(X, profile("gaussian"), n_jobs=jobs).value_and_grad(Z) for jobs in (1, 2))
    assert one.value == two.value
    assert one.gradient.tobytes() == two.gradient.tobytes()

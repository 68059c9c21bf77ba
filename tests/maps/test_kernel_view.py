"""Kernel ridge regression of a view: against its definition, rows left out by hand, sums, and what has no kernel."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge

from sidelight.maps.kernel_view import KernelShape, best_shape, fit_centres, fit_sums, kernel_sums


def pairs(n=60, seed=0, scale=(1.0, 1.0, 1.0)):
    rng = np.random.default_rng(seed)
    U = rng.normal(size=(n, 3)) * scale
    Y = np.column_stack([np.sin(2 * U[:, 0] / scale[0]), U[:, 1] / scale[1]]) + 0.1 * rng.normal(size=(n, 2))
    return U, Y


SHAPE = KernelShape(np.zeros(3), np.full(3, 1.5), 0.7, 0.05)


def test_it_is_kernel_ridge_regression():
    (U, Y), (new, _) = pairs(), pairs(10, seed=1)
    rival = KernelRidge(alpha=0.05, kernel="rbf", gamma=0.7 / 1.5**2).fit(U, Y - Y.mean(axis=0))
    found = fit_centres(1, SHAPE, U, Y)
    np.testing.assert_allclose(found.predict(new), rival.predict(new) + Y.mean(axis=0), atol=1e-10)


def test_its_error_is_that_of_rows_left_out_one_by_one():
    U, Y = pairs(25)
    Y = Y - Y.mean(axis=0)
    left = []
    for i in range(len(U)):
        others = np.arange(len(U)) != i
        K = SHAPE.kernel(SHAPE.inside(U[others]), SHAPE.inside(U[others])) + 0.05 * np.eye(len(U) - 1)
        left.append(Y[i] - SHAPE.kernel(SHAPE.inside(U[[i]]), SHAPE.inside(U[others])) @ np.linalg.solve(K, Y[others]))
    share = (np.square(left)).sum() / (Y**2).sum()
    assert fit_centres(1, SHAPE, U, Y).error == pytest.approx(share, rel=1e-9)


def test_sums_over_rows_that_are_all_centres_give_the_same_regression():
    U, Y = pairs()
    exact, centres = fit_centres(1, SHAPE, U, Y), SHAPE.inside(U)
    parts = [kernel_sums(SHAPE, centres, U[part], Y[part]) for part in (slice(0, 20), slice(20, 60))]
    sums = {name: parts[0][name] + parts[1][name] for name in parts[0]}
    found = fit_sums(1, SHAPE, centres, sums, U, Y)
    np.testing.assert_allclose(found.predict(U), exact.predict(U), atol=1e-5)
    assert found.error == pytest.approx(exact.error, rel=1e-3)


def test_columns_of_unequal_units_get_units_of_their_own():
    U, Y = pairs(200, scale=(1.0, 1e-2, 30.0))
    shape = best_shape(U, Y)
    assert shape.units.max() / shape.units.min() > 100
    new, truth = pairs(100, seed=1, scale=(1.0, 1e-2, 30.0))
    found = fit_centres(0, shape, U, Y).predict(new)
    assert ((found - truth) ** 2).sum() < 0.1 * ((truth - truth.mean(axis=0)) ** 2).sum()


def test_what_is_constant_or_too_few_has_no_kernel():
    U, Y = pairs(20)
    assert best_shape(U[:2], Y[:2]) is None
    assert best_shape(U, np.ones_like(Y)) is None
    assert best_shape(np.ones_like(U), Y) is None
    assert best_shape(U[:0], Y[:0]) is None


def test_noise_is_not_predicted():
    rng = np.random.default_rng(0)
    U, Y, new = rng.normal(size=(150, 4)), rng.normal(size=(150, 2)), rng.normal(size=(50, 4))
    found = fit_centres(0, best_shape(U, Y), U, Y)
    assert found.error > 0.9
    assert np.abs(found.predict(new)).max() < 1.0

"""The kernel of what is known, and its strata."""

from __future__ import annotations

import numpy as np

from sidelight.kernels.given_kernels import (
    factor_error,
    gaussian_factors,
    given_factors,
    given_kernel,
    strata_of,
    stratum_factors,
)
from sidelight.side.given import Given


def test_a_kernel_of_many_columns_leaves_no_row_alone():
    features = np.random.default_rng(0).normal(size=(200, 12)) / np.sqrt(0.3)
    G = given_kernel(features).to_dense()
    assert G.mean() > 0.05
    np.testing.assert_allclose(np.diag(G), 1.0)


def test_many_categories_do_not_take_the_machine_down():
    """Differences of one-hot codes of 1,500 categories between 500 rows would be 3 GB."""
    G = given_kernel(np.eye(1500))
    assert 0.05 < G.tiles[0, 1].mean() < 1.0


def test_strata_are_categories_and_cells_of_numbers_together():
    n = 400
    table = {"who": np.array(["a", "b"])[np.arange(n) % 2], "age": np.random.default_rng(0).uniform(size=n)}
    given = Given.learn("Model", table, n)
    categories, strata = strata_of(given, given.encode("Model", table, n))
    np.testing.assert_array_equal(categories, np.arange(n) % 2)
    assert strata.max() + 1 == 18
    assert all(len(np.unique(categories[strata == s])) == 1 for s in range(18))


def test_few_distinct_rows_are_factored_exactly():
    features = np.eye(7)[np.arange(90) % 7]
    A = given_factors(features)
    assert A.shape == (90, 7)
    np.testing.assert_allclose(A @ A.T, given_kernel(features).to_dense(), atol=1e-6)


def test_the_factors_of_numbers_leave_out_what_they_say():
    rng = np.random.default_rng(0)
    features = np.column_stack([rng.normal(size=400), np.repeat([0.0, 1.0], 200)]) / np.sqrt(0.3)
    A = gaussian_factors(features, 1.0)
    G = np.exp(-((features[:, None] - features[None]) ** 2).sum(axis=2))
    left_out = G - A @ A.T
    assert A.shape[1] < 40
    assert factor_error(A) < 2e-3
    np.testing.assert_allclose(factor_error(A), np.diag(left_out).mean(), atol=1e-12)
    room = np.sqrt(np.maximum(np.outer(np.diag(left_out), np.diag(left_out)), 0.0))
    assert (np.abs(left_out) <= room + 1e-7).all()


def test_with_few_factors_the_kernel_is_wider_and_no_row_loses_itself():
    features = np.random.default_rng(0).normal(size=(500, 2)) / np.sqrt(0.3)
    A = given_factors(features, 12)
    D = ((features[:, None] - features[None]) ** 2).sum(axis=2)
    assert A.shape[1] <= 12
    np.testing.assert_allclose(np.einsum("ij,ij->i", A, A), 1.0)
    errors = {h: np.abs(A @ A.T - np.exp(-D / h)).mean() for h in 1.3 ** np.arange(20)}
    best = min(errors, key=errors.get)
    assert errors[best] < 0.02
    assert 2.0 < best < 50.0


def test_the_kernel_of_strata_is_that_of_categories():
    strata = np.array([0, 2, 1, 2])
    A = stratum_factors(strata)
    expected = np.where(strata[:, None] == strata, 1.0, np.exp(-2.0))
    np.testing.assert_allclose(A @ A.T, expected, atol=1e-12)

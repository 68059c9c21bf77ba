"""The kernel of what is known, and its strata."""

from __future__ import annotations

import numpy as np

from sidelight.kernels.known import given_kernel, strata_of
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

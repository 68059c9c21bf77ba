"""Averages at places on a map by a grid, against those over all pairs."""

from __future__ import annotations

import numpy as np
import pytest

from sidelight.maps.latent_grid import LatentGrid, grid_is_affordable


def rows(q, n=300):
    rng = np.random.default_rng(q)
    return rng.normal(size=(n, q)), rng.normal(size=(n, 4)) + 1.0


@pytest.mark.parametrize("q", [1, 2, 3])
def test_the_grid_smooths_as_all_pairs_do(q):
    Z, X = rows(q)
    W = np.exp(-((Z[:, None] - Z[None]) ** 2).sum(axis=2) / 0.6)
    expected = W @ X
    found = LatentGrid.of(Z, 0.6).smoothed(X)
    assert np.abs(found - expected).max() < 0.03 * np.abs(expected).max()
    some = np.arange(0, 300, 3)
    part = LatentGrid.of(Z, 0.6).smoothed(X[some], some)
    assert np.abs(part - W[np.ix_(some, some)] @ X[some]).max() < 0.03 * np.abs(expected).max()


def test_a_map_of_many_dimensions_or_of_fine_detail_has_no_grid():
    Z, _ = rows(2)
    assert grid_is_affordable(Z, 0.6)
    assert not grid_is_affordable(Z, 1e-4)
    assert not grid_is_affordable(rows(4)[0], 0.6)


def test_a_map_that_is_one_point_has_places():
    Z = np.zeros((5, 2))
    np.testing.assert_allclose(LatentGrid.of(Z, 1.0).smoothed(np.ones((5, 1))), 5.0, rtol=0.08)

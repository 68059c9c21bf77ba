"""Squared distances: those of differences, each row by itself, also in the tiles of the latent kernel."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from sidelight.neighbours.distances import PairDistances, padded_product, squared_distances


@pytest.mark.parametrize("d", [1, 2, 8, 9, 40])
def test_squared_distances_are_those_of_differences(d):
    rng = np.random.default_rng(1)
    Q, A = rng.normal(size=(13, d)), rng.normal(size=(21, d))
    np.testing.assert_allclose(squared_distances(Q, A), cdist(Q, A, "sqeuclidean"), rtol=1e-12)
    assert (squared_distances(A, A) >= 0).all()


@pytest.mark.parametrize("d", [2, 40])
def test_a_row_has_the_same_bits_alone_and_in_company(d):
    rng = np.random.default_rng(2)
    Q, A = rng.normal(size=(13, d)), rng.normal(size=(21, d))
    for i in range(len(Q)):
        np.testing.assert_array_equal(squared_distances(Q[i : i + 1], A)[0], squared_distances(Q, A)[i])
        np.testing.assert_array_equal(padded_product(Q[i : i + 1], A.T)[0], padded_product(Q, A.T)[i])


def test_queries_from_far_away_do_not_overflow():
    assert np.isfinite(squared_distances(np.array([[1e200, -1e300]]), np.zeros((3, 2)))).all()


@pytest.mark.parametrize("q", [1, 2, 3, 4, 7])
def test_a_tile_is_filled_with_the_distances_of_its_pairs(q):
    Z = np.random.default_rng(3).normal(size=(30, q))
    D, distances, spare = cdist(Z, Z, "sqeuclidean"), PairDistances(Z), np.empty((20, 20))
    for rows, cols in ((slice(0, 20), slice(0, 20)), (slice(0, 20), slice(20, 30))):
        K = np.empty((20, cols.stop - cols.start))
        assert distances.fill(K, rows, cols, spare) is K
        np.testing.assert_allclose(K, D[rows, cols], rtol=1e-12, atol=1e-13)
    own = distances.fill(np.empty((20, 20)), slice(0, 20), slice(0, 20), spare)
    np.testing.assert_array_equal(np.diag(own), 0.0)


def test_close_pairs_of_a_wide_map_keep_their_digits_in_float32():
    """A matrix product would be off by 1e-3 here."""
    Z = np.array([[100.0, 100.0], [100.0, 100.01]], dtype=np.float32)
    K = PairDistances(Z).fill(np.empty((2, 2), np.float32), slice(0, 2), slice(0, 2), np.empty((2, 2), np.float32))
    assert K[0, 1] == pytest.approx(float(Z[1, 1] - Z[0, 1]) ** 2, rel=1e-6)

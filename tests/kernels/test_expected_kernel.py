"""The expected kernel of rows with uncertain entries, against samples and a full search for the bandwidths."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import entr

from sidelight.kernels.bandwidths import perplexity_rows
from sidelight.kernels.expected import effective_squares, expected_dense_kernel, expected_neighbours
from sidelight.neighbours.search import nearest

RNG = np.random.default_rng(0)
MEANS = RNG.normal(size=(40, 3))
VARIANCE = RNG.uniform(0, 1, (40, 3)) * (RNG.random((40, 3)) < 0.4)


def test_the_closed_form_is_the_mean_of_the_kernel_over_draws():
    K = expected_dense_kernel(MEANS, VARIANCE, 2.0, dtype=np.float64).to_dense()
    draws = MEANS + np.sqrt(VARIANCE) * np.random.default_rng(1).normal(size=(20_000, 40, 3))
    sampled = np.exp(-((draws[:, :6, None] - draws[:, None, 6:12]) ** 2).sum(axis=3) / 2.0)
    error = np.abs(sampled.mean(axis=0) - K[:6, 6:12])
    assert (error <= 5 * sampled.std(axis=0) / np.sqrt(20_000) + 1e-12).all()
    assert np.array_equal(K, K.T)
    assert (np.diag(K) == 1.0).all()


def test_certain_rows_have_the_plain_kernel_and_distances():
    near = nearest(MEANS, k=12)
    found = expected_neighbours(MEANS, np.zeros_like(MEANS), near, 5.0)
    np.testing.assert_allclose(found.distance, near.distance, rtol=1e-14)
    K = expected_dense_kernel(MEANS, np.zeros_like(MEANS), 2.0, dtype=np.float64).to_dense()
    np.testing.assert_allclose(K, np.exp(-((MEANS[:, None] - MEANS) ** 2).sum(axis=2) / 2.0), rtol=1e-12)


@pytest.mark.parametrize("perplexity", [4.0, 7.0])
def test_the_fixed_point_has_the_weights_of_a_search_for_the_bandwidth(perplexity):
    near = nearest(MEANS, k=15)
    found = expected_neighbours(MEANS, VARIANCE, near, perplexity)
    W = perplexity_rows(found.distance**2, perplexity)[0]
    for i in range(0, 40, 5):
        split = (MEANS[i] - MEANS[near.index[i]]) ** 2
        v = VARIANCE[i] + VARIANCE[near.index[i]]

        def weights(log_beta, split=split, v=v):
            energy = np.exp(log_beta) * effective_squares(split, v, np.exp(-log_beta))
            w = np.exp(energy.min() - energy)
            return w / w.sum()

        def excess(log_beta, weights=weights):
            w = weights(log_beta)
            return entr(w).sum() - np.log(perplexity)

        np.testing.assert_allclose(W[i], weights(brentq(excess, -8, 8)), atol=0.01)


def test_an_uncertain_column_counts_less_and_an_uncertain_row_is_less_of_a_neighbour():
    split = np.array([[4.0, 0.0], [0.0, 4.0], [0.0, 0.0]])
    certain = effective_squares(split, np.zeros((3, 2)), 1.0)
    column = effective_squares(split, np.array([0.0, 5.0]), 1.0)
    assert column[1] - column[2] < 0.2 * (certain[1] - certain[2])
    assert column[0] - column[2] == pytest.approx(certain[0] - certain[2])
    assert column[2] > certain[2]


def test_equal_rows_and_one_neighbour_are_no_trouble():
    means = np.zeros((6, 2))
    found = expected_neighbours(means, np.eye(6, 2), nearest(means, k=4), 2.0)
    assert np.isfinite(found.distance).all()
    assert np.isfinite(expected_neighbours(means, np.eye(6, 2), nearest(means, k=1), 1.0).distance).all()

from __future__ import annotations

import numpy as np
import pytest

from sidelight.neighbours.candidates import ABSENT, closest, collected, product_error


def lists(m=40, w=25, seed=0):
    """Integer coordinates on a line, so that there are ties, and lists of unequal length."""
    rng = np.random.default_rng(seed)
    X, Q = rng.integers(0, 12, size=200).astype(float), rng.integers(0, 12, size=m).astype(float)
    index = np.array([rng.choice(200, size=w, replace=False) for _ in range(m)])
    index[rng.random((m, w)) < 0.3] = ABSENT
    return X, Q, index


@pytest.mark.parametrize("error", [0.0, 0.4, 30.0])
@pytest.mark.parametrize("k", [1, 5])
def test_the_answer_is_that_of_the_measure_however_the_squares_were_rounded(error, k):
    X, Q, index = lists()
    distance = np.where(index == ABSENT, np.inf, np.abs(X[np.where(index == ABSENT, 0, index)] - Q[:, None]))
    D = distance**2 + np.random.default_rng(1).uniform(-error, error, size=index.shape)
    found, measured = closest(D, index, k, np.full(len(Q), error), lambda rows, near: np.abs(X[near] - Q[rows, None]))
    for i in range(len(Q)):
        expected = sorted(zip(distance[i], index[i], strict=True))[:k]
        assert found[i].tolist() == [j for _, j in expected]
        assert measured[i].tolist() == [d for d, _ in expected]


def test_triples_become_lists_of_the_longest_length():
    row, index, value = np.array([0, 2, 2, 2, 3]), np.arange(5), np.arange(5) / 4
    D, listed = collected(row, index, value, 5)
    assert D.shape == listed.shape == (5, 3)
    assert listed[2].tolist() == [1, 2, 3]
    assert listed[0].tolist() == [0, ABSENT, ABSENT]
    assert np.isinf(D[[1, 4]]).all()
    assert (listed[[1, 4]] == ABSENT).all()


def test_rounding_of_a_product_in_float32_stays_within_its_bound():
    rng = np.random.default_rng(2)
    A, B = (rng.normal(size=(60, 70)).astype(np.float32) + 5 for _ in range(2))
    norms = [np.einsum("ij,ij->i", M, M) for M in (A, B)]
    rounded = norms[0][:, None] + norms[1] - 2 * (A @ B.T)
    exact = ((A[:, None].astype(float) - B) ** 2).sum(axis=-1)
    error = product_error(np.sqrt(norms[0][:, None].astype(float)) + np.sqrt(norms[1]), 70)
    assert (np.abs(rounded - exact) <= error).all()
    assert np.abs(rounded - exact).max() > 1e-3 * error.min()

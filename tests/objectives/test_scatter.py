"""Scatter of pairs against sums over listed differences."""

from __future__ import annotations

import numpy as np
import pytest

from sidelight.objectives.scatter import LabelScatter, PairScatter, pooled

RNG = np.random.default_rng(0)
T = RNG.normal(size=(12, 4))
LABELS = np.array([0, 0, 1, 2, 1, 0, 2, 2, 1, 0, -1, -1])


def listed(pairs):
    D = np.array([T[i] - T[j] for i, j in pairs])
    return D.T @ D / (2 * len(pairs))


def pairs_of(labels):
    everything = [(i, j) for i in range(len(labels)) for j in range(i) if labels[i] >= 0 and labels[j] >= 0]
    return [p for p in everything if labels[p[0]] == labels[p[1]]], [
        p for p in everything if labels[p[0]] != labels[p[1]]
    ]


def rank_of(pairs):
    """Dimensions of the space of differences, from their list."""
    rows = np.zeros((len(pairs), 12))
    for row, (i, j) in zip(rows, pairs, strict=True):
        row[i], row[j] = 1, -1
    return np.linalg.matrix_rank(rows)


def test_pairs_by_the_laplacian_are_the_mean_of_outer_products():
    pairs = np.array([[0, 1], [4, 2], [7, 3], [0, 5], [1, 5]])
    scatter = PairScatter(pairs, 12)
    np.testing.assert_allclose(scatter.matrix(T), listed(pairs), atol=1e-14)
    assert (scatter.n_pairs, scatter.n_free) == (5, rank_of(pairs)) == (5, 4)


@pytest.mark.parametrize("different", [False, True])
def test_labels_are_all_pairs_without_listing_them(different):
    pairs = pairs_of(LABELS)[int(different)]
    scatter = LabelScatter(LABELS, different=different)
    assert (scatter.n_pairs, scatter.n_free) == (len(pairs), rank_of(pairs))
    np.testing.assert_allclose(scatter.matrix(T), listed(pairs), atol=1e-14)


def test_one_class_has_no_different_pairs():
    scatter = LabelScatter(np.zeros(12, dtype=int), different=True)
    assert (scatter.n_pairs, scatter.n_free) == (0, 0)
    assert np.abs(scatter.matrix(T)).max() < 1e-13


def test_no_pairs_are_zero():
    scatter = PairScatter(np.empty((0, 2), dtype=int), 12)
    assert not scatter.matrix(T).any()
    assert (scatter.n_pairs, scatter.n_free) == (0, 0)


def test_matrix_is_symmetric_to_the_bit():
    M = LabelScatter(LABELS).matrix(T)
    assert (M == M.T).all()


def test_pooling_is_what_further_pairs_would_do():
    pairs = np.array([[0, 1], [2, 3], [4, 5]])
    two, one = listed(pairs[:2]), listed(pairs[2:])
    np.testing.assert_allclose(pooled(two, 2, one, 1.0), listed(pairs), atol=1e-14)
    np.testing.assert_array_equal(pooled(two, 0, one, 0.0), one)

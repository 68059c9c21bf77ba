"""Scatter of pairs against sums over listed differences."""

from __future__ import annotations

import numpy as np
import pytest

from sidelight.objectives.scatter import LabelScatter, NoScatter, PairScatter

RNG = np.random.default_rng(0)
T = RNG.normal(size=(12, 4))
LABELS = np.array([0, 0, 1, 2, 1, 0, 2, 2, 1, 0, -1, -1])


def listed(same, different):
    M = np.zeros((4, 4))
    for sign, pairs in ((1.0, same), (-1.0, different)):
        for i, j in pairs:
            M += sign * np.outer(T[i] - T[j], T[i] - T[j])
    return M / (2 * max(len(same) + len(different), 1))


def pairs_of(labels):
    everything = [(i, j) for i in range(len(labels)) for j in range(i) if labels[i] >= 0 and labels[j] >= 0]
    return [p for p in everything if labels[p[0]] == labels[p[1]]], [
        p for p in everything if labels[p[0]] != labels[p[1]]
    ]


def test_pairs_by_the_laplacian_are_the_sum_of_outer_products():
    same, different = np.array([[0, 1], [4, 2], [7, 3], [0, 5]]), np.array([[1, 2], [9, 0]])
    scatter = PairScatter(same, different, 12)
    np.testing.assert_allclose(scatter.matrix(T), listed(same, different), atol=1e-14)
    assert (scatter.n_same, scatter.n_different) == (4, 2)
    assert scatter.balance == pytest.approx(1 / 3)


def test_labels_are_all_pairs_without_listing_them():
    same, different = pairs_of(LABELS)
    scatter = LabelScatter(LABELS)
    assert (scatter.n_same, scatter.n_different) == (len(same), len(different))
    np.testing.assert_allclose(scatter.matrix(T), listed(same, different), atol=1e-14)


def test_labels_of_same_pairs_alone():
    same, _ = pairs_of(LABELS)
    scatter = LabelScatter(LABELS, only_same=True)
    assert (scatter.n_same, scatter.n_different) == (len(same), 0)
    np.testing.assert_allclose(scatter.matrix(T), listed(same, []), atol=1e-14)


def test_the_same_pairs_can_be_had_alone():
    same, different = pairs_of(LABELS)
    for scatter in (LabelScatter(LABELS), PairScatter(np.array(same), np.array(different), 12)):
        np.testing.assert_allclose(scatter.same().matrix(T), listed(same, []), atol=1e-14)
    assert NoScatter().same().n_pairs == 0


def test_nothing_said_is_zero_and_counts_as_same():
    assert not NoScatter().matrix(T).any()
    assert NoScatter().balance == 1.0


def test_matrix_is_symmetric_to_the_bit():
    M = LabelScatter(LABELS).matrix(T)
    assert (M == M.T).all()

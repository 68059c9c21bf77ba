"""Rows that hold each other: when distances of neighbours leave nothing to move."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from sidelight.datasets import swiss_roll
from sidelight.neighbours.graph import joined_graph
from sidelight.neighbours.search import nearest
from sidelight.unfolding._rigidity import is_rigid


def graph_of(edges, n):
    A = np.zeros((n, n))
    for i, j in edges:
        A[i, j] = A[j, i] = 1.0
    return csr_array(A)


def test_two_tetrahedra_are_one_body_if_they_share_four_rows_and_hinge_on_three():
    """Of six rows in three dimensions: {0, 1, 2, 3, 4} and {1, 2, 3, 4, 5}, or {0, 1, 2, 3} and {1, 2, 3, 5}."""
    X = np.random.default_rng(0).normal(size=(6, 3))
    sharing_four = [(2, j) for j in (0, 1, 3, 4)] + [(3, j) for j in (1, 4, 5)]
    assert is_rigid(X, graph_of([*sharing_four, (2, 5)], 6))
    hinge = [(2, 0), (2, 1), (2, 3), (3, 5), (3, 1)]
    assert not is_rigid(X[[0, 1, 2, 3, 5]], graph_of([(i - (i == 5), j - (j == 5)) for i, j in hinge], 5))


@pytest.mark.parametrize(("k", "rigid"), [(4, False), (12, True)])
def test_a_roll_is_rigid_with_many_neighbours_and_not_with_few(k, rigid):
    X = swiss_roll(200, random_state=0).X
    assert is_rigid(X, joined_graph(X, nearest(X, k=k))) is rigid


def test_rows_with_more_columns_than_neighbours_are_not_rigid():
    X = np.random.default_rng(0).normal(size=(80, 40))
    assert not is_rigid(X, joined_graph(X, nearest(X, k=10)))


def test_columns_in_which_nothing_varies_do_not_count():
    X = np.zeros((40, 30))
    X[:, :2] = np.random.default_rng(0).normal(size=(40, 2))
    assert is_rigid(X, joined_graph(X, nearest(X, k=12)))

"""Landmark scaling: PCA with straight distances, Isomap along a graph; a start sized by the objective."""

from __future__ import annotations

import numpy as np
from scipy.sparse.csgraph import shortest_path
from sklearn.decomposition import PCA

from sidelight.neighbours.graph import joined_graph
from sidelight.neighbours.landmarks import landmark_distances
from sidelight.neighbours.search import Neighbours, nearest
from sidelight.solvers.anneal import best_size
from sidelight.solvers.eigen import landmark_scaling


def up_to_sign(A, B):
    return np.minimum(np.abs(A - B).max(axis=0), np.abs(A + B).max(axis=0)).max()


def test_all_rows_as_landmarks_and_straight_distances_is_pca():
    X = np.random.default_rng(0).normal(size=(80, 6)) * np.array([5, 4, 3, 1, 1, 1])
    rows, D = landmark_distances(X, None, n_landmarks=80)
    assert up_to_sign(landmark_scaling(D, rows, 3), PCA(3).fit_transform(X)) < 1e-9


def test_few_landmarks_recover_points_of_a_plane_exactly():
    X = np.random.default_rng(1).normal(size=(300, 2)) * np.array([3, 1])
    rows, D = landmark_distances(X, None, n_landmarks=20)
    Y = landmark_scaling(D, rows, 2)
    distances = np.linalg.norm(X[:, None] - X[None], axis=2)
    np.testing.assert_allclose(np.linalg.norm(Y[:, None] - Y[None], axis=2), distances, atol=1e-8)


def test_landmark_distances_are_shortest_paths():
    X = np.random.default_rng(2).normal(size=(70, 3))
    graph = joined_graph(X, nearest(X, k=6))
    rows, D = landmark_distances(X, graph, n_landmarks=40, n_jobs=2)
    np.testing.assert_allclose(D, shortest_path(graph, directed=False)[rows], rtol=1e-12)


def test_landmark_distances_of_precomputed_are_its_rows():
    D = np.abs(np.subtract.outer(np.arange(9.0), np.arange(9.0)))
    rows, found = landmark_distances(D, None, n_landmarks=4, precomputed=True)
    np.testing.assert_array_equal(found, D[rows])


def test_rows_that_are_all_the_same_have_no_coordinates():
    assert landmark_scaling(np.zeros((5, 9)), np.arange(5), 2).shape == (9, 0)


def test_a_one_sided_neighbour_is_no_edge():
    # 0-1-2 are close; 3 reaches to 2, but 2 has two nearer ones
    X = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
    found = Neighbours(np.array([[1, 2], [0, 2], [1, 0], [4, 2], [3, 5], [4, 3]]), np.ones((6, 2)))
    graph = joined_graph(X, found).toarray()
    assert graph[0, 1] == 1
    assert graph[3, 2] == 8  # not as a neighbour, but as the shortest link of two pieces
    assert graph[3, 1] == 0


def test_the_start_takes_the_size_with_the_lowest_value():
    start = np.random.default_rng(3).normal(size=(50, 2))
    chosen = best_size(lambda Z: (float((Z.std(axis=0).max() - 2.5) ** 2), Z, {}), start)
    np.testing.assert_allclose(chosen, start * 3 / start.std(axis=0).max())
    np.testing.assert_array_equal(best_size(lambda Z: (0.0, Z, {}), np.zeros((4, 2))), np.zeros((4, 2)))

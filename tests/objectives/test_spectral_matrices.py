from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree, shortest_path
from sklearn.manifold._locally_linear import barycenter_kneighbors_graph
from sklearn.neighbors import radius_neighbors_graph

from sidelight.neighbours.search import nearest
from sidelight.objectives.spectral import (
    centred_kernel,
    edge_weights,
    geodesic_squares,
    inverse_kernel,
    laplacian,
    lle_matrix,
    local_squares,
    neighbour_graph,
    padded_lists,
    radius_graph,
    reconstruction_weights,
    shifted_kernel,
)

X = np.random.default_rng(0).normal(size=(60, 3))
NEAR = nearest(X, k=6)
SQUARES = ((X[:, None] - X[None]) ** 2).sum(axis=2)


def test_reconstruction_weights_are_those_of_scikit_learn():
    ours = np.zeros((60, 60))
    np.put_along_axis(ours, NEAR.index, reconstruction_weights(X, NEAR.index), axis=1)
    np.testing.assert_allclose(ours, barycenter_kneighbors_graph(X, 6).toarray(), atol=1e-10)


def test_weights_from_distances_alone_are_the_same():
    np.testing.assert_allclose(local_squares(SQUARES, NEAR.index), reconstruction_weights(X, NEAR.index), atol=1e-9)


def test_weights_of_rows_that_are_all_the_same_are_finite_and_equal():
    np.testing.assert_allclose(reconstruction_weights(np.ones((5, 2)), np.array([[1, 2], [0, 2]])), 0.5)


def test_lle_matrix_measures_what_reconstruction_misses():
    W = reconstruction_weights(X, NEAR.index)
    Y = np.random.default_rng(1).normal(size=(60, 2))
    missed = sum(np.sum((Y[i] - W[i] @ Y[NEAR.index[i]]) ** 2) for i in range(60))
    L = lle_matrix(W, NEAR.index)
    assert np.trace(Y.T @ (L @ Y)) == pytest.approx(missed)
    np.testing.assert_allclose(L @ np.ones(60), 0, atol=1e-12)


@pytest.mark.parametrize("heat", [None, 0.7])
def test_laplacian_measures_differences_along_the_edges(heat):
    graph = neighbour_graph(X, NEAR)
    L, trivial = laplacian(edge_weights(graph, heat))
    y = np.random.default_rng(2).normal(size=60)
    lengths = graph.toarray()
    W = np.where(lengths > 0, 1.0 if heat is None else np.exp(-(lengths**2) / heat), 0.0)
    assert y @ (L @ y) == pytest.approx(0.5 * (W * np.subtract.outer(y, y) ** 2).sum())
    np.testing.assert_allclose(L @ trivial, 0, atol=1e-12)


def test_normalised_laplacian_solves_the_generalised_problem():
    W = edge_weights(neighbour_graph(X, NEAR), 0.7)
    (plain, _), (normed, trivial) = laplacian(W), laplacian(W, normalised=True)
    R = np.diag(W.toarray().sum(axis=1))
    values, vectors = np.linalg.eigh(normed.toarray())
    Y = vectors / np.sqrt(np.diag(R))[:, None]
    np.testing.assert_allclose(plain @ Y, R @ Y * values, atol=1e-10)
    np.testing.assert_allclose(normed @ trivial, 0, atol=1e-12)


def test_union_keeps_an_edge_that_one_side_names_and_mutual_does_not():
    points = np.array([[0.0], [1.0], [2.0], [5.0]])
    near = nearest(points, k=2)
    union, mutual = (neighbour_graph(points, near, kind=kind).toarray() for kind in ("union", "mutual"))
    assert union[3, 1] == 4
    assert mutual[3, 1] == 0
    assert mutual[3, 2] == 3  # the shortest link of two pieces


@pytest.mark.parametrize("kind", ["union", "mutual"])
def test_pieces_are_joined_by_their_shortest_link(kind):
    far = np.concatenate([X[:30], X[30:] + 50])
    graph = neighbour_graph(far, nearest(far, k=5), kind=kind)
    assert connected_components(graph, directed=False)[0] == 1
    between = graph.toarray()[:30, 30:]
    gap = np.linalg.norm(far[:30, None] - far[None, 30:], axis=2)
    assert between[between > 0] == pytest.approx([gap.min()])


def test_geodesics_of_some_rows_are_rows_of_all():
    graph = neighbour_graph(X, NEAR)
    every = geodesic_squares(graph)
    np.testing.assert_allclose(every, shortest_path(graph, directed=False) ** 2)
    np.testing.assert_array_equal(geodesic_squares(graph, np.array([4, 9]), n_jobs=2), every[[4, 9]])


def test_lists_hold_the_neighbours_of_the_graph():
    graph = neighbour_graph(X, NEAR)
    lists = padded_lists(graph)
    for i in (0, 7, 59):
        assert set(lists[i][lists[i] >= 0]) == set(np.flatnonzero(graph.toarray()[i]))


def test_centred_squares_are_inner_products_of_centred_rows():
    inner = (X - X.mean(axis=0)) @ (X - X.mean(axis=0)).T
    np.testing.assert_allclose(centred_kernel(SQUARES), inner, atol=1e-10)


@pytest.mark.parametrize("precomputed", [False, True])
def test_a_radius_that_connects_gives_the_graph_of_scikit_learn(precomputed):
    ours = radius_graph(np.sqrt(SQUARES) if precomputed else X, 1.9, precomputed=precomputed, n_jobs=2)
    theirs = radius_neighbors_graph(X, 1.9, mode="distance")
    assert connected_components(theirs)[0] == 1
    np.testing.assert_allclose(ours.toarray(), theirs.toarray(), atol=1e-12)


@pytest.mark.parametrize("precomputed", [False, True])
def test_a_radius_that_leaves_pieces_adds_the_shortest_links_and_nothing_else(precomputed):
    ours = radius_graph(np.sqrt(SQUARES) if precomputed else X, 0.9, precomputed=precomputed).toarray()
    theirs = radius_neighbors_graph(X, 0.9, mode="distance").toarray()
    assert connected_components(theirs)[0] > 3
    tree = minimum_spanning_tree(np.sqrt(SQUARES)).toarray()
    tree = np.maximum(tree, tree.T)
    np.testing.assert_allclose(ours, np.where(tree > 0.9, tree, theirs), atol=1e-12)


def test_pairs_at_the_radius_itself_are_neighbours():
    grid = np.arange(7.0)[:, None] * 0.1
    assert (radius_graph(grid / 0.3, 0.1 / 0.3).toarray() > 0).sum() == 12


def test_a_list_with_gaps_weighs_only_the_rows_it_has():
    short = np.where(np.arange(6) < 4, NEAR.index, -1)
    W = reconstruction_weights(X, short)
    np.testing.assert_allclose(W[:, :4], reconstruction_weights(X, NEAR.index[:, :4]), atol=1e-12)
    np.testing.assert_array_equal(W[:, 4:], 0)
    np.testing.assert_allclose(local_squares(SQUARES, short), W, atol=1e-9)
    whole = lle_matrix(W[:, :4], NEAR.index[:, :4])
    np.testing.assert_allclose(lle_matrix(W, short).toarray(), whole.toarray(), atol=1e-12)


@pytest.mark.parametrize("make", [shifted_kernel, inverse_kernel])
def test_the_kernels_of_a_locality_have_its_smallest_vectors_on_top(make):
    L = lle_matrix(reconstruction_weights(X, NEAR.index), NEAR.index)
    smallest = np.linalg.eigh(L.toarray())[1][:, 1:3]
    K = make(L)
    values, vectors = np.linalg.eigh(K)
    top = vectors[:, ::-1]
    chosen = top[:, 1:3] if make is shifted_kernel else top[:, :2]
    np.testing.assert_allclose(np.abs((smallest * chosen).sum(axis=0)), 1, atol=1e-6)
    assert values[0] > -1e-9 * values[-1]

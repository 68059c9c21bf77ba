from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree, shortest_path
from scipy.spatial.distance import cdist

from sidelight.base.tiles import one_blas_thread
from sidelight.neighbours.graph import along_graph, joined_graph
from sidelight.neighbours.search import Neighbours, nearest, nearest_precomputed


def spiral(n):
    t = np.linspace(3, 12, n)
    return np.column_stack([t * np.cos(t), t * np.sin(t)])


def pieces():
    rng = np.random.default_rng(0)
    centres = np.array([[0, 0], [50, 0], [0, 70], [200, 200.0]])
    return np.concatenate([c + rng.normal(size=(15, 2)) for c in centres])


def full_paths(graph):
    paths = shortest_path(graph, method="D", directed=False)
    paths[paths < 1e-200] = 0.0
    return paths


@pytest.mark.parametrize("start", [1e-3, 1.0, 1e3])
def test_paths_are_those_of_a_full_search_whatever_radius_it_starts_from(start):
    X = spiral(150)
    graph = joined_graph(X, nearest(X, k=4))
    found = along_graph(graph, k=20, start_radius=np.full(150, start))
    paths = full_paths(graph)
    np.fill_diagonal(paths, np.inf)
    np.testing.assert_allclose(found.distance, np.sort(paths, axis=1)[:, :20], rtol=1e-12)
    np.testing.assert_allclose(np.take_along_axis(paths, found.index, axis=1), found.distance, rtol=1e-12)


def test_neighbours_along_a_spiral_stay_on_their_arm():
    X = spiral(400)
    near = nearest(X, k=4)
    found = along_graph(joined_graph(X, near), k=40, start_radius=near.distance[:, -1])
    along = np.abs(found.index - np.arange(400)[:, None]).max()
    straight = np.abs(nearest(X, k=80).index - np.arange(400)[:, None]).max()
    assert along < 80 < straight


def test_pieces_are_joined_by_links_of_a_minimum_spanning_tree():
    X = pieces()
    near = nearest(X, k=3)
    graph = joined_graph(X, near)
    assert connected_components(graph, directed=False)[0] == 1
    assert (graph != graph.T).nnz == 0
    stored = {(i, j) for i, row in enumerate(near.index.tolist()) for j in row}
    links = [(i, j) for i, j in zip(*graph.nonzero(), strict=True) if (i, j) not in stored and (j, i) not in stored]
    D = cdist(X, X)
    tree = minimum_spanning_tree(D)
    for i, j in links:
        assert graph[i, j] == pytest.approx(D[i, j], rel=1e-12)
        assert max(tree[i, j], tree[j, i]) == pytest.approx(D[i, j], rel=1e-12)


def test_precomputed_distances_give_the_graph_of_their_points():
    X = pieces()
    D = cdist(X, X)
    by_points = joined_graph(X, nearest(X, k=3))
    by_distances = joined_graph(D, nearest_precomputed(D, k=3, own=True), precomputed=True)
    np.testing.assert_allclose(by_distances.toarray(), by_points.toarray(), rtol=1e-12)


@pytest.mark.parametrize("copies", [5, 40])
def test_duplicates_are_at_distance_zero_of_each_other(copies):
    X = np.repeat(spiral(6), copies, axis=0)
    near = nearest(X, k=4)
    k = copies + 3
    found = along_graph(joined_graph(X, near), k=k, start_radius=1.3 * nearest(X, k=k).distance[:, -1])
    assert (found.distance[:, : copies - 1] == 0).all()
    assert (found.distance[:, copies - 1 :] > 0.1).all()
    assert (found.index[:, : copies - 1] // copies == (np.arange(len(X)) // copies)[:, None]).all()


def test_rows_that_are_all_the_same_have_every_other_row_at_distance_zero():
    X = np.full((30, 3), 0.3)
    near = nearest(X, k=5)
    found = along_graph(joined_graph(X, near), k=50, start_radius=near.distance[:, -1])
    assert found.index.shape == (30, 29)
    assert not found.distance.any()


def test_a_radius_of_zero_grows_without_a_thousand_rounds(monkeypatch):
    import sidelight.neighbours.graph as module

    rounds = []
    walk = module.dijkstra
    monkeypatch.setattr(module, "dijkstra", lambda *a, **k: rounds.append(1) or walk(*a, **k))
    X = spiral(40)
    found = along_graph(joined_graph(X, nearest(X, k=3)), k=10, start_radius=np.zeros(40), n_jobs=1)
    assert (found.distance > 0).all()
    assert len(rounds) < 30


def test_paths_over_several_tiles_give_the_same_bytes_with_one_and_two_threads():
    """Bytes may be compared: fixed tiles, each on one BLAS thread, are added in the order of the tiles."""
    X = np.random.default_rng(5).normal(size=(600, 3))
    near = nearest(X, k=6)
    graph = joined_graph(X, near)
    walk = one_blas_thread(along_graph)
    one, two = (walk(graph, k=25, start_radius=near.distance[:, -1], n_jobs=jobs) for jobs in (1, 2))
    assert one.index.tobytes() == two.index.tobytes()
    assert one.distance.tobytes() == two.distance.tobytes()


def test_an_edge_named_from_both_ends_is_held_once_each_way():
    near = Neighbours(np.array([[1], [0], [1]]), np.array([[1.0], [1.0], [2.0]]))
    graph = joined_graph(np.array([[0.0], [1.0], [3.0]]), near)
    assert graph.toarray().tolist() == [[0, 1, 0], [1, 0, 2], [0, 2, 0]]


@pytest.mark.parametrize("precomputed", [False, True])
def test_every_piece_has_its_shortest_link_to_another_also_the_largest(precomputed):
    rng = np.random.default_rng(1)
    sizes, centres = (40, 12, 8, 10), np.array([[0, 0], [30, 5], [-45, 8], [36, 30.0]])
    X = np.concatenate([c + rng.normal(size=(m, 2)) for c, m in zip(centres, sizes, strict=True)])
    X, piece = X[order := rng.permutation(len(X))], np.repeat(np.arange(4), sizes)[order]
    D = cdist(X, X)
    near = nearest(X, k=4)
    graph = joined_graph(D if precomputed else X, near, precomputed=precomputed)
    for own in range(4):
        here, there = np.flatnonzero(piece == own), np.flatnonzero(piece != own)
        across = D[np.ix_(here, there)]
        i, j = np.unravel_index(across.argmin(), across.shape)
        assert graph[here[i], there[j]] == pytest.approx(across.min(), rel=1e-12)

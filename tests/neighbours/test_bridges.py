"""Neighbour graphs without bridges between layers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import triu
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist

from sidelight.datasets import swiss_roll
from sidelight.neighbours.bridges import graph_without_shortcuts
from sidelight.neighbours.graph import joined_graph
from sidelight.neighbours.search import nearest, nearest_precomputed


def false_edges(graph, data):
    """Edges between rows that are twice as far apart along the sheet as straight."""
    sheet = np.column_stack([data.factors["arc"], data.factors["height"]])
    edges = triu(graph, k=1).tocoo()
    along = np.linalg.norm(sheet[edges.row] - sheet[edges.col], axis=1)
    straight = np.linalg.norm(data.X[edges.row] - data.X[edges.col], axis=1)
    return int((along > 2 * straight).sum())


@pytest.mark.parametrize("seed", [0, 1, 3])
def test_bridges_between_the_layers_of_a_thin_roll_are_left_out_and_true_edges_kept(seed):
    data = swiss_roll(200, random_state=seed)
    near = nearest(data.X, k=10)
    whole, graph = joined_graph(data.X, near), graph_without_shortcuts(data.X, near, core=5)
    bridges = false_edges(whole, data)
    assert bridges >= 6
    assert false_edges(graph, data) == 0
    assert whole.nnz - graph.nnz <= 2 * (bridges + 6)


def test_a_roll_without_bridges_keeps_all_its_edges():
    X = swiss_roll(500, random_state=0).X
    near = nearest(X, k=10)
    whole, graph = joined_graph(X, near), graph_without_shortcuts(X, near, core=5)
    assert whole.nnz == graph.nnz
    np.testing.assert_array_equal(whole.toarray(), graph.toarray())


def test_as_many_in_the_core_as_neighbours_is_the_joined_graph():
    X = swiss_roll(200, random_state=0).X
    near = nearest(X, k=6)
    np.testing.assert_array_equal(graph_without_shortcuts(X, near, core=6).toarray(), joined_graph(X, near).toarray())


def test_clusters_stay_connected_and_edges_go_both_ways():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(30, 3)) + shift for shift in (0.0, 20.0, 50.0)])
    graph = graph_without_shortcuts(X, nearest(X, k=10), core=5)
    assert connected_components(graph, directed=False)[0] == 1
    np.testing.assert_array_equal(graph.toarray(), graph.toarray().T)


def test_distances_give_the_graph_of_their_rows_whatever_the_threads():
    X = swiss_roll(150, random_state=1).X
    D = cdist(X, X)
    rows = graph_without_shortcuts(X, nearest(X, k=10), core=5, n_jobs=1).toarray()
    known = graph_without_shortcuts(
        D, nearest_precomputed(D, k=10, own=True), core=5, precomputed=True, n_jobs=2
    ).toarray()
    np.testing.assert_allclose(known, rows, atol=1e-12)

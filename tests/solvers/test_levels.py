"""Levels of a kernel graph: who merges with whom, what the merged kernel is, and the way back."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.sparse import block_diag, csr_array
from scipy.sparse.csgraph import connected_components

from sidelight.kernels.matrices import adaptive_kernel
from sidelight.neighbours.search import nearest
from sidelight.solvers.levels import Level, _seeds, _strong_links, coarsened, levels_of, merged, prolonged


def kernel(n=400, d=3, seed=0):
    """A sparse symmetric kernel graph."""
    matrix, _ = adaptive_kernel(nearest(np.random.default_rng(seed).standard_normal((n, d)), k=12), 6.0)
    return csr_array(matrix)


def complete(n=60):
    """Every row linked to every other, alike."""
    K = np.ones((n, n))
    np.fill_diagonal(K, 0)
    return csr_array(K)


def without_links(rows, n=400):
    K = kernel(n).toarray()
    K[rows], K[:, rows] = 0, 0
    return csr_array(K)


GRAPHS = {
    "neighbours": kernel,
    "complete": complete,
    "some alone": lambda: without_links([0, 3, 399]),
    "two components": lambda: csr_array(block_diag([kernel(200), kernel(150, seed=1)])),
    "no links": lambda: csr_array((50, 50)),
}
every_graph = pytest.mark.parametrize("graph", GRAPHS)


@every_graph
def test_seeds_are_not_linked_to_each_other_and_everybody_else_is_linked_to_one(graph):
    links = _strong_links(GRAPHS[graph]())
    seeds = _seeds(links)
    A = links.toarray() > 0
    assert not A[np.ix_(seeds, seeds)].any()
    assert A[np.ix_(~seeds, seeds)].any(axis=1).all()


def test_strong_links_are_the_strongest_of_either_end():
    K = kernel(60)
    strongest = np.argsort(-K.toarray(), axis=1)[:, :8]
    expected = np.zeros((60, 60), dtype=bool)
    expected[np.arange(60)[:, None], strongest] = K.toarray()[np.arange(60)[:, None], strongest] > 0
    np.testing.assert_array_equal(_strong_links(K).toarray() > 0, expected | expected.T)


@every_graph
def test_every_row_is_in_one_merged_row_and_every_merged_row_has_one(graph):
    K = GRAPHS[graph]()
    parent = coarsened(K)
    assert parent.shape == (K.shape[0],)
    assert np.bincount(parent).min() >= 1
    assert parent.min() == 0


@every_graph
def test_rows_that_merge_are_connected_by_links_among_them(graph):
    K = GRAPHS[graph]()
    parent = coarsened(K)
    rows = np.repeat(np.arange(K.shape[0]), np.diff(K.indptr))
    inside = parent[rows] == parent[K.indices]
    kept = csr_array((K.data[inside], (rows[inside], K.indices[inside])), shape=K.shape)
    assert connected_components(kept)[0] == parent.max() + 1


def test_a_row_joins_the_seed_it_is_linked_to_most():
    K = kernel()
    seeds, parent = _seeds(_strong_links(K)), coarsened(K)
    to_seeds = np.where(seeds, K.toarray(), 0.0)
    linked = ~seeds & (to_seeds.max(axis=1) > 0)
    np.testing.assert_array_equal(np.flatnonzero(seeds)[parent[linked]], to_seeds[linked].argmax(axis=1))
    np.testing.assert_array_equal(parent[seeds], np.arange(seeds.sum()))


@every_graph
def test_the_merged_kernel_is_the_sum_over_members_without_its_diagonal(graph):
    K = GRAPHS[graph]()
    parent = coarsened(K)
    R = np.eye(parent.max() + 1)[parent]
    expected = R.T @ K.toarray() @ R
    np.fill_diagonal(expected, 0)
    found = merged(K, parent)
    np.testing.assert_allclose(found.toarray(), expected, rtol=1e-6, atol=1e-7)
    assert not found.diagonal().any()
    assert found.has_sorted_indices


@every_graph
def test_weights_add_up_and_kernels_fit_their_levels(graph):
    K = GRAPHS[graph]()
    levels = levels_of(K, 10)
    assert levels[0].kernel is K
    assert levels[-1].parent is None
    for level in levels:
        assert level.weights.sum() == K.shape[0]
        assert level.kernel.shape == (level.n, level.n)
    for level, coarser in pairwise(levels):
        np.testing.assert_array_equal(np.bincount(level.parent, weights=level.weights), coarser.weights)
        assert coarser.n <= 0.8 * level.n


def test_levels_shrink_until_there_are_few_rows():
    sizes = [level.n for level in levels_of(kernel(2000), 100)]
    assert sizes[0] == 2000
    assert sizes[-1] <= 100 < sizes[-2]
    assert all(3 < larger / smaller < 12 for larger, smaller in pairwise(sizes))


def test_few_rows_and_rows_without_links_are_one_level():
    assert len(levels_of(kernel(), 400)) == 1
    assert len(levels_of(csr_array((50, 50)), 10)) == 1


def test_a_graph_of_which_most_rows_are_alone_stays_as_it_is():
    assert [level.n for level in levels_of(without_links(np.arange(30, 400)), 10)] == [400]


def test_rows_of_two_components_never_merge():
    K = GRAPHS["two components"]()
    parts = connected_components(K)[1]
    for level in levels_of(K, 2)[:-1]:
        parents = [set(level.parent[parts == part].tolist()) for part in np.unique(parts)]
        assert sum(len(group) for group in parents) == len(set.union(*parents))
        parts = np.array([parts[level.parent == row][0] for row in range(level.parent.max() + 1)])


def test_levels_are_the_same_every_time():
    K = kernel(1000)
    first, second = levels_of(K, 50), levels_of(K, 50)
    for one, two in zip(first[:-1], second[:-1], strict=True):
        assert one.parent.tobytes() == two.parent.tobytes()
        assert one.kernel.data.tobytes() == two.kernel.data.tobytes()


def test_rows_begin_between_their_own_merged_row_and_those_of_their_neighbours():
    K = without_links([0, 3, 399])
    level = Level(K, np.ones(400), coarsened(K))
    Z = np.random.default_rng(1).standard_normal((level.parent.max() + 1, 2))
    dense = K.toarray()
    degree = dense.sum(axis=1)
    found = prolonged(level, Z)
    linked = degree > 0
    near = (dense[linked] @ Z[level.parent]) / degree[linked, None]
    np.testing.assert_allclose(found[linked], 0.5 * Z[level.parent][linked] + 0.5 * near, rtol=1e-6, atol=1e-7)
    np.testing.assert_array_equal(found[~linked], Z[level.parent][~linked])

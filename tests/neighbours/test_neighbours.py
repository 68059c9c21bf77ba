from __future__ import annotations

import gc

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from sidelight.base.tiles import one_blas_thread
from sidelight.neighbours import prepared_rows
from sidelight.neighbours import search as neighbours
from sidelight.neighbours.prepared_rows import kept_rows
from sidelight.neighbours.search import (
    distances_to_listed,
    edge_lengths,
    nearest,
    nearest_by_tree,
    nearest_precomputed,
    smallest,
)


def naive(X, Q, k, own):
    """Sort every distance; ties go to the lower row number."""
    index, distance = [], []
    for i, q in enumerate(Q):
        pairs = [(float(np.sqrt(((x - q) ** 2).sum())), j) for j, x in enumerate(X) if not (own and i == j)]
        found = sorted(pairs)[:k]
        index.append([j for _, j in found])
        distance.append([d for d, _ in found])
    return np.array(index), np.array(distance)


def clouds():
    rng = np.random.default_rng(0)
    yield "normal", rng.normal(size=(60, 5))
    yield "offset", 1e5 + rng.normal(size=(60, 3))
    yield "integers", rng.integers(0, 3, size=(70, 2)).astype(float)
    yield "lattice", np.array([[i, j] for i in range(8) for j in range(8)], dtype=float)
    yield "duplicates", np.repeat(rng.normal(size=(4, 3)), 20, axis=0)
    yield "constant", np.full((40, 2), 0.3)
    yield "one column", rng.normal(size=(50, 1))
    yield "tight clusters", np.r_[1e-9 * rng.normal(size=(30, 3)), 1 + 1e-9 * rng.normal(size=(30, 3))]
    yield "one far row", np.r_[1e-7 * rng.normal(size=(40, 4)), np.full((1, 4), 1e3)]


CLOUDS = dict(clouds())


@pytest.mark.parametrize("k", [1, 7, 30])
@pytest.mark.parametrize("name", CLOUDS)
def test_neighbours_of_the_rows_are_those_of_a_full_sort(name, k):
    X = CLOUDS[name]
    found = nearest(X, k=k)
    index, distance = naive(X, X, k, own=True)
    np.testing.assert_array_equal(found.index, index)
    np.testing.assert_allclose(found.distance, distance, rtol=1e-14)


@pytest.mark.parametrize("name", CLOUDS)
def test_neighbours_of_queries_are_those_of_a_full_sort(name):
    X = CLOUDS[name]
    Q = np.r_[X[::3] + 0.1, X[:5], X[:1] + 1e4]
    index, distance = naive(X, Q, 6, own=False)
    found = nearest(X, Q, k=6)
    np.testing.assert_array_equal(found.index, index)
    np.testing.assert_allclose(found.distance, distance, rtol=1e-14)


@pytest.mark.parametrize("name", CLOUDS)
def test_a_query_is_answered_alike_alone_and_in_company(name):
    """Bytes may be compared: products only find candidates, distances are taken from differences, ties go by number."""
    X = CLOUDS[name]
    Q = np.r_[X + 1e-3, X]
    together = nearest(X, Q, k=3)
    alone = [nearest(X, Q[i : i + 1], k=3) for i in range(len(Q))]
    assert together.index.tobytes() == np.concatenate([a.index for a in alone]).tobytes()
    assert together.distance.tobytes() == np.concatenate([a.distance for a in alone]).tobytes()


@pytest.mark.parametrize("k", [9, 10, 50])
def test_k_is_cut_to_the_other_rows(k):
    X = np.random.default_rng(1).normal(size=(10, 2))
    found = nearest(X, k=k)
    assert found.index.shape == (10, 9)
    assert all(sorted([i, *row]) == list(range(10)) for i, row in enumerate(found.index.tolist()))
    assert nearest(X, X, k=k).index.shape == (10, min(k, 10))


def test_two_rows_are_each_others_neighbours():
    assert nearest(np.array([[0.0], [3.0]]), k=5).index.tolist() == [[1], [0]]


def test_more_than_one_tile_gives_the_same_bytes_with_one_and_two_threads():
    """Bytes may be compared: fixed tiles, each on one BLAS thread, are added in the order of the tiles."""
    X = np.random.default_rng(2).normal(size=(1030, 6))
    search = one_blas_thread(nearest)
    one, two = (search(X, k=12, n_jobs=jobs) for jobs in (1, 2))
    assert one.index.tobytes() == two.index.tobytes()
    assert one.distance.tobytes() == two.distance.tobytes()
    sample = [0, 511, 512, 1023, 1024, 1029]
    for i in sample:
        order = np.argsort(((X - X[i]) ** 2).sum(axis=1), kind="stable")
        assert one.index[i].tolist() == order[1:13].tolist()


def large_clouds():
    """Enough rows for products in float32 with a bound."""
    rng = np.random.default_rng(5)
    yield "normal", rng.normal(size=(1300, 5))
    yield "offset", 1e6 + rng.normal(size=(1100, 3))
    yield "lattice", rng.integers(0, 15, size=(1200, 2)).astype(float)
    yield "duplicates", np.repeat(rng.normal(size=(40, 3)), 30, axis=0)
    yield "constant", np.full((1050, 2), 0.3)
    yield "one column", rng.normal(size=(1100, 1))
    yield "tight clusters", np.r_[1e-9 * rng.normal(size=(600, 3)), 1 + 1e-9 * rng.normal(size=(600, 3))]
    yield "one far row", np.r_[1e-7 * rng.normal(size=(1100, 4)), np.full((1, 4), 1e3)]
    yield "huge", 1e140 * rng.normal(size=(1100, 2))
    yield "tiny", 1e-140 * rng.normal(size=(1100, 2))
    yield "sorted by distance", np.sort(rng.normal(size=(1100, 1)), axis=0) * np.ones(3)


LARGE = dict(large_clouds())


@pytest.mark.parametrize("k", [1, 30])
@pytest.mark.parametrize("name", LARGE)
def test_neighbours_of_many_rows_are_those_of_a_full_sort(name, k):
    X = LARGE[name]
    rows = np.arange(0, len(X), 37)
    D = np.sqrt(((X[rows, None] - X) ** 2).sum(axis=-1))
    found, asked = nearest(X, k=k), nearest(X, X[rows], k=k)
    np.testing.assert_array_equal(asked.index, np.argsort(D, axis=1, kind="stable")[:, :k])
    D[np.arange(len(rows)), rows] = np.inf
    np.testing.assert_array_equal(found.index[rows], np.argsort(D, axis=1, kind="stable")[:, :k])
    np.testing.assert_allclose(found.distance[rows], np.sort(D, axis=1)[:, :k], rtol=1e-14)


def test_float32_rows_and_whole_numbers_give_the_same_neighbours():
    X = np.random.default_rng(7).integers(0, 200, size=(1200, 6))
    found = nearest(X.astype(float), k=8)
    for dtype in (np.float32, np.int64, np.uint8):
        np.testing.assert_array_equal(nearest(X.astype(dtype), k=8).index, found.index)
        np.testing.assert_array_equal(nearest(X.astype(dtype), X[:50] + 0.25, k=8).index[:, 0], np.arange(50))


def test_listed_distances_of_rows_and_queries_of_two_kinds_lose_no_digits():
    X, Q = np.array([[1.0], [3.0]], dtype=np.float32), np.array([[1.0 + 1e-12]])
    assert distances_to_listed(Q, X, np.array([[0]]))[0, 0] > 0


@pytest.mark.thorough
def test_exact_or_not_follows_from_the_shape_and_can_be_asked_for(monkeypatch):
    X = np.random.default_rng(6).normal(size=(5000, 30))
    exact = nearest(X, k=20)
    monkeypatch.setattr("sidelight.neighbours.search.EXACT_SECONDS", 1e-4)
    approximate = nearest(X, k=20)
    assert (exact.index != approximate.index).any()
    assert np.isclose(exact.distance, approximate.distance).mean() > 0.5
    np.testing.assert_array_equal(nearest(X, k=20, exact=False).index, approximate.index)
    np.testing.assert_array_equal(nearest(X, k=20, exact=True).index, exact.index)
    np.testing.assert_array_equal(nearest(X, X[:9], k=20).index, nearest(X, X[:9], k=20, exact=True).index)


@pytest.mark.parametrize("own", [True, False])
def test_precomputed_distances_are_ranked_with_ties_by_row(own):
    D = np.abs(np.subtract.outer(np.arange(30), np.arange(30))).astype(float) // 3
    D = D if own else D[:, ::-1][:12]
    found = nearest_precomputed(D, k=9, own=own)
    for i, row in enumerate(D):
        pairs = sorted((d, j) for j, d in enumerate(row) if not (own and i == j))[:9]
        assert found.index[i].tolist() == [j for _, j in pairs]
        assert found.distance[i].tolist() == [d for d, _ in pairs]
    assert nearest_precomputed(D, k=99, own=own).index.shape == (len(D), 30 - own)


def test_precomputed_search_leaves_the_distances_as_they_were():
    D = np.random.default_rng(3).uniform(size=(20, 20))
    kept = D.copy()
    nearest_precomputed(D, k=3, own=True)
    np.testing.assert_array_equal(D, kept)


def test_smallest_ranks_rows_that_hold_infinities():
    D = np.array([[np.inf, 1.0, np.inf, 0.0], [2.0, 2.0, 2.0, np.inf]])
    index, values = smallest(D, 3)
    assert index[0, :2].tolist() == [3, 1]
    assert values.tolist() == [[0.0, 1.0, np.inf], [2.0, 2.0, 2.0]]
    assert index[1].tolist() == [0, 1, 2]


def test_listed_distances_are_those_of_the_listed_pairs():
    rng = np.random.default_rng(4)
    X, Q, index = rng.normal(size=(20, 3)), rng.normal(size=(6, 3)), rng.integers(20, size=(6, 4))
    expected = [[np.linalg.norm(X[j] - Q[i]) for j in index[i]] for i in range(6)]
    np.testing.assert_allclose(distances_to_listed(Q, X, index), expected, rtol=1e-14)


def test_queries_far_beyond_all_rows_have_the_nearest_of_them():
    X = np.random.default_rng(0).standard_normal((1100, 3))
    queries = np.array([[1e19, 0.0, 0.0], [0.0, -1e30, 0.0], [0.1, 0.2, 0.3]])
    found = nearest(X, queries, k=1).index[:, 0]
    straight = np.array([X[:, 0].argmax(), X[:, 1].argmin(), ((X - queries[2]) ** 2).sum(axis=1).argmin()])
    assert found[2] == straight[2]
    assert ((found >= 0) & (found < 1100)).all()


@pytest.mark.parametrize("columns", [3, 40])
def test_distances_of_stored_pairs_are_those_of_their_rows(columns, monkeypatch):
    X = 5 + np.random.default_rng(0).standard_normal((60, columns))
    graph = csr_array(np.random.default_rng(1).random((60, 60)) < 0.1)
    monkeypatch.setattr(neighbours, "_LISTED", 400)  # several tiles
    expected = cdist(X, X)[np.repeat(np.arange(60), np.diff(graph.indptr)), graph.indices]
    np.testing.assert_allclose(edge_lengths(X, graph), expected, rtol=1e-12)


@pytest.mark.parametrize("kind", ["spread", "grid", "duplicates", "one-point", "line"])
@pytest.mark.parametrize("k", [1, 4, 30, 400])
def test_a_tree_finds_what_tiles_find_to_the_bit_also_among_ties(kind, k):
    rng = np.random.default_rng(0)
    X = {
        "spread": rng.normal(size=(150, 2)),
        "grid": rng.integers(0, 4, size=(150, 3)).astype(float),
        "duplicates": np.repeat(rng.normal(size=(30, 2)), 5, axis=0),
        "one-point": np.zeros((40, 2)),
        "line": np.arange(60.0)[:, None],
    }[kind]
    for queries in (None, X[::3], X[:7] + 0.5):
        found, expected = nearest_by_tree(X, queries, k=k), nearest(X, queries, k=k, exact=True)
        np.testing.assert_array_equal(found.index, expected.index)
        np.testing.assert_array_equal(found.distance, expected.distance)


@pytest.mark.parametrize("n", [300, 1500])
def test_rows_that_are_prepared_once_give_the_same_neighbours_and_end_with_their_users(n):
    rng = np.random.default_rng(0)
    X, Q = rng.normal(size=(n, 5)), rng.normal(size=(3, 5))
    kept = kept_rows(X)
    assert kept is kept_rows(X)
    with_kept, without = nearest(X, Q, k=4, prepared=kept), nearest(X, Q, k=4)
    assert with_kept.index.tobytes() == without.index.tobytes()
    assert with_kept.distance.tobytes() == without.distance.tobytes()
    del kept
    gc.collect()
    assert id(X) not in prepared_rows._PREPARED


def test_rows_that_would_take_much_memory_are_not_kept(monkeypatch):
    monkeypatch.setattr(prepared_rows, "_KEPT", 10)
    assert kept_rows(np.ones((4, 3))) is None

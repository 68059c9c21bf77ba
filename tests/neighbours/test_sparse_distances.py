from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import bsr_array, coo_array, csc_matrix, csr_array, csr_matrix, dia_array, lil_array
from sklearn.neighbors import kneighbors_graph, radius_neighbors_graph

from sidelight.kernels.bandwidths import perplexity_rows
from sidelight.kernels.matrices import adaptive_kernel
from sidelight.neighbours.graph import joined_graph
from sidelight.neighbours.search import nearest, nearest_precomputed
from sidelight.neighbours.sparse_distances import SparseDistances, reach


def cloud(n=60):
    return np.random.default_rng(0).normal(size=(n, 3))


def known(D):
    return SparseDistances.between_rows(D)


def test_a_graph_of_neighbours_gives_the_neighbours():
    X = cloud()
    found, true = known(kneighbors_graph(X, 7, mode="distance")).nearest(7), nearest(X, k=7)
    np.testing.assert_array_equal(found.index, true.index)
    np.testing.assert_allclose(found.distance, true.distance, rtol=1e-12)


def test_rows_may_store_more_than_is_asked_for_and_the_diagonal():
    X = cloud()
    D = radius_neighbors_graph(X, 3.0, mode="distance", include_self=True)
    assert np.ptp(np.diff(D.indptr)) > 0
    np.testing.assert_array_equal(known(D).nearest(4).index, nearest(X, k=4).index)


def test_a_row_that_knows_fewer_has_infinite_distances_at_the_end():
    D = csr_array((np.array([1.0, 2.0, 3.0]), ([0, 0, 2], [1, 2, 1])), shape=(3, 3))
    found = known(D).nearest(5)
    assert found.distance.tolist() == [[1.0, 2.0], [1.0, 3.0], [2.0, 3.0]]
    queries = SparseDistances.of_queries(csr_array(np.array([[0.0, 2.0, 1.0], [4.0, 0.0, 0.0]])))
    near = queries.nearest(3)
    assert near.distance.tolist() == [[1.0, 2.0], [4.0, np.inf]]
    assert near.index.tolist() == [[2, 1], [0, 0]]
    assert reach(near).tolist() == [2.0, 4.0]


def test_a_pair_is_known_from_either_side_and_the_mean_counts_where_both_differ():
    D = csr_array((np.array([1.0, 3.0, 5.0]), ([0, 1, 1], [1, 0, 2])), shape=(3, 3))
    assert known(D).stored.toarray().tolist() == [[0, 2, 0], [2, 0, 5], [0, 5, 0]]


def test_stored_zeros_are_distances_and_ties_go_by_column():
    row, column = np.array([0, 0, 0, 1, 2, 3]), np.array([3, 1, 2, 0, 0, 0])
    D = csr_array((np.array([1.0, 0.0, 1.0, 0.0, 1.0, 1.0]), (row, column)), shape=(4, 4))
    found = known(D).nearest(1)
    assert found.index.ravel().tolist() == [1, 0, 0, 0]
    assert found.distance.ravel().tolist() == [0.0, 0.0, 1.0, 1.0]
    full = csr_array(np.array([[9.0, 2, 2, 1], [2, 9, 2, 2], [2, 2, 9, 2], [1, 2, 2, 9]]))
    assert known(full).nearest(3).index.tolist() == [[3, 1, 2], [0, 2, 3], [0, 1, 3], [0, 1, 2]]


@pytest.mark.parametrize("form", [csr_matrix, csr_array, csc_matrix, coo_array, lil_array, bsr_array, dia_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_every_form_and_kind_of_number_is_read(form, dtype):
    D = np.array([[0, 1, 2], [1, 0, 3], [2, 3, 0]], dtype=dtype)
    found = known(form(D))
    assert found.nearest(2).index.tolist() == [[1, 2], [0, 2], [0, 1]]
    assert found.dtype == (np.float32 if dtype is np.float32 else np.float64)


def test_the_matrix_is_left_as_it_was():
    D = csr_array((np.array([3.0, 1.0, 2.0, 4.0]), np.array([2, 1, 0, 0]), np.array([0, 2, 3, 4])), shape=(3, 3))
    kept = D.data.copy(), D.indices.copy()
    assert known(D).nearest(1).index.ravel().tolist() == [1, 0, 0]
    np.testing.assert_array_equal(D.data, kept[0])
    np.testing.assert_array_equal(D.indices, kept[1])


def test_merged_rows_are_as_far_apart_as_their_members_are_on_average():
    D = csr_array(np.array([[0, 1.0, 4, 6], [1, 0, 0, 8], [4, 0, 0, 2], [6, 8, 2, 0]]))
    small = known(D).merged(np.array([0, 0, 1, 1]), 2)
    assert small.stored.toarray().tolist() == [[0, 6], [6, 0]]


def test_infinite_distances_get_no_weight_and_change_none():
    D2 = np.array([[1.0, 2.0, 4.0, 9.0], [1.0, 2.0, 4.0, np.inf], [3.0, np.inf, np.inf, np.inf]])
    W, h = perplexity_rows(D2, 2.0)
    np.testing.assert_array_equal(W[1, :3], perplexity_rows(D2[1:2, :3], 2.0)[0][0])
    assert W[1, 3] == 0
    assert W[2].tolist() == [1, 0, 0, 0]
    np.testing.assert_allclose(W[0], perplexity_rows(D2[:1], 2.0)[0][0], rtol=1e-14)
    assert np.isfinite(h).all()
    K, _ = adaptive_kernel(known(csr_array(np.array([[0, 1.0, 0], [1, 0, 2], [0, 2, 0]]))).nearest(2), 1.5)
    assert (K.toarray() > 0).tolist() == [[False, True, False], [True, False, True], [False, True, False]]


def test_pieces_are_joined_as_those_of_all_distances_are_where_the_links_are_known():
    X = np.concatenate([cloud(20), cloud(20) + 9.0, cloud(20) - 30.0])
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    few = nearest_precomputed(D, k=3, own=True)
    true, found = (joined_graph(points, few, precomputed=True) for points in (D, known(csr_array(D))))
    np.testing.assert_array_equal(found.toarray(), true.toarray())


def test_pieces_of_which_no_link_is_known_touch_the_largest():
    line = [(i, i + 1) for i in (0, 1, 2, 3, 5, 6)]  # five rows, three rows
    D = known(coo_array((np.ones(6), tuple(np.transpose(line))), shape=(8, 8)))
    graph = joined_graph(D, D.nearest(2)).toarray()
    assert graph[1, 6] == graph[6, 1] == 3 + 1  # the first of the rows with most neighbours is a middle
    assert (graph > 0).sum() == 14


def pair(value=1.0):
    return csr_array(np.array([[0, value], [1.0, 0]]))


@pytest.mark.parametrize(
    ("D", "error", "sentence"),
    [
        (np.eye(3), TypeError, "is not a sparse matrix"),
        (csr_array(np.ones((2, 3))), ValueError, "is not square"),
        (csr_array(np.ones((1, 1))), ValueError, "is not square with two rows or more"),
        (csr_array((0, 0)), ValueError, "is no sparse matrix of distances"),
        (csr_array(np.array([[0, 1j], [1, 0]])), TypeError, "does not hold real numbers"),
        (csr_array(np.eye(2) > 0), TypeError, "does not hold real numbers"),
        (pair(np.nan), ValueError, "NaN or infinity is not a distance"),
        (pair(np.inf), ValueError, "NaN or infinity is not a distance"),
        (pair(-1.0), ValueError, "is a negative distance"),
        (csr_array(np.array([[0, 1.0, 0], [0, 0, 0], [0, 0, 3]])), ValueError, "row 2 of a sparse array has no"),
        (coo_array((np.ones(3), ([0, 0, 1], [1, 1, 0])), shape=(2, 2)), ValueError, "a pair of rows is stored twice"),
    ],
)
def test_what_is_not_a_matrix_of_distances_gets_a_sentence(D, error, sentence):
    with pytest.raises(error, match=r"^Model: X=.*\.$") as caught:
        SparseDistances.between_rows(D, owner="Model")
    assert sentence in str(caught.value)

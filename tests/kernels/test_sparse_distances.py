from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array, csr_matrix, lil_array
from sklearn.neighbors import kneighbors_graph, radius_neighbors_graph

from sidelight.kernels.neighbours import nearest
from sidelight.kernels.sparse_distances import nearest_sparse


def cloud(n=60):
    return np.random.default_rng(0).normal(size=(n, 3))


def test_a_graph_of_neighbours_gives_the_neighbours():
    X = cloud()
    found, true = nearest_sparse(kneighbors_graph(X, 7, mode="distance")), nearest(X, k=7)
    np.testing.assert_array_equal(found.index, true.index)
    np.testing.assert_allclose(found.distance, true.distance, rtol=1e-12)


def test_rows_may_store_more_than_is_asked_for_and_the_diagonal():
    X = cloud()
    D = radius_neighbors_graph(X, 3.0, mode="distance", include_self=True)
    assert np.ptp(np.diff(D.indptr)) > 0
    np.testing.assert_array_equal(nearest_sparse(D, k=4).index, nearest(X, k=4).index)


def test_stored_zeros_are_distances_and_ties_go_by_column():
    row, column = np.array([0, 0, 0, 1, 2, 3]), np.array([3, 1, 2, 0, 0, 0])
    D = csr_array((np.array([1.0, 0.0, 1.0, 0.0, 1.0, 1.0]), (row, column)), shape=(4, 4))
    found = nearest_sparse(D, k=1)
    assert found.index.ravel().tolist() == [1, 0, 0, 0]
    assert found.distance.ravel().tolist() == [0.0, 0.0, 1.0, 1.0]
    full = csr_array(np.array([[9.0, 2, 2, 1], [2, 9, 2, 2], [2, 2, 9, 2], [1, 2, 2, 9]]))
    assert nearest_sparse(full).index.tolist() == [[3, 1, 2], [0, 2, 3], [0, 1, 3], [0, 1, 2]]


@pytest.mark.parametrize("form", [csr_matrix, csr_array, coo_array, lil_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_every_form_and_kind_of_number_is_read(form, dtype):
    D = np.array([[0, 1, 2], [1, 0, 3], [2, 3, 0]], dtype=dtype)
    assert nearest_sparse(form(D)).index.tolist() == [[1, 2], [0, 2], [0, 1]]


def test_the_matrix_is_left_as_it_was():
    D = csr_array((np.array([3.0, 1.0, 2.0, 4.0]), np.array([2, 1, 0, 0]), np.array([0, 2, 3, 4])), shape=(3, 3))
    kept = D.data.copy(), D.indices.copy()
    assert nearest_sparse(D).index.ravel().tolist() == [1, 0, 0]
    np.testing.assert_array_equal(D.data, kept[0])
    np.testing.assert_array_equal(D.indices, kept[1])


def pair(value=1.0):
    return csr_array(np.array([[0, value], [1.0, 0]]))


@pytest.mark.parametrize(
    ("D", "k", "error", "sentence"),
    [
        (np.eye(3), 1, TypeError, "is not a sparse matrix"),
        (csr_array(np.ones((2, 3))), 1, ValueError, "is not square"),
        (csr_array(np.ones((1, 1))), 1, ValueError, "is not square with two rows or more"),
        (csr_array(np.array([[0, 1j], [1, 0]])), 1, TypeError, "does not hold real numbers"),
        (pair(np.nan), 1, ValueError, "NaN or infinity is not a distance"),
        (pair(np.inf), 1, ValueError, "NaN or infinity is not a distance"),
        (pair(-1.0), 1, ValueError, "is negative. Pass distances, not similarities"),
        (pair(), 2, ValueError, "1 distances in row 0 is fewer than the 2 neighbours"),
        (csr_array(np.array([[0, 1.0], [0, 0]])), None, ValueError, "0 distances in row 1"),
        (coo_array((np.ones(3), ([0, 0, 1], [1, 1, 0])), shape=(2, 2)), 1, ValueError, "a pair is stored twice"),
    ],
)
def test_what_is_not_a_matrix_of_distances_gets_a_sentence(D, k, error, sentence):
    with pytest.raises(error, match=r"^Model: D=.*\.$") as caught:
        nearest_sparse(D, k=k, owner="Model")
    assert sentence in str(caught.value)

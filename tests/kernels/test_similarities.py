"""Similarities against the slow obvious formulas, and large relations against small ones."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.neighbors import kneighbors_graph

from sidelight import Relation
from sidelight.kernels import relations as room
from sidelight.kernels.relations import similarity


def dense(matrix):
    return matrix.toarray() if isinstance(matrix, csr_array) else np.asarray(matrix)


def rows_of(weights):
    return weights / weights.sum(axis=1, keepdims=True)


def entropy_of(P):
    return -float(np.where(P > 0, P * np.log(np.where(P > 0, P, 1.0)), 0.0).sum() / len(P))


def check(relation, P):
    found = similarity(relation)
    np.testing.assert_allclose(dense(found.matrix), P + P.T, atol=1e-12)
    assert found.entropy == pytest.approx(entropy_of(P), abs=1e-10)


def test_data_of_one_bandwidth_is_the_formula_of_the_source():
    X = np.random.default_rng(0).normal(size=(30, 3))
    squares = ((X[:, None] - X) ** 2).sum(axis=-1)
    check(Relation.from_data(X, bandwidth=2.0), rows_of(np.exp(-squares / 2.0)))


def test_values_are_the_same_formula_on_standardised_values():
    values = np.random.default_rng(1).normal(size=20) * 7 + 3
    z = (values - values.mean()) / values.std()
    check(Relation.from_values(values), rows_of(np.exp(-((z[:, None] - z) ** 2))))


def test_labels_are_even_blocks_with_the_row_itself():
    check(Relation.from_labels(list("aabbb")), rows_of(np.kron(np.eye(2), np.ones((3, 3)))[1:, 1:]))


def test_pairs_share_their_row_with_each_partner():
    P = np.array([[1, 1, 1], [1, 1, 0], [1, 0, 1]]) / np.array([[3], [2], [2]])
    check(Relation.from_pairs([[4, 6], [8, 4]], 10), P)


def test_a_ready_matrix_is_divided_by_its_row_sums_whatever_its_size():
    P = np.random.default_rng(2).uniform(size=(6, 6))
    check(Relation.from_matrix(1e200 * P), rows_of(P))
    check(Relation.from_matrix(csr_array(P)), rows_of(P))


def test_a_row_similar_to_nothing_is_similar_to_itself():
    P = np.array([[0.0, 0.0, 0.0], [0.0, 1.0, 1.0], [0.0, 1.0, 1.0]])
    check(Relation.from_matrix(P), np.array([[1, 0, 0], [0, 0.5, 0.5], [0, 0.5, 0.5]]))


def test_a_perplexity_relation_has_that_many_neighbours_and_the_row_itself():
    X = np.random.default_rng(3).normal(size=(200, 2))
    found = similarity(Relation.from_data(X, perplexity=9.0, n_neighbors=None))
    np.testing.assert_allclose(found.matrix.diagonal(), 2 / 10)
    assert 8.0 < np.exp(found.entropy) < 20.0
    assert found.kernel is not None


def test_sparse_and_dense_distances_agree():
    X = np.random.default_rng(4).normal(size=(60, 3))
    D = np.linalg.norm(X[:, None] - X, axis=-1)
    sparse = similarity(Relation.from_matrix(kneighbors_graph(X, 15, mode="distance"), distances=True, perplexity=5.0))
    whole = similarity(Relation.from_matrix(D, distances=True, perplexity=5.0))
    np.testing.assert_allclose(dense(sparse.matrix), dense(whole.matrix), atol=1e-8)


def test_sparse_distances_of_uneven_lists_get_a_sentence():
    with pytest.raises(ValueError, match="same number of neighbours"):
        similarity(Relation.from_matrix(csr_array(np.triu(np.ones((4, 4)), 1)), distances=True))


@pytest.mark.parametrize("kind", ["values", "labels", "data"])
def test_relations_of_many_rows_keep_few_partners_and_say_the_same(kind, monkeypatch):
    rng = np.random.default_rng(5)
    n = 1500
    relation = {
        "values": Relation.from_values(rng.normal(size=n)),
        "labels": Relation.from_labels(rng.integers(0, 4, n)),
        "data": Relation.from_data(rng.normal(size=(n, 5)), bandwidth=3.0),
    }[kind]
    Y = rng.normal(size=(n, 2)) + np.linspace(0, 1, n)[:, None]
    squares = ((Y[:, None] - Y) ** 2).sum(axis=-1)
    whole = similarity(relation)
    monkeypatch.setattr(room, "_ALL", 100)
    some = similarity(relation)
    assert some.matrix.nnz < 2 * 202 * n < n * n
    np.testing.assert_allclose(np.asarray(some.matrix.sum()), 2 * n)
    assert some.entropy == pytest.approx(whole.entropy, abs=0.02)
    attraction = [float((dense(found.matrix) * squares).sum()) for found in (some, whole)]
    assert attraction[0] == pytest.approx(attraction[1], rel=0.02)
    reached = np.bincount(some.matrix.indices, minlength=n)
    assert reached.min() > 20  # every row is somebody's partner

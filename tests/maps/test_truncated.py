"""The truncated decomposition of sparse matrices beside NumPy's of the full ones."""

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_limits

from sidelight.maps import truncated
from sidelight.maps.truncated import TruncatedBasis, truncated_basis


def made_rows(n=300, d=80, seed=0):
    """Counts with six directions that stand out."""
    rng = np.random.default_rng(seed)
    rates = np.exp(0.7 * rng.normal(size=(n, 6)) @ rng.normal(size=(6, d)) - 2.0)
    return sparse.csr_matrix(rng.poisson(np.minimum(rates, 50.0)).astype(np.float64))


def leading(A, k):
    """Column means, and the projector on the first k directions of the centred rows."""
    mean = A.mean(axis=0)
    V = np.linalg.svd(A - mean, full_matrices=False)[2][:k].T
    return mean, V @ V.T


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csc_matrix, sparse.coo_array])
def test_leading_directions_are_those_of_the_full_matrix(kind):
    X = made_rows()
    mean, projector = leading(X.toarray(), 5)
    found = truncated_basis(kind(X), 5)
    np.testing.assert_allclose(found.mean, mean, rtol=1e-12)
    np.testing.assert_allclose(found.basis @ found.basis.T, projector, atol=2e-3)
    np.testing.assert_allclose(found.basis.T @ found.basis, np.eye(5), atol=1e-12)


def test_a_dense_part_of_low_rank_is_subtracted_without_being_made():
    X, rng = made_rows(), np.random.default_rng(1)
    left, right = rng.normal(size=(300, 2)), rng.normal(size=(80, 2))
    mean, projector = leading(X.toarray() - left @ right.T, 4)
    found = truncated_basis(X, 4, left=left, right=right)
    np.testing.assert_allclose(found.mean, mean, atol=1e-12)
    np.testing.assert_allclose(found.basis @ found.basis.T, projector, atol=2e-3)


def test_as_many_directions_as_columns_lose_nothing():
    X = made_rows(60, 20)
    found = truncated_basis(X, 50)
    assert found.basis.shape == (20, 20)
    np.testing.assert_allclose(found.rows(found.scores(X)), X.toarray(), atol=1e-10)


def test_few_rows_have_few_directions():
    X = made_rows(8, 40)
    found = truncated_basis(X, 50)
    assert found.basis.shape == (40, 8)
    np.testing.assert_allclose(found.rows(found.scores(X)), X.toarray(), atol=1e-10)


def test_bytes_do_not_depend_on_threads(monkeypatch):
    """Bytes may be compared: tiles and the order of their sums depend on the size of the matrix only."""
    monkeypatch.setattr(truncated, "_LEAST", 32)
    X = made_rows()
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            found.append(truncated_basis(X, 10, n_jobs=threads))
    assert found[0].basis.tobytes() == found[1].basis.tobytes()
    assert found[0].mean.tobytes() == found[1].mean.tobytes()


def test_tiles_of_rows_do_not_change_the_directions(monkeypatch):
    X = made_rows()
    whole = truncated_basis(X, 5)
    monkeypatch.setattr(truncated, "_LEAST", 16)
    np.testing.assert_allclose(truncated_basis(X, 5).basis, whole.basis, atol=1e-8)


def test_scores_of_dense_and_sparse_rows_are_equal_one_by_one():
    X = made_rows()
    found = truncated_basis(X, 5)
    scores = found.scores(X)
    np.testing.assert_allclose(found.scores(X.toarray()), scores, atol=1e-12)
    np.testing.assert_allclose(np.vstack([found.scores(X[i : i + 1]) for i in range(20)]), scores[:20], atol=1e-13)


def test_constant_rows_have_scores_of_zero():
    X = sparse.csr_matrix(np.tile([0.0, 3.0, 0.0, 1.0], (30, 1)))
    np.testing.assert_allclose(truncated_basis(X, 3).scores(X), 0.0, atol=1e-12)


def test_single_precision_stays_single():
    found = TruncatedBasis(np.zeros(4), np.eye(4)[:, :2])
    assert found.rows(np.ones((3, 2), dtype=np.float32)).dtype == np.float32

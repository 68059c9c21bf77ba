"""The one eigen-solver and the matrices of the spectral family, against scikit-learn and naive references."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.manifold
from scipy.sparse import csr_array, random_array
from sklearn.decomposition import PCA, KernelPCA
from sklearn.manifold import Isomap, LocallyLinearEmbedding, spectral_embedding
from sklearn.metrics.pairwise import rbf_kernel

import sidelight.solvers.spectral as spectral
from sidelight.datasets import s_curve, swiss_roll
from sidelight.neighbours.search import nearest
from sidelight.objectives.spectral import (
    centred_kernel,
    edge_weights,
    geodesic_squares,
    laplacian,
    lle_matrix,
    neighbour_graph,
    reconstruction_weights,
)
from sidelight.solvers.spectral import SymmetricSum, leading_pairs

X = swiss_roll(700, random_state=0).X
NEAR = nearest(X, k=10)
UNION = neighbour_graph(X, NEAR, kind="union")


def coordinates(found):
    return found.vectors * np.sqrt(found.values)


def difference(A, B):
    """Largest relative difference, up to the sign of each column."""
    A, B = A / np.abs(B).max(axis=0), B / np.abs(B).max(axis=0)
    return np.minimum(np.abs(A - B).max(axis=0), np.abs(A + B).max(axis=0)).max()


def constant(n):
    return np.full(n, n**-0.5)


def test_geodesic_kernel_gives_isomap():
    ours = coordinates(leading_pairs(SymmetricSum(dense=centred_kernel(geodesic_squares(UNION))), 2))
    assert difference(ours, Isomap(n_neighbors=10, eigen_solver="dense").fit_transform(X)) < 1e-7


def test_lle_matrix_gives_locally_linear_embedding():
    L = lle_matrix(reconstruction_weights(X, NEAR.index), NEAR.index)
    found = leading_pairs(SymmetricSum(sparse=csr_array(-L)), 2, trivial=constant(len(X)), above=0.0)
    theirs = LocallyLinearEmbedding(n_neighbors=10, n_components=2, eigen_solver="dense").fit_transform(X)
    assert found.converged
    assert difference(found.vectors, theirs) < 1e-4  # gaps of 1e-8 between eigenvalues


def test_normalised_laplacian_gives_spectral_embedding():
    W = edge_weights(UNION)
    L, trivial = laplacian(W, normalised=True)
    found = leading_pairs(SymmetricSum(sparse=csr_array(-L)), 3, trivial=trivial, above=0.0)
    degree = np.asarray(W.sum(axis=1)).ravel()
    theirs = spectral_embedding(W, n_components=3, random_state=0)
    assert difference(found.vectors / np.sqrt(degree)[:, None], theirs) < 1e-6


def test_plain_laplacian_gives_spectral_embedding_without_the_norm():
    W = edge_weights(UNION, 4.0)
    L, trivial = laplacian(W)
    found = leading_pairs(SymmetricSum(sparse=csr_array(-L)), 3, trivial=trivial, above=0.0)
    theirs = spectral_embedding(W, n_components=3, norm_laplacian=False, random_state=0)
    assert difference(found.vectors, theirs) < 1e-5


def test_straight_distances_give_classical_scaling():
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    ours = coordinates(leading_pairs(SymmetricSum(dense=centred_kernel(squares)), 2))
    assert difference(ours, PCA(2).fit_transform(X)) < 1e-9
    if hasattr(sklearn.manifold, "ClassicalMDS"):  # from 1.8 on
        theirs = sklearn.manifold.ClassicalMDS(n_components=2).fit_transform(X)
        assert difference(ours, theirs) < 1e-9


def test_centred_kernel_gives_kernel_pca():
    K = rbf_kernel(X, gamma=0.01)
    squares = np.diag(K)[:, None] + np.diag(K) - 2 * K
    ours = coordinates(leading_pairs(SymmetricSum(dense=centred_kernel(squares)), 3))
    theirs = KernelPCA(3, kernel="rbf", gamma=0.01, eigen_solver="dense").fit_transform(X)
    assert difference(ours, theirs) < 1e-8


def parts(n, seed=0):
    rng = np.random.default_rng(seed)
    S = random_array((n, n), density=0.02, random_state=rng)
    F = rng.normal(size=(n, 3))
    return csr_array(S + S.T), F - F.mean(axis=0)


@pytest.mark.parametrize("limit", [0, 600], ids=["lanczos", "whole"])
def test_pairs_are_those_of_the_whole_matrix_beside_the_trivial_vector(limit, monkeypatch):
    monkeypatch.setattr(spectral, "_DENSE", limit)
    S, F = parts(200)
    found = leading_pairs(SymmetricSum(sparse=S, factor=F), 4, trivial=constant(200))
    H = np.eye(200) - 1 / 200
    values, vectors = np.linalg.eigh(H @ (S.toarray() + F @ F.T) @ H)
    np.testing.assert_allclose(found.values, values[:-5:-1], rtol=1e-9)
    assert difference(found.vectors, vectors[:, :-5:-1]) < 1e-6
    np.testing.assert_allclose(found.vectors.sum(axis=0), 0, atol=1e-9)
    assert found.converged


def test_a_thin_factor_alone_has_the_pairs_of_the_whole_matrix(monkeypatch):
    F = np.random.default_rng(2).normal(size=(900, 80)) + 3  # a crowded end, which products alone would not resolve
    monkeypatch.setattr(spectral, "_lanczos", None)
    thin = leading_pairs(SymmetricSum(factor=F), 3, trivial=constant(900))
    values, vectors = np.linalg.eigh((F - F.mean(axis=0)) @ (F - F.mean(axis=0)).T)
    assert thin.converged
    np.testing.assert_allclose(thin.values, values[:-4:-1], rtol=1e-10)
    assert difference(thin.vectors, vectors[:, :-4:-1]) < 1e-6


def test_a_large_matrix_is_given_more_products_before_it_is_made_whole(monkeypatch):
    S, F = parts(200)
    tried = []

    def lanczos(apply, n, k, tolerance, restarts=30):
        tried.append(restarts)
        return None if restarts == 30 else (np.ones(k), np.eye(n)[:, :k])

    for name, value in (("_DENSE", 0), ("_WHOLE", 100), ("_lanczos", lanczos), ("_whole", None)):
        monkeypatch.setattr(spectral, name, value)
    assert not leading_pairs(SymmetricSum(sparse=S, factor=F), 2).converged
    assert tried == [30, spectral._PATIENCE]


def test_the_inverse_with_a_low_rank_part_is_that_of_the_whole_matrix():
    S, F = parts(120)
    V = np.random.default_rng(1).normal(size=(120, 2))
    whole = 500 * np.eye(120) - S.toarray() - F @ F.T
    np.testing.assert_allclose(SymmetricSum(sparse=S, factor=F).inverse(500.0)(V), np.linalg.solve(whole, V), rtol=1e-8)


def test_a_crowded_end_is_inverted_and_agrees_with_the_whole_matrix(monkeypatch):
    data = s_curve(900, random_state=1).X
    near = nearest(data, k=8)
    L = lle_matrix(reconstruction_weights(data, near.index), near.index)
    F = 1e-3 * (data - data.mean(axis=0))
    problem = SymmetricSum(sparse=csr_array(-L), factor=F)
    inverted = leading_pairs(problem, 3, trivial=constant(900), above=float(np.linalg.norm(F, 2) ** 2))
    monkeypatch.setattr(spectral, "_DENSE", 1000)
    whole = leading_pairs(problem, 3, trivial=constant(900))
    assert inverted.converged
    np.testing.assert_allclose(inverted.values, whole.values, rtol=1e-5)
    assert difference(inverted.vectors, whole.vectors) < 1e-4


def test_eigenvalues_below_zero_do_not_let_the_trivial_vector_in(monkeypatch):
    monkeypatch.setattr(spectral, "_DENSE", 0)
    L, trivial = laplacian(edge_weights(neighbour_graph(X[:200], nearest(X[:200], k=30))))
    found = leading_pairs(SymmetricSum(sparse=csr_array(-L)), 2, trivial=trivial, above=0.0)
    assert (found.values < -1e-3).all()
    np.testing.assert_allclose(trivial @ found.vectors, 0, atol=1e-9)


def test_signs_and_order_are_fixed_and_two_runs_give_the_same_bytes():
    L, trivial = laplacian(edge_weights(UNION))
    one, two = (leading_pairs(SymmetricSum(sparse=csr_array(-L)), 3, trivial=trivial, above=0.0) for _ in range(2))
    assert one.vectors.tobytes() == two.vectors.tobytes()
    assert (np.diff(one.values) < 0).all()
    largest = np.abs(one.vectors).argmax(axis=0)
    assert (one.vectors[largest, np.arange(3)] > 0).all()


def test_few_rows_have_few_pairs():
    found = leading_pairs(SymmetricSum(factor=np.array([[1.0], [-1.0], [0.0]])), 5, trivial=constant(3))
    assert found.values.shape == (2,)
    np.testing.assert_allclose(found.values, [2, 0], atol=1e-12)

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning

import sidelight.solvers.smoother as smoother
from sidelight import SmootherEmbedding
from sidelight.datasets import noisy_s, s_curve, swiss_roll
from sidelight.evaluate import trustworthiness
from sidelight.kernels.data_kernel import fixed_kernel, perplexity_kernel
from sidelight.kernels.profiles import GAUSSIAN
from sidelight.maps.kernel_map import KernelMap
from sidelight.maps.weights import FixedWeights
from sidelight.solvers.eigen import graph_spectrum
from sidelight.solvers.smoother import smoother_vectors


def naive_vectors(K, k):
    """Rows normalised one by one, the whole matrix decomposed, the constant dropped."""
    B = np.array([row / row.sum() for row in K])
    residual = np.eye(len(K)) - B
    values, vectors = np.linalg.eigh(residual.T @ residual)
    return values[1 : k + 1], vectors[:, 1 : k + 1]


def kernel_of(X, kind):
    return perplexity_kernel(X, 20.0, 15).matrix if kind == "sparse" else fixed_kernel(X, 1.0, GAUSSIAN).matrix


def dense(K):
    return K.toarray() if isinstance(K, csr_array) else K.to_dense().astype(np.float64)


@pytest.mark.parametrize("kind", ["sparse", "dense"])
@pytest.mark.parametrize("limit", [0, 600], ids=["preconditioned", "whole"])
def test_vectors_are_those_of_the_whole_matrix(kind, limit, monkeypatch):
    monkeypatch.setattr(smoother, "_DENSE", limit)
    K = kernel_of(s_curve(400, random_state=0).X, kind)
    found = smoother_vectors(K, 3, graph_spectrum(K, 64))
    values, vectors = naive_vectors(dense(K), 3)
    assert found.converged
    np.testing.assert_allclose(found.values, values, rtol=1e-2 if kind == "dense" else 1e-5)
    assert (np.abs(np.einsum("ij,ij->j", found.vectors, vectors)) > 0.999).all()


@pytest.mark.parametrize("limit", [0, 600], ids=["preconditioned", "whole"])
def test_vectors_are_orthonormal_without_the_constant_smoothest_first_and_of_fixed_sign(limit, monkeypatch):
    monkeypatch.setattr(smoother, "_DENSE", limit)
    K = kernel_of(swiss_roll(400, random_state=0).X, "sparse")
    found = smoother_vectors(K, 4, graph_spectrum(K, 64))
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(4), atol=1e-8)
    np.testing.assert_allclose(found.vectors.sum(axis=0), 0, atol=1e-8)
    assert (np.diff(found.values) > 0).all()
    largest = np.abs(found.vectors).argmax(axis=0)
    assert (found.vectors[largest, np.arange(4)] > 0).all()


def test_eigenvalues_say_how_far_a_smoothing_moves_each_column():
    X = s_curve(300, random_state=1).X
    model = SmootherEmbedding(2, bandwidth=0.5).fit(X)
    Z = model.embedding_
    moved = Z - KernelMap(FixedWeights(X, 0.5), Z)(X)
    np.testing.assert_allclose((moved**2).sum(axis=0) / (Z**2).sum(axis=0), model.eigenvalues_, rtol=1e-3)


def test_the_scale_is_the_one_with_the_smallest_leave_one_out_error():
    X = noisy_s(150, random_state=0).X
    model = SmootherEmbedding(1).fit(X)
    Z = model.embedding_

    def error(Z):
        K = np.exp(-((Z - Z.T) ** 2)) - np.eye(150)
        told = X.mean(axis=0) + K @ (X - X.mean(axis=0)) / (K.sum(axis=1, keepdims=True) + 1e-30)
        return ((X - told) ** 2).sum() / ((X - X.mean(axis=0)) ** 2).sum()

    assert model.reconstruction_error_ == pytest.approx(error(Z), rel=1e-3)
    assert model.scale_ == pytest.approx(Z.std(), rel=1e-6)
    for factor in (0.5, 0.8, 1.25, 2.0):
        assert error(factor * Z) > error(Z)


@pytest.mark.parametrize("seed", range(3))
def test_a_sheet_is_unfolded_and_new_rows_return(seed):
    train, test = (s_curve(400, random_state=seed + shift).X for shift in (0, 100))
    model = SmootherEmbedding(2).fit(train)
    assert trustworthiness(train, model.embedding_) > 0.98
    assert model.score(test) > 0.96


def test_columns_have_equal_spread():
    Z = SmootherEmbedding(3).fit(s_curve(200, random_state=0).X).embedding_
    np.testing.assert_allclose(Z.std(axis=0), Z.std(), rtol=1e-6)
    np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-8 * Z.std())


def test_nothing_depends_on_the_seed():
    X = s_curve(150, random_state=0).X
    one, two = (SmootherEmbedding(random_state=seed).fit(X).embedding_ for seed in (0, 1))
    np.testing.assert_array_equal(one, two)


def test_fewer_rows_than_dimensions_leave_the_rest_empty():
    model = SmootherEmbedding(5).fit(np.random.default_rng(0).normal(size=(4, 3)))
    assert model.embedding_.shape == (4, 5)
    assert (model.embedding_[:, 3:] == 0).all()
    assert model.eigenvalues_.shape == (3,)


def test_an_eigenproblem_that_is_not_solved_is_said(monkeypatch):
    blunt = smoother.Smoothest(np.ones(2), np.eye(50)[:, :2], converged=False)
    monkeypatch.setattr("sidelight.information.smoother_embedding.smoother_vectors", lambda *_: blunt)
    with pytest.warns(ConvergenceWarning, match=r"bandwidth=perplexity makes an eigenproblem that did not converge"):
        SmootherEmbedding().fit(s_curve(50, random_state=0).X)


@pytest.mark.parametrize(
    ("name", "value"),
    [("n_components", 0), ("bandwidth", "wide"), ("bandwidth", -1.0), ("perplexity", 0.5), ("n_neighbors", 0)],
)
def test_a_bad_parameter_is_named_with_its_value_and_a_way_out(name, value):
    with pytest.raises(ValueError, match=rf"^SmootherEmbedding: {name}=.* is not .*\. (Give|Choose) .*\.$"):
        SmootherEmbedding(**{name: value}).fit(s_curve(30, random_state=0).X)


def test_cost_is_said_and_grows():
    small, large = (SmootherEmbedding().estimate_cost(n, 10) for n in (1000, 20_000))
    assert large.seconds > 10 * small.seconds
    assert SmootherEmbedding(bandwidth=1.0).estimate_cost(20_000, 10).bytes > 2 * large.bytes

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.sparse import csr_array
from sklearn.manifold import spectral_embedding

from sidelight.kernels.data_kernel import perplexity_kernel
from sidelight.kernels.matrices import SymmetricTiles, dense_kernel
from sidelight.kernels.profiles import GAUSSIAN
from sidelight.solvers.eigen import fix_signs, graph_spectrum


def strip(n):
    """A long, thin sheet: its first eigenvectors are well apart."""
    rng = np.random.default_rng(0)
    return rng.uniform(size=(n, 2)) * [6.0, 1.0]


def kernels(n):
    X = strip(n)
    return {
        "dense": dense_kernel(X, 0.5, GAUSSIAN, dtype=np.float64),
        "sparse": perplexity_kernel(X, 15.0, None).matrix,
    }


def as_array(K):
    return K.to_dense() if isinstance(K, SymmetricTiles) else K.toarray()


def oracle(K, k):
    """The generalised problem ``L y = w D y`` by a dense solver, the constant vector dropped."""
    D = np.diag(K.sum(axis=1))
    values, vectors = eigh(D - K, D)
    Y = vectors[:, 1 : k + 1]
    Y = Y - Y.mean(axis=0)
    return values[1 : k + 1], Y / Y.std(axis=0)


def aligned(A, B):
    return A * np.sign((A * B).sum(axis=0))


@pytest.mark.parametrize("n", [60, 300, 520])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_the_spectrum_is_that_of_a_dense_generalised_solver(kind, n):
    K = kernels(n)[kind]
    spectrum = graph_spectrum(K, 3, tolerance=1e-10)
    values, Y = oracle(as_array(K), 3)
    np.testing.assert_allclose(spectrum.values, values, atol=1e-8)
    found = spectrum.coordinates(3)
    np.testing.assert_allclose(aligned(found, Y), Y, atol=1e-4)
    np.testing.assert_allclose(found.std(axis=0), 1)


@pytest.mark.parametrize("n", [150, 520])
def test_coordinates_are_those_of_scikit_learn_up_to_sign_and_scale(n):
    K = kernels(n)["sparse"]
    theirs = spectral_embedding(K.toarray(), n_components=2, drop_first=True, random_state=0)
    theirs = (theirs - theirs.mean(axis=0)) / theirs.std(axis=0)
    ours = graph_spectrum(K, 2, tolerance=1e-10).coordinates(2)
    np.testing.assert_allclose(aligned(ours, theirs), theirs, atol=1e-3)


def test_the_first_coordinate_runs_along_the_strip():
    X = strip(520)
    first = graph_spectrum(kernels(520)["sparse"], 2).coordinates(2)[:, 0]
    ranks = np.argsort(np.argsort(first)), np.argsort(np.argsort(X[:, 0]))
    assert abs(np.corrcoef(*ranks)[0, 1]) > 0.99


@pytest.mark.parametrize("n", [150, 520])
def test_two_runs_give_the_same_bytes(n):
    K = kernels(n)["sparse"]
    one, two = (graph_spectrum(K, 4).coordinates(4) for _ in range(2))
    assert one.tobytes() == two.tobytes()


@pytest.mark.parametrize("n", [50, 400])
def test_constant_data_gives_finite_coordinates_and_the_same_ones_each_time(n):
    K = dense_kernel(np.zeros((n, 2)), 1.0, GAUSSIAN)
    one, two = (graph_spectrum(K, 2) for _ in range(2))
    assert np.isfinite(one.coordinates(2)).all()
    assert one.coordinates(2).tobytes() == two.coordinates(2).tobytes()
    assert np.isfinite(one.precondition(np.ones((n, 2)))).all()


@pytest.mark.parametrize(("n", "k"), [(2, 1), (2, 5), (4, 3), (4, 9)])
def test_there_are_at_most_as_many_coordinates_as_other_rows(n, k):
    K = dense_kernel(np.arange(n, dtype=float)[:, None], 2.0, GAUSSIAN, dtype=np.float64)
    found = graph_spectrum(K, k).coordinates(k)
    assert found.shape == (n, min(k, n - 1))
    assert np.isfinite(found).all()


@pytest.mark.parametrize("n", [40, 400])
def test_rows_without_neighbours_do_not_spoil_the_others(n):
    K = np.array(as_array(kernels(n)["dense"]))
    alone = [0, n // 2, n - 1]
    K[alone] = 0
    K[:, alone] = 0
    kept = np.setdiff1d(np.arange(n), alone)
    found = graph_spectrum(csr_array(K), 2, tolerance=1e-10).coordinates(2)
    assert np.isfinite(found).all()
    inner = graph_spectrum(csr_array(K[np.ix_(kept, kept)]), 2, tolerance=1e-10).coordinates(2)
    for c in range(2):
        assert abs(np.corrcoef(found[kept, c], inner[:, c])[0, 1]) > 1 - 1e-6


def test_separate_pieces_are_told_apart_by_the_first_coordinate():
    K = csr_array(np.kron(np.eye(2), np.ones((8, 8))))
    first = graph_spectrum(K, 1).coordinates(1)[:, 0]
    assert np.ptp(first[:8]) < 1e-8
    assert np.ptp(first[8:]) < 1e-8
    assert abs(first[0] - first[8]) > 1


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_the_preconditioner_is_symmetric_and_positive(kind):
    spectrum = graph_spectrum(kernels(60)[kind], 10)
    P = spectrum.precondition(np.eye(60))
    np.testing.assert_allclose(P, P.T, atol=1e-10 * np.abs(P).max())
    assert np.linalg.eigvalsh(0.5 * (P + P.T)).min() > 0


def test_a_full_spectrum_preconditions_by_the_inverse_of_the_shifted_laplacian():
    K = as_array(kernels(30)["dense"])
    spectrum = graph_spectrum(SymmetricTiles.from_dense(K, np.float64), 29)
    D = np.diag(K.sum(axis=1))
    G = np.random.default_rng(1).normal(size=(30, 2))
    G -= G.mean(axis=0)  # forces cancel, so a gradient has no part along the trivial vector
    expected = np.linalg.solve(D - K + 1e-2 * D, G)
    np.testing.assert_allclose(spectrum.precondition(G), expected, rtol=1e-8, atol=1e-10)


def test_signs_make_the_largest_entry_of_each_column_positive():
    V = np.array([[1.0, -2.0, 0.0], [-3.0, 1.0, 0.0]])
    assert fix_signs(V).tolist() == [[-1.0, 2.0, 0.0], [3.0, -1.0, 0.0]]
    assert fix_signs(-V).tolist() == fix_signs(V).tolist()


@pytest.mark.parametrize("rounding", [-1e-15, 0.0, 1e-15])
def test_signs_do_not_hang_on_which_of_two_ends_is_rounded_up(rounding):
    ends = np.array([[0.5], [0.1], [-0.1], [-0.5 + rounding]])
    assert fix_signs(ends)[0, 0] == 0.5
    assert fix_signs(-ends)[0, 0] == 0.5

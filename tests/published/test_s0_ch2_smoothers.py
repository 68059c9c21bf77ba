"""S0 section 2.3.2, PCA as a non-parametric map: kernel regression forward and backward; and S0 3.3."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.decomposition import PCA

from sidelight import SmootherEmbedding, UnsupervisedKernelRegression
from sidelight.kernels.profiles import profile
from sidelight.objectives.leave_one_out import LeaveOneOutLikelihood
from sidelight.objectives.reconstruction import LeaveOneOutReconstruction
from sidelight.objectives.sammon import SammonStress
from sidelight.two_way.sammon import sammon_mapping

N, H = 40, 0.8
T = np.linspace(0, 4, N)
X = np.column_stack([np.cos(T), np.sin(T), 0.3 * T])
Z = np.random.default_rng(0).normal(size=(N, 2))


def squares(A, B):
    return ((A[:, None] - B) ** 2).sum(axis=-1)


def smoothed(Z):
    """f(z) = Σ_β b(z, z^β) y^β with Nadaraya-Watson weights, each row left out of its own."""
    W = np.exp(-squares(Z, Z))
    np.fill_diagonal(W, 0)
    return W @ X / W.sum(axis=1, keepdims=True)


def relative_error(Z):
    return ((X - smoothed(Z)) ** 2).sum() / ((X - X.mean(axis=0)) ** 2).sum()


def test_eq_2_19_reconstruction_error_of_the_forward_map():
    """As a share of the variance, and with each row left out (Meinicke et al. 2005)."""
    objective = LeaveOneOutReconstruction(X, profile("gaussian"), dtype=np.float64)
    found = objective.value_and_grad(Z)
    assert found.value == pytest.approx(relative_error(Z), rel=1e-10)
    move, step = np.random.default_rng(1).normal(size=Z.shape), 1e-6
    slope = (relative_error(Z + step * move) - relative_error(Z - step * move)) / (2 * step)
    assert np.vdot(found.gradient, move) == pytest.approx(slope, rel=1e-6)


def test_eq_2_19_is_the_error_of_a_fit():
    model = UnsupervisedKernelRegression(2, tol=1e-4).fit(X)
    assert model.reconstruction_error_ == pytest.approx(relative_error(model.embedding_), abs=1e-6)


def test_eq_2_23_linear_basis_functions_give_pca():
    """Y(I - ZᵀZ) is least at the leading eigenvectors of YᵀY: PCA, by scikit-learn."""
    centred = X - X.mean(axis=0)
    found = PCA(2).fit_transform(X)
    V = np.linalg.eigh(centred @ centred.T)[1][:, -2:]
    least = ((centred - V @ (V.T @ centred)) ** 2).sum()
    own = np.linalg.qr(found)[0]
    assert ((centred - own @ (own.T @ centred)) ** 2).sum() == pytest.approx(least, rel=1e-9)


def test_eq_2_27_spectral_embedding_of_the_backward_map():
    """The smallest eigenvectors of (I - B)ᵀ(I - B), B the row-normalised kernel, without the constant one."""
    B = np.exp(-squares(X, X) / H)
    B /= B.sum(axis=1, keepdims=True)
    model = SmootherEmbedding(2, bandwidth=H).fit(X)
    M = (np.eye(N) - B).T @ (np.eye(N) - B)
    np.testing.assert_allclose(model.eigenvalues_, np.linalg.eigvalsh(M)[1:3], rtol=1e-5)
    for z, value in zip(model.embedding_.T, model.eigenvalues_, strict=True):
        assert ((z - B @ z) ** 2).sum() / (z**2).sum() == pytest.approx(value, rel=1e-4)


def test_eq_2_27_maps_and_density_have_the_bandwidth_of_the_model():
    model = SmootherEmbedding(2, bandwidth=H).fit(X)
    by_hand = np.log(np.exp(-squares(X[:5], X) / H).mean(axis=1)) - 1.5 * np.log(np.pi * H)
    np.testing.assert_allclose(model.score_samples(X[:5]), by_hand, rtol=1e-9)


def test_eq_2_24_backward_map_of_the_smoother_is_kernel_regression():
    model, rows = SmootherEmbedding(2, bandwidth=H).fit(X), X[:5] + 0.1
    W = np.exp(-squares(rows, X) / H)
    by_hand = W @ model.embedding_ / W.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.transform_mean(rows), by_hand, rtol=1e-9, atol=1e-12)
    assert np.abs(model.transform_mean(X) - model.embedding_).max() > 1e-3 * np.abs(model.embedding_).max()


def test_section_3_3_leave_one_out_objective_with_a_learned_bandwidth():
    def by_hand(Z, h):
        K, L = np.exp(-squares(X, X) / h), np.exp(-squares(Z, Z))
        np.fill_diagonal(L, 0)
        return -np.log((K * L).sum(axis=1) / L.sum(axis=1)).mean() + 1.5 * np.log(np.pi * h)

    value, gradient, slope = LeaveOneOutLikelihood(X, dtype=np.float64).evaluate(Z, np.log(H))
    assert value == pytest.approx(by_hand(Z, H), rel=1e-10)
    move, step = np.random.default_rng(1).normal(size=Z.shape), 1e-6
    ahead, behind = by_hand(Z + step * move, H), by_hand(Z - step * move, H)
    assert np.vdot(gradient, move) == pytest.approx((ahead - behind) / (2 * step), rel=1e-6)
    ahead, behind = by_hand(Z, H * np.exp(step)), by_hand(Z, H * np.exp(-step))
    assert slope == pytest.approx((ahead - behind) / (2 * step), rel=1e-6)


def test_section_2_3_1_sammon_mapping():
    """1/Σd Σ (d - δ)²/d over pairs; the source names it without the formula, which is that of Sammon (1969)."""
    D, found = np.sqrt(squares(X, X)), sammon_mapping(X, tol=1e-13, max_iter=3000)

    def by_hand(Y):
        pairs = [(i, j) for i in range(N) for j in range(i)]
        far = sum(D[i, j] for i, j in pairs)
        return sum((D[i, j] - np.linalg.norm(Y[i] - Y[j])) ** 2 / D[i, j] for i, j in pairs) / far

    stress = by_hand(found)
    assert SammonStress(D).value_and_grad(Z).value == pytest.approx(by_hand(Z), rel=1e-10)
    moves = np.random.default_rng(1).normal(size=(20, N, 2))
    assert all(by_hand(found + 1e-3 * move) > stress for move in moves)

"""S4 chapters 1 and 2: spectral methods as kernels, and the hybrid of distances and local structure, against NumPy.

The source has samples in columns; here they are rows, so its YᵀY is Z Zᵀ. D holds *squared* distances.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path
from sklearn.decomposition import PCA, KernelPCA

from sidelight import HybridEmbedding, ReconstructionDistance, TangentDistance
from sidelight.objectives.spectral import (
    centred_kernel,
    inverse_kernel,
    laplacian,
    lle_matrix,
    reconstruction_weights,
    shifted_kernel,
)

N, K = 40, 6
RNG = np.random.default_rng(0)
T = np.linspace(0, 4, N)
X = np.column_stack([np.cos(T), np.sin(T), RNG.uniform(size=N)])
D2 = ((X[:, None] - X) ** 2).sum(axis=-1)
NEAR = np.argsort(D2, axis=1)[:, 1 : K + 1]
H = np.eye(N) - 1 / N


def edges():
    """0/1 weights of the k-nearest-neighbour graph, an edge where either row is a neighbour of the other."""
    W = np.zeros((N, N))
    W[np.repeat(np.arange(N), K), NEAR.ravel()] = 1
    return np.maximum(W, W.T)


def same_up_to_signs(A, B, **tolerance):
    np.testing.assert_allclose(np.abs(A), np.abs(B), **tolerance)


def top(M, q=2):
    values, vectors = np.linalg.eigh(M)
    return values[::-1][:q], vectors[:, ::-1][:, :q]


def test_eq_1_2_dual_pca():
    """Σ Vᵀ of XᵀX is PCA; by scikit-learn."""
    centred = X - X.mean(axis=0)
    values, V = top(centred @ centred.T)
    same_up_to_signs(PCA(2).fit_transform(X), V * np.sqrt(values), atol=1e-9)


def test_section_1_2_1_kernel_pca_centres_the_kernel():
    """By scikit-learn."""
    G = np.exp(-D2)
    values, V = top(H @ G @ H)
    same_up_to_signs(KernelPCA(2, kernel="rbf", gamma=1.0).fit_transform(X), V * np.sqrt(values), atol=1e-7)


def test_eq_1_3_lle_weights_and_matrix():
    weights, W = reconstruction_weights(X, NEAR), np.zeros((N, N))
    for i, near in enumerate(NEAR):
        away = X[near] - X[i]
        G = away @ away.T
        w = np.linalg.solve(G + 1e-3 * np.trace(G) * np.eye(K), np.ones(K))
        W[i, near] = w / w.sum()
        np.testing.assert_allclose(weights[i], W[i, near], atol=1e-7)
    L = (np.eye(N) - W).T @ (np.eye(N) - W)
    np.testing.assert_allclose(lle_matrix(weights, NEAR).toarray(), L, atol=1e-6)


def test_section_1_4_laplacian():
    W = edges()
    np.testing.assert_allclose(laplacian(csr_array(W))[0].toarray(), np.diag(W.sum(axis=1)) - W, atol=1e-12)


@pytest.mark.parametrize("metric", ["euclidean", "geodesic"])
def test_eq_1_4_mds_and_eq_1_9_isomap_are_the_hybrid_at_alpha_0(metric):
    W = np.where(edges() > 0, np.sqrt(D2), 0)
    squares = D2 if metric == "euclidean" else shortest_path(W) ** 2
    values, V = top(-0.5 * H @ squares @ H)
    model = HybridEmbedding(2, metric=metric, alpha=0, n_neighbors=K, graph="union").fit(X)
    same_up_to_signs(model.embedding_, V * np.sqrt(values), atol=1e-5)


def test_eqs_1_5_to_1_7_kernels_of_lle_and_laplacian_eigenmaps():
    L = np.diag(edges().sum(axis=1)) - edges()
    np.testing.assert_allclose(shifted_kernel(csr_array(L)), np.linalg.eigvalsh(L)[-1] * np.eye(N) - L, atol=1e-8)
    np.testing.assert_allclose(inverse_kernel(csr_array(L)), np.linalg.pinv(L, rcond=1e-10, hermitian=True), atol=1e-9)


def test_eq_1_8_kernel_of_mds():
    """With H = I - eeᵀ/t; 1.8 and 1.9 drop the 1/t."""
    np.testing.assert_allclose(centred_kernel(D2), -0.5 * H @ D2 @ H, atol=1e-12)


@pytest.mark.parametrize("locality", ["laplacian", "lle"])
@pytest.mark.parametrize("alpha", [0.3, 0.7])
def test_eq_2_3_hybrid_objective_is_least_at_the_embedding(alpha, locality):
    """(1-α) |sM - ZZᵀ|² + α tr(ZZᵀL), s = |L|/|M| (footnote 2); its minimiser is in closed form (2.5)."""
    model = HybridEmbedding(
        2, metric="euclidean", locality=locality, alpha=alpha, n_neighbors=K, graph="union", negative="clip"
    ).fit(X)
    M = -0.5 * H @ D2 @ H
    if locality == "laplacian":
        L = np.diag(edges().sum(axis=1)) - edges()
    else:
        L = lle_matrix(reconstruction_weights(X, NEAR), NEAR).toarray()
    s = np.linalg.norm(L, 2) / np.linalg.norm(M, 2)

    def objective(Z):
        return (1 - alpha) * ((s * M - Z @ Z.T) ** 2).sum() + alpha * np.trace(Z.T @ L @ Z)

    values, V = top(H @ ((1 - alpha) * s * M - 0.5 * alpha * L) @ H)
    best = V * np.sqrt(np.maximum(values, 0) / (1 - alpha))
    same_up_to_signs(np.sqrt(s) * model.embedding_, best, atol=1e-4 * np.abs(best).max())
    for _ in range(20):
        assert objective(best + 0.01 * RNG.normal(size=best.shape)) > objective(best)


def test_section_2_5_tangent_correction_is_sin_squared_of_the_angle():
    """``TangentDistance`` returns the sine, whose square is the source's D; no smoothing, central difference."""
    pictures = RNG.normal(size=(8, 25))
    moved = np.stack([np.roll(pictures.reshape(-1, 5, 5), step, axis=2).reshape(-1, 25) for step in (1, -1)])
    tangent = moved[0] - moved[1]
    tangent /= np.linalg.norm(tangent, axis=1, keepdims=True)
    found = TangentDistance("shift", image_shape=(5, 5), smoothing=0)(pictures)
    np.testing.assert_allclose(found**2, 1 - (tangent @ tangent.T) ** 2, atol=1e-9)


def test_section_2_6_reconstruction_distance_is_the_shortest_path_of_errors():
    bump = np.exp(-((np.arange(5) - 2.0) ** 2)) * np.ones((5, 1))
    pictures = np.stack([np.roll(bump, step, axis=1).ravel() for step in range(-2, 3)]) + 0.05 * RNG.normal(
        size=(5, 25)
    )
    moved = [np.roll(pictures.reshape(-1, 5, 5), step, axis=2).reshape(-1, 25) for step in (1, -1)]
    errors = np.min([np.linalg.norm(m[:, None] - pictures, axis=-1) for m in moved], axis=0)
    errors = np.minimum(errors, errors.T)
    np.fill_diagonal(errors, 0)
    found = ReconstructionDistance("shift", image_shape=(5, 5), n_neighbors=5)(pictures)
    np.testing.assert_allclose(found, shortest_path(errors), atol=1e-9)

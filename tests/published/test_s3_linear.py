"""S3, lecture on latent variables: PCA, whitening, probabilistic PCA, factor analysis (formulas are not numbered)."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.decomposition import PCA, FactorAnalysis

from sidelight import ProbabilisticPCA, TwoWayEmbedding

N, D, Q = 120, 4, 2
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, Q)) @ RNG.normal(size=(Q, D)) + 0.3 * RNG.normal(size=(N, D)) + [1.0, -2.0, 0.0, 3.0]
CENTRED = X - X.mean(axis=0)
COVARIANCE = CENTRED.T @ CENTRED / N  # rows are samples: printed as XXᵀ/N
VALUES, VECTORS = (part[..., ::-1] for part in np.linalg.eigh(COVARIANCE))


@pytest.fixture(scope="module")
def fitted():
    return ProbabilisticPCA(Q).fit(X)


@pytest.fixture(scope="module")
def parameters(fitted):
    """W (d, q), σ² and M = WᵀW + σ²I by the closed form, of the covariance with N - 1 as in scikit-learn.

    (The likelihood itself is largest with N: variances are N / (N - 1) of the source's.)
    """
    values = VALUES * N / (N - 1)
    noise = values[Q:].mean()
    W = VECTORS[:, :Q] * np.sqrt(values[:Q] - noise)
    assert fitted.noise_variance_ == pytest.approx(noise, rel=1e-9)
    return W, noise, W.T @ W + noise * np.eye(Q)


def test_pca_maps_backward_and_forward():
    """z = Uᵀx, x̃ = Uz, by scikit-learn; TwoWayEmbedding keeps both maps (the lecture's summary swaps their names)."""
    model, U = TwoWayEmbedding(PCA(Q)).fit(X), VECTORS[:, :Q]
    np.testing.assert_allclose(np.abs(model.transform(X)), np.abs(CENTRED @ U), atol=1e-9)
    rebuilt = model.inverse_transform(model.transform(X))
    np.testing.assert_allclose(rebuilt, CENTRED @ U @ U.T + X.mean(axis=0), atol=1e-9)


def test_whitening():
    """L^(-1/2) Uᵀ x, by scikit-learn (with N - 1)."""
    found = PCA(D, whiten=True).fit_transform(X)
    np.testing.assert_allclose(np.abs(found), np.abs(CENTRED @ VECTORS / np.sqrt(VALUES * N / (N - 1))), atol=1e-8)
    np.testing.assert_allclose(np.cov(found.T), np.eye(D), atol=1e-9)


def test_probabilistic_pca_posterior(fitted, parameters):
    """N(z | M⁻¹Wᵀ(x - μ), σ²M⁻¹); the covariance is printed as σ⁻²M."""
    W, noise, M = parameters
    by_hand = CENTRED @ W @ np.linalg.inv(M)
    signs = np.sign((by_hand * fitted.transform(X)).sum(axis=0))
    np.testing.assert_allclose(fitted.transform(X) * signs, by_hand, atol=1e-7)
    found = fitted.posterior_covariance(X[:1])[0] * np.outer(signs, signs)
    np.testing.assert_allclose(found, noise * np.linalg.inv(M), atol=1e-9)


def test_probabilistic_pca_forward_map(fitted, parameters):
    """E[x | z] = Wz + μ with variance σ² around it."""
    W, noise, _ = parameters
    signs = np.sign((fitted.inverse_transform(np.eye(Q)) - X.mean(axis=0)) @ W).diagonal()
    Z = RNG.normal(size=(5, Q))
    np.testing.assert_allclose(fitted.inverse_transform(Z * signs), Z @ W.T + X.mean(axis=0), atol=1e-7)
    np.testing.assert_allclose(fitted.predictive_variance(Z), noise, rtol=1e-7)


def test_probabilistic_pca_marginal(fitted, parameters):
    """p(x) = N(x | μ, WWᵀ + σ²I)."""
    W, noise, _ = parameters
    by_hand = multivariate_normal(X.mean(axis=0), W @ W.T + noise * np.eye(D)).logpdf(X)
    np.testing.assert_allclose(fitted.score_samples(X), by_hand, rtol=1e-9)


def test_probabilistic_pca_missing_values(fitted, parameters):
    """The conditional Gaussian of what is missing given what is observed, by the marginal."""
    W, noise, _ = parameters
    C, mean = W @ W.T + noise * np.eye(D), X.mean(axis=0)
    row = X[3].copy()
    row[1] = np.nan
    seen = np.array([0, 2, 3])
    gain = C[1, seen] @ np.linalg.inv(C[np.ix_(seen, seen)])
    filled = fitted.impute(row[None])[0]
    assert filled[1] == pytest.approx(mean[1] + gain @ (row[seen] - mean[seen]), rel=1e-8)
    assert fitted.impute_variance(row[None])[0, 1] == pytest.approx(C[1, 1] - gain @ C[seen, 1], rel=1e-8)


def test_factor_analysis_has_a_noise_of_each_column():
    """p(x) = N(x | μ, WWᵀ + Ψ), by scikit-learn."""
    model = FactorAnalysis(Q, tol=1e-6, max_iter=5000).fit(X)
    C = model.components_.T @ model.components_ + np.diag(model.noise_variance_)
    np.testing.assert_allclose(model.score_samples(X), multivariate_normal(model.mean_, C).logpdf(X), rtol=1e-7)

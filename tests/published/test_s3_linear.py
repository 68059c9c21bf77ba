"""S3, lecture on latent variables: PCA to sparse codes (its formulas are not numbered)."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.decomposition import PCA, FactorAnalysis, FastICA, sparse_encode

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


def test_error_of_pca_is_the_trace_less_that_of_the_projection():
    """E(U) = Tr(XXᵀ) - Tr(UᵀXXᵀU): N times the eigenvalues that are left out; other planes have more."""
    model = TwoWayEmbedding(PCA(Q)).fit(X)
    error = ((X - model.inverse_transform(model.transform(X))) ** 2).sum()
    assert error == pytest.approx(N * VALUES[Q:].sum(), rel=1e-9)
    for seed in range(20):
        U = np.linalg.qr(np.random.default_rng(seed).normal(size=(D, Q)))[0]
        assert N * (np.trace(COVARIANCE) - np.trace(U.T @ COVARIANCE @ U)) > error


def test_latent_points_of_pca_are_uncorrelated():
    """1/N Σ zzᵀ = L."""
    Z = PCA(D).fit_transform(X)
    np.testing.assert_allclose(Z.T @ Z / N, np.diag(VALUES), atol=1e-9)


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


def test_factor_analysis_uses_the_factors_for_covariances_only():
    """At the largest likelihood, diag(WWᵀ + Ψ) is the variance of the columns: Ψ takes up what W leaves."""
    model = FactorAnalysis(Q, tol=1e-6, max_iter=5000).fit(X)
    variances = (model.components_**2).sum(axis=0) + model.noise_variance_
    np.testing.assert_allclose(variances, COVARIANCE.diagonal(), rtol=1e-4)


def test_linear_auto_encoder_has_the_subspace_of_pca():
    """|y(x) - x|² through M linear units: the plane of PCA; the components need not be orthonormal."""
    pytest.importorskip("torch", reason="needs the extra torch")
    from sidelight import gated

    model = gated.Autoencoder(Q, random_state=0).fit(X)
    found = model.inverse_transform(model.transform(X)) - X.mean(axis=0)
    span = np.linalg.svd(found, full_matrices=False)[2][:Q].T
    np.testing.assert_allclose(np.linalg.svd(span.T @ VECTORS[:, :Q])[1], 1, atol=1e-3)


def test_one_of_k_needs_a_hidden_layer_before_a_code_of_two():
    """The classic example: K rows that are 1 in one column each, through two numbers and back."""
    pytest.importorskip("torch", reason="needs the extra torch")
    from sidelight import gated

    rows = np.eye(10)
    right = []
    for hidden in ((), (16,)):
        model = gated.Autoencoder(2, hidden=hidden, random_state=0).fit(rows)
        right.append((model.inverse_transform(model.transform(rows)).argmax(axis=1) == np.arange(10)).sum())
    assert right[0] < 10
    assert right[1] == 10


def test_sparse_codes_are_at_the_optimum_of_the_penalised_error():
    """½|x - Dz|² + λ|z|₁, by scikit-learn: the gradient is -λ sign(z) where z is not 0, and at most λ elsewhere."""
    atoms = RNG.normal(size=(3 * D, D))
    atoms /= np.linalg.norm(atoms, axis=1, keepdims=True)
    codes = sparse_encode(CENTRED, atoms, algorithm="lasso_lars", alpha=0.5)
    gradient = (codes @ atoms - CENTRED) @ atoms.T
    used = np.abs(codes) > 1e-9  # LARS leaves rounding where an atom is dropped again
    np.testing.assert_allclose(gradient[used], -0.5 * np.sign(codes[used]), atol=1e-7)
    assert np.abs(gradient[~used]).max() <= 0.5 + 1e-7
    assert used.sum(axis=1).max() <= D < atoms.shape[0]


def test_independent_components_are_the_sources():
    """p(z) = Π p(z_j), heavy-tailed: unmixed up to order, sign and scale, where PCA's are still mixed."""
    sources = np.random.default_rng(0).laplace(size=(5000, 2))
    mixed = sources @ np.array([[1.0, 0.5], [0.2, 1.0]])
    unmixed = FastICA(2, whiten="unit-variance", random_state=0, tol=1e-8, max_iter=1000).fit_transform(mixed)
    by_ica, by_pca = (np.abs(np.corrcoef(sources.T, Z.T)[:2, 2:]) for Z in (unmixed, PCA(2).fit_transform(mixed)))
    assert by_ica.max(axis=0).min() > 0.995
    assert by_pca.max(axis=0).min() < 0.9

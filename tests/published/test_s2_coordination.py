"""S2, Non-linear feature extraction by the coordination of mixture models: equations 1 to 33 against NumPy.

``balance=None`` is the source's objective. Latent columns have variance 1 here, where 17 makes their sum of squares 1.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

from sidelight import BernoulliMixture, CoordinatedCCA, CoordinatedMixture, PPCAMixture
from sidelight.objectives.spectral import lle_matrix, reconstruction_weights

N = 200
RNG = np.random.default_rng(0)
T = RNG.uniform(0, 3, size=N)
X = np.column_stack([np.cos(T), np.sin(T), RNG.uniform(size=N)]) + 0.02 * RNG.normal(size=(N, 3))
Y = np.column_stack([T, T**2 / 3]) + 0.02 * RNG.normal(size=(N, 2))


def charts(model, rows):
    """q_ns (n, k), divided by the number of mixtures (section 3), and z_ns = [f_s(x_n), 1] of each chart."""
    views = model.map_.views
    Q, features = [], []
    for view in views:
        inside = (rows[:, view.columns] - view.centre) / view.scale
        Q.append(view.charts.responsibilities(inside) / len(views))
        features += [view.charts.features(inside, s) for s in range(view.charts.n_charts)]
    return np.column_stack(Q), [np.column_stack([f, np.ones(len(rows))]) for f in features]


def system(Q, Z):
    """U and D of equations 10, 11 and 14."""
    U = np.column_stack([q[:, None] * z for q, z in zip(Q.T, Z, strict=True)])
    D, start = np.zeros((U.shape[1],) * 2), 0
    for q, z in zip(Q.T, Z, strict=True):
        block = slice(start, start := start + z.shape[1])
        D[block, block] = (q[:, None] * z).T @ z
    return U, D


@pytest.fixture(scope="module")
def mixture():
    return PPCAMixture(4, 2, random_state=0).fit(X)


@pytest.fixture(scope="module", params=[1, 2], ids=["one mixture", "two in parallel"])
def coordinated(request):
    return CoordinatedMixture(2, n_charts=4, n_mixtures=request.param, balance=None, random_state=0).fit(X)


def test_eq_1_density_of_a_mixture_of_probabilistic_pca(mixture):
    """p(x) = Σ_s p(s) N(x; m_s, W_s W_sᵀ + σ_s² I)."""
    parts = zip(mixture.weights_, mixture.means_, mixture.components_, mixture.noise_variance_, strict=True)
    logs = [np.log(p) + multivariate_normal(m, W.T @ W + s * np.eye(3)).logpdf(X) for p, m, W, s in parts]
    np.testing.assert_allclose(mixture.score_samples(X), logsumexp(logs, axis=0), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(mixture.predict_proba(X), np.exp(logs - logsumexp(logs, axis=0)).T, atol=1e-6)


def test_eq_1_density_of_a_mixture_of_bernoullis():
    B = (RNG.uniform(size=(N, 6)) < 0.3 + 0.4 * (T[:, None] > 1.5)).astype(float)
    model = BernoulliMixture(2, random_state=0).fit(B)
    odds = B @ np.log(model.means_).T + (1 - B) @ np.log(1 - model.means_).T + np.log(model.weights_)
    np.testing.assert_allclose(model.score_samples(B), logsumexp(odds, axis=1), rtol=1e-9)


def test_eq_7_latent_points_are_weighted_means_and_eq_13(coordinated):
    """g_n = Σ_s q_ns L_s z_ns, G = UL; for new rows too."""
    rows = X[:5] + 0.01
    Q, Z = charts(coordinated, rows)
    by_hand = sum(q[:, None] * z @ L for q, z, L in zip(Q.T, Z, coordinated.map_.maps, strict=True))
    np.testing.assert_allclose(coordinated.transform(rows), by_hand, rtol=1e-9)
    U, _ = system(*charts(coordinated, X))
    np.testing.assert_allclose(coordinated.embedding_, U @ np.concatenate(coordinated.map_.maps), rtol=1e-9)


def objectives(Q, Z, maps):
    """Equations 8, 9 and 15 of the same maps."""
    g = np.stack([z @ L for z, L in zip(Z, maps, strict=True)], axis=1)
    mean = np.einsum("ns,nsq->nq", Q, g)
    first = (Q[:, :, None] * (mean[:, None] - g) ** 2).sum()
    away = ((g[:, :, None] - g[:, None]) ** 2).sum(axis=-1)
    second = 0.5 * np.einsum("ns,nt,nst->", Q, Q, away)
    U, D = system(Q, Z)
    L = np.concatenate(maps)
    return first, second, np.trace(L.T @ (D - U.T @ U) @ L)


def test_eqs_8_9_and_15_are_one_objective_and_eq_23_gives_its_value(coordinated):
    """The eigenvalues in ``disagreement_`` are λ/(λ+1) of the source's λ: B v = (λ/(λ+1)) D v."""
    first, second, third = objectives(*charts(coordinated, X), coordinated.map_.maps)
    assert second == pytest.approx(first, rel=1e-9)
    assert third == pytest.approx(first, abs=1e-8 * N)  # a difference of large numbers, as printed
    own = coordinated.disagreement_
    assert first == pytest.approx(N * (own / (1 - own)).sum(), rel=1e-6)


def test_eqs_16_and_17_constraints(coordinated):
    np.testing.assert_allclose(coordinated.embedding_.mean(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(np.cov(coordinated.embedding_.T, bias=True), np.eye(2), atol=1e-7)


def test_eq_20_eigenvectors_with_the_smallest_eigenvalues(coordinated):
    """D v = (λ + 1) UᵀU v; the first, constant solution is left out."""
    U, D = system(*charts(coordinated, X))
    L, own = np.concatenate(coordinated.map_.maps), coordinated.disagreement_
    np.testing.assert_allclose(U.T @ (U @ L), (D @ L) * (1 - own), atol=1e-9 * np.abs(D).max())
    largest = eigh(U.T @ U, D, eigvals_only=True)[::-1][:3]
    np.testing.assert_allclose(largest, [1.0, *(1 - own)], atol=1e-10)


def test_eqs_24_and_25_automatic_alignment():
    """As Σ_n |g_n - Σ_m W_nm g_m|²: 24 as printed is indefinite, W being negative in part."""
    model = CoordinatedMixture(2, n_charts=4, alignment="automatic", n_neighbors=8, random_state=0).fit(X)
    near = np.argsort(((X[:, None] - X) ** 2).sum(axis=-1), axis=1)[:, 1:9]
    M = lle_matrix(reconstruction_weights(X, near), near).toarray()  # tested in test_s4_ch1_ch2_spectral.py
    U, _ = system(*charts(model, X))
    G = model.embedding_
    cost = np.diag(G.T @ M @ G) / N
    np.testing.assert_allclose(cost, model.disagreement_, rtol=1e-4)
    values = eigh(U.T @ M @ U, U.T @ U, eigvals_only=True)[:3]
    np.testing.assert_allclose(values[1:], model.disagreement_, rtol=1e-4)


def test_eqs_30_to_33_non_linear_cca():
    """One mixture for each view; the objective is consistency between views plus consistency within them."""
    both = np.column_stack([X, Y])
    model = CoordinatedCCA(1, views=[[0, 1, 2], [3, 4]], n_charts=5, balance=None, random_state=0).fit(both)
    Q, Z = charts(model, both)
    g = np.stack([z @ L for z, L in zip(Z, model.map_.maps, strict=True)], axis=1)
    mean = np.einsum("ns,nsq->nq", Q, g)
    whole = objectives(Q, Z, model.map_.maps)[0]
    between = within = 0.0
    for part in (slice(0, 5), slice(5, 10)):
        own = np.einsum("ns,nsq->nq", 2 * Q[:, part], g[:, part])
        between += 0.5 * ((mean - own) ** 2).sum()
        within += 0.5 * (2 * Q[:, part, None] * (own[:, None] - g[:, part]) ** 2).sum()
    assert between + within == pytest.approx(whole, rel=1e-9)
    assert whole == pytest.approx(N * (model.disagreement_ / (1 - model.disagreement_)).sum(), rel=1e-6)
    np.testing.assert_allclose(model.embedding_, mean, rtol=1e-9)

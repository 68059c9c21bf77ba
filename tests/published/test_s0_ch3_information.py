"""S0 chapter 3, Kernel information embeddings: each equation against NumPy, for a model with one bandwidth h.

Symbols of the source: y data, z latent, x side information; here X, Z and G. ``k(a, b) = exp(-|a - b|² / h)``.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logsumexp

from sidelight import Annealing, Conditioning, KernelInformationEmbedding, Missing
from sidelight.kernels.bandwidths import LeaveOneOut
from sidelight.kernels.matrices import SymmetricTiles
from sidelight.kernels.profiles import profile
from sidelight.maps.parzen import ParzenDensity
from sidelight.objectives.entropy import Entropy, EntropySum, conditional_information, information
from sidelight.objectives.penalties import penalty_named

N, D, Q = 40, 3, 2
RNG = np.random.default_rng(0)
X, Z = RNG.normal(size=(N, D)), 0.7 * RNG.normal(size=(N, Q))
GROUP = np.arange(N) % 3
H = 2.5


def squares(A, B):
    return ((A[:, None] - B) ** 2).sum(axis=-1)


def kernel(A, B, h=1.0):
    return np.exp(-squares(A, B) / h)


def entropy(*kernels):
    """S0 3.9, 3.11, 3.12 without the constant."""
    return -np.log(np.prod(kernels, axis=0).sum(axis=1)).mean()


def entropy_gradient(K, Z):
    """S0 3.15 and 3.16, with 3.18 for the Gaussian of bandwidth 1; K is the product of the data kernels, or ones."""
    M = K * kernel(Z, Z)
    kappa = 1 / M.sum(axis=1)
    slope = -2 * M[:, :, None] * (Z[:, None] - Z)
    return -((kappa[:, None] + kappa)[:, :, None] * slope).sum(axis=1) / len(Z)


def evaluate(*terms):
    return EntropySum(list(terms), profile("gaussian"), dtype=np.float64).value_and_grad(Z)


def tiles(K):
    return SymmetricTiles.from_dense(K, np.float64)


def model(bandwidth=H, **options):
    options = {"penalty": "l2", "regularization": Annealing(0.05, start=0.4), "tol": 1e-3, **options}
    return KernelInformationEmbedding(Q, bandwidth=bandwidth, **options)


@pytest.fixture(scope="module")
def fitted():
    return model().fit(X)


def test_eq_3_1_kernel_density_estimate():
    own = np.linspace(0.5, 2.0, N)
    by_hand = np.log(np.mean(np.exp(-squares(Z, X[:, :Q]) / own) / (np.pi * own) ** (Q / 2), axis=1))
    np.testing.assert_allclose(ParzenDensity(X[:, :Q], own).log_density(Z), by_hand, rtol=1e-12)


def test_eq_3_4_joint_density_has_the_two_marginals(fitted):
    """p(y, z) = p(z) p(y | z); integrating the joint over z leaves ``score_samples``."""
    side = np.linspace(-12, 12, 121)
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, Q)
    near = kernel(grid, fitted.embedding_) / np.pi ** (Q / 2)
    joint = near @ (kernel(X, X[:4], H) / (np.pi * H) ** (D / 2)) / N
    marginal = joint.sum(axis=0) * (side[1] - side[0]) ** 2
    np.testing.assert_allclose(np.log(marginal), fitted.score_samples(X[:4]), rtol=1e-9)


def test_eq_3_5_latent_density(fitted):
    by_hand = np.log(kernel(Z, fitted.embedding_).mean(axis=1)) - (Q / 2) * np.log(np.pi)
    np.testing.assert_allclose(fitted.latent_log_density(Z), by_hand, rtol=1e-10)


@pytest.mark.parametrize("bandwidth", [H, 10.0, "loo", "learned"])
def test_eq_3_6_data_density_has_the_bandwidth_of_the_model(bandwidth):
    found = model(bandwidth).fit(X)
    h, rows = found.bandwidth_, X[:5] + 0.3
    by_hand = logsumexp(-squares(rows, X) / h, axis=1) - np.log(N) - (D / 2) * np.log(np.pi * h)
    np.testing.assert_allclose(found.score_samples(rows), by_hand, rtol=1e-9)
    if not isinstance(bandwidth, str):
        assert h == pytest.approx(bandwidth, rel=1e-12)


def test_eq_3_6_samples_are_rows_plus_noise_of_variance_h_over_two(fitted):
    drawn = fitted.sample(40_000, random_state=0)
    variance = X.var(axis=0) + H / 2
    assert np.abs(drawn.var(axis=0) / variance - 1).max() < 0.05
    assert np.abs(drawn.mean(axis=0) - X.mean(axis=0)).max() < 0.05


def test_eq_3_9_latent_entropy():
    assert evaluate(Entropy("H(Z)", 1.0)).value == pytest.approx(entropy(kernel(Z, Z)), rel=1e-12)


def test_eq_3_12_joint_entropy():
    K = kernel(X, X, H)
    assert evaluate(Entropy("H(X,Z)", 1.0, (tiles(K),))).value == pytest.approx(entropy(K, kernel(Z, Z)), rel=1e-12)


def test_eq_3_14_mutual_information():
    K = kernel(X, X, H)
    by_hand = entropy(kernel(Z, Z)) - entropy(K, kernel(Z, Z))
    assert -evaluate(*information(tiles(K))).value == pytest.approx(by_hand, rel=1e-12)


def test_eq_3_14_less_the_penalty_is_the_objective_of_the_fit():
    """The terms in ``history_`` are those of the embedding, to single precision."""
    found = model(tol=1e-7).fit(X)
    Z, K, last = found.embedding_, kernel(X, X, H), found.history_[-1]
    assert last["terms"]["-I"] == pytest.approx(entropy(K, kernel(Z, Z)) - entropy(kernel(Z, Z)), abs=2e-6)
    assert last["objective"] == pytest.approx(last["terms"]["-I"] + 0.05 * (Z**2).sum() / N, abs=2e-6)


def test_eq_3_15_gradient_of_the_latent_entropy():
    found = evaluate(Entropy("H(Z)", 1.0)).gradient
    np.testing.assert_allclose(found, entropy_gradient(np.ones((N, N)), Z), rtol=1e-9, atol=1e-14)


def test_eq_3_16_gradient_of_the_joint_entropy():
    K = kernel(X, X, H)
    found = evaluate(Entropy("H(X,Z)", 1.0, (tiles(K),))).gradient
    np.testing.assert_allclose(found, entropy_gradient(K, Z), rtol=1e-9, atol=1e-14)


def test_eq_3_17_gaussian_kernel_and_eq_3_18_its_derivative():
    gaussian, r2 = profile("gaussian"), squares(Z, Z)
    np.testing.assert_allclose(gaussian.value(r2.copy()), kernel(Z, Z), rtol=1e-12)
    np.testing.assert_allclose(gaussian.slope(kernel(Z, Z)), kernel(Z, Z), rtol=1e-12)  # -dk/d(r²); times 2 (z - z')


def test_eq_3_20_leave_one_out_likelihood_with_the_normaliser():
    """With N - 1, where N is printed, and C_Y = (πh)^(d/2); ``bandwidth="loo"`` maximises it."""

    def by_hand(h):
        K = kernel(X, X, h)
        np.fill_diagonal(K, 0)
        return np.log(K.sum(axis=1)).mean() - np.log(N - 1) - (D / 2) * np.log(np.pi * h)

    found = model("loo").fit(X).bandwidth_
    assert LeaveOneOut(X, profile("gaussian"))(H) == pytest.approx(by_hand(H), rel=1e-6)
    assert by_hand(found) >= max(by_hand(h) for h in found * np.geomspace(0.3, 3, 41)) - 1e-6


@pytest.mark.parametrize(("penalty", "power"), [("l2", 2), ("l4", 4)])
def test_eq_3_21_power_as_a_penalty_per_row(penalty, power):
    """λ · mean |z|^p. The printed λ/N tr(C), with C a mean already, would divide by N twice."""
    found = penalty_named(penalty, tiles(kernel(X, X, H))).value_and_grad(Z)
    assert found.value == pytest.approx((np.abs(Z) ** power).sum() / N, rel=1e-12)
    np.testing.assert_allclose(found.gradient, power * Z ** (power - 1) / N, rtol=1e-12)


@pytest.mark.parametrize("limit", [0.3, 2.0])
def test_eq_3_21_power_as_a_constraint(limit):
    """tr(C) ≤ r: at the maximum tr(C) = r, and the gradient of I is 2λ Z / N, λ the Lagrange multiplier."""
    options = {"regularization": Annealing(1e-3, start=1.0, limit=limit), "tol": 1e-11, "max_iter": 2000}
    found = model(**options, latent_kernel="gaussian").fit(X)
    Y = found.embedding_
    assert np.trace(Y.T @ Y / N) == pytest.approx(limit, rel=1e-12)
    G = entropy_gradient(np.ones((N, N)), Y) - entropy_gradient(kernel(X, X, H), Y)
    multiplier = found.regularization_path_[-1]
    assert multiplier > 0
    np.testing.assert_allclose(G, 2 * multiplier * Y / N, atol=1e-3 * np.abs(G).max())
    assert found.history_[-1]["objective"] == found.history_[-1]["terms"]["-I"]


def test_eq_3_22_forward_map(fitted):
    W = kernel(Z, fitted.embedding_)
    by_hand = W @ X / W.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(fitted.inverse_transform(Z), by_hand, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("bandwidth", [H, "loo", "learned"])
def test_eq_3_23_backward_map(bandwidth):
    found, rows = model(bandwidth).fit(X), X[:6] + 0.2
    W = kernel(rows, X, found.bandwidth_)
    by_hand = W @ found.embedding_ / W.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found.transform_mean(rows), by_hand, rtol=1e-8, atol=1e-10)


def test_eq_3_23_transform_adds_a_correction_that_makes_it_exact_at_training_rows(fitted):
    np.testing.assert_allclose(fitted.transform(X), fitted.embedding_, atol=1e-9)
    assert np.abs(fitted.transform_mean(X) - fitted.embedding_).max() > 0.1


def test_section_3_1_3_conditional_variance_of_the_data(fitted):
    W = kernel(Z, fitted.embedding_)
    W /= W.sum(axis=1, keepdims=True)
    by_hand = W @ X**2 - (W @ X) ** 2 + H / 2
    np.testing.assert_allclose(fitted.predictive_variance(Z), by_hand, rtol=1e-8)


@pytest.mark.parametrize(("latent_kernel", "own"), [("gaussian", 0.5), ("quartic", 1 / (Q + 6))])
def test_section_3_1_3_conditional_variance_of_the_latent_points(latent_kernel, own):
    found, rows = model(latent_kernel=latent_kernel).fit(X), X[:6] + 0.2
    W = kernel(rows, X, H)
    W /= W.sum(axis=1, keepdims=True)
    by_hand = W @ found.embedding_**2 - (W @ found.embedding_) ** 2 + own
    np.testing.assert_allclose(found.latent_variance(rows), by_hand, rtol=1e-8)


def test_eq_3_24_conditional_mutual_information():
    K, G = kernel(X, X, H), kernel(np.eye(3)[GROUP], np.eye(3)[GROUP])
    by_hand = entropy(G, kernel(Z, Z)) - entropy(G, K, kernel(Z, Z))
    found = evaluate(*conditional_information(tiles(K), tiles(G)))
    assert -found.value == pytest.approx(by_hand, rel=1e-12)
    np.testing.assert_allclose(-found.gradient, entropy_gradient(G, Z) - entropy_gradient(G * K, Z), atol=1e-14)


def test_eq_3_24_is_the_objective_of_a_fit_with_product_conditioning():
    """One-hot codes and bandwidth 1 for the side information, as in S0 3.2.2."""
    found = model(conditioning=Conditioning("product", bandwidth=1.0)).fit(X, given=GROUP.astype(str))
    Z, K, G = found.embedding_, kernel(X, X, H), kernel(np.eye(3)[GROUP], np.eye(3)[GROUP])
    by_hand = entropy(G, K, kernel(Z, Z)) - entropy(G, kernel(Z, Z))
    assert found.history_[-1]["terms"]["-I"] == pytest.approx(by_hand, abs=3e-6)


def test_section_3_2_backward_map_of_the_product_kernel():
    """E[z | y, x] = Σ_α k(y, y^α) k(x, x^α) z^α / Σ_β ...; without x the sum over all values of it, as in 3.23."""
    given, codes, rows = GROUP.astype(str), np.eye(3)[GROUP], X[:6] + 0.2
    found = model(conditioning=Conditioning("product", bandwidth=1.0)).fit(X, given=given)
    for W, mapped in (
        (kernel(rows, X, H) * kernel(codes[:6], codes), found.transform_mean(rows, given=given[:6])),
        (kernel(rows, X, H), found.transform_mean(rows)),
    ):
        np.testing.assert_allclose(mapped, W @ found.embedding_ / W.sum(axis=1, keepdims=True), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("conditioning", ["product", "residual"])
def test_section_3_2_data_density_has_the_bandwidth_of_the_model(conditioning):
    found = model(conditioning=conditioning).fit(X, given=GROUP.astype(str))
    by_hand = logsumexp(-squares(X[:5], X) / H, axis=1) - np.log(N) - (D / 2) * np.log(np.pi * H)
    np.testing.assert_allclose(found.score_samples(X[:5]), by_hand, rtol=1e-9)


@pytest.mark.parametrize("n_groups", [3, 20])
def test_eq_3_25_delta_kernel_is_the_limit_of_a_narrow_gaussian(n_groups):
    """h → 0 on one-hot codes (printed: h → ∞); ``Conditioning(bandwidth=...)`` of 0.01 is it to rounding."""
    group = np.arange(N) % n_groups
    delta = (group[:, None] == group).astype(float)
    found = model(conditioning=Conditioning("product", bandwidth=0.01)).fit(X, given=group.astype(str))
    Z, K = found.embedding_, kernel(X, X, H)
    by_hand = entropy(delta, K, kernel(Z, Z)) - entropy(delta, kernel(Z, Z))
    assert found.history_[-1]["terms"]["-I"] == pytest.approx(by_hand, abs=3e-6)


def test_section_3_1_5_missing_values_by_fill_embed_project():
    """The nearest frame fills an entry, the model is fitted, and f(g(y)) of 3.22 at the latent points replaces it."""
    gone = (np.random.default_rng(5).random(X.shape) < 0.4) & (np.arange(D) != np.arange(N)[:, None] % D)
    filled = X.copy()
    for row, column in np.argwhere(gone):
        frames = np.flatnonzero(~gone[:, column])
        filled[row, column] = X[frames[np.abs(frames - row).argmin()], column]
    Z = model().fit(filled).embedding_
    K = kernel(Z, Z)
    by_hand = np.where(gone, K @ filled / K.sum(axis=1, keepdims=True), X)
    found = model(missing=Missing("project", start="nearest")).fit(np.where(gone, np.nan, X), trajectory=0)
    np.testing.assert_allclose(found.filled_, by_hand, rtol=1e-7, atol=1e-9)

"""S0 section 3.2, conditional embeddings (S1 section 3): the maps of the product of kernels against NumPy.

Symbols of the source: y data, z latent, x side information; here X, Z and G. ``k(a, b) = exp(-|a - b|² / h)``.
"""

from __future__ import annotations

import numpy as np
import pytest

from sidelight import Annealing, Conditioning, KernelInformationEmbedding

N, D, Q = 60, 3, 2
RNG = np.random.default_rng(1)
X, Z = RNG.normal(size=(N, D)), RNG.normal(size=(7, Q))
GROUP = np.arange(N) % 3
H = 2.5
PROFILES = {
    "gaussian": lambda r2: np.exp(-r2),
    "student": lambda r2: 1 / (1 + r2),
    "quartic": lambda r2: np.maximum(1 - r2, 0) ** 2,
}


def squares(A, B):
    return ((A[:, None] - B) ** 2).sum(axis=-1)


def kernel(A, B, h=1.0, profile="gaussian"):
    return PROFILES[profile](squares(A, B) / h)


def entropy(*kernels):
    """S0 3.9, 3.11, 3.12 without the constant."""
    return -np.log(np.prod(kernels, axis=0).sum(axis=1)).mean()


def mean(W, V):
    return W @ V / W.sum(axis=1, keepdims=True)


def fitted(given, conditioning, **options):
    options = {"penalty": "l2", "regularization": Annealing(0.05, start=0.4), "tol": 1e-3, **options}
    return KernelInformationEmbedding(Q, bandwidth=H, conditioning=conditioning, **options).fit(X, given=given)


def one_hot(groups):
    return np.eye(3)[groups]


def close(found, by_hand):
    np.testing.assert_allclose(found, by_hand, rtol=1e-8, atol=1e-10)


@pytest.fixture(scope="module")
def informed():
    """One-hot codes and bandwidth 1, as in the experiment of fig. 3.9."""
    return fitted(GROUP.astype(str), Conditioning("product", bandwidth=1.0))


@pytest.mark.parametrize("latent_kernel", PROFILES)
def test_section_3_2_forward_map_of_the_product_kernel(latent_kernel):
    """E[y | z, x] = Σ_α k(z, z^α) k(x, x^α) y^α / Σ_β ...; without x the sum over all values of it, as in 3.22."""
    found = fitted(GROUP.astype(str), Conditioning("product", bandwidth=1.0), latent_kernel=latent_kernel)
    at = found.embedding_[:7] + 0.05
    near, asked = kernel(at, found.embedding_, profile=latent_kernel), (GROUP[:7] + 1) % 3
    close(found.inverse_transform(at), mean(near, X))
    close(found.inverse_transform(at, given=asked.astype(str)), mean(near * kernel(one_hot(asked), one_hot(GROUP)), X))


@pytest.mark.parametrize("profile", PROFILES)
def test_section_3_2_backward_map_with_any_profile_of_the_data_kernel(profile):
    found = fitted(GROUP.astype(str), Conditioning("product", bandwidth=1.0), kernel=profile)
    rows, asked = X[:7] + 0.05, (GROUP[:7] + 1) % 3
    W = kernel(rows, X, H, profile) * kernel(one_hot(asked), one_hot(GROUP))
    close(found.transform_mean(rows, given=asked.astype(str)), mean(W, found.embedding_))


@pytest.mark.parametrize("h", [1.0, 0.3])
def test_section_3_2_both_maps_with_side_information_placed_on_a_line(h):
    """Fig. 3.8 places three objects at 1, 2 and 3; ``Conditioning.bandwidth`` of a number is the square root of h."""
    line = 1.0 + GROUP
    found = fitted(line, Conditioning("product", types="number", bandwidth=np.sqrt(h)))
    G = kernel(np.full((7, 1), 2.0), line[:, None], h)
    W = kernel(X[:7] + 0.2, X, H) * G
    close(found.transform_mean(X[:7] + 0.2, given=2.0), mean(W, found.embedding_))
    close(found.inverse_transform(Z, given=2.0), mean(kernel(Z, found.embedding_) * G, X))


def test_section_3_2_flipping_the_side_information_of_a_row(informed):
    """Fig. 3.10: the forward map at the row's own latent point, under another x; a convex combination of rows."""
    asked = (GROUP + 1) % 3
    W = kernel(informed.embedding_, informed.embedding_) * kernel(one_hot(asked), one_hot(GROUP))
    close(informed.counterfactual(X, given=asked.astype(str)), mean(W, X))


def test_section_3_2_conditional_variances_under_the_product_kernel(informed):
    G = kernel(one_hot(GROUP[:7]), one_hot(GROUP))
    given = GROUP[:7].astype(str)
    for W, V, own, found in (
        (kernel(Z, informed.embedding_) * G, X, H / 2, informed.predictive_variance(Z, given=given)),
        (kernel(X[:7], X, H) * G, informed.embedding_, 0.5, informed.latent_variance(X[:7], given=given)),
    ):
        close(found, mean(W, V**2) - mean(W, V) ** 2 + own)


def test_section_3_2_mode_of_the_data_under_the_product_kernel(informed):
    """S1 eq. 10 with x: a fixed point of the mean shift, and no training row is more probable."""
    W = kernel(Z, informed.embedding_) * kernel(one_hot(GROUP[:7]), one_hot(GROUP))
    mode = informed.inverse_transform_mode(Z, given=GROUP[:7].astype(str))
    np.testing.assert_allclose(mode, mean(W * kernel(mode, X, H), X), atol=1e-6)
    height = (W * kernel(mode, X, H)).sum(axis=1)
    assert (height[:, None] >= W @ kernel(X, X, H) - 1e-12).all()


@pytest.mark.parametrize("n_groups", [3, 14, 30])
def test_eq_3_25_delta_kernel_of_any_number_of_categories(n_groups):
    """``bandwidth=0``: each category has a map of its own, to the last row of it."""
    group = np.arange(N) % n_groups
    delta = (group[:, None] == group).astype(float)
    found = fitted(group.astype(str), Conditioning("product", bandwidth=0))
    latent, K = found.embedding_, kernel(X, X, H)
    terms = entropy(delta, K, kernel(latent, latent)) - entropy(delta, kernel(latent, latent))
    assert found.history_[-1]["terms"]["-I"] == pytest.approx(terms, abs=3e-6)
    close(found.transform_mean(X, given=group.astype(str)), mean(K * delta, latent))
    close(found.inverse_transform(latent, given=group.astype(str)), mean(kernel(latent, latent) * delta, X))
    assert found.given_bandwidth_ == [0.0]


def test_eq_3_25_delta_kernel_uses_no_row_of_another_category_however_near():
    """A row at the place of another category is far from all of its own, whose nearest row alone counts."""
    group = np.arange(N) % 2
    far = X + 60.0 * group[:, None]
    options = {"penalty": "l2", "regularization": Annealing(0.05, start=0.4), "tol": 1e-3}
    model = KernelInformationEmbedding(Q, bandwidth=H, conditioning=Conditioning("product", bandwidth=0), **options)
    found = model.fit(far, given=group.astype(str))
    logs = np.where(group == 1, -squares(X[:5], far) / H, -np.inf)
    W = np.exp(logs - logs.max(axis=1, keepdims=True))
    close(found.transform_mean(X[:5], given="1"), mean(W, found.embedding_))


TABLE = np.array([[1.0, 0.6, 0.0, 0.2], [0.6, 0.9, 0.3, 0.5], [0.0, 0.3, 1.2, 0.1], [0.2, 0.5, 0.1, 1.0]])


@pytest.mark.parametrize("named", [False, True])
def test_section_3_2_1_side_information_by_a_kernel_matrix_between_values(named):
    """Value 3 occurs in no row of the fit; the kernel has its row, so it can be asked for."""
    names = list("abcd") if named else list(range(4))
    table = {a: dict(zip(names, row, strict=True)) for a, row in zip(names, TABLE.tolist(), strict=True)}
    given = np.array(names)[GROUP]
    found = fitted(given, Conditioning("product", kernel=table if named else TABLE))
    latent, K, G = found.embedding_, kernel(X, X, H), TABLE[np.ix_(GROUP, GROUP)]
    terms = entropy(G, K, kernel(latent, latent)) - entropy(G, kernel(latent, latent))
    assert found.history_[-1]["terms"]["-I"] == pytest.approx(terms, abs=3e-6)
    for value in range(4):
        W = kernel(X[:5] + 0.1, X, H) * TABLE[value, GROUP]
        close(found.transform_mean(X[:5] + 0.1, given=names[value]), mean(W, latent))
        close(found.inverse_transform(Z, given=names[value]), mean(kernel(Z, latent) * TABLE[value, GROUP], X))


def test_section_3_2_1_kernel_matrix_between_rows_and_beside_a_gaussian():
    """``given`` numbers the rows; the last four values are new rows. A second column has a Gaussian kernel."""
    vectors, angle = RNG.integers(0, 2, size=(N + 4, 6)), np.linspace(0, 3, N)
    table = 0.5 ** (vectors[:, None] != vectors).sum(axis=-1)
    known = Conditioning("product", types=[None, "number"], bandwidth=[None, 1.0], kernel=[table, None])
    found = fitted({"row": np.arange(N), "angle": angle}, known)
    latent = found.embedding_
    G = table[:N, :N] * kernel(angle[:, None], angle[:, None])
    terms = entropy(G, kernel(X, X, H), kernel(latent, latent)) - entropy(G, kernel(latent, latent))
    assert found.history_[-1]["terms"]["-I"] == pytest.approx(terms, abs=3e-6)
    new = table[N:, :N] * kernel(np.full((4, 1), 1.5), angle[:, None])
    asked = {"row": np.arange(N, N + 4), "angle": np.full(4, 1.5)}
    close(found.transform_mean(X[:4], given=asked), mean(kernel(X[:4], X, H) * new, latent))
    close(found.inverse_transform(Z[:4], given=asked), mean(kernel(Z[:4], latent) * new, X))


@pytest.mark.parametrize("given", [None, GROUP.astype(str)])
@pytest.mark.parametrize(
    ("profile", "power", "constant", "own"),
    [("quartic", 1, 4 / 3 * np.pi * 8 / 35, 1 / 9), ("student", 2, np.pi**2, 0.0)],
)
def test_section_3_3_density_variance_and_mode_have_the_data_kernel(given, profile, power, constant, own):
    """In three dimensions: ∫ (1 - r²)² = V · 8/35, variance 1/9; the Student kernel takes the exponent (d + 1) / 2."""
    found = fitted(given, "product", kernel=profile)
    near = kernel(found.embedding_[:7], found.embedding_)
    close(found.score_samples(X[:5]), np.log((kernel(X[:5], X, H, profile) ** power).mean(axis=1) / constant / H**1.5))
    spread = mean(near, X**2) - mean(near, X) ** 2
    close(found.predictive_variance(found.embedding_[:7]), spread + own * H)
    mode = found.inverse_transform_mode(found.embedding_[:7])
    height = (near * kernel(mode, X, H, profile) ** power).sum(axis=1)
    assert (height[:, None] >= near @ kernel(X, X, H, profile) ** power - 1e-12).all()
    for step in 1e-3 * np.r_[np.eye(D), -np.eye(D)]:
        assert ((near * kernel(mode + step, X, H, profile) ** power).sum(axis=1) <= height).all()

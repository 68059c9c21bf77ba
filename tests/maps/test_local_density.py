"""Densities whose kernels take the shape of their surroundings."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.datasets import load_breast_cancer

import sidelight
from sidelight import KernelInformationEmbedding
from sidelight.maps.local_density import LocalDensity, fitted_groups, local_density, log_kernel_sums
from sidelight.maps.parzen import ParzenDensity, fit_density


def correlated_rows(n=240, seed=0):
    """Rows of two factors in six columns; the loadings are those of every seed."""
    random, loadings = np.random.default_rng(seed), np.random.default_rng(100).normal(size=(2, 6))
    return random.normal(size=(n, 2)) @ loadings + 0.1 * random.normal(size=(n, 6))


@pytest.fixture(scope="module")
def density():
    X = correlated_rows()
    return fit_density(X, np.ones(len(X)))


@pytest.fixture(scope="module")
def shaped(density):
    found = local_density(density)
    assert isinstance(found, LocalDensity)
    return found


def test_log_kernel_sums_are_those_of_the_formula():
    X, Q = correlated_rows(40), correlated_rows(5, seed=1)
    groups = fitted_groups(X, 2, 1.0)
    member = groups.joint(X).argmax(axis=1)
    for s in (0.3, 1.0):
        found = log_kernel_sums(groups, X, member, Q, (s,))[0]
        total = np.zeros(len(Q))
        for x, g in zip(X, member, strict=True):
            mean, L = groups.means[g], np.linalg.inv(groups.inverse_factors[g])
            total += multivariate_normal(mean + np.sqrt(1 - s) * (x - mean), s * L @ L.T).pdf(Q) / len(X)
        np.testing.assert_allclose(found, np.log(total), rtol=1e-8)


def test_held_out_rows_of_correlated_columns_are_more_likely_than_under_round_kernels(density, shaped):
    new = correlated_rows(seed=5)
    assert shaped.log_density(new).mean() > density.log_density(new).mean() + 2


def test_no_row_is_much_less_likely_than_under_round_kernels(density, shaped):
    far = np.random.default_rng(3).normal(size=(50, 6)) * 5
    assert (shaped.log_density(far) >= density.log_density(far) + np.log(shaped.share) - 1e-9).all()


@pytest.mark.thorough
def test_the_density_integrates_to_one():
    random = np.random.default_rng(0)
    t = random.uniform(0, 2 * np.pi, size=150)
    X = np.column_stack([3 * np.cos(t), np.sin(t)]) + 0.1 * random.normal(size=(150, 2))
    found = local_density(fit_density(X, np.ones(150)))
    assert found is not None
    side = np.linspace(-8, 8, 321)
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    assert np.exp(found.log_density(grid)).sum() * (side[1] - side[0]) ** 2 == pytest.approx(1, abs=0.01)


def test_drawn_rows_have_the_covariance_of_the_data(shaped):
    drawn = shaped.sample(4000, np.random.default_rng(0))
    np.testing.assert_allclose(np.cov(drawn.T), np.cov(shaped.points.T), atol=0.35)


def test_new_rows_are_as_typical_as_training_rows(shaped):
    share = shaped.typicality(correlated_rows(300, seed=7))
    assert 0.4 < share.mean() < 0.6
    assert (share < 0.05).mean() < 0.12
    assert shaped.typicality(np.full((1, 6), 50.0))[0] == 0


def test_rows_without_structure_or_few_rows_keep_round_kernels():
    assert local_density(ParzenDensity(np.ones((100, 3)), np.ones(100))) is None
    few = correlated_rows(40)
    assert local_density(fit_density(few, np.ones(40))) is None
    wide = np.random.default_rng(0).normal(size=(80, 101))
    assert local_density(fit_density(wide, np.ones(80))) is None


@pytest.mark.thorough
def test_an_embedding_scores_rows_one_by_one_as_together_with_any_threads_and_from_a_file(tmp_path):
    X = correlated_rows()
    model = KernelInformationEmbedding(n_jobs=1).fit(X[:200])
    scores = model.score_samples(X[200:])
    np.testing.assert_allclose([model.score_samples(X[i : i + 1])[0] for i in range(200, 210)], scores[:10], rtol=1e-12)
    two = KernelInformationEmbedding(n_jobs=2).fit(X[:200])
    assert two.score_samples(X[200:]).tobytes() == scores.tobytes()
    sidelight.save(model, tmp_path / "model")
    loaded = sidelight.load(tmp_path / "model")
    assert loaded.score_samples(X[200:]).tobytes() == scores.tobytes()
    assert loaded.sample(5).tobytes() == model.sample(5).tobytes()


def test_a_density_with_one_bandwidth_for_all_rows_stays_as_published():
    X = correlated_rows(80)
    model = KernelInformationEmbedding(bandwidth=2.0, max_iter=5, tol=1e-2).fit(X)
    squares = ((X[:3, None] - X) ** 2).sum(axis=2)
    expected = np.log(np.exp(-squares / 2.0).mean(axis=1)) - 3 * np.log(np.pi * 2.0)
    np.testing.assert_allclose(model.score_samples(X[:3]), expected, rtol=1e-8)


@pytest.mark.thorough
def test_held_out_rows_of_breast_cancer_are_far_more_likely_than_under_round_kernels():
    X = load_breast_cancer().data
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = KernelInformationEmbedding().fit(X[:380])
    held = X[380:]
    round_ = model.density_.log_density(model.frame_.inside(held)) - held.shape[1] * np.log(model.frame_.scale)
    assert model.score_samples(held).mean() > round_.mean() + 10

"""The linear-Gaussian model against dense conditioning, row by row, and its EM against what EM promises."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from sidelight.objectives import linear_gaussian
from sidelight.objectives.linear_gaussian import (
    LinearGaussian,
    entries,
    entry_variance,
    latent_mean,
    log_density,
    maximised,
    posterior,
    reconstruction,
    statistics,
    turned,
    unpacked,
)
from sidelight.objectives.principal_axes import axes_of_moments, axes_of_rows, closed_form, moments
from sidelight.rows import summed


def case(q=2, d=5, n=40, share=0.3, noise=0.3, seed=0):
    rng = np.random.default_rng(seed)
    model = LinearGaussian(rng.normal(size=d), rng.normal(size=(d, q)), noise)
    X = rng.normal(size=(n, q)) @ model.W.T + model.mean + np.sqrt(noise) * rng.normal(size=(n, d))
    X[rng.random(X.shape) < share] = np.nan
    X[np.isnan(X).all(axis=1), 0] = 1.0
    return model, X


def dense(model, x):
    """Log density, latent mean and covariance, and variance of each entry of one row, by its covariance matrix."""
    o = ~np.isnan(x)
    d, q = model.W.shape
    C = model.W @ model.W.T + model.noise * np.eye(d)
    gain = model.W[o].T @ np.linalg.inv(C[np.ix_(o, o)])
    log = multivariate_normal(model.mean[o], C[np.ix_(o, o)]).logpdf(x[o])
    mean, cov = gain @ (x - model.mean)[o], np.eye(q) - gain @ model.W[o]
    return log, mean, cov, np.diag(model.W @ cov @ model.W.T) + model.noise


@pytest.mark.parametrize("q", [0, 1, 2, 4, 5, 7])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.7])
def test_density_and_posterior_are_those_of_dense_conditioning(q, share):
    model, X = case(q=q, share=share)
    logs, means, covariances, variances = (np.array(part) for part in zip(*(dense(model, x) for x in X), strict=True))
    np.testing.assert_allclose(log_density(model, X), logs, rtol=1e-10)
    found, spread = posterior(model, X)
    np.testing.assert_allclose(found, means.reshape(len(X), q), atol=1e-10)
    np.testing.assert_allclose(np.broadcast_to(spread, covariances.shape), covariances, atol=1e-10)
    np.testing.assert_allclose(entry_variance(model, X), variances, rtol=1e-10)
    np.testing.assert_array_equal(latent_mean(model, X), found)


def test_whole_rows_share_one_covariance():
    model, X = case(share=0.0)
    assert posterior(model, X)[1].shape == (2, 2)


def test_a_mask_says_what_nan_says():
    model, X = case()
    whole = np.where(np.isnan(X), 7.0, X)
    np.testing.assert_array_equal(log_density(model, whole, ~np.isnan(X)), log_density(model, X))


def test_tiny_noise_costs_no_digits():
    model, X = case(share=0.0, noise=1e-10)
    C = model.W @ model.W.T + model.noise * np.eye(5)
    values, vectors = np.linalg.eigh(C)
    whitened = ((X - model.mean) @ vectors[:, :3]) ** 2 / 1e-10
    outside = whitened.sum(axis=1)
    z = latent_mean(model, X)
    expected = -0.5 * (
        5 * np.log(2 * np.pi) + np.log(values[3:]).sum() + 3 * np.log(1e-10) + outside + (z**2).sum(axis=1)
    )
    np.testing.assert_allclose(log_density(model, X), expected, rtol=1e-5)


def uncertain(q=2, seed=3):
    """A model whose W is uncertain, rows, and the covariances S_j of the rows of W."""
    model, X = case(q=q)
    roots = 0.5 * np.random.default_rng(seed).normal(size=(5, q, q))
    S = roots @ roots.transpose(0, 2, 1)
    rows, columns = np.triu_indices(q)
    return LinearGaussian(model.mean, model.W, model.noise, S[:, rows, columns]), X, S


def test_an_uncertain_plane_shrinks_the_posterior_and_widens_the_entries():
    model, X, S = uncertain()
    means, covariances = posterior(model, X)
    variances = entry_variance(model, X)
    for x, z, C, variance in zip(X, means, covariances, variances, strict=True):
        o = ~np.isnan(x)
        M = model.W[o].T @ model.W[o] + S[o].sum(axis=0) + model.noise * np.eye(2)
        np.testing.assert_allclose(C, model.noise * np.linalg.inv(M), rtol=1e-10)
        np.testing.assert_allclose(z, np.linalg.solve(M, model.W[o].T @ (x - model.mean)[o]), rtol=1e-9)
        slow = [w @ C @ w + model.noise + np.trace(Sj @ (C + np.outer(z, z))) for w, Sj in zip(model.W, S, strict=True)]
        np.testing.assert_allclose(variance, slow, rtol=1e-10)


@pytest.mark.parametrize("make", [lambda: case()[:2], lambda: uncertain()[:2]], ids=["certain", "uncertain"])
def test_mean_and_variance_of_entries_in_one_pass_are_those_of_two(make):
    model, X = make()
    means, variances = entries(model, X)
    np.testing.assert_array_equal(means, reconstruction(model, latent_mean(model, X)))
    np.testing.assert_array_equal(variances, entry_variance(model, X))


def test_turning_the_latent_axes_changes_nothing_but_them():
    model, X, S = uncertain(q=3)
    T = np.linalg.qr(np.random.default_rng(4).normal(size=(3, 3)))[0]
    other = turned(model, T)
    np.testing.assert_allclose(log_density(other, X), log_density(model, X), rtol=1e-12)
    np.testing.assert_allclose(entries(other, X), entries(model, X), rtol=1e-10)
    np.testing.assert_allclose(latent_mean(other, X), latent_mean(model, X) @ T, atol=1e-12)
    np.testing.assert_allclose(unpacked(other.spread, 3), T.T @ S @ T, atol=1e-12)


def slow_step(model, X, weights):
    """One EM step without expansion, by loops over rows and columns."""
    d, q = model.W.shape
    stats = [dense(model, x)[1:3] for x in X]
    W, mean, total, count = np.zeros((d, q)), np.zeros(d), 0.0, 0.0
    for j in range(d):
        rows = [(g, x[j] - model.mean[j], *s) for g, x, s in zip(weights, X, stats, strict=True) if not np.isnan(x[j])]
        A, b = np.zeros((q + 1, q + 1)), np.zeros(q + 1)
        for g, r, z, S in rows:
            zeta = np.append(z, 1.0)
            second = np.outer(zeta, zeta)
            second[:q, :q] += S
            A, b = A + g * second, b + g * r * zeta
        v = np.linalg.solve(A, b)
        W[j], mean[j] = v[:q], model.mean[j] + v[q]
        for g, r, z, S in rows:
            total += g * ((r - v[:q] @ z - v[q]) ** 2 + v[:q] @ S @ v[:q])
            count += g
    return LinearGaussian(mean, W, total / count)


@pytest.mark.parametrize("patterns", ["many", "few"])
def test_the_m_step_is_that_of_loops_over_rows_and_columns(patterns):
    model, X = case(n=60)
    if patterns == "few":
        X[:, :] = np.where(np.isnan(X[np.arange(60) % 3]), np.nan, np.where(np.isnan(X), 0.5, X))
    weights = np.random.default_rng(1).random(60)
    found = maximised(statistics(model, X, weights), model, expand=False)
    slow = slow_step(model, X, weights)
    np.testing.assert_allclose(found.W, slow.W, atol=1e-10)
    np.testing.assert_allclose(found.mean, slow.mean, atol=1e-10)
    np.testing.assert_allclose(found.noise, slow.noise, rtol=1e-10)


def test_sums_of_blocks_and_of_small_tiles_are_those_of_all_rows(monkeypatch):
    model, X = case(n=300)
    whole = statistics(model, X)
    parts = summed(statistics(model, X[rows]) for rows in (slice(0, 100), slice(100, 300)))
    monkeypatch.setattr(linear_gaussian, "_NUMBERS", 1)
    tiles = statistics(model, X)
    for name, value in whole.items():
        np.testing.assert_allclose(parts[name], value, atol=1e-10)
        np.testing.assert_allclose(tiles[name], value, atol=1e-10)


def test_whole_rows_give_the_same_step_with_and_without_a_sum_for_each_column():
    model, X = case(share=0.0)
    short, long = (maximised(statistics(model, X, missing=missing), model) for missing in (False, True))
    np.testing.assert_allclose(short.W, long.W, atol=1e-10)
    np.testing.assert_allclose(short.noise, long.noise, rtol=1e-10)


def climb(X, model, steps, **kind):
    logs = []
    for _ in range(steps):
        sums = statistics(model, X)
        logs.append(float(sums["log_likelihood"]))
        model = maximised(sums, model, **kind)
    return model, np.array(logs)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.6])
def test_the_likelihood_never_falls_and_expansion_climbs_faster(share):
    _, X = case(q=3, d=8, n=200, share=share)
    start = LinearGaussian(np.zeros(8), np.random.default_rng(2).normal(size=(8, 3)), 1.0)
    _, plain = climb(X, start, 25, expand=False)
    _, expanded = climb(X, start, 25)
    for logs in (plain, expanded):
        assert (np.diff(logs) > -1e-9 * np.abs(logs[1:])).all()
    assert expanded[8] > plain[8]
    assert expanded[-1] >= plain[-1] - 1e-9


@pytest.mark.parametrize(("n", "d"), [(300, 6), (20, 40)])
def test_em_on_whole_rows_ends_at_the_closed_form(n, d):
    _, X = case(q=2, d=d, n=n, share=0.0)
    start = LinearGaussian(np.zeros(d), np.random.default_rng(2).normal(size=(d, 2)), 1.0)
    found, _ = climb(X, start, 300)
    axes = axes_of_moments(moments(X)) if n > d else axes_of_rows(X)
    exact = closed_form(axes, 2)
    biased = (n - 1) / n
    np.testing.assert_allclose(found.noise, exact.noise * biased, rtol=1e-8)
    np.testing.assert_allclose(found.W @ found.W.T, exact.W @ exact.W.T * biased, atol=1e-7)
    np.testing.assert_allclose(found.mean, X.mean(axis=0), atol=1e-8)


def test_the_dual_axes_are_those_of_the_covariance():
    _, X = case(q=2, d=30, n=12, share=0.0)
    dual, primal = axes_of_rows(X), axes_of_moments(moments(X))
    np.testing.assert_allclose(dual.values[:11], primal.values[:11], rtol=1e-10)
    np.testing.assert_allclose(np.abs((dual.axes[:, :5] * primal.axes[:, :5]).sum(axis=0)), 1.0, rtol=1e-10)
    np.testing.assert_allclose(dual.total, primal.total)


def test_a_column_that_no_row_has_keeps_its_mean():
    model, X = case()
    X[:, 2] = np.nan
    found = maximised(statistics(model, X), model, expand=False)
    assert found.mean[2] == model.mean[2]
    np.testing.assert_array_equal(found.W[2], 0.0)
    assert np.isfinite(found.W).all()


@pytest.mark.parametrize("q", [3, 12])
@pytest.mark.parametrize("uncertain", [False, True])
def test_patterns_one_by_one_give_what_products_of_columns_do(monkeypatch, q, uncertain):
    model, X = case(q=q, d=14)
    if uncertain:
        roots = np.random.default_rng(1).normal(size=(14, q, q)) / 9
        rows, columns = np.triu_indices(q)
        spread = (roots @ roots.transpose(0, 2, 1))[:, rows, columns]
        model = LinearGaussian(model.mean, model.W, model.noise, spread)
    together = [log_density(model, X), *entries(model, X)]
    monkeypatch.setattr(linear_gaussian, "_PRODUCTS", 0)
    for one_by_one, all_at_once in zip([log_density(model, X), *entries(model, X)], together, strict=True):
        np.testing.assert_allclose(one_by_one, all_at_once, rtol=1e-9)

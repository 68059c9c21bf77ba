"""Relevance determination: the bound rises, ends at the closed form, and finds planted dimensions."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.decomposition import PCA

from sidelight.objectives.linear_gaussian import LinearGaussian, latent_mean, statistics
from sidelight.objectives.relevance import (
    bound,
    dropped,
    kept_count,
    least_length,
    maximised_relevance,
    relevant_count,
    with_relevance,
)


def planted(n=300, d=12, q=3, noise=1.0, signal=3.0, seed=0):
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(rng.normal(size=(d, d)))[0][:, :q]
    return signal * rng.normal(size=(n, q)) @ axes.T + noise * rng.normal(size=(n, d))


def spectrum(X):
    return np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2 / len(X)


def climb(X, q, steps):
    rng = np.random.default_rng(1)
    start = LinearGaussian(np.nanmean(X, axis=0), rng.normal(size=(X.shape[1], q)), float(np.nanvar(X)))
    state, values = with_relevance(start, (~np.isnan(X)).sum(axis=0)), []
    for _ in range(steps):
        sums = statistics(state.model, X)
        values.append(bound(sums, state))
        state = maximised_relevance(sums, state)
    return state, np.array(values)


def test_the_divergence_is_that_of_gaussians():
    state, _ = climb(planted(), 4, 3)
    S = np.zeros((12, 4, 4))
    rows, columns = np.triu_indices(4)
    S[:, rows, columns] = S[:, columns, rows] = state.model.spread
    slow = sum(
        0.5 * (np.trace(np.diag(state.alpha) @ (S[j] + np.outer(w, w))) - 4)
        - 0.5 * (np.linalg.slogdet(S[j])[1] + np.log(state.alpha).sum())
        for j, w in enumerate(state.model.W)
    )
    np.testing.assert_allclose(state.divergence, slow, rtol=1e-10)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.6])
def test_the_bound_never_falls(share):
    X = planted()
    X[np.random.default_rng(5).random(X.shape) < share] = np.nan
    _, values = climb(X, 6, 60)
    assert (np.diff(values) > -1e-9 * np.abs(values[1:])).all()


@pytest.mark.parametrize(("n", "d"), [(200, 12), (15, 40)])
def test_on_whole_rows_the_climb_ends_at_the_closed_form(n, d):
    """What the model makes of the rows is the analytic solution: |w|² |z̄|² / (σ² n) = (M / n) τ² / x."""
    X = planted(n, d, 3, signal=4.0)
    state, _ = climb(X, 6, 400)
    lengths = (state.model.W**2).sum(axis=0) / state.model.noise
    ratio, longest = min(n, d) / max(n, d), max(n, d)
    x = n * spectrum(X)[:3] / (longest * state.model.noise)
    middle = x - (1 + ratio)
    tau = 0.5 * (middle + np.sqrt(middle**2 - 4 * ratio))
    made = lengths[:3] * (latent_mean(state.model, X)[:, :3] ** 2).mean(axis=0)
    np.testing.assert_allclose(made, longest / n * tau**2 / x, rtol=1e-6)
    assert (lengths[3:] < 0.1 * least_length(n, d)).all()
    assert relevant_count(spectrum(X), n, d) == 3


def test_vanished_columns_are_dropped_and_the_rest_stays():
    state, _ = climb(planted(), 6, 150)
    left = dropped(state, least_length(300, 12))
    assert left.model.n_components == 3
    assert dropped(left, least_length(300, 12)) is left
    np.testing.assert_array_equal(left.model.W, state.model.W[:, :3])


@pytest.mark.parametrize(("n", "d", "q"), [(500, 20, 5), (200, 50, 4), (60, 300, 3), (2000, 10, 8), (300, 40, 30)])
@pytest.mark.parametrize("noise", [1e-3, 1.0, 30.0])
def test_planted_dimensions_are_found_at_any_noise(n, d, q, noise):
    """Signals of eight times what can be told from noise at all, sqrt(d / n) of its variance."""
    signal = noise * np.sqrt(8 * max(np.sqrt(d / n), 1.0 if d > n else 0.0) * (1 + q / d))
    found = [relevant_count(spectrum(planted(n, d, q, noise, signal, seed)), n, d) for seed in range(6)]
    assert found == [q] * 6


@pytest.mark.parametrize(("n", "d"), [(100, 10), (100, 100), (50, 400), (1000, 30)])
def test_noise_alone_has_no_dimension(n, d):
    assert [relevant_count(spectrum(planted(n, d, 0, seed=seed)), n, d) for seed in range(10)] == [0] * 10


@pytest.mark.parametrize(("n", "d"), [(400, 15), (90, 60)])
def test_the_evidence_chooses_what_that_of_scikit_learn_does(n, d):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n, 6)) @ rng.normal(size=(6, d)) + rng.uniform(0.5, 2.0, size=d) * rng.normal(size=(n, d))
        assert relevant_count(spectrum(X), n, d) == PCA("mle").fit(X).n_components_


def test_constant_rows_have_no_dimension():
    assert relevant_count(np.zeros(5), 20, 5) == 0


@pytest.mark.parametrize(("n", "d", "q"), [(500, 20, 5), (200, 50, 4), (60, 300, 3), (300, 40, 30)])
@pytest.mark.parametrize("noise", [1e-3, 1.0])
def test_the_closed_form_keeps_what_is_planted_and_nothing_of_noise(n, d, q, noise):
    assert kept_count(spectrum(planted(n, d, q, noise, signal=6 * noise * max(1.0, np.sqrt(d / n)))), n, d) == q
    assert kept_count(spectrum(planted(n, d, 0, noise)), n, d) == 0


def test_constant_rows_keep_nothing():
    assert kept_count(np.zeros(4), 10, 4) == 0

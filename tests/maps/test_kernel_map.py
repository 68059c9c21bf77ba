from __future__ import annotations

import numpy as np
import pytest

from sidelight.maps.kernel_map import KernelMap, adaptive_map, best_perplexity, precomputed_weights
from sidelight.maps.weights import AdaptiveWeights, FixedWeights
from sidelight.neighbours.search import nearest


def curve(n=200, noise=0.0):
    rng = np.random.default_rng(0)
    t = np.sort(rng.uniform(-2, 2, size=n))[:, None]
    return t, np.column_stack([np.sin(t[:, 0]), t[:, 0] ** 2]) + noise * rng.normal(size=(n, 2))


def test_a_map_is_the_weighted_mean_of_its_outputs():
    t, Y = curve()
    q = np.array([[0.3], [-1.1]])
    found = KernelMap(FixedWeights(t, 0.1), Y)(q)
    for i in range(2):
        w = np.exp(-((t[:, 0] - q[i, 0]) ** 2) / 0.1)
        np.testing.assert_allclose(found[i], (w @ Y) / w.sum(), rtol=1e-11)


def test_variance_is_the_weighted_spread_around_the_mean():
    t, Y = curve(noise=0.3)
    q = np.array([[0.3], [-1.1]])
    mapped = KernelMap(FixedWeights(t, 0.1), Y)
    found = mapped.variance(q)
    for i in range(2):
        w = np.exp(-((t[:, 0] - q[i, 0]) ** 2) / 0.1)
        w /= w.sum()
        np.testing.assert_allclose(found[i], w @ (Y - mapped(q)[i]) ** 2, rtol=1e-9)


def test_variance_is_zero_and_not_negative_where_all_outputs_agree():
    t, _ = curve()
    found = KernelMap(FixedWeights(t, 0.1), np.full((200, 3), 0.7)).variance(t)
    assert found.min() >= 0
    assert found.max() < 1e-14


@pytest.mark.parametrize("kind", ["fixed", "adaptive"])
def test_leave_one_out_error_is_relative_to_the_spread_of_the_outputs(kind):
    t, Y = curve()
    lists = nearest(t, k=30).index
    weights = FixedWeights(t, 0.05) if kind == "fixed" else AdaptiveWeights(t, lists, 8.0)
    found = KernelMap(weights, Y).leave_one_out_error()
    residual = np.linalg.norm(Y - weights.leave_one_out(Y))
    assert found == pytest.approx(residual / np.linalg.norm(Y - Y.mean(axis=0)), rel=1e-12)
    assert KernelMap(weights, 1e6 + 1e3 * Y).leave_one_out_error() == pytest.approx(found, rel=1e-6)
    assert KernelMap(weights, np.ones((200, 1))).leave_one_out_error() == 0.0


def test_the_best_perplexity_has_the_smallest_leave_one_out_error_and_grows_with_noise():
    grid = (2.0, 5.0, 12.0, 20.0)
    chosen = []
    for noise in (0.0, 1.0):
        t, Y = curve(noise=noise)
        lists = nearest(t, k=60).index
        errors = {p: KernelMap(AdaptiveWeights(t, lists, p), Y).leave_one_out_error() for p in grid}
        chosen.append(best_perplexity(t, Y, lists, grid))
        assert errors[chosen[-1]] == min(errors.values())
    assert chosen[0] < chosen[1]


def test_distances_choose_the_perplexity_that_rows_choose():
    for noise in (0.0, 1.0):
        t, Y = curve(noise=noise)
        near = nearest(t, k=60)
        assert precomputed_weights(near, Y, 61).perplexity == best_perplexity(t, Y, near.index)


@pytest.mark.parametrize("n", [2, 3, 5])
def test_an_adaptive_map_can_be_made_of_few_rows(n):
    A, V = np.arange(n, dtype=float)[:, None], np.arange(n, dtype=float)[:, None] * 2
    mapped = adaptive_map(A, V)
    found = mapped(np.array([[0.4], [-3.0], [99.0]]))
    assert np.isfinite(found).all()
    assert found.min() >= 0
    assert found.max() <= V.max()


def test_an_adaptive_map_follows_a_curve():
    t, Y = curve(400)
    q = np.linspace(-1.8, 1.8, 50)[:, None]
    expected = np.column_stack([np.sin(q[:, 0]), q[:, 0] ** 2])
    error = adaptive_map(t, Y)(q) - expected
    assert np.sqrt((error**2).mean()) < 0.02 * Y.std()


def test_lists_along_the_data_keep_a_query_on_its_own_layer():
    t = np.linspace(0, 1, 50)
    A = np.r_[np.column_stack([t, np.zeros(50)]), np.column_stack([t, np.full(50, 0.05)])]
    V = np.r_[np.zeros((50, 1)), np.ones((50, 1))]
    own_layer = np.array([[j for j in range(100) if j != i and j // 50 == i // 50][:49] for i in range(100)])
    q = np.array([[0.5, 0.01], [0.5, 0.04]])
    np.testing.assert_allclose(KernelMap(AdaptiveWeights(A, own_layer, 10.0), V)(q)[:, 0], [0.0, 1.0], atol=1e-12)
    blurred = KernelMap(FixedWeights(A, 0.01), V)(q)[:, 0]
    assert (np.abs(blurred - [0, 1]) > 0.2).all()

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_digits

from sidelight import KernelInformationEmbedding
from sidelight.maps.kernel_jacobians import kernel_jacobian
from sidelight.maps.kernel_map import KernelMap, adaptive_map
from sidelight.maps.local_bandwidths import local_weights
from sidelight.maps.weights import FixedWeights
from sidelight.maps.without_rows import kernel_map_without


def slow_average(Z, h, q, V):
    """Student's weights with two degrees of freedom and a bandwidth for each row, one row at a time."""
    w = np.array([(1 + ((q - z) ** 2).sum() / own) ** (-(len(q) + 2) / 2) for z, own in zip(Z, h, strict=True)])
    return (w @ V) / w.sum()


def sheet(n=400, noise=0.0, seed=0):
    """Latent points in a square, and rows of five columns that bend with them."""
    rng = np.random.default_rng(seed)
    Z = rng.uniform(-6, 6, size=(n, 2))
    X = np.column_stack([Z, np.sin(Z[:, 0]), np.cos(Z[:, 1]), Z.sum(axis=1)])
    return Z, X + noise * rng.normal(size=X.shape)


@pytest.mark.parametrize("q", [1, 2, 5])
def test_each_row_has_its_own_bandwidth(q):
    rng = np.random.default_rng(q)
    Z, V, h = rng.normal(size=(60, q)), rng.normal(size=(60, 3)), rng.uniform(0.05, 2.0, size=60)
    Q = np.r_[rng.normal(size=(10, q)), Z[:3], 50 + Z[:2]]
    found = FixedWeights(Z, h, "student").average(Q, V)
    np.testing.assert_allclose(found, [slow_average(Z, h, q, V) for q in Q], rtol=1e-10, atol=1e-12)


def test_a_row_left_out_does_not_count():
    rng = np.random.default_rng(3)
    Z, V, h = rng.normal(size=(40, 2)), rng.normal(size=(40, 3)), rng.uniform(0.05, 2.0, size=40)
    found = FixedWeights(Z, h, "student").leave_one_out(V)
    rest = [np.arange(40) != i for i in range(40)]
    slow = [slow_average(Z[kept], h[kept], Z[i], V[kept]) for i, kept in enumerate(rest)]
    np.testing.assert_allclose(found, slow, rtol=1e-10, atol=1e-12)


def test_jacobian_is_the_slope_of_differences():
    rng = np.random.default_rng(4)
    mapped = KernelMap(
        FixedWeights(rng.normal(size=(50, 2)), rng.uniform(0.1, 2, size=50), "student"), rng.normal(size=(50, 3))
    )
    Q, step = rng.normal(size=(6, 2)), 1e-5
    slopes = [(mapped(Q + step * e) - mapped(Q - step * e)) / (2 * step) for e in np.eye(2)]
    np.testing.assert_allclose(kernel_jacobian(mapped, Q), np.stack(slopes, axis=2), rtol=1e-6, atol=1e-8)


def test_a_map_without_some_rows_keeps_the_bandwidths_of_the_others():
    rng = np.random.default_rng(5)
    Z, V, h = rng.normal(size=(40, 2)), rng.normal(size=(40, 3)), rng.uniform(0.05, 2.0, size=40)
    kept = np.arange(5, 40)
    found = kernel_map_without(KernelMap(FixedWeights(Z, h, "student"), V), kept)
    np.testing.assert_array_equal(found(Z[:5]), KernelMap(FixedWeights(Z[kept], h[kept], "student"), V[kept])(Z[:5]))


def test_noise_asks_for_wider_bandwidths():
    widths = []
    for noise in (0.0, 1.5):
        Z, X = sheet(noise=noise)
        widths.append(np.median(local_weights(Z, X, adaptive_map(X, Z), "student").bandwidth))
    assert widths[1] > 2 * widths[0]


def test_duplicate_places_keep_finite_weights():
    Z, X = sheet(60)
    Z[:30], X[:30] = Z[0], X[0]
    weights = local_weights(Z, X, adaptive_map(X, Z), "student")
    found = KernelMap(weights, X)(Z)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found[:30], np.broadcast_to(X[0], (30, 5)), atol=0.2)


@pytest.mark.parametrize("n", [2, 3, 5])
def test_few_rows_have_bandwidths_too(n):
    Z, X = sheet(n)
    assert np.all(local_weights(Z, X, adaptive_map(X, Z), "student").bandwidth > 0)


def test_new_digits_come_back_better_than_with_one_bandwidth():
    X = load_digits().data[np.random.default_rng(0).permutation(1797)]
    model = KernelInformationEmbedding(solver="multilevel", random_state=0).fit(X[:700])
    maps, new = model._informed_maps().plain, X[1200:]
    places, spread = model.transform(new), ((new - X[:700].mean(axis=0)) ** 2).sum()
    one = replace(maps.forward, weights=FixedWeights(model.embedding_, 1.0, "student"))
    back, narrow = model.inverse_transform(places), maps.frame.outside(one(places))
    local, fixed = (1 - ((found - new) ** 2).sum() / spread for found in (back, narrow))
    assert local > fixed + 0.05


def test_one_bandwidth_is_kept_where_it_predicts_better():
    """Of noise the mean of all rows is the best prediction, and the tails of one bandwidth come nearest to it."""
    rng = np.random.default_rng(0)
    Z, X = rng.uniform(-6, 6, size=(800, 2)), rng.normal(size=(800, 20))
    assert local_weights(Z, X, adaptive_map(X, Z), "student").bandwidth == 1.0
    assert local_weights(*sheet(), adaptive_map(*sheet()[::-1]), "student").bandwidth.shape == (400,)

"""The objective of coordination against loops over rows and pairs of charts."""

from __future__ import annotations

import numpy as np
import pytest

from sidelight.objectives.coordination import distortion, off_plane_share, overlap_sums, overlaps_of, unfolded

N_LOCAL = (2, 0, 1)


@pytest.fixture
def charts():
    """Responsibilities and features of three charts, of unequal number."""
    rng = np.random.default_rng(0)
    Q = rng.dirichlet([0.5] * 3, size=40)
    return Q, [rng.normal(size=(40, q)) for q in N_LOCAL]


def naive(Q, features, balance):
    """B and D, one row and one pair of charts at a time, by the definition."""
    sizes = [F.shape[1] + 1 for F in features]
    starts = np.cumsum([0, *sizes])
    B, D = np.zeros((sum(sizes),) * 2), np.zeros((sum(sizes),) * 2)
    mass = sum(np.outer(q, q) for q in Q)
    rows = Q.sum(axis=0)
    for n in range(len(Q)):
        placed = []
        for s in range(len(sizes)):
            v = np.zeros(len(B))
            v[starts[s] : starts[s + 1]] = [*features[s][n], 1.0]
            placed.append(v)
            D += Q[n, s] * np.outer(v, v)
        for s in range(len(sizes)):
            for t in range(len(sizes)):
                share = mass[s, t] / np.sqrt(rows[s] * rows[t])
                w = 1.0 if balance == np.inf else (1 + balance) / (share + balance)
                away = placed[s] - placed[t]
                B += 0.5 * w * Q[n, s] * Q[n, t] * np.outer(away, away)
    return B, D


@pytest.mark.parametrize("balance", [np.inf, 0.1, 1e-4])
def test_disagreement_is_the_sum_over_rows_and_pairs_of_charts(charts, balance):
    B, _ = naive(*charts, balance)
    found = overlaps_of(overlap_sums(*charts), N_LOCAL).disagreement(balance)
    np.testing.assert_allclose(found, B, atol=1e-12 * np.abs(B).max())


def test_without_balance_it_is_the_source_s_difference(charts):
    _, D = naive(*charts, np.inf)
    overlaps, U = overlaps_of(overlap_sums(*charts), N_LOCAL), unfolded(*charts)
    np.testing.assert_allclose(overlaps.products, U.T @ U, atol=1e-12)
    np.testing.assert_allclose(overlaps.disagreement(), D - U.T @ U, atol=1e-12)
    for block, own in zip(overlaps.blocks, overlaps.moments, strict=True):
        np.testing.assert_allclose(own, D[block, block], atol=1e-12)


def test_small_disagreement_is_not_lost_in_a_difference():
    """Charts that agree to 1e-9: D - UᵀU, of size 200, could know their disagreement to 1e-14 only."""
    rng = np.random.default_rng(1)
    f = rng.normal(size=(200, 1))
    Q = np.column_stack([np.full(200, 1.0 - 1e-6), np.full(200, 1e-6)])
    overlaps = overlaps_of(overlap_sums(Q, [f, f + 1e-9]), (1, 1))
    v = np.array([1.0, 0.0, 1.0, 0.0])
    assert abs(v @ overlaps.disagreement() @ v) < 1e-17


def test_the_constant_disagrees_nowhere_and_nothing_disagrees_negatively(charts):
    overlaps = overlaps_of(overlap_sums(*charts), N_LOCAL)
    for balance in (np.inf, 1e-3):
        B = overlaps.disagreement(balance)
        np.testing.assert_allclose(B @ overlaps.constant(), 0.0, atol=1e-12)
        assert np.linalg.eigvalsh(B).min() > -1e-12 * np.abs(B).max()


def test_sums_of_parts_are_sums_of_the_whole(charts):
    Q, features = charts
    first = overlap_sums(Q[:13], [F[:13] for F in features])
    second = overlap_sums(Q[13:], [F[13:] for F in features])
    whole = overlap_sums(Q, features)
    for name, value in whole.items():
        np.testing.assert_allclose(first[name] + second[name], value, atol=1e-12)


def test_distortion_is_zero_for_one_linear_map_and_large_for_a_fold():
    rng = np.random.default_rng(2)
    axes = [rng.normal(size=(2, 2)) for _ in range(6)]
    common = rng.normal(size=(2, 2))
    slopes = [W.T @ common for W in axes]  # every chart maps x to x @ common
    assert distortion(slopes, axes, np.ones(6)) < 1e-20
    slopes[0] = slopes[0] * 5
    assert distortion(slopes, axes, np.ones(6)) > 0.5


def test_variance_along_a_plane_is_that_of_its_rows_there(charts):
    Q, features = charts
    rng = np.random.default_rng(2)
    axes = [rng.normal(size=(5, q)) for q in N_LOCAL]
    found = overlaps_of(overlap_sums(Q, features), N_LOCAL).along(axes)
    for s, (F, W) in enumerate(zip(features, axes, strict=True)):
        placed = F @ W.T
        away = placed - np.average(placed, axis=0, weights=Q[:, s])
        np.testing.assert_allclose(found[s], np.average((away**2).sum(axis=1), weights=Q[:, s]), atol=1e-12)
    np.testing.assert_array_equal(
        off_plane_share(np.array([1.0, 0.0, 3.0]), np.array([3.0, 0.0, 0.0])), [0.25, 0.0, 1.0]
    )

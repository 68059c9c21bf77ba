from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq
from sklearn.neighbors import KernelDensity

from sidelight.kernels.bandwidths import (
    LeaveOneOut,
    leave_one_out_bandwidth,
    maximise_over_scale,
    perplexity_rows,
    quick_rows,
    quick_rows_of_each,
)
from sidelight.kernels.profiles import GAUSSIAN, QUARTIC, STUDENT


def reached(W):
    safe = np.where(W > 0, W, 1.0)
    return np.exp(-(W * np.log(safe)).sum(axis=1))


def naive_row(d2, perplexity):
    """Root finding on the entropy of one row."""

    def excess(log_beta):
        p = np.exp(-np.exp(log_beta) * (d2 - d2.min()))
        p /= p.sum()
        p = p[p > 0]
        return float(-(p * np.log(p)).sum() - np.log(perplexity))

    log_beta = brentq(excess, -20, 60, xtol=1e-13)
    p = np.exp(-np.exp(log_beta) * (d2 - d2.min()))
    return p / p.sum(), np.exp(-log_beta)


def squared_distance_rows():
    rng = np.random.default_rng(0)
    yield "uniform", rng.uniform(size=(20, 40))
    yield "normal data", rng.chisquare(5, size=(20, 40))
    yield "few near, many far", np.c_[1e-4 * rng.uniform(size=(20, 8)), 1 + rng.uniform(size=(20, 32))]
    yield "few near, the rest tied", np.c_[1e-3 * rng.uniform(size=(20, 5)), np.ones((20, 35))]
    yield "twelve orders", 10.0 ** (-12 * rng.uniform(size=(20, 40)))
    yield "one outlier", np.c_[rng.uniform(size=(20, 39)), np.full((20, 1), 1e12)]
    yield "far query", 1e6 + rng.uniform(size=(20, 40))
    yield "tiny units", 1e-200 * rng.uniform(size=(20, 40))


ROWS = dict(squared_distance_rows())


@pytest.mark.parametrize("perplexity", [1.5, 2.0, 6.0, 13.0, 30.0, 38.5])
@pytest.mark.parametrize("name", ROWS)
def test_rows_reach_the_perplexity_they_are_asked_for(name, perplexity):
    D2 = ROWS[name]
    W, h = perplexity_rows(D2, perplexity)
    np.testing.assert_allclose(W.sum(axis=1), 1, rtol=1e-13)
    np.testing.assert_allclose(reached(W), perplexity, rtol=1e-8)
    for i in range(0, 20, 7):
        weights, bandwidth = naive_row(D2[i] / D2[i].max(), perplexity)
        np.testing.assert_allclose(W[i], weights, rtol=1e-5, atol=1e-9)
        assert h[i] == pytest.approx(bandwidth * D2[i].max(), rel=1e-5)


@pytest.mark.parametrize("perplexity", [1.5, 5.0, 15.0, 39.0, 60.0])
@pytest.mark.parametrize(("name", "D2"), list(squared_distance_rows()))
def test_quick_rows_are_those_of_the_longer_search(name, D2, perplexity):
    expected = perplexity_rows(D2, perplexity)[0]
    np.testing.assert_allclose(quick_rows(D2, perplexity), expected, atol=1e-7)
    if name not in ("far query", "tiny units"):  # single precision does not hold their differences
        found = quick_rows(D2.astype(np.float32), perplexity)
        np.testing.assert_allclose(
            found, perplexity_rows(D2.astype(np.float32).astype(float), perplexity)[0], atol=1e-4
        )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_quick_rows_begun_at_other_bandwidths_are_the_same(dtype):
    rng = np.random.default_rng(0)
    D2 = np.column_stack([np.zeros(50), np.sort(5.0 + rng.uniform(size=(50, 20)), axis=1)])  # a row among its own list
    expected, bandwidth = perplexity_rows(D2, 3.0)
    for factor in (1.0, 1.2, 100.0):
        found = quick_rows(D2.astype(dtype), 3.0, begin=factor * bandwidth)
        assert found.dtype == dtype
        np.testing.assert_allclose(found, expected, atol=3e-5 if dtype == np.float32 else 1e-7)
    np.testing.assert_array_equal(quick_rows(D2, 21.0, begin=bandwidth), quick_rows(D2, 21.0))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_quick_rows_alone_have_the_bytes_they_have_in_company(dtype):
    """Bytes may be compared: all arithmetic is within a row, without BLAS."""
    D2 = np.concatenate([rows for _, rows in squared_distance_rows()]).astype(dtype)
    D2 = D2[D2.max(axis=1) > 0]
    together = quick_rows(D2, 6.0)
    assert np.concatenate([quick_rows(row[None], 6.0) for row in D2]).tobytes() == together.tobytes()
    np.testing.assert_allclose(together.sum(axis=1), 1, rtol=1e-6)


def test_rows_are_answered_alike_alone_and_in_company():
    D2 = np.random.default_rng(1).chisquare(3, size=(50, 30))
    W, h = perplexity_rows(D2, 9.0)
    for i in range(50):
        w, one = perplexity_rows(D2[i : i + 1], 9.0)
        np.testing.assert_allclose(w[0], W[i], rtol=1e-12)
        assert one[0] == pytest.approx(h[i], rel=1e-12)


@pytest.mark.parametrize("rounding", [0.0, 1e-16])
def test_equal_distances_get_even_weights_and_their_own_size_as_bandwidth(rounding):
    noise = 1 + rounding * np.random.default_rng(2).integers(0, 3, size=(3, 20))
    W, h = perplexity_rows(np.array([[4.0], [1e-30], [1e30]]) * noise, 5.0)
    np.testing.assert_array_equal(W, np.full((3, 20), 1 / 20))
    np.testing.assert_allclose(h, [4.0, 1e-30, 1e30], rtol=1e-12)


def test_more_duplicates_than_asked_for_share_the_weight_at_bandwidth_zero():
    W, h = perplexity_rows(np.r_[np.zeros(8), np.arange(1.0, 5.0)][None, :], 4.0)
    np.testing.assert_allclose(W[0], np.r_[np.full(8, 1 / 8), np.zeros(4)], atol=1e-12)
    assert h[0] == 0
    W, h = perplexity_rows(np.zeros((2, 5)), 3.0)
    np.testing.assert_array_equal(W, np.full((2, 5), 0.2))
    assert not h.any()


@pytest.mark.parametrize("perplexity", [6.0, 7.5, 1000.0])
def test_fewer_neighbours_than_asked_for_get_nearly_even_weights_and_a_bandwidth_of_their_size(perplexity):
    W, h = perplexity_rows(np.array([[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]]), perplexity)
    np.testing.assert_allclose(W, 1 / 6, rtol=2e-3)
    assert h[0] == 6.0


def test_a_single_neighbour_has_all_the_weight():
    W, h = perplexity_rows(np.array([[2.0], [0.0]]), 1.000001)
    assert W.tolist() == [[1.0], [1.0]]
    assert h.tolist() == [2.0, 0.0]


def leave_out_each(X, h):
    """Fit scikit-learn's density without row i and score row i."""
    scores = []
    for i in range(len(X)):
        rest = np.delete(X, i, axis=0)
        scores.append(KernelDensity(bandwidth=np.sqrt(h / 2)).fit(rest).score(X[i : i + 1]))
    return np.array(scores)


@pytest.mark.parametrize("d", [1, 3])
@pytest.mark.parametrize("h", [0.05, 1.0])
def test_leave_one_out_likelihood_is_that_of_densities_without_the_row(d, h):
    X = 5 + np.random.default_rng(3).normal(size=(40, d))
    scores = leave_out_each(X, h)
    assert LeaveOneOut(X, GAUSSIAN)(h) == pytest.approx(scores.mean(), rel=1e-9)
    rows = np.array([0, 7, 39])
    assert LeaveOneOut(X, GAUSSIAN, rows=rows)(h) == pytest.approx(scores[rows].mean(), rel=1e-9)


def test_leave_one_out_likelihood_with_a_bandwidth_per_row_is_the_naive_sum():
    rng = np.random.default_rng(4)
    X, relative = rng.normal(size=(12, 2)), rng.uniform(0.5, 2, size=12)
    total = 0.0
    for i in range(12):
        density = 0.0
        for j in range(12):
            if j != i:
                h = 0.7 * relative[j]
                density += np.exp(-((X[i] - X[j]) ** 2).sum() / h) / (np.pi * h)
        total += np.log(density / 11)
    assert LeaveOneOut(X, GAUSSIAN, relative)(0.7) == pytest.approx(total / 12, rel=1e-12)


@pytest.mark.parametrize("shape", [GAUSSIAN, STUDENT, QUARTIC], ids=str)
@pytest.mark.parametrize("d", [1, 2, 5])
def test_leave_one_out_finds_a_bandwidth_inside_its_range_for_every_profile(shape, d):
    X = np.random.default_rng(5).normal(size=(150, d))
    score = LeaveOneOut(X, shape)
    best = leave_one_out_bandwidth(X, shape, typical=2.0 * d)
    assert 1e-3 < best < 100 * d
    assert score(best) > max(score(0.2 * best), score(5 * best))


def test_leave_one_out_survives_duplicates_and_rows_out_of_reach():
    X = np.r_[np.zeros((5, 2)), [[1e6, 0.0]]]
    for shape in (GAUSSIAN, STUDENT, QUARTIC):
        assert np.isfinite(LeaveOneOut(X, shape)(1e-3))
        assert np.isfinite(leave_one_out_bandwidth(X, shape, typical=1.0))


@pytest.mark.parametrize("peak", [1e-3, 0.37, 1.0, 90.0])
def test_the_best_scale_is_found_wherever_it_is(peak):
    found = maximise_over_scale(lambda h: -((np.log(h) - np.log(peak)) ** 2), 1e-3, 1e2)
    assert found == pytest.approx(peak, rel=0.02)


@pytest.mark.parametrize("shape", [GAUSSIAN, STUDENT, QUARTIC], ids=lambda shape: shape.name)
@pytest.mark.parametrize("relative", [False, True])
def test_scales_that_an_upper_bound_rules_out_do_not_change_the_bandwidth(shape, relative):
    rng = np.random.default_rng(6)
    X = rng.normal(size=(80, 3))
    X[60:] = X[0]  # equal rows: the density has no bound at narrow scales
    score = LeaveOneOut(X, shape, rng.gamma(2.0, size=80) if relative else None)
    scored = []

    def counted(scale):
        scored.append(scale)
        return score(scale)

    with_bound = maximise_over_scale(counted, 1e-6, 1e2, at_most=score.at_most)
    n_scored = len(scored)
    assert with_bound == maximise_over_scale(counted, 1e-6, 1e2)
    assert n_scored < len(scored) - n_scored
    for scale in np.geomspace(1e-6, 1e2, 30):
        assert score(scale) <= score.at_most(scale)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 30, 2000])
def test_several_perplexities_together_give_the_bits_of_each(n, dtype):
    """Bytes may be compared: rows are computed by the same instructions whatever rows are beside them."""
    D2 = np.random.default_rng(7).gamma(1.0, size=(n, 40)).astype(dtype)
    D2[: n // 3] = np.round(D2[: n // 3])  # ties, which take the longer search
    perplexities = (2.0, 3.5, 10.0, 39.0, 45.0)  # one more than there are neighbours
    for W, perplexity in zip(quick_rows_of_each(D2, perplexities), perplexities, strict=True):
        assert W.tobytes() == quick_rows(D2, perplexity).tobytes()


SWINGING = [
    0.0231, 0.0288, 0.0504, 0.0578, 0.0605, 0.0646, 0.0649, 0.0679, 0.0734, 0.0873, 0.0885, 0.0944, 0.0973, 0.0976,
    0.1061, 0.1086, 0.1207, 0.1248, 0.1253, 0.134, 0.1466, 0.1612, 0.1616, 0.1626, 0.1634, 0.168, 0.1681, 0.1692,
    0.1729, 0.179, 0.1794, 0.182, 0.2025, 0.2046, 0.2086, 0.2474, 0.2731, 0.2959, 0.2976, 0.3066, 0.326, 0.3302, 0.332,
    0.3332, 0.3488, 0.3513, 0.413, 0.4137, 0.4217, 0.4448, 0.4458, 0.454, 0.4817, 0.4942, 0.5142, 0.5242, 0.5489,
    0.5583, 0.5586, 0.5747, 0.5817,
]  # fmt: skip
"""Squared distances at which Newton's method alone swings between two points for more than 24 steps."""


def test_a_row_at_which_newtons_method_swings_reaches_its_perplexity():
    W, bandwidth = perplexity_rows(np.array([SWINGING]), 5.0)
    assert np.exp(-(W * np.log(W)).sum()) == pytest.approx(5.0, rel=1e-9)
    nearby = perplexity_rows(np.array([SWINGING]) + 1e-6, 5.0)[1]
    assert nearby[0] == pytest.approx(bandwidth[0], rel=1e-3)

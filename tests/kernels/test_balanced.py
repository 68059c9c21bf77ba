"""The balanced kernel against loops over rows, and what it promises."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import brentq

from sidelight.kernels.balanced import balanced_kernel, confounded_stratum_factors


def rows_and_groups(n=90, d=4, groups=3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.permutation(np.arange(n) % groups)


def distances(X):
    return np.linalg.norm(X[:, None] - X[None], axis=2)


def weights_of_perplexity(squared, perplexity):
    def rows(log_beta):
        w = np.exp(-math.exp(log_beta) * (squared - squared.min()))
        return w / w.sum()

    def excess(log_beta):
        p = rows(log_beta)
        return -float((p[p > 0] * np.log(p[p > 0])).sum()) - math.log(perplexity)

    return rows(brentq(excess, -12, 12, xtol=1e-13))


def naive_one_way(X, codes, perplexity):
    """W row by row: in each stratum the nearest rows at their share of the perplexity, times the stratum's share."""
    D, n = distances(X), len(X)
    W = np.zeros((n, n))
    for i in range(n):
        for s in np.unique(codes):
            share = np.mean(codes == s)
            p = max(2.0, perplexity * share)
            members = [j for j in np.argsort(D[i]) if codes[j] == s and j != i]
            members = members[: min(int(np.rint(3 * p)) + 1, max(1, np.sum(codes == s) - 1))]
            if len(members) == 1:
                W[i, members] = share
            elif members:
                W[i, members] = share * weights_of_perplexity(D[i, members] ** 2, min(p, 0.8 * len(members)))
        W[i] /= W[i].sum()
    return W


def naive(X, codes, perplexity):
    W = naive_one_way(X, codes, perplexity)
    return (W + W.T) / 2


GROUPS = {
    "even": rows_and_groups()[1],
    "uneven": np.repeat([0, 1, 2], [60, 25, 5]),
    "a row of its own": np.where(np.arange(90) == 40, 3, rows_and_groups()[1]),
    "one": np.zeros(90, dtype=int),
}


@pytest.mark.parametrize("name", GROUPS)
@pytest.mark.parametrize("precomputed", [False, True])
def test_the_kernel_in_straight_lines_is_that_of_a_loop_over_rows(name, precomputed):
    X, _ = rows_and_groups()
    points = distances(X) if precomputed else X
    K = balanced_kernel(points, GROUPS[name], 12.0, None, precomputed=precomputed).matrix.toarray()
    np.testing.assert_allclose(K, naive(X, GROUPS[name], 12.0), atol=1e-6)


@pytest.mark.parametrize("n_neighbors", [None, 10])
@pytest.mark.parametrize("confounded", [False, True])
def test_the_kernel_is_symmetric_with_positive_rows_and_no_self_weight(n_neighbors, confounded):
    X, codes = rows_and_groups()
    K = balanced_kernel(X, codes, 12.0, n_neighbors, confounded=confounded).matrix.toarray()
    np.testing.assert_array_equal(K, K.T)
    assert (K >= 0).all()
    assert (K.sum(axis=1) > 0).all()
    assert not np.diag(K).any()
    np.testing.assert_allclose(K.sum(), 90.0)


@pytest.mark.parametrize("n_neighbors", [None, 10])
def test_every_stratum_gets_its_share_of_every_row(n_neighbors):
    """Groups far apart: the mass between two of them is the product of their shares, whatever the distance."""
    X, _ = rows_and_groups()
    codes = np.repeat([0, 1, 2], [45, 30, 15])
    X = X + 50.0 * np.eye(4)[codes]
    K = balanced_kernel(X, codes, 12.0, n_neighbors).matrix.toarray()
    share = np.array([45, 30, 15]) / 90
    mass = np.array([[K[np.ix_(codes == a, codes == b)].sum() for b in range(3)] for a in range(3)]) / 90
    np.testing.assert_allclose(mass, np.outer(share, share), atol=1e-9)


def test_along_the_graph_precomputed_distances_give_the_kernel_of_the_rows():
    X, codes = rows_and_groups()
    by_rows = balanced_kernel(X, codes, 12.0, 8)
    by_distances = balanced_kernel(distances(X), codes, 12.0, 8, precomputed=True)
    np.testing.assert_allclose(by_distances.matrix.toarray(), by_rows.matrix.toarray(), atol=1e-7)
    np.testing.assert_array_equal(by_distances.lists, by_rows.lists)


@pytest.mark.parametrize("n_neighbors", [None, 8])
def test_another_order_of_the_rows_is_the_same_kernel_in_that_order(n_neighbors):
    X, codes = rows_and_groups()
    order = np.random.default_rng(5).permutation(90)
    K = balanced_kernel(X, codes, 12.0, n_neighbors).matrix.toarray()
    permuted = balanced_kernel(X[order], codes[order], 12.0, n_neighbors).matrix.toarray()
    np.testing.assert_allclose(permuted, K[np.ix_(order, order)], atol=1e-9)


@pytest.mark.parametrize("n_neighbors", [None, 8])
def test_the_kernel_does_not_depend_on_the_threads(n_neighbors):
    """Bytes may be compared: fixed tiles, each on one BLAS thread, are added in the order of the tiles."""
    X, codes = rows_and_groups(700, 6)
    one, two = (balanced_kernel(X, codes, 20.0, n_neighbors, n_jobs=jobs) for jobs in (1, 2))
    assert one.matrix.data.tobytes() == two.matrix.data.tobytes()
    np.testing.assert_array_equal(one.matrix.indices, two.matrix.indices)


@pytest.mark.parametrize("n", [2, 3, 5, 20])
def test_rows_that_are_all_alone_in_their_strata_have_lists(n):
    X, _ = rows_and_groups(n)
    kernel = balanced_kernel(X, np.arange(n), 3.0, 5)
    assert kernel.lists.shape == (n, n - 1)
    assert all(sorted(kernel.lists[i]) == [j for j in range(n) if j != i] for i in range(n))
    assert (kernel.matrix.toarray().sum(axis=1) > 0).all()


def test_lists_hold_other_rows_of_every_stratum():
    X, codes = rows_and_groups()
    lists = balanced_kernel(X, codes, 12.0, 8).lists
    assert not (lists == np.arange(90)[:, None]).any()
    assert all(set(codes[lists[i]]) == {0, 1, 2} for i in range(90))
    assert all(len(set(row)) == len(row) for row in lists.tolist())


def test_duplicates_get_finite_weights():
    X, codes = rows_and_groups(20)
    X, codes = np.repeat(X, 5, axis=0), np.tile(codes, 5)
    K = balanced_kernel(X, codes, 12.0, 8).matrix
    assert np.isfinite(K.data).all()
    np.testing.assert_allclose(K.sum(), 100.0)


def test_a_confounded_stratum_that_holds_no_counterpart_gets_no_mass():
    """Two clusters; groups 0 and 1 hold both, group 2 holds the left one only."""
    rng = np.random.default_rng(0)
    cluster = np.r_[np.zeros(20), np.ones(20), np.zeros(20), np.ones(20), np.zeros(40)].astype(int)
    codes = np.repeat([0, 1, 2], 40)
    X = rng.normal(size=(120, 2)) + 30.0 * cluster[:, None]
    right = cluster == 1
    plain, confounded = (
        balanced_kernel(X, codes, 12.0, 10, confounded=flag).matrix.toarray() for flag in (False, True)
    )
    assert plain[np.ix_(right, codes == 2)].sum() > 5.0
    assert confounded[np.ix_(right, codes == 2)].sum() < 1e-6
    assert confounded[np.ix_(right & (codes == 0), codes == 1)].sum() > 5.0


def test_closeness_is_one_for_the_own_and_the_best_other_stratum_and_falls_with_the_distance():
    D = np.array([[1.0, 2.0, 4.0], [3.0, 9.0, 3.3], [0.0, 0.0, 1.0], [np.inf, 1.0, 2.0]])
    mass = confounded_stratum_factors(D, np.array([0, 1, 2, 0]))
    expected = [[1, 1, math.exp(-4)], [1, 1, math.exp(-0.4)], [1, 1, 1], [1, 1, math.exp(-4)]]
    np.testing.assert_allclose(mass, expected, rtol=1e-12)


def test_short_lists_hold_twice_the_perplexity_and_the_same_share_of_each_stratum():
    rng = np.random.default_rng(0)
    codes = np.arange(240) % 3
    X = rng.normal(size=(240, 3)) + 5.0 * np.eye(3)[codes]
    straight, along = (balanced_kernel(X, codes, 12.0, links, short=True) for links in (None, 15))
    assert straight.graph is None
    assert along.graph is not None
    for kernel in (straight, along):
        assert kernel.lists.shape == (240, 24)
        shares = np.stack([np.asarray(kernel.matrix[:, codes == s].sum(axis=1)).ravel() for s in range(3)], axis=1)
        np.testing.assert_allclose(shares.mean(axis=0), 1 / 3, atol=1e-9)


def test_of_many_strata_each_row_of_a_short_kernel_looks_in_twelve():
    rng = np.random.default_rng(0)
    codes = np.arange(600) % 30
    kernel = balanced_kernel(rng.normal(size=(600, 3)), codes, 15.0, None, short=True)
    assert kernel.matrix.nnz < 600 * 2 * 36
    assert kernel.lists.shape == (600, 36)
    assert not (kernel.lists == np.arange(600)[:, None]).any()
    between = np.array([[kernel.matrix[codes == s][:, codes == t].sum() for t in range(30)] for s in range(30)])
    np.testing.assert_allclose(between.sum(axis=1), 20.0, rtol=0.25)
    assert abs(np.trace(between) / between.sum() - 1 / 30) < 0.01

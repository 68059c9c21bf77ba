"""Which rows have counterparts in which groups."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from sidelight.neighbours.counterparts import FEWEST, counterparts


def clusters(seed, present, count=60, d=8, shift=0.0):
    """Rows of clusters 6 apart: ``present`` says for each group which clusters it holds; groups are ``shift`` apart."""
    rng = np.random.default_rng(seed)
    centres = 6.0 / np.sqrt(2) * np.eye(d)
    codes = np.concatenate([np.full(count * len(kinds), group) for group, kinds in enumerate(present)])
    kind = np.concatenate([np.repeat(kinds, count) for kinds in present])
    X = rng.normal(size=(len(codes), d)) + centres[kind]
    X[:, -1] += shift * codes
    return X, codes, kind


def slow(X, codes, k=5, pool=10, usual=0.95, soft=0.04, repeats=0):
    """The formulas of the module, with loops over rows and all pairs; every row has so many ``repeats``."""
    D = cdist(X, X, "sqeuclidean")
    np.fill_diagonal(D, np.inf)
    counts = np.bincount(codes)
    members = [np.flatnonzero(codes == c) for c in range(len(counts))]

    def near(i, s, m):
        return members[s][np.argsort(D[i, members[s]], kind="stable")[:m]]

    def own(i, a, m):
        return near(i, a, repeats + m)[repeats:]

    def rivalry(i, a, s, reach):
        skipped = repeats if s == a else 0
        chosen = own(i, a, k) if s == a else near(i, s, k)
        return np.mean([np.log(D[i, j] / np.sort(D[j, members[a]])[reach + skipped - 1]) for j in chosen])

    def pooled(values, a):
        return {i: np.mean([values[i], *(values[j] for j in near(i, a, pool))]) for i in members[a]}

    R = np.ones((len(X), len(counts)))
    for a in range(len(counts)):
        null = pooled({i: rivalry(i, a, a, k) for i in members[a]}, a)
        wide = {i: np.log(D[i, own(i, a, 2 * k)[k:]].mean() / D[i, own(i, a, k)].mean()) for i in members[a]}
        bars = [np.quantile(list(part.values()), usual) for part in (null, pooled(wide, a))]
        for s in set(range(len(counts))) - {a}:
            reach = int(np.ceil(2 * k * max(1.0, counts[a] / counts[s])))
            t = pooled({i: rivalry(i, a, s, reach) for i in members[a]}, a)
            e = {i: np.log(D[i, near(i, s, k)].mean() / D[i, own(i, a, k)].mean()) for i in members[a]}
            e = pooled(e, a)
            left = max(0.0, np.median([e[i] for i in members[a] if t[i] < bars[0]]))
            for i in members[a]:
                R[i, s] = np.exp(-(max(0.0, t[i] - bars[0]) + max(0.0, e[i] - left - bars[1])) / soft)
    return R


def test_it_is_the_formula():
    X, codes, _ = clusters(0, [[0, 1], [0], [0, 1]], count=25)
    np.testing.assert_allclose(counterparts(X, codes).share, slow(X, codes), rtol=1e-7, atol=1e-12)


def visits(seed, present, each, count=60, noise=0.1):
    """Clusters as above, each row measured ``each`` times, with ``noise``."""
    X, codes, kind = (np.repeat(part, each, axis=0) for part in clusters(seed, present, count=count))
    return X + noise * np.random.default_rng(seed).normal(size=X.shape), codes, kind


def test_it_is_the_formula_for_rows_measured_several_times():
    X, codes, _ = visits(0, [[0, 1], [0]], 3, count=20)
    np.testing.assert_allclose(counterparts(X, codes).share, slow(X, codes, repeats=2), rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("each", [2, 3, 5])
def test_repeated_measurements_are_not_taken_for_rows_without_counterparts(each):
    """Visits of a patient lie nearer to each other than those of others, and all are in the patient's group."""
    X, codes, kind = visits(0, [[0, 1, 2], [0, 1]], each)
    share = counterparts(X, codes).share
    assert share[kind != 2].mean() > 0.85
    assert share[(codes == 0) & (kind == 2), 1].mean() < 0.05


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("shift", [0.0, 1.5])
def test_a_cluster_that_is_missing_in_a_group_is_not_represented_there(seed, shift):
    X, codes, kind = clusters(seed, [[0, 1, 2], [0, 1]], shift=shift)
    share = counterparts(X, codes).share
    assert share[(codes == 0) & (kind == 2), 1].mean() < 0.05
    assert share[kind != 2].mean() > 0.85
    np.testing.assert_array_equal(share[np.arange(len(X)), codes], 1.0)


def test_two_clusters_of_which_each_is_in_one_group_only_do_not_represent_each_other():
    X, codes, kind = clusters(0, [[0, 1], [0, 2]])
    share = counterparts(X, codes).share
    assert share[kind == 1, 1].mean() < 0.05
    assert share[kind == 2, 0].mean() < 0.05
    assert share[kind == 0].mean() > 0.85


def test_groups_of_very_different_size_represent_each_other():
    rng = np.random.default_rng(0)
    X, codes = rng.normal(size=(660, 6)), np.repeat([0, 1], [600, 60])
    assert counterparts(X, codes).share.mean() > 0.9


def test_nothing_is_missing_in_groups_at_random_and_they_lie_in_each_other():
    X = np.random.default_rng(0).normal(size=(300, 5))
    found = counterparts(X, np.arange(300) % 3)
    assert found.share.mean() > 0.93
    assert abs(found.separation) < 0.15
    assert counterparts(X + 4.0 * (np.arange(300) % 3)[:, None], np.arange(300) % 3).separation > 1.0


def test_the_order_of_the_rows_does_not_matter():
    X, codes, _ = clusters(1, [[0, 1], [0]])
    order = np.random.default_rng(0).permutation(len(X))
    again = counterparts(X[order], codes[order]).share
    np.testing.assert_allclose(again, counterparts(X, codes).share[order], rtol=1e-9)


def test_of_small_groups_nothing_is_said():
    X, codes, _ = clusters(0, [[0, 1], [0]])
    few = np.flatnonzero((codes == 0) | (np.cumsum(codes) <= FEWEST - 1))
    np.testing.assert_array_equal(counterparts(X[few], codes[few]).share, 1.0)


def test_equal_rows_are_no_trouble():
    X = np.repeat(np.random.default_rng(0).normal(size=(12, 3)), 10, axis=0)
    share = counterparts(X, np.arange(120) % 2).share
    assert np.isfinite(share).all()
    assert counterparts(np.zeros((40, 2)), np.arange(40) % 2).share.min() == 1.0


@pytest.mark.parametrize(("shift", "spread"), [(0.0, 1.0), (1.8, 1.0), (0.0, 0.5)])
def test_what_is_left_of_an_effect_is_told_from_a_difference_of_sizes(shift, spread):
    """Groups of 300 and 60 rows: an offset or another spread counts, the sizes do not."""
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1], [300, 60])
    X = rng.normal(size=(360, 5)) * np.where(codes == 0, 1.0, spread)[:, None]
    X[:, 0] += shift * codes
    left = counterparts(X, codes).effect_left
    np.testing.assert_array_equal(left, left.T)
    assert (left[0, 1] > 0.1) == (shift > 0 or spread < 1)

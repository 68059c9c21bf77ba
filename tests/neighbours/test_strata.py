"""Strata: the nearest rows of each group, against sorting all distances."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from sidelight.neighbours.strata import FEW_STRATA, MOST_STRATA, cells, codes_of, merged, nearest_in_strata


def rows_and_groups(n=60, d=4, groups=3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.permutation(np.arange(n) % groups)


def distances(X):
    return cdist(X, X)


def naive(X, codes, code, k):
    """For each row: the k nearest rows of the group, itself left out."""
    D = distances(X)
    found = {}
    for i in range(len(X)):
        members = [j for j in range(len(X)) if codes[j] == code and j != i]
        found[i] = sorted(members, key=lambda j: D[i, j])[:k]
    return found


@pytest.mark.parametrize("precomputed", [False, True])
def test_the_nearest_of_each_stratum_are_those_of_a_sorted_list(precomputed):
    X, codes = rows_and_groups()
    strata = nearest_in_strata(distances(X) if precomputed else X, codes, [3, 5, 40], precomputed=precomputed)
    D = distances(X)
    for code, (k, stratum) in enumerate(zip((3, 5, 19), strata, strict=True)):
        expected = naive(X, codes, code, k)
        np.testing.assert_array_equal(stratum.rows, np.arange(60))
        np.testing.assert_array_equal(stratum.neighbours.index, [expected[i] for i in range(60)])
        np.testing.assert_allclose(
            stratum.neighbours.distance, np.take_along_axis(D, stratum.neighbours.index, axis=1), atol=1e-12
        )


def test_a_stratum_of_one_row_has_no_list_for_that_row():
    X, codes = rows_and_groups()
    codes = np.where(np.arange(60) == 17, 3, codes)
    stratum = nearest_in_strata(X, codes, 4)[3]
    np.testing.assert_array_equal(stratum.rows, np.delete(np.arange(60), 17))
    np.testing.assert_array_equal(stratum.neighbours.index, np.full((59, 1), 17))


def test_one_stratum_is_the_plain_neighbours():
    X, _ = rows_and_groups()
    (stratum,) = nearest_in_strata(X, np.zeros(60, dtype=int), 5)
    np.testing.assert_array_equal(stratum.neighbours.index, np.argsort(distances(X), axis=1)[:, 1:6])


def test_codes_number_equal_rows_alike():
    codes = codes_of(np.array([[2.0, 1.0], [0.0, 5.0], [2.0, 1.0], [2.0, 0.0]]))
    assert codes.tolist() == [2, 0, 2, 1]


def test_many_categories_are_merged_to_strata_of_even_size():
    codes = np.repeat(np.arange(100), 3)
    strata = merged(codes)
    assert len(np.unique(strata)) == FEW_STRATA
    assert np.ptp(np.bincount(strata)) <= 3
    assert all(len(np.unique(strata[codes == c])) == 1 for c in range(100))
    np.testing.assert_array_equal(merged(codes[codes < MOST_STRATA]), codes[codes < MOST_STRATA])


def test_cells_of_a_number_are_intervals_of_enough_rows():
    values = np.random.default_rng(0).uniform(size=(400, 1))
    found = cells(values, 48)
    order = np.argsort(values[:, 0])
    assert np.count_nonzero(np.diff(found[order])) == found.max() == 8
    assert np.bincount(found).min() >= 20


def test_cells_of_a_circle_go_round():
    angle = np.linspace(0, 2 * np.pi, 360, endpoint=False)
    found = cells(np.column_stack([np.cos(angle), np.sin(angle)]), 48)
    assert np.count_nonzero(found != np.roll(found, 1)) == 9
    assert np.ptp(np.bincount(found)) <= 20


def test_few_distinct_values_are_their_own_cells_and_few_rows_are_one():
    assert cells(np.repeat([[3.0], [1.0], [2.0]], 50, axis=0), 48).tolist() == [2] * 50 + [0] * 50 + [1] * 50
    assert not cells(np.random.default_rng(0).normal(size=(30, 1)), 48).any()
    assert cells(np.random.default_rng(0).normal(size=(400, 1)), 2).max() == 1


def test_cells_do_not_depend_on_the_order_of_the_rows():
    values = np.random.default_rng(0).normal(size=(300, 2))
    order = np.random.default_rng(1).permutation(300)
    np.testing.assert_array_equal(cells(values[order], 48), cells(values, 48)[order])


@pytest.mark.parametrize("d", [5, 90])
def test_cells_find_nearly_all_of_the_nearest_of_each_stratum(d):
    """In 90 columns the search is in 64 components, and what it finds is measured in all."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 5)) @ rng.normal(size=(5, d)) + 0.1 * rng.normal(size=(1500, d))
    codes = np.where(np.arange(1500) % 7 == 0, 1, np.where(np.arange(1500) == 3, 2, 0))
    truth, found = (nearest_in_strata(X, codes, [9, 4, 4], exact=exact) for exact in (True, False))
    D = distances(X)
    for true, near in zip(truth, found, strict=True):
        np.testing.assert_array_equal(near.rows, true.rows)
        assert near.neighbours.index.shape == true.neighbours.index.shape
        assert not (near.neighbours.index == near.rows[:, None]).any()
        np.testing.assert_allclose(
            near.neighbours.distance, D[near.rows[:, None], near.neighbours.index], rtol=1e-6, atol=1e-9
        )
        assert (np.diff(near.neighbours.distance, axis=1) >= 0).all()
        hits = (near.neighbours.index[:, :, None] == true.neighbours.index[:, None, :]).any(axis=1).mean()
        assert hits > 0.98


def test_the_way_of_the_search_depends_on_the_size_alone(monkeypatch):
    X, codes = rows_and_groups(n=200)
    exact, cells_only = (nearest_in_strata(X, codes, 3, exact=exact)[0] for exact in (True, False))
    np.testing.assert_array_equal(nearest_in_strata(X, codes, 3)[0].neighbours.distance, exact.neighbours.distance)
    monkeypatch.setattr("sidelight.neighbours.strata.EXACT_SECONDS", 0.0)
    np.testing.assert_array_equal(nearest_in_strata(X, codes, 3)[0].neighbours.distance, cells_only.neighbours.distance)
    one, two = (nearest_in_strata(X, codes, 3, n_jobs=n_jobs)[1].neighbours for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.index, two.index)
    np.testing.assert_array_equal(one.distance, two.distance)

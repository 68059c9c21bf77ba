from __future__ import annotations

import numpy as np
import pytest

from sidelight.neighbours.equal_rows import equal_row_groups, group_means


def naive_groups(X):
    return np.array([next(j for j in range(len(X)) if (X[j] == X[i]).all()) for i in range(len(X))])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("values", [2, 5, 1000])
def test_groups_are_those_of_comparing_all_pairs(values, dtype):
    rng = np.random.default_rng(values)
    X = rng.integers(0, values, size=(120, 3)).astype(dtype) / 7
    expected, found = naive_groups(X), equal_row_groups(X)
    if (expected == np.arange(len(X))).all():
        assert found is None
    else:
        np.testing.assert_array_equal(found, expected)


def test_zeros_of_either_sign_are_equal_and_neighbouring_numbers_are_not():
    X = np.array([[0.0, 1.0], [-0.0, 1.0], [0.0, np.nextafter(1.0, 2.0)]])
    np.testing.assert_array_equal(equal_row_groups(X), [0, 0, 2])


def test_rows_that_share_a_key_by_accident_are_told_apart(monkeypatch):
    monkeypatch.setattr("sidelight.neighbours.equal_rows._row_keys", lambda X: np.zeros(len(X), dtype=np.uint64))
    X = np.array([[1.0], [2.0], [1.0], [3.0]])
    np.testing.assert_array_equal(equal_row_groups(X), [0, 1, 0, 3])


def test_means_of_groups_are_exact_for_equal_values_and_leave_other_rows_alone():
    V = np.random.default_rng(0).normal(size=(6, 2))
    V[4] = V[1]
    found = group_means(V, np.array([0, 1, 2, 3, 1, 5]))
    np.testing.assert_array_equal(found, V)
    found = group_means(V, np.array([0, 0, 2, 3, 4, 3]))
    np.testing.assert_allclose(found[[0, 1]], np.tile(V[:2].mean(axis=0), (2, 1)), rtol=1e-15)
    np.testing.assert_allclose(found[[3, 5]], np.tile(V[[3, 5]].mean(axis=0), (2, 1)), rtol=1e-15)
    np.testing.assert_array_equal(found[[2, 4]], V[[2, 4]])
    assert group_means(V, None) is V

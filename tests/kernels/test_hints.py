"""Hints as coordinates: linear along a line, the same for groups that look different."""

from __future__ import annotations

import numpy as np
import pytest

from sidelight.kernels.hints import harmonic_coordinates, hint_classes, with_hints
from sidelight.kernels.matrices import adaptive_kernel
from sidelight.neighbours.search import nearest


def line(n=41, d=3, seed=0):
    """Even steps along a direction."""
    direction = np.random.default_rng(seed).normal(size=d)
    return np.linspace(0, 1, n)[:, None] * direction


def test_pairs_that_share_a_row_are_one_class():
    classes = hint_classes(np.array([[0, 4], [4, 7], [2, 5]]), 9)
    assert classes.tolist() == [0, -1, 1, -1, 0, 1, -1, 0, -1]


def test_between_two_hints_on_a_line_the_coordinates_are_linear():
    classes = np.full(41, -1)
    classes[[0, 40]] = 0, 1
    phi = harmonic_coordinates(line(), np.zeros(41, dtype=int), classes)
    np.testing.assert_allclose(phi[:, 1], np.linspace(0, 1, 41), atol=0.03)
    np.testing.assert_allclose(phi.sum(axis=1), 1.0, atol=1e-5)
    assert (np.diff(phi[:, 1]) > 0).all()


def test_the_coordinates_are_harmonic_where_nothing_was_said():
    X = np.random.default_rng(3).normal(size=(30, 2))
    classes = np.full(30, -1)
    classes[[3, 8, 21]] = 0, 1, 2
    phi = harmonic_coordinates(X, np.zeros(30, dtype=int), classes)
    W = adaptive_kernel(nearest(X, k=9), 3.0)[0].toarray()
    flow = W.sum(axis=1)[:, None] * phi - W @ phi
    free = classes < 0
    np.testing.assert_allclose(flow[free], 0.0, atol=1e-8)
    np.testing.assert_array_equal(phi[[3, 8, 21]], np.eye(3))
    np.testing.assert_allclose(phi.sum(axis=1), 1.0, atol=1e-5)
    assert phi.min() >= 0.0
    assert phi[free].max() < 1.0


def test_groups_that_look_different_get_the_same_coordinates_between_their_hints():
    """One group is a line, the other a half circle in other dimensions, far away."""
    t = np.linspace(0, 1, 41)
    bend = np.column_stack([np.zeros(41), np.cos(np.pi * t), np.sin(np.pi * t)]) * 7 + 100
    X, codes = np.concatenate([line(), bend]), np.repeat([0, 1], 41)
    pairs = np.array([[0, 41], [20, 61], [40, 81]])
    phi = harmonic_coordinates(X, codes, hint_classes(pairs, 82))
    np.testing.assert_allclose(phi[:41], phi[41:], atol=0.05)


def test_a_group_without_hints_takes_the_coordinates_of_the_rows_it_resembles():
    X, codes = np.concatenate([line(), line() + 1e-3]), np.repeat([0, 1], 41)
    classes = np.full(82, -1)
    classes[[0, 40]] = 0, 1
    phi = harmonic_coordinates(X, codes, classes)
    np.testing.assert_allclose(phi[41:], phi[:41], atol=0.05)


def test_rows_that_no_hint_reaches_are_placed_too():
    """A group in two far pieces, only one of which holds hints."""
    X = np.concatenate([line(), line() + 1e3])
    classes = np.full(82, -1)
    classes[[0, 40]] = 0, 1
    phi = harmonic_coordinates(X, np.zeros(82, dtype=int), classes)
    np.testing.assert_allclose(phi.sum(axis=1), 1.0, atol=1e-5)
    assert np.isfinite(phi).all()


def test_where_every_row_is_hinted_the_coordinates_are_the_classes():
    classes = np.arange(12) % 3
    phi = harmonic_coordinates(line(12), np.repeat([0, 1], 6), classes)
    np.testing.assert_array_equal(phi, np.eye(3)[classes])


def test_a_class_in_one_group_only_is_absent_from_the_others():
    X, codes = np.concatenate([line(), line() + 50.0]), np.repeat([0, 1], 41)
    classes = np.full(82, -1)
    classes[[0, 40, 41, 81]] = 0, 1, 0, 1
    classes[20] = 2
    phi = harmonic_coordinates(X, codes, classes)
    assert phi[20, 2] == 1.0
    assert not phi[41:, 2].any()
    np.testing.assert_allclose(phi[41:, :2].sum(axis=1), 1.0, atol=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_precomputed_distances_give_the_same_coordinates(seed):
    rng = np.random.default_rng(seed)
    X, codes = rng.normal(size=(60, 3)), np.arange(60) % 3
    classes = np.full(60, -1)
    classes[[0, 1, 9, 10]] = 0, 0, 1, 1  # the third group has no hints
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    np.testing.assert_allclose(
        harmonic_coordinates(D, codes, classes, precomputed=True), harmonic_coordinates(X, codes, classes), atol=1e-9
    )


def test_duplicates_and_tiny_groups_are_solved():
    X = np.repeat(line(4), 5, axis=0)
    classes = np.full(20, -1)
    classes[[0, 19]] = 0, 1
    phi = harmonic_coordinates(X, np.zeros(20, dtype=int), classes)
    assert np.isfinite(phi).all()
    pair = harmonic_coordinates(line(2), np.zeros(2, dtype=int), np.array([0, -1]))
    np.testing.assert_allclose(pair, 1.0)


def hinted_rows():
    """Two groups of random rows, their residuals, and two pairs across them."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(40, 3)), rng.normal(size=(40, 3)), np.repeat([0, 1], 20), np.array([[0, 20], [9, 35]])


def test_the_coordinates_stand_beside_the_residual_on_its_scale():
    X, rest, codes, pairs = hinted_rows()
    found = with_hints(X, rest, codes, pairs)
    phi = harmonic_coordinates(X, codes, hint_classes(pairs, 40))
    np.testing.assert_array_equal(found[:, :3], rest)
    np.testing.assert_allclose(found[:, 3:] ** 2, 10 * np.mean((rest**2).sum(axis=1)) * phi**2)
    np.testing.assert_allclose(with_hints(X, 7 * rest, codes, pairs), 7 * found)
    assert np.linalg.norm(found[0, 3:] - found[20, 3:]) < 1e-9 < np.linalg.norm(found[0, 3:] - found[9, 3:])


def test_distances_are_lengthened_where_the_hints_tell_rows_apart():
    X, _, codes, pairs = hinted_rows()
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    found = with_hints(D, D, codes, pairs, precomputed=True)
    assert (found >= D).all()
    assert found[0, 20] == pytest.approx(D[0, 20])
    assert found[0, 9] > 1.5 * D[0, 9]

"""Kernel maps without some of their rows are those of the other rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sidelight.maps.interpolation import interpolate
from sidelight.maps.kernel_map import KernelMap, adaptive_map
from sidelight.maps.weights import FixedWeights
from sidelight.maps.without_rows import backward_without, kernel_map_without

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 4))
Z = np.column_stack([X[:, 0] + 0.1 * X[:, 2] ** 2, X[:, 1]])
OUT = np.arange(0, 90, 15)
KEPT = np.setdiff1d(np.arange(90), OUT)


def test_a_map_of_one_bandwidth_is_that_of_the_other_rows():
    found = kernel_map_without(KernelMap(FixedWeights(X, 0.7, "student"), Z), KEPT)
    assert np.array_equal(found(X[OUT]), KernelMap(FixedWeights(X[KEPT], 0.7, "student"), Z[KEPT])(X[OUT]))


def test_lists_of_neighbours_have_no_row_that_is_left_out():
    whole = adaptive_map(X, Z)
    found = kernel_map_without(whole, KEPT)
    assert found.weights.lists.max() < len(KEPT)
    for number in (0, 40, len(KEPT) - 1):
        others = [row for row in whole.weights.lists[KEPT[number]] if row not in OUT]
        listed = KEPT[found.weights.lists[number]].tolist()
        assert listed[: len(others)] == others[: len(listed)]


@pytest.mark.parametrize("mean", [KernelMap(FixedWeights(X, 0.5), Z), adaptive_map(X, Z)], ids=["fixed", "adaptive"])
def test_nothing_of_a_row_that_is_left_out_is_in_its_place(mean):
    backward = interpolate(mean, n_jobs=1)
    moved = Z.copy()
    moved[OUT] += 100.0
    other = interpolate(replace(mean, outputs=moved), n_jobs=1)
    other = replace(other, correction=replace(other.correction, falloff=backward.correction.falloff))
    places, again = (backward_without(one, KEPT, X[OUT])(X[OUT], 1) for one in (backward, other))
    assert np.allclose(places, again, atol=1e-10)
    assert np.abs(places - Z[OUT]).max() > 1e-3  # it does not know their places


def test_kept_rows_are_still_mapped_exactly():
    backward = interpolate(adaptive_map(X, Z), n_jobs=1)
    near = X[KEPT[:10]]
    assert np.allclose(backward_without(backward, KEPT, near)(near, 1), Z[KEPT[:10]], atol=1e-10)


def test_rows_whose_neighbours_are_all_left_out_get_others():
    whole = adaptive_map(X[:30], Z[:30], lists=np.tile(np.arange(4), (30, 1)))
    found = kernel_map_without(whole, np.arange(4, 30))
    assert np.isfinite(found(X[:4], 1)).all()

"""Modes whose grids suit the cache: as few more as needed, and the same sums."""

from __future__ import annotations

import numpy as np
import pytest

from sidelight.kernels.fourier_modes import Modes, grid_size, without_conflicts
from sidelight.kernels.gauss_transform import FastSums, SplitSums, fast_sums, oversampling_of
from sidelight.kernels.profiles import STUDENT


@pytest.mark.parametrize("oversampling", [1.25, 1.5, 2.0])
def test_no_row_of_a_grid_is_a_multiple_of_128_numbers(oversampling):
    for m in range(1, 700, 3):
        modes = Modes((10, m), (10.0, 10.0))
        found = without_conflicts(modes, oversampling)
        before, after = (grid_size(some.shape[-1], oversampling) for some in (modes, found))
        assert after % 128
        assert found.half[0] == 10
        assert found == modes if before % 128 else before < after <= 1.2 * before


def test_lines_have_no_columns_to_conflict():
    modes = Modes((200,), (180.0,))
    assert without_conflicts(modes, 1.25) == modes


def test_points_whose_grid_would_conflict_have_the_sums_of_others():
    """The extent at which 70,000 digits took three times as long."""
    pytest.importorskip("finufft", reason="no wheel for this machine: exact tiles are used")
    Z = np.random.default_rng(0).random((8000, 2)) * (246.0, 174.0)
    found = fast_sums(Z, STUDENT, 1, tolerance=1e-3)
    assert isinstance(found, SplitSums)
    for part in found.parts:
        assert grid_size(part.modes.shape[-1], oversampling_of(len(Z), part.modes)) % 128
    few = np.linspace(0, 7999, 50).astype(int)
    exact = (1 / (1 + ((Z[few, None] - Z) ** 2).sum(axis=2))).sum(axis=1)
    np.testing.assert_allclose(found.sums(np.ones((8000, 1)))[few, 0], exact, rtol=2e-3)


def test_both_parts_of_a_kernel_have_the_bytes_of_one_thread_on_two():
    """Bytes may be compared: each transform has one thread, and the parts are added in order."""
    pytest.importorskip("finufft", reason="no wheel for this machine: exact tiles are used")
    rng = np.random.default_rng(1)
    Z, W = rng.random((30_000, 2)) * 150.0, rng.random((30_000, 3))
    one, two = (fast_sums(Z, STUDENT, jobs, tolerance=1e-3) for jobs in (1, 2))
    assert isinstance(one, FastSums)
    assert isinstance(two, FastSums)
    assert one.sums(W).tobytes() == two.sums(W).tobytes()
    assert one.pulls(W).tobytes() == two.pulls(W).tobytes()

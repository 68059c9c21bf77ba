from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sidelight.kernels import gauss_transform
from sidelight.kernels.gauss_transform import (
    FastSums,
    SplitSums,
    fast_sums,
    is_faster,
    modes_of,
    parts_of,
    split_modes,
)
from sidelight.kernels.profiles import GAUSSIAN, QUARTIC, STUDENT

pytest.importorskip("finufft", reason="no wheel for this machine: exact tiles are used")

PROFILES = {"gaussian": GAUSSIAN, "student": STUDENT}


def uniform(n, q, extent, rng):
    return extent * rng.random((n, q))


def clumps(n, q, extent, rng):
    """Tight clumps at the corners of a box."""
    return extent * rng.integers(0, 2, size=(n, q)) + 1e-3 * rng.standard_normal((n, q))


def long_and_thin(n, q, extent, rng):
    Z = 1e-2 * rng.standard_normal((n, q))
    Z[:, -1] = extent * rng.random(n)
    return Z


def outliers(n, q, extent, rng):
    """Half of the points in one clump, the others on their own: where errors of the clump are largest, relatively."""
    Z = extent * rng.random((n, q))
    Z[: n // 2] = 0.3 * extent + 1e-3 * rng.standard_normal((n // 2, q))
    return Z


def duplicates(n, q, extent, rng):
    return np.repeat(extent * rng.random((n // 10, q)), 10, axis=0)


CLOUDS = [uniform, clumps, long_and_thin, outliers, duplicates]
EXTENTS = {1: [0.01, 1.0, 20.0, 200.0], 2: [0.01, 1.0, 20.0], 3: [0.01, 3.0]}
CASES = [(q, extent) for q, extents in EXTENTS.items() for extent in extents]


def transform(Z, profile):
    modes = modes_of(profile, len(Z), np.ptp(Z, axis=0))
    return FastSums(Z, profile, modes)


def obvious(Z, profile, W):
    """Sums (n, c) and pulls (q, n, c), every pair visited."""
    D = Z[:, None] - Z[None]
    K = profile.value((D**2).sum(axis=-1))
    G = profile.slope(K)
    return K @ W, np.stack([(G * D[:, :, d]) @ W for d in range(Z.shape[1])])


@pytest.mark.parametrize(("q", "extent"), CASES)
@pytest.mark.parametrize("cloud", CLOUDS)
@pytest.mark.parametrize("name", PROFILES)
def test_sums_and_pulls_are_those_over_all_pairs(name, cloud, q, extent):
    rng = np.random.default_rng(0)
    Z = cloud(400, q, extent, rng) + 1e3
    W = np.column_stack([np.ones(400), rng.random(400), rng.random(400)])
    sums, pulls = obvious(Z, PROFILES[name], W)
    fast = transform(Z, PROFILES[name])
    np.testing.assert_allclose(fast.sums(W), sums, atol=1e-6 if name == "gaussian" else 3e-6)
    found = fast.pulls(W)
    assert found.shape == (q, 400, 3)
    assert np.linalg.norm(found - pulls) <= 5e-6 * np.linalg.norm(pulls)


@pytest.mark.parametrize("name", PROFILES)
def test_a_wide_plane_is_as_exact_as_a_narrow_one(name):
    Z = outliers(300, 2, 100.0, np.random.default_rng(1))
    sums, pulls = obvious(Z, PROFILES[name], np.ones((300, 1)))
    fast = transform(Z, PROFILES[name])
    np.testing.assert_allclose(fast.sums(np.ones((300, 1))), sums, atol=1e-6 if name == "gaussian" else 3e-6)
    assert np.linalg.norm(fast.pulls(np.ones((300, 1))) - pulls) <= 5e-6 * np.linalg.norm(pulls)


@pytest.mark.parametrize("name", PROFILES)
def test_columns_of_weights_do_not_disturb_each_other(name):
    rng = np.random.default_rng(2)
    Z, W = rng.random((200, 2)), np.column_stack([rng.random(200), 1e-6 * rng.random(200)])
    fast = transform(Z, PROFILES[name])
    np.testing.assert_allclose(fast.sums(W)[:, 1], fast.sums(W[:, 1:])[:, 0], rtol=1e-7)
    np.testing.assert_allclose(fast.pulls(W)[..., 1], fast.pulls(W[:, 1:])[..., 0], rtol=1e-5, atol=1e-12)


@pytest.mark.parametrize("name", PROFILES)
@pytest.mark.parametrize("Z", [np.zeros((1, 2)), np.full((50, 2), 3.0)], ids=["one point", "one place"])
def test_points_in_one_place_have_full_sums_and_no_pull(Z, name):
    fast, ones = transform(Z, PROFILES[name]), np.ones((len(Z), 1))
    np.testing.assert_allclose(fast.sums(ones), len(Z), rtol=1e-8)
    np.testing.assert_allclose(fast.pulls(ones), 0, atol=1e-8 * len(Z))


@pytest.mark.parametrize("name", PROFILES)
def test_one_and_two_threads_give_the_same_bytes(name):
    """Bytes may be compared: each transform of finufft runs on one thread, and they are added in order."""
    rng = np.random.default_rng(3)
    Z, W = 10 * rng.random((3000, 2)), rng.random((3000, 4))
    modes = modes_of(PROFILES[name], 3000, np.ptp(Z, axis=0))
    one, two, again = (FastSums(Z, PROFILES[name], modes, n_jobs=jobs) for jobs in (1, 2, 2))
    for other in (two, again):
        assert one.sums(W).tobytes() == other.sums(W).tobytes()
        assert one.pulls(W).tobytes() == other.pulls(W).tobytes()


@pytest.mark.parametrize("cloud", CLOUDS)
@pytest.mark.parametrize(("q", "extent"), [(1, 20.0), (1, 200.0), (2, 20.0), (2, 40.0), (3, 8.0)])
def test_the_student_kernel_in_two_parts_is_as_exact_as_whole(cloud, q, extent):
    rng = np.random.default_rng(4)
    Z, W = cloud(400, q, extent, rng), np.ones((400, 1))
    exact = obvious(Z, STUDENT, W)
    split = SplitSums(Z, *split_modes(np.ptp(Z, axis=0), 1e-3), 1, None)
    whole = FastSums(Z, STUDENT, modes_of(STUDENT, 400, np.ptp(Z, axis=0), 1e-3))
    found, other = (np.abs(one.sums(W) / exact[0] - 1).max() for one in (split, whole))
    assert found <= max(1e-3, 1.3 * other)
    found, other = (np.abs(one.pulls(W) - exact[1]).max() for one in (split, whole))
    assert found <= max(1e-3 * exact[0].max(), 1.3 * other)


def test_pulls_of_two_parts_are_the_derivative_of_their_sums():
    """The box must not change with the points: two points at its corners stay."""
    rng = np.random.default_rng(5)
    Z, W = 30 * rng.random((300, 2)), np.ones((300, 1))
    Z[0], Z[1] = 0.0, 30.0
    parts = split_modes(np.ptp(Z, axis=0), 1e-3)
    parts = [replace(part, precision=1e-9) for part in parts]  # transforms without rounding
    pulls = SplitSums(Z, *parts, 1, None).pulls(W)
    for row, axis in ((7, 0), (11, 1), (200, 0)):
        step = np.zeros_like(Z)
        step[row, axis] = 1e-4
        above, below = (SplitSums(Z + sign * step, *parts, 1, None).sums(W).sum() for sign in (1, -1))
        assert -4 * pulls[axis, row, 0] == pytest.approx((above - below) / 2e-4, rel=1e-5, abs=1e-5)


def test_wide_points_of_few_digits_get_two_parts():
    wide, narrow = np.array([240.0, 180.0]), np.array([3.0, 2.0])
    assert len(parts_of(STUDENT, 70_000, wide, 1e-3)) == 2
    assert len(parts_of(STUDENT, 1000, narrow, 1e-3)) == 1
    assert len(parts_of(STUDENT, 70_000, wide, 1e-5)) == 1
    assert len(parts_of(GAUSSIAN, 70_000, wide, 1e-3)) == 1
    assert parts_of(STUDENT, 70_000, np.array([1e300, 1.0]), 1e-3) == ()
    assert parts_of(STUDENT, 1000, np.array([1e5, 1e5]), 1e-3) == ()
    Z = wide * np.random.default_rng(0).random((20_000, 2))
    assert isinstance(fast_sums(Z, STUDENT, tolerance=1e-3), SplitSums)


def test_an_axis_that_hardly_varies_needs_few_modes():
    shape = modes_of(GAUSSIAN, 20_000, np.array([100.0, 1e-3])).shape
    assert shape[1] <= 20
    assert 300 <= shape[0] <= 400


def test_far_outliers_and_many_dimensions_are_left_to_the_tiles():
    Z = np.random.default_rng(4).random((5000, 4))
    assert fast_sums(Z[:, :2], GAUSSIAN) is not None
    assert fast_sums(Z, GAUSSIAN) is None
    assert fast_sums(Z[:, :2], QUARTIC) is None
    Z[0] = 1e6
    assert fast_sums(Z[:, :2], GAUSSIAN) is None
    Z[0] = 1e300
    assert fast_sums(Z[:, :2], GAUSSIAN) is None
    Z[0] = np.nan
    assert fast_sums(Z[:, :2], GAUSSIAN) is None


@pytest.mark.parametrize("q", [1, 2, 3])
def test_few_points_visit_their_pairs_and_many_do_not(q):
    extent = np.full(q, 10.0)
    assert not is_faster(GAUSSIAN, 300, modes_of(GAUSSIAN, 300, extent))
    assert is_faster(GAUSSIAN, 50_000, modes_of(GAUSSIAN, 50_000, extent))


def test_without_the_library_there_is_no_transform(monkeypatch):
    monkeypatch.setattr(gauss_transform, "library", lambda: None)
    assert fast_sums(np.random.default_rng(5).random((5000, 2)), GAUSSIAN) is None

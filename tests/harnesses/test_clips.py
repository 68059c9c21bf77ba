"""Patches of video for ``reproductions.gated_patches``: shifts that are known are found, parts do not overlap."""

from __future__ import annotations

import numpy as np
import pytest

from reproductions.clips import LARGE, Clips, best_shift, by_contrast, shifted, turned


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def frames(rng):
    """A smooth picture that moves two pixels down and one to the left in each of eight frames."""
    spectrum = rng.normal(size=(64, 64)) / (0.05 + np.hypot(*np.meshgrid(*[np.fft.fftfreq(64)] * 2)))
    still = np.real(np.fft.ifft2(spectrum))
    return np.stack([np.roll(still, (2 * t, -t), axis=(0, 1)) for t in range(8)]).astype(np.float32)


@pytest.fixture
def three(frames):
    places = np.column_stack([np.zeros(30, int), np.arange(30) % 6, np.arange(30), 40 - np.arange(30)])
    return [Clips((frames,)).patches(places, later) for later in range(3)]


def test_best_shift_finds_a_known_motion_and_does_it_again(three):
    steps, moved = best_shift(three[0], three[1], three[1])
    np.testing.assert_array_equal(steps, np.tile([2.0, -1.0], (30, 1)))
    inside = np.pad(np.ones((LARGE - 4, LARGE - 4), bool), 2).ravel()
    np.testing.assert_allclose(moved[:, inside], three[2][:, inside], rtol=1e-6)


def test_two_half_steps_smooth_what_one_whole_step_moves(three):
    once = shifted(three[0], 1, 0).reshape(-1, LARGE, LARGE)
    halves = shifted(shifted(three[0], 0.5, 0), 0.5, 0).reshape(-1, LARGE, LARGE)
    middle = once[:, 2:-2]
    np.testing.assert_allclose(halves[:, 2:-2], (once[:, 1:-3] + 2 * middle + once[:, 3:-1]) / 4, atol=1e-5)


def test_a_patch_that_does_not_change_does_not_move(three):
    steps, moved = best_shift(three[0], three[0], three[1])
    assert not steps.any()
    np.testing.assert_array_equal(moved, three[1])


def test_all_frames_of_a_row_are_turned_alike(three):
    before, after = turned(three[:2], seed=0)
    steps, _ = best_shift(before, after, after)
    ways = {tuple(step) for step in steps}
    assert ways == {(y * a, x * b) for y, x in ((2.0, 1.0), (1.0, 2.0)) for a in (-1, 1) for b in (-1, 1)}
    np.testing.assert_array_equal(np.sort(before, axis=1), np.sort(three[0], axis=1))


def test_contrast_is_that_of_the_first_frame(three):
    (before, after), contrast = by_contrast(three[:2])
    assert np.abs(before.mean(axis=1)).max() < 1e-4
    np.testing.assert_allclose((after - before) * contrast, three[1] - three[0], atol=1e-5)


def test_held_out_quarters_share_no_frame_with_what_is_learned_from():
    clip = Clips((np.arange(16.0)[:, None, None],))
    parts = [[set(side.frames[0].ravel()) for side in fold] for fold in clip.folds()]
    assert parts == [[set(range(12)), {12, 13, 14, 15}], [set(range(4, 16)), {0, 1, 2, 3}]]


def test_places_leave_out_cuts(frames, rng):
    cut = np.concatenate([frames[:5], frames[:4].transpose(0, 2, 1) + 30])
    places = Clips((cut,)).places(400, rng)
    assert set(places[:, 1]) == {0, 1, 2, 5, 6}

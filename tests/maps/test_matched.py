"""Offsets of groups by matched rows, and when they are taken instead of means."""

from __future__ import annotations

import numpy as np
import pytest

from sidelight.maps.matched import alignment_score, group_means, matched_offsets


def batches(seed, present, count=50, d=10, shift=2.0):
    """Clusters of rows in groups: ``present`` (groups, clusters) says which are there; groups are shifted."""
    rng = np.random.default_rng(seed)
    present = np.asarray(present, dtype=bool)
    group, kind = np.nonzero(present)
    codes, kinds = np.repeat(group, count), np.repeat(kind, count)
    offsets = rng.normal(size=(len(present), d))
    offsets *= shift / np.linalg.norm(offsets, axis=1, keepdims=True)
    X = rng.normal(size=(len(codes), d)) + 8.0 * np.eye(d)[kinds] + offsets[codes]
    return X, codes, offsets - offsets.mean(axis=0)


def wrong_by(found, shift):
    return np.linalg.norm(found - found.mean(axis=0) - shift)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("present", [[[1, 1, 1, 0], [1, 1, 0, 1]], [[1, 1, 1], [1, 1, 0], [0, 1, 1]]])
def test_kinds_that_a_group_lacks_do_not_move_it(seed, present):
    X, codes, shift = batches(seed, present)
    found = matched_offsets(X, X, codes)
    assert wrong_by(found, shift) < 0.25 * wrong_by(group_means(X, codes), shift)


@pytest.mark.parametrize("seed", range(2))
def test_where_all_kinds_are_everywhere_the_means_stay(seed):
    X, codes, _ = batches(seed, np.ones((2, 3)))
    assert matched_offsets(X, X, codes) is None


def test_of_two_alignments_that_are_as_good_the_smaller_effect_is_taken():
    """Group 1 holds one kind of two: it fits onto either, and onto its own with the smaller effect."""
    X, codes, shift = batches(0, [[1, 1], [1, 0]], shift=1.0)
    found = matched_offsets(X, X, codes)
    assert found is not None
    assert wrong_by(found, shift) < 1.0


def test_the_score_is_zero_for_mixed_groups_and_says_how_far_apart_others_are():
    rng = np.random.default_rng(0)
    X, codes = rng.normal(size=(400, 4)), np.arange(400) % 2
    near, far = (alignment_score(X + step * codes[:, None], codes) for step in (2.0, 20.0))
    assert abs(alignment_score(X, codes)) < 0.05
    assert 0.3 < near < far
    assert alignment_score(np.zeros((10, 2)), np.arange(10) % 2) == 0.0


def test_kinds_of_its_own_do_not_make_a_group_far():
    """A third of the rows of each group has no counterparts; the others are mixed."""
    X, codes, _ = batches(1, [[1, 1, 1, 0], [1, 1, 0, 1]], shift=0.0)
    assert abs(alignment_score(X, codes)) < 0.1


@pytest.mark.parametrize("seed", range(3))
def test_kinds_of_one_group_are_no_effect(seed):
    """Kind 0 is in both groups and unchanged; each group has a kind of its own besides."""
    X, codes, _ = batches(seed, [[1, 1, 0], [1, 0, 1]], shift=0.0)
    found = matched_offsets(X, X, codes)
    assert found is not None
    assert not found.any()


@pytest.mark.thorough
def test_a_cloud_that_sticks_out_of_another_is_not_a_kind_of_its_own():
    """Two crossing ellipses with equal means: the middle of both lies in both, the ends do not."""
    for seed in range(2):
        rng = np.random.default_rng(seed)
        codes = np.arange(160) % 2
        X = rng.normal(size=(160, 4)) * np.where(codes[:, None] == 0, [3, 2.5, 0.2, 0.2], [3, 0.2, 2.5, 0.2])
        found = matched_offsets(X, X, codes)
        assert found is None or found.any()


def in_shares(seed, counts, shift=0.0, d=10, apart=6.0):
    """Kinds of which groups have unequal ``counts`` (groups, kinds); group 1 is shifted by ``shift``."""
    rng = np.random.default_rng(seed)
    counts = np.asarray(counts)
    group, kind = np.indices(counts.shape)
    codes, kinds = np.repeat(group.ravel(), counts.ravel()), np.repeat(kind.ravel(), counts.ravel())
    centres = apart / np.sqrt(2 * d) * rng.normal(size=(counts.shape[1], d))
    offset = rng.normal(size=d)
    offset *= shift / np.linalg.norm(offset)
    return centres[kinds] + rng.normal(size=(len(codes), d)) + codes[:, None] * offset, codes, offset


def moved_wrongly(found, offset):
    return np.linalg.norm(found[1] - found[0] - offset)


def test_means_that_differ_by_shares_of_kinds_are_not_taken():
    """Neither nearness nor held-out rows tell them from matched rows in this draw; kinds that disagree do."""
    X, codes, offset = in_shares(1, [[90, 60, 30], [50, 60, 70]], 0.6)
    found = matched_offsets(X, X, codes)
    assert found is not None
    assert moved_wrongly(found, offset) < 0.5 * moved_wrongly(group_means(X, codes), offset)


def test_unequal_shares_of_kinds_without_an_effect_do_not_move_rows():
    X, codes, _ = in_shares(20, [[90, 60, 30], [60, 60, 60]])
    found = matched_offsets(X, X, codes)
    assert found is not None
    assert not found.any()


@pytest.mark.parametrize("shift", [0.0, 2.0])
def test_equal_shares_keep_their_means(shift):
    X, codes, _ = in_shares(3, [[60, 60, 60], [60, 60, 60]], shift)
    assert matched_offsets(X, X, codes) is None


def test_groups_of_unlike_curves_keep_their_means():
    """Each group is a closed curve of its own: rows are matched, but places on the curves do not agree on an offset."""
    t, rng = np.linspace(0, 2 * np.pi, 60, endpoint=False), np.random.default_rng(0)
    loops = [np.column_stack([np.cos(t), np.sin(t), np.cos(2 * t)]) @ rng.normal(size=(3, 8)) for _ in range(3)]
    X, codes = np.concatenate(loops) + 0.05 * rng.normal(size=(180, 8)), np.repeat(np.arange(3), 60)
    assert matched_offsets(X, X, codes) is None

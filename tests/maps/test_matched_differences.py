"""Differences of matched rows, overall and locally."""

from __future__ import annotations

import numpy as np

from sidelight.maps.matched_differences import local_differences, overall_differences


def matches(seed, moved):
    """Matches of two kinds, far apart, in 30 columns; the difference is noise plus ``moved`` (2,) of the kind."""
    rng = np.random.default_rng(seed)
    kind = np.repeat([0, 1], 100)
    middle = 20.0 * kind[:, None] + rng.normal(size=(200, 30))
    apart = rng.normal(size=(200, 30)) + np.asarray(moved)[kind, None]
    return middle + apart / 2, middle - apart / 2


def test_both_are_about_one_without_a_difference():
    first, second = matches(0, (0.0, 0.0))
    links = np.zeros(200, dtype=int)
    (overall,) = overall_differences(first - second, links)
    local, count = local_differences(first, second, links)
    assert count == 200
    assert 0.5 < overall < 1.7
    assert 0.7 < local < 1.4


def test_kinds_that_differ_in_opposite_ways_are_seen_locally_only():
    first, second = matches(0, (0.7, -0.7))
    links = np.zeros(200, dtype=int)
    (overall,) = overall_differences(first - second, links)
    local, _ = local_differences(first, second, links)
    assert overall < 1.7
    assert local > 8.0


def test_local_differences_are_those_of_a_slow_loop():
    first, second = matches(1, (0.5, 0.0))
    apart, middle = first - second, (first + second) / 2
    slow = []
    for row in middle:
        near = np.argsort(np.linalg.norm(middle - row, axis=1))[:40]
        slow.append(40 * apart[near].mean(axis=0) ** 2 / apart.var(axis=0))
    found, _ = local_differences(first, second, np.zeros(200, dtype=int))
    np.testing.assert_allclose(found, np.mean(slow), rtol=1e-10)


def test_links_of_few_matches_say_nothing():
    first, second = matches(2, (0.0, 0.0))
    links = np.zeros(200, dtype=int)
    links[:10] = 1
    assert local_differences(first, second, links)[1] == 190
    assert len(overall_differences(first - second, links)) == 1
    assert local_differences(first[:5], second[:5], links[:5]) == (np.inf, 0)

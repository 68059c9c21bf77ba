"""Offsets of groups that differ between parts of the data."""

from __future__ import annotations

import numpy as np
import pytest

from sidelight.maps.effect import Effect, subtract_effect
from sidelight.maps.local_offsets import local_offsets

AXES = np.eye(6)


def treated(seed, *, more=4.0, count=120):
    """Two kinds far apart, half of each treated; the treatment moves the first by 3, the second by 3 and ``more``."""
    rng = np.random.default_rng(seed)
    kind, group = np.repeat([0, 1], count), np.arange(2 * count) % 2
    X = rng.normal(size=(2 * count, 6))
    X[:, 0] += 12.0 * kind
    X[:, 1] += 3.0 * group
    X[:, 2] += more * group * kind
    return X, group, kind


def effect_of(X, group):
    """The effect with the offset of the first kind for all, and further offsets of parts."""
    features, offsets = np.eye(2)[group], np.array([[0.0] * 6, [0.0, 3.0, 0.0, 0.0, 0.0, 0.0]])
    local = local_offsets(X - offsets[group], AXES, group)
    assert local is not None
    return Effect(np.eye(2), 0.0, offsets, local), features


def apart(rows, group, kind):
    """Distance of the two groups' means within each kind."""
    return [
        np.linalg.norm(rows[(kind == k) & (group == 0)].mean(0) - rows[(kind == k) & (group == 1)].mean(0))
        for k in (0, 1)
    ]


@pytest.mark.parametrize("seed", range(2))
def test_each_kind_has_the_effect_that_it_has(seed):
    X, group, kind = treated(seed)
    effect, features = effect_of(X, group)
    left = max(apart(X - effect(features), group, kind))
    assert left > 3.0
    assert max(apart(subtract_effect(X, effect, features), group, kind)) < left / 3


def test_the_effect_on_a_row_and_on_what_is_left_of_it_are_the_same():
    X, group, _ = treated(0)
    effect, features = effect_of(X, group)
    rest = subtract_effect(X, effect, features)
    np.testing.assert_allclose(rest + effect.at_rest(rest, features), X, atol=0.04)  # of 4
    alone = np.concatenate([effect.at_rows(X[i : i + 1], features[i : i + 1]) for i in range(5)])
    np.testing.assert_allclose(alone, effect.at_rows(X[:5], features[:5]), rtol=1e-12)


def test_one_offset_is_enough_where_kinds_have_the_same_effect():
    X, group, _ = treated(0, more=0.0)
    rest = X - 3.0 * group[:, None] * np.eye(6)[1]
    assert local_offsets(rest, AXES, group) is None


def test_two_kinds_of_which_each_group_has_one_are_not_brought_together():
    """Kind 0 is in both groups; kind 1 in group 0 only and kind 2 in group 1 only, as far apart as from kind 0."""
    rng = np.random.default_rng(0)
    kind, group = np.repeat([0, 0, 1, 2], 80), np.repeat([0, 1, 0, 1], 80)
    rest = rng.normal(size=(320, 6)) + 10.0 * np.eye(6)[kind]
    assert local_offsets(rest, AXES, group) is None


def test_the_order_of_the_rows_does_not_matter():
    X, group, _ = treated(1)
    order = np.random.default_rng(0).permutation(len(X))
    one, _ = effect_of(X, group)
    other, _ = effect_of(X[order], group[order])
    features = np.eye(2)[group]
    np.testing.assert_allclose(other.at_rows(X, features), one.at_rows(X, features), atol=1e-8)

"""Intervals around rows that are kept and changed as little as their new group asks for."""

from __future__ import annotations

import numpy as np
import pytest

from sidelight.maps.smallest_change import smallest_change

_CHANGED = 40


def _worn(seed, *, own, d=400, n=200):
    """A change of bare rows, learned from some of them and from worn ones; new bare rows, their places and truth.

    Worn rows have a shift of 40 columns, and one of six patterns there, ``own`` times a size of theirs.
    """
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n + 100, 12))
    X = Z @ rng.normal(size=(12, d)) / np.sqrt(12) + 0.1 * rng.normal(size=(n + 100, d))
    patterns = np.zeros((6, d))
    patterns[:, :_CHANGED] = rng.normal(size=(6, _CHANGED))
    change = own * rng.uniform(0.6, 1.4, size=(len(X), 1)) * patterns[rng.integers(6, size=len(X))]
    change[:, :_CHANGED] += rng.choice([-1.0, 1.0], size=_CHANGED)
    worn = np.flatnonzero(rng.random(n) < 0.4)
    bare, places = np.setdiff1d(np.arange(n), worn), Z[:, :2]
    learned = smallest_change(X[bare], places[bare], (X + change)[worn], places[worn])
    return learned, X[n:], places[n:], (X + change)[n:]


@pytest.mark.thorough
@pytest.mark.parametrize("own", [0.3, 1.0])
def test_intervals_hold_what_a_row_would_have_had_in_the_new_group(own):
    shares = []
    for seed in range(6):
        learned, rows, places, truth = _worn(seed, own=own)
        inside = np.abs(learned(rows, places) - truth) <= learned.half_widths(0.9)
        shares.append([inside[:, :_CHANGED].mean(), inside.mean()])
    changed, everywhere = np.mean(shares, axis=0)
    assert changed > 0.8  # columns that change; measured 0.86 and 0.90
    assert everywhere > 0.9


def test_intervals_are_wide_where_the_group_differs_and_narrow_elsewhere():
    learned, *_ = _worn(0, own=1.0)
    half = learned.half_widths(0.9)
    assert half[:_CHANGED].min() > 2.0 * np.median(half[_CHANGED:])


def test_a_higher_level_has_wider_intervals():
    learned, *_ = _worn(0, own=1.0)
    assert (learned.half_widths(0.95) > learned.half_widths(0.5)).all()


def test_with_more_rows_than_columns_intervals_hold_the_shift():
    learned, rows, places, truth = _worn(0, own=0.0, d=50, n=400)
    assert (np.abs(learned(rows, places) - truth) <= learned.half_widths(0.9)).mean() > 0.9

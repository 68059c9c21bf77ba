"""A sample and its numbers: the same picked or met, drawn evenly, in the order of the rows."""

from __future__ import annotations

import numpy as np

from sidelight.rows import as_rows, drawn, row_keys, sampled_numbers, sampled_rows


def test_rows_met_on_a_walk_are_those_picked_by_number():
    X = np.random.default_rng(0).normal(size=(5000, 2))
    rows = as_rows(lambda: (X[start : start + 77] for start in range(0, 5000, 77)), owner="Test")
    found, numbers = sampled_rows(rows.blocks(), 400, 1)
    np.testing.assert_array_equal(numbers, sampled_numbers(5000, 400, 1))
    np.testing.assert_array_equal(found, X[numbers])
    np.testing.assert_array_equal(numbers, drawn(400, np.arange(5000), row_keys(1, 0, 5000))[0])


def test_numbers_are_drawn_evenly_from_all_rows():
    numbers = sampled_numbers(300_000, 30_000, 0)
    assert len(np.unique(numbers)) == 30_000
    counts = np.histogram(numbers, bins=10, range=(0, 300_000))[0]
    assert np.abs(counts - 3000).max() < 250

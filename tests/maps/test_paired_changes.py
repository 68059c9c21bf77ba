"""Widths from individuals that were seen in both groups hold what they say of new individuals."""

from __future__ import annotations

import numpy as np
import pytest

from sidelight.maps.paired_changes import PairedErrors, individuals_needed, paired_errors


def test_a_level_needs_so_many_individuals():
    assert [individuals_needed(level) for level in (0.5, 0.8, 0.875, 0.9, 0.95, 0.99)] == [2, 4, 7, 9, 19, 99]


def test_one_entry_of_each_individual_is_conformal_prediction():
    """The k-th smallest of K errors, k = level (K + 1), without a scale that differs between individuals."""
    errors = np.random.default_rng(0).permutation(np.arange(1.0, 100.0))[:, None]
    found = PairedErrors(errors, np.arange(99), np.array([1e12]))  # the prior is all of the scale
    scaled = found.half_widths(0.9)[0]
    assert np.count_nonzero(errors <= scaled) in (90, 91)


@pytest.mark.parametrize(("individuals", "columns"), [(10, 200), (40, 3), (40, 200)])
def test_a_share_of_the_entries_of_new_individuals_is_within(individuals, columns):
    rng, shares = np.random.default_rng(1), []
    for _ in range(60):
        sizes = rng.gamma(3.0, size=(individuals + 50, 1)) * np.linspace(0.5, 2.0, columns)
        errors = np.abs(sizes * rng.normal(size=sizes.shape))
        half = PairedErrors(errors[:individuals], np.arange(individuals), np.ones(columns)).half_widths(0.9)
        shares.append((errors[individuals:] <= half).mean())
    assert abs(np.mean(shares) - 0.9) < 0.015


def test_an_individual_with_many_pairs_counts_once():
    rng = np.random.default_rng(2)
    errors = np.concatenate([np.full((500, 4), 9.0), rng.uniform(size=(20, 4))])
    owner = np.concatenate([np.zeros(500, dtype=int), np.arange(1, 21)])
    assert PairedErrors(errors, owner, np.ones(4)).half_widths(0.8).max() < 4.0


def test_a_column_without_errors_has_no_width():
    errors = np.abs(np.random.default_rng(3).normal(size=(12, 3)))
    errors[:, 1] = 0.0
    half = PairedErrors(errors, np.arange(12), np.array([1.0, 0.0, 1.0])).half_widths(0.9)
    assert half[1] == 0.0
    assert (half[[0, 2]] > 0).all()
    assert (PairedErrors(np.zeros((12, 3)), np.arange(12), np.ones(3)).half_widths(0.9) == 0).all()


def test_individuals_in_one_group_alone_are_no_pairs():
    rng = np.random.default_rng(4)
    rows, places, new = rng.normal(size=(60, 5)), rng.normal(size=(60, 2)), np.arange(60) >= 30
    who = np.where(new, np.arange(60) - 30, np.arange(60))
    who[:18] += 100  # the first 18 of the first group are nobody of the second
    found = paired_errors(rows, places, who, ~new, new)
    assert found.n_individuals == 12
    assert found.errors.shape == (12, 5)
    assert paired_errors(rows, places, np.arange(60), ~new, new).n_individuals == 0


def test_a_lender_does_not_lend_to_itself():
    """An individual whose change nobody else has is not foreseen from its own row."""
    rng = np.random.default_rng(5)
    base, worn = rng.normal(size=(15, 40)), rng.normal(size=(15, 40)) * (np.arange(40) < 8)
    rows, new = np.concatenate([base, base + worn]), np.repeat([False, True], 15)
    found = paired_errors(rows, np.tile(rng.normal(size=(15, 2)), (2, 1)), np.tile(np.arange(15), 2), ~new, new)
    assert found.errors[:, :8].mean() > 0.5 * np.abs(worn[:, :8]).mean()

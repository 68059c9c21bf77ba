"""Entries removed from tables, and the codes of categories that imputers are given, in the benchmark of imputation."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from benchmarks.imputation_tables import MECHANISMS, entry_errors, remove
from benchmarks.imputers import by_codes, by_indicators, simple


def mixed(n=400):
    rng = np.random.default_rng(0)
    words = np.array(["a", "b", "c"])[rng.integers(3, size=n)]
    return pd.DataFrame({"x": rng.normal(size=n), "y": rng.exponential(size=n), "kind": words, "z": rng.normal(size=n)})


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_removed_entries_leave_an_entry_in_each_row_and_are_the_same_for_a_seed(mechanism):
    frame = mixed()
    hidden = remove(frame, 0.5, mechanism, 3)
    assert not hidden.all(axis=1).any()
    np.testing.assert_array_equal(hidden, remove(frame, 0.5, mechanism, 3))
    touched = hidden.any(axis=0)
    assert touched.sum() == (2 if mechanism == "by another" else 4)
    assert hidden[:, touched].mean() == pytest.approx(0.5, abs=0.08)


def test_large_values_are_removed_more_often_by_themselves():
    frame = mixed()
    hidden = remove(frame, 0.3, "by itself", 0)
    large = (frame.y > frame.y.median()).to_numpy()
    assert hidden[large, 1].mean() > 1.5 * hidden[~large, 1].mean()


@pytest.mark.parametrize("weighted", [True, False])
def test_codes_leave_observed_entries_as_they_are(weighted):
    frame = mixed()
    pd.testing.assert_frame_equal(by_indicators(frame, lambda A: A, weighted=weighted), frame)
    pd.testing.assert_frame_equal(by_codes(frame, lambda A: A), frame)


def test_errors_are_those_of_removed_entries():
    frame = mixed()
    hidden = remove(frame, 0.3, "at random", 0)
    squares, wrong = entry_errors(simple(frame.mask(hidden), 0), frame, hidden)
    assert (len(squares), len(wrong)) == (hidden[:, [0, 1, 3]].sum(), hidden[:, 2].sum())
    assert squares.mean() == pytest.approx(1.0, abs=0.2)
    assert wrong.mean() == pytest.approx(2 / 3, abs=0.12)
    assert [part.sum() for part in entry_errors(frame, frame, hidden)] == [0, 0]


def test_a_category_is_decoded_from_its_largest_indicator():
    frame = pd.DataFrame({"kind": ["a", "b", "c", None], "x": [0.0, 1.0, 2.0, 3.0]})

    def fill(A):
        return np.where(np.isnan(A), A[1], A)

    assert by_indicators(frame, fill, weighted=True)["kind"].tolist() == ["a", "b", "c", "b"]
    assert by_indicators(frame, fill)["kind"].tolist() == ["a", "b", "c", "b"]
    assert by_codes(frame, fill)["kind"].tolist() == ["a", "b", "c", "b"]

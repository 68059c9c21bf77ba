"""Actions: labels to steps, cuts of rows, and what is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sidelight.side.actions import Actions, as_actions


def test_labels_at_rows_become_steps_to_the_next_row():
    actions = as_actions(np.array(["b", "a", "b", None], dtype=object), 4)
    np.testing.assert_array_equal(actions.steps, [[0, 1], [1, 2], [2, 3]])
    assert actions.names == ("a", "b")
    assert actions.labels.tolist() == ["b", "a", "b"]


def test_one_label_less_than_rows_is_the_same():
    np.testing.assert_array_equal(as_actions(["b", "a"], 3).steps, as_actions(["b", "a", None], 3).steps)


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, ""])
def test_a_missing_label_ends_a_trajectory(missing):
    actions = as_actions(np.array(["a", missing, "a", missing], dtype=object), 4)
    np.testing.assert_array_equal(actions.steps, [[0, 1], [2, 3]])


def test_numbers_series_and_categories_are_labels_too():
    assert as_actions([3, 1, 3], 4).names == (1, 3)
    assert as_actions(pd.Series([1.0, 2.0, np.nan]), 3).names == (1.0, 2.0)
    assert as_actions(pd.Series(["x", "y", None], dtype="category"), 3).names == ("x", "y")


def test_rows_of_one_trajectory_follow_each_other_in_their_order():
    actions = as_actions(["a", "b", "a", "b", "a", "b"], 6, trajectory=[0, 1, 0, 1, 0, 1])
    np.testing.assert_array_equal(actions.steps, [[0, 2], [1, 3], [2, 4], [3, 5]])
    assert actions.labels.tolist() == ["a", "b", "a", "b"]


def test_within_a_trajectory_a_missing_label_is_a_step_of_unknown_action():
    actions = as_actions(["a", None, "a", None], 4, trajectory=np.zeros(4))
    assert actions.labels.tolist() == ["a", None, "a"]
    assert as_actions(None, 3, trajectory=[0, 0, 1]).codes.tolist() == [-1]
    assert len(as_actions(None, 3).steps) == 0


@pytest.mark.parametrize("rows", [[0, 1, 3, 4], np.array([True, True, False, True, True])])
def test_a_cut_keeps_the_steps_whose_ends_are_both_there(rows):
    cut = as_actions(["a", "b", "a", "b"], 5)[rows]
    assert cut.shape == (4,)
    np.testing.assert_array_equal(cut.steps, [[0, 1], [2, 3]])
    assert cut.labels.tolist() == ["a", "b"]
    assert cut.names == ("a", "b")


def test_steps_cannot_be_changed_afterwards():
    with pytest.raises(ValueError, match="read-only"):
        as_actions(["a"], 2).steps[0, 0] = 1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: as_actions(["a"] * 7, 5), r"actions=7 entries does not match the 5 rows of X\. Give one label"),
        (lambda: as_actions(np.ones((5, 2)), 5), r"actions=array of shape \(5, 2\) does not match the 5 rows"),
        (lambda: as_actions(3, 5), r"actions=3 does not match the 5 rows"),
        (lambda: as_actions(["a", 1, "b"], 4), "mixes text and numbers"),
        (lambda: as_actions(["a", "b"], 3, trajectory=[0, 0]), r"trajectory=array of shape \(2,\) does not match"),
        (lambda: as_actions(["a", "b"], 3, trajectory=[0, None, 0]), "the name at row 1 is missing"),
        (lambda: as_actions(as_actions(["a"], 2), 2, trajectory=[0, 0]), "Leave trajectory out"),
        (lambda: as_actions(["a"], 2).validate(3), "n_samples=2 does not match the 3 rows"),
        (lambda: Actions([[0, 5]], [0], ("a",), 3), "steps=5 points outside the 3 rows"),
        (lambda: Actions([[0, 1]], [1], ("a",), 3), "codes=1 is not a place in the 1 names"),
        (lambda: Actions([[0, 1]], [0, 0], ("a",), 3), "does not match 1 step"),
        (lambda: Actions([0, 1], [0], ("a",), 3), "two row numbers a line"),
    ],
)
def test_what_is_wrong_is_said(make, message):
    with pytest.raises(ValueError, match=message):
        make()

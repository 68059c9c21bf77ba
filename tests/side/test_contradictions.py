"""What cannot be meant is said with its rows; labels become codes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sidelight import Pairs
from sidelight.side.contradictions import check_distances, distinct_pairs, listed, refuse_contradictions
from sidelight.side.labels import label_codes


def test_a_pair_said_twice_in_either_order_is_warned_of_and_counts_once():
    with pytest.warns(UserWarning, match=r"M: same=\(1, 4\) occurs more than once and counts once\. Give each"):
        kept = distinct_pairs("M", "same", [[4, 1], [2, 0], [1, 4]], 5)
    assert kept.index.tolist() == [[1, 4], [0, 2]]


def test_a_row_with_itself_is_refused():
    with pytest.raises(ValueError, match=r"M: different=\(3, 3\) pairs a row with itself\."):
        distinct_pairs("M", "different", [[0, 1], [3, 3]], 5)


def test_a_row_out_of_range_is_named():
    with pytest.raises(ValueError, match=r"index=5 points outside the 5 rows"):
        distinct_pairs("M", "same", [[0, 5]], 5)


def test_a_contradiction_is_refused_with_its_rows_whatever_their_order():
    same, different = (distinct_pairs("M", name, p, 9) for name, p in (("same", [[8, 2]]), ("different", [[2, 8]])))
    with pytest.raises(ValueError, match=r"M: same=\(2, 8\) is among the pairs of different too\. Decide"):
        refuse_contradictions("M", same, different)
    refuse_contradictions("M", same, distinct_pairs("M", "different", [[2, 7]], 9))


def test_many_rows_are_shortened():
    assert listed(np.arange(14).reshape(7, 2)).endswith("(8, 9) and 2 more")


def test_distances_come_beside_the_pairs_or_with_them():
    index, values = [[0, 1], [2, 3]], [1.5, 0.0]
    for found, distances in (
        check_distances("M", index, values, 4),
        check_distances("M", Pairs(index, 4, values), None, 4),
    ):
        assert found.index.tolist() == index
        assert distances.tolist() == values


@pytest.mark.parametrize(
    ("distances", "message"),
    [
        ([1.0], r"distances=array of shape \(1,\) does not match the 2 pairs"),
        ([1.0, -2.0], r"distances=-2\.0 for rows \(2, 3\) is not a distance"),
        ([np.nan, 1.0], r"distances=nan for rows \(0, 1\) is not a distance"),
        (None, r"distances=None leaves the pairs without a distance"),
    ],
)
def test_bad_distances_are_refused_with_their_rows(distances, message):
    with pytest.raises(ValueError, match=message):
        check_distances("M", [[0, 1], [2, 3]], distances, 4)


def test_values_of_pairs_are_cut_with_them():
    pairs = Pairs([[0, 3], [1, 2], [3, 4]], 5, values=[0.3, 1.2, 3.4])
    taken = pairs[[3, 0, 4]]
    assert taken.index.tolist() == [[1, 0], [0, 2]]
    assert taken.values.tolist() == [0.3, 3.4]
    with pytest.raises(ValueError, match="read-only"):
        pairs.values[0] = 7
    with pytest.raises(ValueError, match=r"values=array of shape \(1,\) does not match the 2 pairs"):
        Pairs([[0, 1], [1, 2]], 3, values=[1.0])


def test_labels_of_any_kind_become_codes_with_gaps():
    assert label_codes("M", ["b", None, "a"], 3)["y"].tolist() == [1, -1, 0]
    assert label_codes("M", np.array([2.0, np.nan, 1.0]), 3)["y"].tolist() == [1, -1, 0]
    table = label_codes("M", pd.DataFrame({"beard": [0, 1], "who": ["x", "x"]}), 2)
    assert {name: codes.tolist() for name, codes in table.items()} == {"beard": [0, 1], "who": [0, 0]}
    assert list(label_codes("M", np.zeros((2, 2), dtype=int), 2)) == ["y0", "y1"]
    assert label_codes("M", np.array([1, "a", 1], dtype=object), 3)["y"].tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0.1, 0.2, 0.7], r"M: y=numbers holds quantities in 'y', and labels are names"),
        ([0, 1], r"M: y=array of 2 rows does not match the 3 rows of X"),
        (np.zeros((3, 1, 1)), r"M: y=array of 3 dimensions is neither one label per row nor a table"),
    ],
)
def test_labels_that_are_none_are_refused(labels, message):
    with pytest.raises(ValueError, match=message):
        label_codes("M", labels, 3)

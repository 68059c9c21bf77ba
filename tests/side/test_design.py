"""Designs that cannot be separated are said before the fit, with the columns and values."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from sidelight import KernelInformationEmbedding
from sidelight.base.warnings import DesignWarning
from sidelight.side.design import warn_of_design, warn_of_kept
from sidelight.side.given import Given


def said(given):
    """Messages about a design of 15 rows for each entry."""
    return messages(warn_of_design, given)


def messages(function, *tables):
    read = []
    for table in tables:
        repeated = {name: np.repeat(np.asarray(entries, dtype=object), 15) for name, entries in table.items()}
        n = len(next(iter(repeated.values())))
        columns = Given.learn("Model", repeated, n)
        read += [columns, columns.encode("Model", repeated, n)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function("Model", *read)
    assert all(issubclass(one.category, DesignWarning) for one in caught)
    return [str(one.message) for one in caught]


def test_a_column_with_one_value_only_is_named():
    batch, dose = list("ab"), [1.5, 1.5]
    for column in (["x", "x"], dose):
        (text,) = said({"batch": batch, "lane": column})
        assert "given='lane' has the same value in every row" in text
    assert "same value" not in said({"batch": batch, "dose": [1.5, 2.0]})[0]


def test_two_columns_that_are_the_same_partition_are_named_with_their_values():
    (message,) = said({"batch": ["r1", "r2", "r3"], "condition": ["ctrl", "stim", "drug"]})
    assert "'batch' and 'condition' split the rows in the same way ('r1' with 'ctrl', 'r2' with 'stim'" in message
    assert "Leave one of them out" in message


@pytest.mark.parametrize("turned", [False, True])
def test_a_column_within_another_is_named_whatever_the_order(turned):
    columns = {"donor": ["d1", "d2", "d3", "d4"], "condition": ["ctrl", "ctrl", "stim", "stim"]}
    (message,) = said(dict(reversed(columns.items())) if turned else columns)
    assert "each value of 'donor' occurs with one value of 'condition' only ('d1' with 'ctrl'" in message
    assert "Leave 'condition' out, which 'donor' factors out as well" in message


def test_blocks_of_the_cross_table_are_named():
    (message,) = said({"run": [1, 1, 2, 2, 3, 3], "dose": ["0", "1", "0", "1", "2", "3"]})
    assert "(1, 2 with '0', '1'; 3 with '2', '3')" in message


def test_empty_cells_of_a_connected_cross_table_are_no_matter():
    assert said({"run": ["a", "a", "b", "b", "c"], "dose": ["0", "1", "1", "2", "2"]}) == []


def test_a_number_that_is_constant_within_a_category_is_named():
    (message,) = said({"donor": ["d1", "d2", "d3", "d4"], "age": [31.5, 44.0, 44.0, 60.0]})
    assert "each value of 'donor' occurs with one value of 'age' only ('d1' with 31.5" in message


def test_numbers_of_their_own_in_each_row_say_nothing():
    rng = np.random.default_rng(0)
    table = {"batch": np.repeat(["a", "b"], 30), "mito": rng.normal(size=60), "score": rng.normal(size=60)}
    columns = Given.learn("Model", table, 60)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_design("Model", columns, columns.encode("Model", table, 60))


def test_rows_with_a_missing_entry_are_left_out_of_the_comparison():
    (message,) = said({"batch": ["a", "a", "b", "b"], "condition": ["c", "c", "d", None]})
    assert "split the rows in the same way" in message


def test_groups_of_fewer_than_ten_rows_are_named_with_their_number():
    batch = np.repeat(["a", "b", "c"], [40, 9, 12])
    columns = Given.learn("Model", {"batch": batch}, 61)
    with pytest.warns(DesignWarning, match=r"has 1 of 3 groups with fewer than 10 rows \('b' \(9 rows\)\)"):
        warn_of_design("Model", columns, columns.encode("Model", {"batch": batch}, 61))


def test_what_is_kept_is_said_to_go_with_what_is_given():
    given = {"donor": ["d1", "d2", "d3", "d4"]}
    (within,) = messages(warn_of_kept, given, {"condition": ["ctrl", "ctrl", "stim", "stim"]})
    assert "keep='condition' has one value only in each 'donor' ('d1' with 'ctrl'" in within
    (same,) = messages(warn_of_kept, given, {"plate": ["p1", "p2", "p3", "p4"]})
    assert "splits the cells as 'donor' does" in same
    (inside,) = messages(warn_of_kept, {"batch": ["a", "a", "b", "b"]}, {"type": ["T", "B", "NK", "mono"]})
    assert "has values that occur in one 'batch' each ('B' with 'a'" in inside
    assert messages(warn_of_kept, given, {"type": ["T", "T", "T", "B"]}) != []
    assert messages(warn_of_kept, {"batch": ["a", "a", "b", "b"]}, {"type": ["T", "B", "T", "mono"]}) == []


def test_columns_that_determine_what_is_kept_together_are_named_together():
    given = {"batch": ["a", "a", "b", "b"], "sex": ["f", "m", "f", "m"]}
    (message,) = messages(warn_of_kept, given, {"condition": ["ctrl", "stim", "stim", "ctrl"]})
    assert "'batch × sex'" in message


def test_a_number_that_goes_with_what_is_kept_is_named_with_its_share():
    types = np.repeat(["B", "mono"], 60)
    percent = np.where(types == "B", 30.0, 20.0) + np.random.default_rng(0).normal(scale=2.0, size=120)
    for given, kept, message in (
        ({"pct_ribo": percent}, {"type": types}, r"keep='type' goes with 'pct_ribo': 8\d% of 'pct_ribo' is between"),
        ({"type": types}, {"pct_ribo": percent}, r"keep='pct_ribo' goes with 'type': 8\d% of its variance is between"),
    ):
        read = []
        for table in (given, kept):
            columns = Given.learn("Model", table, 120)
            read += [columns, columns.encode("Model", table, 120)]
        with pytest.warns(DesignWarning, match=message) as seen:
            warn_of_kept("Model", *read)
        assert len(seen) == 1


def test_the_model_warns_before_it_optimises():
    rng = np.random.default_rng(0)
    seen = []

    def stop(state):
        seen.append(state)
        return True

    X, batch = rng.normal(size=(60, 4)), np.repeat(["a", "b", "c"], 20)
    table = {"batch": batch, "condition": np.where(batch == "a", "ctrl", "stim")}
    with warnings.catch_warnings():
        warnings.simplefilter("error", DesignWarning)
        with pytest.raises(DesignWarning, match="KernelInformationEmbedding: given='batch' and 'condition'"):
            KernelInformationEmbedding(callback=stop).fit(X, given=table)
    assert seen == []

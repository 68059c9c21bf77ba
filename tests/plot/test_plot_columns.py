"""How a column is read: categories or numbers, and what is missing."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sidelight.plot._colouring import MOST_LEVELS, Categories, Numbers, column_of


@pytest.mark.parametrize(
    ("values", "levels"),
    [
        (["b", "a", None, "b"], ("a", "b")),
        ([True, False, True, True], ("False", "True")),
        ([10, 9, 2, 2], ("2", "9", "10")),
        (np.array(["x", "y", "x", "y"]), ("x", "y")),
        (pd.Series(["x", None, "y", "x"]), ("x", "y")),
        (pd.Categorical(["low", "high", "low", None], categories=["low", "mid", "high"]), ("low", "high")),
        (pd.Series(["low", "high", "low", None], dtype="category"), ("high", "low")),
        (pl.Series(["x", "y", None, "x"]), ("x", "y")),
    ],
)
def test_text_booleans_categories_and_few_integers_are_categories(values, levels):
    column = column_of(values, 4)
    assert isinstance(column, Categories)
    assert column.levels == levels


@pytest.mark.parametrize(
    "values",
    [
        [0.5, None, 2.0],
        np.array([0.5, np.nan, 2.0], dtype=np.float32),
        pd.Series([0.5, None, 2.0]),
        pd.Series([0.5, None, 2.0], dtype="Float64"),
        pl.Series([0.5, None, 2.0]),
        [0.5, np.inf, 2.0],
    ],
)
def test_numbers_keep_their_values_and_what_is_missing_or_infinite_is_nan(values):
    column = column_of(values, 3)
    assert isinstance(column, Numbers)
    np.testing.assert_array_equal(column.values, [0.5, np.nan, 2.0])
    assert column.limits == (0.5, 2.0)


def test_many_integers_are_numbers_unless_said_otherwise():
    values = np.arange(20)
    assert isinstance(column_of(values, 20), Numbers)
    assert len(column_of(values, 20, categorical=True).levels) == 20


def test_nullable_integers_with_missing_values_are_read():
    column = column_of(pd.Series([1, None, 3], dtype="Int64"), 3)
    assert isinstance(column, Numbers)
    np.testing.assert_array_equal(column.values, [1.0, np.nan, 3.0])


def test_dates_are_numbers_in_days():
    column = column_of(np.array(["2020-01-01", "2020-01-03", "NaT"], dtype="datetime64[D]"), 3)
    assert column.values[1] - column.values[0] == 2.0
    assert np.isnan(column.values[2])


def test_missing_categories_have_no_code():
    assert column_of(["a", None, float("nan"), "b"], 4).codes.tolist() == [0, -1, -1, 1]


def test_the_rarest_of_too_many_categories_share_one():
    values = [f"level {k:02d}" for k in range(60) for _ in range(60 - k)]
    column = column_of(values, len(values))
    assert len(column.levels) == MOST_LEVELS
    assert column.levels[-1] == f"{60 - MOST_LEVELS + 1} others"
    assert column.levels[0] == "level 00"
    assert (column.codes == MOST_LEVELS - 1).sum() == sum(60 - k for k in range(MOST_LEVELS - 1, 60))


@pytest.mark.parametrize("values", [[1, 2], [[1, 2, 3]], []])
def test_wrong_length_gets_a_sentence(values):
    with pytest.raises(ValueError, match=r"column: mass=shape .* does not give 3 rows one value each"):
        column_of(values, 3, name="mass")


def test_the_name_of_a_column_is_no_column():
    with pytest.raises(ValueError, match=r"colour='price' is a text, not one value a row\. Pass the column itself"):
        column_of("price", 4)

"""What columns are understood as: by table, and by oddity."""

from __future__ import annotations

import datetime as dt
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from expected_kinds import FILES, KINDS, table

from sidelight import TableEncoder
from sidelight.tables._column_kinds import understand
from sidelight.tables._date_text import date_format_of
from sidelight.tables._identifiers import says_identifier
from sidelight.tables._number_text import as_numbers, number_format_of, written_number

each = pytest.mark.parametrize("name", KINDS)


def kind_of(values, name="column", **options):
    return understand(pd.DataFrame({name: values}), **options)[0]


def test_every_table_has_an_expectation_and_is_small():
    files = sorted(FILES.glob("*.csv"))
    assert [file.stem for file in files] == sorted(KINDS)
    assert len(files) >= 20
    assert all(file.stat().st_size < 60_000 for file in files)


@each
def test_columns_of_tables_are_understood(name):
    found = {one.name: one.kind if one.used else f"({one.kind})" for one in understand(table(name))}
    assert found == KINDS[name]


@each
def test_columns_are_understood_alike_by_every_library(name):
    frame = table(name)
    assert understand(pl.from_pandas(frame)) == understand(frame)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("rownames", np.sort(np.random.default_rng(0).choice(900, 60, replace=False))),
        ("PID", np.random.default_rng(0).permutation(60) + 526_300_000),
        ("id", np.random.default_rng(0).permutation(60)),
        ("customerID", np.random.default_rng(0).permutation(60)),
        ("Unnamed: 0", np.arange(60)),
        ("Unnamed: 0", np.random.default_rng(0).permutation(18_000)[:60]),
        ("Unnamed: 0", np.r_[np.arange(40), np.arange(20)]),
        ("Unnamed: 0", np.tile(np.arange(4), 15)),
        ("", np.random.default_rng(0).choice(60, 60)),
        ("x", np.arange(60)),
        ("x", np.arange(1, 61)),
        ("plot", np.arange(700, 760)),
        ("plot", np.delete(np.arange(1, 61), [4, 9, 30])),
        ("id", np.r_[np.arange(1.0, 60), np.nan]),
        ("person", np.repeat(np.arange(1, 21), 3)),
        ("code", [f"{i * 7919:08x}-11aa-22bb-33cc-{i:012x}" for i in range(60)]),
        ("sample", [f"S{i:03d}" for i in range(60)]),
    ],
)
def test_identifiers_are_recognised_by_name_and_by_content(name, values):
    found = kind_of(values, name)
    assert (found.kind, found.used) == ("identifier", False)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("population", np.sort(np.random.default_rng(0).integers(1000, 10**7, 60))[::-1]),
        ("population", np.random.default_rng(0).integers(1000, 10**7, 60)),
        ("year", np.arange(1950, 2010)),
        ("distance", np.arange(60) * 25),
        ("x", np.random.default_rng(0).permutation(60)),
        ("number", np.random.default_rng(0).permutation(60)),
        ("humid", np.random.default_rng(0).permutation(60)),
        ("id", np.random.default_rng(0).normal(size=60)),
        ("age", np.delete(np.arange(18, 80), [4, 9, 30])),
        ("score", np.repeat(np.arange(6), 10)),
    ],
)
def test_whole_numbers_that_happen_to_be_unique_are_numbers(name, values):
    assert kind_of(values, name).kind == "number"


@pytest.mark.parametrize(
    ("texts", "expected", "numbers"),
    [
        (["1", "2.5", "-3e2"], "", [1, 2.5, -300]),
        (["1,5", "-2,25"], "decimal comma", [1.5, -2.25]),
        (["1.234,5", "12"], "decimal comma, thousands dot", [1234.5, 12]),
        (["1,234", "56", "7,890,123.5"], "thousands comma", [1234, 56, 7890123.5]),
        (["1,234", "0,500"], "decimal comma", [1.234, 0.5]),
        (["12.3%", "4%", "n/a"], "percent", [12.3, 4, np.nan]),
        (["$1,234.50", "-$3", "($7)"], "currency $, thousands comma", [1234.5, -3, -7]),
        (["3,50 €", "1.000,00 €"], "currency € behind, decimal comma, thousands dot", [3.5, 1000]),
        (["12 kg", "3.5 kg"], "unit kg", [12, 3.5]),
        (["1 234,5", "7"], "decimal comma, thousands space", [1234.5, 7]),
        (["1\u202f234", "7"], "thousands space", [1234, 7]),
        (["1'234.5", "7"], "thousands apostrophe", [1234.5, 7]),
        (["\u22124", "?", "8"], "", [-4, np.nan, 8]),
    ],
)
def test_numbers_written_as_text_are_read_and_written(texts, expected, numbers):
    assert number_format_of(texts) == expected
    np.testing.assert_array_equal(as_numbers(texts, expected), numbers)
    again = [written_number(value, expected, 3) for value in numbers if value == value]
    np.testing.assert_array_equal(as_numbers(again, expected), [value for value in numbers if value == value])


@pytest.mark.parametrize(
    "texts", [["a", "1"], ["007", "12"], ["1,2,3", "4"], ["1.2.3"], ["?"], ["12 kg", "3 lb"], ["--", ""]]
)
def test_other_texts_are_no_numbers(texts):
    assert number_format_of(texts) is None


def test_an_entry_that_is_no_number_is_named_with_its_column_and_row():
    with pytest.raises(ValueError, match=r"column 'wage'='many' in row 2 cannot be read as a number \(decimal comma\)"):
        as_numbers(["1,5", "2", "many"], "decimal comma", column="wage")


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["2024-01-31"], "%Y-%m-%d"),
        (["2024-01-31T10:00:00Z"], "%Y-%m-%dT%H:%M:%SZ"),
        (["2024-01-31 10:00+02:00"], "iso"),
        (["2024-01-31", "2024-01-31 10:00"], "iso"),
        (["31.01.2024"], "%d.%m.%Y"),
        (["01/02/2024"], "%m/%d/%Y"),
        (["01/02/2024", "13/02/2024"], "%d/%m/%Y"),
        (["Jan 1 2000"], "%b %-d %Y"),
        (["Jan 01 2000"], "%b %d %Y"),
        (["2024-13-31"], None),
        (["12:30"], None),
    ],
)
def test_dates_written_as_text_are_recognised(texts, expected):
    assert date_format_of(texts) == expected


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([True, "no", None, "yes", False], "boolean"),
        ([0, 1, 1, 0], "boolean"),
        ([0.0, 1.0, np.nan], "boolean"),
        ([None, None], "empty"),
        ([np.nan, np.nan], "empty"),
        (["", " "], "empty"),
        ([3, 3, 3], "constant"),
        (["a", "a", None], "constant"),
        (["S", "XL", "M", "S"], "ordinal"),
        ([dt.date(2024, 1, 1), None, dt.date(2023, 1, 1)], "date"),
        (pd.to_timedelta([1, 2, 3], "D"), "number"),
        ([dt.time(10, 30), dt.time(12)], "angle"),
        (pd.Categorical([1, 2, 1, 2]), "category"),
        (pd.Categorical(["lo", "hi"], categories=["lo", "hi"], ordered=True), "ordinal"),
        (["long sentences that say something about what happened here " * 2, "other words " * 9] * 3, "text"),
        (["1", "2", "x", "2", "1", "3", "2"], "category"),
    ],
)
def test_kinds_of_small_columns(values, kind):
    assert kind_of(values).kind == kind


def test_the_reason_names_the_entry_that_makes_text_of_numbers():
    assert kind_of(["1", "2", "three", "2", "1", "4", "5"]).reason.endswith("; text because of 'three'")
    assert kind_of(["1st", "2nd", "3rd", "Crew"] * 3).reason == "4 different words in 12 rows"
    assert kind_of(["+", "-"] * 5).reason == "2 different words in 10 rows"


TENTHS = [f"{k / 10}" for k in range(5, 65)]


def test_a_bound_among_numbers_is_read_as_its_number():
    found = kind_of([*TENTHS, "<0.5", "<0.5", "> 9"])
    assert (found.kind, found.n_missing) == ("number", 0)
    assert found.reason.endswith("; '<0.5' read as 0.5 and 1 more bound")
    frame = pd.DataFrame({"bili": [*TENTHS, "<0.5", "<0.5", "> 9"], "x": np.arange(63.0) % 7})
    encoder = TableEncoder().fit(frame)
    assert encoder.inverse_transform(encoder.transform(frame))["bili"].tolist()[-3:] == ["0.5", "0.5", "9.0"]
    assert encoder.inverse_transform(encoder.transform(frame.head(1).assign(bili="<0.7")))["bili"].tolist() == ["0.7"]


def test_a_word_among_numbers_is_read_as_missing_and_named():
    found = kind_of([*TENTHS, "haemolysed"])
    assert (found.kind, found.n_missing, found.marks) == ("number", 1, ("haemolysed",))
    assert "'haemolysed' read as missing" in found.reason
    frame = pd.DataFrame({"bili": [*TENTHS, "haemolysed"]})
    encoder = TableEncoder().fit(frame)
    assert np.isnan(encoder.transform(frame)[-1, 0])
    assert encoder.inverse_transform(encoder.transform(frame))["bili"].tolist()[:2] == ["0.5", "0.6"]
    with pytest.raises(ValueError, match="'lost' in row 0 cannot be read as a number"):
        encoder.transform(pd.DataFrame({"bili": ["lost"]}))


def test_classes_codes_and_columns_with_many_words_are_not_read_as_numbers():
    assert kind_of(["<18", "18-29", "30-64", "65+"] * 5).kind == "ordinal"
    assert kind_of(["<1", "1", "2", "3"] * 5).kind == "ordinal"
    assert kind_of([*map(str, range(40)), "2A"]).kind != "number"
    assert kind_of([*TENTHS, *["lost", "spilt"] * 5]).kind != "number"


def test_a_column_that_is_said_to_be_numbers_may_have_more_words_and_fewer_numbers():
    found = kind_of(["1", "2", "<3", "lost", "1", "4", "5"], kinds={"column": "number"})
    assert (found.kind, found.n_missing) == ("number", 1)
    assert found.reason == "as you said; '<3' read as 3; 'lost' read as missing"
    with pytest.raises(ValueError, match="cannot be read as a number"):
        kind_of(["a", "b", "1", "c"], kinds={"column": "number"})


def test_of_an_ordinal_column_with_many_levels_the_first_and_the_last_are_listed():
    levels = [f"{k}-{k + 4}" for k in range(0, 100, 5)]
    reason = kind_of(levels * 3).reason
    assert reason == "words in a known order: 0-4, 5-9, 10-14, 15-19, 20-24, ..., 95-99 (20 levels)"


def test_the_user_decides():
    assert kind_of([1, 2, 1, 2], kinds={"column": "category"}).kind == "category"
    dropped = kind_of([1, 2, 1, 2], kinds={"column": "drop"})
    assert (dropped.kind, dropped.used) == ("number", False)
    assert kind_of(np.arange(60), "x", kinds={"x": "number"}).used


def test_kinds_that_do_not_exist_are_refused_with_a_way_out():
    with pytest.raises(ValueError, match=r"kinds='wages' is not a column of the table\. Did you mean 'wage'"):
        kind_of([1, 2], "wage", kinds={"wages": "number"})
    with pytest.raises(ValueError, match=r"kinds=column: 'float' is not a kind of column\. Choose one of 'number'"):
        kind_of([1, 2], kinds={"column": "float"})
    with pytest.raises(ValueError, match="column 'column'='b' in row 1 cannot be read as a number"):
        kind_of(["1", "b"], kinds={"column": "number"})


@pytest.mark.parametrize("name", ["width", "video", "period", "Valid", "idle", "grid", "acid", "humidity", "piano"])
def test_ordinary_words_are_no_names_of_identifiers(name):
    assert not says_identifier(name)


def test_a_point_between_thousands_is_read_by_the_decimal_commas_of_other_columns():
    table = pd.DataFrame({"price": ["1,5", "2,25", "3"] * 4, "amount": ["1.234", "999", "12.000"] * 4})
    price, amount = understand(table)
    assert price.number_format == "decimal comma"
    assert amount.number_format == "decimal comma, thousands dot"
    codes = TableEncoder(scaling="none", tails="keep").fit(table)
    back = codes.inverse_transform(codes.transform(table))
    assert back["amount"].tolist() == table["amount"].tolist()
    pointed = table.assign(rate=["1.5", "2.25", "0.1"] * 4)  # commas and points: nothing can be concluded
    assert [use.number_format for use in understand(pointed)] == ["decimal comma", "", ""]


@pytest.mark.parametrize("values", [np.random.default_rng(0).normal(size=60), np.random.default_rng(0).choice(5, 60)])
def test_a_column_without_a_name_that_numbers_no_rows_is_data(values):
    assert kind_of(values, "Unnamed: 3").used


def test_the_index_that_pandas_writes_is_said_to_be_one():
    said = kind_of(np.random.default_rng(0).permutation(900)[:60], "Unnamed: 0").sentence()
    assert (
        said == "Unnamed: 0: identifier, left out (it has no name and numbers the rows, as the index of a table does)"
    )

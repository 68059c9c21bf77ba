"""Signs for missing entries in columns of words: "?", "-", "n/a"; and whole numbers that gaps make floats."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sidelight import Imputer, TableEncoder
from sidelight.tables._column_kinds import understand


def words(n=60):
    """Columns of words with marks in every seventh row, and a number."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({
        "work": rng.choice(["Private", "Local-gov", "Self"], n),
        "grade": rng.choice(["low", "medium", "high"], n),
        "member": rng.choice(["yes", "no"], n),
        "since": pd.Timestamp("2020-01-01").strftime("%Y-%m-%d"),
        "note": [f"the {i}th row says something else about what happened there, at length" for i in range(n)],
        "age": rng.integers(18, 80, n),
    })  # fmt: skip
    frame["since"] = (pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 90, n), "D")).strftime("%Y-%m-%d")
    frame.iloc[::7, :5] = np.array(["?", "-", "n/a", "?", "--"], dtype=object)
    return frame


MARKED = {"work": "?", "grade": "-", "member": "n/a", "since": "?", "note": "--"}
LIBRARIES = [pd.DataFrame, pl.from_pandas]


@pytest.mark.parametrize("library", LIBRARIES)
def test_marks_in_words_are_missing_entries_and_said_to_be(library):
    uses = {use.name: use for use in understand(library(words()))}
    expected = {"work": "category", "grade": "ordinal", "member": "boolean", "since": "date", "note": "text"}
    assert {name: uses[name].kind for name in expected} == expected
    for name, mark in MARKED.items():
        assert uses[name].n_missing == 9
        assert uses[name].marks == (mark,)
        assert f"{mark!r} read as missing; 9 missing" in uses[name].sentence()


def test_marks_are_missing_in_the_code_and_no_level_of_the_inverse():
    frame = words()
    encoder = TableEncoder().fit(frame)
    A = encoder.transform(frame)
    for block in encoder.blocks_:
        gone = np.isnan(A[:, block.columns]).all(axis=1)
        assert gone.tolist() == [block.name != "age" and row % 7 == 0 for row in range(60)]
    back = encoder.inverse_transform(np.zeros_like(A), probabilities=True)
    assert not any(name.endswith(("_?", "_-")) for name in back.columns)
    assert set(back["work"]) <= {"Private", "Local-gov", "Self"}


def test_signs_that_are_levels_stay_levels_one_row_at_a_time():
    frame = pd.DataFrame({"rhesus": ["+", "-"] * 10, "group": ["A", "B", "?", "0"] * 5})
    encoder = TableEncoder().fit(frame)
    assert [use.n_missing for use in encoder.columns_] == [0, 5]
    whole = encoder.transform(frame)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        single = np.vstack([encoder.transform(frame.iloc[i : i + 1]) for i in range(len(frame))])
        new = encoder.transform(pd.DataFrame({"rhesus": ["-"], "group": ["-"]}))
    np.testing.assert_array_equal(single, whole)
    assert np.isfinite(new[0, 0])
    assert np.isnan(new[0, 2:]).all()
    assert set(encoder.inverse_transform(whole)["rhesus"]) == {"+", "-"}


def test_words_for_nothing_are_levels():
    frame = pd.DataFrame({"airbags": ["none", "driver", "None", "unknown", "NA", "driver"] * 4})
    (use,) = understand(frame)
    assert (use.kind, use.n_missing, use.reason) == ("category", 0, "5 different words in 24 rows")


def test_a_column_of_nothing_but_marks_is_empty():
    (use, _) = understand(pd.DataFrame({"a": ["?", "-", "?"], "b": [1.5, 2, 3]}))
    assert use.sentence() == "a: empty, left out (it has no entry; '-', '?' read as missing)"


def test_a_declared_category_of_a_mark_keeps_its_type():
    frame = words()[["work", "age"]].astype({"work": "category"})
    encoder = TableEncoder().fit(frame)
    back = encoder.inverse_transform(encoder.transform(frame))
    assert back["work"].dtype == frame["work"].dtype
    assert back["work"].isna().tolist() == (frame["work"] == "?").tolist()


@pytest.mark.parametrize("library", LIBRARIES)
def test_marks_are_filled_in(library):
    frame = words().drop(columns="note")
    filled = Imputer("gaussian").fit_transform(library(frame))
    filled = filled if isinstance(filled, pd.DataFrame) else filled.to_pandas()
    assert not filled.isin(["?", "-", "n/a"]).any(axis=None)
    assert not filled.isna().any(axis=None)
    kept = np.arange(60) % 7 > 0
    assert (filled[kept].astype(str) == frame[kept].astype(str)).all(axis=None)


def test_text_with_marks_alone_stays_and_is_warned_of():
    with pytest.warns(UserWarning, match="'note' \\(text\\) cannot be filled"):
        Imputer("gaussian").fit(words())


def test_whole_numbers_with_gaps_come_back_whole():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"ozone": rng.integers(1, 168, 50).astype(float), "wind": rng.normal(size=50), "free": 2.0})
    frame["free"] = rng.integers(0, 9, 50).astype(float)  # no gap: its type was the user's choice
    frame.loc[[3, 9], ["ozone", "wind"]] = np.nan
    encoder = TableEncoder().fit(frame)
    A = encoder.transform(frame) + 0.01
    back = encoder.inverse_transform(A)
    assert back.dtypes.tolist() == frame.dtypes.tolist()
    present = frame["ozone"].notna()
    assert (back["ozone"][present] % 1 == 0).all()
    assert back["ozone"].isna().tolist() == (~present).tolist()
    assert (back["free"] % 1 != 0).all()
    assert (back["wind"][present] % 1 != 0).all()


def test_marks_of_a_real_table_are_gaps_in_numbers_and_in_words():
    cars = pd.read_csv(Path(__file__).parents[2] / "benchmarks" / "table_files" / "imports-85.csv")
    found = {use.name: (use.kind, use.n_missing) for use in understand(cars) if use.marks}
    assert found["num-of-doors"] == ("category", 2)
    assert found["price"] == ("number", 4)
    assert all(use.marks == ("?",) for use in understand(cars) if use.n_missing)

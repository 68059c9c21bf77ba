"""What is known of the rows, of any type, becomes codes and features; nothing is guessed wrongly in silence."""

from __future__ import annotations

import datetime as dt
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import sidelight
from sidelight import Conditioning, KernelInformationEmbedding
from sidelight.base.warnings import DesignWarning
from sidelight.side.given import Given

NAN = float("nan")


def learn(given, n=None, **choices):
    n = len(given) if n is None else n
    found = Given.learn("Model", given, n, **choices)
    return found, found.encode("Model", given, n)


CATEGORIES = {
    "strings": (["b", "a", "b"], ("a", "b"), [1, 0, 1]),
    "string array": (np.array(["b", "a", "b"]), ("a", "b"), [1, 0, 1]),
    "strings and NaN": (["b", NAN, "a"], ("a", "b"), [1, NAN, 0]),
    "strings and None": (["b", None, "a"], ("a", "b"), [1, NAN, 0]),
    "bytes": (np.array([b"b", b"a"]), (b"a", b"b"), [1, 0]),
    "bools": ([True, False, True], (False, True), [1, 0, 1]),
    "bools and None": ([True, None, False], (False, True), [1, NAN, 0]),
    "integers": ([5, 3, 5, 3, 3], (3, 5), [1, 0, 1, 0, 0]),
    "integers and None": ([5, None, 3, 5], (3, 5), [1, NAN, 0, 1]),
    "pandas integers and NA": (pd.Series([5, None, 3], dtype="Int64"), (3, 5), [1, NAN, 0]),
    "polars integers and null": (pl.Series([5, None, 3]), (3, 5), [1, NAN, 0]),
    "pandas strings": (pd.Series(["b", None, "a"]), ("a", "b"), [1, NAN, 0]),
    "pandas string type": (pd.Series(["b", pd.NA, "a"], dtype="string"), ("a", "b"), [1, NAN, 0]),
    "pandas boolean type": (pd.Series([True, pd.NA, False], dtype="boolean"), (False, True), [1, NAN, 0]),
    "pandas categories": (pd.Series(["b", None, "a"], dtype="category"), ("a", "b"), [1, NAN, 0]),
    "pandas categories of numbers": (pd.Series([2.5, NAN, 1.5], dtype="category"), (1.5, 2.5), [1, NAN, 0]),
    "pandas Categorical": (pd.Categorical(["b", None, "a"]), ("a", "b"), [1, NAN, 0]),
    "pandas Index": (pd.Index(["b", "a"]), ("a", "b"), [1, 0]),
    "polars strings": (pl.Series(["b", None, "a"]), ("a", "b"), [1, NAN, 0]),
    "polars categories": (pl.Series(["b", None, "a"], dtype=pl.Categorical), ("a", "b"), [1, NAN, 0]),
    "numbers and text": (np.array([2, "a", 1], dtype=object), (1, 2, "a"), [1, 2, 0]),
    "a column of one": (np.array([["b"], ["a"]]), ("a", "b"), [1, 0]),
}


@pytest.mark.parametrize("name", CATEGORIES)
def test_names_become_categories(name):
    given, categories, codes = CATEGORIES[name]
    found, known = learn(given)
    (column,) = found.columns
    assert column.kind == "category"
    assert column.categories == categories
    assert [type(c) for c in column.categories] == [type(c) for c in categories]
    np.testing.assert_array_equal(known.values[:, 0], codes)
    np.testing.assert_array_equal(known.complete, ~np.isnan(codes))
    assert found.categorical


NUMBERS = {
    "floats": [1.5, 2.5, 4.5],
    "floats and NaN": [1.5, NAN, 4.5],
    "floats and None": [1.5, None, 4.5],
    "pandas floats": pd.Series([1.5, NAN, 4.5]),
    "pandas Float64 and NA": pd.Series([1.5, pd.NA, 4.5], dtype="Float64"),
    "polars floats": pl.Series([1.5, None, 4.5]),
    "many integers": np.arange(60),
    "as many integers as rows": [3, 1, 2],
    "float32": np.array([1, 2], dtype=np.float32),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_quantities_become_numbers(name):
    given = NUMBERS[name]
    found, known = learn(given)
    wanted = np.array([NAN if v is None or v is pd.NA else float(v) for v in given])
    assert found.columns[0].kind == "number"
    np.testing.assert_array_equal(known.values[:, 0], wanted)
    np.testing.assert_array_equal(known.complete, np.isfinite(wanted))
    assert not found.categorical


DATES = {
    "numpy": np.array(["2020-01-01", "NaT", "2020-01-03"], dtype="M8[D]"),
    "pandas": pd.Series(pd.to_datetime(["2020-01-01", None, "2020-01-03"])),
    "pandas with a zone": pd.Series(pd.to_datetime(["2020-01-01", None, "2020-01-03"])).dt.tz_localize("UTC"),
    "polars": pl.Series([dt.date(2020, 1, 1), None, dt.date(2020, 1, 3)]),
}


@pytest.mark.parametrize("name", DATES)
def test_dates_are_days(name):
    found, known = learn(DATES[name])
    assert found.columns[0].kind == "number"
    np.testing.assert_array_equal(known.values[:, 0], [18262.0, NAN, 18264.0])


ORDERED = {
    "pandas series": pd.Series(pd.Categorical(["hi", "lo", None], categories=["lo", "mid", "hi"], ordered=True)),
    "pandas Categorical": pd.Categorical(["hi", "lo", None], categories=["lo", "mid", "hi"], ordered=True),
    "polars Enum": pl.Series(["hi", "lo", None], dtype=pl.Enum(["lo", "mid", "hi"])),
}


@pytest.mark.parametrize("name", ORDERED)
def test_ordered_categories_are_ranks_read_by_value(name):
    found, known = learn(ORDERED[name])
    assert found.columns[0].kind == "number"
    assert found.columns[0].categories == ("lo", "mid", "hi")
    np.testing.assert_array_equal(known.values[:, 0], [2, 0, NAN])
    np.testing.assert_array_equal(found.encode("Model", ["mid", "hi"], 2).values[:, 0], [1, 2])


def test_an_ordered_column_cut_to_fewer_categories_keeps_its_ranks():
    column = pd.Series(pd.Categorical(["lo", "mid", "hi"], categories=["lo", "mid", "hi"], ordered=True))
    found = Given.learn("Model", column, 3)
    cut = column[2:].cat.remove_unused_categories()
    assert found.encode("Model", cut, 1).values[0, 0] == 2


def test_ordinal_numbers_are_ranks():
    _, known = learn([10, 1, 100, 1], kinds="ordinal")
    np.testing.assert_array_equal(known.values[:, 0], [1, 0, 2, 0])
    spacing = np.diff(np.sort(np.unique(known.features[:, 0])))
    np.testing.assert_allclose(spacing[0], spacing[1])


def test_an_angle_is_a_circle():
    _, known = learn([1.0, 359.0, 179.0, 181.0], kinds="angle")
    D = np.linalg.norm(known.features[:, None] - known.features[None], axis=2)
    assert D[0, 1] < 0.02 * D[0, 2]
    np.testing.assert_allclose(D[0, 1], D[2, 3])
    np.testing.assert_allclose(D[0, 1], 2 * np.sqrt(2 / 0.3) * np.sin(np.deg2rad(1.0)))


def test_a_period_is_a_number_and_turns_do_not_count():
    found, known = learn([23.5, 0.5, 12.0], kinds=24)
    np.testing.assert_allclose(found.encode("Model", [23.5 - 24, 0.5 + 240, 36.0], 3).features, known.features)
    assert np.linalg.norm(known.features[0] - known.features[1]) < 0.2 * np.linalg.norm(
        known.features[0] - known.features[2]
    )


def test_features_are_of_unit_size_divided_by_the_bandwidth():
    _, number = learn(np.random.default_rng(0).normal(5, 100, 400))
    np.testing.assert_allclose(number.features.var(), 1 / 0.3)
    _, category = learn(["a", "b", "c"])
    np.testing.assert_allclose(((category.features[0] - category.features[1]) ** 2).sum(), 2.0)


@pytest.mark.parametrize("kind", ["number", 50.0])
def test_a_bandwidth_is_a_difference_in_units_of_the_column(kind):
    values = np.random.default_rng(0).uniform(0, 50, 100)
    values[:2] = 10.0, 13.0
    _, known = learn(values, kinds=kind, bandwidths=3.0)
    np.testing.assert_allclose(((known.features[0] - known.features[1]) ** 2).sum(), 1.0)


def test_a_bandwidth_of_ordered_values_is_in_ranks():
    _, known = learn([1, 10, 100, 1000], kinds="ordinal", bandwidths=2.0)
    np.testing.assert_allclose((known.features[0] - known.features[2]) ** 2, 1.0)


TABLES = {
    "pandas": pd.DataFrame({"who": ["a", "b", "a"], "age": [1.0, NAN, 3.0], "turn": [10.0, 350.0, 20.0]}),
    "polars": pl.DataFrame({"who": ["a", "b", "a"], "age": [1.0, None, 3.0], "turn": [10.0, 350.0, 20.0]}),
    "dict": {"who": ["a", "b", "a"], "age": [1.0, NAN, 3.0], "turn": (10.0, 350.0, 20.0)},
}


@pytest.mark.parametrize("name", TABLES)
def test_tables_are_read_by_column(name):
    found, known = learn(TABLES[name], 3, kinds={"turn": "angle"})
    assert [(c.name, c.kind) for c in found.columns] == [("who", "category"), ("age", "number"), ("turn", "angle")]
    np.testing.assert_array_equal(known.values, [[0, 1, 10], [1, NAN, 350], [0, 3, 20]])
    assert known.complete.tolist() == [True, False, True]
    assert known.features.shape == (3, 5)
    np.testing.assert_array_equal(known.features[[0, 2], :2], [[1, 0], [1, 0]])


def test_a_list_of_rows_keeps_its_numbers_numbers():
    found, known = learn([["a", 1.5], ["b", NAN], ["a", 0.5]])
    assert [c.kind for c in found.columns] == ["category", "number"]
    np.testing.assert_array_equal(known.values, [[0, 1.5], [1, NAN], [0, 0.5]])


def test_types_go_by_place_too():
    for kinds in (["number", "angle"], ("number", "angle"), np.array(["number", "angle"])):
        found, _ = learn(np.array([[1, 2], [3, 4]]), kinds=kinds)
        assert [c.kind for c in found.columns] == ["number", "angle"]


def test_columns_named_by_numbers_take_their_types_by_name():
    found, _ = learn(pd.DataFrame({0: [1, 2], 1: [3, 4]}), 2, kinds={1: "angle"}, bandwidths={0: 2.0})
    assert [c.kind for c in found.columns] == ["category", "angle"]
    assert found.columns[0].bandwidth == 2.0


def test_further_tables_are_read_by_name_whatever_the_order_of_their_columns():
    table = TABLES["pandas"]
    found, known = learn(table, 3)
    again = found.encode("Model", table[["turn", "who", "age"]], 3)
    np.testing.assert_array_equal(again.values, known.values)
    np.testing.assert_array_equal(found.encode("Model", TABLES["polars"], 3).values, known.values)
    by_place = found.encode("Model", table.to_numpy(dtype=object), 3)
    np.testing.assert_array_equal(by_place.values, known.values)


def test_taking_rows_of_known_values():
    _, known = learn(["a", None, "b"])
    taken = known.take(np.array([2, 1]))
    assert taken.complete.tolist() == [True, False]
    np.testing.assert_array_equal(taken.values[:, 0], [1, NAN])


REFUSED = {
    "wrong length": (["a", "b"], 3, {}, r"given=2 entries in 'given' does not match the 3 rows of X\."),
    "wrong length in a table": ({"a": [1, 2, 3], "b": [1]}, 3, {}, r"given=1 entry in 'b' does not match the 3 rows"),
    "empty": ([], 0, {}, "given=column 'given' has no entry at all"),
    "no columns": ({}, 3, {}, "given=no columns says nothing"),
    "a frame without columns": (np.empty((3, 0)), 3, {}, "is neither one column nor a table of columns"),
    "a number": (3.0, 3, {}, "is neither one column nor a table of columns"),
    "one string": ("abc", 3, {}, r"given='abc' is one text, not one entry per row\. .* given=X\['abc'\]"),
    "names": (
        ["abc", "d"],
        3,
        {},
        r"2 entries in 'given' does not match the 3 rows of X\. .* given=X\[\['abc', 'd'\]\]",
    ),
    "three dimensions": (np.zeros((3, 1, 1)), 3, {}, "is neither one column nor a table of columns"),
    "nested in a table": ({"a": np.zeros((3, 2))}, 3, {}, "is neither one column nor a table of columns"),
    "all missing": ([None, NAN], 2, {}, "given=column 'given' has no entry at all"),
    "infinite": ([1.0, np.inf], 2, {}, "given=column 'given' holds infinite entries"),
    "repeated names": (pd.DataFrame(np.ones((2, 2)), columns=["a", "a"]), 2, {}, "column 'a' occurs more than once"),
    "dictionaries": (np.array([{}, {}]), 2, {}, "cannot be told apart and sorted"),
    "complex": (np.array([1j, 2.0]), 2, {}, "cannot be told apart and sorted"),
    "text as an angle": (["a", "b"], 2, {"kinds": "angle"}, "holds entries that are not numbers"),
    "unknown type": ([1.0, 2.0], 2, {"kinds": "length"}, r"conditioning\.types=length is not a type of column"),
    "negative period": ([1.0, 2.0], 2, {"kinds": -1.0}, r"conditioning\.types=-1.0 is not a type of column"),
    "infinite period": ([1.0, 2.0], 2, {"kinds": np.inf}, r"conditioning\.types=inf is not a type of column"),
    "true as a period": ([1.0, 2.0], 2, {"kinds": True}, r"conditioning\.types=True is not a type of column"),
    "too few types": (
        np.ones((2, 2)),
        2,
        {"kinds": ["angle"]},
        r"conditioning\.types=1 entry does not match the 2 columns",
    ),
    "a type for no column": (
        {"a": [1, 2]},
        2,
        {"kinds": {"b": "angle"}},
        r"conditioning\.types=entry for 'b' is not among",
    ),
    "zero bandwidth": (
        [1.0, 2.0],
        2,
        {"bandwidths": 0.0},
        r"conditioning\.bandwidth=0 is the delta kernel of categories",
    ),
    "no bandwidth": ([1.0, 2.0], 2, {"bandwidths": False}, r"conditioning\.bandwidth=False is not a number in range"),
    "text as bandwidth": (
        ["a", "b"],
        2,
        {"bandwidths": "wide"},
        r"conditioning\.bandwidth=wide is not a number in range",
    ),
    "a bandwidth for no column": (
        {"a": [1, 2]},
        2,
        {"bandwidths": {"b": 1.0}},
        r"conditioning\.bandwidth=entry for 'b' is not",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_read_gets_a_sentence(name):
    given, n, choices, message = REFUSED[name]
    with pytest.raises(ValueError, match=f"^Model: .*{message}.*\\.$"):
        Given.learn("Model", given, n, **choices)


def test_unseen_categories_are_named_with_those_that_were_seen():
    found = Given.learn("Model", ["a", "b"], 2)
    with pytest.raises(
        ValueError, match=r"Model: given=z is not among the categories of 'given' that fit saw \('a', 'b'\)"
    ):
        found.encode("Model", ["a", "z"], 2)
    with pytest.raises(ValueError, match="given=3 is not among"):
        Given.learn("Model", [1, 2, 5], 3, "ordinal").encode("Model", [3], 1)


def test_other_columns_are_refused():
    found = Given.learn("Model", TABLES["pandas"], 3)
    with pytest.raises(ValueError, match="given=2 columns does not match the 3 columns of fit"):
        found.encode("Model", TABLES["pandas"][["who", "age"]], 3)
    with pytest.raises(ValueError, match="given=column 'old' is not among the columns of fit"):
        found.encode("Model", TABLES["pandas"].rename(columns={"age": "old"}), 3)
    with pytest.raises(ValueError, match="holds entries that are not numbers"):
        found.encode("Model", [["a", "x", 1.0]], 1)
    with pytest.raises(ValueError, match="holds infinite entries"):
        found.encode("Model", [["a", np.inf, 1.0]], 1)


def test_a_huge_new_number_has_finite_features():
    found = Given.learn("Model", np.array([1e-150, 2e-150, 5e-150]), 3)
    assert np.isfinite(found.encode("Model", np.array([1e150, -1e150]), 2).features).all()


@pytest.mark.parametrize("factor", [1e150, 1e-150, -1e6])
def test_the_units_of_a_number_do_not_matter(factor):
    values = np.random.default_rng(1).normal(3.0, 1.0, 50)
    _, plain = learn(values)
    _, scaled = learn(values * factor)
    np.testing.assert_allclose(np.abs(scaled.features), np.abs(plain.features), rtol=1e-9)


KEPT = {
    "strings": np.array(["ä", "b c", ""])[np.arange(30) % 3],
    "integers": np.array([-7, 0, 2**40])[np.arange(30) % 3],
    "bools": np.arange(30) % 2 == 0,
    "floats as categories": np.array([0.1, -0.0, np.inf])[np.arange(30) % 3],
    "ordered": pd.Series(pd.Categorical(np.array(["lo", "hi"])[np.arange(30) % 2], ["lo", "hi"], ordered=True)),
    "mixed table": pd.DataFrame({"a": np.arange(30) % 3, "b": np.linspace(0, 1, 30), "c": ["x", None, "y"] * 10}),
}


@pytest.mark.parametrize("name", KEPT)
def test_saving_keeps_the_columns_to_the_value_and_type(name, tmp_path):
    given = KEPT[name]
    kinds = "category" if name == "floats as categories" else None
    X = np.random.default_rng(0).normal(size=(30, 3))
    model = KernelInformationEmbedding(conditioning=Conditioning(types=kinds), max_iter=30).fit(X, given=given)
    sidelight.save(model, tmp_path / "model")
    loaded = sidelight.load(tmp_path / "model")
    assert loaded.given_ == model.given_
    for kept, first in zip(loaded.given_.columns, model.given_.columns, strict=True):
        assert [type(c) for c in kept.categories] == [type(c) for c in first.categories]
    np.testing.assert_array_equal(loaded.transform(X, given=given), model.transform(X, given=given))


@pytest.mark.parametrize("form", [np.asarray, pd.Series, lambda g: pd.Series(g, dtype="Int64").mask(g == 77)])
def test_whole_numbers_that_repeat_like_labels_are_named(form):
    """79 schools, each on 12 rows, are read as a quantity, which a reader has to know."""
    school = np.repeat(np.arange(79), 12)
    sentence = r"given column '.*' has 7[89] whole numbers, each on 12 rows on average: taken as a quantity; pass it as"
    with pytest.warns(DesignWarning, match=sentence):
        found = Given.learn("Model", form(school), len(school))
    assert found.columns[0].kind == "number"


@pytest.mark.parametrize(
    ("entries", "kinds"),
    [
        (np.repeat(np.arange(79), 12).astype(str), None),
        (np.repeat(np.arange(79), 12), "category"),
        (np.repeat(np.arange(79), 12), "number"),
        (np.repeat(np.arange(79.0), 12), None),
        (np.repeat(np.arange(50), 12), None),
        (np.repeat(np.arange(79), 9), None),
    ],
    ids=["text", "said to be labels", "said to be numbers", "fractions", "few", "rare"],
)
def test_columns_that_cannot_be_mistaken_are_not_named(entries, kinds):
    with warnings.catch_warnings():
        warnings.simplefilter("error", DesignWarning)
        Given.learn("Model", entries, len(entries), kinds)

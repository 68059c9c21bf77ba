"""Which columns are embedded, and what is said about the others."""

import numpy as np
import pandas as pd
import pytest

from sidelight.cli._columns import ColumnRoles, choose_columns, match_columns
from sidelight.cli._matrix import Matrix, Scaling, complete, scaling_for
from sidelight.cli._output import CommandError


@pytest.fixture
def mixed():
    rng = np.random.default_rng(0)
    n = 12
    return pd.DataFrame(
        {
            "id": rng.permutation(n) + 1000,
            "running": np.arange(n),
            "a": rng.normal(size=n),
            "count": rng.integers(0, 5, size=n),
            "flag": rng.random(n) > 0.5,
            "day": pd.date_range("2024-01-01", periods=n),
            "written day": ["2024-02-03 10:00"] * n,
            "kind": ["x", "y", None] * 4,
            "title": [f"row {i}" for i in range(n)],
            "nothing": [None] * n,
            "dirty": ["1", "2", "?"] * 4,
        }
    )


def test_numbers_are_embedded_and_every_other_column_is_accounted_for(mixed):
    matrix = choose_columns(mixed, ColumnRoles(), "t.csv")
    assert matrix.names == ["a", "count"]
    assert list(matrix.colours.columns) == ["flag", "day", "written day", "kind", "dirty"]
    said = " ".join(matrix.remarks)
    for name in mixed.columns:
        assert name in said
    assert "Row ids, left out: id, running." in matrix.remarks
    assert "Dates, not embedded, offered as colours: day, written day." in matrix.remarks
    assert "Empty columns, left out: nothing." in matrix.remarks
    assert "dirty is not embedded: it is text because of values such as '?'." in matrix.remarks


def test_a_unique_number_is_an_id_only_by_its_name_or_when_it_counts_rows():
    frame = pd.DataFrame({"a": [5, 3, 9, 7], "sample_id": [5, 3, 9, 7], "n": [1, 2, 3, 4], "x": [2, 3, 4, 5]})
    assert choose_columns(frame, ColumnRoles(), "t.csv").names == ["a", "x"]


def test_colour_label_and_dropped_columns_are_not_embedded(mixed):
    wishes = ColumnRoles(colours=["count"], label="title", drop=["kind"])
    matrix = choose_columns(mixed, wishes, "t.csv")
    assert matrix.names == ["a"]
    assert list(matrix.colours.columns) == ["count"]
    assert matrix.row_names.tolist() == mixed["title"].tolist()


@pytest.mark.parametrize(
    ("wishes", "option"),
    [
        (ColumnRoles(colours=["colur"]), "--colour"),
        (ColumnRoles(label="colur"), "--label"),
        (ColumnRoles(drop=["colur"]), "--drop"),
    ],
)
def test_an_unknown_column_is_answered_with_the_known_ones(mixed, wishes, option):
    with pytest.raises(CommandError, match=f"{option} colur: t.csv has no such column; it has id, running, a"):
        choose_columns(mixed, wishes, "t.csv")


def test_a_table_without_numbers_says_so():
    with pytest.raises(CommandError, match=r"t\.csv has no numeric column to embed; it has a, b"):
        choose_columns(pd.DataFrame({"a": ["x"], "b": ["y"]}), ColumnRoles(), "t.csv")


def test_the_columns_of_a_model_are_found_by_name_in_any_order(mixed):
    matrix = match_columns(mixed, ["count", "a"], ColumnRoles(), "t.csv")
    assert matrix.names == ["count", "a"]
    np.testing.assert_array_equal(matrix.X, mixed[["count", "a"]].to_numpy(dtype=float))


def test_missing_columns_of_a_model_are_named(mixed):
    with pytest.raises(CommandError, match=r"t\.csv lacks the columns b, c, which the model was fitted on"):
        match_columns(mixed, ["a", "b", "c"], ColumnRoles(), "t.csv")


def test_text_where_the_model_needs_numbers_is_named(mixed):
    with pytest.raises(CommandError, match=r"needs numbers in dirty: it is text because of values such as '\?'"):
        match_columns(mixed, ["a", "dirty"], ColumnRoles(), "t.csv")


def with_gaps():
    X = np.arange(12.0).reshape(4, 3)
    X[1, 0], X[3, 0], X[3, 2] = np.nan, np.inf, np.nan
    colours = pd.DataFrame({"kind": list("abcd")})
    return Matrix(X, names=["p", "q", "r"], colours=colours, row_names=pd.Series(list("stuv"), name="name"))


def test_missing_values_are_refused_with_their_columns_and_rows():
    with pytest.raises(CommandError) as caught:
        complete(with_gaps(), "error")
    sentence = str(caught.value)
    assert "2 of 4 rows" in sentence
    assert "the columns p (2), r (1)" in sentence
    assert "rows 1, 3." in sentence
    assert "--missing drop" in sentence
    assert "--missing mean" in sentence


def test_dropped_rows_take_their_colours_along_and_keep_their_numbers():
    kept = complete(with_gaps(), "drop")
    assert kept.rows.tolist() == [0, 2]
    assert kept.colours["kind"].tolist() == ["a", "c"]
    assert kept.row_names.tolist() == ["s", "u"]
    assert "2 of 4 rows have missing values and are left out." in kept.remarks


def test_gaps_are_filled_with_column_means_or_with_those_of_the_model():
    filled = complete(with_gaps(), "mean").X
    assert filled[:, 0].tolist() == [0.0, 3.0, 6.0, 3.0]
    given = complete(with_gaps(), "mean", np.array([-1.0, -2.0, -3.0])).X
    assert given[3].tolist() == [-1.0, 10.0, -3.0]


def test_a_table_of_gaps_only_cannot_be_dropped_to_nothing():
    with pytest.raises(CommandError, match="every row has a missing value"):
        complete(Matrix(np.full((3, 2), np.nan)), "drop")


@pytest.mark.parametrize(
    ("widths", "names", "wanted", "standardised"),
    [
        ([1, 3, 20], list("abc"), None, True),
        ([1, 3, 500], list("abc"), None, True),
        ([0, 1, 500], list("abc"), None, True),
        ([1, 500], None, None, False),
        ([1, 500], list("ab"), False, False),
        ([1, 1], list("ab"), True, True),
    ],
)
def test_columns_of_a_table_are_standardised_unless_asked_otherwise(widths, names, wanted, standardised):
    X = np.array([-1.0, 1.0])[:, None] * np.array(widths)
    scaling, sentence = scaling_for(Matrix(X, names=names, is_table=names is not None), wanted)
    assert (scaling is not None) == standardised
    assert ("standardised" in sentence) == standardised


def test_pixels_are_never_standardised_unasked():
    X = np.array([-1.0, 1.0])[:, None] * np.array([1.0, 500.0])
    assert scaling_for(Matrix(X, names=["a", "b"], is_table=True, image_shape=(1, 2)), None)[0] is None


def test_scaling_goes_there_and_back():
    scaling = Scaling(np.array([1.0, -2.0]), np.array([2.0, 4.0]))
    X = np.array([[3.0, 2.0]])
    assert scaling.apply(X).tolist() == [[1.0, 1.0]]
    assert scaling.undo(scaling.apply(X)).tolist() == X.tolist()
    assert scaling.apply(X.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        (["a,b", *["1,x"] * 8], "all 8 rows are the same, so there is nothing to map; give rows that differ"),
        (["a,b", "1,x"], "one row is no map; give more"),
        (
            ["id,b", *[f"{i},x" for i in range(8)]],
            "no column is left to embed: id: identifier, left out (it counts the",
        ),
    ],
)
def test_a_table_without_anything_to_embed_says_why(lines, sentence, run, here):
    (here / "t.csv").write_text("\n".join(lines))
    done = run("embed", "t.csv", "--out", "o")
    assert done.code == 1
    assert f"t.csv: {sentence}" in " ".join(done.err.split())
    assert not (here / "o").exists()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_columns_that_nearly_repeat_what_is_given_or_each_other_are_said(run, here):
    rng = np.random.default_rng(0)
    price, asleep, other = rng.gamma(2.0, size=60), rng.uniform(2, 20, size=60), rng.normal(size=(60, 2))
    frame = pd.DataFrame({"a": other[:, 0], "price": price, "least price": price**2 + 0.05 * rng.normal(size=60)})
    frame = frame.assign(asleep=asleep, b=other[:, 1], awake=24 - asleep)
    frame.loc[3, "awake"] = np.nan
    frame.to_csv("rows.csv", index=False)
    settings = ("--no-report", "--set", "max_iter=5", "--json")
    told = run("embed", "rows.csv", "--given", "price", "--out", "out", *settings).answer["remarks"]
    about = [line for line in told if "nearly repeats" in line]
    assert len(about) == 2
    assert about[0].startswith("least price nearly repeats price (r ")
    assert about[0].endswith("which is given, and brings it back into the map; leave it out with --drop 'least price'.")
    assert about[1].startswith("awake nearly repeats asleep (r -1.00 of ranks), so that both count")
    drops = ("--drop", "least price", "--drop", "awake")
    told = run("embed", "rows.csv", "--given", "price", "--out", "again", *drops, *settings).answer["remarks"]
    assert not [line for line in told if "nearly repeats" in line]


def test_bounds_and_words_among_numbers_are_said(run, here):
    written = [f"{k / 10}" for k in range(5, 65)]
    frame = pd.DataFrame({"bili": [*written, "<0.5"], "ast": [*written, "lost"], "x": np.arange(61.0) % 7})
    frame.to_csv("lab.csv", index=False)
    told = run("embed", "lab.csv", "--no-report", "--method", "ppca", "--out", "out").out
    assert "bili: number (numbers written as text; '<0.5' read as 0.5)." in " ".join(told.split())
    assert "ast: number (numbers written as text; 'lost' read as missing; 1 missing)." in " ".join(told.split())

"""``sidelight explain``: a tidy table, and axes and groups in sentences."""

import numpy as np
import pandas as pd

from sidelight import TableEncoder, explain
from sidelight.cli._column_means import columns_of_code
from sidelight.cli._encoded_table import encode_table


def test_axes_are_explained_in_words_and_in_a_table(fitted, table, run, here, inner, frame):
    done = run("explain", fitted / "model.sidelight", table, "--out", "axes.csv", "--regions", 2)
    assert done.code == 0, done.err
    assert "Axis 1: rises" in done.out
    assert "not what causes what" in done.out
    found = pd.read_csv("axes.csv")
    assert list(found.columns) == ["region", "rows", "axis", "feature", "slope", "standardised", "share"]
    assert set(found.feature) == {"length", "width", "height", "depth"}
    expected = explain.axes(inner(fitted / "model.sidelight"), frame.drop(columns="kind").to_numpy(), regions=2)
    np.testing.assert_allclose(found.share, expected.share, rtol=1e-9)


def test_groups_of_a_column_are_compared_with_the_others(fitted, table, run, here):
    done = run("explain", fitted / "model.sidelight", table, "--by", "kind", "--out", "groups.csv", "--json")
    assert done.code == 0, done.err
    assert len(done.answer["words"]) == 6
    found = pd.read_csv("groups.csv")
    assert set(found.group) == {"rose", "lily", "iris"}
    record = found[(found.group == "iris") & (found.axis == 1) & (found.feature == "length")].iloc[0]
    assert abs(record["first"] - 8.0) < 0.7
    assert record.low <= record.contribution <= record.high


def test_columns_that_were_scaled_are_explained_in_their_own_units(run, here, frame):
    wide = frame.assign(length=frame["length"] * 1e5)
    np.savez("wide.npz", X=wide.drop(columns="kind").to_numpy())
    assert run("embed", "wide.npz", "--out", "out", "--method", "pca", "--no-report", "--standardize").code == 0
    assert run("explain", "out/model.sidelight", "wide.npz", "--out", "axes.csv").code == 0
    found = pd.read_csv("axes.csv")
    slopes = found[found.axis == 1].set_index("feature").slope.abs().sort_values()
    assert slopes.iloc[-1] > 1e4 * slopes.iloc[-2]


def test_what_is_given_is_held(run, here, frame):
    frame["place"] = np.tile(["north", "south"], 30)
    frame.loc[frame.place == "south", "depth"] += 6.0
    frame.to_csv("places.csv", index=False)
    done = run(
        "embed",
        "places.csv",
        "--given",
        "place",
        "--colour",
        "kind",
        "--out",
        "out",
        "--no-report",
        "--set",
        "max_iter=10",
    )
    assert done.code == 0, done.err
    assert run("explain", "out/model.sidelight", "places.csv", "--by", "kind", "--out", "groups.csv").code == 0
    frame.drop(columns="place").to_csv("unknown.csv", index=False)
    done = run("explain", "out/model.sidelight", "unknown.csv", "--out", "axes.csv")
    assert done.code == 1
    assert "does not say place" in done.err
    done = run("explain", "out/model.sidelight", "places.csv", "--by", "place")
    assert "given: place, read from places.csv; rows are compared after subtracting its effect" in done.out
    assert "--by place: the model factored this column out" in done.out


def test_groups_of_a_column_of_the_map_differ_in_it_and_that_is_said(run, here):
    houses()[["kind", "city", "garden"]].to_csv("houses.csv", index=False)
    assert run("embed", "houses.csv", "--method", "pca", "--out", "out", "--no-report").code == 0
    done = run("explain", "out/model.sidelight", "houses.csv", "--by", "kind")
    assert "--by kind: the map was made with this column, so its groups differ in it" in done.out


def test_columns_that_surely_differ_come_first(run, here):
    rng = np.random.default_rng(1)
    kind = np.arange(80) % 2
    X = np.column_stack([40.0 * rng.choice([-1, 1], 80) + rng.normal(size=80), 2.0 * kind + rng.normal(size=80)])
    pd.DataFrame(X, columns=["steep", "differs"]).assign(kind=np.where(kind, "a", "b")).to_csv("two.csv", index=False)
    assert run("embed", "two.csv", "--colour", "kind", "--method", "pca", "--no-standardize", "--out", "out").code == 0
    done = run("explain", "out/model.sidelight", "two.csv", "--select", "kind == a")
    assert done.code == 0, done.err
    listed = [line.split()[0] for line in done.out.splitlines() if line.startswith(("steep", "differs"))]
    assert listed == ["differs", "steep"]


def test_a_column_that_is_not_there_is_named(fitted, table, run):
    done = run("explain", fitted / "model.sidelight", table, "--by", "colour", "--out", "groups.csv")
    assert done.code == 1
    assert "colour" in done.err


def test_a_selection_is_compared_with_the_rest_or_with_another(fitted, table, run, here, inner, frame):
    model, X = fitted / "model.sidelight", frame.drop(columns="kind").to_numpy()
    chosen = ((frame.kind == "rose") & (frame.length > 0)).to_numpy()
    done = run("explain", model, table, "--select", "kind == rose and length > 0", "--out", "some.parquet")
    assert done.code == 0, done.err
    assert f"{chosen.sum()} rows selected, compared with the other {(~chosen).sum()}" in done.out
    assert "apart in SD (95 %)" in done.out
    found = pd.read_parquet("some.parquet")
    expected = explain.selection(inner(model), X, chosen, tolerance=1e-4)
    np.testing.assert_allclose(found.contribution, expected.contribution, rtol=1e-9)
    done = run("explain", model, table, "--select", "kind == rose", "--against", "kind = iris", "--out", "two.csv")
    assert done.code == 0, done.err
    expected = explain.difference(inner(model), X, frame.kind == "rose", frame.kind == "iris", tolerance=1e-4)
    np.testing.assert_allclose(pd.read_csv("two.csv").contribution, expected.contribution, rtol=1e-9)


def test_rows_are_selected_by_a_file_and_two_rows_are_compared(fitted, table, run, here, inner, frame):
    model, X = fitted / "model.sidelight", frame.drop(columns="kind").to_numpy()
    pd.DataFrame({"row": [3, 5, 7, 40]}).to_csv("picked.csv", index=False)
    done = run("explain", model, table, "--select", "picked.csv", "--out", "some.csv", "--json")
    assert done.code == 0, done.err
    expected = explain.selection(inner(model), X, [3, 5, 7, 40], tolerance=1e-4)
    np.testing.assert_allclose(pd.read_csv("some.csv").contribution, expected.contribution, rtol=1e-9)
    done = run("explain", model, table, "--rows", 0, 59, "--out", "two.csv")
    assert done.code == 0, done.err
    assert "row 59" in done.out
    expected = explain.difference(inner(model), X, 0, 59, tolerance=1e-4)
    np.testing.assert_allclose(pd.read_csv("two.csv").contribution, expected.contribution, rtol=1e-9)


def test_without_out_it_only_says_what_it_found(fitted, table, run, here):
    done = run("explain", fitted / "model.sidelight", table)
    assert done.code == 0, done.err
    assert "Axis 1: rises" in done.out
    assert "wrote" not in done.out


def test_selections_that_cannot_be_read_are_refused_with_a_way_out(fitted, table, run, here):
    cases = {
        ("--select", "kind == tulip"): "selects none of the 60 rows",
        ("--select", "kind > rose"): "compare it with == or !=",
        ("--select", "dpth > 3"): "did you mean depth?",
        ("--select", "kind =="): "write COLUMN == VALUE",
        ("--select", "nowhere.csv"): "neither a condition",
        ("--against", "kind == rose"): "add --select",
        ("--rows", "0", "999"): "rows are counted from 0 to 59",
        ("--by", "kind", "--select", "kind == rose"): "leave one of them out",
        ("--select", "kind == rose", "--against", "length > -9"): "in one of them only",
        ("--select", "__import__('os').system('touch hit') == 1"): "has no such column",
    }
    for options, words in cases.items():
        done = run("explain", fitted / "model.sidelight", table, *options)
        assert done.code == 1, options
        assert words in done.err, (options, done.err)
    assert not (here / "hit").exists()


def test_reliability_is_said_as_a_share_and_written_for_each_row(fitted, table, run, here, inner, frame):
    done = run("explain", fitted / "model.sidelight", table, "--reliability", "--out", "rows.csv")
    assert done.code == 0, done.err
    found = pd.read_csv("rows.csv")
    expected = explain.reliability(inner(fitted / "model.sidelight"), frame.drop(columns="kind").to_numpy())
    np.testing.assert_allclose(found.reliability, expected.reliability, rtol=1e-6)
    assert list(found.row) == list(range(60))
    assert explain.in_words(expected)[0] in done.out


def test_maps_of_halves_say_which_rows_are_stable(run, here, frame):
    frame.to_csv("flowers.csv", index=False)
    options = ("--colour", "kind", "--no-report", "--set", "max_iter=5")
    assert run("embed", "flowers.csv", "--out", "out", *options).code == 0
    done = run("explain", "out/model.sidelight", "flowers.csv", "--reliability", "--bootstrap", 2, "--out", "rows.csv")
    assert done.code == 0, done.err
    assert "stable " in done.out
    assert "displaced " in done.out
    found = pd.read_csv("rows.csv")
    assert found.stable.between(0, 1).all()
    assert (found.displaced >= 0).all()
    done = run("explain", "out/model.sidelight", "flowers.csv", "--bootstrap", 2)
    assert done.code == 1
    assert "add --reliability" in done.err


def houses(n: int = 90) -> pd.DataFrame:
    """A table with categories, a number, a date and a boolean, some of them missing."""
    rng = np.random.default_rng(0)
    kind = np.array(["house", "flat", "hut"])[np.arange(n) % 3]
    size = np.array([140.0, 70.0, 25.0])[np.arange(n) % 3] * np.exp(0.2 * rng.normal(size=n))
    built = pd.Timestamp("1950-01-01") + pd.to_timedelta(rng.integers(0, 20_000, n), unit="D")
    frame = pd.DataFrame({"kind": kind, "size": size.round(1), "built": built.strftime("%Y-%m-%d")})
    frame["garden"], frame["city"] = rng.choice(["yes", "no"], n), np.array(["Ulm", "Kiel"])[np.arange(n) % 2]
    frame.loc[3:9, "size"] = np.nan
    frame.loc[12:20, "built"] = None
    return frame


def test_columns_of_an_encoded_table_are_compared_in_their_units(run, here):
    """Categories as shares, dates as dates; a column that tells the groups apart without error is not 0 SD apart."""
    frame = houses()
    frame.to_csv("houses.csv", index=False)
    assert (
        run("embed", "houses.csv", "--colour", "city", "--out", "out", "--no-report", "--set", "max_iter=20").code == 0
    )
    done = run("explain", "out/model.sidelight", "houses.csv", "--by", "kind")
    assert done.code == 0, done.err
    houses_said = done.out[done.out.index("house: ") : done.out.index("hut: ")]
    assert "more kind_house (+2.0 SD)" in houses_said
    lines = {line.split()[0]: line.split() for line in houses_said.splitlines()}
    assert lines["kind_house"][1:5] == ["100", "%", "0", "%"]
    assert "-0 %" not in done.out
    assert float(lines["size"][1]) == float(f"{frame[frame.kind == 'house']['size'].mean():.4g}")
    done = run("explain", "out/model.sidelight", "houses.csv", "--rows", 0, 1)
    lines = {line.split()[0]: line.split() for line in done.out.splitlines()}
    assert lines["kind_house"][1:3] == ["yes", "no"]


def test_means_of_columns_are_those_of_the_data():
    frame = houses()
    found = columns_of_code(encode_table(frame, TableEncoder()))
    some, one = np.arange(0, 90, 3), np.array([0])
    moments = pd.to_datetime(frame.built)
    assert found["built"].means(one, some) == [frame.built[0], f"{moments.iloc[some].mean():%Y-%m-%d}"]
    assert found["built"].means(np.arange(12, 20), one)[0] == ""
    share = f"{100 * (frame.garden.iloc[some] == 'yes').mean():.0f} %"
    assert found["garden"].means(some, some) == [share, share]
    assert found["kind_hut"].means(one, some)[0] == "no"


def test_numbers_that_differ_little_are_shown_with_the_digits_that_tell_them_apart(run, here):
    place = np.random.default_rng(0).normal(size=(60, 3))
    table = pd.DataFrame(place, columns=["age", "height", "longitude"])
    table["longitude"] = -118.28 + 0.02 * (np.arange(60) % 2) + 0.001 * table.longitude
    table["side"] = np.where(np.arange(60) % 2, "east", "west")
    table.to_csv("places.csv", index=False)
    run("embed", "places.csv", "--colour", "side", "--out", "out", "--no-report", "--set", "max_iter=5")
    said = run("explain", "out/model.sidelight", "places.csv", "--by", "side").out
    west, east = next(line.split()[1:3] for line in said.splitlines() if line.startswith("longitude"))
    assert {west, east} == {"-118.28", "-118.26"}


def test_beside_what_was_given_the_values_are_those_of_the_data(run, here):
    """The differences are after its effect, where the code of a table has no units."""
    houses().to_csv("houses.csv", index=False)
    done = run("embed", "houses.csv", "--given", "city", "--out", "out", "--no-report", "--set", "max_iter=5")
    assert done.code == 0, done.err
    done = run("explain", "out/model.sidelight", "houses.csv", "--by", "kind")
    assert "The values shown are those of the data, before that." in done.out
    flats = next(line.split() for line in done.out.splitlines() if line.startswith("kind_flat"))
    assert flats[1:5] == ["100", "%", "0", "%"]
    done = run("explain", "out/model.sidelight", "houses.csv", "--rows", 4, 1)
    sizes = next(line.split()[1:3] for line in done.out.splitlines() if line.startswith("size"))
    assert sizes == ["missing", f"{houses()['size'][1]:.4g}"]

"""``sidelight explain``: a tidy table, and axes and groups in sentences."""

import numpy as np
import pandas as pd

from sidelight import explain


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


def test_a_column_that_is_not_there_is_named(fitted, table, run):
    done = run("explain", fitted / "model.sidelight", table, "--by", "colour", "--out", "groups.csv")
    assert done.code == 1
    assert "colour" in done.err

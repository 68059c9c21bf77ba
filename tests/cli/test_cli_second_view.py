"""Two views of the same rows: embed with --view-y, embed from either, predict one from the other."""

import numpy as np
import pandas as pd
import pytest

import sidelight


@pytest.fixture(scope="module")
def views():
    """Sixty points of an arc, and forty of them seen again, bent otherwise and in other units."""
    t = np.linspace(0, 3, 60)
    rng = np.random.default_rng(0)
    X = pd.DataFrame(np.column_stack([np.cos(t), np.sin(t)]) + 0.01 * rng.normal(size=(60, 2)), columns=["u", "v"])
    Y = pd.DataFrame({"far": 1000 * t + 5, "wide": 700 * t**2, "tall": 900 * np.sin(t)})
    Y.loc[np.arange(60) % 3 == 0] = np.nan
    return X, Y, t


@pytest.fixture(scope="module")
def folder(views, run, tmp_path_factory):
    place = tmp_path_factory.mktemp("views")
    for name, frame in zip(("x", "y"), views[:2], strict=True):
        frame.to_csv(place / f"{name}.csv", index=False)
    done = run("embed", place / "x.csv", "--view-y", place / "y.csv", "--out", place / "out", "--no-standardize")
    assert done.code == 0, done.err
    assert "40 of 60 rows have a second view of 3 columns." in done.out
    assert "Embedding with joint in 2 dimensions" in done.out
    return place


def test_two_views_are_embedded_jointly(folder, views, inner):
    X, Y, _ = views
    model = inner(folder / "out/model.sidelight")
    assert model.n_pairs_ == 40
    own = sidelight.JointInformationEmbedding(random_state=0).fit(X, Y.to_numpy())
    np.testing.assert_allclose(model.embedding_, own.embedding_)
    assert (folder / "out" / "report.html").exists()


def test_the_second_view_is_predicted_in_its_own_columns_and_units(folder, views, run, here):
    done = run("predict", folder / "out/model.sidelight", folder / "x.csv", "--out", "y.csv")
    assert done.code == 0, done.err
    assert "60 rows predicted in 3 columns" in done.out
    found = pd.read_csv("y.csv")
    assert list(found.columns) == ["row", "far", "wide", "tall"]
    truth = 1000 * views[2] + 5
    assert np.abs(found["far"] - truth).mean() < 0.1 * np.ptp(truth)


def test_rows_of_the_second_view_are_embedded_and_latent_points_shown_in_it(folder, views, run, here, inner):
    model = inner(folder / "out/model.sidelight")
    seen = views[1].dropna()
    seen[["tall", "far", "wide"]].to_csv("seen.csv", index=False)
    done = run("transform", folder / "out/model.sidelight", "seen.csv", "--view", "y", "--out", "z.csv")
    assert done.code == 0, done.err
    Z = pd.read_csv("z.csv")[["z1", "z2"]].to_numpy()
    np.testing.assert_allclose(Z, model.transform_view(seen.to_numpy(), 1))
    assert run("invert", folder / "out/model.sidelight", "z.csv", "--view", "y", "--out", "back.csv").code == 0
    back = pd.read_csv("back.csv")
    np.testing.assert_allclose(back[["far", "wide", "tall"]].to_numpy(), model.inverse_transform_view(Z, 1))
    assert list(back.columns) == ["row", "far", "wide", "tall", "density", "unusual"]


def test_the_second_view_is_standardised_and_brought_back(folder, views, run, here):
    done = run("embed", folder / "x.csv", "--view-y", folder / "y.csv", "--out", "out", "--standardize", "--no-report")
    assert done.code == 0, done.err
    assert run("predict", "out/model.sidelight", folder / "x.csv", "--out", "y.csv").code == 0
    truth = 700 * views[2] ** 2
    assert np.abs(pd.read_csv("y.csv")["wide"] - truth).mean() < 0.1 * np.ptp(truth)


def test_rows_of_the_data_that_are_left_out_are_left_out_of_the_second_view(views, run, here):
    X, Y = views[0].copy(), views[1].copy()
    X.loc[[1, 2], "u"] = np.nan
    Y.loc[4, "far"] = np.nan
    X.to_csv("x.csv", index=False)
    Y.to_csv("y.csv", index=False)
    options = ("embed", "x.csv", "--view-y", "y.csv", "--no-report", "--no-standardize", "--out")
    assert "--missing drop" in run(*options, "a").err
    done = run(*options, "b", "--missing", "drop")
    assert done.code == 0, done.err
    assert "37 of 58 rows have a second view" in done.out
    expected = Y.drop(index=[1, 2]).where(Y.notna().all(axis=1)).to_numpy()
    own = sidelight.JointInformationEmbedding(random_state=0).fit(X.drop(index=[1, 2]), expected)
    np.testing.assert_allclose(pd.read_csv("b/embedding.csv")[["z1", "z2"]].to_numpy(), own.embedding_)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--view-y", "nothing.csv"], "nothing.csv: there is no such file or folder"),
        (["--view-y", "short.csv"], "--view-y short.csv: has 3 rows, and the data has 60; leave rows without"),
        (
            ["--view-y", "short.csv", "--method", "pca"],
            "--view-y: the method pca cannot use it; use --method joint or ",
        ),
        (["--method", "joint", "--given", "v"], "--given: the method joint cannot use it; use --method kie"),
    ],
)
def test_a_wrong_second_view_gets_one_line_and_no_files(folder, run, here, arguments, sentence):
    pd.DataFrame({"a": [1.0, 2, 4], "b": [1.5, 2, 3]}).to_csv("short.csv", index=False)
    done = run("embed", folder / "x.csv", "--out", "out", *arguments)
    assert done.code == 1
    assert sentence in done.err
    assert done.err.count("\n") == 1
    assert not (here / "out").exists()


@pytest.mark.parametrize("command", ["predict", "transform"])
def test_a_model_of_one_view_has_no_second(fitted, table, run, command):
    view = ["--view", "y"] if command == "transform" else []
    done = run(command, fitted / "model.sidelight", table, "--out", "z.csv", *view)
    assert done.code == 1
    assert "this model was fitted on one view; embed with --view-y FILE to have two" in done.err


@pytest.mark.parametrize("command", ["transform", "invert"])
@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_numbered_view_is_refused_with_the_names_of_both(folder, run, here, command, number):
    pd.DataFrame({"z1": [0.0], "z2": [0.0]}).to_csv("points.csv", index=False)
    done = run(command, folder / "out/model.sidelight", "points.csv", "--view", number, "--out", "z.csv")
    assert done.code == 1
    assert f"--view {number}: views are called x and y; write --view y for the second" in done.err
    assert done.err.count("\n") == 1
    assert not (here / "z.csv").exists()


def test_the_first_view_can_be_named(folder, run, here):
    asked = ("transform", folder / "out/model.sidelight", folder / "x.csv", "--out")
    assert run(*asked, "named.csv", "--view", "x").code == 0
    assert run(*asked, "unnamed.csv").code == 0
    assert (here / "named.csv").read_bytes() == (here / "unnamed.csv").read_bytes()


def test_the_second_view_is_understood_under_its_former_name(folder, run, here, inner):
    options = ("--out", "out", "--no-report", "--force", "--no-standardize")
    done = run("embed", folder / "x.csv", "--view2", folder / "y.csv", *options)
    assert done.code == 0, done.err
    old, new = (inner(place / "out/model.sidelight") for place in (here, folder))
    np.testing.assert_array_equal(old.embedding_, new.embedding_)


def test_a_second_view_with_words_is_encoded_predicted_and_embedded(views, run, here):
    X, Y, t = views
    sizes = pd.Series(np.where(t < 1, "small", np.where(t < 2, "middle", "large"))).where(Y["far"].notna())
    X.to_csv("x.csv", index=False)
    mixed = pd.DataFrame({"far": [f"{value:.1f} km" if value == value else "" for value in Y["far"]], "size": sizes})
    mixed.to_csv("mixed.csv", index=False)
    done = run("embed", "x.csv", "--view-y", "mixed.csv", "--out", "out", "--no-report")
    assert done.code == 0, done.err
    assert "40 of 60 rows have a second view of 2 columns." in done.out
    done = run("predict", "out/model.sidelight", "x.csv", "--out", "y.csv")
    assert done.code == 0, done.err
    found = pd.read_csv("y.csv")
    assert list(found.columns) == ["row", "far", "size"]
    known = sizes.notna()
    assert (found["size"] == sizes)[known].mean() > 0.85
    assert found["far"].str.endswith(" km").all()
    mixed[known].to_csv("seen.csv", index=False)
    done = run("transform", "out/model.sidelight", "seen.csv", "--view", "y", "--out", "z.csv")
    assert done.code == 0, done.err
    assert run("invert", "out/model.sidelight", "z.csv", "--view", "y", "--out", "back.csv").code == 0
    assert (pd.read_csv("back.csv")["size"] == sizes[known].to_numpy()).mean() > 0.85

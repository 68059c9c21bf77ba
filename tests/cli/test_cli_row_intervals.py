"""Ends of intervals beside made-up rows: ``--interval`` of invert, counterfactual and predict."""

from __future__ import annotations

import numpy as np
import pandas as pd


def test_points_go_back_with_the_ends_of_intervals(fitted, run, here, inner):
    done = run("invert", fitted / "model.sidelight", fitted / "embedding.csv", "--out", "back.csv", "--interval", 0.8)
    assert done.code == 0, done.err
    assert "to 4 columns" in done.out
    found = pd.read_csv("back.csv")
    at = list(found.columns).index("width")
    assert list(found.columns[at : at + 3]) == ["width", "width_low", "width_high"]
    Z = pd.read_csv(fitted / "embedding.csv")[["z1", "z2"]].to_numpy()
    ends = inner(fitted / "model.sidelight").inverse_transform_interval(Z, level=0.8)
    names = ["length", "width", "height", "depth"]
    np.testing.assert_allclose(found[[f"{name}_low" for name in names]], ends.lower, rtol=1e-9)
    np.testing.assert_allclose(found[[f"{name}_high" for name in names]], ends.upper, rtol=1e-9)


def test_some_columns_of_a_mixed_table_have_ends_where_they_are_numbers_or_dates(run, here):
    rng = np.random.default_rng(0)
    days = pd.date_range("2020-01-01", periods=80).strftime("%Y-%m-%d")
    table = pd.DataFrame({"day": days, "size": rng.normal(10, 2, 80).round(2), "kind": np.repeat(["a", "b"], 40)})
    table["site"] = np.where(np.arange(80) % 2, "east", "west")
    table.to_csv("rows.csv", index=False)
    done = run("embed", "rows.csv", "--given", "site", "--out", "out", "--no-report", "--set", "max_iter=20")
    assert done.code == 0, done.err
    options = ["--given", "site=east", "--interval", 0.9, "--force"]
    done = run("counterfactual", "out/model.sidelight", "rows.csv", "--out", "east.csv", *options)
    assert done.code == 0, done.err
    found = pd.read_csv("east.csv")
    assert {"day_low", "day_high", "size_low", "size_high"} <= set(found.columns)
    assert "kind_low" not in found.columns
    assert (found.size_low < found["size"]).all()
    assert (found["size"] < found.size_high).all()
    assert (found.day_low <= found.day_high).all()  # dates as texts, year first
    done = run("counterfactual", "out/model.sidelight", "rows.csv", "--out", "some.csv", "--columns", "size", *options)
    assert done.code == 0, done.err
    assert list(pd.read_csv("some.csv").columns[-3:]) == ["size", "size_low", "size_high"]


def test_a_second_view_is_predicted_with_the_ends_of_intervals(run, here):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    pd.DataFrame(X, columns=list("abc")).to_csv("x.csv", index=False)
    pd.DataFrame({"yield": 100 + 20 * X[:, 0] + rng.normal(size=80), "loss": X[:, 1]}).to_csv("y.csv", index=False)
    done = run("embed", "x.csv", "--view-y", "y.csv", "--out", "out", "--no-report", "--set", "max_iter=20")
    assert done.code == 0, done.err
    done = run("predict", "out/model.sidelight", "x.csv", "--out", "said.csv", "--interval", 0.9)
    assert done.code == 0, done.err
    found = pd.read_csv("said.csv")
    assert list(found.columns) == ["row", "yield", "yield_low", "yield_high", "loss", "loss_low", "loss_high"]
    assert 60 < found.yield_low.median() < found["yield"].median() < found.yield_high.median() < 140  # in its units
    done = run("invert", "out/model.sidelight", "out/embedding.csv", "--view", "y", "--out", "v.csv", "--interval", 0.9)
    assert done.code == 1
    assert "second view have none" in done.err


def test_what_is_no_share_and_what_has_no_intervals_is_refused(fitted, run, here):
    model, points = fitted / "model.sidelight", fitted / "embedding.csv"
    done = run("invert", model, points, "--out", "back.csv", "--interval", 90)
    assert done.code == 1
    assert "--interval 90: give a share between 0 and 1" in done.err
    done = run("invert", model, points, "--out", "back.npy", "--interval", 0.9)
    assert done.code == 1
    assert "write a table" in done.err

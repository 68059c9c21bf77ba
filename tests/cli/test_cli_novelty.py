"""transform and invert say which rows and points are unlike those of the fit; counterfactual refuses to extrapolate."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sidelight import load

sys.path.insert(0, str(Path(__file__).parents[1] / "information"))
from test_extrapolation import ISLAND, KIND, X


@pytest.fixture
def embedded(run, here):
    """A model of penguins given the island, in out/."""
    frame = pd.DataFrame(X, columns=["bill", "depth", "flipper", "mass"]).assign(island=ISLAND)
    frame.to_csv("penguins.csv", index=False)
    settings = ("--given", "island", "--no-report", "--set", "max_iter=60")
    done = run("embed", "penguins.csv", "--out", "out", *settings)
    assert done.code == 0, done.err
    return frame


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.thorough
def test_unusual_rows_points_and_counterfactuals_are_said(run, here, embedded):
    far = embedded.head(4).copy()
    far.loc[2:, ["bill", "mass"]] *= 1000
    far.to_csv("far.csv", index=False)
    done = run("transform", "out/model.sidelight", "far.csv", "--out", "z.csv", "--json")
    assert done.answer["unusual"] == 2
    table = pd.read_csv("z.csv")
    assert table["unusual"].tolist() == [False, False, True, True]
    assert (table["density"].between(0, 1)).all()

    pd.DataFrame({"z1": [0.0, 50.0], "z2": [0.0, 50.0]}).to_csv("points.csv", index=False)
    done = run("invert", "out/model.sidelight", "points.csv", "--out", "rows.csv")
    assert "1 of 2 points is outside the map" in done.out
    assert pd.read_csv("rows.csv")["unusual"].tolist() == [False, True]

    embedded[KIND == "Gentoo"].to_csv("gentoo.csv", index=False)
    asked = ("counterfactual", "out/model.sidelight", "gentoo.csv", "--given", "island=Dream", "--out", "dream.csv")
    done = run(*asked)
    assert done.code != 0
    assert "no rows like 1" in done.err
    assert "--force" in done.err
    assert not Path("dream.csv").exists()
    assert run(*asked, "--force").code == 0
    assert len(pd.read_csv("dream.csv")) == int(np.sum(KIND == "Gentoo"))

    done = run("counterfactual", "out/model.sidelight", "penguins.csv", "--given", "island=Biscoe", "--out", "all.csv")
    assert done.code != 0
    assert "no rows like" in done.err

    embedded[KIND == "Adelie"].to_csv("adelie.csv", index=False)
    done = run("counterfactual", "out/model.sidelight", "adelie.csv", *asked[3:-1], "adelie_dream.csv")
    assert done.code == 0
    words = "groups of island also differ otherwise, and part of that difference is shown as an effect of the value"
    assert words in " ".join(done.out.split())


@pytest.mark.thorough
@pytest.mark.parametrize("method", ["ppca", "coordinated", "ppca-mixture"])
def test_models_with_an_exact_density_write_density_and_unusual(run, here, method):
    frame = pd.DataFrame(X, columns=["bill", "depth", "flipper", "mass"])
    frame.to_csv("penguins.csv", index=False)
    done = run("embed", "penguins.csv", "--method", method, "--out", "out", "--no-report")
    assert done.code == 0, done.err
    far = frame.head(4).copy()
    far.loc[2:, ["bill", "mass"]] *= 1000
    if method == "ppca":
        far.loc[[0, 3], "depth"] = np.nan
    far.to_csv("far.csv", index=False)
    keep = ("--missing", "keep") if method == "ppca" else ()
    done = run("transform", "out/model.sidelight", "far.csv", "--out", "z.csv", "--json", *keep)
    assert done.code == 0, done.err
    assert pd.read_csv("z.csv")["unusual"].tolist() == [False, False, True, True]
    if method != "ppca-mixture":  # a mixture alone has no map to invert
        points = pd.read_csv("z.csv").filter(regex="^z").iloc[:2]  # of usual rows
        points.iloc[1] = 50.0
        points.to_csv("points.csv", index=False)
        assert run("invert", "out/model.sidelight", "points.csv", "--out", "rows.csv").code == 0
        assert pd.read_csv("rows.csv")["unusual"].tolist() == [False, True]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_unusual_rows_of_the_table_itself_are_named_and_written(run, here):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 4)) @ rng.normal(size=(4, 4))
    rows[17] = [9.0, -9.0, 9.0, -9.0]
    names = [f"sample {i}" for i in range(60)]
    frame = pd.DataFrame(rows, columns=list("abcd")).assign(who=names, batch=np.where(np.arange(60) % 2, "x", "y"))
    frame.to_csv("rows.csv", index=False)
    settings = ("--label", "who", "--given", "batch", "--set", "max_iter=20")
    done = run("embed", "rows.csv", "--out", "out", *settings)
    assert done.code == 0, done.err
    told = " ".join(done.out.split())
    assert "Most unusual rows, each compared with the others (column density): sample 17, " in told
    assert "Rows are compared with the effect of batch in them." in told
    assert "sample 17, " in Path("out/report.html").read_text(encoding="utf-8")
    table = pd.read_csv("out/embedding.csv")
    parts = np.linspace(0, 1, 5)
    assert table["density"].quantile(parts).to_numpy() == pytest.approx(parts, abs=0.05)
    assert table["who"][table["density"].argmin()] == "sample 17"
    assert table["unusual"].tolist() == (table["density"] < 0.01).tolist()

    assert run("transform", "out/model.sidelight", "rows.csv", "--out", "z.csv").code == 0
    assert pd.read_csv("z.csv")["density"].tolist() == table["density"].tolist()
    model = load("out/model.sidelight")
    alarms = model.is_novel(frame[list("abcd")], given=frame["batch"], false_alarm=0.05)
    assert alarms.sum() == 3
    assert alarms[17]
    assert model.novelty_p_value(frame[list("abcd")]).min() == pytest.approx(1 / 60)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_rows_without_a_given_value_are_compared_with_those_of_the_fit(run, here):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 3)) @ rng.normal(size=(3, 3))
    rows[[17, 30]] = [[90.0, -90.0, 90.0], [-90.0, -90.0, 90.0]]
    batch = np.where(np.arange(60) % 2, "x", "y").astype(object)
    batch[[3, 30]] = None
    pd.DataFrame(rows, columns=list("abc")).assign(batch=batch).to_csv("rows.csv", index=False)
    settings = ("--given", "batch", "--set", "max_iter=20", "--no-report")
    done = run("embed", "rows.csv", "--out", "out", *settings)
    assert done.code == 0, done.err
    table = pd.read_csv("out/embedding.csv")
    assert table["density"][17] == 0.0
    assert table["density"][30] == pytest.approx(1 / 58, abs=1e-4)  # only row 17 of the 58 of the fit is less usual
    assert table["density"][3] > 0.1

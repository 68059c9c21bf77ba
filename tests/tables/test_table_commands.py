"""Every table of ``files/`` through the command line: look, embed, transform of held-out rows, invert, report."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

sys.path.insert(0, str(Path(__file__).parent))
from expected_kinds import FILES, KINDS, ODD, table

import sidelight
from sidelight.cli._app import app
from sidelight.cli._matrix import Scaling
from sidelight.cli._model_file import ModelFile


def run(*arguments):
    """Run a command that succeeds; return its JSON answer."""
    done = CliRunner().invoke(app, [str(argument) for argument in (*arguments, "--json")])
    assert done.exit_code == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def refused(*arguments):
    """Run a command that fails; return its message."""
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == 1, done.stdout
    return " ".join(done.stderr.split())


def halves(name, folder):
    """At most 200 rows of a table in two files, as its own file is written: 80 % to fit on, the others held out."""
    encoding = ODD.get(name, {}).get("encoding", "utf-8")
    text = (FILES / f"{name}.csv").read_text(encoding=encoding)
    heading, *lines = text.splitlines(keepends=True)
    order = np.random.default_rng(0).permutation(len(lines))[:200]
    cut = int(0.8 * len(order))
    parts = {"fit": np.sort(order[:cut]), "new": np.sort(order[cut:])}
    for part, rows in parts.items():
        (folder / f"{part}.csv").write_text(heading + "".join(lines[i] for i in rows), encoding=encoding)
    return folder / "fit.csv", folder / "new.csv"


@pytest.mark.thorough
@pytest.mark.parametrize("name", KINDS)
def test_a_table_goes_through_every_command(name, tmp_path):
    known, new = halves(name, tmp_path)
    look = {one["name"]: one["kind"] if one["used"] else f"({one['kind']})" for one in run("look", known)["columns"]}
    told = run("embed", known, "--method", "ppca", "--out", tmp_path / "out", "--no-report")
    assert told["standardized"]
    embedding = pd.read_csv(tmp_path / "out/embedding.csv")
    assert len(embedding) == told["rows"]
    assert embedding["row"].tolist() == list(range(told["rows"]))
    assert np.isfinite(embedding[["z1", "z2"]]).all(axis=None)
    model = tmp_path / "out/model.sidelight"
    run("transform", model, new, "--out", tmp_path / "places.csv")
    run("invert", model, tmp_path / "places.csv", "--out", tmp_path / "back.csv")
    back, original = pd.read_csv(tmp_path / "back.csv", dtype=str), table(name)
    assert back["row"].astype(int).tolist() == list(range(len(back)))
    encoder = sidelight.load(model).steps[0][1]
    assert {use.name: use.kind if use.used else f"({use.kind})" for use in encoder.columns_} == look
    for use in encoder.columns_:
        check_back(use, back, original)
    run("report", model, new, "--out", tmp_path / "report.html")
    assert (tmp_path / "report.html").stat().st_size > 10_000


def check_back(use, back, original):
    """A column that came back: there, in its units and words, or left out where it cannot be known."""
    if use.kind in ("text", "empty"):
        assert use.name not in back.columns
        return
    assert use.name in back.columns, use
    values = back[use.name]
    if use.kind in ("category", "ordinal", "boolean", "constant"):
        assert set(values) <= set(original[use.name].dropna().astype(str)), use
    if use.kind == "number" and not use.number_format:
        numbers, seen = values.astype(float), pd.to_numeric(original[use.name].astype(str), errors="coerce")
        middle, reach = seen.median(), seen.max() - seen.min()
        assert abs(numbers.median() - middle) <= reach, use


def test_row_numbers_do_not_shape_the_map(tmp_path):
    frame = table("wages")
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.drop(columns="rownames").to_csv(tmp_path / "b.csv", index=False)
    for name in "ab":
        run("embed", tmp_path / f"{name}.csv", "--method", "ppca", "--out", tmp_path / name, "--no-report")
    first, second = (pd.read_csv(tmp_path / name / "embedding.csv") for name in "ab")
    pd.testing.assert_frame_equal(first.drop(columns="rownames"), second)
    assert first["rownames"].tolist() == frame["rownames"].tolist()


def test_units_do_not_shape_the_map(tmp_path):
    frame = table("wine")
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.assign(proline=frame["proline"] * 1024, ash=frame["ash"] / 64).to_csv(tmp_path / "b.csv", index=False)
    for name in "ab":
        run("embed", tmp_path / f"{name}.csv", "--method", "ppca", "--out", tmp_path / name, "--no-report")
    first, second = (pd.read_csv(tmp_path / name / "embedding.csv")[["z1", "z2"]] for name in "ab")
    np.testing.assert_allclose(first, second, rtol=1e-6, atol=1e-6)


def test_a_report_shows_columns_in_their_own_units_and_words(tmp_path):
    run("embed", FILES / "german.csv", "--out", tmp_path / "out", "--method", "ppca")
    page = (tmp_path / "out/report.html").read_text(encoding="utf-8")
    data = json.loads(re.search(r'<script type="application/json"[^>]*>(.*?)</script>', page, re.DOTALL)[1])
    columns = {one["name"]: one for one in columns_in(data)}
    assert {"Größe", "Umsatz", "Kauf", "Stadt", "Stammkunde"} <= set(columns)
    assert 130 < columns["Größe"]["low"] < columns["Größe"]["high"] < 210
    assert columns["Kauf"]["date"]
    assert {"Köln", "München", "Überlingen"} <= set(columns["Stadt"]["levels"])


def columns_in(data):
    """Every column of the data of a page, wherever it stands."""
    if isinstance(data, dict):
        if {"name", "kind"} <= data.keys():
            yield data
        for value in data.values():
            yield from columns_in(value)
    elif isinstance(data, list):
        for value in data:
            yield from columns_in(value)


def test_rows_of_a_counterfactual_can_be_joined_with_the_file(tmp_path):
    frame = table("wages")
    frame.loc[[3, 70], "wage"] = np.nan
    frame.to_csv(tmp_path / "w.csv", index=False)
    few = ("--set", "max_iter=5", "--no-report")
    run("embed", tmp_path / "w.csv", "--given", "union", "--missing", "drop", "--out", tmp_path / "out", *few)
    asked = ("--given", "union=yes", "--missing", "drop", "--label", "region")
    run("counterfactual", tmp_path / "out/model.sidelight", tmp_path / "w.csv", *asked, "--out", tmp_path / "c.csv")
    found = pd.read_csv(tmp_path / "c.csv")
    assert len(found) == len(frame) - 2
    kept = frame.drop(index=[3, 70])
    assert found["row"].tolist() == kept.index.tolist()
    assert found["rownames"].tolist() == kept["rownames"].tolist()
    assert list(found.columns[:2]) == ["row", "rownames"]


def test_a_number_array_cannot_hold_words(tmp_path):
    run("embed", FILES / "wages.csv", "--method", "ppca", "--out", tmp_path / "out", "--no-report")
    out = tmp_path / "out"
    message = refused("invert", out / "model.sidelight", out / "embedding.csv", "--out", tmp_path / "back.npy")
    assert "an array holds numbers, and union is none; end the name with .csv" in message


def test_the_user_says_what_a_column_is(tmp_path):
    kinds = ("--kind", "educ=category", "--kind", "popul=identifier")
    told = run("embed", FILES / "anes96.csv", "--method", "ppca", *kinds, "--out", tmp_path / "out", "--no-report")
    encoder = sidelight.load(tmp_path / "out/model.sidelight").steps[0][1]
    found = {use.name: use.kind for use in encoder.columns_}
    assert (found["educ"], found["popul"]) == ("category", "identifier")
    assert any("popul: identifier, left out (as you said)" in remark for remark in told["remarks"])
    message = refused("embed", FILES / "anes96.csv", "--kind", "edu=category", "--out", tmp_path / "x")
    assert "--kind edu=category: anes96.csv has no such column; did you mean educ?" in message
    message = refused(
        "embed", FILES / "anes96.csv", "--kind", "vote=number", "--given", "vote", "--out", tmp_path / "x"
    )
    assert "this column is given; use --given-type vote=number" in message


def test_standardize_options_keep_their_meaning(tmp_path):
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 3)) * [1, 5, 900] + 7, columns=list("abc"))
    frame.to_csv(tmp_path / "t.csv", index=False)
    expected = {"--standardize": (frame - frame.mean()) / frame.std(ddof=0), "--no-standardize": frame}
    for option, wanted in expected.items():
        out = tmp_path / option
        told = run("embed", tmp_path / "t.csv", option, "--method", "ppca", "--out", out, "--no-report")
        assert told["standardized"] == (option == "--standardize")
        encoder = sidelight.load(out / "model.sidelight").steps[0][1]
        np.testing.assert_allclose(encoder.transform(frame), wanted)


@pytest.mark.thorough
@pytest.mark.parametrize("method", ["kie", "ppca"])
def test_missing_entries_are_kept_by_default(method, tmp_path):
    frame = table("wages").drop(columns="rownames").mask(np.random.default_rng(0).random((150, 6)) < 0.1)
    frame.to_csv(tmp_path / "t.csv", index=False)
    told = run("embed", tmp_path / "t.csv", "--method", method, "--out", tmp_path / "out", *("--set", "max_iter=5"))
    assert told["rows"] == 150
    assert any(re.match(r"\d+ entries are missing, in \d+ of 150 rows: wage", remark) for remark in told["remarks"])
    out = tmp_path / "out"
    done = run("transform", out / "model.sidelight", tmp_path / "t.csv", "--out", tmp_path / "z.csv")
    assert done["rows"] == 150
    complete = frame.notna().all(axis=1)
    places, known = (pd.read_csv(file)[["z1", "z2"]][complete] for file in (tmp_path / "z.csv", out / "embedding.csv"))
    np.testing.assert_allclose(places, known, rtol=1e-6, atol=1e-6)
    assert "reconstruction_r2" in run("score", out / "model.sidelight", tmp_path / "t.csv")


def test_methods_that_take_no_gaps_say_so_with_the_way_out(tmp_path):
    frame = table("cars")
    message = refused("embed", FILES / "cars.csv", "--method", "isomap", "--out", tmp_path / "out")
    assert (
        "--method isomap takes no missing entries, and entries are missing in Miles_per_Gallon, Horsepower" in message
    )
    assert "use --method kie or ppca, --missing drop, or --missing mean" in message
    told = run(
        "embed", FILES / "cars.csv", "--method", "pca", "--missing", "drop", "--out", tmp_path / "b", "--no-report"
    )
    assert told["rows"] == len(frame.dropna())


def test_dates_that_are_given_are_dates(tmp_path):
    few = ("--set", "max_iter=5", "--no-report")
    told = run("embed", FILES / "orders.csv", "--given", "time", "--out", tmp_path / "out", *few)
    assert told["given"]["understood"].startswith("given: time (number)")


def test_new_rows_with_unseen_categories_and_new_columns_are_embedded_with_a_note(tmp_path):
    run("embed", FILES / "barley.csv", "--method", "ppca", "--out", tmp_path / "out", "--no-report")
    new = table("barley").head(5).assign(extra=1.0)
    new.loc[1, "site"] = "Atlantis"
    new[new.columns[::-1]].to_csv(tmp_path / "new.csv", index=False)
    told = run("transform", tmp_path / "out/model.sidelight", tmp_path / "new.csv", "--out", tmp_path / "z.csv")
    assert any("'site' has entries that fit has not seen ('Atlantis')" in note for note in told["warnings"])
    new.drop(columns="site").to_csv(tmp_path / "short.csv", index=False)
    message = refused(
        "transform", tmp_path / "out/model.sidelight", tmp_path / "short.csv", "--out", tmp_path / "y.csv"
    )
    assert "short.csv lacks the column site, which the model was fitted on" in message


def test_a_model_file_of_before_with_its_scaling_in_notes_still_works(tmp_path):
    frame = table("wine").drop(columns="target")
    scaling = Scaling(frame.mean().to_numpy(), frame.std(ddof=0).to_numpy())
    model = sidelight.ProbabilisticPCA(2).fit((frame - scaling.center) / scaling.scale)
    ModelFile(model, frame.mean().to_numpy(), scaling).save(tmp_path / "old.sidelight")
    table("wine").assign(name="a").to_csv(tmp_path / "wine.csv", index=False)
    run("transform", tmp_path / "old.sidelight", tmp_path / "wine.csv", "--out", tmp_path / "z.csv")
    places = pd.read_csv(tmp_path / "z.csv")[["z1", "z2"]]
    np.testing.assert_allclose(places, model.embedding_, atol=1e-9)
    run("invert", tmp_path / "old.sidelight", tmp_path / "z.csv", "--out", tmp_path / "x.csv")
    back = pd.read_csv(tmp_path / "x.csv")[list(frame.columns)]
    np.testing.assert_allclose(back, scaling.undo(model.inverse_transform(model.embedding_)))
    run("report", tmp_path / "old.sidelight", tmp_path / "wine.csv", "--out", tmp_path / "r.html")


@pytest.mark.thorough
def test_marks_of_missing_entries_are_missing_in_every_role(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 3)), columns=list("abc"))
    frame["work"] = rng.choice(["Private", "Gov", "?"], 60)
    frame["site"] = rng.choice(["north", "south", "-"], 60)
    frame.to_csv(tmp_path / "t.csv", index=False)
    few = ("--set", "max_iter=5")
    told = run("embed", tmp_path / "t.csv", "--given", "site", "--out", tmp_path / "out", *few)
    assert told["given"]["understood"].startswith("given: site (2 categories)")
    assert any("work: category" in remark and "'?' read as missing" in remark for remark in told["remarks"])
    page = (tmp_path / "out/report.html").read_text(encoding="utf-8")
    data = json.loads(re.search(r'<script type="application/json"[^>]*>(.*?)</script>', page, re.DOTALL)[1])
    columns = {one["name"]: one for one in columns_in(data)}
    assert set(columns["work"]["levels"]) == {"Private", "Gov"}
    assert set(columns["site"]["levels"]) == {"north", "south"}


def test_whole_numbers_with_gaps_are_written_whole(tmp_path):
    frame = table("wages").drop(columns="rownames")
    frame.loc[[3, 70], "education"] = np.nan
    frame.to_csv(tmp_path / "w.csv", index=False)
    run("embed", tmp_path / "w.csv", "--method", "ppca", "--out", tmp_path / "out", "--no-report")
    run("invert", tmp_path / "out/model.sidelight", tmp_path / "out/embedding.csv", "--out", tmp_path / "b.csv")
    back = pd.read_csv(tmp_path / "b.csv", dtype=str)
    assert back["education"].str.fullmatch(r"-?\d+").all()
    assert back["wage"].str.contains(".", regex=False).any()


def test_the_heading_of_a_report_counts_every_column_that_is_embedded(tmp_path):
    told = run("embed", FILES / "survey.csv", "--method", "ppca", "--out", tmp_path / "out")
    assert told["columns"] == 5  # free text among them, a constant, an identifier and an empty column not
    page = (tmp_path / "out/report.html").read_text(encoding="utf-8")
    assert "150 rows of 5 values on a map" in page
    assert "150 × 5<" in page

"""Commands that start from a model file."""

import sqlite3
from contextlib import closing

import numpy as np
import pandas as pd
import pytest

import sidelight


def latent(path):
    return pd.read_csv(path)[["z1", "z2"]].to_numpy()


def test_transform_matches_columns_by_name_in_any_order(fitted, table, run, here, frame, inner):
    assert run("transform", fitted / "model.sidelight", table, "--out", "z.csv").code == 0
    shuffled = frame[["kind", "depth", "height", "width", "length"]].assign(extra=1.5)
    shuffled.to_csv("shuffled.csv", index=False)
    assert run("transform", fitted / "model.sidelight", "shuffled.csv", "--out", "y.csv").code == 0
    np.testing.assert_array_equal(latent("z.csv"), latent("y.csv"))
    model = inner(fitted / "model.sidelight")
    np.testing.assert_allclose(latent("z.csv"), model.transform(frame.drop(columns="kind").to_numpy()))


def test_transform_one_by_one_equals_batch(fitted, table, run, frame):
    run("transform", fitted / "model.sidelight", table, "--out", "z.csv")
    frame.iloc[[17]].to_csv("one.csv", index=False)
    assert run("transform", fitted / "model.sidelight", "one.csv", "--out", "one-z.csv").code == 0
    np.testing.assert_allclose(latent("one-z.csv")[0], latent("z.csv")[17], rtol=1e-12)


def test_invert_names_the_columns_of_the_data_and_undoes_the_scaling(run, here, frame):
    wide = frame.assign(length=frame["length"] * 1e5 + 7e5)
    wide.to_csv("wide.csv", index=False)
    done = run("embed", "wide.csv", "--out", "out", "--method", "pca", "--no-report", "--json")
    assert done.answer["standardized"] is True
    assert run("invert", "out/model.sidelight", "out/embedding.csv", "--out", "x.csv").code == 0
    back = pd.read_csv("x.csv")
    of_rows, of_points = ["density", "unusual"], ["model_density", "model_unusual"]  # the points were written by embed
    assert list(back.columns) == ["row", *of_rows, "length", "width", "height", "depth", "kind", *of_points]
    assert (back["kind"] == wide["kind"]).mean() > 0.9
    assert back["unusual"].mean() < 0.05
    correlation = np.corrcoef(back["length"], wide["length"])[0, 1]
    assert correlation > 0.9
    assert abs(back["length"].mean() - wide["length"].mean()) < 0.1 * wide["length"].std()


def test_new_rows_get_the_scaling_of_the_old_ones(run, here, frame):
    wide = frame.assign(length=frame["length"] * 1e5)
    wide.to_csv("wide.csv", index=False)
    wide.head(3).to_csv("few.csv", index=False)
    run("embed", "wide.csv", "--out", "out", "--method", "pca", "--no-report")
    for name in ("wide", "few"):
        assert run("transform", "out/model.sidelight", f"{name}.csv", "--out", f"{name}-z.csv").code == 0
    np.testing.assert_allclose(latent("few-z.csv"), latent("wide-z.csv")[:3], rtol=1e-12)


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "npy"])
def test_tables_go_round_in_every_format(suffix, fitted, table, run, here):
    model = fitted / "model.sidelight"
    done = run("transform", model, table, "--out", f"z.{suffix}", "--json")
    assert done.code == 0, done.err
    assert done.answer["rows"] == 60
    assert run("invert", model, f"z.{suffix}", "--out", f"x.{suffix}").code == 0
    if suffix == "npy":
        assert np.load("z.npy").shape == (60, 2)
        assert np.load("x.npy").shape == (60, 4)
    assert run("invert", model, f"z.{suffix}", "--out", f"x.{suffix}").code == 1


def test_missing_columns_are_named(fitted, run, frame):
    frame.drop(columns=["width", "depth"]).to_csv("thin.csv", index=False)
    done = run("transform", fitted / "model.sidelight", "thin.csv", "--out", "z.csv")
    assert done.code == 1
    assert "thin.csv lacks the columns width, depth, which the model was fitted on" in done.err


def test_missing_values_of_new_rows_are_filled_with_the_means_of_the_old(fitted, run, frame, inner):
    first = frame.head(2).copy()
    first.loc[0, "width"] = None
    first.to_csv("gap.csv", index=False)
    refused = run("transform", fitted / "model.sidelight", "gap.csv", "--out", "z.csv")
    assert refused.code == 1
    assert "--missing mean" in refused.err
    assert run("transform", fitted / "model.sidelight", "gap.csv", "--out", "z.csv", "--missing", "mean").code == 0
    first.loc[0, "width"] = frame["width"].mean()
    model = inner(fitted / "model.sidelight")
    np.testing.assert_allclose(latent("z.csv"), model.transform(first.drop(columns="kind").to_numpy()))


def test_arrays_are_accepted_when_they_are_as_wide(fitted, run, frame, here):
    np.save("good.npy", frame.drop(columns="kind").to_numpy())
    np.save("bad.npy", np.zeros((3, 7)))
    assert run("transform", fitted / "model.sidelight", "good.npy", "--out", "z.csv").code == 0
    done = run("transform", fitted / "model.sidelight", "bad.npy", "--out", "y.csv")
    assert done.code == 1
    assert "rows have 7 columns, and the model was fitted on 4" in done.err


def test_points_of_the_wrong_dimension_are_refused(fitted, run, here):
    pd.DataFrame({"z1": [0.0]}).to_csv("flat.csv", index=False)
    done = run("invert", fitted / "model.sidelight", "flat.csv", "--out", "x.csv")
    assert done.code == 1
    assert "has 1 numeric column, and the model's latent space has 2" in done.err


def test_a_format_nobody_knows_is_refused_before_the_work(fitted, table, run):
    done = run("transform", fitted / "model.sidelight", table, "--out", "z.doc")
    assert done.code == 1
    assert "end the name with one of .csv, .tsv, .csv.gz, .tsv.gz, .parquet, .feather, .arrow, .jsonl, .npy" in done.err


@pytest.mark.parametrize("command", ["transform", "invert", "score", "report"])
def test_a_file_that_is_no_model_gets_one_line(command, table, run):
    out = [] if command == "score" else ["--out", "result.csv"]
    done = run(command, table, table, *out)
    assert done.code == 1
    assert done.err.count("\n") == 1
    assert "is not a Sidelight model" in done.err


def test_score_measures_reconstruction_neighbourhoods_and_density(fitted, table, run):
    answer = run("score", fitted / "model.sidelight", table, "--json").answer
    assert answer["rows"] == 60
    assert 0.5 < answer["reconstruction_r2"] <= 1
    assert 0.8 < answer["trustworthiness"] <= 1
    assert np.isfinite(answer["mean_log_density"])
    assert "trustworthiness" in run("score", fitted / "model.sidelight", table).out


def test_report_is_written_from_the_model_file(fitted, table, run, here):
    done = run("report", fitted / "model.sidelight", table, "--out", "page.html", "--colour", "kind")
    assert done.code == 0, done.err
    assert "sidelight embed" in (here / "page.html").read_text(encoding="utf-8")
    assert run("report", fitted / "model.sidelight", table, "--out", "page.html").code == 1


@pytest.mark.parametrize(
    "notes", [{"means": [1.0, 2.0]}, {"means": np.zeros(3)}, {"image_shape": "wide"}, {"command": 3}]
)
def test_notes_that_no_command_wrote_are_said(notes, fitted, table, run, here):
    model = sidelight.load(fitted / "model.sidelight")
    sidelight.save(model, here / "forged.sidelight", notes=notes)
    done = run("transform", "forged.sidelight", table, "--out", "z.csv")
    assert done.code == 1
    assert "was not written by `sidelight embed` (its note" in " ".join(done.err.split())


def test_a_mixture_is_scored_by_what_comes_back_and_by_its_density(table, frame, run, here):
    X = frame[["length", "width", "height", "depth"]].to_numpy()
    mixture = sidelight.PPCAMixture(3, 1, random_state=0).fit(X)
    sidelight.save(mixture, here / "mixture.sidelight")
    frame.drop(columns="kind").to_csv(here / "rows.csv", index=False)
    answer = run("score", "mixture.sidelight", "rows.csv", "--json").answer
    lost = np.square(X - mixture.denoise(X)).sum() / np.square(X - X.mean(axis=0)).sum()
    assert answer["reconstruction_r2"] == pytest.approx(1.0 - lost)
    assert answer["mean_log_density"] == pytest.approx(mixture.score(X))
    assert run("transform", "mixture.sidelight", "rows.csv", "--out", "z.csv").code == 0
    found = pd.read_csv("z.csv")
    np.testing.assert_allclose(found[["p1", "p2", "p3"]], mixture.transform(X))
    assert (found["cluster"] == mixture.predict(X) + 1).all()


def test_a_model_of_relations_alone_takes_no_rows(table, run, here):
    relations = {"kind": sidelight.Relation.from_labels(np.arange(20) % 2)}
    sidelight.save(sidelight.MultipleRelationalEmbedding(2).fit(None, relations=relations), here / "r.sidelight")
    done = run("transform", "r.sidelight", table, "--out", "z.csv")
    assert done.code == 1
    assert "was fitted on relations alone and takes no rows" in done.err


def test_points_are_read_from_a_sheet_or_by_a_query(fitted, run, here):
    pytest.importorskip("openpyxl", reason="writes the workbook that is read")
    points = pd.DataFrame({"z1": [0.0, 1.0], "z2": [0.5, -1.0]})
    points.to_csv("points.csv", index=False)
    with pd.ExcelWriter("points.xlsx") as book:
        pd.DataFrame({"note": ["points are on the other sheet"]}).to_excel(book, sheet_name="about", index=False)
        points.to_excel(book, sheet_name="where", index=False)
    with closing(sqlite3.connect("points.sqlite")) as base:
        points.assign(keep=[1, 1]).to_sql("one", base, index=False)
        points.to_sql("two", base, index=False)
    model = fitted / "model.sidelight"
    assert run("invert", model, "points.csv", "--out", "a.csv").code == 0
    done = run("invert", model, "points.xlsx", "--sheet", "where", "--out", "b.csv")
    assert done.code == 0, done.err
    done = run("invert", model, "points.sqlite", "--query", "SELECT z1, z2 FROM one WHERE keep", "--out", "c.csv")
    assert done.code == 0, done.err
    for name in ("b.csv", "c.csv"):
        pd.testing.assert_frame_equal(pd.read_csv(name), pd.read_csv("a.csv"))


def test_batches_keep_the_names_of_columns(run, here, frame):
    frame.to_parquet("flowers.parquet")
    done = run("embed", "flowers.parquet", "--batches", "--method", "pca", "--out", "out", "--no-report")
    assert done.code == 0, done.err
    frame.iloc[:5, ::-1].to_csv("some.csv", index=False)
    done = run("transform", "out/model.sidelight", "some.csv", "--out", "z.csv")
    assert done.code == 0, done.err
    np.testing.assert_allclose(latent("z.csv"), np.load("out/embedding.npy")[:5], atol=1e-9)
    assert run("invert", "out/model.sidelight", "z.csv", "--out", "x.csv").code == 0
    assert {"length", "width", "height", "depth"} <= set(pd.read_csv("x.csv").columns)
    frame.drop(columns="width").to_csv("narrow.csv", index=False)
    assert "width" in run("transform", "out/model.sidelight", "narrow.csv", "--out", "n.csv").err


def test_free_text_is_said_to_have_no_way_back(run, here, frame):
    words = np.random.default_rng(0).permutation([f"number {k} of the {k % 7} red garden" for k in range(60)])
    frame.assign(comment=words).to_csv("said.csv", index=False)
    assert (
        run("embed", "said.csv", "--kind", "comment=text", "--method", "pca", "--out", "out", "--no-report").code == 0
    )
    done = run("invert", "out/model.sidelight", "out/embedding.csv", "--out", "x.csv")
    assert done.code == 0, done.err
    assert done.out.count("comment: free text cannot be reconstructed, and is left out") == 1
    assert "comment" not in pd.read_csv("x.csv").columns


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_rows_of_a_model_keep_the_label_of_the_fit_and_may_have_another(run, here, frame):
    names = [f"flower {k}" for k in range(len(frame))]
    frame.assign(who=names, also=names).to_csv("rows.csv", index=False)
    embed = ("embed", "rows.csv", "--label", "who", "--given", "kind", "--no-report", "--set", "max_iter=10")
    assert run(*embed, "--out", "out").code == 0
    assert run("corrected", "out/model.sidelight", "rows.csv", "--out", "a.csv").code == 0
    assert pd.read_csv("a.csv").columns[:2].tolist() == ["row", "who"]
    assert run("transform", "out/model.sidelight", "rows.csv", "--label", "also", "--out", "b.csv").code == 0
    assert pd.read_csv("b.csv").columns[:2].tolist() == ["row", "also"]
    frame.to_csv("bare.csv", index=False)
    assert run("transform", "out/model.sidelight", "bare.csv", "--out", "c.csv").code == 0
    assert pd.read_csv("c.csv").columns[:2].tolist() == ["row", "z1"]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_model_of_complete_rows_says_why_it_takes_no_missing_entries(run, here, frame):
    frame.to_csv("rows.csv", index=False)
    assert run("embed", "rows.csv", "--no-report", "--set", "max_iter=10", "--out", "out").code == 0
    frame.head(3).assign(kind="tulip").to_csv("new.csv", index=False)
    done = run("transform", "out/model.sidelight", "new.csv", "--out", "z.csv")
    assert done.code == 1
    assert "Use --missing drop" in done.err
    assert "the rows of the fit were complete, so the model takes no missing entries" in done.err

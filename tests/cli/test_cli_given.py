"""``--given``: what is known is taken out of X, said, used where it is there, and averaged over where it is not."""

import numpy as np
import pandas as pd
import pytest

import sidelight
from sidelight.cli import _embed
from sidelight.cli._columns import ColumnRoles, choose_columns
from sidelight.cli._given import parse_periods, parse_types
from sidelight.cli._output import CommandError

FEATURES = ["a", "b", "c"]


@pytest.fixture(scope="module")
def lots():
    """Ninety measurements along an arc in three batches, each with an offset; the hour of each, some unknown."""
    rng = np.random.default_rng(0)
    t = np.tile(np.linspace(0, 3, 30), 3)
    batch = np.repeat(["x", "y", "z"], 30)
    offset = np.repeat([[0.0, 0, 0], [4, 0, 1], [0, -3, 2]], 30, axis=0)
    X = np.column_stack([np.cos(t), np.sin(t), 0.2 * t]) + offset + 0.01 * rng.normal(size=(90, 3))
    return pd.DataFrame(X, columns=FEATURES).assign(batch=batch, hour=(t * 8) % 24, t=t)


@pytest.fixture(scope="module")
def trained(lots, run, tmp_path_factory):
    """A folder with a model that was given the batch, and the answer of the command that made it."""
    folder = tmp_path_factory.mktemp("given")
    lots.to_csv(folder / "lots.csv", index=False)
    options = ("--given", "batch", "--drop", "hour", "--colour", "t", "--json", "--no-standardize")
    done = run("embed", folder / "lots.csv", "--out", folder / "out", *options)
    assert done.code == 0, done.err
    return folder, done.answer


def latent(path):
    return pd.read_csv(path)[["z1", "z2"]].to_numpy()


def test_the_given_column_is_factored_out_and_said(trained, lots):
    folder, answer = trained
    model = sidelight.load(folder / "out" / "model.sidelight")
    assert model.feature_names_in_.tolist() == FEATURES
    assert answer["given"]["columns"] == ["batch"]
    assert answer["given"]["understood"].startswith("given: batch (3 categories), explains ")
    assert 0.5 < answer["given"]["explained"] < 1
    written = pd.read_csv(folder / "out" / "embedding.csv")
    assert list(written.columns) == ["row", "z1", "z2", "t", "batch", "density", "unusual"]
    own = sidelight.KernelInformationEmbedding(random_state=0).fit(lots[FEATURES], given=lots[["batch"]])
    np.testing.assert_allclose(written[["z1", "z2"]].to_numpy(), own.embedding_)


def test_the_report_of_an_informed_map_measures_it_and_fits_no_other(trained):
    page = (trained[0] / "out" / "report.html").read_text(encoding="utf-8")
    assert "Given: batch (3 categories), explains" in page
    assert "<td>0.333</td>" in page
    assert "t, predicted from other groups" in page
    assert "plain map" not in page


@pytest.mark.thorough
def test_plain_shows_the_map_before_and_after(trained, run, here):
    folder, _ = trained
    options = ("--given", "batch", "--drop", "hour", "--colour", "t", "--plain")
    done = run("embed", folder / "lots.csv", "--out", "with", *options)
    assert done.code == 0, done.err
    assert "again, without given" in done.out
    done = run("report", "with/model.sidelight", folder / "lots.csv", "--out", "again.html", "--colour", "t", "--plain")
    assert done.code == 0, done.err
    for page in (here / "with" / "report.html", here / "again.html"):
        text = page.read_text(encoding="utf-8")
        assert '<th scope="col">plain map</th><th scope="col">this map</th>' in text
        assert "plain map, by what was given" in text


def test_a_plain_map_that_is_interrupted_before_there_is_one_is_left_out(trained, run, here, monkeypatch):
    def interrupted(model, X, side):
        if side:
            return once(model, X, side)
        raise KeyboardInterrupt

    once = _embed.fit_until_interrupted
    monkeypatch.setattr(_embed, "fit_until_interrupted", interrupted)
    done = run("embed", trained[0] / "lots.csv", "--out", "out", "--given", "batch", "--drop", "hour", "--plain")
    assert done.code == 0, done.err
    assert "plain map" not in (here / "out" / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "words"),
    [((), "use it with --given"), (("--given", "batch", "--no-report"), "the plain map is for the report")],
)
def test_plain_is_refused_where_it_shows_nothing(trained, run, here, options, words):
    done = run("embed", trained[0] / "lots.csv", "--out", "out", "--plain", *options)
    assert done.code == 1
    assert words in done.err


def test_numbers_that_are_given_are_not_embedded():
    frame = pd.DataFrame({"a": [0.1, 0.2, 0.4], "b": [3.0, 1.0, 2.5], "age": [31, 7, 55]})
    matrix = choose_columns(frame, ColumnRoles(given=["age"]), "t.csv")
    assert matrix.names == ["a", "b"]
    assert matrix.given["age"].tolist() == [31, 7, 55]
    assert list(matrix.colours.columns) == ["age"]


def test_transform_uses_the_given_column_where_the_file_has_it(trained, lots, run, here, inner):
    folder, _ = trained
    model = inner(folder / "out" / "model.sidelight")
    done = run("transform", folder / "out/model.sidelight", folder / "lots.csv", "--out", "z.csv")
    assert done.code == 0, done.err
    assert "given: batch, read from lots.csv" in done.out
    np.testing.assert_allclose(latent("z.csv"), model.transform(lots[FEATURES].to_numpy(), given=lots[["batch"]]))


def test_transform_averages_over_the_given_column_where_it_lacks_and_says_so(trained, lots, run, here):
    folder, _ = trained
    model = sidelight.load(folder / "out" / "model.sidelight")
    lots[FEATURES].to_csv("bare.csv", index=False)
    done = run("transform", folder / "out/model.sidelight", "bare.csv", "--out", "z.csv")
    assert done.code == 0, done.err
    assert "bare.csv has no column batch, so the result is averaged over it" in done.out
    np.testing.assert_allclose(latent("z.csv"), model.transform(lots[FEATURES]))
    assert run("transform", folder / "out/model.sidelight", "bare.csv", "-o", "y.csv", "--json").answer["given"] == []


def test_an_unknown_category_of_new_rows_is_one_line(trained, lots, run, here):
    lots.assign(batch="w").to_csv("new.csv", index=False)
    done = run("transform", trained[0] / "out/model.sidelight", "new.csv", "--out", "z.csv")
    assert done.code == 1
    assert "'w'" in done.err or "=w " in done.err
    assert "is not among the categories of 'batch'" in done.err
    assert done.err.count("\n") == 1
    assert "leave it empty to average over batch, or add it to the model with sidelight adapt" in done.err
    for command in ("corrected", "score"):
        out = () if command == "score" else ("--out", "z.csv")
        assert run(command, trained[0] / "out/model.sidelight", "new.csv", *out).err == done.err


def test_invert_shows_latent_points_for_a_value_of_what_was_given(trained, run, here, inner):
    folder, _ = trained
    model, points = inner(folder / "out" / "model.sidelight"), folder / "out" / "embedding.csv"
    done = run("invert", folder / "out/model.sidelight", points, "--given", "batch=y", "--out", "y.csv")
    assert done.code == 0, done.err
    assert "for batch = y; wrote y.csv" in done.out
    Z = latent(points)
    np.testing.assert_allclose(pd.read_csv("y.csv")[FEATURES].to_numpy(), model.inverse_transform(Z, given=["y"] * 90))
    own = run("invert", folder / "out/model.sidelight", points, "--out", "own.csv")
    assert "given: batch, read from embedding.csv" in own.out
    given = pd.read_csv(points)["batch"]
    np.testing.assert_allclose(pd.read_csv("own.csv")[FEATURES].to_numpy(), model.inverse_transform(Z, given=given))


def test_counterfactual_moves_rows_to_another_batch_and_leaves_the_rest(trained, lots, run, here):
    folder, _ = trained
    options = ("--given", "batch=y", "--out", "x.csv", "--label", "t")
    done = run("counterfactual", folder / "out/model.sidelight", folder / "lots.csv", *options)
    assert done.code == 0, done.err
    assert "90 rows shown again in 3 columns for batch = y" in done.out
    shown = pd.read_csv("x.csv")
    assert list(shown.columns) == ["row", "t", "overlap", "extrapolated", *FEATURES]
    truth = lots.loc[lots["batch"] == "y", FEATURES].to_numpy()
    for batch in ("x", "z"):
        error = np.abs(shown[FEATURES].to_numpy()[lots["batch"] == batch] - truth)
        assert error.mean() < 0.25


def test_counterfactual_says_what_is_kept_and_takes_what_the_rows_are_now(trained, lots, run, here, inner):
    folder, _ = trained
    model, ask = inner(folder / "out/model.sidelight"), ("counterfactual", folder / "out/model.sidelight")
    lots[lots["batch"] == "x"].drop(columns="batch").to_csv("bare.csv", index=False)
    given = ("--given", "batch=y", "--label", "t", "--force")
    told = run(*ask, "bare.csv", *given, "--now", "batch=x", "--residual", "1", "--out", "told.csv")
    assert "current values (batch) are known: rows keep 100% of their difference from similar rows" in told.out
    rows = lots.loc[lots["batch"] == "x", FEATURES].to_numpy()
    expected = model.counterfactual(rows, given="y", given_now="x", residual=1.0)
    np.testing.assert_allclose(pd.read_csv("told.csv")[FEATURES].to_numpy(), expected)
    refused = run(*ask, "bare.csv", *given, "--residual", "1", "--out", "no.csv")
    assert refused.code == 1
    assert "--residual: needs the current values of the rows; add --now batch=..." in refused.err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--given", "bach=y"], "--given bach=y: the model was not given a column bach; did you mean batch?"),
        (["--given", "day=y"], "the model was not given a column day; it was given batch"),
        (["--given", "batch=w"], "--given batch=w: batch has no category w; it has x, y, z"),
        (["--given", "batch"], "--given batch: write it as COLUMN=VALUE, for example batch=..."),
        ([], "name the new value with --given batch=..."),
    ],
)
def test_wrong_values_of_what_was_given_get_one_line(trained, run, here, arguments, sentence):
    folder, _ = trained
    done = run("counterfactual", folder / "out/model.sidelight", folder / "lots.csv", "--out", "x.csv", *arguments)
    assert done.code == 1
    assert sentence in done.err
    assert done.err.count("\n") == 1
    assert not (here / "x.csv").exists()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--given", "bacth"], "--given bacth: lots.csv has no such column; it has a, b, c, batch, hour, t; did you"),
        (["--given", "batch", "--method", "pca"], "--given: the method pca cannot use it; use --method kie"),
        (["--given", "batch", "--drop", "batch"], "--given batch: is named by --drop, too; give it one part"),
        (["--given", "batch", "--given-type", "angel"], "--given-type angel: no such type; choose category, number"),
        (["--given", "batch", "--given-type", "angel"], "for example 24; did you mean angle?"),
        (["--given", "batch", "--given-type", "hour=24"], "hour is not among the --given columns"),
        (["--given", "batch", "--given", "hour", "--given-type", "angle"], "name its column, for example batch="),
        (["--given-type", "angle"], "--given-type angle: needs a --given column"),
        (["--given", "batch", "--set", "given_types=angle"], "--set given_types: use --given-type for this"),
        (["--given", "batch", "--set", "conditioning.types=angle"], "--set conditioning.types: use --given-type"),
        (["--given", "batch", "--given-type", "number"], "'batch' holds entries that are not numbers"),
        (["--given", "batch", "--same", "a.csv", "--different", "b.csv"], "use --attribute, or leave --given out"),
        (["--given", "batch", "--same", "nothing.csv"], "--same nothing.csv: there is no such file"),
        (["--period", "t"], "--period t: write it as COLUMN=NUMBER, for example angle=360"),
    ],
)
def test_a_wrong_word_about_what_is_given_gets_one_line_and_no_files(trained, run, here, arguments, sentence):
    done = run("embed", trained[0] / "lots.csv", "--out", "out", *arguments)
    assert done.code == 1
    assert sentence in done.err
    assert done.err.count("\n") == 1
    assert not (here / "out").exists()


def test_types_are_words_or_periods():
    assert parse_types(["angle"], ["turn"]) == {"turn": "angle"}
    assert parse_types(["a=b=24"], ["a=b"]) == {"a=b": 24.0}
    assert parse_periods(["turn=360", "hour=24"]) == {"turn": 360.0, "hour": 24.0}
    with pytest.raises(CommandError, match="no such type"):
        parse_types(["-3"], ["turn"])


def test_several_columns_of_several_types_are_given_and_one_of_them_is_changed(trained, lots, run, here, inner):
    given = ("--given", "batch", "--given", "hour", "--given-type", "hour=24", "--period", "hour=24")
    done = run("embed", trained[0] / "lots.csv", "--out", "two", *given, "--no-report", "--no-standardize")
    assert done.code == 0, done.err
    assert "given: batch (3 categories), hour (period 24), explain " in done.out
    model, ask = inner("two/model.sidelight"), ("counterfactual", "two/model.sidelight")
    assert model.conditioning == sidelight.Conditioning(types={"hour": 24.0})
    assert run(*ask, trained[0] / "lots.csv", "--given", "batch=z", "--out", "x.csv").code == 0
    rows, own = lots[[*FEATURES, "t"]], lots[["batch", "hour"]]
    expected = model.counterfactual(rows.to_numpy(), given=own.assign(batch="z"), given_now=own)
    np.testing.assert_allclose(pd.read_csv("x.csv")[[*FEATURES, "t"]].to_numpy(), expected)
    rows.to_csv("bare.csv", index=False)
    refused = run(*ask, "bare.csv", "--given", "batch=z", "--out", "y.csv")
    assert refused.code == 1
    assert "bare.csv has no column hour; add --given hour=..." in refused.err
    assert run(*ask, "bare.csv", "--given", "batch=z", "--given", "hour=noon", "-o", "y.csv").code == 1
    assert run(*ask, "bare.csv", "--given", "batch=z", "--given", "hour=12", "-o", "y.csv").code == 0


@pytest.mark.thorough
def test_hints_are_read_from_a_file_of_row_numbers(trained, lots, run, here):
    pairs = np.array([[0, 30], [29, 59], [0, 60], [29, 89]])
    pd.DataFrame(pairs).to_csv("pairs.csv", index=False, header=False)
    np.save("pairs.npy", pairs)
    options = ("--given", "batch", "--drop", "hour", "--drop", "t", "--no-report", "--no-standardize")
    for name in ("pairs.csv", "pairs.npy"):
        done = run("embed", trained[0] / "lots.csv", "--out", name[-3:], *options, "--same", name)
        assert done.code == 0, done.err
        assert "4 pairs of corresponding rows." in done.out
    own = sidelight.KernelInformationEmbedding(random_state=0).fit(lots[FEATURES], given=lots[["batch"]], same=pairs)
    np.testing.assert_allclose(latent("csv/embedding.csv"), own.embedding_)
    np.testing.assert_allclose(latent("npy/embedding.csv"), own.embedding_)


def test_hints_count_the_rows_of_the_file_also_where_rows_are_dropped(trained, lots, run, here):
    gappy = lots.copy()
    gappy.loc[[0, 5], "a"] = np.nan
    gappy.to_csv("gappy.csv", index=False)
    pd.DataFrame([[1, 31], [0, 30]]).to_csv("pairs.csv", index=False, header=False)
    options = ("--given", "batch", "--drop", "hour", "--drop", "t", "--missing", "drop", "--same", "pairs.csv")
    done = run("embed", "gappy.csv", "--out", "out", *options, "--no-report")
    assert done.code == 0, done.err
    assert "1 pair of corresponding rows; 1 of rows that were left out are not used." in done.out


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("1,2,3\n4,5,6\n", "needs two columns of row numbers, and has 3"),
        ("0,90\n1,2\n", "there is no row 90; rows are counted from 0 to 89"),
        ("0,1.5\n1,2\n", "row numbers are whole numbers, and some are not"),
        ("one,other\na,b\n", "needs two columns of row numbers, and one holds text"),
    ],
)
def test_wrong_hints_get_one_line(trained, run, here, text, sentence):
    (here / "pairs.csv").write_text(text)
    done = run("embed", trained[0] / "lots.csv", "--given", "batch", "--same", "pairs.csv", "--out", "out")
    assert done.code == 1
    assert f"--same pairs.csv: {sentence}" in done.err


def test_rows_without_what_is_given_are_placed_and_counted(lots, run, here):
    lots.assign(batch=lots["batch"].where(lots.index % 10 > 0)).drop(columns=["hour", "t"]).to_csv("g.csv", index=False)
    done = run("embed", "g.csv", "--given", "batch", "--out", "out", "--no-report")
    assert done.code == 0, done.err
    assert "9 rows have missing given values; they are embedded by averaging over them." in done.out
    assert np.isfinite(latent("out/embedding.csv")).all()


@pytest.mark.thorough
def test_what_is_the_same_in_every_row_is_said_to_say_nothing(lots, run, here):
    lots.assign(batch="x").to_csv("g.csv", index=False)
    done = run("embed", "g.csv", "--given", "batch", "--out", "out")
    assert done.code == 0, done.err
    assert "given: batch: the same in every row, so there is nothing to factor out" in done.out


@pytest.mark.thorough
def test_obs_columns_of_anndata_can_be_given(lots, run, here):
    anndata = pytest.importorskip("anndata")
    obs = lots[["batch"]].astype("category").set_axis([f"c{i}" for i in range(90)])
    anndata.AnnData(lots[FEATURES].to_numpy(), obs=obs).write_h5ad("cells.h5ad")
    done = run("embed", "cells.h5ad", "--given", "batch", "--out", "out", "--no-report", "--json")
    assert done.code == 0, done.err
    assert done.answer["given"]["understood"].startswith("given: batch (3 categories)")
    again = run("transform", "out/model.sidelight", "cells.h5ad", "--out", "z.csv")
    assert "given: batch, read from cells.h5ad" in again.out
    own = sidelight.KernelInformationEmbedding(random_state=0).fit(lots[FEATURES].to_numpy(), given=lots["batch"])
    np.testing.assert_allclose(latent("out/embedding.csv"), own.embedding_)


def test_folders_of_pictures_can_be_given(run, here):
    from PIL import Image

    rng = np.random.default_rng(0)
    for folder, shade in (("dark", 0), ("light", 120)):
        (here / "album" / folder).mkdir(parents=True)
        for i in range(8):
            grey = (shade + 10 * i + rng.integers(0, 9, (5, 4))).astype(np.uint8)
            Image.fromarray(grey).save(here / "album" / folder / f"{i}.png")
    done = run("embed", "album", "--recursive", "--given", "folder", "--out", "out", "--no-report", "--json")
    assert done.code == 0, done.err
    assert done.answer["given"]["columns"] == ["folder"]
    assert run("transform", "out/model.sidelight", "album", "--recursive", "--out", "z.csv").code == 0


@pytest.mark.thorough
def test_score_and_report_use_what_the_file_says(trained, run, here):
    folder, _ = trained
    model = folder / "out" / "model.sidelight"
    informed = run("score", model, folder / "lots.csv", "--json").answer
    pd.read_csv(folder / "lots.csv").drop(columns="batch").to_csv("bare.csv", index=False)
    blind = run("score", model, "bare.csv", "--json").answer
    assert informed["reconstruction_r2"] > blind["reconstruction_r2"] + 0.1
    for data in (folder / "lots.csv", "bare.csv"):
        assert run("report", model, data, "--out", "page.html", "--force", "--period", "t=6").code == 0
    assert "so they are embedded by averaging over them" in (here / "page.html").read_text(encoding="utf-8")


@pytest.mark.thorough
def test_given_dates_are_asked_for_and_shown_as_dates(lots, run, here):
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(np.repeat([0, 100, 200], 30), unit="D")
    lots[FEATURES].assign(day=days.strftime("%d.%m.%Y")).to_csv("days.csv", index=False)
    done = run("embed", "days.csv", "--given", "day", "--out", "out", "--json")
    assert done.code == 0, done.err
    report = (here / "out" / "report.html").read_text(encoding="utf-8")
    assert "for day = 2020-04-10" in report
    asked = ("counterfactual", "out/model.sidelight", "days.csv", "--out", "then.csv", "--force", "--given")
    done = run(*asked, "day=10.04.2020")
    assert done.code == 0, done.err
    assert "for day = 10.04.2020" in done.out
    refused = run(*asked, "day=1700-01-01")
    assert "day is a number, and 1700-01-01 is none" in refused.err


def test_a_value_that_was_hardly_seen_is_said(lots, run, here):
    rare = lots.assign(batch=np.where(np.arange(90) < 4, "rare", lots["batch"]))
    rare[[*FEATURES, "batch"]].to_csv("rare.csv", index=False)
    assert run("embed", "rare.csv", "--given", "batch", "--out", "out", "--no-report").code == 0
    asked = ("counterfactual", "out/model.sidelight", "rare.csv", "--given", "batch=rare", "--out", "rows.csv")
    done = run(*asked)
    assert done.code == 0, done.err
    assert "90 of 90: the fit had fewer than ten rows with batch = rare, too few to rely on" in " ".join(
        done.out.split()
    )
    assert pd.read_csv("rows.csv")["overlap"].isna().all()


def test_the_warning_names_the_combination_that_is_counted_and_the_rows(lots, run, here):
    """Thirty rows have batch x and thirty are large, but no more than five are both."""
    size = np.where((np.arange(90) >= 30) & (np.arange(90) < 60), "large", "small")
    size[:5] = "large"
    table = lots[[*FEATURES, "batch"]].assign(size=size, name=[f"lot {i}" for i in range(90)])
    table.to_csv("sizes.csv", index=False)
    given = ("--given", "batch", "--given", "size")
    assert run("embed", "sizes.csv", *given, "--label", "name", "--out", "out", "--no-report").code == 0
    assert (lots["batch"] == "x").sum() >= 30
    asked = ("counterfactual", "out/model.sidelight", "sizes.csv", "--given", "batch=x", "--label", "name", "--force")
    told = " ".join(run(*asked, "--out", "told.csv").out.split())
    assert "35 of 90: the fit had fewer than ten rows with batch = x and their own size, too few to rely on" in told
    done = run(*asked, "--out", "rows.csv", "--json")
    written = pd.read_csv("rows.csv")
    assert done.answer["overlap_unknown_rows"] == np.flatnonzero(size == "large").tolist()
    assert written["overlap"].isna().tolist() == (size == "large").tolist()
    assert written.loc[written["extrapolated"], "row"].tolist() == done.answer["extrapolated_rows"]


def test_a_column_that_was_not_given_is_answered_with_the_command_that_gives_it(trained, run):
    folder, _ = trained
    done = run(
        "counterfactual", folder / "out/model.sidelight", folder / "lots.csv", "--given", "t=3", "--out", "x.csv"
    )
    said = done.err.split("Fit a second model: ")[1].strip()
    assert said.startswith("sidelight embed ")
    assert "--given batch" in said
    assert said.endswith("--given t")
    assert "/out_t " in said or "out_t " in said


def test_corrected_takes_the_effect_off_and_keeps_the_rest(trained, lots, run, here):
    folder, _ = trained
    X, batch = lots[FEATURES].to_numpy(), lots["batch"].to_numpy()
    done = run("corrected", folder / "out/model.sidelight", folder / "lots.csv", "--out", "rows.csv")
    assert done.code == 0, done.err
    written = pd.read_csv(here / "rows.csv")
    assert list(written.columns) == ["row", *FEATURES]
    rows = written[FEATURES].to_numpy()
    for name in "xyz":
        change = (rows - X)[batch == name]
        np.testing.assert_allclose(change, np.broadcast_to(change[0], change.shape), atol=1e-9)
    spread = [np.ptp([values[batch == name].mean(axis=0) for name in "xyz"], axis=0).max() for values in (X, rows)]
    assert spread[1] < 0.1 < 2.0 < spread[0]
    done = run("corrected", folder / "out/model.sidelight", folder / "lots.csv", "--to", "batch=y", "--out", "y.csv")
    assert done.code == 0, done.err
    moved = pd.read_csv(here / "y.csv")[FEATURES].to_numpy()
    np.testing.assert_allclose(moved[batch == "y"], X[batch == "y"], atol=1e-9)
    assert np.abs(moved[batch == "x"] - X[batch == "x"]).max() > 1.0
    done = run("corrected", folder / "out/model.sidelight", folder / "lots.csv", "--to", "batch=q", "--out", "q.csv")
    assert done.code == 1
    assert "--to batch=q: batch has no category q; it has x, y, z" in done.err


def test_corrected_needs_to_know_what_to_take_off(trained, lots, run, here):
    folder, _ = trained
    lots[FEATURES].to_csv(here / "bare.csv", index=False)
    done = run("corrected", folder / "out/model.sidelight", "bare.csv", "--out", "rows.csv")
    assert done.code != 0
    assert "bare.csv has no column batch" in done.err


def test_adapt_writes_a_model_that_knows_one_more_batch(trained, lots, run, here):
    folder, _ = trained
    later = lots[lots["batch"] == "x"].assign(batch="w")
    later[FEATURES] += 2.0
    pd.concat([lots, later])[[*FEATURES, "batch"]].to_csv("more.csv", index=False)
    done = run("adapt", folder / "out/model.sidelight", "more.csv", "--out", "wider.sidelight")
    assert done.code == 0, done.err
    said = " ".join(done.out.split())
    assert f"batch = 'w': its offset is from {len(later)} rows; its spread" in said
    assert "wrote wider.sidelight" in said
    assert run("corrected", "wider.sidelight", "more.csv", "--to", "batch=x", "--out", "rows.csv").code == 0
    moved = pd.read_csv(here / "rows.csv")[FEATURES].to_numpy()[len(lots) :]
    assert np.abs((moved - (later[FEATURES] - 2.0).to_numpy()).mean(axis=0)).max() < 0.5
    again = run("adapt", folder / "out/model.sidelight", folder / "lots.csv", "--out", "same.sidelight")
    assert again.code == 1
    assert "adapt: DATA=lots.csv has no category that the model does not know" in " ".join(again.err.split())


def test_colours_that_given_takes_out_are_said_before_the_fit(lots, run, here, monkeypatch):
    lots.assign(lane=lots["batch"].map({"x": "left", "y": "left", "z": "right"})).to_csv("lots.csv", index=False)
    monkeypatch.setattr(_embed, "fit", None)  # the warning comes first
    done = run("embed", "lots.csv", "--given", "batch", "--colour", "lane", "--colour", "t", "--drop", "hour")
    said = " ".join((done.err + done.out).split())
    assert said.count("embed: --colour=") == 1
    assert "embed: --colour='lane'" in said
    assert "factoring out 'batch' takes it out, too" in said

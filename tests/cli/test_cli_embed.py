"""``sidelight embed`` and the rest of the way: files, options, errors, interruption."""

from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest

import sidelight
from sidelight.cli import _embed, _write
from sidelight.cli._output import CommandError


def test_embedding_model_and_report_are_written(table, run, here, frame, inner):
    done = run("embed", table, "--out", "out", "--dims", "2")
    assert done.code == 0, done.err
    assert done.err == ""
    assert sorted(path.name for path in (here / "out").iterdir()) == [
        "embedding.csv",
        "model.sidelight",
        "report.html",
    ]
    written = pd.read_csv(here / "out" / "embedding.csv")
    whole, model = sidelight.load(here / "out" / "model.sidelight"), inner(here / "out" / "model.sidelight")
    assert isinstance(model, sidelight.KernelInformationEmbedding)
    assert list(written.columns) == ["row", "z1", "z2", "kind", "density", "unusual"]
    np.testing.assert_allclose(written[["z1", "z2"]].to_numpy(), model.embedding_)
    assert written["kind"].tolist() == frame["kind"].tolist()
    assert whole.feature_names_in_.tolist() == ["length", "width", "height", "depth", "kind"]
    np.testing.assert_allclose(whole.transform(frame), model.embedding_, atol=1e-9)
    assert model.callback is None
    assert "5 columns are embedded: 4 numbers (length, width, height, depth), 1 category (kind)." in done.out
    assert "wrote out/report.html" in done.out
    assert "sidelight embed" in (here / "out" / "report.html").read_text(encoding="utf-8")


def test_the_same_seed_gives_the_same_files(table, run, here):
    for name in ("one", "two"):
        assert run("embed", table, "--out", name, "--no-report", "--set", "init=random", "--seed", 4).code == 0
    one, two = ((here / name / "embedding.csv").read_bytes() for name in ("one", "two"))
    assert one == two


def test_a_setting_is_understood_under_its_former_name(table, run, here, inner):
    done = run("embed", table, "--out", "out", "--no-report", "--method", "hybrid", "--set", "distance=euclidean")
    assert done.code == 0, done.err
    assert inner(here / "out" / "model.sidelight").metric == "euclidean"


def test_json_is_the_only_thing_on_standard_output(table, run):
    done = run("embed", table, "--out", "out", "--method", "pca", "--no-report", "--json")
    assert done.code == 0, done.err
    answer = done.answer
    assert answer["rows"] == 60
    assert answer["columns"] == 5
    assert answer["interrupted"] is False
    assert answer["embedding"].endswith("embedding.csv")
    assert "report" not in answer


def test_quiet_says_nothing(table, run):
    done = run("embed", table, "--out", "out", "--method", "pca", "--no-report", "--quiet")
    assert (done.code, done.out, done.err) == (0, "", "")


def test_existing_results_are_not_overwritten_unasked(table, run, fitted):
    before = (fitted / "embedding.csv").read_bytes()
    again = ("embed", table, "--out", fitted, "--method", "pca", "--no-report", "--dims", 3)
    refused = run(*again)
    assert refused.code == 1
    assert refused.err.count("\n") == 1
    assert "exists already; use --force" in refused.err
    assert (fitted / "embedding.csv").read_bytes() == before
    assert run(*again, "--force").code == 0
    assert (fitted / "embedding.csv").read_bytes() != before


def test_a_failure_while_writing_leaves_neither_results_nor_litter(table, run, fitted, monkeypatch):
    before = {path.name: path.read_bytes() for path in fitted.iterdir()}

    def full(self, path):
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(_embed.ModelFile, "save", full)
    done = run("embed", table, "--out", fitted, "--method", "pca", "--no-report", "--dims", 3, "--force")
    assert done.code == 1
    assert "No space left on device" in done.err
    assert {path.name: path.read_bytes() for path in fitted.iterdir()} == before


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nothing.csv"], "nothing.csv: there is no such file or folder"),
        (["flowers.csv", "--colour", "petal"], "--colour petal: flowers.csv has no such column"),
        (
            ["flowers.csv", "--method", "magic"],
            "--method magic: no such method; choose from kie, ukr, smoother, hybrid, mds, tangent, semidefinite",
        ),
        (["flowers.csv", "--set", "perplexity"], "--set perplexity: write it as name=value"),
        (["flowers.csv", "--set", "wings=2"], "--set wings: kie has no such setting; it has bandwidth"),
        (
            ["flowers.csv", "--set", "data_kernel=sparse"],
            "--set data_kernel: has another name; write --set kernel.storage=sparse",
        ),
        (
            ["flowers.csv", "--set", "regularization_decay=0.8"],
            "--set regularization_decay: has another name; write --set regularization.decay=0.8",
        ),
        (["flowers.csv", "--set", "regularization.tol=0.1"], "--set regularization.tol: kie has no such setting"),
        (
            ["flowers.csv", "--set", "kernel.wings=2"],
            "--set kernel.wings: kie has no such setting; it has bandwidth, cond",
        ),
        (["flowers.csv", "--set", "init.wings=2"], "--set init.wings: kie has no such setting; it has bandwidth, cond"),
        (["flowers.csv", "--set", "kernel.=2"], "--set kernel.=2: write it as name=value"),
        (["flowers.csv", "--set", "regularization.decay=2"], "regularization.decay=2 is not a number in range"),
        (["flowers.csv", "--method", "pca", "--set", "kernel.storage=sparse"], "pca has no such setting"),
        (["flowers.csv", "--set", "n_components=2"], "--set n_components: use --dims for this"),
        (["flowers.csv", "--set", "perplexity=-4"], "perplexity=-4"),
        (["flowers.csv", "--image-shape", "9x9"], "--image-shape 9x9: rows have 4 columns"),
        (["flowers.csv", "--out", "flowers.csv"], "is a file; give a folder"),
    ],
)
def test_a_wrong_request_gets_one_line_and_no_files(arguments, sentence, table, run, here):
    done = run("embed", *arguments)
    assert done.code == 1
    assert sentence in done.err
    assert done.err.count("\n") == 1
    assert "Traceback" not in done.err
    assert [path.name for path in here.iterdir()] == ["flowers.csv"]
    as_json = run("embed", *arguments, "--json")
    assert as_json.code == 1
    assert sentence in as_json.answer["error"]


def test_usage_errors_keep_their_exit_code_in_both_tongues(table, run):
    assert run("embed").code == 2
    assert run("embed", table, "--dims", "zero").code == 2
    assert run("embed", table, "--image-size", "large").code == 2
    done = run("embed", table, "--dims", "zero", "--json")
    assert done.code == 2
    assert "--dims" in done.answer["error"]


def test_debug_shows_where_an_error_comes_from(run, here):
    assert isinstance(run("embed", "nothing.csv", "--debug").exception, CommandError)
    assert isinstance(run("embed", "nothing.csv").exception, SystemExit)


def test_missing_values_are_refused_dropped_or_filled(run, here, frame):
    frame.loc[[3, 7], "width"] = None
    frame.to_csv("gaps.csv", index=False)
    options = ("embed", "gaps.csv", "--method", "pca", "--no-report", "--out")
    refused = run(*options, "a", "--missing", "error")
    assert refused.code == 1
    assert "2 of 60 rows have missing or infinite values, in the columns width (2); rows 3, 7." in refused.err
    assert run(*options, "b", "--missing", "drop").code == 0
    rows = pd.read_csv("b/embedding.csv")["row"].tolist()
    assert rows == [row for row in range(60) if row not in (3, 7)]
    assert run(*options, "c", "--missing", "mean").code == 0
    assert len(pd.read_csv("c/embedding.csv")) == 60


def test_pictures_are_embedded_with_their_names(run, here):
    from PIL import Image

    (here / "album").mkdir()
    for i in range(12):
        Image.fromarray(np.random.default_rng(i).integers(0, 256, (5, 4), dtype=np.uint8)).save(f"album/{i:02}.png")
    done = run("embed", "album", "--out", "out", "--method", "pca", "--no-report")
    assert done.code == 0, done.err
    assert pd.read_csv("out/embedding.csv")["file"].tolist()[1] == "01.png"
    again = run("transform", "out/model.sidelight", "album", "--out", "z.csv")
    assert again.code == 0, again.err
    assert len(pd.read_csv("z.csv")) == 12


def test_anndata_gets_the_embedding_in_obsm(run, here, frame):
    anndata = pytest.importorskip("anndata")
    X = frame.drop(columns="kind").to_numpy(copy=True)  # pandas 3 gives a read-only view
    X[4, 0] = np.nan
    cells = anndata.AnnData(X, obs=frame[["kind"]].set_axis([f"c{i}" for i in range(60)]))
    cells.write_h5ad("cells.h5ad")
    done = run("embed", "cells.h5ad", "--out", "out", "--method", "pca", "--no-report", "--missing", "drop", "--json")
    assert done.code == 0, done.err
    assert done.answer["anndata"].endswith("data.h5ad")
    Z = anndata.read_h5ad("out/data.h5ad").obsm["X_sidelight"]
    written = pd.read_csv("out/embedding.csv")
    assert np.isnan(Z[4]).all()
    np.testing.assert_allclose(np.delete(Z, 4, axis=0), written[["z1", "z2"]].to_numpy())
    assert written["obs_name"].iloc[4] == "c5"


@contextmanager
def impatient(talk, text):
    """A progress bar in front of somebody who presses Ctrl-C at the fifth iteration."""
    calls = []

    def callback(state):
        calls.append(state)
        if len(calls) == 5:
            raise KeyboardInterrupt
        return False

    yield callback


def test_an_interrupted_fit_keeps_the_best_so_far(table, run, here, monkeypatch):
    monkeypatch.setattr(_embed, "bar", impatient)
    done = run("embed", table, "--out", "out", "--no-report")
    assert done.code == 130
    assert "Interrupted after" in done.out
    assert np.isfinite(pd.read_csv("out/embedding.csv")[["z1", "z2"]].to_numpy()).all()
    assert run("transform", "out/model.sidelight", table, "--out", "z.csv").code == 0
    assert run("embed", table, "--out", "again", "--no-report", "--json").answer["interrupted"] is True


def test_an_interruption_before_there_is_anything_writes_nothing(table, run, here, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(_embed, "read", stop)
    done = run("embed", table, "--out", "out")
    assert done.code == 130
    assert "no file was written" in done.err
    assert not (here / "out").exists()


def test_a_bug_is_one_line_that_points_to_debug(table, run, monkeypatch):
    def broken(*_, **__):
        raise KeyError("oops")

    monkeypatch.setattr(_embed, "read", broken)
    done = run("embed", table)
    assert done.code == 1
    assert done.err.count("\n") == 1
    assert "unexpected KeyError" in done.err
    assert "--debug" in done.err


def test_embedding_columns_and_data_columns_of_one_name_both_survive(frame):
    from sidelight.cli._matrix import Matrix

    colours = pd.DataFrame({"z1": frame["kind"]})
    names = pd.Series(frame["kind"], name="row")
    matrix = Matrix(np.ones((60, 2)), colours=colours, row_names=names)
    written = _write.embedding_frame(matrix, np.zeros((60, 2)), ["z1", "z2"])
    assert list(written.columns) == ["row", "row (data)", "z1", "z2", "z1 (data)"]

"""``sidelight explore``: a model and its data, data alone, a session replayed; the page itself is tested elsewhere."""

import json
import sys

import numpy as np
import pandas as pd
import pytest

import sidelight
from sidelight.cli._output import Output

pytest.importorskip("starlette", reason="needs the extra explore")
pytest.importorskip("uvicorn", reason="needs the extra explore")

QUICK = ["--set", "max_iter=15", "--set", "tol=0.01"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("explore")
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(60, 3)) * [1, 20, 3], columns=["length", "width", "height"])
    table["batch"] = np.repeat(["a", "b"], 30)
    table["length"] += 4.0 * (table["batch"] == "b")
    table.to_csv(place / "data.csv", index=False)
    return place


@pytest.fixture
def pages(monkeypatch):
    """Explorers that the command would serve; nothing is waited for."""
    from sidelight.explorer import serving

    found = []

    def wait(page):
        found.append(page._explorer)

    monkeypatch.setattr(serving.Served, "wait", wait)
    monkeypatch.setattr(serving.webbrowser, "open", lambda address: True)
    return found


def run(*arguments):
    from sidelight.cli._app import app

    with pytest.raises(SystemExit) as ended:
        app([str(argument) for argument in arguments])
    return ended.value.code


@pytest.mark.thorough
def test_a_table_is_embedded_and_a_session_of_it_can_be_replayed(folder, pages, capsys, tmp_path):
    data = folder / "data.csv"
    assert run("explore", data, "--colour", "batch", *QUICK, "--out", tmp_path / "kept", "--json") == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["address"].startswith("http://127.0.0.1:")
    explorer = pages.pop()
    assert set(explorer.columns) == {"batch"}
    assert next(column["name"] for column in explorer.state()["columns"]) == "batch"
    row = explorer.map().row(0)
    np.testing.assert_allclose(row["values"], pd.read_csv(data).iloc[0, :3].astype(float), rtol=1e-9)

    model, session = explorer.save()
    explorer.say([sidelight.explorer.Statement("factor_out", column="batch")])
    explorer.session = explorer.session.mapped("")
    explorer.session.save(session)
    assert run("explore", model, data, "--replay", session, "--out", tmp_path / "new.sidelight") == 0
    found = sidelight.load(tmp_path / "new.sidelight")
    last = found.steps[-1][1] if hasattr(found, "steps") else found
    assert [column.name for column in last.given_.columns] == ["batch"]
    assert run("transform", tmp_path / "new.sidelight", data, "--out", tmp_path / "places.csv") == 0
    pd.read_csv(data).iloc[::-1].to_csv(tmp_path / "other.csv", index=False)
    assert run("explore", model, tmp_path / "other.csv", "--replay", session, "--out", tmp_path / "no.sidelight") == 1
    assert "another than the session was made with" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["keeps_none.sidelight"], "this ProbabilisticPCA does not keep its rows"),
        (["given.sidelight"], "the model was given batch"),
        (["data.csv", "other.csv"], "is no model file"),
        (["data.csv", "--replay", "session.json"], "give the model"),
    ],
)
def test_what_is_missing_is_said(arguments, said, capsys, monkeypatch, folder):
    monkeypatch.chdir(folder)
    X = np.random.default_rng(0).normal(size=(30, 3))
    if "keeps_none.sidelight" in arguments:
        sidelight.save(sidelight.ProbabilisticPCA().fit(X), "keeps_none.sidelight")
    if "given.sidelight" in arguments:
        made = sidelight.KernelInformationEmbedding(max_iter=5, tol=0.1)
        sidelight.save(made.fit(X, given={"batch": np.repeat(["a", "b"], 15)}), "given.sidelight")
    assert run("explore", *arguments) == 1
    assert said in " ".join(capsys.readouterr().err.split())


@pytest.mark.thorough
def test_a_model_alone_is_explored_by_the_rows_that_it_keeps(folder, pages, tmp_path, capsys):
    data = folder / "data.csv"
    assert run("embed", data, "--drop", "batch", *QUICK, "--out", tmp_path / "m", "--no-report") == 0
    assert run("explore", tmp_path / "m" / "model.sidelight", "--no-open") == 0
    explorer = pages.pop()
    np.testing.assert_allclose(explorer.map().row(7)["values"], pd.read_csv(data).iloc[7, :3].astype(float), rtol=1e-9)
    np.testing.assert_allclose(explorer.points(None, (0, 1)), explorer.map().fitted.model.embedding_, rtol=1e-5)
    command = explorer.state()["code"]["command"]
    assert "data.csv" not in command
    assert "DATA" not in command
    assert "those that the model keeps" in " ".join(capsys.readouterr().out.split())


@pytest.mark.thorough
def test_export_writes_one_file_and_opens_no_page(folder, pages, tmp_path, capsys):
    page = tmp_path / "page.html"
    arguments = ["explore", folder / "data.csv", "--colour", "batch", *QUICK, "--export", page, "--json"]
    assert run(*arguments) == 0
    assert json.loads(capsys.readouterr().out)["bytes"] == page.stat().st_size > 50_000
    assert not pages
    assert run(*arguments) == 1
    assert "exists already" in capsys.readouterr().err


@pytest.mark.thorough
def test_the_demo_opens_with_hints_already_said(pages, tmp_path):
    from sidelight.cli._demo import demo_page

    demo_page(Output(quiet=True), tmp_path, n_views=6, settings={"max_iter": 10, "tol": 0.01}, browser=False)
    state = pages.pop().state()
    assert [one["kind"] for one in state["statements"]] == ["factor_out", "same", "same"]
    assert not state["fresh"]
    assert state["image"]


def test_the_demo_says_what_to_install_before_it_embeds_anything(tmp_path, monkeypatch):
    from sidelight.cli._demo import demo_page

    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(ImportError, match=r"demo --explore needs uvicorn.*sidelight\[explore\]"):
        demo_page(Output(quiet=True), tmp_path, n_views=6, settings={}, browser=False)
    assert not list(tmp_path.iterdir())

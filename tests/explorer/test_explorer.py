"""The state behind the page, without a server: questions, statements, fits in a worker, undo, files."""

import csv
import io
import json
import os
import signal
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import sidelight
from sidelight import explorer as room
from sidelight.explorer import Session, Statement
from sidelight.explorer._answers import respond
from sidelight.explorer._explorer import Explorer, Setting
from sidelight.explorer._plain import plain
from sidelight.explorer._table import table_of


def test_decoding_a_place_is_the_inverse_of_the_model_with_what_was_chosen(given_model, views, columns):
    table = table_of(given_model, views.X, {"angle": columns["angle"]}, given={"object": columns["object"]})
    shown = Explorer(given_model, table).map()
    place = shown.places[5]
    for chosen in (None, "duck", "mug"):
        found = shown.decode(place.tolist(), 5, (0, 1), None if chosen is None else {"object": chosen})
        own = {} if chosen is None else {"given": chosen}
        np.testing.assert_allclose(found["values"], given_model.inverse_transform(place[None], **own)[0], atol=1e-12)
    with pytest.raises(ValueError, match="is no category"):
        shown.decode(place.tolist(), 5, (0, 1), {"object": "cow"})
    with pytest.raises(ValueError, match="does not say object"):
        shown.decode(place.tolist(), 5, (0, 1), {"angle": 3})
    assert shown.controls() == [{"name": "object", "kind": "category", "values": ["car", "duck", "mug"]}]
    other = shown.counterfactual(np.arange(3), {"object": "mug"})["rows"]
    now = {"given_now": columns["object"][:3]}
    np.testing.assert_allclose(other[1]["then"], given_model.counterfactual(views.X[:3], given="mug", **now)[1])


def test_a_painted_page_gets_the_model_ready_once_for_the_pointer(given_model, views, columns, monkeypatch):
    explorer = Explorer(given_model, table_of(given_model, views.X, given={"object": columns["object"]}))
    shown, asked = explorer.map(), []
    real = type(shown)._decoded

    def decoded(self, place, row, axes, chosen):
        asked.append(place)
        time.sleep(0.05)  # so that all threads are at it together
        return real(self, place, row, axes, chosen)

    monkeypatch.setattr(type(shown), "_decoded", decoded)
    place = shown.places[5].tolist()
    with ThreadPoolExecutor(4) as pool:
        requests = [("GET", "measures", "map=0", {}), *[("POST", "decode", "", {"place": place})] * 3]
        answers = list(pool.map(lambda one: respond(explorer, *one), requests))
    assert [one.status for one in answers] == [200] * 4
    assert len([one for one in asked if one != place]) == 2  # of the average and of a category, and by one thread
    values = json.loads(answers[1].content)["values"]
    np.testing.assert_allclose(values, given_model.inverse_transform([place])[0], atol=1e-12)


def test_requests_at_once_keep_their_own_warnings(given_model, views, columns, monkeypatch):
    """Filters of warnings are of the process: one request must not end while another one records."""

    def warns_late(self, X, *, given, given_now):
        time.sleep(0.01 * float(X[0, 0]))
        warnings.warn("far from all rows", UserWarning, stacklevel=2)
        return X

    monkeypatch.setattr(type(given_model), "counterfactual", warns_late)
    X = views.X.copy()
    X[:, 0] = np.arange(len(X)) % 5
    shown = Explorer(given_model, table_of(given_model, X, given={"object": columns["object"]})).map()
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda row: shown.counterfactual(np.array([row]), {"object": "mug"}), range(24)))
    assert [one["remarks"] for one in found] == [["far from all rows"]] * 24


def test_what_sets_a_selection_apart_is_in_front_with_an_interval_that_holds_it():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    X[:80, 3] = 1.5 * X[:80, 3] + 4.0
    model = sidelight.TwoWayEmbedding().fit(X)
    shown = Explorer(model, table_of(model, X, {"kind": np.repeat(["a", "b"], [80, 120])})).map()
    found = shown.summary(np.arange(80), None)
    first = found["features"][0]
    assert (first["name"], found["count"], found["others"]) == ("x4", 80, 120)
    assert first["low"] < first["effect"] < first["high"]
    np.testing.assert_allclose([first["here"], first["there"]], [X[:80, 3].mean(), X[80:, 3].mean()])
    assert first["fdr"] < 1e-6
    assert found["columns"] == [{"name": "kind", "values": [{"value": "a", "count": 80}]}]
    two = shown.summary(np.arange(10), np.arange(10, 80))["features"]
    assert two[0]["low"] < 0 < two[0]["high"] or two[0]["fdr"] > 1e-6


def test_dates_and_numbers_of_any_type_are_told_as_such():
    X = np.random.default_rng(0).normal(size=(80, 3))
    days = np.datetime64("2024-01-01", "ns") + np.arange(80) * np.timedelta64(1, "D")
    days[5] = np.datetime64("NaT", "ns")
    ages = np.arange(80).astype(float).astype(object)  # as ``given`` keeps them
    ages[3] = None
    model = sidelight.TwoWayEmbedding().fit(X)
    columns = {"day": days, "age": ages, "count": np.arange(80), "few": np.arange(80) % 3}
    explorer = Explorer(model, table_of(model, X, columns))
    assert explorer.map().row(4)["columns"] == {"day": "2024-01-05", "age": 4.0, "count": 4, "few": 1}
    assert explorer.map().row(5)["columns"]["day"] is None
    told = {one["name"]: one for one in explorer.map().summary(np.arange(60), None)["columns"]}
    first = (days[0].astype("datetime64[D]") - np.datetime64("1970-01-01")).astype(int)
    assert told["day"]["range"][::2] == [first, first + 59]
    assert told["day"]["date"]
    assert told["age"]["range"][::2] == told["count"]["range"][::2] == [0, 59]
    assert told["few"]["values"][0]["count"] == 20
    lines = explorer.export(np.arange(4, 7)).splitlines()
    assert [line.split(",")[3] for line in lines] == ["day", "2024-01-05", "", "2024-01-07"]
    assert "nan" not in explorer.export(np.arange(10))


def test_columns_of_pandas_are_told_with_their_gaps_zones_and_spans():
    pandas = pytest.importorskip("pandas")
    n, rng = 30, np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    model = sidelight.ProbabilisticPCA(2).fit(X)
    known = pandas.DataFrame({
        "flag": pandas.array([True, None, False] * 10, dtype="boolean"),
        "word": pandas.array(["a", None, "b"] * 10, dtype="string"),
        "when": pandas.date_range("2020-01-01", periods=n, tz="Europe/Berlin"),
        "span": pandas.to_timedelta(np.arange(n) * 12.0, unit="h"),
    })  # fmt: skip
    explorer = Explorer(model, table_of(model, X, known))
    heads = {one["name"]: one for one in explorer.state()["columns"]}
    assert heads["flag"]["levels"] == ["False", "True"]
    assert heads["word"]["levels"] == ["a", "b"]
    assert heads["when"]["date"]
    assert (heads["span"]["low"], heads["span"]["high"]) == (0, 14.5)  # days
    assert explorer.map().row(1)["columns"] == {
        "flag": None, "word": None, "when": "2020-01-01 23:00:00", "span": 0.5,
    }  # fmt: skip
    assert len(explorer.export(np.arange(3)).splitlines()) == 4
    assert explorer.map().summary(np.arange(3), None)["count"] == 3
    with pytest.raises(ValueError, match="'a' is the name of two columns"):
        table_of(model, pandas.DataFrame(X, columns=["a", "b", "a"]))


def test_one_row_alone_is_sure_of_nothing_that_its_others_do_not_show():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 40))
    model = sidelight.TwoWayEmbedding().fit(X)
    shown = Explorer(model, table_of(model, X)).map()
    rates = [min(one["fdr"] for one in shown.summary(np.array([row]), None)["features"]) for row in range(40)]
    assert np.mean(np.array(rates) < 0.05) < 0.15  # rows are draws of one distribution: a rate of 0.05
    pairs = [shown.summary(np.array([k]), np.array([k + 40]))["features"] for k in range(40)]
    assert np.mean([min(one["fdr"] for one in found) < 0.05 for found in pairs]) < 0.15
    assert all(one["low"] < one["effect"] < one["high"] for found in pairs for one in found)
    far = X.copy()
    far[0, 7] = 60.0
    shown = Explorer(model, table_of(model, far)).map()
    first = shown.summary(np.array([0]), None)["features"][0]
    assert (first["name"], first["fdr"] < 1e-6, first["low"] > 10) == ("x8", True, True)


def test_layers_are_grids_of_what_the_model_says(explorer):
    shown = explorer.map()
    extent = [*np.quantile(shown.places[:, 0], [0, 1]), *np.quantile(shown.places[:, 1], [0, 1])]
    density = shown.layer("density", extent, (0, 1), None)
    assert len(density["values"]) == density["size"] ** 2
    assert density["high"] == 1.0
    corner = shown.model.predictive_variance(np.array([[extent[0], extent[2]]]))
    spread = shown.layer("uncertainty", extent, (0, 1), None)["values"][0]
    np.testing.assert_allclose(spread, np.sqrt(corner.mean()))
    with pytest.raises(ValueError, match="not offered"):
        shown.layer("weather", extent, (0, 1), None)


def test_undo_goes_back_one_step_at_a_time(explorer):
    before = explorer.session
    explorer.say([Statement("drop", rows=[1])])
    explorer.switch(0)
    assert not explorer.state()["statements"][0]["on"]
    explorer.undo()
    assert explorer.state()["statements"][0]["on"]
    explorer.undo()
    assert explorer.session == before
    with pytest.raises(ValueError, match="was done yet"):
        explorer.undo()
    with pytest.raises(ValueError, match="points past the last row"):
        explorer.say([Statement("drop", rows=[36])])
    with pytest.raises(ValueError, match="is no map: there are 1"):
        explorer.visit(3)
    assert explorer.session == before


def test_a_csv_has_no_cell_that_a_spreadsheet_would_run(model, views):
    evil = np.array(["=1+1", "@SUM(A1)", "+3", "-2", "fine"] * 7 + ["a,b\n"], dtype=object)
    explorer = Explorer(model, table_of(model, views.X, {"=cmd": evil}, image_shape=views.image_shape))
    lines = list(csv.reader(io.StringIO(explorer.export(np.array([0, 1, 4, 35])))))
    assert lines[0][:4] == ["row", "z1", "z2", "'=cmd"]
    assert [line[3] for line in lines[1:]] == ["'=1+1", "'@SUM(A1)", "fine", "a,b\n"]
    assert float(lines[1][1]) == model.embedding_[0, 0]


@pytest.mark.thorough
def test_the_report_of_a_map_is_written_beside_its_model(given_model, views, columns, tmp_path):
    names = [f"view {row}" for row in range(36)]
    known = {"angle": columns["angle"]}
    table = table_of(
        given_model, views.X, known, {"object": columns["object"]}, row_names=names, image_shape=views.image_shape
    )
    explorer = Explorer(given_model, table, (), Setting("<b>", tmp_path / "kept", {}, {"angle": 360.0, "other": 1.0}))
    status = respond(explorer, "POST", "report", "", {})
    path = tmp_path / "kept" / "report.html"
    assert json.loads(status.content) == {"written": [str(path)]}
    text = path.read_text()
    assert "&lt;b&gt;" in text
    assert "view 35" in text
    assert "object" in text
    own = sidelight.report.write(
        given_model, tmp_path / "own.html", X=views.X, given={"object": columns["object"]}, row_names=names,
        colours={**known, "object": columns["object"]}, periods={"angle": 360.0}, image_shape=views.image_shape,
        title="<b>",
    )  # fmt: skip
    assert path.read_bytes() == own.read_bytes()


def test_plain_values_are_json(explorer):
    import json

    state = plain(explorer.state())
    assert json.loads(json.dumps(state, allow_nan=False)) == state
    assert plain({"a": np.float32("nan"), "b": (np.int64(3),)}) == {"a": None, "b": [3]}


@pytest.mark.thorough
def test_hints_said_and_fitted_in_the_worker_are_what_a_script_gets(explorer, model, views, columns, hints, refitted):
    first = explorer.points(None, (0, 1)).tobytes()
    before = explorer.measures(0)
    explorer.say(hints)
    assert refitted(explorer)["state"] == "done"
    after = explorer.measures(1)
    told = [found["columns"][0]["value"] for found in (explorer.measures(0), after)]
    assert told[1] < told[0] - 0.3  # what was factored out is told by neighbours no longer
    assert before["columns"] == []
    written = explorer.save()
    script = room.replay(Session.load(written[1]), model, views.X, columns)
    assert script.embedding_.tobytes() == explorer.map().fitted.embedding.tobytes()
    assert sidelight.load(written[0]).embedding_.tobytes() == script.embedding_.tobytes()
    assert explorer.points(None, (0, 1)).tobytes() != first
    explorer.undo()
    assert explorer.points(None, (0, 1)).tobytes() == first


@pytest.mark.thorough
@pytest.mark.parametrize("how", ["killed", "stopped", "refused"])
def test_a_fit_that_does_not_end_well_keeps_the_old_map(how, explorer):
    first, session = explorer.points(None, (0, 1)).tobytes(), explorer.session
    if how == "refused":
        explorer.say([Statement("label", rows=[1], column="c", value="x"), Statement("factor_out", column="c")])
        session = explorer.session
    explorer.refit()
    if how == "killed":
        os.kill(explorer.job.process.pid, signal.SIGKILL)
    elif how == "stopped":
        with pytest.raises(ValueError, match="still running"):
            explorer.refit()
        explorer.stop()
    explorer.job.wait(30)
    state = explorer.job_state()
    assert state["state"] == {"killed": "failed", "stopped": "stopped", "refused": "failed"}[how]
    assert "The old map is kept." in state["message"]
    assert explorer.session == session
    assert explorer.points(None, (0, 1)).tobytes() == first


def test_pinned_rows_are_those_that_the_next_map_is_aligned_by(explorer, model):
    from sidelight.explorer._fit import Fitted

    class Done:
        state, message, seconds, progress = "done", "", 1.0, {}
        statements = (Statement("pin", rows=[0, 1, 2, 3]),)

    moved = model.embedding_.copy()
    moved[4:] += np.random.default_rng(0).normal(size=moved[4:].shape) * moved.std()
    Done.fitted = Fitted(model, 5.0 * moved @ [[0, 1], [-1, 0]] + 3)
    explorer.job = Done()
    explorer.state()
    np.testing.assert_allclose(explorer.map().places[:4], model.embedding_[:4], atol=1e-9)


def test_questions_are_quick(explorer):
    """Under 50 ms at the pointer; processor time, because other processes take turns."""
    shown, began = explorer.map(), time.process_time()
    for row in range(10):
        shown.row(row)
        shown.decode(shown.places[row].tolist(), row, (0, 1), None)
    assert (time.process_time() - began) / 10 < 0.05


def test_a_setting_says_where_things_are_kept(model, views, tmp_path):
    explorer = Explorer(model, table_of(model, views.X), (), Setting(folder=tmp_path / "new" / "folder"))
    assert [path.rpartition("/")[2] for path in explorer.save()] == [
        "model.sidelight", "session.json", "first.sidelight",
    ]  # fmt: skip


def test_rows_that_the_model_was_not_fitted_on_are_placed_by_it(model, views):
    table = table_of(model, views.X[::-1].copy())
    np.testing.assert_allclose(Explorer(model, table).map().places, model.transform(views.X[::-1]))


def test_given_without_a_name_and_labels_in_a_column_of_numbers(views, columns):
    model = sidelight.KernelInformationEmbedding(max_iter=5, tol=0.1).fit(views.X, given=columns["object"])
    table = table_of(model, views.X, {"angle": columns["angle"]}, given=columns["object"])
    explorer = Explorer(model, table)
    (name,) = explorer.map().given_names
    found = explorer.map().decode([0.0, 0.0], None, (0, 1), {name: "mug"})["values"]
    np.testing.assert_allclose(found, model.inverse_transform([[0.0, 0.0]], given="mug")[0])
    explorer.say([Statement("label", rows=[0, 1], column="angle", value="front")])
    assert "front" in explorer.state()["columns"][0]["levels"]


def test_a_table_of_numbers_alone_has_no_columns_beside_it(model, views):
    assert table_of(model, views.X, {}).columns == {}
    with pytest.raises(TypeError, match="columns=list has no names"):
        table_of(model, views.X, [1, 2])

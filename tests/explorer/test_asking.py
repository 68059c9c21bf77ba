"""What the page asks about rows: pages of the table, ranks, search, walks, reliability, density by given, files."""

import io
import sys
import time

import numpy as np
import pytest

import sidelight
from sidelight.explorer._explorer import Explorer
from sidelight.explorer._local import local_mean, near_number, shown_around
from sidelight.explorer._rows import ranks_of
from sidelight.explorer._table import table_of
from sidelight.plot._colouring import column_of

WORDS = np.array(["Ada", "ben", None, "Zoë", "ada", "=cmd()"] * 6, dtype=object)


@pytest.fixture
def named(model, views, columns):
    table = table_of(
        model, views.X, {**columns, "word": WORDS}, row_names=[f"view {row}" for row in range(36)], image_shape=(8, 8)
    )
    return Explorer(model, table)


def test_a_page_of_the_table_has_the_cells_of_its_rows_in_full_precision(named, columns):
    heads = [one["name"] for one in named.state()["columns"]]
    found = named.page(np.array([5, 30]))["rows"]
    assert [(one["row"], one["name"]) for one in found] == [(5, "view 5"), (30, "view 30")]
    assert dict(zip(heads, found[1]["cells"], strict=True)) == {
        "object": columns["object"][30], "angle": columns["angle"][30], "word": "Ada",
    }  # fmt: skip
    with pytest.raises(ValueError, match="more than the 500 of a page"):
        named.page(np.arange(501))


def test_ranks_keep_the_order_that_float32_would_lose():
    values = np.array([1.0, 1.0 + 1e-12, np.nan, 0.5])
    np.testing.assert_array_equal(ranks_of(column_of(values, 4)), np.array([1, 2, np.nan, 0], dtype="<f4"))
    words = column_of(np.array(["b", None, "a", "b"], dtype=object), 4)
    np.testing.assert_array_equal(ranks_of(words), np.array([1, np.nan, 0, 1], dtype="<f4"))
    many = np.array([f"name {k:03d}" for k in range(200)][::-1], dtype=object)  # rare ones share a colour, not a rank
    np.testing.assert_array_equal(ranks_of(column_of(many, 200)), np.arange(200.0)[::-1])
    np.testing.assert_array_equal(ranks_of(("b", "a", "b")), [1, 0, 1])


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("ADA", [row for row in range(36) if WORDS[row] in ("Ada", "ada")]),
        ("zoë", list(range(3, 36, 6))),
        ("view 7", [7]),
        ("row 12", [12]),
        ("11", [11]),
        ("=cmd", list(range(5, 36, 6))),
        ("nothing like it", []),
        ("9999", []),
    ],
)
def test_a_search_finds_rows_by_number_name_and_value(named, text, rows):
    assert named.search(text).tolist() == rows


def test_a_search_without_text_is_refused(named):
    for text in ("", "  ", "x" * 201):
        with pytest.raises(ValueError, match="between 1 and 200"):
            named.search(text)


def test_a_walk_decodes_every_step_as_the_model_does(given_model, views, columns):
    table = table_of(given_model, views.X, {"angle": columns["angle"]}, given={"object": columns["object"]})
    shown = Explorer(given_model, table).map()
    places = np.linspace(shown.places[2], shown.places[9], 5)
    found = shown.walk(places, None, (0, 1), {"object": "mug"})["steps"]
    expected = given_model.inverse_transform(places, given=np.array(["mug"] * 5))
    np.testing.assert_allclose([one["values"] for one in found], expected, atol=1e-12)
    assert all(0 <= one["typicality"] <= 1 for one in found)


def test_reliability_becomes_a_column_of_this_map_and_a_layer(explorer, model, views):
    before = len(explorer.state()["columns"])
    extent = [-1.0, 1.0, -1.0, 1.0]
    with pytest.raises(ValueError, match="not offered"):
        explorer.layer("reliability", extent, (0, 1), None)
    assert explorer.reliable()["state"] == "none"
    assert explorer.reliable(start=True)["column"] == "reliability"
    explorer._reliable[0].wait(60)
    assert explorer.reliable()["state"] == "done"
    head = explorer.state()["columns"][before]
    assert (head["name"], head["kind"], head["feature"]) == ("reliability", "numbers", True)
    truth = np.asarray(sidelight.explain.reliability(model, views.X)["reliability"])
    np.testing.assert_allclose(explorer.column(before), truth, rtol=1e-6)
    grid = explorer.layer("reliability", extent, (0, 1), None)
    assert (grid["low"], grid["high"]) == (0.0, 1.0)
    assert len(grid["weights"]) == len(grid["values"]) == grid["size"] ** 2


def test_reliability_that_cannot_be_computed_says_why(explorer, monkeypatch):
    def refused(*_, **__):
        raise ValueError("no neighbourhoods here")

    monkeypatch.setattr("sidelight.explorer._reliable.reliability", refused)
    explorer.reliable(start=True)
    explorer._reliable[0].wait(10)
    found = explorer.reliable()
    assert (found["state"], found["message"]) == ("failed", "no neighbourhoods here")


def test_the_density_follows_what_is_given(given_model, views, columns):
    table = table_of(given_model, views.X, given={"object": columns["object"]})
    shown = Explorer(given_model, table).map()
    low, high = shown.places.min(axis=0), shown.places.max(axis=0)
    extent = [low[0], high[0], low[1], high[1]]
    plain, mugs = (
        np.array(shown.layer("density", extent, (0, 1), given)["values"]) for given in (None, {"object": "mug"})
    )
    for at in (0, 1000, 2080, 4095):  # the share of mugs among the rows around, counted the slow way
        place = np.array([np.linspace(low[0], high[0], 64)[at % 64], np.linspace(low[1], high[1], 64)[at // 64]])
        apart = np.linalg.norm(given_model.embedding_ - place, axis=1)
        weights = 1 - (apart / np.sort(apart)[35]) ** 2
        share = (weights * (columns["object"] == "mug")).sum() / weights.sum()
        np.testing.assert_allclose(mugs[at], plain[at] * share, rtol=1e-9)
    assert not np.allclose(mugs / plain, (mugs / plain).mean())


def test_local_means_are_those_of_the_rows_around():
    places = np.array([[0.0, 0.0], [0.1, 0.0], [10.0, 0.0], [10.1, 0.0], [np.nan, 0.0]])
    values = np.array([0.0, 0.0, 1.0, 1.0, 5.0])
    found, weights = shown_around(places, values, np.array([[0.05, 0.0], [10.0, 0.0], [5.0, 0.0]]))
    assert found[0] < 0.02
    assert found[1] > 0.98
    assert weights[0] > 0.9
    assert weights[2] < 1e-6
    assert np.isnan(local_mean(places[4:], values[4:], places[:1])).all()
    np.testing.assert_allclose(near_number(np.array([350.0, None, 10.0], dtype=object), 0.0, 360.0)[[0, 1]],
                               [near_number(np.array([10.0]), 0.0, 360.0)[0], 0.0])  # fmt: skip


def test_a_selection_is_written_as_numbers_and_as_parquet(named, monkeypatch):
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs the extra cli")
    rows = np.array([5, 8, 30])
    assert named.export(rows, "numbers") == "5\n8\n30\n"
    table = parquet.read_table(io.BytesIO(named.export(rows, "parquet"))).to_pydict()
    assert table["row"] == [5, 8, 30]
    assert table["word"] == ["=cmd()", None, "Ada"]  # no spreadsheet runs a cell of a Parquet file
    np.testing.assert_array_equal(table["z1"], named.map().fitted.embedding[rows, 0])
    with pytest.raises(ValueError, match="not written here"):
        named.export(rows, "xlsx")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r'pip install "sidelight\[cli\]"'):
        named.export(rows, "parquet")


def test_axes_of_maps_of_three_and_more_dimensions(views):
    model = sidelight.TwoWayEmbedding(sidelight.ProbabilisticPCA(4)).fit(views.X)
    explorer = Explorer(model, table_of(model, views.X))
    np.testing.assert_array_equal(explorer.points(None, (3, 1)), model.embedding_[:, [3, 1]].astype("<f4"))
    assert explorer.points(None, (0, 1, 2)).shape == (36, 3)
    place = model.embedding_[4]
    found = explorer.map().decode(place[[0, 1, 2]].tolist(), 4, (0, 1, 2), None)["values"]
    np.testing.assert_allclose(found, model.inverse_transform(place[None])[0], atol=1e-12)
    with pytest.raises(ValueError, match="are not 3 of 4 axes"):
        explorer.checked_axes(0, 1, 4)


@pytest.mark.thorough
def test_questions_about_100_000_rows_are_quick():
    """Under 50 ms at the pointer; processor time, because other processes take turns."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100_000, 6))
    model = sidelight.ProbabilisticPCA(2).fit(X)
    columns = {"word": rng.choice(["red", "green", "blue"], 100_000), "value": rng.normal(size=100_000)}
    explorer = Explorer(model, table_of(model, X, columns, row_names=[f"row {k}" for k in range(100_000)]))
    shown, state = explorer.map(), explorer.state()
    shown.decode(shown.places[0].tolist(), 0, (0, 1), None)  # the first one makes the density of all rows

    def took(question, count):
        began = time.process_time()
        for row in range(count):
            question(row)
        return (time.process_time() - began) / count

    assert took(lambda row: (shown.row(row), shown.decode(shown.places[row].tolist(), row, (0, 1), None)), 20) < 0.05
    assert took(lambda row: explorer.page(np.arange(row, row + 100)), 10) < 0.05
    assert took(lambda row: explorer.search("gree"), 5) < 0.2
    assert took(lambda row: explorer.ranks(len(state["columns"]) - 1), 5) < 0.2

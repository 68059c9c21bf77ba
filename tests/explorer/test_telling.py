"""Axes that show a column, rows that are held where they are or were moved to, and statements that change."""

import numpy as np
import pytest

from sidelight import MultipleRelationalEmbedding, Relation, TwoWayEmbedding, explorer
from sidelight.explorer import Session, Statement
from sidelight.explorer._align import aligned
from sidelight.explorer._code import python_of
from sidelight.explorer._explorer import Explorer
from sidelight.explorer._fit import check_statements, fit_statements
from sidelight.explorer._placing import placed_map
from sidelight.explorer._table import table_of


@pytest.fixture
def table(model, views, columns):
    bright = views.X.sum(axis=1)
    return table_of(model, views.X, columns | {"bright": np.where(np.arange(36) % 5 == 4, np.nan, bright)})


@pytest.mark.parametrize(
    ("said", "rule"),
    [
        ({"kind": "move", "rows": [1]}, "places=.* is empty"),
        ({"kind": "move", "rows": [1, 2], "places": [[0, 0]]}, "not one for each row"),
        ({"kind": "move", "rows": [1], "places": [[0, float("nan")]]}, "are no numbers"),
        ({"kind": "move", "rows": [1], "places": "ab"}, "are no numbers"),
        ({"kind": "drop", "rows": [1], "places": [[0, 0]]}, "not one for each row"),
        ({"kind": "axis"}, "column= is empty"),
        ({"kind": "axis", "column": "a", "period": "x"}, "are no numbers"),
    ],
)
def test_places_and_axes_that_mean_nothing_are_refused(said, rule):
    with pytest.raises(ValueError, match=rule):
        Statement.from_json(said)


def test_statements_with_places_come_back_from_a_file_as_they_were():
    said = Statement("move", rows=[1, 2], others=[3], places=[[0.1, 2], [1e-7, 3], [4, 5]])
    session = Session(9).saying(said).saying(Statement("axis", column="a", period=360))
    assert Session.from_json(session.to_json()) == session


def test_an_axis_shows_a_column_and_is_not_turned(model, table, views):
    said = [Statement("axis", column="bright")]
    found = fit_statements(model, table, said)
    known = ~np.isnan(table.columns["bright"])
    assert np.corrcoef(found.embedding[known, 0], table.columns["bright"][known])[0, 1] > 0.95
    assert "made an axis for bright" in found.remarks[0]
    before = model.embedding_ @ [[0.6, 0.8], [-0.8, 0.6]]
    placed = placed_map(found, said, before)
    np.testing.assert_array_equal(np.abs(placed.rotation), np.eye(2))
    assert placed.rotation[0, 0] == 1.0
    shown = placed.shown(found.embedding)
    np.testing.assert_allclose(shown.std(axis=0), np.sqrt((before.std(axis=0) ** 2).mean()))  # each axis its own scale
    np.testing.assert_allclose(placed.latent(shown), found.embedding, atol=1e-9)
    names = {"X": views.X, "columns": dict(table.columns)}
    exec(python_of(model, table, said), names)
    assert names["model"].embedding_.tobytes() == found.model.embedding_.tobytes()


@pytest.mark.parametrize(
    ("said", "rule"),
    [
        ([Statement("axis", column="object"), Statement("factor_out", column="object")], "cannot factor anything out"),
        ([Statement("axis", column="angle", period=360), Statement("axis", column="bright")], "takes 3 axes"),
        ([Statement("axis", column="nothing")], "is not there"),
        ([Statement("axis", column="bright"), Statement("move", rows=[0], places=[[0, 0]])], "axis of its own"),
    ],
)
def test_axes_that_no_map_has_are_refused(said, rule, model, table):
    with pytest.raises(ValueError, match=rule):
        check_statements(model, table, said)


def test_moved_and_pinned_rows_are_where_they_should_be(model, table, views, columns):
    explored = Explorer(model, table)
    places, spread = explored.map().places, explored.map().places.std()
    explored.move(np.array([0, 1, 2, 3]), [2 * spread, 0.0], (0, 1))
    explored.move(np.array([0, 1, 2, 3]), [0.0, spread], (0, 1))  # dragged further: still one statement
    target = places[:4] + [2 * spread, spread]
    np.testing.assert_allclose(explored.points(None, (0, 1))[:4], target, rtol=1e-5, atol=1e-5)
    assert len(explored.session.statements) == 1
    explored.say([Statement("pin", rows=[20, 30])])
    said = explored.session.heard
    found = fit_statements(model, table, said)
    shown = placed_map(found, said, places).shown(found.embedding)
    np.testing.assert_allclose(shown[:4], target, atol=1e-4 * spread)
    np.testing.assert_allclose(shown[[20, 30]], places[[20, 30]], atol=1e-4 * spread)
    assert "Held: 6 rows" in found.remarks[0]
    session = explorer.begin(model, table.X, table.columns, statements=said).mapped(found.digest)
    again = explorer.replay(Session.from_json(session.to_json()), model, table.X, table.columns)
    assert again.embedding_.tobytes() == found.model.embedding_.tobytes()
    assert again.init == model.init
    assert "replay(session" in python_of(model, table, said)
    turned = [[0.0, 1.0], [-1.0, 0.0]]  # statements say places on the page: another map there, the same rows held
    other = [Statement("pin", one.rows, one.others, places=np.array(one.places) @ turned) for one in said]
    held = fit_statements(model, table, other).embedding
    rows = [0, 1, 2, 3, 20, 30]
    np.testing.assert_allclose(aligned(held[rows], shown[rows]).shown(held[rows]), shown[rows], atol=1e-3 * spread)


def test_models_that_hold_nothing_are_aligned_by_pinned_rows(views):
    made = TwoWayEmbedding().fit(views.X)
    explored = Explorer(made, table_of(made, views.X))
    explored.say([Statement("pin", rows=[1, 2, 3])])
    assert explored.session.statements[0].places == ()
    with pytest.raises(ValueError, match="means nothing to TwoWayEmbedding"):
        explored.move(np.array([1]), [1.0, 0.0], (0, 1))


def test_statements_are_changed_undone_and_done_again(explorer):
    explorer.say([Statement("label", rows=[1, 2], column="kind", value="a"), Statement("factor_out", column="object")])
    explorer.edit(0, {"value": "b", "rows": [5]})
    assert explorer.session.statements[0] == Statement("label", rows=[5], column="kind", value="b")
    explorer.edit(1, {"column": "kind"})
    after = explorer.session
    with pytest.raises(ValueError, match="is not there"):
        explorer.edit(0, {"column": "other"})  # the column that is factored out would be gone
    for changes, rule in (
        ({}, "what to change"),
        ({"kind": "drop"}, "what to change"),
        ({"rows": [99]}, "past the last"),
    ):
        with pytest.raises(ValueError, match=rule):
            explorer.edit(0, changes)
    assert explorer.session == after
    explorer.undo()
    explorer.undo()
    explorer.redo()
    explorer.redo()
    assert explorer.session == after
    with pytest.raises(ValueError, match="was undone"):
        explorer.redo()
    explorer.undo()
    explorer.say([Statement("pin", rows=[1, 2, 3])])
    assert not explorer.state()["can"]["redo"]
    pinned = explorer.session.statements[-1]
    explorer.edit(len(explorer.session.statements) - 1, {"rows": [7, 8]})
    new = explorer.session.statements[-1]
    assert new.rows == (7, 8)
    np.testing.assert_allclose(new.places[:2], explorer.map().places[[7, 8]], atol=1e-5)
    assert pinned.places != new.places
    explorer.move(np.array([3]), [1.0, 1.0], (0, 1))
    with pytest.raises(ValueError, match="has places"):
        explorer.edit(len(explorer.session.statements) - 1, {"rows": [4]})


def test_intervals_count_the_entries_that_are_there_and_the_variance_of_each_selection():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3))
    X[:200, 0] *= 3  # a small selection that varies more
    model = TwoWayEmbedding().fit(X)
    gaps = X.copy()
    gaps[20:200, 1] = np.nan  # of 200 entries 20 are there
    shown = Explorer(model, table_of(model, X)).map()
    shown.__dict__["after_given"] = shown.table.in_units(gaps)
    found = {one["name"]: one for one in shown.summary(np.arange(200), None)["features"]}
    half = {name: (one["high"] - one["low"]) / 2 / 1.96 for name, one in found.items()}
    spread = np.sqrt((199 * X[:200, 0].var(ddof=1) + 1799 * X[200:, 0].var(ddof=1)) / 1998)
    assert abs(half["x1"] - X[:200, 0].std() / np.sqrt(200) / spread) < 0.02  # 0.16; with one variance it would be 0.07
    assert abs(half["x2"] - 1 / np.sqrt(20)) < 0.05
    assert abs(half["x3"] - 1 / np.sqrt(200)) < 0.01


@pytest.mark.thorough
def test_a_refit_says_which_axes_of_the_first_model_it_does_without(refitted):
    rng = np.random.default_rng(0)
    X, size = rng.normal(size=(60, 4)), rng.normal(size=60)
    model = MultipleRelationalEmbedding(2, random_state=0)
    model.fit(X, relations={"size": Relation.from_values(size)})
    explorer = Explorer(model, table_of(model, X, {"size": size}))
    explorer.say([Statement("drop", rows=[0])])
    assert refitted(explorer)["state"] == "done"
    assert any("had an axis for size" in text for text in explorer.state()["remarks"])
    explorer.say([Statement("axis", column="size")])
    assert refitted(explorer)["state"] == "done"
    assert not any("had an axis" in text for text in explorer.state()["remarks"])

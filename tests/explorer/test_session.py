"""Statements and sessions are plain values: checked when they are made, written and read without loss, replayed."""

import json

import numpy as np
import pytest

from sidelight import KernelInformationEmbedding, explorer
from sidelight.explorer import Session, Statement
from sidelight.explorer._align import aligned
from sidelight.explorer._code import python_of
from sidelight.explorer._fit import fit_statements, hints_of
from sidelight.explorer._table import table_of


@pytest.mark.parametrize(
    ("said", "rule"),
    [
        ({"kind": "guess"}, "none of the kinds"),
        ({"kind": "same", "rows": [1]}, "the same as itself"),
        ({"kind": "different", "rows": [1, 2]}, "others=.* is empty"),
        ({"kind": "different", "rows": [1, 2], "others": [2]}, "shares rows"),
        ({"kind": "factor_out"}, "column= is empty"),
        ({"kind": "drop", "rows": [-1]}, "no row numbers"),
        ({"kind": "drop", "rows": [0.5]}, "no row numbers"),
        ({"kind": "drop", "rows": "12"}, "no row numbers"),
        ({"kind": "label", "rows": [1], "column": 3, "value": "a"}, "is no text"),
        ({"kind": "drop", "rows": [1], "path": "/etc/passwd"}, "is no statement"),
        (["drop"], "is no statement"),
    ],
)
def test_a_statement_that_says_nothing_sensible_is_refused(said, rule):
    with pytest.raises((ValueError, TypeError), match=rule):
        Statement.from_json(said)


def test_pairs_of_two_selections_are_counterparts_and_of_one_a_ring():
    assert Statement("same", rows=[1, 2, 3], others=[7, 8]).pairs().tolist() == [[1, 7], [2, 8], [3, 7]]
    ring = Statement("same", rows=range(10)).pairs()
    assert len(np.unique(np.sort(ring, axis=1), axis=0)) == len(ring)
    assert set(ring.ravel()) == set(range(10))
    assert len(Statement("same", rows=range(5000)).pairs()) == 2000


def test_a_session_file_comes_back_as_it_was(tmp_path):
    session = Session(20, "abc", {"model": "M"}).saying(Statement("label", rows=[1], column="c", value="</script>"))
    session = session.saying(Statement("same", rows=[1, 2])).switched(1).mapped("digest")
    session.save(tmp_path / "session.json")
    assert Session.load(tmp_path / "session.json") == session
    assert session.to_json() == Session.load(tmp_path / "session.json").to_json()
    assert session.maps[0].statements == session.statements[:1]


@pytest.mark.parametrize("change", [{"version": 2}, {"rows": 3}, {"statements": [{"kind": "x"}]}, {"current": 5}])
def test_a_session_file_that_does_not_fit_together_is_refused(change):
    text = Session(20).saying(Statement("drop", rows=[10])).to_json()
    with pytest.raises(ValueError, match="no session file"):
        Session.from_json(json.dumps(json.loads(text) | change))
    with pytest.raises(ValueError, match="no session file"):
        Session.from_json("[" * 100_000)


def test_alignment_undoes_rotation_reflection_scale_and_shift():
    rng = np.random.default_rng(0)
    W = rng.normal(size=(30, 2))
    turn = np.array([[0.6, 0.8], [0.8, -0.6]])  # a reflection
    Z = 3.0 * W @ turn + [5, -2]
    found = aligned(Z, W)
    np.testing.assert_allclose(found.shown(Z), W, atol=1e-12)
    np.testing.assert_allclose(found.latent(found.shown(Z)), Z, atol=1e-12)
    far = W.copy()
    far[10:] += rng.normal(size=(20, 2))
    pinned = aligned(far, W, np.arange(10))
    np.testing.assert_allclose(pinned.shown(far)[:10], W[:10], atol=1e-12)


def test_hints_within_a_group_are_not_used_and_contradictions_are_refused(model, views, columns):
    table = table_of(model, views.X, columns)
    said = [Statement("factor_out", column="object"), Statement("same", rows=[0, 1]), Statement("same", rows=[0, 12])]
    found = hints_of(table, said)
    assert found.same.tolist() == [[0, 12]]
    assert "1 pair of rows of one group" in found.remarks[0]
    with pytest.raises(ValueError, match="to be factored out and to be brought out"):
        hints_of(table, [said[0], Statement("bring_out", column="object")])
    with pytest.raises(ValueError, match="is not there"):
        hints_of(table, [Statement("factor_out", column="nothing")])
    with pytest.raises(ValueError, match="fewer than 3"):
        hints_of(table, [Statement("drop", rows=range(35))])


@pytest.mark.thorough
def test_a_replay_gives_the_same_bytes_whatever_order_things_were_said_in(model, views, columns, hints):
    table = table_of(model, views.X, columns)
    first = fit_statements(model, table, hints)
    second = fit_statements(model, table, hints[::-1])
    assert first.digest == second.digest
    session = explorer.begin(model, views.X, columns, statements=hints).mapped(first.digest)
    again = explorer.replay(Session.from_json(session.to_json()), model, views.X, columns)
    assert again.embedding_.tobytes() == first.model.embedding_.tobytes()
    with pytest.raises(ValueError, match="another than the session was made with"):
        explorer.replay(session, model, views.X + 1, columns)
    with pytest.warns(UserWarning, match="other bytes"):
        explorer.replay(session.mapped("0" * 64), model, views.X, columns)


@pytest.mark.thorough
def test_dropped_rows_are_placed_and_labels_can_be_factored_out(model, views, columns):
    table = table_of(model, views.X, columns)
    kinds = [Statement("label", rows=range(12), column="kind", value="a")]
    kinds += [Statement("label", rows=range(12, 36), column="kind", value="b")]
    said = [*kinds, Statement("factor_out", column="kind"), Statement("drop", rows=[3, 20])]
    found = fit_statements(model, table, said)
    assert len(found.model.embedding_) == 34
    assert found.embedding.shape == (36, 2)
    own = found.model.transform(views.X[[20]], given={"kind": ["b"]})
    np.testing.assert_allclose(found.embedding[[20]], own, rtol=1e-10)


@pytest.mark.parametrize(
    "kind",
    [pytest.param(kind, marks=pytest.mark.thorough) for kind in ("given", "attribute")] + ["metric", "label and drop"],
)
def test_the_python_of_the_page_fits_the_same_map(kind, model, views, columns, hints):
    said = {
        "given": hints,
        "metric": (Statement("same", rows=[0, 1, 2, 3]), Statement("different", rows=[0, 1], others=[13, 14])),
        "attribute": (Statement("bring_out", column="object"),),
        "label and drop": (
            Statement("label", rows=[1, 5], column="odd", value="it's"),
            Statement("label", rows=[2, 6], column="odd", value='"""'),
            Statement("drop", rows=[7]),
            Statement("same", rows=[8, 9, 10]),
        ),
    }[kind]
    table = table_of(model, views.X, columns)
    names = {"X": views.X, "columns": dict(columns)}
    exec(python_of(model, table, said), names)
    found = fit_statements(model, table, said).model
    last = found.steps[-1][1] if hasattr(found, "steps") else found
    assert names["model"].embedding_.tobytes() == last.embedding_.tobytes()


def test_a_long_session_is_shown_as_its_replay(model, views, columns):
    said = [Statement("same", rows=range(30), others=range(30, 36)), Statement("drop", rows=range(30))]
    assert "explorer.replay(session" in python_of(model, table_of(model, views.X, columns), said)


def test_models_that_are_given_nothing_cannot_factor_out(views):
    from sidelight import TwoWayEmbedding

    made = TwoWayEmbedding().fit(views.X)
    with pytest.raises(ValueError, match="means nothing to TwoWayEmbedding"):
        fit_statements(made, table_of(made, views.X, {"a": np.arange(36)}), [Statement("factor_out", column="a")])


def test_a_map_of_one_dimension_is_refused(views):
    made = KernelInformationEmbedding(n_components=1, max_iter=5, tol=1e-1).fit(views.X)
    with pytest.raises(ValueError, match="no plane"):
        explorer.begin(made, views.X)

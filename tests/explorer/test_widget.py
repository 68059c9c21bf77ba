"""The widget without a notebook: messages in, messages out, the selection as a trait, the model after a re-fit."""

import json

import numpy as np
import pytest

from sidelight import explorer as room

pytest.importorskip("anywidget", reason="needs the extra notebook")


@pytest.fixture
def widget(model, views, columns, tmp_path):
    page = room.widget(model, views.X, columns=columns, image_shape=views.image_shape, title="<b>", folder=tmp_path)
    page.sent = []
    page.send = lambda content, buffers=None: page.sent.append((content, buffers))
    yield page
    page.close()


def asked(page, method, path, said=None):
    page._handle_custom_msg({"id": "7", "method": method, "path": path, "said": said or {}}, [])
    content, (body,) = page.sent[-1]
    assert content["id"] == "7"
    return content["status"], body


def test_the_kernel_answers_as_the_server_does(widget, model):
    status, body = asked(widget, "GET", "state")
    assert (status, json.loads(body)["title"]) == (200, "<b>")
    status, body = asked(widget, "GET", "points?x=0&y=1")
    np.testing.assert_array_equal(np.frombuffer(body, "<f4").reshape(-1, 2), model.embedding_.astype("<f4"))
    status, body = asked(widget, "POST", "decode", {"place": [0, 0], "row": 99})
    assert status == 400
    assert "rows" in json.loads(body)["error"]
    assert asked(widget, "GET", "../secret")[0] == 404
    assert asked(widget, "PUT", "state")[0] == 400
    count = len(widget.sent)
    widget._handle_custom_msg("no question", [])
    assert len(widget.sent) == count


def test_the_selection_goes_both_ways_and_can_be_observed(widget):
    heard = []
    widget.observe(lambda change: heard.append(change.new), "selection")
    widget.set_state({"selection": {"rows": memoryview(np.array([5, 9], "<i4").tobytes())}})  # as the page does
    assert widget.selection == heard[-1] == [5, 9]
    widget.selection = np.array([3, 1, 3])
    assert widget.selection == [1, 3]
    sent = widget.get_state("selection")["selection"]["rows"]
    assert np.frombuffer(sent, "<i4").tolist() == [1, 3]
    for wrong in ([36], [-1], ["a"], [0.5]):
        with pytest.raises(ValueError, match="are no numbers of the 36 rows"):
            widget.selection = wrong
    widget.selection = []
    assert widget.selection == []


def test_what_the_page_says_and_undoes_reaches_python(widget, model):
    heard = []
    widget.observe(lambda change: heard.append(change.new), "version")
    asked(widget, "POST", "say", {"statements": [{"kind": "drop", "rows": [2]}]})
    assert [one.kind for one in widget.session.statements] == ["drop"]
    assert heard == [1]
    asked(widget, "POST", "undo")
    assert widget.session.statements == ()
    assert widget.model is model


@pytest.mark.thorough
def test_a_fit_in_the_page_gives_python_the_new_model(widget, model):
    asked(widget, "POST", "say", {"statements": [{"kind": "factor_out", "column": "object"}]})
    asked(widget, "POST", "refit")
    widget.explorer.job.wait(60)
    assert widget.model is not model
    assert len(widget.session.maps) == 2
    assert [path.rpartition(".")[2] for path in widget.save()] == ["sidelight", "json", "sidelight"]


def test_without_anywidget_the_message_says_what_to_install(model, views, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(ImportError, match=r'pip install "sidelight\[notebook\]"'):
        room.widget(model, views.X)

"""The server answers the page and nobody else: token, Host, Origin, sizes, paths."""

import contextlib
import csv
import http.client
import io
import json
import select
import socket
from urllib.parse import urlparse

import numpy as np
import pytest

pytest.importorskip("starlette", reason="needs the extra explore")
pytest.importorskip("uvicorn", reason="needs the extra explore")

from sidelight.explorer._explorer import Explorer
from sidelight.explorer._http import LARGEST
from sidelight.explorer._table import table_of
from sidelight.explorer.serving import serve


@pytest.fixture(scope="module")
def served(model, views, columns):
    with serve(Explorer(model, table_of(model, views.X, columns, image_shape=views.image_shape))) as page:
        yield page


def ask(served, method="GET", path="", said=None, prefix=None, body=None, **headers):
    where = urlparse(served.address)
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=10)
    try:
        headers = {"Content-Type": "application/json", **{k.replace("_", "-"): v for k, v in headers.items()}}
        content = json.dumps(said).encode() if said is not None else body
        connection.request(method, (where.path if prefix is None else prefix) + path, content, headers)
        answer = connection.getresponse()
        return answer.status, answer.read(), dict(answer.getheaders())
    finally:
        connection.close()


def test_the_page_gets_what_it_asks_for(served, model, views):
    status, state, headers = ask(served, path="state")
    assert status == 200
    assert json.loads(state)["rows"] == 36
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]
    points = np.frombuffer(ask(served, path="points?x=0&y=1")[1], dtype="<f4").reshape(-1, 2)
    np.testing.assert_array_equal(points, model.embedding_.astype("<f4"))
    place = model.embedding_[3].tolist()
    status, found, _ = ask(served, "POST", "decode", {"place": place, "row": 3})
    assert status == 200
    np.testing.assert_allclose(json.loads(found)["values"], model.inverse_transform([place])[0], atol=1e-12)
    codes = np.frombuffer(ask(served, path="column?at=0")[1], dtype="<f4")
    assert codes.tolist() == np.repeat([0.0, 1.0, 2.0], 12).tolist()


def test_answers_are_sent_at_once(served):
    """Without TCP_NODELAY the second part of an answer waits up to 40 ms for the browser to acknowledge the first."""
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=10)
    try:
        connection.request("GET", urlparse(served.address).path + "state")
        connection.getresponse().read()
        (protocol,) = served._server.server_state.connections
        accepted = protocol.transport.get_extra_info("socket")
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
    finally:
        connection.close()


@pytest.mark.parametrize("prefix", ["/", "/state", "/wrong/", "/wrong/state", "/%00/", ""])
def test_without_the_token_there_is_nothing(served, prefix):
    status, body, _ = ask(served, path="state", prefix=prefix or "/")
    assert status == 404
    assert b"36" not in body


@pytest.mark.parametrize(
    "path",
    [
        *("../_http.py", "%2e%2e/_http.py", "static/app.js", "app.js/..", "..%5c", "index.html", "....//_http.py"),
        *("%2e%2e%2f%2e%2e%2f%2e%2e%2fetc%2fpasswd", "..%c0%af..%c0%afetc/passwd", "file:///etc/passwd", "app.js%00"),
    ],
)
def test_no_path_leads_out_of_the_page(served, path):
    assert ask(served, path=path)[0] == 404


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example:80", ""])
def test_a_foreign_host_is_refused(served, host):
    assert ask(served, path="state", Host=host)[0] in (400, 421)


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1:1", "http://127.0.0.1:1"])
def test_a_foreign_origin_is_refused(served, origin):
    assert ask(served, path="state", Origin=origin)[0] == 403
    assert ask(served, "POST", "undo", {}, Origin=origin)[0] == 403


def test_large_and_strange_requests_are_refused(served):
    assert ask(served, "POST", "say", body=b"x", Content_Length=str(2 * 10**9))[0] == 413
    assert ask(served, "POST", "say", body=b"[" * 100_000)[0] == 400
    assert ask(served, "POST", "say", body=b"[]")[0] == 400
    assert ask(served, "POST", "say", {}, Content_Type="text/plain")[0] == 415
    assert ask(served, "PUT", "state")[0] == 405
    chunks = (b"x" * 1_000_000 for _ in range(LARGEST // 1_000_000 + 2))
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # it may hang up before everything was sent
        assert ask(served, "POST", "say", body=chunks)[0] == 413
    assert ask(served, path="state")[0] == 200


def test_an_upload_of_two_gigabytes_without_a_length_is_cut_off(served):
    """Chunked, so that only counting helps: refused after a few megabytes, and the server goes on."""
    where, sent = urlparse(served.address), 0
    head = f"POST {where.path}say HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\nContent-Type: application/json\r\n"
    chunk = b"%x\r\n" % 1_000_000 + b"x" * 1_000_000 + b"\r\n"
    with socket.create_connection(("127.0.0.1", served.port), timeout=10) as connection:
        connection.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode())
        answer = b""
        while sent < 2_000_000_000 and not select.select([connection], [], [], 0)[0]:
            try:
                connection.sendall(chunk)
            except (BrokenPipeError, ConnectionResetError):
                break
            sent += len(chunk)
        with contextlib.suppress(ConnectionResetError):
            answer = connection.recv(100)
    assert sent < 4 * LARGEST
    assert answer[:12] in (b"HTTP/1.1 413", b"")  # the answer, unless the connection was reset before it was read
    assert ask(served, path="state")[0] == 200


EVIL = ["<script>alert(1)</script>", "\u202eevil\u2066", "=HYPERLINK(1)", "__proto__", "a\u0000b", "'\"><img src=x>"]


@pytest.mark.parametrize("name", EVIL)
def test_hostile_names_and_values_are_text_and_nothing_else(model, views, name):
    """They come back as they are in JSON, which no browser takes for a page, and as text in a spreadsheet."""
    values = np.array([name] * 36, dtype=object)
    with serve(Explorer(model, table_of(model, views.X, {name: values}, row_names=[name] * 36))) as page:
        status, body, headers = ask(page, "POST", "say", {"statements": [_labelled(name)]})
        assert (status, headers["content-type"]) == (200, "application/json")
        assert headers["x-content-type-options"] == "nosniff"
        state = json.loads(body)
        assert [column["name"] for column in state["columns"]][:2] == [name, f"{name}2"]
        assert name in state["statements"][0]["words"]
        compile(state["code"]["python"], "page", "exec")  # a name ends no string
        assert json.loads(ask(page, path="row?at=0")[1])["columns"][name] == name
        text = ask(page, "POST", "export", {"rows": [0]})[1].decode()
        cells = list(csv.reader(io.StringIO(text)))
        assert not any(cell.startswith(("=", "+", "@")) for line in cells for cell in line)
        refused = ask(page, "POST", "say", {"statements": [{"kind": "factor_out", "column": f"no {name}"}]})
        assert refused[0] == 400
        assert not set(json.loads(refused[1])["error"]) & set("\u202e\u2066\u0000")


def _labelled(name):
    return {"kind": "label", "rows": [0], "column": f"{name}2", "value": name}


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("decode", {"place": [1e999, 0]}),
        ("decode", {"place": [0, 0], "row": 99}),
        ("decode", {"place": [0, 0], "x": 0, "y": 7}),
        ("decode", {"place": "ab"}),
        ("summary", {"rows": []}),
        ("summary", {"rows": [0, 1e300]}),
        ("summary", {"rows": ["0"]}),
        ("say", {"statements": [{"kind": "drop", "rows": [36]}]}),
        ("say", {"statements": [{"kind": "factor_out", "column": "nothing"}]}),
        ("switch", {"at": 17}),
        ("move", {"rows": [0], "shift": [1e999, 0]}),
        ("move", {"rows": [0], "shift": [0]}),
        ("move", {"rows": [], "shift": [0, 1]}),
        ("edit", {"at": 0, "changes": {"value": "x"}}),
        ("edit", {"at": 0, "changes": "all"}),
        ("redo", {}),
        ("say", {"statements": [{"kind": "pin", "rows": [0], "places": [[0, 0, 0]] * 9}]}),
        ("visit", {"at": -1}),
        ("forget", {"at": True}),
        ("counterfactual", {"rows": [1], "given": {"object": "mug"}}),
    ],
)
def test_what_cannot_be_answered_is_refused_with_a_sentence(served, path, said):
    status, body, _ = ask(served, "POST", path, said)
    assert status == 400
    assert len(json.loads(body)["error"]) > 10

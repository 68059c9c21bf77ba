"""What a page asks and what it gets, whoever carries the messages: the server or a notebook's kernel."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qs

import numpy as np

from sidelight.base.messages import printable

from ._explorer import Explorer
from ._kept import kept_page
from ._plain import plain
from ._rows import EXPORTS
from .statement import Statement

__all__ = ["Answer", "Message", "RefusedError", "refused", "respond"]

_TYPES = {"html": "text/html; charset=utf-8", "js": "text/javascript", "css": "text/css"}
_STATIC = {"": "index.html", "app.js": "app.js", "app.css": "app.css"}

_STEPS = 64  # places of a walk

Message = Mapping[str, Any]
Query = Mapping[str, str]


class RefusedError(Exception):
    """A request that is not answered, with its status."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


@dataclass(frozen=True)
class Answer:
    """Status as in HTTP, content and its media type."""

    status: int
    content: bytes
    kind: str


def respond(explorer: Explorer, method: str, name: str, query: str, said: Message) -> Answer:
    """The answer to a request; a refusal is an answer too, with a sentence."""
    try:
        asked = {key: values[-1] for key, values in parse_qs(query).items()}
        content, kind = answer(explorer, method, name, asked, said)
        return Answer(200, content.encode() if isinstance(content, str) else content, kind)
    except RefusedError as refusal:
        return refused(refusal.status, str(refusal))
    except (ValueError, TypeError, LookupError, ArithmeticError, ImportError) as error:
        return refused(400, str(error))
    except Exception as error:  # the page should say it, and the server go on
        return refused(500, f"unexpected {type(error).__name__}: {error}")


def refused(status: int, reason: str) -> Answer:
    """A refusal with its sentence."""
    return Answer(status, json.dumps({"error": printable(reason)}).encode(), "application/json")


def answer(explorer: Explorer, method: str, name: str, query: Query, said: Message) -> tuple[Any, str]:
    """The content of an answer and its media type."""
    if method == "GET" and name in _STATIC:
        file = _STATIC[name]
        return files("sidelight.explorer").joinpath("static", file).read_bytes(), _TYPES[file.rpartition(".")[2]]
    found = _ROUTES.get((method, name))
    if found is None:
        raise RefusedError(404, "there is nothing here")
    content = found(explorer, query, said)
    if isinstance(content, np.ndarray | bytes):
        return content.tobytes() if isinstance(content, np.ndarray) else content, "application/octet-stream"
    if isinstance(content, str):
        return content, EXPORTS[str(said.get("format", "csv"))]
    return json.dumps(plain(content), allow_nan=False), "application/json"


def _axes(explorer: Explorer, said: Mapping[str, Any]) -> tuple[int, ...]:
    """The axes that are shown: x and y, and z where the map is seen in three dimensions."""
    third = [int(said["z"])] if said.get("z") is not None else []
    return explorer.checked_axes(int(said.get("x", 0)), int(said.get("y", 1)), *third)


def _number(query: Query, key: str) -> int:
    if not query.get(key, "").isdigit():
        raise RefusedError(400, f"say {key} as a number")
    return int(query[key])


def _place(said: Message, count: int, key: str) -> list[float]:
    found = said.get(key)
    if not isinstance(found, list) or len(found) != count or not all(_finite(value) for value in found):
        raise RefusedError(400, f"say {key} as {count} numbers")
    return [float(value) for value in found]


def _finite(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e100


def _points(explorer: Explorer, query: Query, said: Message) -> Any:
    at = _number(query, "map") if "map" in query else None
    return explorer.points(at, _axes(explorer, query))


def _measures(explorer: Explorer, query: Query, said: Message) -> Any:
    """Measures of a map. A page asks for them once it is painted, which is the time to get ready for the pointer."""
    explorer.map().prepare()
    return explorer.measures(_number(query, "map"))


def _row(explorer: Explorer, query: Query, said: Message) -> Any:
    at = explorer.checked_rows([_number(query, "at")])
    return explorer.map().row(int(at[0]))


def _decode(explorer: Explorer, query: Query, said: Message) -> Any:
    axes = _axes(explorer, said)
    return explorer.map().decode(_place(said, len(axes), "place"), _beside(explorer, said), axes, said.get("given"))


def _beside(explorer: Explorer, said: Message) -> int | None:
    """The row whose coordinates stand for those that are not shown."""
    row = said.get("row")
    return None if row is None else int(explorer.checked_rows([row])[0])


def _walk(explorer: Explorer, query: Query, said: Message) -> Any:
    axes, places = _axes(explorer, said), said.get("places")
    if not isinstance(places, list) or not 1 <= len(places) <= _STEPS:
        raise RefusedError(400, f"say places as 1 to {_STEPS} places")
    found = np.array([_place({"place": one}, len(axes), "place") for one in places])
    return explorer.map().walk(found, _beside(explorer, said), axes, said.get("given"))


def _layer(explorer: Explorer, query: Query, said: Message) -> Any:
    extent, kind = _place(said, 4, "extent"), str(said.get("kind", ""))
    return explorer.layer(kind, extent, _axes(explorer, said), said.get("given"))


def _export(explorer: Explorer, query: Query, said: Message) -> Any:
    kind = str(said.get("format", "csv"))
    if kind not in EXPORTS:
        raise RefusedError(400, f"say format as one of {', '.join(EXPORTS)}")
    return explorer.export(explorer.checked_rows(said.get("rows")), kind)


def _summary(explorer: Explorer, query: Query, said: Message) -> Any:
    others = explorer.checked_rows(said["others"]) if said.get("others") else None
    return explorer.map().summary(explorer.checked_rows(said.get("rows")), others)


def _page(explorer: Explorer, query: Query, said: Message) -> Any:
    view = said.get("view")
    return kept_page(explorer, view if isinstance(view, Mapping) else {})


def _say(explorer: Explorer, query: Query, said: Message) -> Any:
    explorer.warm()  # what is said now will be fitted soon
    spoken = said.get("statements")
    if not isinstance(spoken, list) or not spoken:
        raise RefusedError(400, "say statements")
    explorer.say([Statement.from_json(one) for one in spoken])
    return explorer.state()


def _move(explorer: Explorer, query: Query, said: Message) -> Any:
    explorer.warm()
    axes = _axes(explorer, said)
    explorer.move(explorer.checked_rows(said.get("rows")), _place(said, len(axes), "shift"), axes)
    return explorer.state()


def _edit(explorer: Explorer, said: Message) -> None:
    changes = said.get("changes")
    if not isinstance(changes, dict):
        raise RefusedError(400, "say changes")
    explorer.edit(_at(said), changes)


def _then_state(step: Callable[[Explorer, Message], None]) -> Callable[[Explorer, Query, Message], Any]:
    def route(explorer: Explorer, query: Query, said: Message) -> Any:
        step(explorer, said)
        return explorer.state()

    return route


def _at(said: Message) -> int:
    at = said.get("at")
    if not isinstance(at, int) or isinstance(at, bool):
        raise RefusedError(400, "say at as a number")
    return at


_ROUTES: dict[tuple[str, str], Callable[[Explorer, Query, Message], Any]] = {
    ("GET", "state"): lambda explorer, query, said: explorer.state(),
    ("GET", "points"): _points,
    ("GET", "column"): lambda explorer, query, said: explorer.column(_number(query, "at")),
    ("GET", "row"): _row,
    ("GET", "measures"): _measures,
    ("GET", "ranks"): lambda explorer, query, said: explorer.ranks(_number(query, "at") if "at" in query else None),
    ("GET", "search"): lambda explorer, query, said: explorer.search(query.get("text", "")),
    ("GET", "reliability"): lambda explorer, query, said: explorer.reliable(),
    ("POST", "reliability"): lambda explorer, query, said: explorer.reliable(start=True),
    ("POST", "rows"): lambda explorer, query, said: explorer.page(explorer.checked_rows(said.get("rows"))),
    ("POST", "walk"): _walk,
    ("GET", "job"): lambda explorer, query, said: explorer.job_state(),
    ("POST", "decode"): _decode,
    ("POST", "layer"): _layer,
    ("POST", "summary"): _summary,
    ("POST", "counterfactual"): lambda explorer, query, said: explorer.map().counterfactual(
        explorer.checked_rows(said.get("rows")), said.get("given")
    ),
    ("POST", "say"): _say,
    ("POST", "switch"): _then_state(lambda explorer, said: explorer.switch(_at(said))),
    ("POST", "move"): _move,
    ("POST", "edit"): _then_state(_edit),
    ("POST", "redo"): _then_state(lambda explorer, said: explorer.redo()),
    ("POST", "forget"): _then_state(lambda explorer, said: explorer.forget(_at(said))),
    ("POST", "visit"): _then_state(lambda explorer, said: explorer.visit(_at(said))),
    ("POST", "undo"): _then_state(lambda explorer, said: explorer.undo()),
    ("POST", "refit"): _then_state(lambda explorer, said: explorer.refit()),
    ("POST", "stop"): _then_state(lambda explorer, said: explorer.stop()),
    ("POST", "save"): lambda explorer, query, said: {"written": explorer.save()},
    ("POST", "report"): lambda explorer, query, said: {"written": [explorer.report()]},
    ("POST", "page"): _page,
    ("POST", "export"): _export,
}

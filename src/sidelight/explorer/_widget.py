"""The page as a widget of a notebook: the kernel answers where elsewhere a server would. Needs anywidget."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import anywidget
import numpy as np
import traitlets

from sidelight.base.messages import count_of

from ._answers import refused, respond
from ._explorer import Explorer
from ._kept import write_page
from .session import Session

__all__ = ["ExplorerWidget"]


class Rows(traitlets.TraitType[list[int], Any]):
    """Row numbers: sorted, without repeats, checked against the rows that exist; the page gets 32-bit integers."""

    info_text = "row numbers"

    def validate(self, obj: Any, value: Any) -> list[int]:
        """The list of an array, a list or a mask's numbers."""
        found: list[int] = obj.explorer.checked_rows(np.asarray(value).tolist(), empty=True).tolist()
        return found


def _to_page(rows: Sequence[int], widget: Any) -> dict[str, Any]:
    return {"rows": memoryview(np.asarray(rows, dtype="<i4").tobytes())}


def _from_page(value: Any, widget: Any) -> list[int]:
    found: list[int] = np.frombuffer(value["rows"], dtype="<i4").tolist()
    return found


class ExplorerWidget(anywidget.AnyWidget):
    """The explorer's page in a notebook; :func:`sidelight.explorer.widget` makes it.

    Attributes
    ----------
    selection : list of int
        The selected rows. A trait: ``observe`` it, or set it to select rows in the page.
    version : int
        A trait that counts what was said, fitted and undone: ``observe`` it to hear of a new map.
    """

    _esm = files("sidelight.explorer").joinpath("static", "widget.js").read_text(encoding="utf-8")
    selection = Rows().tag(sync=True, to_json=_to_page, from_json=_from_page)
    version = traitlets.Int(0).tag(sync=True)

    @traitlets.default("selection")
    def _nothing_selected(self) -> list[int]:
        return []

    def __init__(self, explorer: Explorer) -> None:
        self.explorer = explorer
        super().__init__()
        self.on_msg(self._asked)

    def __repr__(self) -> str:
        return f"ExplorerWidget of {count_of(self.explorer.table.n, 'row')}"

    @property
    def model(self) -> Any:
        """The model of the map that is shown."""
        self._follow()
        return self.explorer.map().fitted.model

    @property
    def session(self) -> Session:
        """What was said so far."""
        self._follow()
        return self.explorer.session

    def save(self) -> list[str]:
        """Write model and session into the folder, as *Save* in the page does; return the paths."""
        return self.explorer.save()

    def export(self, path: str | os.PathLike[str]) -> Path:
        """Write the map that is shown as one HTML file, which works offline and without a model; return its path."""
        return write_page(self.explorer, path)

    def close(self) -> None:
        """Take the page away, and stop a running fit."""
        self.explorer.close()
        super().close()

    def _follow(self) -> None:
        """Take over a fit that ended, and tell the page."""
        self.explorer.job_state()
        self.version = self.explorer.version

    def _asked(self, _: Any, content: Any, buffers: Any) -> None:
        """Answer a question of the page: ``{id, method, path, said}`` -> ``{id, status}`` and the bytes."""
        if not isinstance(content, Mapping) or not isinstance(content.get("id"), str):
            return
        method, path, said = (content.get(key) for key in ("method", "path", "said"))
        if method not in ("GET", "POST") or not isinstance(path, str) or not isinstance(said, Mapping):
            found = refused(400, "send method, path and said")
        else:
            name, _, query = path.partition("?")
            found = respond(self.explorer, method, name, query, said)
        self.send({"id": content["id"], "status": found.status}, [found.content])
        self._follow()

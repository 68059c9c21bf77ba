"""The present view of an explorer as one HTML file that works offline: the same page, its answers inside.

What the page would ask a server for is packed into sections, each deflated and in base64: places as 16-bit steps of
their range, categories as codes, numbers as codes of a dictionary where few different ones occur and as 32-bit floats
otherwise, what the model makes of a grid of places. Text enters the page by ``textContent`` only, as always, and the
content security policy allows the page's own script and style by their digests and nothing else.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.base.capabilities import capabilities
from sidelight.base.files import atomic_write

from ._explorer import Explorer
from ._plain import plain
from ._questions import Map

__all__ = ["LARGEST_FILE", "kept_page", "write_page"]

Array = NDArray[Any]
LARGEST_FILE = 40_000_000
"""Bytes that a file may have; columns that do not fit are left out, and the page names them."""
_MISSING = 65535  # 16-bit code of what is not there
_STEPS = _MISSING - 1  # of a place
_DICTIONARY = 4096  # different numbers that are worth a dictionary
_SIDES = (32, 24, 16)  # of the grid of decoded places
_GRID_BYTES = 6_000_000  # of decoded values, before they are deflated
_VALUES = 8  # categories of ``given`` that a grid is decoded for
_FEW = 60  # features that are kept as 32-bit floats; more as 16-bit steps
_ROOM = 60_000  # for markup and what is counted roughly


@dataclass
class _Sections:
    """Named pieces of data, deflated; ``room`` is how many bytes of base64 may still be added."""

    room: int
    found: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, content: bytes) -> bool:
        """Keep a piece if it fits."""
        text = base64.b64encode(zlib.compress(content, 6)).decode("ascii")
        if len(text) > self.room:
            return False
        self.found[name] = text
        self.room -= len(text)
        return True


def kept_page(explorer: Explorer, view: Mapping[str, Any], largest: int = LARGEST_FILE) -> bytes:
    """The file, as bytes. ``view`` is what the page shows now: colour, layer, axes, given, selected rows, window."""
    shown, state = explorer.map(), explorer.state()
    script, style, markup = (
        files("sidelight.explorer").joinpath("static", name).read_text(encoding="utf-8")
        for name in ("app.js", "app.css", "index.html")
    )
    parts = (script, style, markup, json.dumps(plain(state)))
    sections = _Sections(largest - sum(map(len, parts)) - _ROOM)
    head: dict[str, Any] = {"view": _checked_view(explorer, view), "places": _add_places(sections, shown)}
    head |= _add_columns(explorer, state, sections)
    head["rows"] = _add_rows(explorer, state, sections)
    head["after"] = _add_rows_after_given(shown, state, sections)
    head["grid"] = _add_grid(shown, state, sections)
    head["layers"] = _layers(shown, state)
    head["measures"] = explorer.measures(explorer.session.current)
    _read_only(state, head)
    text = json.dumps(plain(head | {"state": state}), allow_nan=False)
    sections.room = largest
    sections.add("head", text.encode())
    return _document(markup, script, style, sections.found).encode()


def write_page(explorer: Explorer, path: str | os.PathLike[str]) -> Path:
    """Write the file of the map that is shown, coloured by the first column; all or nothing."""
    names = [head["name"] for head in explorer.state()["columns"] if not head["feature"]]
    content = kept_page(explorer, {"colour": names[0] if names else None})
    with atomic_write(Path(path)) as place:
        Path(place).write_bytes(content)
    return Path(path)


def _document(markup: str, script: str, style: str, sections: Mapping[str, str]) -> str:
    """The page's markup with script, style, policy and data in it."""
    if "</script" in script or "</style" in style:
        raise AssertionError("the bundle would end its own element")
    policy = (
        f"default-src 'none'; script-src {_digest(script)}; style-src {_digest(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    body = markup.partition("<body>")[2].partition("</body>")[0]
    data = "".join(f'<script type="text/plain" data-kept="{name}">{text}</script>\n' for name, text in sections.items())
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<title>Sidelight explorer</title>\n'
        '<link rel="icon" href="data:,">\n'
        f"<style>{style}</style>\n</head>\n<body>{body}{data}"
        f'<script type="module">{script}</script>\n</body>\n</html>\n'
    )


def _digest(text: str) -> str:
    found = base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
    return f"'sha256-{found}'"


def _checked_view(explorer: Explorer, view: Mapping[str, Any]) -> dict[str, Any]:
    """What the page shows, as far as it can be shown again."""
    window = view.get("window")
    finite = isinstance(window, list) and len(window) == 4 and all(isinstance(one, int | float) for one in window)
    rows, others = (explorer.checked_rows(view.get(key) or [], empty=True) for key in ("rows", "others"))
    x, y = explorer.checked_axes(int(view.get("x", 0)), int(view.get("y", 1)))
    return {
        "colour": str(view["colour"]) if view.get("colour") is not None else None,
        "layer": str(view.get("layer") or ""), "x": x, "y": y, "window": window if finite else None,
        "rows": rows, "others": others, "given": view.get("given") if isinstance(view.get("given"), Mapping) else None,
    }  # fmt: skip


def _bytes_of(values: Array) -> bytes:
    """16- or 32-bit values with the bytes of equal weight together, which deflates better."""
    return np.ascontiguousarray(values).view(np.uint8).reshape(len(values), -1).T.tobytes()


def _add_places(sections: _Sections, shown: Map) -> list[dict[str, float]]:
    out = []
    for axis in range(shown.places.shape[1]):
        values = shown.places[:, axis]
        low, high = float(np.nanmin(values)), float(np.nanmax(values))
        step = (high - low) / _STEPS or 1.0
        codes = np.where(np.isnan(values), _MISSING, np.round((values - low) / step)).astype("<u2")
        if not sections.add(f"z{axis}", _bytes_of(codes)):
            raise ValueError(f"explore: rows={len(values)} are too many for one file. Explore a sample of them.")
        out.append({"low": low, "step": step})
    return out


def _add_columns(explorer: Explorer, state: dict[str, Any], sections: _Sections) -> dict[str, Any]:
    """Pack the columns that fit, in the order of the page; the others leave ``state`` and are named."""
    heads: list[dict[str, Any]] = []
    packed: list[dict[str, Any]] = []
    left: list[str] = []
    for at, head in enumerate(state["columns"]):
        values = explorer.column(at)
        how, content = _packed(values, head["kind"] == "numbers")
        how["section"] = f"c{len(packed)}"
        if len(head.get("levels") or ()) < _MISSING and sections.add(how["section"], content):
            heads.append(head)
            packed.append(how)
        else:
            left.append(str(head["name"]))
    state["columns"] = heads
    return {"columns": packed, "left": left}


def _packed(values: Array, numbers: bool) -> tuple[dict[str, Any], bytes]:
    """A column and how it is packed: codes of categories, numbers, or numbers with a dictionary in front."""
    if not numbers:
        return {"kind": "codes", "known": 0}, _bytes_of(np.where(values < 0, _MISSING, values).astype("<u2"))
    there = np.isfinite(values)
    known = np.unique(values[there])
    if len(known) > min(_DICTIONARY, len(values) // 8):
        return {"kind": "float", "known": 0}, _bytes_of(values)
    codes = np.full(len(values), _MISSING, dtype="<u2")
    codes[there] = np.searchsorted(known, values[there])
    return {"kind": "dictionary", "known": len(known)}, known.astype("<f4").tobytes() + _bytes_of(codes)


def _add_rows(explorer: Explorer, state: dict[str, Any], sections: _Sections) -> dict[str, Any]:
    """Names, and rows whose features are no columns: pictures in 256 greys, profiles in 16-bit steps of each."""
    table = explorer.table
    out: dict[str, Any] = {"names": False, "values": "columns"}
    if table.row_names:
        out["names"] = sections.add("names", json.dumps(list(table.row_names)).encode())
    if {str(head["name"]) for head in state["columns"] if head["feature"]} >= set(state["features"]):
        return out
    size = table.n * len(state["features"]) * (1 if table.image_shape else 2)
    out["values"] = "none"
    if 0.5 * size < sections.room:  # not worth deflating otherwise
        numbers = table.in_units(table.X).numbers
        if table.image_shape:
            low, high = state["range"]
            kept = sections.add("rows", _greys(numbers, low, high))
            return out | ({"values": "bytes", "low": low, "high": high} if kept else {})
        lows, highs = _ends(numbers)
        if sections.add("rows", _steps(numbers, lows, highs)):
            out |= {"values": "steps", "low": lows, "high": highs}
    return out


def _add_rows_after_given(shown: Map, state: dict[str, Any], sections: _Sections) -> dict[str, Any]:
    """The rows that selections are compared by: those of the file, or those without the effect of what was given."""
    out: dict[str, Any] = {"names": list(shown.taken_off), "values": "rows"}
    if not shown.taken_off:
        return out
    few, numbers = len(state["features"]) <= _FEW, shown.after_given.numbers
    if 0.5 * numbers.size * (4 if few else 2) > sections.room:
        return out | {"values": "none"}
    if few:
        return out | {"values": "float" if sections.add("after", _bytes_of(numbers.astype("<f4").ravel())) else "none"}
    low, high = _ends(numbers)
    return out | {
        "values": "steps" if sections.add("after", _steps(numbers, low, high)) else "none",
        "low": low,
        "high": high,
    }


def _greys(values: Array, low: float, high: float) -> bytes:
    """Values of pictures between two ends in 256 steps; what is missing is black."""
    share = np.nan_to_num((np.asarray(values) - low) / ((high - low) or 1.0), nan=0.0)
    return np.round(np.clip(share, 0, 1) * 255).astype(np.uint8).tobytes()


def _steps(values: Array, low: Array, high: Array) -> bytes:
    """Values (n, d) between the ends (d,) of their columns as 16-bit steps; the last code is what is missing."""
    share = (np.asarray(values) - low) / np.where(high > low, high - low, 1.0)
    codes = np.where(np.isfinite(share), np.round(np.clip(np.nan_to_num(share), 0, 1) * _STEPS), _MISSING)
    return _bytes_of(codes.ravel().astype("<u2"))


def _ends(values: Array) -> tuple[Array, Array]:
    """The smallest and the largest entry (d,) of each column; 0 of columns without any."""
    there = np.isfinite(values)
    low, high = np.where(there, values, np.inf).min(axis=0), np.where(there, values, -np.inf).max(axis=0)
    return np.where(np.isfinite(low), low, 0.0), np.where(np.isfinite(high), high, 0.0)


def _extent(places: Array) -> list[float]:
    """A window (left, right, bottom, top) around all rows."""
    (left, bottom), (right, top) = np.nanmin(places, axis=0), np.nanmax(places, axis=0)
    edge = 0.06 * max(right - left, top - bottom, 1e-9)
    return [float(left - edge), float(right + edge), float(bottom - edge), float(top + edge)]


def _add_grid(shown: Map, state: dict[str, Any], sections: _Sections) -> dict[str, Any] | None:
    """What the model makes of a grid of places, averaged over ``given`` and for each category; None if too much."""
    controls, features = state["controls"], len(state["features"])
    if not capabilities(shown.model).has_inverse or shown.places.shape[1] != 2 or state["texts"]:
        return None
    few = len(controls) == 1 and len(controls[0].get("values") or ()) in range(1, _VALUES + 1)
    chosen: list[Any] = [None, *({controls[0]["name"]: value} for value in controls[0]["values"])] if few else [None]
    width = 1 if state["image"] else 4
    side = next((one for one in _SIDES if one * one * features * width * len(chosen) <= _GRID_BYTES), None)
    if side is None:
        return None
    extent = _extent(shown.places)
    x, y = np.linspace(extent[0], extent[1], side), np.linspace(extent[2], extent[3], side)
    Z = shown.placed.latent(np.column_stack([np.tile(x, side), np.repeat(y, side)]))
    decoded = [
        shown.table.in_units(shown.model.inverse_transform(Z, **shown.chosen_given(one, len(Z)))).numbers
        for one in chosen
    ]
    if state["image"]:
        low, high = state["range"]
        content = b"".join(_greys(one, low, high) for one in decoded)
    else:
        content = _bytes_of(np.concatenate(decoded).astype("<f4").ravel())
    if not sections.add("grid", content):
        return None
    usual = shown.model.latent_typicality(Z) if capabilities(shown.model).has_latent_typicality else None
    return {"side": side, "extent": extent, "typicality": usual, "given": few}


def _layers(shown: Map, state: dict[str, Any]) -> dict[str, Any]:
    """The layers, averaged over what was given, of maps of two dimensions."""
    if shown.places.shape[1] != 2:
        return {}
    left, right, bottom, top = _extent(shown.places)
    wide = [1.5 * left - 0.5 * right, 1.5 * right - 0.5 * left, 1.5 * bottom - 0.5 * top, 1.5 * top - 0.5 * bottom]
    out = {}
    for kind in ("density", "uncertainty"):
        if state["can"].get(kind):
            layer = shown.layer(kind, wide, (0, 1), None)
            span = (layer["high"] - layer["low"]) or 1.0
            codes = np.round(255 * (np.asarray(layer["values"]) - layer["low"]) / span).astype(int)
            out[kind] = layer | {"values": codes, "low": 0, "high": 255}
    return out


def _read_only(state: dict[str, Any], head: Mapping[str, Any]) -> None:
    """Switch off what a file cannot do, and say why."""
    grid, can = head["grid"], state["can"]
    for name in can:
        can[name] = False
    can |= {"decode": grid is not None} | dict.fromkeys(head["layers"], True)
    if grid is None or not grid["given"]:
        state["controls"] = []
    state["say"] = dict.fromkeys(state["say"], False)
    state["fresh"] = True
    state["job"] = {"state": "none", "message": "", "progress": {}, "seconds": 0.0}
    state["maps"], state["current"] = [state["maps"][state["current"]]], 0
    words = ["This file shows one map as it was kept. To fit again, open the model with sidelight explore."]
    if grid is None and state["dims"] != 2:
        words.append("Decoded places are kept for maps of two dimensions only.")
    elif grid is None:
        words.append("Decoded places did not fit into the file, or the model has no inverse_transform.")
    else:
        words.append(f"Decoded places are interpolated on a grid of {grid['side']} x {grid['side']}.")
    if "none" in (head["after"]["values"], head["after"]["values"] == "rows" and head["rows"]["values"]):
        words.append("What sets a selection apart is off: the rows' features did not fit into the file.")
    if head["left"]:
        words.append(f"Left out, for the size of the file: {_listed(head['left'])}.")
    state["kept"] = words


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:12]) + (f" and {len(names) - 12} more" if len(names) > 12 else "")

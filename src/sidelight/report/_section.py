"""A section of a report, and the safe ways to put text and numbers into it."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np

__all__ = ["Section", "pack", "table", "to_json", "write_number"]


@dataclass(frozen=True)
class Section:
    """A titled piece of a report.

    ``html`` is trusted markup: whatever comes from the user must have gone through :func:`html.escape`.
    ``data`` is what the script finds under ``name``; it may hold any text, which is escaped when written.
    """

    name: str
    title: str
    html: str
    data: Mapping[str, Any] = field(default_factory=dict)
    wide: bool = True
    """Whether it takes the whole width on a laptop."""


def pack(values: Any, dtype: str) -> dict[str, str]:
    """Return an array as base64 of its little-endian bytes, with the name of the type.

    Examples
    --------
    >>> pack([1, 2], "uint8")
    {'dtype': 'uint8', 'base64': 'AQI='}
    """
    raw = np.ascontiguousarray(values, dtype=np.dtype(dtype).newbyteorder("<")).tobytes()
    return {"dtype": dtype, "base64": base64.b64encode(raw).decode("ascii")}


def to_json(data: Any) -> str:
    r"""Return JSON that may stand inside a script element: no text in it can close the element.

    Examples
    --------
    >>> to_json({"name": "</script>"})
    '{"name":"\\u003c/script\\u003e"}'
    """
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def table(rows: Iterable[Sequence[str]], head: Sequence[str] | None = None, kind: str = "") -> str:
    """Return a table of texts, all escaped; the first cell of a row is its header."""
    lines = [f'<div class="scrolling"><table class="{escape(kind)}">']
    if head is not None:
        cells = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in head)
        lines.append(f"<thead><tr>{cells}</tr></thead>")
    lines.append("<tbody>")
    for first, *rest in rows:
        cells = "".join(f"<td>{escape(cell)}</td>" for cell in rest)
        lines.append(f'<tr><th scope="row">{escape(first)}</th>{cells}</tr>')
    lines.append("</tbody></table></div>")
    return "".join(lines)


def write_number(value: float) -> str:
    """Return a number as people write it: four significant digits, thousands set apart.

    Examples
    --------
    >>> [write_number(value) for value in (12345.0, 0.98765, 3, 1.5e-7, float("nan"))]
    ['12,345', '0.9877', '3', '1.5e-07', '–']
    """
    if not np.isfinite(value):
        return "–"
    if abs(value) >= 1e4 and abs(value) < 1e15:
        return f"{value:,.0f}"
    return f"{value:.4g}"

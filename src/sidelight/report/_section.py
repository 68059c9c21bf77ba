"""A section of a report, and the safe ways to put text and numbers into it."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Section", "bar", "markup_table", "pack", "pack_numbers", "table", "to_json", "write_number"]


@dataclass(frozen=True)
class Section:
    """A titled piece of a report.

    ``html`` is trusted markup: whatever comes from the user must have gone through :func:`html.escape`.
    ``data`` is what the script finds under ``name``; it may hold any text, which is escaped when written.

    See Also
    --------
    write : Takes further sections.
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


def pack_numbers(values: NDArray[np.float64], *, exact: bool = False) -> dict[str, Any]:
    """Return a column of numbers for the script, in the fewest bytes: packed, or as codes ``of`` its distinct values.

    Whole numbers are kept as they are, and all numbers if ``exact``; others are rounded to four significant digits,
    which is what the page shows.

    Examples
    --------
    >>> packed = pack_numbers(np.array([1.23456, 1.23462, 7.0] * 10))
    >>> packed["dtype"], packed["of"] == pack([1.235, 7.0], "float32")
    ('uint8', True)
    """
    known = values[np.isfinite(values)]
    exact = exact or bool(np.all(known == np.rint(known)))
    # float32 holds whole numbers up to 2^24 exactly; larger ones are names more often than measures.
    large = exact and bool(np.any(np.abs(known) >= 2**24) or np.any(known != known.astype(np.float32)))
    dtype = "float64" if large else "float32"
    distinct, codes = np.unique(values if exact else round_digits(values), return_inverse=True)
    width = np.dtype(dtype).itemsize
    code = "uint8" if len(distinct) <= 2**8 else "uint16"
    as_codes = np.dtype(code).itemsize * len(values) + width * len(distinct)
    if len(distinct) <= 2**16 and as_codes < width * len(values):
        return pack(codes, code) | {"of": pack(distinct, dtype)}
    return pack(distinct[codes], dtype)


def round_digits(values: NDArray[np.float64], digits: int = 4) -> NDArray[np.float64]:
    """Return numbers rounded to some significant digits.

    Examples
    --------
    >>> round_digits(np.array([123456.0, -0.00123456, 0.0]))
    array([ 1.235e+05, -1.235e-03,  0.000e+00])
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.where(np.isfinite(values) & (values != 0.0), np.floor(np.log10(np.abs(values))), 0.0)
    power = np.minimum(digits - 1.0 - size, 300.0)
    up, down = np.power(10.0, np.maximum(power, 0.0)), np.power(10.0, np.maximum(-power, 0.0))
    rounded: NDArray[np.float64] = np.rint(values * up / down) * down / up
    return rounded


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
    return markup_table(([escape(cell) for cell in row] for row in rows), head, kind)


def markup_table(rows: Iterable[Sequence[str]], head: Sequence[str] | None = None, kind: str = "") -> str:
    """The same of cells that are trusted markup: text of the user in them must have been escaped."""
    lines = [f'<div class="scrolling"><table class="{escape(kind)}">']
    if head is not None:
        cells = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in head)
        lines.append(f"<thead><tr>{cells}</tr></thead>")
    lines.append("<tbody>")
    for first, *rest in rows:
        cells = "".join(f"<td>{cell}</td>" for cell in rest)
        lines.append(f'<tr><th scope="row">{first}</th>{cells}</tr>')
    lines.append("</tbody></table></div>")
    return "".join(lines)


def bar(share: float, *, rises: bool) -> str:
    """A share in [0, 1] as a bar, in the colour of what rises or of what falls.

    Examples
    --------
    >>> bar(0.5, rises=True)  # doctest: +ELLIPSIS
    '<svg class="bar rises" ... aria-hidden="true"><rect width="50.0" height="10"/></svg>'
    """
    width = 100.0 * min(max(float(share), 0.0), 1.0)
    kind = "rises" if rises else "falls"
    return (
        f'<svg class="bar {kind}" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect width="{width:.1f}" height="10"/></svg>'
    )


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

"""Shares as an SVG of shaded cells with their numbers, which takes its colours from the page's style."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from sidelight.plot._plane import Floats

__all__ = ["heat_map"]

NARROWEST, LINE, GAP = 84, 38, 3
"""Width of a cell, at least, its height, and the gap between cells."""
HEAD = 44
"""Height of the two lines above the columns."""
LETTER = 7.6
"""Width of a letter, about."""
LONGEST = 22
"""Letters of a name that are shown; the whole name is in the tooltip."""


def heat_map(rows: Sequence[str], columns: Sequence[tuple[str, str]], shares: Floats, label: str) -> str:
    """Return ``shares`` (rows, columns), each in [0, 1], as cells as dark; a column has two lines above."""
    left = int(max(len(_short(name)) for name in rows) * LETTER) + 14
    cell = max(NARROWEST, int(max(len(_short(name)) for pair in columns for name in pair) * LETTER) + 16)
    width, height = left + len(columns) * cell, HEAD + len(rows) * LINE
    parts = [
        f'<div class="scrolling"><svg class="heat" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'role="img" aria-label="{escape(label)}">'
    ]
    for k, (first, second) in enumerate(columns):
        middle = left + (k + 0.5) * cell - GAP / 2
        parts.append(_text(middle, 16, first, "middle", "soft") + _text(middle, 34, second, "middle", "own"))
    for row, name in enumerate(rows):
        parts.append(_text(left - 10, HEAD + (row + 0.5) * LINE + 4, name, "end", "soft"))
    for (row, k), share in np.ndenumerate(shares):
        corner = left + k * cell, HEAD + row * LINE
        parts.append(_cell(corner, cell - GAP, float(share), f"{rows[row]}, {columns[k][0]}"))
    return "".join([*parts, "</svg></div>"])


def _short(name: str) -> str:
    return name if len(name) <= LONGEST else name[: LONGEST - 1] + "…"


def _text(x: float, y: float, words: str, anchor: str, kind: str) -> str:
    whole = f"<title>{escape(words)}</title>" if _short(words) != words else ""
    return f'<text class="{kind}" x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}">{escape(_short(words))}{whole}</text>'


def _cell(corner: tuple[int, int], width: int, share: float, where: str) -> str:
    x, y = corner
    box = f'x="{x}" y="{y}" width="{width}" height="{LINE - GAP}" rx="4"'
    kind = "on" if share > 0.55 else "off"
    return (
        f'<rect class="cell" {box}/>'
        f'<rect class="shade" {box} fill-opacity="{share:.3f}"><title>{escape(where)}: {share:.3f}</title></rect>'
        f'<text class="{kind}" x="{x + width / 2:.0f}" y="{y + (LINE - GAP) / 2 + 5:.0f}" text-anchor="middle">'
        f"{share:.2f}</text>"
    )

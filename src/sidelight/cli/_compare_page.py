"""The page of ``sidelight compare``: maps side by side in the same colours, and a table of their measures."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import orthogonal_procrustes

from sidelight.base.messages import count_of
from sidelight.plot._colouring import CATEGORIES, MISSING, Categories, Numbers, column_of
from sidelight.plot._plane import plane_of

from ._matrix import Matrix

__all__ = ["LEAKAGE", "ComparedMap", "best_of", "comparison_page"]

Array = NDArray[Any]
SIDE, MARGIN = 320, 12
MOST_ROWS = 3000
"""Most rows that are drawn; of more, evenly spaced ones are."""
MOST_FEATURES = 12
LEAKAGE = "leakage of given "
"""Beginning of the names of measures of which less is better."""
_VIRIDIS = ((68, 1, 84), (71, 44, 122), (59, 81, 139), (44, 113, 142), (33, 144, 141), (39, 173, 129), (92, 200, 99),
            (170, 220, 50), (253, 231, 37))  # fmt: skip
_STEPS = 24
"""Colours of a number column."""


@dataclass(frozen=True)
class ComparedMap:
    """One method: its map (n, q) and measures, or why it has none."""

    method: str
    Z: Array | None
    measures: Mapping[str, float]
    error: str = ""


def best_of(measured: Mapping[str, Mapping[str, float]]) -> dict[str, list[str]]:
    """Return the best methods of every measure, as far as three digits tell: the largest value; least leakage, seconds.

    Examples
    --------
    >>> best_of({"a": {"continuity": 0.9, "seconds": 2.0}, "b": {"continuity": 0.8, "seconds": 1.0}})
    {'continuity': ['a'], 'seconds': ['b']}
    """
    names = dict.fromkeys(name for found in measured.values() for name in found)
    best = {}
    for name in names:
        signed = {method: found[name] for method, found in measured.items() if name in found}
        if name == "seconds":
            signed = {method: -round(value, 1) for method, value in signed.items()}
        elif name.startswith(LEAKAGE):
            signed = {method: -value for method, value in signed.items()}
        top = max(round(value, 3) for value in signed.values())
        best[name] = [method for method, value in signed.items() if round(value, 3) == top]
    return best


def comparison_page(title: str, maps: Sequence[ComparedMap], matrix: Matrix, *, command: str) -> str:
    """Return the whole page as HTML that opens without a network."""
    n = matrix.n_rows
    kept = np.unique(np.linspace(0, n - 1, min(n, MOST_ROWS)).round().astype(np.intp))
    columns = [_coloured(column, kept) for column in _columns(matrix)]
    first = columns[0]["fills"] if columns else [CATEGORIES[0]] * len(kept)
    data = {"columns": columns, "rows": _row_names(matrix, kept)}
    style, script = _resource("compare.css"), _resource("compare.js")
    policy = f"default-src 'none'; img-src data:; style-src {_digest(style)}; script-src {_digest(script)}"
    size = f"{count_of(n, 'row')}, {count_of(matrix.n_columns, 'column')}"
    some = f" The maps show {len(kept)} of {n} rows." if len(kept) < n else ""
    figures = "\n".join(_figure(one, shown, first) for one, shown in zip(maps, _aligned(maps, kept), strict=True))
    options = "".join(f'<option value="{k}">{escape(column["name"])}</option>' for k, column in enumerate(columns))
    chooser = f'<label>Colour by <select id="colour">{options}</select></label>' if columns else ""
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="sidelight">
<title>{escape(title)}: {count_of(len(maps), "method")}</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
<header>
<p class="brand">Sidelight comparison</p>
<h1>{escape(title)}: {count_of(len(maps), "method")}</h1>
<p class="summary">{size}.{some} Maps are turned and mirrored to match the first.</p>
</header>
<main>
<section>
<h2>Measures</h2>
<div class="scroll">{_table(maps)}</div>
<p class="caption">Best of each column in bold. One is best, and few seconds. Trustworthiness: neighbours on the map are
neighbours in the data. Continuity: neighbours in the data are neighbours on the map. Neighbour hit: share of rows whose
neighbours on the map have mostly their own entry. Reconstruction R²: share of the variance of rows that were held out
(every fifth, from a second fit) that comes back from the map, where there is a way back; below 0 is worse than their
mean. Seconds are those of the first fit.{_about_given(matrix)}</p>
</section>
<section>
<h2>Maps</h2>
<div class="controls">{chooser}
<span id="pointed" aria-live="polite">Point at a row to find it on every map.</span></div>
<div id="legend" class="legend"></div>
<div class="maps">
{figures}
</div>
</section>
</main>
<footer><code>{escape(command)}</code></footer>
<script type="application/json" id="comparison">{_json(data)}</script>
<script>{script}</script>
</body>
</html>
"""


def _about_given(matrix: Matrix) -> str:
    if not matrix.side:
        return ""
    return (
        f" Leakage: how much better than chance {escape(', '.join(map(str, matrix.given.columns)))} can be guessed from"
        " neighbours on the map; 0 is best. Distances in the data hold what is given, so that a map without it has"
        " lower trustworthiness and continuity."
    )


def _table(maps: Sequence[ComparedMap]) -> str:
    measured = {one.method: one.measures for one in maps}
    best = best_of(measured)
    names = list(best)
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in names)
    lines = []
    for one in maps:
        if one.error:
            cells = f'<td colspan="{len(names)}" class="error">{escape(one.error)}</td>'
        else:
            cells = "".join(_cell(one, name, one.method in best[name]) for name in names)
        lines.append(f'<tr><th scope="row">{escape(one.method)}</th>{cells}</tr>')
    return f'<table><thead><tr><th scope="col">method</th>{head}</tr></thead><tbody>{"".join(lines)}</tbody></table>'


def _cell(one: ComparedMap, name: str, is_best: bool) -> str:
    value = one.measures.get(name)
    if value is None:
        return "<td>–</td>"
    text = f"{value:.1f}" if name == "seconds" else f"{value:.3f}"
    return f'<td class="best">{text}</td>' if is_best else f"<td>{text}</td>"


def _aligned(maps: Sequence[ComparedMap], kept: Array) -> list[Array | None]:
    """The plane of each map (m, 2), centred, turned and mirrored to match the first one best."""
    found: list[Array | None] = []
    target: Array | None = None
    for one in maps:
        if one.Z is None or not np.isfinite(one.Z).all():
            found.append(None)
            continue
        plane = np.asarray(plane_of(np.asarray(one.Z, dtype=np.float64)).shown, dtype=np.float64)[kept]
        plane = plane - plane.mean(axis=0)
        plane /= np.abs(plane).max() or 1.0
        if target is None:
            target = plane
        elif one.Z.shape[1] > 1:
            plane = plane @ orthogonal_procrustes(plane, target)[0]
        found.append(plane)
    return found


def _figure(one: ComparedMap, plane: Array | None, fills: Sequence[str]) -> str:
    if plane is None:
        return (
            f"<figure><h3>{escape(one.method)}</h3><p class='error'>{escape(one.error or 'no finite map')}</p></figure>"
        )
    low, high = plane.min(axis=0), plane.max(axis=0)
    scale = (SIDE - 2 * MARGIN) / (float((high - low).max()) or 1.0)
    places = SIDE / 2 + (plane - (low + high) / 2) * scale * np.array([1.0, -1.0])
    radius = 3.2 if len(places) <= 300 else 2.4 if len(places) <= 1200 else 1.6
    points = "".join(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" fill="{fill}"/>' for (x, y), fill in zip(places, fills, strict=True)
    )
    label = escape(f"The map of {one.method}")
    return (
        f"<figure><h3>{escape(one.method)}</h3>"
        f'<svg viewBox="0 0 {SIDE} {SIDE}" role="img" aria-label="{label}"><g data-radius="{radius}">{points}</g></svg>'
        "</figure>"
    )


def _columns(matrix: Matrix) -> list[Categories | Numbers]:
    """The colour columns, then the features of a narrow table."""
    n = matrix.n_rows
    found = [column_of(matrix.colours[name], n, name=str(name)) for name in matrix.colours.columns]
    if matrix.table is not None:
        shown = matrix.table.shown()
        names = [use.name for use in matrix.table.uses if use.used and use.name not in matrix.colours.columns]
        found += [column_of(shown[name], n, name=name) for name in names[:MOST_FEATURES]]
    elif matrix.image_shape is None and matrix.X.shape[1] <= MOST_FEATURES:
        found += [Numbers(matrix.column(k), matrix.X[:, k].astype(np.float64)) for k in range(matrix.X.shape[1])]
    return found


def _coloured(column: Categories | Numbers, kept: Array) -> dict[str, Any]:
    """Fill, entry and legend of a column, for the rows that are drawn."""
    if isinstance(column, Categories):
        colours = [_category_colour(k) for k in range(len(column.levels))]
        codes = column.codes[kept]
        fills = [MISSING if code < 0 else colours[code] for code in codes]
        entries = ["" if code < 0 else column.levels[code] for code in codes]
        legend = list(zip(column.levels, colours, strict=True))
        return {"name": column.name, "fills": fills, "entries": entries, "legend": legend}
    low, high = column.limits
    values = column.values[kept]
    share = (values - low) / ((high - low) or 1.0)
    fills = [MISSING if not np.isfinite(part) else _viridis(round(part * _STEPS) / _STEPS) for part in share]
    entries = ["" if not np.isfinite(value) else _written(column, value) for value in values]
    legend = [(_written(column, low + part * (high - low)), _viridis(part)) for part in (0.0, 0.25, 0.5, 0.75, 1.0)]
    return {"name": column.name, "fills": fills, "entries": entries, "legend": legend}


def _written(column: Numbers, value: float) -> str:
    """A number of a column in few digits; of a column of dates, the day."""
    return str(np.datetime64(round(value), "D")) if column.is_date else f"{value:.4g}"


def _category_colour(k: int) -> str:
    """One of seven colours, darker and lighter where there are more levels."""
    base = np.array([int(CATEGORIES[k % len(CATEGORIES)][i : i + 2], 16) for i in (1, 3, 5)])
    turn = k // len(CATEGORIES)
    mixed = base if turn == 0 else base * 0.6 if turn == 1 else base * 0.5 + 127 if turn == 2 else base * 0.35
    return _hex(mixed)


def _viridis(share: float) -> str:
    places = np.linspace(0.0, 1.0, len(_VIRIDIS))
    return _hex(np.array([np.interp(share, places, [colour[i] for colour in _VIRIDIS]) for i in range(3)]))


def _hex(colour: Array) -> str:
    return "#" + "".join(f"{round(float(part)):02x}" for part in colour)


def _row_names(matrix: Matrix, kept: Array) -> list[str]:
    if matrix.row_names is not None:
        return [str(name) for name in matrix.row_names.iloc[kept]]
    return [f"row {row}" for row in matrix.rows[kept]]


def _json(data: Any) -> str:
    """JSON that cannot end the script element it stands in."""
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")


def _resource(name: str) -> str:
    return resources.files("sidelight.cli").joinpath(name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    """The hash that allows exactly this inline text in the content security policy."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode('utf-8')).digest()).decode('ascii')}'"

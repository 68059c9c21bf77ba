"""The sections that the script draws: the map, the forward map, the latent density."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.base.capabilities import capabilities
from sidelight.plot._colouring import CATEGORIES, CYCLE, MISSING, Numbers
from sidelight.plot._pictures import Bytes, shrink, to_pictures
from sidelight.plot._plane import SHAPE, LatentPlane, plane_of
from sidelight.plot._shading import affordable

from ._columns import MOST_TOLD, column_data
from ._context import Context, Forward
from ._informed import entries_in_words
from ._png import data_uri, sheet
from ._profile import profile_in_words, profile_key, profile_of
from ._reliability import LEAST
from ._section import Section, pack

__all__ = ["density_section", "forward_section", "map_section"]

MOST_PIXELS = 4_000_000
"""Pixels of the sheet of thumbnails: within what phones decode, about 2 MB at most."""
LARGEST, SMALLEST = 48, 12
"""Longer side of a thumbnail in pixels."""
FORWARD_SIDE = 48
"""Longer side of a forward-mapped picture in pixels."""
DENSITY_MARGIN = 0.4
"""Room around the rows for the density to fade, so that no edge shows when the map is moved."""

MAP_HTML = """
<div class="map-grid">
  <div class="map-main">
    <div class="controls">
      <label>Colour by <select id="colour"></select></label>
      <label class="tick"><input type="checkbox" id="show-density" checked> density</label>
      <label class="tick" hidden><input type="checkbox" id="fade"> fade unreliable rows</label>
      <span class="spacer"></span>
      <input type="search" id="find" placeholder="Find a row" aria-label="Find a row by name or number">
      <span class="buttons">
        <button type="button" id="lasso" aria-pressed="false" title="Draw around rows to compare them">Select</button>
        <button type="button" id="in-view" title="Select the rows that are in view">In view</button>
        <button type="button" id="clear-selection" title="Select nothing" hidden>Clear</button>
      </span>
      <span class="buttons">
        <button type="button" id="zoom-in" title="Zoom in" aria-label="Zoom in">+</button>
        <button type="button" id="zoom-out" title="Zoom out" aria-label="Zoom out">&minus;</button>
        <button type="button" id="zoom-reset" title="Show everything">Reset</button>
      </span>
    </div>
    <div class="stage">
      <canvas id="scatter" tabindex="0" aria-label="Map of the rows" aria-describedby="keys"></canvas>
      <div id="tooltip" class="tooltip" role="status" hidden></div>
      <div id="hint" class="hint" hidden>Click the map first, then scroll to zoom</div>
    </div>
  </div>
  <aside class="map-side">
    <div id="legend" class="legend" aria-live="polite"></div>
    <div id="forward-panel" class="panel" hidden>
      <h3>At the pointer</h3>
      <p class="caption" id="forward-given">{{shown_for}}</p>
      <canvas id="forward-view"></canvas>
      <p id="forward-text">Move over the map.</p>
      <dl id="forward-values"></dl>
      <p class="caption" id="forward-interval" hidden>In brackets: 90 % of the rows at such a place.</p>
    </div>
  </aside>
</div>
<div id="selection" class="selection" hidden>
  <h3>The selection compared, in the data</h3>
  <p id="selection-text" role="status"></p>
  <div id="selection-pictures" class="mean-pictures"></div>
  <div class="scrolling"><table id="selection-table" class="numbers"></table></div>
  <p class="caption">Means, or the share of the category that differs most, of the columns that this page
  stores{{more}}; angles with a period are left out. The difference is in standard deviations within the two sides. A
  selection that was drawn around what catches the eye differs in something: intervals do not know that it was chosen
  so.</p>
</div>
"""


def map_section(context: Context) -> Section | None:
    """The rows on an interactive map: hover, zoom, colour by any column, the forward map at the pointer."""
    if context.map is None:
        return None
    kept = context.kept
    sampled = len(kept) < context.n_rows
    data: dict[str, Any] = {
        "points": pack(context.plane.shown[kept], "float32"),
        "rows": _row_numbers(context),
        "names": [context.row_names[k] for k in kept] if context.row_names else None,
        "extent": list(context.plane.extent),
        "dimensions": context.plane.n_components,
        "axes": [context.plane.title(k) for k in range(min(2, context.plane.n_components))],
        "shape": SHAPE if context.plane.own_units else None,
        "columns": _offered(context),
        "opening": context.opening,
        "told": MOST_TOLD,
        "more": context.n_left_out,
        "palette": list(CATEGORIES),
        "cycle": list(CYCLE),
        "missing": MISSING,
        "thumbnails": _thumbnails(context),
    }
    if context.reliability is not None:
        data["reliability"] = {"column": _reliability(context.reliability.values[kept]), "least": LEAST}
    notes = _map_notes(context, sampled)
    more = f" ({context.n_left_out:,} more are not stored)" if context.n_left_out else ""
    html = MAP_HTML.replace("{{more}}", more).replace("{{shown_for}}", _shown_for(context))
    return Section("map", "The map", html + f'<p class="caption">{notes}</p>', data)


def _shown_for(context: Context) -> str:
    """What the forward map is shown for; empty where nothing was given."""
    return f"for {escape(entries_in_words(context.shown_for, context.given_dates))}" if context.shown_for else ""


def _map_notes(context: Context, sampled: bool) -> str:
    q = context.plane.n_components
    notes = [
        "Hover or tap for a row; drag to move; click, then scroll, or pinch to zoom. "
        "Click a name in the legend to hide it. "
        "Press Select and draw around rows, or select those in view, to compare them with the others. "
        '<span id="keys">Keys on the map: arrows move, + and − zoom, Shift and an arrow go from row to row.</span>'
    ]
    if sampled:
        notes.append(f"{len(context.kept):,} evenly spaced rows of {context.n_rows:,} are shown.")
    if q == 1:
        notes.append("The map has one dimension: height is jitter and means nothing.")
    if q > 2:
        notes.append(
            f"The first two of {q} latent dimensions are shown; between rows, the others are those of the nearest row."
        )
    if context.image_shape is not None and context.X is None:
        notes.append("Thumbnails are the rows as the model reconstructs them.")
    return " ".join(notes)


def _offered(context: Context) -> list[dict[str, Any]]:
    """Columns for the select box: labels first, then the given columns, then the features."""
    named = len(context.named)
    groups = ["Columns" if k < named else "Features" for k in range(len(context.offered))]
    return [column_data(column, context.kept, group) for column, group in zip(context.offered, groups, strict=True)]


def _reliability(values: NDArray[Any]) -> dict[str, Any]:
    """The layer of reliability: a column of its own group, from 0 to 1."""
    column = column_data(Numbers("reliability", np.round(values, 2)), np.arange(len(values)), "Reliability")
    return column | {"low": 0.0, "high": 1.0}


def _row_numbers(context: Context) -> dict[str, str] | None:
    """Numbers of the rows that are shown; None where they count up from 0."""
    numbers = context.row_numbers[context.kept]
    return None if np.array_equal(numbers, np.arange(len(numbers))) else pack(numbers, "int32")


def _thumbnails(context: Context) -> dict[str, Any] | None:
    """A sheet of the rows' pictures; of very many rows evenly spaced ones have one."""
    if context.image_shape is None:
        return None
    height, width = context.image_shape[:2]
    share = min(height, width) / max(height, width)
    side = int((MOST_PIXELS / (len(context.kept) * share)) ** 0.5)
    side = max(SMALLEST, min(LARGEST, side))
    every = -(-int(len(context.kept) * side * side * share) // MOST_PIXELS)
    chosen = context.kept[::every]
    if context.X is not None:
        rows = context.X[chosen]
    elif capabilities(context.model).has_inverse:
        rows = np.asarray(context.model.inverse_transform(context.plane.Z[chosen], **context.given_of(chosen)))
    else:
        return None
    return sheet(shrink(to_pictures(context.pixels(rows), context.image_shape, context.limits), side)) | {
        "every": every
    }


def forward_section(context: Context) -> Section | None:
    """The forward map on a lattice over the plane."""
    forward = context.forward
    if forward is None:
        return None
    data: dict[str, Any] = {
        "rows": forward.lattice.rows,
        "columns": forward.lattice.columns,
        "share": pack(np.rint(255 * forward.share), "uint8"),
        "log_density": pack(context.model.latent_log_density(forward.lattice.points), "float32"),
    }
    if context.image_shape is not None:
        data["sheet"] = sheet(_forward_pictures(context, forward), forward.lattice.columns)
        shows, key = "the picture", ""
    else:
        profile = data["profile"] = profile_of(context, forward)
        shows, key = profile_in_words(profile), profile_key(profile)
    held = f", {_shown_for(context)}" if context.shown_for else ""
    html = (
        '<canvas id="mosaic" class="figure" role="img" aria-label="Forward map on a lattice"></canvas>'
        f'<p class="caption">Each cell shows {shows} at its point of the map, reconstructed by the model{held}. '
        f"Cells fade where there is little data and are blank where there is none.</p>{key}"
    )
    return Section("forward", "From map to data", html, data, wide=context.plane.n_components == 1)


def _forward_pictures(context: Context, forward: Forward) -> Bytes:
    assert context.image_shape is not None
    return shrink(to_pictures(context.pixels(forward.rows), context.image_shape, context.limits), FORWARD_SIDE)


def density_section(context: Context) -> Section | None:
    """The density over the latent plane, as a picture of its square root."""
    if context.map is None or not capabilities(context.model).has_latent_density:
        return None
    plane: LatentPlane = plane_of(context.plane.Z, DENSITY_MARGIN, context.plane.names)
    one = plane.n_components == 1
    lattice = plane.lattice(400 if one else affordable(180, context.n_rows))
    log_density = np.asarray(context.model.latent_log_density(lattice.points), dtype=np.float64)
    relative = np.exp(log_density - log_density.max())
    shade = np.rint(255.0 * np.sqrt(relative)).astype(np.uint8).reshape(lattice.rows, lattice.columns)
    data = {
        "src": data_uri(shade),
        "rows": lattice.rows,
        "columns": lattice.columns,
        "extent": list(plane.extent),
        "peak": float(np.exp(log_density.max())),
        "curve": pack(relative, "float32") if one else None,
    }
    how = "" if one else " The shade grows with the square root of the density."
    html = (
        '<canvas id="density-picture" class="figure" role="img" aria-label="Latent density"></canvas>'
        f'<p class="caption">Where the model expects rows.{how}</p>'
    )
    return Section("density", "Latent density", html, data, wide=one)

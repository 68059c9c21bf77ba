"""The report section about the effect of ``given``: the same latent points, reconstructed for several values of it."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from scipy.special import logsumexp

from sidelight.base.capabilities import capabilities
from sidelight.plot._counterfactual import MOST_VALUES, entries_of
from sidelight.plot._pictures import shrink, to_pictures
from sidelight.plot._plane import Floats, Lattice
from sidelight.plot._walk import walk

from ._context import Context, Forward
from ._informed import entries_in_words, given_in_words
from ._map_sections import FORWARD_SIDE
from ._png import sheet
from ._profile import profile_key, profile_of
from ._section import Section, pack

__all__ = ["across_section"]

MOST_COLUMNS = 3
"""Given columns that have a grid of their own."""
PLACES = 12
"""Places of the map along a line of the grid."""
REFERENCE_ROWS = 1000
"""Rows of one value that are enough to say where there are such."""


def across_section(context: Context) -> Section | None:
    """The same latent points, reconstructed for several values of each given column."""
    if context.known is None or not context.informed or not capabilities(context.model).has_counterfactual:
        return None
    rows = np.flatnonzero(context.known.complete[context.kept])
    if len(rows) < 2:
        return None
    places = rows[walk(context.plane.Z[context.kept][rows], PLACES)]
    grids = [_grid(context, c, places) for c in range(min(MOST_COLUMNS, len(context.known.values.T)))]
    shows = "a picture" if context.image_shape is not None else "the features, each scaled to its range, as a profile"
    caption = (
        f"Each cell is {shows}: the latent point changes along a line, the given value along a column. Cells fade "
        "where there are no similar rows and the model extrapolates. Move the sliders or click a cell."
    )
    html = "".join(_grid_html(k, grid) for k, grid in enumerate(grids)) + f'<p class="caption">{caption}</p>'
    keys = list(dict.fromkeys(profile_key(grid["profile"]) for grid in grids if "profile" in grid))
    html += keys[0] if len(keys) == 1 else ""
    return Section("across", "The same places for other values", html, {"grids": grids})


def _grid(context: Context, c: int, places: NDArray[np.intp]) -> dict[str, Any]:
    assert context.known is not None
    column, values = context.model.given_.columns[c], context.known.values
    entries = entries_of(column, values[:, c], MOST_VALUES)
    Z = context.plane.Z[context.kept[places]]
    held = {name: entry for name, entry in context.shown_for.items() if name != column.name}
    found, share, ends = [], [], []
    for entry in entries:
        asked = {name: [other] * len(Z) for name, other in held.items()} | {column.name: [entry] * len(Z)}
        asked = {one.name: asked[one.name] for one in context.model.given_.columns}
        found.append(np.asarray(context.model.inverse_transform(Z, given=asked), dtype=np.float64))
        share.append(_presence(context, c, entry, Z))
        ends.append(context.ends(Z, {"given": asked}))
    lattice = Lattice(len(entries), len(places), np.empty((0, 2)), (1.0, 1.0))
    known = [one for one in ends if one is not None]
    both = (np.concatenate([one[0] for one in known]), np.concatenate([one[1] for one in known])) if known else None
    forward = Forward(lattice, np.concatenate(found), np.concatenate(share), both)
    data: dict[str, Any] = {
        "name": column.name,
        "values": [given_in_words(column.name, entry, context.given_dates) for entry in entries],
        "held": entries_in_words(held, context.given_dates),
        "rows": len(entries),
        "columns": len(places),
        "places": [int(place) for place in places],
        "share": pack(np.rint(255 * forward.share), "uint8"),
    }
    if context.image_shape is None:
        return data | {"profile": profile_of(context, forward)}
    pictures = shrink(to_pictures(context.pixels(forward.rows), context.image_shape, context.limits), FORWARD_SIDE)
    return data | {"sheet": sheet(pictures, len(places))}


def _presence(context: Context, c: int, entry: Any, Z: Floats) -> Floats:
    """How much data with this entry is near latent points: 1 where there are such rows, 0 far from them.

    As :func:`sidelight.plot._plane.presence`, over the rows whose entry it is (of numbers, the nearest eighth).
    """
    assert context.known is not None
    column, known = context.model.given_.columns[c], context.known
    codes = known.values[:, c]
    if column.categories:
        alike = codes == column.categories.index(entry)
    else:
        features = np.full((len(codes), column.width), np.inf)
        here = np.isfinite(codes)
        features[here] = column.features(codes[here]) - column.features(np.array([float(entry)]))
        apart = np.square(features).sum(axis=1)
        alike = apart <= np.partition(apart, len(apart) // MOST_VALUES)[len(apart) // MOST_VALUES]
    rows = context.plane.Z[alike & known.complete]
    if len(rows) == 0:
        return np.zeros(len(Z))
    every = -(-len(rows) // REFERENCE_ROWS)
    rows = rows[::every]
    reference = np.quantile(_log_closeness(rows, rows), 0.01)
    share: Floats = np.clip(1.0 + (_log_closeness(Z, rows) - reference) / 3.0, 0.0, 1.0)
    return share


def _log_closeness(Z: Floats, rows: Floats) -> Floats:
    """Return log Σ_j exp(-|z - z_j|²), the latent bandwidth being 1."""
    closeness: Floats = logsumexp(-cdist(Z, rows, "sqeuclidean"), axis=1)
    return closeness


def _grid_html(k: int, grid: dict[str, Any]) -> str:
    held = f" <span>({escape(grid['held'])})</span>" if grid["held"] else ""
    return (
        f'<div class="across"><div class="controls"><label>{escape(grid["name"])} '
        f'<input type="range" id="across-value-{k}" min="0" max="{grid["rows"] - 1}" value="0"></label>'
        f'<label>place <input type="range" id="across-place-{k}" min="0" max="{grid["columns"] - 1}" value="0"></label>'
        f'<output id="across-text-{k}"></output>{held}</div>'
        f'<div class="map-grid"><div><canvas id="across-grid-{k}" class="figure" role="img" '
        f'aria-label="The same places for values of {escape(grid["name"])}"></canvas></div>'
        f'<aside class="panel"><canvas id="across-view-{k}"></canvas>'
        f'<dl id="across-values-{k}"></dl></aside></div></div>'
    )

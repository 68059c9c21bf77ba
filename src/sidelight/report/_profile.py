"""Rows of the forward map as small bars or lines: their heights, their intervals, and which feature each bar is."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.base.messages import count_of
from sidelight.plot._forward import MOST_BARS

from ._columns import MOST_TOLD, DataRows
from ._context import Context, Forward
from ._place_intervals import LEVEL, packed_widths
from ._section import pack

__all__ = ["profile_in_words", "profile_key", "profile_of"]

MOST_PROFILE = 60
"""Features of a profile; of more, those that change most over the lattice."""


def profile_of(context: Context, forward: Forward) -> dict[str, Any]:
    """Return the lattice's rows in the units of the data, feature by feature scaled to its range where there is data.

    Categories have their names, and are drawn only where there is no number to draw: at the height of their number.
    """
    found = context.in_units(forward.rows)
    values, names = found.numbers, list(found.names)
    if not names:
        values = np.column_stack([column.codes for column in found.categories]).astype(np.float64)
        names = [column.name for column in found.categories]
    here = (forward.share > 0.0) & np.isfinite(values).all(axis=1)
    inside = values[here] if here.any() else np.nan_to_num(values)
    low, high = inside.min(axis=0), inside.max(axis=0)
    span = np.where(high > low, high - low, 1.0)
    changing = np.flatnonzero(high > low) if (high > low).any() else np.arange(len(low))
    chosen = changing
    if len(changing) > MOST_PROFILE:
        spread = inside[:, changing].std(axis=0)
        chosen = changing[np.sort(np.argsort(-spread, kind="stable")[:MOST_PROFILE])]
    heights = np.clip(np.nan_to_num((values - low) / span), 0.0, 1.0)[:, chosen]
    return {
        "names": [names[k] for k in chosen],
        "dates": [names[k] in found.dates for k in chosen],
        "low": [float(low[k]) for k in chosen],
        "high": [float(high[k]) for k in chosen],
        "heights": pack(np.rint(heights * 255.0), "uint8"),
        "changing": len(changing),
        "constant": len(low) - len(changing),
        "bars": len(chosen) <= MOST_BARS,
        "interval": _intervals(context, forward, found, span, chosen),
        "categories": [
            {"name": column.name, "levels": list(column.levels), "codes": pack(column.codes, "int8")}
            for column in found.categories[:MOST_TOLD]
        ],
    }


def _intervals(
    context: Context, forward: Forward, found: DataRows, span: NDArray[Any], chosen: NDArray[np.intp]
) -> dict[str, Any] | None:
    """Widths of the intervals of the chosen numbers below and above them, in parts of their range."""
    if forward.ends is None or not found.names:
        return None
    lower, upper = (context.in_units(end).numbers for end in forward.ends)
    widths, widest = packed_widths(found.numbers, (lower, upper), span)
    below, above = (pack(side[:, chosen], "uint8") for side in widths)
    return {"below": below, "above": above, "widest": [float(f"{widest[k]:.4g}") for k in chosen], "level": LEVEL}


def profile_in_words(profile: dict[str, Any]) -> str:
    """Say what a cell shows.

    Examples
    --------
    >>> profile_in_words({"names": ["a", "b"], "categories": [], "changing": 5, "constant": 0, "bars": True})
    'the 2 of 5 features that change most as bars, each scaled to its range over the map,'
    """
    shown, changing = len(profile["names"]), profile["changing"]
    every = count_of(changing, _kind(profile))
    which = f"the {every}" if shown == changing else f"the {shown} of {every} that change most"
    shape = "as bars" if profile["bars"] else "as a line"
    return f"{which} {shape}, each scaled to its range over the map,"


def profile_key(profile: dict[str, Any]) -> str:
    """Return the names of the features in the order of the bars or of the line, and how many do not change."""
    what = "Bars" if profile["bars"] else "Points of the line"
    listed = f"{what}, from left to right: {', '.join(map(escape, profile['names']))}."
    constant = ""
    if profile["constant"]:
        do = "does" if profile["constant"] == 1 else "do"
        constant = f" {count_of(profile['constant'], 'other column')} {do} not change over the map."
    names = (
        f'<p class="caption">{listed}{constant} In the panel beside the map, point at one for its name and value.</p>'
    )
    if profile["bars"]:
        return names
    return f"<details><summary>Names along the line</summary>{names}</details>"


def _kind(profile: dict[str, Any]) -> str:
    """What bars and lines show: the numbers, where there are categories beside them."""
    categories = [column["name"] for column in profile["categories"]]
    if not categories:
        return "feature"
    return "category" if profile["names"] == categories else "numerical feature"

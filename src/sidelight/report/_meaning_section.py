"""The report section that says in words, bars or pictures what the axes of the map stand for."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.base.capabilities import capabilities
from sidelight.base.chain import last_step_of
from sidelight.base.messages import count_of
from sidelight.explain._axes import WHOLE

from ._context import Context
from ._meaning import axes_of
from ._png import data_uri
from ._section import Section, bar, markup_table

__all__ = ["meaning_section", "signed_picture"]

Columns = dict[str, NDArray[Any]]
MOST_AXES = 4
"""Axes that are described."""
NAMED = 3
"""Features that a sentence names on either side."""
LISTED = 8
"""Features with a bar."""
LEAST = 0.1
"""Share of a feature's variance from which it follows an axis."""
SHARES = (
    "The share of a column’s variance that a move along the axis explains, by the inverse map; blue rises, orange "
    "falls. On a curved map a column may follow no axis over the whole map."
)
PIXELS = "Change of pixels along an axis by the inverse map, in standard deviations."
UP, DOWN = (0, 114, 178), (213, 94, 0)
"""Colours of rising and falling features: blue and vermilion of Okabe and Ito."""


def meaning_section(context: Context) -> Section | None:
    """How features change along each axis, over the whole map and in its regions."""
    if context.map is None:
        return None
    found = axes_of(context)
    if found.columns is None:
        if context.X is None or capabilities(last_step_of(context.model)).is_network:
            return None
        return Section("meaning", "What the axes stand for", f'<p class="note">{escape(found.reason)}</p>')
    whole = _where(found.columns, found.columns["region"] == WHOLE)
    names = list(dict.fromkeys(whole["axis"].tolist()))[:MOST_AXES]
    figures = "".join(_axis(context, found.columns, name, k) for k, name in enumerate(names))
    html = f'<div class="ends-of-axes meaning">{figures}</div>{_regions(context, found.columns, names)}'
    return Section("meaning", "What the axes stand for", html + _caption(context, found.n_rows))


def _where(columns: Columns, kept: NDArray[np.bool_]) -> Columns:
    return {name: values[kept] for name, values in columns.items()}


def _axis(context: Context, columns: Columns, name: str, k: int) -> str:
    own = _where(columns, (columns["axis"] == name) & (columns["region"] == WHOLE))
    title = f"<h3>{escape(f'Axis {name}')}</h3>"
    if _is_picture(context, own):
        return f"<figure>{title}<p>{_direction(context, k)}, blue pixels grow and orange ones shrink.</p>" + (
            f"{_picture(context, own['feature'], own['standardised'])}</figure>"
        )
    listed = [j for j in range(min(LISTED, len(own["share"]))) if own["share"][j] > 0.01]
    rows = [
        (escape(str(own["feature"][j])), bar(own["share"][j], rises=own["slope"][j] >= 0), f"{own['share'][j]:.2f}")
        for j in listed
    ]
    table = markup_table(rows, ("column", "share that the axis explains", ""), "bars") if rows else ""
    table += _rest(own["share"], len(listed))
    return f"<figure>{title}<p>{escape(axis_in_words(own, _direction(context, k)))}</p>{table}</figure>"


def _rest(shares: NDArray[Any], n_listed: int) -> str:
    """Say how many columns are not listed, and the largest share among them."""
    left = len(shares) - n_listed
    if not (n_listed and left):
        return ""
    return f'<p class="caption">and {count_of(left, "more column")} with shares of at most {shares[n_listed]:.2f}.</p>'


def axis_in_words(own: Columns, going: str) -> str:
    """One sentence about an axis.

    Examples
    --------
    >>> own = {"share": np.array([0.8, 0.5]), "slope": np.array([1.0, -2.0]), "feature": np.array(["a", "b"])}
    >>> axis_in_words(own, "To the right")
    'To the right: more a; less b.'
    """
    said = []
    for word, sign in (("more", 1), ("less", -1)):
        chosen = np.flatnonzero((own["share"] > LEAST) & (np.sign(own["slope"]) == sign))
        if len(chosen):
            left = len(chosen) - NAMED
            more = f" and {left} other{'s' if left > 1 else ''}" if left > 0 else ""
            said.append(f"{word} {', '.join(str(own['feature'][j]) for j in chosen[:NAMED])}{more}")
    if not said:
        return f"{going}: no column changes in a straight line over the whole map."
    return f"{going}: {'; '.join(said)}."


def _direction(context: Context, k: int) -> str:
    return ("To the right", "Upwards")[k] if k < 2 else f"Along axis {k + 1}"


def _is_picture(context: Context, own: Columns) -> bool:
    return context.image_shape is not None and len(own["feature"]) == int(np.prod(context.image_shape))


def _picture(context: Context, features: NDArray[Any], values: NDArray[Any]) -> str:
    assert context.image_shape is not None
    return signed_picture(in_columns(context, features, values), context.image_shape, "change of each pixel")


def in_columns(context: Context, features: NDArray[Any], values: NDArray[Any]) -> NDArray[Any]:
    """Values in the order of the columns of the data."""
    place = {name: k for k, name in enumerate(context.feature_names)}
    out = np.zeros(len(context.feature_names))
    out[[place[str(feature)] for feature in features]] = values
    return out


def signed_picture(values: NDArray[Any], shape: tuple[int, ...], alt: str) -> str:
    """Numbers as pixels, blue above zero and orange below, as strong as they are large, clear at zero."""
    pixels = values.reshape(shape)
    pixels = pixels.mean(axis=2) if pixels.ndim == 3 else pixels
    largest = float(np.abs(pixels).max()) or 1.0
    out = np.zeros((*pixels.shape, 4), dtype=np.uint8)
    out[..., :3] = np.where(pixels[..., None] >= 0, UP, DOWN)
    out[..., 3] = np.rint(255.0 * np.abs(pixels) / largest)
    return f'<img class="signed pixels" alt="{escape(alt)}" src="{data_uri(out)}">'


def _regions(context: Context, columns: Columns, names: list[str]) -> str:
    """What the axes stand for in the regions of the map, folded away."""
    regions = [region for region in dict.fromkeys(columns["region"].tolist()) if region != WHOLE]
    if not regions or context.image_shape is not None:
        return ""
    rows = []
    for region in regions:
        cells = []
        for k, name in enumerate(names):
            own = _where(columns, (columns["axis"] == name) & (columns["region"] == region))
            cells.append(escape(axis_in_words(own, _direction(context, k))))
        n_rows = int(columns["rows"][columns["region"] == region][0])
        rows.append((escape(f"{region} ({count_of(n_rows, 'row')})"), *cells))
    head = ("from left to right", *(f"axis {name}" for name in names))
    return f"<details><summary>In regions of the map</summary>{markup_table(rows, head, 'words')}</details>"


def _caption(context: Context, n_rows: int) -> str:
    words = [SHARES if context.image_shape is None else PIXELS]
    if context.informed:
        words.append("Columns are shown after subtracting the effect of given.")
    if context.plane.n_components > MOST_AXES:
        words.append(f"The first {MOST_AXES} of {context.plane.n_components} axes.")
    words.append(f"Measured on {count_of(n_rows, 'row')}. It describes what the map uses, not causes.")
    return f'<p class="caption">{" ".join(words)}</p>'

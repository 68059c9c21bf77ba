"""Notebook display of a fitted model: a small picture of its map and its key numbers.

The picture is an SVG of one path a shade, so that some thousand points weigh some ten kilobytes and nothing beyond
NumPy is needed. Of three latent dimensions the first two are the place, and the third is the shade.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
import numpy.typing as npt

from .capabilities import capabilities, given_of, history_of

__all__ = ["MapRepresentation", "key_numbers", "map_svg", "with_map"]

MOST_POINTS = 3000
"""Points that are drawn; of more rows, evenly spaced ones."""
SIDE = 240
"""Longer side of the picture in pixels."""
SHADES = ("#440154", "#414487", "#2a788e", "#22a884", "#7ad151", "#d8c700")
"""Colours of the third dimension, from low to high; the last is darker than that of viridis, to be seen on white."""
PLAIN = "#0072b2"

_STYLE = "display:flex;flex-wrap:wrap;gap:14px 20px;align-items:flex-start;margin:4px 0 8px;font:13px/1.5 sans-serif"
_CELL = "padding:1px 12px 1px 0;text-align:left;border:0;background:none"


class MapRepresentation:
    """A mixin: notebooks show the map and the key numbers of a fitted model beside scikit-learn's parameter table."""

    def _repr_html_inner(self) -> str:
        return with_map(self, super()._repr_html_inner())  # type: ignore[misc]

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = super()._repr_mimebundle_(**options)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] = with_map(self, bundle["text/html"])
        return bundle


def with_map(model: Any, html: str) -> str:
    """Return ``html`` beside the picture and the key numbers of a model; unchanged for a model without an embedding."""
    if not capabilities(model).has_embedding:
        return html
    Z = np.asarray(model.embedding_)
    picture = map_svg(Z) if Z.ndim == 2 and Z.shape[1] in (2, 3) and np.isfinite(Z).all() and len(Z) else ""
    rows = "".join(
        f'<tr><td style="{_CELL};opacity:.7">{escape(name)}</td><td style="{_CELL}">{escape(value)}</td></tr>'
        for name, value in key_numbers(model)
    )
    table = f'<table style="border:0;margin:0;border-collapse:collapse">{rows}</table>'
    return f'<div class="sidelight-model" style="{_STYLE}">{picture}{table}<div>{html}</div></div>'


def key_numbers(model: Any) -> list[tuple[str, str]]:
    """Return the key numbers of a fitted model: size, duration of the fit, variance explained by ``given``."""
    offers, Z = capabilities(model), np.asarray(model.embedding_)
    shape = f"{len(Z):,} × {int(model.n_features_in_):,}" if offers.has_columns else f"{len(Z):,}"
    told = [("rows × columns" if offers.has_columns else "rows", shape), ("dimensions", str(Z.shape[1]))]
    if offers.has_iterations:
        told.append(("iterations", f"{int(np.max(model.n_iter_)):,}"))
    history = history_of(model)
    if history:
        told.append(("objective", f"{float(history[-1]['objective']):.4g}"))
        if "seconds" in history[-1]:  # a loaded model has no times
            told.append(("time in the solver", f"{float(history[-1]['seconds']):.3g} s"))
    given = given_of(model)
    if given is not None:
        names = ", ".join(str(column.name) for column in given.columns)
        told.append(("given", f"{names}: {100 * float(model.explained_):.0f} % of the variance"))
    return told


def map_svg(Z: npt.ArrayLike) -> str:
    """Return a picture of points (n, 2) or (n, 3), both axes in the same unit, as an SVG element.

    Examples
    --------
    >>> map_svg([[0.0, 0.0], [2.0, 1.0]]).count("<path")
    1
    """
    points = np.asarray(Z, dtype=np.float64)
    some = points[np.unique(np.linspace(0, len(points) - 1, min(len(points), MOST_POINTS)).round().astype(np.intp))]
    low, high = some[:, :2].min(axis=0), some[:, :2].max(axis=0)
    radius = min(5.0, max(2.0, 120.0 / np.sqrt(len(some))))
    room = 2.0 * radius
    span = float((high - low).max())
    scale = (SIDE - 2 * room) / span if span > 0.0 else 1.0
    x, y = room + scale * (some[:, 0] - low[0]), room + scale * (high[1] - some[:, 1])
    width, height = (2 * room + scale * (high - low)).tolist()
    width, height = max(width, 40.0), max(height, 40.0)
    shade = _shades(some[:, 2]) if some.shape[1] > 2 else np.zeros(len(some), dtype=np.intp)
    colours = SHADES if some.shape[1] > 2 else (PLAIN,)
    paths = "".join(_path(x[shade == k], y[shade == k], colour) for k, colour in enumerate(colours))
    label = f"Map of {len(points):,} rows" + (": the colour is the third dimension" if some.shape[1] > 2 else "")
    return (
        f'<svg role="img" aria-label="{label}" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" fill="none" stroke-linecap="round" stroke-width="{radius:.1f}" '
        f'stroke-opacity=".75">{paths}</svg>'
    )


def _shades(values: npt.NDArray[np.float64]) -> npt.NDArray[np.intp]:
    """Numbers of the shades: equally wide steps from the smallest to the largest value."""
    span = float(np.ptp(values)) or 1.0
    shade: npt.NDArray[np.intp] = np.floor((values - values.min()) / span * len(SHADES)).astype(np.intp)
    return np.minimum(shade, len(SHADES) - 1)


def _path(x: npt.NDArray[np.float64], y: npt.NDArray[np.float64], colour: str) -> str:
    """Return dots as one path: a line of no length with round ends is a dot."""
    dots: Sequence[str] = [f"M{a:.1f} {b:.1f}h0" for a, b in zip(x.tolist(), y.tolist(), strict=True)]
    return f'<path stroke="{colour}" d="{"".join(dots)}"/>' if dots else ""

"""The map: one point a row, coloured by a category or a number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sidelight.base.messages import error_message

from ._axes import RASTERISE_FROM, axes_for, dress, marker_area
from ._colouring import CATEGORIES, CYCLE, MARKERS, MISSING, Categories, Numbers, column_of, name_of_column
from ._plane import LatentPlane, axis_names, latent_of, plane_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["scatter"]

EXTENDED = {(False, False): "neither", (True, False): "min", (False, True): "max", (True, True): "both"}
"""How the colour bar shows that there are values below and above its ends."""


def scatter(
    Z: Any,
    *,
    colour: Any = None,
    labels: Any = None,
    name: str | None = None,
    period: float | None = None,
    size: float | None = None,
    alpha: float = 0.85,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the map of an embedding.

    Parameters
    ----------
    Z : array-like of shape (n, q), or fitted model
        Latent points. Of more than two dimensions the first two are shown; a single one is drawn along a
        line, its points jittered upwards.
    colour : array-like of shape (n,), optional
        A value per row. Text, booleans, categories and integers with at most 12 values are drawn in discrete colours
        with a legend; other numbers with a colour bar. Missing values are grey.
    labels : array-like of shape (n,), optional
        Class labels: like ``colour``, but always read as categories.
    name : str, optional
        Title of the legend or colour bar. By default the column's own name.
    period : float, optional
        Period of the values (360 for degrees), for a cyclic colour map.
    size : float, optional
        Marker area in points²; by default smaller the more rows there are.
    alpha : float
        Opacity of a point.
    title : str, optional
        Title of the picture.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    See Also
    --------
    density : Where rows are expected.
    thumbnails : Pictures on the map.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> ax = scatter([[0.0, 1.0], [2.0, 0.5], [1.0, 3.0]], colour=["cup", "pan", "cup"])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['cup', 'pan']
    """
    if colour is not None and labels is not None:
        raise ValueError(
            error_message("scatter", "labels", "array", "is given together with colour", "Give one of them")
        )
    plane = plane_of(latent_of(Z, "scatter"), names=axis_names(Z))
    ax = axes_for(ax, "sidelight.plot.scatter")
    n = len(plane.Z)
    area = marker_area(n) if size is None else size
    style: dict[str, Any] = {"s": area, "alpha": alpha, "linewidths": 0, "rasterized": n >= RASTERISE_FROM}
    values = labels if labels is not None else colour
    if values is None:
        ax.scatter(plane.shown[:, 0], plane.shown[:, 1], color=CATEGORIES[0], **style)
    else:
        caption = name if name is not None else name_of_column(values)
        column = column_of(values, n, name=caption, categorical=True if labels is not None else None, period=period)
        _draw_column(ax, plane, column, style)
    dress(ax, plane, title)
    return ax


def _draw_column(ax: Axes, plane: LatentPlane, column: Categories | Numbers, style: dict[str, Any]) -> None:
    if isinstance(column, Categories):
        _draw_categories(ax, plane, column, style)
    else:
        _draw_numbers(ax, plane, column, style)


def _draw_categories(ax: Axes, plane: LatentPlane, column: Categories, style: dict[str, Any]) -> None:
    _draw_missing(ax, plane, column.codes < 0, style)
    for code, level in enumerate(column.levels):
        colour, marker = CATEGORIES[code % len(CATEGORIES)], MARKERS[code // len(CATEGORIES)]
        here = plane.shown[column.codes == code]
        ax.scatter(here[:, 0], here[:, 1], color=colour, marker=marker, label=level, **style)
    many = len(column.levels) > 14
    legend = ax.legend(
        title=column.name or None,
        loc="center left",
        bbox_to_anchor=(1.01, 0.5),
        frameon=False,
        ncols=1 + many,
    )
    for handle in legend.legend_handles:
        handle.set(alpha=1.0, sizes=[30.0])  # type: ignore[union-attr]


def _draw_numbers(ax: Axes, plane: LatentPlane, column: Numbers, style: dict[str, Any]) -> None:
    missing = np.isnan(column.values)
    _draw_missing(ax, plane, missing, style)
    low, high = column.colour_limits
    known = column.values[~missing]
    below, above = column.beyond_colours(known)
    ends = EXTENDED[below > 0, above > 0]
    if column.period is not None:
        known = known % column.period
    here = plane.shown[~missing]
    palette = "viridis" if column.period is None else _circle()
    drawn = ax.scatter(here[:, 0], here[:, 1], c=known, cmap=palette, vmin=low, vmax=high, **style)
    # Inside the Axes' own frame of reference, the bar stays beside a map of any shape.
    bar = ax.figure.colorbar(drawn, cax=ax.inset_axes((1.03, 0.1, 0.035, 0.8)), label=column.name, extend=ends)
    if column.period is not None:
        bar.set_ticks([column.period * quarter / 4 for quarter in range(5)])
    bar.solids.set_alpha(1.0)  # type: ignore[union-attr]
    bar.outline.set_visible(False)
    if missing.any():
        ax.legend(loc="best", frameon=False)


def _circle() -> Any:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("circle", [*CYCLE, CYCLE[0]])


def _draw_missing(ax: Axes, plane: LatentPlane, missing: Any, style: dict[str, Any]) -> None:
    if missing.any():
        here = plane.shown[missing]
        ax.scatter(here[:, 0], here[:, 1], color=MISSING, label="missing", **style)

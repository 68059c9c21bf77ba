"""The map, coloured by how far each row can be believed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sidelight.base.messages import error_message

from ._axes import RASTERISE_FROM, axes_for, dress, marker_area
from ._plane import axis_names, latent_of, plane_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["reliability"]

_OWNER = "reliability"
_COLOURS = ("#B2182B", "#EF8A62", "#D9D9D9", "#67A9CF", "#2166AC")  # red: not to be believed; blue: to be believed


def reliability(
    Z: Any,
    table: Any,
    *,
    column: str = "reliability",
    size: float | None = None,
    alpha: float = 0.9,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the map coloured by the reliability of each row: blue is reliable, red is not.

    Parameters
    ----------
    Z : array-like of shape (n, q), or fitted model
        Latent points of the rows of the table.
    table : DataFrame of pandas or polars
        Of :func:`sidelight.explain.reliability`, for the same rows.
    column : str, default="reliability"
        The column to show: the number itself, or one of its parts ("kept", "true", "returns", "stays", "stable").
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
    sidelight.explain.reliability : The table.
    scatter : The map.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> import pandas as pd
    >>> ax = reliability([[0.0, 1.0], [2.0, 0.5]], pd.DataFrame({"reliability": [0.9, 0.2]}), title="two rows")
    >>> ax.get_title()
    'two rows'
    """
    from matplotlib.colors import LinearSegmentedColormap

    plane = plane_of(latent_of(Z, _OWNER), names=axis_names(Z))
    if column not in table.columns:
        rule = "is not a column of the table"
        raise ValueError(error_message(_OWNER, "column", column, rule, "Give the name of one of its numbers"))
    values = np.asarray(table[column], dtype=np.float64)
    n = len(plane.Z)
    if len(values) != n:
        rule = f"has not as many records as the map has rows ({n})"
        raise ValueError(error_message(_OWNER, "table", f"{len(values)} records", rule, "Give the table of these rows"))
    ax = axes_for(ax, "sidelight.plot.reliability")
    order = np.argsort(-values, kind="stable")  # rows that cannot be believed lie on top
    palette = LinearSegmentedColormap.from_list("reliability", _COLOURS)
    drawn = ax.scatter(
        plane.shown[order, 0], plane.shown[order, 1], c=values[order], cmap=palette, vmin=0.0, vmax=1.0,
        s=marker_area(n) if size is None else size, alpha=alpha, linewidths=0, rasterized=n >= RASTERISE_FROM,
    )  # fmt: skip
    bar = ax.figure.colorbar(drawn, cax=ax.inset_axes((1.03, 0.1, 0.035, 0.8)), label=column)
    bar.solids.set_alpha(1.0)  # type: ignore[union-attr]
    bar.outline.set_visible(False)
    dress(ax, plane, title)
    return ax
